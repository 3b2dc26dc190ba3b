"""The disk as SQLite sees it, with calls that can be recorded or fail; and the state after a power cut."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import apsw
import pytest

from recall_core.paths import spelt

SECTOR = 512


class Call(NamedTuple):
    """An operation on a file.

    path: from the root; "" for an unnamed temporary file.
    at: offset of a read or write, size after a truncation, or number of the open file for a flush.
    content: the bytes written.
    other: the new name.

    `flush`, `rename`, `link` and `remove` are Python's calls, the others SQLite's. A `told` is not an operation: a
    commit of the generation `at` was reported.
    """

    kind: str
    path: str
    at: int = 0
    size: int = 0
    content: bytes = b""
    other: str = ""


Do = Callable[[], Any]
Act = Callable[[Call, Do], Any]
"""A layer between SQLite and the disk: it gets each call, and runs it or not."""


@contextmanager
def disk(act: Act) -> Iterator[None]:
    """Route file access of every new connection, and of Python except writes, through `act` inside the block."""
    vfs = _Disk(act)
    real = {name: getattr(os, name) for name in _OF_PYTHON}
    for name, function in real.items():
        setattr(os, name, partial(_call_of_python, act, name, function))
    try:
        yield
    finally:
        for name, function in real.items():
            setattr(os, name, function)
        apsw.set_default_vfs("unix")
        vfs.unregister()


_OF_PYTHON = {
    "fsync": "flush",
    "replace": "rename",
    "rename": "rename",
    "link": "link",
    "unlink": "remove",
    "remove": "remove",
}


def _call_of_python(act: Act, name: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    do = partial(function, *arguments, **options)
    match _OF_PYTHON[name]:
        case "flush":
            return act(Call("flush", "", arguments[0]), do)
        case "rename" | "link" as kind:
            return act(Call(kind, _place(arguments[0]), other=_place(arguments[1])), do)
        case kind:
            return act(Call(kind, _place(arguments[0])), do)


def _place(path: str | os.PathLike[str]) -> str:
    return str(spelt(Path(path)))


class _Disk(apsw.VFS):
    def __init__(self, act: Act) -> None:
        self.act = act
        super().__init__("crash", "unix", makedefault=True)

    def excepthook(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Ignore a failure that the tests caused and SQLite did not report."""
        return True

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        kind = "create" if path and flags[0] & apsw.SQLITE_OPEN_CREATE and not Path(path).exists() else "open"
        opened: _File = self.act(Call(kind, path), partial(_File, self.act, name, path, flags))
        return opened

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.act(Call("unlink", filename), partial(super().xDelete, filename, syncdir))

    def xAccess(self, pathname: str, flags: int) -> bool:
        return bool(self.act(Call("access", pathname), partial(super().xAccess, pathname, flags)))


