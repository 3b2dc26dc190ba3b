"""Retrieval: a plan, a store and an embedder give the pool. The only reading a search does before it has an order."""

from __future__ import annotations

from typing import NamedTuple

from recall_core.config import BM25_K1, EXACT_VECTORS
from recall_core.ports import Embedder, Store
from recall_core.retrieve.literal import literal
from recall_core.retrieve.plan import Plan
from recall_core.types import Key, LexicalQuery, Pool, TermStat, Vector


class Question(NamedTuple):
    """What a plan asks of each signal, in the store's and the embedder's own terms."""

    lexical: LexicalQuery | None
    vector: Vector | None
    """b"" when the text has no feature, None when nothing semantic was asked."""
    terms: tuple[TermStat, ...]
    warnings: tuple[str, ...]


def retrieve(plan: Plan, store: Store, embedder: Embedder | None) -> Pool:
    """Every candidate with all its raw values, in natural order.

    Up to 20,000 live vectors every row that the filter lets through is a candidate (only matching rows when the
    semantic signal has nothing to say); above that each signal proposes its `pool` best, and the proposals of one
    are scored by the other. The pool does not depend on LIMIT or OFFSET.
    """
    question = ask(plan, store, embedder)
    known = [term for term in question.terms if term.df > 0]
    bound = (BM25_K1 + 1) * sum(term.idf for term in known)
    whole = plan.exact or store.info().vectors <= EXACT_VECTORS
    rows, lexical, semantic = (_everything if whole else _proposed)(plan, store, question)
    rowids = [key.rowid for key in rows]
    return Pool(
        keys=rows,
        lexical=tuple(map(lexical.get, rowids)) if question.lexical is not None else (),
        semantic=tuple(map(semantic.get, rowids)) if question.vector is not None else (),
        bound=bound,
        terms=question.terms,
        exact=whole,
        index_kind="exact",
        warnings=question.warnings,
    )


def ask(plan: Plan, store: Store, embedder: Embedder | None) -> Question:
    """The plan's texts as a full-text query with its document frequencies, and as a vector."""
    warnings: list[str] = []
    lexical: LexicalQuery | None = None
    if plan.lexical is not None:
        lexical = literal(plan.lexical, tokens=store.tokens, match=plan.config.match)
        if plan.lexical_raw:
            complaint = store.syntax_error(plan.lexical)
            if complaint is None:
                lexical = LexicalQuery(plan.lexical, plan.lexical, (), raw=True)
            else:
                warnings.append(f"W_FTS_SANITIZED: {complaint}; the words were searched for literally")
    vector = None if plan.semantic is None or embedder is None else embedder.embed([plan.semantic])[0]
    terms = store.term_stats(lexical) if lexical and lexical.match else ()
    unknown = dict.fromkeys(term.text for term in terms if term.df == 0)
    warnings += [f"W_UNKNOWN_TERM: {text} occurs nowhere in this store" for text in unknown]
    if not (lexical and lexical.match) and not vector:
        warnings.append("W_EMPTY_QUERY: the query has no word to look for")
    return Question(lexical, vector, terms, tuple(warnings))


def _everything(
    plan: Plan, store: Store, question: Question
) -> tuple[tuple[Key, ...], dict[int, float], dict[int, float]]:
    lexical: dict[int, float] = {}
    if question.lexical is not None:
        weight = plan.config.title_weight
        lexical = store.lexical(question.lexical, where=plan.where, k=None, title_weight=weight)
    if question.vector:
        semantic = store.cosines(question.vector, where=plan.where)
        return store.candidates(plan.where), lexical, semantic
    return store.candidates(None, rowids=list(lexical)), lexical, {}


def _proposed(
    plan: Plan, store: Store, question: Question
) -> tuple[tuple[Key, ...], dict[int, float], dict[int, float]]:
    """The best `pool` of each signal together, each with its true value in the other."""
    k, weight = plan.config.pool, plan.config.title_weight
    lexical: dict[int, float] = {}
    semantic: dict[int, float] = {}
    if question.lexical is not None:
        lexical = store.lexical(question.lexical, where=plan.where, k=k, title_weight=weight)
    if question.vector:
        semantic = store.nearest(question.vector, where=plan.where, k=k)
    rowids = list({**lexical, **semantic})
    if question.lexical is not None:
        lexical = store.lexical_scores(question.lexical, rowids, title_weight=weight)
    if question.vector:
        semantic = store.cosines(question.vector, where=None, rowids=rowids)
    return store.candidates(None, rowids=rowids), lexical, semantic
