"""Grades for the small workbench store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from recall_core.api.recall import Recall

GRADES: dict[str, dict[str, int]] = {
    "keep the manual in mind": {
        "manual/part05.txt": 3,
        "manual/part11.txt": 2,
        "manual/part16.txt": 2,
        "docs/budget.md": 1,
    },
    "token budget": {"docs/budget.md": 3, "src/pack.py": 2, "docs/scoring.md": 1},
    "read every line of a file": {"docs/files.md": 3, "src/read.py": 3},
}
"""By the text of a query: the grade of each judged document."""


def grade(store: Path, folder: Path, grades: Mapping[str, Mapping[str, int]] = GRADES) -> None:
    """Put these grades into the store through files in the folder."""
    queries, qrels = folder / "queries.jsonl", folder / "qrels.tsv"
    ids = {text: f"q{number}" for number, text in enumerate(grades, start=1)}
    queries.write_text("".join(json.dumps({"_id": ids[text], "text": text}) + "\n" for text in grades))
    lines = [f"{ids[text]}\t{path}\t{each}\n" for text, known in grades.items() for path, each in known.items()]
    qrels.write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    with Recall.open(str(store)) as recall:
        recall.judge_import(queries=queries, qrels=qrels)
