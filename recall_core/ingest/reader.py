"""What stands between a file's bytes and its documents: unpacking, choosing a parser, decoding, and running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest import kinds
from recall_core.ingest.decode import UTF_8, decoded
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.packed import Unpacked, unpacked
from recall_core.ingest.parse import identity, parser
from recall_core.ingest.parse.worker import AHEAD_BYTES, Worker
from recall_core.marks import why_unfit as why_no_marks
from recall_core.ports import ParsedDocument, Parser
from recall_core.types import Root

if TYPE_CHECKING:
    from recall_core.ingest.parse.pool import WorkerPool

BINARY = "binary"
"""The encoding of what is no text."""


class FileText(NamedTuple):
    """What a file was made of. parser: its name and version. read_by: see `text.document_id`."""

    documents: tuple[ParsedDocument, ...]
    parser: str
    read_by: str
    notes: tuple[str, ...]


class _Prepared(NamedTuple):
    """A file that its parser may be called with. path: the name that the parser is told."""

    name: str
    parser: Parser
    content: bytes
    path: str
    encoding: str
    packing: str
    notes: tuple[str, ...]


class FileReader:
    """Reads files, one after the other, with one process for all foreign code, and more of them for what is begun
    before its turn. To be closed, or used in a `with`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._worker = Worker()
        self._pool: WorkerPool | None = None
        self._foreign_parsers: dict[str, bool] = {}
        self._told: tuple[bytes, str, Unpacked] | None = None  # a packed file that `parser_of` was asked of last

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
        """The identity of the parser that would read this file.

        Raises IngestError `not_read`, `bad_archive`, `unpacked_too_large`, `parser_unavailable`.
        """
        inside = self._unpacked(raw, path)
        self._told = (raw, path, inside) if inside.packing else None
        return identity(self._choice(inside.content, inside.path, root))

    def read(self, raw: bytes, *, path: str, root: Root, digest: str) -> FileText:
        """The documents of a file. digest: sha256 of raw.

        Raises IngestError where the bytes are not what their parser reads, `bad_metadata` where it finds what no
        store can keep; UsageError `unknown_parser`, `parser_unavailable`, `unknown_encoding`.
        """
        made = self._prepared(raw, path, root)
        chosen, own = made.parser, identity(made.name)
        found: Iterable[ParsedDocument]
        if getattr(chosen, "is_foreign", False):
            found = self._foreign(made, path, digest)
        else:
            found = chosen.parse(made.content, path=made.path, digest=digest)
        is_plain = getattr(chosen, "is_verbatim", False) and made.encoding == UTF_8 and not made.packing
        packing = f"{made.packing}+" if made.packing else ""
        read_by = "" if is_plain else f"{_versioned(own)};{packing}{made.encoding}"
        documents = tuple(_checked(found, path, None if made.content is raw else len(raw)))
        return FileText(documents, own, read_by, (*made.notes, *(note for each in documents for note in each.notes)))

    def is_foreign(self, path: str, size: int, root: Root) -> bool:
        """Whether foreign code reads a file, as far as its name tells, and it is small enough to be begun early.

        Raises what `parser_of` raises.
        """
        name = self._choice(b"", path, root)
        if name not in self._foreign_parsers:
            self._foreign_parsers[name] = getattr(parser(name), "is_foreign", False)
        return self._foreign_parsers[name] and size <= AHEAD_BYTES

    def has_room(self, size: int) -> bool:
        """Whether a file of so many bytes may be begun now: on one core none ever is."""
        if self._pool is not None:
            return self._pool.has_room(size)
        from recall_core.ingest.parse.pool import cores  # noqa: PLC0415 - only foreign code needs it

        return cores() > 1

    def begin(self, raw: bytes, *, path: str, root: Root, digest: str) -> None:
        """Have a file parsed before its turn, if foreign code does it. A `read` of the same bytes waits for it.

        Raises what `read` raises of what comes before the parser.
        """
        made = self._prepared(raw, path, root)
        if not getattr(made.parser, "is_foreign", False):
            return
        if self._pool is None:
            from recall_core.ingest.parse.pool import WorkerPool, cores  # noqa: PLC0415 - as above

            self._pool = WorkerPool(cores())
        self._pool.begin(made.name, made.content, key=path, path=made.path, digest=digest)

    def forget(self, path: str) -> None:
        """The turn of a file that may have been begun is over."""
        if self._pool is not None:
            self._pool.forget(path)

    def _prepared(self, raw: bytes, path: str, root: Root) -> _Prepared:
        """Unpacked, and decoded where its parser reads text."""
        inside = self._unpacked(raw, path)
        name = self._choice(inside.content, inside.path, root)
        chosen = parser(name)
        notes: tuple[str, ...] = ()
        content, encoding = inside.content, BINARY
        if getattr(chosen, "reads", "bytes") == "text":
            content, encoding, notes = decoded(
                content, path=path, parser=name, encoding=root.encoding, guess=self._config.guess_encoding
            )
        named = inside.path if inside.packing else path
        return _Prepared(name, chosen, content, named, encoding, inside.packing, notes)

    def _unpacked(self, raw: bytes, path: str) -> Unpacked:
        """What is in the file, unpacked once for `parser_of` and a `read` that follows it."""
        told, self._told = self._told, None
        if told is not None and told[0] is raw and told[1] == path:
            return told[2]
        return unpacked(raw, path=path, most=self._config.max_file_bytes)

    def _foreign(self, made: _Prepared, key: str, digest: str) -> Iterable[ParsedDocument]:
        """What a parser makes of a file in a process of its own; source code that is too much for a grammar is read
        by its lines. key: what it was begun by."""
        name, content, path = made.name, made.content, made.path
        try:
            begun = self._pool.parsed(name, key=key, digest=digest) if self._pool else None
            return self._worker.parse(name, content, path=path, digest=digest) if begun is None else begun
        except IngestError as error:
            if name != "code" or error.code not in ("parser_crashed", "parser_timeout"):
                raise
            note = "its grammar failed on it: definitions are found by lines alone"
            found = parser("outline").parse(content, path=path, digest=digest)
            return [document._replace(notes=(*document.notes, note)) for document in found]

    def _choice(self, raw: bytes, path: str, root: Root) -> str:
        return kinds.choose(path, raw, parser=root.parser, overrides=self._config.parsers)


def _versioned(own: str) -> str:
    return own if "@" in own else f"{own}@1"


def _checked(found: Iterable[ParsedDocument], path: str, size: int | None) -> Iterator[ParsedDocument]:
    """The documents, each of which a store can keep. size: of the file, where the parser was given other bytes."""
    for document in found:
        name = path if document.record is None else f"{path}#{document.record}"
        if reason := why_unfit(document.meta):
            raise IngestError("bad_metadata", f"{name}: {reason}.")
        if reason := why_no_marks(document.marks, len(document.text)):
            raise IngestError("parser_crashed", f"{name}: its parser is wrong: {reason}.")
        yield document if size is None or document.record is not None else document._replace(size=size)
