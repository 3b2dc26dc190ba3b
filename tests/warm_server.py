"""A process that has imported the program and forks once for every order of `tests.warm`.

It imports only what a search imports, so that a fork equals a process that has just started.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import NamedTuple, TextIO

_COMMANDS = (
    "difflib",
    "inspect",
    "recall_core.adapters.cli",
    "recall_core.adapters.commands",
    "recall_core.adapters.searching",
    "recall_core.adapters.filling",
    "recall_core.adapters.flags",
    "recall_core.adapters.streams",
    "recall_core.adapters.progress",
    "recall_core.adapters.reading",
    "recall_core.api.write",
    "recall_core.api.get",
    "recall_core.api.recall",
    "recall_core.api.stores",
    "recall_core.embed.hash",
    "recall_core.embed.registry",
    "recall_core.retrieve.answer",
    "recall_core.retrieve.passage",
    "recall_core.words.question",
    "recall_core.rql.fields",
    "recall_core.store.sqlite.store",
    "recall_core.store.sqlite.vectors",
)
_MCP = (
    *_COMMANDS,
    "anyio._backends._asyncio",
    "numpy",
    "recall_core.adapters.mcp.command",
    "recall_core.adapters.mcp.tools",
    "recall_core.adapters.mcp.stdio",
)
_HTTP = (
    *_MCP,
    "recall_core.adapters.mcp.http",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
_INGEST = (
    *_COMMANDS,
    "numpy",
    "recall_core.embed.local",
    "recall_core.embed.model_files",
    "recall_core.ingest.pipeline",
    "recall_core.ingest.ignore",
    "recall_core.ingest.parse.markdown",
    "recall_core.ingest.parse.text",
    "recall_core.ingest.parse.worker",
    "recall_core.ingest.targets",
    "recall_core.maintain.doctor",
    "rich.console",
    "rich.progress",
)
_PROVIDERS = (*_COMMANDS, "httpx", "numpy")
PRELOADED = {"commands": _COMMANDS, "ingest": _INGEST, "http": _HTTP, "mcp": _MCP, "providers": _PROVIDERS}


class Order(NamedTuple):
    """A process to start. module: run as with -m. program: code to run instead, as with -c."""

    argv: list[str]
    module: str
    program: str
    cwd: str
    env: dict[str, str]
    streams: list[int]
    """Which of 0, 1 and 2 are open; their descriptors come with the order."""
    is_leader: bool


def main() -> None:
    """Import, then fork for each order until the other end closes its socket."""
    door = socket.socket(fileno=int(sys.argv[1]))
    for name in PRELOADED[sys.argv[2]]:
        import_module(name)
    gc.collect()
    gc.freeze()
    found = _serve(door)
    if found is not None:
        _become(*found)


def _serve(door: socket.socket) -> tuple[Order, list[int]] | None:
    """Serve; return the order and its descriptors in a fork, and None in this process at the end."""
    running: dict[int, int] = {}
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready = select.select([door, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            _report(running, os.WNOHANG)
        if door not in ready:
            continue
        byte, descriptors, _, _ = socket.recv_fds(door, 1, 4)
        if not byte:
            break
        order = Order._make(json.loads(_line(door)))
        *given, status = descriptors
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return order, given
        for each in given:
            os.close(each)
        running[pid] = status
        door.sendall(b"%d\n" % pid)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    while running:
        _report(running, 0)
    return None


def _line(door: socket.socket) -> bytes:
    read = b""
    while not read.endswith(b"\n"):
        read += door.recv(1 << 16)
    return read


def _report(running: dict[int, int], flags: int) -> None:
    """Wait for ended processes and write the exit code of each."""
    with suppress(ChildProcessError):
        while running:
            pid, ended = os.waitpid(-1, flags)
            if pid == 0:
                return
            status = running.pop(pid)
            with suppress(OSError):  # the test has already ended
                os.write(status, b"%d" % os.waitstatus_to_exitcode(ended))
            os.close(status)


def _become(order: Order, given: list[int]) -> None:
    """Run the program in this fork, with the streams, folder and environment of the order."""
    if order.is_leader:
        os.setsid()
    taken = dict(zip(order.streams, given, strict=True))
    for number in range(3):
        if number in taken:
            os.dup2(taken[number], number)
        else:
            os.close(number)
    os.closerange(3, 1 << 10)
    sys.stdin, sys.stdout, sys.stderr = (_stream(number) for number in range(3))
    os.chdir(order.cwd)
    os.environ.clear()
    os.environ.update(order.env)
    sys.argv = [order.module, *order.argv]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order.program:
        exec(compile(order.program, "<string>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_module(order.module, run_name="__main__", alter_sys=True)


def _stream(number: int) -> TextIO:
    """Open a standard stream as Python does at its start: None if it is closed."""
    try:
        is_terminal = os.isatty(number)
        os.fstat(number)
    except OSError:
        return None  # type: ignore[return-value]
    errors = "backslashreplace" if number == 2 else "strict"
    return open(
        number, "w" if number else "r", encoding="utf-8", errors=errors, newline="\n", closefd=False,
        buffering=1 if number == 2 or (number and is_terminal) else -1,
    )  # fmt: skip


if __name__ == "__main__":
    main()
