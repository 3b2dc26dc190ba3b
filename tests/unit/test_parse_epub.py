"""A book's chapters are read in the order of its spine; zipped data is unpacked within limits."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.parse import parser, zipped
from recall_core.ingest.parse.text import decode_part
from recall_core.marks import Outline, Places
from recall_core.ports import ParsedDocument
from recall_core.testing.parsers import describe
from tests.examples import examples
from tests.unit.test_parse_elsewhere import NightlyElsewhere

CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>The  harbour</dc:title><dc:creator>A. Pilot</dc:creator><dc:creator>B. Mate</dc:creator>
<dc:language>en</dc:language><dc:date>1899-05-01</dc:date><dc:subject>Ships</dc:subject></metadata>
<manifest><item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="c" href="cover.svg" media-type="image/svg+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="c"/><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>"""
ONE = """<?xml version="1.0"?><html><head><title/></head>
<body><h1>Tides</h1><p>High at noon.</p><h2>Low</h2><p>Later.</p>"""
TWO = """<?xml version="1.0" encoding="iso-8859-1"?><html><body><h1>Winds</h1><p>Près du quai.</p></body></html>"""
ENTRIES = {
    "mimetype": b"application/epub+zip",
    "META-INF/container.xml": CONTAINER.encode(),
    "OEBPS/book.opf": PACKAGE.encode(),
    "OEBPS/one.xhtml": ONE.encode(),
    "OEBPS/text/two b.xhtml": TWO.encode("iso-8859-1"),
    "OEBPS/nav.xhtml": b"<html><body><p>contents</p></body></html>",
    "OEBPS/cover.svg": b"<svg/>",
}


