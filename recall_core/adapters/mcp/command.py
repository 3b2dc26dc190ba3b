"""`recall mcp`: the server on stdin and stdout, or on a port; or the configuration of a client."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.adapters import mcp
from recall_core.api.serving import CONNECTIONS, SECONDS, ConnectionPool, Follower, Following, StoreSettings
from recall_core.api.stores import find
from recall_core.errors import EmbedError, UsageError
from recall_core.paths import absolute
from recall_core.shell import install_extra

if TYPE_CHECKING:
    from argparse import Namespace

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.mcp.http import Door
    from recall_core.adapters.mcp.server import RecallServer
    from recall_core.adapters.streams import Streams

PORT = 8765
_SWITCH_SECONDS = 0.0005
"""How long one call may hold the interpreter. Python's default of 5 ms adds up, as each message switches often."""


def run(request: Request, streams: Streams, opener: Opener) -> None:
    """Serve until the client goes away, or Ctrl-C; or print what a client's configuration needs."""
    flags = request.flags
    named = request.store or os.environ.get("RECALL_STORE") or None
    if flags.install is not None:
        command = [sys.executable, "-m", "recall_core", "--store", str(_place(named)), "mcp"]
        mcp.install.print_entry(flags.install, command, streams)
        return
    _expect_serving(flags)
    if find_spec("mcp") is None:
        message = "recall mcp needs the package mcp, which is not installed."
        raise EmbedError("mcp_missing", message, hint=install_extra("mcp"))
    settings = StoreSettings(named, Path.cwd())
    pool = ConnectionPool(settings, connections=flags.connections or CONNECTIONS)
    following = Following(flags.watch, flags.on_boot, flags.interval or 0.0)
    follower = Follower(settings, following, lambda line: streams.say(f"recall mcp: {line}"))
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        _serve(_server(pool, flags), flags, streams, follower.start)
    finally:
        follower.close()
        pool.close()


def _expect_serving(flags: Namespace) -> None:
    for flag in ("port", "no_token"):
        if getattr(flags, flag) and not flags.http:
            name = flag.replace("_", "-")
            raise UsageError("conflicting_flags", f"--{name} goes with --http.", hint="recall mcp --http …")


def _server(pool: ConnectionPool, flags: Namespace) -> RecallServer:
    base = None if flags.base is None else str(absolute(Path(flags.base)))
    limits = mcp.tools.Limits(base=base)
    if flags.max_answer_chars is not None:
        limits = limits._replace(max_answer_chars=flags.max_answer_chars)
    offered = (
        frozenset(mcp.tools.BY_NAME) if flags.tools is None else frozenset(map(str.strip, flags.tools.split(",")))
    )
    if unknown := sorted(offered - mcp.tools.BY_NAME.keys()):
        known = ", ".join(mcp.tools.BY_NAME)
        raise UsageError(
            "bad_value", f"--tools names {unknown[0]!r}; the tools are {known}.", hint="--tools search,get"
        )
    return mcp.server.RecallServer(
        pool, mcp.server.ServerSettings(limits, flags.structured, flags.call_timeout or SECONDS, offered)
    )


def _serve(server: RecallServer, flags: Namespace, streams: Streams, begun: Callable[[], None]) -> None:
    import anyio  # noqa: PLC0415 - it comes with the package

    if flags.http:
        door = mcp.http.door(PORT if flags.port is None else flags.port, has_token=not flags.no_token)

        async def over_http() -> None:
            begun()
            await mcp.http.serve(await server.protocol(), door, lambda: _listens(door, streams))

        anyio.run(over_http)
        return

    async def over_stdio() -> None:
        async with mcp.stdio.streams() as (reading, writing):
            begun()
            protocol = await server.protocol()
            await protocol.run(reading, writing, protocol.create_initialization_options())

    try:
        anyio.run(over_stdio)
    except BaseExceptionGroup as group:
        gone, others = group.split(BrokenPipeError)
        if others is not None or gone is None:
            raise


def _listens(door: Door, streams: Streams) -> None:
    streams.stdout.write(f"{door.address}\n")
    streams.stdout.flush()
    if door.token_file is None:
        streams.say("warning: without a token every user of this machine can read the store")
    else:
        streams.say(f"token in {door.token_file}: send it as Authorization: Bearer TOKEN")


def _place(store: str | None) -> Path:
    """The store that the client's server will open, wherever it is started. Raises what looking for it raises."""
    if store is not None:
        return absolute(Path(store))
    return find(None, start=None).base
