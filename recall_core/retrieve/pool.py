"""Retrieval: gather the pool from a plan, a store and an embedder. The only reads of a search before ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recall_core import rank
from recall_core import store as stores
from recall_core.config import EXACT_VECTORS, SHORTLIST, Config
from recall_core.errors import UsageError
from recall_core.ports import Embedder
from recall_core.rank.bm25 import bound, scores
from recall_core.rank.columns import KeyColumns, KeySequence, RawColumn, Scores, Series, UnsettledColumn, scores_of
from recall_core.retrieve.plan import Plan
from recall_core.rql.ast import Expr
from recall_core.shell import Hint
from recall_core.store.port import Store, TextRanking
from recall_core.types import Key, LexicalQuery, LiteralQuery, Pool, RawQuery, TermStat, Vector
from recall_core.words.analyzer import Analyzer
from recall_core.words.question import literal
from recall_core.words.typed import MOST_TERMS, TypedQuestion, spell_expression

_FEW_CHUNKS = 300  # below this, computing all cosines is faster than loading a library

OLD_WORDS = f"W_OLD_WORDS: this store has the words of an earlier version; {Hint('reindex')}"


class SignalQuery(NamedTuple):
    """A plan's query for each signal, in the store's and the embedder's terms."""

    lexical: LexicalQuery | None
    vector: Vector | None
    """b"" if the text has no feature, None without a semantic signal."""
    terms: tuple[TermStat, ...]
    warnings: tuple[str, ...]
    lexical_model: str = "fts5"
    """Scoring of the words: fts5 for FTS5's own bm25, or bm25f or ts_rank, which support only literal queries."""


class Candidates(NamedTuple):
    """Rows in natural order, and the raw values of each signal by rowid."""

    rows: Sequence[Key]
    lexical: Mapping[int, float]
    semantic: Mapping[int, float] | UnsettledColumn
    """Cosines, or estimates of them for these rows."""
    index_kind: str = "exact"
    shortlist: tuple[int, ...] | None = None
    """See `Pool` for index_kind and shortlist."""
    warnings: tuple[str, ...] = ()


def gather(plan: Plan, store: Store, embedder: Embedder | None, *, is_read_on: bool = False) -> Pool:
    """Return every candidate with all its raw values, in natural order.

    With up to 20,000 live vectors every row that passes the filter is a candidate, or only matching rows if there is
    no semantic signal. Above that, each signal proposes its `pool` best rows and scores the other's. The pool does
    not depend on LIMIT or OFFSET.

    is_read_on: see `answer.answer`; cosines may then be estimates, which are settled on access.
    """
    question = ask(plan, store, embedder)
    model = question.lexical_model
    is_exact = plan.exact or store.info().vectors <= EXACT_VECTORS
    estimated = _estimate(plan, store, question) if is_exact and is_read_on else None
    found = estimated or (_everything if is_exact else _propose)(plan, store, question)
    rows, lexical, semantic, index_kind, shortlist, warnings = found
    if model == "bm25f" and isinstance(question.lexical, LiteralQuery):
        lexical = _by_bm25f(question.lexical, list(lexical), store, plan.config)
    return Pool(
        keys=rows,
        lexical=_column(rows, lexical) if question.lexical is not None else (),
        semantic=_column(rows, semantic) if question.vector is not None else (),
        bound=bound(question.terms, plan.config._replace(lexical_model=model)),
        terms=question.terms,
        exact=is_exact,
        index_kind=index_kind,
        warnings=question.warnings + warnings,
        lexical_model=model,
        dropped=question.lexical.dropped if isinstance(question.lexical, LiteralQuery) else (),
        shortlist=shortlist,
        query=question.lexical,
    )


def _column(rows: Sequence[Key], values: Mapping[int, float] | UnsettledColumn) -> Sequence[float | None]:
    """Return the value of each row, as arrays if the rows are arrays."""
    if isinstance(values, UnsettledColumn):
        return values
    if isinstance(rows, KeyColumns):
        return RawColumn(scores_of(values).over(rows.rowids))
    if isinstance(rows, KeySequence):
        return tuple(map(values.get, rows.rowids))
    return tuple(map(dict(values).get, [key.rowid for key in rows]))


