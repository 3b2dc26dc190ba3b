"""Hand-made PDFs for tests: pages of text, an outline, a password, pictures and any object that a test adds."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_PICTURE = 3  # numbers of the objects that every file has
_FONT, _CODES = 4, 5
_FIRST_PAGE = 10
_TOP, _LEADING, _SIZE = 780, 14, 12


class Entry(NamedTuple):
    """An outline entry. page: from 1; 0 for an entry without a target."""

    title: str
    page: int
    entries: Sequence[Entry] = ()


def pdf(
    pages: Sequence[str],
    *,
    facts: Mapping[str, str] | None = None,
    outline: Sequence[Entry] = (),
    pictures: Sequence[int] = (),
    password: bool = False,
    more: Mapping[int, bytes] | None = None,
) -> bytes:
    """Return a PDF with these pages, line by line in Helvetica, in any script.

    facts: `Title`, `Author` and others.
    pictures: the pages, from 1, that have a picture.
    password: password that opens the file.
    more: objects by number; they replace the built-in ones.
    """
    codes: dict[str, int] = {chr(code): code for code in range(32, 127)}
    objects: dict[int, bytes] = {}
    kids = [_FIRST_PAGE + 2 * i for i in range(len(pages))]
    for i, (number, text) in enumerate(zip(kids, pages, strict=True)):
        has_picture = i + 1 in pictures
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R"
            b"/Resources<</Font<</F %d 0 R>>/XObject<</P %d 0 R>>>>>>" % (number + 1, _FONT, _PICTURE)
        )
        objects[number + 1] = stream(_draw(text, codes) + (b"q 99 0 0 99 9 9 cm /P Do Q" if has_picture else b""))
    last = _FIRST_PAGE + 2 * len(pages)
    objects[1] = b"<</Type/Catalog/Pages 2 0 R%s>>" % (b"/Outlines %d 0 R" % last if outline else b"")
    objects[2] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    objects[_PICTURE] = stream(b"\x80", b"/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray")
    objects[_FONT] = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode %d 0 R>>" % _CODES
    objects[_CODES] = stream(_to_unicode(codes))
    objects[6] = b"<<%s>>" % b"".join(b"/%s %s" % (key.encode(), string(told)) for key, told in (facts or {}).items())
    objects[7] = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (b"00" * 32, b"11" * 32)
    if outline:
        _outline(objects, outline, last, kids)
    objects.update(more or {})
    extra = b"/Info 6 0 R" + (b"/Encrypt 7 0 R/ID[<00><00>]" if password else b"")
    return assembled(objects, extra)


def assembled(objects: Mapping[int, bytes], extra: bytes = b"") -> bytes:
    """Return a file of these objects with its cross-reference table. extra: further trailer entries."""
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, content in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%d 1\n%010d 00000 n \n" % (number, place) for number, place in places.items())
    size = max(objects) + 1
    end = b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, extra, len(out))
    return bytes(out + b"xref\n0 1\n0000000000 65535 f \n" + table + end)


def stream(content: bytes, about: bytes = b"") -> bytes:
    """Return an object of compressed bytes."""
    packed = zlib.compress(content)
    return b"<</Length %d/Filter/FlateDecode%s>>stream\n%s\nendstream" % (len(packed), about, packed)


def string(text: str) -> bytes:
    """Return a string in UTF-16, as files store it."""
    return b"<feff%s>" % text.encode("utf-16-be", errors="surrogatepass").hex().encode()


def _draw(text: str, codes: dict[str, int]) -> bytes:
    lines = [b"<%s>Tj" % bytes(_code(mark, codes) for mark in line).hex().encode() for line in text.split("\n")]
    return b"BT/F %d Tf %d TL 50 %d Td %s ET " % (_SIZE, _LEADING, _TOP, b" T* ".join(lines))


def _code(mark: str, codes: dict[str, int]) -> int:
    return codes.setdefault(mark, len(codes) + 33)  # from 128 on


def _to_unicode(codes: Mapping[str, int]) -> bytes:
    pairs = [
        b"<%02x> <%s>" % (code, mark.encode("utf-16-be", errors="surrogatepass").hex().encode())
        for mark, code in codes.items()
    ]
    blocks = [pairs[i : i + 100] for i in range(0, len(pairs), 100)]
    told = b"\n".join(b"%d beginbfchar\n%s\nendbfchar" % (len(block), b"\n".join(block)) for block in blocks)
    return b"/CMapName/T def\n1 begincodespacerange <00> <ff> endcodespacerange\n" + told


def _outline(objects: dict[int, bytes], entries: Sequence[Entry], root: int, kids: Sequence[int]) -> None:
    """Append the entries and their children after their root object."""
    waiting: list[tuple[int, bytes, Sequence[Entry]]] = [(root, b"", entries)]
    unused = root + 1
    while waiting:
        parent, about, below = waiting.pop()
        first, unused = unused, unused + len(below)
        span = b"/First %d 0 R/Last %d 0 R/Count %d" % (first, unused - 1, len(below)) if below else b""
        objects[parent] = b"<<%s%s>>" % (about, span)
        for i, entry in enumerate(below):
            target = b"/Dest[%d 0 R/Fit]" % kids[entry.page - 1] if entry.page else b""
            after = b"/Next %d 0 R" % (first + i + 1) if i + 1 < len(below) else b""
            told = b"/Title %s/Parent %d 0 R%s%s" % (string(entry.title), parent, target, after)
            waiting.append((first + i, told, entry.entries))
