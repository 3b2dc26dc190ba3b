"""`recall mcp --install`: print the entry with which a client starts the server, and how to add it.

Clients keep their servers in files that people and other programs edit too, so none of them is changed here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from recall_core import shell
from recall_core.errors import RecallError
from recall_core.named import NamedTuple

if TYPE_CHECKING:
    from recall_core.adapters.streams import Streams

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
        return f"[{row.servers}.{NAME}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in entry.items())
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


def _toml(value: object) -> str:
    """A text or a list of texts. TOML has the escapes of JSON, and needs one more, for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
