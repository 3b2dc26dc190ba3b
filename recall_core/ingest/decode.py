"""Bytes as UTF-8 text: by a byte order mark, the encoding that a file declares, the one that is asked for, or UTF-8.

Only on request (`guess_encoding`) an encoding is guessed; it is named with the document, so that a guess is seen.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from recall_core.errors import IngestError, UsageError
from recall_core.ingest import parse
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
"""Longer ones first: the mark of UTF-32 begins as that of UTF-16 does."""

_DECLARED = {
    "html": re.compile(
        rb"<meta[^>]{0,200}?charset\s*+=\s*+[\"']?\s*+([\w.:-]{1,40})|encoding=[\"']([\w.:-]{1,40})", re.I
    ),
    "xml": re.compile(rb"\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})"),
    "code": re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#.*?coding[:=][ \t]*([\w.-]{1,40})"),
    "man": re.compile(rb"\A[.'][ \t]*\\\"[^\n]{0,200}?-\*-[^\n]{0,200}?coding:\s*([\w.-]{1,40})"),
}
"""How files of a kind say what they are in, by parser."""

_NAMED_WITHIN = re.compile(
    rb"-\*-[^\n]{0,200}?coding:\s*([\w.-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})"
    rb"|\\usepackage\[([\w.-]{1,40})\]\{inputenc\}|@charset\s+[\"']([\w.:-]{1,40})"
    rb"|Content-Type:[ \t]*text/[\w.-]{1,40};[ \t]*charset=\"?([\w.:-]{1,40})"
    rb"|\bscriptencoding[ \t]+([\w.:-]{1,40})|\bvim?:[^\n]{0,200}?\b(?:fenc|fileencoding)=([\w.:-]{1,40})"
)
"""How a text that is not UTF-8 may say what it is in: Emacs, XML, LaTeX, CSS, catalogues of messages, Vim."""
_MARGIN = 4096  # bytes at either end of a file in which it may

_WIDE = ("utf-16", "utf-32")  # encodings with NUL bytes in plain text

_OF_NAMES = ("undefined", "idna", "punycode")  # codecs of no text, or of the names of hosts alone

_AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""What HTML means by these names (WHATWG Encoding Standard, section 4.2)."""


class Decoded(NamedTuple):
    """A file as UTF-8 without a byte order mark. encoding: what it was in, as Python calls it."""

    content: bytes
    encoding: str
    notes: tuple[str, ...] = ()


def check_encoding(name: str) -> str:
    """The encoding as Python calls it, "" for none. Raises UsageError `unknown_encoding` for no text's."""
    found = _codec(name)
    if name and found is None:
        message = f"There is no encoding {name!r}."
        raise UsageError("unknown_encoding", message, hint=f"{flag('encoding')} utf-8, latin-1, cp1252, shift_jis")
    return found or ""


def decoded(raw: bytes, *, path: str, parser: str, encoding: str = "", guess: bool = False) -> Decoded:
    """The text of a file. parser: who reads it, which tells how it may declare its encoding. encoding: asked for.

    A declaration that is unknown, or that the bytes are not in, is passed over where they are UTF-8.
    Raises IngestError `binary_file`, `not_utf8`, `encoding_mismatch`.
    """
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return _in(raw[len(mark) :], name, path, "its byte order mark")
    asked = check_encoding(encoding)
    if b"\0" in raw[:_PROBE_BYTES]:
        return _wide(raw, asked, path)
    declared = _declared(raw, parser)
    if declared:
        own = _codec(declared)
        if parser == "html" and own in _AS_BROWSERS:
            own = _AS_BROWSERS[own]
        return _as_declared(raw, own, declared, path)
    if asked and not (asked.startswith(_WIDE) and _is_utf_8(raw)):
        return _in(raw, asked, path, flag("encoding"))
    return _utf8_or_guessed(raw, path, guess=guess)


def _is_utf_8(raw: bytes) -> bool:
    try:
        return raw.decode() is not None
    except UnicodeDecodeError:
        return False


