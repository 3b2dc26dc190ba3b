"""On real texts, 200 queries per collection: a hit shows a window by the rule, verbatim, with its true lines."""

from __future__ import annotations

import json
import os
import random
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.contract.ledger import PassageView
from recall_core.retrieve.pool import lexical_query
from recall_core.types import LiteralQuery, Root, Row
from tests.windows import check_window

DATA = os.environ.get("RECALL_DATA", "")
QUESTIONS = 200
MOST_FILES = 600
_BOUNDS: tuple[Literal["offset"], Literal["end"]] = ("offset", "end")

pytestmark = pytest.mark.slow


def cranfield(folder: Path) -> tuple[Recall, list[str]]:
    """Return the collection with its own queries."""
    if not Path(DATA, "cranfield", "corpus.jsonl").is_file():
        pytest.skip("needs RECALL_DATA with cranfield/")
    shutil.copy(Path(DATA, "cranfield", "corpus.jsonl"), folder)
    queries = Path(DATA, "cranfield", "queries.jsonl").read_text().splitlines()
    recall = fill(folder, [folder / "corpus.jsonl"], parser="jsonl")
    return recall, [json.loads(query)["text"] for query in queries][:QUESTIONS]


def library(folder: Path) -> tuple[Recall, list[str]]:
    """Return the interpreter's library, with words drawn from it."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")) + sorted(
        Path(sysconfig.get_path("stdlib")).glob("[a-m]*/*.py")
    )
    return draw_queries(fill(folder, files[:MOST_FILES]))


def documentation(folder: Path) -> tuple[Recall, list[str]]:
    """Return the documentation of system packages, with words drawn from it."""
    files = [path for path in sorted(Path("/usr/share/doc").rglob("*")) if path.is_file() and path.suffix != ".gz"]
    if not files:
        pytest.skip("needs /usr/share/doc")
    return draw_queries(fill(folder, files[:: max(1, len(files) // MOST_FILES)]))


def fill(folder: Path, files: list[Path], *, parser: str = "auto") -> Recall:
    Recall.init(str(folder), settings=("embedding=hash",))
    recall = Recall.open(str(folder))
    copies = folder / "docs"
    copies.mkdir()
    for number, file in enumerate(files):
        shutil.copyfile(file, copies / f"{number}-{file.name}")
    for _ in recall.add([str(copies)], Root("", parser=parser)):
        pass
    return recall


def draw_queries(recall: Recall) -> tuple[Recall, list[str]]:
    """Return queries of one to six nearby words, some of them as a phrase."""
    rng = random.Random(7)
    rowids = [key.rowid for key in recall.store.candidates(None)]
    questions = []
    for row in recall.store.fetch(rng.choices(rowids, k=QUESTIONS)):
        words = row.chunk.text.split()
        start = rng.randrange(len(words))
        few = words[start : start + rng.randrange(1, 7)]
        questions.append(" ".join(['"' + " ".join(few).replace('"', " ") + '"', *few] if rng.random() < 0.3 else few))
    return recall, questions


@pytest.mark.parametrize("collection", [cranfield, library, documentation])
def test_every_hit_shows_what_the_index_counts(collection: object, tmp_path: Path) -> None:
    assert callable(collection)
    recall, questions = collection(tmp_path)
    with recall:
        matched = [each for question in questions for each in check_hits(recall, question)]

    assert len(questions) == QUESTIONS
    assert matched.count(True) > QUESTIONS


def check_hits(recall: Recall, question: str) -> Iterator[bool]:
    """Yield for each hit whether the index counts anything in its text; check the shown passage against the rule."""
    found = recall.engine.answer(recall.engine.words_plan(question, Ask()))
    query, _ = lexical_query(found.plan, recall.store)
    assert isinstance(query, LiteralQuery)
    phrases = [" ".join(phrase.tokens) for phrase in query.phrases]
    assert found.pool is not None
    results = recall.search(question)["results"]
    ids = [result["chunk"]["id"] for result in results]
    rows = {each: recall.store.fetch([recall.store.rowid("chunk", each)])[0] for each in ids}
    counted = recall.store.instances(query, found.pool.terms, list(rows.values()))
    for result, row, instances in zip(results, rows.values(), counted, strict=True):
        own = [each for each in instances if not each.in_title]
        passage = result["passage"]
        start, end = passage["offset"], passage["end"]
        window = (start - row.chunk.offset, end - row.chunk.offset)
        check_window(row.chunk.text, own, [term.idf for term in found.pool.terms], window if own else None)
        assert bool(passage["matches"]) == bool(own) == bool(recall.store.analyzer.spans(row.chunk.text, phrases))
        check_place(recall, row, passage)
        yield bool(own)


def check_place(recall: Recall, row: Row, passage: PassageView) -> None:
    whole = recall.store.text_of(row.doc.id)
    first, last = (1 + whole.count("\n", 0, passage[bound]) for bound in _BOUNDS)
    assert whole[passage["offset"] : passage["end"]] == passage["text"]
    assert (passage["line_start"], passage["line_end"]) == (first, last)
