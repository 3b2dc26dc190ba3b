"""The main screen: the layout of the panes at every size."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap, BindingType
from textual.containers import Vertical
from textual.events import Resize, ScreenResume
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Static

from recall_tui.actions.table import Table
from recall_tui.panes.context import ContextPane
from recall_tui.panes.explain import ExplainPane
from recall_tui.panes.ingest import IngestPane
from recall_tui.panes.judge import JudgePane
from recall_tui.panes.query import QueryPane
from recall_tui.panes.results import ResultsPane
from recall_tui.panes.store import StorePane
from recall_tui.panes.weights import WeightsPane
from recall_tui.screens.dialog import Landmark, SizedScreen
from recall_tui.state.judging import judge_rows
from recall_tui.state.session import PANES, TABS, Pane, Session
from recall_tui.widgets.chrome import Body, FooterLine, HeaderLine, StatusLine
from recall_tui.widgets.editor import Editor

NO_ROOM = "Recall needs a terminal of 60×20 cells or more."
FOCUS = {
    "query": "editor",
    "results": "results",
    "explain": "explain",
    "weights": "slider",
    "context": "context",
    "judge": "judge",
    "ingest": "ingest",
    "store": "store",
}
"""Id of the widget that takes the focus of each pane."""
MOVES = (
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end"),
    *("shift+left", "shift+right", "ctrl+left", "ctrl+right", "ctrl+up", "ctrl+down"),
)
EDITS = ("enter", "backspace", "delete")
"""Keys that a text field needs."""


def bindings(table: Table) -> list[BindingType]:
    """Return the keys of the action table as bindings of the main screen.

    Each binding runs `command`, which finds the action for the active pane, and yields to a text field that takes the
    key.
    The bindings have priority, since some keys have a meaning in Textual's widgets. Keys that move a cursor or edit
    go to the focused pane first.
    """
    keys = dict.fromkeys(key for action in table.actions for key in action.keys)
    return [Binding(key, f"app.command({key!r})", show=False, priority=key not in MOVES + EDITS) for key in keys]


class Bench(SizedScreen[None]):
    """Query, results and explain left, weights and context right; one tabbed pane below on a narrow screen."""

    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-short"), (32, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#editor"

    def __init__(self, store: str | None, table: Table) -> None:
        super().__init__()
        self._store = store
        self._table = table
        self._pane: Pane = "query"
        self._bindings = BindingsMap.merge([self._bindings, BindingsMap(bindings(table))])

    def compose(self) -> ComposeResult:
        """Yield every pane once. The style sheet decides which ones are visible."""
        size = self.app.size
        steps = (
            _class_at(size.width, self.HORIZONTAL_BREAKPOINTS),
            _class_at(size.height, self.VERTICAL_BREAKPOINTS),
        )
        self.add_class(*steps, update=False)  # Textual sets them only after the first frame
        self.update_classes(_classes(Session()), update=False)
        yield Static(NO_ROOM, id="small", markup=False)
        yield HeaderLine(id="header")
        with Body():
            with Vertical(id="left"):
                yield QueryPane()
                yield ResultsPane()
                yield ExplainPane()
                yield StorePane()
            with Vertical(id="right"):
                yield WeightsPane()
                yield ContextPane()
                yield JudgePane()
        yield IngestPane()
        yield StatusLine(self._store)
        yield FooterLine(self._table)

    def on_mount(self) -> None:
        """Draw titles and hints for the first frame."""
        if self.app.is_running:  # a browser tab may close before the panes exist
            self.show(Session())

    def show(self, session: Session) -> None:
        """Draw this session."""
        self.show_rows(session)
        self.query_one(ExplainPane).show_session(session)
        self.query_one(WeightsPane).show(session)
        self.query_one(ContextPane).show_session(session)
        self.query_one(JudgePane).show_session(session)
        self.query_one(StorePane).show_session(session)
        self.query_one(IngestPane).show_session(session)

    def show_rows(self, session: Session) -> None:
        """Draw the query, its rows, and the bars around the panes."""
        self._pane = session.pane
        self.update_classes(_classes(session))
        self.query_one(QueryPane).show(session)
        self.query_one(ResultsPane).show(session)
        self.query_one(HeaderLine).show(session)
        self.query_one(StatusLine).show(session)
        self.query_one(FooterLine).show(session)

    def landmarks(self, session: Session) -> list[Landmark]:
        """Return the visible panes, then the visible rows of the results."""
        panes = [(self.query_one(f"#{pane}"), pane) for pane in PANES]
        marks = [Landmark(widget.region.offset, pane) for widget, pane in panes if widget.is_on_screen]
        results = self.query_one(ResultsPane)
        if results.is_on_screen and session.results.answer is not None:
            corner = results.region.offset  # on the border: ranks stay readable
            marks += [
                Landmark(corner + Offset(0, results.line_of(row)), "results", row) for row in results.whole_rows
            ]
        return marks

    def give_focus(self, pane: Pane) -> None:
        """Focus a pane at once, since the next key may already be waiting for it."""
        self.set_focus(self.query_one(f"#{FOCUS[pane]}"))

    def pane_of(self, widget: Widget | None) -> Pane | None:
        """Return the pane of a focused widget."""
        return next((pane for pane in PANES if widget is not None and widget.id == FOCUS[pane]), None)

    def on_resize(self, _event: Resize) -> None:
        """Focus the active pane again once it has room: a pane without room loses the focus."""

        def focus_again() -> None:
            if self.focused is None and self.app.app_focus and self.has_room and self.query(Body):
                self.give_focus(self._pane)

        self.call_after_refresh(focus_again)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Skip the first refresh of styles, since everything was just styled."""
        event.refresh_styles = self.stack_updates > 0

    def on_screen_suspend(self) -> None:
        """Close the list of completions, which would cover the new screen."""
        for editor in self.query(Editor):  # none is left while the workbench ends
            editor.close_offers()

    @property
    def has_room(self) -> bool:
        """False if the screen shows one line instead of the panes."""
        return not (self.has_class("-tiny") or self.has_class("-flat"))

    @property
    def is_offering(self) -> bool:
        """True while the editor shows completions."""
        return isinstance(self.focused, Editor) and self.focused.offers.is_open

    @property
    def body(self) -> Body:
        """The columns of panes."""
        return self.query_one(Body)

    @property
    def editor(self) -> Editor:
        """The field for the query."""
        return self.query_one(Editor)

    @property
    def query_text(self) -> str:
        """The text in that field, or "" before the field exists and after it is gone."""
        return next((editor.text for editor in self.query(Editor)), "")


def _classes(session: Session) -> dict[str, bool]:
    """Return the classes that the style sheet needs: the open tab, and what is zoomed."""
    return (
        {f"-tab-{tab}": session.tab == tab for tab in TABS}
        | {"-judged": judge_rows(session) > 1}
        | {"-zoomed": session.zoomed, "-pane-ingest": session.pane == "ingest"}
        | {f"-zoom-{pane}": session.zoomed and session.pane == pane for pane in PANES}
    )


def _class_at(cells: int, breakpoints: Sequence[tuple[int, str]]) -> str:
    """Return the class of the largest breakpoint that is not above `cells`."""
    return max(step for step in breakpoints if step[0] <= cells)[1]
