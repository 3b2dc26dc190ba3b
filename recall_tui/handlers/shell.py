"""Moving between panes, and everything around them: themes, sizes, jump letters, pictures of the screen."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import Input, OptionList

from recall_core import paths
from recall_tui import files, screens, themes
from recall_tui.actions.action import Action, key_name
from recall_tui.actions.table import WANTED, wanted_at
from recall_tui.home import preferences
from recall_tui.home.preferences import PaneSizes, Preferences
from recall_tui.host import Host
from recall_tui.screens.dialog import SizedScreen, is_in_front
from recall_tui.state import session as state
from recall_tui.state.session import Pane

if TYPE_CHECKING:
    from textual.app import App

    from recall_tui.screens.dialog import Landmark

NOT_NOW = "not now"
LESS = 0.5
"""Factor of the score of an action that is not possible now."""


class PaletteEntry(NamedTuple):
    """An action in the palette. note: its keys, and why it is not possible now, if so."""

    group: str
    action: Action
    note: str
    is_possible: bool
    run: Callable[[], object]

    @property
    def name(self) -> str:
        """The action's help after its group."""
        return f"{self.group}: {self.action.help}"

    @property
    def labelled(self) -> str:
        """The same with its label in the footer."""
        label = self.action.label
        return f"{self.group}: {label}: {self.action.help}" if label else self.name

    def shown(self, name: Content) -> Content:
        """Return a name as drawn: dim if the action is not possible."""
        return name if self.is_possible else name.stylize("dim")


class Palette(CommandPalette, SizedScreen[None]):
    """The command palette. It runs one action, even if several keys arrive together."""

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _take_no_more(self, event: OptionList.OptionSelected | Input.Submitted) -> None:
        """Ignore a choice after the palette was closed."""
        if not is_in_front(self):
            event.stop()
            event.prevent_default()

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, unless already closed."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()


