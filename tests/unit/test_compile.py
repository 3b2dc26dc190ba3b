import apsw
import pytest

from recall_core.rql.parser import parse_filter, parse_query
from recall_core.store.sqlite.compile import FUNCTIONS, compile_filter, is_native, order_sql

TABLES = """
CREATE TABLE doc(rowid INTEGER PRIMARY KEY, id TEXT NOT NULL, path TEXT NOT NULL, mtime TEXT NOT NULL,
  hash TEXT NOT NULL, source TEXT, meta TEXT NOT NULL, deleted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX doc_path ON doc(path);
CREATE INDEX doc_mtime ON doc(mtime);
CREATE INDEX doc_source ON doc(source);
CREATE TABLE doc_tag(doc INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(doc, tag)) WITHOUT ROWID;
CREATE INDEX doc_tag_tag ON doc_tag(tag, doc);
CREATE TABLE chunk(rowid INTEGER PRIMARY KEY, id TEXT NOT NULL, doc INTEGER NOT NULL, offset INTEGER NOT NULL,
  tokens INTEGER NOT NULL, text TEXT NOT NULL, deleted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX chunk_doc ON chunk(doc);
"""


@pytest.fixture
def db() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(TABLES)
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_scalar_function(name, function, arguments, deterministic=True)
    db.execute("INSERT INTO doc VALUES(1, 'd1', 'docs/a.md', '2026', 'h', NULL, '{\"k\": 1}', 0)")
    db.execute("INSERT INTO doc VALUES(2, 'd2', 'src/b.py', '2025', 'h', 'git', '{}', 0)")
    db.execute("INSERT INTO doc_tag VALUES(1, 'ops'), (1, 'dev'), (2, 'dev')")
    db.execute(
        "INSERT INTO chunk VALUES(1, 'c1', 1, 0, 5, 'one', 0), (2, 'c2', 1, 9, 50, 'two', 0), "
        "(3, 'c3', 2, 0, 500, 'gone', 1)"
    )
    return db


def documents(db: apsw.Connection, text: str) -> list[int]:
    condition = compile_filter(parse_filter(text), table="doc")
    return [row[0] for row in db.execute(f"SELECT d.rowid FROM doc d WHERE {condition.sql}", condition.params)]


def plan(db: apsw.Connection, text: str) -> str:
    condition = compile_filter(parse_filter(text), table="chunk")
    sql = f"EXPLAIN QUERY PLAN SELECT c.rowid FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE {condition.sql}"
    return "\n".join(row[3] for row in db.execute(sql, condition.params))


def test_values_are_always_bound() -> None:
    hostile = "doc.path = '''; DROP TABLE doc' OR doc.meta.'k\"''' = 'x' OR doc.tag IN ('y''')"

    compiled = compile_filter(parse_filter(hostile), table="chunk")

    assert "DROP" not in compiled.sql
    assert compiled.sql.count("?") == len(compiled.params)
    assert compiled.params[0] == "'; DROP TABLE doc"


def test_top_level_comparison_uses_its_index(db: apsw.Connection) -> None:
    for text, index in [
        ("doc.path = 'a'", "doc_path"),
        ("doc.path IN ('a', 'b')", "doc_path"),
        ("doc.path BETWEEN 'a' AND 'b'", "doc_path"),
        ("doc.path GLOB 'docs/**'", "doc_path"),
        ("doc.path LIKE 'docs/%'", "doc_path"),
        ("doc.mtime >= '2026-01-01'", "doc_mtime"),
        ("doc.source = 'git'", "doc_source"),
        ("doc.tag = 'ops'", "doc_tag_tag"),
        ("doc.tag IN ('ops', 'dev')", "doc_tag_tag"),
        ("doc.tags HAS ALL ('ops', 'dev')", "doc_tag_tag"),
        ("chunk.tokens > 3 AND doc.path = 'a' AND NOT doc.meta.k = 1", "doc_path"),
    ]:
        assert index in plan(db, text), text


def test_tag_filter_uses_its_index(db: apsw.Connection) -> None:
    assert "SEARCH d USING INTEGER PRIMARY KEY" in plan(db, "doc.tag = 'ops'")


def test_document_needs_one_live_chunk_matching_the_whole_filter(db: apsw.Connection) -> None:
    assert documents(db, "chunk.tokens > 1") == [1]
    assert documents(db, "chunk.tokens > 10 AND chunk.offset = 0") == []
    assert documents(db, "NOT chunk.tokens > 10") == [1]
    assert documents(db, "doc.tag = 'dev'") == [1, 2]


def test_pattern_on_a_number_is_false_in_any_evaluation_order(db: apsw.Connection) -> None:
    db.execute("DELETE FROM doc_tag")

    assert documents(db, "doc.tags IS NULL AND doc.meta.k LIKE '%'") == []
    assert documents(db, "doc.tags IS NULL AND doc.meta.k GLOB '**'") == []
    assert documents(db, "doc.tags IS NULL AND NOT doc.meta.k ILIKE '%'") == [1, 2]


