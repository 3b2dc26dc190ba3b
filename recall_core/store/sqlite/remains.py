"""The documents and files of a damaged store, as far as they are known.

What one table has lost, another may still tell: an index has the values of its column, a file the hash of the
document that is all of it. It is taken where an id says that it is right.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

from recall_core.store.sqlite.salvage import Salvage, text_of
from recall_core.store.sqlite.schema import own_hash, reading_hash
from recall_core.text import chunk_id, document_id, embedded_hash, nfc, spaced, utc

REREAD = ""
"""Settings that no file is read with: the next sync reads it again."""

_LIKELY = ("utf-8", "binary")
"""Encodings of nearly all files that are not read as they are."""

_DOC = ("id", "path", "file", "mtime", "size", "hash", "title", "source", "meta", "digest", "deleted")
_FILE = ("path", "os_path", "size", "mtime_ns", "hash", "settings", "root", "ctime_ns", "inode")


class OldFile:
    """A file that was read. None stands for what is not known."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.os_path: str | None = None
        self.size: int | None = None
        self.mtime_ns: int | None = None
        self.hash: str | None = None
        self.settings = REREAD
        self.root: int | None = None
        self.ctime_ns: int | None = None
        self.inode: int | None = None


class OldDocument:
    """A live document whose id, path and hash name each other. None stands for what is not known.

    titles: as its chunks have it above them, with CJK characters apart, or as their text.  digest: as it was kept, or
    "".  is_cut: a text is lost.
    """

    def __init__(self, own_id: str, path: str, digest: str) -> None:
        self.id = own_id
        self.path = path
        self.hash = digest
        self.file: int | None = None
        self.mtime: str | None = None
        self.size: int | None = None
        self.title: str | None = None
        self.source: str | None = None
        self.meta: str | None = None
        self.digest = ""
        self.tags: tuple[str, ...] = ()
        self.titles: set[str] = set()
        self.is_cut = False
        self.read_by = ""
        self.marks = ""


