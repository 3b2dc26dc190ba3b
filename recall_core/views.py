"""Convert domain values to the JSON contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from recall_core import rql
from recall_core.contract import OK, SCHEMA_VERSION
from recall_core.deadline import check
from recall_core.embed.registry import note
from recall_core.rank.weighing import scale
from recall_core.types import (
    Chunk,
    Document,
    Hit,
    Injection,
    Part,
    Pool,
    Progress,
    Root,
    Signal,
    Skip,
    StoreInfo,
    TermStat,
)
from recall_core.words.question import lists_of

if TYPE_CHECKING:
    from recall_core.config import Config
    from recall_core.contract import views as shapes
    from recall_core.contract.ledger import ExplainView, LeafView, PartView, PassageView, RecallView, StageValues
    from recall_core.contract.responses import CompletionResponse, ErrorResponse
    from recall_core.contract.store import FileParts, IngestView, LanguageView, SkipView, StoreView
    from recall_core.errors import RecallError
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.retrieve.plan import Plan
    from recall_core.rql.complete import Vocabulary
    from recall_core.store.values import Sizes

Leaves: TypeAlias = "Mapping[Signal, list[LeafView]]"
"""The leaves of a hit, by signal. Signals whose points cannot be split are missing."""


def explain_view(hit: Hit, plan: Plan, leaves: Leaves | None = None) -> ExplainView:
    """Return the ledger of a hit: stage values, parts that sum to the score, known leaves that sum to each part."""
    values: StageValues = {}
    for part in hit.parts:
        values[part.signal] = part.value
    if plan.config.fusion == "rrf":
        k = plan.config.rrf_k
        fused = [part for part in hit.parts if part.signal != "rerank"]
        values["raw_score"] = sum(part.weight / (k + part.rank) for part in fused if part.rank is not None)
    return cast("ExplainView", {**values, "parts": [_part_view(part, leaves or {}) for part in hit.parts]})


def _part_view(part: Part, leaves: Leaves) -> PartView:
    view: PartView = {
        "signal": part.signal,
        "raw": part.raw,
        "value": part.value,
        "weight": part.weight,
        "rank": part.rank,
        "points": part.points,
    }
    if part.signal in leaves:
        view["leaves"] = leaves[part.signal]
    return view


def recall_view(injection: Injection, chunk: Chunk) -> RecallView:
    """Return why sparse-document recall added the chunk."""
    view: RecallView = {
        "recall_injected": True,
        "reason": "sparse_doc_recall",
        "chunk_id": chunk.id,
        "knowledge_item_id": chunk.doc_id,
        "distance": injection.distance,
    }
    if injection.displaced is not None:
        view["displaced"] = injection.displaced
    return view


def failure(error: RecallError) -> ErrorResponse:
    """Return the response for an error."""
    view: shapes.ErrorView = {
        "code": error.code,
        "message": error.message,
        "details": error.details,
        "hint": None if error.hint is None else str(error.hint),
    }
    return {"ok": False, "schema_version": SCHEMA_VERSION, "error": view}


def query_echo(plan: Plan, pool: Pool | None, *, limit: int) -> shapes.QueryEcho:
    """Return the query as Recall interpreted it."""
    wording: shapes.WordingEcho = {"text": plan.text} if plan.rql is None else {"rql": plan.rql}
    if plan.filters is not None:
        wording["filters"] = plan.filters
    effective: shapes.PlanPart = {} if pool is None else {"plan": plan_echo(plan, pool)}
    if pool is not None and pool.dropped:
        effective = {"dropped": list(pool.dropped), **effective}
    return {**wording, "limit": limit, "offset": plan.offset, **effective}


def plan_echo(plan: Plan, pool: Pool) -> shapes.PlanEcho:
    """Return everything that decides the order."""
    config = plan.config
    least: shapes.CosineEcho = {"min_cosine": config.min_cosine} if config.min_cosine else {}
    return {
        "mode": plan.mode,
        "fusion": config.fusion,
        "normalize": config.normalize,
        "weights": {"lexical": config.bm25_weight, "semantic": config.vector_weight},
        **_ranks_echo(config),
        "min_score": config.min_score,
        **least,
        "pool": config.pool,
        "index": pool.index_kind,
        "sparse": config.sparse_recall,
        **_models_echo(plan, pool),
        "signals": _signal_echoes(plan, pool),
    }


def _ranks_echo(config: Config) -> shapes.RanksEcho:
    return {"rrf_k": config.rrf_k} if config.fusion == "rrf" else {}


def _models_echo(plan: Plan, pool: Pool) -> shapes.ModelsEcho:
    config = plan.config
    echo: shapes.ModelsEcho = {}
    if plan.lexical is not None and not plan.lexical_raw and config.stop_words != "english":
        echo["stop_words"] = lists_of(config.stop_words)
    if config.rerank:
        echo["rerank"] = {"model": config.rerank, "rows": config.rerank_rows, "weight": config.rerank_weight}
    if pool.lexical_model == "bm25f":
        echo["lexical_model"] = {
            "model": "bm25f",
            "k1": config.bm25_k1,
            "b": config.bm25_b,
            "title_weight": config.title_weight,
        }
    elif pool.lexical_model == "ts_rank":
        echo["lexical_model"] = {"model": "ts_rank", "title_weight": config.title_weight}
    return echo


def _signal_echoes(plan: Plan, pool: Pool) -> list[shapes.SignalEcho]:
    signals: tuple[tuple[Signal, str | None], ...] = (("lexical", plan.lexical), ("semantic", plan.semantic))
    return [_signal_echo(signal, text, plan, pool) for signal, text in signals if text is not None]


_REPEATED = 1_000
"""Longest query, in characters, that an answer repeats for each signal. A longer query appears once."""


def _signal_echo(signal: Signal, text: str, plan: Plan, pool: Pool) -> shapes.SignalEcho:
    config = plan.config
    weight = config.bm25_weight if signal == "lexical" else config.vector_weight
    echo: shapes.SignalEcho = {"signal": signal, "weight": weight}
    if len(text) <= _REPEATED:
        echo = {"signal": signal, "text": text, "weight": weight}
    if signal == "lexical":
        echo["bound"] = pool.bound
    echo["normalizer"] = _normalizer_echo(signal, plan, pool)
    if signal == "lexical":
        echo["terms"] = [_term_echo(term, pool.lexical_model) for term in pool.terms]
    return echo


def _term_echo(term: TermStat, model: str) -> shapes.TermEcho:
    echo: shapes.TermEcho = {"text": term.text, "df": term.df}
    if model != "ts_rank":
        echo["idf"] = term.idf
    return {**echo, "words": term.words} if term.words > 1 else echo


def _normalizer_echo(signal: Signal, plan: Plan, pool: Pool) -> shapes.NormalizerEcho:
    config = plan.config
    low, high = scale(pool, signal, config.normalize)
    echo: shapes.NormalizerEcho
    if config.normalize == "bound":
        echo = {"method": "bound", "bound": high}
    else:
        method: Literal["max", "minmax"] = "max" if config.normalize == "max" else "minmax"
        echo = {"method": method, "low": low, "high": high, "pool_size": len(pool.keys)}
    return {**echo, **_ranks_echo(config)}


def sparse_part(answer: Answer, *, explain: bool) -> shapes.SparsePart:
    """Return the report of sparse-document recall, if it added something or explain is True."""
    if answer.recall is None or not (explain or answer.recall.given):
        return {}
    config, report = answer.plan.config, answer.recall.report
    view: shapes.SparseView = {
        "injections": report.injections,
        "reason": report.reason,
        "looked_at": report.looked_at,
        "near": report.near,
        "short": report.short,
        "within_ceiling": report.within_ceiling,
        "present": report.present,
        "blocked": report.blocked,
        "rows": report.rows,
        "long_rows": report.long_rows,
        "threshold": config.sparse_chunk_threshold,
        "ceiling": config.sparse_distance_ceiling,
    }
    return {"sparse": view}


def result_view(
    hit: Hit,
    plan: Plan,
    states: Mapping[str, State],
    *,
    explain: bool,
    leaves: Leaves | None = None,
    passage: PassageView | None = None,
) -> shapes.ResultView:
    """Return a hit with the SELECTed fields. leaves: of its parts, by signal."""
    check()
    view: shapes.ResultView = {}
    if hit.score is not None and _is_wanted(plan, "score"):
        view["score"] = hit.score
    if doc := _chosen_doc(doc_view(hit.doc, states), plan):
        view["doc"] = doc
    if hit.chunk is not None and (plan.table == "chunk" or plan.select is None):
        chunk = _chosen_chunk(chunk_view(hit.chunk), plan)
        if chunk:
            view["chunk"] = chunk
        if passage is not None and "text" in chunk:
            view["passage"] = passage
    matched = matched_part(hit, plan)
    if "matched" in matched:
        view["matched"] = matched["matched"]
    if "cosine" in matched:
        view["cosine"] = matched["cosine"]
    if hit.injection is not None and hit.chunk is not None:
        view["recall_injected"] = True
        view["recall"] = recall_view(hit.injection, hit.chunk)
    if explain and hit.score is not None:
        view["explain"] = explain_view(hit, plan, leaves)
    return view


def matched_part(hit: Hit, plan: Plan, *, is_pinned: bool = False) -> shapes.MatchedPart:
    """Return why the row matched, {} without a signal. is_pinned: the user pinned it in a context."""
    if hit.matched is None:
        return {}
    if hit.matched != "meaning":
        return {"matched": hit.matched}
    cosine = hit.cosine
    counts = cosine is not None and cosine > 0 and cosine >= plan.config.min_cosine
    part: shapes.MatchedPart = {"matched": "pinned" if is_pinned and not counts else "meaning"}
    return part if cosine is None or plan.mode != "hybrid" else {**part, "cosine": cosine}


def _is_wanted(plan: Plan, name: str) -> bool:
    return plan.select is None or name in plan.select


_DocKey = Literal["id", "path", "mtime", "hash", "tag", "source", "tags", "title", "meta", "state"]
_DOC_KEYS: tuple[_DocKey, ...] = get_args(_DocKey)
_ChunkKey = Literal["id", "doc_id", "offset", "tokens", "text", "end", "line_start", "line_end", "heading", "place"]
_CHUNK_KEYS: tuple[_ChunkKey, ...] = get_args(_ChunkKey)


def _chosen_doc(view: shapes.DocView, plan: Plan) -> shapes.DocView:
    """Return the SELECTed fields in the contract's order, then single meta values. `state` is always included."""
    if plan.select is None:
        return view
    meta, state = view.get("meta", {}), view.get("state")
    for key in _DOC_KEYS:
        if f"doc.{key}" not in plan.select:
            view.pop(key, None)
    prefix = "doc.meta."
    keys = [name.removeprefix(prefix) for name in plan.select if name.startswith(prefix)]
    named = {key: meta[key] for key in keys if key in meta}
    if named:
        view["meta"] = named
    if view and state is not None:
        view["state"] = state
    return view


