"""The passage tab: a chunk in its document, the bounds of all chunks, what they share, where a context cuts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.style import Style
from rich.text import Text

from recall_core.types import Hit, Packed
from recall_tui.panes.explain.ledger import DIM
from recall_tui.state.explaining import Line, MarkKind, Passage, Stretch
from recall_tui.widgets.draw import Glyphs, counted, fit, fit_place, folded

# Okabe and Ito's colours, as in the query; every kind is also told by weight, slant or how it is spelt.
KINDS: dict[MarkKind, Style] = {
    "term": Style(bold=True, underline=True),
    "keyword": Style(bold=True),
    "name": Style(color="#cc79a7"),
    "string": Style(color="#2fb58a"),
    "comment": Style(italic=True, dim=True),
    "heading": Style(bold=True),
}


BOLD = Style(bold=True)


class Drawn(NamedTuple):
    """The lines of a document. row: of the first line of the chunk."""

    lines: list[Text]
    row: int


def cut_of(packed: Packed | None, chunk_id: str) -> int | None:
    """Where the packed context cuts this chunk off, in code points of its document; None where it does not."""
    for block in packed.blocks if packed is not None else ():
        if block.truncated and block.chunk_ids and block.chunk_ids[-1] == chunk_id:
            return block.end
    return None


def passage_lines(passage: Passage, cut: int | None, shade: Style, width: int, glyphs: Glyphs) -> Drawn:
    """The document, a rule before each chunk. shade: behind what two chunks share."""
    own = next(each for each in passage.chunks if each.id == passage.chunk_id)
    lines = [Text(fit_place(passage.path, "", width, glyphs).rstrip(), Style(bold=True))]
    lines += [Text(line, DIM) for line in folded(_legend(glyphs), width)]
    if not passage.from_start:
        lines.append(Text(fit(f"{glyphs.cut} begins earlier; v opens the whole document", width, glyphs), DIM))
    page = _Page(passage, own, shade, width, glyphs)
    waiting = list(passage.chunks)
    row = len(lines)
    for line in passage.lines:
        end = line.offset + len(line.text)
        while waiting and waiting[0].offset <= end:
            if waiting[0].id == own.id:
                row = len(lines)
            lines.append(page.rule(waiting.pop(0)))
        lines += page.line(line, cut)
    if not passage.to_end:
        lines.append(Text(fit(f"{glyphs.cut} goes on; v opens the whole document", width, glyphs), DIM))
    return Drawn(lines, row)


def no_chunk(hit: Hit) -> str:
    """Why there is no passage: a row may be a document of which no chunk was ranked."""
    return f"This row is the document {hit.doc.path}; no chunk of it was chosen."


def chunk_lines(hit: Hit, width: int, glyphs: Glyphs) -> list[Text]:
    """The chunk alone, as the hit brings it."""
    if hit.chunk is None:
        return [Text(line) for line in folded(no_chunk(hit), width)]
    chunk = hit.chunk
    where = fit_place(hit.doc.path, f":{chunk.line_start}-{chunk.line_end}", width, glyphs)
    labels = glyphs.dot.join([counted(chunk.tokens, "token"), f"chunk {chunk.id[:12]}", *hit.doc.tags])
    heads = [where, fit(f"{glyphs.crumb.strip()} {chunk.heading}", width, glyphs)] if chunk.heading else [where]
    lines = [Text(head.rstrip(), Style(bold=True)) for head in heads]
    lines.append(Text(fit(labels, width, glyphs).rstrip(), DIM))
    return [*lines, *(Text(line) for line in folded(chunk.text, width))]


def _legend(glyphs: Glyphs) -> str:
    marks = ((0, "this chunk"), (1, "this and another"), (2, "two others"))
    shown = [f"{glyphs.series[place]} {what}" for place, what in marks]
    return glyphs.dot.join([*shown, f"{glyphs.upright} one other"])


class _Page:
    """How the lines of one document are drawn."""

    def __init__(self, passage: Passage, own: Stretch, shade: Style, width: int, glyphs: Glyphs) -> None:
        self._offsets = [each.offset for each in passage.chunks]
        self._ends = [each.end for each in passage.chunks]
        self._own = own
        self._shade = shade
        self._width = width
        self._glyphs = glyphs
        self._digits = len(str(passage.lines[-1].number)) if passage.lines else 1
        self._shared = _shared(passage.chunks)

    def rule(self, chunk: Stretch) -> Text:
        """The bound before a chunk."""
        glyphs, is_own = self._glyphs, chunk.id == self._own.id
        mark = glyphs.pointer if is_own else glyphs.line
        told = f"{mark} chunk {chunk.id[:12]} {chunk.line_start}-{chunk.line_end}"
        told = f"{' ' * self._digits} {told}{glyphs.dot}{counted(chunk.tokens, 'token')} "
        line = told + glyphs.line * max(0, self._width - cell_len(told))
        return Text(fit(line, self._width, glyphs), Style(bold=is_own, dim=None if is_own else True))

    def line(self, line: Line, cut: int | None) -> Iterator[Text]:
        """One line of the document, folded; a rule where the context ends in it."""
        if cut is None or not line.offset < cut <= line.offset + len(line.text) + 1:
            yield from self._folded(line, self._styled(line))
            return
        before, after = self._styled(line).divide([min(cut - line.offset, len(line.text))])
        if before.plain.strip() or not after.plain:
            yield from self._folded(line, before)
        told = f"{' ' * self._digits} {self._glyphs.out} the context is cut here "
        rule = told + self._glyphs.line * max(0, self._width - cell_len(told))
        yield Text(fit(rule, self._width, self._glyphs), Style(bold=True))
        if after.plain:
            yield from self._folded(line, after if before.plain.strip() else self._styled(line))

    def _styled(self, line: Line) -> Text:
        plain = line.text
        if not plain.isprintable():
            plain = "".join(mark if mark.isprintable() or mark == "\t" else " " for mark in plain)
        text = Text(plain)
        first = bisect_right(self._shared, line.offset, key=lambda span: span[1])
        for start, end in self._shared[first:]:
            if start >= line.offset + len(line.text):
                break
            text.stylize(self._shade, max(0, start - line.offset), end - line.offset)
        for mark in line.marks:
            text.stylize(KINDS[mark.kind], mark.start, mark.end)
        return text

    def _folded(self, line: Line, text: Text) -> Iterator[Text]:
        mark = self._mark(line)
        is_own = mark in self._glyphs.series[:2]
        if "\t" in text.plain:
            text.expand_tabs(4)
        for place, piece in enumerate(wrapped(text, self._width - self._digits - 3)):
            number = str(line.number) if place == 0 else ""
            gutter = Text().append(f"{number:>{self._digits}} {mark} ", BOLD if is_own else DIM)
            yield gutter.append_text(piece)

    def _mark(self, line: Line) -> str:
        end = max(line.offset + len(line.text), line.offset + 1)
        reaching = bisect_left(self._offsets, end) - bisect_right(self._ends, line.offset)
        if self._own.offset < end and self._own.end > line.offset:
            return self._glyphs.series[1 if reaching > 1 else 0]
        return self._glyphs.series[2] if reaching > 1 else self._glyphs.upright if reaching else " "


def _shared(chunks: Sequence[Stretch]) -> list[tuple[int, int]]:
    """What neighbours both hold, in code points of the document."""
    return [(after.offset, before.end) for before, after in pairwise(chunks) if after.offset < before.end]


def wrapped(text: Text, width: int) -> list[Text]:
    """The text broken at blanks to at most `width` cells, with its styles; blanks at a break go."""
    width = max(1, width)
    if text.cell_len <= width:
        return [text]
    breaks: list[int] = []
    used = at = 0
    for word in re.findall(r"\S+\s*|\s+", text.plain):
        if used and used + cell_len(word.rstrip()) > width:
            breaks.append(at)
            used = 0
        if cell_len(word.rstrip()) > width:
            pieces = chop_cells(word, width)
            for piece in pieces[:-1]:
                at += len(piece)
                breaks.append(at)
            word = pieces[-1]  # noqa: PLW2901 - what is left of it stands on the next line
        used += cell_len(word)
        at += len(word)
    lines = list(text.divide(breaks))
    for line in lines[:-1]:
        line.rstrip()
    return lines
