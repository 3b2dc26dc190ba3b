"""Pane 2: the ranked rows. Only the visible ones are drawn, and only they and their neighbours are fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from recall_core.errors import Interrupted
from recall_core.evaluate.grades import Judgement
from recall_core.types import Hit, Signal, Table
from recall_tui.messages import Chosen, LookingAt
from recall_tui.state import judging
from recall_tui.state.events import Ranks, Spans
from recall_tui.state.session import Session, is_ingesting, is_lingering, is_stale, listed
from recall_tui.widgets.draw import COLOURS, Glyphs, bar, figure, fit, fit_place, folded, glyphs_in, level
from recall_tui.widgets.lines import entitle, strip_of

GLYPHS: tuple[Signal, ...] = ("lexical", "semantic")
"""The signals that have a column of their own, under `l` and `s`."""
WIDE = 60  # cells from which the score bar is drawn
MOVE_CELLS = 5
MATCHED = Style(underline=True)


class ResultsPane(ScrollView, can_focus=True, inherit_bindings=False):
    """Rank, score, one glyph a signal, tokens, and where the chunk stands."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__(id="results")
        self._hits: Mapping[int, Hit] = {}
        self._states: Mapping[str, str] = {}
        self._matched: Mapping[str, Spans] = {}
        self._count = 0
        self._first_rank = 1
        self._selected = 0
        self._is_stale = False
        self._hint = ""
        self._before: Ranks = {}
        self._judgements: Mapping[str, tuple[Judgement, ...]] = {}
        self._table: Table = "chunk"
        self._looked: tuple[int, int] = (0, 0)

    @property
    def glyphs(self) -> Glyphs:
        """What this terminal can draw."""
        return glyphs_in(self.app)

    def show(self, session: Session) -> None:
        """Show the answer of this session and mark its selected row."""
        before, row, texts = self._drawn_from, self._selected, self._texts
        answer = session.results.answer
        offset, self._count = listed(answer) if answer else (0, 0)
        self._first_rank = offset + 1
        self._hits, self._states, self._selected = (
            session.results.hits,
            session.results.states,
            session.results.selected,
        )
        self._before, self._matched = session.weights.saved_ranks, session.results.matched
        self._judgements = judging.judgements_here(session)
        self._table = answer.plan.table if answer else "chunk"
        self._is_stale = is_stale(session)
        self._hint = _hint(session)
        title = "2 Results" + (" (stale)" if self._is_stale else "")
        entitle(self, title, _figures(session, self._count, self.glyphs))
        self.virtual_size = Size(self.scrollable_content_region.width, self._count + 1)
        self._follow()
        if self._drawn_from != before:
            self.refresh()
            return
        changed = {at for at, text in self._texts.items() if texts.get(at) != text}
        if row != self._selected:
            changed |= {row, self._selected}
        for at in sorted(changed):
            self.refresh_line(at + 1)

    def render_line(self, y: int) -> Strip:
        """The column heads stay in place above the rows."""
        width = self.scrollable_content_region.width
        row = y - 1 + int(self.scroll_offset.y)
        if self._count == 0:
            hint = folded(self._hint, width)
            line = Text(fit(hint[y] if y < len(hint) else "", width, self.glyphs))
        elif y == 0:
            line = Text(fit(self._heads(width), width, self.glyphs), Style(dim=True))
        elif row >= self._count:
            line = Text(" " * width)
        else:
            line = self._row(row, width)
        return strip_of(line, self.size.width, self.rich_style, self.app.console)

    def on_click(self, event: Click) -> None:
        """A click picks the row under it."""
        row = event.y - self.gutter.top - 1 + int(self.scroll_offset.y)
        if 0 <= row < self._count and event.y > self.gutter.top:
            self.post_message(Chosen(row))

    def on_resize(self, _event: Resize) -> None:
        """A higher list shows more rows."""
        self.virtual_size = Size(self.scrollable_content_region.width, self._count + 1)
        self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling looks at other rows."""
        super().watch_scroll_y(old_value, new_value)
        self._look()

    @property
    def _drawn_from(self) -> tuple[object, ...]:
        """All that the rows are made of, but for their texts and which one is selected."""
        rows = (self._count, self._first_rank, bool(self._before), self._judgements, self._table)
        return (*rows, self._is_stale, self._hint)

    @property
    def _texts(self) -> dict[int, tuple[object, ...]]:
        """What is drawn of each visible row: rows that are fetched ahead draw nothing."""
        top = int(self.scroll_offset.y)
        rows = range(top, min(self._count, top + self.page_rows))
        hits = {row: self._hits.get(row) for row in rows}
        return {
            row: (hit, hit and (self._states.get(hit.doc.id), self._of_question(hit)), self._before.get(row))
            for row, hit in hits.items()
        }

    @property
    def page_rows(self) -> int:
        """Rows that are visible at once."""
        return max(1, self.scrollable_content_region.height - 1)

    def _follow(self) -> None:
        """Scroll as little as it takes to see the selected row."""
        if self.scrollable_content_region.height <= 1:
            return  # another pane has the screen
        top = int(self.scroll_offset.y)
        if self._selected < top:
            self.scroll_to(y=self._selected, animate=False, immediate=True)
        elif self._selected >= top + self.page_rows:
            self.scroll_to(y=self._selected - self.page_rows + 1, animate=False, immediate=True)
        self._look()

    def _look(self) -> None:
        first = int(self.scroll_offset.y)
        end = min(self._count, first + self.page_rows)
        if (first, end) != self._looked or any(row not in self._hits for row in range(first, end)):
            self._looked = (first, end)
            self.post_message(LookingAt(first, end))

    def _heads(self, width: int) -> str:
        score = f"{'score':<{5 + 1 + self._bar_width(width)}}"
        move = f"{'move':>{MOVE_CELLS}} " if self._before else ""
        return f"{'#':>{self._rank_width + 2}} {move}{score} l s J {'tok':>4}  path{self.glyphs.crumb}heading"

    def _row(self, row: int, width: int) -> Text:
        is_selected = row == self._selected
        style = Style(bold=is_selected, dim=self._is_stale)
        mark = self.glyphs.pointer if is_selected else " "
        line = Text(f"{mark}{self._first_rank + row:>{self._rank_width + 1}} ", style)
        if self._before:
            line.append(f"{moved(self._first_rank + row, self._before.get(row), self.glyphs):>{MOVE_CELLS}} ")
        hit = self._hits.get(row)
        if hit is None:
            line.append(self.glyphs.cut)
            return line
        self._add_score(line, hit, self._bar_width(width))
        tokens = f"{hit.chunk.tokens:>4}" if hit.chunk else "   ."
        line.append(f" {judging.sign(judging.grade_of(self._judgements, hit, self._table))} {tokens}  ")
        state = self._states.get(hit.doc.id)
        line.append(f"({state}) " if state else "")
        line.append(f"+{figure(hit.twins.number)} identical " if hit.twins else "")
        where = Text(_where(hit, width - line.cell_len, self.glyphs))
        for start, end in _shown(where.plain, hit, self._of_question(hit), self.glyphs):
            where.stylize(MATCHED, start, end)
        line.append_text(where)
        if is_selected and not self._is_stale:
            line.stylize(self.get_component_rich_style("results--selected", partial=True))
        return line

    def _of_question(self, hit: Hit) -> tuple[Spans, Spans]:
        """Where words of the question stand in its title, and in its heading."""
        heading = hit.chunk.heading if hit.chunk else None
        return self._matched.get(hit.doc.title or "", ()), self._matched.get(heading or "", ())

    def _add_score(self, line: Text, hit: Hit, bar_width: int) -> None:
        if hit.score is None:
            line.append(f"{'.':<{5 + 1 + bar_width}} . .")
            return
        line.append(f"{hit.score:.3f} {bar(hit.score, bar_width, self.glyphs)}")
        shares = {part.signal: part.points / hit.score if hit.score > 0 else 0.0 for part in hit.parts}
        for signal in GLYPHS:
            colour = None if self._is_stale else COLOURS[signal]
            line.append(" ").append(level(shares.get(signal, 0.0), self.glyphs), Style(color=colour))

    @property
    def _rank_width(self) -> int:
        return max(2, len(str(self._first_rank + self._count - 1)))

    @staticmethod
    def _bar_width(width: int) -> int:
        return 0 if width < WIDE else 10 if width >= WIDE + 12 else 6

    COMPONENT_CLASSES: ClassVar[set[str]] = {"results--selected"}


def moved(rank: int, before: int | None, glyphs: Glyphs) -> str:
    """How far a row has come from its rank under the saved settings: up, down, not at all, or onto the list."""
    if before is None:
        return "new"
    if before == rank:
        return "="
    return f"{glyphs.up if rank < before else glyphs.down}{abs(before - rank)}"


def _where(hit: Hit, width: int, glyphs: Glyphs) -> str:
    if hit.chunk is None:
        return fit_place(hit.doc.path, "", width, glyphs)
    lines = f":{hit.chunk.line_start}-{hit.chunk.line_end}"
    heading = f"{glyphs.crumb}{hit.chunk.heading}" if hit.chunk.heading else ""
    return fit_place(hit.doc.path, lines, width, glyphs, more=heading)


def _shown(where: str, hit: Hit, spans: tuple[Spans, Spans], glyphs: Glyphs) -> Iterator[tuple[int, int]]:
    """The same places in what `_where` shows: in the name of a file that is its own title, and in the heading."""
    if hit.chunk is None:
        return
    of_title, of_heading = spans
    lines = f":{hit.chunk.line_start}-{hit.chunk.line_end}"
    title, path_end = hit.doc.title or "", where.find(lines)
    if title and where[:path_end].endswith(title):
        yield from ((path_end - len(title) + start, path_end - len(title) + end) for start, end in of_title)
    heading = where.find(glyphs.crumb, path_end)
    if path_end >= 0 and heading >= 0:
        at = heading + len(glyphs.crumb)
        yield from ((at + start, min(len(where), at + end)) for start, end in of_heading)


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
        return "No results: the question was cancelled."
    return "No results: the query cannot be answered as it stands."


def _figures(session: Session, count: int, glyphs: Glyphs) -> str:
    answer = session.results.answer
    if answer is None:
        return ""
    shown = figure(count) if count == answer.total else f"{figure(count)} of {figure(answer.total)}"
    return glyphs.dot.join((f"{shown} hits" if count != 1 else f"{shown} hit", f"{session.results.took_ms:.0f} ms"))
