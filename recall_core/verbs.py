"""The steps of retrieval as functions to put together: chunk, index, retrieve, fuse, rerank, compress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, isfinite
from typing import Any, NamedTuple

from recall_core.asking import Ask
from recall_core.config import RRF_K, Config, replace
from recall_core.errors import UsageError
from recall_core.ingest.chunk import chunk as spans_of
from recall_core.ingest.pieces import NO_METADATA, Piece, bad_pieces, file_of
from recall_core.ingest.vectors import Pace, made_in_turn, missing_texts, with_vectors
from recall_core.opened import Opened
from recall_core.pack.compress import Excerpt, Passage, overlap
from recall_core.pack.compress import compress as best_windows
from recall_core.ports import Reranker
from recall_core.retrieve.literal import literal
from recall_core.rql.ast import Field, In
from recall_core.store.sqlite.lexical import tokenizers
from recall_core.text import counter, nfc, spaced
from recall_core.types import Ranked, Row

SPEC_VERSION = "0.1.0"
"""What these functions promise, as a semantic version: an answer that changes for equal input changes its first part
(the second while the first is 0)."""

COLLECTION = "default"
"""The one collection that a store's file is. A chunk's key is (collection, doc_id, chunk_index)."""

Scorer = Callable[[str, Sequence[str]], Sequence[float]]
"""A question and texts to one finite value a text, in order, higher is better."""


class Segment(NamedTuple):
    """A document, or the next part of one: segments of one doc_id are one text, in their order."""

    doc_id: str
    """The document's path in a store."""
    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = NO_METADATA


class ChunkPolicy(NamedTuple):
    """How texts are cut; the limits are those of recall.toml. markdown: cut at headings, keep fenced code whole."""

    chunk_tokens: int = Config().chunk_tokens
    overlap_tokens: int = Config().overlap_tokens
    max_chunk_chars: int = Config().max_chunk_chars
    counter: str = Config().counter
    markdown: bool = False


