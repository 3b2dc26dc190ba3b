"""Ways to a store, each run by the thread that will use it, and what a first store can be made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from recall_core import api, ingest, paths
from recall_core.config import Config
from recall_core.paths import spot
from recall_core.types import Root

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.config import Settings
    from recall_core.contract.views import EmbedderView

MOST_FILES = 2_000  # counted in a folder: enough to tell a few from many
MOST_SECONDS = 0.5  # spent on counting one
_PROBE_BYTES = 8_192
_LIKELY = ("Documents", "Notes", "notes", "docs")
"""Folders below the home folder in which people keep texts."""


class Count(NamedTuple):
    """Text files in a folder; is_all: there are no more of them; is_there: there is such a folder or file."""

    files: int
    is_all: bool
    is_there: bool = True


class FirstStore(NamedTuple):
    """What a first store is made of: the folder to add, the embedder, and settings that it needs."""

    folder: str
    embedder: str
    settings: Settings = MappingProxyType({})


def open_to_ask(store: str | None) -> Recall:
    """Open a store whose questions go by words alone while what recall.toml says waits to be accepted."""
    recall = api.recall.Recall.open(store)
    recall.engine.goes_on = True
    return recall


def create_store(store: str | None, choice: FirstStore) -> Recall:
    """Make a new store and open it. A name that ends like a file names the database, else its folder.

    The database has that name also where a recall.toml is kept that calls it otherwise: it was asked for by name.
    """
    folder, name = spot(store)
    named: Settings = {"store_path": name} if name else {}
    api.recall.Recall.init(folder, embedding=choice.embedder, settings={**named, **choice.settings}, name=name)
    return api.recall.Recall.open(store)


def settings_there(store: str | None) -> str:
    """Return the recall.toml that a new store would find in its place, or ""; what it says is kept."""
    toml = Path(spot(store).folder) / "recall.toml"
    return str(toml) if os.path.exists(toml) else ""  # noqa: PTH110 - False where one may not look


def embedders() -> tuple[EmbedderView, ...]:
    """Return every kind of embedder, and whether it can be used here once a person allows it to."""
    return tuple(api.recall.Recall.embedders(Config(allow_network=True))["embedders"])


def candidates(named: str, current: Path | None, home: Path | None) -> tuple[str, ...]:
    """Return folders that are there and may hold texts, each once, as a person types them.

    The one of the store that was named, this one, and likely ones of the home folder.
    """
    near = [(folder, current / folder) for folder in (named, ".")] if current else []
    likely = [(f"~/{name}", home / name) for name in _LIKELY] if home else []
    typed: dict[Path, str] = {}
    for folder, place in near + likely:
        if os.path.isdir(place):  # noqa: PTH112 - False, and no error, where one may not look
            typed.setdefault(place, folder)
    return tuple(typed.values())


def completions(typed: str, most: int) -> tuple[str, ...]:
    """Return folders whose path begins as typed, by name, hidden ones only where a dot is typed."""
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
    """Return how many files of this folder `recall add` would read, looked at for a moment at most."""
    until, files, place = clock() + MOST_SECONDS, 0, paths.expand(folder)
    if not place.is_absolute() and paths.known() is None:
        return Count(0, is_all=True)
    if not os.path.exists(place):  # noqa: PTH110 - False where one may not look
        return Count(0, is_all=True, is_there=False)
    for path in _walk(place):
        if clock() > until or files >= MOST_FILES:
            return Count(files, is_all=False)
        files += _is_text(path)
    return Count(files, is_all=True)


def _walk(folder: Path) -> Iterator[Path]:
    if os.path.isfile(folder):  # noqa: PTH113 - False, and no error, where one may not look
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
