"""The tables of a collection, the numbered steps that upgrade an older one, and checks of their rows.

A collection is a schema of its own. The primary key of every table of documents begins with the document's id, so the
tables can be distributed by it; no number comes from a sequence. `number` identifies a document or a chunk within the
collection, like a rowid of SQLite; the writer assigns it. Text is compared by code point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg

from recall_core.errors import StoreError
from recall_core.store.digest import DocumentState, digest_sum, document_digest
from recall_core.store.values import READ_AGAIN, Finding, StoreCheck, find_flaws, not_offered_error
from recall_core.text import sha256
from recall_core.words.analyzer import Analyzer, tokenize

Execute = Callable[..., list[tuple[Any, ...]]]
"""Executes one statement with its parameters and returns all rows: `OpenCollection.execute`."""

_TABLES = """
CREATE TABLE store(
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  schema_version integer NOT NULL,
  born TEXT NOT NULL,
  embedder TEXT NOT NULL,
  dimension integer NOT NULL,
  counter TEXT NOT NULL,
  chunker TEXT NOT NULL,
  words TEXT NOT NULL,
  generation bigint NOT NULL DEFAULT 0,
  commits bigint NOT NULL DEFAULT 0,
  retention_day integer NOT NULL DEFAULT 0,
  digest_sum TEXT NOT NULL DEFAULT repeat('0', 64),
  documents bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  vectors bigint NOT NULL DEFAULT 0,
  tombstones bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  windowed bigint NOT NULL DEFAULT 0,
  without_text bigint NOT NULL DEFAULT 0,
  last_document bigint NOT NULL DEFAULT 0,
  last_chunk bigint NOT NULL DEFAULT 0,
  told_skips TEXT NOT NULL DEFAULT '',
  purge TEXT[],
  purged TEXT NOT NULL DEFAULT '',
  next_embedder TEXT,
  next_dimension integer,
  next_command TEXT
);

CREATE TABLE root(
  number bigint PRIMARY KEY, spec TEXT NOT NULL, is_active boolean NOT NULL, left_out TEXT[] NOT NULL DEFAULT '{}'
);

CREATE TABLE file(
  path TEXT PRIMARY KEY,
  os_path TEXT NOT NULL,
  size bigint NOT NULL,
  mtime_ns bigint NOT NULL,
  hash TEXT NOT NULL,
  settings TEXT NOT NULL,
  root bigint,
  ctime_ns bigint,
  inode numeric
);

CREATE TABLE document(
  id TEXT PRIMARY KEY,
  number bigint NOT NULL,
  path TEXT NOT NULL,
  file TEXT,
  mtime TEXT NOT NULL,
  size bigint NOT NULL,
  hash TEXT NOT NULL,
  title TEXT NOT NULL,
  source TEXT,
  tags TEXT[] NOT NULL,
  meta TEXT NOT NULL,
  metadata jsonb NOT NULL,
  digest TEXT NOT NULL,
  read_by TEXT NOT NULL,
  marks TEXT NOT NULL,
  is_live boolean NOT NULL DEFAULT true
);
CREATE INDEX document_number ON document(number);
CREATE INDEX document_path ON document(path) WHERE is_live;
CREATE INDEX document_mtime ON document(mtime) WHERE is_live;
CREATE INDEX document_source ON document(source) WHERE is_live;
CREATE INDEX document_file ON document(file) WHERE is_live;
CREATE INDEX document_tags ON document USING gin(tags) WHERE is_live;

CREATE TABLE chunk(
  doc_id TEXT NOT NULL REFERENCES document(id) ON DELETE CASCADE,
  start integer NOT NULL,
  number bigint NOT NULL,
  id TEXT NOT NULL,
  stop integer NOT NULL,
  line_start integer NOT NULL,
  line_end integer NOT NULL,
  tokens integer NOT NULL,
  heading TEXT,
  is_title boolean NOT NULL,
  place TEXT,
  text TEXT NOT NULL,
  hash bytea NOT NULL,
  text_hash bytea NOT NULL,
  title_length integer NOT NULL,
  body_length integer NOT NULL,
  title_words TEXT NOT NULL,
  body_words TEXT NOT NULL,
  is_live boolean NOT NULL DEFAULT true,
  PRIMARY KEY(doc_id, start)
);
ALTER TABLE chunk
  ALTER doc_id SET STORAGE plain, ALTER id SET STORAGE plain,
  ALTER hash SET STORAGE plain, ALTER text_hash SET STORAGE plain,
  ALTER title_words SET STORAGE external, ALTER body_words SET STORAGE external,
  ALTER text SET STATISTICS 0, ALTER title_words SET STATISTICS 0, ALTER body_words SET STATISTICS 0;
