"""A row of the results as lines: what it is, how its score is made, and the passage that answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import Hit
from recall_tui.state.events import Spans
from recall_tui.state.records import cited
from recall_tui.widgets.draw import COLOURS, Glyphs, blanked, counted, figure, fit, fit_place, split

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView

MATCHED = Style(bold=True, underline=True)
SECONDARY = Style(dim=True)
CAUTION = Style(bold=True)
BAR_CELLS = 7
MOVE_CELLS = 6
TOKEN_CELLS = 6
GRADE_CELLS = 6
NARROW_LABEL = 28  # cells of the title where a row has one line
GROUPED_LABEL = 20  # the same below the heading of its document
LEAD = 12  # code points of a passage that stand before its first match, where its front is left out
Shown = Literal["all", "document", "chunk"]
"""What of its place a row says: below the heading of its document the chunk alone; the heading, the document."""


class ResultLine(NamedTuple):
    """All that a row shows."""

    rank: int
    hit: Hit | None
    passage: PassageView | None = None
    state: str = ""
    """What happened to its file since it was read."""
    grade: str = ""
    move: str = ""
    """How far it has come from its rank under the saved settings; "" while those hold."""
    of_title: Spans = ()
    of_heading: Spans = ()
    """Where words of the question stand."""
    is_selected: bool = False
    is_stale: bool = False
    shown: Shown = "all"


class Best(NamedTuple):
    """The first row of a document: its rank, its score if it is known, and how many rows the document has."""

    rank: int
    score: float | None
    rows: int


class Frame(NamedTuple):
    """What all rows share. folder: that of every row, which none repeats. lines: of a row, one or two.
    caution: what to know before the rows are read."""

    width: int
    rank_cells: int
    folder: str
    lines: int
    has_moves: bool
    glyphs: Glyphs
    caution: str = ""
    has_grades: bool = False
    """A row has a grade, or letters give one."""


def shared_folder(paths: Sequence[str]) -> str:
    """The folder in which all of these files are, with its slash; "" where they share none, or are less than two.

    >>> shared_folder(["docs/a.md", "docs/notes/b.md"])
    'docs/'
    """
    if len(paths) < 2:
        return ""
    least, most = min(paths), max(paths)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(least, most, strict=False)))
    return least[: least.rfind("/", 0, same) + 1]


def heads(frame: Frame) -> Text:
    """The line above the rows: a caution or the folder that all share, and what the columns at the end are."""
    left = " " * (frame.rank_cells + 3) + (frame.caution or frame.folder or "score")
    right = f"{'move':>{MOVE_CELLS}}" if frame.has_moves else ""
    right += f"{'tokens':>{TOKEN_CELLS + 1}}" if frame.lines > 1 else ""
    right += f"{'grade':>{GRADE_CELLS}}" if frame.has_grades else ""
    line = Text(fit(left, frame.width - cell_len(right), frame.glyphs), CAUTION if frame.caution else SECONDARY)
    return line.append(right, SECONDARY)


def document_line(row: ResultLine, best: Best, frame: Frame) -> Text:
    """The line of a document above its rows, of which `row` is one."""
    if row.hit is None:
        return Text(fit(frame.glyphs.cut, frame.width, frame.glyphs))
    score = "" if best.score is None else f"{frame.glyphs.dot}{best.score:.3f}"
    figures = f" {counted(best.rows, 'chunk')}{frame.glyphs.dot}best {figure(best.rank)}{score} "
    room = frame.width - cell_len(figures)
    line = label(row._replace(shown="document"), row.hit, frame, max(0, room))
    line.append(figures if room > 0 else "", SECONDARY)
    line.stylize_before(Style(dim=row.is_stale))
    return line


def ungrouped_line(first: int, last: int, frame: Frame) -> Text:
    """The line above the rows that are not grouped, by their ranks."""
    said = f"{frame.glyphs.line * 2} ranks {figure(first)} to {figure(last)} are not grouped {frame.glyphs.line * 2}"
    return Text(fit(said, frame.width, frame.glyphs), SECONDARY)


def row_lines(row: ResultLine, frame: Frame) -> list[Text]:
    """The lines of a row, each in exactly the width."""
    if row.hit is None:
        waiting = _front(row, frame).append(frame.glyphs.cut)
        return [waiting, *(Text() for _ in range(frame.lines - 1))]
    return _two_lines(row, row.hit, frame) if frame.lines > 1 else [_one_line(row, row.hit, frame)]


def _two_lines(row: ResultLine, hit: Hit, frame: Frame) -> list[Text]:
    first = _scored(row, hit, frame)
    end = Text()
    if frame.has_moves:
        end.append(f"{row.move:>{MOVE_CELLS}}")
    end.append(f"{figure(hit.chunk.tokens) if hit.chunk else '.':>{TOKEN_CELLS + 1}}", SECONDARY)
    end.append(f"{row.grade:>{GRADE_CELLS}}" if frame.has_grades else "")
    first.append_text(label(row, hit, frame, frame.width - first.cell_len - end.cell_len)).append_text(end)
    indent = frame.rank_cells + 3
    return [first, Text(" " * indent).append_text(_passage(row, hit, frame, frame.width - indent))]


def _one_line(row: ResultLine, hit: Hit, frame: Frame) -> Text:
    line = _scored(row, hit, frame)
    if frame.has_moves:
        line.append(f"{row.move:>{MOVE_CELLS - 1}} ")
    most = GROUPED_LABEL if row.shown == "chunk" else NARROW_LABEL
    grade = f"{row.grade:>{GRADE_CELLS}}" if frame.has_grades else ""
    width = frame.width - len(grade)
    line.append_text(label(row, hit, frame, min(most, width - line.cell_len - 1))).append(" ")
    return line.append_text(_passage(row, hit, frame, max(0, width - line.cell_len))).append(grade)


def _front(row: ResultLine, frame: Frame) -> Text:
    mark = frame.glyphs.pointer if row.is_selected else " "
    return Text(f"{mark}{row.rank:>{frame.rank_cells + 1}} ", Style(dim=row.is_stale))


def _scored(row: ResultLine, hit: Hit, frame: Frame) -> Text:
    line = _front(row, frame)
    if hit.score is None:
        return line
    line.append(f"{hit.score:.3f} ")
    if frame.lines > 1:
        line.append_text(score_line(hit, BAR_CELLS, frame.glyphs, is_stale=row.is_stale)).append(" ")
    return line


def score_line(hit: Hit, width: int, glyphs: Glyphs, *, is_stale: bool = False) -> Text:
    """The score as a thin line of at most `width` cells, split among its signals: each has a stroke and a colour."""
    shares = [max(0.0, part.points) for part in hit.parts]
    cells = split(shares, max(1, round(min(1.0, hit.score or 0.0) * width))) if any(shares) else [0] * len(shares)
    line = Text()
    for part, count in zip(hit.parts, cells, strict=True):
        colour = None if is_stale else COLOURS.get(part.signal)
        line.append(glyphs.strokes[list(COLOURS).index(part.signal)] * count, Style(color=colour))
    return line.append(" " * (width - line.cell_len))


def label(row: ResultLine, hit: Hit, frame: Frame, width: int) -> Text:
    """What the row is: of a file its path and line, of a record its title; then its heading."""
    before = f"({row.state}) " if row.state and row.shown != "chunk" else ""
    after = f" +{figure(hit.twins.number)} identical" if hit.twins and row.shown != "document" else ""
    room = width - cell_len(before) - cell_len(after)
    is_record = hit.chunk is not None and (hit.chunk.place or "").startswith("line ") and "#" in hit.doc.path
    place = _record(row, hit, room, frame) if is_record else _file(row, hit, room, frame)
    said = Text(before).append_text(place)
    if after:
        said.rstrip()
        said.append(after, SECONDARY)
    return said.append(" " * max(0, width - said.cell_len))


def _record(row: ResultLine, hit: Hit, width: int, frame: Frame) -> Text:
    title, text = hit.doc.title or "", Text()
    heading = cited(hit, row.passage)[1] if row.shown != "document" else ""
    if row.shown != "chunk":
        text.append(title, Style(bold=True))
        for start, end in row.of_title:
            text.stylize(MATCHED, start, end)
        text.append(f" #{hit.doc.path.rpartition('#')[2]}", SECONDARY)
    if heading and heading != title:
        text.append(frame.glyphs.crumb)
        at = len(text)
        text.append(heading)
        for start, end in row.of_heading:
            text.stylize(MATCHED, at + start, at + end)
    return _fitted(text, width, frame.glyphs)


def _file(row: ResultLine, hit: Hit, width: int, frame: Frame) -> Text:
    path = hit.doc.path.removeprefix(frame.folder) if row.shown != "chunk" else ""
    lines, heading = cited(hit, row.passage) if row.shown != "document" else ("", "")
    where = fit_place(path, lines, width, frame.glyphs, more=f"{frame.glyphs.crumb}{heading}" if heading else "")
    text = Text(where)
    path_end = where.find(lines) if lines else len(where.rstrip())
    text.stylize(Style(bold=True), 0, max(0, path_end))
    for start, end in _places(where, path_end, hit, row, frame.glyphs):
        text.stylize(MATCHED, start, end)
    return text


def _places(where: str, path_end: int, hit: Hit, row: ResultLine, glyphs: Glyphs) -> Iterator[tuple[int, int]]:
    """Where words of the question stand: in the name of a file that is its own title, and in the heading."""
    title = hit.doc.title or ""
    if title and where[:path_end].endswith(title):
        yield from ((path_end - len(title) + start, path_end - len(title) + end) for start, end in row.of_title)
    heading = where.find(glyphs.crumb, path_end)
    if path_end >= 0 and heading >= 0:
        at = heading + len(glyphs.crumb)
        yield from ((at + start, min(len(where), at + end)) for start, end in row.of_heading)


def _passage(row: ResultLine, hit: Hit, frame: Frame, width: int) -> Text:
    if row.passage is not None:
        return passage_line(row.passage, width, frame.glyphs, is_stale=row.is_stale)
    if hit.score is not None or hit.chunk is None:
        return Text(" " * width)
    return Text(fit(blanked(" ".join(hit.chunk.text[: 4 * width].split())), width, frame.glyphs))


def passage_line(passage: PassageView, width: int, glyphs: Glyphs, *, is_stale: bool = False) -> Text:
    """The passage on one line of exactly `width` cells, with what matches emphasised.

    It begins in the first line of the passage, which the row cites. Of a line that is longer than that, it begins
    with the stretch that holds the most different matches, the first of these.
    """
    text, spans, cited = _flat(passage)
    of_line = [each for each in spans if each[0] < cited]
    start = 0 if cell_len(text[:cited]) <= width else _best_start(text[:cited], of_line, width)
    front = glyphs.cut if start else ""
    line = Text(front + text[start:], Style(dim=is_stale))
    for first, end, _ in spans:
        if end > start:
            line.stylize(MATCHED, max(0, first - start) + len(front), end - start + len(front))
    return _fitted(line, width, glyphs)


def _flat(passage: PassageView) -> tuple[str, list[tuple[int, int, str]], int]:
    """The passage with one blank for each run of them, its matches with their phrases, and its first line's end."""
    places: list[int] = []
    kept: list[str] = []
    for mark in blanked(passage["text"]):
        places.append(len(kept))
        if mark != " " or (kept and kept[-1] != " "):
            kept.append(mark)
    places.append(len(kept))
    offset = passage["offset"]
    spans = [(places[int(at) - offset], places[int(end) - offset], str(of)) for at, end, of in passage["matches"]]
    text = "".join(kept).rstrip()
    return text, spans, len(text) if (end := passage["text"].find("\n")) < 0 else places[end]