class _File(apsw.VFSFile):
    def __init__(self, act: Act, name: Any, path: str, flags: list[int]) -> None:
        self.act = act
        self.path = path
        super().__init__("unix", name, flags)

    def excepthook(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return True

    def xRead(self, amount: int, offset: int) -> bytes:
        do = partial(super().xRead, amount, offset)
        return bytes(self.act(Call("read", self.path, offset, amount), do))

    def xWrite(self, data: bytes, offset: int) -> None:
        content = bytes(data)
        do = partial(super().xWrite, content, offset)
        self.act(Call("write", self.path, offset, len(content), content), do)

    def xTruncate(self, newsize: int) -> None:
        self.act(Call("truncate", self.path, newsize), partial(super().xTruncate, newsize))

    def xSync(self, flags: int) -> None:
        self.act(Call("sync", self.path), partial(super().xSync, flags))

    def xFileSize(self) -> int:
        return int(self.act(Call("size", self.path), super().xFileSize))


class Log:
    """Every call of SQLite and Python that changes a folder, in order, without its subfolders."""

    def __init__(self, base: Path) -> None:
        self.calls: list[Call] = []
        self._base = base
        self._of_sqlite: set[str] = set()
        self._own: dict[str, bytes] = self._files()

    def __call__(self, call: Call, do: Do) -> Any:
        """Run a call and record it."""
        if call.kind in _OF_PYTHON.values():
            return self._of_python(call, do)
        if call.kind == "open" and self._is_below(call.path):
            self._look()  # Python may have made it
        done = do()
        if call.kind in ("create", "write", "truncate", "sync", "unlink") and self._is_below(call.path):
            self._of_sqlite.add(call.path)
            self.calls.append(call)
        return done

    def told(self, generation: int) -> None:
        """Record that a commit was reported."""
        self.calls.append(Call("told", "", generation))

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the file operations of SQLite and Python inside the block."""
        with disk(self):
            yield
        self._look()

    def _of_python(self, call: Call, do: Do) -> Any:
        self._look()  # later writes are there now, but not synced
        path = self._path_of(call.at) if call.kind == "flush" else call.path
        done = do()
        if not self._is_below(path):
            return done
        match call.kind:
            case "flush":
                self.calls.append(Call("sync_folder" if path == str(self._base) else "sync", path))
            case "rename":
                self.calls.append(call)
                self._moved(path, call.other)
            case "link":
                self.calls.append(call)
                self._own[call.other] = self._own[path]
            case _:
                self.calls.append(Call("unlink", path))
                self._own.pop(path, None)
        return done

    def _is_below(self, path: str) -> bool:
        return path == str(self._base) or os.path.dirname(path) == str(self._base)  # noqa: PTH120 - runs at every call

    def _path_of(self, number: int) -> str:
        """Return the path of an open file in the folder, or of the folder."""
        status = os.fstat(number)
        places = (self._base, *map(Path, contents(self._base)))
        return next((str(path) for path in places if os.path.samestat(path.lstat(), status)), "")

    def _moved(self, before: str, after: str) -> None:
        self._own.pop(after, None)
        self._of_sqlite.discard(after)
        if before in self._own:
            self._own[after] = self._own.pop(before)
        if before in self._of_sqlite:
            self._of_sqlite.remove(before)
            self._of_sqlite.add(after)

    def _look(self) -> None:
        """Record changes in the project's own files."""
        files = self._files()
        for path, content in files.items():
            if self._own.get(path) == content:
                continue
            if path not in self._own:
                self.calls.append(Call("create", path))
            elif len(content) < len(self._own[path]):
                self.calls.append(Call("truncate", path, 0))
            self.calls.append(Call("write", path, 0, len(content), content))
        self._own = files

    def _files(self) -> dict[str, bytes]:
        """Return the project's own files: all that SQLite has not opened, except its store."""
        files = (path for path in contents(self._base).items() if path[0] not in self._of_sqlite)
        store = str(self._base / "recall.db")
        return {path: content for path, content in files if path not in (store, f"{store}-wal", f"{store}-shm")}


def contents(base: Path) -> dict[str, bytes]:
    """Return every file directly in the folder, by path."""
    return {str(path): path.read_bytes() for path in base.iterdir() if path.is_file()}


def after_cut(start: dict[str, bytes], calls: Sequence[Call], rng: random.Random) -> dict[str, bytes]:
    """Return the content of each file, by path, after a power cut that follows these calls.

    Synced data is there. Each unsynced write is there, lost, or torn at a sector, independent of the others. Files
    are created, moved and removed in order up to some moment. That moment is never before the creation of a synced
    file or the last sync of the folder.
    """
    named = _cut_of_names(calls, rng)
    files = {path: _OnDisk(content) for path, content in start.items()}
    current = dict(files)
    for number, call in enumerate(calls):
        match call.kind:
            case "create":
                current[call.path] = _OnDisk(b"")
            case "rename":
                current[call.other] = current.pop(call.path)
            case "link":
                current[call.other] = current[call.path]
            case "unlink":
                current.pop(call.path, None)
            case "write" | "truncate" if call.path in current:
                current[call.path].pending.append(call)
            case "sync" if call.path in current:
                current[call.path].sync()
        if number < named:
            files = dict(current)
    luck = rng.choice((0.0, 0.5, 0.5, 0.9, 1.0))
    return {path: held.after(rng, luck) for path, held in files.items()}


def _cut_of_names(calls: Sequence[Call], rng: random.Random) -> int:
    """Return how many calls on names survive: at least up to the creation of the last synced file."""
    made: dict[str, int] = {}
    least = 0
    for number, call in enumerate(calls):
        if call.kind == "create":
            made[call.path] = number
        elif call.kind == "rename":
            made[call.other] = made.pop(call.path, 0)
        elif call.kind == "link":
            made[call.other] = number
        elif call.kind == "sync":
            least = max(least, made.get(call.path, -1) + 1)
        elif call.kind == "sync_folder":
            least = number
    return rng.randint(least, len(calls))


class _OnDisk:
    """One file: its safe content, and the later writes."""

    def __init__(self, content: bytes) -> None:
        self.synced = bytearray(content)
        self.pending: list[Call] = []

    def sync(self) -> None:
        for call in self.pending:
            _apply(self.synced, call, _sectors(call))
        self.pending.clear()

    def after(self, rng: random.Random, luck: float) -> bytes:
        """Return the content after a power cut. luck: probability that a write survives."""
        content = bytearray(self.synced)
        for call in self.pending:
            if rng.random() < luck:
                _apply(content, call, _sectors(call))
            elif call.kind == "write" and rng.random() < luck:
                _apply(content, call, [each for each in _sectors(call) if rng.random() < luck])
        return bytes(content)


def _sectors(call: Call) -> range:
    """Return the sectors of a write."""
    return range(call.at // SECTOR, -(-(call.at + call.size) // SECTOR))


def _apply(content: bytearray, call: Call, sectors: Sequence[int]) -> None:
    """Apply a call to the content, limited to these sectors."""
    if call.kind == "truncate":
        del content[call.at :]
        _reach(content, call.at)
        return
    for sector in sectors:
        start, end = max(call.at, sector * SECTOR), min(call.at + call.size, (sector + 1) * SECTOR)
        _reach(content, end)
        content[start:end] = call.content[start - call.at : end - call.at]


def _reach(content: bytearray, size: int) -> None:
    content.extend(bytes(max(0, size - len(content))))


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a file system of `size` bytes in memory."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=False)
    if mounted.returncode != 0:
        pytest.skip("needs permission to mount a file system in memory")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
