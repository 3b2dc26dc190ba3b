"""Pane 2: the ranked rows with their passages. Only visible rows and their neighbours are fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.strip import Strip

from recall_core.errors import Interrupted
from recall_core.evaluate.judgements import Judgement
from recall_core.types import Hit, Table
from recall_tui.state import judging
from recall_tui.state.events import Ranks, Spans
from recall_tui.state.grouping import BY_RANK, Grouping
from recall_tui.state.records import cite_row
from recall_tui.state.session import Session, is_ingesting, is_lingering, is_stale, list_range
from recall_tui.widgets import Do
from recall_tui.widgets.draw import COLOURS, Drawing, Glyphs, blank, figure, fit, fit_place, fold, pluralize, split
from recall_tui.widgets.lines import StyledView, entitle, strip_of

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.retrieve.answer import Answer

MATCHED = Style(bold=True, underline=True)
SECONDARY = Style(dim=True)
CAUTION = Style(bold=True)
BAR_CELLS = 7
MOVE_CELLS = 6
TOKEN_CELLS = 6
GRADE_CELLS = 6
NARROW_LABEL = 28  # cells of the title in one-line rows
GROUPED_LABEL = 20  # the same below the heading of a document
LEAD = 12  # code points before the first match of a passage that is cut at the front
Shown = Literal["all", "document", "chunk"]
"""The part of its place that a row shows: "chunk" below the heading of its document, "document" in that heading."""


class ResultLine(NamedTuple):
    """Everything that a row shows."""

    rank: int
    hit: Hit | None
    passage: PassageView | None = None
    state: str = ""
    """Change of its file since it was read."""
    grade: str = ""
    move: str = ""
    """Change of rank from the saved settings, or "" while these apply."""
    of_title: Spans = ()
    of_heading: Spans = ()
    """Spans of the query's words."""
    is_selected: bool = False
    is_stale: bool = False
    shown: Shown = "all"


class Best(NamedTuple):
    """The first row of a document: its rank, its score if known, and the number of the document's rows."""

    rank: int
    score: float | None
    rows: int


class Frame(NamedTuple):
    """Values that all rows share.

    folder: shared by all rows, so no row repeats it.
    lines: of a row, one or two.
    caution: a warning about the whole list.
    """

    width: int
    rank_cells: int
    folder: str
    lines: int
    has_moves: bool
    glyphs: Glyphs
    caution: str = ""
    has_grades: bool = False
    """A row has a grade, or letters grade rows."""


def shared_folder(paths: Sequence[str]) -> str:
    """Return the folder that contains all these files, with its slash.

    Return "" for none or for fewer than two files.
    >>> shared_folder(["docs/a.md", "docs/notes/b.md"])
    'docs/'
    """
    if len(paths) < 2:
        return ""
    least, most = min(paths), max(paths)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(least, most, strict=False)))
    return least[: least.rfind("/", 0, same) + 1]


def heads(frame: Frame) -> Text:
    """Return the line above the rows: a caution or the shared folder, then the column names."""
    left = " " * (frame.rank_cells + 3) + (frame.caution or frame.folder or "score")
    right = f"{'move':>{MOVE_CELLS}}" if frame.has_moves else ""
    right += f"{'tokens':>{TOKEN_CELLS + 1}}" if frame.lines > 1 else ""
    right += f"{'grade':>{GRADE_CELLS}}" if frame.has_grades else ""
    line = Text(fit(left, frame.width - cell_len(right), frame.glyphs), CAUTION if frame.caution else SECONDARY)
    return line.append(right, SECONDARY)


def document_line(row: ResultLine, best: Best, frame: Frame) -> Text:
    """Return the heading of a document above its rows. row: one of them."""
    if row.hit is None:
        return Text(fit(frame.glyphs.cut, frame.width, frame.glyphs))
    score = "" if best.score is None else f"{frame.glyphs.dot}{best.score:.3f}"
    figures = f" {pluralize(best.rows, 'chunk')}{frame.glyphs.dot}best {figure(best.rank)}{score} "
    room = frame.width - cell_len(figures)
    line = label(row._replace(shown="document"), row.hit, frame, max(0, room))
    line.append(figures if room > 0 else "", SECONDARY)
    line.stylize_before(Style(dim=row.is_stale))
    return line