def _chosen_chunk(view: shapes.ChunkView, plan: Plan) -> shapes.ChunkView:
    """Return the SELECTed fields in the contract's order."""
    for key in _CHUNK_KEYS:
        if plan.select is not None and f"chunk.{key}" not in plan.select:
            view.pop(key, None)
    return view


def doc_view(document: Document, states: Mapping[str, State] | None = None) -> shapes.DocView:
    """Return a document version."""
    view: shapes.DocView = {"id": document.id, "path": document.path, "mtime": document.mtime, "hash": document.hash}
    if document.tags:
        view["tag"] = document.tags[0]
    if document.source is not None:
        view["source"] = document.source
    view["tags"] = list(document.tags)
    view["title"] = document.title
    if document.meta:
        view["meta"] = dict(document.meta)
    if states and document.id in states:
        view["state"] = states[document.id]
    return view


def chunk_view(chunk: Chunk) -> shapes.ChunkView:
    """Return a chunk: a verbatim slice with its place."""
    view: shapes.ChunkView = {
        "id": chunk.id,
        "doc_id": chunk.doc_id,
        "offset": chunk.offset,
        "tokens": chunk.tokens,
        "text": chunk.text,
        "end": chunk.end,
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
    }
    if chunk.heading is not None:
        view["heading"] = chunk.heading
    if chunk.place is not None:
        view["place"] = chunk.place
    return view


