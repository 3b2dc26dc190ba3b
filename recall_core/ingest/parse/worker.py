"""Workers: run parsers in separate processes, which may crash, hang or use too much memory."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from queue import SimpleQueue
from signal import SIGKILL, Signals
from threading import Event, Thread
from time import monotonic
from typing import Self, TypeAlias

import msgspec

from recall_core.errors import IngestError, UsageError
from recall_core.ingest.parse.magic import kind_of
from recall_core.ingest.parse.worker_process import (
    HEADER,
    DocumentsReply,
    ErrorReply,
    FailureReply,
    FileTask,
    format_size,
    pack,
    too_long,
)
from recall_core.ports import ParsedDocument

SECONDS = 30.0
"""Processor time for one file; elapsed time where the system does not report processor time."""
_PATIENCE = 4
"""Elapsed time allowed, as a multiple of processor time: for a busy machine, or a parser that waits."""
MEMORY_BYTES = 1 << 30
"""Memory of the process while it reads one file."""
REPLY_BYTES = 256 << 20
"""Size of the documents of one file."""
AHEAD_BYTES = 32 << 20
"""Total size of files waiting to be parsed ahead. A larger file is parsed in its turn."""

_START_SECONDS = 60.0
_LOOK_SECONDS = 0.05  # between two checks of time and memory
_BOOT = (
    "import json, sys; sys.path[:], *words = json.loads(sys.argv[1]); "
    "from recall_core.ingest.parse.worker_process import main; main(*words[:-1], dies_with_thread=words[-1])"
)
_Answer: TypeAlias = DocumentsReply | ErrorReply | FailureReply
_ANSWERS: msgspec.msgpack.Decoder[_Answer] = msgspec.msgpack.Decoder(_Answer)


class Worker:
    """Parses files one at a time in a separate process. Use it from one thread at a time.

    The process starts with the first file. A worker with a `stop` event belongs to one thread until it is closed.

    seconds: limit for one file, see SECONDS.
    memory_bytes: resident memory limit of the process.
    reply_bytes: size limit for the documents of one file.
    stop: event set by another thread; abandons the current file.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        memory_bytes: int = MEMORY_BYTES,
        reply_bytes: int = REPLY_BYTES,
        stop: threading.Event | None = None,
    ) -> None:
        self.seconds = seconds
        self.memory_bytes = memory_bytes
        self.reply_bytes = reply_bytes
        self._stop = stop
        self._process: _WorkerProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if any. The next file starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def parse(self, name: str, raw: bytes, *, path: str, digest: str) -> list[ParsedDocument]:
        """Return the documents that the named parser makes of a file, in file order.

        Raises the parser's IngestError or UsageError unchanged. Raises IngestError `parser_timeout` if the file takes
        longer than `seconds`, and `parser_crashed` if the process ends, uses too much memory, or the parser raises
        any other exception.
        """
        try:
            answer = self._answer(FileTask(name, raw, path, digest, self.seconds * _PATIENCE))
        except _Trouble as trouble:
            self.close()
            raise trouble.error(name, raw, path) from None
        except BaseException:  # such as Ctrl-C: the process still works on a file that is no longer wanted
            self.close()
            raise
        if isinstance(answer, FailureReply):
            raise _Trouble(f"the parser {name} failed ({answer.reason})").error(name, raw, path)
        if isinstance(answer, ErrorReply):
            kind = UsageError if answer.kind == "UsageError" else IngestError
            raise kind(answer.code, answer.message, hint=answer.hint, details=answer.details)
        return answer

    def _answer(self, task: FileTask) -> list[ParsedDocument] | ErrorReply | FailureReply:
        process = self._start()
        before = process.busy_seconds()
        deadline = monotonic() + self.seconds * (1 if before is None else _PATIENCE)

        def look() -> None:
            self._check_stop()
            if monotonic() > deadline or (process.busy_seconds() or 0.0) > (before or 0.0) + self.seconds:
                raise _Trouble(f"took more than {self.seconds:g} s to read", code="parser_timeout")
            if process.memory() > self.memory_bytes:
                raise _Trouble(f"took more than {format_size(self.memory_bytes)} of memory to read")

        documents: list[ParsedDocument] = []
        message = pack(task)
        while True:
            answer = process.answer(message, most=self.reply_bytes, look=look)
            message = bytearray()
            try:
                reply = _ANSWERS.decode(answer)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise _Trouble(f"the parser {task.parser} returned an invalid result ({error})") from error
            if isinstance(reply, DocumentsReply):
                documents += reply.documents
            if not isinstance(reply, DocumentsReply) or reply.is_last:
                break
        if process.memory() > self.memory_bytes // 2:
            self.close()  # memory the parser did not free must not count against the next file
        return documents if isinstance(reply, DocumentsReply) else reply

    def _start(self) -> _WorkerProcess:
        if self._process is not None and not self._process.is_alive():
            self.close()
        if self._process is None:
            is_main = threading.current_thread() is threading.main_thread()
            self._process = _WorkerProcess(self.reply_bytes, dies_with_thread=is_main or self._stop is not None)
            deadline = monotonic() + _START_SECONDS

            def look() -> None:
                self._check_stop()
                if monotonic() > deadline:
                    raise _Trouble(f"its process did not start within {_START_SECONDS:g} s")

            self._process.answer(b"", most=0, look=look)
        return self._process

    def _check_stop(self) -> None:
        if self._stop is not None and self._stop.is_set():
            raise _Trouble("it was abandoned")


