from recall_core.rql.ast import Field
from recall_core.rql.fields import (
    CATALOGUE,
    lookup,
    mentions_chunk,
    qualified_names,
    select_names,
    value_of,
)
from recall_core.rql.parser import parse_filter, parse_query
from recall_core.types import Document

DOCUMENT = Document(
    id="d",
    path="p",
    hash="h",
    mtime="m",
    size=1,
    title="t",
    source=None,
    tags=("b", "a"),
    meta={"n": None, "list": [1], "object": {}, "big": 2**70, "yes": True, "text": "x", "": "empty"},
)


def test_field_catalogue_is_complete() -> None:
    assert qualified_names() == (
        "doc.id",
        "doc.path",
        "doc.mtime",
        "doc.hash",
        "doc.tag",
        "doc.tags",
        "doc.source",
        "doc.title",
        "doc.meta",
        "chunk.id",
        "chunk.doc_id",
        "chunk.offset",
        "chunk.tokens",
        "chunk.text",
    )
    assert lookup("doc", "size") is None
    assert all(info.doc for info in CATALOGUE)


def test_star_selects_the_row_and_any_score() -> None:
    documents = select_names(parse_query("SELECT * FROM doc").query)
    chunks = select_names(parse_query("SELECT * FROM chunk USING lexical('a')").query)

    assert documents == tuple(name for name in qualified_names() if name.startswith("doc."))
    assert set(chunks) == {*qualified_names(), "score"}
    assert chunks[0] == "chunk.id"


def test_selected_names_are_qualified_and_unique() -> None:
    query = parse_query("SELECT text, score, chunk.text, doc.meta.'a.b' FROM chunk").query

    assert select_names(query) == ("chunk.text", "score", "doc.meta.a.b")


def test_filter_knows_whether_it_concerns_chunks() -> None:
    mixed = parse_filter("NOT (doc.tag = 'a' OR chunk.tokens > 1) AND doc.path = 'x'")

    assert mentions_chunk(mixed)
    assert mentions_chunk(parse_filter("NOT lexical('a')"))
    assert not mentions_chunk(parse_filter("doc.tag = 'a'"))


def test_metadata_is_a_scalar_or_missing() -> None:
    for key, value in [
        ("n", None),
        ("list", None),
        ("object", None),
        ("absent", None),
        ("big", 2.0**70),
        ("yes", True),
        ("text", "x"),
    ]:
        assert value_of(Field("doc", "meta", key), DOCUMENT, None) == value, key


def test_tags_come_in_code_point_order() -> None:
    assert value_of(Field("doc", "tag"), DOCUMENT, None) == ("a", "b")


def test_document_alone_has_no_chunk_values() -> None:
    assert value_of(Field("chunk", "tokens"), DOCUMENT, None) is None
