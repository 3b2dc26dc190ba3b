"""Funnel counts compared with brute force, and the two ways of counting compared with each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.explain.funnel import trace
from recall_core.explain.whynot.question import Question
from recall_core.retrieve import pool
from recall_core.rql.ast import And, Expr, IsNull, Not, Or, Words
from recall_core.rql.match import match, match_document
from recall_core.rql.parser import parse_filter
from recall_core.rql.print import print_filter
from recall_core.store.sqlite import funnel
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Row, Table
from tests.examples import examples
from tests.property.test_whynot import FILTERS, asker_of, made


def rows(store: SqliteStore) -> list[Row]:
    return store.fetch([key.rowid for key in store.candidates(None)])


def passing(store: SqliteStore, where: Expr, table: Table) -> set[str]:
    """Return ids of the rows that pass, by the reference implementation."""
    if table == "chunk":
        return {row.chunk.id for row in rows(store) if match(where, row, store.has_words)}
    documents = {row.doc.id: row.doc for row in rows(store)}
    return {
        doc_id
        for doc_id, document in documents.items()
        if match_document(where, document, [row.chunk for row in store.chunks_of(doc_id)], store.has_words)
    }


def everything(store: SqliteStore, table: Table) -> set[str]:
    return {row.chunk.id if table == "chunk" else row.doc.id for row in rows(store)}


def together(terms: tuple[Expr, ...]) -> Expr | None:
    return None if not terms else terms[0] if len(terms) == 1 else And(terms)


CHAINS = st.lists(FILTERS, min_size=1, max_size=4).map(" AND ".join).map(parse_filter)


@examples(15)
@given(seed=st.integers(0, 3), where=CHAINS, table=st.sampled_from(["chunk", "doc"]))
def test_counts_match_brute_force(seed: int, where: Expr, table: Table) -> None:
    store = made(seed)
    counts = funnel.filter_counts(store.execute, where, table=table)
    total = everything(store, table)

    def left(terms: tuple[Expr, ...]) -> int:
        wanted = together(terms)
        return len(total if wanted is None else passing(store, wanted, table))

    chain = where.terms if isinstance(where, And) else (where,)
    assert counts.rows == len(total)
    assert counts.passing_all == left((where,))
    for part in funnel.parts_of(where):
        if part != where or not isinstance(where, And):
            assert counts.passing[print_filter(part)] == left((part,))
        if not isinstance(part, And | Or | Not):
            assert counts.missing.get(print_filter(part)) == (
                None if isinstance(part, Words) else left((IsNull(part.field),))
            )
    for number, (term, removed) in enumerate(zip(chain, counts.removed, strict=True)):
        others = (*chain[:number], *chain[number + 1 :])
        assert removed.alone == len(total) - left((term,))
        assert removed.in_order == left(chain[:number]) - left(chain[: number + 1])
        assert removed.only_by_this == left(others) - left(chain)


@examples(50)
@given(
    seed=st.integers(0, 3),
    where=st.none() | FILTERS,
    words=st.sampled_from(["alpha delta", "alpha", '"alpha betatron" gamma', "unknown", "the of", "alphabet zeta"]),
    mode=st.sampled_from(["hybrid", "lexical", "semantic"]),
    depth=st.integers(1, 30),
)
def test_each_signal_reports_the_number_of_rows_it_proposes(
    seed: int, where: str | None, words: str, mode: str, depth: int
) -> None:
    question = Question(words, mode=mode, filter=where, settings={"pool": depth})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "EXACT_VECTORS", 0)
        asker = asker_of(made(seed))
        done = trace(asker, question)
        stages = {stage["stage"]: stage["rows_out"] for stage in done.view["stages"]}
        for signal, other in (("lexical", "semantic"), ("semantic", "lexical")):
            if mode in ("hybrid", signal):
                alone = asker.answer(done.answer.plan._replace(**{other: None})).pool
                assert alone is not None
                assert stages[signal] == len(alone.keys)
    assert stages["live"] == len(made(seed).candidates(None))


@examples(20)
@given(seed=st.integers(0, 3), where=CHAINS)
def test_one_statement_counts_like_many(seed: int, where: Expr) -> None:
    at_once = funnel.filter_counts(made(seed).execute, where, table="chunk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(funnel, "_MOST_COLUMNS", 0)
        assert funnel.filter_counts(made(seed).execute, where, table="chunk") == at_once


@examples(20)
@given(
    seed=st.integers(0, 3),
    where=st.none() | FILTERS,
    mode=st.sampled_from(["hybrid", "lexical", "semantic"]),
    budget=st.none() | st.integers(5, 50),
)
def test_each_stage_starts_with_the_previous_output(
    seed: int, where: str | None, mode: str, budget: int | None
) -> None:
    question = Question("alpha delta", mode=mode, filter=where, budget_tokens=budget)
    done = trace(asker_of(made(seed)), question)
    stages = {stage["stage"]: stage for stage in done.view["stages"]}
    base = stages["filter" if where else "live"]["rows_out"]
    for stage in done.view["stages"]:
        assert 0 <= stage["rows_out"] <= stage["rows_in"]
    assert stages["union"]["rows_in"] == base
    assert stages["union"]["rows_out"] == len(done.answer.pool.keys if done.answer.pool else ())
    assert stages["kept"]["rows_out"] == done.answer.total + done.answer.struck
    assert stages.get("copies", stages["kept"])["rows_out"] == done.answer.total
    assert set(done.view["timings"]) >= {"store", "live", "answer"}
    if mode != "semantic":
        assert stages["lexical"]["rows_out"] <= stages["union"]["rows_out"]
