"""Checks of a database file, one function each."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from hashlib import sha256
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import apsw

from recall_core.errors import StoreCorrupt, StoreError
from recall_core.marks import Outline, Places, load
from recall_core.store.digest import digest_sum
from recall_core.store.sqlite import census, reranked, sums
from recall_core.store.sqlite.catalog import SqliteCatalog
from recall_core.store.sqlite.connect import MEMORY, load_vector_functions, translated
from recall_core.store.sqlite.records import digest_of, metadata, text_of
from recall_core.store.sqlite.schema import MIGRATIONS, reading_hash, vector_checksum
from recall_core.store.values import READ_AGAIN, Finding, StoreCheck, find_flaws
from recall_core.text import chunk_id, counter, document_id
from recall_core.words.analyzer import Analyzer

_BLOCK_ROWS = 4_096
_WASTE_SHARE = 0.25  # of documents or of pages: above it, compacting is worth the rewrite
_WASTE_PAGES = 128  # below 1 MiB waste does not matter

_LIVE = "SELECT rowid FROM chunk WHERE deleted = 0"
_GHOSTS = f"SELECT id FROM chunk_fts_docsize WHERE id NOT IN ({_LIVE})"
_UNINDEXED = "SELECT rowid FROM chunk WHERE deleted = 0 AND rowid NOT IN (SELECT id FROM chunk_fts_docsize)"
ORPHANS = f"SELECT chunk FROM vec WHERE chunk NOT IN ({_LIVE})"
_SPLIT = """
SELECT d.path FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE c.deleted != d.deleted
UNION SELECT path FROM doc WHERE deleted = 0 AND file IS NULL
UNION SELECT path FROM doc WHERE deleted = 0 GROUP BY path HAVING count(*) > 1
"""
_SLICES = """
SELECT d.path, c.offset, c.end_offset, c.text, c.tokens, c.line_start, c.line_end,
  iif(f.os_path <> '', c.heading, NULL), c.place
FROM doc d JOIN chunk c ON c.doc = d.rowid LEFT JOIN file f ON f.rowid = d.file
WHERE d.deleted = 0 AND c.deleted = 0 ORDER BY d.rowid, c.offset
"""
_TEXTS = """
SELECT d.path, CAST(c.text AS BLOB), c.hash, CAST(c.title AS BLOB), CAST(d.title AS BLOB), c.offset,
  CAST(d.meta AS BLOB)
FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE d.deleted = 0 AND c.deleted = 0 ORDER BY d.rowid, c.offset
"""
_MARKS = """
SELECT r.marks FROM doc d JOIN doc_reading r ON r.doc = d.rowid WHERE d.path = ? AND d.deleted = 0
"""
_TITLES = """
SELECT d.path, c.offset, c.end_offset, CAST(c.title AS BLOB), CAST(d.title AS BLOB)
FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE d.deleted = 0 AND c.deleted = 0 ORDER BY d.rowid, c.offset
"""
_FORMS = 1_000  # chunks whose form is made again
_FORMS_OF = """
SELECT d.path, c.text, coalesce(c.search_text, c.text) FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.rowid % ? = 0 ORDER BY d.path, c.offset
"""
_COPIES = """
SELECT path, original FROM (
  SELECT path, first_value(path) OVER (PARTITION BY hash ORDER BY path) AS original
  FROM doc WHERE deleted = 0 AND size > 0
) WHERE path != original ORDER BY path
"""
_DOCUMENT_IDS = """
SELECT d.path, d.id, d.hash, coalesce(r.read_by, '') FROM doc d LEFT JOIN doc_reading r ON r.doc = d.rowid
WHERE d.deleted = 0 ORDER BY d.path
"""
_READINGS = """
SELECT d.path, CAST(r.read_by AS BLOB), CAST(r.marks AS BLOB), r.hash
FROM doc_reading r JOIN doc d ON d.rowid = r.doc WHERE d.deleted = 0
"""
_CHUNK_IDS = """
SELECT d.path, c.id, d.id, c.offset FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE c.deleted = 0
"""


def integrity(store: SqliteCatalog) -> Finding:
    """Run SQLite's own check of every page, index and virtual table."""
    rows = [str(row[0]) for row in store.execute("PRAGMA integrity_check")]
    if rows == ["ok"]:
        return Finding("ok", f"{_number(store, 'PRAGMA page_count')} pages")
    return Finding("error", "; ".join(rows[:5]))


