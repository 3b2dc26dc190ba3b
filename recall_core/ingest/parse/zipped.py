"""ZIP archives read in memory, entry by entry, within size limits. Nothing is written to disk."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from recall_core.errors import IngestError
from recall_core.ingest.parse.magic import instead

MOST_UNPACKED = 64 << 20  # total unpacked bytes of one file
MOST_ENTRIES = 10_000
HIGHEST_RATIO = 100  # unpacked to packed size of an entry
RATIO_FROM = 1 << 20  # unpacked bytes; smaller entries may have any ratio

_STEP = 1 << 16
_ENTRY = b"PK\x01\x02"
_BROKEN = (
    BadZipFile,
    EOFError,
    IndexError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""Errors of the standard library for damaged or encrypted archives and unsupported compression."""


class Archive:
    """Entries of one ZIP file.

    code: error code for an archive that cannot be read. Raises IngestError with it, and `unpacked_too_large`.
    """

    def __init__(self, raw: bytes, *, path: str, code: str) -> None:
        self._path, self._code = path, code
        self._left = MOST_UNPACKED
        if raw.count(_ENTRY) > MOST_ENTRIES:
            raise self.bad(f"it has more than {MOST_ENTRIES} entries")
        try:
            self._zip = ZipFile(BytesIO(raw))
            self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        except _BROKEN as error:
            kind = "" if raw.startswith(b"PK") else instead(raw, path=path)
            raise self.bad(f"it is {kind}" if kind else "it is not a ZIP archive, or it is damaged") from error

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return the bytes of an entry. If two entries have one name, the last counts."""
        entry = self._entries.get(name)
        if entry is None:
            raise self.bad(f"it has no {name}")
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise self.bad(f"its {name} uses an unsupported compression")
        try:
            return self._unpack(entry)
        except _BROKEN as error:
            raise self.bad(f"its {name} is damaged or encrypted") from error

    def _unpack(self, entry: ZipInfo) -> bytes:
        pieces: list[bytes] = []
        size = 0
        with self._zip.open(entry) as stream:
            while piece := stream.read(_STEP):
                pieces.append(piece)
                size += len(piece)
                self._left -= len(piece)
                if self._left < 0 or (size > RATIO_FROM and size > HIGHEST_RATIO * entry.compress_size):
                    most = f"{MOST_UNPACKED >> 20} MiB in all, or {HIGHEST_RATIO} times its packed size"
                    raise Archive.unreadable(
                        self._path,
                        f"its {entry.filename} unpacks to more than the limit ({most})",
                        "unpacked_too_large",
                    )
        return b"".join(pieces)

    def bad(self, reason: str) -> IngestError:
        """Return the error for an archive that cannot be read for this reason."""
        return Archive.unreadable(self._path, reason, self._code)

    @staticmethod
    def unreadable(path: str, reason: str, code: str) -> IngestError:
        """Return the error for a file that cannot be read for this reason."""
        return IngestError(code, f"{path} cannot be read: {reason}.", details={"path": path})
