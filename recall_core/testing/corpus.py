"""A few short files for the store suite, with its queries and expected values."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import fsum, isclose
from operator import mul
from typing import Literal

from recall_core.embed.hash import HashEmbedder
from recall_core.marks import Mark
from recall_core.rank.bm25 import idf
from recall_core.rql.ast import Expr
from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest, store_digest
from recall_core.store.port import Store
from recall_core.text import embedded_hash, embedded_text, utc
from recall_core.types import (
    LiteralQuery,
    MetaValue,
    NewChunk,
    NewDocument,
    NewFile,
    Phrase,
    Root,
    Row,
    Span,
    TermStat,
    Vector,
)
from recall_core.words.question import literal

EMBEDDER = HashEmbedder(32)
MTIME_NS = 1_700_000_000_000_000_000
_FLAGGED: Mapping[str, MetaValue] = {"n": 3, "flag": True}
ROOT = Root("docs", tags=("from-root",))

FILTERS = (
    "doc.path GLOB '*.txt'",
    "doc.tag = 'x'",
    "NOT doc.tag = 'x'",
    "doc.source IS NULL",
    "doc.meta.n > 2",
    "doc.meta.flag = TRUE AND doc.path LIKE 'b/%'",
    "(doc.tag = 'x' OR doc.source = 's') AND NOT doc.path LIKE '%y.txt'",
    "doc.mtime >= '2023-11-14' AND NOT doc.path IN ('a.txt', 'e.txt')",
)
CHUNK_FILTERS = (
    "chunk.offset > 0",
    "chunk.text LIKE '%blue%' OR doc.tag = 'y'",
    "lexical('Blue fishes')",
    "NOT lexical('blue') AND chunk.offset = 0",
    "lexical('色') OR lexical('…')",
)
QUESTIONS = ("fish", '"fish two" blue', '"blue fish"', "naive swimming", "色", "fish fish red unheard", "unheard")

BETWEEN = "sea salmon otter blue\n"
NEARLY_HALF = ("one cold river lake otter boat", "small red green pike cold sea")
"""Questions whose cosine with BETWEEN, 0.3692005 and 0.4681345, float32 sums round to the wrong sixth decimal."""


def file_of(
    path: str,
    texts: Sequence[str],
    *,
    title: str = "",
    tags: tuple[str, ...] = (),
    source: str | None = None,
    meta: Mapping[str, MetaValue] | None = None,
    root: Root | None = None,
) -> NewFile:
    """Return a file of one document whose chunks are these texts in order, one line each."""
    document = _document(path, texts, title=title, tags=tags, source=source, meta=meta or {})
    return NewFile(path, path, document.size, MTIME_NS, document.hash, "settings", root, (document,))


def _document(
    path: str,
    texts: Sequence[str],
    *,
    title: str = "",
    tags: tuple[str, ...] = (),
    source: str | None = None,
    meta: Mapping[str, MetaValue],
) -> NewDocument:
    chunks, offset = [], 0
    for line, text in enumerate(texts, start=1):
        span = Span(offset, offset + len(text), len(text.split()))
        (vector,) = EMBEDDER.embed([embedded_text(path, title, text)])
        chunks.append(NewChunk(span, line, line, text, embedded_hash(path, title, text), vector))
        offset = span.end
    raw = "".join(texts).encode()
    return NewDocument(path, sha256(raw).hexdigest(), title, len(raw), tags, source, meta, tuple(chunks))


def _records() -> NewFile:
    """Return a file of two records, which differ from the plain text of their file and have marks."""
    both = [
        _document(f"d.jsonl#{n}", [f"record {n} swims "], tags=("y",), meta={"n": n})._replace(
            read_by="jsonl@2;utf-8", marks=(Mark(0, "heading", "Größe › Fish", n), Mark(7, "block"))
        )
        for n in (1, 2)
    ]
    return NewFile("d.jsonl", "d.jsonl", 9, MTIME_NS, "0" * 64, "settings", None, tuple(both))


def title_of(path: str, title: str) -> NewFile:
    """Return a file of one document whose only text is its title, in chunks of two words."""
    words = title.split(" ")
    texts = [" ".join(words[start : start + 2]) + " " * (start + 2 < len(words)) for start in range(0, len(words), 2)]
    file = file_of(path, texts)
    (document,) = file.documents
    chunks = tuple(chunk._replace(is_title=True) for chunk in document.chunks)
    return file._replace(documents=(document._replace(title=title, chunks=chunks),))


def files() -> tuple[NewFile, ...]:
    """Return a few files: tagged, with metadata, with records, in another script, and an empty one."""
    return (
        file_of("a.txt", ["red fish, blue fish\n", "one fish two fish\n"], tags=("x", "z"), meta={"n": 1}),
        file_of("b/c.md", ["Naïve fish swim.\n"], title="Fish Story", source="s", meta=_FLAGGED, root=ROOT),
        _records(),
        file_of("e.txt", ["色 blue blue\n", "红色的鱼\n"], source="s", meta={"n": "three"}),
        file_of("empty.txt", [], tags=("x",)),
    )


FISH = LiteralQuery("fish", (Phrase("fish", ("fish",), ("fish",)),))


def put(store: Store, *files: NewFile) -> None:
    """Put the files into the store in one batch."""
    with store.writer() as writer:
        for file in files:
            writer.put(file)


def rowids_of(store: Store, where: Expr | None) -> list[int]:
    """Return the rowids of live chunks that pass the filter, in natural order."""
    return [key.rowid for key in store.candidates(where)]


def rows_of(store: Store) -> list[Row]:
    """Return every live chunk, in natural order."""
    return store.fetch(rowids_of(store, None))


def page(
    store: Store, where: Expr | None, table: Literal["chunk", "doc"], *, limit: int | None = None, offset: int = 0
) -> list[tuple[int, int | None]]:
    """Return a page of (doc rowid, chunk rowid or None), in natural order."""
    return store.scan(where, table=table, order=(), limit=limit, offset=offset)[1]


def vector_of(text: str) -> Vector:
    """Return the vector of a query."""
    return EMBEDDER.embed([text], is_query=True)[0]


def dot(one: Vector, other: Vector) -> float:
    """Return the exact product of two vectors."""
    return fsum(map(mul, array("f", one), array("f", other)))


def query_of(store: Store, text: str, how: str = "any") -> LiteralQuery:
    """Return the query's words as the store folds them."""
    return literal(text, analyzer=store.analyzer, match=how)


