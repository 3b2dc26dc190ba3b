"""One connection to a collection: its address, statements, transactions and errors."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors, pq
from psycopg.adapt import Dumper, Loader
from psycopg.types import TypeInfo

from recall_core import deadline, installing
from recall_core._lazy import np, urls
from recall_core.config import BUSY_TIMEOUT_MS, MEMORY_MB
from recall_core.errors import Interrupted, RecallError, StoreError, StoreLocked, TimedOut, UsageError
from recall_core.named import NamedTuple
from recall_core.shell import Hint
from recall_core.store.one_thread import ThreadGuard
from recall_core.store.postgres.schema import SCHEMA_VERSION, make

CONNECT_SECONDS = 10
_CANCEL_SECONDS = 2.0
"""How long the server may take to accept that a statement is cancelled, before its connection is dropped."""
OLDEST_SERVER = 14
OLDEST_VECTOR = (0, 8)
"""The first pgvector whose index scans go on until enough rows pass a filter."""
_LONGEST_NAME = 56
"""Bytes of a collection's name: Postgres cuts names of schemas at 63 bytes, and ours begin with `recall_`."""
_URL = "postgresql://HOST/DATABASE?collection=NAME"
_INTERRUPTED = "interrupted", "The query was interrupted."
_INSTALL = "CREATE EXTENSION vector"


Result = TypeVar("Result")


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that cancels the running statement at the deadline, or when the caller is cancelled."""

    def wait(self, gen: Generator[Any, Any, Result], *limits: Any, **named: Any) -> Result:
        """Wait for a statement. psycopg looks at it every 0.1 s."""
        done: Result = super().wait(self._limit(gen) if deadline.is_set() else gen, *limits, **named)
        return done

    def _limit(self, statement: Generator[Any, Any, Result]) -> Generator[Any, Any, Result]:
        is_cancelled = not deadline.seconds_left()  # then it is a rollback
        try:
            wanted = next(statement)
            while True:
                ready = yield wanted
                if not (is_cancelled or deadline.seconds_left()):
                    is_cancelled = True
                    self._cancel_or_finish()
                wanted = statement.send(ready)
        except StopIteration as end:
            result: Result = end.value
            return result

    def _cancel_or_finish(self) -> None:
        try:
            self.cancel_safe(timeout=_CANCEL_SECONDS)
        except psycopg.Error:  # the server is out of reach, and the statement would wait for it
            self.pgconn.finish()
            deadline.check()


class Address(NamedTuple):
    """Where a collection is. path: as answers name it, without the password. quoted: the schema as SQL spells it."""

    conninfo: str
    path: str
    schema: str
    quoted: str
    where: str


_with_passwords: dict[str, str] = {}
"""Path to the URL that opened it, so that other threads of this process can open it by its path."""


def address_of(where: str) -> Address:
    """Read `//USER:PASSWORD@HOST/DATABASE?collection=NAME`. Raises UsageError `bad_store_url`."""
    where = _with_passwords.get(f"postgresql:{where}", where)
    try:
        parts = urls.urlsplit(f"postgresql:{where}")
        given = urls.parse_qsl(parts.query, keep_blank_values=True, errors="strict")
        collection = dict(given).get("collection", "recall")
        if not where.startswith("//") or "\0" in where or not 0 < len(collection.encode()) <= _LONGEST_NAME:
            raise ValueError
    except ValueError as error:
        message = f"The URL does not name a collection of at most {_LONGEST_NAME} bytes."
        raise UsageError("bad_store_url", message, hint=_URL) from error
    rest = [(key, value) for key, value in given if key != "collection"]
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user.partition(':')[0]}@{host}" if user else host
    shown = [(key, value) for key, value in rest if key not in ("password", "sslpassword")]
    path = _spell(parts, netloc, [*shown, ("collection", collection)])
    schema = f"recall_{collection}"
    quoted = '"' + schema.replace('"', '""') + '"'
    return Address(_spell(parts, parts.netloc, rest), path, schema, quoted, where)


def _spell(parts: Any, netloc: str, query: Sequence[tuple[str, str]]) -> str:
    spelled = urls.urlencode(query, quote_via=urls.quote, safe="/")
    return str(urls.urlunsplit(parts._replace(netloc=netloc, query=spelled, fragment="")))


def connect(address: Address, *, is_new: bool = False) -> psycopg.Connection:
    """Open a connection and check the server. is_new: install pgvector if it is missing.

    Raises StoreError `server_refused`, `server_unreachable`, `server_unfit`, `pgvector_missing`.
    """
    try:
        db = LimitedConnection.connect(address.conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS)
    except psycopg.ProgrammingError:  # its message may quote the password
        message = f"{address.path} is not an address that libpq can read."
        raise UsageError("bad_store_url", message, hint=_URL) from None
    except psycopg.Error as error:
        _, is_refused, reason = str(error).rpartition("FATAL:")  # what a server says; libpq gives no code for it
        code, what = ("server_refused", "refuses") if is_refused else ("server_unreachable", "cannot be reached")
        reason = (reason.strip().splitlines() or ["no reason given"])[0]
        raise StoreError(code, f"The server of {address.path} {what}: {reason}.", hint="psql URL") from None
    try:
        with translated(address.path, db):
            _prepare(db, address, is_new=is_new)
    except BaseException:
        db.close()
        raise
    _with_passwords[address.path] = address.where
    return db


def _prepare(db: psycopg.Connection, address: Address, *, is_new: bool) -> None:
    """Check the server, set the search path, and read and write vectors as bytes."""
    server = db.info.server_version // 10_000
    encoding = db.info.parameter_status("server_encoding")
    if server < OLDEST_SERVER or encoding != "UTF8":
        message = f"{address.path} needs PostgreSQL {OLDEST_SERVER} with UTF8; this is {server} with {encoding}."
        raise StoreError("server_unfit", message, hint="CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0")
    sql = "SELECT e.extversion, e.extnamespace::regnamespace::text, t.oid::bigint FROM pg_extension e "
    sql += "JOIN pg_type t ON t.typname = 'vector' AND t.typnamespace = e.extnamespace WHERE e.extname = 'vector'"
    found = db.execute(sql).fetchone()
    if found is None and is_new:
        with suppress(psycopg.Error):
            db.execute(_INSTALL)
        found = db.execute(sql).fetchone()
    if found is None:
        message = f"The database of {address.path} has no pgvector."
        raise StoreError("pgvector_missing", message, hint=f"psql -c '{_INSTALL}'")
    version, namespace, oid = found
    if tuple(map(int, version.split(".")[:2])) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        message = f"The database of {address.path} has pgvector {version}, which is older than {oldest}."
        raise StoreError("pgvector_missing", message, hint="psql -c 'ALTER EXTENSION vector UPDATE'")
    db.execute("SELECT set_config('search_path', %s, false)", (f"{address.quoted}, {namespace}",))
    TypeInfo("vector", oid, 0).register(db)
    db.adapters.register_loader(oid, VectorLoader)
    db.adapters.register_dumper(VectorBytes, type("OwnDumper", (VectorDumper,), {"oid": oid}))


State = tuple[int, str, int]
"""Schema version, identity of the collection with its digest, and generation.

