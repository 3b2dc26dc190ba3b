"""Opening a database file: every way in, its state, and what SQLite's failures mean to a person."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import apsw

import recall_core
from recall_core import deadline, paths, shell
from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import Interrupted, RecallError, StoreCorrupt, StoreError, StoreLocked, why_unread
from recall_core.named import NamedTuple
from recall_core.shell import INSTALL, Hint
from recall_core.store import sqlite
from recall_core.store.sqlite import postings, schema
from recall_core.store.sqlite.compile import FUNCTIONS
from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.schema import APPLICATION_ID, MIGRATIONS, PAGE_SIZE, SCHEMA_VERSION, at_once, migrate

MEMORY = ":memory:"
_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX
_CREATE = _READ_WRITE | apsw.SQLITE_OPEN_CREATE
_UNREAD = (apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_CORRUPTFS)
_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX


def create(path: str, settings: Mapping[str, str], *, mode: int) -> apsw.Connection:
    """Return a connection to a new, empty store with these settings: what fails leaves no file behind.

    mode: of its file. An empty file, as whoever is killed here leaves it, is taken over. Raises StoreError
    `store_exists` when something else is there already.
    """
    with translated(path), ExitStack() as waiting, ExitStack() as undo:
        if path != MEMORY:
            _reserve(path, mode, is_alone=waiting.enter_context(_alone(path)))
            undo.callback(discard, path)
        db = undo.enter_context(closing(_connection(path, _CREATE)))
        db.pragma("page_size", PAGE_SIZE)
        _prepare(db)
        db.pragma("journal_mode", "wal")
        with at_once(db):  # the file is a store, or nothing is in it
            migrate(db, version=0)
            db.executemany("INSERT INTO meta(key, value) VALUES(?, ?)", settings.items())
        undo.pop_all()
    return db


@contextmanager
def _alone(path: str) -> Iterator[bool]:
    """Others who make a store in the same folder wait meanwhile; False where its disk has no lock for that."""
    folder: int | None
    try:
        folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    except OSError:
        folder = None  # making the file says why, or can do without
    try:
        try:
            is_locked = folder is not None and sqlite.lock.lock_folder(folder, BUSY_TIMEOUT_MS / 1000)
        except TimeoutError:
            raise _locked_error(path) from None
        yield is_locked
    finally:
        if folder is not None:
            os.close(folder)


def discard(path: str) -> None:
    """Take a store's files away, as far as they are there."""
    real = os.path.realpath(path)
    for name in (real, *(f"{real}-{kind}" for kind in ("wal", "shm", "journal"))):
        with suppress(OSError):
            Path(name).unlink()


def _reserve(path: str, mode: int, *, is_alone: bool) -> None:
    """Make the file, still empty: of two processes one makes the store, and takes away only what it made itself.

    is_alone: nobody else makes one, so that a file with nothing in it is left over.
    """
    with reaching(Path(path)):
        if is_alone and _is_left_over(path):
            discard(path)
        try:
            _make_private(os.path.realpath(path), mode)  # SQLite gives its log and index the same
        except FileExistsError as error:
            raise _exists(path) from error


def _is_left_over(path: str) -> bool:
    """Whether somebody was killed while making a store of this file, so that nothing is in it, nor in its log."""
    if not Path(path).is_file() or _size(path) > PAGE_SIZE:
        return False
    if _size(path) == 0:
        return _size(f"{path}-wal") == 0
    try:
        db, _ = _open_somehow(path)
    except (apsw.Error, StoreError):
        return False
    with closing(db):
        return _is_blank(db)


def _is_blank(db: apsw.Connection) -> bool:
    """Return True if a database never held anything."""
    marks = db.pragma("application_id"), db.pragma("user_version")
    return marks == (0, 0) and db.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]


def _size(path: str) -> int:
    """0 where no file is."""
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0


