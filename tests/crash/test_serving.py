"""Nothing is lost when a process of a served store dies or its file is replaced, and the next answer is right."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.serving import text_of
from recall_core.api.recall import Recall
from tests.crash.harness import errors
from tests.serving_writer import RESTLESS, History, caught_up, filled, started
from tests.warm_mcp import Client

FILES = 20 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 8
_ARGUMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "restless", "mode": "lexical", "k": 10}),
    ("search", {"query": "common", "k": 40}),
    ("context", {"query": "quokka river", "budgetTokens": 300}),
    ("whynot", {"query": "heron", "target": "docs/restless1.md", "k": 3}),
    ("status", {}),
)
SEED = 23


def _send_calls(client: Client, random: Random, count: int) -> list[int]:
    """Send `count` calls; none if the server is gone."""
    numbers = []
    with suppress(OSError):
        for _ in range(count):
            tool, arguments = random.choice(_ARGUMENTS)
            numbers.append(client.ask(tool, **arguments, fields="all"))
    return numbers


def _answers(client: Client, numbers: list[int]) -> list[dict[str, Any]]:
    """Return the answers up to the end of the server."""
    found: list[dict[str, Any]] = []
    with suppress(EOFError):
        found.extend(json.loads(text_of(client.receive(number))) for number in numbers)
    return found


def _false(answers: list[dict[str, Any]], *histories: History) -> list[str]:
    """Return defects, and complaints about answers that belong to no state of these stores."""
    found = []
    for answer in answers:
        if "code" in answer:
            found += [answer["message"]] if answer["code"] == "internal_error" else []
            continue
        told = [list(each.complaints(answer, is_of_all=False)) for each in histories]
        found += min(told, key=len)
    return found


def _history(base: Path) -> History:
    caught_up(base)
    history = History()
    history.read(base / "journal")
    return history


def _is_right(client: Client, base: Path) -> None:
    """Check that the next answer belongs to the current store."""
    history = _history(base)
    (last,) = [digest for digest, number in history.numbers.items() if number == len(history.counts) - 1]
    answer = json.loads(client.call("search", query="restless", mode="lexical", k=10, fields="all"))
    assert answer["stats"]["digest"] == last
    assert len(answer["results"]) == RESTLESS
    assert list(history.complaints(answer, is_of_all=False)) == []


def _kill_servers(folder: Path, kills: int, counted: Callable[..., None]) -> None:
    base, random = filled(folder / "store", FILES), Random(SEED)
    told = lost = 0
    first = 0
    for _ in range(kills):
        with started(base, 10_000, first=first) as writer, Client(base) as client:
            try:
                answers = _answers(client, _send_calls(client, random, random.randrange(1, 30)))
                numbers = _send_calls(client, random, 12)
                kept = random.randrange(12)
                answers += _answers(client, numbers[:kept])
                client.kill()
            finally:
                writer.kill()
                writer.wait()
        told, lost = told + len(answers), lost + len(numbers) - kept
        first = caught_up(base)
        assert _false(answers, _history(base)) == []
        assert errors(base) == set()
    with Client(base) as client:
        _is_right(client, base)
    counted("serving", "killed servers", kills=kills, answers=told, calls_lost=lost)


def _kill_syncing(folder: Path, kills: int, counted: Callable[..., None]) -> None:
    """Kill servers during their own sync; files are rewritten before each."""
    base, random = filled(folder / "store", FILES), Random(SEED)
    texts: dict[str, str] = {}
    for kill in range(kills):
        for number in range(60):
            name = f"docs/{'kept' if number % 2 else f'kill{kill}-'}{number}.md"
            texts[name] = f"# Kept\n\nwombat {kill} {number}\n"
            (base / name).write_text(texts[name], encoding="utf-8")
        with Client(base, "--on-boot", "--interval", "0.01") as client:
            _answers(client, _send_calls(client, random, random.randrange(1, 12)))
            client.kill()
        assert errors(base) == set()
    with Recall.open(str(base)) as recall:
        for _ in recall.sync():
            pass
        held = {
            each["path"]: recall.get(each["path"])["found"]["text"] for each in recall.list("docs/k")["documents"]
        }
    assert held == texts
    counted("serving", "killed while they sync", kills=kills, documents=len(held))


def _kill_writers(folder: Path, kills: int, counted: Callable[..., None]) -> None:
    base, random = filled(folder / "store", FILES), Random(SEED)
    told = 0
    first = 0
    with Client(base) as client:
        for _ in range(kills):
            with started(base, 10_000, first=first) as writer:
                try:
                    before = (base / "journal").stat().st_size
                    answers: list[dict[str, Any]] = []
                    while (base / "journal").stat().st_size == before or len(answers) < random.randrange(40):
                        assert writer.poll() is None
                        answers += _answers(client, _send_calls(client, random, 8))
                finally:
                    writer.kill()
                    writer.wait()
            answers += _answers(client, _send_calls(client, random, 8))
            told += len(answers)
            first = caught_up(base)
            assert _false(answers, _history(base)) == []
            assert errors(base) == set()
            _is_right(client, base)
    counted("serving", "killed writers", kills=kills, answers=told, commits=first)


def _replace(folder: Path, times: int, counted: Callable[..., None]) -> None:
    random = Random(SEED)
    base = filled(folder / "store", FILES)
    known, told, refused = [_history(base)], 0, 0
    with Client(base) as client:
        for number in range(times):
            other = filled(folder / f"other{number}", FILES + number % 5, seed=number + 1)
            numbers = _send_calls(client, random, 16)
            answers = _answers(client, numbers[: random.randrange(16)])
            for name in ("recall.db-wal", "recall.db-shm"):
                (base / name).unlink(missing_ok=True)
            for name in ("recall.db", "journal"):
                os.replace(other / name, base / name)  # noqa: PTH105 - as mv does
            after = _send_calls(client, random, 4)
            answers += _answers(client, numbers[len(answers) :])
            known.append(_history(base))
            assert _false(answers, *known[-2:]) == []
            assert _false(_answers(client, after), known[-1]) == []
            _is_right(client, base)
            assert errors(base) == set()
            told, refused = told + len(answers), refused + sum("code" in each for each in answers)
    counted("serving", "replaced stores", times=times, answers=told, refused=refused)


def test_killed_server_leaves_store_unchanged(tmp_path: Path, counted: Callable[..., None]) -> None:
    _kill_servers(tmp_path, 1, counted)


def test_server_killed_during_sync_loses_nothing(tmp_path: Path, counted: Callable[..., None]) -> None:
    _kill_syncing(tmp_path, 1, counted)


def test_killed_writer_leaves_server_a_complete_store(tmp_path: Path, counted: Callable[..., None]) -> None:
    _kill_writers(tmp_path, 1, counted)


def test_server_answers_from_replaced_store(tmp_path: Path, counted: Callable[..., None]) -> None:
    _replace(tmp_path, 1, counted)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    "act",
    [_kill_servers, _kill_syncing, _kill_writers, _replace],
    ids=["servers", "syncing", "writers", "stores"],
)
def test_forty_kills_or_replacements_lose_nothing(
    tmp_path: Path, act: Callable[[Path, int, Callable[..., None]], None], counted: Callable[..., None]
) -> None:
    act(tmp_path, 40, counted)
