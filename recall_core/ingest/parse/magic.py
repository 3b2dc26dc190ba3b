"""Kinds of files that are not UTF-8 text, identified by their first bytes."""

from __future__ import annotations

import re
from typing import NamedTuple


class FileKind(NamedTuple):
    """A kind of file."""

    name: str
    """Text that follows `is`, such as `a PDF`."""
    label: str
    """Text in counts, such as `PDF` or `image (.png)`."""


_BOMS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}

_MAGIC = {
    b"%PDF-": FileKind("a PDF", "PDF"),
    b"\x1f\x8b\x08": FileKind("compressed with gzip", "compressed (.gz)"),
    b"\xfd7zXZ\0": FileKind("compressed with xz", "compressed (.xz)"),
    b"(\xb5/\xfd": FileKind("compressed with zstd", "compressed (.zst)"),
    b"7z\xbc\xaf'\x1c": FileKind("a 7z archive", "archive (.7z)"),
    b"Rar!\x1a\x07": FileKind("a RAR archive", "archive (.rar)"),
    b"\x89PNG\r\n\x1a\n": FileKind("a PNG image", "image (.png)"),
    b"\xff\xd8\xff": FileKind("a JPEG image", "image (.jpg)"),
    b"GIF87a": FileKind("a GIF image", "image (.gif)"),
    b"GIF89a": FileKind("a GIF image", "image (.gif)"),
    b"II*\0": FileKind("a TIFF image", "image (.tif)"),
    b"MM\0*": FileKind("a TIFF image", "image (.tif)"),
    b"\0\0\1\0": FileKind("an icon", "image (.ico)"),
    b"\x7fELF": FileKind("compiled code", "compiled (ELF)"),
    b"MZ\x90\0": FileKind("a Windows program", "compiled (.exe)"),
    b"\xca\xfe\xba\xbe": FileKind("compiled code", "compiled (.class)"),
    b"\0asm": FileKind("compiled code", "compiled (.wasm)"),
    b"!<arch>\n": FileKind("a library or a package", "archive (ar)"),
    b"SQLite format 3\0": FileKind("an SQLite database", "database (SQLite)"),
    b"wOFF": FileKind("a font", "font"),
    b"wOF2": FileKind("a font", "font"),
    b"OTTO\0": FileKind("a font", "font"),
    b"\0\1\0\0\0": FileKind("a font", "font"),
    b"ID3\x03": FileKind("an audio file", "audio"),
    b"ID3\x04": FileKind("an audio file", "audio"),
    b"OggS\0": FileKind("an audio file", "audio"),
    b"fLaC\0": FileKind("an audio file", "audio"),
    b"\x1aE\xdf\xa3": FileKind("a video", "video"),
    b"\xde\x12\x04\x95": FileKind("a message catalogue", "compiled (.mo)"),
    b"\x95\x04\x12\xde": FileKind("a message catalogue", "compiled (.mo)"),
    b"\x93NUMPY": FileKind("a NumPy array", "array (.npy)"),
    b"\x89HDF\r\n\x1a\n": FileKind("an HDF5 file", "array (.h5)"),
    b"MATLAB 5.0 MAT-file": FileKind("MATLAB data", "array (.mat)"),
    b"PAR1\x15": FileKind("a Parquet table", "table (.parquet)"),
    b"\x80\x02": FileKind("a Python pickle", "pickle"),
    b"\x80\x03": FileKind("a Python pickle", "pickle"),
    b"\x80\x04\x95": FileKind("a Python pickle", "pickle"),
    b"\x80\x05\x95": FileKind("a Python pickle", "pickle"),
    b"8BPS\0\1": FileKind("a Photoshop image", "image (.psd)"),
    b".snd\0": FileKind("an audio file", "audio"),
    b"\xff\xfb": FileKind("an audio file", "audio"),
    b"\xff\xf3": FileKind("an audio file", "audio"),
    b"TZif": FileKind("time zone data", "time zone"),
    b"\xcf\xfa\xed\xfe": FileKind("compiled code", "compiled (Mach-O)"),
    b"\x99\1": FileKind("an OpenPGP key", "key (OpenPGP)"),
    b"\x99\2": FileKind("an OpenPGP key", "key (OpenPGP)"),
    b"\x99\3": FileKind("an OpenPGP key", "key (OpenPGP)"),
    b"GVariant": FileKind("a settings database", "database (GVariant)"),
}

