"""Going from pane to pane, and through the results."""

from __future__ import annotations

from recall_tui.handlers.holder import Holder
from recall_tui.messages import Chosen, LookingAt
from recall_tui.state import session as state
from recall_tui.state.session import Pane


class PaneActions(Holder):
    """The groups Panes and Results of the table, without what belongs to the query."""

    def on_chosen(self, message: Chosen) -> None:
        """A row was clicked."""
        self.become(state.chosen(self.session, message.row))

    def on_looking_at(self, message: LookingAt) -> None:
        """The list shows rows that have to be fetched."""
        session = state.looking_at(self.session, message.first, message.end)
        if session is not self.session:
            self.become(session)

    def action_focus_pane(self, pane: Pane) -> None:
        """Go to a pane."""
        self.become(state.focused(self.session, pane))
        self.bench.give_focus(pane)

    def action_next_pane(self) -> None:
        """Go one pane further."""
        self.action_focus_pane(state.stepped(self.session, 1))

    def action_previous_pane(self) -> None:
        """Go one pane back."""
        self.action_focus_pane(state.stepped(self.session, -1))

    def action_zoom(self) -> None:
        """Give the pane the screen, or take it back."""
        self.become(self.session._replace(zoomed=not self.session.zoomed))

    def action_step_out(self) -> None:
        """Leave the zoom, then the field, then the pane."""
        if self.session.zoomed:
            self.action_zoom()
        elif self.session.pane != "results":
            self.action_focus_pane("results")

    def action_select(self, rows: int) -> None:
        """Move the selection."""
        self.become(state.chosen(self.session, self.session.selected + rows))

    def action_page(self, pages: int) -> None:
        """Move the selection by what is visible."""
        self.action_select(pages * self.bench.page_rows)

    def action_select_first(self) -> None:
        """Select the first row."""
        self.become(state.chosen(self.session, 0))

    def action_select_last(self) -> None:
        """Select the last row."""
        if self.session.answer is not None:
            self.become(state.chosen(self.session, self.session.answer.total))
