"""The passage tab: a chunk in its document, with all chunk bounds, overlaps and cuts of the context."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.text import behind
from recall_core.types import Hit, Packed
from recall_tui.state.explaining import DocumentPassage, MarkKind, PassageLine, Stretch
from recall_tui.widgets.draw import BOLD, DIM, Glyphs, figure, fit, fit_place, fold, harmless, pluralize, wrap

# Okabe and Ito's colours, as in the query. Weight, slant or spelling also distinguish every kind.
KINDS: dict[MarkKind, Style] = {
    "term": Style(bold=True, underline=True),
    "keyword": Style(bold=True),
    "name": Style(color="#cc79a7"),
    "string": Style(color="#2fb58a"),
    "comment": Style(italic=True, dim=True),
    "heading": Style(bold=True),
}
TAB = 4  # cells


class Drawn(NamedTuple):
    """The lines of a document. row: of the rule before the chunk."""

    lines: list[Text]
    row: int


def cuts_of(packed: Packed | None, chunk_id: str) -> dict[int, str]:
    """Return where the packed context cuts this chunk, in code points of its document, each with its label."""
    for block in packed.blocks if packed is not None else ():
        if block.truncated and chunk_id in block.chunk_ids:
            cuts = {block.offset: "the context begins here"} if block.cut != "end" else {}
            return cuts | ({block.end: "the context is cut here"} if block.cut != "start" else {})
    return {}


def passage_lines(
    passage: DocumentPassage, cuts: Mapping[int, str], shade: Style, width: int, glyphs: Glyphs
) -> Drawn:
    """Return the document with a rule where each chunk begins. shade: background of text that two chunks share."""
    own = next(each for each in passage.chunks if each.id == passage.chunk_id)
    lines = [Text(fit_place(harmless(passage.path), _place(passage, own, glyphs), width, glyphs).rstrip(), BOLD)]
    marks = ((0, "this chunk"), (1, "this and another"), (2, "two others"))
    shown = [f"{glyphs.series[place]} {what}" for place, what in marks]
    between = ", " if glyphs.dot.strip() == glyphs.upright else glyphs.dot
    legend = between.join([*shown, f"{glyphs.upright} one other"])
    lines += [Text(line, DIM) for line in fold(legend, width)]
    if not passage.from_start:
        lines.append(Text(fit(f"{glyphs.cut} starts earlier; e opens the file", width, glyphs), DIM))
    page = _PassageLines(passage, own, shade, width, glyphs)
    row = len(lines)
    for piece in chain.from_iterable(map(page.pieces, passage.lines)):
        for chunk in piece.chunks:
            if chunk.id == own.id:
                row = len(lines)
            lines.append(page.rule(chunk))
        lines += page.piece(piece, cuts)
    if not passage.to_end:
        lines.append(Text(fit(f"{glyphs.cut} continues; e opens the file", width, glyphs), DIM))
    return Drawn(lines, row)


def _place(passage: DocumentPassage, own: Stretch, glyphs: Glyphs) -> str:
    """Return the chunk's lines, its number in the document, and its tokens."""
    at = 1 + [each.id for each in passage.chunks].index(own.id)
    is_whole = passage.from_start and passage.to_end
    chunk = [f"chunk {figure(at)} of {figure(len(passage.chunks))}"] if is_whole else []
    where = behind(passage.path, own.line_start, own.line_end, own.place)
    return glyphs.dot.join([where, *chunk, pluralize(own.tokens, "token")])


def no_chunk(hit: Hit) -> str:
    """Return why there is no passage: the row is a document without a ranked chunk."""
    return f"This result is the document {harmless(hit.doc.path)}; no chunk of it was chosen."


