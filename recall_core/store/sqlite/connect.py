"""Opening a database file: every way in, and what SQLite's failures mean to a person."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import apsw

from recall_core import paths, shell
from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import Interrupted, RecallError, StoreCorrupt, StoreError, StoreLocked, why_unread
from recall_core.shell import INSTALL, Hint
from recall_core.store.sqlite.compile import FUNCTIONS
from recall_core.store.sqlite.lock import holder
from recall_core.store.sqlite.schema import APPLICATION_ID, MIGRATIONS, PAGE_SIZE, SCHEMA_VERSION, migrate

MEMORY = ":memory:"
_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX
_CREATE = _READ_WRITE | apsw.SQLITE_OPEN_CREATE
_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX


@contextmanager
def creating(path: str, mode: int) -> Iterator[apsw.Connection]:
    """A new, empty store at this path, and the time to fill it: what fails until then leaves no file behind.

    mode: of its file. The connection stays open. Raises StoreError `store_exists` when something is there already.
    """
    with translated(path), ExitStack() as undo:
        if path != MEMORY:
            _reserve(path, mode)
            undo.callback(discard, path)
        db = undo.enter_context(closing(_connection(path, _CREATE)))
        db.pragma("page_size", PAGE_SIZE)
        _prepare(db)
        db.pragma("journal_mode", "wal")
        migrate(db, version=0)
        yield db
        undo.pop_all()


def discard(path: str) -> None:
    """Take a store's files away, as far as they are there."""
    real = os.path.realpath(path)
    for name in (real, *(f"{real}-{kind}" for kind in ("wal", "shm", "journal"))):
        with suppress(OSError):
            Path(name).unlink()


def _reserve(path: str, mode: int) -> None:
    """Make the file, still empty: of two processes one makes the store, and takes away only what it made itself."""
    with reaching(Path(path)):
        try:
            paths.make_private(Path(os.path.realpath(path)), mode)  # SQLite gives its log and index the same
        except FileExistsError as error:
            raise _exists(path) from error


def _exists(path: str) -> StoreError:
    if Path(path).is_file() and not _is_store(path):
        return StoreError("store_exists", f"{path} exists already and is not a Recall store.", hint=_way_out(path))
    return StoreError("store_exists", f"{path} exists already.", hint=Hint("stats", store=path))


def _is_store(path: str) -> bool:
    """False where the file is known to be none; one that cannot be read just now may be one."""
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
    """What makes room for a store where another file stands."""
    file = Path(path).absolute()
    elsewhere = [] if file.parent == paths.known() else [str(file.parent)]
    return f"mv {shell.quote(path)} {shell.quote(f'{path}.old')} && {Hint('init', *elsewhere)}"


def connect(path: str) -> tuple[apsw.Connection, bool]:
    """An open connection to an existing store, and whether it can write.

    Falls back to read-only where the media or its permissions demand it. Raises StoreError `no_store`,
    `schema_newer`, `store_needs_recovery`, `store_unreadable`; StoreCorrupt; StoreLocked.
    """
    with reaching(Path(path)):
        is_there = Path(path).is_file()
    if not is_there:
        raise StoreError("no_store", f"There is no store at {path}.", hint=Hint("init"))
    with translated(path):
        db, writable = _open_somehow(path)
        try:
            _prepare(db)
            _check_version(db, path, writable=writable)
        except BaseException:
            db.close()
            raise
    return db, writable


def _open_somehow(path: str) -> tuple[apsw.Connection, bool]:
    for flags, query, writable in (
        (_READ_WRITE, "", True),
        (_READ_ONLY, "?mode=ro", False),
    ):
        try:
            db = _read_once(_uri(path) + query, flags)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError, apsw.IOError):
            continue
        return db, writable and not db.readonly("main")
    return _open_immutable(path), False


