"""Export, import and copy: a store as lines of JSON, identical to the byte after every round trip."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

import msgspec

from recall_core import installing, marks
from recall_core.contract.views import TransferView
from recall_core.errors import StoreError, expect_choice, why_unread
from recall_core.ingest.metadata import unique, why_unfit
from recall_core.ingest.vectors import embed, missing_texts, with_vectors
from recall_core.marks import Mark
from recall_core.ports import Embedder
from recall_core.rql.ast import Compare, Field
from recall_core.shell import Hint, flag
from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest, store_digest
from recall_core.store.port import Store, Writer
from recall_core.store.values import KnownRoot, find_flaws
from recall_core.text import GIVEN, chunk_id, document_id, embedded_hash, given_by, nfc, utc
from recall_core.types import NewChunk, NewDocument, NewFile, Root, Span, StoreInfo, Vector

FORMAT_VERSION = 1


class ExportLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """One line of an export."""


class Header(ExportLine, frozen=True, tag="header"):
    """The store's identity and counts. embeddings: False if chunks come without vectors."""

    recall_export: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    digest: str
    documents: int
    chunks: int
    embeddings: bool
    language: str | msgspec.UnsetType = msgspec.UNSET
    """Absent for `en`."""


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
    """Removed paths that no sync reads again; absent if there are none."""


class FileLine(ExportLine, frozen=True, tag="file"):
    """A file. root: number of its root line, from 0, or null."""

    path: str
    os_path: str
    size: int
    mtime_ns: int
    hash: str
    settings: str
    root: int | None


class DocumentLine(ExportLine, frozen=True, tag="document"):
    """A document of the file above.

    read_by: see `text.document_id`; absent if there is none.
    marks: as written by `marks.dump`; absent if there are none.
    """

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
    """A chunk of the document above.

    vector: float32 in base64; null without a feature; absent on request.
    windows: number of windows that the vector is the mean of; absent for one.
    is_title: see types.Chunk; absent if false.
    place: see types.Chunk; absent if none.
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


def lines_of(file: NewFile, roots: tuple[Root, ...], *, embeddings: bool) -> Iterator[ExportLine]:
    """Yield a file, its documents and their chunks."""
    root = roots.index(file.root) if file.root is not None else None
    yield FileLine(file.path, file.os_path, file.size, file.mtime_ns, file.hash, file.settings, root)
    for document in file.documents:
        doc_id = document.id
        labels = document.tags, document.source, dict(document.meta)
        read = document.read_by or msgspec.UNSET, marks.runs(document.marks) if document.marks else msgspec.UNSET
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


def encode_line(line: ExportLine) -> str:
    """Return the line as JSON: keys in the order of their declaration, no spaces, a newline at the end."""
    fields = msgspec.to_builtins(line)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def decode_lines(raw_lines: Iterable[bytes]) -> Iterator[AnyLine]:
    """Yield every line of an export, checked. End comes only if the checksum matches and nothing follows.

    Raises StoreError `import_invalid` with the line number.
    """
    checksum = sha256()
    last: AnyLine | None = None
    for number, raw in enumerate(raw_lines, 1):
        if isinstance(last, End):
            raise invalid(f"line {number} comes after the end line")
        last = _decode_line(raw, number)
        if (number == 1) != isinstance(last, Header):
            raise invalid("the first line, and only the first, must be a header")
        if isinstance(last, End) and last.sha256 != checksum.hexdigest():
            raise invalid("its bytes changed after it was written")
        checksum.update(raw)
        yield last
    if not isinstance(last, End):
        raise invalid("its end line is missing")


def _decode_line(raw: bytes, number: int) -> AnyLine:
    try:
        line: AnyLine = msgspec.convert(json.loads(raw, object_pairs_hook=unique), AnyLine)
    except UnicodeDecodeError as error:
        raise invalid(f"line {number}: {why_unread(error)}") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:  # JSON errors are ValueErrors
        raise invalid(f"line {number}: {error}") from error
    if isinstance(line, FileLine) and line.os_path and not _is_own_place(line):
        raise invalid(f"line {number}: os_path {line.os_path!a} does not match path {line.path}")
    if isinstance(line, DocumentLine) and (reason := why_unfit(line.meta)):
        raise invalid(f"line {number}: {reason}")
    return line


def _is_own_place(line: FileLine) -> bool:
    """Return True if os_path matches the path and does not pass through other folders."""
    names = line.os_path.removeprefix("/").split("/")
    return nfc(line.os_path) == line.path and not {"", ".", ".."} & {*names}


def root_line(known: KnownRoot) -> RootLine:
    """Return the line of a root. An export does not say whether the root is active."""
    fields = {**known.root._asdict(), "encoding": known.root.encoding or msgspec.UNSET}
    return RootLine(**fields, left_out=known.left_out or msgspec.UNSET)


def root_of(line: RootLine) -> KnownRoot:
    """Return the root of a line, inactive until it is accepted."""
    fields = {name: value for name, value in msgspec.structs.asdict(line).items() if value is not msgspec.UNSET}
    left_out = fields.pop("left_out", ())
    return KnownRoot(Root(**fields), False, left_out)


def read_by_of(line: DocumentLine) -> str:
    """Return how the document was read."""
    return "" if isinstance(line.read_by, msgspec.UnsetType) else line.read_by


def marks_of(line: DocumentLine) -> tuple[Mark, ...]:
    """Return the document's marks. Raises StoreError `import_invalid`."""
    if isinstance(line.marks, msgspec.UnsetType):
        return ()
    try:
        return marks.load(line.marks)
    except ValueError as error:
        raise invalid(f"document {line.id}: {error}") from error


