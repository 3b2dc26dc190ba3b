"""The document of a file in markup: title, tags and metadata by what it says of itself, and by its headings."""

from __future__ import annotations

from collections.abc import Mapping

from recall_core.ingest.parse.front_matter import NONE, FrontMatter, Value, sorted_out
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument


def document(
    raw: bytes,
    text: str,
    marks: tuple[Mark, ...],
    *,
    path: str,
    digest: str,
    front: FrontMatter = NONE,
    said: Mapping[str, Value] | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[ParsedDocument, ...]:
    """The one document of a file. said: by key, what the markup itself says of it, where the front matter does not.

    The title is that of the front matter, else that of `said`, else the first heading with a name, else the file's
    name.
    """
    title, tags, meta = sorted_out(said or {})
    title = front.title or title or next((mark.name for mark in marks if mark.name), "") or path.rpartition("/")[2]
    return (
        ParsedDocument(
            None,
            text,
            title,
            digest,
            len(raw),
            {**meta, **front.meta},
            marks,
            tags=tuple(dict.fromkeys((*front.tags, *tags))),
            notes=(*front.notes, *notes),
        ),
    )
