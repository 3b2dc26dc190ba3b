"""Pane 2: the ranked rows with their texts. Only the visible ones are drawn, and only they and their neighbours are
fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.strip import Strip

from recall_core.errors import Interrupted
from recall_core.evaluate.grades import Judgement
from recall_core.types import Hit, Table
from recall_tui.messages import Chosen, LookingAt
from recall_tui.panes.result_lines import (
    Best,
    Frame,
    ResultLine,
    Shown,
    document_line,
    heads,
    moved,
    row_lines,
    shared_folder,
    ungrouped_line,
)
from recall_tui.state import judging
from recall_tui.state.events import Ranks, Spans
from recall_tui.state.grouping import BY_RANK, Grouping
from recall_tui.state.records import cited
from recall_tui.state.session import Session, is_ingesting, is_lingering, is_stale, listed
from recall_tui.widgets.draw import Glyphs, figure, fit, folded, glyphs_in
from recall_tui.widgets.lines import StyledView, entitle, strip_of

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.retrieve.answer import Answer

HIGH = 11
"""Lines of the pane from which a row has two."""
MOST_COMPARED = 1_000  # rows whose folders are compared
HEAD = 1  # line above the rows


class ResultsPane(StyledView, can_focus=True, inherit_bindings=False):
    """Rank, score and place of each row, and the passage that answers."""

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
        """The row drawn last, which is asked for once a line, and what it was made of."""
        self._is_followed = True
        """The selected row has been scrolled to; whoever scrolls on from there may."""

    @property
    def glyphs(self) -> Glyphs:
        """What this terminal can draw."""
        return glyphs_in(self.app)

    @property
    def row_height(self) -> int:
        """Lines of a row: where there is height, the passage has its own."""
        return 2 if self.scrollable_content_region.height >= HIGH else 1

    @property
    def page_rows(self) -> int:
        """Rows that are visible at once, whole."""
        return max(1, (self.scrollable_content_region.height - HEAD) // self.row_height)

    def line_of(self, row: int) -> int:
        """The line of the pane, its border included, on which a row begins."""
        return self.gutter.top + HEAD + self._line(row) - int(self.scroll_offset.y)

    @property
    def places(self) -> range:
        """The places of the rows of which something is visible."""
        top, height = int(self.scroll_offset.y), self.scrollable_content_region.height - HEAD
        first, last = (self._grouping.at(line, self.row_height).place for line in (top, top + max(1, height) - 1))
        return range(first, min(self._count, last + 1))

    @property
    def whole_rows(self) -> list[int]:
        """The rows that are visible, whole, from the top down."""
        rows = map(self._grouping.row, self.places)
        region = self.scrollable_content_region
        top, end = self.gutter.top + HEAD, self.gutter.top + region.height
        return [row for row in rows if top <= self.line_of(row) <= end - self.row_height]

    def rows_to_page(self, pages: int) -> int:
        """How many rows below the selected one that row is painted which is so many pages further."""
        place = self._grouping.place(self._selected)
        line = self._line(self._selected) + pages * self.page_rows * self.row_height
        further = self._grouping.at(max(0, line), self.row_height).place - place
        return further or (1 if pages > 0 else -1)

    def show(self, session: Session) -> None:
        """Show the answer of this session and mark its selected row."""
        before, row, texts = self._drawn_from, self._selected, self._texts
        answer, grouping = self._answer, self._grouping
        results = session.results
        offset, self._count = listed(results.answer) if results.answer else (0, 0)
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
        title = f"2 Results{_grouped(self._grouping)}" + (" (stale)" if self._is_stale else "")
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
        for line in sorted(line for at in changed for line in self._lines(at)):
            self.refresh_line(line)
        if changed and self._grouping.starts:
            self.refresh_line(int(self.scroll_offset.y))  # it may name the document of a row that has arrived

    def render_line(self, y: int) -> Strip:
        """The line above the rows stays in place."""
        width = self.scrollable_content_region.width
        place, part = self._grouping.at(y - HEAD + int(self.scroll_offset.y), self.row_height)
        if self._count == 0:
            hint = folded(self._hint, width)
            line = Text(fit(hint[y] if y < len(hint) else "", width, self.glyphs))
        elif y < HEAD:
            line = self._top_line()
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
        """A click picks the row under it, on a document its best one."""
        y = event.y - self.gutter.top - HEAD
        place = self._grouping.at(y + int(self.scroll_offset.y), self.row_height).place if y >= 0 else self._count
        if place < self._count:
            self.post_message(Chosen(self._grouping.row(place)))

    def on_resize(self, _event: Resize) -> None:
        """A higher list shows more rows."""
        self.virtual_size = self._whole_size
        self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling looks at other rows."""
        super().watch_scroll_y(old_value, new_value)
        self._look()

    @property
    def _whole_size(self) -> Size:
        lines = HEAD + self._grouping.line(self._count, self.row_height) + bool(self._rule)
        return Size(self.scrollable_content_region.width, lines)

    @property
    def _drawn_from(self) -> tuple[object, ...]:
        """All that the rows are made of, but for their texts and which one is selected."""
        rows = (self._count, self._grouping, self._first_rank, bool(self._before), self._judgements, self._table)
        return (*rows, self._is_stale, self._hint, self._folder, self._caution, self._rule)

    @property
    def _texts(self) -> dict[int, tuple[object, ...]]:
        """What is drawn of each visible row: rows that are fetched ahead draw nothing."""
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
        """Scroll as little as it takes to see the selected row."""
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
            self.post_message(LookingAt(places.start, places.stop))

    def _line(self, row: int) -> int:
        """The line on which a row begins, below the line above all rows."""
        return self._grouping.line(self._grouping.place(row), self.row_height)

    def _lines(self, row: int) -> range:
        """The lines of a row, with that of its document where it is the first one below it."""
        first, place = HEAD + self._line(row), self._grouping.place(row)
        return range(first - (place in self._grouping.starts), first + self.row_height)

    def _top_line(self) -> Text:
        """What the columns are; where rows stand without the heading of their document above them, that."""
        place, part = self._grouping.at(int(self.scroll_offset.y), self.row_height)
        is_cut = part is not None and len(self._grouping.group(place)) > 0
        return self._heading(place) if is_cut else heads(self._frame)

    def _heading(self, place: int) -> Text:
        """The line above the rows of the document at this place, or above those that are not grouped."""
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
            move=moved(rank, self._before.get(row), self.glyphs) if self._before else "",
            of_title=of_title,
            of_heading=of_heading,
            is_selected=row == self._selected,
            is_stale=self._is_stale,
            shown=shown,
        )

    def _of_question(self, hit: Hit) -> tuple[Spans, Spans, PassageView | None]:
        """Where words of the question stand in its title and in its heading, and its passage."""
        passage = self._passages.get(hit.chunk.id) if hit.chunk else None
        heading = cited(hit, passage)[1]
        return self._matched.get(hit.doc.title, ()), self._matched.get(heading, ()), passage