class RetrievePlan(NamedTuple):
    """How candidates are found. mode: hybrid, lexical or semantic. k: the most that each signal proposes.

    filter: in the language of FILTER.  settings: `key=value`, as --set takes them.
    """

    mode: str = "hybrid"
    k: int = 50
    filter: str | None = None
    settings: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A chunk with a score, higher is better; what the score means depends on the step that gave it."""

    doc_id: str
    chunk_index: int
    content: str
    score: float
    offset: int
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]


class FuseParams(NamedTuple):
    """How ranked lists become one. k: the most candidates kept. weights: one a list, 1 each when there is none."""

    k: int = 12
    rrf_k: int = RRF_K
    weights: tuple[float, ...] = ()


class CompressPolicy(NamedTuple):
    """How much is kept. sentences: of one excerpt. scorer: who judges sentences; BM25 on word stems without one."""

    budget_tokens: int = 300
    sentences: int = 2
    counter: str = Config().counter
    scorer: Scorer | None = None


def chunk(text_or_segments: str | Iterable[Segment], policy: ChunkPolicy = ChunkPolicy()) -> list[Piece]:
    """The pieces of one text, whose doc_id is "", or of segments, in their order; chunk_index counts by document.

    No piece reaches across the end of a segment; a segment of whitespace alone is left out of its document.
    Raises UsageError for a counter that does not exist, ConfigError for limits that contradict each other.
    """
    segments = [Segment("", text_or_segments)] if isinstance(text_or_segments, str) else text_or_segments
    limits = {name: value for name, value in policy._asdict().items() if name != "markdown"}
    config = replace(Config(), limits, where="ChunkPolicy")
    counting = counter(policy.counter)
    pieces: list[Piece] = []
    reached: dict[str, tuple[int, int]] = {}
    for doc_id, text, title, tags, metadata in segments:
        start, first = reached.get(doc_id, (0, 0))
        spans = spans_of(text, counter=counting, config=config, markdown=policy.markdown)
        pieces += [
            Piece(
                doc_id, number, text[span.offset : span.end], start + span.offset, title, span.heading, tags, metadata
            )
            for number, span in enumerate(spans, start=first)
        ]
        if spans:
            reached[doc_id] = start + len(text), first + len(spans)
    return pieces


def index(chunks: Iterable[Piece], store: Opened, *, mtime_ns: int = 0) -> dict[str, int]:
    """Put pieces into a store, in one transaction; the same pieces again write nothing.

    All pieces of a document come together, in any order, and replace what the store holds under its doc_id.
    mtime_ns: when the documents were changed, for doc.mtime, which nothing else can tell: the epoch by default.
    Counts: documents, chunks, added, updated and unchanged documents, and embedded texts.
    Raises UsageError `bad_pieces` where they are not one gapless text, or carry metadata that no JSON can hold;
    EmbedError where a text cannot be embedded.
    """
    documents: dict[str, dict[int, Piece]] = {}
    for piece in chunks:
        pieces = documents.setdefault(nfc(piece.doc_id), {})
        if pieces.setdefault(piece.chunk_index, piece) != piece:
            raise bad_pieces(piece.doc_id, f"two pieces have chunk_index {piece.chunk_index}")
    counting = counter(store.store.info().counter)
    files = [
        file_of(path, [pieces[n] for n in sorted(pieces)], mtime_ns=mtime_ns, counter=counting)
        for path, pieces in documents.items()
    ]
    known = {file.path: store.store.known(file.path) for file in files}
    changed = [
        file
        for file in files
        if (old := known[file.path]) is None
        or (old.hash, old.settings, old.mtime_ns) != (file.hash, file.settings, file.mtime_ns)
    ]
    missing = missing_texts(changed, store.store)
    made = {
        text_hash: one for part in made_in_turn(missing, store.embedder, Pace()) for text_hash, one in part.items()
    }
    if changed:
        with store.store.writer() as writer:
            for file in changed:
                writer.put(with_vectors(file, made))
    added = sum(known[file.path] is None for file in changed)
    return {
        "documents": len(files),
        "chunks": sum(map(len, documents.values())),
        "added": added,
        "updated": len(changed) - added,
        "unchanged": len(files) - len(changed),
        "embedded": len(missing),
    }


def retrieve(query: str, plan: RetrievePlan, store: Opened) -> list[Candidate]:
    """What a store's signals propose, at most plan.k each, best first by the store's own score.

    One signal's score is its stage value, from 0 to 1; of two it is their fusion as the settings say.
    Ties by doc_id and chunk_index. Nothing is injected or scored again.
    """
    asked = store.words_plan(query, Ask(mode=plan.mode, filter=plan.filter, settings=plan.settings))
    config = asked.config._replace(pool=max(plan.k, asked.config.pool), sparse_recall=False, rerank="")
    with store.store.reading():
        answer = store.answer(asked._replace(config=config))
        if answer.pool is None or answer.ranked is None:
            return []
        chosen = [each for each in answer.ranked[: answer.ranked.kept] if _is_proposed(each, plan.k)]
        rows = store.store.fetch([answer.pool.keys[each.position].rowid for each in chosen])
        numbers = _chunk_indexes(rows, store)
    return [_candidate(row, numbers[row.rowid], each.score) for row, each in zip(rows, chosen, strict=True)]


def fuse(
    candidate_sets: Sequence[Sequence[Candidate]], method: str = "rrf", params: FuseParams | None = None
) -> list[Candidate]:
    """Lists, each best first, as one list, best first; ties by doc_id and chunk_index.

    rrf: score = sum of weight / (rrf_k + rank), rank from 1 in each list (Cormack, Clarke and Buettcher 2009).
    weighted: score = (sum of weight * score) / (sum of weights).  A candidate that a list lacks gets nothing from it;
    of one that a list holds twice the first counts.  Raises UsageError `bad_value`.
    """
    params = params or FuseParams()
    weights = params.weights or (1.0,) * len(candidate_sets)
    if method not in ("rrf", "weighted"):
        raise UsageError("bad_value", f"There is no fusion {method!r}.", hint='method="rrf" or "weighted"')
    if len(weights) != len(candidate_sets) or min(weights, default=0) < 0 or params.k < 0 or params.rrf_k < 0:
        raise UsageError(
            "bad_value", "fuse takes one weight from 0 a list, and k and rrf_k from 0.", hint="weights=()"
        )
    total = fsum(weights) or 1.0
    fused: dict[tuple[str, int], Candidate] = {}
    for weight, candidates in zip(weights, candidate_sets, strict=True):
        firsts = {(each.doc_id, each.chunk_index): each for each in reversed(candidates)}
        for rank, (key, each) in enumerate(reversed(firsts.items()), start=1):
            share = weight / (params.rrf_k + rank) if method == "rrf" else weight * each.score / total
            before = fused.get(key, each._replace(score=0.0))
            fused[key] = before._replace(score=before.score + share)
    return _ordered(fused.values())[: params.k]


def rerank(query: str, candidates: Sequence[Candidate], model: Reranker | Scorer) -> list[Candidate]:
    """The candidates with the model's scores in place of their own, best first; ties by doc_id and chunk_index.

    Raises UsageError `bad_scores` unless the model gives one finite value a text.
    """
    score = model if callable(model) else model.score
    values = _checked(score(query, [each.content for each in candidates]), len(candidates))
    return _ordered(each._replace(score=value) for each, value in zip(candidates, values, strict=True))


def compress(query: str, candidates: Sequence[Candidate], policy: CompressPolicy = CompressPolicy()) -> list[Excerpt]:
    """The sentences of candidates that say most about the query, verbatim with their offsets, within a budget.

    Best first, ties by doc_id, chunk_index and offset; excerpts never overlap, and together they count at most
    policy.budget_tokens. What scores 0 is left out.  Raises UsageError `bad_scores` for a scorer's nonsense.
    """
    if policy.sentences < 1:
        raise UsageError("bad_value", "An excerpt has at least one sentence.", hint="sentences=2")

    def score(texts: Sequence[str]) -> Sequence[float]:
        if policy.scorer is None:
            return _word_overlap(query, texts)
        return _checked(policy.scorer(query, texts), len(texts))

    return best_windows(
        [Passage(each.doc_id, each.chunk_index, each.offset, each.content) for each in candidates],
        score=score,
        sentences=policy.sentences,
        budget_tokens=policy.budget_tokens,
        counter=counter(policy.counter),
    )


def _is_proposed(ranked: Ranked, k: int) -> bool:
    return any(part.rank is not None and part.rank <= k for part in ranked.parts)


def _chunk_indexes(rows: Sequence[Row], store: Opened) -> dict[int, int]:
    """rowid to chunk_index: the place among the chunks of the document, which the store keeps by offset."""
    paths = tuple(sorted({row.doc.path for row in rows}))
    numbers: dict[int, int] = {}
    seen: dict[str, int] = {}
    for key in store.store.candidates(In(Field("doc", "path"), paths)) if paths else ():
        numbers[key.rowid] = seen.get(key.path, 0)
        seen[key.path] = numbers[key.rowid] + 1
    return numbers


def _candidate(row: Row, chunk_index: int, score: float) -> Candidate:
    doc, text = row.doc, row.chunk
    return Candidate(doc.path, chunk_index, text.text, score, text.offset, doc.tags, doc.meta)


def _ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda each: (-each.score, each.doc_id, each.chunk_index))


def _checked(values: Sequence[float], expected: int) -> list[float]:
    checked = [float(value) for value in values]
    if len(checked) != expected or not all(map(isfinite, checked)):
        raise UsageError(
            "bad_scores", f"{len(checked)} scores came back for {expected} texts, or one is not finite.", hint="0.0"
        )
    return checked


def _word_overlap(query: str, texts: Sequence[str]) -> list[float]:
    fold, stem = tokenizers()
    phrases = literal(query, tokens=fold, match="any").phrases
    words = [word for phrase in phrases for token in phrase.tokens for word in stem(token)]
    return overlap(words, texts, words=lambda text: stem(spaced(text)))
