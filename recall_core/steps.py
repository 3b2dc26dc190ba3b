"""The steps of retrieval as composable functions, from `normalize` to `package`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import fsum, isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

from recall_core.api.recall import Ask, Recall
from recall_core.argument_types import expect_type
from recall_core.config import RRF_K, Config, Settings, replace
from recall_core.errors import UsageError, expect_choice
from recall_core.ingest.chunk import chunk as spans_of
from recall_core.ingest.decode import Normalized, normalize
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.parse.text import outline_marks
from recall_core.ingest.reader import settings_of_pieces
from recall_core.ingest.vectors import Pace, check_cut, cut_by, embed_in_calls, missing_texts, with_vectors
from recall_core.pack.compress import Excerpt, Passage, overlap
from recall_core.pack.compress import compress as best_windows
from recall_core.pack.layout import chunk_of
from recall_core.pack.policy import pack
from recall_core.ports import Reranker
from recall_core.retrieve.asking import CONTEXT_FORMATS
from recall_core.rql.ast import And, Expr, Field, Has, In, IsNull
from recall_core.rql.fields import check_meta, meta_equals
from recall_core.rql.print import print_filter
from recall_core.text import Counter, cite, counter, embedded_hash, nfc
from recall_core.types import (
    Chunk,
    Document,
    Hit,
    HitPassage,
    MetaValue,
    NewChunk,
    NewDocument,
    NewFile,
    Omission,
    Row,
    Span,
)
from recall_core.words.analyzer import Analyzer
from recall_core.words.question import literal

__all__ = [
    "COLLECTION",
    "SPEC_VERSION",
    "Candidate",
    "ChunkPolicy",
    "CompressPolicy",
    "Evidence",
    "EvidencePackage",
    "Excerpt",
    "FuseParams",
    "Normalized",
    "PackagePolicy",
    "Piece",
    "RetrievePlan",
    "Scorer",
    "Segment",
    "chunk",
    "compress",
    "fuse",
    "index",
    "normalize",
    "package",
    "rerank",
    "retrieve",
]

NO_METADATA: Mapping[str, Any] = MappingProxyType({})
_TAGS = Field("doc", "tags")


class Piece(NamedTuple):
    """A chunk for a store: a verbatim slice of its document, starting at offset (code points)."""

    doc_id: str
    chunk_index: int
    """Position in the document, from 0."""
    content: str
    offset: int
    title: str = ""
    heading: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = NO_METADATA


def file_of(path: str, pieces: Sequence[Piece], *, mtime_ns: int, counter: Counter) -> NewFile:
    """Return a document of these pieces (by chunk_index), without vectors. Its os_path is empty: it has no file.

    Raises UsageError `bad_pieces` if the pieces do not cover one text without gaps, or if metadata cannot be stored.
    """
    if not path:
        raise bad_pieces(path, "they have no doc_id")
    text = _join(path, pieces)
    raw = text.encode()
    tags = tuple(sorted({tag for piece in pieces for tag in piece.tags}))
    metadata = {key: value for piece in pieces for key, value in piece.metadata.items()}
    if reason := why_unfit(metadata):
        raise UsageError("bad_pieces", f"The pieces of {path!r} cannot be stored: {reason}.")
    chunks = tuple(_new_chunk(path, piece, text, counter) for piece in pieces)
    spans = [each.span for each in chunks]
    digest = sha256(raw).hexdigest()
    document = NewDocument(path, digest, pieces[0].title, len(raw), tags, None, metadata, chunks)
    settings = settings_of_pieces(spans, title=document.title, tags=tags, meta=metadata)
    return NewFile(path, "", len(raw), mtime_ns, digest, settings, None, (document,))


def bad_pieces(doc_id: str, reason: str) -> UsageError:
    """Return the error for pieces that do not form a document."""
    message = f"The pieces of {doc_id!r} are not one text: {reason}."
    return UsageError("bad_pieces", message, hint="index(chunk(segments), store)")


def _join(path: str, pieces: Sequence[Piece]) -> str:
    """Return the text of the pieces, by chunk_index."""
    text = ""
    last = -1
    for number, piece in enumerate(pieces):
        if piece.chunk_index != number:
            raise bad_pieces(path, f"there is no chunk_index {number}")
        shared = len(text) - piece.offset
        if not (last < piece.offset <= len(text) < piece.offset + len(piece.content)):
            raise bad_pieces(path, f"there is a gap before chunk_index {number}")
        if text[piece.offset :] != piece.content[:shared]:
            raise bad_pieces(path, f"chunk_index {number} differs from the piece before it where they overlap")
        text += piece.content[shared:]
        last = piece.offset
    return text


def _new_chunk(path: str, piece: Piece, text: str, counter: Counter) -> NewChunk:
    content = piece.content
    end = piece.offset + len(content)
    return NewChunk(
        span=Span(piece.offset, end, counter.count(content), piece.heading),
        line_start=1 + text.count("\n", 0, piece.offset),
        line_end=1 + text.count("\n", 0, end - 1),
        text=content,
        text_hash=embedded_hash(path, piece.title, content),
        vector=None,
    )


SPEC_VERSION = "0.3.0"

"""Semantic version of these functions. A change of results for equal input increases the first part (the second while
the first is 0)."""

COLLECTION = "default"

"""The collection of a store's file outside `Recall.collections`.