def _grouped(grouping: Grouping) -> str:
    """What the title says of how the rows are listed."""
    if not grouping.order:
        return ""
    is_part = bool(grouping.starts) and grouping.starts[-1] == len(grouping.order)
    return f" by document, the first {figure(len(grouping.order))}" if is_part else " by document"


def _folder(answer: Answer | None, hits: Mapping[int, Hit]) -> str:
    """The folder that all listed rows share, where they are few enough to look at."""
    if answer is None:
        return ""
    first, rows = listed(answer)
    if rows > MOST_COMPARED:
        return ""
    if answer.pool is None or answer.ranked is None:
        return shared_folder([hit.doc.path for hit in hits.values()]) if len(hits) >= rows else ""
    keys = answer.pool.keys
    return shared_folder([keys[position].path for position in answer.ranked.order[first : first + rows]])


def rule(answer: Answer | None, count: int, glyphs: Glyphs) -> str:
    """The line below the last row, where there are more: how many are shown, and how to see others."""
    if answer is None or not count or listed(answer)[0] + count >= answer.total:
        return ""
    line = glyphs.line * 2
    top = "top " if answer.plan.rql is None else ""
    said = glyphs.dot.join((f"{top}{figure(count)} of {figure(answer.total)}", "- fewer", "+ more"))
    return f"{line} {said} {line}"


def figures(session: Session, count: int, glyphs: Glyphs) -> str:
    """How many rows are shown, of how many; how many of these hold a word of the question; and how long it took."""
    answer = session.results.answer
    if answer is None:
        return ""
    rows = "result" if answer.total == 1 else "results"
    shown = f"{figure(count)} {rows}" if count == answer.total else f"{figure(count)} of {figure(answer.total)}"
    with_words = session.results.with_words
    words = [] if with_words is None else [f"{figure(with_words)} with a query term"]
    return glyphs.dot.join((shown, *words, f"{session.results.took_ms:.0f} ms"))


def caution(session: Session) -> str:
    """Return what to know of an answer by words and meaning in which no row matches the words."""
    answer = session.results.answer
    if answer is None or session.results.with_words != 0:
        return ""
    terms = "every query term" if answer.plan.config.match == "all" else "a query term"
    return f"No row has {terms}: ranked by meaning alone"


def _hint(session: Session) -> str:
    if is_lingering(session) or session.query.trouble is not None:
        return _why_none(session)
    if session.results.answer is not None:
        return "Nothing matches."
    if session.query.busy:
        return "Searching."
    if session.store.info is not None and session.store.info.chunks == 0:
        if is_ingesting(session):
            return "The first files are being added."
        return "The store is empty. Press Esc, then A, and name a folder to add."
    return "Type words to search, or a query that begins with SELECT."


def _why_none(session: Session) -> str:
    if is_lingering(session):
        return "Searching; ^g cancels."
    if isinstance(session.query.trouble, Interrupted):
        return "No results: the query was cancelled."
    return "No results: the query cannot be answered."