class _Trouble(Exception):
    """Why the process failed. The reason follows the file's name, or a colon after it."""

    def __init__(self, reason: str, *, code: str = "parser_crashed") -> None:
        super().__init__(reason)
        self.reason, self.code = reason, code

    def error(self, name: str, raw: bytes, path: str) -> IngestError:
        """Return the error for the file."""
        kind = kind_of(raw, path=path)
        words = " " if self.reason.startswith("took ") else " cannot be read: "
        details = {"path": path, "kind": kind.label if kind else name}
        return IngestError(self.code, f"{path}{words}{self.reason}.", details=details)


class _WorkerProcess:
    """One process and its two pipes."""

    def __init__(self, most: int, *, dies_with_thread: bool) -> None:
        theirs_in, mine_out = os.pipe()
        mine_in, theirs_out = os.pipe()
        self._in, self._out = FileIO(mine_in, "r"), FileIO(mine_out, "w")
        os.set_blocking(mine_out, False)
        self._looked = monotonic()
        words = json.dumps([sys.path, theirs_in, theirs_out, os.getpid(), most, dies_with_thread])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            )
        except OSError as error:
            self._in.close()
            self._out.close()
            raise _Trouble(f"its process cannot be started ({error})") from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)

    def is_alive(self) -> bool:
        """Return True if the process is still running."""
        return self._process.poll() is None

    def busy_seconds(self) -> float | None:
        """Return the processor time used; None if the system is not Linux."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return None

    def memory(self) -> int:
        """Return the resident memory in bytes; 0 if the system does not report it."""
        pid = self._process.pid
        try:
            statm = Path(f"/proc/{pid}/statm")
            if statm.exists():
                return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=False)
            return int(done.stdout) * 1024
        except (OSError, ValueError, IndexError):
            return 0

    def end(self) -> None:
        """Kill the process and everything it started."""
        self._in.close()
        self._out.close()
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):  # macOS reports it for a process that just ended
                os.killpg(self._process.pid, SIGKILL)
            self._process.wait()

    def answer(self, message: bytes | bytearray, *, most: int, look: Callable[[], None]) -> bytearray:
        """Send a message and return the reply without its header.

        most: size limit of the reply.
        look: called periodically while waiting; its exceptions end the wait.
        """
        left = memoryview(message)
        into, filled, is_header = bytearray(HEADER.size), 0, True
        with selectors.DefaultSelector() as selector:
            selector.register(self._in, selectors.EVENT_READ)
            if left:
                selector.register(self._out, selectors.EVENT_WRITE)
            while filled < len(into):
                for key, _ in selector.select(_LOOK_SECONDS):
                    if key.fileobj is self._out:
                        try:
                            left = left[os.write(self._out.fileno(), left) :]
                        except BrokenPipeError:
                            left = left[:0]  # the process ended; the read reports it
                        if not left:
                            selector.unregister(self._out)
                    else:
                        count = os.readv(self._in.fileno(), [memoryview(into)[filled:]])
                        if not count:
                            raise _Trouble(self._why_ended(look))
                        filled += count
                if is_header and filled == len(into):
                    (size,) = HEADER.unpack(into)
                    if size > most:
                        raise _Trouble(too_long(most))
                    into, filled, is_header = bytearray(size), 0, False
                if monotonic() - self._looked > _LOOK_SECONDS:  # also when replies arrive faster than that
                    look()
                    self._looked = monotonic()
        return into

    def _why_ended(self, look: Callable[[], None]) -> str:
        """Return how the process ended, after it closed its pipe. look: called until it has ended."""
        while (code := self._process.poll()) is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_SECONDS)
            look()
        if code >= 0:
            return f"its process ended with exit code {code}"
        try:
            return f"its process crashed ({Signals(-code).name})"
        except ValueError:
            return f"its process crashed (signal {-code})"


MOST_WORKERS = 4
MOST_WAITING = 16
"""Files being parsed or waiting to be parsed ahead."""
AHEAD_REPLY_BYTES = 8 << 20
"""Size of one file's documents. A file with more is parsed again in its turn."""