class Remains:
    """Live documents and their files by rowid, read when this is made. lost: paths of documents that are gone."""

    def __init__(self, old: Salvage) -> None:
        self._old = old
        self.documents: dict[int, OldDocument] = {}
        self.files: dict[int, OldFile] = {}
        self._paths = self._told("doc", "path", "doc_live_path", "deleted = 0")
        self._ids = self._told("doc", "id", "sqlite_autoindex_doc_1")
        self._hashes, self._parsers = self._of_files()
        self._readings = self._of_readings()
        self._read_documents()
        self._read_tags()
        self._read_files()
        self.lost = [path for rowid, path in self._paths.items() if rowid not in self.documents]

    def without_reading(self) -> list[OldDocument]:
        """Those whose marks are lost, as far as can be told: their file is to be read again."""
        is_lost = "doc_reading" in self._old.damaged
        return [
            document
            for rowid, document in self.documents.items()
            if rowid not in self._readings and (is_lost or document.read_by)
        ]

    def _told(self, table: str, column: str, index: str, where: str = "1") -> dict[int, str]:
        """rowid to text, as an index has them."""
        sql = f"SELECT rowid, CAST({column} AS BLOB) FROM {table} INDEXED BY {index} WHERE {where}"
        return {rowid: text for rowid, each in self._old.told(sql) if (text := text_of(each)) is not None}

    def _of_files(self) -> tuple[dict[str, str], set[str]]:
        """Path to hash of every file: a document that is all of it has the same. And which parsers read them."""
        hashes: dict[str, str] = {}
        parsers: set[str] = set()
        for _, *texts in self._old.rows("file", ("path", "hash", "settings")):
            path, digest, settings = map(text_of, texts)
            if path and digest:
                hashes[path] = digest
            parsers.add((settings or "").partition(" ")[0].partition(";")[0])
        return hashes, parsers - {""}

    def _of_readings(self) -> dict[int, tuple[str, str]]:
        """doc rowid to how it was read and its marks, where both are what was stored."""
        found: dict[int, tuple[str, str]] = {}
        if not self._old.has("doc_reading"):  # of an earlier version
            return found
        for rowid, raw_read_by, raw_marks, kept in self._old.rows("doc_reading", ("read_by", "marks", "hash")):
            read_by, marks = text_of(raw_read_by), text_of(raw_marks)
            if read_by is not None and marks is not None and reading_hash(read_by, marks) == kept:
                found[rowid] = read_by, marks
        return found

    def _read_documents(self) -> None:
        for rowid, *values in self._old.rows("doc", _DOC, {*self._paths, *self._ids}):
            row = dict(zip(_DOC, values, strict=True))
            if rowid in self.documents:
                continue
            document = self._of_row(rowid, row)
            if _is_live(row["deleted"], row["file"], is_listed=rowid in self._paths):
                if document is not None:
                    self.documents[rowid] = document
            elif document is not None:
                self._paths.pop(rowid, None)
        for rowid in self._paths.keys() - self.documents.keys():
            if document := self._of_indexes(rowid):
                self.documents[rowid] = document

    def _of_row(self, rowid: int, row: Mapping[str, Any]) -> OldDocument | None:
        texts = {name: text_of(row[name]) for name in ("id", "path", "hash", "mtime", "title", "source", "meta")}
        found = self._named(
            rowid, (texts["path"], self._paths.get(rowid)), (texts["id"], self._ids.get(rowid)), texts["hash"]
        )
        if found is not None:
            found.file = whole(row["file"])
            found.size = whole(row["size"])
            found.mtime, found.title, found.source = texts["mtime"], texts["title"], texts["source"]
            found.meta, found.digest = texts["meta"], text_of(row["digest"]) or ""
        return found

    def _of_indexes(self, rowid: int) -> OldDocument | None:
        """The document whose row is gone: its path, id, time, label and file stand in indexes too."""
        found = self._named(rowid, (self._paths[rowid],), (self._ids.get(rowid),), None)
        if found is not None:
            files = self._old.told("SELECT rowid, file FROM doc INDEXED BY doc_file")
            found.file = next((whole(file) for each, file in files if each == rowid), None)
            found.mtime = self._told("doc", "mtime", "doc_live_mtime", "deleted = 0").get(rowid)
            found.source = self._told("doc", "source", "doc_live_source", "deleted = 0").get(rowid)
        return found

    def _named(
        self, rowid: int, paths: Sequence[str | None], ids: Sequence[str | None], digest: str | None
    ) -> OldDocument | None:
        """The document that one of these ids names with one of these paths, with a hash, and with how it was read.

        Where that is lost, it is tried as the store's files were read.
        """
        reading = self._readings.get(rowid)
        likely = [f"{each};{encoding}" for each in sorted(self._parsers) for encoding in _LIKELY]
        for path, own_id in product(filter(None, paths), filter(None, ids)):
            for each in (digest, self._hashes.get(path)):
                for read_by in [reading[0]] if reading else ["", *likely]:
                    if each and document_id(path, each, read_by) == own_id:
                        found = OldDocument(own_id, path, each)
                        found.read_by, found.marks = reading or (read_by, "")
                        return found
        return None

    def _read_tags(self) -> None:
        found: defaultdict[int, set[str]] = defaultdict(set)
        rows = self._old.keyed("doc_tag", ("doc", "tag"), "doc, tag")
        if "doc_tag" in self._old.damaged:
            sql = "SELECT doc, CAST(tag AS BLOB) FROM doc_tag INDEXED BY doc_tag_tag"
            rows += self._old.told(sql)
        for rowid, tag in rows:
            if (text := text_of(tag)) is not None:
                found[rowid].add(text)
        for rowid, document in self.documents.items():
            document.tags = tuple(sorted(found[rowid]))

    def _read_files(self) -> None:
        paths = self._told("file", "path", "sqlite_autoindex_file_1")
        within: defaultdict[int | None, list[OldDocument]] = defaultdict(list)
        for document in self.documents.values():
            within[document.file].append(document)
        wanted = {rowid for rowid in within if rowid is not None}
        for rowid, *values in self._old.rows("file", _FILE, wanted | paths.keys()):
            row = dict(zip(_FILE, values, strict=True))
            if rowid not in self.files and (old := _file_of(row, paths.get(rowid), within[rowid])):
                self.files[rowid] = old
        for rowid in sorted(wanted - self.files.keys()):
            self.files[rowid] = OldFile(paths.get(rowid) or _path_of(within[rowid]))
        for document in self.documents.values():
            file = self.files.get(document.file) if document.file is not None else None
            if document.size is None and file is not None and file.path == document.path:
                document.size = file.size
        by_path = {file.path: rowid for rowid, file in sorted(self.files.items(), reverse=True)}
        for document in self.documents.values():
            if document.file is None:
                document.file = by_path.get(document.path) or by_path.get(document.path.partition("#")[0])