def _best_start(text: str, spans: Sequence[tuple[int, int, str]], width: int) -> int:
    best, most = 0, -1
    for start in (0, *(_word_before(text, first) for first, _, _ in spans)):
        held = len({phrase for first, end, phrase in spans if start <= first and end <= start + width - 2})
        if held > most:
            best, most = start, held
    return best


def _word_before(text: str, place: int) -> int:
    """Where the word begins that stands some code points before this place."""
    at = max(0, place - LEAD)
    return 0 if at == 0 else min(place, text.find(" ", at) + 1 or place)


def _fitted(text: Text, width: int, glyphs: Glyphs) -> Text:
    """The text in exactly `width` cells, cut with a mark where it is too long."""
    if width <= 0:
        return Text()
    if text.cell_len <= width:
        return text.append(" " * (width - text.cell_len))
    text.truncate(width - cell_len(glyphs.cut))
    text.append(glyphs.cut)
    return text.append(" " * (width - text.cell_len))


def moved(rank: int, before: int | None, glyphs: Glyphs) -> str:
    """How far a row has come from its rank under the saved settings: up, down, not at all, or onto the list."""
    if before is None:
        return "new"
    if before == rank:
        return "="
    return f"{glyphs.up if rank < before else glyphs.down}{abs(before - rank)}"
