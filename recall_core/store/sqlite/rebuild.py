"""Repair a damaged store: rebuild its indexes in place, or rebuild the store from its readable data.

A text goes into the new store if it matches its hash. Labels that do not match their digest are tried with the values
of other tables. If none match, they are kept and the document gets a digest that no document has. So does a document
with a lost text. Then doctor keeps reporting it, and its text is not shown as complete. Tombstones are dropped.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from hashlib import sha256
from itertools import groupby, islice, product
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import apsw

from recall_core import files
from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import StoreCorrupt, StoreError, StoreLocked
from recall_core.files import part_of
from recall_core.marks import load
from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest
from recall_core.store.sqlite import blocks, census, records, reranked, schema, sums
from recall_core.store.sqlite.catalog import SqliteCatalog
from recall_core.store.sqlite.check import CHECKS, is_metadata
from recall_core.store.sqlite.connect import MEMORY, damage_error, discard, making_sense, reaching, translated
from recall_core.store.sqlite.copying import MENDING_COPIES, STEP_PAGES, copy_aside, expect_room
from recall_core.store.sqlite.salvage import OldDocument, OldFile, Remains, Row, Salvage, chunk_of, text_of, whole
from recall_core.store.sqlite.schema import without_names
from recall_core.store.values import Lost, MadeWith, StoreCheck, find_flaws
from recall_core.text import embedded_hash, utc
from recall_core.words.versions import analyzer_named

New = TypeVar("New", bound=SqliteCatalog)
Making = Callable[[], MadeWith | None]

_INDEXED = ("root", "file", "doc", "doc_tag", "chunk", "vec_place")
_OF_INDEXES: tuple[StoreCheck, ...] = ("integrity", "fulltext_rows", "counts")
_SOUND: tuple[StoreCheck, ...] = (
    *("integrity", "foreign_keys", "fulltext", "fulltext_rows", "orphan_vectors", "vector_values"),
    *("texts", "documents", "ids", "counts"),
)
"""Checks that a new store passes, whatever the old one has lost."""

_HEAD = b"SQLite format 3\0" + schema.PAGE_SIZE.to_bytes(2, "big") + bytes((2, 2, 0, 64, 32, 32))
"""Start of every store: name of the format, page size, WAL mode, and three constants."""

_TRIES = 5
_SAMPLE = 100  # vectors to sample; some may be damaged
_NEXT = ("next_embedder", "next_dimension", "next_command")
_PLACES = "SELECT rowid, offset, end_offset, tokens, line_start, line_end, text FROM chunk WHERE doc = ? ORDER BY 2"
_SPANS = "SELECT doc, rowid, offset, end_offset, text, title FROM chunk ORDER BY doc, offset"


def rebuild_indexes(store: SqliteCatalog) -> bool:
    """Rebuild every index, the full text and the counts in place. Return True if the store is sound afterwards.

    If a table has lost rows, change nothing, because its indexes tell which rows were lost.
    """
    try:
        with store.transaction(), making_sense(store.path):
            if _has_lost_rows(store):
                return False
            store.execute("REINDEX")
            store.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
            census.advance(store.execute)
            if any(CHECKS[code](store).severity == "error" for code in _OF_INDEXES):
                raise damage_error(store.path, "more than its indexes")
    except StoreError as error:
        if not isinstance(error, StoreCorrupt) and error.code != "store_failed":  # two rows for one index entry
            raise
        return False
    return True


def _has_lost_rows(store: SqliteCatalog) -> bool:
    """Return True if a table has fewer rows than one of its indexes. Raises StoreCorrupt if it is unreadable."""
    for table in _INDEXED:
        for _, index, _, origin, _ in store.execute(f"PRAGMA index_list({table})"):
            if origin == "pk":
                continue
            definition = str(store.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (index,))[0][0])
            where = definition.partition(" WHERE ")[2] or "1"
            held = store.execute(f"SELECT count(*) FROM {table} NOT INDEXED WHERE {where}")
            with suppress(StoreCorrupt):  # the index itself is damaged
                if store.execute(f"SELECT count(*) FROM {table} INDEXED BY {index} WHERE {where}") > held:
                    return True
    return False


def rebuild(
    store: SqliteCatalog, *, copy: str | None, made_with: Making, create: Callable[..., SqliteCatalog]
) -> tuple[Lost, ...]:
    """Replace a store with a new one built from its readable data, in one transaction. Return the losses.

    No other process writes between the first row read and the last page written.

    copy, made_with: see `Maintenance.rebuild`.
    create: creates an empty store.
    """
    place = Path(os.path.realpath(store.path))
    for _ in range(_TRIES):
        part = MEMORY if store.path == MEMORY else str(part_of(place))
        try:
            with store.without_writers(), translated(store.path):
                new, lost = _build_from(Salvage(store.db, copy), store.path, part, made_with, create)
            seen = store.changes()
            with closing(new):
                new.fold()
                if _is_written_over(store, new.db, seen):
                    return lost
        finally:
            if part != MEMORY:
                discard(part)
    raise StoreLocked(
        "store_locked", f"{store.path} is being written continuously.", hint="wait for it and try again"
    )


def _is_written_over(store: SqliteCatalog, source: apsw.Connection, seen: int) -> bool:
    """Write the content of another database over a store's. Return False if another process wrote meanwhile."""
    is_file = store.path != MEMORY
    with translated(store.path), ExitStack() as opened:
        target = store.db
        if is_file:
            target = opened.enter_context(closing(apsw.Connection(store.path, flags=apsw.SQLITE_OPEN_READWRITE)))
            target.set_busy_timeout(BUSY_TIMEOUT_MS)
        with target.backup("main", source, "main") as work:
            work.step(0)  # no other process writes from here on
            if is_file and store.changes() != seen:
                return False
            while not work.done:
                work.step(STEP_PAGES)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def recover(
    where: str, target: str, *, made_with: Making, create: Callable[..., New]
) -> tuple[New, tuple[Lost, ...]]:
    """Build a new store at target from the readable data of the file at where. Return it with the losses.

    The file is copied byte for byte, and only the copy is opened. Raises StoreError `no_room` before that.
    """
    expect_room(where, Path(target).absolute().parent, copies=MENDING_COPIES, doing="Recovering")
    with reaching(Path(target)), files.scratch(Path(target).absolute()) as folder:
        copy = str(folder / "old.db")
        copy_aside(where, copy)
        with suppress(apsw.Error, UnicodeDecodeError):
            _redefine(copy)
        with translated(where), closing(apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READWRITE)) as db:
            db.pragma("writable_schema", True)  # a damaged definition must not hide the others
            if not {row[0] for row in db.execute("SELECT name FROM sqlite_schema")} & {"doc", "chunk"}:
                raise damage_error(where, "it has no document table")
            return _build_from(Salvage(db, copy), where, target, made_with, create)