def _wide(raw: bytes, asked: str, path: str) -> Decoded:
    """A file with NUL bytes: text where an encoding that has them was asked for, and gives none of them back."""

    kind = parse.magic.kind_of(raw, path=path)
    if asked.startswith(_WIDE) and (kind is None or kind.label.startswith("UTF-")):
        found = _in(raw, asked, path, flag("encoding"))
        if b"\0" not in found.content[:_PROBE_BYTES]:
            return found
    raise why_binary(raw, path)


def _as_declared(raw: bytes, own: str | None, declared: str, path: str) -> Decoded:
    if own == UTF_8 or own is None:
        found = _utf8_or_guessed(raw, path, guess=False)
        return (
            found if own else found._replace(notes=(f"it declares the unknown encoding {declared}: read as UTF-8",))
        )
    try:
        return Decoded(raw.decode(own).encode(), own)
    except (UnicodeDecodeError, UnicodeEncodeError):
        note = f"it declares {declared} and is not in it: read as UTF-8"
    try:
        return Decoded(raw.decode().encode(), UTF_8, (note,))
    except UnicodeDecodeError as error:
        raise _mismatch(path, declared, "it declares", error.start) from error


def _in(raw: bytes, encoding: str, path: str, source: str) -> Decoded:
    try:
        return Decoded(
            raw if encoding == UTF_8 and raw.decode() is not None else raw.decode(encoding).encode(), encoding
        )
    except UnicodeDecodeError as error:
        if encoding == UTF_8:
            as_utf8(raw, path=path)
        raise _mismatch(path, encoding, f"{source} says", error.start) from error
    except UnicodeEncodeError as error:
        raise _mismatch(path, encoding, f"{source} says", error.start) from error


def _mismatch(path: str, encoding: str, source: str, offset: int) -> IngestError:
    message = f"{path} is not in {encoding}, which {source}: see byte {offset}."
    return IngestError("encoding_mismatch", message, details={"path": path, "offset": offset})


def _utf8_or_guessed(raw: bytes, path: str, *, guess: bool) -> Decoded:
    try:
        as_utf8(raw, path=path)
        return Decoded(raw, UTF_8)
    except IngestError as error:
        if error.code != "not_utf8":
            raise
        if (found := _as_named_within(raw)) is not None:
            return found
        if not guess:
            raise
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - only for files that are not UTF-8, and on request
    except ImportError as error:
        message = f"{path} is not UTF-8, and to guess its encoding takes the package charset-normalizer."
        hint = install_extra("files")
        raise IngestError("parser_unavailable", message, hint=hint, details={"path": path}) from error

    best = from_bytes(raw).best()
    own = None if best is None else _codec(best.encoding)
    if own is None:
        raise IngestError(
            "not_utf8", f"{path} is not UTF-8, and its encoding cannot be guessed.", details={"path": path}
        )
    return Decoded(raw.decode(own).encode(), own, (f"its encoding was guessed: {own}",))


def _as_named_within(raw: bytes) -> Decoded | None:
    """A text that is not UTF-8 in the encoding that its beginning or end names; None where that does not read it."""
    found = _NAMED_WITHIN.search(raw[:_MARGIN]) or _NAMED_WITHIN.search(raw[-_MARGIN:])
    own = _codec(next(filter(None, found.groups())).decode("ascii", "replace")) if found else None
    try:
        return None if own is None else Decoded(raw.decode(own).encode(), own)
    except (UnicodeDecodeError, UnicodeEncodeError):
        return None


def _declared(raw: bytes, parser: str) -> str:
    pattern = _DECLARED.get(parser)
    found = pattern.search(raw[:1024]) if pattern else None
    return next((each.decode("ascii", "replace") for each in found.groups() if each), "") if found else ""


def _codec(name: str) -> str | None:
    """The name of a codec of texts; None for another."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return info.name if getattr(info, "_is_text_encoding", True) and info.name not in _OF_NAMES else None
