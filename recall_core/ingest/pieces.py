"""Pieces: chunks that a program brings along, and the documents they make in a store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from recall_core.errors import UsageError
from recall_core.ingest.metadata import why_unfit
from recall_core.text import Counter, embedded_hash, spaced
from recall_core.types import NewChunk, NewDocument, NewFile, Span

NO_METADATA: Mapping[str, Any] = MappingProxyType({})


class Piece(NamedTuple):
    """A chunk on its way to a store: a verbatim slice of its document that begins at offset (code points)."""

    doc_id: str
    chunk_index: int
    """From 0, by offset."""
    content: str
    offset: int
    title: str = ""
    heading: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = NO_METADATA


def file_of(path: str, pieces: Sequence[Piece], *, mtime_ns: int, counter: Counter) -> NewFile:
    """A document of these pieces, by chunk_index, without vectors. That no file is behind it, an empty os_path says.

    Raises UsageError `bad_pieces` unless they are slices of one text that they cover without a gap, and their
    metadata can be kept.
    """
    if not path:
        raise bad_pieces(path, "they have no doc_id")
    text = _joined(path, pieces)
    raw = text.encode()
    tags = tuple(sorted({tag for piece in pieces for tag in piece.tags}))
    metadata = {key: value for piece in pieces for key, value in piece.metadata.items()}
    if reason := why_unfit(metadata):
        raise UsageError("bad_pieces", f"The pieces of {path!r} cannot be kept: {reason}.")
    chunks = tuple(_new_chunk(path, piece, text, counter) for piece in pieces)
    spans = [each.span for each in chunks]
    layout = json.dumps([spans, pieces[0].title, tags, metadata], ensure_ascii=False, sort_keys=True)
    digest = sha256(raw).hexdigest()
    document = NewDocument(path, digest, pieces[0].title, len(raw), tags, None, metadata, chunks)
    settings = f"pieces {sha256(layout.encode()).hexdigest()}"
    return NewFile(path, "", len(raw), mtime_ns, digest, settings, None, (document,))


def bad_pieces(doc_id: str, reason: str) -> UsageError:
    """The error for pieces that cannot be a document."""
    message = f"The pieces of {doc_id!r} are not one text: {reason}."
    return UsageError("bad_pieces", message, hint="index(chunk(segments), store)")


def _joined(path: str, pieces: Sequence[Piece]) -> str:
    """The text that the pieces, by chunk_index, are slices of."""
    text = ""
    last = -1
    for number, piece in enumerate(pieces):
        if piece.chunk_index != number:
            raise bad_pieces(path, f"there is no chunk_index {number}")
        shared = len(text) - piece.offset
        if not (last < piece.offset <= len(text) < piece.offset + len(piece.content)):
            raise bad_pieces(path, f"chunk_index {number} does not follow the one before without a gap")
        if text[piece.offset :] != piece.content[:shared]:
            raise bad_pieces(path, f"chunk_index {number} disagrees with the one before where they overlap")
        text += piece.content[shared:]
        last = piece.offset
    return text


def _new_chunk(path: str, piece: Piece, text: str, counter: Counter) -> NewChunk:
    content = piece.content
    end = piece.offset + len(content)
    search_text = spaced(content)
    return NewChunk(
        span=Span(piece.offset, end, counter.count(content), piece.heading),
        line_start=1 + text.count("\n", 0, piece.offset),
        line_end=1 + text.count("\n", 0, end - 1),
        text=content,
        search_text=None if search_text == content else search_text,
        text_hash=embedded_hash(path, piece.title, content),
        vector=None,
    )