def ungrouped_line(first: int, last: int, frame: Frame) -> Text:
    """Return the line above the rows that are not grouped, with their ranks."""
    text = f"{frame.glyphs.line * 2} ranks {figure(first)} to {figure(last)} are not grouped {frame.glyphs.line * 2}"
    return Text(fit(text, frame.width, frame.glyphs), SECONDARY)


def row_lines(row: ResultLine, frame: Frame) -> list[Text]:
    """Return the lines of a row, padded to the width."""
    if row.hit is None:
        waiting = _front(row, frame).append(frame.glyphs.cut)
        return [waiting, *(Text() for _ in range(frame.lines - 1))]
    return _two_lines(row, row.hit, frame) if frame.lines > 1 else [_one_line(row, row.hit, frame)]


def _two_lines(row: ResultLine, hit: Hit, frame: Frame) -> list[Text]:
    first = _score_text(row, hit, frame)
    end = Text()
    if frame.has_moves:
        end.append(f"{row.move:>{MOVE_CELLS}}")
    end.append(f"{figure(hit.chunk.tokens) if hit.chunk else '.':>{TOKEN_CELLS + 1}}", SECONDARY)
    end.append(f"{row.grade:>{GRADE_CELLS}}" if frame.has_grades else "")
    first.append_text(label(row, hit, frame, frame.width - first.cell_len - end.cell_len)).append_text(end)
    indent = frame.rank_cells + 3
    return [first, Text(" " * indent).append_text(_passage(row, hit, frame, frame.width - indent))]


def _one_line(row: ResultLine, hit: Hit, frame: Frame) -> Text:
    line = _score_text(row, hit, frame)
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


def _score_text(row: ResultLine, hit: Hit, frame: Frame) -> Text:
    line = _front(row, frame)
    if hit.score is None:
        return line
    line.append(f"{hit.score:.3f} ")
    if frame.lines > 1:
        line.append_text(score_line(hit, BAR_CELLS, frame.glyphs, is_stale=row.is_stale)).append(" ")
    return line


def score_line(hit: Hit, width: int, glyphs: Glyphs, *, is_stale: bool = False) -> Text:
    """Return the score as a thin line of at most `width` cells. Each signal has its own stroke and colour."""
    shares = [max(0.0, part.points) for part in hit.parts]
    cells = split(shares, max(1, round(min(1.0, hit.score or 0.0) * width))) if any(shares) else [0] * len(shares)
    line = Text()
    for part, count in zip(hit.parts, cells, strict=True):
        colour = None if is_stale else COLOURS.get(part.signal)
        line.append(glyphs.strokes[list(COLOURS).index(part.signal)] * count, Style(color=colour))
    return line.append(" " * (width - line.cell_len))


def label(row: ResultLine, hit: Hit, frame: Frame, width: int) -> Text:
    """Return the name of a row: path and line of a file or title of a record, then its heading."""
    before = f"({row.state}) " if row.state and row.shown != "chunk" else ""
    after = f" +{figure(hit.twins.number)} identical" if hit.twins and row.shown != "document" else ""
    room = width - cell_len(before) - cell_len(after)
    is_record = hit.chunk is not None and (hit.chunk.place or "").startswith("line ") and "#" in hit.doc.path
    place = _record(row, hit, room, frame) if is_record else _file(row, hit, room, frame)
    text = Text(before).append_text(place)
    if after:
        text.rstrip()
        text.append(after, SECONDARY)
    return text.append(" " * max(0, width - text.cell_len))


def _record(row: ResultLine, hit: Hit, width: int, frame: Frame) -> Text:
    title, text = hit.doc.title or "", Text()
    heading = cite_row(hit, row.passage)[1] if row.shown != "document" else ""
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
    return _fit_text(text, width, frame.glyphs)


def _file(row: ResultLine, hit: Hit, width: int, frame: Frame) -> Text:
    path = hit.doc.path.removeprefix(frame.folder) if row.shown != "chunk" else ""
    lines, heading = cite_row(hit, row.passage) if row.shown != "document" else ("", "")
    where = fit_place(path, lines, width, frame.glyphs, more=f"{frame.glyphs.crumb}{heading}" if heading else "")
    text = Text(where)
    path_end = where.find(lines) if lines else len(where.rstrip())
    text.stylize(Style(bold=True), 0, max(0, path_end))
    for start, end in _places(where, path_end, hit, row, frame.glyphs):
        text.stylize(MATCHED, start, end)
    return text