def _exists(path: str) -> StoreError:
    if Path(path).is_file() and not _is_store(path):
        return StoreError("store_exists", f"{path} exists already and is not a Recall store.", hint=_way_out(path))
    return StoreError("store_exists", f"{path} exists already.", hint=Hint("stats", store=path))


def _is_store(path: str) -> bool:
    """Return False if the file is known to be none; one that cannot be read just now may be one."""
    if _size(path) == 0:  # SQLite would take its log away
        return _size(f"{path}-wal") > 0
    try:
        db = _open_somehow(path)
    except apsw.NotADBError:
        return False
    except (apsw.Error, StoreError):
        return True
    try:
        return bool(db[0].pragma("application_id") == APPLICATION_ID)
    finally:
        db[0].close()


def _way_out(path: str) -> str:
    """Return what makes room for a store where another file stands."""
    return f"mv {shell.quote(path)} {shell.quote(f'{path}.old')} && {_init(path)}"


def _init(path: str) -> Hint:
    """Return what makes a store in the folder of this file."""
    folder = Path(path).absolute().parent
    return Hint("init") if folder == paths.known() else Hint("init", str(folder))


class Connected(NamedTuple):
    """An open connection to an existing store, whether it can write, and what opening it has changed, or ""."""

    db: apsw.Connection
    writable: bool
    upgrade: str


def connect(path: str) -> Connected:
    """Return an open connection to an existing store, of the schema before this one too: that one is upgraded.

    Falls back to read-only where the media or its permissions demand it. Raises StoreError `no_store`,
    `schema_newer`, `store_needs_recovery`, `store_unreadable`; StoreCorrupt; StoreLocked.
    """
    with reaching(Path(path)):
        is_there = Path(path).is_file()
        is_emptied = is_there and _size(path) == 0 < _size(f"{path}-wal")
    if not is_there:
        raise StoreError("no_store", f"There is no store at {path}.", hint=Hint("init", path))
    if is_emptied:  # SQLite would take the log away
        raise damage_error(path, "it is empty, and its log is not")
    with translated(path):
        db, writable = _open_somehow(path)
        try:
            _prepare(db)
            upgrade = _check_version(db, path, writable=writable)
        except BaseException:
            db.close()
            raise
    return Connected(db, writable, upgrade)


def unmade(path: str) -> StoreError:
    """Return the error of a file in which no store was made yet."""
    message = f"{path} is no store yet: nothing is in it, as an init leaves it that was interrupted."
    return StoreError("no_store", message, hint=_init(path))


def _open_somehow(path: str) -> tuple[apsw.Connection, bool]:
    for flags, query, writable in (
        (_READ_WRITE, "", True),
        (_READ_ONLY, "?mode=ro", False),
    ):
        try:
            db = _read_once(_uri(path) + query, flags)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError):
            continue
        except apsw.IOError as error:
            if getattr(error, "extendedresult", 0) in _UNREAD:
                raise  # no other way reads it either
            continue
        return db, writable and not db.readonly("main")
    return _open_immutable(path), False


def _read_once(name: str, flags: int) -> apsw.Connection:
    """Return a connection that has reached the file: opening alone does not."""
    db = _connection(name, flags)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _connection(name: str, flags: int) -> apsw.Connection:
    """A connection that waits for others from its first statement on: who closes a store locks it for a moment."""
    db = apsw.Connection(name, flags=flags)
    db.set_busy_timeout(busy_timeout_ms())
    return db


def busy_timeout_ms() -> int:
    """Return how long another process is waited for: never past the deadline, if there is one."""
    return int(min(BUSY_TIMEOUT_MS, 1 + deadline.seconds_left() * 1000))


def _open_immutable(path: str) -> apsw.Connection:
    """Read-only media cannot hold the WAL index. Ignoring a log with content would miss committed rows."""
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size > 0:
        raise StoreError(
            "store_needs_recovery",
            f"{path} has unfinished work in {wal.name} and lies where it cannot be finished.",
            hint=f"copy {path} and {wal.name} to a writable folder and open it there",
        )
    try:
        return _connection(_uri(path) + "?immutable=1", _READ_ONLY)
    except apsw.CantOpenError as error:
        raise StoreError("store_unreadable", f"{path} cannot be opened: {error}", hint=f"ls -l {path}") from error


