"""Ask, clear, load, save, edit and copy the query, and move between its tabs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recall_tui import screens
from recall_tui.home.history import changed
from recall_tui.messages import Lacking, Typed
from recall_tui.state import session as state
from recall_tui.state import tabs, weighing
from recall_tui.state.shell import commands
from recall_tui.texts import moved_by

if TYPE_CHECKING:
    from recall_tui.home.history import PastQuestion
    from recall_tui.host import Host
    from recall_tui.screens.history import HistoryChoice
    from recall_tui.state.session import Session

LIVE_SECONDS = 0.12  # after the last key: however thirty keys fall into a second, they cause at most 8 searches

TYPING_SECONDS = 0.4  # from one key to the next of a slow typist, who waits for no analysis of half a word


def on_typed(app: Host, message: Typed) -> None:
    """A search follows when the keys rest."""
    _rest(app)
    if app.threads.analysing is not None:
        app.threads.analysing.hold(TYPING_SECONDS)
    if message.text != app.session.query.text:
        later = partial(app.call_later, _ask_at_rest, app, message.text)  # behind keys that have come meanwhile
        app.typing = app.set_timer(LIVE_SECONDS, later)
    else:
        app.showing.catch_up()


def _ask_at_rest(app: Host, text: str) -> None:
    if app.bench.written == text:  # else another key has set the timer again
        app.ask()


def on_lacking(app: Host, message: Lacking) -> None:
    """Completion has a question for the store."""
    app.become(state.lacking(app.session, message.lookups))


def run(app: Host) -> None:
    """Ask what is written, and mean it."""
    _rest(app)
    app.ask()
    app.become(state.settled(app.session))


async def open_history(app: Host) -> None:
    """Choose an earlier query."""

    past = app.texts.past()
    if past:
        await app.push_screen(screens.history.HistoryScreen(past), partial(_past_chosen, app))
    else:
        app.notify("The history is empty. A query is added once it is answered and you run it or leave the field.")


async def save_query(app: Host) -> None:
    """Save the query to a file."""
    await app.texts.ask_save()


async def load_query(app: Host) -> None:
    """Load a query from a file."""
    await app.texts.ask_load()


def clear_query(app: Host) -> None:
    """Empty the field, and go there; ^z brings the text back."""
    app.texts.put("")


def edit_outside(app: Host) -> None:
    """Edit the query in another program."""
    app.texts.edit_outside()


def copy_command(app: Host) -> None:
    """Put the command that reproduces the pane on the clipboard."""
    if typed := commands(app.session, app.store):
        app.copy(typed, typed)


def ask_again(app: Host, past: PastQuestion) -> tuple[str, ...]:
    """Put an earlier question into the field and ask it as it was; gives those of its settings that are none."""
    moved, unknown = moved_by(past)
    app.bench.give_focus("query")
    app.take(weighing.recalled(app.session, past.text, past.filter, moved))
    return unknown


def new_tab(app: Host) -> None:
    """Open an empty tab."""
    if len(tabs.tabs_of(app.session, "")) >= tabs.MOST_TABS:
        app.notify(f"There are {tabs.MOST_TABS} tabs of queries, the most there can be; :tab close closes one.")
        return
    _take_tab(app, tabs.opened(app.session, app.bench.editor.text))


def step_tab(app: Host, steps: int) -> None:
    """Go that many tabs further, round the ends."""
    go_to_tab(app, app.session.query.tab + steps)


def go_to_tab(app: Host, place: int) -> None:
    """Go to the tab of that place, counted from 0."""
    _take_tab(app, tabs.gone_to(app.session, app.bench.editor.text, place))


def close_tab(app: Host) -> None:
    """Close the tab in front."""
    _take_tab(app, tabs.closed(app.session))


def _past_chosen(app: Host, choice: HistoryChoice | None) -> None:
    if choice is None:
        return
    if choice.act == "text":
        app.texts.put(choice.past.text)
        return
    if app.bench.editor.text != app.session.query.text:
        app.ask()  # what was typed last is what an undo comes back to
    before, unknown = app.session, ask_again(app, choice.past)
    known = [setting for setting in choice.past.settings if setting not in unknown]
    said = changed(choice.past._replace(settings=tuple(known))) or "the saved settings"
    without = f", without {', '.join(unknown)}" if unknown else ""
    now = app.session
    if without or (now.query.filter, now.weights.tweaks, now.weights.k) != (
        before.query.filter,
        before.weights.tweaks,
        before.weights.k,
    ):
        undo = app.table.spelled("{undo_weights} in pane 4 undoes it.")
        app.notify(f"Loaded with {said}{without}; {undo}", markup=False)


def _rest(app: Host) -> None:
    if app.typing is not None:
        app.typing.stop()


def _take_tab(app: Host, session: Session) -> None:
    """Show the session with the text of its tab in the field. The field's undo starts there."""
    editor = app.bench.editor
    app.become(session)
    app.bench.give_focus("query")
    editor.text = session.query.tabs[session.query.tab].text
    editor.move_cursor(editor.document.end)
    app.ask()
