"""The same store and the same query give the same bytes, however the answer is computed."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.parity import Asked, differences, digests, main, questions, whole
from benchmarks.speed.lab import has, settle
from recall_core import Recall
from tests import warm
from tests.examples import mostly_nightly
from tests.parity_stores import CLUSTERED, filled

KINDS = ("hash", CLUSTERED, "local")
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


def cold(home: Path, asked: Sequence[Asked]) -> list[str]:
    """Ask a new process each query."""
    command = [sys.executable, "-m", "benchmarks.parity", "one", str(home)]
    return [
        subprocess.run(command, input=json.dumps(each), text=True, capture_output=True, check=True).stdout.strip()
        for each in asked
    ]


def first(home: Path, asked: Sequence[Asked]) -> list[str]:
    """Ask a newly opened store each query."""
    found = []
    for each in asked:
        with Recall.open(start=home) as recall:
            found += digests(recall, [each])
    return found


def recall_in_a_process(home: Path, *arguments: str) -> None:
    assert warm.run(arguments, cwd=home, env=os.environ, kind="ingest").returncode == 0


def same(asked: Sequence[Asked], one: Sequence[str], other: Sequence[str]) -> None:
    """Raise with the queries whose answers differ."""
    assert list(differences(asked, one, other)) == []
    assert whole(one) == whole(other)


def holds(home: Path, kind: str, chunks: int, count: int, *, processes: int) -> None:
    """Ask a new store `count` queries in every way."""
    if kind == "local" and not has(kind):
        pytest.skip("needs the local embedder")
    asked = questions(filled(home, kind, chunks), count, seed=chunks)
    expected = first(home, asked)
    step = max(1, count // processes)
    same(asked[::step], expected[::step], cold(home, asked[::step]))
    with Recall.open(start=home) as recall:
        settle(recall, lambda: recall.search("any"))
        same(asked, expected, digests(recall, asked))  # warm
        same(asked, expected, digests(recall, asked))  # each for the second time, after all others
        (home / "docs" / "new.txt").write_text(" ".join(each.arguments[0] for each in asked[:50]), encoding="utf-8")
        recall_in_a_process(home, "add", "docs/new.txt")
        changed = digests(recall, asked)
        assert whole(changed) != whole(expected)
        same(asked, first(home, asked), changed)
        recall_in_a_process(home, "rm", "docs/new.txt")
        recall_in_a_process(home, "compact")  # otherwise a trace reports the removed chunk
        same(asked, expected, digests(recall, asked))


@pytest.mark.parametrize("kind", mostly_nightly(["hash", CLUSTERED], CLUSTERED))
def test_answers_are_identical_first_warm_repeated_and_after_outside_write(tmp_path: Path, kind: str) -> None:
    chunks, count, processes = (300, 30, 4) if IS_NIGHTLY else (150, 12, 1)
    holds(tmp_path, kind, chunks, count, processes=processes)


@pytest.mark.slow
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("chunks", "count"), [(20_000, 2_000), (100_000, 600)])
def test_answers_of_large_stores_are_identical(tmp_path: Path, kind: str, chunks: int, count: int) -> None:
    holds(tmp_path, kind, chunks, count, processes=40)


def test_answer_files_are_compared_query_by_query(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = filled(tmp_path / "store", "hash", 60)
    (tmp_path / "store" / "pieces.json").write_text(json.dumps(pieces), encoding="utf-8")
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    asking = ["ask", str(tmp_path / "store"), "--count", "12"]
    assert main([*asking, "--out", str(one)]) == main([*asking, "--out", str(other)]) == 0

    assert main(["compare", str(one), str(other)]) == 0
    kept = json.loads(other.read_text(encoding="utf-8"))
    kept["answers"][3] = "another"
    other.write_text(json.dumps(kept), encoding="utf-8")
    capsys.readouterr()

    assert main(["compare", str(one), str(other)]) == 1
    assert capsys.readouterr().out.splitlines() == [kept["questions"][3], "12 answers, 1 different"]
