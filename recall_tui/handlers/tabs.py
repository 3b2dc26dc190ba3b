"""Going between the tabs of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.state import tabs
from recall_tui.state.session import Session

if TYPE_CHECKING:
    from recall_tui.host import Host


def new_tab(app: Host) -> None:
    """Open an empty tab."""
    if len(tabs.tabs_of(app.session, "")) >= tabs.MOST_TABS:
        app.notify(f"There are {tabs.MOST_TABS} tabs of queries, the most there can be; :tab close closes one.")
        return
    _take(app, tabs.opened(app.session, app.bench.editor.text))


def step_tab(app: Host, steps: int) -> None:
    """Go that many tabs further, round the ends."""
    go_to(app, app.session.query.tab + steps)


def go_to(app: Host, place: int) -> None:
    """Go to the tab of that place, counted from 0."""
    _take(app, tabs.gone_to(app.session, app.bench.editor.text, place))


def close_tab(app: Host) -> None:
    """Close the tab in front."""
    _take(app, tabs.closed(app.session))


def _take(app: Host, session: Session) -> None:
    """Become this session, with the text of its tab in the field, whose undo begins anew."""
    editor = app.bench.editor
    app.become(session)
    app.bench.give_focus("query")
    editor.text = session.query.tabs[session.query.tab].text
    editor.move_cursor(editor.document.end)
    app.ask()