A promoted replica may lack the last commits, so two states of a collection can have one generation."""


class VectorBytes(bytes):
    """A vector as a parameter: little-endian float32."""


class VectorDumper(Dumper):
    """Writes a vector in pgvector's binary format: dimension, an unused number, big-endian float32."""

    format = pq.Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        """Return the binary form."""
        return (len(obj) // 4).to_bytes(2, "big") + b"\0\0" + np.frombuffer(obj, "<f4").astype(">f4").tobytes()


class VectorLoader(Loader):
    """Reads a vector from pgvector's binary format."""

    format = pq.Format.BINARY

    def load(self, data: Any) -> bytes:
        """Return little-endian float32."""
        return np.frombuffer(data, ">f4", offset=4).astype("<f4").tobytes()


@contextmanager
def translated(path: str, db: psycopg.Connection | None = None) -> Iterator[None]:
    """Report psycopg's errors in this block as RecallErrors. Messages quote no stored text."""
    try:
        yield
    except psycopg.Error as error:
        for kinds, kind, code, sentence, hint in _MEANINGS:
            if isinstance(error, kinds):
                raise kind(code, sentence.format(path=path), hint=hint) from error
        if (db is not None and db.closed) or (error.sqlstate or "08").startswith(_LOST):
            message = f"The connection to {path} is lost."
            raise StoreError("server_lost", message, hint="run it again") from error
        reason = error.diag.message_primary or type(error).__name__
        raise StoreError("store_failed", f"{path}: {reason}", hint=Hint("stats", store=path)) from error


_LOST = ("08", "57P", "25P03")
"""Beginnings of the codes of a lost connection, a server that ends, and one that ended an idle connection."""
_PRIMARY = "add target_session_attrs=read-write to its URL, and name a user who may write"
_MEANINGS: tuple[tuple[Any, type[RecallError], str, str, str], ...] = (
    (errors.DuplicateSchema, StoreError, "store_exists", "{path} already exists.", Hint("stats", store="URL")),
    (
        (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure),
        StoreLocked,
        "store_locked",
        "{path} is being written by another process.",
        "wait for it and try again",
    ),
    (
        (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege),
        StoreError,
        "read_only",
        "{path} cannot be written by this user on this server.",
        _PRIMARY,
    ),
    (
        errors.QueryCanceled,
        TimedOut,
        "timed_out",
        "The server of {path} stopped a statement that took too long for it.",
        "run it again, or add options=-cstatement_timeout%3D0 to the URL",
    ),
    (errors.DiskFull, StoreError, "disk_full", "The disk of {path} is full.", "df -h"),
    (
        (errors.UndefinedTable, errors.InvalidSchemaName),
        StoreError,
        "no_store",
        "There is no collection at {path}.",
        Hint("init", store="URL"),
    ),
    (
        (psycopg.DataError, errors.ProgramLimitExceeded),
        StoreError,
        "text_unstorable",
        "A text or a number cannot be stored in {path}, such as a text with a NUL, or a path or tag of 3,000 bytes.",
        "remove NUL characters from the text, and shorten long paths and tags",
    ),
)


class OpenCollection:
    """One connection to one collection; use one in each thread. Raises RecallErrors only."""

    def __init__(self, db: psycopg.Connection, address: Address) -> None:
        self.db = db
        self.path = address.path
        self.address = address
        self.guard = ThreadGuard(address.path)
        self.memory_mb = MEMORY_MB
        self.upgrade = ""
        self._is_ended = self._is_interrupted = False
        self._is_writing = False
        self._is_reading = False
        self._blocks = 0
        """Number of `reading` blocks so far."""
        self._record_read: tuple[Any, ...] | None = None
        """What was read about the collection since the last `reading` block began; used inside it."""
        self._own_commits = 0
        self._born = ""
        if not self.is_there():
            message = f"There is no collection at {self.path}."
            raise StoreError("no_store", message, hint=Hint("init", store=self.path))
        self._born, version = self.execute("SELECT born, schema_version FROM store")[0]
        if version > SCHEMA_VERSION:
            message = (
                f"{self.path} was written by a newer Recall (schema {version}, this one reads {SCHEMA_VERSION})."
            )
            raise StoreError("schema_newer", message, hint=installing.upgrade())

    @property
    def writable(self) -> bool:
        """False on a replica, until it is promoted."""
        return not self.execute("SELECT pg_is_in_recovery()")[0][0]

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return every row of one statement. Errors become RecallErrors."""
        with self.guard.turn(), self.translated():
            if self._is_ended:
                raise Interrupted(*_INTERRUPTED, hint="run it again")
            deadline.check()
            try:
                cursor = self.db.execute(sql.encode(), parameters, binary=True)
            except psycopg.OperationalError:
                if not self.db.broken or self._is_reading or self._is_writing:
                    raise
                self.db = connect(self.address)  # nothing depends on the lost connection
                cursor = self.db.execute(sql.encode(), parameters, binary=True)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Report psycopg's errors in this block as RecallErrors. Only `interrupt` raises Interrupted."""
        self._is_interrupted = False
        with translated(self.path, self.db):
            try:
                yield
            except errors.QueryCanceled as error:
                deadline.check()
                if self._is_interrupted:
                    raise Interrupted(*_INTERRUPTED, hint="run it again") from error
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the collection in this block."""
        with self.guard.turn():
            if self._is_reading or self._is_writing:
                yield
                return
            try:
                self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                self._is_reading, self._blocks = True, self._blocks + 1
                self._record_read = None  # of an older state, outside of blocks
                yield
            finally:
                self._is_reading = False
                self._roll_back()

    @contextmanager
    def writing(self) -> Generator[None, None, None]:
        """Open a write transaction, the only one in this collection.

        Raises StoreLocked, StoreError `read_only`, `store_replaced`; `server_lost` if nothing was written.
        """
        if not self.writable:
            message = f"{self.path} is a replica, which cannot be written."
            raise StoreError("read_only", message, hint=_PRIMARY)
        with self.guard.turn():
            try:
                self.execute("BEGIN")
                self._is_writing = True
                wait = int(min(BUSY_TIMEOUT_MS, 1 + deadline.seconds_left() * 1000))
                self.execute("SELECT set_config('lock_timeout', %s, true)", (str(wait),))
                self.execute(LOCK, (self.address.schema,))
                batch = self.execute(_ADVANCE, (self._born,))
                if not batch:
                    message = f"{self.path} was replaced while it was open; nothing was written."
                    raise StoreError("store_replaced", message, hint="open it again")
                yield
                self._commit(batch[0][0])
                self._own_commits += 1
            finally:
                self._is_writing = False
                self._roll_back()

    def _commit(self, batch: str) -> None:
        """Commit. If the connection is lost meanwhile, ask the server whether it did.

        batch: the transaction's number.
        """
        try:
            self.execute("COMMIT")
        except StoreError:
            if not self.db.broken:
                raise
            self.db = connect(self.address)
            with translated(self.path, self.db):
                self.db.execute(LOCK, (self.address.schema,))  # waits until the lost transaction has ended
                status = self.db.execute("SELECT pg_xact_status(%s::xid8)", (batch,)).fetchone()
            if status != ("committed",):
                raise

    def _roll_back(self) -> None:
        if self.db.info.transaction_status != pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):  # a lost connection has rolled back
                self.db.execute("ROLLBACK")

    def changes(self) -> int:
        """Return a number that changes after any other connection commits."""
        return int(self.execute("SELECT commits FROM store")[0][0]) - self._own_commits

    def fold(self, wait_ms: int = 0) -> bool:
        """Return True: the server keeps its own log."""
        return True

    def is_there(self) -> bool:
        """Return True if the collection exists."""
        return bool(self.execute(_IS_THERE, (self.address.schema,)))

    def is_replaced(self) -> bool:
        """Return True if the collection is gone or another one."""
        return not self.is_there() or bool(self.execute("SELECT 1 FROM store WHERE born <> %s", (self._born,)))

    def leave(self) -> None:
        """Do nothing: a collection has no files of its own."""

    def interrupt(self) -> None:
        """Abort the statement that runs in another thread."""
        self._is_interrupted = True
        if not self.db.closed:
            with suppress(psycopg.Error):
                self.db.cancel_safe()

    def end(self) -> None:
        """Abort the running statement, called from another thread, and every statement that follows."""
        self._is_ended = True
        self.interrupt()

    def close(self) -> None:
        """Close the connection. May be called twice."""
        with translated(self.path):
            self.db.close()

    def size_bytes(self) -> int:
        """Return the bytes of the collection's tables and indexes; the server's log is not counted."""
        return int(self.execute(_SIZE, (self.address.schema,))[0][0])


_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'
"""
_IS_THERE = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
_ADVANCE = "UPDATE store SET commits = commits + 1 WHERE born = %s RETURNING pg_current_xact_id()::text"
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def make_collection(address: Address, *, embedder: str, dimension: int, counter: str, chunker: str) -> None:
    """Make an empty collection, whole or not at all. Raises StoreError `store_exists`."""
    db = connect(address, is_new=True)
    try:
        with translated(address.path, db), db.transaction():
            db.execute(LOCK, (address.schema,))
            if db.execute(_IS_THERE, (address.schema,)).fetchone():
                hint = Hint("stats", store=address.path)
                raise StoreError("store_exists", f"{address.path} already exists.", hint=hint)
            db.execute(f"CREATE SCHEMA {address.quoted}".encode())
            make(db, embedder=embedder, dimension=dimension, counter=counter, chunker=chunker)
    finally:
        db.close()


def drop_collection(where: str) -> None:
    """Delete a collection, if it exists."""
    address = address_of(where)
    db = connect(address, is_new=True)
    try:
        with translated(address.path, db):
            db.execute(f"DROP SCHEMA IF EXISTS {address.quoted} CASCADE".encode())
    finally:
        db.close()


def unfinished(where: str) -> str:
    """Return where the collection `NAME.part` is."""
    address = address_of(where)
    rest = address.conninfo.removeprefix("postgresql:")
    name = urls.urlencode({"collection": f"{address.schema.removeprefix('recall_')}.part"}, quote_via=urls.quote)
    return f"{rest}{'&' if '?' in rest else '?'}{name}"


def publish(where: str) -> None:
    """Rename `NAME.part` to NAME. Raises StoreError `store_exists`."""
    address, part = address_of(where), address_of(unfinished(where))
    db = connect(address)
    try:
        with translated(address.path, db):
            db.execute(f"ALTER SCHEMA {part.quoted} RENAME TO {address.quoted}".encode())
    finally:
        db.close()
