"""A process that asks one store the same questions over and over, and says what it was answered.

A line for each answer: the digest of the state that it is of, the number of the question, and a hash of the answer.
It ends once its input does.
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
from typing import Any

from recall_core.api.recall import Recall

ROOT = Path(__file__).parents[2]

QUESTIONS: tuple[Callable[[Recall], Any], ...] = (
    lambda recall: recall.search("quokka wombat", k=10, explain=True),
    lambda recall: recall.search("slowly", mode="lexical", k=50),
    lambda recall: recall.search("river bank heron", mode="semantic", k=20),
    lambda recall: recall.query("SELECT * FROM chunk FILTER doc.tag = 'note' LIMIT 200"),
    lambda recall: recall.query("SELECT * FROM doc USING lexical('minnow'), semantic('trout') LIMIT 100"),
    lambda recall: recall.context("quokka digs", budget_tokens=300),
)


def answered(recall: Recall, question: int) -> tuple[str, str]:
    """The digest of the state that was asked, and a hash of all that state and question determine of the answer."""
    answer = QUESTIONS[question](recall)
    digest = answer["stats"]["digest"]
    answer["stats"] = {key: value for key, value in answer["stats"].items() if key not in ("took_ms", "timings")}
    answer["warnings"] = [each for each in answer["warnings"] if not each.startswith("W_STALE")]
    for row in (*answer.get("results", []), *answer.get("context", {}).get("blocks", [])):
        row.get("doc", row).pop("state", None)
    return digest, sha256(json.dumps(answer).encode()).hexdigest()


class Reader:
    """The process, from outside; its answers go to a file."""

    def __init__(self, process: subprocess.Popen[bytes], answers: Path) -> None:
        self._process = process
        self._answers = answers

    def asked(self) -> int:
        """How many questions it has asked so far."""
        assert self._process.poll() is None, self._process.returncode
        return self._answers.read_bytes().count(b"\n")

    def answers(self) -> list[tuple[str, int, str]]:
        """Every answer, once it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait() == 0
        lines = (line.split() for line in self._answers.read_text().splitlines())
        return [(digest, int(question), answer) for digest, question, answer in lines]


@contextmanager
def started(base: Path, answers: Path, *, seed: int) -> Iterator[Reader]:
    """A reader of the store in that folder."""
    command = [sys.executable, "-m", "tests.crash.reader", str(base), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with (
        answers.open("wb") as out,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, env=environment, cwd=ROOT) as process,
    ):
        try:
            yield Reader(process, answers)
        finally:
            process.kill()


def main(base: str, seed: str) -> None:
    """Ask until there is no more input; at times through a connection that is new."""
    rng = random.Random(seed)
    while not _has_ended():
        with Recall.open(base) as recall:
            for _ in range(rng.randint(1, 60)):
                question = rng.randrange(len(QUESTIONS))
                digest, answer = answered(recall, question)
                sys.stdout.write(f"{digest} {question} {answer}\n")
                sys.stdout.flush()
                if _has_ended():
                    break


def _has_ended() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
