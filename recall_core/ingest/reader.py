"""Reading: one file's bytes become documents with chunks that wait for their vectors."""

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
from recall_core.text import Counter, embedded_hash, nfc, space_cjk
from recall_core.types import Fingerprint, NewChunk, NewDocument, Root, Span, Stamp

BINARY = "binary"
"""The encoding of files that are not text."""

SMALL_BYTES = 256 << 10
"""Of a file that a parser of our own may read in this process: fewer than that."""
SHORT_LINE_BYTES = 16 << 10
"""Of each of its lines: fewer than that."""
_AHEAD_TEXT_BYTES = 1 << 20  # of a file for our own parsers; what is made of a larger one may be too long to wait


class FileText(NamedTuple):
    """What a file was made of. parser: its name and version. read_by: see `text.document_id`."""

    documents: tuple[ParsedDocument, ...]
    parser: str
    read_by: str
    notes: tuple[str, ...]


class _Prepared(NamedTuple):
    """A file as its parser is called with it. path: without the suffix of its packing."""

    name: str
    parser: Parser
    content: bytes
    path: str
    encoding: str
    packing: str
    notes: tuple[str, ...]


class FileReader:
    """Reads files, one after the other. Close it, or use it in a `with`.

    One worker reads all files that need one; more workers read files that are begun before their turn.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._worker = Worker()
        self._pool: WorkerPool | None = None
        self._foreign_parsers: dict[str, bool] = {}
        self._last_packed: tuple[bytes, str, Unpacked] | None = (
            None  # a packed file that `parser_of` was asked of last
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, if there are any."""
        pool, self._pool = self._pool, None
        try:
            if pool is not None:
                pool.close()
        finally:
            self._worker.close()

    def parser_of(self, raw: bytes, *, path: str, root: Root) -> str:
        """Return the identity of the parser that would read this file.

        Raises IngestError `not_read`, `bad_archive`, `unpacked_too_large`, `parser_unavailable`.
        """
        inside = self._unpack(raw, path)
        self._last_packed = (raw, path, inside) if inside.packing else None
        return identity(self._choice(inside.content, inside.path, root))

    def read(self, raw: bytes, *, path: str, root: Root, digest: str) -> FileText:
        """Return the documents of a file. digest: sha256 of raw.

        Raises IngestError where the bytes are not what their parser reads, `bad_metadata` where it finds what no
        store can keep; UsageError `unknown_parser`, `parser_unavailable`, `unknown_encoding`.
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
        """Return True if a worker reads a file, as its name and size tell, and the file may be begun before its turn.

        Raises what `parser_of` raises.
        """
        name = self._choice(b"", path, root)
        if name not in self._foreign_parsers:
            self._foreign_parsers[name] = _is_foreign(name, parser(name))
        if self._foreign_parsers[name]:
            return size <= AHEAD_BYTES
        return SMALL_BYTES <= size <= _AHEAD_TEXT_BYTES

    def has_room(self, size: int) -> bool:
        """Return True if a file of so many bytes may be begun now. On one core none ever is."""
        return cores() > 1 if self._pool is None else self._pool.has_room(size)

    def begin(self, raw: bytes, *, path: str, root: Root, digest: str) -> None:
        """Have a file parsed before its turn, if a worker does it. A `read` of the same bytes waits for it.

        Raises what `read` raises of what comes before the parser.
        """
        made = self._prepare(raw, path, root)
        if not _needs_worker(made):
            return
        if self._pool is None:
            self._pool = WorkerPool(cores())
        self._pool.begin(made.name, made.content, key=path, path=made.path, digest=digest)

    def forget(self, path: str) -> None:
        """Drop what was begun for a file; its turn is over."""
        if self._pool is not None:
            self._pool.forget(path)

    def _prepare(self, raw: bytes, path: str, root: Root) -> _Prepared:
        """Unpack a file, and decode it for a parser that reads text."""
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
        """Unpack a file, once for `parser_of` and the `read` that follows it."""
        last, self._last_packed = self._last_packed, None
        if last is not None and last[0] is raw and last[1] == path:
            return last[2]
        return unpack(raw, path=path, most=self._config.max_file_bytes)

    def _in_worker(self, made: _Prepared, key: str, digest: str) -> Iterable[ParsedDocument]:
        """Return what a worker makes of a file. Source code that is too much for a grammar is read by its lines.

        key: the name that it was begun by.
        """
        name, content, path = made.name, made.content, made.path
        try:
            begun = self._pool.wait_for(name, key=key, digest=digest) if self._pool else None
            return self._worker.parse(name, content, path=path, digest=digest) if begun is None else begun
        except IngestError as error:
            if name != "code" or error.code not in ("parser_crashed", "parser_timeout"):
                raise
            note = "its grammar failed on it: definitions are found by lines alone"
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
    """Return True for a parser that may crash, hang or swell on a file of any size: foreign code, or a plug-in."""
    return name not in BUILT_IN or getattr(chosen, "is_foreign", False)


def _check_documents(found: Iterable[ParsedDocument], path: str, size: int | None) -> Iterator[ParsedDocument]:
    """Yield the documents if a store can keep them.

    size: of the file, where the parser was given other bytes.
    """
    for document in found:
        name = path if document.record is None else f"{path}#{document.record}"
        if reason := why_unfit(document.meta):
            raise IngestError("bad_metadata", f"{name}: {reason}.")
        if reason := why_no_marks(document.marks, len(document.text)):
            raise IngestError("parser_crashed", f"{name}: its parser is wrong: {reason}.")
        yield document if size is None or document.record is not None else document._replace(size=size)


PIECES = "pieces"
"""In place of a parser: a program has cut the document."""

_YOUNG_NS = 2_000_000_000  # the coarsest clock of a file system that is met


class RawFile(NamedTuple):
    """A file's bytes, and what its status said before they were read."""

    content: bytes
    size: int
    mtime_ns: int
    digest: str
    ctime_ns: int = 0
    inode: int = 0

    @property
    def stamp(self) -> Stamp:
        """What its status was."""
        return Stamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)


