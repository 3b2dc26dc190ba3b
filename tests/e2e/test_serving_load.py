"""During any commits, each answer to many clients belongs to one committed state."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from benchmarks.serving import Client, text_of
from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.api.recall import Recall
from recall_core.api.serving import ConnectionPool, StoreSettings
from recall_core.errors import Busy, RecallError
from tests.serving_writer import RESTLESS, WORDS, History, commit, filled, started

FILES = 40
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
_RESTLESS = [f"docs/restless{number}.md" for number in range(RESTLESS)]


class Call(NamedTuple):
    """A tool with its arguments. is_of_all: its answer covers every chunk of the store."""

    tool: str
    arguments: dict[str, Any]
    is_of_all: bool


class Answered(NamedTuple):
    """A call, and its complete answer or error code."""

    call: Call
    answer: dict[str, Any]
    text: str = ""


def calls(random: Random, chunks: list[str]) -> Iterator[Call]:
    """Yield calls without end. chunks: ids of some permanent chunks."""
    while True:
        some = " ".join(random.sample(WORDS, 2))
        words = random.choice(("restless", "common", f"common {some}", some))
        asked = {"query": words, "mode": random.choice(("hybrid", "lexical", "semantic"))}
        is_of_all = asked["mode"] != "lexical" or words.startswith("common")
        fields = {"fields": random.choice(("all", "compact"))}
        yield random.choice((
            Call("search", {**asked, "k": random.choice((5, 10, 40)), **fields}, is_of_all),
            Call("search", {**asked, "k": 10, **fields}, is_of_all),
            Call("context", {**asked, "budgetTokens": 300, **fields}, False),
            Call("explain", {**asked, "target": random.choice(chunks), **fields}, False),
            Call("whynot", {**asked, "target": random.choice(_RESTLESS), "k": 3, **fields}, False),
            Call("get", {"targets": _RESTLESS, **fields}, False),
            Call("get", {"glob": "docs/restless*", **fields}, False),
            Call("status", fields, True),
            Call("memory_search", {"query": words}, False),
        ))  # fmt: skip


def _with_object(call: Call) -> Call:
    """Return the same call with the object as its text."""
    return call if "fields" not in call.arguments else call._replace(arguments={**call.arguments, "fields": "all"})


def complaints(history: History, answered: Answered) -> list[str]:
    """Return the reasons why the answer belongs to no committed state."""
    call, answer, text = answered
    if "code" in answer:
        return [f"{call.tool}: {answer['code']} {answer['message']}"]
    found = list(history.complaints(answer, is_of_all=call.is_of_all))
    if not history.is_of_one(_texts(answer)):
        found.append("no state held all of these texts")
    digest = (answer.get("stats") or answer.get("store") or {}).get("digest", answer.get("digest"))
    if digest is not None and not any(each.startswith(digest) for each in history.numbers):
        found.append(f"no state has the digest {digest}")
    if "Digest " in text and f"igest {digest[:12]}" not in text:
        found.append("the text is of another state than its object")
    return [f"{call}: {each}" for each in found]


def _texts(answer: dict[str, Any]) -> list[str]:
    answers = answer.get("answers", [answer])
    return [each["found"]["text"] for each in answers if "found" in each]


def in_the_pool(pool: ConnectionPool, call: Call) -> Answered:
    """Return the answer of a connection of this process."""
    try:
        told = pool.ask(lambda recall: BY_NAME[call.tool].answer(recall, call.arguments, Limits())).result()
    except Busy:
        return Answered(call, {})
    except RecallError as error:
        return Answered(call, {"code": error.code, "message": error.message})
    return Answered(call, told.content, told.text)


@contextmanager
def writing(base: Path, commits: int) -> Iterator[Callable[[], bool]]:
    """Run a writer until it has made its commits; yield a function that returns True while it writes."""
    with started(base, commits) as writer:
        try:
            yield lambda: writer.poll() is None
            assert writer.wait() == 0
        finally:
            writer.kill()


def _beside_a_writer(folder: Path, *, clients: int, each: int, commits: int, counted: Callable[..., None]) -> None:
    base = filled(folder / "store", FILES)
    history = History()
    history.read(base / "journal")
    stays = [each for each, chunk in history.chunks.items() if "first" in chunk.path]
    pool = ConnectionPool(StoreSettings(str(base)))
    with writing(base, commits) as goes_on, ThreadPoolExecutor(clients) as threads:

        def ask(client: int) -> list[Answered]:
            asked: list[Answered] = []
            for call in calls(Random(client), stays):
                asked.append(in_the_pool(pool, call))
                if len(asked) >= each and (len(_digests(asked)) > 3 or not goes_on()):
                    return asked
            raise AssertionError

        answers = [answered for found in threads.map(ask, range(clients)) for answered in found]
    pool.close()
    history.read(base / "journal")
    assert len(history.counts) == commits + 1
    assert [each for answered in answers for each in complaints(history, answered)] == []
    assert len(_digests(answers)) > 1
    refused = sum(not answered.answer for answered in answers)
    counts = {"answers": len(answers), "busy": refused, "states": len(_digests(answers)), "commits": commits}
    counted("serving", f"{clients} clients with a writer", **counts)


def _digests(answers: list[Answered]) -> set[str]:
    return {each.answer["stats"]["digest"] for each in answers if "digest" in each.answer.get("stats", {})}


def test_eight_clients_see_committed_states_during_writes(tmp_path: Path, counted: Callable[..., None]) -> None:
    each, commits = (20, 200) if IS_NIGHTLY else (6, 20)
    _beside_a_writer(tmp_path, clients=8, each=each, commits=commits, counted=counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_sixteen_clients_see_committed_states_during_two_thousand_commits(
    tmp_path: Path, counted: Callable[..., None]
) -> None:
    _beside_a_writer(tmp_path, clients=16, each=300, commits=2_000, counted=counted)


@pytest.mark.slow  # in CI tests/crash/test_serving.py asks a server while a writer commits
def test_sixteen_concurrent_calls_see_committed_states(tmp_path: Path) -> None:
    base = filled(tmp_path / "store", FILES)
    history = History()
    history.read(base / "journal")
    stays = [each for each, chunk in history.chunks.items() if "first" in chunk.path]
    asked: list[Answered] = []
    with Client(base) as client, writing(base, 40 if IS_NIGHTLY else 15) as goes_on:
        source = calls(Random(0), stays)
        while len(asked) < 64 or (goes_on() and len(_digests(asked)) < 2):
            some = [_with_object(next(source)) for _ in range(16)]
            numbers = [client.ask(call.tool, **call.arguments) for call in some]
            told = [json.loads(text_of(client.receive(number))) for number in numbers]
            asked += map(Answered, some, told)

    history.read(base / "journal")
    assert [each for answered in asked for each in complaints(history, answered)] == []
    assert Counter(answered.call.tool for answered in asked).keys() >= {"search", "context", "whynot", "status"}


@pytest.mark.parametrize("tool", ["search", "context"])
def test_answer_mixed_from_two_states_is_caught(tmp_path: Path, tool: str) -> None:
    base = filled(tmp_path / "store", FILES)
    asked = Call(tool, {"query": "restless", "mode": "lexical", "k": 10, "fields": "all"}, False)
    told = []
    with Recall.open(str(base)) as recall, (base / "journal").open("a", encoding="utf-8") as journal:
        for number in range(RESTLESS + 2):
            told.append(BY_NAME[tool].answer(recall, asked.arguments, Limits()).content)
            journal.write(commit(recall, base, number))
    history = History()
    history.read(base / "journal")

    assert [complaints(history, Answered(asked, each)) for each in told] == [[]] * len(told)
    for one in told:
        for other in told:
            mixed = {**one, "stats": {**one["stats"], "digest": other["stats"]["digest"]}}
            assert bool(complaints(history, Answered(asked, mixed))) == (one is not other)


def test_answer_counting_another_state_is_caught(tmp_path: Path) -> None:
    base = filled(tmp_path / "store", FILES)
    asked = Call("search", {"query": "common", "mode": "lexical", "k": 5, "fields": "all"}, True)
    with Recall.open(str(base)) as recall, (base / "journal").open("a", encoding="utf-8") as journal:
        before = BY_NAME["search"].answer(recall, asked.arguments, Limits()).content
        journal.write(commit(recall, base, 0))
        after = BY_NAME["search"].answer(recall, asked.arguments, Limits()).content
    history = History()
    history.read(base / "journal")
    mixed = {**after, "stats": {**after["stats"], "total_hits": before["stats"]["total_hits"]}}

    assert complaints(history, Answered(asked, after)) == []
    assert any("chunks in all" in each for each in complaints(history, Answered(asked, mixed)))
    never = {**after, "stats": {**after["stats"], "digest": "0" * 64}}
    assert any("no state" in each for each in complaints(history, Answered(asked, never)))
