"""docs/rql.md and docs/rql.ebnf are true: every example runs, and grammar and parser accept the same language."""

from __future__ import annotations

import ast
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recall_core
from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config, override
from recall_core.errors import RqlError
from recall_core.rql.fields import qualified_names
from recall_core.rql.highlight import FUNCTIONS, KEYWORDS, TABLES
from recall_core.rql.options import OPTIONS
from recall_core.rql.parser import parse_query
from tests.builders import memory_store, new_file, put

SEEDS = 300 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 60

ROOT = Path(recall_core.__file__).parent.parent
PAGE = (ROOT / "docs" / "rql.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(rql(?:-error)?)( [^\n]+)?\n(.*?)^```", PAGE, re.M | re.S)
RIGHT = [(text, tuple(codes.split())) for kind, codes, text in EXAMPLES if kind == "rql"]
WRONG = [(text, *codes.split()) for kind, codes, text in EXAMPLES if kind == "rql-error"]
DAY_NS = 24 * 3600 * 10**9
NEW_YEAR_NS = 1_767_225_600 * 10**9  # 2026-01-01, UTC


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    store = memory_store()
    deploy = ["Deploy with care. A zero-downtime deploy drains one node at a time. ", "Undo a deploy by a rollback. "]
    retry = ["Retry with backoff. ", "A retry budget stops a storm of retries before it spreads. "]
    files = [
        ("docs/deploy.md", deploy, ("docs", "ops"), "wiki", {"year": 2024, "author": "ana", "draft": False}),
        ("docs/retry.md", retry, ("docs", "api"), "wiki", {"year": 2025, "draft": True, "review-by": "2025-06-30"}),
        ("docs/api/errors.md", ["Every error has a code. "], ("docs", "api"), "repo", {"year": 2026}),
        ("src/api/retry.py", ["def retry(budget): return budget - 1\n"], ("code",), "repo", {}),
        ("notes/O'Brien.md", ["Met O'Brien about the deploy. "], ("notes",), None, {}),
        ("notes/日記.md", ["今日は全文検索を書いた。"], ("notes", "draft"), None, {"author": "bo"}),
        ("archive/100%_done.txt", ["All done. "], ("archive",), None, {}),
    ]
    for day, (path, texts, tags, source, meta) in enumerate(files):
        mtime_ns = NEW_YEAR_NS + 3 * day * DAY_NS
        put(store, new_file(path, texts, tags=tags, source=source, meta=meta, mtime_ns=mtime_ns))
    with Recall(Engine(store, config=Config(embedding_dim=64), base=tmp_path_factory.mktemp("base"))) as recall:
        yield recall


def test_page_has_enough_examples() -> None:
    assert len(RIGHT) + len(WRONG) == PAGE.count("\n```rql") >= 40
    assert (
        len({text for text, *_ in RIGHT + WRONG}) == len(RIGHT) + len(WRONG) - 2
    )  # two are also listed under strict


def test_example_finds_rows_and_warns_as_documented(library: Recall) -> None:
    for text, warnings in RIGHT:
        response = library.query(text)

        told = {warning.partition(":")[0] for warning in response["warnings"]}
        assert told - {"W_STALE"} == set(warnings), (text, warnings)
        assert response["results"] or warnings, (text, warnings)


def test_wrong_example_is_refused_as_documented(library: Recall) -> None:
    for case in WRONG:
        text, code, *assignments = case

        with pytest.raises(RqlError) as caught:
            library.query(text, Ask(settings=tuple(assignments)))

        assert caught.value.code == code, case
        assert override(Config(), assignments).strict == bool(assignments), case