def ingest_view(progress: Progress) -> IngestView:
    """Return the totals of an ingest run."""
    view: IngestView = {
        "added": progress.added,
        "updated": progress.updated,
        "unchanged": progress.unchanged,
        "removed": progress.removed,
        "files": progress.files_done,
        "documents": progress.documents,
        "chunks": progress.chunks,
        "embedded": progress.embedded,
        "reused": progress.reused,
        "skipped": [skip_view(skip) for skip in progress.skipped],
    }
    if progress.tokens is not None:
        view["tokens"] = progress.tokens
    if progress.without_text:
        view["without_text"] = progress.without_text
    if progress.language is not None:
        view["language"] = cast("LanguageView", progress.language._asdict())
    return view


def skip_view(skip: Skip) -> SkipView:
    """Return a skipped file."""
    view: SkipView = {"path": skip.path, "code": skip.code, "reason": skip.reason}
    return {**view, "kind": skip.kind} if skip.kind else view


def completion(text: str, cursor: int, vocabulary: Vocabulary) -> CompletionResponse:
    """Return the completions at a cursor (in code points) of a query."""
    candidates = [
        rql.views.CandidateView(
            text=each.text,
            kind=each.kind,
            start=each.start,
            end=each.end,
            detail=each.detail,
        )
        for each in rql.complete.complete(text, cursor, vocabulary=vocabulary)
    ]
    return {**OK, "candidates": candidates, "warnings": []}


