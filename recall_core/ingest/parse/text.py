"""The text parser: UTF-8 bytes become the text of one document; Markdown is known by its suffix."""

from __future__ import annotations

from recall_core.errors import IngestError
from recall_core.ingest import parse
from recall_core.ingest.outline import first_heading, outlined
from recall_core.ports import ParsedDocument
from recall_core.shell import flag

_PROBE_BYTES = 8192  # where a NUL marks a file as binary, as git does

_CONTROLS = bytes((*range(8), 11, *range(14, 27), *range(28, 32), 127))  # none of which text has much
_ENOUGH = 64  # bytes to tell by

_BOM = b"\xef\xbb\xbf"
_RESAVE = f"re-save it as UTF-8, or {flag('encoding')} NAME"


def decode(raw: bytes, *, path: str) -> str:
    """The text of UTF-8 bytes without their byte order mark; line ends stay as they are.

    Raises IngestError `binary_file` for a NUL in the first 8 KiB, `not_utf8` with the offset of the first bad byte;
    either says what the file is where its first bytes tell, with the `kind` among its details.
    """
    if b"\0" in raw[:_PROBE_BYTES]:
        raise why_binary(raw, path)
    try:
        return raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if raw.startswith(_BOM) else 0)
        known = _no_text("not_utf8", raw, path, offset=offset)
        if known is None and _is_full_of_controls(raw[:_PROBE_BYTES]):
            message = f"{path} is a binary file: many of its bytes are control characters."
            raise IngestError("binary_file", message) from error
        raise known or IngestError(
            "not_utf8",
            f"{path} is not UTF-8: byte 0x{raw[offset]:02x} at offset {offset}.",
            hint=_RESAVE,
            details={"path": path, "offset": offset},
        ) from error


def why_binary(raw: bytes, path: str) -> IngestError:
    """The error for a file with a NUL byte, which says what it is where its first bytes tell."""
    message = f"{path} is a binary file: it has a NUL byte."
    return _no_text("binary_file", raw, path) or IngestError("binary_file", message)


def _is_full_of_controls(head: bytes) -> bool:
    """Whether these are bytes of no text in any encoding; compressed ones have one in ten."""
    return len(head) >= _ENOUGH and len(head) - len(head.translate(None, _CONTROLS)) > len(head) / 16


def _no_text(code: str, raw: bytes, path: str, **details: int) -> IngestError | None:
    """What the file is instead; None where nobody knows."""

    kind = parse.magic.kind_of(raw, path=path)
    if kind is None:
        return None
    told = {"path": path, **details, "kind": kind.label}
    if kind.label.startswith("UTF-"):
        return IngestError(code, f"{path} is {kind.name}, not in UTF-8.", hint=_RESAVE, details=told)
    return IngestError(code, f"{path} is {kind.name}, not text.", details=told)


_MARKDOWN = (".md", ".markdown")


def is_markdown(path: str) -> bool:
    """Whether a file of this name is read as Markdown."""
    return path.lower().endswith(_MARKDOWN)


class Text:
    """Reads UTF-8 text. The title is a Markdown file's first heading, else the file's name."""

    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file.  Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        markdown = is_markdown(path)
        title = (first_heading(text) if markdown else "") or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), {}, outlined(text, markdown=markdown)),)
