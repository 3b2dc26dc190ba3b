"""The command line behind `:`, the filter behind `/`, and what they make of the session."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import rql
from recall_core.errors import RecallError, RqlError, UsageError
from recall_core.paths import state_folder
from recall_core.rql.parser import is_query
from recall_tui import commandline, screens, themes
from recall_tui.commandline import Output
from recall_tui.handlers import query, shell
from recall_tui.home import history
from recall_tui.state import session as state
from recall_tui.state.events import Ran
from recall_tui.state.store_pane import is_outdated

if TYPE_CHECKING:
    from recall_tui.host import Host
    from recall_tui.screens.line import LineScreen

LINES = "lines.jsonl"


async def command_line(app: Host) -> None:
    """Open the line."""

    path = _lines_path(app)
    past = [entry.text for entry in history.load(path)] if path is not None else []
    await app.push_screen(screens.line.LineScreen(past, app.output))


async def on_line_screen_entered(app: Host, message: LineScreen.Entered) -> None:
    """Do what a line says."""
    lines = commandline.lines_of(message.line)
    line = "\n".join(lines)
    if message.takes_up:
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


def on_line_screen_cancelled(app: Host) -> None:
    """Stop what runs."""
    app.threads.stop_command()


def command_ran(app: Host, event: Ran) -> None:
    """Show what it wrote, and ask again where the store is another by now."""
    _show_output(app, Output(ran=event))
    if _line(app) is None:
        app.notify(f"recall {event.line}: exit {event.code}", markup=False)
    if is_outdated(app.session):
        app.ask()


async def ask_filter(app: Host) -> None:
    """Ask for an expression that every row has to satisfy."""
    if is_query(app.bench.editor.text):
        app.notify("A query in RQL has its own FILTER; / filters plain words.")
        return
    hint = "such as doc.tag = 'docs'; Enter filters, Esc removes the filter"
    await app.prompt("Filter", app.session.query.filter, hint, wrong_filter, partial(filter_by, app))


def filter_by(app: Host, text: str | None) -> None:
    """Ask again with the words filtered by this expression; "" or None removes the filter."""
    text = text or ""
    if text != app.session.query.filter:
        session = app.session._replace(query=app.session.query._replace(filter=text))
        app.become(state.asked(session, app.bench.editor.text, app.clock()))


async def _take_up(app: Host, line: str) -> None:
    """Put the question of a line into the editor."""
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
    """Do something to the workbench itself."""
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
    """Open a tab of queries, go to one, or close the one in front."""
    count = max(1, len(app.session.query.tabs))
    number = int(words[0]) if len(words) == 1 and words[0].isdecimal() else 0
    if words and words != ("close",) and not 1 <= number <= count:
        _say(app, f"tab opens one; tab N goes to one of {count}; tab close closes the current one")
        return
    _close_line(app)
    if number:
        query.go_to_tab(app, number - 1)
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
    """The line, while it is in front."""

    return app.screen if isinstance(app.screen, screens.line.LineScreen) else None


def _lines_path(app: Host) -> Path | None:
    folder = state_folder(os.environ)
    return folder / LINES if folder is not None else None


def _remember_line(app: Host, line: str) -> None:
    """A line that cannot be kept is not worth a word: it has just been typed."""
    path = _lines_path(app)
    try:
        if path is not None:
            history.append(path, history.PastQuestion(line))
    except OSError:
        return


def wrong_filter(typed: str) -> str:
    """What is wrong with a filter expression; "" when nothing is, or when there is none."""

    try:
        if typed:
            rql.parser.parse_filter_with_warnings(typed)
    except RqlError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return f"{error.caret()}\n{error.message}{hint}"
    except UsageError as error:
        return error.message
    return ""
