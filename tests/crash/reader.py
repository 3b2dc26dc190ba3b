"""A process that repeats the same queries on one store and reports the answers.

Each answer is one line: digest of its state, number of the query, hash of the answer, and whether memory was used.
The process ends at the end of its input.
"""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from recall_core.api.recall import Recall
from recall_core.errors import RecallError
from recall_core.store.sqlite.memory.snapshot import Shared, Snapshot

ROOT = Path(__file__).parents[2]

FILLED = 0.3
"""How often a reader waits until the whole store is in memory; otherwise it queries during loading."""

QUESTIONS: tuple[Callable[[Recall], Any], ...] = (
    lambda recall: recall.search("quokka wombat", k=10, explain=True),
    lambda recall: recall.search("slowly", mode="lexical", k=50),
    lambda recall: recall.search("river bank heron", mode="semantic", k=20),
    lambda recall: recall.query("SELECT * FROM chunk FILTER doc.tag = 'note' LIMIT 200"),
    lambda recall: recall.query("SELECT * FROM doc USING lexical('minnow'), semantic('trout') LIMIT 100"),
    lambda recall: recall.context("quokka digs", budget_tokens=300),
)


def answered(recall: Recall, question: int) -> tuple[str, str]:
    """Return the digest of the state, and a hash of everything in the answer that state and query determine."""
    answer = QUESTIONS[question](recall)
    digest = answer["stats"]["digest"]
    answer["stats"] = {key: value for key, value in answer["stats"].items() if key not in ("took_ms", "timings")}
    answer["warnings"] = [each for each in answer["warnings"] if not each.startswith("W_STALE")]
    for row in (*answer.get("results", []), *answer.get("context", {}).get("blocks", [])):
        row.get("doc", row).pop("state", None)
    return digest, sha256(json.dumps(answer).encode()).hexdigest()


REFUSED = "refused"
"""Replaces the digest and the answer of a refused query."""


class Answer(NamedTuple):
    """One line of the output."""

    digest: str
    question: int
    answer: str
    is_remembered: bool


class Reader:
    """The process, seen from outside; its answers go to a file."""

    def __init__(self, process: subprocess.Popen[bytes], answers: Path) -> None:
        self._process = process
        self._answers = answers

    def asked(self) -> int:
        """Return the number of queries so far."""
        assert self._process.poll() is None, self._process.returncode
        return self._answers.read_bytes().count(b"\n")

    def so_far(self) -> list[Answer]:
        """Return the answers written so far."""
        text, _, _ = self._answers.read_text().rpartition("\n")
        lines = (line.split() for line in text.splitlines())
        return [Answer(digest, int(question), answer, bool(int(used))) for digest, question, answer, used in lines]

    def answers(self) -> list[Answer]:
        """Return every answer once the process has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait() == 0
        return self.so_far()


@contextmanager
def started(base: Path, answers: Path, *, seed: int, is_careless: bool = False) -> Iterator[Reader]:
    """Yield a reader of the store in that folder. is_careless: use memory of any generation."""
    command = [sys.executable, "-m", "tests.crash.reader", str(base), str(seed), "careless" * is_careless]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with (
        answers.open("wb") as out,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, env=environment, cwd=ROOT) as process,
    ):
        try:
            yield Reader(process, answers)
        finally:
            process.kill()


def main(base: str, seed: str, fault: str) -> None:
    """Query until the input ends; sometimes with a new connection, and with everything in memory."""
    rng = random.Random(seed)
    if fault:
        Shared.find = lambda shared, _: shared._kept  # type: ignore[method-assign]
    used = _follow_memory()
    while not _is_over():
        with Recall.open(base) as recall:
            for _ in range(rng.randint(1, 60)):
                if rng.random() < FILLED:
                    recall.engine.store.fill_memory()
                question = rng.randrange(len(QUESTIONS))
                used.clear()
                try:
                    digest, answer = answered(recall, question)
                except RecallError:
                    if not fault:
                        raise
                    digest = answer = REFUSED
                sys.stdout.write(f"{digest} {question} {answer} {int(any(used))}\n")
                sys.stdout.flush()
                if _is_over():
                    break


def _follow_memory() -> list[bool]:
    """Return a list that gets an entry whenever a query checks the memory: True if it is filled."""
    used: list[bool] = []

    def follow(look: Callable[..., Snapshot | None]) -> Callable[..., Snapshot | None]:
        def followed(*arguments: Any) -> Snapshot | None:
            found = look(*arguments)
            used.append(found is not None)
            return found

        return followed

    Shared.find, Shared.get = follow(Shared.find), follow(Shared.get)  # type: ignore[method-assign]
    return used


def _is_over() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
