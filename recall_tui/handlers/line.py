"""The command line behind `:`, the filter behind `/`, and what they make of the session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.errors import RecallError, RqlError, UsageError
from recall_core.rql.parser import is_query
from recall_tui import commandline, themes
from recall_tui.commandline import Output
from recall_tui.handlers.holder import Holder
from recall_tui.home import history
from recall_tui.home.xdg import state_folder
from recall_tui.state import session as state
from recall_tui.state.events import Ran
from recall_tui.state.store_pane import is_outdated

if TYPE_CHECKING:
    from recall_tui.screens.line import LineScreen

LINES = "lines.jsonl"


class LineActions(Holder):
    """What is typed over the panes."""

    output: Output = Output()

    async def action_command_line(self) -> None:
        """Open the line."""
        from recall_tui.screens.line import LineScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        path = self._lines_path
        past = [entry.text for entry in history.load(path)] if path is not None else []
        await self.push_screen(LineScreen(past, self.output))

    async def on_line_screen_entered(self, message: LineScreen.Entered) -> None:
        """Do what a line says."""
        lines = commandline.lines_of(message.line)
        line = "\n".join(lines)
        if message.takes_up:
            await self._take_up(next(iter(lines), ""))
        elif (verb := commandline.verb(line)) is not None:
            self._remember_line(line)
            await self._do(verb)
        elif self.output.running:
            self._say("A command is under way; ^g cancels it.")
        else:
            self._remember_line(line)
            self._show_output(Output(running=line))
            self.crew.run(lines, self.session.saved)

    def on_line_screen_cancelled(self) -> None:
        """Stop what runs."""
        self.crew.stop_command()

    def command_ran(self, event: Ran) -> None:
        """Show what it wrote, and ask again where the store is another by now."""
        self._show_output(Output(ran=event))
        if self._line is None:
            self.notify(f"recall {event.line}: exit {event.code}", markup=False)
        if is_outdated(self.session):
            self.ask()

    async def action_filter(self) -> None:
        """Ask for an expression that every row has to satisfy."""
        if is_query(self.bench.editor.text):
            self.notify("A query has a FILTER of its own; / filters words.")
            return
        hint = "such as doc.tag = 'docs'; Enter filters, Esc takes the filter away"
        await self.prompt("Filter", self.session.filter, hint, wrong_filter, self._filter_typed)

    def _filter_typed(self, typed: str | None) -> None:
        self._filter_by(typed or "")

    def _filter_by(self, text: str) -> None:
        if text != self.session.filter:
            session = self.session._replace(filter=text)
            self.become(state.asked(session, self.bench.editor.text, self.clock()))

    async def _take_up(self, line: str) -> None:
        """Put the question of a line into the editor."""
        try:
            taken = commandline.question(line)
        except RecallError as error:
            self._say(error.message)
            return
        if taken is None:
            self._say("This line has no question to take up.")
            return
        self._close_line()
        self.bench.give_focus("query")
        self.become(self.session._replace(filter=taken.filter))
        self.bench.editor.put(taken.text)
        self.ask()

    async def _do(self, verb: commandline.Verb) -> None:
        """Do something to the workbench itself."""
        match verb.name:
            case "theme" if len(verb.words) == 1 and verb.words[0] in themes.NAMES:
                self.take_theme(verb.words[0])
            case "theme":
                self._say(f"theme takes one of: {', '.join(themes.NAMES)}")
            case "help":
                self._close_line()
                await self.perform("help")
            case _:
                await self.perform("leave")

    def _close_line(self) -> None:
        if self._line is not None:
            self.pop_screen()

    def _show_output(self, output: Output) -> None:
        self.output = output
        if self._line is not None:
            self._line.show_output(output)

    def _say(self, text: str) -> None:
        if self._line is not None:
            self._line.say(text)
        else:
            self.notify(text, markup=False)

    @property
    def _line(self) -> LineScreen | None:
        """The line, while it is in front."""
        from recall_tui.screens.line import LineScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        return self.screen if isinstance(self.screen, LineScreen) else None

    @property
    def _lines_path(self) -> Path | None:
        folder = state_folder(os.environ)
        return folder / LINES if folder is not None else None

    def _remember_line(self, line: str) -> None:
        """A line that cannot be kept is not worth a word: it has just been typed."""
        path = self._lines_path
        try:
            if path is not None:
                history.append(path, history.PastQuestion(line))
        except OSError:
            return


def wrong_filter(typed: str) -> str:
    """What is wrong with a filter expression; "" when nothing is, or when there is none."""
    from recall_core.rql.parser import parse_filter_with_warnings  # noqa: PLC0415 - only for who filters

    try:
        if typed:
            parse_filter_with_warnings(typed)
    except RqlError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return f"{error.caret()}\n{error.message}{hint}"
    except UsageError as error:
        return error.message
    return ""
