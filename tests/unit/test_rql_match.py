from recall_core.rql.match import match, match_document
from recall_core.rql.parser import parse_filter
from recall_core.types import Chunk, Document, Row

DOCUMENT = Document(
    id="d1",
    path="docs/Guide.md",
    hash="h1",
    mtime="2026-01-01T12:00:00.000000Z",
    size=10,
    title="Guide",
    source=None,
    tags=("ops", "dev"),
    meta={"year": 2026, "ratio": 0.5, "author": "Ada", "draft": True, "list": [1], "none": None, "digits": "7"},
)


def chunk(offset: int, tokens: int, text: str) -> Chunk:
    return Chunk(f"c{offset}", "d1", offset, offset + len(text), 1, 1, tokens, None, text)


SHORT, LONG = chunk(0, 3, "short text"), chunk(100, 300, "long text")
ROW = Row(1, DOCUMENT, SHORT)


def test_filter_matches_and_its_negation_does_not() -> None:
    for text in [
        "doc.path = 'docs/Guide.md'",
        "doc.path > 'docs/G'",
        "doc.path BETWEEN 'docs/A' AND 'docs/Z'",
        "doc.path LIKE 'docs/%'",
        "doc.path ILIKE 'DOCS/guide.%'",
        "doc.path GLOB '**/*.md'",
        "doc.mtime >= '2026-01-01'",
        "doc.mtime < '2026-01-01T13:00:00'",
        "doc.tag = 'dev'",
        "doc.tag IN ('x', 'ops')",
        "doc.tags HAS ALL ('ops', 'dev')",
        "doc.tags HAS ANY ('ops', 'x')",
        "doc.tag LIKE 'd%'",
        "doc.source IS NULL",
        "doc.meta.year = 2026.0",
        "doc.meta.year > 2025.5",
        "doc.meta.author = 'Ada'",
        "doc.meta.draft = TRUE",
        "doc.meta.draft IN (FALSE, TRUE)",
        "doc.meta.list IS NULL",
        "doc.meta.none IS NULL",
        "doc.meta.absent IS NULL",
        "chunk.tokens = 3",
        "chunk.tokens < 3.5",
        "chunk.offset = 0",
        "chunk.doc_id = 'd1'",
        "chunk.text LIKE 'short%'",
    ]:
        assert match(parse_filter(text), ROW), text
        assert not match(parse_filter(f"NOT ({text})"), ROW), text


def test_filter_fails_and_its_negation_matches() -> None:
    for text in [
        "doc.path LIKE 'DOCS/%'",
        "doc.source = 'wiki'",
        "doc.source < 'wiki'",
        "doc.source LIKE '%'",
        "doc.source IN ('wiki')",
        "doc.source BETWEEN '' AND 'z'",
        "doc.tag != 'ops'",
        "doc.tag NOT IN ('dev')",
        "doc.tags HAS ALL ('ops', 'x')",
        "doc.meta.year = '2026'",
        "doc.meta.digits = 7",
        "doc.meta.digits > 1",
        "doc.meta.draft = 1",
        "doc.meta.draft > 0",
        "doc.meta.draft LIKE '%'",
        "doc.meta.year LIKE '%'",
        "doc.meta.list = 1",
        "doc.meta.absent = ''",
        "doc.meta.absent != ''  AND doc.meta.absent = 'x'",
    ]:
        assert not match(parse_filter(text), ROW), text
        assert match(parse_filter(f"NOT ({text})"), ROW), text


def test_missing_value_is_unequal_to_everything() -> None:
    assert match(parse_filter("doc.source != 'wiki' AND doc.source NOT IN ('wiki')"), ROW)
    assert match(parse_filter("doc.source NOT LIKE '%' AND doc.source NOT BETWEEN 'a' AND 'z'"), ROW)


def test_document_passes_if_one_chunk_satisfies_the_whole_filter() -> None:
    chunks = (SHORT, LONG)

    assert match_document(parse_filter("chunk.tokens > 100"), DOCUMENT, chunks)
    assert match_document(parse_filter("NOT chunk.tokens > 100"), DOCUMENT, chunks)
    assert not match_document(parse_filter("chunk.tokens > 100 AND chunk.offset = 0"), DOCUMENT, chunks)


def test_document_without_chunks_passes_only_document_filters() -> None:
    assert match_document(parse_filter("doc.tag = 'ops'"), DOCUMENT, ())
    assert not match_document(parse_filter("doc.tag = 'ops' OR chunk.tokens > 0"), DOCUMENT, ())
    assert not match_document(parse_filter("NOT chunk.tokens > 0"), DOCUMENT, ())