def read_raw(place: Path, *, path: str, config: Config) -> RawFile:
    """Return the bytes of a file, read a second time if it changed meanwhile.

    A file that goes on changing is taken as read; its status is the one from before, so that the next run looks
    again.  Raises OSError, IngestError `file_too_large`.
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
    # It may change again within one tick of its clock, from the time on at which it was looked at: then no ctime.
    is_young = looked_ns - max(before.st_mtime_ns, before.st_ctime_ns) < _YOUNG_NS
    ctime_ns = 0 if is_young else before.st_ctime_ns
    digest = sha256(content).hexdigest()
    return RawFile(content, before.st_size, before.st_mtime_ns, digest, ctime_ns, before.st_ino)


def too_large(path: str, size: int, config: Config) -> IngestError:
    """Return the error for a file above `max_file_bytes`."""
    message = f"{path} has {size} bytes, more than max_file_bytes ({config.max_file_bytes})."
    return IngestError("file_too_large", message, hint=f"max_file_bytes = {size} in recall.toml")


def settings_by(read_by: str, config: Config) -> str:
    """Return all that a file's chunks and vectors depend on besides its bytes. read_by: see `asked_of`."""
    return f"{read_by} {chunker_identity(config)} {config.counter} {EMBEDDED}"


def parser_in_settings(settings: str) -> str:
    """Return the part of a file's settings that names its parser and encoding."""
    return settings.partition(" ")[0]


def settings_of_pieces(spans: Sequence[Span], *, title: str, tags: Sequence[str], meta: Mapping[str, Any]) -> str:
    """Return the settings of a document that a program has cut and labelled."""
    layout = json.dumps([list(spans), title, tags, meta], ensure_ascii=False, sort_keys=True)
    return f"{PIECES} {sha256(layout.encode()).hexdigest()}"


def is_edited(file: Fingerprint) -> bool:
    """Return True if the settings of a file's roots have changed since it was read."""
    return file.settings.endswith(EDITED)


class FileDocuments(NamedTuple):
    """The documents of a file, in file order, with the settings that it is kept with. notes: of how it was read."""

    documents: tuple[NewDocument, ...]
    settings: str
    notes: tuple[str, ...]


def read_documents(
    raw: RawFile, *, path: str, root: Root, reader: FileReader, counter: Counter, config: Config
) -> FileDocuments:
    """Return the documents of a file with their chunks; no chunk has a vector yet.

    Raises what `FileReader.read` raises.
    """
    found = reader.read(raw.content, path=path, root=root, digest=raw.digest)
    made = tuple(
        _document(each, path=path, root=root, read_by=found.read_by, counter=counter, config=config)
        for each in found.documents
    )
    return FileDocuments(made, settings_by(asked_of(found.parser, root), config), found.notes)


def asked_of(parser: str, root: Root) -> str:
    """Return the identity of a parser with the encoding that its root asks for."""
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
    """Cut a document into chunks that have no vectors yet. path: the document's own."""
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
        search_text = space_cjk(content)
        yield NewChunk(
            span=span,
            line_start=line,
            line_end=last_line,
            text=content,
            search_text=None if search_text == content else search_text,
            text_hash=embedded_hash(path, title, content),
            vector=None,
            is_title=parsed.is_title,
            place=places.at(span.offset, span.end) if parsed.place is None else parsed.place,
        )