def test_every_field_operator_option_and_warning_is_documented() -> None:
    modules = [path for room in ("rql", "retrieve") for path in (ROOT / "recall_core" / room).rglob("*.py")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    of_rql = set(re.findall(r'"(W_[A-Z_]+):', source)) - {"W_CODE"}
    names = [name.replace("doc.meta", "doc.meta.KEY") for name in qualified_names()]

    missing = [name for name in (*names, *OPTIONS, *sorted(of_rql)) if f"`{name}`" not in PAGE]
    assert missing == []
    assert [word for word in KEYWORDS if not re.search(rf"\b{word}\b", PAGE)] == []


def test_every_language_error_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", page.split("## Queries and filters")[1].split("## ")[0], re.M))
    shown = {code for _, code, *_ in WRONG}

    assert sorted(documented - shown - {"rql_too_large"}) == []
    assert "`rql_too_large`" in PAGE


# The grammar: ISO EBNF, read into nested tuples.

TOKEN = re.compile(
    r"\(\*.*?\*\)|\?(?P<special>[^?]+)\?|\"(?P<text>[^\"]+)\"|(?P<name>\w[\w ]*\w|\w)|(?P<symbol>[^\s])", re.S
)
Node = tuple[str, object]
SPECIAL = {
    "string": ["'retry'", '"a b"', "'it''s'", "'日'", "'100\\%'", "''"],
    "metadata key": ["'a b'", '"limit"', "'it''s'"],
    "date": ["'2026-01-31'", "'2026-01-31T12:00:00+02:00'", "'2026-01-31T12:00:00.5Z'"],
    "number": ["0", "-1", "0.5", "1e6", "9223372036854775807"],
    "count": ["0", "1", "25"],
    "weight": ["0.5", "1000"],
    "share": ["0", "0.25", "1"],
    "pool size": ["1", "1000000"],
    "name": ["author", "_x1", "größe"],
    "bare name": ["id"],
}
BEYOND_GRAMMAR = {
    "duplicate_clause",
    "duplicate_option",
    "duplicate_signal",
    "bad_order",
    "sparse_with_offset",
    "sparse_with_order",
    "collapse_of_documents",
}
DEEP = 14


class Grammar:
    """The rules of an EBNF text by name: alternatives of sequences of (kind, content)."""

    def __init__(self, text: str) -> None:
        self.tokens = [found for found in TOKEN.finditer(text) if not found[0].startswith("(*")]
        self.place = 0
        self.rules: dict[str, Node] = {}
        while self.place < len(self.tokens):
            name = self.take()
            assert self.take() == "="
            self.rules[name] = self.alternatives()
            assert self.take() == ";"

    def take(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1][0]

    def peek(self) -> str:
        return self.tokens[self.place][0]

    def alternatives(self) -> Node:
        choices = [self.sequence()]
        while self.peek() == "|":
            self.take()
            choices.append(self.sequence())
        return ("or", choices)

    def sequence(self) -> Node:
        parts = [self.term()]
        while self.peek() == ",":
            self.take()
            parts.append(self.term())
        return ("all", parts)

    def term(self) -> Node:
        found = self.tokens[self.place]
        text = self.take()
        if text in "([{":
            inner = self.alternatives()
            assert self.take() == {"(": ")", "[": "]", "{": "}"}[text]
            return ({"(": "all", "[": "maybe", "{": "many"}[text], [inner])
        if found["special"] is not None:
            return ("special", found["special"])
        return ("text", found["text"]) if found["text"] is not None else ("rule", text)


GRAMMAR = Grammar((ROOT / "docs" / "rql.ebnf").read_text(encoding="utf-8"))


def terminals(node: Node) -> Iterator[str]:
    kind, content = node
    if kind == "text":
        yield str(content)
    elif isinstance(content, list):
        for inner in content:
            yield from terminals(inner)


def sentence(name: str, chance: random.Random, depth: int = 0) -> str:
    """Return a random sentence of a rule; at depth it takes the last alternative without repeats."""

    def grow(node: Node, depth: int) -> str:
        kind, content = node
        if kind == "text":
            return str(content)
        if kind == "rule":
            return sentence(str(content), chance, depth + 1)
        if kind == "special":
            return chance.choice(SPECIAL[name])
        assert isinstance(content, list)
        if kind == "or":
            return grow(content[-1] if depth > DEEP else chance.choice(content), depth)
        times = 1 if kind == "all" else 0 if depth > DEEP else chance.randrange(2 if kind == "maybe" else 3)
        return " ".join(grow(inner, depth) for _ in range(times) for inner in content)

    return grow(GRAMMAR.rules[name], depth)


@given(st.integers(0, 2**32))
def test_every_sentence_of_the_grammar_is_a_query(seed: int) -> None:
    text = re.sub(r"doc\.meta\. ", "doc.meta.", sentence("query", random.Random(seed)))

    assert refusal(text) in {None, *BEYOND_GRAMMAR}, text


def test_most_grammar_sentences_are_valid_queries() -> None:
    texts = [re.sub(r"doc\.meta\. ", "doc.meta.", sentence("query", random.Random(seed))) for seed in range(SEEDS)]

    assert sum(refusal(text) is None for text in texts) > len(texts) / 2


def refusal(text: str) -> str | None:
    try:
        parse_query(text)
    except RqlError as error:
        return error.code
    return None


def test_every_rule_is_used_and_every_name_defined() -> None:
    def names(node: Node) -> Iterator[str]:
        kind, content = node
        if kind == "rule":
            yield str(content)
        elif isinstance(content, list):
            for inner in content:
                yield from names(inner)

    used = {name for rule in GRAMMAR.rules.values() for name in names(rule)}
    assert used | {"query"} == set(GRAMMAR.rules)


def words_of_the_parser() -> set[str]:
    """Return every keyword that the parser's modules ask their cursor for."""
    found = {"USING", "FILTER", "ORDER", "LIMIT", "OPTION"}  # read through one constant
    for name in ("parser", "filters", "options"):
        tree = ast.parse((ROOT / "recall_core" / "rql" / f"{name}.py").read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            asks = isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("at", "accept", "expect")
            found |= {word.value for word in call.args if isinstance(word, ast.Constant)} if asks else set()
    return found


def test_grammar_and_parser_know_the_same_words() -> None:
    shown = {text for rule in GRAMMAR.rules.values() for text in terminals(rule)}

    assert {word for word in shown if word.isupper()} == words_of_the_parser() == set(KEYWORDS)
    assert set(OPTIONS) | {choice for option in OPTIONS.values() for choice in option.choices} <= shown
    assert {word.rstrip(".") for word in shown if "." in word and len(word) > 1} == set(qualified_names())
    lower = {word for word in shown if word.isidentifier() and word.islower()}
    known = {choice for option in OPTIONS.values() for choice in option.choices} | set(OPTIONS)
    assert lower == known | set(FUNCTIONS) | set(TABLES) | {"score"}