def test_missing_value_is_false_and_its_negation_true(db: apsw.Connection) -> None:
    db.execute("""UPDATE doc SET meta = '{"k": 1, "list": [1], "object": {"a": 1}, "none": null}' WHERE rowid = 1""")
    for text, passing in [
        ("doc.source != 'git'", [1]),
        ("doc.source NOT IN ('git')", [1]),
        ("doc.source NOT LIKE 'g%'", [1]),
        ("NOT doc.source > 'a'", [1]),
        ("doc.source IS NULL", [1]),
        ("doc.meta.k != 1", [2]),
        ("doc.meta.k != 'text'", [1, 2]),
        ("doc.meta.k IS NULL", [2]),
        ("doc.meta.list IS NULL AND doc.meta.object IS NULL AND doc.meta.none IS NULL", [1, 2]),
        ("doc.meta.list LIKE '%' OR doc.meta.object LIKE '%'", []),
        ("doc.tag != 'ops'", [2]),
        ("doc.path IS NULL", []),
    ]:
        db.execute(
            """UPDATE doc SET meta = '{"k": 1, "list": [1], "object": {"a": 1}, "none": null}' WHERE rowid = 1"""
        )

        assert documents(db, text) == passing, text
        assert documents(db, f"NOT ({text})") == [number for number in (1, 2) if number not in passing], text


def test_has_all_counts_a_repeated_tag_once(db: apsw.Connection) -> None:
    assert documents(db, "doc.tags HAS ALL ('ops', 'dev', 'ops')") == [1]
    assert documents(db, "NOT doc.tags HAS ALL ('ops', 'dev')") == [2]


def test_metadata_key_may_contain_any_characters(db: apsw.Connection) -> None:
    for key in ["a.b", 'a"b', "a\\b", "it's", "é", "[0]", "$", "#", "x\\"]:
        db.execute("UPDATE doc SET meta = json_object(?, 'found') WHERE rowid = 2", (key,))
        quoted = key.replace("\\", "\\\\").replace("'", "''")

        assert documents(db, f"doc.meta.'{quoted}' = 'found'") == [2], key


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("AND", "doc.path GLOB 'docs/*'"),
        ("OR", "doc.tag = 'dev'"),
        *(
            pytest.param(word, term, marks=pytest.mark.slow)
            for term in ("doc.path = 'x'", "doc.tag = 'dev'", "doc.meta.k = 1", "doc.path GLOB 'docs/*'")
            for word in ("AND", "OR")
            if (word, term) not in (("AND", "doc.path GLOB 'docs/*'"), ("OR", "doc.tag = 'dev'"))
        ),
    ],
)
def test_filter_of_maximum_width_runs(db: apsw.Connection, word: str, term: str) -> None:
    terms = 65_000 // (len(term) + 5)

    assert documents(db, f" {word} ".join([term] * terms)) == documents(db, term)


def test_filter_of_maximum_depth_runs(db: apsw.Connection) -> None:
    assert documents(db, "NOT (" * 32 + "doc.path = 'docs/a.md'" + ")" * 32) == [1]


def test_list_of_maximum_length_runs(db: apsw.Connection) -> None:
    values = ",".join(["''"] * 21_000)

    assert documents(db, f"doc.path IN ({values})") == []
    assert documents(db, f"doc.meta.k IN (1,{values})") == [1]
    assert documents(db, f"doc.tags HAS ALL ({values})") == []


def test_order_ends_with_natural_order() -> None:
    query = parse_query("SELECT * FROM chunk USING lexical('a') ORDER BY score, chunk.tokens DESC").query

    assert order_sql(query.order, "chunk").sql == 'c.tokens DESC, d.path, c."offset", c.id'
    assert order_sql((), "doc").sql == "d.path, d.id"


def test_metadata_key_in_an_order_is_bound() -> None:
    query = parse_query("SELECT * FROM doc ORDER BY doc.meta.'a.b' DESC").query

    compiled = order_sql(query.order, "doc")

    assert compiled.params == ('$."a.b"', '$."a.b"')
    assert "NULLS LAST" in compiled.sql


def test_named_rows_look_up_their_own_tags() -> None:
    for text, looks_at_its_own in [
        ("doc.path = 'a' AND doc.tag = 'x'", True),
        ("doc.id IN ('a', 'b') AND doc.tags HAS ALL ('x', 'y')", True),
        ("chunk.id = 'a' AND (doc.tag = 'x' OR doc.tag = 'y')", True),
        ("doc.tag = 'x'", False),
        ("doc.source = 'a' AND doc.tag = 'x'", False),
        ("doc.path != 'a' AND doc.tag = 'x'", False),
        ("doc.path = 'a' OR doc.tag = 'x'", False),
    ]:
        compiled = compile_filter(parse_filter(text), table="chunk")

        assert ("t.doc = d.rowid" in compiled.sql) == looks_at_its_own, text
        assert ("SELECT t.doc FROM" in compiled.sql) != looks_at_its_own, text


def test_filter_that_sqlite_answers_alone_is_native() -> None:
    for text, native in [
        ("doc.path = 'a'", True),
        ("chunk.tokens BETWEEN 1 AND 2", True),
        ("doc.tags HAS ALL ('a', 'b')", True),
        ("doc.source IS NULL", True),
        ("doc.path GLOB 'a*'", False),
        ("doc.tag LIKE 'a%'", False),
        ("doc.meta.year = 1", False),
    ]:
        expr = parse_filter(text)

        assert is_native(expr) == native, text  # type: ignore[arg-type]
