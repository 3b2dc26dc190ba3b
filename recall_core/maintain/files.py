"""Files: is each one still there, with the bytes that were read, and what brings the store up to date?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core import shell
from recall_core.config import Config
from recall_core.errors import IngestError, UsageError
from recall_core.ingest import discover
from recall_core.ingest.discover import Found
from recall_core.ingest.parse import parser
from recall_core.ingest.read import parsed, read_raw
from recall_core.ingest.targets import belongs, inherited, is_gone, standing_roots
from recall_core.retrieve.freshness import State, file_state
from recall_core.store.sqlite.check import Finding
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Fingerprint, Root

_SYNC = "recall sync"
_NAMED = 5  # files that are named, and read to see whether they can be: reading all may take as long as a sync


class _Stale(NamedTuple):
    """A file that is not as it was read."""

    file: Fingerprint
    state: State


class _Met(NamedTuple):
    """A file that a sync reads, and the root that it is read by."""

    found: Found
    root: Root


def unchanged_files(store: SqliteStore, *, base: Path, config: Config) -> Finding:
    """A warning where documents were read from files that are missing or modified, as a search would mark them.

    Each file costs one look at its status; it is read only where that differs. Documents that a program brought have
    no file. The first few are named, by path. The fix is `recall sync` where that reads or takes out any of them, and
    for the first few that it leaves as they are `recall add` or `recall rm`.  Never raises for a file.
    """
    files = [file for file in store.files() if file.os_path and file.documents]
    stale = [_Stale(file, state) for file in files if (state := file_state(file, base)) is not None]
    if not stale:
        return Finding("ok", f"{len(files)} files are as they were read")
    missing = sum(state == "missing" for _, state in stale)
    named = ", ".join(f"{file.path} is {state}" for file, state in stale[:_NAMED])
    more = f", and {len(stale) - _NAMED} more" if len(stale) > _NAMED else ""
    evidence = f"of {len(files)} files {missing} are missing and {len(stale) - missing} modified: {named}{more}"
    try:
        return Finding("warning", evidence, _remedy(stale, store, base=base, config=config))
    except IngestError as error:  # a sync would say the same
        return Finding("warning", evidence, error.hint or _SYNC)


def _remedy(stale: Sequence[_Stale], store: SqliteStore, *, base: Path, config: Config) -> str:
    """The commands that help, as one line. Raises IngestError `root_missing`."""
    roots = store.roots()[::-1]
    met = _met(standing_roots(roots, known={file.path: file for file in store.files()}, base=base), base, config)
    read = [(each, here) for each in stale if (here := met.get(each.file.path))]
    skipped = [each for each, here in read[:_NAMED] if not _is_readable(here, roots, base, config)]
    left = [each for each in stale if each in skipped or not _is_synced(each, met, roots, base)]
    added = [each for each in left[:_NAMED] if each not in skipped and _can_be_added(each, base, config)]
    commands = [_SYNC] if len(left) < len(stale) else []
    commands += _typed("add", [str(base / each.file.os_path) for each in added])
    commands += _typed("rm", [each.file.path for each in left[:_NAMED] if each not in added])
    return ", then ".join(commands)


def _met(roots: Iterable[Root], base: Path, config: Config) -> dict[str, _Met | None]:
    """What a sync comes upon, by path; None where it skips it. roots: newest first."""
    met: dict[str, _Met | None] = {}
    for root in roots:
        is_folder = os.path.isdir(base / root.folder)  # noqa: PTH112 - Path.is_dir raises where one may not look
        steps = discover.walk(root, base, config) if is_folder else [discover.single(root, base)]
        for step in steps:
            here = _Met(step, root) if isinstance(step, Found) else None
            met[step.path] = met.get(step.path) or here
    return met


def _is_synced(stale: _Stale, met: Mapping[str, _Met | None], roots: Iterable[Root], base: Path) -> bool:
    """Whether a sync reads the file, or takes out what vanished."""
    path = stale.file.path
    if path in met:
        return met[path] is not None
    return any(belongs(root, path) for root in roots) and is_gone(base / stale.file.os_path)


def _is_readable(met: _Met, roots: Sequence[Root], base: Path, config: Config) -> bool:
    """Whether a sync would not skip the file for what is in it."""
    name = inherited(met.root, met.found.path, roots).parser
    return _can_be_read(base / met.found.os_path, met.found.path, name, config)


def _can_be_added(stale: _Stale, base: Path, config: Config) -> bool:
    """Whether naming the file would read it, whatever rule leaves it out of its folder."""
    path, os_path = stale.file.path, stale.file.os_path
    return stale.state == "modified" and _can_be_read(base / os_path, path, "auto", config)


def _can_be_read(place: Path, path: str, name: str, config: Config) -> bool:
    """name: of the parser. One that is not installed ends a sync, which says so: that is no fault of the file."""
    try:
        raw = read_raw(place, path=path, config=config)
        for _ in parsed(raw, path=path, parser=parser(name)):
            pass
    except UsageError:
        return True
    except (OSError, IngestError):
        return False
    return True


def _typed(verb: str, paths: Sequence[str]) -> list[str]:
    """The command with these paths; none without any."""
    dashes = ["--"] if any(path.startswith("-") for path in paths) else []
    return [shell.join(["recall", verb, *dashes, *paths])] if paths else []
