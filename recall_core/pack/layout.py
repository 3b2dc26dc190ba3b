"""The layout of blocks as text, their token costs, and copies of a text among the candidates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, cast

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.pack.growth import Span
from recall_core.text import MODEL_COUNTER, MODERN_COUNTER, Counter, behind, one_line
from recall_core.types import Block, Chunk, Cut, Hit, Omission

_WORDS = "whitespace"
_ROUNDED = (_WORDS, "approx")
_SUMMABLE = (*_ROUNDED, MODEL_COUNTER, MODERN_COUNTER)
"""Counters for which a text never counts more than the sum of its parts, with white space at each seam: words add up,
and estimates round each part up."""
_SEAM_TOKENS = 2
"""The most that such a seam may save: a rounded-up part and a space at its end."""
_CUT_TOKENS, _CUT_PIECES = 2, 8
"""The most that a cut stretch may count extra: one token at each end, or the pieces of a tokenizer that splits words
differently."""


class Draft(NamedTuple):
    """A block with its header line, and the tokens of both, which are never below the real count.

    lead_tokens: include the line below the block.
    """

    block: Block
    lead: str
    lead_tokens: int
    text_tokens: int
    texts: tuple[str, ...]
    """The block's text in slices, joined by `finish` once it stops growing."""


class Layout(NamedTuple):
    """The templates, separator and counter of one context."""

    header: str
    footer: str
    """The footer after a line end, or ""."""
    separator: str
    is_numbered: bool
    """True if every line of a block starts with its number in the file and a tab, for texts of files."""
    counter: str
    """The counter's name."""
    count: Callable[[str], int]
    """The counter, which checks the deadline before each text."""
    gap_tokens: int
    summable: bool
    counts_words: bool
    """True if tokens are words between white space."""
    cut_tokens: int
    """The most that a cut stretch may count extra."""
    imitation: re.Pattern[str]
    """Finds a line that looks like a header or the footer."""


def layout(config: Config, counter: Counter) -> Layout:
    """Return the layout of a config. An empty header omits the header line."""
    separator = config.separator
    footer = f"\n{config.footer}" if config.footer else ""
    spaced = separator[:1].isspace() and separator[-1:].isspace()
    gap = counter.count(separator)
    adds_up = not config.line_numbers and counter.name in _SUMMABLE
    counts_words = not config.line_numbers and counter.name == _WORDS
    numbered = config.line_numbers
    summable = adds_up and spaced
    cut = _CUT_TOKENS if summable and counter.name in _ROUNDED else _CUT_PIECES

    def count(text: str) -> int:
        check()
        return counter.count(text)

    return Layout(
        config.header,
        footer,
        separator,
        numbered,
        counter.name,
        count,
        gap,
        summable,
        counts_words,
        cut,
        _imitation(config.header, config.footer),
    )


@lru_cache(maxsize=8)
def _imitation(header: str, footer: str) -> re.Pattern[str]:
    """Return a pattern for lines like these, with any white space and names; a place ends in a digit.

    A header of names alone is not matched, because any line could be one.
    """
    fields = {
        "{n}": r"\d+",
        "{path}": r"[^\n]*",
        "{title}": r"[^\n]*",
        "{heading}": r"[^\n]*",
        "{lines}": r"[\w=-]*\d",
        "{path}:{lines}": r"\S[^\n]*[:#][\w=-]*\d",
    }
    parts = re.split(r"(\{path\}:\{lines\}|\{\w+\}|\s+)", header.strip())
    line = "".join(r"\s+" if part.isspace() else fields.get(part) or re.escape(part) for part in parts)
    is_a_name = all(not part or part.isspace() or part in ("{path}", "{title}", "{heading}") for part in parts)
    likely = ["(?!)" if is_a_name else line, re.escape(footer.strip()) or "(?!)"]
    return re.compile(rf"(?<![^\n])[^\S\n]*(?:{'|'.join(likely)})[^\S\n]*(?![^\n])")


def draft(layout: Layout, block: Block) -> Draft:
    """Return the block's draft."""
    check()
    shown = _show(layout, block, (block.text,))
    return place_block(layout, block, texts=(block.text,), text_tokens=layout.count(shown))


