"""Single files that are compressed: .gz, .bz2, .xz and .zst are read through, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from recall_core.errors import IngestError
from recall_core.shell import install_extra

_RATIO = 100  # unpacked bytes to packed ones, beyond _SMALL
_SMALL = 1 << 20
_STEP = 1 << 16  # bytes that are to come out at once
_GIVEN = 1 << 10  # bytes that go in at once: of zstd at most some 40 MB come out, and little is left behind a stream

_MAGIC = {b"\x1f\x8b\x08": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"(\xb5/\xfd": "zstd"}
_SUFFIXES = {"gzip": ("gz", "tgz"), "bzip2": ("bz2", "tbz2"), "xz": ("xz", "txz"), "zstd": ("zst", "tzst")}


class Unpacked(NamedTuple):
    """A file as it is inside. packing: `gzip`, or "" for a file that is not compressed."""

    content: bytes
    path: str
    """Its name without the suffix of the packing."""
    packing: str


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def unpacked(raw: bytes, *, path: str, most: int) -> Unpacked:
    """What a compressed file holds; any other as it is. most: bytes that may come out.

    Raises IngestError `bad_archive` for damaged or several archives in one, `unpacked_too_large`; `not_read` for an
    archive of several files; `parser_unavailable` where zstandard is missing.
    """
    packing = next((name for magic, name in _MAGIC.items() if raw.startswith(magic)), "")
    stem, _, suffix = path.rpartition(".")
    if not packing or suffix.lower() not in _SUFFIXES[packing]:
        return Unpacked(raw, path, "")
    if suffix.lower().startswith("t") or stem.lower().endswith(".tar"):
        details = {"path": path, "kind": "archive (.tar)"}
        raise IngestError("not_read", f"{path} is an archive of several files, which is not read.", details=details)
    most = min(most, max(_SMALL, _RATIO * len(raw)))
    return Unpacked(_content(raw, packing, path, most), stem, packing)


def _content(raw: bytes, packing: str, path: str, most: int) -> bytes:
    """All streams of a file, one after the other. Zeros behind the last are padding."""
    pieces: list[bytes] = []
    size, position, end = 0, 0, len(raw.rstrip(b"\0"))
    new = _decompressor(packing, path)
    try:
        while position < end:
            one = new()
            while not one.eof:
                given = raw[position : position + _GIVEN] if one.needs_input else b""
                position += len(given)
                piece = one.decompress(given, _STEP)
                size += len(piece)
                pieces.append(piece)
                if size > most:
                    raise _too_large(path, most)
                if not given and not piece and one.needs_input and not one.eof:
                    raise _bad(path, "it ends too early")
            position -= len(one.unused_data)
    except (OSError, EOFError, ValueError) as error:
        raise _bad(path, str(error)) from error
    return b"".join(pieces)


def _decompressor(packing: str, path: str) -> Callable[[], _Decompressor]:
    match packing:
        case "gzip":
            return _Gzip
        case "bzip2":
            from bz2 import BZ2Decompressor  # noqa: PLC0415 - few files are packed

            return BZ2Decompressor
        case "xz":
            return _Xz
        case _:
            return _zstd(path)


class _Gzip:
    """zlib with the interface of the others."""

    def __init__(self) -> None:
        import zlib  # noqa: PLC0415 - few files are packed

        self._one = zlib.decompressobj(wbits=31)
        self._error = zlib.error

    @property
    def eof(self) -> bool:
        return self._one.eof

    @property
    def needs_input(self) -> bool:
        return not self._one.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._one.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        try:
            return self._one.decompress(self._one.unconsumed_tail or data, max_length)
        except self._error as error:
            raise ValueError(str(error)) from error


class _Xz:
    """lzma, its own errors as ValueErrors."""

    def __init__(self) -> None:
        import lzma  # noqa: PLC0415 - few files are packed

        self._one = lzma.LZMADecompressor(memlimit=1 << 28)
        self._error = lzma.LZMAError

    @property
    def eof(self) -> bool:
        return self._one.eof

    @property
    def needs_input(self) -> bool:
        return self._one.needs_input

    @property
    def unused_data(self) -> bytes:
        return self._one.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        try:
            return self._one.decompress(data, max_length)
        except self._error as error:
            raise ValueError(str(error)) from error


def _zstd(path: str) -> Callable[[], _Decompressor]:
    from importlib.util import find_spec  # noqa: PLC0415 - few files are packed

    if find_spec("zstandard") is None:
        message = f"{path} is compressed by zstd, which takes the package zstandard."
        details = {"path": path, "kind": "compressed (.zst)"}
        raise IngestError("parser_unavailable", message, hint=install_extra("files"), details=details)
    return _Zstd


class _Zstd:
    """zstandard's own, which has no bound on what one call gives."""

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 - few files are packed

        self._one = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self._error = zstandard.ZstdError

    @property
    def eof(self) -> bool:
        return bool(self._one.eof)

    @property
    def needs_input(self) -> bool:
        return True

    @property
    def unused_data(self) -> bytes:
        return bytes(self._one.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        del max_length
        try:
            return bytes(self._one.decompress(data))
        except self._error as error:
            raise ValueError(str(error)) from error


def _too_large(path: str, most: int) -> IngestError:
    message = f"{path} unpacks to more than {most} bytes."
    return IngestError("unpacked_too_large", message, hint="max_file_bytes in recall.toml", details={"path": path})


def _bad(path: str, reason: str) -> IngestError:
    return IngestError("bad_archive", f"{path} cannot be unpacked: {reason}.", details={"path": path})
