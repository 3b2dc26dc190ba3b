"""Adding folders, following them, and creating the first store."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from recall_core import paths
from recall_core.errors import RecallError, StoreLocked, UsageError, why_unread
from recall_core.paths import path_of
from recall_core.types import Skip
from recall_tui import files, screens
from recall_tui.host import reason_of
from recall_tui.opening import FirstStore, create_store
from recall_tui.state import session as state
from recall_tui.state.events import Ended
from recall_tui.state.runs import EVERYTHING, Run, may_hold
from recall_tui.state.store_pane import StoreOverview, cursor_of, is_outdated, overview

if TYPE_CHECKING:
    from textual.widget import AwaitMount

    from recall_core.api.recall import Recall
    from recall_tui.host import Host

UNDER_WAY = "An ingest run is under way; ^g cancels it."
NAMING = "a path, then Enter; unchanged files are not read again"
LATER = "An ingest run is under way; press Enter again when it ends."
LOCKED_SECONDS = 3.0  # until a watch reads again after another program locked the store


def create_first_store(app: Host, choice: FirstStore, sends_text: bool) -> None:
    """Create a store and fill it. Do nothing on a second Enter."""
    if not is_welcoming(app):
        return
    if wrong := missing(choice.folder):
        app.warn(wrong)
        return
    if not sends_text:
        _create(app, choice)
        return
    question = f"The text of every file is sent to {choice.embedder}. This adds allow_network = true to recall.toml."
    app.confirm("Text leaves this machine", question, partial(_create, app, choice))


def open_again(app: Host) -> None:
    """Try again to open the store."""
    if is_welcoming(app):
        _close_welcome(app)
        app.threads.open(app.session)


async def add_folder(app: Host) -> None:
    """Ask for a folder to ingest."""
    if _is_free(app):
        await _ask_for_folder(app, "", NAMING)


def sync(app: Host) -> None:
    """Bring every folder up to date."""
    if _is_free(app):
        _ingest(app, EVERYTHING)


def repeat_run(app: Host) -> None:
    """Repeat the last run."""
    if app.session.store.run is not None and _is_free(app):
        _ingest(app, app.session.store.run.folder)


def hold(app: Host) -> None:
    """Pause the run, or resume it."""
    run = app.session.store.run
    if run is not None and may_hold(run):
        is_held = run.hold == ""
        app.become(
            app.session._replace(store=app.session.store._replace(run=run._replace(hold="asked" if is_held else "")))
        )
        app.threads.hold(is_held=is_held)


def watch(app: Host) -> None:
    """Follow the folders, or stop following them."""
    is_on = not app.session.store.watching
    app.become(app.session._replace(store=app.session.store._replace(watching=is_on, is_behind=False)))
    app.threads.watch(is_on=is_on)


def welcome(app: Host, error: RecallError) -> None:
    """Show why there is no store, unless already shown. Offer to create one if none exists."""
    if is_welcoming(app):
        return
    is_first = error.code == "no_store" and app.session.store.info is None  # a store that was open may come back
    can_create = is_first or (app.first_store is not None and error.code != "store_exists")

    app.push_screen(screens.welcome.WelcomeScreen(error, app.store, can_create=can_create, before=app.first_store))


def ingest_ended(app: Host, event: Ended) -> None:
    """Ask the question again after a run, and read what changed meanwhile."""
    app.threads.end_ingest()
    if not app.threads.is_open and event.error is not None:
        app.become(app.session._replace(store=app.session.store._replace(run=None)))
        welcome(app, event.error)
        return
    app.first_store = None
    if event.view is not None:
        _note_synced(app)
    if app.session.query.text and (app.session.results.answer is None or is_outdated(app.session)):
        app.ask()
    if app.session.store.watching:
        _go_on_watching(app, event)


def folders_changed(app: Host) -> None:
    """Read changed files below a watched folder, now or after the current run."""
    app.become(app.session._replace(store=app.session.store._replace(is_behind=True)))
    if app.session.store.watching and not state.is_ingesting(app.session):
        _ingest(app, EVERYTHING)


async def open_skip(app: Host) -> None:
    """Show why the chosen file was skipped, and offer to open it."""
    run = app.session.store.run
    if run is not None and run.skipped:
        skip = run.skipped[cursor_of(app.session)]
        question = f"{skip.path}\n\n{skip.reason} ({skip.code})\n\nOpen it in your editor?"
        await app.confirm("Skipped", question, partial(_edit, app, skip))


def is_welcoming(app: Host) -> bool:
    """Return True while the welcome screen is open, even behind another one."""
    return any(isinstance(screen, screens.welcome.WelcomeScreen) for screen in app.screen_stack)


def _close_welcome(app: Host) -> None:
    """Close the welcome screen and the screens over it."""
    while is_welcoming(app):
        app.pop_screen()


def _is_free(app: Host) -> bool:
    if state.is_ingesting(app.session):
        app.notify(UNDER_WAY)
        return False
    return True


def _ingest(app: Host, folder: str, opener: Callable[[], Recall] | None = None) -> None:
    is_owed = app.session.store.is_behind and folder == EVERYTHING
    app.become(
        app.session._replace(store=app.session.store._replace(run=Run(folder, is_owed=is_owed), is_behind=False))
    )
    app.threads.ingest(folder, opener)


def _go_on_watching(app: Host, event: Ended) -> None:
    run = app.session.store.run
    if isinstance(event.error, StoreLocked) and run is not None and run.is_owed:
        app.become(app.session._replace(store=app.session.store._replace(is_behind=True)))

        def catch_up() -> None:
            """Sync again, unless a run has started or the watch has ended."""
            if app.session.store.watching and app.session.store.is_behind:
                folders_changed(app)

        app.set_timer(LOCKED_SECONDS, catch_up)
    elif event.view is None:
        return
    elif run is not None and run.folder != EVERYTHING:
        app.threads.watch(is_on=True)  # include the new folder; starting a watch syncs all folders
    elif app.session.store.is_behind:
        _ingest(app, EVERYTHING)


def _create(app: Host, choice: FirstStore) -> None:
    app.first_store = choice
    _close_welcome(app)
    _ingest(app, choice.folder, partial(create_store, app.store, choice))


def _ask_for_folder(app: Host, typed: str, hint: str) -> AwaitMount:
    return app.prompt("Add a folder or a file", typed, hint, missing, partial(_folder_typed, app))


def _folder_typed(app: Host, typed: str) -> None:
    """Add the folder, unless a run has started: a watched folder may change at any time."""
    if state.is_ingesting(app.session):
        _ask_for_folder(app, typed, LATER)
    else:
        _ingest(app, typed)


def _note_synced(app: Host) -> None:
    """Record the time of day for every folder that was read, under the names in the store."""
    run, known, info = app.session.store.run, overview(app.session), app.session.store.info
    if run is None or info is None:
        return
    roots = [source.root.folder for source in known.sources] if isinstance(known, StoreOverview) else []
    read = roots if run.folder == EVERYTHING else [_root_name(run.folder, Path(info.path).parent)]
    at = time.strftime("%H:%M")
    app.become(
        app.session._replace(
            store=app.session.store._replace(synced={**app.session.store.synced, **dict.fromkeys(read, at)})
        )
    )


def _edit(app: Host, skip: Skip) -> None:
    if app.session.store.info is None:
        return
    path = Path(app.session.store.info.path).parent / skip.path
    try:
        command = files.editor(os.environ)
        with app.suspend():
            subprocess.run([*command, str(path)], check=False)
    except SuspendNotSupported:
        app.warn("This terminal cannot run an editor.")
    except UsageError as error:
        app.warn(reason_of(error))
    except OSError as error:
        app.warn(f"{path} cannot be edited: {why_unread(error)}.")


def _root_name(typed: str, base: Path) -> str:
    """Return the name of a folder or file in a store in the folder `base`, or the typed text without such a name."""
    try:
        return path_of(paths.expand(typed), base)
    except RecallError:  # the current folder is gone
        return typed


def missing(path: str) -> str:
    """Return what is wrong with a path to add, or ""."""
    is_there = path and os.path.exists(paths.expand(path))  # noqa: PTH110 - False without permission
    return "" if is_there else f"There is no file or folder {path!r}."