def chunk_of(line: ChunkLine, document: DocumentLine) -> NewChunk:
    """Return the chunk of a line that follows its document's line.

    vector: None if the line has none, b"" for a text without a feature.
    """
    if line.end - line.offset != len(line.text):
        raise invalid(f"chunk {line.id} has a text whose length does not match its span")
    is_title = line.is_title is True
    if is_title and not document.title.startswith(line.text, line.offset):
        raise invalid(f"chunk {line.id} is marked as the title but is not")
    return NewChunk(
        Span(line.offset, line.end, line.tokens, line.heading),
        line.line_start,
        line.line_end,
        line.text,
        embedded_hash(document.path, "" if is_title else document.title, line.text, read_by_of(document)),
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
        raise invalid(f"chunk {line.id} has windows {line.windows}, which needs a vector and a value of at least 2")
    return line.windows


def invalid(reason: str) -> StoreError:
    """Return the error for an invalid export, which says that nothing was imported."""
    return StoreError(
        "import_invalid",
        f"This is not a complete export: {reason}. Nothing was imported.",
        hint=_EXPORT_AGAIN,
    )


_EXPORT_AGAIN = f"export the original store again: {Hint('export', out='FILE')}"


ON_CONFLICT = ("error", "skip", "replace")


def export(
    store: Store, out: TextIO, *, embeddings: bool = True, also: Callable[[NewFile], None] | None = None
) -> TransferView:
    """Write the live content at one point in time. Only one file is in memory at a time.

    out: UTF-8 with unchanged newlines, because the checksum is over bytes.
    also: receives the same files, as stored.
    """
    checksum = sha256()

    def write(line: ExportLine) -> None:
        text = encode_line(line)
        checksum.update(text.encode())
        out.write(text)

    with store.reading():
        info, known = store.info(), store.known_roots()
        language = info.language if info.language != "en" else msgspec.UNSET
        counts = info.documents, info.chunks
        write(Header(FORMAT_VERSION, *_made_with(info), info.digest, *counts, embeddings, language))
        for each in known:
            write(root_line(each))
        roots = tuple(each.root for each in known)
        for file in store.live_files():
            for line in lines_of(file, roots, embeddings=embeddings):
                write(line)
            if also is not None:
                also(file)
    digest = checksum.hexdigest()
    out.write(encode_line(End(digest)))
    return TransferView(documents=info.documents, chunks=info.chunks, sha256=digest)


_BATCH_CHUNKS = 1_000
"""Chunks that a copy writes in one transaction."""


def copy(source: Store, target: Store) -> TransferView | None:
    """Copy the live content, the roots and the judgements in several transactions, after what the target has already.

    Given vectors stay given, and active roots active. Returns the amounts, and the checksum of an export of either
    store; or None if the target has begun as a copy of something else.
    """
    known = {file.path for file in target.files()}
    waiting: list[NewFile] = []

    def put(file: NewFile | None) -> None:
        if file is not None and file.path not in known:
            waiting.append(file)
        chunks = sum(len(document.chunks) for each in waiting for document in each.documents)
        if file is None or chunks >= _BATCH_CHUNKS:
            with target.writer() as writer:
                for each in waiting:
                    writer.put(each)
            waiting.clear()

    with source.reading(), open(os.devnull, "w", encoding="utf-8") as nowhere:
        made = source.info()
        if _made_with(target.info()) != _made_with(made):
            return None
        with target.writer() as writer:
            writer.use_language(made.language)
            for each in source.known_roots():
                writer.put_root(each.root, is_active=each.is_active)
                writer.leave_out(each.root, each.left_out)
        view = export(source, nowhere, also=put)
        put(None)
        with target.judging() as judging:
            for query, text in source.judged_queries().items():
                judging.put_query(query, text)
            for row in source.judgements():
                judging.put(row)
        is_whole = not known or (
            export(target, nowhere) == view
            and target.known_roots() == source.known_roots()
            and target.judged_queries() == source.judged_queries()
            and target.judgements() == source.judgements()
        )
    return view if is_whole else None


def _made_with(info: StoreInfo) -> tuple[str, int, str, str]:
    return info.embedder, info.dimension, info.counter, info.chunker


def import_(
    store: Store,
    source: Path,
    *,
    embedder: Embedder,
    on_conflict: str = "error",
    reembed: bool = False,
    accept_roots: bool = False,
    language: str = "auto",
) -> TransferView:
    """Import an export in one transaction. Only one file is in memory at a time.

    A root that the store does not have with equal settings stays inactive unless accept_roots is set, because a file
    from elsewhere must not decide what is read here. Returns what was put into the store.

    embedder: the store's own; it makes vectors if the export has none, or with reembed.
    language: of a store without documents; `auto` for the export's.
    on_conflict: for a file that the store knows, or a document on a live path: `error`, `skip` or `replace`.

    Raises StoreError `import_unreadable`, `import_invalid`, `import_version`, `import_conflict`, `counter_mismatch`,
    `embedder_mismatch`, `vectors_given` if such vectors would be made again; EmbedError.
    """
    expect_choice(flag("on_conflict"), on_conflict, ON_CONFLICT)
    try:
        raw_lines = source.open("rb")
    except (OSError, ValueError) as error:
        raise StoreError(
            "import_unreadable", f"{source} cannot be read: {why_unread(error)}.", hint=f"ls -l {source}"
        ) from error
    with raw_lines:
        # Read the header before taking the lock: a pipe may be silent for long.
        incoming = _Incoming(decode_lines(raw_lines), accept_roots=accept_roots)
        keep = incoming.header.embeddings and not reembed
        put, same, is_other = (0, 0), "", on_conflict != "error"
        with store.writer() as writer:
            _check_fits(incoming.header, store, embedder, source, reembed=reembed)
            own = "en" if incoming.header.language is msgspec.UNSET else incoming.header.language
            writer.use_language(own if language == "auto" else language)
            for file in incoming.files(writer):
                # The store may already have the whole export, for example after an import that was killed before its
                # report.
                if not is_other and _is_here(store, file):
                    same = same or file.path
                    continue
                if same:
                    raise _conflicting(same, source)
                is_other = True
                path = "" if on_conflict == "replace" else _conflict(store, file)
                if path and on_conflict == "error":
                    raise _conflicting(path, source)
                if not path:
                    writer.put(_with_vectors(file, store, embedder, keep=keep))
                    put = _sum(put, file)
    view = TransferView(documents=put[0], chunks=put[1], sha256=incoming.sha256)
    if same:
        view["unchanged"] = incoming.header.documents
    came = frozenset(incoming.roots)
    if waiting := [each.root.folder for each in store.known_roots() if each.root in came and not each.is_active]:
        view["inactive_roots"] = waiting
    return view


def checked_export(source: Path) -> TransferView:
    """Read and check a whole export, and return its counts. Writes nothing.

    Raises OSError if it cannot be read, StoreError `import_invalid`, `import_version`.
    """
    with source.open("rb") as raw_lines:
        incoming = _Incoming(decode_lines(raw_lines))
        header, digests = incoming.header, ["0"]
        _check_version(header)
        for file in incoming.files(None):
            if header.embeddings:
                _check_vectors(file, header.dimension)
            digests += [_digest_of(document, file) for document in file.documents]
    if store_digest(header.embedder, digest_sum(digests)) != header.digest:
        raise invalid("its documents do not match its digest")
    return TransferView(documents=header.documents, chunks=header.chunks, sha256=incoming.sha256)


def _digest_of(document: NewDocument, file: NewFile) -> str:
    """Return the hash of a document, as the importing store computes it."""
    spans = [(chunk.span.offset, chunk.span.end, chunk.span.tokens) for chunk in document.chunks]
    own_id, meta = document.id, canonical(document.meta)
    tags = sorted(set(document.tags))
    state = DocumentState(own_id, document.source, utc(file.mtime_ns), meta, document.title, spans, tags)
    return document_digest(state)


def _sum(count: tuple[int, int], file: NewFile) -> tuple[int, int]:
    return count[0] + len(file.documents), count[1] + sum(len(each.chunks) for each in file.documents)


def _is_here(store: Store, file: NewFile) -> bool:
    """Return True if the store has the file as read, and each of its documents with the same labels."""
    known = store.known(file.path)
    if known is None:
        return False
    was = known.size, known.mtime_ns, known.hash, known.settings, known.documents
    if was != (file.size, file.mtime_ns, file.hash, file.settings, len(file.documents)):
        return False
    return all(_is_live(store, document, utc(file.mtime_ns)) for document in file.documents)


def _is_live(store: Store, new: NewDocument, mtime: str) -> bool:
    if store.document_at(new.path) != new.id:
        return False
    rowid = store.rowid("doc", new.id)
    found = store.documents([rowid])[rowid]
    labels = found.title, found.source, found.tags, found.meta
    return (found.mtime, *labels) == (mtime, new.title, new.source, tuple(sorted(new.tags)), new.meta)


def _conflicting(path: str, source: Path) -> StoreError:
    return StoreError(
        "import_conflict",
        f"The store already has {path}. Nothing was imported.",
        hint=Hint("import", str(source), on_conflict="skip"),
    )


def _check_fits(header: Header, store: Store, embedder: Embedder, source: Path, *, reembed: bool) -> None:
    info = store.info()
    _check_version(header)
    if header.counter != info.counter:
        raise StoreError(
            "counter_mismatch",
            f"The export counts tokens with {header.counter}, the store with {info.counter}.",
            hint=Hint("rechunk", counter=header.counter),
        )
    same = (header.embedder, header.dimension) == (info.embedder, info.dimension)
    if header.embeddings and not reembed and not same:
        raise StoreError(
            "embedder_mismatch",
            f"The export has vectors from {header.embedder}, the store from {info.embedder}.",
            hint=Hint("import", str(source), reembed=True),
        )
    if embedder.identity != info.embedder:
        raise StoreError(
            "embedder_mismatch", f"The store has vectors from {info.embedder}, not from {embedder.identity}."
        )


def _check_version(header: Header) -> None:
    if header.recall_export != FORMAT_VERSION:
        raise StoreError(
            "import_version",
            f"This export has format {header.recall_export}; this Recall reads {FORMAT_VERSION}.",
            hint=installing.upgrade(),
        )


class _Incoming:
    """Joins the lines of an export into files and remembers roots. sha256: known after the last file."""

    def __init__(self, decoded: Iterator[AnyLine], *, accept_roots: bool = False) -> None:
        first = next(decoded)
        if not isinstance(first, Header):
            raise invalid("it has no header")
        self.header = first
        self.sha256 = ""
        self._count = (0, 0)
        self._decoded = decoded
        self._accept_roots = accept_roots
        self.roots: list[Root] = []
        self._file: FileLine | None = None
        self._documents: list[tuple[DocumentLine, list[NewChunk]]] = []

    def files(self, writer: Writer | None) -> Iterator[NewFile]:
        """Yield each file after its last line. The checksum is verified only at the end.

        writer: receives the roots; None to only read them.
        """
        for line in self._decoded:
            if isinstance(line, FileLine | End) and self._file is not None:
                file = self._finish(self._file)
                self._count = _sum(self._count, file)
                yield file
            self._take(line, writer)
        if self._count != (self.header.documents, self.header.chunks):
            raise invalid("its number of documents or chunks differs from its header")

    def _take(self, line: AnyLine, writer: Writer | None) -> None:
        match line:
            case RootLine() if self._file is None:
                known = root_of(line)
                if writer is not None:
                    writer.put_root(known.root, is_active=self._accept_roots)
                    writer.leave_out(known.root, known.left_out)
                self.roots.append(known.root)
            case FileLine():
                self._file, self._documents = line, []
            case DocumentLine() if self._file is not None and line.id == document_id(
                line.path, line.hash, read_by_of(line)
            ):
                self._documents.append((line, []))
            case ChunkLine() if self._documents and self._belongs(line):
                self._documents[-1][1].append(chunk_of(line, self._documents[-1][0]))
            case End():
                self.sha256 = line.sha256
            case _:
                raise invalid(f"a {line.__struct_config__.tag} line is out of place or has a wrong id")

    def _belongs(self, line: ChunkLine) -> bool:
        document, before = self._documents[-1]
        in_order = not before or before[-1].span.offset < line.offset
        return in_order and line.id == chunk_id(document.id, line.offset)

    def _finish(self, file: FileLine) -> NewFile:
        root = file.root
        if root is not None and not 0 <= root < len(self.roots):
            raise invalid(f"{file.path} has an unknown root number")
        for doc, chunks in self._documents:
            if chunks and (reason := marks.why_unfit(marks_of(doc), chunks[-1].span.end)):
                raise invalid(f"{doc.path}: {reason}")
        documents = tuple(
            NewDocument(
                doc.path,
                doc.hash,
                doc.title,
                doc.size,
                doc.tags,
                doc.source,
                doc.meta,
                tuple(chunks),
                read_by_of(doc),
                marks_of(doc),
            )
            for doc, chunks in self._documents
        )
        return NewFile(
            file.path,
            file.os_path,
            file.size,
            file.mtime_ns,
            file.hash,
            file.settings,
            None if root is None else self.roots[root],
            documents,
        )


def _conflict(store: Store, file: NewFile) -> str:
    """Return the path that the store already has, or ""."""
    if store.known(file.path) is not None:
        return file.path
    for document in file.documents:
        live = Compare(Field("doc", "path"), "=", document.path)
        if store.scan(live, table="doc", order=(), limit=1, offset=0)[0]:
            return document.path
    return ""


def _with_vectors(file: NewFile, store: Store, embedder: Embedder, *, keep: bool) -> NewFile:
    """Return the file with a checked vector for every chunk, or None where the store knows the text."""
    if keep:
        _check_vectors(file, embedder.dimension)
        return file
    for document in file.documents:
        if document.read_by.startswith(GIVEN):
            message = f"The vector of {document.path} was given and cannot be made again. Nothing was imported."
            raise StoreError("vectors_given", message, hint=f"leave out {flag('reembed')}, or {_EXPORT_AGAIN}")
    missing = missing_texts([file], store)
    answers = embed(list(missing.values()), embedder) if missing else []
    return with_vectors(file, dict(zip(missing, answers, strict=True)))


def _check_vectors(file: NewFile, dimension: int) -> None:
    for document in file.documents:
        vectors = [chunk.vector for chunk in document.chunks if chunk.vector is not None]
        if len(vectors) < len(document.chunks) or find_flaws(vectors, dimension=dimension):
            raise invalid(f"{document.path} has a chunk with a missing or invalid vector")
        if document.read_by.startswith(GIVEN) and [document.read_by] != [given_by(each) for each in vectors]:
            raise invalid(f"{document.path} has another vector than it was given")
