"""`recall mcp`: serve on stdin and stdout or on a port, or print the configuration of a client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

import recall_core
from recall_core import api, shell
from recall_core.adapters import mcp
from recall_core.adapters.mcp.offers import NAME
from recall_core.errors import EmbedError, RecallError, UsageError
from recall_core.named import NamedTuple
from recall_core.paths import absolute
from recall_core.shell import install_extra

if TYPE_CHECKING:
    from argparse import Namespace

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.mcp.http import Door
    from recall_core.adapters.mcp.server import ServerSettings
    from recall_core.adapters.streams import Streams
    from recall_core.api.serving import ConnectionPool

PORT = 8765
_SWITCH_SECONDS = 0.0005
"""Thread switch interval in seconds. Python's default of 5 ms adds up, because each message switches often."""


def run(request: Request, streams: Streams, opener: Opener) -> None:
    """Serve until the client disconnects or Ctrl-C, or print the configuration of a client."""
    flags = request.flags
    named = request.store or os.environ.get("RECALL_STORE") or None
    if request.agent is not None and flags.base is not None:
        message = "--agent cannot be used with --base: paths start at the agent's workspace."
        raise UsageError("conflicting_flags", message, hint="leave out --base")
    profile = None if request.agent is None else api.agents.load().find(request.agent)
    if flags.install is not None:
        # A client may start the server in any folder, so the store needs an absolute path.
        if profile is not None:
            served = ["--agent", profile.id]
        elif named is not None and (url := api.stores.store_url(named)).kind != "sqlite":
            api.stores.expect_no_password(url, "The entry would contain a password.")
            served = ["--store", named]
        else:
            place = api.stores.find(None, start=None).base if named is None else absolute(Path(named))
            served = ["--store", str(place)]
        command = [sys.executable, "-m", "recall_core", *served, "mcp"]
        print_entry(flags.install, command, streams)
        return
    for flag in ("port", "no_token"):
        if getattr(flags, flag) and not flags.http:
            name = flag.replace("_", "-")
            raise UsageError("conflicting_flags", f"--{name} needs --http.", hint="recall mcp --http …")
    if flags.http and find_spec("mcp") is None:
        message = "recall mcp --http needs the package mcp, which is not installed."
        raise EmbedError("mcp_missing", message, hint=install_extra("mcp"))
    settings, start = _settings(flags), Path.cwd()
    server = mcp.server.RecallServer(settings)

    def say(line: str) -> None:
        streams.say(f"recall mcp: {line}")

    watch, on_boot, interval = flags.watch, flags.on_boot, flags.interval or 0.0

    def pool() -> ConnectionPool:
        store = api.serving.StoreSettings(named, start, agent=request.agent)
        opened = api.serving.ConnectionPool(
            store,
            connections=flags.connections or api.serving.CONNECTIONS,
            cache=api.query_cache.QueryCache(recall_core.personal.load(os.environ)),
        )
        wanted = api.serving.following_for(store, watch=watch, on_boot=on_boot, interval=interval, say=say)
        opened.follower = api.serving.Follower(store, wanted, say)
        stack.callback(opened.follower.close)
        opened.follower.start()
        return opened

    sys.setswitchinterval(_SWITCH_SECONDS)
    with ExitStack() as stack:
        if flags.http:
            door = mcp.http.door(PORT if flags.port is None else flags.port, has_token=not flags.no_token)
            with closing(pool()) as opened:
                mcp.http.run(mcp.http.protocol(server, opened), door, lambda: _listens(door, streams))
        else:
            syncs = watch or on_boot or interval or any(name.startswith("RECALL_SYNC") for name in os.environ)
            is_own = bool(syncs or profile)
            mcp.stdio.serve(server, pool, remote=None if is_own else lambda: mcp.remote.Remote(settings, named or ""))


def _settings(flags: Namespace) -> ServerSettings:
    base = None if flags.base is None else str(absolute(Path(flags.base)))
    limits = mcp.offers.Limits(base=base)
    if flags.max_answer_chars is not None:
        limits = limits._replace(max_answer_chars=flags.max_answer_chars)
    known = mcp.offers.TOOLS
    is_openai = flags.tools == "openai"
    offered = frozenset(known if flags.tools is None or is_openai else map(str.strip, flags.tools.split(",")))
    if unknown := sorted(offered - known.keys()):
        message = f"There is no tool {unknown[0]!r}. The tools are {', '.join(known)}."
        raise UsageError("bad_value", message, hint="--tools search,get")
    return mcp.server.ServerSettings(limits, flags.structured, flags.call_timeout, offered, is_openai)


def _listens(door: Door, streams: Streams) -> None:
    streams.stdout.write(f"{door.address}\n")
    streams.stdout.flush()
    if door.token_file is None:
        streams.say("warning: without a token, every user of this machine can read the store")
    else:
        streams.say(f"token in {door.token_file}: send it as Authorization: Bearer TOKEN")


Entry: TypeAlias = dict[str, Any]


class Client(NamedTuple):
    """A client program and its configuration file."""

    places: tuple[str, ...]
    """Candidate paths of the file. The first one whose environment variables are set is used. A relative path is in a
    project."""
    servers: str
    """Key of the servers in the file."""
    is_toml: bool = False
    fixed: tuple[tuple[str, object], ...] = ()
    """Other keys of every entry."""
    is_one_list: bool = False
    """True if the command and its arguments form one list."""
    places_on_macos: tuple[str, ...] = ()
    """The paths on macOS, if they differ."""
    adds: tuple[str, ...] = ()
    """The client's command that adds a server, without the server. Empty if it has none."""
    adds_json: bool = False
    """True if that command takes the entry as JSON."""


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
"""The supported clients."""


def print_entry(client: str, command: Sequence[str], streams: Streams) -> None:
    """Print the entry to stdout. Print the file it belongs in and the client's own command to stderr.

    command: the program and its arguments, with absolute paths.
    Raises RecallError `client_config_unwritable`.
    """
    streams.stdout.write(entry_for(client, command))
    place = place_of(client, os.environ, folder=Path.cwd())
    streams.say(f"add this to {place or f'the configuration of {client}'}")
    if line := line_for(client, command):
        streams.say(f"or run: {line}")


def place_of(client: str, environ: Mapping[str, str], *, folder: Path, platform: str = sys.platform) -> Path | None:
    """Return the file where a client looks for servers, or None without a home folder.

    folder: the project, for clients with one file per project.
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
    """Return a configuration file with only this server."""
    row, entry = _CLIENTS[client], _entry(client, command)
    if row.is_toml:
        # TOML uses the escapes of JSON, plus one for DEL.
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items()]
        return f"[{row.servers}.{NAME}]\n" + "".join(lines).replace("\x7f", "\\u007f")
    return json.dumps({row.servers: {NAME: entry}}, ensure_ascii=False, indent=2) + "\n"


def line_for(client: str, command: Sequence[str]) -> str:
    """Return the client's command that adds the server, quoted for a shell, or ""."""
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
            message = f"The path {word!r} is not valid UTF-8, which the configuration of {client} needs."
            raise RecallError("client_config_unwritable", message, hint="rename the folder")
    if row.is_one_list:
        return {**dict(row.fixed), "command": [*command]}
    return {**dict(row.fixed), "command": command[0], "args": [*command[1:]]}
