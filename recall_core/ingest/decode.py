"""Unpack (.gz, .bz2, .xz, .zst) and decode a file's bytes to UTF-8 text, and normalize text."""

from __future__ import annotations

import codecs
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from recall_core.errors import IngestError, UsageError
from recall_core.ingest.parse.magic import kind_of
from recall_core.ingest.parse.text import decode as as_utf8
from recall_core.ingest.parse.text import why_binary
from recall_core.shell import flag, install_extra

UTF_8 = "utf-8"

_PROBE_BYTES = 8192

_BOMS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Longer marks first: the UTF-32 mark starts with the UTF-16 mark."""

_DECLARED = {
    "html": re.compile(
        rb"<meta[^>]{0,200}?charset\s*+=\s*+[\"']?\s*+([\w.:-]{1,40})|encoding=[\"']([\w.:-]{1,40})", re.I
    ),
    "xml": re.compile(rb"\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})"),
    "code": re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#.*?coding[:=][ \t]*([\w.-]{1,40})"),
    "man": re.compile(rb"\A[.'][ \t]*\\\"[^\n]{0,200}?-\*-[^\n]{0,200}?coding:\s*([\w.-]{1,40})"),
}
"""How files declare their encoding, by parser."""

_NAMED_WITHIN = re.compile(
    rb"-\*-[^\n]{0,200}?coding:\s*([\w.-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})"
    rb"|\\usepackage\[([\w.-]{1,40})\]\{inputenc\}|@charset\s+[\"']([\w.:-]{1,40})"
    rb"|Content-Type:[ \t]*text/[\w.-]{1,40};[ \t]*charset=\"?([\w.:-]{1,40})"
    rb"|\bscriptencoding[ \t]+([\w.:-]{1,40})|\bvim?:[^\n]{0,200}?\b(?:fenc|fileencoding)=([\w.:-]{1,40})"
)
"""Encoding declarations in a text that is not UTF-8: Emacs, XML, LaTeX, CSS, gettext catalogues, Vim."""
_MARGIN = 4096  # bytes at each end of a file that are searched for a declaration

_WIDE = ("utf-16", "utf-32")  # encodings with NUL bytes in plain text

_NOT_FOR_TEXT = ("undefined", "idna", "punycode")  # codecs that do not encode text, or only host names

_HTML_MEANINGS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""What these names mean in HTML (WHATWG Encoding Standard, section 4.2)."""


class Decoded(NamedTuple):
    """A file as UTF-8 without a byte order mark. encoding: original encoding, by Python's name."""

    content: bytes
    encoding: str
    notes: tuple[str, ...] = ()


def check_encoding(name: str) -> str:
    """Return Python's name of an encoding, "" for "". Raises UsageError `unknown_encoding`."""
    codec = _find_codec(name)
    if name and codec is None:
        message = f"Unknown encoding {name!r}."
        raise UsageError("unknown_encoding", message, hint=f"{flag('encoding')} utf-8, latin-1, cp1252, shift_jis")
    return codec or ""


def decode_file(raw: bytes, *, path: str, parser: str, encoding: str = "", guess: bool = False) -> Decoded:
    """Decode a file.

    The first of these decides: a byte order mark, a declaration in the file, `encoding`. A wrong declaration is
    ignored if the bytes are UTF-8.

    parser: decides how the file may declare its encoding.
    encoding: requested encoding.
    guess: guess the encoding of a file that is not UTF-8.
    Raises IngestError `binary_file`, `not_utf8`, `encoding_mismatch`.
    """
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return _decode_as(raw[len(mark) :], name, path, "its byte order mark")
    requested = check_encoding(encoding)
    if b"\0" in raw[:_PROBE_BYTES]:
        return _decode_wide(raw, requested, path)
    declared = _find_declaration(raw, parser)
    if declared:
        own = _find_codec(declared)
        if parser == "html" and own in _HTML_MEANINGS:
            own = _HTML_MEANINGS[own]
        return _decode_as_declared(raw, own, declared, path)
    if requested and not (requested.startswith(_WIDE) and _is_utf_8(raw)):
        return _decode_as(raw, requested, path, flag("encoding"))
    return _decode_utf8_or_guess(raw, path, guess=guess)


