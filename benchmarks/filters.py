"""Compare RQL with hand-written SQL: five predicates on 100,000 chunks. `python -m benchmarks.filters`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import Comparison, Spread, compare, cpu
from recall_core.rql.ast import Query
from recall_core.rql.parser import parse_query
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.types import NewChunk, NewDocument, NewFile, Span

CHUNKS = 100_000
CHUNKS_PER_FILE = 20
MOST_RATIO = 1.3
"""Highest allowed ratio of a compiled filter to hand-written SQL."""

_DAYS = ("2023-11-15T00:00:00.000000Z", "2024-06-01T00:00:00.000000Z")
_ROWS = """
FROM doc d JOIN chunk c ON c.doc = d.rowid
WHERE d.deleted = 0 AND c.deleted = 0 AND d.source = ? AND c.tokens < ? AND {listed} AND d.mtime BETWEEN ? AND ?
  AND EXISTS (SELECT 1 FROM doc_tag t WHERE t.doc = d.rowid AND t.tag = ?)
"""
_PAGE = "ORDER BY d.path, c.offset, c.id LIMIT 10 OFFSET 0"

Page = tuple[int, list[tuple[int, int | None]]]


class Case(NamedTuple):
    """One filter, in RQL and as hand-written FROM and WHERE clauses with their values."""

    name: str
    rql: str
    rows: str
    values: tuple[object, ...]


def cases(chunks: int) -> Iterator[Case]:
    """Yield the same five predicates (=, <, IN, BETWEEN, a tag), with and without a list of paths."""
    files = chunks // CHUNKS_PER_FILE
    paths = [path_of(n) for n in range(0, files, max(1, files // 200))]
    offsets = list(range(0, 100 * CHUNKS_PER_FILE, 300))
    yield _case("filter, files named", "doc.path", "d.path", paths)
    yield _case("filter, no file named", "chunk.offset", "c.offset", offsets)


def _case(name: str, field: str, column: str, listed: list[str] | list[int]) -> Case:
    rql = (
        f"SELECT chunk.id FROM chunk FILTER doc.source = 'wiki' AND chunk.tokens < 40 AND {field} IN {tuple(listed)} "
        "AND doc.mtime BETWEEN '2023-11-15T00:00Z' AND '2024-06-01T00:00Z' AND doc.tag = 'even' LIMIT 10"
    )
    marks = ", ".join("?" * len(listed))
    return Case(name, rql, _ROWS.format(listed=f"{column} IN ({marks})"), ("wiki", 40, *listed, *_DAYS, "even"))


def compiled(store: SqliteStore, query: Query) -> Page:
    """Run the compiled filter. Return how many rows match, and the first ten."""
    return store.scan(query.where, table="chunk", order=(), limit=query.limit, offset=0)


def parsed(store: SqliteStore, rql: str) -> Page:
    """Parse the query, then run it like `compiled`."""
    return compiled(store, parse_query(rql).query)


def by_hand(store: SqliteStore, case: Case) -> Page:
    """Run the hand-written SQL. Return how many rows match, and the first ten."""
    total = store.execute(f"SELECT count(*) {case.rows}", case.values)[0][0]
    page = store.execute(f"SELECT d.rowid, c.rowid {case.rows} {_PAGE}", case.values)
    return total, [(doc, chunk) for doc, chunk in page]


def measure(store: SqliteStore, case: Case, *, chunks: int, rounds: int) -> Iterator[Comparison]:
    """Yield the compiled filter, then the complete path from text, each compared with hand-written SQL."""
    query = parse_query(case.rql).query
    assert compiled(store, query) == by_hand(store, case)
    peer = cpu(partial(by_hand, store, case))
    for name, ours in (
        (case.name, partial(compiled, store, query)),
        (f"{case.name}, parsed", partial(parsed, store, case.rql)),
    ):
        yield compare(name, cpu(ours), "SQL by hand", peer, chunks=chunks, rounds=rounds)


def filled(chunks: int) -> SqliteStore:
    """Return a store in memory with that many short chunks and no vectors."""
    store = create_store(":memory:", embedder="none", dimension=16, counter="whitespace", chunker="none")
    with store.writer() as writer:
        for n in range(chunks // CHUNKS_PER_FILE):
            writer.put(prepared(n))
    return store


def path_of(n: int) -> str:
    """Return the path of the n-th file."""
    return f"docs/{n % 97:02}/{n:06}.md"


def prepared(n: int) -> NewFile:
    """Return the n-th file with its short chunks, which have no vectors."""
    path, digest = path_of(n), sha256(str(n).encode()).hexdigest()
    source = ("wiki", "repo", None, "mail")[n % 4]
    tags = ("all", "even") if n % 2 == 0 else ("all",)
    chunks = tuple(_chunk(n, i) for i in range(CHUNKS_PER_FILE))
    document = NewDocument(path, digest, f"Document {n}", 1, tags, source, {"n": n}, chunks)
    return NewFile(path, path, 1, (1_700_000_000 + n * 3600) * 10**9, digest, "text", None, (document,))


def _chunk(n: int, i: int) -> NewChunk:
    text = f"document {n} part {i}"
    span = Span(i * 100, i * 100 + len(text), (n * 31 + i * 17) % 120)
    return NewChunk(span, i + 1, i + 1, text, None, sha256(text.encode()).digest(), b"")


def main() -> int:
    """Measure, print and write JSON if asked to. Return 1 if a compiled filter costs too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--out", type=Path, help="write everything as JSON")
    options = parser.parse_args()
    store = filled(options.chunks)
    found = [
        comparison
        for case in cases(options.chunks)
        for comparison in measure(store, case, chunks=options.chunks, rounds=options.rounds)
    ]
    for one in found:
        spread = f"{one.ratio.median:.2f} ({one.ratio.least:.2f} to {one.ratio.most:.2f})"
        print(f"{one.name:<32}{one.ours_ms.median:>9.2f} ms  {one.peer} {one.peer_ms.median:.2f} ms  ratio {spread}")
    if options.out is not None:
        report = {"most_ratio": MOST_RATIO, "comparisons": [_as_json(one) for one in found]}
        options.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    judged = [one for one in found if not one.name.endswith("parsed")]
    return int(any(one.ratio.median > MOST_RATIO for one in judged))


def _as_json(one: Comparison) -> dict[str, object]:
    spreads = {key: value._asdict() for key, value in one._asdict().items() if isinstance(value, Spread)}
    return {**one._asdict(), **spreads}


if __name__ == "__main__":
    sys.exit(main())
