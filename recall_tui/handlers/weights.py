"""Moving the weights of the signals, back and forth, and writing them into recall.toml."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.config import Config, load
from recall_core.errors import ConfigError, RqlError
from recall_tui.handlers.holder import Holder
from recall_tui.messages import Slid
from recall_tui.state import judging, optioning, tuning, weighing
from recall_tui.state import session as state
from recall_tui.state.session import Session, Tweaks
from recall_tui.state.shell import rows_asked

if TYPE_CHECKING:
    from recall_core.retrieve import Answer


class WeightActions(Holder):
    """The group Weights of the table."""

    def on_slid(self, message: Slid) -> None:
        """The mouse moved the slider."""
        self.move(weighing.weighted(self.session, message.share, joins=message.joins))

    def action_nudge(self, hundredths: int) -> None:
        """Move the semantic share."""
        self._try(weighing.nudged(self.session, hundredths), "vector_weight")

    def action_turn(self, key: str) -> None:
        """Take the next choice of a setting."""
        self._try(weighing.turned(self.session, key), key)

    def action_least(self, hundredths: int) -> None:
        """Move the least score of a result."""
        self._try(weighing.raised(self.session, hundredths), "min_score")

    def action_count(self, steps: int) -> None:
        """Ask for another number of rows."""
        self.move(weighing.counted(self.session, steps))

    def action_step(self, key: str, steps: int) -> None:
        """Move a whole number to its next stop."""
        self._try(weighing.stepped(self.session, key, steps), key)

    def action_undo_weights(self) -> None:
        """Take the last change back."""
        if not self.session.undo:
            self.notify("There is nothing to take back.")
        self.take(weighing.undone(self.session))

    def action_redo_weights(self) -> None:
        """Make the change that was taken back again."""
        if not self.session.redo:
            self.notify("Nothing was taken back.")
        self.take(weighing.redone(self.session))

    def action_reset_weights(self) -> None:
        """Go back to the saved settings."""
        if not weighing.is_moved(self.session):
            self.notify("The saved settings stand already.")
        self.move(weighing.reset(self.session))

    def action_turn_curve(self) -> None:
        """Show the other curve."""
        if not judging.is_measurable(self.session):
            self.notify("No result has a grade above 0 yet, so there is no curve: a s d in pane 2 grade.")
            return
        self.become(self.session._replace(is_of_all=not self.session.is_of_all))

    def action_take_best(self) -> None:
        """Go to a weight that the grades speak for, unless the present one is as good."""
        curve = tuning.curve_of(self.session)
        if curve is None or not curve.steps:
            return
        now = weighing.exact_share(weighing.current(self.session))
        weight = tuning.better_weight(curve, now)
        if weight is None:
            measure = f"{'mean ' * self.session.is_of_all}{tuning.MEASURE}"
            said = f"{measure} {tuning.value_at(curve, now):.3f}, at best {curve.best:.3f}"
            self.notify(f"The present weight is already among the best: {said}.", markup=False)
        else:
            self._try(weighing.put_at(self.session, weight), "vector_weight")

    def action_pin_row(self, want: tuning.Want) -> None:
        """Wish the selected row in or out."""
        answer = self.session.answer
        wrong = weighing.why_no_lines(answer) if answer is not None else ""
        if wrong:
            self.notify(wrong.replace("No rank lines", "No wishes"), markup=False)
        else:
            self.become(tuning.pinned(self.session, want))

    def action_take_granting(self) -> None:
        """Go where every wish is granted."""
        weight = tuning.granting(self.session)
        if weight is None:
            pins = tuning.pins_of(self.session)
            self.notify("No weight grants them." if pins else "Nothing is wished: p or x on a row does that.")
            return
        self._try(weighing.put_at(self.session, weight), "vector_weight")

    async def action_write_options(self) -> None:
        """Put what was moved into the text, so that the query alone gives this ranking."""
        session, answer = self.session, self.session.answer
        if answer is None or session.text != answer.plan.text:
            return
        said = {key: value for key, value in session.tweaks.items() if optioning.has_option(key)}
        if answer.plan.rql is None:
            await self._offer_query(answer, said)
            return
        if not said and session.k is None:
            self.notify("Nothing is moved that a query can say: it has no OPTION for the rest.")
            return
        self._take_text(optioning.with_options(session.text, said, limit=session.k), said)

    async def _offer_query(self, answer: Answer, said: Tweaks) -> None:
        """Words have no OPTION; the query that gives their rows has."""
        words, limit = answer.plan.text.strip(), rows_asked(answer)
        try:
            query = optioning.as_query(words, answer.plan.config, limit=limit, options=said)
        except RqlError as error:
            self.notify(f"Words have no OPTION, and no query holds these: {error.message}", markup=False)
            return
        question = f"Words have no OPTION. Put the query there that gives the same rows?\n\n{query}"
        await self.confirm("Write into the query", question, partial(self._take_query, query, said))

    def _take_query(self, query: str, said: Tweaks, is_agreed: bool | None) -> None:
        if is_agreed:
            self._take_text(query, said)

    def _take_text(self, text: str, said: Tweaks) -> None:
        """Ask this text, in the editor too, without the settings that it says itself."""
        left = weighing.without(self.session, said)
        self.become(state.asked(left, text, self.clock()))
        self.bench.editor.put(text)
        rest = ", ".join(left.tweaks)
        self.notify(f"Written. Still moved, because no OPTION says it: {rest}" if rest else "Written.", markup=False)

    async def action_save_weights(self) -> None:
        """Ask whether to write what was moved."""
        tweaks, saved, toml = self.session.tweaks, self.session.saved, self.session.toml
        if not tweaks or saved is None or toml is None:
            self.notify("The weights are those of recall.toml; there is nothing to write.")
            return
        await self._ask_to_write(toml, tweaks, saved, f"Write into {toml.name}?")

    def _try(self, session: Session, key: str) -> None:
        if key in self.session.fixed:
            self.notify(f"The query decides: OPTION {key}")
        self.move(session)

    async def _ask_to_write(self, toml: Path, tweaks: Tweaks, was: Config, title: str) -> None:
        lines = [f"  {key} = {_toml(value)} (was {_toml(getattr(was, key))})" for key, value in tweaks.items()]
        await self.confirm("Save the weights", "\n".join([title, *lines]), partial(self._write, toml, tweaks, was))

    async def _write(self, toml: Path, tweaks: Tweaks, was: Config, is_agreed: bool | None) -> None:
        """Write what was agreed to, unless it takes the place of something else by now."""
        if not is_agreed:
            return
        from recall_core.maintain.settings import write_settings  # noqa: PLC0415 - only a saved weight writes settings

        try:
            saved = await asyncio.to_thread(load, toml)
            if any(getattr(saved, key) != getattr(was, key) for key in tweaks):
                await self._ask_to_write(toml, tweaks, saved, f"{toml.name} has changed. Write into it all the same?")
                return
            await asyncio.to_thread(write_settings, toml, tweaks)
        except ConfigError as error:
            self.notify(error.message, severity="error", markup=False)
        else:
            self.move(weighing.stored(self.session, tweaks, was=was))
            self.notify(f"Saved: {', '.join(tweaks)}", markup=False)


def _toml(value: str | float | bool) -> str:
    """As it is written into the file: TOML spells these as JSON does."""
    return json.dumps(value, ensure_ascii=False)
