"""Random trees over random rows: printing is lossless, SQL agrees with match(), and no text crashes."""

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_core.errors import RqlError
from recall_core.rql.ast import (
    And,
    Between,
    Compare,
    Expr,
    Field,
    Has,
    In,
    IsNull,
    Like,
    Not,
    Or,
    OrderKey,
    Query,
    Score,
    Using,
    Words,
)
from recall_core.rql.fields import CATALOGUE
from recall_core.rql.filters import to_utc
from recall_core.rql.match import match, match_document, sort_hits
from recall_core.rql.parser import parse_filter, parse_filter_with_warnings, parse_query
from recall_core.rql.patterns import glob_match, glob_prefix, like_match, like_prefix
from recall_core.rql.print import print_filter, print_query
from recall_core.store.sqlite.compile import FUNCTIONS, compile_filter, order_sql
from recall_core.text import nfc
from recall_core.types import Chunk, Document, Hit, Row
from tests.examples import examples

HEAVY = settings(max_examples=20_000, deadline=None)
LIGHT = examples(60)

# Few values, so that random filters meet random rows; the odd ones are where languages differ.
WORDS = ("", "a", "A", "b", "ab", "a/b", "docs/a.md", "docs/b/a.md", "é", "É", "ß", "ss", "a%b", "a_b", "a\\b")
WORDS += ("'", '"', "a\nb", "日本", "\ud7ff", "\ue000", "🙂", "\U0010ffff", "1", "true", "null")
TIMES = ("2025-12-31T23:59:59.999999Z", "2026-01-01T00:00:00.000000Z", "2026-01-01T12:30:00.500000Z")
KEYS = ("k", "a-b", "a.b", 'q"k', "b\\s", "limit", "größe", "it's")
PIECES = ("a", "b", "%", "_", "\\", "*", "**", "/", "**/", "?", "[ab]", "[!a]", "{a,b}", "{", ",", "é", "docs")

stored_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5)
words = st.sampled_from(WORDS) | stored_text
numbers = (
    st.sampled_from((0, 1, 2, 3, -1, 2**63 - 1, -(2**63)))
    | st.integers(-10, 300)
    | st.integers(-40, 40).map(lambda eighths: eighths / 8)
)
times = st.sampled_from(TIMES)
scalars = words | numbers | st.booleans()
metadata = st.dictionaries(
    st.sampled_from(KEYS),
    scalars | st.none() | st.sampled_from(([1], {"a": 1}, 2**70, -(2**70))),
    max_size=4,
)

FIELDS = [Field(info.table, info.name) for info in CATALOGUE if info.type != "meta"]
FIELDS += [Field("doc", "meta", key) for key in KEYS]
fields = st.sampled_from(FIELDS)
patterns = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | words


def operands(field: Field) -> st.SearchStrategy[object]:
    if field.name in ("offset", "tokens"):
        return numbers
    if field.name == "path":
        return words.map(nfc)  # as a parsed query spells it
    return scalars if field.name == "meta" else times if field.name == "mtime" else words


def is_ordered(value: object) -> bool:
    return not isinstance(value, bool)


@st.composite
def betweens(draw: st.DrawFn, field: Field) -> Between:
    low = draw(operands(field).filter(is_ordered))
    alike = words if field.name == "meta" and isinstance(low, str) else operands(field).filter(is_ordered)
    high = draw(alike.filter(lambda value: isinstance(value, str) == isinstance(low, str)))
    return Between(field, low, high)


def predicates_on(field: Field) -> st.SearchStrategy[Expr]:
    """Return every predicate that the grammar allows on this field."""
    here, values = st.just(field), operands(field)
    several = st.lists(values, min_size=1, max_size=4).map(tuple)
    shapes = [
        st.builds(Compare, here, st.sampled_from(("=", "!=")), values),
        st.builds(In, here, several),
        st.builds(IsNull, here),
    ]
    if field.name in ("tag", "tags"):
        shapes.append(st.builds(Has, here, st.sampled_from(("ANY", "ALL")), several))
    else:
        orders = st.sampled_from(("<", "<=", ">", ">="))
        shapes += [st.builds(Compare, here, orders, values.filter(is_ordered)), betweens(field)]
    if field.name not in ("offset", "tokens"):
        wanted = patterns.map(nfc) if field.name == "path" else patterns
        shapes.append(st.builds(Like, here, st.sampled_from(("LIKE", "ILIKE", "GLOB")), wanted))
    return st.one_of(shapes)