def foreign_keys(store: SqliteCatalog) -> Finding:
    """Count rows that refer to missing rows."""
    return _none(len(store.execute("PRAGMA foreign_key_check")), "rows refer to a missing row")


def schema(store: SqliteCatalog) -> Finding:
    """Check that the schema is the one this version writes."""
    version = _number(store, "PRAGMA user_version")
    return Finding("ok" if version == len(MIGRATIONS) else "error", f"schema version {version}")


def fulltext(store: SqliteCatalog) -> Finding:
    """Compare the full-text index with the text, word by word.

    Only rank 1 makes FTS5 read the content; the plain check and count(*) do not detect ghost rows.
    """
    if not store.writable:
        return Finding("ok", "not checked: the store is read-only")
    try:
        with store.without_writers():
            store.execute("INSERT INTO chunk_fts(chunk_fts, rank) VALUES('integrity-check', 1)")
    except StoreCorrupt:
        return Finding("error", "the index does not match the text")
    return Finding("ok", "the index matches the text")


def fulltext_rows(store: SqliteCatalog) -> Finding:
    """Compare indexed rows and live chunks by id, both ways."""
    ghosts, missing = len(store.execute(_GHOSTS)), len(store.execute(_UNINDEXED))
    if ghosts or missing:
        return Finding("error", f"{ghosts} indexed rows without a live chunk, {missing} live chunks not indexed")
    return Finding("ok", f"{_number(store, f'SELECT count(*) FROM ({_LIVE})')} rows")


def orphan_vectors(store: SqliteCatalog) -> Finding:
    """Count vectors whose chunk is gone."""
    return _none(len(store.execute(ORPHANS)), "vectors have no live chunk")


def vector_values(store: SqliteCatalog) -> Finding:
    """Check that every vector is as stored, of the store's dimension, finite and of length 1."""
    bad = len(bad_vectors(store)) + len(bad_kept(store, "vec_cache")) + len(bad_kept(store, "vec_next"))
    bad += len(reranked.bad_rows(store.execute))
    return _none(bad, "vectors are damaged, not finite, or not of unit length")


def bad_vectors(store: SqliteCatalog) -> list[int]:
    """Return the chunk rowids of invalid vectors."""
    dimension = store.info().dimension
    bad: list[int] = []
    for rows in blocks(store, "SELECT chunk, coalesce(embedding, x''), windows, checksum FROM vec ORDER BY chunk"):
        wrong = find_flaws([row[1] for row in rows], dimension=dimension)
        bad += [row[0] for i, row in enumerate(rows) if i in wrong or not row[1] or not _is_as_stored(*row[1:])]
    return bad


def bad_kept(store: SqliteCatalog, table: str) -> list[bytes]:
    """Return text_hash of the cached or pending vectors that are not as stored."""
    found: list[bytes] = []
    for rows in blocks(store, f"SELECT text_hash, embedding, windows, checksum FROM {table}"):
        found += [row[0] for row in rows if not _is_as_stored(*row[1:])]
    return found


def _is_as_stored(vector: object, windows: object, checksum: int | None) -> bool:
    if not isinstance(vector, bytes) or not isinstance(windows, int) or windows < 1:
        return False
    return checksum is None or vector_checksum(vector, windows) == checksum