def zipped_up(entries: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in entries.items():
            archive.writestr(zipfile.ZipInfo(name), raw, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def book(**changes: bytes | None) -> bytes:
    """Return the book with some entries replaced, by the last part of their names, or removed."""
    entries = dict(ENTRIES)
    for key, raw in changes.items():
        name = next((name for name in ENTRIES if key in name), f"META-INF/{key}.xml")
        entries.pop(name, None)
        if raw is not None:
            entries[name] = raw
    return zipped_up(entries)


class TestEpub(NightlyElsewhere):
    name = "epub"
    samples: ClassVar = {"a.epub": book(), "b.epub": book(one=None, mimetype=None)}


def read(raw: bytes, path: str = "folder/a.epub") -> ParsedDocument:
    (document,) = parser("epub").parse(raw, path=path, digest="0")
    return document


def refusal(raw: bytes) -> IngestError:
    with pytest.raises(IngestError) as error:
        read(raw)
    return error.value


def test_chapters_follow_the_order_of_the_spine() -> None:
    assert read(book()).text == "Tides\n\nHigh at noon.\n\nLow\n\nLater.\n\nWinds\n\nPrès du quai."


def test_title_and_metadata_come_from_the_package() -> None:
    document = read(book())
    assert document.title == "The harbour"
    assert document.meta == {"author": "A. Pilot, B. Mate", "date": "1899-05-01", "lang": "en"}
    assert document.tags == ("Ships",)
    assert read(book(opf=PACKAGE.replace("The  harbour", "").encode())).title == "a.epub"


def test_every_spine_item_is_a_counted_chapter() -> None:
    document = read(book())
    places = Places(document.marks)
    at = document.text.index
    assert [places.at(at(word), at(word) + 4) for word in ("High", "Later", "Winds")] == [
        "chapter 2",
        "chapter 2",
        "chapter 3",
    ]
    assert sum(mark.kind == "chapter" for mark in document.marks) == 4


def test_chapter_headings_come_from_their_pages() -> None:
    document = read(book())
    outline = Outline(document.marks, len(document.text))
    assert outline.heading_at(document.text.index("Later")) == "Tides › Low"
    assert outline.heading_at(document.text.index("Près")) == "Winds"


def test_page_without_a_heading_leaves_the_previous_section() -> None:
    chapters = {"one": ONE, "two": "<body><p>Preface</p><h2>Sea</h2><p>Deep.</p></body>", "cover": "<p>Cover</p>"}
    package = PACKAGE.replace("image/svg+xml", "text/html").replace('<itemref idref="c"/>', "")
    package = package.replace('<itemref idref="gone"/>', '<itemref idref="c"/>')
    document = read(book(opf=package.encode(), **{name: page.encode() for name, page in chapters.items()}))
    outline = Outline(document.marks, len(document.text))
    assert [outline.heading_at(document.text.index(word)) for word in ("Later", "Preface", "Deep", "Cover")] == [
        "Tides › Low",
        None,
        "Sea",
        None,
    ]


def test_missing_chapters_are_reported() -> None:
    assert read(book()).notes == ("chapter 1 (OEBPS/cover.svg) is not text", "chapter 4 (gone) is missing")


@pytest.mark.parametrize("name", ["container", "opf"])
def test_book_without_its_parts_is_refused(name: str) -> None:
    assert refusal(book(**{name: None})).code == "bad_epub"
    assert refusal(book(**{name: b"<a>"})).code == "bad_epub"


def test_file_other_than_an_archive_is_refused() -> None:
    for raw in [b"", b"PK\3\4", b"text", book()[:900], b"PK\5\6" + b"\0" * 18]:
        assert refusal(raw).code == "bad_epub", raw


def encryption(algorithm: str) -> bytes:
    return f"""<encryption><EncryptedData><EncryptionMethod Algorithm="{algorithm}"/><CipherData>
    <CipherReference URI="OEBPS/one.xhtml"/></CipherData></EncryptedData></encryption>""".encode()


def test_book_with_drm_is_refused_in_plain_words() -> None:
    error = refusal(book(encryption=encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc")))
    assert (error.code, "encrypted (DRM)" in error.message) == ("bad_epub", True)


def test_obfuscated_fonts_are_not_drm() -> None:
    assert read(book(encryption=encryption("http://www.idpf.org/2008/embedding"))).text


def test_links_do_not_leave_the_archive() -> None:
    package = PACKAGE.replace("one.xhtml", "../../../etc/passwd")
    assert "chapter 2 (../../etc/passwd) is missing" in read(book(opf=package.encode())).notes


def test_entry_that_expands_a_hundredfold_is_refused() -> None:
    assert refusal(book(one=b"<p>" + b"a" * 2_000_000)).code == "unpacked_too_large"


def test_total_unpacked_size_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipped, "MOST_UNPACKED", 1000)
    assert refusal(book()).code == "unpacked_too_large"


def test_number_of_entries_is_limited() -> None:
    many = {**ENTRIES, **{f"{i}": b"" for i in range(zipped.MOST_ENTRIES)}}
    assert refusal(zipped_up(many)).code == "bad_epub"


def test_deeply_nested_chapter_is_refused() -> None:
    assert refusal(book(one=b"<div>" * 600)).code == "too_deep"


def test_bytes_of_any_declared_charset_become_text() -> None:
    for raw, charset, text in [
        (b"\xff\xfea\0", "utf-8", "a"),
        (b"\xef\xbb\xbfa", "latin-1", "a"),
        (b"\x93a\x94", "iso-8859-1", "“a”"),
        ("é".encode(), "us-ascii", "é"),
        (b"\xe9", "utf-8", "\ufffd"),
        (b"a\0b", None, "ab"),
        (b"a", "no-such", "a"),
        (b"a-", "punycode", "a-"),
        (b"a", "rot13", "a"),
        (b"a", "\0", "a"),
        (b"+2AA-", "utf-7", "?"),
    ]:
        assert decode_part(raw, charset)[0] == text, (raw, charset, text)


@examples(50)
@given(st.sampled_from(["container", "opf", "one", "two", "encryption"]), st.binary(max_size=60), st.integers(0, 400))
def test_book_with_a_broken_part_is_read_or_refused(name: str, patch: bytes, at: int) -> None:
    before = next((raw for key, raw in ENTRIES.items() if name in key), encryption("x"))
    raw = book(**{name: before[:at] + patch + before[at + len(patch) :]})
    assert describe("epub", "a.epub", raw) in ("bad_epub", "too_deep") or read(raw).title
