"""Rows as the store reads them: columns of documents, chunks and files, and the values made from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recall_core.deadline import check
from recall_core.marks import load
from recall_core.named import NamedTuple
from recall_core.rql.ast import Expr, Field, Like, OrderKey
from recall_core.store.digest import DocumentState, document_digest
from recall_core.store.sqlite.compile import Compiled, begins_with, compile_filter, order_sql
from recall_core.store.sqlite.schema import WORDS, own_hash, reading_hash
from recall_core.text import GIVEN_KEY
from recall_core.types import Chunk, Document, Fingerprint, NewChunk, Root, Row, Span, Table
from recall_core.words.analyzer import Analyzer
from recall_core.words.versions import analyzer_named

if TYPE_CHECKING:
    from recall_core.marks import Mark
    from recall_core.store.values import ListedDocument

Execute = Callable[..., list[tuple[Any, ...]]]
"""Executes one statement with its parameters and returns all rows: `SqliteStore.execute`."""

DOCUMENT = """
d.id, d.path, d.hash, d.mtime, d.size, d.title, d.source,
(SELECT json_group_array(tag) FROM (SELECT tag FROM doc_tag WHERE doc = d.rowid ORDER BY tag)), d.meta
"""
IS_TITLE = "c.title = '' AND d.title != ''"
"""Only a chunk that is its document's title has no title while the document has one."""
CHUNK = f"c.id, c.offset, c.end_offset, c.line_start, c.line_end, c.tokens, c.heading, c.text, {IS_TITLE}, c.place"
LIVE = "d.deleted = 0 AND c.deleted = 0"
IS_GIVEN = f"text_hash BETWEEN x'{GIVEN_KEY.hex()}' AND x'{GIVEN_KEY.hex()[:-2]}ff'"
"""True for the keys of given vectors, by the index of `text_hash`."""
FILE = """
f.path, f.size, f.mtime_ns, f.hash, f.settings, (SELECT count(*) FROM doc WHERE file = f.rowid), f.os_path,
f.ctime_ns, f.inode
"""

FETCH = f"""
SELECT c.rowid, {DOCUMENT}, {CHUNK}, c.hash FROM json_each(?) j
JOIN chunk c ON c.rowid = j.value JOIN doc d ON d.rowid = c.doc ORDER BY j.key
"""

CACHED = """
SELECT j.value, coalesce(
  (SELECT v.embedding FROM chunk c JOIN vec v ON v.chunk = c.rowid WHERE c.text_hash = unhex(j.value) LIMIT 1),
  (SELECT embedding FROM vec_cache WHERE text_hash = unhex(j.value))) FROM json_each(?) j
"""


def condition_of(where: Expr | None, rowids: Sequence[int] | None) -> tuple[str, tuple[Any, ...]]:
    """Return WHERE, with its parameters, for live chunks `c` of documents `d` that pass the filter and are among
    rowids."""
    condition = LIVE
    parameters: tuple[Any, ...] = ()
    if where is not None:
        compiled = compile_filter(where, table="chunk")
        condition += f" AND ({compiled.sql})"
        parameters += tuple(compiled.params)
    if rowids is not None:
        condition += " AND c.rowid IN (SELECT value FROM json_each(?))"
        parameters += (json.dumps(list(rowids)),)
    return condition, parameters


class Scan(NamedTuple):
    """Two statements over the live rows that pass a filter: their number, and one page of them in order."""

    total: Compiled
    page: Compiled
    """(doc rowid, chunk rowid or NULL), or the columns of a listing. Two more parameters follow: LIMIT, -1 for none,
    and OFFSET."""


def scan_of(where: Expr | None, *, table: Table, order: tuple[OrderKey, ...]) -> Scan:
    """Return the statements that list rows without a score."""
    compiled = compile_filter(where, table=table) if where is not None else Compiled("1")
    ordering = order_sql(order, table=table)
    source, columns, live = _SOURCES[table]
    rows = f"FROM {source} WHERE {live} AND ({compiled.sql})"
    return Scan(
        total=Compiled(f"SELECT count(*) {rows}", compiled.params),
        page=Compiled(
            f"SELECT {columns} {rows} ORDER BY {ordering.sql} LIMIT ? OFFSET ?", compiled.params + ordering.params
        ),
    )


