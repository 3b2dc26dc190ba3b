"""Can sparse-document recall fire at all: its ceiling beside how near a question comes to a short document."""

from __future__ import annotations

import re
from statistics import median

from recall_core.config import Config
from recall_core.ports import Embedder
from recall_core.store.sqlite.check import Finding
from recall_core.store.sqlite.short import short_documents
from recall_core.store.sqlite.store import SqliteStore

CALIBRATE = "recall eval --calibrate-sparse, then set sparse_distance_ceiling"
_SAMPLE = 50
_LEAST_CHARS = 24  # half a shorter sentence is no question
_SENTENCE_END = re.compile(r"[.!?]\s|[\n。！？]")


def ceiling_reachable(store: SqliteStore, embedder: Embedder, config: Config) -> Finding:
    """A warning when no short document is within the ceiling of half its own first sentence.

    Up to 50 short documents, evenly spaced by path, are asked for with the first half of their first sentence: few
    questions come nearer to the document that answers them. What calibrates a ceiling is judged questions.
    """
    if not config.sparse_recall or config.sparse_max_injections == 0:
        return Finding("ok", "sparse-document recall is off")
    rows = _sampled(short_documents(store, config.sparse_chunk_threshold))
    halves = {row.rowid: half for row in store.fetch(rows) if (half := _half_sentence(row.chunk.text))}
    vectors = embedder.embed(list(halves.values()), is_query=True)
    distances = []
    for rowid, vector in zip(halves, vectors, strict=True):
        if vector:
            distances += [1 - cosine for cosine in store.cosines(vector, where=None, rowids=[rowid]).values()]
    if not distances:
        return Finding("ok", "there is no short document to try")
    near = sum(distance <= config.sparse_distance_ceiling for distance in distances)
    evidence = (
        f"{near} of {len(distances)} short documents are within {config.sparse_distance_ceiling:g} of half "
        f"their first sentence; the nearest is at {min(distances):.3f}, the median {median(distances):.3f}"
    )
    return Finding("ok" if near else "warning", evidence)


def _sampled(rowids: list[int]) -> list[int]:
    count = min(len(rowids), _SAMPLE)
    return [rowids[place * len(rowids) // count] for place in range(count)]


def _half_sentence(text: str) -> str:
    """The first half of the first sentence, in whole words where it has any; "" where it is too short to tell."""
    sentence = next((part.strip() for part in _SENTENCE_END.split(text) if len(part.strip()) >= _LEAST_CHARS), "")
    half = sentence[: len(sentence) // 2]
    return half.rpartition(" ")[0] or half
