"""Opening a store in the thread that will use it, and the choices for a first store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from recall_core import api, caller, ingest, paths, personal
from recall_core.config import Config
from recall_core.paths import spot
from recall_core.types import Root

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.config import Settings
    from recall_core.contract.views import EmbedderView

MOST_FILES = 2_000  # counted in a folder: enough to tell a few from many
MOST_SECONDS = 0.5  # for counting one
_PROBE_BYTES = 8_192
_LIKELY = ("Documents", "Notes", "notes", "docs")
"""Folders below the home folder that usually contain texts."""


class Count(NamedTuple):
    """Number of text files in a folder. is_all: the count is complete; is_there: the folder or file exists."""

    files: int
    is_all: bool
    is_there: bool = True


class FirstStore(NamedTuple):
    """The choices for a first store: the folder to add, the embedder, and the settings it needs."""

    folder: str
    embedder: str
    settings: Settings = MappingProxyType({})


def open_to_ask(store: str | None) -> Recall:
    """Open a store that answers with the lexical signal only while settings in recall.toml wait to be accepted."""
    recall = api.recall.Recall.open(store)
    recall.engine.goes_on = True
    return recall


def create_store(store: str | None, choice: FirstStore) -> Recall:
    """Create a store and open it. A name with a file suffix names the database, else its folder.

    A database named this way keeps its name even if an existing recall.toml names another. The person's own settings
    of new stores apply, except those of an embedder.
    """
    folder, name = spot(store)
    named: Settings = {"store_path": name} if name else {}
    own = {} if settings_there(store) else personal.load(os.environ).of_new_store(with_embedder=False)
    settings = {**own, **named, **choice.settings}
    api.recall.Recall.init(folder, embedding=choice.embedder, settings=settings, name=name)
    return api.recall.Recall.open(store)


def settings_there(store: str | None) -> str:
    """Return the recall.toml that a new store would find in its folder, or "". Its settings are kept."""
    toml = Path(spot(store).folder) / "recall.toml"
    return str(toml) if os.path.exists(toml) else ""  # noqa: PTH110 - False without permission


def embedders() -> tuple[EmbedderView, ...]:
    """Return every kind of embedder, and whether it can be used here, assuming that network use is allowed."""
    return tuple(api.recall.Recall.embedders(Config(allow_network=True))["embedders"])


def candidates(named: str, current: Path | None, home: Path | None) -> tuple[str, ...]:
    """Return existing folders that may contain texts, each once, as a user would type them.

    These are the named store's folder, the current one, and likely ones in the home folder.
    """
    nearby = [(folder, current / folder) for folder in (named, ".")] if current else []
    likely = [(f"~/{name}", home / name) for name in _LIKELY] if home else []
    typed: dict[Path, str] = {}
    for folder, place in nearby + likely:
        if os.path.isdir(place):  # noqa: PTH112 - False, not an error, without permission
            typed.setdefault(place, folder)
    return tuple(typed.values())


def completions(typed: str, most: int) -> tuple[str, ...]:
    """Return folders whose paths begin with the typed text, by name. Hidden ones need a typed dot."""
    folder, slash, beginning = typed.rpartition("/")
    prefix = folder + slash
    place = paths.expand(prefix or ".")
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(beginning) and entry.is_dir())
    except OSError:
        return ()
    seen = (name for name in names if beginning or not name.startswith("."))
    return tuple(f"{prefix}{name}" for name in islice(seen, most))


def count_files(folder: str, clock: Callable[[], float]) -> Count:
    """Count the files of this folder that `recall add` would read, for a moment at most."""
    until, files, place = clock() + MOST_SECONDS, 0, paths.expand(folder)
    if not place.is_absolute() and caller.folder() is None:
        return Count(0, is_all=True)
    if not os.path.exists(place):  # noqa: PTH110 - False without permission
        return Count(0, is_all=True, is_there=False)
    for path in _walk(place):
        if clock() > until or files >= MOST_FILES:
            return Count(files, is_all=False)
        files += _is_text(path)
    return Count(files, is_all=True)


def _walk(folder: Path) -> Iterator[Path]:
    if os.path.isfile(folder):  # noqa: PTH113 - False, not an error, without permission
        yield folder
    elif os.path.isdir(folder):  # noqa: PTH112 - as above
        yield from (
            folder / each.os_path
            for each in ingest.discover.walk(Root("."), folder, Config())
            if isinstance(each, ingest.discover.Found)
        )


def _is_text(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"\0" not in file.read(_PROBE_BYTES)
    except OSError:
        return False
