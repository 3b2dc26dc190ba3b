"""Hints: an action with its arguments, spelled in one place, and valid on the command line."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import recall_core
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import GLOBALS, Command
from recall_core.adapters.parser import parse
from recall_core.errors import UsageError
from recall_core.explain.whynot.question import Question, command
from recall_core.shell import AGAIN, INSTALL, REST, Hint, Verbatim, flag

ROOT = Path(recall_core.__file__).parents[1]
PIP = {"upgrade", "force_reinstall"}
CONSTANTS = {"AGAIN": AGAIN, "INSTALL": INSTALL, "REST": REST}


class Call(NamedTuple):
    """A call of Hint or flag in the source. words: its literal words."""

    place: str
    actions: tuple[str, ...]
    words: tuple[str, ...] | None
    options: dict[str, object]


@cache
def calls() -> dict[str, list[Call]]:
    """Return the calls by function name. Only files with `Hint(` or `flag(` are parsed, which saves most time."""
    found: dict[str, list[Call]] = {"Hint": [], "flag": []}
    paths = {path for package in ("recall_core", "recall_tui") for path in (ROOT / package).rglob("*.py")}
    for path in sorted(paths - {ROOT / "recall_core/shell.py"}):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"\b(Hint|flag)\s*\(", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in found:
                found[node.func.id].append(read_call(f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


def read_call(place: str, node: ast.Call) -> Call:
    words = [written(word) for word in node.args[1:]]
    options = {each.arg: written(each.value) for each in node.keywords if each.arg is not None}
    known = None if None in words else tuple(word for word in words if isinstance(word, str))
    return Call(place, tuple(chosen(node.args[0])), known, options)


def chosen(node: ast.expr) -> Iterator[str]:
    """Yield the strings that an argument may be."""
    if isinstance(node, ast.IfExp):
        yield from chosen(node.body)
        yield from chosen(node.orelse)
    else:
        value = written(node)
        assert isinstance(value, str), f"{ast.unparse(node)} is not a literal"
        yield value


def written(node: ast.expr) -> object:
    """Return the value of a constant or a named word, or None if it is known only at run time."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.Call(func=ast.Name(id="Verbatim"), args=[ast.Constant(value=str(value))]):
            return Verbatim(value)
    return None


def flags_of(commands: Iterable[Command]) -> set[str]:
    return {each.name for command in commands for each in (*command.flags, *GLOBALS)}


def flags_for(option: str, value: object) -> set[str]:
    if option == "mode":
        return {"--bm25", "--vector"}
    return {flag(f"no_{option}" if value is False else option)}


def misunderstood(words: list[str]) -> str:
    """Return the error code of a command line, or ""; operands may be missing, as a sentence may supply them."""
    try:
        parse(words)
    except UsageError as error:
        return "" if error.code == "missing_argument" else error.code
    return ""


def whole_hints() -> list[Hint]:
    """Return the hints that the source spells out."""
    return [
        Hint(action, *each.words, **each.options)  # type: ignore[arg-type]  # options that are written out
        for each in calls()["Hint"]
        for action in each.actions
        if each.words is not None and None not in each.options.values()
    ]


def test_actions_and_options_of_hints_exist_on_command_line() -> None:
    for call, action in [(each, action) for each in calls()["Hint"] for action in each.actions]:
        if action == INSTALL:
            assert call.options.keys() <= PIP, call
            continue
        verb, _, operand = action.partition(" ")
        commands = tuple(BY_NAME.values()) if action in ("", AGAIN) else (BY_NAME[verb],)
        for option, value in call.options.items():
            assert flags_for(option, value) <= flags_of(commands), call
        if operand:
            assert commands[0].operand is not None, call
            assert operand in (*commands[0].operand.choices, *commands[0].operand.actions), call


def test_flag_named_in_a_message_exists() -> None:
    for call in calls()["flag"]:
        assert {flag(each) for each in call.actions} <= flags_of(BY_NAME.values()), call