def store_view(
    info: StoreInfo,
    *,
    size: int,
    sizes: Sizes | None,
    tokens: int,
    parsers: Mapping[str, int],
    roots: Iterable[Root],
    judgements: int,
) -> StoreView:
    """Return the figures of a store. sizes: of the parts of its file, if requested."""
    view: StoreView = {
        "path": info.path,
        "schema_version": info.schema_version,
        "embedder": info.embedder,
        "dimension": info.dimension,
        "counter": info.counter,
        "chunker": info.chunker,
        "tokenizer": info.tokenizer,
        "language": info.language,
        "documents": info.documents,
        "chunks": info.chunks,
        "tokens": tokens,
        "vectors": info.vectors,
        "without_vector": info.chunks - info.vectors,
        "tombstones": info.tombstones,
        "truncated_share": round(info.windowed / info.vectors, 6) if info.vectors else 0.0,
        "judgements": judgements,
        "generation": info.generation,
        "digest": info.digest,
        "bytes": size,
        **_parts_of_file(sizes),  # type: ignore[typeddict-item] # it has none of the keys that come later
        "parsers": dict(parsers),
        "roots": [root.folder for root in roots],
    }
    if (known := note(info.embedder)) is not None:
        view["note"] = known
    return view


def _parts_of_file(sizes: Sizes | None) -> FileParts:
    if sizes is None:
        return {}
    return {"text_bytes": sizes.text, "vector_bytes": sizes.vectors, "index_bytes": sizes.fulltext}