def ask(plan: Plan, store: Store, embedder: Embedder | None) -> SignalQuery:
    """Return the plan's texts as a full-text query with document frequencies, and as a vector."""
    warnings: list[str] = []
    lexical, complaint = lexical_query(plan, store)
    if complaint is not None:
        warnings.append(f"W_FTS_SANITIZED: {complaint}; the words were searched for literally")
    if lexical is not None and store.analyzer.version != Analyzer.version:
        warnings.append(OLD_WORDS)
    vector = None if plan.semantic is None or embedder is None else embedder.embed([plan.semantic], is_query=True)[0]
    is_empty = lexical is None or lexical.is_empty
    terms = store.term_stats(lexical) if lexical is not None and not is_empty else ()
    unknown = dict.fromkeys(term.text for term in terms if term.df == 0)
    warnings += [f"W_UNKNOWN_TERM: {text} occurs nowhere in this store" for text in unknown]
    if isinstance(lexical, LiteralQuery) and lexical.dropped:
        left_out = ", ".join(lexical.dropped)
        warnings.append(f"W_DROPPED: not searched for: {left_out}; stop_words=none searches for every word")
    warnings += [
        f"W_COMPOUND: {phrase.text} occurs only at the end of longer words"
        for phrase in (lexical.phrases if isinstance(lexical, LiteralQuery) else ())
        if phrase.is_within_words
    ]
    if plan.typed is not None:
        warnings += _syntax_warnings(plan.typed, lexical, store)
    if is_empty and not vector:
        warnings.append("W_EMPTY_QUERY: the query has no words to search for")
    model = plan.config.lexical_model if lexical else "fts5"
    if model != "fts5" and isinstance(lexical, RawQuery):
        warnings.append(f"W_LEXICAL_MODEL: {model} does not support FTS5 syntax; using FTS5's own score")
        model = "fts5"
    return SignalQuery(lexical, vector, terms, tuple(warnings), model)


def _syntax_warnings(typed: TypedQuestion, lexical: LexicalQuery | None, store: Store) -> Iterator[str]:
    """Yield how many chunks each exclusion removes, and which beginnings stand for too many words."""
    excluded = tuple(filter(None, map(store.analyzer.phrase, typed.excluded)))
    for term in store.term_stats(LiteralQuery("", excluded), is_searched=False) if excluded else ():
        chunks = "1 chunk" if term.df == 1 else f"{term.df} chunks"
        yield f"W_EXCLUDED: -{term.text} excluded {chunks} of this store"
    for phrase in lexical.phrases if isinstance(lexical, LiteralQuery) else ():
        if len(phrase.any_of) == MOST_TERMS and phrase.text.endswith("*"):
            yield f"W_PREFIX: {phrase.text} counts only the {MOST_TERMS} most common words that begin so"


def lexical_query(plan: Plan, store: Store) -> tuple[LexicalQuery | None, str | None]:
    """Return the plan's words as a full-text query, and the index's error for broken FTS5 syntax.

    Raises UsageError `lexical_fts_unsupported`, or `not_offered` for ts_rank.
    """
    if plan.lexical is None:
        return None, None
    if plan.config.lexical_model == "ts_rank" and not isinstance(store, TextRanking):
        raise stores.values.ts_rank_error()
    complaint = None
    if plan.lexical_raw:
        if "lexical_fts" not in store.capabilities:
            message = "This kind of store does not support lexical_fts."
            raise UsageError("lexical_fts_unsupported", message, hint="lexical('…') takes words and \"phrases\"")
        raw = RawQuery(spell_expression(plan.lexical, store.analyzer))
        complaint = store.syntax_error(raw)
        if complaint is None:
            return raw, None
    config = plan.config
    query = literal(
        plan.lexical,
        analyzer=store.analyzer,
        index=store,
        match=config.match,
        stop_words=config.stop_words,
        typed=plan.typed,
    )
    return query, complaint


def score_words(
    query: LexicalQuery,
    store: Store,
    config: Config,
    *,
    where: Expr | None,
    k: int | None = None,
    also: Sequence[int] = (),
) -> Mapping[int, float]:
    """Return rowid to raw score of matching rows, see `store.port.Search.lexical`: ts_rank_cd, or FTS5's bm25."""
    weight = config.title_weight
    if config.lexical_model == "ts_rank" and isinstance(query, LiteralQuery) and isinstance(store, TextRanking):
        ranks = store.text_ranks(query, where=where, title_weight=weight)
        best = sorted(ranks, key=lambda rowid: -ranks[rowid])[:k] if k is not None else ranks
        return {rowid: ranks[rowid] for rowid in dict.fromkeys((*best, *also)) if rowid in ranks}
    return store.lexical(query, where=where, k=k, title_weight=weight, also=also)


def _everything(plan: Plan, store: Store, question: SignalQuery) -> Candidates:
    lexical: Mapping[int, float] = {}
    if question.lexical is not None:
        lexical = score_words(question.lexical, store, plan.config, where=plan.where)
    if question.vector:
        semantic = store.cosines(question.vector, where=plan.where)
        return Candidates(store.candidates(plan.where), lexical, semantic)
    rowids: Sequence[int] = Series(lexical.rowids) if isinstance(lexical, Scores) else list(lexical)
    return Candidates(store.candidates(None, rowids=rowids), lexical, {})


