"""How blocks look as text, what they cost in tokens, and which of the candidates with one text a context holds."""

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
"""Counters for which a text never counts more than its parts do, where white space stands at every seam between
them: words add up, and the estimates round every part up."""
_SEAM_TOKENS = 2
"""How much less they count a text at most, at each of these seams: a part that is rounded up, a space at its end."""
_CUT_TOKENS, _CUT_PIECES = 2, 8
"""How much more a stretch counts that is cut out of a text: a token at either end, or what a tokenizer that cuts
words otherwise makes of them."""


class Draft(NamedTuple):
    """A block with the line that stands above it, and the tokens of both; together never below the real count.

    lead_tokens: those of the line below it too.
    """

    block: Block
    lead: str
    lead_tokens: int
    text_tokens: int
    texts: tuple[str, ...]
    """The block's text in slices, put together once it grows no more: see `finish`."""


class Layout(NamedTuple):
    """The templates, the separator and the counter of one context."""

    header: str
    footer: str
    """With the line end before it; or ""."""
    separator: str
    is_numbered: bool
    """Every line of a block begins with its number in the file and a tab, where the text is the file's own."""
    counter: str
    """The counter's name."""
    count: Callable[[str], int]
    """The counter's, with a look at the deadline before each text."""
    gap_tokens: int
    summable: bool
    counts_words: bool
    """Tokens are words between white space."""
    cut_tokens: int
    """How much more a stretch may count that is cut out of a text."""
    imitation: re.Pattern[str]
    """Finds a line that reads like a header or the footer."""


def layout(config: Config, counter: Counter) -> Layout:
    """The layout that a config asks for. An empty header leaves the header line out."""
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
    """Return what finds lines like these, whatever their white space and names; a place ends in a digit.

    A header made of names alone is not looked for, since any line could be one.
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
    """The block as it will be shown."""
    check()
    shown = _show(layout, block, (block.text,))
    return place_block(layout, block, texts=(block.text,), text_tokens=layout.count(shown))


def place_block(layout: Layout, block: Block, *, texts: tuple[str, ...], text_tokens: int) -> Draft:
    """The same of a block whose text is known in slices, with what it costs."""
    lead = _lead(layout.header, block)
    if block.imitates and lead:
        lines = block.line_end - block.line_start + 1
        lead = f"{lead[:-1]} ({lines} line{'s' * (lines > 1)} of text below)\n"
    lead_tokens = layout.count(lead) + (layout.count(layout.footer) if layout.footer else 0)
    return Draft(block, lead, lead_tokens, text_tokens, texts)


def finish(draft: Draft) -> Block:
    """The block with its whole text."""
    return draft.block._replace(text="".join(draft.texts))


def join(layout: Layout, drafts: Sequence[Draft]) -> tuple[tuple[str, ...], int]:
    """The text from the first draft's beginning to the last end, in slices, and at least its tokens.

    drafts: of one document, by offset, none with a gap before it. Adds up the parts where that is allowed, so that a
    block which grows is neither copied nor counted again.
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
    """Slices of a text, before and after its first `length` code points."""
    for place, text in enumerate(texts):
        if length < len(text):
            return (*texts[:place], text[:length]), (text[length:], *texts[place + 1 :])
        length -= len(text)
    return texts, ()


def _is_inside(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether a word stands across the seam."""
    last = next((text[-1] for text in reversed(before) if text), " ")
    return not (last.isspace() or after[0][0].isspace())


def render(layout: Layout, drafts: Sequence[Draft]) -> str:
    """The whole context."""
    return layout.separator.join(
        "".join((each.lead, _show(layout, each.block, each.texts), layout.footer)) for each in drafts
    )


def text_ranges(layout: Layout, drafts: Sequence[Draft]) -> list[tuple[int, int]]:
    """From where to where the text of each block stands in the whole context, in code points."""
    ranges: list[tuple[int, int]] = []
    at = 0
    for each in drafts:
        start = at + len(each.lead)
        end = start + len(_show(layout, each.block, each.texts))
        ranges.append((start, end))
        at = end + len(layout.footer) + len(layout.separator)
    return ranges


def _show(layout: Layout, block: Block, texts: Sequence[str]) -> str:
    """The block's text as it stands in the context."""
    text = "".join(texts)
    if not layout.is_numbered or block.place is not None:
        return text
    lines = text.removesuffix("\n").split("\n")
    end = "\n" if text.endswith("\n") else ""
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, block.line_start)) + end


