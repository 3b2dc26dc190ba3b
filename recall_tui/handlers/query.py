"""What becomes of the text of the query: asked, remembered, loaded, saved, edited elsewhere, copied as a command."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.timer import Timer

from recall_tui.handlers.holder import Holder
from recall_tui.home.history import changed
from recall_tui.messages import Lacking, Typed
from recall_tui.state import session as state
from recall_tui.state import weighing
from recall_tui.state.session import Session
from recall_tui.state.shell import commands
from recall_tui.texts import Texts, moved_by

if TYPE_CHECKING:
    from recall_tui.screens.history import HistoryChoice

LIVE_SECONDS = 0.15  # after the last key: however thirty keys fall into a second, they cause at most 7 searches

LONG_SECONDS = 1.0  # under way for so long, a question is offered to be given up; an offer any sooner would flicker


class QueryActions(Holder):
    """The group Query of the table."""

    texts: Texts
    typing: Timer | None = None

    def on_typed(self, message: Typed) -> None:
        """A search follows when the keys rest."""
        self._rest()
        if message.text != self.session.text:
            self.typing = self.set_timer(LIVE_SECONDS, self.ask)

    def on_lacking(self, message: Lacking) -> None:
        """Completion has a question for the store."""
        self.become(state.lacking(self.session, message.lookups))

    def action_run(self) -> None:
        """Ask what is written, and mean it."""
        self._rest()
        self.ask()
        self.become(state.settled(self.session))

    def question_began(self, before: Session) -> None:
        """Where a question is under way since, offer to give it up once it has taken long."""
        if self.session.busy and self.session.question != before.question:
            self.set_timer(LONG_SECONDS, partial(self._lingers, self.session.question))

    async def action_open_history(self) -> None:
        """Choose an earlier query."""
        from recall_tui.screens.history import HistoryScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        past = self.texts.past()
        if past:
            await self.push_screen(HistoryScreen(past), self._past_chosen)
        else:
            self.notify("The history is empty: a query gets into it when it is answered and left.")

    async def action_save_query(self) -> None:
        """Save the query to a file."""
        await self.texts.ask_save()

    async def action_load_query(self) -> None:
        """Load a query from a file."""
        await self.texts.ask_load()

    def action_edit_outside(self) -> None:
        """Edit the query in another program."""
        self.texts.edit_outside()

    def action_copy_command(self) -> None:
        """Put the command that reproduces the pane on the clipboard."""
        if typed := commands(self.session, self.store):
            self.copy(typed, typed)

    def _past_chosen(self, choice: HistoryChoice | None) -> None:
        if choice is None:
            return
        if choice.act == "text":
            self.texts.put(choice.past.text)
            return
        if self.bench.editor.text != self.session.text:
            self.ask()  # what was typed last is what an undo comes back to
        before, (moved, unknown) = self.session, moved_by(choice.past)
        self.bench.give_focus("query")
        self.take(weighing.recalled(self.session, choice.past.text, choice.past.filter, moved))
        known = [setting for setting in choice.past.settings if setting not in unknown]
        said = changed(choice.past._replace(settings=tuple(known))) or "the saved settings"
        without = f", without {', '.join(unknown)}" if unknown else ""
        now = self.session
        if without or (now.filter, now.tweaks, now.k) != (before.filter, before.tweaks, before.k):
            self.notify(f"Taken with {said}{without}; u in pane 4 takes it back.", markup=False)

    def _lingers(self, question: int) -> None:
        if self.session.busy and self.session.question == question:
            self.become(self.session._replace(lingers=question))

    def _rest(self) -> None:
        if self.typing is not None:
            self.typing.stop()
