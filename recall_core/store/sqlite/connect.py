"""Create and open database files, read their state, and translate SQLite's errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import apsw

import recall_core
from recall_core import caller, deadline, paths, shell
from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import Interrupted, RecallError, StoreCorrupt, StoreError, StoreLocked, why_unread
from recall_core.named import NamedTuple
from recall_core.shell import INSTALL, Hint
from recall_core.store import sqlite
from recall_core.store.sqlite import postings, schema
from recall_core.store.sqlite.compile import FUNCTIONS
from recall_core.store.sqlite.schema import APPLICATION_ID, MIGRATIONS, PAGE_SIZE, SCHEMA_VERSION, at_once, migrate

MEMORY = ":memory:"
_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX
_CREATE = _READ_WRITE | apsw.SQLITE_OPEN_CREATE
_UNREAD = (apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_CORRUPTFS)
_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX


def create(path: str, settings: Mapping[str, str], *, mode: int) -> apsw.Connection:
    """Create an empty store with these settings and return its connection. On failure leave no file.

    An empty file, left by a killed process, is reused. Raises StoreError `store_exists` if anything else is there.

    mode: mode of the file.
    """
    with translated(path), ExitStack() as waiting, ExitStack() as undo:
        if path != MEMORY:
            _reserve(path, mode, is_alone=waiting.enter_context(_alone(path)))
            undo.callback(discard, path)
        db = undo.enter_context(closing(_connection(path, _CREATE)))
        db.pragma("page_size", PAGE_SIZE)
        _prepare(db)
        db.pragma("journal_mode", "wal")
        with at_once(db):  # the file becomes a complete store or stays empty
            migrate(db, version=0)
            db.executemany("INSERT INTO meta(key, value) VALUES(?, ?)", settings.items())
        undo.pop_all()
    return db


@contextmanager
def _alone(path: str) -> Iterator[bool]:
    """Make other processes that create a store in this folder wait. Yield False if its disk has no locks."""
    folder: int | None
    try:
        folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    except OSError:
        folder = None  # creating the file reports the error, or works without a lock
    try:
        try:
            is_locked = folder is not None and sqlite.lock.lock_folder(folder, BUSY_TIMEOUT_MS / 1000)
        except TimeoutError:
            raise _locked_error(path) from None
        yield is_locked
    finally:
        if folder is not None:
            os.close(folder)


def discard(where: str) -> None:
    """Delete a store's files, as far as they exist."""
    real = os.path.realpath(where)
    for name in (real, *(f"{real}-{kind}" for kind in ("wal", "shm", "journal"))):
        with suppress(OSError):
            Path(name).unlink()


def _reserve(path: str, mode: int, *, is_alone: bool) -> None:
    """Create an empty file. Of two processes only one succeeds, and it deletes only its own file.

    is_alone: no other process is creating a store here, so an empty file is left over.
    """
    with reaching(Path(path)):
        if is_alone and _is_left_over(path):
            discard(path)
        try:
            # SQLite gives the log and the index the same mode.
            recall_core.files.make_private(Path(os.path.realpath(path)), mode)
        except FileExistsError as error:
            if Path(path).is_file() and not _is_store(path):
                message = f"{path} already exists and is not a Recall store."
                raise StoreError("store_exists", message, hint=_way_out(path)) from error
            hint = Hint("stats", store=path)
            raise StoreError("store_exists", f"{path} already exists.", hint=hint) from error


def _is_left_over(path: str) -> bool:
    """Return True if a process was killed while creating this store: the file and its log are empty."""
    if not Path(path).is_file() or _size(path) > PAGE_SIZE:
        return False
    if _size(path) == 0:
        return _size(f"{path}-wal") == 0
    try:
        db, _ = _open_best(path)
    except (apsw.Error, StoreError):
        return False
    with closing(db):
        return _is_blank(db)


def _is_blank(db: apsw.Connection) -> bool:
    """Return True if a database never contained anything."""
    marks = db.pragma("application_id"), db.pragma("user_version")
    return marks == (0, 0) and db.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]


def _size(path: str) -> int:
    """Return the size of a file, 0 if there is none."""
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0


def _is_store(path: str) -> bool:
    """Return False if the file is known not to be a store. An unreadable file may be one."""
    if _size(path) == 0:  # SQLite would delete its log
        return _size(f"{path}-wal") > 0
    try:
        db = _open_best(path)
    except apsw.NotADBError:
        return False
    except (apsw.Error, StoreError):
        return True
    try:
        return bool(db[0].pragma("application_id") == APPLICATION_ID)
    finally:
        db[0].close()


