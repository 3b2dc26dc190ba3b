"""What stands between a file's bytes and its documents: unpacking, choosing a parser, decoding, and running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest import kinds
from recall_core.ingest.decode import UTF_8, decoded
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.packed import Unpacked, unpacked
from recall_core.ingest.parse import identity, parser
from recall_core.ingest.parse.worker import Worker
from recall_core.marks import why_unfit as why_no_marks
from recall_core.ports import ParsedDocument
from recall_core.types import Root

BINARY = "binary"
"""The encoding of what is no text."""


class FileText(NamedTuple):
    """What a file was made of. parser: its name and version. read_by: see `text.document_id`."""

    documents: tuple[ParsedDocument, ...]
    parser: str
    read_by: str
    notes: tuple[str, ...]


class FileReader:
    """Reads files, one after the other, with one process for all foreign code. To be closed, or used in a `with`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._worker = Worker()
        self._told: tuple[bytes, str, Unpacked] | None = None  # a packed file that `parser_of` was asked of last

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if there is one."""
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
        config = self._config
        inside = self._unpacked(raw, path)
        name = self._choice(inside.content, inside.path, root)
        chosen = parser(name)
        notes: tuple[str, ...] = ()
        content, encoding = inside.content, BINARY
        if getattr(chosen, "reads", "bytes") == "text":
            content, encoding, notes = decoded(
                content, path=path, parser=name, encoding=root.encoding, guess=config.guess_encoding
            )
        own = identity(name)
        named = inside.path if inside.packing else path
        found: Iterable[ParsedDocument]
        if getattr(chosen, "is_foreign", False):
            found = self._foreign(name, content, named, digest)
        else:
            found = chosen.parse(content, path=named, digest=digest)
        is_plain = getattr(chosen, "is_verbatim", False) and encoding == UTF_8 and not inside.packing
        packing = f"{inside.packing}+" if inside.packing else ""
        read_by = "" if is_plain else f"{_versioned(own)};{packing}{encoding}"
        documents = tuple(_checked(found, path, None if content is raw else len(raw)))
        return FileText(documents, own, read_by, (*notes, *(note for each in documents for note in each.notes)))

    def _unpacked(self, raw: bytes, path: str) -> Unpacked:
        """What is in the file, unpacked once for `parser_of` and a `read` that follows it."""
        told, self._told = self._told, None
        if told is not None and told[0] is raw and told[1] == path:
            return told[2]
        return unpacked(raw, path=path, most=self._config.max_file_bytes)

    def _foreign(self, name: str, content: bytes, path: str, digest: str) -> Iterable[ParsedDocument]:
        """What a parser makes of a file in a process of its own; source code that is too much for a grammar is read
        by its lines."""
        try:
            return self._worker.parse(name, content, path=path, digest=digest)
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