def texts(store: SqliteCatalog) -> Finding:
    """Check every text against its hash, every chunk title against its document's title and defined names, and every
    document's metadata."""
    wrong: dict[str, None] = {}
    unverified, count, analyzer = 0, 0, store.analyzer
    for rows in blocks(store, _TEXTS):
        for path, text, kept, title, own_title, offset, meta in rows:
            count += 1
            unverified += kept is None
            is_titled = _is_titled(title, own_title, analyzer) or (not title and _is_title(text, offset, own_title))
            if not (is_titled and (kept is None or sha256(text).digest() == kept) and is_metadata(meta)):
                wrong[path] = None
    for rows in blocks(store, _READINGS):
        wrong |= {path: None for path, read_by, marks, kept in rows if not _is_reading(read_by, marks, kept)}
    wrong |= dict.fromkeys(_find_misnamed(store))
    if wrong:
        return _name_first([(path,) for path in wrong], "documents differ from what was stored")
    if unverified:
        return Finding("ok", f"{unverified} of {count} texts were stored by an earlier version, without a hash")
    return Finding("ok", f"{count} texts are as stored")


def _is_reading(read_by: bytes, marks: bytes, kept: bytes) -> bool:
    try:
        return reading_hash(read_by.decode(), marks.decode()) == kept
    except UnicodeDecodeError:
        return False


def _find_misnamed(store: SqliteCatalog) -> Iterator[str]:
    """Yield the documents with a chunk whose title has other names than the chunk defines."""
    if _number(store, "PRAGMA user_version") < len(MIGRATIONS):
        return  # an older schema has no names in titles
    analyzer = store.analyzer
    for path, rows in groupby(chain.from_iterable(blocks(store, _TITLES)), itemgetter(0)):
        _, starts, ends, titles, own = zip(*rows, strict=True)
        with suppress(StoreCorrupt, TypeError, ValueError):  # another check reports an invalid title
            marks = [mark for row in store.execute(_MARKS, (path,)) for mark in load(text_of(row[0]))]
            named = analyzer.titles(own[0].decode(), marks, [*zip(starts, ends, strict=True)])
            if any(title not in (b"", name.encode()) for title, name in zip(titles, named, strict=True)):
                yield path


def _is_titled(title: bytes, own: bytes, analyzer: Analyzer) -> bool:
    """Return True if a chunk's title starts with its document's title; names may follow."""
    try:
        return f"{title.decode()}\n".startswith(f"{analyzer.form(own.decode())}\n")
    except UnicodeDecodeError:
        return False


def _is_title(text: bytes, offset: int, own: bytes) -> bool:
    """Return True if a chunk's text is a slice of its document's title, so it needs no title of its own."""
    try:
        return own.decode().startswith(text.decode(), offset)
    except UnicodeDecodeError:
        return False


def is_metadata(stored: bytes) -> bool:
    """Return True if these bytes are a JSON object."""
    try:
        return isinstance(metadata(stored.decode()), dict)
    except ValueError:
        return False


def liveness(store: SqliteCatalog) -> Finding:
    """Find documents that are live in one table and removed in another, or twice on one path."""
    return _name_first(store.execute(_SPLIT), "documents are live and removed at once, have no file, or share a path")


def ids(store: SqliteCatalog) -> Finding:
    """Compute every id again from its content."""
    wrong: list[tuple[Any, ...]] = []
    for rows in blocks(store, _DOCUMENT_IDS):
        wrong += [row for row in rows if document_id(row[0], row[2], row[3]) != row[1]]
    for rows in blocks(store, _CHUNK_IDS):
        wrong += [row for row in rows if chunk_id(row[2], row[3]) != row[1]]
    return _name_first(wrong, "ids do not match their content")


def slices(store: SqliteCatalog) -> Finding:
    """Check that the chunks of a document cover it without gaps, agree where they overlap, and have their place.

    The place is their lines and, for a file that was read, the heading above them and their place in the file, from
    the document's marks. Without marks, the heading must appear in the text.
    """
    rows = chain.from_iterable(blocks(store, _SLICES))
    wrong = [
        (path,)
        for path, chunks in groupby(rows, itemgetter(0))
        if not _is_cut(chunks, [text_of(row[0]) for row in store.execute(_MARKS, (path,))])
    ]
    return _name_first(wrong, "documents have gaps, or chunks that disagree or are misplaced")