def _join(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    terms = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return inner.map(Not) | terms.map(And) | terms.map(Or)


of_fields = [predicates_on(field) for field in FIELDS]
field_filters = st.recursive(st.one_of(of_fields), _join, max_leaves=6)
filters = st.recursive(st.one_of([*of_fields, st.builds(Words, words)]), _join, max_leaves=6)

order_keys = st.builds(OrderKey, fields, st.booleans())
doc_order_keys = st.builds(OrderKey, fields.filter(lambda field: field.table == "doc"), st.booleans())

options = st.fixed_dictionaries(
    {},
    optional={
        "fusion": st.sampled_from(("weighted", "rrf")),
        "bm25_weight": st.floats(0, 1000),
        "min_score": st.floats(0, 1) | st.sampled_from((0, 1)),
        "min_cosine": st.floats(0, 1) | st.sampled_from((0, 1)),
        "pool": st.integers(1, 1_000_000),
        "exact": st.booleans(),
        "rerank": st.just(False) | words.filter(bool),
    },
).map(lambda chosen: tuple(chosen.items()))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    table = draw(st.sampled_from(("chunk", "doc")))
    functions = draw(
        st.sampled_from(((), ("lexical",), ("semantic",), ("lexical_fts", "semantic"), ("semantic", "lexical")))
    )
    keys = order_keys if table == "chunk" else doc_order_keys
    keys = keys | st.builds(OrderKey, st.just(Score()), st.booleans()) if functions else keys
    limit = draw(st.none() | st.integers(0, 2**63 - 1))
    return Query(
        table,
        select=tuple(draw(st.lists(fields | st.just(Score()), max_size=3))) or None,
        using=tuple(Using(name, draw(words)) for name in functions),
        where=draw(st.none() | filters),
        order=tuple(draw(st.lists(keys, max_size=2))),
        limit=limit,
        offset=0 if limit is None else draw(st.integers(0, 2**63 - 1)),
        options=draw(options),
    )


chunk_values = st.tuples(st.integers(0, 3), st.integers(0, 300), words, st.booleans())
document_values = st.tuples(
    words, times, st.none() | words, st.frozensets(words, max_size=3), metadata, st.lists(chunk_values, max_size=3)
)
worlds = st.lists(document_values, min_size=1, max_size=3)


class World:
    """The same documents twice: as values for match(), and as rows in SQLite."""

    TABLES = """
    CREATE TABLE doc(rowid INTEGER PRIMARY KEY, id TEXT NOT NULL, path TEXT NOT NULL, mtime TEXT NOT NULL,
      hash TEXT NOT NULL, title TEXT NOT NULL, source TEXT, meta TEXT NOT NULL);
    CREATE TABLE doc_tag(doc INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(doc, tag)) WITHOUT ROWID;
    CREATE INDEX doc_tag_tag ON doc_tag(tag, doc);
    CREATE INDEX doc_path ON doc(path);
    CREATE TABLE chunk(rowid INTEGER PRIMARY KEY, id TEXT NOT NULL, doc INTEGER NOT NULL,
      offset INTEGER NOT NULL, tokens INTEGER NOT NULL, text TEXT NOT NULL, deleted INTEGER NOT NULL);
    """
    CHUNKS = "FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE c.deleted = 0"

    def __init__(self, values: list[tuple]) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute(self.TABLES)
        for name, (arguments, function) in FUNCTIONS.items():
            self.db.create_scalar_function(name, function, arguments, deterministic=True)
        self.documents: dict[int, Document] = {}
        self.rows: dict[int, Row] = {}
        for number, (path, mtime, source, tags, meta, chunks) in enumerate(values, start=1):
            self._add(number, Document(f"d{number}", path, "h", mtime, 0, path, source, tuple(tags), meta), chunks)

    def _add(self, number: int, document: Document, chunks: list[tuple]) -> None:
        self.documents[number] = document
        meta = json.dumps(document.meta, ensure_ascii=number % 2 == 0)
        values = (number, document.id, document.path, document.mtime, "h", document.title, document.source, meta)
        self.db.execute("INSERT INTO doc VALUES(?, ?, ?, ?, ?, ?, ?, ?)", values)
        self.db.executemany("INSERT INTO doc_tag VALUES(?, ?)", [(number, tag) for tag in document.tags])
        for position, (offset, tokens, text, is_deleted) in enumerate(chunks):
            rowid = number * 10 + position
            chunk = Chunk(f"c{rowid}", document.id, offset, offset, 1, 1, tokens, None, text)
            values = (rowid, chunk.id, number, offset, tokens, text, is_deleted)
            self.db.execute("INSERT INTO chunk VALUES(?, ?, ?, ?, ?, ?, ?)", values)
            if not is_deleted:
                self.rows[rowid] = Row(rowid, document, chunk)

    def chunks_of(self, document: Document) -> list[Chunk]:
        return [row.chunk for row in self.rows.values() if row.doc is document]


def check_filter_means_the_same(expr: Expr, values: list[tuple]) -> None:
    world = World(values)
    per_chunk, per_doc = compile_filter(expr, table="chunk"), compile_filter(expr, table="doc")

    chunks = dict(world.db.execute(f"SELECT c.rowid, {per_chunk.sql} {World.CHUNKS}", per_chunk.params))
    passing = list(world.db.execute(f"SELECT c.rowid {World.CHUNKS} AND {per_chunk.sql}", per_chunk.params))
    documents = dict(world.db.execute(f"SELECT d.rowid, {per_doc.sql} FROM doc d", per_doc.params))
    passing_documents = list(world.db.execute(f"SELECT d.rowid FROM doc d WHERE {per_doc.sql}", per_doc.params))

    assert chunks == {rowid: int(match(expr, row)) for rowid, row in world.rows.items()}
    assert sorted(passing) == [(rowid,) for rowid, holds in sorted(chunks.items()) if holds]
    assert documents == {
        number: int(match_document(expr, document, world.chunks_of(document)))
        for number, document in world.documents.items()
    }
    assert sorted(passing_documents) == [(number,) for number, holds in sorted(documents.items()) if holds]


def check_filter_prints_back(expr: Expr) -> None:
    text = print_filter(expr)
    parsed = parse_filter(text)

    assert parsed == expr
    assert repr(parsed) == repr(expr)  # 1, 1.0 and True are equal to ==
    assert print_filter(parsed) == text


@LIGHT
@given(field_filters, worlds)
def test_sql_agrees_with_match(expr: Expr, values: list[tuple]) -> None:
    check_filter_means_the_same(expr, values)


@LIGHT
@given(st.lists(words, min_size=1, max_size=5).map(tuple), field_filters, worlds)
def test_sql_agrees_with_match_next_to_named_paths(paths: tuple[str, ...], expr: Expr, values: list[tuple]) -> None:
    check_filter_means_the_same(And((In(Field("doc", "path"), paths), expr)), values)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@HEAVY
@given(field_filters, worlds)
def test_sql_agrees_with_match_at_length(expr: Expr, values: list[tuple]) -> None:
    check_filter_means_the_same(expr, values)


@LIGHT
@given(filters)
def test_printed_filter_parses_to_itself(expr: Expr) -> None:
    check_filter_prints_back(expr)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@HEAVY
@given(filters)
def test_printed_filter_parses_to_itself_at_length(expr: Expr) -> None:
    check_filter_prints_back(expr)


@LIGHT
@given(queries())
def test_printed_query_parses_to_itself(query: Query) -> None:
    text = print_query(query)

    parsed = parse_query(text, strict=True)

    assert repr(parsed.query) == repr(query)
    assert print_query(parsed.query) == text


@LIGHT
@given(st.lists(order_keys, max_size=3), worlds)
def test_sql_orders_like_the_reference(keys: list[OrderKey], values: list[tuple]) -> None:
    world = World(values)
    compiled = order_sql(keys, "chunk")

    found = world.db.execute(f"SELECT c.id {World.CHUNKS} ORDER BY {compiled.sql}", compiled.params)

    hits = [Hit(0, None, row.doc, row.chunk, ()) for row in world.rows.values()]
    assert [row[0] for row in found] == [hit.chunk.id for hit in sort_hits(hits, keys) if hit.chunk]


@LIGHT
@given(st.lists(doc_order_keys, max_size=3), worlds)
def test_sql_orders_documents_like_the_reference(keys: list[OrderKey], values: list[tuple]) -> None:
    world = World(values)
    compiled = order_sql(keys, "doc")

    found = world.db.execute(f"SELECT d.id FROM doc d ORDER BY {compiled.sql}", compiled.params)

    hits = [Hit(0, None, document, None, ()) for document in world.documents.values()]
    assert [row[0] for row in found] == [hit.doc.id for hit in sort_hits(hits, keys)]


@LIGHT
@given(patterns, words)
def test_matching_values_begin_with_the_prefix(pattern: str, value: str) -> None:
    assert not like_match(pattern, value) or value.startswith(like_prefix(pattern))
    assert not glob_match(pattern, value) or value.startswith(glob_prefix(pattern))


def naive_like(pattern: str, value: str) -> bool:
    """Return the result of LIKE by its definition; exponential and obviously right."""
    if not pattern:
        return not value
    if pattern[0] == "%":
        return any(naive_like(pattern[1:], value[i:]) for i in range(len(value) + 1))
    if pattern[0] == "\\" and len(pattern) > 1:
        return value[:1] == pattern[1] and naive_like(pattern[2:], value[1:])
    return bool(value) and pattern[0] in ("_", value[0]) and naive_like(pattern[1:], value[1:])


def naive_glob(pattern: list[str], path: list[str]) -> bool:
    """Return the result of GLOB over segments by its definition, for letters, stars and question marks."""
    if not pattern:
        return not path
    if pattern == ["**"]:
        return bool(path)
    if pattern[0] == "**":
        return any(naive_glob(pattern[1:], path[i:]) for i in range(len(path) + 1))
    segment = pattern[0].replace("*", "%").replace("?", "_")
    return bool(path) and naive_like(segment, path[0]) and naive_glob(pattern[1:], path[1:])


@LIGHT
@given(st.text("ab%_\\", max_size=8), st.text("ab%\\", max_size=8))
def test_like_agrees_with_its_definition(pattern: str, value: str) -> None:
    assert like_match(pattern, value) == naive_like(pattern, value)


segments = st.text("ab*?", max_size=4).filter(lambda segment: "**" not in segment) | st.just("**")


@examples(150)
@given(st.lists(segments, min_size=1, max_size=5), st.lists(st.text("ab", max_size=3), min_size=1, max_size=5))
def test_glob_agrees_with_its_definition(pattern: list[str], path: list[str]) -> None:
    assert glob_match("/".join(pattern), "/".join(path)) == naive_glob(pattern, path)


@LIGHT
@given(st.datetimes(timezones=st.just(None) | st.timezones()))
def test_every_calendar_time_is_read_to_the_microsecond(moment: object) -> None:
    literal = moment.isoformat()  # type: ignore[attr-defined]
    try:
        stored = to_utc(literal)
    except ValueError:
        return
    assert len(stored) == 27
    assert to_utc(stored) == stored


GOLDEN = Path(__file__).parents[1].joinpath("golden", "identity.rql").read_text(encoding="utf-8").splitlines()
VOCABULARY = (
    "SELECT FROM USING FILTER ORDER BY LIMIT OFFSET OPTION AND OR NOT IN BETWEEN HAS ANY ALL IS NULL LIKE GLOB "
    "ON OFF TRUE * , . ( ) = != <> <= ; -- ' \" '' \\ - 0 -1 1.5 1e9 doc chunk doc.tag doc.meta.k chunk.tokens "
    "score lexical('a') 'x' \"y\" '2026-01-01' pool fusion rrf é 🙂 \n \x00 \ud800"
).split(" ")


def refusal(parse: Callable[[str], object], text: str) -> RqlError | None:
    try:
        parse(text)
    except RqlError as error:
        return error
    return None


def check_only_rql_errors(text: str) -> None:
    for error in (refusal(parse_query, text), refusal(parse_filter_with_warnings, text)):
        if error is not None:
            assert 0 <= error.start <= error.end <= len(text)
            assert error.expected
            assert "^" in error.caret()


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(GOLDEN))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        text = text[:start] + draw(st.sampled_from(VOCABULARY) | st.just("")) + text[end:]
    return text


texts = st.text() | st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join) | mutated()


@examples(200)
@given(texts)
def test_any_text_parses_or_raises_rql_error(text: str) -> None:
    check_only_rql_errors(text)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@HEAVY
@given(texts)
def test_any_text_parses_or_raises_rql_error_at_length(text: str) -> None:
    check_only_rql_errors(text)


@examples(100)
@given(mutated())
def test_parsed_query_prints_and_parses_to_itself(text: str) -> None:
    try:
        query = parse_query(text).query
    except RqlError:
        return
    if query.select != ():  # only unknown names, which are dropped with a warning: no text expresses that
        assert repr(parse_query(print_query(query)).query) == repr(query)
