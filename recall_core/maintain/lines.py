"""The export format: one JSON object a line, and how it becomes files again.

header, root…, then file, document, chunk… for each file by path, and at last end with the sha256 of every byte
before it. The numbers of the format change only with FORMAT_VERSION.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from recall_core import marks
from recall_core.errors import StoreError, why_unread
from recall_core.ingest.metadata import unique, why_unfit
from recall_core.marks import Mark
from recall_core.shell import Hint
from recall_core.store.values import KnownRoot
from recall_core.text import chunk_id, embedded_hash, nfc, spaced
from recall_core.types import NewChunk, NewFile, Root, Span, StoreInfo, Vector

FORMAT_VERSION = 1


class ExportLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """One line of an export."""


class Header(ExportLine, frozen=True, tag="header"):
    """What the store is. embeddings: False when the chunks come without vectors."""

    recall_export: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    digest: str
    documents: int
    chunks: int
    embeddings: bool


class RootLine(ExportLine, frozen=True, tag="root"):
    """A remembered root, field by field."""

    folder: str
    globs: tuple[str, ...]
    ignores: tuple[str, ...]
    parser: str
    tags: tuple[str, ...]
    source: str | None
    meta: tuple[tuple[str, str | int | float | bool | None], ...]
    hidden: bool
    gitignore: bool
    follow: bool
    encoding: str | msgspec.UnsetType = msgspec.UNSET
    """Absent for UTF-8."""
    left_out: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Paths that were removed and are not read again; absent where there are none."""


class FileLine(ExportLine, frozen=True, tag="file"):
    """A file. root: the number of its root line, from 0, or null."""

    path: str
    os_path: str
    size: int
    mtime_ns: int
    hash: str
    settings: str
    root: int | None


class DocumentLine(ExportLine, frozen=True, tag="document"):
    """A document of the file above. read_by: see `text.document_id`. marks: as `marks.dumped` spells them. Each is
    absent where there is none."""

    id: str
    path: str
    hash: str
    title: str
    size: int
    tags: tuple[str, ...]
    source: str | None
    meta: dict[str, Any]
    read_by: str | msgspec.UnsetType = msgspec.UNSET
    marks: list[list[str | int]] | msgspec.UnsetType = msgspec.UNSET


class ChunkLine(ExportLine, frozen=True, tag="chunk"):
    """A chunk of the document above. vector: float32 in base64, null without a feature; absent by request.

    windows: of how many the vector is the mean; absent for one.  is_title: see types.Chunk; absent where it is false.
    place: the same; absent for none.
    """

    id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    tokens: int
    heading: str | None
    text: str
    vector: str | msgspec.UnsetType | None = msgspec.UNSET
    windows: int | msgspec.UnsetType = msgspec.UNSET
    is_title: bool | msgspec.UnsetType = msgspec.UNSET
    place: str | msgspec.UnsetType = msgspec.UNSET


class End(ExportLine, frozen=True, tag="end"):
    """The last line. sha256: of every byte before it."""

    sha256: str


AnyLine = Header | RootLine | FileLine | DocumentLine | ChunkLine | End


def header_of(info: StoreInfo, *, embeddings: bool) -> Header:
    """The first line of a store's export."""
    return Header(
        FORMAT_VERSION,
        info.embedder,
        info.dimension,
        info.counter,
        info.chunker,
        info.digest,
        info.documents,
        info.chunks,
        embeddings,
    )


def lines_of(file: NewFile, roots: tuple[Root, ...], *, embeddings: bool) -> Iterator[ExportLine]:
    """A file, its documents and their chunks."""
    root = roots.index(file.root) if file.root is not None else None
    yield FileLine(file.path, file.os_path, file.size, file.mtime_ns, file.hash, file.settings, root)
    for document in file.documents:
        doc_id = document.id
        labels = document.tags, document.source, dict(document.meta)
        read = document.read_by or msgspec.UNSET, _spelled(document.marks)
        yield DocumentLine(doc_id, document.path, document.hash, document.title, document.size, *labels, *read)
        for chunk in document.chunks:
            yield _chunk_line(chunk, doc_id, embeddings=embeddings)


def _chunk_line(chunk: NewChunk, doc_id: str, *, embeddings: bool) -> ChunkLine:
    span = chunk.span
    encoded = b64encode(chunk.vector).decode() if chunk.vector else None
    return ChunkLine(
        chunk_id(doc_id, span.offset),
        span.offset,
        span.end,
        chunk.line_start,
        chunk.line_end,
        span.tokens,
        span.heading,
        chunk.text,
        encoded if embeddings else msgspec.UNSET,
        chunk.windows if embeddings and chunk.windows > 1 else msgspec.UNSET,
        chunk.is_title or msgspec.UNSET,
        chunk.place or msgspec.UNSET,
    )


