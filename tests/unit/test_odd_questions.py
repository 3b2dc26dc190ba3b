"""Invalid queries: too long, of the wrong type, not Unicode; and the content of a refusal."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from recall_core import Ask, Pack, Recall
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.errors import RecallError, StoreError, UsageError
from recall_core.retrieve.plan import LONGEST_QUESTION
from recall_core.shell import Hint
from recall_core.views import failure

Odd = Callable[[Recall, Any], object]

TEXTS: dict[str, Odd] = {
    "search": lambda recall, odd: recall.search(odd),
    "query": lambda recall, odd: recall.query(odd),
    "context": lambda recall, odd: recall.context(odd),
    "context by RQL": lambda recall, odd: recall.context(rql=odd),
    "explain": lambda recall, odd: recall.explain(odd, "a.txt"),
    "explain a target": lambda recall, odd: recall.explain("apples", odd),
    "why not": lambda recall, odd: recall.why_not(odd, "a.txt"),
    "why not a target": lambda recall, odd: recall.why_not("apples", odd),
    "trace": lambda recall, odd: recall.trace(odd),
    "get": lambda recall, odd: recall.get(odd),
    "list": lambda recall, odd: recall.list(odd),
    "list a glob": lambda recall, odd: recall.list(glob=odd),
    "sweep": lambda recall, odd: recall.sweep(odd),
    "report": lambda recall, odd: recall.report(odd),
    "a filter": lambda recall, odd: recall.search("apples", filter=odd),
    "a mode": lambda recall, odd: recall.search("apples", mode=odd),
    "a snapshot": lambda recall, odd: recall.search("apples", snapshot=odd),
    "check": lambda recall, odd: recall.check_rql(odd),
    "format": lambda recall, odd: recall.format_rql(odd),
    "complete": lambda recall, odd: recall.complete_rql(odd, 0),
    "explain RQL": lambda recall, odd: recall.explain_rql(odd),
    "reembed": lambda recall, odd: list(recall.reembed(odd)),
    "add": lambda recall, odd: recall.index(odd),
    "open": lambda recall, odd: Recall.open(odd),
    "backup": lambda recall, odd: recall.backup(odd),
    "verify": lambda recall, odd: recall.verify(odd),
    "replay": lambda recall, odd: recall.replay(odd),
}
NONE_IS_NOTHING = {
    "context",
    "context by RQL",
    "explain",
    "explain a target",
    "why not",
    "trace",
    "list a glob",
    "a filter",
    "a snapshot",
    "open",
}

NUMBERS: dict[str, Odd] = {
    "k": lambda recall, odd: recall.search("apples", k=odd),
    "k of an Ask": lambda recall, odd: recall.search("apples", Ask(k=odd)),
    "budget": lambda recall, odd: recall.context("apples", budget_tokens=odd),
    "budget of a Pack": lambda recall, odd: recall.context("apples", pack=Pack(budget_tokens=odd)),
    "diversity": lambda recall, odd: recall.context("apples", budget_tokens=9, diversity=odd),
    "lines around": lambda recall, odd: recall.search("apples", lines_around=odd),
    "limit": lambda recall, odd: recall.list(limit=odd),
}

SWITCHES: dict[str, Odd] = {
    "passages": lambda recall, odd: recall.search("apples", passages=odd),
    "explain": lambda recall, odd: recall.search("apples", explain=odd),
    "exact": lambda recall, odd: recall.search("apples", exact=odd),
}

LISTS: dict[str, Odd] = {
    "remove": lambda recall, odd: recall.remove(odd),
    "add": lambda recall, odd: list(recall.add(odd)),
    "pins": lambda recall, odd: recall.context("apples", budget_tokens=9, pins=odd),
    "settings": lambda recall, odd: recall.search("apples", settings=odd),
    "under": lambda recall, odd: recall.under(odd),
}


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "a.txt").write_text("apples and pears\n")
    Recall.init(str(folder), settings={"embedding": "hash"})
    with Recall.open(str(folder)) as opened:
        opened.index(str(folder / "a.txt"))
        yield opened


def test_values_of_the_wrong_type_are_refused_with_a_code(recall: Recall) -> None:
    for doors, values in (
        (TEXTS, (None, 5, b"x", ["a"])),
        (NUMBERS, ("x", "5", 2.5, True, [1])),
        (LISTS, ("abc", 5, [5])),
        (SWITCHES, ("x", 2, 1.5, [1], np.ones(2))),
    ):
        for name, ask in doors.items():
            for value in values:
                if value is None and name in NONE_IS_NOTHING:
                    continue
                with pytest.raises(RecallError) as refused:
                    ask(recall, value)
                assert refused.value.code == "bad_value", (name, value)
                assert type(value).__name__ in refused.value.message or repr(value) in refused.value.message, name


def test_lone_surrogate_is_refused_in_printable_words(recall: Recall) -> None:
    for name, ask in TEXTS.items():
        if name == "complete":
            continue  # an incomplete text
        with pytest.raises(RecallError) as refused:
            ask(recall, "half \ud800 pair")
        str(refused.value).encode()
        answer = msgspec.json.encode(failure(refused.value))
        assert b"\\ud800" in answer or refused.value.code == "bad_receipt", name


def test_query_above_20_000_characters_is_refused(recall: Recall) -> None:
    longest = "é" * LONGEST_QUESTION
    assert recall.search(longest, mode="lexical")["ok"]
    words = longest + "é"
    rql = f'SELECT * FROM chunk USING lexical("{words}") LIMIT 3'
    for ask in (recall.search, recall.context, recall.trace, recall.sweep, recall.report):
        with pytest.raises(UsageError) as refused:
            ask(words)
        assert refused.value.code == "query_too_long"
        assert "20,001 characters" in refused.value.message
        assert len(json.dumps(failure(refused.value))) < 500
    for ask in (recall.query, recall.explain_rql, recall.check_rql):
        with pytest.raises(UsageError) as refused:
            ask(rql)
        assert refused.value.code == "query_too_long"
    for refuse in (lambda: recall.explain(words, "a.txt"), lambda: recall.why_not(words, "a.txt")):
        with pytest.raises(UsageError) as refused:
            refuse()
        assert refused.value.code == "query_too_long"


def test_answer_contains_a_long_query_once(recall: Recall) -> None:
    question = "apples " * 1_000
    for answer in (recall.search(question), recall.context(question, budget_tokens=50), recall.trace(question)):
        assert json.dumps(answer).count(question) == 1
    short = recall.search("apples")["query"]["plan"]["signals"]
    assert [signal["text"] for signal in short] == ["apples", "apples"]


def test_refusal_quotes_only_the_beginning_of_a_long_value(recall: Recall) -> None:
    endless = "z" * 1_000_000
    for name, ask in TEXTS.items():
        if name not in ("list", "complete"):
            with pytest.raises(RecallError) as refused:
                ask(recall, endless)
            assert len(json.dumps(failure(refused.value))) < 10_000, name


def test_caret_shows_the_relevant_part_of_a_long_line(recall: Recall) -> None:
    with pytest.raises(UsageError) as refused:
        recall.query("SELECT * FROM chunk FILTER doc.path = " + "'a' AND doc.path = " * 2_000 + "7 LIMIT 3")
    lines = refused.value.caret().splitlines()  # type: ignore[attr-defined] - an RqlError has it
    assert len(lines[0]) <= 200
    assert lines[0][lines[1].index("^")] == "7"


def test_answers_consist_of_plain_strings(recall: Recall) -> None:
    class Word(str):
        __slots__ = ()

    chunk = recall.search("apples")["results"][0]["chunk"]["id"]
    answers: list[object] = [
        recall.search(Word("apples"), explain=True, receipt=True),
        recall.query(Word("SELECT * FROM doc LIMIT 2")),
        recall.context(Word("apples"), budget_tokens=50),
        recall.explain(Word("apples"), Word(chunk)),
        recall.why_not(Word("apples"), Word("a.txt")),
        recall.get(Word("a.txt")),
        recall.list(Word("a")),
        recall.trace(Word("apples")),
        recall.report(Word("apples")),
        recall.sweep(Word("apples")),
        recall.stats(sizes=True),
        recall.doctor(),
        recall.roots(),
        recall.embedders(),
        recall.complete_rql(Word("SEL"), 3),
        failure(UsageError("bad_value", "This is wrong.", hint=Hint("search", "x"))),
    ]
    for answer in answers:
        assert msgspec.json.decode(msgspec.json.encode(answer)) == answer


def test_password_of_a_store_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in (
        "postgres://ann:s3cret@host/notes",
        "postgresql+psycopg://ann:s3cret@host/notes",
        "postgres://ann:s3/c@ret@host/notes",
        "postgres://host/notes?user=ann&password=s3cret",
        "postgres:host=db user=ann password=s3cret",
        "postgres:host=db password='s3 cret' user=ann",
    ):
        with pytest.raises(RecallError) as refused:
            Recall.open(url, start=tmp_path)
        assert "cret" not in json.dumps(failure(refused.value)), url
        for form in ([], ["--json"]):
            streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
            assert cli.main(["stats", *form, "--store", url], streams=streams) != 0
            assert "cret" not in streams.stdout.getvalue() + streams.stderr.getvalue(), url  # type: ignore[attr-defined]
    error = StoreError("no_store", "postgres://ann:s3cret@host/a and https://example.org/a:b@c stay apart.")
    assert str(error) == "postgres://ann:…@host/a and https://example.org/a:b@c stay apart."