def _uri(path: str) -> str:
    return "file:" + quote(os.fsencode(Path(path).absolute()))


def _prepare(db: apsw.Connection) -> None:
    db.pragma("foreign_keys", True)  # and no mmap_size: a file that is cut short would end the process by SIGBUS
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_scalar_function(name, function, arguments, deterministic=True)
    db.execute("SELECT 1 FROM sqlite_schema").fetchone()  # or a failing disk would pass for a missing FTS5
    postings.register(db)


def _check_version(db: apsw.Connection, path: str, *, writable: bool) -> str:
    """Return what is to be told of the upgrade that the store needed, or ""."""
    version = db.pragma("user_version")
    if db.pragma("application_id") != APPLICATION_ID:
        if _is_blank(db):
            raise unmade(path)
        raise StoreCorrupt("not_a_store", f"{path} is not a Recall store.", hint=_way_out(path))
    if version > SCHEMA_VERSION:
        message = f"{path} was written by a newer Recall (schema {version}, this one reads {SCHEMA_VERSION})."
        raise StoreError("schema_newer", message, hint=recall_core.installing.upgrade())
    if version == SCHEMA_VERSION:
        return ""
    if writable:
        return _upgrade(db, path)
    if version < schema.READABLE_VERSION:
        raise StoreError("schema_older", f"{path} needs an upgrade and cannot be written.", hint=f"ls -l {path}")
    for since, view in schema.AS_NEWER.items():
        if version < since:
            db.execute(view)
    return ""


def _upgrade(db: apsw.Connection, path: str) -> str:
    """What is to be told of an upgrade; of several processes that want it one makes it, and the others wait."""
    with at_once(db):
        version = db.pragma("user_version")
        copy = f"{path}.bak-schema-{version}"
        if version < SCHEMA_VERSION:
            with closing(_connection(_uri(path), _READ_WRITE)) as reader:
                backup(reader, copy)
            migrate(db, version=version, steps=MIGRATIONS)
    if version == SCHEMA_VERSION:
        return ""
    return f"{path} was brought from schema {version} to {SCHEMA_VERSION}; as it was it lies in {copy}"


def backup(db: apsw.Connection, path: str) -> None:
    """A consistent copy of the whole store in a private file of its own; an older copy of that name is replaced."""
    with reaching(Path(path)):
        Path(path).unlink(missing_ok=True)
        _make_private(path, paths.PRIVATE)  # VACUUM INTO takes a file that is empty
    db.execute("VACUUM INTO ?", (path,))


def _make_private(path: str, mode: int) -> None:
    recall_core.files.make_private(Path(path), mode)


def load_vector_functions(db: apsw.Connection) -> None:
    """Make sqlite-vec's functions available on this connection.

    The library file is found without importing its package, which would import NumPy.
    """
    spec = find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise StoreError(
            "sqlite_vec_missing", "The sqlite-vec package is not installed.", hint=Hint(INSTALL, "sqlite-vec")
        )
    db.enable_load_extension(True)
    db.load_extension(str(Path(spec.origin).parent / "vec0"))
    db.enable_load_extension(False)


@contextmanager
def reaching(path: Path) -> Iterator[None]:
    """Looking whether a file is there: raises StoreError `store_unreadable` where that is not allowed, or fails."""
    try:
        yield
    except OSError as error:
        hint = f"ls -ld {shell.quote(str(path.parent))}"
        raise StoreError("store_unreadable", f"{path}: {why_unread(error)}.", hint=hint) from error


