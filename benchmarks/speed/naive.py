"""A short script that uses the libraries as their documentation shows: the ten best texts by words and by vectors.

It reads asked.json (an FTS5 expression and the vector of the question), bare.db and vec0.db from the current folder.
It imports nothing from Recall and does not embed the question.
"""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import numpy as np
import sqlite_vec

POOL, K, RRF_K = 100, 10, 60


def main() -> None:
    """Search by both signals, fuse them by rank, and print the texts."""
    asked = json.loads(Path("asked.json").read_text(encoding="utf-8"))
    texts, vectors = apsw.Connection("bare.db"), apsw.Connection("vec0.db")
    vectors.enable_load_extension(True)
    sqlite_vec.load(vectors)
    words = "SELECT rowid, bm25(ft, 3.0, 1.0) AS score FROM ft WHERE ft MATCH ? ORDER BY score LIMIT ?"
    lexical = [row for row, _ in texts.execute(words, (asked["match"], POOL))]
    vector = np.array(asked["vector"], dtype=np.float32)
    nearest = "SELECT rowid FROM vec WHERE embedding MATCH ? AND k = ? ORDER BY distance"
    semantic = [row + 1 for (row,) in vectors.execute(nearest, (vector.tobytes(), POOL))]
    scores: dict[int, float] = {}
    for ranking in (lexical, semantic):
        for rank, row in enumerate(ranking):
            scores[row] = scores.get(row, 0.0) + 1 / (RRF_K + 1 + rank)
    for row in sorted(scores, key=lambda each: -scores[each])[:K]:
        for (text,) in texts.execute("SELECT body FROM ft WHERE rowid = ?", (row,)):
            print(row, scores[row], text)


if __name__ == "__main__":
    main()
