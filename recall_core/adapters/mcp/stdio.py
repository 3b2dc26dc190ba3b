"""stdin and stdout for the SDK, in a process that ends when it is to, whatever becomes of their other ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Thread
from typing import Any, TypeVar, cast

import anyio
from mcp.server.stdio import stdio_server

from recall_core.errors import Interrupted

Result = TypeVar("Result")

_READ_BYTES = 65_536
"""What a pipe holds."""


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """What the SDK's server reads and writes, until stdin ends or nobody reads stdout any more.

    Whatever else the process and its children read is empty meanwhile, and what they print goes to stderr.
    Raises Interrupted once a signal has ended it.
    """
    reading, writing = _taken(0, os.open(os.devnull, os.O_RDONLY)), _taken(1, os.dup(2))
    with anyio.CancelScope() as scope, _signals(scope.cancel) as signals:
        _when_unread(writing, scope.cancel)
        async with stdio_server(cast(Any, _DescriptorLines(reading)), cast(Any, _DescriptorLines(writing))) as both:
            yield both
    if signals:
        raise Interrupted("interrupted", "Interrupted.")


def uncancelled(lines: Sequence[bytes]) -> list[bytes]:
    """Return the messages without calls whose cancel has come with them: these cost nothing, and get no answer."""
    calls: dict[str, int] = {}
    dropped: set[int] = set()
    if not any(b"notifications/cancelled" in line for line in lines):
        return list(lines)
    for number, line in enumerate(lines):
        with suppress(ValueError, RecursionError):
            message = json.loads(line)
            if not isinstance(message, dict):
                continue
            if message.get("method") == "tools/call":
                calls[json.dumps(message.get("id"))] = number
            elif message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
                call = calls.pop(json.dumps(message["params"].get("requestId")), None)
                dropped |= set() if call is None else {call, number}
    return [line for number, line in enumerate(lines) if number not in dropped]


class _DescriptorLines:
    """Lines of a descriptor. Threads wait for them that the process does not wait for: the SDK's own keep it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._rest = b""

    def __aiter__(self) -> _DescriptorLines:
        return self

    async def __anext__(self) -> str:
        while not self._lines:  # one thread for all that has come: to start one takes longer than to read a message
            if not (lines := await _aside(self._read)):
                raise StopAsyncIteration
            self._lines.extend(uncancelled(lines))
        return self._lines.popleft().decode(errors="replace")

    async def write(self, text: str) -> None:
        """All of it, however little the other end takes at once."""
        await _aside(lambda: self._write(text.encode()))

    async def flush(self) -> None:
        """Nothing is kept."""

    def _read(self) -> list[bytes]:
        """Wait for the next whole lines, and return them; none once there is an end."""
        pieces = [self._rest]
        while chunk := os.read(self._descriptor, _READ_BYTES):
            pieces.append(chunk)
            if b"\n" in chunk:
                *lines, self._rest = b"".join(pieces).split(b"\n")
                return lines
        self._rest = b""
        return [line for line in (b"".join(pieces),) if line]

    def _write(self, left: bytes) -> None:
        while left:
            left = left[os.write(self._descriptor, left) :]


def _taken(descriptor: int, instead: int) -> int:
    """What stands at a descriptor, at another one; at its own there is something else from now on."""
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
    """Those that came, told between two steps of the event loop: an exception in the midst of one breaks it."""
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