def _is_utf_8(raw: bytes) -> bool:
    try:
        return raw.decode() is not None
    except UnicodeDecodeError:
        return False


def _decode_wide(raw: bytes, requested: str, path: str) -> Decoded:
    """Decode a file with NUL bytes if the requested encoding explains them and the text has none."""
    kind = kind_of(raw, path=path)
    if requested.startswith(_WIDE) and (kind is None or kind.label.startswith("UTF-")):
        found = _decode_as(raw, requested, path, flag("encoding"))
        if b"\0" not in found.content[:_PROBE_BYTES]:
            return found
    raise why_binary(raw, path)


def _decode_as_declared(raw: bytes, own: str | None, declared: str, path: str) -> Decoded:
    if own == UTF_8 or own is None:
        found = _decode_utf8_or_guess(raw, path, guess=False)
        note = f"declares the unknown encoding {declared}: read as UTF-8"
        return found if own else found._replace(notes=(note,))
    try:
        return Decoded(raw.decode(own).encode(), own)
    except (UnicodeDecodeError, UnicodeEncodeError):
        note = f"declares {declared} but is not valid in it: read as UTF-8"
    try:
        return Decoded(raw.decode().encode(), UTF_8, (note,))
    except UnicodeDecodeError as error:
        raise _mismatch(path, declared, "the file declares", error.start) from error


def _decode_as(raw: bytes, encoding: str, path: str, source: str) -> Decoded:
    try:
        return Decoded(raw.decode(encoding).encode(), encoding)
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        if encoding == UTF_8:
            as_utf8(raw, path=path)  # raises the error for a file that is not UTF-8
        raise _mismatch(path, encoding, f"{source} specifies", error.start) from error


def _mismatch(path: str, encoding: str, source: str, offset: int) -> IngestError:
    message = f"{path} is not valid {encoding}, which {source}: invalid byte at offset {offset}."
    return IngestError("encoding_mismatch", message, details={"path": path, "offset": offset})


def _decode_utf8_or_guess(raw: bytes, path: str, *, guess: bool) -> Decoded:
    try:
        as_utf8(raw, path=path)
        return Decoded(raw, UTF_8)
    except IngestError as error:
        if error.code != "not_utf8":
            raise
        if (found := _decode_as_named_within(raw)) is not None:
            return found
        if not guess:
            raise
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - only for files that are not UTF-8, and on request
    except ImportError as error:
        message = f"{path} is not UTF-8, and guessing its encoding needs the package charset-normalizer."
        hint = install_extra("files")
        raise IngestError("parser_unavailable", message, hint=hint, details={"path": path}) from error

    best = from_bytes(raw).best()
    own = None if best is None else _find_codec(best.encoding)
    if own is None:
        raise IngestError(
            "not_utf8", f"{path} is not UTF-8, and its encoding cannot be guessed.", details={"path": path}
        )
    return Decoded(raw.decode(own).encode(), own, (f"guessed encoding: {own}",))


def _decode_as_named_within(raw: bytes) -> Decoded | None:
    """Decode text that is not UTF-8 as its first or last lines declare. Return None if that is missing or wrong."""
    found = _NAMED_WITHIN.search(raw[:_MARGIN]) or _NAMED_WITHIN.search(raw[-_MARGIN:])
    own = _find_codec(next(filter(None, found.groups())).decode("ascii", "replace")) if found else None
    try:
        return None if own is None else Decoded(raw.decode(own).encode(), own)
    except (UnicodeDecodeError, UnicodeEncodeError):
        return None


def _find_declaration(raw: bytes, parser: str) -> str:
    pattern = _DECLARED.get(parser)
    found = pattern.search(raw[:1024]) if pattern else None
    return next((each.decode("ascii", "replace") for each in found.groups() if each), "") if found else ""


