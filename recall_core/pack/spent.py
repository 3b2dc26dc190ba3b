"""What the tokens of a context are spent on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from recall_core.config import Config
from recall_core.pack.layout import draft, layout
from recall_core.text import Counter
from recall_core.types import Block, Chunk, Packed


class Spent(NamedTuple):
    """The used tokens in three shares that add up to them.

    chunks: texts of the blocks, counted one by one.  headers: the lines above them.  separators: the rest, which is
    also where a tokenizer that joins words over a seam saves some; it can then be below 0.
    """

    chunks: int
    headers: int
    separators: int


def spent(packed: Packed, chunks: Mapping[str, Chunk], *, counter: Counter, config: Config) -> Spent:
    """The shares of a context that was packed with this counter and config. chunks: every packed one by its id."""
    sheet = layout(config, counter)
    drafts = [draft(sheet, block, _heading(block, chunks)) for block in packed.blocks]
    texts = sum(each.text_tokens for each in drafts)
    headers = sum(each.lead_tokens for each in drafts)
    return Spent(texts, headers, packed.used_tokens - texts - headers)


def _heading(block: Block, chunks: Mapping[str, Chunk]) -> str:
    """The heading of the chunk that a block begins with."""
    first = min((chunks[each] for each in block.chunk_ids), key=lambda chunk: (chunk.offset, -chunk.end))
    return first.heading or ""