_LISTED = """
SELECT d.path, d.id, d.title, d.mtime, d.source,
  (SELECT count(*) FROM chunk c WHERE c.doc = d.rowid AND c.deleted = 0),
  (SELECT coalesce(sum(c.tokens), 0) FROM chunk c WHERE c.doc = d.rowid AND c.deleted = 0)
"""


def listing_of(prefix: str, glob: str | None) -> Scan:
    """Return the statements that list live documents by path: those with the prefix that match the glob."""
    conditions = [Compiled("d.deleted = 0"), begins_with("d.path", prefix)]
    if glob is not None:
        conditions.append(compile_filter(Like(Field("doc", "path"), "GLOB", glob), table="doc"))
    params = tuple(value for each in conditions for value in each.params)
    rows = f"FROM doc d WHERE {' AND '.join(each.sql for each in conditions)}"
    return Scan(
        total=Compiled(f"SELECT count(*) {rows}", params),
        page=Compiled(f"{_LISTED} {rows} ORDER BY d.path LIMIT ? OFFSET ?", params),
    )


_SOURCES: dict[Table, tuple[str, str, str]] = {
    "doc": ("doc d", "d.rowid, NULL", "d.deleted = 0"),
    "chunk": ("doc d JOIN chunk c ON c.doc = d.rowid", "d.rowid, c.rowid", LIVE),
}


_NONE = type(None)
_TEXT: frozenset[tuple[type, ...]] = frozenset([(str,)])
_DOCUMENT_TYPES = frozenset((str, str, str, str, int, str, source, str, str) for source in (str, _NONE))
_CHUNK_TYPES = frozenset(
    (str, int, int, int, int, int, heading, str, int, place) for heading in (str, _NONE) for place in (str, _NONE)
)
_LISTED_TYPES = frozenset((str, str, str, str, source, int, int) for source in (str, _NONE))
_READING_TYPES = frozenset([(str, str, bytes)])
_FILE_TYPES = frozenset(
    (str, int, int, str, str, int, str, ctime, inode) for ctime in (int, _NONE) for inode in (int, _NONE)
)
_NEW_CHUNK_TYPES = frozenset(
    (int, int, int, heading, int, int, str, bytes, bytes, int, kept, int, place)
    for heading in (str, _NONE)
    for kept in (bytes, _NONE)
    for place in (str, _NONE)
)


def expect(row: Sequence[Any], types: frozenset[tuple[type, ...]]) -> None:
    """Raise TypeError if a column has a wrong type: one flipped bit in a file can turn a text into a blob."""
    if tuple(map(type, row)) not in types:
        raise TypeError("a column contains a value of the wrong type")


def text_of(value: Any) -> str:
    """Return a text column. Raises TypeError for any other type."""
    expect((value,), _TEXT)
    return str(value)


def document(row: Sequence[Any]) -> Document:
    """Build a document from the columns of DOCUMENT. Raises TypeError, ValueError."""
    expect(row, _DOCUMENT_TYPES)
    doc_id, path, digest, mtime, size, title, source, tags, meta = row
    return Document(doc_id, path, digest, mtime, size, title, source, tuple(json.loads(tags)), metadata(meta))


def check_listed(row: tuple[Any, ...]) -> ListedDocument:
    """Check a row of a listing. Raises TypeError."""
    expect(row, _LISTED_TYPES)
    return row


def metadata(stored: str) -> dict[str, Any]:
    """Parse the JSON in the doc table. Infinity and NaN, which no answer can contain, become null.

    Raises ValueError if it is not an object.
    """
    found = _METADATA.decode(stored)
    if not isinstance(found, dict):
        raise ValueError("metadata is not a JSON object")
    return found


_METADATA = json.JSONDecoder(parse_constant=lambda _: None)


