"""The one-line bars around the panes: header, status line with gauge and command, and footer with the keys."""

from __future__ import annotations

import re
from abc import abstractmethod
from math import ceil
from pathlib import Path
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.containers import Container
from textual.events import Click, MouseDown, MouseMove, MouseUp, Resize
from textual.widgets import Static

from recall_tui.actions.action import acts_in, key_name
from recall_tui.actions.table import GRADES, LAST, Offer, Table, footer, table_of
from recall_tui.home import preferences
from recall_tui.home.preferences import PaneSizes
from recall_tui.panes.context import budget_line, gauge_of
from recall_tui.state.commands import command
from recall_tui.state.judging import first_step, last_grade
from recall_tui.state.session import Session, is_ingesting
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Drawing, Glyphs, fit, fit_place, pluralize

SHARING = (("3", "explain"), ("4", "weights"), ("5", "context"), ("6", "judge"), ("8", "store"))
"""Panes that share a place on a narrow screen, with their keys."""
HELP = "? help"
DEFAULT_STORE = "recall.db"
"""A store with this name is shown by its folder."""
_FIRST_WORD = re.compile(r"[-:]")
GAPS = ("   ", "  ")  # between the facts of the header; the widest that fits
ID_DIGITS = 12
_ID = re.compile(r"\b[0-9a-f]{64}\b")
LEAST_GAUGE, MOST_GAUGE = 10, 20  # width of the gauge in the status line
GRADED_LEAST, GRADED_MOST = 16, 40  # width of the path of the newest grade
NARROW = 100  # below this width the context pane may be hidden, so the status line has its gauge


class ClickPlace(NamedTuple):
    """The clickable cells of a line: first, end (exclusive), and the action's id."""

    first: int
    end: int
    action: str


