"""On real code, contexts show the passage of their first hit at every budget, verbatim, and lose no code point."""

from __future__ import annotations

import random
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.marks import SEPARATOR
from recall_core.text import MODEL_COUNTER, counter
from tests.python_units import definitions_by_line

FILES = ("ast.py", "datetime.py", "shutil.py", "threading.py", "zipfile.py")
WORDS = 4
COUNT = counter(MODEL_COUNTER).count


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    """Yield a store of some large modules of the standard library."""
    folder = tmp_path_factory.mktemp("library")
    Recall.init(str(folder), settings=("embedding=hash",))
    for name in FILES:
        source = Path(sysconfig.get_path("stdlib"), name)
        if source.is_file():
            shutil.copyfile(source, folder / name)
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder)]):
            pass
        yield recall


def questions(recall: Recall, number: int) -> list[str]:
    """Return some adjacent words of chunks."""
    rng = random.Random(3)
    rowids = [key.rowid for key in recall.store.candidates(None)]
    texts = [row.chunk.text.split() for row in recall.store.fetch(rng.choices(rowids, k=number))]
    starts = [rng.randrange(max(1, len(words) - WORDS)) for words in texts]
    return [" ".join(words[start : start + WORDS]) for words, start in zip(texts, starts, strict=True)]


def check_cuts(recall: Recall, question: str, *, step: int) -> int:
    """Pack at every `step`-th budget up to 1,000 tokens. Return how many of these contexts cut their first hit."""
    passage = recall.search(question, Ask(k=1))["results"][0]["passage"]
    path = recall.search(question, Ask(k=1))["results"][0]["doc"]["path"]
    whole = recall.store.text_of(recall.store.document_at(path) or "")
    answer = recall.engine.answer(recall.engine.words_plan(question, Ask()))
    header = COUNT(f"[1] {path}:{len(whole)}-{len(whole)}\n") + 2
    before: set[tuple[str, int]] = set()
    cut = 0
    for budget in range(header + COUNT(passage["text"]), 1_001, step):
        packed = recall.engine.pack(answer, Pack(budget_tokens=budget))
        first = packed.blocks[0]
        assert COUNT(packed.text) == packed.used_tokens <= budget, (question, budget)
        assert first.doc.path == path, (question, budget)
        assert first.offset <= passage["offset"] < passage["end"] <= first.end, (question, budget)
        for block in packed.blocks:
            text = whole if block.doc.path == path else recall.store.text_of(block.doc.id)
            assert block.text == text[block.offset : block.end], (question, budget)
        shown = {(block.doc.path, at) for block in packed.blocks for at in range(block.offset, block.end)}
        assert before <= shown, (question, budget)
        before = shown
        cut += first.truncated
    return cut


def test_context_shows_passage_of_first_hit(library: Recall) -> None:
    with library.store.reading():
        assert sum(check_cuts(library, each, step=61) for each in questions(library, 4)) > 4


@pytest.mark.parametrize("number", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_hit_is_named_by_definitions_around_its_line(library: Recall, number: int) -> None:
    named = 0
    for question in questions(library, number):
        for result in library.search(question, Ask(k=3))["results"]:
            text, passage = library.store.text_of(result["doc"]["id"]), result["passage"]
            within = definitions_by_line(text, text.split("\n"))
            names = {name.removeprefix("async ") for name in passage.get("heading", "").split(SEPARATOR) if name}
            for line in range(passage["line_start"], passage["line_end"] + 1):
                assert names <= within[line], (question, result["doc"]["path"], line)
            named += bool(names)
    assert named > number


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_context_of_any_budget_shows_passage_of_first_hit(library: Recall) -> None:
    with library.store.reading():
        assert sum(check_cuts(library, each, step=1) for each in questions(library, 30)) > 300
