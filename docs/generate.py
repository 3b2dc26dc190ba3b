"""Write pages from code and figures: the JSON Schema, the tools of the MCP server, docs/keys.md, tables, and sections
of new commands.

Run it as `make generated` after you change `recall_core/contract`, a command, a tool, a key or benchmarks/speed.json.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NotRequired, TypedDict, get_args, get_type_hints

import msgspec

from benchmarks.speed import readme
from recall_core import personal
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import Command, Flag
from recall_core.adapters.mcp.tools import described
from recall_core.adapters.parser import command_parser
from recall_core.config import to_toml
from recall_core.contract import Head, responses
from recall_tui.actions.table import markdown

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "recall_core" / "schema" / "response.schema.json"
TOOLS = ROOT / "recall_core" / "adapters" / "mcp" / "tools.json"
PAGE = ROOT / "docs" / "json.md"
KEYS = ROOT / "docs" / "keys.md"
COMMANDS = ROOT / "docs" / "cli.md"
SETTINGS = ROOT / "docs" / "settings.md"
SETTING_TABLE = re.compile(r"(?<=\n)\| setting \| default \| meaning \|\n\|---\|---\|---\|\n(?:\|.*\n)*")
TABLE = re.compile(r"(?<=\n)\| key \| commands \| meaning \|\n(?:\|.*\n)+")
NOTES = "<!-- by hand -->\n"
KEY_TABLES = re.compile(r"(?<=\n)## Panes\n.*?(?=\n## Keys of your own\n)", re.DOTALL)
MANY = 8
"""A key that this many commands have is shown without a list of them."""


def schema() -> str:
    """Return the JSON Schema (draft 2020-12) of the answers: any of the types, and Response with all their keys.

    The docstring of a field becomes the description of its property.
    """
    kinds = get_args(responses.AnyResponse)
    optional = {key: NotRequired[hint] for kind in kinds for key, hint in get_type_hints(kind).items()}
    response = TypedDict("Response", optional | get_type_hints(Head))  # type: ignore[misc] # made of the others
    response.__doc__ = "What every command answers, on one line of JSON: any of the keys of the others."
    references, parts = msgspec.json.schema_components((response, *kinds), ref_template="#/$defs/{name}")
    for name, part in parts.items():
        for key, text in _meanings(name).items():
            part["properties"][key] |= {"description": text}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "recall/response/1",
        "title": "Recall response",
        **references[0],
        "anyOf": list(references[1:]),
        "$defs": _on_one_line(parts),
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _on_one_line(node: object) -> object:
    """Return the schema with each description on one line: Python 3.13 indents docstrings differently from 3.12."""
    if isinstance(node, list):
        return [_on_one_line(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: " ".join(value.split()) if key == "description" and isinstance(value, str) else _on_one_line(value)
        for key, value in node.items()
    }


def tools() -> str:
    """Return the tools of the MCP server as clients see them, one on a line."""
    return "[\n" + ",\n".join(json.dumps(tool, ensure_ascii=False) for tool in described()) + "\n]\n"


@cache
def _classes() -> dict[str, ast.ClassDef]:
    """Return the types of the contract by name."""
    folder = ROOT / "recall_core"
    texts = [
        path.read_text(encoding="utf-8") for path in (*folder.glob("contract/*.py"), folder / "rql" / "views.py")
    ]
    return {node.name: node for text in texts for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}


def _meanings(name: str) -> dict[str, str]:
    """Return the docstrings of the fields of a type, including those of its bases."""
    if name not in _classes():
        return {}
    node = _classes()[name]
    bases = [_meanings(ast.unparse(base).rpartition(".")[2]) for base in node.bases]
    return {key: text for part in (*bases, dict(_fields(node))) for key, text in part.items()}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield each field that has a docstring, with that docstring."""
    for each, after in pairwise(node.body):
        has_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if has_text and isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id, " ".join(str(after.value.value).split())


def page(text: str) -> str:
    """Return the page with its table as in the code. Rows keep the order of the page."""
    listed = re.findall(r"^\| `(\w+)` \|", TABLE.findall(text)[0], flags=re.MULTILINE)
    order = {key: place for place, key in enumerate(listed)}
    rows = sorted(keys(), key=lambda row: order.get(row[0], len(order)))
    lines = "".join(f"| `{key}` | {commands} | {meaning} |\n" for key, commands, meaning in rows)
    return TABLE.sub(lambda _: f"| key | commands | meaning |\n|---|---|---|\n{lines}", text)


