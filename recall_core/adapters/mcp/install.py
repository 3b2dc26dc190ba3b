"""The entry with which a client of the Model Context Protocol starts `recall mcp`, and the file that it belongs into.

A client keeps its servers in a file that people and other programs write too. So an entry is put into the text of
that file, and what else stands there, comments too, keeps its bytes. Where that cannot be done surely, it is refused.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeAlias

from recall_core import files
from recall_core._lazy import tomlkit, tomllib
from recall_core.adapters.mcp import json_edit
from recall_core.errors import RecallError, why_unread
from recall_core.named import NamedTuple
from recall_core.paths import expect_file
from recall_core.shell import Hint

_BOM = "\ufeff"

Entry: TypeAlias = dict[str, Any]


class Client(NamedTuple):
    """A program that starts servers."""

    places: tuple[str, ...]
    """Where its file lies, by variables of the environment: the first whose variable is set. A relative one lies in
    the folder of a project."""
    servers: str
    """The key of the table of servers."""
    form: Literal["json", "json with comments", "toml"] = "json"
    fixed: tuple[tuple[str, object], ...] = ()
    """What every entry has besides the command."""
    is_one_list: bool = False
    """The command and its arguments are one list."""
    places_on_macos: tuple[str, ...] = ()
    """The same where they are others on macOS."""


_CLAUDE_DESKTOP, _ZED, _CODEX = "Claude/claude_desktop_config.json", "zed/settings.json", "config.toml"
_CLIENTS = {
    "claude-code": Client((".mcp.json",), "mcpServers"),
    "claude-desktop": Client(
        (f"$XDG_CONFIG_HOME/{_CLAUDE_DESKTOP}", f"$HOME/.config/{_CLAUDE_DESKTOP}"),
        "mcpServers",
        places_on_macos=(f"$HOME/Library/Application Support/{_CLAUDE_DESKTOP}",),
    ),
    "codex": Client((f"$CODEX_HOME/{_CODEX}", f"$HOME/.codex/{_CODEX}"), "mcp_servers", "toml"),
    "cursor": Client((".cursor/mcp.json",), "mcpServers"),
    "vscode": Client((".vscode/mcp.json",), "servers", "json with comments", fixed=(("type", "stdio"),)),
    "zed": Client(
        (f"$XDG_CONFIG_HOME/{_ZED}", f"$HOME/.config/{_ZED}"),
        "context_servers",
        "json with comments",
        places_on_macos=(f"$HOME/.config/{_ZED}",),
    ),
    "opencode": Client(
        ("opencode.json",),
        "mcp",
        "json with comments",
        fixed=(("type", "local"), ("enabled", True)),
        is_one_list=True,
    ),
}

CLIENTS: tuple[str, ...] = tuple(_CLIENTS)
"""The clients whose files are known."""


class Installed(NamedTuple):
    """What became of a client's file. backup: the former file, None where there was none or nothing changed."""

    path: Path
    backup: Path | None
    changed: bool


def place_of(client: str, environ: Mapping[str, str], *, folder: Path, platform: str = sys.platform) -> Path | None:
    """The file in which a client looks for its servers; None without a home.

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


def entry_for(client: str, *, command: Sequence[str], name: str = "recall") -> str:
    """The smallest text of that client's file.  command: the program and its arguments, with paths from the root."""
    return merged(client, "", command=command, name=name)


def merged(client: str, before: str, *, command: Sequence[str], name: str = "recall") -> str:
    """The text of a client's file with the entry; all else stays. With the entry in it, the text stays as it is.

    In an entry of that name which starts a program, what was set besides the command stays too. Raises RecallError
    `client_config_unreadable` for a text that is not of the client's form, or cannot be changed surely.
    """
    row = _CLIENTS[client]
    text = before.removeprefix(_BOM)
    merge = _merged_toml if row.form == "toml" else _merged_json
    try:
        after = merge(row, text, name, _entry(row, command))
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise _unreadable(client, str(why)) from error
    return before[: len(before) - len(text)] + after


def write(client: str, path: Path, *, command: Sequence[str], name: str = "recall") -> Installed:
    """Put the entry into the file at that path, which is made where there is none, and keep the former one beside it.

    Raises RecallError `client_config_unreadable`, `client_config_unwritable`; then the file is as it was.
    """
    place = Path(os.path.realpath(path))  # resolve() has an error of its own for a link to itself
    try:
        expect_file(place)
        former = place.read_bytes() if os.path.lexists(place) else b""
        after = merged(client, former.decode(), command=command, name=name).encode()
        if after == former:
            return Installed(path, None, changed=False)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        backup = _backed_up(place, former) if former else None
        with files.replacing(place, is_private=True) as out:
            out.write(after)
    except UnicodeDecodeError as error:
        raise _unreadable(client, why_unread(error)) from error
    except OSError as error:
        message = f"{path} cannot be written: {why_unread(error)}."
        raise RecallError("client_config_unwritable", message, hint=Hint("mcp", install=client)) from error
    return Installed(path, backup, changed=True)