def find_misjudged(store: Store, vector: Vector, cosines: Mapping[int, float]) -> list[int]:
    """Return the rows that are out of order, or off by more than claimed, in a store that estimates cosines."""
    found = store.estimates(vector, where=None) if "estimates" in store.capabilities else None
    if found is None:
        return []
    rows = zip(found.rowids, found.cosines, [key.rowid for key in store.candidates(None)], strict=True)
    return [
        rowid
        for rowid, estimate, expected in rows
        if rowid != expected
        or (estimate is None) != (rowid not in cosines)
        or (estimate is not None and abs(cosines[rowid] - estimate) > found.floor + found.slope * abs(estimate))
    ]


def lexical_of(store: Store, text: str) -> Mapping[int, float]:
    """Return the raw BM25 of all rows that contain a word, by rowid."""
    return store.lexical(query_of(store, text), where=None, k=None, title_weight=1.0)


def weight_of(store: Store, phrase: Phrase, term: TermStat) -> TermStat:
    """Return the term's statistics by the core's formulas: for several words, the sum of their weights."""
    rows = store.info().chunks
    dfs = [each.df for each in store.term_stats(LiteralQuery("", store.analyzer.each(phrase.tokens)))]
    weight = fsum(idf(df, rows) for df in dfs) if term.df else 0.0
    return TermStat(phrase.text, term.df, weight, len(dfs))


def best(store: Store, values: Mapping[int, float], k: int) -> list[tuple[int, float]]:
    """Return the k best, ties in natural order."""
    order = rowids_of(store, None)
    return sorted(values.items(), key=lambda pair: (-pair[1], order.index(pair[0])))[:k]


def bounded_by_rule(store: Store, query: LiteralQuery, k: int) -> list[tuple[int, float]]:
    """Return the k best and every row with a phrase of several words, best first. At most k rows may have one."""
    found = store.lexical(query, where=None, k=None, title_weight=1.0)
    held = store.occurrences(query._replace(phrases=query.long_phrases), None).counts
    kept = dict(best(store, found, k)).keys() | set().union(*held)
    return best(store, {rowid: found[rowid] for rowid in kept}, len(kept))


def is_close(one: float, other: float) -> bool:
    """Return True if the values are equal except for the order of summation."""
    return isclose(one, other, rel_tol=1e-9)


def digest_by_rule(store: Store) -> str:
    """Return the digest computed from the contents of an export."""
    files = list(store.live_files())
    mtimes = {file.path: file.mtime_ns for file in store.files()}
    states = [_state(document, mtimes[file.path]) for file in files for document in file.documents]
    return store_digest(store.embedder(), digest_sum(map(document_digest, states)))


def _state(document: NewDocument, mtime_ns: int) -> DocumentState:
    spans = [(chunk.span.offset, chunk.span.end, chunk.span.tokens) for chunk in document.chunks]
    doc_id = document.id
    meta, tags = canonical(document.meta), sorted(document.tags)
    return DocumentState(doc_id, document.source, utc(mtime_ns), meta, document.title, spans, tags)
