"""recalld: answer the command lines of one person from open stores, over a local socket."""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from functools import partial
from io import TextIOBase
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock
from time import monotonic
from typing import Any, NamedTuple, cast

from recall_core import adapters, caller
from recall_core._lazy import traceback
from recall_core.adapters import cli
from recall_core.adapters.client import COMMANDS, IDENTITY, PROTOCOL, is_private, socket_path
from recall_core.adapters.flags import Request
from recall_core.adapters.mcp.offers import Limits
from recall_core.adapters.mcp.server import PendingCall, ProtocolError, RecallServer, Result, ServerSettings
from recall_core.adapters.streams import Streams
from recall_core.api.query_cache import QueryCache
from recall_core.api.recall import Recall
from recall_core.api.serving import (
    SECONDS,
    Asked,
    ConnectionPool,
    Follower,
    Models,
    StoreSettings,
    following_for,
)
from recall_core.api.stores import find
from recall_core.embed.trust import SYNC
from recall_core.errors import RecallError, TimedOut, UnknownTarget, UsageError

CALLERS = 32
"""Most connections at a time. More are closed at once, and their command lines run cold."""
LARGEST_REQUEST = 1 << 20
LARGEST_ANSWER = 64 << 20
"""Bytes of an answer. A command line with a longer one runs cold."""
REQUEST_SECONDS = 5.0
"""Time limit for a request to arrive, and for each piece of an answer to be taken."""
WAIT_SECONDS = 1.0
"""A query that has to wait longer for a connection runs cold. While one runs, its caller hears of it so often."""
QUERY_SECONDS = 86_400.0
"""The command line's own time limit is --timeout."""
_TIDY_SECONDS = 5.0
MCP = "mcp"
"""Begins the request of an MCP server, which is not a command line: `mcp --store STORE JSON`."""
_FOUND = (0, 7)
"""Exit codes of answers. A cold run reports all errors itself."""
_FILES = ("hf:", "onnx:", "@")
"""Values that name a file."""


class GoesCold(Exception):
    """The command line must run in its own process."""


class CommandLine(NamedTuple):
    """A command line, and where it was typed. terminals: the numbers of the streams that are terminals."""

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    terminals: str


def read_line(texts: Sequence[str], own: Mapping[str, str]) -> CommandLine:
    """Return the command line of a request. Raises GoesCold, ValueError."""
    protocol, folder, size, terminals, count, *rest = texts
    environ = dict(text.split("=", 1) for text in rest[: int(count)])
    argv = tuple(rest[int(count) :])
    is_ours = protocol == PROTOCOL and all(environ.get(name) == own.get(name) for name in IDENTITY)
    if not is_ours or not argv or argv[0] not in (*COMMANDS, MCP) or not folder.startswith("/"):
        raise GoesCold
    if size and terminals and environ.get("TERM") not in ("dumb", "unknown"):  # Rich gives those 80 columns
        columns, _, lines = size.partition("x")
        environ = {"COLUMNS": columns, "LINES": lines, **environ}
    return CommandLine(argv, Path(folder), environ, terminals)


class _FrameStream(TextIOBase):
    """A stream of a command line, kept as frames."""

    encoding = "utf-8"

    def __init__(self, kind: bytes, frames: _Frames, *, is_terminal: bool) -> None:
        self._kind = kind
        self._frames = frames
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._frames.add(self._kind, text.encode("utf-8", "backslashreplace"))
        return len(text)


class _Frames:
    """The frames of an answer, in order. Raises MemoryError above the largest size."""

    def __init__(self) -> None:
        self.pieces: list[tuple[bytes, bytearray]] = []
        self._size = 0

    def add(self, kind: bytes, content: bytes) -> None:
        self._size += len(content)
        if self._size > LARGEST_ANSWER:
            raise MemoryError
        if not self.pieces or self.pieces[-1][0] != kind:
            self.pieces.append((kind, bytearray()))
        self.pieces[-1][1].extend(content)

    def encode(self, code: int) -> bytes:
        pieces = [*self.pieces, (b"x", bytearray(b"%d" % code))]
        lengths = [len(content).to_bytes(4, "big") for _, content in pieces]
        return b"".join(b"".join((kind, n, content)) for (kind, content), n in zip(pieces, lengths, strict=True))


COLD, GOES_ON = b"c" + bytes(4), b"k" + bytes(4)