class Actions(Provider):
    """Search of the action table for the command palette: possible actions first, by group."""

    async def discover(self) -> Hits:
        """Yield every action before anything is typed."""
        for entry in self._entries():
            yield DiscoveryHit(entry.shown(Content(entry.name)), entry.run, entry.name, entry.note)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Yield the actions whose help, or label in the footer, matches the query.

        A matching label is shown first.
        """
        matcher = self.matcher(query)
        for entry in self._entries():
            match = max((entry.name, entry.labelled), key=matcher.match)
            if (score := matcher.match(match)) > 0:
                score *= 1 if entry.is_possible else LESS
                yield Hit(score, entry.shown(matcher.highlight(match)), entry.run, match, entry.note)

    def _entries(self) -> list[PaletteEntry]:
        """Return every action except the palette itself: possible ones first, then those of the active pane."""
        app = self.app
        assert isinstance(app, Host)  # noqa: S101 - only the workbench has this palette
        pane, entries = app.session.pane, []
        for group, actions in app.table.groups.items():
            for action in actions:
                if action.id == "command_palette":
                    continue
                is_possible, keys = action.when.holds(app.session), " ".join(map(key_name, action.keys)) or "no key"
                note = keys if is_possible else f"{keys}, {NOT_NOW}: {app.table.spell(action.when.needs)}"
                own = pane.title() if pane in action.panes or action.id in WANTED[pane] else group
                entries.append(PaletteEntry(own, action, note, is_possible, partial(app.perform, action.id)))
        groups = [pane.title(), *app.table.groups]
        return sorted(
            entries,
            key=lambda entry: (not entry.is_possible, groups.index(entry.group), wanted_at(entry.action.id, pane)),
        )


def focus_pane(app: Host, pane: Pane) -> None:
    """Go to a pane."""
    app.become(state.focus_pane(app.session, pane))
    app.bench.give_focus(pane)


def next_pane(app: Host) -> None:
    """Go to the next pane."""
    focus_pane(app, state.next_pane(app.session, 1))


def previous_pane(app: Host) -> None:
    """Go to the previous pane."""
    focus_pane(app, state.next_pane(app.session, -1))


def zoom(app: Host) -> None:
    """Let the pane fill the screen, or restore it."""
    app.become(app.session._replace(zoomed=not app.session.zoomed))


def step_out(app: Host) -> None:
    """Leave the zoom, then the field, then the pane."""
    if app.session.zoomed:
        zoom(app)
    elif app.session.pane != "results":
        focus_pane(app, "results")


PICTURE = "recall.svg"
SUFFIXES = (".svg", ".txt")


async def choose_theme(app: Host) -> None:
    """Show the themes with a live preview."""
    if app.no_color:
        app.notify("Colours are off: NO_COLOR is set, or your setting color is never.")
        return

    await app.push_screen(screens.dialog.ThemeScreen(themes.NAMES, app.theme), partial(_theme_chosen, app, app.theme))


def take_theme(app: Host, name: str) -> None:
    """Apply this theme, and save it."""
    app.theme = name
    remember(app, Preferences(theme=name))


def _theme_chosen(app: Host, before: str, name: str | None) -> None:
    if name is None:
        app.theme = before
    else:
        take_theme(app, name)


def drag_border(app: Host, right: float | None, below: float | None, is_over: bool) -> None:
    """Move the border at the right column or below the results to a share in percent.

    is_over: the button was released, so the place is saved.
    """
    layout = app.layout
    if right is not None:
        layout = layout._replace(right=preferences.clamp(right))
    if below is not None:
        layout = layout._replace(below=app.bench.body.limit(below))
    _take_layout(app, layout, is_kept=is_over)


def widen(app: Host, percent: int) -> None:
    """Move the border between the columns."""
    if not (app.session.is_narrow or app.session.zoomed):
        right = (app.layout.right or app.bench.body.measure().right or 0) + percent
        _take_layout(app, app.layout._replace(right=preferences.clamp(right)))


def heighten(app: Host, percent: int) -> None:
    """Move the border below the results."""
    if not app.session.zoomed:
        saved = app.layout.below
        before = app.bench.body.limit(saved) if saved is not None else app.bench.body.measure().below or 0
        below = app.bench.body.limit(before + percent)
        if (below - before) * percent > 0:  # not beyond the limit
            _take_layout(app, app.layout._replace(below=below))


def reset_layout(app: Host) -> None:
    """Restore the default pane sizes."""
    _take_layout(app, PaneSizes())


def _take_layout(app: Host, layout: PaneSizes, *, is_kept: bool = True) -> None:
    moved = {preferences.size_class(*app.size): layout}
    app.remembered = app.remembered._replace(layouts={**app.remembered.layouts, **moved})
    app.lay_out()
    if is_kept:
        remember(app, Preferences(layouts=moved))


def remember(app: Host, chosen: Preferences) -> None:
    """Save preferences. Report the first failure only."""
    if not app.can_remember:
        return
    try:
        preferences.save(os.environ, chosen)
    except OSError as error:
        app.can_remember = False
        app.warn(f"The theme and pane sizes cannot be saved: {error.strerror}")


async def jump(app: Host) -> None:
    """Put letters on panes and rows."""

    def choose_row(row: int) -> None:
        app.become(state.select_row(state.focus_pane(app.session, "results"), row))
        app.bench.give_focus("results")

    def go_to(mark: Landmark | None) -> None:
        if mark is not None and mark.row is None:
            app.call_later(focus_pane, app, mark.pane)
        elif mark is not None:
            app.call_later(choose_row, mark.row)

    if app.screen is app.bench:
        await app.push_screen(screens.dialog.JumpScreen(app.bench.landmarks(app.session)), go_to)


async def show_help(app: Host) -> None:
    """Show the keys."""
    await app.push_screen(screens.help.HelpScreen(app.table, app.session.pane, app.session.view))


def command_palette(app: Host) -> None:
    """Show the palette, once."""
    if not isinstance(app.screen, Palette):
        app.push_screen(Palette(id="--command-palette", placeholder="Search for commands"))


def leave(app: Host) -> None:
    """Quit."""
    app.become(state.settle(app.session))
    app.exit(return_code=0)


def suspend_program(app: Host) -> None:
    """Suspend the process as its shell does, if there is a shell."""
    if app._driver is not None and app._driver.can_suspend:
        app.action_suspend_process()
    else:
        app.notify("Cannot suspend: this workbench was not started from a shell.")


def plain_text(app: App[None]) -> str:
    """Return the characters of the screen, without colours and trailing blanks."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.crop(0, width).text.rstrip() for strip in strips[:height])


async def export_picture(app: Host) -> None:
    """Ask where to save the screen."""
    taken = app.export_screenshot(), plain_text(app)
    hint = ".svg is a picture, .txt the text; Enter saves"
    wrong = f"The name must end in {' or '.join(SUFFIXES)}."
    await app.prompt(
        "Save the screen",
        PICTURE,
        hint,
        lambda typed: "" if paths.expand(typed).suffix in SUFFIXES else wrong,
        partial(_save_screen, app, taken),
    )


async def _save_screen(app: Host, taken: tuple[str, str], typed: str) -> None:
    try:
        path = Path(os.path.realpath(paths.expand(typed)))  # resolve() fails at a link to itself
        is_there = path.exists()
    except OSError as error:  # the current folder is gone, or the named one cannot be read
        app.warn(f"{typed} cannot be written: {error.strerror}")
        return
    text = taken[SUFFIXES.index(path.suffix)]
    if is_there:
        question = f"{path} exists. Replace it?"
        await app.confirm("Save the screen", question, partial(_write_screen, app, path, text))
    else:
        _write_screen(app, path, text)


def _write_screen(app: Host, path: Path, text: str) -> None:
    try:
        files.save(path, text)
    except OSError as error:
        app.warn(f"{path} cannot be written: {error.strerror}")
    else:
        app.notify(f"Saved: {path}", markup=False)
