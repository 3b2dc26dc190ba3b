"""Watching: when something changes below the remembered roots, say so once it has come to rest."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recall_core import shell
from recall_core.config import WATCH_MOST_MS, WATCH_REST_MS, Config
from recall_core.errors import IngestError
from recall_core.ingest.discover import NEVER_READ, is_own
from recall_core.shell import Hint
from recall_core.types import Root, Stamp

if TYPE_CHECKING:
    from watchfiles import Change
    from watchfiles.main import FileChange

_LOOK_MS = 500  # how long a stop may go unnoticed, and a single file's change


class Stop(Protocol):
    """What ends a watch, such as a threading.Event."""

    def is_set(self) -> bool:
        """True once it is to end."""
        ...


def changes(
    roots: Sequence[Root], *, base: Path, config: Config, stop: Stop | None = None, rest_ms: int = WATCH_REST_MS
) -> Iterator[tuple[str, ...]]:
    """Yield the places that changed, sorted, each time after they have rested; ends when `stop` is set.

    The first answer comes as soon as the watch has begun, and may be empty: who syncs then has missed nothing.
    roots, base, config: as the store has them. What `sync` would never read is passed over: the store's own files,
    hidden names unless the root reads them, folders such as `.git`. A single file is looked at by its status, because
    editors put a new file in the place of the old one. Ctrl-C raises KeyboardInterrupt.
    rest_ms: how long nothing may change before places are yielded, unless they never rest.
    Raises IngestError `nothing_to_watch` when no root is there, `cannot_watch` when any folder cannot be followed.
    """
    folders = {str(base / root.folder): root for root in roots if (base / root.folder).is_dir()}
    files = [base / root.folder for root in roots if str(base / root.folder) not in folders]
    if not folders and not any(file.exists() for file in files):
        raise IngestError(
            "nothing_to_watch", "No added folder or file is there to be watched.", hint=Hint("add", "DIR")
        )
    matters = _Matters(folders, base, config)
    before, is_first = _states(files), True
    # Without a folder there has to be something that is waited for; the store's own directory is there.
    for found in _watch(folders or (str(base),), matters if folders else None, stop, rest_ms):
        after = _states(files)
        changed = {place for _, place in found} | {place for place in after if after[place] != before[place]}
        before = after
        if changed or is_first:
            is_first = False
            yield tuple(sorted(changed))


def _watch(
    folders: Iterable[str], matters: Callable[[Change, str], bool] | None, stop: Stop | None, rest_ms: int
) -> Iterator[set[FileChange]]:
    """Yield what watchfiles finds below the folders; without `matters` only wake up now and then."""
    from watchfiles import watch  # noqa: PLC0415 - 20 ms that only a watch needs

    try:
        # To ignore what is denied means, to watchfiles, to ignore whatever fails, and all that comes after it.
        yield from watch(
            *folders,
            watch_filter=matters or (lambda _change, _place: False),
            debounce=max(WATCH_MOST_MS, 4 * rest_ms),
            step=rest_ms,
            stop_event=stop,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            recursive=matters is not None,
        )
    except (OSError, RuntimeError) as error:  # its own error is a RuntimeError
        raise _unwatchable(error) from error


def _unwatchable(error: OSError | RuntimeError) -> IngestError:
    named = re.search(r'about \["(.+?)"', str(error))
    where = named[1] if named else "A folder"
    reason = str(error).partition(" about ")[0].rstrip(".")
    hint = f"ls -ld {shell.quote(where)}" if named and isinstance(error, PermissionError) else "sysctl fs.inotify"
    return IngestError("cannot_watch", f"{where} cannot be watched: {reason}.", hint=hint)


class _Matters:
    """Whether a change may lead to another document; decided by the name, so that most noise costs nothing."""

    def __init__(self, folders: dict[str, Root], base: Path, config: Config) -> None:
        self._folders = {os.path.realpath(place): root for place, root in folders.items()} | folders
        store = base / Path(config.store_path).name
        self._stores = (str(store), os.path.realpath(store))

    def __call__(self, _change: Change, place: str) -> bool:
        if any(is_own(place, store) for store in self._stores):
            return False
        return any(
            _is_read(place[len(folder) :].strip("/").split("/"), hidden=root.hidden)
            for folder, root in self._folders.items()
            if place == folder or place.startswith(folder.rstrip("/") + "/")
        )


def _is_read(names: list[str], *, hidden: bool) -> bool:
    """Return True if a place may lead to a document. A `.gitignore` never is one, but decides what is."""
    *_, name = names
    if not NEVER_READ.isdisjoint(names):
        return False
    return hidden or name == ".gitignore" or not any(each.startswith(".") for each in names)


def _states(files: Sequence[Path]) -> dict[str, Stamp | None]:
    """Return the stamp of each file, None if it is missing."""
    states: dict[str, Stamp | None] = {}
    for file in files:
        try:
            status = file.stat()
            states[str(file)] = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        except (OSError, ValueError):  # the locale cannot spell it
            states[str(file)] = None
    return states