CREATE INDEX chunk_number ON chunk(number);
CREATE INDEX chunk_id ON chunk(id);
CREATE INDEX chunk_hash ON chunk(hash) WHERE is_live;
CREATE INDEX chunk_text_hash ON chunk(text_hash);

CREATE TABLE posting(
  term TEXT NOT NULL, first bigint NOT NULL, numbers bigint[] NOT NULL, in_title integer[], in_body integer[],
  PRIMARY KEY(term, first)
);
CREATE TABLE term(term TEXT PRIMARY KEY, df bigint NOT NULL) WITH (fillfactor = 50);

CREATE TABLE embedding(
  doc_id TEXT NOT NULL,
  start integer NOT NULL,
  number bigint NOT NULL,
  embedding vector(DIMENSION) NOT NULL,
  windows integer NOT NULL,
  PRIMARY KEY(doc_id, start),
  FOREIGN KEY(doc_id, start) REFERENCES chunk(doc_id, start) ON DELETE CASCADE
);
CREATE INDEX embedding_number ON embedding(number);
ALTER TABLE embedding ALTER embedding SET STORAGE VECTOR_STORAGE;
CREATE TABLE vector_cache(
  text_hash bytea PRIMARY KEY, embedding vector(DIMENSION) NOT NULL, windows integer NOT NULL
);
CREATE TABLE next_vector(text_hash bytea PRIMARY KEY, embedding vector, windows integer NOT NULL);

