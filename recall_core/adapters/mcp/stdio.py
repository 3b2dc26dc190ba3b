"""stdin and stdout for the SDK, in a process that ends when it is to, whatever becomes of their other ends."""

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
"""What a pipe holds."""
_INBOX_BYTES = 4 << 20
"""Messages that may wait: 20,000 calls of 200 bytes, or one of any size."""
_CALL, _CANCELLED = "tools/call", "notifications/cancelled"


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """Return what the SDK's server reads and writes, until stdin ends or nobody reads stdout any more.

    Whatever else the process and its children read is empty meanwhile, and what they print goes to stderr.
    Raises Interrupted once a signal has ended it.
    """
    reading, writing = _take_descriptor(0, os.open(os.devnull, os.O_RDONLY)), _take_descriptor(1, os.dup(2))
    with anyio.CancelScope() as scope, _signals(scope.cancel) as signals:
        _when_unread(writing, scope.cancel)
        async with stdio_server(cast(Any, _DescriptorLines(reading)), cast(Any, _DescriptorLines(writing))) as both:
            yield both
    if signals:
        raise Interrupted("interrupted", "Interrupted.")


class Inbox:
    """Messages that have come and are not begun. A call that is cancelled while it waits here is dropped.

    limit: how many bytes may wait before `put` waits for `take`.
    """

    def __init__(self, limit: int = _INBOX_BYTES) -> None:
        self._limit = limit
        self._waiting: dict[int, tuple[bytes, str]] = {}
        self._calls: dict[str, int] = {}
        self._bytes = 0
        self._next = 0
        self._changed = Condition()

    def put(self, lines: Iterable[bytes]) -> None:
        """Add messages in order. A cancel drops its call and itself: they cost nothing and get no answer."""
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
        """Remove and return the oldest message; None if there is none."""
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
    """Return the method of a call or a cancel and the id of its request; empty strings for any other message."""
    if _CALL.encode() not in line and _CANCELLED.encode() not in line:
        return "", ""
    try:
        message = json.loads(line)
        method = message["method"]
        if method not in (_CALL, _CANCELLED):
            return "", ""
        return method, json.dumps(message["id"] if method == _CALL else message["params"]["requestId"])
    except (ValueError, RecursionError, LookupError, TypeError):  # the SDK answers it
        return "", ""


class _DescriptorLines:
    """Lines of a descriptor for the SDK. The thread that reads them is one the process does not wait for."""

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
        """Write all of it, however little the other end takes at once."""
        await _aside(lambda: self._write(text.encode()))

    async def flush(self) -> None:
        """Nothing is kept."""

    def _read(self, loop: asyncio.AbstractEventLoop, has_come: asyncio.Event) -> None:
        """Read to the end, faster than messages are answered: so a cancel is seen before its call is begun."""
        rest: list[bytes] = []
        with suppress(RuntimeError):  # the loop is closed
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
    """Return a copy of the descriptor, whose own number is that of another file from now on."""
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
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)


@contextmanager
def _signals(told: Callable[[], None]) -> Iterator[list[int]]:
    """Yield the signals that came, between two steps of the event loop: an exception within one breaks it."""
    loop, came = asyncio.get_running_loop(), list[int]()

    def tell(number: int) -> None:
        came.append(number)
        told()

    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with suppress(NotImplementedError):  # where signals do not reach the loop
        for number in former:
            loop.add_signal_handler(number, tell, number)
    try:
        yield came
    finally:
        with suppress(NotImplementedError):
            for number, handler in former.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)


def _when_unread(writing: int, gone: Callable[[], None]) -> None:
    """Tell once the other end of a pipe is closed, which makes this one readable."""
    loop = asyncio.get_running_loop()

    def tell() -> None:
        loop.remove_reader(writing)
        gone()

    if stat.S_ISFIFO(os.fstat(writing).st_mode):
        with suppress(NotImplementedError):  # where the loop watches sockets alone
            loop.add_reader(writing, tell)
