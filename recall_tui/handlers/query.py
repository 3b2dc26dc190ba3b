"""Ask, clear, load, save, edit and copy the query, and move between its tabs."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported
from textual.events import Callback

from recall_core import rql
from recall_core.errors import RecallError, RqlError, UsageError
from recall_core.paths import state_folder
from recall_core.rql.parser import is_query
from recall_tui import files, home, screens, themes
from recall_tui.handlers import shell
from recall_tui.home import history
from recall_tui.home.history import describe_changes
from recall_tui.host import reason_of
from recall_tui.screens import line as commandline
from recall_tui.screens.line import Output
from recall_tui.state import session as state
from recall_tui.state import weighing
from recall_tui.state.commands import commands
from recall_tui.state.events import Ran
from recall_tui.state.store_pane import is_outdated
from recall_tui.state.weighing import moved_by
from recall_tui.widgets.draw import glyphs_in

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from recall_tui.home.crash import Kept
    from recall_tui.home.history import PastQuestion
    from recall_tui.host import Host
    from recall_tui.screens.history import HistoryChoice
    from recall_tui.screens.line import LineScreen
    from recall_tui.state.session import Session

LIVE_SECONDS = 0.12  # after the last key; allows at most 8 searches a second

TYPING_SECONDS = 0.4  # pause between keys of a slow typist; no analysis starts before


def search_as_typed(app: Host, text: str) -> None:
    """Search for the text of the query after the last key."""
    _rest(app)
    if app.threads.analysing is not None:
        app.threads.analysing.hold(TYPING_SECONDS)

    def ask_at_rest() -> None:
        if app.bench.query_text == text:  # otherwise another key restarted the timer
            app.ask()

    if text != app.session.query.text:  # ask after keys that came meanwhile
        app.typing = app.set_timer(LIVE_SECONDS, partial(app.call_later, ask_at_rest))
    else:
        app.showing.catch_up()


def restore_question(app: Host, past: PastQuestion) -> Awaitable[None]:
    """Ask the query from before a page reload, after the first frame."""
    app.given = past
    return app.turns.take(Callback(partial(ask_given, app)))


def ask_given(app: Host) -> None:
    """Ask the query given at the start, if any."""
    if app.given is not None:
        ask_again(app, app.given)
        app.given = None


def run(app: Host) -> None:
    """Ask the query now, and add it to the history."""
    _rest(app)
    app.ask()
    app.become(state.settle(app.session))


async def open_history(app: Host) -> None:
    """Choose an earlier query."""
    path = history.place(os.environ)
    past = history.load(path) if path is not None else []
    if past:
        await app.push_screen(screens.history.HistoryScreen(past), partial(_past_chosen, app))
    else:
        app.notify("The history is empty. A query is added once it is answered and you run it or leave the field.")


async def save_query(app: Host) -> None:
    """Ask for the .rql file to save the query to."""
    hint = "an .rql file, then Enter"
    wrong = "Name a file."
    await app.prompt(
        "Save the query", app.query_file, hint, lambda typed: "" if typed else wrong, partial(_save_named, app)
    )


async def load_query(app: Host) -> None:
    """Ask for the .rql file to load a query from."""
    await app.prompt("Load a query", app.query_file, "an .rql file, then Enter", _not_loadable, partial(_load, app))


def put_text(app: Host, text: str) -> None:
    """Put a text into the editor and focus it. ^z restores the text before."""
    app.bench.give_focus("query")
    if text != app.bench.editor.text:
        app.bench.editor.put(text)


def edit_outside(app: Host) -> None:
    """Edit the query in another program, which gets the terminal meanwhile."""
    try:
        command = files.editor(os.environ)
        with app.suspend():
            text = files.edit(app.bench.editor.text, command)
    except SuspendNotSupported:
        app.warn("This terminal cannot run an editor.")
    except (UsageError, OSError) as error:
        app.warn(reason_of(error))
    else:
        put_text(app, text)


def offer_interrupted(app: Host) -> None:
    """Offer the newest query interrupted by a defect or a signal, at every start until the user answers."""
    for interrupted in home.crash.kept_queries(os.environ)[:1]:
        lines = interrupted.query.rstrip().splitlines()
        shown = "\n".join(lines[:SHOWN_LINES])[:SHOWN_CHARACTERS]
        if shown != "\n".join(lines):
            shown = f"{shown.rstrip()} {glyphs_in(app).cut}"
        question = f"recall-tui was stopped. Restore the query that was in the editor?\n\n{shown}"
        screen = screens.dialog.UnaskedScreen("Interrupted", question, behind=app.bench.editor)
        app.push_screen(screen, partial(_restore, app, interrupted))


def copy_command(app: Host) -> None:
    """Copy the command that reproduces the pane."""
    if typed := commands(app.session, app.store):
        app.copy(typed, typed)


def ask_again(app: Host, past: PastQuestion) -> tuple[str, ...]:
    """Put an earlier query into the field and ask it again. Return its settings that no longer exist."""
    moved, unknown = moved_by(past)
    app.bench.give_focus("query")
    app.take(weighing.recall_question(app.session, past.text, past.filter, moved))
    return unknown


def new_tab(app: Host) -> None:
    """Open an empty tab."""
    if len(state.tabs_of(app.session, "")) >= state.MOST_TABS:
        app.notify(f"All {state.MOST_TABS} tabs of queries are open; :tab close closes one.")
        return
    _take_tab(app, state.open_tab(app.session, app.bench.editor.text))


def step_tab(app: Host, steps: int) -> None:
    """Go `steps` tabs further, wrapping around."""
    go_to_tab(app, app.session.query.tab + steps)


def go_to_tab(app: Host, place: int) -> None:
    """Go to the tab at this place, counted from 0."""
    _take_tab(app, state.go_to_tab(app.session, app.bench.editor.text, place))


def close_tab(app: Host) -> None:
    """Close the current tab."""
    _take_tab(app, state.close_tab(app.session))


def _past_chosen(app: Host, choice: HistoryChoice | None) -> None:
    if choice is None:
        return
    if choice.act == "text":
        put_text(app, choice.past.text)
        return
    if app.bench.editor.text != app.session.query.text:
        app.ask()  # an undo returns to the text typed last
    before, unknown = app.session, ask_again(app, choice.past)
    known = [setting for setting in choice.past.settings if setting not in unknown]
    changes = describe_changes(choice.past._replace(settings=tuple(known))) or "the saved settings"
    without = f", without {', '.join(unknown)}" if unknown else ""
    now = app.session
    if without or (now.query.filter, now.weights.tweaks, now.weights.k) != (
        before.query.filter,
        before.weights.tweaks,
        before.weights.k,
    ):
        undo = app.table.spell("{undo_weights} in pane 4 undoes it.")
        app.notify(f"Loaded with {changes}{without}; {undo}", markup=False)


def _restore(app: Host, interrupted: Kept, is_wanted: bool | None) -> None:
    if is_wanted:
        put_text(app, interrupted.query)
    home.crash.drop_query(interrupted)


def _not_loadable(typed: str) -> str:
    """Return why a file cannot be loaded, or ""."""
    try:
        files.load(files.place(typed))
    except (UsageError, OSError) as error:
        return reason_of(error)
    return ""


def _load(app: Host, typed: str) -> None:
    try:
        text = files.load(files.place(typed))
    except (UsageError, OSError) as error:
        app.warn(reason_of(error))
        return
    app.query_file = typed
    put_text(app, text)


async def _save_named(app: Host, typed: str) -> None:
    text = app.bench.editor.text
    try:
        path = files.place(typed)
        differs = path.exists() and not files.holds(path, text)
    except OSError as error:
        app.warn(reason_of(error))
        return
    app.query_file = typed
    if differs:
        question = f"{path} exists and differs. Replace it?"
        await app.confirm("Save the query", question, partial(_save_text, app, path, text))
    else:
        _save_text(app, path, text)


def _save_text(app: Host, path: Path, text: str) -> None:
    try:
        files.save(path, text)
    except OSError as error:
        app.warn(reason_of(error))
    else:
        app.notify(f"Saved: {path}", markup=False)


def _rest(app: Host) -> None:
    if app.typing is not None:
        app.typing.stop()


def _take_tab(app: Host, session: Session) -> None:
    """Show the session with the text of its tab in the field, whose undo history starts here."""
    editor = app.bench.editor
    app.become(session)
    app.bench.give_focus("query")
    editor.text = session.query.tabs[session.query.tab].text
    editor.move_cursor(editor.document.end)
    app.ask()


LINES = "lines.jsonl"
SHOWN_LINES, SHOWN_CHARACTERS = 8, 400  # of an interrupted query that is offered


async def command_line(app: Host) -> None:
    """Open the command line."""
    path = _lines_path()
    past = [entry.text for entry in history.load(path)] if path is not None else []
    await app.push_screen(screens.line.LineScreen(past, app.output))


async def enter_line(app: Host, entered: str, takes_up: bool) -> None:
    """Run a line of the command line. takes_up: load its query into the editor instead."""
    lines = commandline.lines_of(entered)
    line = "\n".join(lines)
    if takes_up:
        await _take_up(app, next(iter(lines), ""))
    elif (verb := commandline.verb(line)) is not None:
        _remember_line(app, line)
        await _do(app, verb)
    elif app.output.running:
        _say(app, "A command is under way; ^g cancels it.")
    else:
        _remember_line(app, line)
        _show_output(app, Output(running=line))
        app.threads.run(lines, app.session.weights.saved)


def stop_line(app: Host) -> None:
    """Stop the running command."""
    app.threads.stop_command()


def command_ran(app: Host, event: Ran) -> None:
    """Show the output of a command, and ask again if the store changed."""
    _show_output(app, Output(ran=event))
    if _line(app) is None:
        app.notify(f"recall {event.line}: exit {event.code}", markup=False)
    if is_outdated(app.session):
        app.ask()


async def ask_filter(app: Host) -> None:
    """Ask for an expression that every row must satisfy."""
    if is_query(app.bench.editor.text):
        app.notify("A query in RQL has its own FILTER; / filters plain words.")
        return
    hint = "such as doc.tag = 'docs'; Enter filters, Esc removes the filter"
    screen = screens.dialog.PromptScreen("Filter", app.session.query.filter, hint, wrong_filter)
    await app.push_screen(screen, lambda typed: filter_by(app, typed or ""))


def filter_by(app: Host, text: str) -> None:
    """Ask again with this filter on the words. "" removes the filter."""
    if text != app.session.query.filter:
        session = app.session._replace(query=app.session.query._replace(filter=text))
        app.become(state.ask(session, app.bench.editor.text, app.clock()))


async def _take_up(app: Host, line: str) -> None:
    """Load the query of a line into the editor."""
    try:
        taken = commandline.question(line)
    except RecallError as error:
        _say(app, error.message)
        return
    if taken is None:
        _say(app, "This line has no query to load.")
        return
    _close_line(app)
    app.bench.give_focus("query")
    app.become(app.session._replace(query=app.session.query._replace(filter=taken.filter)))
    app.bench.editor.put(taken.text)
    app.ask()


async def _do(app: Host, verb: commandline.Verb) -> None:
    """Run a command of the workbench itself."""
    match verb.name:
        case "theme" if len(verb.words) == 1 and verb.words[0] in themes.NAMES:
            shell.take_theme(app, verb.words[0])
        case "theme":
            _say(app, f"theme is one of: {', '.join(themes.NAMES)}")
        case "tab":
            await _tab(app, verb.words)
        case "help":
            _close_line(app)
            await app.perform("help")
        case _:
            await app.perform("leave")


async def _tab(app: Host, words: tuple[str, ...]) -> None:
    """Open a tab of queries, go to one, or close the current one."""
    count = max(1, len(app.session.query.tabs))
    number = int(words[0]) if len(words) == 1 and words[0].isdecimal() else 0
    if words and words != ("close",) and not 1 <= number <= count:
        _say(app, f"tab opens a tab; tab N goes to one of {count}; tab close closes the current one")
        return
    _close_line(app)
    if number:
        go_to_tab(app, number - 1)
    else:
        await app.perform("close_tab" if words else "new_tab")


def _close_line(app: Host) -> None:
    if _line(app) is not None:
        app.pop_screen()


def _show_output(app: Host, output: Output) -> None:
    app.output = output
    if (screen := _line(app)) is not None:
        screen.show_output(output)


def _say(app: Host, text: str) -> None:
    if (screen := _line(app)) is not None:
        screen.say(text)
    else:
        app.notify(text, markup=False)


def _line(app: Host) -> LineScreen | None:
    """Return the command line screen, if it is in front."""
    return app.screen if isinstance(app.screen, screens.line.LineScreen) else None


def _lines_path() -> Path | None:
    folder = state_folder(os.environ)
    return folder / LINES if folder is not None else None


def _remember_line(app: Host, line: str) -> None:
    """Add a line to the history. Ignore a failure: the user has just typed the line."""
    path = _lines_path()
    try:
        if path is not None:
            history.append(path, history.PastQuestion(line))
    except OSError:
        return


def wrong_filter(typed: str) -> str:
    """Return what is wrong with a filter expression, or "" for a valid or an empty one."""
    try:
        if typed:
            rql.parser.parse_filter_with_warnings(typed)
    except RqlError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return f"{error.caret()}\n{error.message}{hint}"
    except UsageError as error:
        return error.message
    return ""