class translated:  # noqa: N801 - read as a verb; a generator would cost every statement of an answer
    """SQLite's failures inside this block become RecallErrors that name the file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raises a RecallError in the place of SQLite's."""
        if error is None:
            return
        if isinstance(error, apsw.Error):
            raise _meaning(error, self._path) from error
        if isinstance(error, UnicodeDecodeError):
            raise damage_error(self._path, f"a text in it is no text: {error}") from error


class making_sense:  # noqa: N801 - as above
    """Rows that were read become values inside this block; what cannot be one is damage."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raises StoreCorrupt in the place of what a value could not be made of."""
        if isinstance(error, ValueError | TypeError | LookupError | OverflowError):
            raise damage_error(self._path, f"{type(error).__name__}: {error}") from error


def damage_error(path: str, how: str) -> StoreCorrupt:
    """Return the error of a file whose content is not what was stored."""
    return StoreCorrupt("store_corrupt", f"{path} is damaged: {how}", hint=_examine(path))


def _meaning(error: apsw.Error, path: str) -> RecallError:
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        deadline.check()
        return _locked_error(path)
    if _BLOB in str(error):
        return damage_error(path, "a text in it is none any more")
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        error = apsw.FullError()  # the index of the log found no room
    for kinds, kind, code, sentence, hint in _MEANINGS:
        if isinstance(error, kinds):
            return kind(code, sentence.format(path=path, error=error), hint=hint(path))
    return StoreError("store_failed", f"{path}: {error}", hint=_examine(path))


def _examine(path: str) -> Hint:
    return Hint("doctor", store=path)


def _of_folder(command: str) -> Callable[[str], str]:
    return lambda path: f"{command} {shell.quote(str(Path(path).parent))}"


_BLOB = "JSON cannot hold BLOB"
"""What SQLite says where texts are put into a list, and one of them is no text."""

_Kinds: TypeAlias = type[apsw.Error] | tuple[type[apsw.Error], ...]

_MEANINGS: tuple[tuple[_Kinds, type[RecallError], str, str, Callable[[str], str]], ...] = (
    (apsw.InterruptError, Interrupted, "interrupted", "The query was interrupted.", lambda _: "run it again"),
    (apsw.CorruptError, StoreCorrupt, "store_corrupt", "{path} is damaged: {error}", _examine),
    (apsw.NotADBError, StoreCorrupt, "not_a_store", "{path} is not a Recall store.", _way_out),
    (
        apsw.IOError,
        StoreError,
        "io_error",
        "{path}: the disk failed ({error}); what is stored may be whole.",
        _of_folder("df"),
    ),
    (apsw.FullError, StoreError, "disk_full", "The disk that holds {path} is full.", _of_folder("df -h")),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError),
        StoreError,
        "read_only",
        "{path} cannot be written.",
        lambda path: f"ls -l {shell.quote(path)}",
    ),
    (
        apsw.CantOpenError,
        StoreError,
        "store_unreadable",
        "{path} cannot be opened or created.",
        _of_folder("ls -ld"),
    ),
)


def _locked_error(path: str) -> StoreLocked:
    pid = sqlite.lock.holder(path)
    return StoreLocked(
        "store_locked",
        f"{path} is being written by {f'process {pid}' if pid else 'another process'}.",
        hint=f"wait for it, or: ps -p {pid}" if pid else "wait for it and try again",
        details={"pid": pid},
    )


State: TypeAlias = tuple[int, str, int]
"""The generation, the sum of the documents' digests, and, for a file in which another store was put, its tables' own
count of changes."""

FileId: TypeAlias = tuple[int, int]
"""Device and inode."""


def state_of(execute: Execute) -> State:
    """Return the state that a connection sees."""
    kept: dict[str, str] = dict(execute("SELECT key, value FROM meta WHERE key IN ('generation', 'digest_sum')"))
    return int(kept["generation"]), str(kept["digest_sum"]), int(execute("PRAGMA schema_version")[0][0])


def file_at(path: str) -> FileId | None:
    """Return what tells the file at this path from every other; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked at every transaction
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
