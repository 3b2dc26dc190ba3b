"""Reading: turn one file's bytes into documents whose chunks have no vectors yet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import Any, NamedTuple, Self

from recall_core.config import EDITED, EMBEDDED, Config, chunker_identity
from recall_core.errors import IngestError
from recall_core.ingest import kinds
from recall_core.ingest.chunk import chunk
from recall_core.ingest.decode import UTF_8, Unpacked, decode_file, unpack
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.parse import BUILT_IN, identity, parser
from recall_core.ingest.parse.worker import AHEAD_BYTES, Worker, WorkerPool, cores
from recall_core.marks import Places
from recall_core.marks import why_unfit as why_no_marks
from recall_core.ports import ParsedDocument, Parser
from recall_core.text import Counter, embedded_hash, nfc
from recall_core.types import Fingerprint, NewChunk, NewDocument, Root, Span, Stamp

BINARY = "binary"
"""Encoding recorded for files that are not text."""

SMALL_BYTES = 256 << 10
"""Files smaller than this may be parsed in this process by a built-in parser."""
SHORT_LINE_BYTES = 16 << 10
"""Files parsed in this process have only lines shorter than this."""
_AHEAD_TEXT_BYTES = 1 << 20  # largest file parsed ahead by a built-in parser; larger results are too big to keep


class FileText(NamedTuple):
    """Parsed file. parser: name and version. read_by: see `text.document_id`."""

    documents: tuple[ParsedDocument, ...]
    parser: str
    read_by: str
    notes: tuple[str, ...]


class _Prepared(NamedTuple):
    """Arguments for a file's parser. path: without the compression suffix."""

    name: str
    parser: Parser
    content: bytes
    path: str
    encoding: str
    packing: str
    notes: tuple[str, ...]


class FileReader:
    """Reads files one after another. Close it, or use it in a `with`.

    One worker process reads the files that need one; more workers parse files ahead.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._worker = Worker()
        self._pool: WorkerPool | None = None
        self._foreign_parsers: dict[str, bool] = {}
        self._last_packed: tuple[bytes, str, Unpacked] | None = None  # the packed file last passed to `parser_of`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes, if any."""
        pool, self._pool = self._pool, None
        try:
            if pool is not None:
                pool.close()
        finally:
            self._worker.close()

    def parser_of(self, raw: bytes, *, path: str, root: Root) -> str:
        """Return the identity of the parser for this file.

        Raises IngestError `not_read`, `bad_archive`, `unpacked_too_large`, `parser_unavailable`.
        """
        inside = self._unpack(raw, path)
        self._last_packed = (raw, path, inside) if inside.packing else None
        return identity(self._choice(inside.content, inside.path, root))

    def read(self, raw: bytes, *, path: str, root: Root, digest: str) -> FileText:
        """Return the documents of a file. digest: sha256 of raw.

        Raises IngestError if the parser cannot read the bytes, `bad_metadata` if a store cannot keep the metadata;
        UsageError `unknown_parser`, `parser_unavailable`, `unknown_encoding`.
        """
        made = self._prepare(raw, path, root)
        chosen, own = made.parser, identity(made.name)
        if _needs_worker(made):
            found = self._in_worker(made, path, digest)
        else:
            found = chosen.parse(made.content, path=made.path, digest=digest)
        is_plain = getattr(chosen, "is_verbatim", False) and made.encoding == UTF_8 and not made.packing
        packing = f"{made.packing}+" if made.packing else ""
        version = own if "@" in own else f"{own}@1"
        read_by = "" if is_plain else f"{version};{packing}{made.encoding}"
        documents = tuple(_check_documents(found, path, None if made.content is raw else len(raw)))
        return FileText(documents, own, read_by, (*made.notes, *(note for each in documents for note in each.notes)))

    def may_begin(self, path: str, size: int, root: Root) -> bool:
        """Return True if, judging by name and size, a worker reads this file and may start ahead of its turn.

        Raises what `parser_of` raises.
        """
        name = self._choice(b"", path, root)
        if name not in self._foreign_parsers:
            self._foreign_parsers[name] = _is_foreign(name, parser(name))
        if self._foreign_parsers[name]:
            return size <= AHEAD_BYTES
        return SMALL_BYTES <= size <= _AHEAD_TEXT_BYTES

    def has_room(self, size: int) -> bool:
        """Return True if a file of this size may be parsed ahead now. Always False on a single core."""
        return cores() > 1 if self._pool is None else self._pool.has_room(size)

    def begin(self, raw: bytes, *, path: str, root: Root, digest: str) -> None:
        """Start parsing a file ahead of its turn if it needs a worker. A `read` of the same bytes waits for it.

        Raises the errors of `read` that occur before the parser runs.
        """
        made = self._prepare(raw, path, root)
        if not _needs_worker(made):
            return
        if self._pool is None:
            self._pool = WorkerPool(cores())
        self._pool.begin(made.name, made.content, key=path, path=made.path, digest=digest)

    def forget(self, path: str) -> None:
        """Drop the work started for a file whose turn is over."""
        if self._pool is not None:
            self._pool.forget(path)

    def _prepare(self, raw: bytes, path: str, root: Root) -> _Prepared:
        """Unpack a file, and decode it if its parser reads text."""
        inside = self._unpack(raw, path)
        name = self._choice(inside.content, inside.path, root)
        chosen = parser(name)
        notes: tuple[str, ...] = ()
        content, encoding = inside.content, BINARY
        if getattr(chosen, "reads", "bytes") == "text":
            content, encoding, notes = decode_file(
                content, path=path, parser=name, encoding=root.encoding, guess=self._config.guess_encoding
            )
        named = inside.path if inside.packing else path
        return _Prepared(name, chosen, content, named, encoding, inside.packing, notes)

    def _unpack(self, raw: bytes, path: str) -> Unpacked:
        """Unpack a file; `parser_of` and the `read` that follows it share the result."""
        last, self._last_packed = self._last_packed, None
        if last is not None and last[0] is raw and last[1] == path:
            return last[2]
        return unpack(raw, path=path, most=self._config.max_file_bytes)

    def _in_worker(self, made: _Prepared, key: str, digest: str) -> Iterable[ParsedDocument]:
        """Parse a file in a worker. Source code that breaks its grammar is split by lines instead.

        key: key under which the file was started.
        """
        name, content, path = made.name, made.content, made.path
        try:
            ready = self._pool.wait_for(name, key=key, digest=digest) if self._pool else None
            return self._worker.parse(name, content, path=path, digest=digest) if ready is None else ready
        except IngestError as error:
            if name != "code" or error.code not in ("parser_crashed", "parser_timeout"):
                raise
            note = "the grammar failed on this file: definitions are found by line patterns only"
            found = self._worker.parse("outline", content, path=path, digest=digest)
            return [document._replace(notes=(*document.notes, note)) for document in found]

    def _choice(self, raw: bytes, path: str, root: Root) -> str:
        return kinds.choose(path, raw, parser=root.parser, overrides=self._config.parsers)


