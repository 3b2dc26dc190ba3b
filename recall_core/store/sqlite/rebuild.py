"""A new store of what can still be read of a damaged one: each text held against its hash, each index made anew.

Labels that do not agree with their digest are tried as other tables tell them. Where none agrees they are kept, and
the document gets a digest that no document has, as one does of which a text is lost: doctor goes on to name it, and
it is not shown as a whole. Tombstones stay behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import groupby, islice, product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from recall_core.errors import StoreCorrupt
from recall_core.marks import loaded
from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest
from recall_core.store.sqlite import blocks, census, sums
from recall_core.store.sqlite.leaves import chunk_rows
from recall_core.store.sqlite.records import metadata, root_of
from recall_core.store.sqlite.remains import REREAD, OldDocument, OldFile, Remains, chunk_of, completed, whole
from recall_core.store.sqlite.salvage import Row, Salvage, text_of, vectors
from recall_core.store.sqlite.schema import reading_hash, titles_of, vector_checksum, with_encoding, without_names
from recall_core.store.values import Lost, MadeWith, find_flaws
from recall_core.text import embedded_hash, spaced, utc

_SAMPLE = 100  # vectors, of which some may be damaged

if TYPE_CHECKING:
    from recall_core.store.sqlite.store import SqliteStore

_NEXT = ("next_embedder", "next_dimension", "next_command")

_CHUNK = (
    *("id", "doc", "offset", "end_offset", "line_start", "line_end", "tokens", "heading", "text", "text_hash"),
    *("hash", "title", "place"),
)

_PUT_FILE = """
INSERT OR IGNORE INTO file(rowid, path, os_path, size, mtime_ns, hash, settings, root, ctime_ns, inode)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_PUT_DOC = """
INSERT OR IGNORE INTO doc(rowid, id, path, file, mtime, size, hash, title, source, meta, digest)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_PUT_READING = "INSERT INTO doc_reading(doc, read_by, marks, hash) VALUES(?, ?, ?, ?)"

_PUT_CHUNK = """
INSERT OR IGNORE INTO chunk(rowid, id, doc, offset, end_offset, line_start, line_end, tokens, heading, title, text,
  search_text, text_hash, hash, place) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rowid
