"""Visible part of a real answer: rows with title and passage, next to the ledger and the context."""

from __future__ import annotations

import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.handlers.shell import plain_text
from recall_tui.panes.results import ResultsPane
from tests.workbench_driver import Driver, is_settled, workbench

DATA = os.environ.get("RECALL_DATA", "")
QUESTIONS = 5
LONGEST = 130
"""Length of a question that takes two lines in either terminal. Each further line takes the room of a row."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path(DATA, "cranfield", "corpus.jsonl").is_file(), reason="RECALL_DATA names no folder with cranfield/"
    ),
]


@pytest.fixture(scope="module")
def cranfield(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of the collection, created with the defaults."""
    folder = tmp_path_factory.mktemp("cranfield")
    shutil.copy(Path(DATA, "cranfield", "corpus.jsonl"), folder)
    Recall.init(str(folder))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "corpus.jsonl")], Root("", parser="jsonl")):
            pass
        return Path(recall.store.info().path)


def questions() -> list[str]:
    """Return the first of the collection's questions that are not longer."""
    lines = Path(DATA, "cranfield", "queries.jsonl").read_text("utf-8").splitlines()
    return [text for text in (str(json.loads(line)["text"]) for line in lines) if len(text) <= LONGEST][:QUESTIONS]


def rows_with_text(bench: Driver) -> int:
    """Return the rows whose title and passage are visible from their start."""
    session, drawn = bench.session, bench.painted("results")
    lines = drawn.splitlines()
    seen = 0
    for place, hit in sorted(session.results.hits.items()):
        chunk = hit.chunk
        if chunk is None or chunk.id not in session.results.passages:
            continue
        at = next((at for at, line in enumerate(lines) if re.match(rf"[▶ ] *{place + 1} +\d\.\d{{3}} ", line)), None)
        if at is None:
            continue
        text = " ".join(lines[at : at + (2 if is_high(bench) else 1)])
        title = str(hit.doc.title)
        seen += title[:8] in text and passage_in(session.results.passages[chunk.id]["text"], text)
    return seen


def is_high(bench: Driver) -> bool:
    """Return True if a row has two lines."""
    return bench.app.bench.query_one(ResultsPane).size.height > 12


def passage_in(passage: str, drawn: str) -> bool:
    """Return True if two consecutive words of the passage are drawn."""
    words = passage.split()
    return any(f"{one} {other}" in drawn for one, other in pairwise(words))


@pytest.mark.parametrize(("size", "least"), [((120, 40), 8), ((80, 24), 5)], ids=["120x40", "80x24"])
async def test_a_question_fills_the_list_with_titles_and_passages(
    cranfield: Path, size: tuple[int, int], least: int
) -> None:
    async with workbench(cranfield, size=size) as bench:
        for question in questions():
            await bench.ask(question)
            await bench.until(is_settled)

            assert rows_with_text(bench) >= least, plain_text(bench.app)
            screen = plain_text(bench.app)
            assert "▶Ledger" in screen
            assert re.search(r"[\d,]+ of 2,000 tokens", screen)
            assert ("5 Context  " in screen) == (size == (120, 40))
