"""A call that is cancelled or out of time ends soon at any point, and leaves its connection unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, NamedTuple

import pytest

from benchmarks.speed.asked import KINDS, Asker
from benchmarks.speed.lab import has
from recall_core import deadline
from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.api.recall import Recall
from recall_core.api.serving import Asked, ConnectionPool, StoreSettings
from recall_core.errors import Interrupted, RecallError, TimedOut
from recall_core.retrieve.plan import LONGEST_QUESTION
from tests.parity_stores import filled
from tests.warm_mcp import Client

QUICK = 200
MANY = 3_000
_PATIENT = 600.0
_OPTIMAL = {"set": {"pack": "optimal"}}


class Call(NamedTuple):
    """A tool with its arguments."""

    tool: str
    arguments: dict[str, Any]


class Prepared(NamedTuple):
    """A store, its texts, and the ids of some chunks."""

    folder: Path
    pieces: list[str]
    chunks: list[str]


def _prepare(folder: Path, kind: str, chunks: int) -> Prepared:
    if not has(kind):
        pytest.skip(f"needs the embedder {kind}")
    pieces = filled(folder, kind, chunks)
    with Recall.open(str(folder)) as recall:
        rows = recall.query("SELECT chunk.id FROM chunk LIMIT 200")["results"]
    return Prepared(folder, pieces, [row["chunk"]["id"] for row in rows])


def calls(prepared: Prepared, count: int, *, seed: int) -> list[Call]:
    """Return `count` calls of every kind, from one word to all rows and pasted paragraphs."""
    random, asker = Random(f"ends {seed}"), Asker(prepared.pieces, seed=seed)
    return [random.choice(_MAKERS)(random, asker, prepared) for _ in range(count)]


def longest_query(pieces: Sequence[str]) -> str:
    """Return the longest accepted query."""
    return " ".join(pieces)[:LONGEST_QUESTION]


def _words(random: Random, asker: Asker) -> dict[str, Any]:
    mode = random.choice(("hybrid", "lexical", "semantic"))
    return {"query": asker.draw(random.choice(KINDS), 1)[0].text, "mode": mode}


_MAKERS: tuple[Callable[[Random, Asker, Prepared], Call], ...] = (
    lambda random, asker, _: Call("search", _words(random, asker)),
    lambda random, asker, _: Call("search", {**_words(random, asker), "k": 100_000}),
    lambda random, _, store: Call("search", {"query": longest_query(random.sample(store.pieces, 20))}),
    lambda random, asker, _: Call("context", {**_words(random, asker), "budgetTokens": random.choice((600, 50_000))}),
    lambda random, asker, _: Call("context", {**_words(random, asker), "budgetTokens": 9_000, **_OPTIMAL}),
    lambda random, asker, store: Call("explain", {**_words(random, asker), "target": random.choice(store.chunks)}),
    lambda random, asker, store: Call("whynot", {**_words(random, asker), "target": random.choice(store.chunks)}),
)  # fmt: skip


def answer_text(recall: Recall, call: Call) -> str:
    """Return the complete answer as text, without clock-dependent fields."""
    told = BY_NAME[call.tool].answer(recall, {**call.arguments, "fields": "all"}, Limits())
    return json.dumps(_lasting(told.content))


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(each) for key, each in value.items() if key not in ("took_ms", "timings")}
    return [_lasting(each) for each in value] if isinstance(value, list) else value


def _seconds_of(pool: ConnectionPool, call: Call) -> float:
    """Return the duration of an undisturbed call."""
    started = monotonic()
    pool.ask(lambda recall: answer_text(recall, call), seconds=_PATIENT).result()
    return monotonic() - started


def _fresh(prepared: Prepared, call: Call) -> str:
    with Recall.open(str(prepared.folder)) as recall:
        return answer_text(recall, call)


def _disturb(prepared: Prepared, count: int, *, is_cancelled: bool, counted: Callable[..., None], name: str) -> None:
    """End `count` calls at moments within their usual time, and check the answer after each."""
    asked, random = calls(prepared, count, seed=count), Random(f"moments {count} {is_cancelled}")
    following = calls(prepared, 5, seed=0)
    expected = [_fresh(prepared, each) for each in following]
    pool = ConnectionPool(StoreSettings(str(prepared.folder)), connections=1)
    late: list[float] = []
    for number, call in enumerate(asked):
        moment = max(0.001, random.random() * _seconds_of(pool, call))
        started = monotonic()
        ending = pool.ask(partial(answer_text, call=call), seconds=_PATIENT if is_cancelled else moment)
        next_one = pool.ask(partial(_time_call, call=following[number % 5]), seconds=_PATIENT)
        if is_cancelled:
            wait([ending.future], timeout=moment)
            ending.cancel()
        over = monotonic() if is_cancelled else started + moment
        kind = _error_of(ending)
        free, answer = next_one.result()
        assert answer == expected[number % 5], call
        if kind is not None:
            assert kind is (Interrupted if is_cancelled else TimedOut)
            late.append(max(0.0, free - over) * 1000)
    pool.close()
    assert late, "every call was answered before it was ended"
    ended = sorted(late)
    counts = {"ms at the median": ended[len(ended) // 2], "ms at 95 %": ended[len(ended) * 95 // 100]}
    counted(
        "serving", name, ended=len(ended), **{k: round(v) for k, v in counts.items()}, ms_at_most=round(ended[-1])
    )


def _time_call(recall: Recall, call: Call) -> tuple[float, str]:
    """Return the time when the connection was free, and the answer."""
    return monotonic(), answer_text(recall, call)


def _error_of(asked: Asked[str]) -> type[RecallError] | None:
    """Return the error of a call, or None if it was answered."""
    try:
        asked.result()
    except RecallError as error:
        return type(error)
    return None


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return _prepare(tmp_path_factory.mktemp("few"), "hash", QUICK)


@pytest.mark.parametrize(
    "is_cancelled", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["cancelled", "out of time"]
)
def test_answer_after_a_cancelled_call_matches_a_fresh_store(
    small_store: Prepared, is_cancelled: bool, counted: Callable[..., None]
) -> None:
    name = f"{'cancelled' if is_cancelled else 'out of time'}, {QUICK} chunks"
    _disturb(small_store, 10, is_cancelled=is_cancelled, counted=counted, name=name)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "out of time"])
@pytest.mark.parametrize("kind", ["hash", "local"])
def test_answers_stay_right_after_three_hundred_ended_calls(
    tmp_path: Path, kind: str, is_cancelled: bool, counted: Callable[..., None]
) -> None:
    prepared = _prepare(tmp_path, kind, MANY)
    name = f"{'cancelled' if is_cancelled else 'out of time'}, {MANY} chunks, {kind}"
    _disturb(prepared, 300, is_cancelled=is_cancelled, counted=counted, name=name)


def test_cancelled_call_gets_no_result_and_next_call_succeeds(small_store: Prepared) -> None:
    following = calls(small_store, 1, seed=6)[0]
    expected = _fresh(small_store, following)
    with Client(small_store.folder, "--connections", "1") as client:
        long = client.ask("search", query=longest_query(small_store.pieces))
        client.cancel(long)

        told = client.call(following.tool, **following.arguments, fields="all")

        assert json.dumps(_lasting(json.loads(told))) == expected
        assert "result" not in client.answers.get(long, {})


def test_timed_out_call_is_reported_and_next_call_succeeds(
    small_store: Prepared,
) -> None:
    with Client(small_store.folder, "--connections", "1", "--call-timeout", "0.2") as client:
        long = json.loads(client.call("search", query=longest_query(small_store.pieces), k=100_000))

        assert long["code"] == "timed_out"
        assert json.loads(client.call("status", fields="all"))["ok"]


class _Counting(deadline.Deadline):
    """A deadline that never expires, and counts its checks."""

    looks = 0

    def left(self) -> float:
        self.looks += 1
        return 1.0


def _looks(few: Prepared, tool: str, arguments: dict[str, Any]) -> int:
    with Recall.open(str(few.folder)) as recall, deadline.until(counting := _Counting(1.0, monotonic, None, None)):
        BY_NAME[tool].answer(recall, arguments, Limits())
    return counting.looks


def test_each_read_or_quoted_row_checks_the_deadline(small_store: Prepared) -> None:
    words = small_store.pieces[7][:60]
    every = {"query": words, "mode": "semantic", "k": 100_000}

    read, packed = (
        _looks(small_store, "search", every),
        _looks(small_store, "context", {**every, "budgetTokens": 1_000_000}),
    )

    assert read >= 5 * QUICK  # its row, its units, their share of the cosine, its place in the answer, its text
    assert packed >= 5 * QUICK


def test_each_passage_text_of_a_local_model_checks_the_deadline(tmp_path: Path) -> None:
    few = _prepare(tmp_path, "local", 60)
    question = {"query": few.pieces[7][:60], "mode": "semantic"}

    one, all_ = (_looks(few, "search", {**question, "k": k}) for k in (1, 100_000))

    assert all_ - one > 9 * 60


def test_pasted_query_checks_the_deadline_per_window(small_store: Prepared) -> None:
    question = {"query": longest_query(small_store.pieces[:20]), "mode": "lexical"}

    one, ten = (_looks(small_store, "search", {**question, "k": k}) for k in (1, 10))

    assert ten - one > 9 * 100


def test_long_text_checks_the_deadline_per_row(small_store: Prepared) -> None:
    with Recall.open(str(small_store.folder)) as recall:
        answer = recall.query("SELECT * FROM chunk LIMIT 1000")

    assert _looks(small_store, "search", {"rql": "SELECT * FROM chunk LIMIT 1000"}) >= 3 * len(answer["results"])