def encoded(line: ExportLine) -> str:
    """The line as JSON: keys in the order of their declaration, no spaces, a newline at the end."""
    fields = msgspec.to_builtins(line)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def decoded(raw_lines: Iterable[bytes]) -> Iterator[AnyLine]:
    """Every line of an export, checked; End comes only after the checksum has agreed and nothing follows.

    Raises StoreError `import_invalid` with the number of the line.
    """
    checksum = sha256()
    last: AnyLine | None = None
    for number, raw in enumerate(raw_lines, 1):
        if isinstance(last, End):
            raise invalid(f"line {number} follows the end")
        last = _decoded(raw, number)
        if (number == 1) != isinstance(last, Header):
            raise invalid("the first line, and only the first, must be a header")
        if isinstance(last, End) and last.sha256 != checksum.hexdigest():
            raise invalid("its bytes are not those that were written")
        checksum.update(raw)
        yield last
    if not isinstance(last, End):
        raise invalid("it ends before its end line")


def _decoded(raw: bytes, number: int) -> AnyLine:
    try:
        line: AnyLine = msgspec.convert(json.loads(raw, object_pairs_hook=unique), AnyLine)
    except UnicodeDecodeError as error:
        raise invalid(f"line {number}: {why_unread(error)}") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:  # JSON errors are ValueErrors
        raise invalid(f"line {number}: {error}") from error
    if isinstance(line, FileLine) and line.os_path and not _is_own_place(line):
        raise invalid(f"line {number}: {line.path} is said to lie at {line.os_path!a}")
    if isinstance(line, DocumentLine) and (reason := why_unfit(line.meta)):
        raise invalid(f"line {number}: {reason}")
    return line


def _is_own_place(line: FileLine) -> bool:
    """Return True if the file lies where its path says, without a detour through other folders."""
    names = line.os_path.removeprefix("/").split("/")
    return nfc(line.os_path) == line.path and not {"", ".", ".."} & {*names}


def root_line(known: KnownRoot) -> RootLine:
    """A root as it is remembered. Whether it is active is this store's affair alone."""
    fields = {**known.root._asdict(), "encoding": known.root.encoding or msgspec.UNSET}
    return RootLine(**fields, left_out=known.left_out or msgspec.UNSET)


def root_of(line: RootLine) -> KnownRoot:
    """The root of a line, which nobody has accepted yet."""
    fields = {name: value for name, value in msgspec.structs.asdict(line).items() if value is not msgspec.UNSET}
    left_out = fields.pop("left_out", ())
    return KnownRoot(Root(**fields), False, left_out)


def read_by_of(line: DocumentLine) -> str:
    """How the document was read."""
    return "" if isinstance(line.read_by, msgspec.UnsetType) else line.read_by


def marks_of(line: DocumentLine) -> tuple[Mark, ...]:
    """The document's marks. Raises StoreError `import_invalid`."""
    if isinstance(line.marks, msgspec.UnsetType):
        return ()
    try:
        return marks.loaded(line.marks)
    except ValueError as error:
        raise invalid(f"document {line.id}: {error}") from error


def _spelled(found: Sequence[Mark]) -> list[list[str | int]] | msgspec.UnsetType:
    return marks.runs(found) if found else msgspec.UNSET


def chunk_of(line: ChunkLine, document: DocumentLine) -> NewChunk:
    """The chunk of a line that follows its document's.

    vector: None where the line has none to offer, b"" for a text without a feature.
    """
    if line.end - line.offset != len(line.text):
        raise invalid(f"chunk {line.id} is not as long as it says")
    is_title = line.is_title is True
    if is_title and not document.title.startswith(line.text, line.offset):
        raise invalid(f"chunk {line.id} is said to be the title, and is not")
    search_text = spaced(line.text)
    return NewChunk(
        Span(line.offset, line.end, line.tokens, line.heading),
        line.line_start,
        line.line_end,
        line.text,
        search_text if search_text != line.text else None,
        embedded_hash(document.path, "" if is_title else document.title, line.text),
        _vector(line),
        _windows(line),
        is_title,
        None if isinstance(line.place, msgspec.UnsetType) else line.place,
    )


def _vector(line: ChunkLine) -> Vector | None:
    if isinstance(line.vector, msgspec.UnsetType):
        return None
    try:
        return b64decode(line.vector or "", validate=True)
    except ValueError as error:
        raise invalid(f"chunk {line.id}: {error}") from error


def _windows(line: ChunkLine) -> int:
    if isinstance(line.windows, msgspec.UnsetType):
        return 1
    if line.windows < 2 or not line.vector:
        raise invalid(f"chunk {line.id} has a vector of {line.windows} windows, or none of so many")
    return line.windows


def invalid(reason: str) -> StoreError:
    """What is wrong with an export, as an error that says nothing was imported."""
    return StoreError(
        "import_invalid",
        f"This is no complete export: {reason}. Nothing was imported.",
        hint=f"{Hint('export', out='FILE')}, once more, from the store it came from",
    )
