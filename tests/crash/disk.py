"""The disk as SQLite sees it, where every call can be written down, or fail; and what a power cut leaves of it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import apsw

from recall_core.paths import spelt

SECTOR = 512


class Call(NamedTuple):
    """Something that is done to a file. path: from the root; "" for a temporary file without a name.

    at: the offset of a read or write, the size after a truncation. content: what is written. other: its new name.
    `flush`, `rename`, `link` and `remove` are Python's, `at` the number of the open file that is flushed; the
    others are SQLite's. At a `told` nothing is done: a commit has been told, of the generation `at`.
    """

    kind: str
    path: str
    at: int = 0
    size: int = 0
    content: bytes = b""
    other: str = ""


Do = Callable[[], Any]
Act = Callable[[Call, Do], Any]
"""What comes between SQLite and the disk: it is given each call, and does it, or does not."""


@contextmanager
def disk(act: Act) -> Iterator[None]:
    """Within, each connection that is opened reaches its files through `act`, and so does Python, but to write."""
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
        """A failure that SQLite had no use for was made on purpose."""
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
    """Every call that changes what lies in a folder, SQLite's and our own, in order; not in folders within."""

    def __init__(self, base: Path) -> None:
        self.calls: list[Call] = []
        self._base = base
        self._of_sqlite: set[str] = set()
        self._own: dict[str, bytes] = self._files()

    def __call__(self, call: Call, do: Do) -> Any:
        """Do it, and write it down."""
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
        """A commit was told."""
        self.calls.append(Call("told", "", generation))

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Within, what SQLite and Python do to files is written down."""
        with disk(self):
            yield
        self._look()

    def _of_python(self, call: Call, do: Do) -> Any:
        self._look()  # what was written since is there by now, but not synced
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
        return path == str(self._base) or os.path.dirname(path) == str(self._base)  # noqa: PTH120 - asked at each call

    def _path_of(self, number: int) -> str:
        """Of an open file in the folder, or of the folder."""
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
        """Write down what our own files hold by now and did not before."""
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
        """Our own: all that SQLite has not opened, and is not its store."""
        files = (path for path in contents(self._base).items() if path[0] not in self._of_sqlite)
        store = str(self._base / "recall.db")
        return {path: content for path, content in files if path not in (store, f"{store}-wal", f"{store}-shm")}


def contents(base: Path) -> dict[str, bytes]:
    """Every file that lies in the folder itself, by path."""
    return {str(path): path.read_bytes() for path in base.iterdir() if path.is_file()}


def after_cut(start: dict[str, bytes], calls: Sequence[Call], rng: random.Random) -> dict[str, bytes]:
    """What lies on the disk when the power fails after these calls: by path, what each file holds.

    What was synced is there. Of what was not, each write is there, is lost, or is torn at the sectors, whatever came
    before and after it. Names are made, moved and taken away in order, up to some moment: not before the making of
    any file that was synced, nor before the folder was.
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
    """Of how many calls the names are those that are found: at least up to the making of the last file synced."""
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
    """One file: what is sure to be there, and what was written since."""

    def __init__(self, content: bytes) -> None:
        self.synced = bytearray(content)
        self.pending: list[Call] = []

    def sync(self) -> None:
        for call in self.pending:
            _apply(self.synced, call, _sectors(call))
        self.pending.clear()

    def after(self, rng: random.Random, luck: float) -> bytes:
        """luck: how likely it is that a write is there."""
        content = bytearray(self.synced)
        for call in self.pending:
            if rng.random() < luck:
                _apply(content, call, _sectors(call))
            elif call.kind == "write" and rng.random() < luck:
                _apply(content, call, [each for each in _sectors(call) if rng.random() < luck])
        return bytes(content)


def _sectors(call: Call) -> range:
    """Those that a write touches."""
    return range(call.at // SECTOR, -(-(call.at + call.size) // SECTOR))


def _apply(content: bytearray, call: Call, sectors: Sequence[int]) -> None:
    """Change the content as the call does, as far as it writes to these sectors."""
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