def _find_codec(name: str) -> str | None:
    """Return Python's name of a text encoding; None if there is no such encoding."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return info.name if getattr(info, "_is_text_encoding", True) and info.name not in _NOT_FOR_TEXT else None


_RATIO = 100  # largest ratio of unpacked to packed bytes, beyond _SMALL
_SMALL = 1 << 20
_STEP = 1 << 16  # bytes to unpack at a time
_FEED = 1 << 10  # bytes to feed at a time: zstd expands them to 40 MB at most, and little is left after a stream

_MAGIC = {b"\x1f\x8b\x08": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"(\xb5/\xfd": "zstd"}
_LIBRARIES = {"gzip": "zlib", "bzip2": "bz2", "xz": "lzma", "zstd": "zstandard"}  # imported only when needed
_SUFFIXES = {"gzip": ("gz", "tgz"), "bzip2": ("bz2", "tbz2"), "xz": ("xz", "txz"), "zstd": ("zst", "tzst")}


class Unpacked(NamedTuple):
    """An unpacked file. packing: such as `gzip`; "" if it was not compressed."""

    content: bytes
    path: str
    """Name without the compression suffix."""
    packing: str


def unpack(raw: bytes, *, path: str, most: int) -> Unpacked:
    """Unpack a compressed file; return any other file unchanged. most: largest unpacked size in bytes.

    Raises IngestError `bad_archive`, `unpacked_too_large`, `not_read` for an archive of several files, and
    `parser_unavailable` if zstandard is missing.
    """
    packing = next((name for magic, name in _MAGIC.items() if raw.startswith(magic)), "")
    stem, _, suffix = path.rpartition(".")
    if not packing or suffix.lower() not in _SUFFIXES[packing]:
        return Unpacked(raw, path, "")
    if suffix.lower().startswith("t") or stem.lower().endswith(".tar"):
        details = {"path": path, "kind": "archive (.tar)"}
        raise IngestError(
            "not_read", f"{path} is an archive of several files, which is not supported.", details=details
        )
    most = min(most, max(_SMALL, _RATIO * len(raw)))
    return Unpacked(_unpack_streams(raw, packing, path, most), stem, packing)


def _unpack_streams(raw: bytes, packing: str, path: str, most: int) -> bytes:
    """Return the content of all streams of a file. Trailing zeros are padding."""
    open_stream, damage, bound = _decompression(packing, path)
    pieces: list[bytes] = []
    size, position, end = 0, 0, len(raw.rstrip(b"\0"))
    try:
        while position < end:
            stream = open_stream()
            while not stream.eof:
                chunk = raw[position : position + _FEED] if _needs_input(stream) else b""
                position += len(chunk)
                piece = stream.decompress(getattr(stream, "unconsumed_tail", b"") or chunk, *bound)
                size += len(piece)
                pieces.append(piece)
                if size > most:
                    message, hint = f"{path} unpacks to more than {most} bytes.", "max_file_bytes in recall.toml"
                    raise IngestError("unpacked_too_large", message, hint=hint, details={"path": path})
                if not chunk and not piece and _needs_input(stream) and not stream.eof:
                    raise _bad_archive(path, "it is truncated")
            position -= len(stream.unused_data)
    except (OSError, EOFError, ValueError, damage) as error:
        raise _bad_archive(path, str(error)) from error
    return b"".join(pieces)


def _needs_input(stream: Any) -> bool:
    """Return True if a decompressor has used all its input. Only zlib returns the rest in `unconsumed_tail`."""
    return not getattr(stream, "unconsumed_tail", b"") and getattr(stream, "needs_input", True)


def _decompression(packing: str, path: str) -> tuple[Callable[[], Any], type[Exception], tuple[int, ...]]:
    """Return a stream factory, the error it raises for damage, and extra arguments that limit each call's output."""
    if packing == "zstd" and find_spec("zstandard") is None:
        message = f"{path} is compressed with zstd, which needs the package zstandard."
        details = {"path": path, "kind": "compressed (.zst)"}
        raise IngestError("parser_unavailable", message, hint=install_extra("files"), details=details)
    library: Any = import_module(_LIBRARIES[packing])
    match packing:
        case "gzip":
            return partial(library.decompressobj, wbits=31), library.error, (_STEP,)
        case "bzip2":
            return library.BZ2Decompressor, OSError, (_STEP,)
        case "xz":
            return partial(library.LZMADecompressor, memlimit=1 << 28), library.LZMAError, (_STEP,)
    return library.ZstdDecompressor(max_window_size=1 << 27).decompressobj, library.ZstdError, ()


