"""Ways to a store, each run by the thread that will use it, and what a first store can be made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall_core import here

if TYPE_CHECKING:
    from recall_core.contract import EmbedderView
    from recall_core.service import Recall

MOST_FILES = 2_000  # counted in a folder: enough to tell a few from many
MOST_SECONDS = 0.5  # spent on counting one
_PROBE_BYTES = 8_192
_LIKELY = ("Documents", "Notes", "notes", "docs")
"""Folders below the home folder in which people keep texts."""


class Count(NamedTuple):
    """Text files in a folder; is_all: there are no more of them."""

    files: int
    is_all: bool


class Choice(NamedTuple):
    """What a first store is made of: the folder to add, the embedder, and settings that it needs."""

    folder: str
    embedder: str
    settings: tuple[str, ...] = ()


def open_store(store: str | None) -> Recall:
    """The store of a --store value, or of the current folder."""
    from recall_core.service import Recall  # noqa: PLC0415 - the engine loads behind the first frame

    return Recall.open(store)


def create_store(store: str | None, choice: Choice) -> Recall:
    """A new store where none was found, opened. A name that ends like a file names the database, else its folder."""
    from recall_core.service import Recall  # noqa: PLC0415 - the engine loads behind the first frame

    place = Path(store or ".")
    if place.suffix:
        settings = (f"store_path={place.name}", *choice.settings)
        Recall.init(str(place.parent), embedding=choice.embedder, settings=settings)
    else:
        Recall.init(str(place), embedding=choice.embedder, settings=choice.settings)
    return Recall.open(store)


def settings_there(store: str | None) -> str:
    """The recall.toml that a new store would find in its place, or ""; what it says is kept."""
    place = Path(store or ".")
    toml = (place.parent if place.suffix else place) / "recall.toml"
    return str(toml) if os.path.exists(toml) else ""  # noqa: PTH110 - False where nobody may look


def embedders() -> tuple[EmbedderView, ...]:
    """Every kind of embedder, and whether it can be used here once a person allows it to."""
    from recall_core.config import Config  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.service import Recall  # noqa: PLC0415

    return tuple(Recall.embedders(Config(allow_network=True))["embedders"])


def candidates(current: Path | None, home: Path | None) -> tuple[str, ...]:
    """Folders that may hold texts: this one, and those of the home folder that are there; as a person types them."""
    likely = [name for name in _LIKELY if home is not None and _is_folder(home / name) and home / name != current]
    return (*(["."] if current else []), *(f"~/{name}" for name in likely))


def completions(typed: str, most: int) -> tuple[str, ...]:
    """Folders whose path begins as typed, by name, hidden ones only where a dot is typed."""
    folder, slash, beginning = typed.rpartition("/")
    prefix = folder + slash
    place = _meant(prefix or ".")
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(beginning) and entry.is_dir())
    except OSError:
        return ()
    seen = (name for name in names if beginning or not name.startswith("."))
    return tuple(f"{prefix}{name}" for name in islice(seen, most))


def counted(folder: str, clock: Callable[[], float]) -> Count:
    """How many files of this folder `recall add` would read, looked at for a moment at most."""
    until, files, place = clock() + MOST_SECONDS, 0, _meant(folder)
    if not place.is_absolute() and here.known() is None:
        return Count(0, is_all=True)
    for path in _found(place):
        if clock() > until or files >= MOST_FILES:
            return Count(files, is_all=False)
        files += _is_text(path)
    return Count(files, is_all=True)


def _meant(typed: str) -> Path:
    return Path(os.path.expanduser(typed))  # noqa: PTH111 - a person who is not known here has no home, and no error


def _found(folder: Path) -> Iterator[Path]:
    from recall_core.config import Config  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.ingest.discover import Found, walk  # noqa: PLC0415
    from recall_core.types import Root  # noqa: PLC0415

    if os.path.isfile(folder):  # noqa: PTH113 - False, and no error, where nobody may look
        yield folder
    elif _is_folder(folder):
        yield from (folder / each.os_path for each in walk(Root("."), folder, Config()) if isinstance(each, Found))


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - as above


def _is_text(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"\0" not in file.read(_PROBE_BYTES)
    except OSError:
        return False
