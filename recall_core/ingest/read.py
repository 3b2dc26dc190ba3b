"""Reading: one file's bytes become documents with chunks that wait for their vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import Any, NamedTuple

from recall_core.config import EDITED, EMBEDDED, Config, chunker_identity
from recall_core.errors import IngestError
from recall_core.ingest.chunk import chunk
from recall_core.ingest.reader import FileReader
from recall_core.marks import Places
from recall_core.ports import ParsedDocument
from recall_core.text import Counter, embedded_hash, nfc, spaced
from recall_core.types import Fingerprint, NewChunk, NewDocument, Root, Span, Stamp

PIECES = "pieces"
"""What stands in the place of a parser where a program has cut the document."""

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
    """The bytes of a file, read a second time if it changed meanwhile.

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
    known = _settled(before, looked_ns)
    return RawFile(content, before.st_size, before.st_mtime_ns, sha256(content).hexdigest(), *known)


def _settled(status: os.stat_result, looked_ns: int) -> tuple[int, int]:
    """ctime and inode; no ctime of a file so young that it may change once more within one tick of its clock.

    looked_ns: when it was looked at; however long reading it took, it may have changed from then on.
    """
    is_young = looked_ns - max(status.st_mtime_ns, status.st_ctime_ns) < _YOUNG_NS
    return 0 if is_young else status.st_ctime_ns, status.st_ino


def too_large(path: str, size: int, config: Config) -> IngestError:
    """The error for a file above `max_file_bytes`."""
    message = f"{path} has {size} bytes, more than max_file_bytes ({config.max_file_bytes})."
    return IngestError("file_too_large", message, hint=f"max_file_bytes = {size} in recall.toml")


def settings_by(read_by: str, config: Config) -> str:
    """What a file's chunks and vectors depend on besides its bytes: what reads it (see `asked_of`), chunker, counter,
    what is embedded."""
    return f"{read_by} {chunker_identity(config)} {config.counter} {EMBEDDED}"


def read_by(settings: str) -> str:
    """What a file was read by, as its settings name it."""
    return settings.partition(" ")[0]


def settings_of_pieces(spans: Sequence[Span], *, title: str, tags: Sequence[str], meta: Mapping[str, Any]) -> str:
    """The settings of a document that a program has cut and labelled itself."""
    layout = json.dumps([list(spans), title, tags, meta], ensure_ascii=False, sort_keys=True)
    return f"{PIECES} {sha256(layout.encode()).hexdigest()}"


def is_edited(file: Fingerprint) -> bool:
    """Whether the next sync is to read the file as its roots ask by now, or to let it go where none does."""
    return file.settings.endswith(EDITED)


class FileDocuments(NamedTuple):
    """The documents of a file, in file order, with the settings that it is kept with. notes: of how it was read."""

    documents: tuple[NewDocument, ...]
    settings: str
    notes: tuple[str, ...]


def documents(
    raw: RawFile, *, path: str, root: Root, reader: FileReader, counter: Counter, config: Config
) -> FileDocuments:
    """The documents of a file with their chunks; no chunk has a vector yet. Raises what `FileReader.read` raises."""
    found = reader.read(raw.content, path=path, root=root, digest=raw.digest)
    made = tuple(
        _document(each, path=path, root=root, read_by=found.read_by, counter=counter, config=config)
        for each in found.documents
    )
    return FileDocuments(made, settings_by(asked_of(found.parser, root), config), found.notes)


def asked_of(parser: str, root: Root) -> str:
    """What a file is read by, as its settings name it: a parser's identity, and the encoding its root asks for."""
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
    """A document's text, cut. path: the document's own; no chunk has a vector yet."""
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
        search_text = spaced(content)
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
