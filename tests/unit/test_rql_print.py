from recall_core.rql.ast import Field
from recall_core.rql.parser import parse_filter, parse_query
from recall_core.rql.print import print_field, print_filter, print_query


def test_filter_has_one_spelling() -> None:
    for written, canonical in [
        ("((doc.tag='a'))", "doc.tag = 'a'"),
        ("NOT doc.tag IN ('a')", "doc.tag NOT IN ('a')"),
        ("NOT doc.source IS NULL", "doc.source IS NOT NULL"),
        ("NOT doc.path LIKE 'a'", "doc.path NOT LIKE 'a'"),
        ('doc.tag <> "it\'s"', "doc.tag != 'it''s'"),
        ("not (doc.tag = 'a' or doc.tag = 'b')", "NOT (doc.tag = 'a' OR doc.tag = 'b')"),
        (r"doc.path LIKE '100\%'", r"doc.path LIKE '100\\%'"),
        ("doc.meta.x = 1e2", "doc.meta.x = 100.0"),
        ("doc.meta.'plain' = true", "doc.meta.plain = TRUE"),
    ]:
        assert print_filter(parse_filter(written)) == canonical, written
        assert print_filter(parse_filter(canonical)) == canonical, written


def test_query_prints_its_clauses_in_one_order() -> None:
    written = 'select score, text from chunk option exact true limit 5 using lexical("a") order by score;'

    assert print_query(parse_query(written).query) == (
        "SELECT score, chunk.text FROM chunk USING lexical('a') ORDER BY score DESC LIMIT 5 OPTION exact ON"
    )


def test_key_is_quoted_only_if_necessary() -> None:
    assert print_field(Field("doc", "meta", "author")) == "doc.meta.author"
    assert print_field(Field("doc", "meta", "a-b")) == "doc.meta.'a-b'"
    assert print_field(Field("doc", "meta", "1st")) == "doc.meta.'1st'"
    assert print_field(Field("doc", "path")) == "doc.path"
