"""The weights pane: the slider above the board."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click

from recall_tui.actions.keys import key_of
from recall_tui.actions.weights import ACTIONS
from recall_tui.messages import Wanted
from recall_tui.panes.weights.board import board_lines, thick_line
from recall_tui.panes.weights.settings import key_at
from recall_tui.state.findings import found
from recall_tui.state.session import Session, is_stale
from recall_tui.state.tuning import curve_study, pins_of, pins_study
from recall_tui.state.weighing import current, drawn, is_moved, share, why_not
from recall_tui.widgets.lines import LineView, entitle
from recall_tui.widgets.slider import Slider


class Board(LineView, can_focus=False):
    """What stands under the slider; it is drawn for its height as well as for its width."""

    def __init__(self) -> None:
        super().__init__(id="board")


class WeightsPane(Vertical):
    """The slider above its settings, its stability, the grades' curve and the rank lines."""

    def __init__(self) -> None:
        super().__init__(id="weights")
        self._session = Session()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """The slider above everything it changes."""
        yield Slider()
        yield Board()

    def show(self, session: Session) -> None:
        """Show the settings of this session, and what was found out about every weight."""
        self._session = session
        config, answer = current(session), session.answer
        moved = is_moved(session)
        keys = "S saves, r resets" if moved else "as saved" if session.saved else ""
        marks = ["changed"] * moved + ["stale"] * is_stale(session)
        entitle(self, f"4 Weights ({', '.join(marks)})" if marks else "4 Weights", keys)
        self.set_class(is_stale(session), "-stale")
        studies = tuple(filter(None, (curve_study(session), pins_study(session))))
        known = (
            drawn(session),
            pins_of(session),
            session.studying if session.studying and session.studying[0] in studies else None,
            *(found(session, each, object) for each in studies),
        )
        told = (
            thick_line(session),
            session.saved,
            session.fixed,
            tuple(session.tweaks),
            session.k,
            session.is_of_all,
            session.zoomed,
        )
        shown = (config, answer, known, told)
        if shown == self._shown:
            return
        self._shown = shown
        self.query_one(Slider).show(share(config), "Nothing to weigh." if why_not(answer) else "")
        board = self.query_one(Board)
        board.show(lambda width: board_lines(session, (width, board.size.height), board.glyphs))

    def on_click(self, event: Click) -> None:
        """A click anywhere in the pane goes to its slider; one on a setting is the key that stands before it."""
        event.stop()
        self.screen.set_focus(self.query_one(Slider))
        board = self.query_one(Board)
        if event.widget is not board:
            return
        row = event.y + int(board.scroll_offset.y)
        line = board.lines[row] if 0 <= row < len(board.lines) else ""
        if key := key_at(self._session, line, event.x):
            name = key_of(key)
            self.post_message(Wanted(next(action.id for action in ACTIONS if name in action.keys)))
