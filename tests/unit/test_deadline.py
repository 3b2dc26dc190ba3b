"""Deadlines: slow work ends when its time is over, nothing is written, and the store stays usable."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from types import FrameType
from typing import Any

import apsw
import numpy as np
import pytest

from recall_core.adapters import cli, commands
from recall_core.adapters.flags import TIMEOUT
from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.deadline import Cancel, check, is_set, seconds_left, within
from recall_core.embed.hash import HashEmbedder
from recall_core.embed.providers.openai import OPENAI
from recall_core.errors import Interrupted, TimedOut, UsageError
from recall_core.evaluate.figures import sign_flip
from recall_core.evaluate.measures import EvalOptions
from recall_core.explain.curve import StepCurve, blocks
from recall_core.explain.lines import weighted_lines
from recall_core.explain.sweep import Interval, intersect, stretches, sweep
from recall_core.explain.whynot.stages import drops
from recall_core.explain.winning import rank_line
from recall_core.model_tokens import model_tokens
from recall_core.pack.account import near_duplicates
from recall_core.pack.greedy import pack
from recall_core.pack.optimal import Thing, choose, pack_optimal
from recall_core.rank import bm25
from recall_core.rql.filters import parse_filter
from recall_core.store.sqlite import vectors
from recall_core.store.sqlite.store import SqliteStore, open_store
from recall_core.text import Counter, counter
from recall_core.types import Hit, RawQuery
from recall_core.words.analyzer import Analyzer
from recall_core.words.question import literal
from tests.builders import EMBEDDER, fish_store, memory_store, new_file, put
from tests.provider_server import provider_server

RQL = "SELECT * FROM chunk USING lexical('fish'), semantic('fish') FILTER doc.path GLOB '*.txt' LIMIT 2"


class Looks:
    """A clock that stands still for a number of readings, and is then past every deadline."""

    def __init__(self, looks: float) -> None:
        self.left = looks
        self.seen = 0

    def __call__(self) -> float:
        self.seen += 1
        self.left -= 1
        return 0.0 if self.left >= 0 else inf


def past() -> Looks:
    """Return a clock that is past every deadline at the first reading."""
    return Looks(1)


def test_cancelled_block_ends_at_the_next_check() -> None:
    cancel = Cancel()
    with within(None, cancel=cancel):
        check()
        assert seconds_left() == inf
        cancel.set()
        assert seconds_left() == 0
        with pytest.raises(Interrupted), within(5):  # a nested block is cancelled with it
            check()
        with pytest.raises(Interrupted):
            check()
    check()


def test_cancelled_query_ends_within_one_statement() -> None:
    cancel = Cancel()
    store = fish_store()
    cancel.set()
    with within(None, cancel=cancel), pytest.raises(Interrupted) as caught:
        store.execute("SELECT 1")
    assert caught.value.code == "interrupted"
    assert store.info().documents > 0


def test_time_limit_ends_with_its_block() -> None:
    now = [100.0]

    with within(2.5, clock=lambda: now[0]):
        check()
        now[0] += 2
        assert seconds_left() == 0.5
        now[0] += 1
        with pytest.raises(TimedOut) as caught:
            check()
        assert is_set()

    check()
    assert (is_set(), seconds_left()) == (False, inf)
    assert caught.value.message == "There is no answer after 2.5 s."
    assert (caught.value.code, caught.value.exit_code, caught.value.hint) == ("timed_out", 1, "--timeout 60")


def test_nested_block_ends_at_the_earlier_deadline() -> None:
    now = [0.0]
    with within(10, clock=lambda: now[0]), within(100, clock=lambda: now[0]):
        assert seconds_left() == 10
        with within(None), within(3, clock=lambda: now[0]):
            assert seconds_left() == 3
        now[0] = 20.0
        with pytest.raises(TimedOut, match="after 10 s"):
            check()


def test_timeout_hint_doubles_the_time() -> None:
    with within(90, clock=past()), pytest.raises(TimedOut) as caught:
        check()

    assert caught.value.hint == "--timeout 180"


def test_invalid_number_of_seconds_is_refused() -> None:
    for seconds in [0, -1, nan, inf, "2"]:
        with pytest.raises(UsageError) as caught, Recall.within(seconds):
            raise AssertionError

        assert (caught.value.code, caught.value.hint) == ("bad_value", "--timeout 60"), seconds


def test_endless_statement_times_out_and_the_next_one_runs() -> None:
    store = memory_store()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    with within(1, clock=Looks(1000)), pytest.raises(TimedOut):
        store.execute(endless)

    assert store.execute("SELECT 1") == [(1,)]


def test_slow_full_text_expression_times_out() -> None:
    store = fish_store()
    with within(1, clock=Looks(30)), pytest.raises(TimedOut):
        store.lexical(
            RawQuery(" OR ".join(f"f{number}*" for number in range(5000))), where=None, k=None, title_weight=1
        )

    assert store.lexical(RawQuery("fish"), where=None, k=None, title_weight=1)


def test_transaction_that_times_out_at_its_start_is_closed() -> None:
    store = fish_store()
    ended = 0
    for _ in range(200):  # SQLite continues its count of steps from one statement to the next
        for block, statements in ((store.reading, 1), (store.transaction, 2)):
            try:
                with within(1, clock=Looks(1 + statements)), block():
                    pass
            except TimedOut:
                ended += 1
            assert not store.db.in_transaction
    assert ended


def test_waiting_for_another_writer_ends_with_the_deadline(tmp_path: Path) -> None:
    store = memory_store(str(tmp_path / "recall.db"))
    other = apsw.Connection(str(tmp_path / "recall.db"))
    other.execute("BEGIN IMMEDIATE")

    with within(0.01), pytest.raises(TimedOut), store.writer():
        raise AssertionError

    other.execute("ROLLBACK")
    put(store, new_file("a.txt", ["alpha"]))


def test_waiting_for_an_exclusive_lock_ends_with_the_deadline(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    memory_store(str(path)).close()
    other = apsw.Connection(str(path))
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE")

    with within(0.01), pytest.raises(TimedOut):
        open_store(str(path))

    other.close()
    open_store(str(path)).close()


def test_request_to_a_silent_server_times_out() -> None:
    with provider_server() as server:
        server.gate.clear()
        model = OPENAI.new(Config(embedding_url=server.url, embedding_model="some-model"), dimension=8)
        with within(1, clock=lambda: 9.0 if server.asked.is_set() else 0.0), pytest.raises(TimedOut) as caught:
            model.embed(["a question"])
        server.gate.set()

        assert caught.value.hint == "recall search --bm25 …"
        assert "OpenAI at 127.0.0.1" in caught.value.message
        assert len(model.embed(["a newer question"])[0]) == 4 * 8


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    home = tmp_path_factory.mktemp("fish")
    for name, text in (("a", "red fish, blue fish"), ("b", "one fish. fish fish"), ("c", "nothing of the kind")):
        (home / f"{name}.txt").write_text(text)
    (home / "queries.tsv").write_text("q1\tred fish\nq2\tnothing\n")
    (home / "qrels.tsv").write_text("q1\ta.txt\t1\nq2\tc.txt\t1\n")
    with Recall.open(str(home / "recall.db"), create=True) as opened:
        opened.index(*(str(home / f"{name}.txt") for name in "abc"))
        yield opened


def evaluate(recall: Recall) -> Any:
    base = recall.engine.base
    for _ in recall.evaluate(EvalOptions(queries=base / "queries.tsv", qrels=base / "qrels.tsv")):
        pass


QUESTIONS: dict[str, Callable[[Recall], Any]] = {
    "search": lambda recall: recall.search("fish", explain=True),
    "query": lambda recall: recall.query(RQL),
    "context": lambda recall: recall.context("fish", budget_tokens=9, explain=True),
    "explain": lambda recall: recall.explain("fish", recall.search("fish")["results"][0]["chunk"]["id"]),
    "whynot": lambda recall: recall.why_not("red", "b.txt", k=1),
    "trace": lambda recall: recall.trace("fish", budget_tokens=9),
    "sweep": lambda recall: recall.sweep("red fish", breaks=True),
    "report": lambda recall: recall.report("fish"),
    "get": lambda recall: recall.get("a.txt"),
    "stats": lambda recall: recall.stats(),
    "explain_rql": lambda recall: recall.explain_rql(RQL),
    "eval": evaluate,
}


def timeless(answer: Any) -> str:
    return json.dumps(
        {key: value for key, value in (answer or {}).items() if key not in ("stats", "trace", "explained")}
    )


LOOKS = 25 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 8
"""Number of deadline checks at which a query is ended."""


def test_query_may_time_out_anywhere_and_run_again(recall: Recall) -> None:
    for name, ask in QUESTIONS.items():
        expected = timeless(ask(recall))
        clock = Looks(inf)
        with Recall.within(1, clock=clock):
            assert timeless(ask(recall)) == expected, name
        assert clock.seen > 3, name

        ended = 0
        for looks in sorted({1, 2, 3, *range(4, clock.seen, max(1, clock.seen // LOOKS))}):
            try:
                with Recall.within(1, clock=Looks(looks)):
                    assert timeless(ask(recall)) == expected, name  # with a filled memory it takes fewer checks
            except TimedOut:
                ended += 1
            store = recall.store
            assert isinstance(store, SqliteStore)
            assert not store.db.in_transaction, name
            assert store.execute("PRAGMA query_only") == [(1,)], name
        assert ended > 2, name
        assert timeless(ask(recall)) == expected, name


def hits() -> list[Hit]:
    store = fish_store()
    rows = store.fetch([key.rowid for key in store.candidates(None)])
    return [Hit(rank, 1 / rank, row.doc, row.chunk, ()) for rank, row in enumerate(rows, start=1)]


def packing(pack: Callable[..., Any]) -> Callable[[], Any]:
    found = hits()
    return lambda: pack(found, total=4, budget_tokens=9, counter=counter("whitespace"), config=Config())


def scoring(scores: Callable[..., Any]) -> Callable[[], Any]:
    store = fish_store()
    found = store.occurrences(literal("fish", analyzer=store.analyzer, match="any"), None)
    return lambda: scores(found, [1, 2], Config())


def dropping() -> Callable[[], Any]:
    store = fish_store()
    (row,) = store.fetch([store.candidates(None)[0].rowid])
    return lambda: drops(parse_filter("doc.path = 'x' OR doc.path = 'y'"), row)


LINES = weighted_lines([0.1, 0.5, 0.9], [0.9, 0.5, 0.1])
SWEPT = sweep(LINES, 2)
ALL = (Interval(Fraction(0), Fraction(1)),)
VECTOR = EMBEDDER.embed(["fish"])[0]

LOOPS: dict[str, Callable[[], Callable[[], Any]]] = {
    "packing by rank": lambda: packing(pack),
    "packing for value": lambda: packing(pack_optimal),
    "knapsack": lambda: lambda: choose([Thing(1, 2), Thing(1, 2)], capacity=3),
    "near-duplicates": lambda: lambda: near_duplicates(["a b c", "a b c"]),
    "scores in Python": lambda: scoring(bm25.plain),
    "scores in NumPy": lambda: scoring(bm25.score_columns),
    "cosines": lambda: lambda: vectors._multiply(VECTOR, vectors.rows_of([(1, VECTOR)])),
    "hash vectors": lambda: lambda: HashEmbedder(64).embed(["a text"]),
    "sweep": lambda: lambda: sweep(LINES, 2),
    "stretches": lambda: lambda: stretches(SWEPT),
    "rank line": lambda: lambda: rank_line(LINES, 0),
    "intervals": lambda: lambda: intersect(ALL, ALL),
    "curve": lambda: lambda: list(blocks(StepCurve((), np.array([0.0, 1.0])))),
    "sign flips": lambda: lambda: sign_flip(np.ones((2, 2))),
    "predicates to drop": dropping,
    "spans": lambda: lambda: Analyzer().spans("fish", ["fish"]),
    "tokens of a model": lambda: lambda: model_tokens("a few words"),
}


def test_every_long_loop_checks_the_deadline() -> None:
    deaf = []
    for name, made in LOOPS.items():
        run = made()
        run()
        try:
            with within(1, clock=past()):
                run()
            deaf.append(name)
        except TimedOut:
            pass

    assert deaf == []


LARGE = 400


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    """Yield a store of many short documents with equal words, so that every answer contains all."""
    home = tmp_path_factory.mktemp("large")
    lines = [
        json.dumps({"_id": str(number), "title": f"Fish {number}", "text": f"one fish of {number} fish"})
        for number in range(LARGE)
    ]
    (home / "fish.jsonl").write_text("\n".join(lines))
    with Recall.open(str(home / "recall.db"), create=True) as opened:
        opened.index(str(home / "fish.jsonl"))
        yield opened


def longest_run(work: Callable[[], Any]) -> tuple[int, str]:
    """Return the largest number of function calls between two deadline checks, and where that run ended."""
    most, calls = (0, ""), 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal most, calls
        if event == "call":
            calls += 1
            if frame.f_code is check.__code__:
                assert frame.f_back is not None
                most, calls = max(most, (calls, frame.f_back.f_code.co_qualname)), 0

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return max(most, (calls, "the end"))


@pytest.mark.parametrize(("tool", "arguments"), [
    ("search", {"query": "fish", "k": LARGE}),
    ("search", {"query": "fish", "k": LARGE, "fields": "all"}),
    ("context", {"query": "fish", "budgetTokens": 4_000}),
    ("whynot", {"query": "fish", "target": "fish.jsonl#7"}),
    ("list", {}),
])  # fmt: skip
def test_no_tool_call_runs_long_between_deadline_checks(large: Recall, tool: str, arguments: dict[str, Any]) -> None:
    def ask() -> Any:
        return BY_NAME[tool].answer(large, arguments, Limits())

    ask()
    calls, place = longest_run(ask)

    assert calls < 20 * LARGE, place


def test_packing_checks_the_deadline_between_counted_texts() -> None:
    for packs in (pack, pack_optimal):
        clock, seen = Looks(inf), list[int]()

        def count(text: str, clock: Looks = clock, seen: list[int] = seen) -> int:
            seen.append(clock.seen)
            return len(text)

        counting = Counter("letters", count)

        with within(1, clock=clock):
            packs(hits(), total=4, budget_tokens=60, counter=counting, config=Config())

        assert len(seen) > 4, packs
        assert len(set(seen)) == len(seen), packs


def test_counting_a_longer_text_checks_the_deadline_more_often() -> None:
    clock = Looks(inf)
    with within(1, clock=clock):
        few = model_tokens("words " * 1_000)
        after_few = clock.seen
        many = model_tokens("words " * 500_000)

    assert many > 400 * few
    assert clock.seen - after_few > 5


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


ASKING = set("search query rql context replay get ls explain whynot trace diff report".split())


def test_every_query_command_has_the_timeout_flag() -> None:
    timed = {command.name for command in commands.BY_NAME.values() if TIMEOUT in command.flags}

    assert timed == {*ASKING, "eval", "tune", "stats"}


COMMANDS_THAT_ASK: dict[str, tuple[str, ...]] = {
    "search": ("fish",),
    "query": (RQL,),
    "rql": ("explain", RQL),
    "context": ("fish",),
    "get": ("a.txt",),
    "explain": ("fish", "--chunk", "000000"),
    "whynot": ("fish", "--target", "a.txt"),
    "trace": ("fish",),
    "diff": ("fish", "--b", "fusion=rrf"),
    "report": ("fish", "--html", "page.html"),
    "eval": ("--queries", "queries.tsv", "--qrels", "qrels.tsv", "--run", "run.txt"),
    "tune": ("--queries", "queries.tsv", "--qrels", "qrels.tsv", "--apply"),
    "stats": (),
}


def test_timed_out_command_writes_nothing(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, asked in COMMANDS_THAT_ASK.items():
        monkeypatch.chdir(recall.engine.base)
        before = {path.name: path.read_bytes() for path in recall.engine.base.iterdir() if path.suffix != ".db-shm"}

        for words in (("--timeout", "0.000001"), ("--timeout", "0.000001", "--json")):
            code, out, err = run(name, *asked, *words)
            assert code == 1, name
            answer = json.loads(out)["error"] if "--json" in words else {}
            assert (
                (err, answer["code"], answer["hint"]) == ("", "timed_out", "--timeout 60") if answer else (out == "")
            ), name

        after = {path.name: path.read_bytes() for path in recall.engine.base.iterdir() if path.suffix != ".db-shm"}
        assert after == before, name


def test_invalid_timeout_is_refused() -> None:
    for seconds in ["0", "-1", "nan", "inf", "1e3", "soon", "", "1_0", "٣", ".", "9" * 400]:
        code, _, err = run("search", "fish", f"--timeout={seconds}")

        assert code == 2, seconds
        assert err.splitlines() == [
            f"error: --timeout takes a number of seconds above 0, not {seconds!r}.",
            "hint: --timeout 60",
        ], seconds


def test_query_with_enough_time_is_answered_as_usual(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recall.engine.base)

    assert run("search", "fish", "--timeout", "600.5")[:2] == run("search", "fish")[:2]