The key of a chunk is (collection, doc_id, chunk_index)."""

Scorer = Callable[[str, Sequence[str]], Sequence[float]]

"""Maps a query and texts to one finite value per text, in order. Higher is better."""


class Segment(NamedTuple):
    """A document or the next part of one. Segments with the same doc_id form one text, in order."""

    doc_id: str
    """The document's path in a store."""
    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = NO_METADATA


class ChunkPolicy(NamedTuple):
    """Options for splitting texts. Limits as in recall.toml. markdown: split at headings, keep fenced code whole."""

    chunk_tokens: int = Config().chunk_tokens
    overlap_tokens: int = Config().overlap_tokens
    max_chunk_chars: int = Config().max_chunk_chars
    counter: str = Config().counter
    markdown: bool = False


class RetrievePlan(NamedTuple):
    """Options for finding candidates.

    mode: hybrid, lexical or semantic.
    k: most candidates per signal.
    filter: an RQL filter expression.
    settings: `key=value`, as for --set.
    """

    mode: str = "hybrid"
    k: int = 50
    filter: str | None = None
    settings: Settings | tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A chunk with a score. Higher is better. The meaning of the score depends on the step."""

    doc_id: str
    chunk_index: int
    content: str
    score: float
    offset: int
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    line_start: int = 1
    """Line of its first character in the document, from 1."""
    place: str | None = None
    """Where it is in its file, if lines are not the file's, such as `page 3`."""


class FuseParams(NamedTuple):
    """Options for fusing ranked lists. k: most candidates kept. weights: one per list (default: 1 each)."""

    k: int = 12
    rrf_k: int = RRF_K
    weights: tuple[float, ...] = ()


class CompressPolicy(NamedTuple):
    """Options for compress. sentences: per excerpt. scorer: scores sentences (default: BM25 on word stems)."""

    budget_tokens: int = 300
    sentences: int = 2
    counter: str = Config().counter
    scorer: Scorer | None = None


class PackagePolicy(NamedTuple):
    """Options of package. format: plain, markdown or xml. diversity: most candidates per document, 0 for no limit."""

    budget_tokens: int = Config().budget_tokens
    counter: str = Config().counter
    format: str = "plain"
    diversity: int = Config().diversity


class Evidence(NamedTuple):
    """A block of a package: a verbatim slice of a document, `document_text[offset:end] == text`, in code points."""

    number: int
    """Its number in the text of the package, from 1."""
    citation: str
    """Path and lines, such as `notes/a.md:3-5`, or another place in the file."""
    doc_id: str
    chunk_indexes: tuple[int, ...]
    """The candidates that it is made of. Their slices touch or overlap."""
    offset: int
    end: int
    text: str
    is_cut: bool
    """True if a part of its candidate did not fit."""
    score: float
    """The highest score of its candidates."""
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]


class EvidencePackage(NamedTuple):
    """Evidence for a query as one text within a token budget. omitted: the other candidates, with reasons."""

    query: str
    text: str
    """The blocks, each below a line with its number and citation."""
    counter: str
    budget_tokens: int
    used_tokens: int
    evidence: tuple[Evidence, ...]
    omitted: tuple[Omission, ...]
    warnings: tuple[str, ...]
    spec_version: str = SPEC_VERSION

    def to_json(self) -> str:
        """Return the package as one line of JSON with sorted keys. Equal packages give equal bytes."""
        lists = {key: [each._asdict() for each in getattr(self, key)] for key in ("evidence", "omitted")}
        return json.dumps({**self._asdict(), **lists}, ensure_ascii=False, sort_keys=True, default=dict)