def _places(where: str, path_end: int, hit: Hit, row: ResultLine, glyphs: Glyphs) -> Iterator[tuple[int, int]]:
    """Yield the spans of the query's words, in a file name that is also the title, and in the heading."""
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
    return Text(fit(blank(" ".join(hit.chunk.text[: 4 * width].split())), width, frame.glyphs))


def passage_line(passage: PassageView, width: int, glyphs: Glyphs, *, is_stale: bool = False) -> Text:
    """Return the passage in exactly `width` cells, with matches emphasised.

    It starts in the first line of the passage. In a longer line it starts at the first stretch with the most
    different matches.
    """
    text, spans, first_end = _flat(passage)
    of_line = [each for each in spans if each[0] < first_end]
    start = 0 if cell_len(text[:first_end]) <= width else _best_start(text[:first_end], of_line, width)
    front = glyphs.cut if start else ""
    line = Text(front + text[start:], Style(dim=is_stale))
    for first, end, _ in spans:
        if end > start:
            line.stylize(MATCHED, max(0, first - start) + len(front), end - start + len(front))
    return _fit_text(line, width, glyphs)


def _flat(passage: PassageView) -> tuple[str, list[tuple[int, int, str]], int]:
    """Return the passage with blanks collapsed, its matches with their phrases, and the end of its first line."""
    places: list[int] = []
    marks: list[str] = []
    for mark in blank(passage["text"]):
        places.append(len(marks))
        if mark != " " or (marks and marks[-1] != " "):
            marks.append(mark)
    places.append(len(marks))
    offset = passage["offset"]
    spans = [(places[int(at) - offset], places[int(end) - offset], str(of)) for at, end, of in passage["matches"]]
    text = "".join(marks).rstrip()
    return text, spans, len(text) if (end := passage["text"].find("\n")) < 0 else places[end]


def _best_start(text: str, spans: Sequence[tuple[int, int, str]], width: int) -> int:
    best, most = 0, -1
    for start in (0, *(_word_before(text, first) for first, _, _ in spans)):
        count = len({phrase for first, end, phrase in spans if start <= first and end <= start + width - 2})
        if count > most:
            best, most = start, count
    return best


def _word_before(text: str, place: int) -> int:
    """Return the start of the word LEAD code points before this place."""
    at = max(0, place - LEAD)
    return 0 if at == 0 else min(place, text.find(" ", at) + 1 or place)


def _fit_text(text: Text, width: int, glyphs: Glyphs) -> Text:
    """Fit the text to exactly `width` cells, with a mark if it is cut."""
    if width <= 0:
        return Text()
    if text.cell_len <= width:
        return text.append(" " * (width - text.cell_len))
    text.truncate(width - cell_len(glyphs.cut))
    text.append(glyphs.cut)
    return text.append(" " * (width - text.cell_len))


def show_move(rank: int, before: int | None, glyphs: Glyphs) -> str:
    """Return the change of rank from the saved settings: up, down, unchanged, or new."""
    if before is None:
        return "new"
    if before == rank:
        return "="
    return f"{glyphs.up if rank < before else glyphs.down}{abs(before - rank)}"


HIGH = 11
"""Height of the pane from which a row has two lines."""
MOST_COMPARED = 1_000  # rows whose folders are compared
HEAD = 1  # lines above the rows


