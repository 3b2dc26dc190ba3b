"""Writes what is taken from the code and from figures: the JSON Schema, docs/keys.md, and other tables.

Run it as `make generated` after a change of `recall_core/contract`, of a text of `recall_tui` or of docs/speed.json.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.speed import readme
from recall_core.contract import responses
from recall_core.contract.responses import schema as contract_schema
from recall_tui.actions.table import markdown

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "recall_core" / "schema" / "response.schema.json"
PAGE = ROOT / "docs" / "json.md"
KEYS = ROOT / "docs" / "keys.md"
TABLE = re.compile(r"(?<=\n)\| key \| commands \| meaning \|\n(?:\|.*\n)+")
MANY = 8
"""Of so many commands no list is shown."""


def schema() -> str:
    """The text of the JSON Schema."""
    return json.dumps(contract_schema(), indent=2, ensure_ascii=False) + "\n"


def page(text: str) -> str:
    """The page with its table as the code has it."""
    rows = "".join(f"| `{key}` | {commands} | {meaning} |\n" for key, commands, meaning in keys())
    return TABLE.sub(lambda _: f"| key | commands | meaning |\n|---|---|---|\n{rows}", text)


def keys() -> Iterator[tuple[str, str, str]]:
    """Every key of an answer, the commands that have it, and what it means, from the text of the types."""
    classes = {node.name: node for node in ast.parse(_source()).body if isinstance(node, ast.ClassDef)}
    meanings = dict(_fields(classes["Response"]))
    answered = {name: _commands(ast.get_docstring(node) or "") for name, node in classes.items()}
    for key, meaning in meanings.items():
        having = [name for name, node in classes.items() if name != "Response" and key in dict(_fields(node))]
        yield key, _shown([command for name in having for command in answered[name]]), _in_a_cell(meaning)


def _source() -> str:
    return Path(responses.__file__).read_text(encoding="utf-8")


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Each key with the text below it."""
    for each, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            is_told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield each.target.id, " ".join(str(after.value.value).split()).rstrip(".") if is_told else ""


def _commands(docstring: str) -> list[str]:
    """`search` and `query` of "What search and query answer."."""
    told = re.match(r"What (.+?) answers?\b", docstring)
    return [] if told is None or told[1].startswith(("every", "any")) else told[1].split(" and ")


def _shown(commands: list[str]) -> str:
    names = list(dict.fromkeys(commands))
    return "all" if not names else "most" if len(names) > MANY else ", ".join(names)


def _in_a_cell(meaning: str) -> str:
    return meaning if meaning[1:2].isupper() else meaning[:1].lower() + meaning[1:]


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    KEYS.write_text(markdown(), encoding="utf-8")
    readme.main([readme.KEPT])
