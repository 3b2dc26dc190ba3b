"""Read rows, documents and files from a database file that may be damaged anywhere.

Tables are read by rowid and without their indexes, because a damaged index hides rows. If a table is gone, its
indexes still have some of its columns, and other tables have some of its values. A text is returned as bytes, because
damaged bytes may not be UTF-8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import Any

import apsw

from recall_core.store.sqlite.blocks import BITS, IN_BLOCK
from recall_core.store.sqlite.schema import PAGE_SIZE, SCHEMA_VERSION, own_hash, reading_hash
from recall_core.text import chunk_id, document_id, embedded_hash, nfc
from recall_core.words.analyzer import Analyzer

Row = tuple[Any, ...]

_HIGHEST = 1 << 62  # of a rowid; no real store comes near it
_LEAF = b"\x0d"  # first byte of a table's leaf page, see https://www.sqlite.org/fileformat2.html

_NO_DAMAGE = (apsw.InterruptError, apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.IOError, apsw.CantOpenError)

_CHUNK = (
    *("id", "doc", "offset", "end_offset", "line_start", "line_end", "tokens", "heading", "title", "text"),
    *("text_hash", "hash", "place"),
)

_DOC = ("id", "path", "file", "mtime", "size", "hash", "title", "source", "meta", "digest", "deleted")
_FILE = ("path", "os_path", "size", "mtime_ns", "hash", "settings", "root", "ctime_ns", "inode")


class Salvage:
    """Reads a connection to a damaged file.

    copy: the same bytes in a file that no process writes, or None.
    damaged: tables that could not be read completely.
    is_older: an earlier version made the file, so some tables, columns and checksums are missing.
    """

    def __init__(self, db: apsw.Connection, copy: str | None = None) -> None:
        self._db = db
        self._copy = copy
        self.damaged: set[str] = set()
        self.is_older = self._read("PRAGMA user_version")[0] in [[(each,)] for each in range(1, SCHEMA_VERSION)]

    def has(self, table: str) -> bool:
        """Return True if the file has this table, as far as it can be read."""
        return bool(self._read(f"PRAGMA table_info({table})")[0])

    def rows(self, table: str, columns: Iterable[str], known: Collection[int] = ()) -> Iterator[Row]:
        """Yield (rowid, *columns) of every readable row; some may belong to another table.

        known: rowids that other tables refer to. They are looked up one by one if they do not appear.
        """
        select = self._select(table, columns)
        seen: set[int] = set()
        start: int | None = 1
        is_damaged = False
        while start is not None:
            last = start - 1
            try:
                for row in self._db.execute(f"{select} WHERE rowid >= ? ORDER BY rowid", (start,)):
                    last = row[0]
                    seen.add(last)
                    yield row
                break
            except _NO_DAMAGE:
                raise
            except apsw.Error:
                is_damaged = True
            start = self._next_readable(select, max(last, start))
        for rowid in sorted({*known} - seen) if seen or not is_damaged else ():
            found, is_read = self._read(f"{select} WHERE rowid = ?", (rowid,))
            is_damaged |= not is_read
            yield from found
        if is_damaged:
            self.damaged.add(table)

    def _next_readable(self, select: str, last: int) -> int | None:
        """Return the smallest rowid above `last` that the table is readable from, if one run of pages is damaged."""
        bad, good, step = last, 0, 1
        while not good or good - bad > 1:
            probe = (good + bad) // 2 if good else last + step
            if probe >= _HIGHEST:
                return None
            if self._read(f"{select} WHERE rowid >= ? ORDER BY rowid LIMIT 1", (probe,))[1]:
                good = probe
            else:
                bad, step = probe, 2 * step
        return good

    def rows_by_key(self, table: str, columns: Iterable[str], key: str) -> list[Row]:
        """Return every readable row of a table without rowids, read from both ends."""
        select = self._select(table, columns).replace("SELECT rowid, ", "SELECT ", 1).replace(" NOT INDEXED", "")
        found: dict[Row, None] = {}
        for order in (key, ", ".join(f"{each} DESC" for each in key.split(", "))):
            rows, is_read = self._read(f"{select} ORDER BY {order}")
            found |= dict.fromkeys(rows)
            if is_read:
                break
            self.damaged.add(table)
        return list(found)

    def index_rows(self, table: str, columns: str, index: str, where: str = "1") -> list[Row]:
        """Return columns of a table from one of its indexes, the rowid first."""
        first, *others = columns.split()
        named = ", ".join([first, *map(_column, others)])
        rows, _ = self._read(f"SELECT {named} FROM {table} INDEXED BY {index} WHERE {where}")
        return [row for row in rows if isinstance(row[0], int) and row[0] > 0]

    def index_texts(self, table: str, column: str, index: str, where: str = "1") -> dict[int, str]:
        """Return rowid to text, from an index of the table."""
        rows = self.index_rows(table, f"rowid {column}", index, where)
        return {rowid: text for rowid, raw in rows if (text := text_of(raw)) is not None}

    def chunks(self, known: Collection[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield rowid and columns of every chunk, including chunks on unreferenced pages."""
        for rowid, *values in chain(self.rows("chunk", _CHUNK, known), self._leaf_rows("chunk", _CHUNK)):
            yield rowid, dict(zip(_CHUNK, values, strict=True))

    def vectors(self, known: Collection[int] = ()) -> Iterator[Row]:
        """Yield (chunk rowid, vector, windows, checksum) of every vector in use.

        A chunk may appear more than once, because an unreferenced page may be old. The vector that matches its
        checksum is right.
        """
        if not self.has("vec_block"):  # an earlier version
            yield from self.rows("vec", ("embedding", "windows", "checksum"), known)
            return
        places: defaultdict[int, list[Row]] = defaultdict(list)
        columns = ("place", "windows", "checksum")
        for chunk, place, *rest in chain(
            self.rows("vec_place", columns, known), self._leaf_rows("vec_place", columns)
        ):
            if isinstance(place, int):
                places[place >> BITS].append((chunk, place & (IN_BLOCK - 1), *rest))
        contents = [self.rows("vec_block", ("embeddings",), places.keys())]
        if "vec_place" not in self.damaged:  # otherwise an old place could lead to an old vector
            contents.append(self._leaf_rows("vec_block", ("embeddings",)))
        for block, content in chain.from_iterable(contents):
            size = len(content) >> BITS if isinstance(content, bytes) else 0
            for chunk, slot, *rest in places[block]:
                yield (chunk, content[slot * size : (slot + 1) * size] if size else None, *rest)

    def _leaf_rows(self, table: str, columns: Iterable[str]) -> Iterator[Row]:
        """Yield (rowid, *columns) of every leaf of any table, if this table could not be read completely.

        A table whose root page is damaged still has its leaves. Each leaf is read as if it were the root, in a
        transaction of the copy that is rolled back. A leaf may belong to another table or be outdated, so trust a row
        only by its hash.
        """
        if table not in self.damaged or self._copy is None:
            return
        content = Path(self._copy)
        with content.open("rb") as raw:
            pages = range(2, content.stat().st_size // PAGE_SIZE + 1)
            leaves = [page for page in pages if raw.seek((page - 1) * PAGE_SIZE) and raw.read(1) == _LEAF]
        with closing(apsw.Connection(self._copy, flags=apsw.SQLITE_OPEN_READWRITE)) as db:
            db.pragma("writable_schema", True)
            leaf, version = Salvage(db), db.pragma("schema_version")
            for page in leaves:
                db.execute("BEGIN")
                db.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = ?", (page, table))
                db.pragma("schema_version", version + page)  # makes SQLite read the definition again
                yield from leaf.rows(table, columns)
                db.execute("ROLLBACK")

    def _read(self, sql: str, parameters: tuple[Any, ...] = ()) -> tuple[list[Row], bool]:
        """Return the rows before the first unreadable one, and True if these are all rows."""
        found: list[Row] = []
        try:
            found.extend(self._db.execute(sql, parameters))
        except apsw.SQLError:  # the table is missing
            return found, self.is_older
        except _NO_DAMAGE:
            raise
        except apsw.Error:
            return found, False
        return found, True

    def _select(self, table: str, columns: Iterable[str]) -> str:
        """Return a SELECT of the columns by rowid. Columns missing in an earlier version are null."""
        own = {row[1] for row in self._read(f"PRAGMA table_info({table})")[0]}
        named = ", ".join(_column(each) if each in own else "NULL" for each in columns)
        return f"SELECT rowid, {named} FROM {table} NOT INDEXED"


def _column(name: str) -> str:
    return f"""iif(typeof("{name}") = 'text', CAST("{name}" AS BLOB), "{name}")"""


def text_of(value: object) -> str | None:
    """Return the text of these bytes, or None."""
    try:
        return value.decode() if isinstance(value, bytes) else None
    except UnicodeDecodeError:
        return None


def whole(value: object) -> int | None:
    """Return a number if it is an int of at least 0, else None."""
    return value if isinstance(value, int) and value >= 0 else None


_ENCODINGS = ("utf-8", "binary")
"""Encodings of nearly all files with a parser other than the plain one."""


@dataclass
class OldFile:
    """A file that was read. None: unknown."""

    path: str
    os_path: str | None = None
    size: int | None = None
    mtime_ns: int | None = None
    hash: str | None = None
    settings: str = ""
    """Parser settings of the file; "" makes the next sync read it again, because no file has these settings."""
    root: int | None = None
    ctime_ns: int | None = None
    inode: int | None = None


@dataclass
class OldDocument:
    """A live document whose id matches its path and hash. None: unknown."""

    id: str
    path: str
    hash: str
    read_by: str
    marks: str
    file: int | None = None
    mtime: str | None = None
    size: int | None = None
    title: str | None = None
    source: str | None = None
    meta: str | None = None
    digest: str | None = None
    tags: tuple[str, ...] = ()
    titles: set[str] = field(default_factory=set)
    """Titles of its chunks, or their text."""
    is_cut: bool = False
    """True if a text is lost."""


class Remains:
    """Live documents and their files by rowid. lost: paths of lost documents."""

    def __init__(self, old: Salvage) -> None:
        self._old = old
        self.documents: dict[int, OldDocument] = {}
        self.files: dict[int, OldFile] = {}
        self._paths = old.index_texts("doc", "path", "doc_live_path", "deleted = 0")
        self._ids = old.index_texts("doc", "id", "sqlite_autoindex_doc_1")
        self._hashes: dict[str, str] = {}
        """Path to hash of every file. A document that is its whole file has the same hash."""
        parsers: set[str] = set()
        for _, *texts in old.rows("file", ("path", "hash", "settings")):
            path, digest, settings = map(text_of, texts)
            if path and digest:
                self._hashes[path] = digest
            parsers.add((settings or "").partition(" ")[0].partition(";")[0])
        self._likely = ["", *(f"{each};{encoding}" for each in sorted(parsers - {""}) for encoding in _ENCODINGS)]
        """Possible `read_by` of documents whose own record is lost."""
        self._readings: dict[int, tuple[str, str]] = {}
        columns = ("read_by", "marks", "hash")
        for rowid, *texts, kept in old.rows("doc_reading", columns) if old.has("doc_reading") else ():
            read_by, marks = map(text_of, texts)
            if read_by is not None and marks is not None and reading_hash(read_by, marks) == kept:
                self._readings[rowid] = read_by, marks
        self._read_documents()
        self._read_tags()
        self._read_files()
        self.lost = [path for rowid, path in self._paths.items() if rowid not in self.documents]
        for rowid, document in self.documents.items():
            if rowid not in self._readings and (document.read_by or "doc_reading" in old.damaged):
                self.read_again(document)  # its marks are lost

    def read_again(self, document: OldDocument) -> None:
        """Make the next sync read the file of a document."""
        if document.file in self.files:
            self.files[document.file].settings = OldFile.settings

    def _read_documents(self) -> None:
        for rowid, *values in self._old.rows("doc", _DOC, {*self._paths, *self._ids}):
            row = dict(zip(_DOC, values, strict=True))
            if rowid in self.documents:
                continue
            document = self._document(rowid, text_of(row["path"]), text_of(row["id"]), text_of(row["hash"]))
            is_live = (row["deleted"] == 0) + (row["file"] is not None) + (rowid in self._paths) > 1
            if document is not None and not is_live:
                self._paths.pop(rowid, None)
            elif document is not None:
                document.file, document.size = whole(row["file"]), whole(row["size"])
                for name in ("mtime", "title", "source", "meta", "digest"):
                    setattr(document, name, text_of(row[name]))
                self.documents[rowid] = document
        for rowid in self._paths.keys() - self.documents.keys():  # indexes have some columns of a lost row
            if document := self._document(rowid, None, None, None):
                files = {row[0]: row[1] for row in self._old.index_rows("doc", "rowid file", "doc_file")}
                document.file = whole(files.get(rowid))
                document.mtime = self._old.index_texts("doc", "mtime", "doc_live_mtime", "deleted = 0").get(rowid)
                document.source = self._old.index_texts("doc", "source", "doc_live_source", "deleted = 0").get(rowid)
                self.documents[rowid] = document

    def _document(self, rowid: int, path: str | None, own_id: str | None, digest: str | None) -> OldDocument | None:
        """Return the document whose id follows from a path, a hash and a reading known for this row."""
        reading = self._readings.get(rowid)
        paths, ids = (path, self._paths.get(rowid)), (own_id, self._ids.get(rowid))
        for named, identity in product(filter(None, paths), filter(None, ids)):
            for each in filter(None, (digest, self._hashes.get(named))):
                for read_by in [reading[0]] if reading else self._likely:
                    if document_id(named, each, read_by) == identity:
                        return OldDocument(identity, named, each, *(reading or (read_by, "")))
        return None

    def _read_tags(self) -> None:
        found: defaultdict[int, set[str]] = defaultdict(set)
        rows = self._old.rows_by_key("doc_tag", ("doc", "tag"), "doc, tag")
        rows += self._old.index_rows("doc_tag", "doc tag", "doc_tag_tag") if "doc_tag" in self._old.damaged else []
        for rowid, tag in rows:
            found[rowid].add(text_of(tag) or "")
        for rowid, document in self.documents.items():
            document.tags = tuple(sorted(found[rowid] - {""}))

    def _read_files(self) -> None:
        paths = self._old.index_texts("file", "path", "sqlite_autoindex_file_1")
        within: defaultdict[int | None, list[OldDocument]] = defaultdict(list)
        for document in self.documents.values():
            within[document.file].append(document)
        wanted = {rowid for rowid in within if rowid is not None}
        for rowid, *values in self._old.rows("file", _FILE, wanted | paths.keys()):
            row = dict(zip(_FILE, values, strict=True))
            if rowid not in self.files and (old := _file_of(row, paths.get(rowid), within[rowid])):
                self.files[rowid] = old
        for rowid in sorted(wanted - self.files.keys()):
            first = within[rowid][0].path
            whole_path = first if len(within[rowid]) == 1 else first.partition("#")[0]
            self.files[rowid] = OldFile(paths.get(rowid) or whole_path)
        by_path = {file.path: rowid for rowid, file in sorted(self.files.items(), reverse=True)}
        for document in self.documents.values():
            file = self.files.get(document.file) if document.file is not None else None
            if document.size is None and file is not None and file.path == document.path:
                document.size = file.size
            if document.file is None:
                document.file = by_path.get(document.path) or by_path.get(document.path.partition("#")[0])


def _file_of(row: Mapping[str, Any], listed: str | None, within: Sequence[OldDocument]) -> OldFile | None:
    """Return the file of a row. Prefer the path that its documents' paths start with."""
    paths = [*filter(None, (text_of(row["path"]), listed))]
    if not paths:
        return None
    fits = (each for each in paths if all(f"{document.path}#".startswith(f"{each}#") for document in within))
    path = next(fits, paths[0])
    os_path, digest, settings = (text_of(row[name]) for name in ("os_path", "hash", "settings"))
    os_path = os_path if os_path is not None and nfc(os_path) in ("", path) else path
    numbers = {name: whole(row[name]) for name in ("size", "mtime_ns", "root", "ctime_ns", "inode")}
    return OldFile(path, os_path, hash=digest, settings=settings or "", **numbers)


def chunk_of(row: Mapping[str, Any], document: OldDocument, analyzer: Analyzer) -> dict[str, Any] | None:
    """Return the columns of a document's chunk, or None if its text does not match its hash.

    Its offset is the one that matches its id. A text that was never verified stays unverified.
    """
    text, title = text_of(row["text"]), "" if row["title"] == b"" else document.title or ""
    if text is None:
        return None
    own, embedded = own_hash(text), embedded_hash(document.path, title, text, document.read_by)
    kept = row["hash"]
    is_verified = own == kept or embedded == row["text_hash"]
    start, end, own_id = whole(row["offset"]), (whole(row["end_offset"]) or 0) - len(text), text_of(row["id"])
    offsets = [each for each in (start, end) if each is not None and chunk_id(document.id, each) == own_id]
    if not offsets and start == end:
        offsets = [end]  # the id is damaged
    if not offsets or not (is_verified or kept is None):
        return None
    offset, form = offsets[0], analyzer.form(text)
    return {
        "id": chunk_id(document.id, offset),
        "offset": offset,
        "end_offset": offset + len(text),
        "line_start": whole(row["line_start"]) or 1,
        "line_end": whole(row["line_end"]) or 1,
        "tokens": whole(row["tokens"]) or 0,
        "heading": text_of(row["heading"]),
        "place": text_of(row["place"]),
        "title": analyzer.form(title),
        "text": text,
        "search_text": form if form != text else None,
        "text_hash": embedded,
        "hash": own if is_verified else None,
    }
