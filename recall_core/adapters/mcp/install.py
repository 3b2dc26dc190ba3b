"""The entry with which a client of the Model Context Protocol starts `recall mcp`, and the file that it belongs into.

A client keeps its servers in a file that people and other programs write too. So an entry is put into the text of that
file, and what else stands there, comments too, keeps its bytes. A text in which that cannot be done surely is refused.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeAlias

from recall_core import files
from recall_core.errors import RecallError, why_unread
from recall_core.named import NamedTuple
from recall_core.paths import expect_file
from recall_core.shell import Hint

_BOM = "\ufeff"
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|[{{\[,]\s*,|,(?=\s*[}}\]])", re.DOTALL)
_NO_SPACE = re.compile(r"[^ \t\r\n]")
_INDENT = re.compile(r"[ \t]*")

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
    """The file in which a client looks for its servers; None without a home.  folder: of the project, where it has one."""
    row = _CLIENTS[client]
    absolute = {name: value for name, value in environ.items() if Path(value).is_absolute()}
    for place in (platform == "darwin" and row.places_on_macos) or row.places:
        try:
            return folder / Template(place).substitute(absolute)
        except KeyError:
            continue
    return None


def entry_for(client: str, *, command: Sequence[str], name: str = "recall") -> str:
    """The smallest file of that client with the entry.  command: the program and its arguments, paths from the root."""
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
    """What a client needs to start the server. Raises ValueError for a command that no text in UTF-8 can hold."""
    "".join(command).encode()
    if row.is_one_list:
        return {**dict(row.fixed), "command": [*command]}
    return {**dict(row.fixed), "command": command[0], "args": [*command[1:]]}


def _table(value: object, key: str) -> Entry:
    if not isinstance(value, dict):
        raise ValueError(f"{key} holds no servers in it")
    return value


def _starts_a_program(old: object) -> bool:
    """Whether an entry is one in which the command changes and the rest may stay."""
    return isinstance(old, dict) and "command" in old


def _merged_toml(row: Client, text: str, name: str, entry: Entry) -> str:
    """Raises ValueError."""
    import tomllib  # noqa: PLC0415 - one client has this form

    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    former = tomllib.loads(text, parse_float=str)  # as text, because a NaN is not equal to itself
    servers = _table(former.get(row.servers, {}), row.servers)
    old = servers.get(name)
    wanted = {**old, **entry} if old is not None and _starts_a_program(old) else entry
    if old == wanted:
        return text
    expected = {**former, row.servers: {**servers, name: wanted}}
    tables = tomlkit.document()
    tables[row.servers] = tomlkit.table(is_super_table=True).append(name, entry)
    for change in (
        lambda: _below(text, tomlkit.dumps(tables)),
        lambda: _changed_toml(text, (row.servers, name), wanted),
    ):
        try:
            after = change()
            if tomllib.loads(after, parse_float=str) == expected:
                return after
        except (TOMLKitError, tomllib.TOMLDecodeError):
            continue
    raise ValueError(f"{row.servers} is written in a way that cannot be added to surely")


def _changed_toml(text: str, keys: tuple[str, str], wanted: Entry) -> str:
    import tomlkit  # noqa: PLC0415 - as above

    document: Any = tomlkit.parse(text)
    servers, (_, name) = document[keys[0]], keys
    if name in servers and _starts_a_program(servers[name]):
        servers[name].update({key: value for key, value in wanted.items() if servers[name].get(key) != value})
    else:
        servers[name] = wanted
    after = tomlkit.dumps(document)
    return re.sub(r"(?<!\r)\n", "\r\n", after) if _line_end(text) == "\r\n" else after


def _below(text: str, added: str) -> str:
    """A text with another below it, after an empty line."""
    end = _line_end(text)
    glue = "" if not text.strip() else end if text.endswith("\n") else 2 * end
    return (text if glue else "") + glue + added.replace("\n", end)


def _line_end(text: str) -> str:
    """What ends the lines that are added."""
    return "\r\n" if "\r\n" in text and not re.search(r"(?<!\r)\n", text) else "\n"


def _merged_json(row: Client, text: str, name: str, entry: Entry) -> str:
    """Raises ValueError."""
    plain = _plain(row, text)
    if not plain.strip():
        return _below(text, json.dumps({row.servers: {name: entry}}, indent=2, ensure_ascii=False) + "\n")
    former = _JSON.decode(plain)
    if not isinstance(former, dict):
        raise ValueError("it holds no object")
    keys, servers = [row.servers], _table(former.get(row.servers, {}), row.servers)
    if row.is_one_list and isinstance(servers.get("servers"), dict) and "type" not in servers["servers"]:
        keys, servers = [*keys, "servers"], servers["servers"]  # as version 2 has it, which knows no `enabled`
        entry = {key: value for key, value in entry.items() if key != "enabled"}
    old = servers.get(name)
    if not _starts_a_program(old):
        return _with(row, text, (*keys, name), entry)
    for key, value in entry.items():
        if old.get(key) != value:
            text = _with(row, text, (*keys, name, key), value)
    return text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


# A number is never equal to what an entry has, and may have more digits than Python reads.
_JSON = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=_refuse)


def _plain(row: Client, text: str) -> str:
    """JSON of the same length: where the client allows comments and trailing commas, they are spaces."""
    if row.form == "json":
        return text
    return _TRAILING_COMMA.sub(lambda match: " " if match[0] == "," else match[0], _uncommented(text))


def _uncommented(text: str) -> str:
    def blank(match: re.Match[str]) -> str:
        is_comment = match[0].startswith("//") or (match[0].startswith("/*") and match[0].endswith("*/", 2))
        return re.sub(r"[^\r\n]", " ", match[0]) if is_comment else match[0]

    return _COMMENT.sub(blank, text)


class Member(NamedTuple):
    """A key of an object of JSON, where in the text it stands, and where its value begins and ends."""

    key: str
    at: int
    start: int
    end: int


def _with(row: Client, text: str, keys: Sequence[str], value: object) -> str:
    """A text of JSON with this value behind the keys, which lead through objects. Raises ValueError."""
    plain = _plain(row, text)
    opening = plain.index("{")
    members, closing = _members(plain, opening)
    unit = (_indent(text, members[0].at) if members else None) or "  "
    for depth, key in enumerate(keys, 1):
        same = [member for member in members if member.key == key]
        if len(same) > 1:
            raise ValueError(f"it has the key {key} twice")
        if not same:
            for inner in reversed(keys[depth:]):
                value = {inner: value}
            return _inserted(text, opening, members, closing, {key: value}, unit)
        if depth < len(keys):
            opening = same[0].start
            members, closing = _members(plain, opening)
    _, at, start, end = same[0]
    if _uncommented(text[start:end]) != text[start:end]:
        raise ValueError(f"a comment stands in {keys[-1]}")
    return text[:start] + _spelt(value, _indent(text, at), unit, text) + text[end:]


def _members(plain: str, opening: int) -> tuple[list[Member], int]:
    """Those of the object that opens there, and where it closes."""
    members: list[Member] = []
    at = _next(plain, opening + 1)
    while plain[at] != "}":
        key, end = _JSON.raw_decode(plain, at)
        start = _next(plain, _next(plain, end) + 1)
        _, end = _JSON.raw_decode(plain, start)
        members.append(Member(key, at, start, end))
        at = _next(plain, end)
        if plain[at] == ",":
            at = _next(plain, at + 1)
    return members, at


def _next(plain: str, at: int) -> int:
    """Where the next character stands that is no space."""
    found = _NO_SPACE.search(plain, at)
    return found.start() if found else len(plain)


def _inserted(text: str, opening: int, members: list[Member], closing: int, added: Entry, unit: str) -> str:
    """A text with a member more at the end of that object, laid out as the others are."""
    last = members[-1].end if members else opening + 1
    space = text[last:closing]
    kept = space.rstrip()
    end = space[len(kept) :]
    has_comma = bool(members) and "," in _uncommented(space)
    line_end = _line_end(text)
    indent: str | None = None
    if not members or re.search(r"[\r\n]", text[opening:closing]):
        outer = _INDENT.match(text, text.rfind("\n", 0, opening) + 1)
        base = outer[0] if outer else ""
        indent = (_indent(text, members[0].at) if members else None) or base + unit
        end = end if members or "\n" in end else line_end + base
    glue = " " if indent is None else line_end + indent
    ((key, value),) = added.items()
    member = f"{json.dumps(key, ensure_ascii=False)}: {_spelt(value, indent, unit, text)}"
    commas = ("," if members and not has_comma else "", "," if has_comma else "")
    return text[:last] + commas[0] + kept + glue + member + commas[1] + end + text[closing:]


def _indent(text: str, at: int) -> str | None:
    """The spaces before what begins a line; None for what does not."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if not before.strip() else None


def _spelt(value: object, indent: str | None, unit: str, text: str) -> str:
    """A value as JSON, on one line where it has no indent."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", _line_end(text) + indent)
