"""The text parser: UTF-8 bytes become the text of one document; Markdown is known by its suffix."""

from __future__ import annotations

from recall_core.errors import IngestError
from recall_core.ingest.outline import first_heading
from recall_core.ports import ParsedDocument

_PROBE_BYTES = 8192  # where a NUL marks a file as binary, as git does

_BOM = b"\xef\xbb\xbf"


def decode(raw: bytes, *, path: str) -> str:
    """The text of UTF-8 bytes without their byte order mark; line ends stay as they are.

    Raises IngestError `binary_file` for a NUL in the first 8 KiB, `not_utf8` with the offset of the first bad byte.
    """
    if b"\0" in raw[:_PROBE_BYTES]:
        raise IngestError("binary_file", f"{path} is a binary file: it has a NUL byte.")
    try:
        return raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if raw.startswith(_BOM) else 0)
        raise IngestError(
            "not_utf8",
            f"{path} is not UTF-8: byte 0x{raw[offset]:02x} at offset {offset}.",
            hint="re-save it as UTF-8",
            details={"path": path, "offset": offset},
        ) from error


_MARKDOWN = (".md", ".markdown")


class Text:
    """Reads UTF-8 text. The title is a Markdown file's first heading, else the file's name."""

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file.  Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        markdown = path.lower().endswith(_MARKDOWN)
        title = (first_heading(text) if markdown else "") or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), {}, markdown),)