def chunk(text_or_segments: str | Iterable[Segment], policy: ChunkPolicy = ChunkPolicy()) -> list[Piece]:
    """Return the pieces of one text (with doc_id "") or of segments, in order. chunk_index counts per document.

    A piece never crosses the end of a segment. Segments of white space are left out.
    Raises UsageError for an unknown counter, ConfigError for contradicting limits.
    """
    segments = [Segment("", text_or_segments)] if isinstance(text_or_segments, str) else text_or_segments
    limits = {name: value for name, value in policy._asdict().items() if name != "markdown"}
    config = replace(Config(), limits, where="ChunkPolicy")
    counting = counter(policy.counter)
    pieces: list[Piece] = []
    reached: dict[str, tuple[int, int]] = {}
    for doc_id, text, title, tags, metadata in segments:
        start, first = reached.get(doc_id, (0, 0))
        spans = spans_of(text, counter=counting, config=config, marks=outline_marks(text, markdown=policy.markdown))
        pieces += [
            Piece(
                doc_id, number, text[span.offset : span.end], start + span.offset, title, span.heading, tags, metadata
            )
            for number, span in enumerate(spans, start=first)
        ]
        if spans:
            reached[doc_id] = start + len(text), first + len(spans)
    return pieces


def index(chunks: Iterable[Piece], store: Recall, *, mtime_ns: int = 0) -> dict[str, int]:
    """Add pieces to a store in one transaction. Adding the same pieces again writes nothing.

    Pass all pieces of a document together, in any order. They replace the stored document with the same doc_id.
    mtime_ns: modification time for doc.mtime (default: the epoch).
    Returns counts of documents, chunks, added, updated and unchanged documents, and embedded texts.
    Raises UsageError `bad_pieces` if the pieces of a document have gaps or their metadata is not valid JSON,
    EmbedError if a text cannot be embedded.
    """
    documents: dict[str, dict[int, Piece]] = {}
    for piece in chunks:
        pieces = documents.setdefault(nfc(piece.doc_id), {})
        if pieces.setdefault(piece.chunk_index, piece) != piece:
            raise bad_pieces(piece.doc_id, f"two pieces have chunk_index {piece.chunk_index}")
    with store.store.guard.turn():
        before = cut_by(store.store)
        counting = counter(before.counter)
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
            text_hash: one
            for part in embed_in_calls(missing, store.engine.embedder, Pace())
            for text_hash, one in part.items()
        }
        if changed:
            with store.store.writer() as writer:
                check_cut(store.store, before)
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


def retrieve(
    query: str,
    plan: RetrievePlan,
    store: Recall,
    *,
    tags_any: Sequence[str] | None = None,
    tags_all: Sequence[str] = (),
    metadata: Mapping[str, MetaValue] = NO_METADATA,
) -> list[Candidate]:
    """Return the candidates of a store's signals, at most plan.k per signal, best first by the store's score.

    With one signal the score is its normalized value from 0 to 1; with two it is their fusion according to the
    settings. Ties by doc_id and chunk_index. No sparse-document recall and no reranking.
    All filters apply before the best plan.k are chosen; a candidate passes each of them.
    tags_any: at least one of these, so nothing passes without any; None for no such filter.
    tags_all: every one of these.
    metadata: the value of each of these keys. None means no value. "1", 1 and True differ; 1 and 1.0 are equal.
    Raises UsageError `bad_filter` for tags, keys and values that no document can have; RqlError for plan.filter.
    """
    asked = store.engine.words_plan(query, Ask(mode=plan.mode, filter=plan.filter, settings=plan.settings))
    any_of = expect_type("tags_any", tags_any, "Sequence[str] | None")
    all_of = expect_type("tags_all", tags_all, "Sequence[str]")
    check_meta("tags", *(any_of or ()), *all_of)
    terms: list[Expr] = [] if asked.where is None else [asked.where]
    if any_of is not None:
        terms.append(Has(_TAGS, "ANY", any_of) if any_of else IsNull(Field("doc", "path")))
    if all_of:
        terms.append(Has(_TAGS, "ALL", all_of))
    terms += [meta_equals(key, value) for key, value in metadata.items()]
    if terms:
        where = And(tuple(terms)) if len(terms) > 1 else terms[0]
        asked = asked._replace(where=where, filters=print_filter(where))
    config = asked.config._replace(
        pool=max(plan.k, asked.config.pool), sparse_recall=False, rerank="", collapse=False
    )
    with store.store.reading():
        answer = store.engine.answer(asked._replace(config=config))
        if answer.pool is None or answer.ranked is None:
            return []
        chosen = [
            each
            for each in answer.ranked[: answer.ranked.kept]
            if any(part.rank is not None and part.rank <= plan.k for part in each.parts)
        ]
        rows = store.store.fetch([answer.pool.keys[each.position].rowid for each in chosen])
        paths = tuple(sorted({row.doc.path for row in rows}))
        numbers: dict[int, int] = {}  # chunk_index by rowid: position among the document's chunks, by offset
        seen: dict[str, int] = {}
        for key in store.store.candidates(In(Field("doc", "path"), paths)) if paths else ():
            numbers[key.rowid] = seen.get(key.path, 0)
            seen[key.path] = numbers[key.rowid] + 1
    return [_candidate(row, numbers[row.rowid], each.score) for row, each in zip(rows, chosen, strict=True)]