def _redefine(copy: str) -> None:
    """Write the file header, and the definitions of tables and indexes, as in every store."""
    with Path(copy).open("r+b") as file:
        file.write(_HEAD)
        file.seek(56)
        file.write(b"\0\0\0\1")  # UTF-8
    with closing(apsw.Connection(copy)) as db, closing(apsw.Connection(MEMORY)) as model:
        db.pragma("writable_schema", True)
        schema.migrate(model, version=0, steps=schema.MIGRATIONS[: max(0, db.pragma("user_version")) or None])
        rows = model.execute("SELECT name, type, tbl_name, sql FROM sqlite_schema")
        made = {name: (name, kind, table, sql) for name, kind, table, sql in rows}
        found = db.execute("SELECT rowid, CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema").fetchall()
        missing = made.keys() - {text_of(name) for _, name, _ in found}
        for rowid, raw, sql in found:
            name = text_of(raw)
            if name not in made:  # its name may be damaged
                name = next((each for each in missing if sql and made[each][3] == text_of(sql)), None)
            if name is not None:
                columns = "name = ?, type = ?, tbl_name = ?, sql = ?"
                db.execute(f"UPDATE sqlite_schema SET {columns} WHERE rowid = ?", (*made[name], rowid))


def _build_from(
    old: Salvage, where: str, target: str, made_with: Making, create: Callable[..., New]
) -> tuple[New, tuple[Lost, ...]]:
    """Build a new store at target from the readable data of the old one. Return it with the losses.

    made_with: called if the old store cannot say it. Raises StoreCorrupt if neither can.
    """
    pairs = [(text_of(key), text_of(value)) for key, value in old.rows_by_key("meta", ("key", "value"), "key")]
    meta = {key: value for key, value in pairs if key and value}
    values = [meta.get(name, "") for name in MadeWith._fields]
    is_known = all(values) and values[1].isdigit()
    own = MadeWith(values[0], int(values[1]), values[2], values[3]) if is_known else None
    lengths = {len(row[1]) for row in islice(old.vectors(), _SAMPLE) if isinstance(row[1], bytes)}

    def fits(made: MadeWith | None) -> bool:
        return made is not None and (not lengths or 4 * made.dimension in lengths)

    if not fits(own) and fits(other := made_with()):
        own = other
    if own is None:
        raise StoreCorrupt(
            "store_corrupt", "Neither the store nor its settings name its embedder, counter and chunker."
        )
    new = create(target, **own._asdict())
    try:
        with new.writer() as writer:
            writer.use_language(analyzer_named(meta.get(schema.WORDS, "")).language)
        with new.transaction():
            lost = _Rebuild(old, new, meta, Path(os.path.realpath(where)).parent).run()
        for code in _SOUND:
            if (finding := CHECKS[code](new)).severity == "error":
                raise damage_error(
                    where, f"its readable data does not make a sound store: {finding.evidence} ({code})"
                )
    except BaseException:
        new.close()
        raise
    return new, lost