def _is_cut(chunks: Iterable[tuple[Any, ...]], marks: list[str]) -> bool:
    """Return True if these rows, by offset, are the chunks of one text, in their place. marks: stored marks, or
    empty."""
    joined, end, line, begin = "", 0, 1, 0
    spans: list[_ClaimedSpan] = []
    for _, offset, row_end, text, _, line_start, line_end, heading, place in chunks:
        shared = end - offset
        line += joined.count("\n", begin, offset)
        if shared < 0 or row_end - offset != len(text) or not text.startswith(joined[offset:]):
            return False
        if (line_start, line_end) != (line, line + text.count("\n", 0, -1)):
            return False
        joined += text[shared:]
        end, begin = row_end, offset
        spans.append(_ClaimedSpan(offset, row_end, offset + len(text) - len(text.lstrip()), heading, place))
    return (
        _are_marked(spans, marks[0], len(joined)) if marks else _are_inside([each.heading for each in spans], joined)
    )


class _ClaimedSpan(NamedTuple):
    """The span, heading and place in a chunk's row. visible: offset of its first visible character."""

    offset: int
    end: int
    visible: int
    heading: str | None
    place: str | None


def _are_marked(spans: Iterable[_ClaimedSpan], stored: str, size: int) -> bool:
    """Return True if the chunks of a text of this size have the headings and places that its marks give them."""
    try:
        marks = load(stored)
    except ValueError:
        return False
    outline, places = Outline(marks, size), Places(marks)
    return all(
        each.heading in (None, outline.heading_at(min(each.visible, each.end - 1)))
        and (not places.kind or each.place == places.at(each.offset, each.end))
        for each in spans
    )


def _are_inside(headings: Iterable[str | None], text: str) -> bool:
    """Return True if a text contains these headings in order."""
    at = 0
    for heading, _ in groupby(headings):
        at = text.find(heading or "", at)
        if at < 0:
            return False
    return True