def answer_line(line: CommandLine, recall: Recall) -> bytes:
    """Return the frames of the answer to a command line. Raises GoesCold."""
    frames = _Frames()
    streams = Streams(
        cast(Any, _FrameStream(b"i", frames, is_terminal=False)),
        cast(Any, _FrameStream(b"o", frames, is_terminal="1" in line.terminals)),
        cast(Any, _FrameStream(b"e", frames, is_terminal="2" in line.terminals)),
        may_wait=False,
    )
    with caller.acting_for(line.folder, line.environ):
        code = cli.main(line.argv, streams=streams, opener=lambda store: nullcontext(recall))
    if code not in _FOUND:
        raise GoesCold
    return frames.encode(code)


def _names_file(request: Request) -> bool:
    """Return True if the request reads or writes a file by name, reads stdin, or names a reranker."""
    flags = vars(request.flags)
    texts = [*request.words, *(text for value in flags.values() for text in _texts(value))]
    is_file = any(text == "-" or text.startswith(_FILES) or "/" in text for text in _texts(flags.get("counter")))
    settings = tuple(_texts(flags.get("set")))
    return (
        bool(flags.get("receipt") or flags.get("fresh"))
        or is_file
        or any(text == "-" or text.startswith("@") for text in texts)
        or any(text.startswith(("rerank", "embedding", "counter")) for text in settings)
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (each for each in value if isinstance(each, str))


class _StoreCall(NamedTuple):
    """What a caller asks. store: the value of --store.

    fail: returns the answer to an error of the work, or raises GoesCold. Without it, errors run cold.
    """

    store: str | None
    work: Callable[[Recall], bytes]
    fail: Callable[[RecallError], bytes] | None = None
    seconds: float = QUERY_SECONDS
    is_mcp: bool = False


def _question(line: CommandLine) -> _StoreCall:
    """Return the question of a command line. Raises GoesCold, RecallError."""
    if line.argv[0] == MCP:
        return _mcp_question(line)
    request = adapters.commands.parse_plain(line.argv) or adapters.parser.parse(line.argv)
    if request.command is None or request.help or request.agent is not None or _names_file(request):
        raise GoesCold
    return _StoreCall(request.store, partial(answer_line, line))


def _mcp_question(line: CommandLine) -> _StoreCall:
    """Return the question of an MCP server. Raises GoesCold, ValueError."""
    _, _, store, text = line.argv
    asked = json.loads(text)
    limits, structured, seconds, tools, is_openai = asked["settings"]
    settings = ServerSettings(Limits(*limits), structured, seconds, frozenset(tools), is_openai)
    try:
        call = RecallServer(settings).methods[asked["method"]](asked["params"])
    except ProtocolError:
        raise GoesCold from None
    if not isinstance(call, PendingCall):
        raise GoesCold

    def work(recall: Recall) -> bytes:
        recall.engine.is_for_others = True
        try:
            with caller.acting_for(line.folder, line.environ):
                return _encode(call.work(recall))
        finally:
            recall.engine.is_for_others = False

    def fail(error: RecallError) -> bytes:
        if not isinstance(error, UsageError | UnknownTarget | TimedOut):
            raise GoesCold from error  # the server tries again, or reports it
        try:
            return _encode(call.settle(error))
        except ProtocolError:
            raise GoesCold from None

    return _StoreCall(store or None, work, fail, seconds or SECONDS, is_mcp=True)


def _encode(result: Result) -> bytes:
    frames = _Frames()
    frames.add(b"o", json.dumps(result).encode())
    return frames.encode(0)


class _StoreKey(NamedTuple):
    """A store's file and the settings that it is opened with."""

    where: str
    toml: Path


class _Served:
    """An open store, kept in sync with its folders if its settings want that and are accepted."""

    def __init__(self, settings: StoreSettings, models: Models, cache: QueryCache | None) -> None:
        self.pool = ConnectionPool(settings, models=models, cache=cache)
        say = partial(print, file=sys.stderr, flush=True)  # to the log
        wanted = following_for(settings, watch=False, on_boot=False, interval=0.0, say=say)
        self.syncs_for_sessions = wanted.on_session or bool(wanted.on_search_ms)
        self._follower = Follower(settings, wanted._replace(on_session=False, on_search_ms=0), say)
        self._follower.start()
        self.asking = 0
        self.used_at = monotonic()

    def close(self) -> None:
        """Stop syncs and queries, and close the store."""
        self._follower.close()
        self.pool.close()


class Stores:
    """The open stores, by file and settings. Closes unused ones."""

    def __init__(self, *, idle_seconds: float, most_bytes: int, cache: QueryCache | None = None) -> None:
        self._idle_seconds = idle_seconds
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._served: dict[_StoreKey, _Served] = {}
        self._models = Models()
        self._cache = cache
        self.answered = 0

    def answer(self, line: CommandLine, store: int, is_left: Callable[[Asked[Any]], None]) -> bytes:
        """Return the frames of the answer. store: an open descriptor of the store, which proves access.

        is_left: waits for the query, and cancels it if the caller leaves.
        Raises GoesCold, RecallError.
        """
        with caller.acting_for(line.folder, line.environ):
            question = _question(line)
            named = question.store or line.environ.get("RECALL_STORE") or None
            place = find(named, start=line.folder)
        waits = [act for act in place.settings(is_vouched=False).acts() if act.role != SYNC]
        if place.url.kind != "sqlite" or waits:
            raise GoesCold  # what a person must accept, or a provider, is decided in a process of its own
        if not _is_same(store, place.url.where):
            raise GoesCold
        settings = StoreSettings(
            None if named is None else str(line.folder / named), place.toml.parent, is_for_others=False
        )
        key = _StoreKey(place.url.where, place.toml)
        served = self._take(key, settings)
        try:
            if question.is_mcp and served.syncs_for_sessions:
                raise GoesCold
            asked = served.pool.ask(question.work, seconds=question.seconds)
            is_left(asked)
            return asked.result()
        except RecallError as error:
            if question.fail is None:
                raise
            return question.fail(error)
        finally:
            with self._lock:
                served.asking -= 1
                served.used_at = monotonic()
                self.answered += 1

    def _take(self, key: _StoreKey, settings: StoreSettings) -> _Served:
        with self._lock:
            served = self._served.get(key)
            if served is None:
                served = self._served[key] = _Served(settings, self._models, self._cache)
            served.asking += 1
            return served

    def tidy(self) -> None:
        """Close stores that were not asked for a while, and those asked longest ago while memory is short."""
        with self._lock:
            idle = sorted((served.used_at, key) for key, served in self._served.items() if not served.asking)
            late = monotonic() - self._idle_seconds
            closing_now = [self._served.pop(key) for used_at, key in idle if used_at < late]
            left = [key for used_at, key in idle if used_at >= late]
        while left and resident_bytes() > self._most_bytes:
            with self._lock:
                oldest = left.pop(0)
                if oldest not in self._served or self._served[oldest].asking:
                    continue
                closing_now.append(self._served.pop(oldest))
            closing_now.pop().close()
        for served in closing_now:
            served.close()

    def close(self) -> None:
        """End all queries and close all stores."""
        with self._lock:
            served, self._served = list(self._served.values()), {}
        for each in served:
            each.close()

    def paths(self) -> list[str]:
        """Return the files of the open stores."""
        with self._lock:
            return sorted({key.where for key in self._served})


def _is_same(descriptor: int, path: str) -> bool:
    """Return True if the descriptor is of the file with this path."""
    try:
        theirs, ours = os.fstat(descriptor), os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    return (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino)


def resident_bytes() -> int:
    """Return the memory of this process, 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class Daemon:
    """The socket and its callers."""

    def __init__(self, stores: Stores, environ: Mapping[str, str]) -> None:
        self._stores = stores
        self._environ = environ
        self._callers = BoundedSemaphore(CALLERS)
        self._threads = ThreadPoolExecutor(CALLERS, "recalld")  # new threads would leave memory in pieces
        self._ending = Event()
        self._started = monotonic()
        path = socket_path(environ)
        if path is None:
            message = "The path of the socket is too long."
            raise RecallError("no_runtime_folder", message, hint="set XDG_RUNTIME_DIR to a shorter folder")
        self.path = path

    def run(self, begun: Callable[[], None]) -> None:
        """Answer until `end`. begun: called once the socket accepts callers.

        Raises RecallError `no_runtime_folder` if its folder is not private, `daemon_running` for a second daemon.
        """
        folder = os.path.dirname(self.path)  # noqa: PTH120
        with suppress(FileExistsError):
            os.makedirs(folder, mode=0o700)  # noqa: PTH103
        if not is_private(folder):
            message = f"{folder} is not a folder that only you can enter."
            raise RecallError("no_runtime_folder", message, hint=f"chmod 700 {folder}, or set XDG_RUNTIME_DIR")
        lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise RecallError("daemon_running", "recalld runs already.", hint="recall daemon status") from None
        with suppress(FileNotFoundError):
            os.unlink(self.path)  # noqa: PTH108 - of a daemon that was killed
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with closing(listening):
            listening.bind(self.path)
            os.chmod(self.path, 0o600)  # noqa: PTH101
            listening.listen(128)
            listening.settimeout(_TIDY_SECONDS)
            begun()
            try:
                self._accept(listening)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(self.path)  # noqa: PTH108
                self._stores.close()
                self._threads.shutdown()
                os.close(lock)

    def end(self) -> None:
        """Stop answering. Safe from any thread."""
        self._ending.set()
        with suppress(OSError):  # wake the loop
            waking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            with waking:
                waking.settimeout(REQUEST_SECONDS)
                waking.connect(self.path)

    def _accept(self, listening: socket.socket) -> None:
        tidied = monotonic()
        while not self._ending.is_set():
            with suppress(TimeoutError):
                connection, _ = listening.accept()
                if self._callers.acquire(blocking=False):
                    self._threads.submit(self._serve, connection).add_done_callback(_log)
                else:
                    connection.close()
            if monotonic() - tidied >= _TIDY_SECONDS:
                self._stores.tidy()
                tidied = monotonic()

    def _serve(self, connection: socket.socket) -> None:
        """Answer one caller."""
        store = -1
        try:
            with connection, suppress(OSError):
                connection.settimeout(REQUEST_SECONDS)
                if not _is_own(connection):
                    return
                texts, store = _receive(connection)
                connection.sendall(self._answer(texts, store, connection))
        finally:
            if store >= 0:
                os.close(store)
            self._callers.release()

    def _answer(self, texts: Sequence[str], store: int, connection: socket.socket) -> bytes:
        if len(texts) == 2 and texts[0] == PROTOCOL:
            return self._control(texts[1])
        try:
            return self._stores.answer(read_line(texts, self._environ), store, lambda asked: wait(asked, connection))
        except (GoesCold, RecallError, ValueError, MemoryError):
            return COLD

    def _control(self, word: str) -> bytes:
        """Return the state, or stop."""
        frames = _Frames()
        if word == "stop":
            self.end()
        lines = [
            f"pid={os.getpid()}",
            f"seconds={int(monotonic() - self._started)}",
            f"answers={self._stores.answered}",
            f"bytes={resident_bytes()}",
            *(f"store={path}" for path in self._stores.paths()),
        ]
        frames.add(b"o", "\0".join(lines).encode(errors="surrogateescape"))
        return frames.encode(0)


def _log(served: Future[None]) -> None:
    """Write an unexpected error to the log. The caller runs cold."""
    if (error := served.exception()) is not None:
        traceback.print_exception(error)


def _is_own(connection: socket.socket) -> bool:
    """Return True unless the system says that another user asks. The folder of the socket is closed to others."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8] == os.geteuid().to_bytes(
        4, sys.byteorder
    )