def keys() -> Iterator[tuple[str, str, str]]:
    """Yield every key of an answer, the commands that have it, and its meaning from the docstrings of the types."""
    kinds = {kind.__name__: get_type_hints(kind) for kind in get_args(responses.AnyResponse)}
    for key in dict.fromkeys(key for hints in kinds.values() for key in hints):
        having = [name for name, hints in kinds.items() if key in hints]
        meaning = next((text for name in having if (text := _meanings(name).get(key))), None)
        if meaning is None:
            raise SystemExit(f"Document {key} below that field of {having[0]}.")
        commands = [command for name in having for command in _commands(ast.get_docstring(_classes()[name]) or "")]
        yield key, _shown(commands, is_in_all=len(having) == len(kinds)), _in_a_cell(meaning.removesuffix("."))


def _commands(docstring: str) -> list[str]:
    """Return `search` and `query` for "The answer of search and query."."""
    named = re.match(r"The answer of ([^.:]+?)(?: for [^.]+)?[.:]", docstring)
    return [] if named is None or named[1].startswith(("every", "any")) else named[1].split(" and ")


def _shown(commands: list[str], *, is_in_all: bool) -> str:
    names = list(dict.fromkeys(commands))
    return "all" if is_in_all or not names else "most" if len(names) > MANY else ", ".join(names)


def _in_a_cell(meaning: str) -> str:
    return meaning if meaning[1:2].isupper() else meaning[:1].lower() + meaning[1:]


def replace_key_tables(text: str) -> str:
    """Return the page of keys with its tables as the workbench binds them."""
    return KEY_TABLES.sub(lambda _: markdown(), text)


def replace_settings(text: str) -> str:
    """Return the page of a person's settings with its table as in the code."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, setting in personal.TABLE.settings.items():
        choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
        lines.append(f"| `{name}` | `{to_toml(personal.TABLE.defaults[name])}` | {setting.doc}{choices} |")
    return SETTING_TABLE.sub(lambda _: "\n".join(lines) + "\n", text)


def sections(text: str) -> str:
    """Return the page of the command line with each command's part as in the code.

    Notes of a section, below NOTES, stay. A new command gets a section above that of the workbench.
    """
    for command in BY_NAME.values():
        head, heading, rest = text.partition(f"\n## {command.name}\n")
        if not heading:
            head, _, rest = text.partition("\n## recall-tui\n")
            rest = f"\n## recall-tui\n{rest}"
        _, _, rest = rest.partition(NOTES) if heading else ("", "", rest)
        text = f"{head}\n## {command.name}\n\n{_section(command)}\n{NOTES}{rest}"
    return text


def _section(command: Command[Any]) -> str:
    """Return the output of `recall COMMAND --help`, with a link for each flag that an earlier command has too."""
    operand, homes = command.operand, _homes()
    shared: dict[str, list[str]] = {}
    for flag in command.flags:
        if (home := homes[flag]) != command.name:
            shared.setdefault(home, []).append(f"`{flag.name}`")
    rows = [(operand.name, operand.doc)] if operand else []
    rows += [(_spelled(flag), flag.doc) for flag in command.flags if homes[flag] == command.name]
    lines = [command.purpose, "", "```", command_parser(command).usage, *command.examples, "```", ""]
    if rows:
        lines += ["| flag | meaning |", "|---|---|", *(f"| `{name}` | {doc} |" for name, doc in rows), ""]
    lines += [f"As for [{home}](#{home}): {', '.join(names)}.\n" for home, names in shared.items()]
    if command.note:
        lines += [command.note, ""]
    return "\n".join(lines)


@cache
def _homes() -> dict[Flag, str]:
    """Return the first command that has each flag, in the order of the help, with `search` first."""
    commands = sorted(BY_NAME.values(), key=lambda command: command.name != "search")
    return {flag: command.name for command in reversed(commands) for flag in command.flags}


def _spelled(flag: Flag) -> str:
    """Return how a flag is typed: `--k N, -n N`."""
    return ", ".join(f"{name} {flag.metavar}".strip() for name in reversed(flag.names))


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
    TOOLS.write_text(tools(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    KEYS.write_text(replace_key_tables(KEYS.read_text(encoding="utf-8")), encoding="utf-8")
    SETTINGS.write_text(replace_settings(SETTINGS.read_text(encoding="utf-8")), encoding="utf-8")
    COMMANDS.write_text(sections(COMMANDS.read_text(encoding="utf-8")), encoding="utf-8")
    readme.main([readme.KEPT])