def _needs_worker(made: _Prepared) -> bool:
    if _is_foreign(made.name, made.parser) or len(made.content) >= SMALL_BYTES:
        return True
    if len(made.content) < SHORT_LINE_BYTES:
        return False
    return max(map(len, made.content.split(b"\n"))) >= SHORT_LINE_BYTES


def _is_foreign(name: str, chosen: Parser) -> bool:
    """Return True for a parser that may crash, hang or use too much memory on any file: foreign code or a plug-in."""
    return name not in BUILT_IN or getattr(chosen, "is_foreign", False)


def _check_documents(found: Iterable[ParsedDocument], path: str, size: int | None) -> Iterator[ParsedDocument]:
    """Yield the documents after checking that a store can keep them.

    size: size of the file if the parser received other bytes.
    """
    for document in found:
        name = path if document.record is None else f"{path}#{document.record}"
        if reason := why_unfit(document.meta):
            raise IngestError("bad_metadata", f"{name}: {reason}.")
        if reason := why_no_marks(document.marks, len(document.text)):
            raise IngestError("parser_crashed", f"{name}: its parser returned an invalid result: {reason}.")
        yield document if size is None or document.record is not None else document._replace(size=size)


PIECES = "pieces"
"""Stored in place of a parser: a program cut the document."""

_YOUNG_NS = 2_000_000_000  # coarsest file-system clock in use


class RawFile(NamedTuple):
    """A file's bytes, with its status from before they were read."""

    content: bytes
    size: int
    mtime_ns: int
    digest: str
    ctime_ns: int = 0
    inode: int = 0

    @property
    def stamp(self) -> Stamp:
        """Status of the file before it was read."""
        return Stamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)