def _estimate(plan: Plan, store: Store, question: SignalQuery) -> Candidates | None:
    """Like `_everything`, but compute only the cosines and keys that are shown. Return None if all would be."""
    vector = question.vector
    if not vector or "estimates" not in store.capabilities or not _shows_few(plan):
        return None
    estimates = store.estimates(vector, where=plan.where) if store.info().chunks > _FEW_CHUNKS else None
    if estimates is None:
        return None

    def settle(rowids: Sequence[int]) -> list[float]:
        cosines = store.cosines(vector, where=None, rowids=rowids)
        return [cosines[rowid] for rowid in rowids]

    lexical: Mapping[int, float] = {}
    if question.lexical is not None:
        lexical = score_words(question.lexical, store, plan.config, where=plan.where)
    keys = rank.estimates.UnreadKeys(estimates.rowids, lambda rowids: store.candidates(None, rowids=rowids))
    return Candidates(keys, lexical, rank.estimates.EstimatedColumn(estimates, settle))


def _shows_few(plan: Plan) -> bool:
    """Return True if a page depends on few rows: no ORDER BY or reranker, no collapsing, no weighing by rank."""
    config = plan.config
    is_by_score = plan.table == "chunk" and not (plan.order or config.rerank or config.min_cosine)
    return is_by_score and (config.fusion, config.normalize) == ("weighted", "bound")


def _propose(plan: Plan, store: Store, question: SignalQuery) -> Candidates:
    """Return the best `pool` rows of each signal, each with its true value in the other."""
    k = plan.config.pool
    lexical: Mapping[int, float] = {}
    semantic: Mapping[int, float] = {}
    near = Near({})
    if question.vector:
        near = nearest(store, question.vector, plan)
        semantic = near.cosines
    if question.lexical is not None:
        lexical = score_words(question.lexical, store, plan.config, where=plan.where, k=k, also=list(semantic))
    rowids = list({**lexical, **semantic})
    if question.vector and (left := [rowid for rowid in lexical if rowid not in semantic]):
        semantic = {**semantic, **store.cosines(question.vector, where=None, rowids=left)}
    return Candidates(store.candidates(None, rowids=rowids), lexical, semantic, *near[1:])


class Near(NamedTuple):
    """rowid to cosine of the rows that the semantic signal proposes, best first; other fields as in `Candidates`."""

    cosines: Mapping[int, float]
    index_kind: str = "exact"
    shortlist: tuple[int, ...] | None = None
    warnings: tuple[str, ...] = ()


def nearest(store: Store, vector: Vector, plan: Plan) -> Near:
    """Return the `pool` best of the rows that pass the filter, by the index in the settings.

    An index proposes 500 rows, or `pool` if that is more, and all their cosines are computed. If the store lacks the
    index, it searches without it.
    """
    k, where, config = plan.config.pool, plan.where, plan.config
    wants_index = config.vector_index in ("lsh", "hnsw")
    if wants_index and (near := by_index(store, vector, config, where=where, k=k)) is not None:
        return near
    warnings = (_why_without_index(store, config),) if wants_index else ()
    cosines, is_exact = store.nearest(vector, where=where, k=k)
    return Near(cosines, "exact" if is_exact else "approximate", None, warnings)


def by_index(store: Store, vector: Vector, config: Config, *, where: Expr | None, k: int) -> Near | None:
    """Return the k best of the rows that the index in the settings proposes, or None without this index."""
    index = stores.values.index_of(config, store.capabilities)
    shortlist = None if index is None else store.shortlist(vector, index, where=where, k=max(SHORTLIST, k))
    if shortlist is None:
        return None
    return Near(_best(store, vector, shortlist, k), config.vector_index, tuple(shortlist))


def _best(store: Store, vector: Vector, rowids: Sequence[int], k: int) -> Mapping[int, float]:
    """Return the k best cosines of these rows, best first, ties in natural order."""
    cosines = store.cosines(vector, where=None, rowids=rowids)
    order = [key.rowid for key in store.candidates(None, rowids=rowids)]
    return {rowid: cosines[rowid] for rowid in sorted(order, key=lambda rowid: -cosines[rowid])[:k]}


def _why_without_index(store: Store, config: Config) -> str:
    index = stores.values.index_of(config, store.capabilities)
    if index is None:
        return f"W_VECTOR_INDEX: this kind of store has no index {config.vector_index!r}; compared every vector"
    if index == "hnsw":
        return f"W_VECTOR_INDEX: compared every vector, because the index is missing; to make it: {Hint('compact')}"
    signature = f"a signature of {config.ann_bits} bits with seed {config.ann_seed}"
    return f"W_VECTOR_INDEX: compared every vector, because some lack {signature}; to make them: {Hint('compact')}"


def _by_bm25f(query: LiteralQuery, rowids: list[int], store: Store, config: Config) -> Mapping[int, float]:
    """Return the rows that FTS5 found, scored by BM25F."""
    found = store.occurrences(query, rowids)
    return dict(zip(rowids, scores(found, rowids, config), strict=True))