class _Rebuild:
    """One rebuild: the data read, the data written, and the losses."""

    def __init__(self, old: Salvage, new: SqliteCatalog, meta: Mapping[str, str], base: Path) -> None:
        self.old = old
        self.put, self.put_many = new.execute, new.execute_many
        self.dimension = new.info().dimension
        self.meta = meta
        self._analyzer = new.analyzer
        self.base = base
        self.lost: list[Lost] = []
        self.text_hashes: dict[int, bytes] = {}
        """text_hash of the written chunks, by rowid."""

    def run(self) -> tuple[Lost, ...]:
        """Write everything, in an order in which earlier data helps to check later data."""
        (trigger,) = self.put("SELECT sql FROM sqlite_schema WHERE name = 'chunk_text_is_immutable'")
        self.put("DROP TRIGGER chunk_text_is_immutable")  # titles are set after the chunks
        self.put("PRAGMA defer_foreign_keys = ON")
        has_earlier_roots = self._put_roots()
        remains = Remains(self.old)
        self.documents, self.files, self.read_again = remains.documents, remains.files, remains.read_again
        self.lost += [Lost("document", path) for path in remains.lost]
        self._put_chunks()
        self._settle()
        self._put_files()
        self._put_documents()
        self._put_titles()
        self._put_vectors()
        self._put_judgements()
        wrong = {*sums.wrong(self.put, self.meta)} - ({"root"} if has_earlier_roots else set()) | self.old.damaged
        self.lost += [lost for table, lost in sums.LOST.items() if table in wrong]
        self._put_meta()
        self.put("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
        self.put(trigger[0])
        return tuple(sorted(set(self.lost)))

    def _put_roots(self) -> bool:
        """Write the roots. A root known only from an index is inactive. Return True if one has an earlier version's
        format."""
        listed = self.old.index_rows("root", "rowid spec", "sqlite_autoindex_root_1")
        found = {rowid: (spec, 0) for rowid, spec in listed}
        for rowid, spec, active in self.old.rows("root", ("spec", "active"), found.keys()):
            if _spec(spec) or rowid not in found:
                found[rowid] = (spec, int(active == 1))
        specs = {rowid: _spec(raw) for rowid, (raw, _) in found.items()}
        known = [(rowid, specs[rowid], active) for rowid, (_, active) in sorted(found.items()) if specs[rowid]]
        self.put_many("INSERT OR IGNORE INTO root(rowid, spec, active) VALUES(?, ?, ?)", known)
        self.roots = {rowid for rowid, _, _ in known}
        rows = self.old.rows_by_key("left_out", ("root", "path"), "root, path")
        left_out = [(root, path) for root, raw in rows if root in self.roots and (path := text_of(raw))]
        self.put_many("INSERT OR IGNORE INTO left_out(root, path) VALUES(?, ?)", left_out)
        self.old.damaged |= {"root"} if len(known) < len(found) else set()
        self.old.damaged |= {"left_out"} if len(left_out) < len(rows) else set()
        return any(spec and spec != text_of(found[rowid][0]) for rowid, spec in specs.items())

    def _put_chunks(self) -> None:
        """Write every text that matches its hash. The document table is still empty."""
        known = self.old.index_rows("chunk", "rowid doc offset", "chunk_natural", "deleted = 0")
        self.listed: defaultdict[int, set[int]] = defaultdict(set)
        for _, doc, offset in known:
            if whole(offset) is not None:
                self.listed[doc].add(offset)
        for rowid, row in self.old.chunks({row[0] for row in known}):
            document = self.documents.get(row["doc"])
            if (
                rowid in self.text_hashes
                or document is None
                or (chunk := chunk_of(row, document, self._analyzer)) is None
            ):
                continue
            if self._insert("chunk", rowid=rowid, doc=row["doc"], **chunk):
                self.text_hashes[rowid] = chunk["text_hash"]
                title = text_of(row["title"])
                if title or document.title != "":  # a text that is part of the title has no title of its own
                    document.titles |= {title, without_names(title)} if title else {chunk["text"]}

    def _insert(self, table: str, **values: Any) -> bool:
        """Insert a row. Return False if its key exists."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT OR IGNORE INTO {table}({columns}) VALUES({marks}) RETURNING 1"
        return bool(self.put(sql, tuple(values.values())))

    def _settle(self) -> None:
        """Find the missing parts of each document, and its right labels."""
        made: dict[int, str] = {}
        empty: list[int] = []
        for rowid, document in sorted(self.documents.items()):
            places = self._settle_places(rowid, document)
            made[rowid] = self._settle_labels(document, places)
            empty += [rowid] if not places and document.size != 0 and made[rowid] != document.digest else []
        kept = self.meta.get("digest_sum")
        for rowid in empty if digest_sum(made.values()) != kept else ():
            document = self.documents.pop(rowid)
            del made[rowid]
            self.read_again(document)
            self.lost = [each for each in self.lost if each.path != document.path]
            self.lost.append(Lost("document", document.path))
        are_right = digest_sum(made.values()) == kept  # the digests themselves may be damaged
        for rowid, own in made.items():
            document = self.documents[rowid]
            if own != document.digest and not document.is_cut and not are_right:
                self.lost.append(Lost("labels", document.path))
                self.read_again(document)
            is_whole = are_right or not (document.is_cut or (document.digest and own != document.digest))
            document.digest = own if is_whole else sha256(own.encode()).hexdigest()  # a digest that no document has

    def _settle_places(self, rowid: int, document: OldDocument) -> list[tuple[int, int, int]]:
        """Correct the lines and record missing texts. Return offset, end and tokens of each chunk."""
        places: list[tuple[int, int, int]] = []
        end, line, offset, text = 0, 1, 0, ""
        for chunk, start, last, tokens, first, final, own in self.put(_PLACES, (rowid,)):
            if start > end:
                after = line + text.count("\n")
                self._cut(document, f"lines {after} to {max(first, after)}")
                line = first
            else:
                line += text[: start - offset].count("\n")
            lines = line, line + own[:-1].count("\n")
            if lines != (first, final):
                self.put("UPDATE chunk SET line_start = ?, line_end = ? WHERE rowid = ?", (*lines, chunk))
            places.append((start, last, tokens))
            end, offset, text = last, start, own
        known = {start for start, _, _ in places}
        if any(start not in known and (start > offset or not places) for start in self.listed[rowid]):
            self._cut(document, f"from line {line + text.count(chr(10))} on" if places else "")
        return places

    def _cut(self, document: OldDocument, place: str) -> None:
        document.is_cut = True
        self.lost.append(Lost("text", document.path, place))
        self.read_again(document)

    def _settle_labels(self, document: OldDocument, places: list[tuple[int, int, int]]) -> str:
        """Choose labels that match the stored digest, else readable ones. Return their digest."""
        file = self.files.get(document.file) if document.file is not None else None
        titles = [document.title, *sorted(each for each in document.titles if self._analyzer.form(each) == each), ""]
        times = [document.mtime, utc(file.mtime_ns) if file and file.mtime_ns is not None else None, utc(0)]
        metas = [document.meta if is_metadata((document.meta or "").encode()) else None, "{}"]
        tried = [[each for each in dict.fromkeys(values) if each is not None] for values in (titles, times, metas)]
        fallback = ""
        for title, mtime, meta, source in product(*tried, dict.fromkeys([document.source, None])):
            state = DocumentState(document.id, source, mtime or "", meta or "", title or "", places, document.tags)
            own = document_digest(state)
            if own == document.digest or not fallback:
                document.title, document.mtime, document.meta, document.source = title, mtime, meta, source
                fallback = own
            if own == document.digest:
                break
        return fallback

    def _put_files(self) -> None:
        within: defaultdict[int, list[OldDocument]] = defaultdict(list)
        for document in self.documents.values():
            if document.file is None:
                document.file = max(self.files, default=0) + 1
                self.files[document.file] = OldFile(document.path)
            within[document.file].append(document)
        for rowid, file in sorted(self.files.items()):
            _complete(file, within[rowid], self.base)
            file.root = file.root if file.root in self.roots else None
            self._insert("file", rowid=rowid, **vars(file))

    def _put_documents(self) -> None:
        names = ("id", "path", "hash", "file", "mtime", "title", "source", "meta", "digest")
        for rowid, document in sorted(self.documents.items()):
            size = document.size if document.size is not None else self.files[document.file or 0].size
            self._insert("doc", rowid=rowid, size=size, **{name: getattr(document, name) for name in names})
            self.put_many("INSERT INTO doc_tag(doc, tag) VALUES(?, ?)", [(rowid, tag) for tag in document.tags])
            if document.read_by or document.marks:
                read_by, marks = document.read_by, document.marks or "[]"
                own = schema.reading_hash(read_by, marks)
                self._insert("doc_reading", doc=rowid, read_by=read_by, marks=marks, hash=own)
        self.put("DELETE FROM chunk WHERE doc NOT IN (SELECT rowid FROM doc)")

    def _put_titles(self) -> None:
        """Set each chunk's title, with which it was embedded."""
        for doc, rows in groupby(self.put(_SPANS), itemgetter(0)):
            document, chunks = self.documents[doc], list(rows)
            whole_title, marks = document.title or "", load(document.marks) if document.marks else ()
            titles = self._analyzer.titles(whole_title, marks, [(start, end) for _, _, start, end, _, _ in chunks])
            for (_, row, offset, _, text, title), named in zip(chunks, titles, strict=True):
                above = "" if not title and whole_title.startswith(text, offset) else whole_title
                own = embedded_hash(document.path, above, text, document.read_by)
                spelled = named if above else ""
                if (own, spelled) != (self.text_hashes[row], title):
                    self.put("UPDATE chunk SET title = ?, text_hash = ? WHERE rowid = ?", (spelled, own, row))
                    self.text_hashes[row] = own

    def _put_vectors(self) -> None:
        """Write every vector that matches its checksum: in use, cached, of a reranker or of a reembed."""
        columns = ("embedding", "windows", "checksum")
        left = dict(self.put("SELECT rowid, text_hash FROM chunk"))
        sound = self._sound(self.old.vectors(left), self.dimension)
        blocks.put_from(self.put, self.put_many, (own for own in sound if own[1] and left.pop(own[0], None)))
        tables = {"vec_cache": self.dimension}
        if self.meta.keys() >= {*_NEXT}:
            tables["vec_next"] = int(self.meta["next_dimension"])
        for table, dimension in tables.items():
            rows = self._sound(self.old.rows_by_key(table, ("text_hash", *columns), "text_hash"), dimension)
            self.put_many(f"INSERT OR IGNORE INTO {table}(text_hash, {', '.join(columns)}) VALUES(?, ?, ?, ?)", rows)
        kept = "SELECT embedding, windows, checksum FROM vec_cache WHERE text_hash = ?"
        found = ((rowid, *row) for rowid, text_hash in left.items() for row in self.put(kept, (text_hash,)))
        blocks.put_from(self.put, self.put_many, found)
        if self.old.has("vec_rerank"):
            rows = self.old.rows("vec_rerank", ("maker", "is_query", "text_hash", "embedding", "checksum"))
            reranked.restore(self.put, (row[1:] for row in rows))
        if "purge" in self.meta:  # keep nothing made from a text to purge
            self.put("DELETE FROM vec_cache")
            reranked.drop_unused(self.put, of_questions=True)

    def _sound(self, rows: Iterable[Row], dimension: int) -> Iterator[Row]:
        """Yield (key, vector, windows, checksum) of the sound vectors; each gets a checksum."""
        for key, vector, windows, checksum in rows:
            if not isinstance(vector, bytes) or not isinstance(windows, int) or windows < 1:
                continue
            own = schema.vector_checksum(vector, windows)
            is_sound = checksum == own or (checksum is None and self.old.is_older)
            if is_sound and not find_flaws([vector], dimension=dimension):
                yield key, vector, windows, own

    def _put_judgements(self) -> None:
        pairs = [map(text_of, row) for row in self.old.rows_by_key("judged_query", ("id", "text"), "id")]
        queries = {own_id: text for own_id, text in pairs if own_id and text is not None}
        columns = ("query", "path", "offset", "end_offset", "grade")
        judgements = self.old.rows_by_key("judgement", columns, ", ".join(columns[:4]))
        judged = {text_of(row[0]) or "" for row in judgements}
        free, missed = queries.keys() - judged, judged - queries.keys()
        if len(free) == len(missed) == 1:  # the only query and the only judgement without a match
            queries[missed.pop()] = queries.pop(free.pop())
        self.put_many("INSERT INTO judged_query(id, text) VALUES(?, ?)", sorted(queries.items()))
        for raw_query, raw_path, offset, end, grade in judgements:
            query, path, numbers = text_of(raw_query), text_of(raw_path), (offset, end, grade)
            if query in queries and path and all(isinstance(number, int) for number in numbers):
                self.put("INSERT INTO judgement VALUES(?, ?, ?, ?, ?)", (query, path, *numbers))
            else:
                self.lost.append(Lost("judgement", query or "", path or ""))

    def _put_meta(self) -> None:
        keys = (schema.PURGED, schema.RETENTION_DAY, schema.TOLD_SKIPS)
        values = {name: self.meta[name] for name in keys if name in self.meta}
        if self.meta.keys() >= {*_NEXT}:
            values |= {name: self.meta[name] for name in _NEXT}
        for name in ("generation", "last_doc", "last_chunk"):
            values[name] = before if (before := self.meta.get(name, "")).isdigit() else "0"
        values["digest_sum"] = digest_sum(document.digest or "" for document in self.documents.values())
        self.put_many("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", values.items())
        census.advance(self.put)


def _complete(file: OldFile, within: list[OldDocument], base: Path) -> None:
    """Fill in unknown fields of a file from its documents. It is read again if they disagree."""
    whole_file = next((document for document in within if document.path == file.path), None)
    if whole_file is not None and file.hash != whole_file.hash:
        file.hash, file.settings = whole_file.hash, OldFile.settings
    if within and (file.mtime_ns is None or utc(file.mtime_ns) != within[0].mtime):
        file.mtime_ns, file.settings = 0, OldFile.settings
    if file.os_path is None:
        file.os_path = file.path if os.path.lexists(base / file.path) else ""
    if not within or None in (file.size, file.hash, file.mtime_ns):
        file.settings = OldFile.settings
    if file.size is None:
        file.size = (whole_file.size if whole_file else None) or 0
    file.hash, file.mtime_ns = file.hash or "0" * 64, file.mtime_ns or 0


def _spec(raw: object) -> str | None:
    """Return a root in this version's format, or None."""
    spec = text_of(raw) or ""
    with suppress(ValueError, TypeError, LookupError):
        own = records.root_of(spec)._asdict()
        if canonical(own) == spec:
            return spec
        del own["encoding"]
        return schema.with_encoding(spec) if canonical(own) == spec else None
    return None
