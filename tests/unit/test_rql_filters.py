import pytest

from recall_core.errors import RqlError
from recall_core.rql.ast import And, Between, Compare, Field, Has, In, IsNull, Like, Not, Or, Words
from recall_core.rql.filters import MAX_DEPTH, parse_filter, parse_filter_with_warnings

A, B, C = (Compare(Field("doc", "tag"), "=", letter) for letter in "abc")
TAG, TOKENS = Field("doc", "tag"), Field("chunk", "tokens")


def code(text: str) -> str:
    with pytest.raises(RqlError) as caught:
        parse_filter(text)
    return caught.value.code


def test_not_binds_tightest_then_and_then_or() -> None:
    for form, tree in [
        ("{a} OR {b} AND {c}", Or((A, And((B, C))))),
        ("{a} AND {b} OR {c}", Or((And((A, B)), C))),
        ("({a} OR {b}) AND {c}", And((Or((A, B)), C))),
        ("NOT {a} AND {b}", And((Not(A), B))),
        ("NOT ({a} AND {b})", Not(And((A, B)))),
        ("NOT NOT {a}", Not(Not(A))),
        ("{a} AND {b} AND {c}", And((A, B, C))),
        ("{a} AND ({b} AND {c})", And((A, And((B, C))))),
        ("(({a}))", A),
    ]:
        text = form.format(a="doc.tag = 'a'", b="doc.tag = 'b'", c="doc.tag = 'c'")

        assert parse_filter(text) == tree, text


def test_words_of_a_chunk_are_a_predicate() -> None:
    assert parse_filter("NOT lexical('old draft') OR lexical(\"a\")") == Or((Not(Words("old draft")), Words("a")))
    for wrong in ("lexical", "lexical = 'a'", "lexical(a)", "lexical('a'", "lexical('a', 'b')", "semantic('a')"):
        assert code(wrong) == ("unknown_field" if wrong.startswith("semantic") else "rql_syntax"), wrong


def test_paths_are_normalized_to_composed_unicode() -> None:
    predicates = "= '{}'", "IN ('{}')", "BETWEEN '{}' AND '{}'", "GLOB '*{}*'", "LIKE '%{}'", "NOT ILIKE '{}'"
    for predicate in predicates:
        decomposed, composed = (predicate.replace("{}", name) for name in ("cafe\u0301.md", "caf\u00e9.md"))

        for field, are_equal in [("doc.path", True), ("doc.source", False), ("doc.meta.name", False)]:
            read = parse_filter(f"{field} {decomposed}"), parse_filter(f"{field} {composed}")
            assert (read[0] == read[1]) is are_equal, (field, predicate)


def test_predicate_reads_as_written() -> None:
    for text, tree in [
        ("doc.tag <> 'a'", Compare(TAG, "!=", "a")),
        ("chunk.tokens>=-5", Compare(TOKENS, ">=", -5)),
        ("chunk.tokens IN (1, 2.5)", In(TOKENS, (1, 2.5))),
        ("chunk.tokens NOT IN (1)", Not(In(TOKENS, (1,)))),
        ("chunk.tokens BETWEEN 1 AND 2", Between(TOKENS, 1, 2)),
        ("chunk.tokens NOT BETWEEN 1 AND 2 AND doc.tag = 'a'", And((Not(Between(TOKENS, 1, 2)), A))),
        ("doc.tag LIKE 'a%'", Like(TAG, "LIKE", "a%")),
        ("doc.tag NOT ILIKE 'a%'", Not(Like(TAG, "ILIKE", "a%"))),
        ("doc.tag GLOB 'a*'", Like(TAG, "GLOB", "a*")),
        ("doc.tags HAS ANY ('a')", Has(Field("doc", "tags"), "ANY", ("a",))),
        ("doc.tags HAS ALL ('a', 'b')", Has(Field("doc", "tags"), "ALL", ("a", "b"))),
        ("doc.source IS NULL", IsNull(Field("doc", "source"))),
        ("doc.source IS NOT NULL", Not(IsNull(Field("doc", "source")))),
        ("doc.meta.and = 1", Compare(Field("doc", "meta", "and"), "=", 1)),
        ("doc.meta.\"a-b\" = 'x'", Compare(Field("doc", "meta", "a-b"), "=", "x")),
        ("doc.meta.draft = true", Compare(Field("doc", "meta", "draft"), "=", True)),
    ]:
        assert repr(parse_filter(text)) == repr(tree), text


def test_and_and_or_of_the_same_terms_are_different_trees() -> None:
    assert And((A, B)) != Or((A, B))
    assert Compare(TAG, "=", "a") != Between(TAG, "=", "a")


def test_depth_is_limited_exactly() -> None:
    assert parse_filter("(" * MAX_DEPTH + "doc.tag = 'a'" + ")" * MAX_DEPTH) == A
    assert code("(" * (MAX_DEPTH + 1) + "doc.tag = 'a'" + ")" * (MAX_DEPTH + 1)) == "rql_too_large"
    assert code("NOT " * (MAX_DEPTH + 1) + "doc.tag = 'a'") == "rql_too_large"
    assert code("(" * 60_000) == "rql_too_large"


def test_wide_filter_is_not_deep() -> None:
    wide = " OR ".join(["doc.tag = 'a'"] * 3_000)

    assert parse_filter(wide) == Or((A,) * 3_000)


def test_date_is_spelled_as_in_the_store() -> None:
    mtime = Field("doc", "mtime")

    assert parse_filter("doc.mtime IN ('2026-01-01', '2026-01-01T00:00:00+01:00')") == In(
        mtime, ("2026-01-01T00:00:00.000000Z", "2025-12-31T23:00:00.000000Z")
    )
    assert parse_filter("doc.mtime LIKE '2026-01%'") == Like(mtime, "LIKE", "2026-01%")


def test_bare_date_warns_where_the_day_is_cut_off() -> None:
    for text, warns in [
        ("doc.mtime <= '2026-01-01'", True),
        ("doc.mtime > '2026-01-01'", True),
        ("doc.mtime BETWEEN '2026-01-01' AND '2026-01-31'", True),
        ("doc.mtime >= '2026-01-01'", False),
        ("doc.mtime < '2026-01-01'", False),
        ("doc.mtime = '2026-01-01'", False),
        ("doc.mtime <= '2026-01-01T00:00'", False),
        ("doc.mtime BETWEEN '2026-01-01' AND '2026-01-31T23:59'", False),
        ("doc.path <= '2026-01-01'", False),
    ]:
        warnings = parse_filter_with_warnings(text).warnings

        assert [warning.split(":")[0] for warning in warnings] == (["W_DATE_BOUND"] if warns else []), text


def test_value_of_the_wrong_type_is_refused() -> None:
    for text in [
        "doc.path = 1",
        "doc.path < TRUE",
        "doc.mtime = 2026",
        "doc.tag IN ('a', 1)",
        "chunk.tokens = '1'",
        "chunk.offset GLOB '1*'",
        "doc.path HAS ALL ('a')",
        "doc.meta.tags HAS ANY ('a')",
        "doc.tag > 'a'",
        "doc.meta.x <= FALSE",
        "doc.meta.x BETWEEN FALSE AND TRUE",
        "doc.meta.x BETWEEN 'a' AND 1",
    ]:
        assert code(text) == "type_mismatch", text
