"""Decoding: bytes become text, or an error that says where they are not text."""

from __future__ import annotations

from recall_core.errors import IngestError

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
