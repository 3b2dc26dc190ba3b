"""stdin and stdout for the SDK. The process can always exit, even if a pipe blocks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Condition, Thread
from typing import Any, TypeVar, cast

import anyio
from mcp.server.stdio import stdio_server

from recall_core.errors import Interrupted

Result = TypeVar("Result")

_READ_BYTES = 65_536
"""The capacity of a pipe in bytes."""
_INBOX_BYTES = 4 << 20
"""Most bytes of waiting messages: 20,000 calls of 200 bytes. A single message may be larger."""
_CALL, _CANCELLED = "tools/call", "notifications/cancelled"


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams for the SDK's server, until stdin ends or stdout is closed.

    Other code in the process and its children read an empty stdin and print to stderr.
    Raises Interrupted after a signal.
    """
    reading, writing = _take_descriptor(0, os.open(os.devnull, os.O_RDONLY)), _take_descriptor(1, os.dup(2))
    with anyio.CancelScope() as scope, _signals(scope.cancel) as signals:
        _when_unread(writing, scope.cancel)
        async with stdio_server(cast(Any, _DescriptorLines(reading)), cast(Any, _DescriptorLines(writing))) as both:
            yield both
    if signals:
        raise Interrupted("interrupted", "Interrupted.")


class Inbox:
    """Messages that wait to be handled. Cancelling a waiting call drops it.

    limit: bytes that may wait before `put` blocks.
    """

    def __init__(self, limit: int = _INBOX_BYTES) -> None:
        self._limit = limit
        self._waiting: dict[int, tuple[bytes, str]] = {}
        self._calls: dict[str, int] = {}
        self._bytes = 0
        self._next = 0
        self._changed = Condition()

    def put(self, lines: Iterable[bytes]) -> None:
        """Add messages in order. A cancel of a waiting call drops both messages without an answer."""
        with self._changed:
            self._changed.wait_for(lambda: self._bytes < self._limit)
            for line in lines:
                method, request = _request(line)
                call = self._calls.pop(request, None) if method == _CANCELLED else None
                if call is not None:
                    self._bytes -= len(self._waiting.pop(call)[0])
                    continue
                if method == _CALL:
                    self._calls[request] = self._next
                self._waiting[self._next] = line, request
                self._bytes += len(line)
                self._next += 1

    def take(self) -> bytes | None:
        """Remove and return the oldest message, or None."""
        with self._changed:
            if not self._waiting:
                return None
            number = next(iter(self._waiting))
            line, request = self._waiting.pop(number)
            if self._calls.get(request) == number:
                del self._calls[request]
            self._bytes -= len(line)
            self._changed.notify()
            return line


def _request(line: bytes) -> tuple[str, str]:
    """Return the method and request id of a call or a cancel, or empty strings for other messages."""
    if _CALL.encode() not in line and _CANCELLED.encode() not in line:
        return "", ""
    try:
        message = json.loads(line)
        method = message["method"]
        if method not in (_CALL, _CANCELLED):
            return "", ""
        return method, json.dumps(message["id"] if method == _CALL else message["params"]["requestId"])
    except (ValueError, RecursionError, LookupError, TypeError):  # the SDK reports the error
        return "", ""


class _DescriptorLines:
    """Lines of a file descriptor for the SDK, read by a daemon thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._inbox = Inbox()
        self._has_ended = False
        self._has_come: asyncio.Event | None = None

    def __aiter__(self) -> _DescriptorLines:
        return self

    async def __anext__(self) -> str:
        if self._has_come is None:
            self._has_come = asyncio.Event()
            Thread(target=self._read, args=(asyncio.get_running_loop(), self._has_come), daemon=True).start()
        while True:
            self._has_come.clear()
            has_ended = self._has_ended
            if (line := self._inbox.take()) is not None:
                return line.decode(errors="replace")
            if has_ended:
                raise StopAsyncIteration
            await self._has_come.wait()

    async def write(self, text: str) -> None:
        """Write the whole text, in as many writes as needed."""
        await _aside(lambda: self._write(text.encode()))

    async def flush(self) -> None:
        """Do nothing: writes are not buffered."""

    def _read(self, loop: asyncio.AbstractEventLoop, has_come: asyncio.Event) -> None:
        """Read to the end, ahead of the handler, so that a cancel can arrive before its call starts."""
        rest: list[bytes] = []
        with suppress(RuntimeError):  # the event loop is closed
            with suppress(OSError):
                while chunk := os.read(self._descriptor, _READ_BYTES):
                    *lines, last = chunk.split(b"\n")
                    if lines:
                        lines[0] = b"".join((*rest, lines[0]))
                        rest.clear()
                        self._inbox.put(lines)
                        loop.call_soon_threadsafe(has_come.set)
                    rest.append(last)
            if whole := b"".join(rest):
                self._inbox.put([whole])
            self._has_ended = True
            loop.call_soon_threadsafe(has_come.set)

    def _write(self, left: bytes) -> None:
        while left:
            left = left[os.write(self._descriptor, left) :]


def _take_descriptor(descriptor: int, instead: int) -> int:
    """Duplicate the descriptor, and point its number at another file."""
    taken = os.dup(descriptor)
    os.dup2(instead, descriptor)
    os.close(instead)
    return taken


async def _aside(work: Callable[[], Result]) -> Result:
    future: Future[Result] = Future()
    Thread(target=lambda: _do(work, future), daemon=True).start()
    return await asyncio.wrap_future(future)


def _do(work: Callable[[], Result], future: Future[Result]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - passed to the waiting caller
            future.set_exception(error)


@contextmanager
def _signals(on_signal: Callable[[], None]) -> Iterator[list[int]]:
    """Yield the received signals. Handlers run between steps of the event loop, which an exception would break."""
    loop, came = asyncio.get_running_loop(), list[int]()

    def receive(number: int) -> None:
        came.append(number)
        on_signal()

    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with suppress(NotImplementedError):  # event loops without signal handlers
        for number in former:
            loop.add_signal_handler(number, receive, number)
    try:
        yield came
    finally:
        with suppress(NotImplementedError):
            for number, handler in former.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)


def _when_unread(writing: int, gone: Callable[[], None]) -> None:
    """Call `gone` when the other end of a pipe is closed, which makes this end readable."""
    loop = asyncio.get_running_loop()

    def report() -> None:
        loop.remove_reader(writing)
        gone()

    if stat.S_ISFIFO(os.fstat(writing).st_mode):
        with suppress(NotImplementedError):  # event loops that watch only sockets
            loop.add_reader(writing, report)
