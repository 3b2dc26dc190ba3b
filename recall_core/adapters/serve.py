"""`recall serve`: serve the store over HTTP, to programs (/v1), agents (/mcp) and a page."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import api, personal
from recall_core.adapters import mcp, rest
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import Command, Flag
from recall_core.errors import RecallError, UsageError
from recall_core.shell import install_extra

if TYPE_CHECKING:
    from argparse import Namespace

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.mcp.http import Door
    from recall_core.adapters.streams import Streams
    from recall_core.api.serving import ConnectionPool

PORT = 8766
KEY = "RECALL_API_KEY"
_KEY = re.compile(r"[!-~]{16,512}")
_AS_MCP = ("--watch", "--on-boot", "--interval", "--call-timeout", "--connections")
"""Flags with the same meaning for `recall mcp`."""
_SWITCH_SECONDS = 0.0005
"""As for `recall mcp`: each request switches threads often."""


def run(request: Request, streams: Streams, opener: Opener) -> None:
    """Serve until Ctrl-C."""
    flags = request.flags
    if any(find_spec(name) is None for name in ("mcp", "starlette", "uvicorn")):
        message = "recall serve needs the packages of the extra http, which are not installed."
        raise RecallError("http_missing", message, hint=install_extra("http"))
    if flags.writable and request.agent is not None:  # the agent would not find the documents
        message = "--agent cannot be used with --writable."
        raise UsageError("conflicting_flags", message, hint="leave out --writable")
    key = _key(flags)
    settings = api.serving.StoreSettings(
        request.store or os.environ.get("RECALL_STORE") or None, Path.cwd(), agent=request.agent
    )
    cache = api.query_cache.QueryCache(personal.load(os.environ))
    pool = api.serving.ConnectionPool(settings, connections=flags.connections or api.serving.CONNECTIONS, cache=cache)

    def say(line: str) -> None:
        streams.say(f"recall serve: {line}")

    wanted = api.serving.following_for(
        settings, watch=flags.watch, on_boot=flags.on_boot, interval=flags.interval or 0.0, say=say
    )
    pool.follower = api.serving.Follower(settings, wanted, say)
    sys.setswitchinterval(_SWITCH_SECONDS)
    port = PORT if flags.port is None else flags.port
    try:
        door = mcp.http.door(port, has_token=not flags.no_token, name="serve", path="/", key=key)
        pool.follower.start()
        asyncio.run(_serve(pool, flags, door, streams))
    finally:
        pool.follower.close()
        pool.close()


def _key(flags: Namespace) -> str | None:
    """Return the key in the environment. Raises UsageError `bad_value`, `conflicting_flags`."""
    key = os.environ.get(KEY) or None
    if key is not None and flags.no_token:
        raise UsageError("conflicting_flags", f"--no-token ignores ${KEY}.", hint=f"unset {KEY}")
    if key is not None and not _KEY.fullmatch(key):
        message = f"${KEY} must be 16 to 512 printable ASCII characters without blanks."
        raise UsageError("bad_value", message, hint=f"unset {KEY}, and one is made at the start")
    return key


async def _serve(pool: ConnectionPool, flags: Namespace, door: Door, streams: Streams) -> None:
    seconds = flags.call_timeout or api.serving.SECONDS
    protocol = mcp.http.protocol(mcp.server.RecallServer(mcp.server.ServerSettings(seconds=flags.call_timeout)), pool)
    agents = mcp.http.application(protocol, door, body_bytes=rest.service.BODY_BYTES)
    service = rest.service.Service(pool, agents, door, seconds=seconds, is_writable=flags.writable)

    def listens() -> None:
        streams.stdout.write(f"{door.address}\n")
        streams.stdout.flush()
        if door.token is None:
            verb = "change" if flags.writable else "read"
            streams.say(f"warning: without a token, every user of this machine can {verb} the store")
        else:
            where = f"token in {door.token_file}" if door.token_file else f"token as in ${KEY}"
            streams.say(f"{where}: send it as Authorization: Bearer TOKEN")

    await mcp.http.listen(service, door, listens)


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "serve",
        "Serve the store over HTTP on this machine: to programs (/v1), agents (/mcp) and a page.",
        run=run,
        prints=None,
        flags=(
            Flag("--port", f"port (default {PORT}; 0 picks a free one)", "N", least=0),
            Flag(
                "--writable", "also store and delete documents that have no file: PUT and DELETE /v1/documents/NAME"
            ),
            Flag("--no-token", "require no token; any user of this machine can connect"),
            *(flag for flag in BY_NAME["mcp"].flags if flag.name in _AS_MCP),
        ),
        examples=("recall serve", "recall serve --port 0 --watch", "recall serve --writable"),
        note=(
            f"Clients need the token: `${KEY}`, or one that is made at the start and saved in a file that only you "
            "can read."
        ),
    ),
)