def fuse(
    candidate_sets: Sequence[Sequence[Candidate]], method: str = "rrf", params: FuseParams | None = None
) -> list[Candidate]:
    """Fuse ranked lists into one, best first. Ties by doc_id and chunk_index.

    rrf: score = sum of weight / (rrf_k + rank), rank from 1 in each list (Cormack, Clarke and Buettcher 2009).
    weighted: score = (sum of weight * score) / (sum of weights).
    A candidate missing from a list gets 0 from it. If a list contains a candidate twice, the first one counts.
    Raises UsageError `bad_value`.
    """
    params = params or FuseParams()
    weights = params.weights or (1.0,) * len(candidate_sets)
    expect_choice("fusion", method, ("rrf", "weighted"))
    if len(weights) != len(candidate_sets) or min(weights, default=0) < 0 or params.k < 0 or params.rrf_k < 0:
        raise UsageError(
            "bad_value",
            "fuse takes one weight per list, and weights, k and rrf_k must be at least 0.",
            hint="weights=()",
        )
    total = fsum(weights) or 1.0
    fused: dict[tuple[str, int], Candidate] = {}
    for weight, candidates in zip(weights, candidate_sets, strict=True):
        firsts = {(each.doc_id, each.chunk_index): each for each in reversed(candidates)}
        for rank, (key, each) in enumerate(reversed(firsts.items()), start=1):
            share = weight / (params.rrf_k + rank) if method == "rrf" else weight * each.score / total
            before = fused.get(key, each._replace(score=0.0))
            fused[key] = before._replace(score=before.score + share)
    return _sort(fused.values())[: params.k]


def rerank(query: str, candidates: Sequence[Candidate], model: Reranker | Scorer) -> list[Candidate]:
    """Return the candidates with the scores of the model, best first. Ties by doc_id and chunk_index.

    Raises UsageError `bad_scores` if the model does not return one finite value per text.
    """
    score = model if callable(model) else model.score
    values = _check_scores(score(query, [each.content for each in candidates]), len(candidates))
    return _sort(each._replace(score=value) for each, value in zip(candidates, values, strict=True))


def compress(query: str, candidates: Sequence[Candidate], policy: CompressPolicy = CompressPolicy()) -> list[Excerpt]:
    """Return the sentences that match the query best, verbatim with offsets, within a token budget.

    Best first. Ties by doc_id, chunk_index and offset. Excerpts never overlap, and their total is at most
    policy.budget_tokens. Sentences that score 0 are left out. Raises UsageError `bad_scores` for invalid scores.
    """
    if policy.sentences < 1:
        raise UsageError("bad_value", "sentences must be at least 1.", hint="sentences=2")

    def score(texts: Sequence[str]) -> Sequence[float]:
        if policy.scorer is None:
            return _word_overlap(query, texts)
        return _check_scores(policy.scorer(query, texts), len(texts))

    return best_windows(
        [Passage(each.doc_id, each.chunk_index, each.offset, each.content) for each in candidates],
        score=score,
        sentences=policy.sentences,
        budget_tokens=policy.budget_tokens,
        counter=counter(policy.counter),
    )


