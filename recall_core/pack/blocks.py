"""A hit as a block of its own: whole, or as much of it as fits."""

from __future__ import annotations

from typing import Literal, cast

from recall_core.pack.growth import Span
from recall_core.pack.layout import Draft, Layout, draft
from recall_core.types import Block, Chunk, Cut, Hit, Omission


def chunk_of(hit: Hit) -> Chunk:
    """The chunk of a candidate: a document without text comes with a chunk without text."""
    return cast(Chunk, hit.chunk)


def whole(sheet: Layout, hit: Hit, *, number: int) -> Draft:
    """The whole chunk as it will be shown."""
    return part(sheet, hit, (0, len(chunk_of(hit).text)), number=number)


def part(sheet: Layout, hit: Hit, span: Span, *, number: int) -> Draft:
    """A span of the chunk's text as it will be shown; its last line is that of its last character."""
    chunk, (start, end) = chunk_of(hit), span
    text = chunk.text[start:end]
    line = chunk.line_start + chunk.text.count("\n", 0, start)
    lines = (line, line + text.count("\n", 0, max(len(text) - 1, 0)))
    unit = hit.passage or chunk
    has_lines = (chunk.place or "").startswith("line ")  # a header says all lines of its block, as of any text
    block = Block(
        number,
        hit.doc,
        chunk.offset + start,
        chunk.offset + end,
        *(lines if len(text) < len(chunk.text) else (chunk.line_start, chunk.line_end)),
        text,
        (chunk.id,),
        (hit.rank,),
        _cut(span, len(chunk.text)),
        unit.heading or "",
        chunk.place if has_lines else unit.place,
        sheet.imitation.search(text) is not None,
    )
    return draft(sheet, block)


def _cut(span: Span, size: int) -> Cut | None:
    start, end = span
    if start > 0:
        return "both" if end < size else "start"
    return "end" if end < size else None


def omission(
    reason: Literal["empty", "budget", "diversity", "duplicate", "dropped", "copy"], hit: Hit, *, count: int = 1
) -> Omission:
    """Why a hit is not packed; count: with so many that come behind it."""
    return Omission(reason, hit.rank, count, chunk_of(hit).id, hit.doc.path)