CREATE TABLE judged_query(id TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE judgement(
  query TEXT NOT NULL, path TEXT NOT NULL, start integer NOT NULL, stop integer NOT NULL, grade integer NOT NULL,
  PRIMARY KEY(query, path, start, stop)
);
"""
"""title_words and body_words of a chunk are all terms in the order of the text, each between two blanks. A row of
`posting` has the chunks with a term that were written together, from the number `first` on, and how often it is in
title and body; NULL means in no title, and once in each body. Removed chunks stay in it until `forget`. `term` counts
live chunks. `next_vector` has the vectors of an unfinished reembed.

The short keys of a chunk stay in the row itself: a row above 2 KB would lose them to another table, and every join
would read them there. Two things make writing faster: pages of `term` have room for the next count, and ANALYZE skips
the long columns."""

MIGRATIONS = (_TABLES,)
"""Step i upgrades a collection from schema version i to i + 1. Steps are only appended."""

SCHEMA_VERSION = len(MIGRATIONS)

DISTRIBUTED = {"document": "id", "chunk": "doc_id", "embedding": "doc_id"}
"""Table to its distribution column in Citus. A document and its chunks are on one node."""
REFERENCE = ("store", "root", "file", "posting", "term", "vector_cache", "next_vector", "judged_query", "judgement")
"""Tables that Citus copies to every node."""
_FOREIGN_KEYS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
JOIN pg_namespace n ON n.oid = connamespace WHERE contype = 'f' AND nspname = current_schema() ORDER BY 1 DESC, 2
"""

_LONGEST_IN_ROW = 1_900
_RECORD = "INSERT INTO store(schema_version, born, embedder, dimension, counter, chunker, words) "


def storage(dimension: int) -> str:
    """Return where Postgres stores vectors: in their row, which is fastest to scan, if a page has room for one."""
    return "plain" if dimension <= _LONGEST_IN_ROW else "external"


def make(db: psycopg.Connection, *, embedder: str, dimension: int, counter: str, chunker: str) -> None:
    """Make the tables of a new collection in the current schema, in the open transaction."""
    for step in MIGRATIONS:
        spelled = step.replace("TEXT[]", 'text[] COLLATE "C"').replace("TEXT", 'text COLLATE "C"')
        spelled = spelled.replace("VECTOR_STORAGE", storage(dimension)).replace("DIMENSION", str(dimension))
        db.execute(spelled.encode())
    recorded = (SCHEMA_VERSION, embedder, dimension, counter, chunker, Analyzer.name)
    db.execute(f"{_RECORD} VALUES(%s, gen_random_uuid()::text, %s, %s, %s, %s, %s)", recorded)


def distribute(execute: Execute, path: str) -> None:
    """Distribute the tables of an empty collection by document, in the open transaction. May be called twice.

    Raises StoreError `citus_missing`.
    """
    if not execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        message = f"The database of {path} has no Citus."
        raise StoreError("citus_missing", message, hint="psql -c 'CREATE EXTENSION citus'")
    if execute("SELECT 1 FROM pg_dist_partition WHERE logicalrel = 'document'::regclass"):
        return
    keys = execute(_FOREIGN_KEYS)  # Citus takes a foreign key only between tables that are distributed already
    for table, name, _ in keys:
        execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for table, column in DISTRIBUTED.items():
        together = "default" if table == "document" else "document"
        execute("SELECT create_distributed_table(%s, %s, colocate_with => %s)", (table, column, together))
    for table in REFERENCE:
        execute("SELECT create_reference_table(%s)", (table,))
    for table, name, definition in reversed(keys):
        execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")


_HEAD, _TAIL = 256, 64
"""Characters that a long term keeps at its ends, where searches look for parts of words."""
LONGEST_TERM = _HEAD + 64 + _TAIL
"""Characters of the longest term in an index; longer terms get a hash."""
_ENTRY = f"""
CASE WHEN length(word) <= {LONGEST_TERM} THEN word
  ELSE left(word, {_HEAD}) || encode(sha256(convert_to(word, 'UTF8')), 'hex') || right(word, {_TAIL}) END
"""


def index_entry(term: str) -> str:
    """Return a term as indexes have it: a long one with a hash, because Postgres indexes at most 2,704 bytes."""
    if len(term) <= LONGEST_TERM:
        return term
    return f"{term[:_HEAD]}{sha256(term.encode()).hexdigest()}{term[-_TAIL:]}"


_COUNTED = """
SELECT (documents, chunks, vectors, tombstones, tokens, windowed, without_text) = (
  (SELECT count(*) FROM document WHERE is_live),
  (SELECT count(*) FROM chunk WHERE is_live),
  (SELECT count(*) FROM embedding),
  (SELECT count(*) FROM document WHERE NOT is_live),
  (SELECT coalesce(sum(tokens), 0) FROM chunk WHERE is_live),
  (SELECT count(*) FROM embedding WHERE windows > 1),
  (SELECT count(*) FROM document d WHERE is_live AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.doc_id = d.id))
) FROM store
"""
_POSTED = """
SELECT p.term, u.number, coalesce(u.title, 0) AS title, coalesce(u.body, 1) AS body
FROM posting p CROSS JOIN unnest(p.numbers, p.in_title, p.in_body) AS u(number, title, body)
JOIN chunk c USING(number) WHERE c.is_live
"""
_WRONG_TERMS = f"""
SELECT count(*) FROM term FULL JOIN (SELECT term, count(*) AS df FROM ({_POSTED}) GROUP BY 1) counted USING(term)
WHERE term.df IS DISTINCT FROM counted.df
"""
COUNTED = f"""
SELECT {_ENTRY} AS term, number, count(*) FILTER (WHERE in_title)::integer AS title,
  count(*) FILTER (WHERE NOT in_title)::integer AS body
FROM chunk CROSS JOIN LATERAL (
  SELECT string_to_table(title_words, ' '), true UNION ALL SELECT string_to_table(body_words, ' '), false
) AS each(word, in_title) WHERE is_live AND word <> '' AND {{condition}} GROUP BY 1, 2
"""
_WRONG_POSTINGS = f"""
SELECT count(*) FROM ({_POSTED}) posted FULL JOIN ({COUNTED.format(condition="true")}) counted USING(term, number)
WHERE (posted.title, posted.body) IS DISTINCT FROM (counted.title, counted.body)
"""
COLUMNS = """
array_agg(number ORDER BY number),
nullif(array_agg(title ORDER BY number), array_fill(0, ARRAY[count(*)::integer])),
nullif(array_agg(body ORDER BY number), array_fill(1, ARRAY[count(*)::integer]))
"""
"""The columns of `posting` after its key."""
_TAKEN = """
SELECT t.term, t.first, number, coalesce(title, 0) AS title, coalesce(body, 1) AS body
FROM taken t CROSS JOIN unnest(t.numbers, t.in_title, t.in_body) AS u(number, title, body)
"""
_FORGET = f"""
WITH gone AS MATERIALIZED (
  SELECT c.number, {_ENTRY} AS term FROM document d JOIN chunk c ON c.doc_id = d.id
  CROSS JOIN string_to_table(c.title_words || c.body_words, ' ') AS w(word)
  WHERE NOT d.is_live AND d.id = coalesce(%s, d.id)),
held AS (
  SELECT DISTINCT g.term, (
    SELECT max(p.first) FROM posting p WHERE p.term = g.term AND p.first <= g.number) AS first FROM gone g),
taken AS (DELETE FROM posting p USING held h WHERE p.term = h.term AND p.first = h.first RETURNING p.*)
INSERT INTO posting SELECT term, first, {COLUMNS} FROM ({_TAKEN}) entry
WHERE number NOT IN (SELECT number FROM gone) GROUP BY term, first
"""
MERGE = f"""
WITH taken AS (
  DELETE FROM posting p USING (SELECT term FROM posting GROUP BY 1 HAVING count(*) > 1) AS many
  WHERE p.term = many.term RETURNING p.*)
INSERT INTO posting SELECT term, min(first), {COLUMNS} FROM ({_TAKEN}) entry GROUP BY term
"""


def forget(execute: Execute, doc_id: str | None = None) -> int:
    """Delete removed documents, or this one, with their postings. Return how many."""
    execute(_FORGET, (doc_id,))
    return len(execute("DELETE FROM document WHERE NOT is_live AND id = coalesce(%s, id) RETURNING 1", (doc_id,)))


_WRONG_TEXTS = """
SELECT DISTINCT d.path FROM chunk c JOIN document d ON d.id = c.doc_id
WHERE c.hash <> sha256(convert_to(c.text, 'UTF8')) ORDER BY 1
"""
_WRONG_IDS = """
SELECT DISTINCT d.path FROM chunk c JOIN document d ON d.id = c.doc_id
WHERE c.id <> encode(sha256(convert_to(c.doc_id || ':' || c.start, 'UTF8')), 'hex') ORDER BY 1
"""
_DOCUMENTS = """
SELECT d.digest, d.path, d.id, d.source, d.mtime, d.meta, d.title,
  (SELECT array_agg(ARRAY[start, stop, tokens] ORDER BY start) FROM chunk c WHERE c.doc_id = d.id), d.tags
FROM document d WHERE d.is_live ORDER BY d.path
"""
_TEXTS = "SELECT c.number, c.text, c.body_words FROM chunk c WHERE c.is_live AND c.number > %s ORDER BY 1 LIMIT 1024"
_VECTORS = "SELECT v.number, v.embedding FROM embedding v WHERE v.number > %s ORDER BY 1 LIMIT 1024"


def check(execute: Execute, code: StoreCheck, *, analyzer: Analyzer, dimension: int) -> Finding:
    """Run one check. Raises UsageError `not_offered` for those that a server makes itself."""
    last, wrong, what = 0, 0, ""
    paths: tuple[str, ...] = ()
    if code == "counts":
        wrong, what = int(not execute(_COUNTED)[0][0]), "wrong counts"
    elif code == "fulltext":
        wrong, what = int(execute(_WRONG_TERMS)[0][0]), "terms with a wrong number of chunks"
    elif code == "fulltext_rows":
        what = "chunks whose words are not those of their text"
        while rows := execute(_TEXTS, (last,)):
            last = rows[-1][0]
            for _, text, words in rows:
                wrong += words != f" {' '.join(tokenize(analyzer.tokenizer, analyzer.form(text)))} "
        wrong += int(execute(_WRONG_POSTINGS)[0][0])
    elif code == "vector_values":
        what = "invalid vectors"
        while rows := execute(_VECTORS, (last,)):
            last = rows[-1][0]
            wrong += len(find_flaws([vector for _, vector in rows], dimension=dimension))
    elif code in ("texts", "ids"):
        paths = tuple(path for (path,) in execute(_WRONG_TEXTS if code == "texts" else _WRONG_IDS))
        wrong, what = len(paths), "documents with a wrong hash of a text or id"
    elif code in ("documents", "digest"):
        total, differing = digest_sum(()), Counter[str]()
        for kept, path, *fields, spans, tags in execute(_DOCUMENTS):
            own = document_digest(DocumentState._make([*fields, spans or [], tags]))
            total = digest_sum((own,), before=total)
            differing[path] += own != kept
        paths = tuple(sorted(+differing))
        wrong, what = len(paths), "documents that differ from what was stored"
        if code == "digest" and not paths:
            wrong, what = int(not execute("SELECT 1 FROM store WHERE digest_sum = %s", (total,))), "wrong digests"
    else:
        raise not_offered_error(f"the check {code!r}")
    return Finding("error" if wrong else "ok", f"{wrong} {what}", READ_AGAIN if paths else "", paths)