class Line(Static, Drawing):
    """A line that is drawn again when its width changes. Parts of it can be clickable."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id, markup=False)
        self._session = Session()
        self._places: list[ClickPlace] = []
        self._shown = Text()

    def show(self, session: Session) -> None:
        """Show this session."""
        self._session = session
        if self.size.width > 0:
            self._places = []
            line = self.draw_line(session, self.size.width)
            if line != self._shown or line.spans != self._shown.spans:
                self._shown = line
                self.update(line, layout=False)

    @abstractmethod
    def draw_line(self, session: Session, width: int) -> Text:
        """Return the line for a width in cells."""

    def clickable(self, line: Text, piece: Text, action: str) -> None:
        """Append a piece that runs this action when clicked."""
        first = line.cell_len
        line.append_text(piece)
        self._places.append(ClickPlace(first, line.cell_len, action))

    def on_resize(self, _event: Resize) -> None:
        """Draw the line for the new width."""
        self.show(self._session)

    def on_click(self, event: Click) -> None:
        """Run the action that was clicked."""
        for first, end, action in self._places:
            if first <= event.x < min(end, self.size.width):
                self.post_message(Do(action))


class HeaderLine(Line):
    """Store, documents, embedder, current activity, and the key for help."""

    def draw_line(self, session: Session, width: int) -> Text:
        """Return the header. Facts that do not fit are dropped, last ones first; the activity always fits."""
        glyphs = self.glyphs
        busy = [session.store.task] if session.store.task else []
        busy += ["searching"] if session.query.busy else ["ingesting"] if is_ingesting(session) else []
        activity = busy[0] if busy else "idle"
        facts = [" recall"]
        if session.store.info is not None:
            info = session.store.info
            path = Path(info.path)
            facts.append(path.parent.name or path.name if path.name == DEFAULT_STORE else path.name)
            facts.append(f"{pluralize(info.documents, 'document')}{glyphs.dot}{pluralize(info.chunks, 'chunk')}")
            facts.append(short_name(info.embedder))
        right = f"   {HELP} "
        left = fit_facts(facts, width - cell_len(activity) - len(right) - len(GAPS[-1]), glyphs)
        line = Text(f"{left}{GAPS[-1]}{activity}   ", Style(bold=True))
        self.clickable(line, Text(HELP), "help")
        line.append(" ")
        return line


def short_name(embedder: str) -> str:
    """Return the first word of an embedder's identity.

    >>> short_name("local-l2_supercat-1:256")
    'local'
    """
    return _FIRST_WORD.split(embedder, maxsplit=1)[0]


class StatusLine(Line):
    """The gauge if there is no room for its pane, and the command that reproduces the view."""

    def __init__(self, store: str | None) -> None:
        super().__init__(id="status")
        self._store = store

    def draw_line(self, session: Session, width: int) -> Text:
        """Return the status for a width in cells."""
        glyphs = self.glyphs
        if width < NARROW:
            return self._narrow(session, width, glyphs)
        typed = command(session, self._store)
        table = table_of(self.app)
        hint = Text(table.spell(" {copy_command} copies ") if typed else "")
        first = table.spell(first_step(session)) if session.pane == "judge" else ""
        shown = f" $ {abridge(typed, glyphs)}" if typed else f" {first}"
        line = Text(fit(shown, width - hint.cell_len, glyphs), Style(dim=True))
        self.clickable(line, hint, "copy_command")
        return line

    def _narrow(self, session: Session, width: int, glyphs: Glyphs) -> Text:
        """Return the status of a narrow screen.

        If the gauge and the pane names do not fit, the names shrink to their keys.
        """
        tabs = [(f"{key} {tab}", tab) for key, tab in SHARING if tab != session.tab]
        figures = budget_line(session)
        taken = _taken_cells(figures, tabs, glyphs)
        if taken + LEAST_GAUGE > width:
            tabs = [(label[0], tab) for label, tab in tabs]
            taken = _taken_cells(figures, tabs, glyphs)
        cells = max(LEAST_GAUGE, min(MOST_GAUGE, width - taken))
        line = Text(" ")
        self.clickable(line, Text(f"{gauge_of(session, cells, glyphs)} {figures}"), "type_budget")
        before = glyphs.dot
        for label, tab in tabs:
            line.append(before)
            self.clickable(line, Text(label), f"focus_pane({tab!r})")
            before = " "
        return Text(fit(line.plain, width, glyphs))


class FooterLine(Line):
    """The mode, and its keys. table: the keys in force."""

    def __init__(self, table: Table) -> None:
        super().__init__(id="footer")
        self._table = table

    def draw_line(self, session: Session, width: int) -> Text:
        """Return as many keys as fit. Help and quit always fit."""
        editing = session.pane == "query"
        line = Text().append(" EDIT " if editing else " NAV ", Style(reverse=True, bold=True))
        offers = footer(session, editing=editing, table=self._table)
        last = [offer for offer in offers if offer.action in LAST]
        room = width - 1 - _cells(last)
        if session.judge.is_grading:
            grades = [offer for offer in offers if offer.action in GRADES]
            self._say_grading(line, session, room - _cells(grades))
        for offer in offers:
            if offer in last:
                continue
            if line.cell_len + cell_len(f"  {offer.key} {offer.label}") > room:
                break
            self._add(line, offer)
        for offer in last:
            self._add(line, offer)
        return line

    def _say_grading(self, line: Text, session: Session, room: int) -> None:
        """Add that letters grade, and the newest grade with its undo key if that key acts here."""
        line.append(" GRADING", Style(bold=True))
        undo, newest = self._table.find("undo_grade"), last_grade(session)
        if newest is not None and undo.keys and acts_in(undo, session.pane):
            undoes = f", {key_name(undo.keys[0])} undoes "
            cells = min(GRADED_MOST, room - cell_len(f"{line.plain} {newest[0]} {undoes}"))
            path = fit_place(newest[1], "", cells, self.glyphs).rstrip() if cells >= GRADED_LEAST else ""
            line.append(f" {newest[0]} {path}".rstrip() + undoes)
        else:
            line.append(" ")

    def _add(self, line: Text, offer: Offer) -> None:
        line.append("  " if self._places else " ")
        self.clickable(line, Text().append(offer.key, Style(bold=True)).append(f" {offer.label}"), offer.action)


def _cells(offers: list[Offer]) -> int:
    """Return the cells that these keys take in the footer."""
    return sum(cell_len(f"  {offer.key} {offer.label}") for offer in offers)


def _taken_cells(figures: str, tabs: list[tuple[str, str]], glyphs: Glyphs) -> int:
    """Return the cells of the line without the gauge, with a blank at both ends."""
    return cell_len(f"  {figures}{glyphs.dot}{' '.join(label for label, _ in tabs)} ")


def abridge(typed: str, glyphs: Glyphs) -> str:
    """Return a command on one line with shortened ids. The copied command has full ids."""
    return _ID.sub(lambda match: match[0][:ID_DIGITS] + glyphs.cut, typed.replace("\n", glyphs.newline))


def fit_facts(facts: list[str], width: int, glyphs: Glyphs) -> str:
    """Join as many facts as fit, but at least two, in exactly `width` cells."""
    for count in range(len(facts), 2, -1):
        for gap in GAPS:
            if cell_len(line := gap.join(facts[:count])) <= width:
                return fit(line, width, glyphs)
    return fit(GAPS[-1].join(facts[:2]), width, glyphs)


Border = Literal["right", "below"]
BELOW = ("#explain", "#store")
"""The panes below the results. One of them is visible."""
LEAST_ROWS = 5  # height of the results and of the pane below them, including two lines of border
LEAST_QUERY_ROWS = 3  # one line of text, and two for the border


class Body(Container):
    """Sizes its columns, and reports where a border was dragged."""

    def __init__(self) -> None:
        super().__init__(id="body")
        self._held: Border | None = None
        self._wanted = self._laid_out = PaneSizes(), False

    def lay_out(self, layout: PaneSizes, *, is_narrow: bool) -> None:
        """Set the sizes of the panes. On a narrow screen all other panes are below the results."""
        self._wanted = layout, is_narrow
        self._lay_out()

    def on_resize(self, _event: Resize) -> None:
        """Lay out again, since the same share of another height may leave too few rows."""
        self._lay_out()

    def limit(self, below: float) -> int:
        """Limit a share of the height in percent, so that the results and the pane below keep their least rows."""
        height = self.size.height
        if height == 0:
            return preferences.clamp(below)
        query = max(LEAST_QUERY_ROWS, self.query_one("#query").outer_size.height)
        most = 100 * (height - query - LEAST_ROWS) // height
        return preferences.clamp(max(ceil(100 * LEAST_ROWS / height), min(most, below)))

    def measure(self) -> PaneSizes:
        """Return the positions of the borders."""
        right = 100 * self.query_one("#right").outer_size.width / max(1, self.size.width)
        heights = [self.query_one(pane).outer_size.height for pane in (*BELOW, "#right") if self._is_below(pane)]
        below = 100 * max(heights, default=0) / max(1, self.size.height)
        return PaneSizes(round(right), round(below))

    def on_mouse_down(self, event: MouseDown) -> None:
        """Grab the border under the pointer."""
        self._held = self._border_at(event.screen_x, event.screen_y) if event.button == 1 else None
        if self._held is not None:
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border with the pointer while the button is down."""
        if self._held is not None:
            self._drag(event, is_over=False)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Release the border."""
        if self._held is not None:
            self.capture_mouse(False)
            self._drag(event, is_over=True)
            self._held = None

    def _lay_out(self) -> None:
        (layout, is_narrow) = self._wanted
        if layout.below is not None:
            layout = layout._replace(below=self.limit(layout.below))
        if (layout, is_narrow) == self._laid_out:
            return
        self._laid_out = layout, is_narrow
        below, most = _percent(layout.below), None if layout.below is None else "100%"
        right = self.query_one("#right")
        right.styles.width = None if is_narrow else _percent(layout.right)
        right.styles.height, right.styles.max_height = (below, most) if is_narrow else (None, None)
        for pane in map(self.query_one, BELOW):
            pane.styles.height, pane.styles.max_height = below, most

    def _drag(self, event: MouseMove | MouseUp, *, is_over: bool) -> None:
        if self._held == "right":
            share = 100 * (self.region.right - event.screen_x) / max(1, self.size.width)
            self.post_message(Do("drag_border", share, None, is_over))
        else:
            share = 100 * (self.region.bottom - 1 - event.screen_y) / max(1, self.size.height)
            self.post_message(Do("drag_border", None, share, is_over))

    def _border_at(self, x: int, y: int) -> Border | None:
        """Return the border at a cell: the one between the columns, or the lower edge of the results.

        A title is not one.
        """
        right, results = self.query_one("#right").region, self.query_one("#results").region
        is_beside = right.width > 0 and right.x > self.region.x
        if is_beside and x in (right.x - 1, right.x) and y > right.y:
            return "right"
        if results.bottom < self.region.bottom and y == results.bottom - 1 and results.x < x < results.right - 1:
            return "below"
        return None

    def _is_below(self, pane: str) -> bool:
        widget, results = self.query_one(pane), self.query_one("#results")
        return widget.is_on_screen and widget.region.y >= results.region.bottom


def _percent(share: int | None) -> str | None:
    return None if share is None else f"{share}%"
