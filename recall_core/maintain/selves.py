"""Self-retrieval: does a chunk come back when it is asked for by its own text?"""

from __future__ import annotations

from collections.abc import Sequence

from recall_core.ingest.vectors import embed
from recall_core.ports import Embedder
from recall_core.store.sqlite.check import Finding
from recall_core.store.sqlite.neighbours import bests, in_order, place_of, stored_vectors
from recall_core.store.sqlite.store import SqliteStore
from recall_core.text import STOP_WORDS, embedded_text, spaced
from recall_core.types import LexicalQuery, Phrase, Row, Vector

_SAMPLE = 20
_WORDS = 50  # of a chunk, from which the rarest are taken
_RAREST = 3
_TIE = 0.01  # as good as first: what a model makes of one text differs that little between machines
_ANEW = "recall export --no-embeddings --out FILE, then recall init a new store and recall import FILE"


def self_retrieval(store: SqliteStore, embedder: Embedder | None, *, instead: str = "") -> Finding:
    """A warning when a chunk of the sample is not found by its rarest words, or is not the nearest to its own vector.

    Up to 20 chunks are tried, evenly spaced by path and offset. Their vectors are made anew, so that those stored for
    other texts, or by a model that has changed since, are found out; without an embedder the stored ones stand in,
    `instead` says why. A chunk as near as the nearest is no stray, and one without a vector is asked by words alone.
    Time grows with the number of vectors, which are gone through once.  Raises EmbedError.
    """
    with store.reading():
        rows = store.fetch(_sampled(in_order(store)))
        if not rows:
            return Finding("ok", "there is no chunk to try")
        unheard = [row for row in rows if not _is_found_by_words(store, row)]
        near = bests(store, _vectors(store, rows, embedder))
    strays = [row for row in rows if row.rowid in near and near[row.rowid][0] < near[row.rowid][1] - _TIE]
    by = f"their rarest words and {'stored vectors' if embedder is None else 'vectors made anew'}"
    by += f" ({instead})" if instead else ""
    lost = [row for row in rows if row in unheard or row in strays]
    if not lost:
        return Finding("ok", f"{len(rows)} chunks are found by {by}")
    first = f"{place_of(lost[0])} by its {'words' if lost[0] in unheard else 'vector'}"
    evidence = f"of {len(rows)} chunks {len(lost)} are not found by {by}, the first {first}"
    return Finding("warning", evidence, "" if unheard else _ANEW)


def _sampled(rowids: Sequence[int]) -> list[int]:
    count = min(len(rowids), _SAMPLE)
    return [rowids[place * len(rowids) // count] for place in range(count)]


def _is_found_by_words(store: SqliteStore, row: Row) -> bool:
    """Whether the chunk is among those that hold its rarest words; one without a word has none to miss."""
    words = list(dict.fromkeys(store.tokens(spaced(row.chunk.text))))[:_WORDS]
    words = [word for word in words if word not in STOP_WORDS] or words
    phrases = tuple(Phrase(word, (word,)) for word in words)
    terms = store.term_stats(LexicalQuery("", "", phrases))
    rarest = sorted(range(len(words)), key=lambda place: (terms[place].df, place))[:_RAREST]
    match = " AND ".join(f'"{words[place]}"' for place in rarest)
    query = LexicalQuery("", match, tuple(phrases[place] for place in rarest))
    return not words or row.rowid in store.lexical_scores(query, [row.rowid], title_weight=1.0)


def _vectors(store: SqliteStore, rows: Sequence[Row], embedder: Embedder | None) -> dict[int, Vector]:
    """chunk rowid to vector, for those whose text has a feature."""
    if embedder is None:
        return stored_vectors(store, [row.rowid for row in rows])
    made = embed([embedded_text(row.doc.path, row.doc.title, row.chunk.text) for row in rows], embedder)
    return {row.rowid: vector for row, (vector, _) in zip(rows, made, strict=True) if vector}