def place_block(layout: Layout, block: Block, *, texts: tuple[str, ...], text_tokens: int) -> Draft:
    """Return the draft of a block with its text in slices and a known cost."""
    lead = _lead(layout.header, block)
    if block.imitates and lead:
        lines = block.line_end - block.line_start + 1
        lead = f"{lead[:-1]} ({lines} line{'s' * (lines > 1)} of text below)\n"
    lead_tokens = layout.count(lead) + (layout.count(layout.footer) if layout.footer else 0)
    return Draft(block, lead, lead_tokens, text_tokens, texts)


def finish(draft: Draft) -> Block:
    """Return the block with its joined text."""
    return draft.block._replace(text="".join(draft.texts))


def join(layout: Layout, drafts: Sequence[Draft]) -> tuple[tuple[str, ...], int]:
    """Return the text from the first draft's beginning to the last end, in slices, and an upper bound of its tokens.

    It adds up the parts where the counter allows, so a growing block is not copied or counted again.
    drafts: of one document, by offset, without gaps.
    """
    texts, tokens, end = drafts[0].texts, drafts[0].text_tokens, drafts[0].block.end
    for each in drafts[1:]:
        if each.block.end <= end:
            continue
        gone, rest = _divide(each.texts, end - each.block.offset)
        across = not (texts[-1][-1:].isspace() or rest[0][:1].isspace())
        if layout.counts_words:
            again = layout.count("".join(gone)) - _is_inside(gone, rest)  # a word across a seam is one word
            tokens += each.text_tokens - again - across
        elif layout.summable and not across:
            tokens += layout.count("".join(rest))
        else:
            tokens = layout.count("".join((*texts, *rest)))
        texts, end = (*texts, *rest), each.block.end
    return texts, tokens


def _divide(texts: tuple[str, ...], length: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the slices of a text before and after its first `length` code points."""
    for place, text in enumerate(texts):
        if length < len(text):
            return (*texts[:place], text[:length]), (text[length:], *texts[place + 1 :])
        length -= len(text)
    return texts, ()


def _is_inside(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Return True if a word spans the seam."""
    last = next((text[-1] for text in reversed(before) if text), " ")
    return not (last.isspace() or after[0][0].isspace())


def render(layout: Layout, drafts: Sequence[Draft]) -> str:
    """Return the whole context."""
    return layout.separator.join(
        "".join((each.lead, _show(layout, each.block, each.texts), layout.footer)) for each in drafts
    )


def text_ranges(layout: Layout, drafts: Sequence[Draft]) -> list[tuple[int, int]]:
    """Return the range of each block's text in the context, in code points."""
    ranges: list[tuple[int, int]] = []
    at = 0
    for each in drafts:
        start = at + len(each.lead)
        end = start + len(_show(layout, each.block, each.texts))
        ranges.append((start, end))
        at = end + len(layout.footer) + len(layout.separator)
    return ranges


def _show(layout: Layout, block: Block, texts: Sequence[str]) -> str:
    """Return the block's text as the context shows it."""
    text = "".join(texts)
    if not layout.is_numbered or block.place is not None:
        return text
    lines = text.removesuffix("\n").split("\n")
    end = "\n" if text.endswith("\n") else ""
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, block.line_start)) + end


def fits(layout: Layout, drafts: Sequence[Draft], budget_tokens: int) -> bool:
    """Return True if the whole context fits the budget.

    The sum of the parts decides if it is clear enough. Otherwise the context is rendered and counted.
    """
    upper = sum(each.lead_tokens + each.text_tokens for each in drafts) + layout.gap_tokens * (len(drafts) - 1)
    seams = sum(len(each.texts) + _PARTS for each in drafts)
    return _fits(layout, upper, seams, budget_tokens, lambda: render(layout, drafts))


def fits_behind(layout: Layout, drafts: Sequence[Draft], budget_tokens: int) -> Callable[[Draft], bool]:
    """Return a function that checks `fits` with one more draft at the end. The given drafts are counted once."""
    before = render(layout, drafts) + layout.separator if drafts else ""
    counted = layout.count(before)

    def fitting(last: Draft) -> bool:
        upper = counted + last.lead_tokens + last.text_tokens
        return _fits(layout, upper, len(last.texts) + 1, budget_tokens, lambda: before + render(layout, [last]))

    return fitting


_PARTS = 3  # texts around a draft: the lines above and below it, and a separator