def chunk_lines(hit: Hit, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the chunk alone, as it is in the hit."""
    if hit.chunk is None:
        return [Text(line) for line in fold(no_chunk(hit), width)]
    chunk = hit.chunk
    place = behind(hit.doc.path, chunk.line_start, chunk.line_end, chunk.place)
    where = fit_place(harmless(hit.doc.path), place, width, glyphs)
    labels = glyphs.dot.join(
        [pluralize(chunk.tokens, "token"), f"chunk {chunk.id[:12]}", *map(harmless, hit.doc.tags)]
    )
    heads = (
        [where, fit(f"{glyphs.crumb.strip()} {harmless(chunk.heading)}", width, glyphs)] if chunk.heading else [where]
    )
    lines = [Text(head.rstrip(), Style(bold=True)) for head in heads]
    lines.append(Text(fit(labels, width, glyphs).rstrip(), DIM))
    return [*lines, *(Text(line) for line in fold(chunk.text, width))]


class _LinePiece(NamedTuple):
    """A line, or the part of it between the starts of two chunks."""

    number: str
    """Line number on the first piece of a line, else "". Also "" if the text has no lines in the file."""
    offset: int
    end: int
    """In code points of the document. A line break belongs to the piece before it."""
    text: Text
    chunks: Sequence[Stretch]
    """Chunks whose rules come before the piece."""


class _PassageLines:
    """Draws the lines of one document."""

    def __init__(self, passage: DocumentPassage, own: Stretch, shade: Style, width: int, glyphs: Glyphs) -> None:
        self._chunks = passage.chunks
        self._path = passage.path
        self._offsets = [each.offset for each in passage.chunks]
        self._ends = [each.end for each in passage.chunks]
        self._own = own
        self._shade = shade
        self._width = width
        self._glyphs = glyphs
        self._is_numbered = all(each.place is None for each in passage.chunks)
        self._digits = len(str(passage.lines[-1].number if passage.lines else 1)) if self._is_numbered else 0
        self._shared = [
            (after.offset, before.end) for before, after in pairwise(passage.chunks) if after.offset < before.end
        ]

    def rule(self, chunk: Stretch) -> Text:
        """Return the rule before a chunk."""
        glyphs, is_own = self._glyphs, chunk.id == self._own.id
        mark = glyphs.pointer if is_own else glyphs.line
        where = behind(self._path, chunk.line_start, chunk.line_end, chunk.place).lstrip(":")
        text = f"{mark} chunk {chunk.id[:12]} {where}"
        text = f"{' ' * self._digits} {text}{glyphs.dot}{pluralize(chunk.tokens, 'token')} "
        line = text + glyphs.line * max(0, self._width - cell_len(text))
        return Text(fit(line, self._width, glyphs), Style(bold=is_own, dim=None if is_own else True))

    def pieces(self, line: PassageLine) -> Iterator[_LinePiece]:
        """Yield the pieces of a line, split where chunks begin."""
        text, end = self._style_line(line), line.offset + len(line.text)
        chunks = self._chunks[bisect_left(self._offsets, line.offset) : bisect_right(self._offsets, end)]
        groups = _groups(line.offset, text.plain, chunks)
        starts = [start for start, _ in groups]
        parts = text.divide([start - line.offset for start in starts[1:]])
        ends = [*starts[1:], end + 1]
        number = str(line.number) if self._is_numbered else ""
        for (start, begun), last, part in zip(groups, ends, parts, strict=True):
            yield _LinePiece(number if start == line.offset else "", start, last, part, begun)

    def piece(self, piece: _LinePiece, cuts: Mapping[int, str]) -> Iterator[Text]:
        """Yield a piece of a line, folded, with a rule where the context begins or ends."""
        cut = next((at for at in cuts if piece.offset < at <= piece.end), None)
        if cut is None:
            yield from self._fold_piece(piece)
            return
        at = min(cut - piece.offset, len(piece.text))
        before, after = piece.text.divide([at])
        is_parted = bool(before.plain.strip())
        if is_parted or not after.plain:
            yield from self._fold_piece(piece._replace(text=before))
        text = f"{' ' * self._digits} {self._glyphs.out} {cuts[cut]} "
        rule = text + self._glyphs.line * max(0, self._width - cell_len(text))
        yield Text(fit(rule, self._width, self._glyphs), Style(bold=True))
        if after.plain:
            rest = piece._replace(offset=cut, text=after) if is_parted else piece
            yield from self.piece(rest, {at: label for at, label in cuts.items() if at > cut})

    def _style_line(self, line: PassageLine) -> Text:
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

    def _fold_piece(self, piece: _LinePiece) -> Iterator[Text]:
        text, plain = piece.text, piece.text.plain
        if "\t" in plain:
            text.expand_tabs(TAB)
        rows = wrap(text, self._width - self._digits - 3)
        starts = [piece.offset + place for place in _with_tabs(plain, [place for place, _ in rows])]
        ends = [*starts[1:], piece.offset + len(plain)]
        number = piece.number
        for (_, row), start, end in zip(rows, starts, ends, strict=True):
            mark = self._mark(start, end)
            is_own = mark in self._glyphs.series[:2]
            gutter = Text().append(f"{number:>{self._digits}} {mark} ", BOLD if is_own else DIM)
            number = ""
            yield gutter.append_text(row)

    def _mark(self, start: int, end: int) -> str:
        """Return the mark of the chunks that contain a row. start, end: code points of the document."""
        end = max(end, start + 1)
        reaching = bisect_left(self._offsets, end) - bisect_right(self._ends, start)
        if self._own.offset < end and self._own.end > start:
            return self._glyphs.series[1 if reaching > 1 else 0]
        return self._glyphs.series[2] if reaching > 1 else self._glyphs.upright if reaching else " "


def _groups(offset: int, plain: str, chunks: Sequence[Stretch]) -> list[tuple[int, list[Stretch]]]:
    """Return the start of each piece of a line, in code points, with the chunks whose rules precede it.

    Blanks belong to the piece after them. The rule of a chunk that begins at the line break comes before the last
    piece.
    """
    groups: list[tuple[int, list[Stretch]]] = [(offset, [])]
    last = 0
    for chunk in chunks:
        at = chunk.offset - offset
        if at < len(plain) and plain[last:at].strip():
            groups.append((chunk.offset, []))
        groups[-1][1].append(chunk)
        last = at
    return groups


def _with_tabs(plain: str, places: Sequence[int]) -> Sequence[int]:
    """Map places in a text with expanded tabs to code points of the text with tabs."""
    if "\t" not in plain:
        return places
    starts, firsts, cells = [0], [0], 0
    for part in plain.split("\t"):
        blanks = TAB - (cells + cell_len(part)) % TAB
        cells += cell_len(part) + blanks
        starts.append(starts[-1] + len(part) + blanks)
        firsts.append(firsts[-1] + len(part) + 1)
    after = [bisect_right(starts, place) for place in places]
    return [min(firsts[k - 1] + at - starts[k - 1], firsts[k] - 1) for k, at in zip(after, places, strict=True)]