_INSIDE = {
    (b"BZh", 4, b"1AY&SY"): FileKind("compressed with bzip2", "compressed (.bz2)"),
    (b"", 257, b"ustar"): FileKind("a tar archive", "archive (.tar)"),
    (b"RIFF", 8, b"WEBP"): FileKind("a WebP image", "image (.webp)"),
    (b"RIFF", 8, b"WAVE"): FileKind("an audio file", "audio"),
    (b"RIFF", 8, b"AVI "): FileKind("a video", "video"),
    (b"FORM", 8, b"AIF"): FileKind("an audio file", "audio"),
    (b"BM", 6, b"\0\0\0\0"): FileKind("a BMP image", "image (.bmp)"),
    (b"\0\0", 4, b"ftyphei"): FileKind("a HEIF image", "image (.heic)"),
    (b"\0\0", 4, b"ftypmif1"): FileKind("a HEIF image", "image (.heic)"),
    (b"\0\0", 4, b"ftypavif"): FileKind("an AVIF image", "image (.avif)"),
    (b"\0\0", 4, b"ftypM4A"): FileKind("an audio file", "audio"),
    (b"\0\0", 4, b"ftyp"): FileKind("a video or audio file", "video"),
}
"""By the start of the file, and bytes at a later offset."""

_PIXELS = re.compile(rb"P[4-6]\s+[0-9]+\s+[0-9]+\s")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OFFICE_SUFFIXES = ("doc", "dot", "xls", "xlt", "ppt", "pps")
_OLD_OFFICE = FileKind("an old Office document", "Office (.doc, .xls)")
_COMPOUND = FileKind("a Windows compound file", "compound (OLE)")
_UTF_16 = FileKind("text in UTF-16 without a byte order mark", "UTF-16")
_PROBE = 256  # bytes examined
_ZIP = b"PK\x03\x04"
_ZIPPED = {"docx": "Word", "xlsx": "Excel", "pptx": "PowerPoint", "odt": "Writer", "ods": "Calc", "odp": "Impress"}


def kind_of(raw: bytes, *, path: str) -> FileKind | None:
    """Return the kind of a file by its first bytes; None if they do not identify it.

    The result is a guess: UTF-8 text can begin with the same bytes. path: its suffix distinguishes ZIP archives.
    """
    for mark, encoding in _BOMS.items():
        if raw.startswith(mark):
            return FileKind(f"text in {encoding}", encoding)
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    if raw.startswith(_ZIP):
        if suffix in _ZIPPED:
            return FileKind(f"a {_ZIPPED[suffix]} document", f"Office (.{suffix})")
        return FileKind("a ZIP archive", "archive (.epub)" if suffix == "epub" else "archive (.zip)")
    if suffix == "pyc" and raw[2:4] == b"\r\n":
        return FileKind("compiled code", "compiled (.pyc)")
    found = (kind for magic, kind in _MAGIC.items() if raw.startswith(magic))
    inside = (
        kind
        for (begin, offset, magic), kind in _INSIDE.items()
        if raw.startswith(begin) and raw.startswith(magic, offset)
    )
    return next(found, None) or next(inside, None) or _by_form(raw, suffix)


def instead(raw: bytes, *, path: str) -> str:
    """Return what a file really is, as words after `is`; "" if unknown."""
    if not raw.strip(b"\0 \t\r\n"):
        return "empty"
    if (kind := kind_of(raw, path=path)) is not None:
        return kind.name
    try:
        return "" if b"\0" in raw or not raw.decode() else "text"
    except UnicodeDecodeError:
        return ""


def _by_form(raw: bytes, suffix: str) -> FileKind | None:
    """Return the kind of a file without a fixed signature."""
    if raw.startswith(_OLE):
        return _OLD_OFFICE if suffix in _OFFICE_SUFFIXES else _COMPOUND
    if _PIXELS.match(raw):
        return FileKind("a Netpbm image", "image (.pbm)")
    return _UTF_16 if _is_utf_16(raw[:_PROBE]) else None


def _is_utf_16(head: bytes) -> bool:
    """Return True if every other byte is a NUL at the start, as in plain text with two bytes per letter."""
    nuls = head[::2].count(0), head[1::2].count(0)
    return len(head) >= 8 and min(nuls) == 0 and max(nuls) > 0.45 * len(head)