class ResultsPane(StyledView, Drawing, can_focus=True, inherit_bindings=False):
    """Rank, score and place of each row, with the passage that answers."""

    BINDINGS: ClassVar[list[BindingType]] = []
    COMPONENT_CLASSES: ClassVar[set[str]] = {"results--selected"}

    def __init__(self) -> None:
        super().__init__(id="results")
        self._hits: Mapping[int, Hit] = {}
        self._states: Mapping[str, str] = {}
        self._matched: Mapping[str, Spans] = {}
        self._passages: Mapping[str, PassageView] = {}
        self._answer: Answer | None = None
        self._count = 0
        self._first_rank = 1
        self._grouping = BY_RANK
        self._selected = 0
        self._is_stale = False
        self._hint = ""
        self._folder = ""
        self._caution = ""
        self._rule = ""
        self._before: Ranks = {}
        self._judgements: Mapping[str, tuple[Judgement, ...]] = {}
        self._has_grades = False
        self._table: Table = "chunk"
        self._looked = range(0)
        self._drawn: tuple[tuple[ResultLine, Frame, Style | None], list[Text]] | None = None
        """The last drawn row and what it was made of, since every line of a row asks for it."""
        self._is_followed = True
        """The view was scrolled to the selected row and may scroll on from there."""

    @property
    def row_height(self) -> int:
        """Lines of a row. In a tall pane the passage has its own line."""
        return 2 if self.scrollable_content_region.height >= HIGH else 1

    @property
    def page_rows(self) -> int:
        """Number of rows that fit in the view."""
        return max(1, (self.scrollable_content_region.height - HEAD) // self.row_height)

    def line_of(self, row: int) -> int:
        """Return the line of the pane, including its border, on which a row begins."""
        return self.gutter.top + HEAD + self._line(row) - int(self.scroll_offset.y)

    @property
    def places(self) -> range:
        """The places of rows that are at least partly visible."""
        top, height = int(self.scroll_offset.y), self.scrollable_content_region.height - HEAD
        first, last = (self._grouping.at(line, self.row_height).place for line in (top, top + max(1, height) - 1))
        return range(first, min(self._count, last + 1))

    @property
    def whole_rows(self) -> list[int]:
        """The rows that are fully visible, from the top down."""
        rows = map(self._grouping.row, self.places)
        region = self.scrollable_content_region
        top, end = self.gutter.top + HEAD, self.gutter.top + region.height
        return [row for row in rows if top <= self.line_of(row) <= end - self.row_height]

    def rows_to_page(self, pages: int) -> int:
        """Return how many rows lie between the selected row and the row `pages` pages below it."""
        place = self._grouping.place(self._selected)
        line = self._line(self._selected) + pages * self.page_rows * self.row_height
        further = self._grouping.at(max(0, line), self.row_height).place - place
        return further or (1 if pages > 0 else -1)

    def show(self, session: Session) -> None:
        """Show the answer of this session and mark its selected row."""
        before, row, texts = self._drawn_from, self._selected, self._texts
        answer, grouping = self._answer, self._grouping
        results = session.results
        offset, self._count = list_range(results.answer) if results.answer else (0, 0)
        self._first_rank = offset + 1
        self._hits, self._states, self._selected = results.hits, results.states, results.selected
        self._before, self._matched, self._passages = session.weights.saved_ranks, results.matched, results.passages
        self._judgements = judging.judgements_here(session)
        self._has_grades = session.judge.is_grading or bool(self._judgements)
        self._table = results.answer.plan.table if results.answer else "chunk"
        self._is_stale = is_stale(session)
        self._hint = _hint(session)
        self._grouping = results.grouping
        if results.answer is not self._answer:
            self._answer = results.answer
            self._folder = _folder(results.answer, results.hits)
        self._caution = caution(session)
        self._rule = rule(results.answer, self._count, self.glyphs)
        title = f"2 Results{_group_words(self._grouping)}" + (" (stale)" if self._is_stale else "")
        entitle(self, title, figures(session, self._count, self.glyphs))
        self.virtual_size = self._whole_size
        self._is_followed &= row == self._selected and answer is self._answer and grouping == self._grouping
        if not self._is_followed:
            self._follow()
        if self._drawn_from != before:
            self.refresh()
            return
        changed = {at for at, text in self._texts.items() if texts.get(at) != text}
        if row != self._selected:
            changed |= {row, self._selected}
        lines: set[int] = set()
        for at in changed:  # includes the document's line above its first row
            first = HEAD + self._line(at)
            has_heading = self._grouping.place(at) in self._grouping.starts
            lines |= set(range(first - has_heading, first + self.row_height))
        for line in sorted(lines):
            self.refresh_line(line)
        if changed and self._grouping.starts:
            self.refresh_line(int(self.scroll_offset.y))  # it may name the document of a fetched row

    def render_line(self, y: int) -> Strip:
        """Draw a line. The line above the rows stays in place."""
        width = self.scrollable_content_region.width
        place, part = self._grouping.at(y - HEAD + int(self.scroll_offset.y), self.row_height)
        if self._count == 0:
            hint = fold(self._hint, width)
            line = Text(fit(hint[y] if y < len(hint) else "", width, self.glyphs))
        elif y < HEAD:
            top, top_part = self._grouping.at(int(self.scroll_offset.y), self.row_height)
            is_cut = top_part is not None and len(self._grouping.group(top)) > 0  # its heading is scrolled away
            line = self._heading(top) if is_cut else heads(self._frame)
        elif place < self._count and part is None:
            line = self._heading(place)
        elif place < self._count:
            line = self._row(self._grouping.row(place), self._frame)[part or 0]
        elif place == self._count and part == 0:
            line = Text(fit(self._rule, width, self.glyphs), Style(dim=True))
        else:
            line = Text(" " * width)
        return strip_of(line, self.size.width, self.own_style, self.app.console)

    def on_click(self, event: Click) -> None:
        """Choose the row under the mouse. On a document, choose its best row."""
        y = event.y - self.gutter.top - HEAD
        place = self._grouping.at(y + int(self.scroll_offset.y), self.row_height).place if y >= 0 else self._count
        if place < self._count:
            self.post_message(Do("choose_row", self._grouping.row(place)))

    def on_resize(self, _event: Resize) -> None:
        """Show more rows in a taller list."""
        self.virtual_size = self._whole_size
        self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Fetch the rows that scroll into view."""
        super().watch_scroll_y(old_value, new_value)
        self._look()

    @property
    def _whole_size(self) -> Size:
        lines = HEAD + self._grouping.line(self._count, self.row_height) + bool(self._rule)
        return Size(self.scrollable_content_region.width, lines)

    @property
    def _drawn_from(self) -> tuple[object, ...]:
        """Everything that the rows are drawn from, except their texts and the selection."""
        rows = (self._count, self._grouping, self._first_rank, bool(self._before), self._judgements, self._table)
        return (*rows, self._is_stale, self._hint, self._folder, self._caution, self._rule)

    @property
    def _texts(self) -> dict[int, tuple[object, ...]]:
        """The content of each visible row, without rows that were fetched ahead."""
        hits = {row: self._hits.get(row) for row in map(self._grouping.row, self.places)}
        return {
            row: (hit, hit and (self._states.get(hit.doc.id), self._of_question(hit)), self._before.get(row))
            for row, hit in hits.items()
        }

    @property
    def _frame(self) -> Frame:
        return Frame(
            width=self.scrollable_content_region.width,
            rank_cells=max(2, len(str(self._first_rank + self._count - 1))),
            folder="" if self._caution else self._folder,
            caution=self._caution,
            lines=self.row_height,
            has_moves=bool(self._before),
            has_grades=self._has_grades,
            glyphs=self.glyphs,
        )

    def _follow(self) -> None:
        """Scroll just far enough to show the selected row."""
        height = self.scrollable_content_region.height - HEAD
        if height < self.row_height:
            return  # another pane has the screen
        top, line = int(self.scroll_offset.y), self._line(self._selected)
        if line < top:
            has_heading = self._grouping.place(self._selected) in self._grouping.starts and height > self.row_height
            self.scroll_to(y=line - has_heading, animate=False, immediate=True)
        elif line + self.row_height > top + height:
            self.scroll_to(y=line + self.row_height - height, animate=False, immediate=True)
        top = int(self.scroll_offset.y)
        self._is_followed = top <= line and line + self.row_height <= top + height
        self._look()

    def _look(self) -> None:
        places = range(self.places.start, min(self._count, self.places.stop + 1))  # and the next one
        if places != self._looked or any(self._grouping.row(place) not in self._hits for place in places):
            self._looked = places
            self.post_message(Do("look_at_rows", places.start, places.stop))

    def _line(self, row: int) -> int:
        """Return the line on which a row begins, counted from the first row."""
        return self._grouping.line(self._grouping.place(row), self.row_height)

    def _heading(self, place: int) -> Text:
        """Return the heading of the document at this place, or of the rows that are not grouped."""
        places = self._grouping.group(place)
        if not places:
            return ungrouped_line(self._first_rank + place, self._first_rank + self._count - 1, self._frame)
        best, line = self._grouping.row(places.start), self._result_line(self._grouping.row(place))
        hit = self._hits.get(best)
        of_best = Best(self._first_rank + best, hit.score if hit else None, len(places))
        return document_line(line, of_best, self._frame)

    def _row(self, row: int, frame: Frame) -> list[Text]:
        is_marked = row == self._selected and not self._is_stale
        mark = self.get_component_rich_style("results--selected", partial=True) if is_marked else None
        made_of = self._result_line(row), frame, mark
        if self._drawn is None or self._drawn[0] != made_of:
            lines = row_lines(made_of[0], frame)
            if mark is not None:
                for line in lines:
                    line.append(" " * (frame.width - line.cell_len))
                    line.stylize_before(mark)
            self._drawn = made_of, lines
        return self._drawn[1]

    def _result_line(self, row: int) -> ResultLine:
        hit, rank = self._hits.get(row), self._first_rank + row
        of_title, of_heading, passage = self._of_question(hit) if hit else ((), (), None)
        shown: Shown = "chunk" if self._grouping.group(self._grouping.place(row)) else "all"
        return ResultLine(
            rank=rank,
            hit=hit,
            passage=passage,
            state=(self._states.get(hit.doc.id) if hit else None) or "",
            grade=judging.sign(judging.grade_of(self._judgements, hit, self._table)) if hit else "",
            move=show_move(rank, self._before.get(row), self.glyphs) if self._before else "",
            of_title=of_title,
            of_heading=of_heading,
            is_selected=row == self._selected,
            is_stale=self._is_stale,
            shown=shown,
        )

    def _of_question(self, hit: Hit) -> tuple[Spans, Spans, PassageView | None]:
        """Return the spans of the query's words in the title and the heading of a hit, and its passage."""
        passage = self._passages.get(hit.chunk.id) if hit.chunk else None
        heading = cite_row(hit, passage)[1]
        return self._matched.get(hit.doc.title, ()), self._matched.get(heading, ()), passage


def _group_words(grouping: Grouping) -> str:
    """Return how the rows are listed, for the title."""
    if not grouping.order:
        return ""
    is_part = bool(grouping.starts) and grouping.starts[-1] == len(grouping.order)
    return f" by document, the first {figure(len(grouping.order))}" if is_part else " by document"


def _folder(answer: Answer | None, hits: Mapping[int, Hit]) -> str:
    """Return the folder that all listed rows share, if there are few enough to compare."""
    if answer is None:
        return ""
    first, rows = list_range(answer)
    if rows > MOST_COMPARED:
        return ""
    if answer.pool is None or answer.ranked is None:
        return shared_folder([hit.doc.path for hit in hits.values()]) if len(hits) >= rows else ""
    keys = answer.pool.keys
    return shared_folder([keys[position].path for position in answer.ranked.order[first : first + rows]])


def rule(answer: Answer | None, count: int, glyphs: Glyphs) -> str:
    """Return the line below the last row, if there are more: the number shown and the keys for fewer or more."""
    if answer is None or not count or list_range(answer)[0] + count >= answer.total:
        return ""
    line = glyphs.line * 2
    top = "top " if answer.plan.rql is None else ""
    text = glyphs.dot.join((f"{top}{figure(count)} of {figure(answer.total)}", "- fewer", "+ more"))
    return f"{line} {text} {line}"


def figures(session: Session, count: int, glyphs: Glyphs) -> str:
    """Return the number of rows, how many have a query term, and the time taken."""
    answer = session.results.answer
    if answer is None:
        return ""
    rows = "result" if answer.total == 1 else "results"
    shown = f"{figure(count)} {rows}" if count == answer.total else f"{figure(count)} of {figure(answer.total)}"
    with_words = session.results.with_words
    words = [] if with_words is None else [f"{figure(with_words)} with a query term"]
    return glyphs.dot.join((shown, *words, f"{session.results.took_ms:.0f} ms"))


def caution(session: Session) -> str:
    """Return a caution if the query has words but no row contains them."""
    answer = session.results.answer
    if answer is None or session.results.with_words != 0:
        return ""
    terms = "every query term" if answer.plan.config.match == "all" else "a query term"
    return f"No row has {terms}: ranked by meaning alone"


def _hint(session: Session) -> str:
    if is_lingering(session):
        return "Searching; ^g cancels."
    if session.query.trouble is not None:
        is_cancelled = isinstance(session.query.trouble, Interrupted)
        return f"No results: the query {'was cancelled' if is_cancelled else 'cannot be answered'}."
    if session.results.answer is not None:
        return "Nothing matches."
    if session.query.busy:
        return "Searching."
    if session.store.info is not None and session.store.info.chunks == 0:
        filling = "The first files are being added."
        empty = "The store is empty. Press Esc, then A, to add a folder."
        return filling if is_ingesting(session) else empty
    return "Type words to search, or a query that begins with SELECT."
