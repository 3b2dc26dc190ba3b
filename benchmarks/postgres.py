"""Compare a collection in Postgres with a file of the same documents. `python -m benchmarks.postgres URL`.

URL names a database. Its collection `bench_EMBEDDING_CHUNKS` and the file are made once and kept. Both are asked in
turns, in wall time. A server on this machine shares its processors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter

from benchmarks import corpus, prose
from benchmarks.speed.asked import Asker
from benchmarks.speed.lab import settle
from benchmarks.timing import Comparison, Spread, compare, spread
from recall_core.api import stores
from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.api.stores import store_kind, store_url
from recall_core.types import Root

MOST_RATIO = {"add": 2.0, "first answer": 3.0, "hybrid": 1.5, "hybrid, filter of 1 %": 2.0}
"""The goals of docs/scale.md."""
PEER = "a file"
TENTH = "doc.path GLOB 'docs/3/**'"
ASKS = {
    "hybrid": Ask(k=10),
    "lexical": Ask(k=10, mode="lexical"),
    "semantic": Ask(k=10, mode="semantic"),
    "hybrid, filter of 1 %": Ask(k=10, filter="doc.path GLOB 'docs/3/7/**'"),
    "hybrid, filter of 10 %": Ask(k=10, filter=TENTH),
}
FIRST = "import sys; from recall_core.api.recall import Recall; Recall.open(sys.argv[1]).search(sys.argv[2])"


def clock(work: Callable[[], object]) -> float:
    """Return the time of a call in milliseconds."""
    started = perf_counter()
    work()
    return (perf_counter() - started) * 1000


def add(recall: Recall, docs: Path) -> None:
    """Add every file."""
    for _ in recall.add([str(docs)], Root("")):
        pass


def fill(home: Path, url: str, *, embedding: str, chunks: int) -> Iterator[Comparison]:
    """Make both stores, unless they are there, and compare the time that this takes."""
    if (home / "recall.db").exists():
        return
    prose.write(home / "docs", prose.prose(chunks).pieces)
    Recall.init(str(home), embedding=embedding, settings=corpus.SETTINGS)
    with Recall.open(start=home) as recall:
        file_ms = clock(partial(add, recall, home / "docs"))
        store = stores.create(store_url(url), recall.config)
        with Recall(Engine(store, config=recall.config, base=home)) as other:
            ours_ms = clock(partial(add, other, home / "docs"))
    yield Comparison("add", PEER, chunks, *(Spread(n, n, n) for n in (ours_ms, file_ms, ours_ms / file_ms)))


def measure(home: Path, url: str, *, chunks: int, rounds: int) -> Iterator[Comparison]:
    """Compare the first answer of a process, then each kind of question to stores that are in memory."""
    keeps = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with Recall.open(start=home) as recall, Recall.open(url, start=home) as other:
        asker = Asker([text for (text,) in recall.store.execute("SELECT text FROM chunk WHERE deleted = 0")])

        def first(store: str) -> float:
            command = [sys.executable, "-c", FIRST, store, asker.draw("5 words", 1)[0].text]
            return clock(lambda: subprocess.run(command, cwd=home, env=keeps, check=True))

        def search(asked: Recall, how: Ask) -> float:
            question = asker.draw("5 words", 1)[0].text
            return clock(lambda: asked.search(question, how))

        both = partial(first, url), partial(first, str(home))
        yield compare("first answer", both[0], PEER, both[1], chunks=chunks, rounds=rounds // 2)
        for each in (other, recall):
            settle(each, partial(search, each, Ask()))
        for name, how in ASKS.items():
            both = partial(search, other, how), partial(search, recall, how)
            yield compare(name, both[0], PEER, both[1], chunks=chunks, rounds=rounds)


def approximate(home: Path, url: str, *, chunks: int, rounds: int) -> Iterator[Comparison]:
    """Compare HNSW with exact search, both without vectors in memory. Makes the index; names have its recall@10."""
    with Recall.open(start=home) as recall:
        config = recall.config._replace(vector_index="hnsw", memory_mb=0)
        asker = Asker([text for (text,) in recall.store.execute("SELECT text FROM chunk WHERE deleted = 0")], seed=9)
    kind, where = store_url(url)
    with Recall(Engine(store_kind(kind).open(where), config=config, base=home)) as other:

        def search(question: str, ask: Ask) -> tuple[float, set[str]]:
            started = perf_counter()
            rows = other.search(question, ask)["results"]
            return (perf_counter() - started) * 1000, {row["chunk"]["id"] for row in rows}

        ms = clock(other.compact)
        yield Comparison("making the index", "", chunks, *(Spread(n, n, n) for n in (ms, ms, 1.0)))
        for filter_, within in ((None, ""), (TENTH, ", filter of 10 %")):
            ways = [Ask(k=10, mode="semantic", filter=filter_, exact=exact) for exact in (False, True)]
            asked = [each.text for each in asker.draw("5 words", rounds + 1)]
            pairs = [[search(question, way) for way in ways] for question in asked][1:]
            share = sum(len(ids & best) / len(best) for (_, ids), (_, best) in pairs) / rounds
            times = zip(*([near, exact, near / exact] for (near, _), (exact, _) in pairs), strict=True)
            yield Comparison(f"HNSW, recall {share:.2f}{within}", "exact", chunks, *map(spread, map(list, times)))


def main() -> int:
    """Print the comparisons. Return 1 if one exceeds its goal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("url", help="of a database, like postgresql://me@localhost/test")
    parser.add_argument("--stores", type=Path, default=Path(".bench"), help="folder for the files")
    parser.add_argument("--embedding", default="hash")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--hnsw", action="store_true", help="compare an approximate index with exact search instead")
    given = parser.parse_args()
    name = f"bench_{given.embedding}_{given.chunks}"
    url = f"{given.url}{'&' if '?' in given.url else '?'}collection={name}"
    home = given.stores / name
    home.mkdir(parents=True, exist_ok=True)
    missed = 0
    for found in chain(
        fill(home, url, embedding=given.embedding, chunks=given.chunks),
        (approximate if given.hnsw else measure)(home, url, chunks=given.chunks, rounds=given.rounds),
    ):
        most = MOST_RATIO.get(found.name)
        missed += most is not None and found.ratio.median > most
        goal = "" if most is None else f" (goal {most})"
        ours, its, ratio = found.ours_ms.median, found.peer_ms.median, found.ratio.median
        print(f"{found.name:34} {ours:9.1f} ms, {found.peer} {its:9.1f} ms: {ratio:.2f}{goal}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
