import pytest

from recall_core.errors import RqlError
from recall_core.rql.options import OPTIONS
from recall_core.rql.parser import parse_query


def options(text: str) -> tuple[tuple[str, object], ...]:
    return parse_query(f"SELECT * FROM chunk OPTION {text}").query.options


def test_the_list_is_closed() -> None:
    assert tuple(OPTIONS) == (
        "fusion",
        "normalize",
        "bm25_weight",
        "vector_weight",
        "min_score",
        "pool",
        "exact",
        "sparse_recall",
        "rerank",
    )


def test_words_may_be_quoted_and_switches_have_two_spellings() -> None:
    assert options("fusion 'rrf', exact TRUE, sparse_recall off") == (
        ("fusion", "rrf"),
        ("exact", True),
        ("sparse_recall", False),
    )


def test_numbers_are_kept_within_the_settings_bounds() -> None:
    assert options("bm25_weight 0, vector_weight 0.5, min_score 1, pool 1") == (
        ("bm25_weight", 0),
        ("vector_weight", 0.5),
        ("min_score", 1),
        ("pool", 1),
    )


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_a_value_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(RqlError) as caught:
        options(text)

    assert caught.value.code == "bad_option"
    expected = OPTIONS[text.split(maxsplit=1)[0]].expected
    assert caught.value.expected == expected
    assert f" takes {expected}, not " in caught.value.message
