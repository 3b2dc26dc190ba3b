"""Plain input is parsed without the general library, and means the same."""

from __future__ import annotations

import os
import tomllib
from random import Random

import pytest

from recall_core.adapters import parser
from recall_core.adapters.commands import BY_NAME, parse_plain
from recall_core.config import Config, render
from recall_core.config import plain as plain_toml
from recall_core.errors import UsageError
from recall_core.words import question as query

WORDS = ("a.md", "two words", "é", "", "-", "--", "-1", "x=y", "import", "on", "10", "\udcff", "3", "all", "a,b")


NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


def lines() -> list[list[str]]:
    """Return command lines of every command, most of them valid, with each flag somewhere."""
    chance, found = Random(21), []
    for command in BY_NAME.values():
        flags = [*command.flags, *parser.GLOBALS]
        operand = command.operand
        known = () if operand is None else (*operand.choices, *operand.actions)
        for _ in range(150 if NIGHTLY else 40):
            words = [chance.choice(known or WORDS[:3]) for _ in range(chance.randrange(4))]
            for flag in chance.sample(flags, min(len(flags), chance.randrange(4))):
                value = chance.choice((*WORDS, *flag.choices, *flag.choices, "7", "text", "k=1"))
                both = (
                    [f"{flag.name}={value}"] if chance.random() < 0.3 else [flag.name, *[value] * bool(flag.metavar)]
                )
                place = chance.randrange(len(words) + 1)
                words[place:place] = both
            if chance.random() < 0.1:
                words.insert(
                    chance.randrange(len(words) + 1), chance.choice(("--", "-h", "--jso", "-x", "--version"))
                )
            found.append([command.name, *words])
    return found


def meant(argv: list[str]) -> object:
    try:
        request = parser.parse(argv)
    except UsageError as error:
        return str(error)
    return (*request._replace(flags=vars(request.flags)),)


def test_plain_parser_agrees_with_argparse() -> None:
    read = 0
    for argv in lines():
        request = parse_plain(argv)
        if request is not None:
            read += 1
            assert (*request._replace(flags=vars(request.flags)),) == meant(argv), argv
    assert read > (1_000 if NIGHTLY else 300)


def test_common_commands_are_plain() -> None:
    for line in [
        "search deploy --json",
        "search two words --k 3 --filter x",
        "get a.md",
        "stats --json --store=x",
        "context deploy",
    ]:
        assert parse_plain(line.split()) is not None, line


def test_generated_recall_toml_is_read_as_by_tomllib() -> None:
    text = render(Config())
    assert plain_toml(text) == tomllib.loads(text)


KEYS = ("key", "k_y-2", "a", "a.b", "", "1", '"q"', "é", "[t]", " # on", "#")
SIGNS = ("=", " = ", " =", "= ", " == ", "", "\t=\t")
VALUES = """1|01|-1|-0|+1|1.5|1.|.5|-0.0|1e3|1_0|0|true|True|nan|[|[1]|'x'|"text"|""|"a\\nb\\t"|"\\u0041"|"\\\\n"|é
|"a"b"|"é"|2024-01-01|0x1|{}|\"\"\"|\ufeff|"\u2028"|"a\tb"|-|--1|1.5.5|٣""".split("|")
TABLES = ("[t]", "[t]", " [ key ] ", "[a-1]", "[]", "[[t]]", "[a.b]", "[t] # on", '["q"]', "[t]]", "[t", "[é]")
ENDS = ("", "", "", " ", " # on", "\r", "\x00", "\x7f", "#", '"', "\t")


def test_plain_toml_agrees_with_tomllib() -> None:
    chance, read = Random(21), 0
    for _ in range(40_000 if NIGHTLY else 10_000):
        parts = [[chance.choice(each) for each in (KEYS, SIGNS, VALUES, ENDS)] for _ in range(chance.randrange(1, 5))]
        lines = ["".join(part) if chance.random() < 0.7 else chance.choice(TABLES) for part in parts]
        text = "\n".join(lines)
        said = plain_toml(text)
        if said is not None:
            read += 1
            assert repr(said) == repr(tomllib.loads(text)), text
    assert read > (1_000 if NIGHTLY else 250)


def test_plain_query_is_split_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    words = (
        "kernel", "use", "Find", "k8s", "2", "42", "x", "S", "al", "et", "Et", "papers", "what", "", " ", "e.g.",
        "don't", "a.out", "é", "C++", "ETC", "cf", "am", "any_one", "information",
    )  # fmt: skip
    chance = Random(21)
    asked = [" ".join(chance.choice(words) for _ in range(chance.randrange(6))) for _ in range(3_000)]
    assert sum(map(query._is_plain, asked)) > 200
    found = [list(query.pieces(text, with_question_words=bool(i % 2))) for i, text in enumerate(asked)]
    monkeypatch.setattr(query, "_is_plain", lambda _: False)
    for i, (text, pieces) in enumerate(zip(asked, found, strict=True)):
        closely = query.pieces(text, with_question_words=bool(i % 2))
        assert pieces == list(closely), text
