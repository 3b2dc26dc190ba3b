"""The text parser: a file is one document; Markdown is known by its suffix."""

from __future__ import annotations

from recall_core.ingest.decode import decode
from recall_core.ingest.outline import first_heading
from recall_core.ports import ParsedDocument

_MARKDOWN = (".md", ".markdown")


class Text:
    """Reads UTF-8 text. The title is a Markdown file's first heading, else the file's name."""

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file.  Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        markdown = path.lower().endswith(_MARKDOWN)
        title = (first_heading(text) if markdown else "") or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), {}, markdown),)
