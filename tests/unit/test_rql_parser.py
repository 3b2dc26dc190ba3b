import pytest

from recall_core.errors import RqlError
from recall_core.rql.ast import And, Compare, Field, In, Like, OrderKey, Query, Score, Using
from recall_core.rql.fields import select_names
from recall_core.rql.parser import parse_filter, parse_query

SCORE_FIRST = OrderKey(Score(), descending=True)


def test_first_design_example_parses() -> None:
    parsed = parse_query("""SELECT doc.id, doc.path, score FROM doc
USING semantic("recovery runbook")
FILTER doc.tag = "ops" AND doc.mtime >= "2026-01-01"
LIMIT 10;""")

    assert parsed.warnings == ()
    assert parsed.query == Query(
        "doc",
        select=(Field("doc", "id"), Field("doc", "path"), Score()),
        using=(Using("semantic", "recovery runbook"),),
        where=And(
            (
                Compare(Field("doc", "tag"), "=", "ops"),
                Compare(Field("doc", "mtime"), ">=", "2026-01-01T00:00:00.000000Z"),
            )
        ),
        limit=10,
    )


def test_second_design_example_parses() -> None:
    parsed = parse_query("""SELECT chunk.text, chunk.doc_id, score FROM chunk
USING semantic("rate limit") , lexical("429")
FILTER doc.path GLOB "**/api/**" AND chunk.tokens <= 256
ORDER BY score DESC
LIMIT 8;""")

    assert parsed.warnings == ()
    assert parsed.query == Query(
        "chunk",
        select=(Field("chunk", "text"), Field("chunk", "doc_id"), Score()),
        using=(Using("semantic", "rate limit"), Using("lexical", "429")),
        where=And(
            (
                Like(Field("doc", "path"), "GLOB", "**/api/**"),
                Compare(Field("chunk", "tokens"), "<=", 256),
            )
        ),
        order=(SCORE_FIRST,),
        limit=8,
    )


def test_third_design_example_parses() -> None:
    parsed = parse_query("""SELECT doc.id, doc.path FROM doc
FILTER doc.tag IN ("policy", "security")
ORDER BY doc.mtime DESC
LIMIT 20;""")

    assert parsed.warnings == ()
    assert parsed.query == Query(
        "doc",
        select=(Field("doc", "id"), Field("doc", "path")),
        where=In(Field("doc", "tag"), ("policy", "security")),
        order=(OrderKey(Field("doc", "mtime"), descending=True),),
        limit=20,
    )


def test_clauses_come_in_any_order() -> None:
    usual = parse_query(
        "SELECT * FROM chunk USING lexical('a') FILTER doc.tag = 'x' ORDER BY score LIMIT 3 OPTION pool 9"
    )
    turned = parse_query(
        "SELECT * FROM chunk OPTION pool 9 LIMIT 3 ORDER BY score FILTER doc.tag = 'x' USING lexical('a')"
    )

    assert turned == usual


def test_keywords_ignore_case_and_names_do_not() -> None:
    assert (
        parse_query("select * from doc filter doc.tag in ('a') order by doc.path desc limit 1 offset 2").query
        == parse_query("SELECT * FROM doc FILTER doc.tag IN ('a') ORDER BY doc.path DESC LIMIT 1 OFFSET 2").query
    )
    with pytest.raises(RqlError) as caught:
        parse_query("SELECT * FROM doc FILTER doc.Tag = 'a'")
    assert caught.value.code == "unknown_field"


def test_letters_that_uppercase_to_ascii_make_no_keyword() -> None:
    for text in ("doc.source I\u017f NULL", "doc.path \u0131N ('a')"):
        with pytest.raises(RqlError):
            parse_filter(text)


def test_filter_after_limit_is_applied() -> None:
    assert parse_query("SELECT * FROM doc LIMIT 5 FILTER doc.tag = 'x'").query.where is not None


def test_select_accepts_bare_names_of_its_table() -> None:
    parsed = parse_query("SELECT text, offset, tokens FROM chunk")

    assert parsed.query.select == (
        Field("chunk", "text"),
        Field("chunk", "offset"),
        Field("chunk", "tokens"),
    )
    assert parsed.warnings == ()