def test_literal_hint_parses() -> None:
    for hint in [each for each in whole_hints() if each.action not in (AGAIN, INSTALL)]:
        assert not misunderstood(shlex.split(hint)[1:]), hint


def test_option_to_add_has_an_accepted_value() -> None:
    for hint in [each for each in whole_hints() if each.action == AGAIN]:
        name, *value = shlex.split(hint)
        command = next(each for each in BY_NAME.values() if name in flags_of((each,)))

        assert not misunderstood([command.name, name, *value]), hint


def test_no_flag_is_spelled_below_the_adapters() -> None:
    found = []
    for path in sorted((ROOT / "recall_core").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "--" not in text or path.is_relative_to(ROOT / "recall_core/adapters") or path.name == "__main__.py":
            continue
        tree = ast.parse(text)
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno} {node.value!r}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
            if re.search(r"(?<![\w-])--[a-z]", node.value)
        ]

    assert found == []


def test_command_of_a_query_runs_that_query() -> None:
    question = Question(
        "-undo a deploy",
        mode="semantic",
        filter="doc.tag = 'docs'",
        k=3,
        settings=("bm25_weight=0.2", "pool=20"),
        exact=True,
        budget_tokens=900,
        diversity=2,
        counter="approx",
    )

    request = parse(shlex.split(command(question))[1:])

    assert (request.command, request.words) == (BY_NAME["context"], ("-undo a deploy",))
    told = request.flags
    assert (told.vector, told.bm25, told.filter, told.k) == (True, False, "doc.tag = 'docs'", 3)
    assert (tuple(told.set), told.exact) == (question.settings, True)
    assert (told.budget_tokens, told.diversity, told.counter) == (900, 2, "approx")


def test_hint_reads_as_typed() -> None:
    for hint, line in [
        (Hint("sync"), "recall sync"),
        (Hint("search", REST, mode="lexical"), "recall search --bm25 …"),
        (Hint("search", "two words", k=3, mode="hybrid"), "recall search 'two words' --k 3"),
        (Hint("stats", store="my notes/recall.db"), "recall --store 'my notes/recall.db' stats"),
        (Hint("export", embeddings=False, out="FILE"), "recall export --no-embeddings --out FILE"),
        (Hint("reembed", "local", set=("a=1", "b=2")), "recall reembed local --set a=1 --set b=2"),
        (Hint("rm", "-x.md"), "recall rm -- -x.md"),
        (Hint("whynot", "words", target="-x.md"), "recall whynot words --target=-x.md"),
        (Hint("whynot", rql="-- all\nFROM doc"), "recall whynot --rql '-- all\nFROM doc'"),
        (Hint("query", "-- all\nFROM doc", k=3), "recall query '-- all\nFROM doc' --k 3"),
        (Hint("tune", Verbatim('"words"'), sweep=True), 'recall tune "words" --sweep'),
        (Hint("search", "…", k=1), "recall search '…' --k 1"),
        (Hint(AGAIN, budget_tokens=2000), "--budget-tokens 2000"),
        (
            Hint(INSTALL, "ir-measures<0.5", upgrade=True),
            f"{shlex.quote(sys.executable)} -m pip install --upgrade 'ir-measures<0.5'",
        ),
    ]:
        assert hint == line, (hint, line)


def test_hint_can_be_rebuilt_from_action_and_arguments() -> None:
    hint = Hint("search", "two words", mode="lexical", k=3)

    assert (hint.action, hint.words, hint.options) == ("search", ("two words",), (("mode", "lexical"), ("k", 3)))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda hint: pickle.loads(pickle.dumps(hint))])
def test_copy_of_a_hint_equals_it(copied: object) -> None:
    hint = Hint("search", REST, mode="lexical", store="notes")

    same = copied(hint)  # type: ignore[operator]

    assert (type(same), same, same.action, same.words, same.options) == (Hint, hint, "search", (REST,), hint.options)