def fits(layout: Layout, drafts: Sequence[Draft], budget_tokens: int) -> bool:
    """Whether the whole context counts no more than the budget.

    The sum of the parts settles it where it cannot be as far from the whole. Only what that sum leaves open is
    rendered and counted.
    """
    upper = sum(each.lead_tokens + each.text_tokens for each in drafts) + layout.gap_tokens * (len(drafts) - 1)
    seams = sum(len(each.texts) + _PARTS for each in drafts)
    return _fits(layout, upper, seams, budget_tokens, lambda: render(layout, drafts))


def fits_behind(layout: Layout, drafts: Sequence[Draft], budget_tokens: int) -> Callable[[Draft], bool]:
    """`fits` of these with one more behind them, for many of which one is wanted: these are counted once."""
    before = render(layout, drafts) + layout.separator if drafts else ""
    counted = layout.count(before)

    def fitting(last: Draft) -> bool:
        upper = counted + last.lead_tokens + last.text_tokens
        return _fits(layout, upper, len(last.texts) + 1, budget_tokens, lambda: before + render(layout, [last]))

    return fitting


_PARTS = 3  # of a draft beside its texts: the lines above and below it, and a separator


def _fits(layout: Layout, upper: int, seams: int, budget_tokens: int, text: Callable[[], str]) -> bool:
    """Whether a text fits whose parts, divided by so many seams or fewer, count so much together."""
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
    if where != f":{lines}":  # a place that is no line of the text: `a.pdf#page=3`
        header, lines = header.replace("{path}:{lines}", "{path}{lines}"), where
        lines = lines if "{path}{lines}" in header else lines[1:]
    path, title, heading = map(
        _escape_attribute if header.startswith("<") else one_line, (doc.path, doc.title, block.heading)
    )
    line = header.format(n=block.number, path=path, lines=lines, title=title, heading=heading)
    return line + "\n"


def _escape_attribute(name: str) -> str:
    """A name as the value of an attribute."""
    return one_line(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def chunk_of(hit: Hit) -> Chunk:
    """The chunk of a candidate: a document without text comes with a chunk without text."""
    return cast(Chunk, hit.chunk)


def whole(sheet: Layout, hit: Hit, *, number: int) -> Draft:
    """The whole chunk as it will be shown."""
    return part(sheet, hit, (0, len(chunk_of(hit).text)), number=number)


def part(sheet: Layout, hit: Hit, span: Span, *, number: int) -> Draft:
    """A span of the chunk's text as it will be shown; its last line is that of its last character."""
    chunk, (start, end) = chunk_of(hit), span
    text = chunk.text[start:end]
    line = chunk.line_start + chunk.text.count("\n", 0, start)
    lines = (line, line + text.count("\n", 0, max(len(text) - 1, 0)))
    unit = hit.passage or chunk
    has_lines = (chunk.place or "").startswith("line ")  # a header says all lines of its block, as of any text
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
    """Why a hit is not packed; count: with so many that come behind it."""
    return Omission(reason, hit.rank, count, chunk_of(hit).id, hit.doc.path)


class Alike(Protocol):
    """The candidates that a ranked one stands for, because it was the first with their text."""

    def count(self, hit: Hit) -> int:
        """How many they are."""

    def others(self, hit: Hit) -> Iterator[Hit]:
        """They themselves, in order and with its rank, each read when it is asked for."""


class Alone:
    """Of candidates that stand for nobody."""

    def count(self, hit: Hit) -> int:
        """None, whoever is asked for."""
        return 0

    def others(self, hit: Hit) -> Iterator[Hit]:
        """As above."""
        return iter(())


ALONE = Alone()


class Taker:
    """One ranked candidate and those behind it, one after the other until one is packed."""

    def __init__(self, hit: Hit, alike: Alike) -> None:
        self.hit: Hit | None = hit
        self._others = alike.others(hit)
        self._left = alike.count(hit)

    def pass_over(self) -> None:
        """On to the next one with this text, if there is one."""
        self.hit = next(self._others, None) if self._left else None
        self._left -= self.hit is not None

    def copies(self) -> list[Omission]:
        """Those that are left, because their text is packed."""
        if not self._left:
            return []
        return [omission("copy", next(self._others), count=self._left)]

    def rest(self) -> Iterator[Hit]:
        """Those that are left."""
        return self._others if self._left else iter(())
