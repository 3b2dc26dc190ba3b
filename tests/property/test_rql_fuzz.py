"""Random and mutated queries for a limited time: each gives an answer or a coded error."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.errors import RecallError, RqlError
from recall_core.rql.complete import NoVocabulary, complete
from recall_core.rql.highlight import highlight
from tests.builders import memory_store, new_file, put

GOLDEN = (Path(__file__).parents[1] / "golden" / "identity.rql").read_text(encoding="utf-8").splitlines()
ERRORS = (Path(__file__).parents[1] / "golden" / "errors.rql").read_text(encoding="utf-8")
WRONG = [line.partition(": ")[2].replace("\\n", "\n") for line in ERRORS.splitlines() if line.startswith("query: ")]
WORDS = (
    "SELECT FROM USING FILTER ORDER BY LIMIT OFFSET OPTION AND OR NOT IN BETWEEN HAS ANY ALL IS NULL LIKE ILIKE "
    "GLOB ASC DESC ON OFF TRUE FALSE * , . ( ) = != <> < <= > >= ; -- ' \" '' \\ - 0 -1 1.5 1e9 9223372036854775808 "
    "doc chunk doc.tag doc.path doc.meta.k doc.meta.'a.b' chunk.tokens chunk.text doc.mtime score lexical('a') "
    "semantic('b') lexical_fts('a OR') lexical_fts('NEAR(') 'x' \"y\" '2026-01-01' '%a_' '**/{a,b}/[!x]*' pool "
    "fusion rrf min_score exact é 日本 🙂 \n \t \x00 \ud800 \u2028 \xa0 ₂"
).split(" ")
CI_SECONDS, NIGHTLY_SECONDS = 1.5, 600
INTERNAL = ("internal_error", "store_failed", "store_corrupt", "io_error")


@pytest.fixture(scope="module")
def recall() -> Iterator[Recall]:
    store = memory_store()
    put(
        store,
        new_file(
            "docs/a.md", ["retry a b ", "日本 text "], tags=["x", "docs"], source="s", meta={"k": 1, "a.b": "é"}
        ),
        new_file("src/x/b.py", ["def a(): pass "], meta={"k": "text", "n": None}),
        new_file("c.txt", [""]),
    )
    with Recall(Engine(store, config=Config(embedding_dim=64), base=Path("/nonexistent"))) as made:
        yield made


def mutate(chance: random.Random) -> str:
    text = chance.choice(GOLDEN + WRONG)
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 0, 1, 3, 12)))
        inserted = chance.choice((chance.choice(WORDS), "", text[start:end] * 2, chr(chance.randrange(0x3000))))
        text = text[:start] + inserted + text[end:]
    return text


def assemble(chance: random.Random) -> str:
    words = " ".join(chance.choices(WORDS, k=chance.randint(0, 15)))
    return (
        chance.choice(("", "SELECT * FROM chunk ", "SELECT * FROM doc FILTER ", "SELECT * FROM chunk USING ")) + words
    )


def check(recall: Recall, text: str) -> bool:
    """Return True if the text is a valid query."""
    highlight(text)
    complete(text, len(text) // 2, vocabulary=NoVocabulary())
    response, error = ask(recall, text)
    if error is not None:
        assert error.code not in INTERNAL
        assert not isinstance(error, RqlError) or (0 <= error.start <= error.end <= len(text) and error.expected)
        return False
    assert response["stats"]["total_hits"] >= len(response["results"])
    return True


def ask(recall: Recall, text: str) -> tuple[Any, RecallError | None]:
    try:
        return recall.query(text), None
    except RecallError as error:
        return None, error


def fuzz(recall: Recall, *, seconds: float, seed: int) -> None:
    chance = random.Random(seed)
    ends = monotonic() + seconds
    tried = answered = 0
    while monotonic() < ends:
        for make in (mutate, assemble):
            text = make(chance)
            try:
                answered += check(recall, text)
            except Exception as error:
                raise AssertionError(f"seed {seed}: {text!r}") from error
            tried += 1
    print(f"{tried} texts, {answered} of them queries")
    assert answered > tried / 100, "too few texts are valid queries to test more than the parser"


def test_any_text_gives_an_answer_or_a_coded_error(recall: Recall) -> None:
    fuzz(recall, seconds=CI_SECONDS, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(NIGHTLY_SECONDS + 300)
def test_any_text_gives_answer_or_coded_error_at_length(recall: Recall) -> None:
    nightly = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
    fuzz(recall, seconds=NIGHTLY_SECONDS if nightly else CI_SECONDS, seed=random.randrange(2**32))