def _read_once(name: str, flags: int) -> apsw.Connection:
    """A connection that has reached the file: opening alone does not."""
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
    db.set_busy_timeout(BUSY_TIMEOUT_MS)
    return db


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
    return "file:" + quote(str(Path(path).absolute()))


def _prepare(db: apsw.Connection) -> None:
    db.pragma("foreign_keys", True)
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_scalar_function(name, function, arguments, deterministic=True)


def _check_version(db: apsw.Connection, path: str, *, writable: bool) -> None:
    version = db.pragma("user_version")
    if db.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt("not_a_store", f"{path} is not a Recall store.", hint=_way_out(path))
    if version > SCHEMA_VERSION:
        raise StoreError(
            "schema_newer",
            f"{path} was written by a newer Recall (schema {version}, this one reads {SCHEMA_VERSION}).",
            hint=Hint(INSTALL, "recall-tui", upgrade=True),
        )
    if version < SCHEMA_VERSION:
        if not writable:
            raise StoreError("schema_older", f"{path} needs an upgrade and cannot be written.", hint=f"ls -l {path}")
        backup(db, f"{path}.bak-schema-{version}")
        migrate(db, version=version, steps=MIGRATIONS)


def backup(db: apsw.Connection, path: str) -> None:
    """A consistent copy of the whole store in a private file of its own; an older copy of that name is replaced."""
    with reaching(Path(path)):
        Path(path).unlink(missing_ok=True)
        paths.make_private(Path(path))  # VACUUM INTO takes a file that is empty
    db.execute("VACUUM INTO ?", (path,))


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


@contextmanager
def translated(path: str) -> Iterator[None]:
    """SQLite's failures inside this block become RecallErrors that name the file."""
    try:
        yield
    except apsw.Error as error:
        raise _meaning(error, path) from error
    except UnicodeDecodeError as error:
        raise damaged(path, f"a text in it is no text: {error}") from error


class making_sense:  # noqa: N801 - read as a verb; a generator would cost every row of an answer
    """Rows that were read become values inside this block; what cannot be one is damage."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raises StoreCorrupt in the place of what a value could not be made of."""
        if isinstance(error, ValueError | TypeError | LookupError | OverflowError):
            raise damaged(self._path, f"{type(error).__name__}: {error}") from error


def damaged(path: str, how: str) -> StoreCorrupt:
    """The error of a file whose content is not what was stored."""
    return StoreCorrupt("store_corrupt", f"{path} is damaged: {how}", hint=_examine(path))


def _meaning(error: apsw.Error, path: str) -> RecallError:
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return _locked(path)
    for kinds, kind, code, sentence, hint in _MEANINGS:
        if isinstance(error, kinds):
            return kind(code, sentence.format(path=path, error=error), hint=hint(path))
    return StoreError("store_failed", f"{path}: {error}", hint=_examine(path))


def _examine(path: str) -> Hint:
    return Hint("doctor", store=path)


def _of_folder(command: str) -> Callable[[str], str]:
    return lambda path: f"{command} {shell.quote(str(Path(path).parent))}"


_Kinds: TypeAlias = type[apsw.Error] | tuple[type[apsw.Error], ...]

_MEANINGS: tuple[tuple[_Kinds, type[RecallError], str, str, Callable[[str], str]], ...] = (
    (apsw.InterruptError, Interrupted, "interrupted", "The query was interrupted.", lambda _: "run it again"),
    (apsw.CorruptError, StoreCorrupt, "store_corrupt", "{path} is damaged: {error}", _examine),
    (apsw.NotADBError, StoreCorrupt, "not_a_store", "{path} is not a Recall store.", _way_out),
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


def _locked(path: str) -> StoreLocked:
    pid = holder(path)
    return StoreLocked(
        "store_locked",
        f"{path} is being written by {f'process {pid}' if pid else 'another process'}.",
        hint=f"wait for it, or: ps -p {pid}" if pid else "wait for it and try again",
        details={"pid": pid},
    )