def test_unknown_selected_field_is_ignored_with_a_warning() -> None:
    parsed = parse_query("SELECT path, doc.path, doc.tgas, doc.meta FROM chunk")

    assert parsed.query.select == (Field("doc", "path"),)
    assert [warning.split(" ")[:3] for warning in parsed.warnings] == [
        ["W_UNKNOWN_FIELD:", "SELECT", "path"],
        ["W_UNKNOWN_FIELD:", "SELECT", "doc.tgas"],
        ["W_UNKNOWN_FIELD:", "SELECT", "doc.meta"],
    ]
    assert "did you mean doc.path?" in parsed.warnings[0]


def test_only_unknown_fields_select_nothing() -> None:
    parsed = parse_query("SELECT doc.size, doc.tgas FROM doc")

    assert (parsed.query.select, select_names(parsed.query), len(parsed.warnings)) == ((), (), 2)
    assert parse_query("SELECT * FROM doc").query.select is None


def test_order_by_accepts_at_most_64_keys() -> None:
    text = "SELECT * FROM doc\nORDER BY " + ", ".join(["doc.path"] * 64)

    assert len(parse_query(text).query.order) == 64
    with pytest.raises(RqlError) as caught:
        parse_query(f"{text}, doc.hash")
    assert (caught.value.code, caught.value.line, caught.value.text[caught.value.start :]) == (
        "rql_too_large",
        2,
        "doc.hash",
    )


def test_strict_refuses_an_unknown_selected_field() -> None:
    with pytest.raises(RqlError) as caught:
        parse_query("SELECT doc.path, doc.tgas FROM chunk", strict=True)

    assert (caught.value.code, caught.value.column, caught.value.hint) == (
        "unknown_field",
        18,
        "did you mean doc.tags?",
    )


def test_score_without_using_is_ignored_with_a_warning() -> None:
    parsed = parse_query("SELECT * FROM chunk ORDER BY score, doc.path")

    assert parsed.query.order == (OrderKey(Field("doc", "path")),)
    assert [warning.split(":")[0] for warning in parsed.warnings] == ["W_ORDER_SCORE"]


def test_strict_refuses_a_score_without_using() -> None:
    with pytest.raises(RqlError) as caught:
        parse_query("SELECT * FROM chunk ORDER BY score", strict=True)

    assert (caught.value.code, caught.value.column) == ("order_without_using", 30)


def test_using_may_follow_order_by_score() -> None:
    parsed = parse_query("SELECT * FROM chunk ORDER BY score USING lexical('a')", strict=True)

    assert parsed.query.order == (SCORE_FIRST,)


def test_default_direction_is_ascending_except_for_score() -> None:
    parsed = parse_query("SELECT * FROM chunk USING lexical('a') ORDER BY score, doc.path, chunk.tokens DESC")

    assert [key.descending for key in parsed.query.order] == [True, False, True]


def test_limit_zero_is_legal_and_no_limit_is_none() -> None:
    assert parse_query("SELECT * FROM doc LIMIT 0").query.limit == 0
    assert parse_query("SELECT * FROM doc").query.limit is None


def test_sparse_recall_and_offset_exclude_each_other_in_any_order() -> None:
    for text in (
        "SELECT * FROM chunk LIMIT 5 OFFSET 0 OPTION sparse_recall ON",
        "SELECT * FROM chunk OPTION sparse_recall TRUE LIMIT 5 OFFSET 5",
    ):
        with pytest.raises(RqlError) as caught:
            parse_query(text)
        assert caught.value.code == "sparse_with_offset"


def test_exactly_one_complete_query_is_accepted() -> None:
    for text in ["", "  \n", "-- a comment", ";", "SELECT * FROM doc;;", "SELECT * FROM doc; x"]:
        with pytest.raises(RqlError) as caught:
            parse_query(text)

        assert caught.value.code == "rql_syntax", text


def test_date_warning_comes_with_the_query() -> None:
    parsed = parse_query("SELECT * FROM doc FILTER doc.mtime <= '2026-01-01'")

    assert [warning.split(":")[0] for warning in parsed.warnings] == ["W_DATE_BOUND"]


def test_error_draws_a_caret_under_its_position() -> None:
    with pytest.raises(RqlError) as caught:
        parse_query("SELECT *\nFROM doc\nFILTER tag = 'docs'")

    assert caught.value.caret() == "FILTER tag = 'docs'\n       ^^^  expected a field such as doc.tag"