def _bad_archive(path: str, reason: str) -> IngestError:
    return IngestError("bad_archive", f"{path} cannot be unpacked: {reason}.", details={"path": path})


# A byte order mark, a line end, or characters that may compose, with the one before them. ASCII never joins what
# precedes it.
_MAY_CHANGE = re.compile("\\A\ufeff+|\r\n?|[^\r]?[\x80-\U0010ffff]+")


class TextEdit(NamedTuple):
    """A changed stretch of a text, in code points. It corresponds to its source only as a whole."""

    offset: int
    size: int
    source_offset: int
    source_size: int


class Normalized(NamedTuple):
    """A normalized text that knows where each character comes from."""

    text: str
    source: str
    """The decoded text before normalization."""
    encoding: str
    """Encoding of the bytes, by Python's name; "" for a string."""
    edits: tuple[TextEdit, ...]
    """Every difference between text and source, by offset."""

    def source_offset(self, offset: int) -> int:
        """Return the offset in the source. Inside a changed stretch, it is the beginning of the stretch."""
        last = bisect_right(self.edits, offset, key=lambda edit: edit.offset) - 1
        if last < 0:
            return offset
        edit = self.edits[last]
        inside = offset - edit.offset - edit.size
        return edit.source_offset if inside < 0 else edit.source_offset + edit.source_size + inside


def normalize(content: str | bytes, *, encoding: str = "") -> Normalized:
    """Return the text in NFC, with LF line ends and no leading byte order mark. The locale changes nothing.

    White space, case and control characters stay. Normalizing again changes nothing.
    encoding: of bytes that do not declare one; "" for UTF-8.
    Raises IngestError `not_utf8`, `binary_file`, `encoding_mismatch` for bytes that are not such a text.
    """
    name, source = "", content
    if not isinstance(source, str):
        decoded = decode_file(source, path="The content", parser="text", encoding=encoding)
        name, source = decoded.encoding, decoded.content.decode()
    edits: list[TextEdit] = []
    texts: list[str] = []
    size = done = 0
    for start, before, after in _changes(source):
        texts += [source[done:start], after]
        size += start - done
        edits.append(TextEdit(size, len(after), start, len(before)))
        size += len(after)
        done = start + len(before)
    return Normalized("".join([*texts, source[done:]]), source, name, tuple(edits))


def _changes(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the offset of each stretch that changes, and the stretch before and after."""
    for found in _MAY_CHANGE.finditer(source):
        run = found[0]
        if run.startswith("\r"):
            yield found.start(), run, "\n"
        elif found.start() == 0 and run.startswith("\ufeff"):
            yield 0, run, ""
        elif not unicodedata.is_normalized("NFC", run):
            start = found.start()
            for piece in _pieces(run):
                if (composed := unicodedata.normalize("NFC", piece)) != piece:
                    yield start, piece, composed
                start += len(piece)


def _pieces(run: str) -> Iterator[str]:
    """Yield the shortest parts of a text that are normalized separately."""
    start = 0
    for end in range(1, len(run)):
        own = unicodedata.normalize("NFD", run[end])
        if not unicodedata.combining(own[0]):
            before, character = (unicodedata.normalize("NFC", part) for part in (run[start:end], own))
            if unicodedata.normalize("NFC", run[start:end] + own) == before + character:
                yield run[start:end]
                start = end
    yield run[start:]