"""

_PLACES = """
SELECT rowid, offset, end_offset, tokens, line_start, line_end, text FROM chunk WHERE doc = ? ORDER BY offset
"""

_SPANS = "SELECT doc, rowid, offset, end_offset FROM chunk ORDER BY doc, offset"

_KEPT = "SELECT embedding, windows, checksum FROM vec_cache WHERE text_hash = ?"

_LISTED = "SELECT rowid, doc, offset FROM chunk INDEXED BY chunk_natural WHERE deleted = 0"


def rebuild(
    db: apsw.Connection,
    target: str,
    *,
    base: Path,
    copy: str | None,
    made_with: Callable[[], MadeWith | None],
    create: Callable[..., SqliteStore],
) -> tuple[SqliteStore, tuple[Lost, ...]]:
    """A new store at target of what can be read through a connection, and what cannot.

    base: the folder that paths start from. copy: the same file's bytes, in another one that nobody writes. made_with:
    asked where the old store cannot say what it was made with; where nobody can, StoreCorrupt is raised.
    """
    old = Salvage(db)
    pairs = [(text_of(key), text_of(value)) for key, value in old.keyed("meta", ("key", "value"), "key")]
    meta = {key: value for key, value in pairs if key and value}
    made = _made_with(meta)
    if made is None or not _is_maker(made, old):
        told = made_with()
        made = told if told is not None and _is_maker(told, old) else made
    if made is None:
        message = "What the store was made with cannot be read, nor be told by its settings."
        raise StoreCorrupt("store_corrupt", message)
    new = create(target, **made._asdict())
    try:
        with new.transaction():
            lost = _Rebuild(old, new, meta, base, copy).run()
    except BaseException:
        new.close()
        raise
    return new, lost


def _made_with(meta: Mapping[str, str]) -> MadeWith | None:
    told = [meta.get(name, "") for name in MadeWith._fields]
    return MadeWith(told[0], int(told[1]), told[2], told[3]) if all(told) and told[1].isdigit() else None


def _is_maker(made: MadeWith, old: Salvage) -> bool:
    """Whether one of the first vectors that can be read is as long as its vectors are; or there is none."""
    lengths = {len(row[1]) for row in islice(vectors(old), _SAMPLE) if isinstance(row[1], bytes)}
    return not lengths or 4 * made.dimension in lengths


class _Rebuild:
    """One run: what was read, what was put, and what was lost on the way."""

    def __init__(self, old: Salvage, new: SqliteStore, meta: Mapping[str, str], base: Path, copy: str | None) -> None:
        self.old = old
        self.put, self.put_many = new.execute, new.execute_many
        self.dimension = new.info().dimension
        self.meta = meta
        self.base = base
        self.copy = copy
        self.lost: list[Lost] = []
        self.roots: set[int] = set()
        self.has_earlier_roots = False
        """They are spelled otherwise by now, and have another sum."""
        self.text_hashes: dict[int, bytes] = {}
        """Of the chunks that were put, by rowid."""
        self.listed: dict[int, set[int]] = {}
        """doc rowid to the offsets of its chunks, as an index has them."""

    def run(self) -> tuple[Lost, ...]:
        """Everything, in the order in which one thing helps to check another."""
        (trigger,) = self.put("SELECT sql FROM sqlite_schema WHERE name = 'chunk_text_is_immutable'")
        self.put("DROP TRIGGER chunk_text_is_immutable")  # a title is found out when its chunks are in
        self._put_roots()
        remains = Remains(self.old)
        self.documents, self.files = remains.documents, remains.files
        for document in remains.without_reading():
            self._reread(document)
        self.lost += [Lost("document", path) for path in remains.lost]
        self._put_chunks()
        self._settle()
        self._put_files()
        self._put_documents()
        self._put_vectors()
        self._put_judgements()
        wrong = {*sums.wrong(self.put, self.meta)} - ({"root"} if self.has_earlier_roots else set())
        self.lost += [sums.LOST[table] for table in sums.LOST if table in wrong]
        self._put_meta()
        self.put("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
        self.put(trigger[0])
        return tuple(sorted(set(self.lost)))

    def _put_roots(self) -> None:
        """An index has what a root is; whether it was active, only the table knows: then it waits to be accepted."""
        index = "SELECT rowid, CAST(spec AS BLOB) FROM root INDEXED BY sqlite_autoindex_root_1"
        found = {rowid: (spec, 0) for rowid, spec in self.old.told(index)}
        for rowid, spec, active in self.old.rows("root", ("spec", "active"), found.keys()):
            if _spec(spec) or rowid not in found:
                found[rowid] = (spec, int(active == 1))
        for rowid, (raw, active) in sorted(found.items()):
            if spec := _spec(raw):
                self.has_earlier_roots |= spec != text_of(raw)
                self.put("INSERT OR IGNORE INTO root(rowid, spec, active) VALUES(?, ?, ?)", (rowid, spec, active))
                self.roots.add(rowid)
        if len(self.roots) < len(found) or "root" in self.old.damaged:
            self.lost.append(sums.LOST["root"])
        told = self.old.keyed("left_out", ("root", "path"), "root, path")
        known = [(root, path) for root, raw in told if root in self.roots and (path := text_of(raw))]
        self.put_many("INSERT OR IGNORE INTO left_out(root, path) VALUES(?, ?)", known)
        if len(known) < len(told) or "left_out" in self.old.damaged:
            self.lost.append(sums.LOST["left_out"])

    def _put_chunks(self) -> None:
        """Every text that is what was stored, in a table that knows no document yet."""
        known = self.old.told(_LISTED)
        for _, doc, offset in known:
            if whole(offset) is not None:
                self.listed.setdefault(doc, set()).add(offset)
        self.put("PRAGMA defer_foreign_keys = ON")
        for rowid, *values in self.old.rows("chunk", _CHUNK, {row[0] for row in known}):
            self._put_chunk(rowid, dict(zip(_CHUNK, values, strict=True)))
        if "chunk" in self.old.damaged and self.copy is not None:
            for rowid, row in chunk_rows(self.copy):
                self._put_chunk(rowid, row)

    def _put_chunk(self, rowid: int, row: Mapping[str, Any]) -> None:
        document = self.documents.get(row["doc"])
        if rowid in self.text_hashes or document is None or (put := chunk_of(row, document)) is None:
            return
        if self.put(_PUT_CHUNK, (rowid, put[0], row["doc"], *put[1:])):
            self.text_hashes[rowid] = put[-3]
            title = text_of(row["title"])
            document.titles |= {title, without_names(title)} if title else {"" if document.title == "" else put[-5]}

    # What was put, held against itself.

    def _settle(self) -> None:
        """Find out what is missing of each document, and which of its labels are right."""
        made: dict[int, str] = {}
        for rowid, document in sorted(self.documents.items()):
            spans = self._settle_places(rowid, document)
            own = self._settle_labels(document, spans)
            is_gone = not spans and own != document.digest and document.size != 0
            if is_gone:
                self._drop(rowid, document)
            else:
                made[rowid] = own
        if digest_sum(made.values()) == self.meta.get("digest_sum"):  # the labels are right, what was kept is not
            for rowid, own in made.items():
                self.documents[rowid].digest = own
            return
        for rowid, own in made.items():
            document = self.documents[rowid]
            if own != document.digest and not document.is_cut:
                self.lost.append(Lost("labels", document.path))
                self._reread(document)
            if document.is_cut or (document.digest and own != document.digest):
                document.digest = _not(own)
            else:
                document.digest = own

    def _drop(self, rowid: int, document: OldDocument) -> None:
        """A document of which no text is left."""
        del self.documents[rowid]
        self._reread(document)
        self.lost = [each for each in self.lost if each.path != document.path]
        self.lost.append(Lost("document", document.path))

    def _reread(self, document: OldDocument) -> None:
        if document.file in self.files:
            self.files[document.file].settings = REREAD

    def _settle_places(self, rowid: int, document: OldDocument) -> list[Place]:
        """Offset, end and tokens of each chunk. Lines follow from the text; what is missing between two is lost."""
        places: list[Place] = []
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
        if any(start not in known and (start > offset or not places) for start in self.listed.get(rowid, ())):
            self._cut(document, f"from line {line + text.count(chr(10))} on" if places else "")
        return places

    def _cut(self, document: OldDocument, place: str) -> None:
        document.is_cut = True
        self.lost.append(Lost("text", document.path, place))
        self._reread(document)

    def _settle_labels(self, document: OldDocument, places: list[Place]) -> str:
        """Take the labels that agree with the digest that was kept, else those that can be read; their digest."""
        file = self.files.get(document.file) if document.file is not None else None
        titles = [document.title, *sorted(each for each in document.titles if spaced(each) == each), ""]
        times = [document.mtime, utc(file.mtime_ns) if file and file.mtime_ns is not None else None, utc(0)]
        metas = [document.meta if _is_object(document.meta) else None, "{}"]
        sources = dict.fromkeys([document.source, None])
        fallback = ""
        for title, mtime, meta, source in product(_known(titles), _known(times), _known(metas), sources):
            state = DocumentState(document.id, source, mtime, meta, title, places, document.tags)
            own = document_digest(state)
            if own == document.digest or not fallback:
                document.title, document.mtime, document.meta, document.source = title, mtime, meta, source
                fallback = own
            if own == document.digest:
                break
        return fallback

    # What is known by now of documents and files, into their tables.

    def _put_files(self) -> None:
        within: defaultdict[int | None, list[OldDocument]] = defaultdict(list)
        for document in self.documents.values():
            if document.file is None:
                document.file = self._new_file(document)
            within[document.file].append(document)
        for rowid, file in sorted(self.files.items()):
            completed(file, within[rowid], self.base)
            root = file.root if file.root in self.roots else None
            status = file.size, file.mtime_ns, file.hash, file.settings, root, file.ctime_ns, file.inode
            self.put(_PUT_FILE, (rowid, file.path, file.os_path, *status))

    def _new_file(self, document: OldDocument) -> int:
        rowid = max(self.files, default=0) + 1
        self.files[rowid] = OldFile(document.path)
        return rowid

    def _put_documents(self) -> None:
        for rowid, document in sorted(self.documents.items()):
            file = self.files[document.file or 0]
            size = document.size if document.size is not None else file.size
            labels = document.title, document.source, document.meta, document.digest
            row = (rowid, document.id, document.path, document.file, document.mtime, size, document.hash, *labels)
            self.put(_PUT_DOC, row)
            for tag in document.tags:
                self.put("INSERT INTO doc_tag(doc, tag) VALUES(?, ?)", (rowid, tag))
            if document.read_by or document.marks:
                spelled = document.marks or "[]"
                hashed = reading_hash(document.read_by, spelled)
                self.put(_PUT_READING, (rowid, document.read_by, spelled, hashed))
        self.put("DELETE FROM chunk WHERE doc NOT IN (SELECT rowid FROM doc)")
        self._retitle()

    def _retitle(self) -> None:
        """A chunk is kept, and embedded, below the title of its document, which is known only by now."""
        titles = self._chunk_titles()
        for row, doc, offset, text, title in self.put("SELECT rowid, doc, offset, text, title FROM chunk ORDER BY 1"):
            document = self.documents[doc]
            above = document.title or ""
            above = "" if not title and above.startswith(text, offset) else above
            own, spelled = embedded_hash(document.path, above, text), titles[row] if above else ""
            if (own, spelled) != (self.text_hashes[row], title):
                self.put("UPDATE chunk SET title = ?, text_hash = ? WHERE rowid = ?", (spelled, own, row))
                self.text_hashes[row] = own

    def _chunk_titles(self) -> dict[int, str]:
        """By the rowid of a chunk its title, as full text has it."""
        found: dict[int, str] = {}
        for doc, rows in groupby(self.put(_SPANS), itemgetter(0)):
            document, chunks = self.documents[doc], list(rows)
            marks = loaded(document.marks) if document.marks else ()
            titles = titles_of(document.title or "", marks, [(start, end) for _, _, start, end in chunks])
            found |= {row: title for (_, row, _, _), title in zip(chunks, titles, strict=True)}
        return found

    # What is made of the texts, and what people said of them.

    def _put_vectors(self) -> None:
        """Those that are what was stored, from their own table or from the one that keeps some for later."""
        columns = ("embedding", "windows", "checksum")
        left = dict(self.put("SELECT rowid, text_hash FROM chunk"))
        found = self._sound(vectors(self.old, left))
        blocks.put_from(
            self.put, self.put_many, (own for own in found if own[1] and left.pop(own[0], None) is not None)
        )
        for table in ("vec_cache", *(["vec_next"] if self.meta.keys() >= {*_NEXT} else [])):
            kept = self.old.keyed(table, ("text_hash", *columns), "text_hash")
            dimension = int(self.meta["next_dimension"]) if table == "vec_next" else self.dimension
            for row in self._sound(kept, dimension):
                self.put(f"INSERT OR IGNORE INTO {table}(text_hash, {', '.join(columns)}) VALUES(?, ?, ?, ?)", row)
        kept_for = ((rowid, row) for rowid, text_hash in left.items() for row in self.put(_KEPT, (text_hash,)))
        blocks.put_from(self.put, self.put_many, ((rowid, *row) for rowid, row in kept_for))

    def _sound(self, rows: Iterable[Row], dimension: int | None = None) -> Iterator[Row]:
        """(key, vector, windows, checksum) of those that can be one, and are as stored; a checksum for each."""
        for key, vector, windows, checksum in rows:
            if not isinstance(vector, bytes) or not isinstance(windows, int) or windows < 1:
                continue
            own = vector_checksum(vector, windows)
            if checksum in (None, own) and not find_flaws([vector], dimension=dimension or self.dimension):
                yield key, vector, windows, own

    def _put_judgements(self) -> None:
        queries = {
            own_id: text
            for own_id, text in _texts_of(self.old.keyed("judged_query", ("id", "text"), "id"))
            if own_id and text is not None
        }
        columns = ("query", "path", "offset", "end_offset", "grade")
        judgements = self.old.keyed("judgement", columns, ", ".join(columns[:4]))
        _rename(queries, {text_of(row[0]) or "" for row in judgements})
        for pair in sorted(queries.items()):
            self.put("INSERT INTO judged_query(id, text) VALUES(?, ?)", pair)
        for raw_query, raw_path, offset, end, grade in judgements:
            query, path, numbers = text_of(raw_query), text_of(raw_path), (offset, end, grade)
            if query in queries and path and all(isinstance(number, int) for number in numbers):
                self.put("INSERT INTO judgement VALUES(?, ?, ?, ?, ?)", (query, path, *numbers))
            else:
                self.lost.append(Lost("judgement", query or "", path or ""))
        if {"judged_query", "judgement"} & self.old.damaged:
            self.lost.append(sums.LOST["judgement"])

    def _put_meta(self) -> None:
        generation = 1 + int(before if (before := self.meta.get("generation", "")).isdigit() else 0)
        values = {
            "generation": str(generation),
            "digest_sum": digest_sum(document.digest for document in self.documents.values()),
            **{name: self.meta[name] for name in _NEXT if self.meta.keys() >= {*_NEXT}},
            **census.recount(self.put, generation),
        }
        for table in ("doc", "chunk"):
            last = self.meta.get(f"last_{table}", "")
            values[f"last_{table}"] = last if last.isdigit() else "0"
        for pair in values.items():
            self.put("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", pair)


Place = tuple[int, int, int]
"""Offset, end and tokens of a chunk."""


def _rename(queries: dict[str, str], judged: set[str]) -> None:
    """The one query that has no judgement is the one that a judgement misses."""
    free, missed = queries.keys() - judged, judged - queries.keys()
    if len(free) == len(missed) == 1:
        queries[missed.pop()] = queries.pop(free.pop())


def _not(digest: str) -> str:
    """A digest that no document has: whoever holds one against this finds that it is not whole."""
    return sha256(digest.encode()).hexdigest()


def _texts_of(rows: Iterable[Row]) -> Iterator[tuple[str | None, ...]]:
    return (tuple(map(text_of, row)) for row in rows)


def _known(values: Iterable[str | None]) -> list[str]:
    return [value for value in dict.fromkeys(values) if value is not None]


def _spec(raw: object) -> str | None:
    """A root as it is kept, if that is one; of an earlier version as it is kept by now."""
    spec = text_of(raw)
    try:
        if not spec:
            return None
        own = root_of(spec)._asdict()
        earlier = {name: value for name, value in own.items() if name != "encoding"}
        if canonical(earlier) == spec:
            return with_encoding(spec)
        return spec if canonical(own) == spec else None
    except (ValueError, TypeError, LookupError):
        return None


def _is_object(meta: str | None) -> bool:
    try:
        return meta is not None and isinstance(metadata(meta), dict)
    except ValueError:
        return False