def _way_out(path: str) -> str:
    """Return the command that moves another file away and creates the store."""
    return f"mv {shell.quote(path)} {shell.quote(f'{path}.old')} && {_init(path)}"


def _init(path: str) -> Hint:
    """Return the command that creates a store in the folder of this file."""
    folder = Path(path).absolute().parent
    return Hint("init") if folder == caller.folder() else Hint("init", str(folder))


class Connected(NamedTuple):
    """An open connection to an existing store, whether it can write, and the upgrade made on opening, or ""."""

    db: apsw.Connection
    writable: bool
    upgrade: str


def connect(path: str) -> Connected:
    """Open an existing store. Upgrade it if its schema is older.

    Falls back to read-only if the media or permissions require it. Raises StoreError `no_store`, `schema_newer`,
    `store_needs_recovery`, `store_unreadable`; StoreCorrupt; StoreLocked.
    """
    with reaching(Path(path)):
        is_there = Path(path).is_file()
        has_log = is_there and _size(f"{path}-wal") > 0  # asked first: another process may be creating the store
        is_empty = is_there and _size(path) == 0
    if not is_there:
        raise StoreError("no_store", f"There is no store at {path}.", hint=Hint("init", path))
    if is_empty and has_log:
        raise damage_error(path, "it is empty but its log is not")
    if is_empty:  # SQLite would delete the log or journal of a process that is creating the store
        raise unmade(path)
    with translated(path):
        db, writable = _open_best(path)
        try:
            _prepare(db)
            upgrade = _check_version(db, path, writable=writable)
        except BaseException:
            db.close()
            raise
    return Connected(db, writable, upgrade)


def unmade(path: str) -> StoreError:
    """Return the error for a file in which no store was created yet."""
    message = f"{path} is not a store yet: an interrupted init left it empty."
    return StoreError("no_store", message, hint=_init(path))


def _open_best(path: str) -> tuple[apsw.Connection, bool]:
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
                raise  # no other mode can read it either
            continue
        return db, writable and not db.readonly("main")
    return _open_immutable(path), False


def _read_once(name: str, flags: int) -> apsw.Connection:
    """Return a connection that has read from the file; opening alone does not read."""
    db = _connection(name, flags)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _connection(name: str, flags: int) -> apsw.Connection:
    """Return a connection that waits for others from its first statement on, because closing a store locks it
    briefly."""
    db = apsw.Connection(name, flags=flags)
    db.set_busy_timeout(busy_timeout_ms())
    return db


def busy_timeout_ms() -> int:
    """Return how long to wait for another process: never past the deadline."""
    return int(min(BUSY_TIMEOUT_MS, 1 + deadline.seconds_left() * 1000))


def _open_immutable(path: str) -> apsw.Connection:
    """Open a store on read-only media, which cannot have a WAL index. Ignoring a log would miss committed rows."""
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size > 0:
        raise StoreError(
            "store_needs_recovery",
            f"{path} has unfinished changes in {wal.name}, and its folder is not writable.",
            hint=f"copy {path} and {wal.name} to a writable folder and open it there",
        )
    try:
        return _connection(_uri(path) + "?immutable=1", _READ_ONLY)
    except apsw.CantOpenError as error:
        raise StoreError("store_unreadable", f"{path} cannot be opened: {error}", hint=f"ls -l {path}") from error


def _uri(path: str) -> str:
    return "file:" + quote(os.fsencode(Path(path).absolute()))


def _prepare(db: apsw.Connection) -> None:
    db.pragma("foreign_keys", True)  # no mmap_size: a truncated file would end the process by SIGBUS
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_scalar_function(name, function, arguments, deterministic=True)
    db.execute("SELECT 1 FROM sqlite_schema").fetchone()  # else a failing disk would look like a missing FTS5
    postings.register(db)


def _check_version(db: apsw.Connection, path: str, *, writable: bool) -> str:
    """Check the schema version and upgrade an older store. Return the message about the upgrade, or ""."""
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
        raise StoreError("schema_older", f"{path} needs an upgrade but cannot be written.", hint=f"ls -l {path}")
    for since, view in schema.AS_NEWER.items():
        if version < since:
            db.execute(view)
    return ""


def _upgrade(db: apsw.Connection, path: str) -> str:
    """Upgrade the store and return a message about it. Of several processes, one upgrades and the others wait."""
    with at_once(db):
        version = db.pragma("user_version")
        copy = f"{path}.bak-schema-{version}"
        if version < SCHEMA_VERSION:
            with closing(_connection(_uri(path), _READ_WRITE)) as reader:
                backup(reader, copy)
            migrate(db, version=version, steps=MIGRATIONS)
    if version == SCHEMA_VERSION:
        return ""
    return f"{path} was upgraded from schema {version} to {SCHEMA_VERSION}; the old file is {copy}"


