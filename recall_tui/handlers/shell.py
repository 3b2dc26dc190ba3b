"""Everything around the panes: themes, sizes, letters to jump by, pictures of the screen."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from recall_core import paths
from recall_tui import files, themes
from recall_tui.handlers.holder import Holder
from recall_tui.home import preferences
from recall_tui.home.preferences import PaneSizes, Preferences
from recall_tui.messages import Dragged, Wanted
from recall_tui.state import session
from recall_tui.widgets.picture import picture, plain_text

PICTURE = "recall.svg"

SUFFIXES = (".svg", ".txt")


class ShellActions(Holder):
    """The group Screen of the table, and what is clicked in the bars."""

    remembered: Preferences
    can_remember: bool = True

    async def on_wanted(self, message: Wanted) -> None:
        """A key's name, or a pane's, was clicked."""
        await self.perform(message.action)

    # Themes.

    async def action_choose_theme(self) -> None:
        """Show the themes, live."""
        if self.no_color:
            self.notify("NO_COLOR is set, so no theme has colours.")
            return
        from recall_tui.screens.choices import ThemeScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        await self.push_screen(ThemeScreen(themes.NAMES, self.theme), partial(self._theme_chosen, self.theme))

    def take_theme(self, name: str) -> None:
        """Show this theme, and remember it."""
        self.theme = name
        self._remember(Preferences(theme=name))

    def _theme_chosen(self, before: str, name: str | None) -> None:
        if name is None:
            self.theme = before
        else:
            self.take_theme(name)

    # Sizes.

    def on_dragged(self, message: Dragged) -> None:
        """A border was moved by the mouse."""
        layout = self.layout
        if message.right is not None:
            layout = layout._replace(right=preferences.bounded(message.right))
        if message.below is not None:
            layout = layout._replace(below=self.bench.bounded(message.below))
        self._take_layout(layout, is_kept=message.is_over)

    def action_widen(self, percent: int) -> None:
        """Move the border between the columns."""
        if not (self.session.is_narrow or self.session.zoomed):
            right = (self.layout.right or self.bench.measured().right or 0) + percent
            self._take_layout(self.layout._replace(right=preferences.bounded(right)))

    def action_heighten(self, percent: int) -> None:
        """Move the border below the results."""
        if not self.session.zoomed:
            kept = self.layout.below
            before = self.bench.bounded(kept) if kept is not None else self.bench.measured().below or 0
            below = self.bench.bounded(before + percent)
            if (below - before) * percent > 0:  # not where that side has no more to give
                self._take_layout(self.layout._replace(below=below))

    def action_reset_layout(self) -> None:
        """Put the borders where they were at first."""
        self._take_layout(PaneSizes())

    @property
    def layout(self) -> PaneSizes:
        """The sizes on a screen of this size."""
        return self.remembered.layouts.get(preferences.size_class(*self.size), PaneSizes())

    def lay_out(self) -> None:
        """Let the panes have their sizes."""
        shown = PaneSizes() if self.session.zoomed else self.layout
        self.bench.lay_out(shown, is_narrow=self.session.is_narrow)

    def _take_layout(self, layout: PaneSizes, *, is_kept: bool = True) -> None:
        moved = {preferences.size_class(*self.size): layout}
        self.remembered = self.remembered._replace(layouts={**self.remembered.layouts, **moved})
        self.lay_out()
        if is_kept:
            self._remember(Preferences(layouts=moved))

    def _remember(self, chosen: Preferences) -> None:
        """Keep what was chosen; say so once when that fails."""
        if not self.can_remember:
            return
        try:
            preferences.save(os.environ, chosen)
        except OSError as error:
            self.can_remember = False
            self.warn(f"The theme and the sizes cannot be remembered: {error.strerror}")

    # Letters.

    async def action_jump(self) -> None:
        """Put letters on panes and rows."""
        from recall_tui.screens.choices import JumpScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        if self.screen is self.bench:
            await self.push_screen(JumpScreen(self.bench.landmarks(self.session)), self._jumped)

    def action_choose_row(self, row: int) -> None:
        """Go to a row of the results."""
        self.become(session.chosen(session.focused(self.session, "results"), row))
        self.bench.give_focus("results")

    def _jumped(self, action: str | None) -> None:
        if action is not None:
            self.call_later(self.run_action, f"app.{action}")

    # Pictures.

    async def action_export_picture(self) -> None:
        """Ask where to put what is on the screen."""
        taken = picture(self), plain_text(self)
        hint = ".svg is a picture, .txt the text; Enter saves"
        await self.prompt("Save the screen", PICTURE, hint, _unsuited, partial(self._picture_named, taken))

    def _picture_named(self, taken: tuple[str, str], typed: str | None) -> None:
        if typed is None:
            return
        try:
            path = Path(os.path.realpath(paths.expanded(typed)))  # resolve() fails at a link to itself
            is_there = path.exists()
        except OSError as error:  # the current folder is gone, or nobody may look into the one that is named
            self.warn(f"{typed} cannot be written: {error.strerror}")
            return
        text = taken[SUFFIXES.index(path.suffix)]
        if is_there:
            question = f"{path} is there already. Replace it?"
            self.confirm("Save the screen", question, partial(self._save_picture, path, text))
        else:
            self._save_picture(path, text, True)

    def _save_picture(self, path: Path, text: str, is_agreed: bool | None) -> None:
        if not is_agreed:
            return
        try:
            files.save(path, text)
        except OSError as error:
            self.warn(f"{path} cannot be written: {error.strerror}")
        else:
            self.notify(f"Saved: {path}", markup=False)


def _unsuited(typed: str) -> str:
    """What is wrong with the name of a picture; "" when nothing is."""
    return "" if paths.expanded(typed).suffix in SUFFIXES else f"The name ends in {' or '.join(SUFFIXES)}."