def _fits(layout: Layout, upper: int, seams: int, budget_tokens: int, text: Callable[[], str]) -> bool:
    """Return True if a text fits. upper: the tokens of its parts; seams: the most seams between them."""
    if layout.summable and upper <= budget_tokens:
        return True
    if layout.summable and upper - _SEAM_TOKENS * seams > budget_tokens:
        return False
    return layout.count(text()) <= budget_tokens


def _lead(header: str, block: Block) -> str:
    if not header:
        return ""
    doc, lines = block.doc, f"{block.line_start}-{block.line_end}"
    where = behind(doc.path, block.line_start, block.line_end, block.place)
    if where != f":{lines}":  # a place other than a line of the text: `a.pdf#page=3`
        header, lines = header.replace("{path}:{lines}", "{path}{lines}"), where
        lines = lines if "{path}{lines}" in header else lines[1:]
    path, title, heading = map(
        _escape_attribute if header.startswith("<") else one_line, (doc.path, doc.title, block.heading)
    )
    line = header.format(n=block.number, path=path, lines=lines, title=title, heading=heading)
    return line + "\n"


def _escape_attribute(name: str) -> str:
    """Return a name escaped as the value of an attribute."""
    return one_line(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def chunk_of(hit: Hit) -> Chunk:
    """Return the chunk of a candidate. A document without text has a chunk without text."""
    return cast(Chunk, hit.chunk)


def whole(sheet: Layout, hit: Hit, *, number: int) -> Draft:
    """Return the draft of the whole chunk."""
    return part(sheet, hit, (0, len(chunk_of(hit).text)), number=number)


def part(sheet: Layout, hit: Hit, span: Span, *, number: int) -> Draft:
    """Return the draft of a span of the chunk's text. Its last line is that of its last character."""
    chunk, (start, end) = chunk_of(hit), span
    text = chunk.text[start:end]
    line = chunk.line_start + chunk.text.count("\n", 0, start)
    lines = (line, line + text.count("\n", 0, max(len(text) - 1, 0)))
    unit = hit.passage or chunk
    has_lines = (chunk.place or "").startswith("line ")  # headers count the lines of their block
    block = Block(
        number,
        hit.doc,
        chunk.offset + start,
        chunk.offset + end,
        *(lines if len(text) < len(chunk.text) else (chunk.line_start, chunk.line_end)),
        text,
        (chunk.id,),
        (hit.rank,),
        _cut(span, len(chunk.text)),
        unit.heading or "",
        chunk.place if has_lines else unit.place,
        sheet.imitation.search(text) is not None,
    )
    return draft(sheet, block)


def _cut(span: Span, size: int) -> Cut | None:
    start, end = span
    if start > 0:
        return "both" if end < size else "start"
    return "end" if end < size else None


def omission(
    reason: Literal["empty", "budget", "diversity", "duplicate", "dropped", "copy"], hit: Hit, *, count: int = 1
) -> Omission:
    """Return why a hit is not packed. count: this hit and later ones with the same reason."""
    return Omission(reason, hit.rank, count, chunk_of(hit).id, hit.doc.path)


class Alike(Protocol):
    """The copies of ranked candidates, which come first with their text."""

    def count(self, hit: Hit) -> int:
        """Return the number of copies."""

    def others(self, hit: Hit) -> Iterator[Hit]:
        """Yield the copies in order with the candidate's rank. Each is read on demand."""


class Alone:
    """Candidates without copies."""

    def count(self, hit: Hit) -> int:
        """Return 0."""
        return 0

    def others(self, hit: Hit) -> Iterator[Hit]:
        """Yield nothing."""
        return iter(())


ALONE = Alone()


class Taker:
    """A ranked candidate and its copies, tried in order until one is packed."""

    def __init__(self, hit: Hit, alike: Alike) -> None:
        self.hit: Hit | None = hit
        self._others = alike.others(hit)
        self._left = alike.count(hit)

    def pass_over(self) -> None:
        """Go to the next copy, if there is one."""
        self.hit = next(self._others, None) if self._left else None
        self._left -= self.hit is not None

    def copies(self) -> list[Omission]:
        """Return the remaining copies as omissions, because their text is packed."""
        if not self._left:
            return []
        return [omission("copy", next(self._others), count=self._left)]

    def rest(self) -> Iterator[Hit]:
        """Yield the remaining copies."""
        return self._others if self._left else iter(())
