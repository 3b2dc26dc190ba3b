"""Files to documents, and documents to pieces, with Recall's parsers and chunker."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from recall_core.config import Config
from recall_core.errors import IngestError, why_unread
from recall_core.ingest.reader import FileReader, read_raw
from recall_core.interfaces.documents import Document, awaitable
from recall_core.ports import ParsedDocument
from recall_core.steps import ChunkPolicy, Segment, chunk
from recall_core.types import Root


class FileLoader:
    """Reads a file of any kind that `recall add` reads.

    encoding: of a file that does not declare one; "" for UTF-8.
    """

    parser: ClassVar[str] = "auto"
    """Name of the parser, as for `recall add --parser`."""

    def __init__(self, path: Path | str, *, encoding: str = "") -> None:
        self._path = Path(path)
        self._root = Root("", parser=self.parser, encoding=encoding)

    def load(self) -> list[Document]:
        """Return the documents of the file, in order: one, or one for each record or page with text.

        The id is the path, with `#record` or `#page=N`. metadata: source (the path), title, page, and the file's own.
        Raises IngestError if the file cannot be read, UsageError for an unknown encoding or a missing package.
        """
        name, config = str(self._path), Config()
        try:
            raw = read_raw(self._path, path=name, config=config)
        except (OSError, ValueError) as error:
            message = f"{name} cannot be read: {why_unread(error)}."
            raise IngestError("unreadable", message, hint="check the path") from error
        with FileReader(config) as reader:
            parsed = reader.read(raw.content, path=name, root=self._root, digest=raw.digest).documents
        return [page for each in parsed for page in _pages(name, each)]

    aload = awaitable(load)


class TextLoader(FileLoader):
    """Reads a file of plain text."""

    parser = "text"


class PdfLoader(FileLoader):
    """Reads a PDF, one document for each page with text. Needs the extra `pdf`."""

    parser = "pdf"


class TextSplitter:
    """Cuts documents into pieces of at most policy.chunk_tokens, at paragraphs and sentences where possible."""

    def __init__(self, policy: ChunkPolicy = ChunkPolicy()) -> None:
        self._policy = policy

    def split(self, documents: Iterable[Document]) -> list[Document]:
        """Return the pieces of the documents, in order, without embeddings.

        The id is the document's with `#chunk=N`, N from 0. metadata: the document's, document_id, chunk_index, and
        offset (code points). Raises UsageError for an unknown counter, ConfigError for contradicting limits.
        """
        segments = [Segment(each.id, each.content, metadata=each.metadata) for each in documents]
        return [
            Document(
                f"{piece.doc_id}#chunk={piece.chunk_index}",
                piece.content,
                {
                    **piece.metadata,
                    "document_id": piece.doc_id,
                    "chunk_index": piece.chunk_index,
                    "offset": piece.offset,
                },
            )
            for piece in chunk(segments, self._policy)
        ]


def _pages(path: str, parsed: ParsedDocument) -> list[Document]:
    """Return a document, or its pages with text if it has pages."""
    name = path if parsed.record is None else f"{path}#{parsed.record}"
    metadata = {**parsed.meta, "source": path, "title": parsed.title}
    starts = [mark.offset for mark in parsed.marks if mark.kind == "page"]
    if not starts:
        return [Document(name, parsed.text, metadata)]
    spans = enumerate(pairwise([*starts, len(parsed.text)]), start=1)
    pages = ((page, parsed.text[start:end].strip()) for page, (start, end) in spans)
    return [Document(f"{name}#page={page}", text, {**metadata, "page": page}) for page, text in pages if text]