def _receive(connection: socket.socket) -> tuple[list[str], int]:
    """Return the texts of a request and its descriptor, or -1. Raises OSError."""
    until = monotonic() + REQUEST_SECONDS
    received, descriptors = bytearray(), array("i")
    try:
        while len(received) < 4 or len(received) < 4 + int.from_bytes(received[:4], "big"):
            if len(received) >= 4 and int.from_bytes(received[:4], "big") > LARGEST_REQUEST:
                raise OSError("a request is too long")
            if monotonic() > until:
                raise TimeoutError
            piece, rights, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(4 * 8))
            for level, kind, content in rights:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
            if not piece:
                raise OSError("a request breaks off")
            received += piece
        if len(descriptors) > 1:
            raise OSError("a request has one descriptor")
    except OSError:
        for descriptor in descriptors:
            os.close(descriptor)
        raise
    texts = bytes(received[4:]).decode("utf-8", "surrogateescape").split("\0")[:-1]
    return texts, descriptors[0] if descriptors else -1


def wait(asked: Asked[Any], connection: socket.socket) -> None:
    """Wait for the answer. Cancel the query if the caller leaves.

    Raises GoesCold if the query has to wait for its turn, OSError if the caller takes nothing.
    """
    reading, writing = os.pipe()
    asked.future.add_done_callback(lambda _: os.close(writing))
    watched = [reading, connection.fileno()]
    try:
        while not (ready := select.select(watched, [], [], WAIT_SECONDS)[0]):
            if not asked.future.running() and not asked.future.done():
                asked.cancel()
                raise GoesCold
            connection.sendall(GOES_ON)
        if reading not in ready:
            asked.cancel()
    finally:
        os.close(reading)
