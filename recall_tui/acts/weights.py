"""Moving the weights of the signals, back and forth, and writing them into recall.toml."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from recall_core.errors import ConfigError
from recall_tui import weighing
from recall_tui.acts.holder import Holder
from recall_tui.messages import Slid
from recall_tui.screens.confirm import ConfirmScreen
from recall_tui.session import Session, Tweaks


class WeightActions(Holder):
    """The group Weights of the table."""

    def on_slid(self, message: Slid) -> None:
        """The mouse moved the slider."""
        self.become(weighing.weighted(self.session, message.share, joins=message.joins))

    def action_nudge(self, hundredths: int) -> None:
        """Move the semantic share."""
        self._try(weighing.nudged(self.session, hundredths), "vector_weight")

    def action_turn(self, key: str) -> None:
        """Take the next choice of a setting."""
        self._try(weighing.turned(self.session, key), key)

    def action_least(self, hundredths: int) -> None:
        """Move the least score of a result."""
        self._try(weighing.raised(self.session, hundredths), "min_score")

    def action_undo_weights(self) -> None:
        """Take the last change back."""
        self.become(weighing.undone(self.session))

    def action_reset_weights(self) -> None:
        """Go back to the saved settings."""
        self.become(weighing.reset(self.session))

    async def action_save_weights(self) -> None:
        """Ask whether to write what was moved."""
        tweaks, saved, toml = self.session.tweaks, self.session.saved, self.session.toml
        if not tweaks or saved is None or toml is None:
            self.notify("The weights are those of recall.toml; there is nothing to write.")
            return
        lines = [f"  {key} = {value} (was {getattr(saved, key)})" for key, value in tweaks.items()]
        question = "\n".join([f"Write into {toml.name}?", *lines])
        await self.push_screen(ConfirmScreen("Save the weights", question), partial(self._write, toml, tweaks))

    def _try(self, session: Session, key: str) -> None:
        if key in self.session.fixed:
            self.notify(f"The query decides: OPTION {key}")
        self.become(session)

    async def _write(self, toml: Path, tweaks: Tweaks, is_agreed: bool | None) -> None:
        if not is_agreed:
            return
        from recall_core.maintain.settings import write_settings  # noqa: PLC0415 - only a saved weight writes settings

        try:
            await asyncio.to_thread(write_settings, toml, tweaks)
        except ConfigError as error:
            self.notify(error.message, severity="error", markup=False)
        else:
            self.become(weighing.stored(self.session, tweaks))
            self.notify(f"Saved: {', '.join(tweaks)}", markup=False)
