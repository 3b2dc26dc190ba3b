"""A Word document becomes its counted paragraphs, with headings, lists, tables and notes."""

from __future__ import annotations

import io
import os
import time
import zipfile
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.parse import parser
from recall_core.marks import Outline, Places, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.testing.parsers import describe
from tests.examples import examples
from tests.unit.test_parse_elsewhere import NightlyElsewhere

_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def relations(**targets: str) -> str:
    rows = "".join(f'<Relationship Type="{_RELATION}/{kind}" Target="{part}"/>' for kind, part in targets.items())
    return f"<Relationships>{rows}</Relationships>"


def paragraph(text: str, style: str = "", extra: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f'<w:p><w:pPr>{named}{extra}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def cell(*paragraphs: str) -> str:
    return f"<w:tc><w:tcPr/>{''.join(paragraphs)}</w:tc>"


STYLES = f"""<w:styles {_WORD}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/>
<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="Meine"><w:name w:val="Meine"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Liste"><w:name w:val="List Bullet"/>
<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="Ring"><w:name w:val="a"/><w:basedOn w:val="Ring"/></w:style>
<w:style><w:name w:val="heading "/></w:style>
</w:styles>"""
FOOTNOTES = f"""<w:footnotes {_WORD}><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>
<w:footnote w:id="2">{paragraph("A note.")}{paragraph("Of two paragraphs.")}</w:footnote></w:footnotes>"""
ENDNOTES = f'<w:endnotes {_WORD}><w:endnote w:id="2">{paragraph("At the end.")}</w:endnote></w:endnotes>'
CORE = """<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>The  harbour</dc:title>
<dc:creator>A. Pilot</dc:creator><dcterms:created>2024-05-01T10:00:00Z</dcterms:created>
<cp:keywords>ships; tides, ships</cp:keywords></cp:coreProperties>"""
NUMBERED = '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>'
BODY = (
    paragraph("The harbour guide", "Titel")
    + paragraph("Tides", "berschrift1")
    + "<w:p><w:r><w:t>High at </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>noon</w:t></w:r><w:r><w:br/><w:tab/></w:r>"
    + "<w:ins><w:r><w:t>près du quai</w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
    + "<w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>"
    + '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r></w:p>'
    + "<w:p/>"
    + paragraph("one", extra=NUMBERED)
    + paragraph("two", "Liste")
    + "<w:tbl>"
    + f"<w:tr>{cell('<w:p/>')}{cell(paragraph('high'))}</w:tr>"
    + f"<w:tr>{cell(paragraph('Mon'))}{cell(paragraph('5'), paragraph('or 6'))}</w:tr></w:tbl>"
    + paragraph("Own", "Meine")
    + paragraph("Flat", extra='<w:outlineLvl w:val="2"/>')
    + "<w:p><w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:txbxContent>"
    + paragraph("in a box")
    + "</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>"
    + paragraph("in a box")
    + "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>around it</w:t></w:r></w:p>"
)
TEXT = """The harbour guide

Tides

High at noon
\tprès du quai[1][2]

  - one
- two

| high
Mon | 5 or 6

Own

Flat

in a box

around it

[1] A note. Of two paragraphs.

[2] At the end."""


def document(body: str = BODY, **changes: bytes | None) -> bytes:
    """Return a document with that body, and with some parts replaced or removed."""
    entries: dict[str, bytes | None] = {
        "_rels/.rels": relations(officeDocument="word/document2.xml").encode(),
        "word/_rels/document2.xml.rels": relations(
            styles="styles.xml", footnotes="/word/footnotes.xml", endnotes="endnotes.xml"
        ).encode(),
        "word/document2.xml": f"<w:document {_WORD}><w:body>{body}<w:sectPr/></w:body></w:document>".encode(),
        "word/styles.xml": STYLES.encode(),
        "word/footnotes.xml": FOOTNOTES.encode(),
        "word/endnotes.xml": ENDNOTES.encode(),
        "docProps/core.xml": CORE.encode(),
    }
    for key, changed in changes.items():
        part = {"main": "word/document2.xml", "core": "docProps/core.xml"}.get(key, f"word/{key}.xml")
        entries["_rels/.rels" if key == "rels" else part] = changed
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, raw in entries.items():
            if raw is not None:
                archive.writestr(zipfile.ZipInfo(name), raw, zipfile.ZIP_DEFLATED)
    return written.getvalue()


class TestDocx(NightlyElsewhere):
    name = "docx"
    samples: ClassVar = {"a.docx": document(), "b.docx": document(core=None, styles=None, footnotes=None)}


def read(raw: bytes, path: str = "folder/a.docx") -> ParsedDocument:
    (found,) = parser("docx").parse(raw, path=path, digest="0")
    return found


def refusal(raw: bytes) -> IngestError:
    with pytest.raises(IngestError) as error:
        read(raw)
    return error.value


def test_text_contains_the_paragraphs_without_deletions() -> None:
    assert read(document()).text == TEXT


def test_title_and_metadata_come_from_the_properties() -> None:
    found = read(document())
    assert found.title == "The harbour"
    assert found.meta == {"author": "A. Pilot", "date": "2024-05-01T10:00:00Z"}
    assert found.tags == ("ships", "tides")


def test_title_falls_back_to_paragraph_heading_or_file() -> None:
    assert read(document(core=None)).title == "The harbour guide"
    assert read(document(paragraph("a") + paragraph("b", "berschrift1"), core=None)).title == "b"
    assert read(document(paragraph("a"), core=None)).title == "a.docx"


def test_headings_are_recognised_by_style_name_in_any_language() -> None:
    found = read(document())
    headings = [(mark.name, mark.level) for mark in found.marks if mark.kind == "heading"]
    assert headings == [("Tides", 1), ("Own", 2), ("Flat", 3)]
    outline = Outline(found.marks, len(found.text))
    assert outline.heading_at(found.text.index("in a box")) == "Tides › Own › Flat"
    assert outline.heading_at(found.text.index("[1] A")) is None  # notes belong to no section


def test_empty_and_table_paragraphs_are_counted() -> None:
    found = read(document())
    places = Places(found.marks)
    numbers = {
        word: places.at(found.text.index(word), found.text.index(word) + len(word))
        for word in (
            "guide",
            "Tides",
            "noon",
            "one",
            "two",
            "high",
            "Mon",
            "5",
            "or 6",
            "Own",
            "in a box",
            "around",
            "[1] A",
        )
    }
    assert [*numbers.values()] == [f"paragraph {i}" for i in (1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 14, 15, 16)]


def test_tables_are_blocks_with_one_line_per_row() -> None:
    marks = read(document()).marks
    start = next(mark.offset for mark in marks if mark.kind == "block")
    end = next(mark.offset for mark in marks if mark.kind == "end")
    assert TEXT[start:end] == "| high\nMon | 5 or 6"


def test_file_other_than_an_archive_is_refused() -> None:
    for raw in [b"", b"text", b"PK\3\4"]:
        assert refusal(raw).code == "bad_docx", raw
        assert refusal(document()[:700]).code == "bad_docx", raw


def test_refusal_names_the_real_kind_of_the_file() -> None:
    for raw, said in [
        (b"", "it is empty"),
        (b"A text.\n", "it is text"),
        (b"PK\3\4", "it is not a ZIP archive, or it is damaged"),
    ]:
        assert f": {said}." in refusal(raw).message, (raw, said)


def test_archive_of_another_kind_is_refused() -> None:
    for main in [None, b"", b"<a>", b"<a/>"]:
        assert refusal(document(main=main)).code == "bad_docx", main


def test_password_protected_document_differs_from_an_older_format() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
    assert "password-protected" in refusal(ole + "EncryptedPackage".encode("utf-16-le")).message
    assert "older Word file" in refusal(ole).message
    assert refusal(ole).code == "bad_docx"


def test_custom_entities_are_refused_or_dropped() -> None:
    bomb = f'<!DOCTYPE a [<!ENTITY b "lol">]><w:document><w:body>{paragraph("a&b;")}</w:body></w:document>'
    assert read(document(main=bomb.encode())).text == "a"
    assert refusal(document(main=bomb.encode("utf-16"))).code == "bad_docx"


def test_deep_nesting_is_refused() -> None:
    assert refusal(document("<w:tbl><w:tr><w:tc>" * 400)).code == "too_deep"


TIMES = 5 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1
"""At night a text is this many times as long and may take this many times longer."""


def test_repetition_takes_linear_time() -> None:
    for piece in ("<w:p/>", "<w:tc/>", "<w:tbl/>", paragraph("a"), f"<w:tr>{cell(paragraph('a'))}</w:tr>"):
        began = time.process_time()
        body = piece * (TIMES * 60_000 // len(piece))
        describe("docx", "a.docx", document(body))
        describe("docx", "a.docx", document(f"<w:tbl><w:tr>{body}</w:tr></w:tbl>"))
        assert time.process_time() - began < 4 * TIMES, piece


_TREES = st.recursive(
    st.sampled_from(
        ["<w:t>a</w:t>", "<w:t> b\n</w:t>", "<w:br/>", "<w:tab/>", "<w:vanish/>", '<w:pStyle w:val="Ring"/>']
    ),
    lambda inner: st.builds(
        lambda name, parts: f"<w:{name}>{''.join(parts)}</w:{name}>",
        st.sampled_from("p p r r tbl tr tc del ins pPr txbxContent".split()),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@examples(100)
@given(st.lists(_TREES, max_size=6))
def test_any_tree_is_read_with_valid_marks(trees: list[str]) -> None:
    found = read(document("".join(trees)))
    assert why_unfit(found.marks, len(found.text)) is None


@examples(50)
@given(
    st.sampled_from(["rels", "main", "styles", "footnotes", "core"]),
    st.binary(max_size=60),
    st.integers(0, 400),
)
def test_document_with_a_broken_part_is_read_or_refused(name: str, patch: bytes, at: int) -> None:
    part = {"rels": relations(), "styles": STYLES, "footnotes": FOOTNOTES, "core": CORE}.get(name, "<w:document/>")
    raw = document(**{name: part.encode()[:at] + patch})
    assert describe("docx", "a.docx", raw) in ("bad_docx", "too_deep") or read(raw).title


def test_python_docx_output_is_read() -> None:
    docx = pytest.importorskip("docx")
    made = docx.Document()
    made.add_heading("Tides", 1)
    made.add_paragraph("High at noon.")
    made.add_paragraph("first", style="List Bullet")
    table = made.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "a", "b"
    written = io.BytesIO()
    made.save(written)
    found = read(written.getvalue())
    assert found.text == "Tides\n\nHigh at noon.\n\n- first\n\na | b"
    assert [mark.name for mark in found.marks if mark.kind == "heading"] == ["Tides"]