def read_raw(place: Path, *, path: str, config: Config) -> RawFile:
    """Return the bytes of a file. Read it a second time if it changed during the first read.

    A file that keeps changing is returned as read, with its earlier status, so the next run reads it again.
    Raises OSError, IngestError `file_too_large`.
    """
    for _ in range(2):
        looked_ns = time_ns()
        with place.open("rb") as file:
            before = os.fstat(file.fileno())
            if before.st_size > config.max_file_bytes:
                raise too_large(path, before.st_size, config)
            content = file.read()
            after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            break
    # The file may change again within one tick of its clock after this look. Then its ctime proves nothing.
    is_young = looked_ns - max(before.st_mtime_ns, before.st_ctime_ns) < _YOUNG_NS
    ctime_ns = 0 if is_young else before.st_ctime_ns
    digest = sha256(content).hexdigest()
    return RawFile(content, before.st_size, before.st_mtime_ns, digest, ctime_ns, before.st_ino)


def too_large(path: str, size: int, config: Config) -> IngestError:
    """Return the error for a file above `max_file_bytes`."""
    message = f"{path} has {size} bytes, more than max_file_bytes ({config.max_file_bytes})."
    return IngestError("file_too_large", message, hint=f"max_file_bytes = {size} in recall.toml")


def settings_by(read_by: str, config: Config) -> str:
    """Return everything besides the bytes that determines a file's chunks and vectors. read_by: see `asked_of`."""
    return f"{read_by} {chunker_identity(config)} {config.counter} {EMBEDDED}"


def parser_in_settings(settings: str) -> str:
    """Return the parser and encoding from a file's settings."""
    return settings.partition(" ")[0]


def settings_of_pieces(spans: Sequence[Span], *, title: str, tags: Sequence[str], meta: Mapping[str, Any]) -> str:
    """Return the settings of a document that a program cut and labelled."""
    layout = json.dumps([list(spans), title, tags, meta], ensure_ascii=False, sort_keys=True)
    return f"{PIECES} {sha256(layout.encode()).hexdigest()}"


def is_edited(file: Fingerprint) -> bool:
    """Return True if the options of a file's roots changed since it was read."""
    return file.settings.endswith(EDITED)


class FileDocuments(NamedTuple):
    """Documents of a file in file order, with their settings. notes: remarks about how the file was read."""

    documents: tuple[NewDocument, ...]
    settings: str
    notes: tuple[str, ...]


def read_documents(
    raw: RawFile, *, path: str, root: Root, reader: FileReader, counter: Counter, config: Config
) -> FileDocuments:
    """Return the documents of a file with their chunks, which have no vectors yet.

    Raises what `FileReader.read` raises.
    """
    found = reader.read(raw.content, path=path, root=root, digest=raw.digest)
    made = tuple(
        _document(each, path=path, root=root, read_by=found.read_by, counter=counter, config=config)
        for each in found.documents
    )
    return FileDocuments(made, settings_by(asked_of(found.parser, root), config), found.notes)


def asked_of(parser: str, root: Root) -> str:
    """Return the parser's identity, followed by the encoding if the root sets one."""
    return f"{parser};{root.encoding}" if root.encoding else parser


def _document(
    parsed: ParsedDocument, *, path: str, root: Root, read_by: str, counter: Counter, config: Config
) -> NewDocument:
    name = path if parsed.record is None else nfc(f"{path}#{parsed.record}")
    return NewDocument(
        path=name,
        hash=parsed.hash,
        title=parsed.title,
        size=parsed.size,
        tags=tuple(sorted({*parsed.tags, *root.tags})),
        source=root.source,
        meta={**parsed.meta, **dict(root.meta)},
        chunks=chunks_of(parsed, path=name, counter=counter, config=config),
        read_by=read_by,
        marks=parsed.marks,
    )


def chunks_of(parsed: ParsedDocument, *, path: str, counter: Counter, config: Config) -> tuple[NewChunk, ...]:
    """Cut a document into chunks without vectors. path: the document's path."""
    spans = chunk(parsed.text, counter=counter, config=config, marks=parsed.marks)
    return tuple(_chunks(path, parsed, spans))


def _chunks(path: str, parsed: ParsedDocument, spans: tuple[Span, ...]) -> Iterator[NewChunk]:
    text, title = parsed.text, "" if parsed.is_title else parsed.title
    places = Places(parsed.marks)
    line, counted = 1, 0
    for span in spans:
        line += text.count("\n", counted, span.offset)
        counted = span.offset
        last_line = line + text.count("\n", span.offset, span.end - 1)
        content = text[span.offset : span.end]
        yield NewChunk(
            span=span,
            line_start=line,
            line_end=last_line,
            text=content,
            text_hash=embedded_hash(path, title, content),
            vector=None,
            is_title=parsed.is_title,
            place=places.at(span.offset, span.end) if parsed.place is None else parsed.place,
        )
