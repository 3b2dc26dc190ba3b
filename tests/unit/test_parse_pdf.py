"""Promises of the PDF parser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.parse import parser
from recall_core.ingest.parse import pdf as module
from recall_core.ingest.parse.pdf import Bookmark, lines_of, marks_of, without_running
from recall_core.ingest.parse.worker import Worker
from recall_core.marks import Mark, Outline, Places, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import is_storable
from tests.examples import examples
from tests.pdfs import Entry, assembled, pdf, stream
from tests.unit.test_parse_elsewhere import NightlyElsewhere

pytest.importorskip("pypdfium2")

BOOK = pdf(
    [
        "A Book of Tides\nby A. Moon",
        "1. The sea\nThe sea rises and falls, and the har-\nbour with it.\n1.1 Spring tides\nThey are high.",
        "",
        "2. The moon\nIt pulls.",
    ],
    facts={"Title": "Of Tides", "Author": "A. Moon", "CreationDate": "D:20240229134500+05'30'"},
    outline=[Entry("The sea", 2, [Entry("Spring tides", 2)]), Entry("The moon", 4)],
)


class TestPdf(NightlyElsewhere):
    name = "pdf"
    samples: ClassVar = {
        "book.pdf": BOOK,
        "scripts.pdf": pdf(["Ångström, Ωμέγα, Привет, 日本語, ofﬁce, 😀, \ud800"], pictures=[1]),
        "letter.pdf": pdf([f"Letter\nDear {i}\nYours\nPage {i} of 9" for i in range(9)]),
    }


def parse(raw: bytes, *, path: str = "docs/a.pdf") -> ParsedDocument:
    (document,) = parser("pdf").parse(raw, path=path, digest="d")
    return document


def refusal(raw: bytes, *, path: str = "docs/a.pdf") -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(raw, path=path)
    return caught.value


def headings(document: ParsedDocument) -> list[tuple[str, int, str]]:
    """Return names and levels, and the line of each heading."""
    return [
        (mark.name, mark.level, document.text[mark.offset :].partition("\n")[0])
        for mark in document.marks
        if mark.kind == "heading"
    ]


def test_pages_are_one_text_separated_by_empty_lines() -> None:
    document = parse(pdf(["One\nline", "", "Two"]))

    assert document.text == "One\nline\n\nTwo"
    assert document[3:5] == ("d", len(pdf(["One\nline", "", "Two"])))


def test_citation_names_the_page_after_empty_pages() -> None:
    document = parse(pdf(["", "One", "", "", "Two", ""]))
    places = Places(document.marks)

    assert [mark.kind for mark in document.marks] == ["page"] * 6
    assert places.at(0, 3) == "page 2"
    assert places.at(0, 5) == "page 2"
    assert places.at(5, 8) == "page 5"
    assert places.at(0, 8) == "page 2-5"


def test_outline_entries_are_headings_at_their_lines() -> None:
    document = parse(BOOK)

    assert headings(document) == [
        ("The sea", 1, "1. The sea"),
        ("Spring tides", 2, "1.1 Spring tides"),
        ("The moon", 1, "2. The moon"),
    ]
    at = document.text.index("They are high")
    assert Outline(document.marks, len(document.text)).heading_at(at) == "The sea › Spring tides"


def test_outline_entry_without_a_line_starts_its_page() -> None:
    outline = [Entry("Elsewhere", 2), Entry("Nowhere", 0), Entry("Beyond", 2)]

    assert headings(parse(pdf(["One", "Two\nlines"], outline=outline))) == [
        ("Elsewhere", 1, "Two"),
        ("Beyond", 1, "Two"),
    ]


def test_title_is_found_despite_numbers_case_and_breaks() -> None:
    for title, line in [
        ("The deep sea", "CHAPTER 3: The Deep Sea"),
        ("3.1 The deep sea", "The deep sea"),
        ("glp_set_col - set", "2.3.10 glp set col — set"),
        ("The deep sea and all that lives in it", "4 The deep sea and all that lives"),  # continues on the next line
        ("Valid", "Valid The function of that name"),
        ("A very long title indeed, of which the line is a part", "B.2. A very long title indeed, of"),
    ]:
        pages = [["before", line, "in it", "The deep sea is deep"]]
        marks = marks_of([Bookmark(title, 1, 0)], pages, [0])

        assert marks[-1] == Mark(len("before\n"), "heading", title, 1), (title, line)


def test_two_entries_of_one_name_match_two_lines() -> None:
    pages = [["Notes", "a", "Notes", "b"]]
    marks = marks_of([Bookmark("Notes", 1, 0), Bookmark("Notes", 2, 0), Bookmark("Notes", 2, 0)], pages, [0])

    assert [mark.offset for mark in marks] == [0, 0, 8, 8]


def test_backward_entries_are_sorted() -> None:
    document = parse(pdf(["One", "Two"], outline=[Entry("Two", 2), Entry("One", 1, [Entry("Deep", 2)])]))

    assert [(name, line) for name, _, line in headings(document)] == [("One", "One"), ("Two", "Two"), ("Deep", "Two")]


def test_levels_end_at_six_and_names_at_120_characters() -> None:
    outline = [Entry("bottom " * 40, 1)]
    for n in range(7):
        outline = [Entry(f"level {7 - n}", 1, outline)]

    found = headings(parse(pdf(["x"], outline=outline)))

    assert [level for _, level, _ in found] == [1, 2, 3, 4, 5, 6, 6, 6]
    assert len(found[-1][0]) == 120
    assert found[-1][0].endswith("…")


def test_hyphenated_word_is_joined() -> None:
    text = parse(pdf(["An exam-\nple of a long-\nLived thing\nin 1990-\n1995 and so -\non."])).text

    assert text.startswith("An example of a long-Lived thing\nin 1990-")
    assert "so -\non." in text


def test_lines_lose_typesetting_characters() -> None:
    for raw, lines in [
        ("exam\x02ple", ["example"]),
        ("Jean\x02Paul", ["Jean-Paul"]),
        ("1990\x021995", ["1990-1995"]),
        ("exam-\r\nple", ["example"]),
        ("exam\xad\r\nple", ["example"]),
        ("Exam\u2010\r\nÉcole", ["Exam\u2010", "École"]),
        ("a -\r\nb", ["a -", "b"]),
        ("so\xadft, o\ufb03ce, \ufb02at, fa\ufb06", ["soft, office, flat, fast"]),
        ("speci\x0ced di\x0berent e\x0ecient", ["specified different efficient"]),
        ("o\x0b, \rexible, a\x0fict", ["off, flexible, afflict"]),
        ("Copyright \rc 1999", ["Copyright © 1999"]),
        ("\x88 item\x00\x07\x1f\x7f\x9f\ufeff\uffff", ["• item"]),
        ("values of \x0f allow", ["values of  allow"]),
        (" \r\n  one \t\r\n\r\n two\r\n \r\n", ["one", "", " two"]),
        ("", []),
        (" \r\n\x00", []),
    ]:
        assert lines_of(raw) == lines, (raw, lines)


@given(st.text(st.sampled_from("aB1 -\n\r\x02\x0c\x0f\xad\ufb01\ufffe\ufffd\U0001f600")))
def test_no_line_keeps_a_control_character(raw: str) -> None:
    assert not re.search("[\0-\x1f\x7f-\x9f\xad\ufb00-\ufb06\ufffe]", "".join(lines_of(raw)).replace("\t", ""))


def book(count: int, *, top: Sequence[str] = (), bottom: Sequence[str] = ()) -> list[list[str]]:
    """Return pages of different texts between lines that may contain title, number, side and chapter."""
    pages = []
    for i in range(count):
        told = {"n": i + 1, "p": i + 7, "side": ("even", "odd")[i % 2], "chapter": ("Sea", "Moon", "Sun")[i // 4]}
        word = "abcdefghijkl"[i] * 9
        text = [f"{word} begins", "middle", f"{word} goes on", f"{word} ends"]
        pages.append([*(line.format(**told) for line in top), *text, *(line.format(**told) for line in bottom)])
    return pages


def test_headers_and_footers_are_removed() -> None:
    for top, bottom in [
        (["The Book"], ["{n}"]),
        ([], ["- {n} -"]),
        (["Version 1.{n}, draft", "Not for the public"], ["Page {n} of 12"]),
        (["{chapter} {p}"], []),
        (["{p} {chapter}"], ["© A. Moon"]),
        (["The {side} pages"], []),
    ]:
        assert without_running(book(12, top=top, bottom=bottom)) == book(12), (top, bottom)


def test_ambiguous_lines_stay() -> None:
    cases: dict[str, list[list[str]]] = {
        "too few pages to know": book(4, top=["The Book"], bottom=["{n}"]),
        "a third of the pages": book(12, top=["{chapter}"]),
        "a table": [[f"Sensor {i * 8 + j} says {j}.5" for j in range(8)] for i in range(12)],
        "a list of numbers": [[f"{i * 8 + j}" for j in range(8)] for i in range(12)],
        "long lines": [["x" * 300, "y" * 300, "z" * 300] for _ in range(12)],
        "a form": [["Letter", f"Dear {i}", "Yours", f"Page {i} of 9"] for i in range(9)],
        "a bracket": [["}"] for _ in range(12)],
        "nothing": [[] for _ in range(12)],
    }
    for case, pages in cases.items():
        assert without_running(pages) == pages, case


def test_heading_that_begins_like_its_page_number_stays() -> None:
    pages = [[f"{i + 1}", f"{i + 1} {word}", word * 2, "text", word * 3] for i, word in enumerate("abcdefgh")]

    assert without_running(pages) == [page[1:] for page in pages]


def test_outline_title_stays_even_on_every_page() -> None:
    outline = [Entry(f"Chapter {i + 1}", i + 1) for i in range(5)] + [Entry("Page", 6)]
    document = parse(pdf(["\n".join(lines) for lines in book(6, top=["Chapter {n}"])], outline=outline))

    assert [line for _, _, line in headings(document)] == [
        *(f"Chapter {i + 1}" for i in range(5)),
        "fffffffff begins",
    ]
    assert "Chapter 6" not in document.text


def test_removing_headers_keeps_pages_in_place() -> None:
    document = parse(pdf(["\n".join(lines) for lines in book(6, top=["The Book"], bottom=["{n}"])]))

    assert "The Book" not in document.text
    assert document.text == "\n\n".join("\n".join(lines) for lines in book(6))
    assert Places(document.marks).at(document.text.index("ddd"), len(document.text)) == "page 4-6"


def test_title_needs_to_look_like_a_title() -> None:
    for written, title in [
        ("Of  Tides\n", "Of Tides"),
        ("", "a.pdf"),
        (" - ", "a.pdf"),
        ("untitled", "a.pdf"),
        ("(anonymous)", "a.pdf"),
        ("Untitled document 3", "a.pdf"),
        ("Microsoft Word - tides.doc", "a.pdf"),
        ("tides_v2.docx", "a.pdf"),
        ("/home/me/tides.tex", "a.pdf"),
        ("C:\\tides.INDD", "a.pdf"),
        ("Untitledness", "Untitledness"),
        ("x" * 400, "x" * 299 + "…"),
        ("x" * 9000, "a.pdf"),
        ("half \ud800", "half"),
    ]:
        assert parse(pdf(["x"], facts={"Title": written})).title == title, (written, title)


def test_creation_date_is_iso_8601() -> None:
    for written, created in [
        ("D:20240229134500+05'30'", "2024-02-29T13:45:00+05:30"),
        ("D:20240229134500-0800", "2024-02-29T13:45:00-08:00"),
        ("D:20240229134500Z", "2024-02-29T13:45:00+00:00"),
        ("D:202402291345", "2024-02-29T13:45:00"),
        ("20240229", "2024-02-29"),
        ("D:20240230", None),
        ("D:20240229134500+99'99'", None),
        ("Thu Feb 29 2024", None),
        ("", None),
    ]:
        assert parse(pdf(["x"], facts={"CreationDate": written})).meta.get("created") == created, (written, created)


def test_metadata_has_author_date_and_page_count() -> None:
    assert parse(BOOK).meta == {"pages": 4, "author": "A. Moon", "created": "2024-02-29T13:45:00+05:30"}
    assert parse(pdf(["x"], facts={"Author": "anonymous"})).meta == {"pages": 1}


def test_picture_pages_are_reported_but_blank_pages_are_not() -> None:
    assert parse(pdf(["One", "", "", "Four"], pictures=[2, 4])).notes == ("no text on 1 page (2), only images",)
    (note,) = parse(pdf(["One", *[""] * 12], pictures=range(2, 14))).notes
    assert note == "no text on 12 pages (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …), only images"


def test_unreadable_pages_are_reported_and_counted() -> None:
    document = parse(pdf(["One", "Two", "Three"], more={12: b"null"}))

    assert document.notes == ("1 page (2) cannot be read",)
    assert document.text == "One\n\nThree"
    assert Places(document.marks).at(5, 10) == "page 3"


def test_file_with_a_password_is_refused() -> None:
    error = refusal(pdf(["secret"], password=True))

    assert (error.code, error.message) == ("pdf_encrypted", "docs/a.pdf is encrypted: it needs a password.")
    assert error.details == {"path": "docs/a.pdf", "kind": "PDF"}


@pytest.mark.parametrize(("count", "where"), [(1, "its page"), (3, "any of its 3 pages")])
def test_file_without_letters_is_refused_with_an_ocr_hint(count: int, where: str) -> None:
    error = refusal(pdf(["", "- - -", ""][:count], pictures=[1]))

    assert (error.code, error.message) == ("no_text", f"docs/a.pdf has no text on {where}; it may be a scan.")
    assert error.hint == "ocrmypdf in.pdf out.pdf"


SIX_THOUSAND = b"<</Type/Pages/Count 6000/Kids[%s]>>" % (b"10 0 R " * 6_000)


def test_file_other_than_a_pdf_is_named() -> None:
    for reason, raw in [
        ("is empty, not a PDF", b""),
        ("is text, not a PDF", b"just text"),
        ("is not a PDF", b"\xff\x80\x01 bytes"),
        ("is a PNG image, not a PDF", b"\x89PNG\r\n\x1a\n\0\0"),
        ("is a damaged PDF", b"%PDF-1.7 and rubbish"),
        ("is a damaged PDF", BOOK[:700]),
        ("is a PDF without pages", pdf([])),
        ("is a damaged PDF: none of its pages can be read", pdf(["x"], more={10: b"null"})),
        ("has 6000 pages, more than 5000", pdf(["x"], more={2: SIX_THOUSAND})),
    ]:
        error = refusal(raw)

        assert (error.code, error.message) == ("bad_pdf", f"docs/a.pdf {reason}."), (reason, raw)


def test_text_beyond_its_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CHARS", 100)

    assert refusal(pdf(["word " * 10] * 3)).message.startswith("docs/a.pdf has more than ")


def test_damaged_end_is_repaired_if_possible() -> None:
    assert parse(BOOK[: BOOK.rindex(b"startxref")] + b"startxref\n9999999\n%%EOF").text == parse(BOOK).text


def test_missing_package_is_reported_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2.raw", None)

    error = refusal(BOOK)

    assert error.code == "parser_unavailable"
    assert error.details == {"path": "docs/a.pdf", "kind": "PDF"}
    assert "install" in str(error.hint)


def test_package_is_loaded_for_the_first_file_only() -> None:
    code = "import sys, recall_core.ingest.parse.pdf; print('pypdfium2' in sys.modules)"
    path = ":".join(sys.path)

    told = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )

    assert told.stdout == "False\n"


def test_every_opened_handle_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    api = module._pdfium("a.pdf")
    opened: list[str] = []
    closed: list[str] = []

    class Counting:
        def __getattr__(self, name: str) -> object:
            kind = {"FPDF_LoadMemDocument64": "document", "FPDF_LoadPage": "page", "FPDFText_LoadPage": "text"}
            ends = {"FPDF_CloseDocument": "document", "FPDF_ClosePage": "page", "FPDFText_ClosePage": "text"}
            real = getattr(api, name)

            def called(*given: object) -> object:
                answer = real(*given)
                if name in kind and answer:
                    opened.append(kind[name])
                if name in ends:
                    closed.append(ends[name])
                return answer

            return called if name in kind or name in ends else real

    monkeypatch.setattr(module, "_pdfium", lambda path: Counting())

    parse(BOOK)
    refusal(pdf([""]))
    monkeypatch.setattr(module, "_SPECIAL", None)
    with pytest.raises(AttributeError):
        parse(BOOK)

    assert opened.count("page") == 4 + 1 + 1
    assert sorted(opened) == sorted(closed)


def test_missing_font_is_not_needed() -> None:
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/DejaVuSans/Encoding/WinAnsiEncoding>>"

    assert parse(pdf(["one two"], more={4: font})).text == "one two"


# Hostile files.


def tree(kids: bytes, *, count: int = 3) -> bytes:
    return b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, kids)


def nested(count: int) -> list[Entry]:
    entries = [Entry("bottom", 1)]
    for n in range(count):
        entries = [Entry(f"level {n}", 1, entries)]
    return entries


LOOP = {14: b"<</Title(b)/Dest[10 0 R/Fit]/Parent 13 0 R/First 13 0 R/Next 14 0 R>>"}
FORM = b"/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</P %d 0 R>>>>"
TABLE = BOOK.rindex(b"xref\n0 1")
ILL: dict[str, Callable[[], bytes]] = {
    "a page tree that holds itself": lambda: pdf(["x"], more={2: tree(b"2 0 R 10 0 R 2 0 R")}),
    "pages that are not there": lambda: pdf(["x"], more={2: tree(b"10 0 R", count=4_999)}),
    "more pages than any file has": lambda: pdf(["x"], more={2: tree(b"10 0 R", count=1_000_000_000)}),
    "one page many times": lambda: pdf(["x y"], more={2: tree(b"10 0 R " * 999, count=999)}),
    "an outline that holds itself": lambda: pdf(["x"], outline=[Entry("a", 1, [Entry("b", 1)])], more=LOOP),
    "an outline without an end": lambda: pdf(["x"], outline=nested(3_000)),
    "an outline of many entries": lambda: pdf(["x\n" * 50], outline=[Entry("no such line", 1)] * 20_500),
    "an outline without titles": lambda: pdf(["x"], outline=[Entry("", 1), Entry(" \x07", 1), Entry("y" * 9_000, 1)]),
    "a table of objects that leads to itself": lambda: BOOK.replace(
        b"/Root", b"/Prev %d/Root" % BOOK.rindex(b"xref\n0 1")
    ),
    "many objects": lambda: pdf(["x"], more={n: b"<</A %d>>" % n for n in range(100, 50_100)}),
    "arrays in arrays": lambda: pdf(["x"], more={6: b"[" * 50_000, 2: tree(b"[" * 5_000 + b"10 0 R")}),
    "a content of brackets": lambda: pdf(["x"], more={11: stream(b"[" * 500_000 + b"<<" * 500_000)}),
    "many states": lambda: pdf(["x"], more={11: stream(b"q " * 100_000 + b"BT/F 12 Tf 9 9 Td (x)Tj ET")}),
    "a form that draws another": lambda: pdf(["x"], more={11: stream(b"/P Do"), 3: stream(b"/P Do", FORM % 4)}),
    "a font that is itself": lambda: pdf(["x"], more={4: b"4 0 R"}),
    "no font": lambda: pdf(["x"], more={4: b"<<>>"}),
    "a long line": lambda: pdf(["word and " * 100_000]),
    "a page of many lines": lambda: pdf(["word and word\n" * 10_000]),
    "no boxes": lambda: pdf(["x"], more={10: b"<</Type/Page/Parent 2 0 R/Contents 11 0 R/MediaBox[0 0 0 0]>>"}),
    "nothing but a trailer": lambda: assembled({1: b"<</Type/Catalog>>"}),
    "a stream that lies about its length": lambda: BOOK.replace(b"/Length ", b"/Length 9"),
}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


def test_hostile_pdf_is_read_or_refused(worker: Worker) -> None:
    for what, made in ILL.items():
        try:
            (document,) = worker.parse("pdf", made(), path="a.pdf", digest="d")
        except IngestError as error:
            assert error.code in ("bad_pdf", "no_text"), what  # noqa: PT017 - either will do
            continue
        assert why_unfit(document.marks, len(document.text)) is None, what
        assert len(document.marks) <= 5_000 + 20_000, what


def test_outline_is_limited_to_500_levels_and_20000_entries() -> None:
    assert len(headings(parse(ILL["an outline without an end"]()))) == 500
    assert len(headings(parse(ILL["an outline of many entries"]()))) == 20_000
    assert headings(parse(ILL["an outline that holds itself"]())) == [("a", 1, "x"), ("b", 2, "x")]


@examples(20)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), min_size=1, max_size=4),
    st.text(max_size=20),
    st.binary(max_size=8),
    st.integers(0, 3_000),
)
def test_any_file_is_read_or_refused(pages: list[str], title: str, patch: bytes, place: int) -> None:
    raw = bytearray(pdf(pages, facts={"Title": title}, outline=[Entry(title, 1)]))
    raw[place : place + len(patch)] = patch

    try:
        document = parse(bytes(raw))
    except IngestError as error:
        assert error.code in ("bad_pdf", "no_text", "pdf_encrypted")  # noqa: PT017 - any will do
        return

    assert is_storable(document.text + document.title)
    assert why_unfit(document.marks, len(document.text)) is None
