"""Bytes of a part of a file become text, whatever the part says of its character set."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WIDER = {"ascii": "utf-8", "iso8859-1": "cp1252"}
"""Character sets that are declared where a wider one is meant, as browsers and mail programs know."""
_NO_TEXT = frozenset(("idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"))
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._-]{1,40})")


def decoded(raw: bytes, charset: str | None) -> tuple[str, bool]:
    """The text, and whether every byte of it could be read; others are replaced. A byte order mark comes first.

    charset: what is declared, None or a name that nobody knows for UTF-8.
    """
    for bom, name in _BOMS:
        if raw.startswith(bom):
            return _read(raw[len(bom) :], name)
    return _read(raw, _known(charset))


def declared_in_xml(raw: bytes) -> str | None:
    """The encoding that an XML declaration names."""
    found = _DECLARED.match(raw[:400].lstrip())
    return found[1].decode("ascii") if found else None


def _known(charset: str | None) -> str:
    try:
        name = codecs.lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if name in _NO_TEXT else _WIDER.get(name, name)


def _read(raw: bytes, name: str) -> tuple[str, bool]:
    try:
        text, is_whole = raw.decode(name), True
    except UnicodeDecodeError:
        text, is_whole = raw.decode(name, "replace"), False
    except (LookupError, ValueError):  # a codec that makes no text, or fails in a way of its own
        text, is_whole = raw.decode("utf-8", "replace"), False
    return text.encode("utf-8", "replace").decode().replace("\0", ""), is_whole