def backup(db: apsw.Connection, path: str) -> None:
    """Write a consistent copy of the whole store to a private file. Replace an older copy of that name."""
    with reaching(Path(path)):
        Path(path).unlink(missing_ok=True)
        recall_core.files.make_private(Path(path), paths.PRIVATE)  # VACUUM INTO accepts an empty file
    db.execute("VACUUM INTO ?", (path,))


def load_vector_functions(db: apsw.Connection) -> None:
    """Load sqlite-vec's functions into this connection.

    The library is values without importing its package, which would import NumPy.
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
    """Raise StoreError `store_unreadable` if a file operation in this block is not allowed or fails."""
    try:
        yield
    except OSError as error:
        hint = f"ls -ld {shell.quote(str(path.parent))}"
        raise StoreError("store_unreadable", f"{path}: {why_unread(error)}.", hint=hint) from error


class _AboutFile:
    """A block whose errors name a file. A class, because a generator would slow down every statement."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""


class translated(_AboutFile):  # noqa: N801 - read as a verb
    """Turns SQLite's errors in this block into RecallErrors that name the file."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise a RecallError instead of SQLite's error."""
        if error is None:
            return
        if isinstance(error, apsw.Error):
            raise _meaning(error, self._path) from error
        if isinstance(error, UnicodeDecodeError):
            raise damage_error(self._path, f"a stored text is not valid UTF-8: {error}") from error


class making_sense(_AboutFile):  # noqa: N801 - as above
    """Reports rows that cannot be turned into values in this block as damage."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise StoreCorrupt instead of a conversion error."""
        if isinstance(error, ValueError | TypeError | LookupError | OverflowError):
            raise damage_error(self._path, f"{type(error).__name__}: {error}") from error


def damage_error(path: str, how: str) -> StoreCorrupt:
    """Return the error for a file whose content is not what was stored."""
    return StoreCorrupt("store_corrupt", f"{path} is damaged: {how}", hint=Hint("doctor", store=path))


def _meaning(error: apsw.Error, path: str) -> RecallError:
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        deadline.check()
        return _locked_error(path)
    if _BLOB in str(error):
        return damage_error(path, "a stored text is binary data")
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        error = apsw.FullError()  # no space for the index of the log
    for kinds, kind, code, sentence, hint in _MEANINGS:
        if isinstance(error, kinds):
            return kind(code, sentence.format(path=path, error=error), hint=hint(path))
    return StoreError("store_failed", f"{path}: {error}", hint=Hint("doctor", store=path))


def _of_folder(command: str) -> Callable[[str], str]:
    return lambda path: f"{command} {shell.quote(str(Path(path).parent))}"


_BLOB = "JSON cannot hold BLOB"
"""SQLite's message when a list of texts contains a value that is not text."""

_Kinds: TypeAlias = type[apsw.Error] | tuple[type[apsw.Error], ...]

_MEANINGS: tuple[tuple[_Kinds, type[RecallError], str, str, Callable[[str], str]], ...] = (
    (apsw.InterruptError, Interrupted, "interrupted", "The query was interrupted.", lambda _: "run it again"),
    (
        apsw.CorruptError,
        StoreCorrupt,
        "store_corrupt",
        "{path} is damaged: {error}",
        lambda path: Hint("doctor", store=path),
    ),
    (apsw.NotADBError, StoreCorrupt, "not_a_store", "{path} is not a Recall store.", _way_out),
    (
        apsw.IOError,
        StoreError,
        "io_error",
        "{path}: the disk failed ({error}); the stored data may still be intact.",
        _of_folder("df"),
    ),
    (apsw.FullError, StoreError, "disk_full", "The disk of {path} is full.", _of_folder("df -h")),
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
"""The generation, the sum of the documents' digests, and SQLite's schema version, which changes if another store is
put into the file."""

FileId: TypeAlias = tuple[int, int]
"""Device and inode."""


STATE = """
SELECT key, value FROM meta WHERE key IN ('generation', 'digest_sum')
UNION ALL SELECT 'schema_version', schema_version FROM pragma_schema_version
"""


def state_of(rows: Sequence[tuple[Any, ...]]) -> State:
    """Return the state from the rows of STATE."""
    values: dict[str, Any] = dict(rows)
    return int(values["generation"]), str(values["digest_sum"]), int(values["schema_version"])


def file_at(path: str) -> FileId | None:
    """Return the identity of the file at this path, or None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - called at every transaction
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
