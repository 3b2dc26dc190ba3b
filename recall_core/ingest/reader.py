"""What stands between a file's bytes and its documents: unpacking, choosing a parser, decoding, and running it.

Every parser has a limit of processor time, since it runs in a worker. In this process only our own parsers read, and
only small files with short lines, on which even quadratic time is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest import kinds, parse
from recall_core.ingest.decode import UTF_8, decoded
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.packed import Unpacked, unpacked
from recall_core.ingest.parse import BUILT_IN, identity, parser
from recall_core.ingest.parse.worker import AHEAD_BYTES, Worker
from recall_core.marks import why_unfit as why_no_marks
from recall_core.ports import ParsedDocument, Parser
from recall_core.types import Root

if TYPE_CHECKING:
    from recall_core.ingest.parse.pool import WorkerPool

BINARY = "binary"
"""The encoding of what is no text."""

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
    """A file that its parser may be called with. path: the name that the parser is told."""

    name: str
    parser: Parser
    content: bytes
    path: str
    encoding: str
    packing: str
    notes: tuple[str, ...]


class FileReader:
    """Reads files, one after the other, with one worker for all that need one, and more workers for files that are
    begun before their turn. Close it, or use it in a `with`."""

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
        if _needs_worker(made):
            found = self._in_worker(made, path, digest)
        else:
            found = chosen.parse(made.content, path=made.path, digest=digest)
        is_plain = getattr(chosen, "is_verbatim", False) and made.encoding == UTF_8 and not made.packing
        packing = f"{made.packing}+" if made.packing else ""
        read_by = "" if is_plain else f"{_versioned(own)};{packing}{made.encoding}"
        documents = tuple(_checked(found, path, None if made.content is raw else len(raw)))
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
        """Whether a file of so many bytes may be begun now: on one core none ever is."""
        if self._pool is not None:
            return self._pool.has_room(size)

        return parse.pool.cores() > 1

    def begin(self, raw: bytes, *, path: str, root: Root, digest: str) -> None:
        """Have a file parsed before its turn, if a worker does it. A `read` of the same bytes waits for it.

        Raises what `read` raises of what comes before the parser.
        """
        made = self._prepared(raw, path, root)
        if not _needs_worker(made):
            return
        if self._pool is None:
            self._pool = parse.pool.WorkerPool(parse.pool.cores())
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

    def _in_worker(self, made: _Prepared, key: str, digest: str) -> Iterable[ParsedDocument]:
        """Return what a worker makes of a file. Source code that is too much for a grammar is read by its lines.

        key: the name that it was begun by.
        """
        name, content, path = made.name, made.content, made.path
        try:
            begun = self._pool.parsed(name, key=key, digest=digest) if self._pool else None
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