def _backed_up(place: Path, former: bytes) -> Path:
    """A file beside it that holds these bytes, for its owner alone; one that is there and holds others stays."""
    for number in count(1):
        backup = place.with_name(f"{place.name}.bak-recall{f'-{number}' if number > 1 else ''}")
        try:
            files.write_new(backup, former)
        except FileExistsError:
            if not backup.is_file() or backup.read_bytes() != former:
                continue
        return backup
    raise AssertionError


def _unreadable(client: str, why: str) -> RecallError:
    message = f"The configuration of {client} is left as it is: {why}. Put into it by hand what the hint prints."
    return RecallError("client_config_unreadable", message, hint=Hint("mcp", install=client))


def _entry(row: Client, command: Sequence[str]) -> Entry:
    """What a client needs to start the server. Raises ValueError."""
    if any("\ud800" <= character <= "\udfff" for character in "".join(command)):
        raise ValueError("it is UTF-8, and a path of the command is not")
    if row.is_one_list:
        return {**dict(row.fixed), "command": [*command]}
    return {**dict(row.fixed), "command": command[0], "args": [*command[1:]]}


def _table(value: object, key: str) -> Entry:
    if not isinstance(value, dict):
        raise ValueError(f"{key} holds no servers in it")
    return value


def _kept(old: object) -> Entry:
    """What of a former entry stays beside the new one: nothing, if it starts no program."""
    return old if isinstance(old, dict) and "command" in old else {}


def _merged_json(row: Client, text: str, name: str, entry: Entry) -> str:
    """Raises ValueError."""
    has_comments = row.form == "json with comments"
    if json_edit.is_blank(text, has_comments=has_comments):
        text = _below(text, "{}\n")
    former = json_edit.decoded(text, has_comments=has_comments)
    if not isinstance(former, dict):
        raise ValueError("it holds no object")
    keys, servers = [row.servers], _table(former.get(row.servers, {}), row.servers)
    if row.is_one_list and isinstance(servers.get("servers"), dict) and "type" not in servers["servers"]:
        keys, servers = [*keys, "servers"], servers["servers"]  # version 2, which knows no `enabled`
        entry = {key: value for key, value in entry.items() if key != "enabled"}
    old = _kept(servers.get(name))
    if not old:
        return json_edit.with_value(text, (*keys, name), entry, has_comments=has_comments)
    for key, value in entry.items():
        if old.get(key) != value:
            text = json_edit.with_value(text, (*keys, name, key), value, has_comments=has_comments)
    return text


def _merged_toml(row: Client, text: str, name: str, entry: Entry) -> str:
    """Raises ValueError."""

    former = tomllib.loads(text, parse_float=str)  # as text, because a NaN is not equal to itself
    servers = _table(former.get(row.servers, {}), row.servers)
    wanted = {**_kept(servers.get(name)), **entry}
    if servers.get(name) == wanted:
        return text
    for change in (_with_table_below, _with_table_changed):
        try:
            after = change(text, row.servers, name, wanted)
            if tomllib.loads(after, parse_float=str) == {**former, row.servers: {**servers, name: wanted}}:
                return after
        except (tomlkit.exceptions.TOMLKitError, tomllib.TOMLDecodeError):
            continue
    raise ValueError(f"{row.servers} is written in a way that cannot be added to surely")


def _with_table_below(text: str, servers: str, name: str, entry: Entry) -> str:
    """Right where there is no such table yet."""

    document, table = tomlkit.document(), tomlkit.table(is_super_table=True)
    table[name] = entry
    document[servers] = table
    return _below(text, tomlkit.dumps(document))


def _with_table_changed(text: str, servers: str, name: str, entry: Entry) -> str:

    document: Any = tomlkit.parse(text)
    old = document[servers].get(name)
    if _kept(old):
        old.update({key: value for key, value in entry.items() if old.get(key) != value})
    else:
        document[servers][name] = entry
    after = tomlkit.dumps(document)
    return re.sub(r"(?<!\r)\n", "\r\n", after) if json_edit.line_end(text) == "\r\n" else after


def _below(text: str, added: str) -> str:
    """A text with another below it, after an empty line."""
    end = json_edit.line_end(text)
    space = "" if not text.strip() else end if text.endswith("\n") else 2 * end
    return (text if space else "") + space + added.replace("\n", end)
