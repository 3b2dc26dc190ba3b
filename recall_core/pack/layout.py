"""How blocks look as text, and what they cost in tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from recall_core.config import Config
from recall_core.text import Counter
from recall_core.types import Block

_SUMMABLE = ("whitespace", "approx")
"""Counters for which a text never counts more than its parts do, where white space stands at every seam between
them: words add up, and `approx` rounds every part up."""


class Draft(NamedTuple):
    """A block with the line that stands above it, and the tokens of both; together never below the real count."""

    block: Block
    heading: str
    lead: str
    lead_tokens: int
    text_tokens: int


class Layout(NamedTuple):
    """The template, the separator and the counter of one context."""

    header: str
    separator: str
    count: Callable[[str], int]
    gap_tokens: int
    summable: bool


def layout(config: Config, counter: Counter) -> Layout:
    """The layout that a config asks for. An empty header leaves the header line out."""
    separator = config.separator
    spaced = separator[:1].isspace() and separator[-1:].isspace()
    gap = counter.count(separator)
    return Layout(config.header, separator, counter.count, gap, spaced and counter.name in _SUMMABLE)


def draft(layout: Layout, block: Block, heading: str, *, text_tokens: int | None = None) -> Draft:
    """The block as it will be shown. text_tokens: what its text is known to cost, else it is counted."""
    lead = _lead(layout.header, block, heading)
    tokens = layout.count(block.text) if text_tokens is None else text_tokens
    return Draft(block, heading, lead, layout.count(lead), tokens)


def joined_tokens(layout: Layout, texts: Sequence[str], *, first_tokens: int) -> int:
    """At least the tokens of the joined texts, of which the first is counted already.

    Adds up the parts where that is allowed, so that a block which grows is not counted again from its beginning.
    """
    if layout.summable and all(a[-1:].isspace() or b[:1].isspace() for a, b in pairwise(texts)):
        return first_tokens + sum(map(layout.count, texts[1:]))
    return layout.count("".join(texts))


def render(layout: Layout, drafts: Sequence[Draft]) -> str:
    """The whole context."""
    return layout.separator.join(each.lead + each.block.text for each in drafts)


def fits(layout: Layout, drafts: Sequence[Draft], budget_tokens: int) -> bool:
    """Whether the whole context counts no more than the budget.

    The sum of the parts settles it where it can never be below the whole. Only what that sum does not let through
    is rendered and counted.
    """
    if layout.summable:
        upper = sum(each.lead_tokens + each.text_tokens for each in drafts) + layout.gap_tokens * (len(drafts) - 1)
        if upper <= budget_tokens:
            return True
    return layout.count(render(layout, drafts)) <= budget_tokens


def _lead(header: str, block: Block, heading: str) -> str:
    if not header:
        return ""
    lines = f"{block.line_start}-{block.line_end}"
    doc = block.doc
    line = header.format(n=block.number, path=doc.path, lines=lines, title=doc.title, heading=heading)
    return line + "\n"
