"""The passage tab: a chunk in its document, the bounds of all chunks, what they share, where a context cuts."""

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

# Okabe and Ito's colours, as in the query; every kind is also told by weight, slant or how it is spelt.
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
    """Return where the packed context cuts this chunk, in code points of its document, with what to say there."""
    for block in packed.blocks if packed is not None else ():
        if block.truncated and chunk_id in block.chunk_ids:
            cuts = {block.offset: "the context begins here"} if block.cut != "end" else {}
            return cuts | ({block.end: "the context is cut here"} if block.cut != "start" else {})
    return {}


def passage_lines(
    passage: DocumentPassage, cuts: Mapping[int, str], shade: Style, width: int, glyphs: Glyphs
) -> Drawn:
    """The document, a rule where each chunk begins. shade: behind what two chunks share."""
    own = next(each for each in passage.chunks if each.id == passage.chunk_id)
    lines = [Text(fit_place(harmless(passage.path), _place(passage, own, glyphs), width, glyphs).rstrip(), BOLD)]
    marks = ((0, "this chunk"), (1, "this and another"), (2, "two others"))
    shown = [f"{glyphs.series[place]} {what}" for place, what in marks]
    between = ", " if glyphs.dot.strip() == glyphs.upright else glyphs.dot
    legend = between.join([*shown, f"{glyphs.upright} one other"])
    lines += [Text(line, DIM) for line in fold(legend, width)]
    if not passage.from_start:
        lines.append(Text(fit(f"{glyphs.cut} begins earlier; e opens the file", width, glyphs), DIM))
    page = _PassageLines(passage, own, shade, width, glyphs)
    row = len(lines)
    for piece in chain.from_iterable(map(page.pieces, passage.lines)):
        for chunk in piece.chunks:
            if chunk.id == own.id:
                row = len(lines)
            lines.append(page.rule(chunk))
        lines += page.piece(piece, cuts)
    if not passage.to_end:
        lines.append(Text(fit(f"{glyphs.cut} goes on; e opens the file", width, glyphs), DIM))
    return Drawn(lines, row)


def _place(passage: DocumentPassage, own: Stretch, glyphs: Glyphs) -> str:
    """The lines of the chunk, which of the document's it is, and its tokens."""
    at = 1 + [each.id for each in passage.chunks].index(own.id)
    is_whole = passage.from_start and passage.to_end
    chunk = [f"chunk {figure(at)} of {figure(len(passage.chunks))}"] if is_whole else []
    where = behind(passage.path, own.line_start, own.line_end, own.place)
    return glyphs.dot.join([where, *chunk, pluralize(own.tokens, "token")])


def no_chunk(hit: Hit) -> str:
    """Why there is no passage: a row may be a document of which no chunk was ranked."""
    return f"This result is the document {harmless(hit.doc.path)}; no chunk of it was chosen."


def chunk_lines(hit: Hit, width: int, glyphs: Glyphs) -> list[Text]:
    """The chunk alone, as the hit brings it."""
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
    """A line, or what of it lies between the beginnings of two chunks."""

    number: str
    """Of the line; the first piece of it has it. "" where the file has the text elsewhere than at its lines."""
    offset: int
    end: int
    """In code points of the document; a line break belongs to the piece before it."""
    text: Text
    chunks: Sequence[Stretch]
    """Those that have their rules before it."""


class _PassageLines:
    """How the lines of one document are drawn."""

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
        """The bound before a chunk."""
        glyphs, is_own = self._glyphs, chunk.id == self._own.id
        mark = glyphs.pointer if is_own else glyphs.line
        where = behind(self._path, chunk.line_start, chunk.line_end, chunk.place).lstrip(":")
        text = f"{mark} chunk {chunk.id[:12]} {where}"
        text = f"{' ' * self._digits} {text}{glyphs.dot}{pluralize(chunk.tokens, 'token')} "
        line = text + glyphs.line * max(0, self._width - cell_len(text))
        return Text(fit(line, self._width, glyphs), Style(bold=is_own, dim=None if is_own else True))

    def pieces(self, line: PassageLine) -> Iterator[_LinePiece]:
        """A line parted where chunks begin in it."""
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
        """Draw a piece of a line, folded, with a rule where the context begins or ends in it."""
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
            yield from self.piece(rest, {at: said for at, said in cuts.items() if at > cut})

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
        """Whose the text of a row is. start, end: in code points of the document."""
        end = max(end, start + 1)
        reaching = bisect_left(self._offsets, end) - bisect_right(self._ends, start)
        if self._own.offset < end and self._own.end > start:
            return self._glyphs.series[1 if reaching > 1 else 0]
        return self._glyphs.series[2] if reaching > 1 else self._glyphs.upright if reaching else " "


def _groups(offset: int, plain: str, chunks: Sequence[Stretch]) -> list[tuple[int, list[Stretch]]]:
    """Where the pieces of a line begin, in code points of the document, each with the chunks ruled off before it.

    Blanks alone are no piece, but belong to the one after them. A chunk that begins at the line break has its rule
    before the last piece.
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
    """Places in a text whose tabs were expanded, in code points of the text that has them."""
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
