"""Going from pane to pane, and through the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.messages import Chosen, LookingAt
from recall_tui.panes.results import ResultsPane
from recall_tui.state import session as state
from recall_tui.state.grouping import MOST_GROUPED, why_not
from recall_tui.state.session import Pane

if TYPE_CHECKING:
    from recall_tui.host import Host


def on_chosen(app: Host, message: Chosen) -> None:
    """A row was clicked."""
    app.become(state.chosen(app.session, message.row))


def on_looking_at(app: Host, message: LookingAt) -> None:
    """The list shows rows that have to be fetched."""
    session = state.looking_at(app.session, message.first, message.end)
    if session is not app.session:
        app.become(session)


def focus_pane(app: Host, pane: Pane) -> None:
    """Go to a pane."""
    app.become(state.focused(app.session, pane))
    app.bench.give_focus(pane)


def next_pane(app: Host) -> None:
    """Go one pane further."""
    focus_pane(app, state.stepped(app.session, 1))


def previous_pane(app: Host) -> None:
    """Go one pane back."""
    focus_pane(app, state.stepped(app.session, -1))


def zoom(app: Host) -> None:
    """Give the pane the screen, or take it back."""
    app.become(app.session._replace(zoomed=not app.session.zoomed))


def step_out(app: Host) -> None:
    """Leave the zoom, then the field, then the pane."""
    if app.session.zoomed:
        zoom(app)
    elif app.session.pane != "results":
        focus_pane(app, "results")


def select(app: Host, rows: int) -> None:
    """Move the selection."""
    app.become(state.went_on(app.session, rows))


def page(app: Host, pages: int) -> None:
    """Move the selection by what is visible."""
    select(app, app.bench.query_one(ResultsPane).rows_to_page(pages))


def select_first(app: Host) -> None:
    """Select the first row."""
    app.become(state.chosen_at(app.session, 0))


def select_last(app: Host) -> None:
    """Select the last row."""
    if app.session.results.answer is not None:
        app.become(state.chosen_at(app.session, app.session.results.answer.total))


def group(app: Host) -> None:
    """List the rows below their documents, or by rank again."""
    answer = app.session.results.answer
    if answer is None:
        return
    if reason := why_not(answer):
        app.notify(reason)
        return
    app.become(state.regrouped(app.session))
    rows = state.listed(answer)[1]
    if app.session.results.is_grouped and rows > MOST_GROUPED:
        app.notify(f"By document: the first {MOST_GROUPED:,} of {rows:,} rows. The others follow by rank.")