def words(store: SqliteCatalog) -> Finding:
    """Compare the indexed forms of about 1,000 chunks, evenly spaced, with those that the store's words make now.

    Forms with the same terms are equal. Return a warning if the store has the words of an earlier version.
    """
    wrong: dict[str, None] = {}
    count, analyzer = 0, store.analyzer
    step = max(1, _number(store, f"SELECT count(*) FROM ({_LIVE})") // _FORMS)
    for path, text, kept in store.execute(_FORMS_OF, (step,)):
        form = analyzer.form(text)
        count += 1
        if form != kept and analyzer.stem([form]) != analyzer.stem([kept]):
            wrong[path] = None
    if wrong:
        return _name_first([(path,) for path in wrong], "documents are indexed with other words than the store's")
    if analyzer.version != Analyzer.version:
        return Finding("warning", "the words of an earlier version")
    return Finding("ok", f"{analyzer.name}, {count} texts checked")


def tokens(store: SqliteCatalog) -> Finding:
    """Count the tokens of every chunk again. Raises UsageError `counter_unavailable`."""
    own = counter(store.info().counter)
    wrong: list[tuple[Any, ...]] = []
    for rows in blocks(store, _SLICES):
        wrong += [row for row in rows if own.count(row[3]) != row[4]]
    return _name_first(wrong, f"chunks have a wrong number of {own.name} tokens")


def digest(store: SqliteCatalog) -> Finding:
    """Compute the digest of every live document and their sum again."""
    rows = store.execute("SELECT rowid, path, digest FROM doc WHERE deleted = 0 ORDER BY path")
    found = {rowid: digest_of(store.execute, rowid) for rowid, _, _ in rows}
    total = digest_sum(found.values())
    kept = str(store.execute("SELECT value FROM meta WHERE key = 'digest_sum'")[0][0])
    if total != kept and (wrong := [(path,) for rowid, path, own in rows if found[rowid] != own]):
        named = _name_first(wrong, "documents have a title, label or chunk that differs from what was stored")
        return named._replace(fix=READ_AGAIN)
    if any(found[rowid] != own for rowid, _, own in rows):
        return Finding("error", "the digests of documents do not add up to the stored sum")
    same = total == kept
    return Finding("ok" if same else "error", "recomputed" if same else "the stored digest is wrong")


def counts(store: SqliteCatalog) -> Finding:
    """Compute the stored counts and the sums of the small tables again."""
    meta = {key: text_of(value) for key, value in store.execute("SELECT key, value FROM meta")}
    wrong = census.find_wrong(store.execute, meta)
    wrong += [f"rows of {table}" for table in sums.wrong(store.execute, meta)]
    return Finding("error" if wrong else "ok", f"wrong: {', '.join(wrong)}" if wrong else "recounted")


def purge_pending(store: SqliteCatalog) -> Finding:
    """Check that no purge is unfinished."""
    rows = store.execute("SELECT value FROM meta WHERE key = 'purge'")
    if not rows:
        return Finding("ok", "none")
    return Finding("error", f"the file may still contain text of {len(json.loads(rows[0][0]))} documents")


def space(store: SqliteCatalog) -> Finding:
    """Return the share of tombstones and free pages."""
    gone = _number(store, census.COUNTS["tombstones"])
    live = _number(store, census.COUNTS["documents"])
    pages, free = _number(store, "PRAGMA page_count"), _number(store, "PRAGMA freelist_count")
    waste = gone > _WASTE_SHARE * (gone + live) or free > max(_WASTE_PAGES, _WASTE_SHARE * pages)
    evidence = f"{gone} of {gone + live} documents are tombstones, {free} of {pages} pages are free"
    return Finding("warning" if waste else "ok", evidence)


def duplicates(store: SqliteCatalog) -> Finding:
    """Count live documents with the same content as another. The first by path of each content is the original.

    Never a warning: a copy may be intended, and a removed copy comes back with the next sync. Empty documents, which
    no answer contains, are not counted.
    """
    copies = store.execute(_COPIES)
    first = f"; first: {copies[0][0]} repeats {copies[0][1]}" if copies else ""
    return Finding("ok", f"{len(copies)} documents repeat the content of another{first}")


def environment(_: SqliteCatalog) -> Finding:
    """Return the versions in use, and a warning if sqlite-vec, which searches many vectors, cannot be loaded."""
    versions = (
        f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}, "
        f"{platform.system()} {platform.machine()}"
    )
    try:
        with closing(apsw.Connection(MEMORY)) as db:
            load_vector_functions(db)
            loaded = str(db.execute("SELECT vec_version()").fetchall()[0][0])
    except (apsw.Error, StoreError) as error:
        return Finding("warning", f"{versions}; sqlite-vec cannot be loaded: {error}")
    return Finding("ok", f"{versions}, sqlite-vec {loaded.removeprefix('v')}")


def _number(store: SqliteCatalog, sql: str) -> int:
    return int(store.execute(sql)[0][0])


def _none(wrong: int, of: str) -> Finding:
    return Finding("error" if wrong else "ok", f"{wrong} {of}")


def _name_first(wrong: list[tuple[Any, ...]], of: str) -> Finding:
    """Return the count and the path of the first."""
    return Finding("error", f"{len(wrong)} {of}; first: {wrong[0][0]}") if wrong else Finding("ok", f"0 {of}")


def blocks(store: SqliteCatalog, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a query in lists of bounded length, so that a large store fits into memory."""
    with translated(store.path):
        cursor = store.db.execute(sql)
        while rows := list(islice(cursor, _BLOCK_ROWS)):
            yield rows


CHECKS: dict[StoreCheck, Callable[[SqliteCatalog], Finding]] = {
    "integrity": integrity,
    "foreign_keys": foreign_keys,
    "schema": schema,
    "fulltext": fulltext,
    "fulltext_rows": fulltext_rows,
    "orphan_vectors": orphan_vectors,
    "vector_values": vector_values,
    "texts": texts,
    "documents": liveness,
    "ids": ids,
    "slices": slices,
    "words": words,
    "tokens": tokens,
    "digest": digest,
    "counts": counts,
    "purge_pending": purge_pending,
    "space": space,
    "duplicates": duplicates,
    "environment": environment,
}