def row_of(row: Sequence[Any]) -> Row:
    """Build a row from FETCH. Raises TypeError, and ValueError if the text does not match its hash."""
    check()
    doc = document(row[1:10])
    expect(row[10:20], _CHUNK_TYPES)
    chunk_id, *rest, is_title, place, kept = row[10:]
    check_text(rest[-1], kept, doc.path)
    return Row(row[0], doc, Chunk._make([chunk_id, doc.id, *rest, bool(is_title), place]))


def check_text(text: str, kept: bytes | None, path: str) -> None:
    """Raise ValueError if a text does not match its hash. A text that was never verified has no hash."""
    if kept is not None and own_hash(text) != kept:
        raise ValueError(f"a text in {path} differs from what was stored")


def stored_analyzer(execute: Execute) -> Analyzer:
    """Return the words of a store. Raises TypeError."""
    named = execute("SELECT value FROM meta WHERE key = ?", (WORDS,))
    return analyzer_named(text_of(named[0][0]) if named else "")


def file_of(row: Sequence[Any]) -> Fingerprint:
    """Build a fingerprint from the columns of FILE. Raises TypeError."""
    expect(row, _FILE_TYPES)
    return Fingerprint(*row)


def new_chunk(row: Sequence[Any], path: str) -> NewChunk:
    """Return a chunk with its vector, ready for another store. Raises ValueError, TypeError."""
    expect(row, _NEW_CHUNK_TYPES)
    line_start, line_end, text, text_hash, vector, windows, kept, is_title, place = row[4:]
    check_text(text, kept, path)
    return NewChunk(Span(*row[:4]), line_start, line_end, text, text_hash, vector, windows, bool(is_title), place)


def reading(row: Sequence[Any], path: str) -> tuple[str, tuple[Mark, ...]]:
    """Return how a document was read, and its marks, from its row of doc_reading or nulls.

    Raises TypeError, and ValueError if the row does not match its hash.
    """
    if row[0] is None:
        return "", ()

    expect(row, _READING_TYPES)
    read_by, marks, kept = row
    if reading_hash(read_by, marks) != kept:
        raise ValueError(f"the record of how {path} was read differs from what was stored")
    return read_by, load(marks)


def join_text(execute: Execute, doc_id: str, rows: Sequence[Row]) -> str:
    """Return a document's whole text, from its chunks by offset, which overlap and leave no gap.

    Raises ValueError if the document does not match its digest, because a part of it may be missing.
    """
    for rowid, kept, path in execute("SELECT rowid, digest, path FROM doc WHERE id = ?", (doc_id,)):
        if digest_of(execute, rowid) != kept:
            raise ValueError(f"a part or a label of {path} is missing or differs from what was stored")
    pieces: list[str] = []
    end = 0
    for row in rows:
        pieces.append(row.chunk.text[end - row.chunk.offset :])
        end = row.chunk.end
    return "".join(pieces)


def digest_of(execute: Execute, rowid: int) -> str:
    """Return the hash of one document in its current state."""
    (fields,) = execute("SELECT id, source, mtime, meta, title FROM doc WHERE rowid = ?", (rowid,))
    spans = execute(
        "SELECT offset, end_offset, tokens FROM chunk WHERE doc = ? AND deleted = 0 ORDER BY offset", (rowid,)
    )
    tags = execute("SELECT tag FROM doc_tag WHERE doc = ? ORDER BY tag", (rowid,))
    return document_digest(DocumentState._make([*fields, spans, [tag for (tag,) in tags]]))


def root_of(spec: str) -> Root:
    """Parse the JSON of the root table."""
    fields = json.loads(spec)
    for name in ("globs", "ignores", "tags"):
        fields[name] = tuple(fields[name])
    fields["meta"] = tuple((key, value) for key, value in fields["meta"])
    return Root(**fields)


def is_prefix(target: str) -> bool:
    """Return True for 6 to 64 hexadecimal digits, which can be the prefix of an id."""
    return 6 <= len(target) <= 64 and all(character in "0123456789abcdef" for character in target)
