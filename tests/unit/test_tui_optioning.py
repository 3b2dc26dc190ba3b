"""Writing settings into a query changes nothing else in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from recall_core.config import Config, by_key
from recall_core.retrieve.plan import plan_rql
from recall_core.rql.ast import Value
from recall_core.rql.parser import parse_query
from recall_tui.state import commands
from recall_tui.state.commands import as_query, has_option

VALUES: dict[str, some.SearchStrategy[Value]] = {
    "fusion": some.sampled_from(["weighted", "rrf"]),
    "normalize": some.sampled_from(["bound", "max", "minmax"]),
    "bm25_weight": some.sampled_from([0, 0.15, 1e-05, 2.5]),
    "vector_weight": some.sampled_from([1, 0.85]),
    "min_score": some.sampled_from([0.05, 1]),
    "pool": some.integers(1, 10_000),
    "exact": some.booleans(),
}
OPTIONS = some.fixed_dictionaries({}, optional=VALUES)


def with_options(text: str, options: dict[str, Value], limit: int | None = None) -> str:
    return commands.with_options(text, parse_query(text).query, options, limit=limit)


CLAUSES = some.lists(
    some.sampled_from(
        [
            "USING lexical('option limit'), semantic('LIMIT 3')",
            "FILTER doc.meta.option = 1 AND doc.meta.limit = 'OPTION pool 3'",
            "ORDER BY doc.path",
            "LIMIT 7",
            "-- OPTION pool 9",
        ]
    ),
    unique=True,
)


@given(clauses=CLAUSES, written=OPTIONS, changed=OPTIONS, limit=some.none() | some.integers(0, 99), data=some.data())
def test_writing_options_changes_nothing_else_in_the_query(
    clauses: list[str], written: dict[str, Value], changed: dict[str, Value], limit: int | None, data: some.DataObject
) -> None:
    if written:
        spelled = with_options("SELECT * FROM chunk", written).partition("OPTION ")[2]
        clauses.insert(data.draw(some.integers(0, len(clauses))), f"option {spelled}")
    text = "\n".join(
        ["SELECT doc.path", "FROM chunk", *clauses, data.draw(some.sampled_from(["", ";", " ; -- end"]))]
    )
    before = parse_query(text).query

    after = with_options(text, changed, limit=limit)

    query = parse_query(after).query
    assert by_key(dict(query.options)) == {**written, **changed}
    assert query.limit == (before.limit if limit is None else limit)
    assert query._replace(options=(), limit=None) == before._replace(options=(), limit=None)
    assert [line.partition("--")[2] for line in after.splitlines() if "--" in line] == [
        line.partition("--")[2] for line in text.splitlines() if "--" in line
    ]
    assert with_options(after, changed, limit=limit) == after


def test_existing_options_are_replaced_in_place() -> None:
    text = "SELECT * FROM chunk USING lexical('a') OPTION pool 50, fusion rrf LIMIT 3"

    assert with_options(text, {"pool": 100, "min_score": 0.1}, limit=5) == (
        "SELECT * FROM chunk USING lexical('a') OPTION pool 100, fusion rrf, min_score 0.1 LIMIT 5"
    )


def test_a_query_has_no_option_for_every_setting() -> None:
    assert has_option("pool")
    assert not has_option("rrf_k")


@given(
    words=some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30)
)
def test_words_become_an_equivalent_query(words: str) -> None:
    text = as_query(words, Config(), limit=7, options={"vector_weight": 0.3, "match": "all"})

    plan = plan_rql(text, config=Config(), exact=False)

    assert (plan.lexical, plan.semantic, plan.lexical_raw) == (words, words, False)
    assert (plan.limit, plan.where, plan.order, plan.table) == (7, None, (), "chunk")
    assert plan.config == Config(vector_weight=0.3)


def test_the_default_exclusions_of_a_query_are_shown() -> None:
    for config in [Config(sparse_recall=False), Config(rerank="onnx:folder")]:
        plan = plan_rql(as_query("a", config, limit=1, options={}), config=Config(), exact=False)

        assert (plan.config.sparse_recall, plan.config.rerank) == (config.sparse_recall, config.rerank), config