def package(query: str, candidates: Sequence[Candidate], policy: PackagePolicy = PackagePolicy()) -> EvidencePackage:
    """Return the candidates, best first, as numbered and cited blocks of one text within a token budget.

    Candidates of a document that touch or overlap share a block. Of candidates with the same text, one is packed. The
    first that does not fit ends packing; its best part for the query is the last block. Evidence and omitted add up
    to all candidates. If a candidate is given twice, the first one counts.
    Raises UsageError `bad_value` for an unknown format, ConfigError for limits as in recall.toml.
    """
    expect_choice("format", policy.format, CONTEXT_FORMATS)
    options = {**CONTEXT_FORMATS[policy.format], **policy._asdict()}
    del options["format"]
    config = replace(Config(), options, where="PackagePolicy")
    copies = _CandidateCopies(query, candidates)
    packed = pack(
        (copies.hit(same[0]) for same in copies.ids.values()),
        total=len(copies.ranked),
        budget_tokens=config.budget_tokens,
        counter=counter(config.counter),
        config=config,
        alike=copies,
    )
    return EvidencePackage(
        query,
        packed.text,
        packed.counter,
        packed.budget_tokens,
        packed.used_tokens,
        tuple(
            Evidence(
                block.number,
                cite(block.doc.path, block.line_start, block.line_end, block.place),
                block.doc.path,
                tuple(sorted(copies.ranked[each][1].chunk_index for each in block.chunk_ids)),
                block.offset,
                block.end,
                block.text,
                block.truncated,
                max(copies.ranked[each][1].score for each in block.chunk_ids),
                block.doc.tags,
                block.doc.meta,
            )
            for block in packed.blocks
        ),
        packed.omitted,
        packed.warnings,
    )


class _CandidateCopies:
    """The candidates of a package as hits. Later ones with the same text are copies of the first one."""

    def __init__(self, query: str, candidates: Sequence[Candidate]) -> None:
        self.query = query
        self.ranked: dict[str, tuple[int, Candidate]] = {}
        """Rank and candidate by id."""
        self.ids: dict[str, list[str]] = {}
        """Ids by text, in rank order."""
        for each in candidates:
            if (name := f"{each.doc_id}#{each.chunk_index}") not in self.ranked:
                self.ranked[name] = len(self.ranked) + 1, each
                self.ids.setdefault(each.content, []).append(name)

    def count(self, hit: Hit) -> int:
        """Return the number of copies."""
        return len(self.ids[chunk_of(hit).text]) - 1

    def others(self, hit: Hit) -> Iterator[Hit]:
        """Yield the copies in order."""
        return (self.hit(name)._replace(rank=hit.rank) for name in self.ids[chunk_of(hit).text][1:])

    def hit(self, name: str) -> Hit:
        """Return the candidate with this id as a hit, with its best sentence as the passage."""
        rank, candidate = self.ranked[name]
        doc_id, _, text, score, offset, tags, metadata, line, place = candidate
        policy = CompressPolicy(budget_tokens=len(text), sentences=1, counter="whitespace")
        best = compress(self.query, [candidate], policy)[:1]
        return Hit(
            rank,
            score,
            Document(doc_id, doc_id, "", "", 0, "", None, tags, metadata),
            Chunk(
                name,
                doc_id,
                offset,
                offset + len(text),
                line,
                line + text.count("\n", 0, max(len(text) - 1, 0)),
                0,
                None,
                text,
                place=place,
            ),
            (),
            passage=HitPassage(best[0].offset, best[0].end, (best[0].offset,) * 2, None, place) if best else None,
        )


def _candidate(row: Row, chunk_index: int, score: float) -> Candidate:
    doc, text = row.doc, row.chunk
    return Candidate(
        doc.path, chunk_index, text.text, score, text.offset, doc.tags, doc.meta, text.line_start, text.place
    )


def _sort(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda each: (-each.score, each.doc_id, each.chunk_index))


def _check_scores(values: Sequence[float], expected: int) -> list[float]:
    checked = [float(value) for value in values]
    if len(checked) != expected or not all(map(isfinite, checked)):
        raise UsageError(
            "bad_scores",
            f"The scorer returned {len(checked)} scores for {expected} texts, or one is not finite.",
            hint="0.0",
        )
    return checked


def _word_overlap(query: str, texts: Sequence[str]) -> list[float]:
    analyzer = Analyzer()
    asked = [term for phrase in literal(query, analyzer=analyzer, match="any").phrases for term in phrase.terms]
    return overlap(asked, texts, words=lambda text: tuple(term.term for term in analyzer.terms(text)))
