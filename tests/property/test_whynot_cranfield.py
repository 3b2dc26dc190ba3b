"""On real queries, every relevant document that the list misses has a confirmed fix, or a proof against one."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.types import Root

DATA = os.environ.get("RECALL_DATA", "")
MISSED = 200
SETTINGS = ("chunk_tokens=100000", "overlap_tokens=0", "max_chunk_chars=1000000")

pytestmark = pytest.mark.skipif(
    not Path(DATA, "cranfield", "corpus.jsonl").is_file(), reason="needs RECALL_DATA with cranfield/"
)


@pytest.mark.slow
def test_every_missed_relevant_document_has_a_fix_or_a_proof(tmp_path: Path) -> None:
    folder = Path(DATA, "cranfield")
    shutil.copy(folder / "corpus.jsonl", tmp_path)
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    with (folder / "qrels.tsv").open(newline="") as file:
        relevant = [(row[0], row[1]) for row in list(csv.reader(file, delimiter="\t"))[1:] if int(row[2]) > 0]
    Recall.init(str(tmp_path), settings=SETTINGS)
    missed = 0
    with Recall.open(start=tmp_path) as recall:
        for _ in recall.add([str(tmp_path / "corpus.jsonl")], Root("", parser="jsonl")):
            pass
        for query in queries:
            for _, document in (pair for pair in relevant if pair[0] == query["_id"]):
                if missed < MISSED:
                    missed += is_missed(recall, query["text"], f"corpus.jsonl#{document}")
    assert missed == MISSED


def is_missed(recall: Recall, words: str, path: str) -> bool:
    """Return True if the document is missed, after a check that its account is complete."""
    view = recall.why_not(words, path, Ask())["whynot"]
    if view["present"]:
        return False
    fixes = view.get("fixes", [])
    assert fixes or "proof" in view or view["verdict"] == "not_indexed", (words, path)  # two documents are empty
    assert all(fix["confirmed"] for fix in fixes)
    return True