def _is_live(deleted: object, file: object, *, is_listed: bool) -> bool:
    """What two of three say: the flag, that a tombstone has no file, and the index of live paths."""
    return (deleted == 0) + (file is not None) + is_listed >= 2


def _file_of(row: Mapping[str, Any], listed: str | None, within: Sequence[OldDocument]) -> OldFile | None:
    """The file of a row; its path as that of its documents goes on, where that can be told."""
    own = text_of(row["path"])
    path = next((each for each in (own, listed) if each and _holds(each, within)), own or listed)
    if not path:
        return None
    file = OldFile(path)
    os_path, digest, settings = (text_of(row[name]) for name in ("os_path", "hash", "settings"))
    file.os_path = os_path if os_path is not None and (not os_path or nfc(os_path) == path) else path
    file.size, file.mtime_ns, file.root = whole(row["size"]), whole(row["mtime_ns"]), whole(row["root"])
    file.ctime_ns, file.inode = whole(row["ctime_ns"]), whole(row["inode"])
    file.hash, file.settings = digest, settings or REREAD
    return file


def _holds(path: str, within: Sequence[OldDocument]) -> bool:
    return all(document.path == path or document.path.startswith(f"{path}#") for document in within)


def _path_of(within: Sequence[OldDocument]) -> str:
    """The path of a file of which only documents are left; several are its records."""
    first = within[0].path
    return first if len(within) == 1 else first.partition("#")[0]


def whole(value: object) -> int | None:
    """A whole number that no store would refuse, or None."""
    return value if isinstance(value, int) and value >= 0 else None


def completed(file: OldFile, within: Sequence[OldDocument], base: Path) -> None:
    """Fill in what is not known of a file from its documents; it is read again where they disagree."""
    whole_file = next((document for document in within if document.path == file.path), None)
    if whole_file is not None and file.hash != whole_file.hash:
        file.hash, file.settings = whole_file.hash, REREAD
    if within and (file.mtime_ns is None or utc(file.mtime_ns) != within[0].mtime):
        file.mtime_ns, file.settings = _nanoseconds(within[0].mtime or utc(0)), REREAD
    if file.os_path is None:
        file.os_path = file.path if os.path.lexists(base / file.path) else ""
    if not within or None in (file.size, file.hash, file.mtime_ns):
        file.settings = REREAD
    if file.size is None:
        file.size = (whole_file.size if whole_file else None) or 0
    file.hash, file.mtime_ns = file.hash or "0" * 64, file.mtime_ns or 0


def _nanoseconds(mtime: str) -> int:
    """Of a time as documents carry it; 0 where it is none."""
    try:
        since = datetime.fromisoformat(mtime) - datetime.fromtimestamp(0, UTC)
    except (ValueError, TypeError):
        return 0
    return (since // timedelta(microseconds=1)) * 1000


def chunk_of(row: Mapping[str, Any], document: OldDocument) -> tuple[Any, ...] | None:
    """The columns of a chunk behind its document's rowid, where its text is the one that was stored.

    Its place is where its id says, or its end. A text that was never verified stays so.
    """
    text, title = text_of(row["text"]), "" if row["title"] == b"" else document.title or ""
    if text is None:
        return None
    own, embedded = own_hash(text), embedded_hash(document.path, title, text)
    kept = row["hash"]
    if own != kept and embedded != row["text_hash"] and kept is not None:
        return None
    own_id, end = text_of(row["id"]), whole(row["end_offset"])
    places = whole(row["offset"]), None if end is None else end - len(text)
    offsets = [each for each in places if each is not None]
    offset = next((each for each in offsets if each >= 0 and chunk_id(document.id, each) == own_id), None)
    if offset is None and len(offsets) == 2 and offsets[0] == offsets[1]:
        offset = offsets[0]  # the id is what is damaged
    if offset is None:
        return None
    hashed = own if own == kept or embedded == row["text_hash"] else None
    lines = whole(row["line_start"]) or 1, whole(row["line_end"]) or 1
    search_text = spaced(text)
    return (
        chunk_id(document.id, offset),
        offset,
        offset + len(text),
        *lines,
        whole(row["tokens"]) or 0,
        text_of(row["heading"]),
        spaced(title),
        text,
        search_text if search_text != text else None,
        embedded,
        hashed,
        text_of(row["place"]),
    )
