"""Compare two embeddings of long chunks: the mean of windows, and the first window. `python -m benchmarks.windows
--data
DIR/NAME`.

Neighbouring abstracts of a judged collection are joined into chunks that no small model can read at once. A chunk is
relevant if one of its abstracts is. Chunks are ranked by vectors alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality import MEASURE, Collection, read_collection
from recall_core.config import Config
from recall_core.embed.registry import new_embedder
from recall_core.evaluate.figures import compare_columns, intervals
from recall_core.evaluate.measures import values
from recall_core.ports import Embedder

JOINED = 4
"""Abstracts in a chunk. With 200 to 300 word pieces each, they fill about four windows of 254."""


def joined(collection: Collection, size: int) -> tuple[list[str], dict[str, str]]:
    """Return the texts of the joined chunks, and the name (number) of the chunk of each abstract."""
    names, texts = [], []
    with (collection.folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            names.append(record["_id"])
            texts.append(record["text"])
    chunks = ["\n\n".join(texts[start : start + size]) for start in range(0, len(texts), size)]
    return chunks, {name: str(number // size) for number, name in enumerate(names)}


def cut(text: str, embedder: Embedder) -> str:
    """Return the longest beginning of the text, in words, that fits one window."""
    words = text.split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if embedder.windows([" ".join(words[:middle])])[0] == 1:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.windows", description=__doc__)
    parser.add_argument("--data", type=Path, help="a judged collection in BEIR layout")
    parser.add_argument("--embedder", default="minilm")
    options = parser.parse_args(argv)
    if options.data is None or not (options.data / "corpus.jsonl").exists():
        print("no judged collection. Pass --data DIR with corpus.jsonl, queries.jsonl and qrels.tsv")
        return 0
    collection = read_collection(options.data)
    embedder = new_embedder(Config(embedding=options.embedder))
    chunks, chunk_of = joined(collection, JOINED)
    grades = {
        query: {chunk_of[name]: 1 for name, grade in judged.items() if grade and name in chunk_of}
        for query, judged in collection.grades.items()
    }
    asked = embedder.embed(list(collection.queries.values()), is_query=True)
    windows = embedder.windows(chunks)
    means = _scores(asked, embedder.embed(chunks), grades, list(collection.queries))
    heads = _scores(asked, embedder.embed([cut(text, embedder) for text in chunks]), grades, list(collection.queries))
    for name, scores in (("mean of windows", means), ("cut off", heads)):
        [(low, high)] = intervals([scores])
        print(f"{name:<16} nDCG@10 {sum(scores) / len(scores):.4f} [{low:.3f}, {high:.3f}]")
    found = compare_columns([means], [heads])[0]
    print(
        f"{len(chunks)} chunks of {sum(windows) / len(windows):.1f} windows: {found.difference:+.4f} "
        f"[{found.low:+.4f}, {found.high:+.4f}] p={found.p:.4f} {found.verdict}"
    )
    return 0


def _scores(
    asked: Sequence[bytes], held: Sequence[bytes], grades: dict[str, dict[str, int]], queries: Sequence[str]
) -> list[float]:
    left, right = (np.frombuffer(b"".join(each), "<f4").reshape(len(each), -1) for each in (asked, held))
    order = np.argsort(-(left @ right.T), axis=1, kind="stable")[:, :100]
    run = {query: [str(number) for number in row] for query, row in zip(queries, order, strict=True)}
    found = values([MEASURE], grades, run)[MEASURE]
    return [found[query] for query in queries]


if __name__ == "__main__":
    sys.exit(main())