def cores() -> int:
    """Return the number of workers that can run at once: one per usable processor."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    return min(usable or 1, MOST_WORKERS)


class _FileAhead:
    """A file to parse ahead, later with its documents or its error."""

    def __init__(self, parser: str, raw: bytes, path: str, digest: str) -> None:
        self.parser, self.raw, self.path, self.digest = parser, raw, path, digest
        self.is_done = Event()
        self.documents: list[ParsedDocument] | None = None
        self.error: Exception | None = None

    def run(self, worker: Worker) -> None:
        try:
            self.documents = worker.parse(self.parser, self.raw, path=self.path, digest=self.digest)
        except Exception as error:  # noqa: BLE001 - raised again when the file is asked for
            self.error = error
        finally:
            self.raw = b""
            self.is_done.set()


class WorkerPool:
    """Parses files in the order they are begun, at most `workers` at a time. Use it from one thread.

    Nothing starts before the first file. Another worker starts only when a file waits.

    seconds: limit for each file.
    """

    def __init__(self, workers: int, *, seconds: float = SECONDS) -> None:
        self._workers = workers
        self._seconds = seconds
        self._begun: dict[str, _FileAhead] = {}
        self._queue: SimpleQueue[_FileAhead | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._stop = Event()

    def has_room(self, size: int) -> bool:
        """Return True if another file of this size may be begun."""
        waiting = sum(len(file.raw) for file in self._begun.values())
        return len(self._begun) < MOST_WAITING and waiting + size <= AHEAD_BYTES

    def begin(self, parser: str, raw: bytes, *, key: str, path: str, digest: str) -> None:
        """Start parsing a file if there is room. key: name for `wait_for`; the rest as in `Worker.parse`."""
        if not self.has_room(len(raw)):
            return
        file = _FileAhead(parser, raw, path, digest)
        at_work = sum(not each.is_done.is_set() for each in self._begun.values())
        if len(self._threads) <= min(at_work, self._workers - 1):
            with suppress(RuntimeError):  # the system has no more threads: the existing ones do the work
                thread = Thread(target=self._work, name="recall-parse", daemon=True)
                thread.start()
                self._threads.append(thread)
        if self._threads:
            self._begun[key] = file
            self._queue.put(file)

    def wait_for(self, parser: str, *, key: str, digest: str) -> list[ParsedDocument] | None:
        """Wait for a file and return its documents. Raises the parser's errors.

        Return None if the file must be parsed again: it was not begun, it changed, or it crashed its worker. The
        second attempt runs alone, with all the memory that a file may use.
        """
        file = self._begun.get(key)
        if file is None or (file.parser, file.digest) != (parser, digest):
            return None
        file.is_done.wait()
        if file.error is None:
            return file.documents
        if isinstance(file.error, IngestError) and file.error.code == "parser_crashed":
            return None
        raise file.error

    def forget(self, key: str) -> None:
        """Drop a file whose turn is over, to make room for others."""
        self._begun.pop(key, None)

    def close(self) -> None:
        """Stop all workers, even in the middle of a file, and wait for them to end."""
        self._stop.set()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        with Worker(seconds=self._seconds, reply_bytes=AHEAD_REPLY_BYTES, stop=self._stop) as worker:
            while (file := self._queue.get()) is not None and not self._stop.is_set():
                file.run(worker)
