"""Watching: report changes below the remembered roots once they have settled."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recall_core import shell
from recall_core.config import WATCH_MOST_MS, WATCH_REST_MS, Config
from recall_core.errors import IngestError
from recall_core.ingest.discover import NEVER_READ, Found, is_own, single, walk
from recall_core.shell import Hint
from recall_core.types import Root, Stamp

if TYPE_CHECKING:
    from watchfiles import Change
    from watchfiles.main import FileChange

_LOOK_MS = 500  # longest delay before a stop or a single file's change is noticed


class Stop(Protocol):
    """Signal that ends a watch, such as a threading.Event."""

    def is_set(self) -> bool:
        """Return True once the watch should end."""
        ...


def changes(
    roots: Sequence[Root], *, base: Path, config: Config, stop: Stop | None = None, rest_ms: int = WATCH_REST_MS
) -> Iterator[tuple[str, ...]]:
    """Yield the changed places, sorted, each time after they settle. End when `stop` is set.

    The first answer comes as soon as the watch starts and may be empty: a sync at that point misses nothing.
    Changes that `sync` would never read are ignored: the store's own files, folders such as `.git`, and hidden names
    unless the root reads them. A single file is compared by status, because editors replace the file.

    roots, base, config: as the store has them.
    rest_ms: quiet time before places are yielded. Continuous changes are yielded after a maximum delay.
    Raises IngestError `nothing_to_watch` if no root exists, `cannot_watch` if a folder cannot be watched.
    Ctrl-C raises KeyboardInterrupt.
    """
    folders = {str(base / root.folder): root for root in roots if (base / root.folder).is_dir()}
    files = [base / root.folder for root in roots if str(base / root.folder) not in folders]
    if not folders and not any(file.exists() for file in files):
        raise IngestError("nothing_to_watch", "No added folder or file exists to watch.", hint=Hint("add", "DIR"))
    matters = _ChangeFilter(folders, base, config)
    before, is_first = _states(files), True
    # watchfiles needs a folder to wait on; the store's own directory always exists.
    for found in _watch(folders or (str(base),), matters if folders else None, stop, rest_ms):
        after = _states(files)
        changed = {place for _, place in found} | {place for place in after if after[place] != before[place]}
        before = after
        if changed or is_first:
            is_first = False
            yield tuple(sorted(changed))


def statuses(roots: Sequence[Root], *, base: Path, config: Config) -> dict[str, tuple[int, int]]:
    """Return size and mtime of every file that a sync would look at, by its path on disk. No file is read."""
    steps = chain.from_iterable(
        walk(root, base, config) if (base / root.folder).is_dir() else [single(root, base)] for root in roots
    )
    return {found.os_path: (found.size, found.mtime_ns) for found in steps if isinstance(found, Found)}


def _watch(
    folders: Iterable[str], matters: Callable[[Change, str], bool] | None, stop: Stop | None, rest_ms: int
) -> Iterator[set[FileChange]]:
    """Yield watchfiles' changes below the folders; without `matters`, only wake up periodically."""
    from watchfiles import watch  # noqa: PLC0415 - takes 20 ms

    try:
        # With ignore_permission_denied, watchfiles ignores every error and all changes after it.
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
    except (OSError, RuntimeError) as error:  # watchfiles raises its own errors as RuntimeError
        raise _watch_error(error) from error


def _watch_error(error: OSError | RuntimeError) -> IngestError:
    named = re.search(r'about \["(.+?)"', str(error))
    where = named[1] if named else "A folder"
    reason = str(error).partition(" about ")[0].rstrip(".")
    hint = f"ls -ld {shell.quote(where)}" if named and isinstance(error, PermissionError) else "sysctl fs.inotify"
    return IngestError("cannot_watch", f"{where} cannot be watched: {reason}.", hint=hint)


class _ChangeFilter:
    """Filter for changes that may affect a document; decides by name, so most noise costs nothing."""

    def __init__(self, folders: dict[str, Root], base: Path, config: Config) -> None:
        self._folders = {os.path.realpath(place): root for place, root in folders.items()} | folders
        store = base / Path(config.store_path).name
        self._stores = (str(store), os.path.realpath(store))

    def __call__(self, _change: Change, place: str) -> bool:
        if any(is_own(place, store) for store in self._stores):
            return False
        return any(
            _may_matter(place[len(folder) :].strip("/").split("/"), hidden=root.hidden)
            for folder, root in self._folders.items()
            if place == folder or place.startswith(folder.rstrip("/") + "/")
        )


def _may_matter(names: list[str], *, hidden: bool) -> bool:
    """Return True if a place may affect a document. A `.gitignore` counts, because it decides what is read."""
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
        except (OSError, ValueError):  # ValueError: the locale cannot encode the name
            states[str(file)] = None
    return states
