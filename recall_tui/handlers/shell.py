"""Everything around the panes: themes, sizes, letters to jump by, pictures of the screen."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import paths
from recall_tui import files, screens, themes
from recall_tui.handlers import panes
from recall_tui.home import preferences
from recall_tui.home.preferences import PaneSizes, Preferences
from recall_tui.messages import Dragged, Wanted
from recall_tui.palette import Palette
from recall_tui.state import session as state
from recall_tui.widgets.body import Body
from recall_tui.widgets.picture import picture, plain_text

if TYPE_CHECKING:
    from recall_tui.host import Host
    from recall_tui.screens.bench import Landmark

PICTURE = "recall.svg"

SUFFIXES = (".svg", ".txt")


async def on_wanted(app: Host, message: Wanted) -> None:
    """A key's name, or a pane's, was clicked."""
    await app.perform(message.action)


async def choose_theme(app: Host) -> None:
    """Show the themes, live."""
    if app.no_color:
        app.notify("NO_COLOR is set, so no theme has colours.")
        return

    await app.push_screen(
        screens.confirm.ThemeScreen(themes.NAMES, app.theme), partial(_theme_chosen, app, app.theme)
    )


def take_theme(app: Host, name: str) -> None:
    """Show this theme, and remember it."""
    app.theme = name
    remember(app, Preferences(theme=name))


def _theme_chosen(app: Host, before: str, name: str | None) -> None:
    if name is None:
        app.theme = before
    else:
        take_theme(app, name)


def on_dragged(app: Host, message: Dragged) -> None:
    """A border was moved by the mouse."""
    layout = app.layout
    if message.right is not None:
        layout = layout._replace(right=preferences.bounded(message.right))
    if message.below is not None:
        layout = layout._replace(below=app.bench.query_one(Body).bounded(message.below))
    _take_layout(app, layout, is_kept=message.is_over)


def widen(app: Host, percent: int) -> None:
    """Move the border between the columns."""
    if not (app.session.is_narrow or app.session.zoomed):
        right = (app.layout.right or app.bench.measured().right or 0) + percent
        _take_layout(app, app.layout._replace(right=preferences.bounded(right)))


def heighten(app: Host, percent: int) -> None:
    """Move the border below the results."""
    if not app.session.zoomed:
        kept = app.layout.below
        before = app.bench.query_one(Body).bounded(kept) if kept is not None else app.bench.measured().below or 0
        below = app.bench.query_one(Body).bounded(before + percent)
        if (below - before) * percent > 0:  # not where that side has no more to give
            _take_layout(app, app.layout._replace(below=below))


def reset_layout(app: Host) -> None:
    """Put the borders where they were at first."""
    _take_layout(app, PaneSizes())


def _take_layout(app: Host, layout: PaneSizes, *, is_kept: bool = True) -> None:
    moved = {preferences.size_class(*app.size): layout}
    app.remembered = app.remembered._replace(layouts={**app.remembered.layouts, **moved})
    app.lay_out()
    if is_kept:
        remember(app, Preferences(layouts=moved))


def remember(app: Host, chosen: Preferences) -> None:
    """Keep what was chosen; say so once when that fails."""
    if not app.can_remember:
        return
    try:
        preferences.save(os.environ, chosen)
    except OSError as error:
        app.can_remember = False
        app.warn(f"The theme and pane sizes cannot be saved: {error.strerror}")


async def jump(app: Host) -> None:
    """Put letters on panes and rows."""

    if app.screen is app.bench:
        await app.push_screen(screens.confirm.JumpScreen(app.bench.landmarks(app.session)), partial(_jumped, app))


def _choose_row(app: Host, row: int) -> None:
    """Go to a row of the results."""
    app.become(state.chosen(state.focused(app.session, "results"), row))
    app.bench.give_focus("results")


def _jumped(app: Host, mark: Landmark | None) -> None:
    if mark is not None and mark.row is None:
        app.call_later(panes.focus_pane, app, mark.pane)
    elif mark is not None:
        app.call_later(_choose_row, app, mark.row)


async def show_help(app: Host) -> None:
    """Show the keys."""

    await app.push_screen(screens.help.HelpScreen(app.table, app.session.pane, app.session.view))


def command_palette(app: Host) -> None:
    """Show the palette, once."""

    if not isinstance(app.screen, Palette):
        app.push_screen(Palette(id="--command-palette", placeholder="Search for commands"))


def leave(app: Host) -> None:
    """Quit."""
    app.become(state.settled(app.session))
    app.exit(return_code=0)


def suspend_program(app: Host) -> None:
    """Stop the process as its shell does, where there is one."""
    if app._driver is not None and app._driver.can_suspend:
        app.action_suspend_process()
    else:
        app.notify("There is no shell to go back to from here.")


async def export_picture(app: Host) -> None:
    """Ask where to put what is on the screen."""
    taken = picture(app), plain_text(app)
    hint = ".svg is a picture, .txt the text; Enter saves"
    wrong = f"The name ends in {' or '.join(SUFFIXES)}."
    then = partial(_picture_named, app, taken)
    await app.prompt(
        "Save the screen",
        PICTURE,
        hint,
        lambda typed: "" if paths.expanded(typed).suffix in SUFFIXES else wrong,
        then,
    )


def _picture_named(app: Host, taken: tuple[str, str], typed: str | None) -> None:
    if typed is None:
        return
    try:
        path = Path(os.path.realpath(paths.expanded(typed)))  # resolve() fails at a link to itself
        is_there = path.exists()
    except OSError as error:  # the current folder is gone, or nobody may look into the one that is named
        app.warn(f"{typed} cannot be written: {error.strerror}")
        return
    text = taken[SUFFIXES.index(path.suffix)]
    if is_there:
        question = f"{path} exists. Replace it?"
        app.confirm("Save the screen", question, partial(_save_picture, app, path, text))
    else:
        _save_picture(app, path, text, True)


def _save_picture(app: Host, path: Path, text: str, is_agreed: bool | None) -> None:
    if not is_agreed:
        return
    try:
        files.save(path, text)
    except OSError as error:
        app.warn(f"{path} cannot be written: {error.strerror}")
    else:
        app.notify(f"Saved: {path}", markup=False)
