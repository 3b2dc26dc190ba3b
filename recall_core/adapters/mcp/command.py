"""`recall mcp`: the server on stdin and stdout, or on a port; or the configuration of a client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from recall_core import shell
from recall_core.adapters import mcp
from recall_core.api.serving import CONNECTIONS, SECONDS, ConnectionPool, Follower, Following, StoreSettings
from recall_core.api.stores import find
from recall_core.errors import EmbedError, RecallError, UsageError
from recall_core.named import NamedTuple
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
        # A client starts the server anywhere, so that the store is named by its whole path.
        place = find(None, start=None).base if named is None else absolute(Path(named))
        command = [sys.executable, "-m", "recall_core", "--store", str(place), "mcp"]
        print_entry(flags.install, command, streams)
        return
    for flag in ("port", "no_token"):
        if getattr(flags, flag) and not flags.http:
            name = flag.replace("_", "-")
            raise UsageError("conflicting_flags", f"--{name} goes with --http.", hint="recall mcp --http …")
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


NAME = "recall"
"""The name of the server in every client."""

Entry: TypeAlias = dict[str, Any]


class Client(NamedTuple):
    """A program that starts servers."""

    places: tuple[str, ...]
    """Paths of its file with variables of the environment: the first whose variable is set counts. A relative path is
    in the folder of a project."""
    servers: str
    """The key of the table of servers."""
    is_toml: bool = False
    fixed: tuple[tuple[str, object], ...] = ()
    """Keys of every entry besides the command."""
    is_one_list: bool = False
    """The command and its arguments are one list."""
    places_on_macos: tuple[str, ...] = ()
    """The same paths on macOS, where they differ."""
    adds: tuple[str, ...] = ()
    """The client's own command that adds a server, without the server; empty where there is none."""
    adds_json: bool = False
    """That command takes the entry as JSON."""


_CLAUDE_DESKTOP, _ZED, _CODEX = "Claude/claude_desktop_config.json", "zed/settings.json", "config.toml"
_CLIENTS = {
    "claude-code": Client((".mcp.json",), "mcpServers", adds=("claude", "mcp", "add", "--scope", "project")),
    "claude-desktop": Client(
        (f"$XDG_CONFIG_HOME/{_CLAUDE_DESKTOP}", f"$HOME/.config/{_CLAUDE_DESKTOP}"),
        "mcpServers",
        places_on_macos=(f"$HOME/Library/Application Support/{_CLAUDE_DESKTOP}",),
    ),
    "codex": Client(
        (f"$CODEX_HOME/{_CODEX}", f"$HOME/.codex/{_CODEX}"),
        "mcp_servers",
        is_toml=True,
        adds=("codex", "mcp", "add"),
    ),
    "cursor": Client((".cursor/mcp.json",), "mcpServers"),
    "vscode": Client(
        (".vscode/mcp.json",),
        "servers",
        fixed=(("type", "stdio"),),
        adds=("code", "--add-mcp"),
        adds_json=True,
    ),
    "zed": Client(
        (f"$XDG_CONFIG_HOME/{_ZED}", f"$HOME/.config/{_ZED}"),
        "context_servers",
        places_on_macos=(f"$HOME/.config/{_ZED}",),
    ),
    "opencode": Client(
        ("opencode.json",),
        "mcp",
        fixed=(("type", "local"), ("enabled", True)),
        is_one_list=True,
    ),
}

CLIENTS: tuple[str, ...] = tuple(_CLIENTS)
"""The clients whose files are known."""


def print_entry(client: str, command: Sequence[str], streams: Streams) -> None:
    """Print the entry on stdout, and on stderr the file that it goes into and the client's own command.

    command: the program and its arguments, with absolute paths.  Raises RecallError `client_config_unwritable`.
    """
    streams.stdout.write(entry_for(client, command))
    place = place_of(client, os.environ, folder=Path.cwd())
    streams.say(f"goes into {place or f'the configuration of {client}'}")
    if line := line_for(client, command):
        streams.say(f"or run: {line}")


def place_of(client: str, environ: Mapping[str, str], *, folder: Path, platform: str = sys.platform) -> Path | None:
    """Return the file in which a client looks for its servers; None without a home.

    folder: of the project, for clients that have a file in each.
    """
    row = _CLIENTS[client]
    absolute = {name: value for name, value in environ.items() if Path(value).is_absolute()}
    for place in (platform == "darwin" and row.places_on_macos) or row.places:
        try:
            return folder / Template(place).substitute(absolute)
        except KeyError:
            continue
    return None


def entry_for(client: str, command: Sequence[str]) -> str:
    """Return the text of a client's file that has only this server."""
    row, entry = _CLIENTS[client], _entry(client, command)
    if row.is_toml:
        # TOML has the escapes of JSON, and needs one more, for DEL.
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items()]
        return f"[{row.servers}.{NAME}]\n" + "".join(lines).replace("\x7f", "\\u007f")
    return json.dumps({row.servers: {NAME: entry}}, ensure_ascii=False, indent=2) + "\n"


def line_for(client: str, command: Sequence[str]) -> str:
    """Return the client's own command that adds the server, as it is typed; "" where it has none."""
    row = _CLIENTS[client]
    if not row.adds:
        return ""
    if row.adds_json:
        return shell.join([*row.adds, json.dumps({"name": NAME, **_entry(client, command)}, ensure_ascii=False)])
    return shell.join([*row.adds, NAME, "--", *command])


def _entry(client: str, command: Sequence[str]) -> Entry:
    row = _CLIENTS[client]
    for word in command:
        if any("\ud800" <= character <= "\udfff" for character in word):
            message = f"The configuration of {client} is UTF-8, and the path {word!r} is not."
            raise RecallError("client_config_unwritable", message, hint="rename the folder")
    if row.is_one_list:
        return {**dict(row.fixed), "command": [*command]}
    return {**dict(row.fixed), "command": command[0], "args": [*command[1:]]}
