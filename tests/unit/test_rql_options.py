import pytest

from recall_core.config import Config
from recall_core.errors import RqlError
from recall_core.retrieve.plan import plan_rql
from recall_core.rql.options import OPTIONS
from recall_core.rql.parser import parse_query


def options(text: str) -> tuple[tuple[str, object], ...]:
    return parse_query(f"SELECT * FROM chunk OPTION {text}").query.options


def test_impossible_option_is_refused_at_its_position() -> None:
    for clause, place, hint in [
        ("OPTION bm25_weight 0, vector_weight 0", "vector_weight 0", "lexical_weight = 0.9"),
        ("OPTION vector_weight 0, pool 9, bm25_weight 0 LIMIT 3", "bm25_weight 0", "lexical_weight = 0.9"),
        ("OPTION rerank minlm FILTER doc.meta.rerank = 'x'", "rerank minlm", "did you mean minilm?"),
        ("FILTER doc.meta.option = 'x' OPTION pool 9, rerank 'minlm'", "rerank 'minlm'", "did you mean minilm?"),
    ]:
        text = f"SELECT * FROM chunk\nUSING lexical('a') {clause}"

        with pytest.raises(RqlError) as caught:
            plan_rql(text, config=Config(), exact=False)

        error = caught.value
        assert (text[error.start : error.end], error.line, error.hint) == (place, 2, hint), clause


def test_query_is_exact_if_text_or_caller_requires_it() -> None:
    text = "SELECT * FROM chunk USING semantic('a')"
    asked = [(text, False), (f"{text} OPTION exact OFF", False), (f"{text} OPTION exact ON", False), (text, True)]

    exact = [plan_rql(rql, config=Config(), exact=told).exact for rql, told in asked]

    assert exact == [False, False, True, True]


def test_weight_that_leaves_no_signal_is_refused() -> None:
    with pytest.raises(RqlError) as caught:
        plan_rql("SELECT * FROM chunk OPTION vector_weight 0", config=Config(bm25_weight=0), exact=False)

    assert (caught.value.code, caught.value.column) == ("bad_value", 28)


def test_unknown_options_are_refused() -> None:
    assert tuple(OPTIONS) == (
        "fusion",
        "normalize",
        "lexical_weight",
        "semantic_weight",
        "bm25_weight",
        "vector_weight",
        "min_score",
        "min_cosine",
        "pool",
        "exact",
        "sparse_recall",
        "collapse",
        "rerank",
    )


def test_words_may_be_quoted_and_switches_have_two_spellings() -> None:
    assert options("fusion 'rrf', exact TRUE, sparse_recall off") == (
        ("fusion", "rrf"),
        ("exact", True),
        ("sparse_recall", False),
    )


def test_numbers_stay_within_the_bounds_of_settings() -> None:
    assert options("bm25_weight 0, vector_weight 0.5, min_score 1, pool 1") == (
        ("bm25_weight", 0),
        ("vector_weight", 0.5),
        ("min_score", 1),
        ("pool", 1),
    )


def test_unsuitable_value_is_refused() -> None:
    for text in [
        "fusion RRF",
        "normalize OFF",
        "bm25_weight -0.1",
        "bm25_weight 'heavy'",
        "min_score 1.01",
        "min_score ON",
        "pool 0",
        "pool 1.5",
        "pool ON",
        "exact 1",
        "exact 'ON'",
        "rerank ON",
        "rerank 5",
        "rerank ''",
    ]:
        with pytest.raises(RqlError) as caught:
            options(text)

        assert caught.value.code == "bad_option", text
        expected = OPTIONS[text.split(maxsplit=1)[0]].expected
        assert caught.value.expected == expected, text
        assert f" takes {expected}, not " in caught.value.message, text
