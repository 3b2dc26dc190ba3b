"""A message becomes its body; attachments are named, and no header can harm the reading."""

from __future__ import annotations

import os
import time
from email.message import EmailMessage
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


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    defaults = {
        "From": "Ada Pilot <ada@example.org>",
        "To": "bo@example.org, cy@example.org",
        "Subject": "Gezeiten für März",
        "Date": "Fri, 01 Mar 2024 23:30:00 -0200",
    }
    for name, value in {**defaults, **headers}.items():
        made[name.replace("_", "-")] = value
    return made


def plain() -> bytes:
    made = message()
    made.set_content("High at noon,\n  près du quai.\n\n-- \nAda\n")
    return made.as_bytes()


def rich() -> bytes:
    """Return a message with equal text and HTML, an image in the HTML, two attachments and a message."""
    made = message()
    made.set_content("Plain words.\n")
    made.add_alternative("<h1>Rich</h1><p>words.</p>", subtype="html")
    made.get_payload()[1].add_related(b"png", "image", "png", cid="<a>")  # type: ignore[index,union-attr]
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="tidés.pdf")
    made.add_attachment("some notes", filename="notes.txt")
    inner = message(Subject="Re: wind")
    inner.set_content("Inner words.\n")
    made.add_attachment(inner)
    made.set_boundary("outer")
    return made.as_bytes()


HTML = (
    b"Subject: a\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=iso-8859-1\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>pr=E8s <b>du</b> quai=93</p><script>no</script>\r\n"
)


class TestEml(NightlyElsewhere):
    name = "eml"
    samples: ClassVar = {"a.eml": plain(), "b.eml": HTML}


def read(raw: bytes, path: str = "folder/a.eml") -> ParsedDocument:
    (document,) = parser("eml").parse(raw, path=path, digest="0")
    return document


def code_of(raw: bytes) -> str:
    with pytest.raises(IngestError) as refused:
        read(raw)
    return refused.value.code


def test_body_is_the_unchanged_text() -> None:
    assert read(plain()).text == "High at noon,\n  près du quai.\n\n-- \nAda"


def test_subject_and_headers_are_title_and_metadata() -> None:
    document = read(plain())
    assert document.title == "Gezeiten für März"
    assert document.meta == {
        "from": "Ada Pilot <ada@example.org>",
        "to": "bo@example.org, cy@example.org",
        "date": "2024-03-02T01:30:00Z",
    }


def test_message_without_a_subject_is_titled_by_its_file() -> None:
    assert read(b"From: a\n\nb").title == "a.eml"


def test_plain_text_is_preferred_over_other_alternatives() -> None:
    assert read(rich()).text == "Plain words.\n\nInner words."


def test_attachments_are_named_and_not_read() -> None:
    assert read(rich()).notes == ("not read: tidés.pdf, notes.txt",)


def test_every_part_counts_and_a_nested_message_is_a_section() -> None:
    document = read(rich())
    assert sum(mark.kind == "part" for mark in document.marks) == 6
    at = document.text.index("Inner")
    assert Places(document.marks).at(at, at + 5) == "part 6"
    assert Outline(document.marks, len(document.text)).heading_at(at) == "Re: wind"


def test_part_is_named_by_its_message_and_headings() -> None:
    inner = message(Subject="Re: wind")
    inner.set_content("<h1>Gale</h1><p>Inner words.</p>", subtype="html")
    inner.make_mixed()
    inner.attach(part("Second words.\n"))
    made = message()
    made.set_content("<h2>Tides</h2><p>Outer words.</p>", subtype="html")
    made.make_mixed()
    made.attach(part("Plain words.\n"))
    made.add_attachment(inner)
    made.attach(part("Last words.\n"))
    document = read(made.as_bytes())
    outline = Outline(document.marks, len(document.text))
    names = {word: outline.heading_at(document.text.index(f"{word} words")) for word in WORDS}
    assert names == dict(zip(WORDS, ("Tides", None, "Re: wind › Gale", "Re: wind", None), strict=True))


WORDS = ("Outer", "Plain", "Inner", "Second", "Last")


def part(text: str) -> EmailMessage:
    made = EmailMessage()
    made.set_content(text)
    return made


def test_html_is_read_without_plain_text() -> None:
    assert read(HTML).text == "près du quai“"
    parts = b"--b\n\n \n--b\nContent-Type: text/html\n\n<p>c\n--b--\n"
    assert read(b"Subject: a\nContent-Type: multipart/alternative; boundary=b\n\n" + parts).text == "c"


def test_subjects_of_any_encoding_are_read() -> None:
    for subject, title in [
        (b"=?utf-8?q?a=C3=A9?= =?utf-8?b?YsOp?=", "aébé"),
        ("près".encode(), "près"),
        (b"a =?iso-8859-1?q?=E9?= b", "a é b"),
        (b"a\n  b", "a b"),
        (b"=?no-such?q?a?=", "a"),
        (b"=?utf-8?b?!!!?= c", "c"),
        (b"=?utf-8?q?=FF?=", "\ufffd"),
        (b"\\ud800 =?utf-8?q?a?=", "? a"),
    ]:
        assert read(b"Subject: " + subject + b"\n\nbody").title == title, (subject, title)


def test_invalid_date_is_dropped() -> None:
    for date in ["", "yesterday", "Fri, 99 Mar 2024 23:30:00 -0200", "Fri, 31 Dec 9999 23:59:00 -2359"]:
        assert "date" not in read(f"Subject: a\nDate: {date}\n\nb".encode()).meta, date


def test_bytes_outside_the_charset_are_replaced_and_reported() -> None:
    document = read(b"Subject: a\nContent-Type: text/plain; charset=utf-8\n\npr\xe8s")
    assert document.text == "pr\ufffds"
    assert document.notes == ("part 1 has bytes invalid in utf-8",)


def test_file_other_than_a_message_is_refused() -> None:
    for raw in [b"", b"just a text\n", b"\x89PNG\r\n\x1a\n" + bytes(300), b"Key: value\n\nb", b"\n\nFrom: a"]:
        assert code_of(raw) == "bad_eml", raw


def nested(depth: int) -> bytes:
    heads = "".join(f"Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n" for i in range(depth))
    return f"Subject: a\n{heads}\nx".encode()


def test_unsplittable_parts_are_read_as_plain_text() -> None:
    assert read(b"Subject: a\nContent-Type: multipart/mixed; bo\n\n--b\n\nwords").text == "--b\n\nwords"


def test_nested_parts_are_limited() -> None:
    assert read(nested(16)).text == "x"
    assert code_of(nested(17)) == "too_deep"
    assert code_of(nested(5000)) == "too_deep"
    assert code_of(b"Subject: a\n" + b"Content-Type: message/rfc822\n\n" * 5000) == "too_deep"


def test_number_of_parts_is_limited() -> None:
    assert code_of(b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\n" * 20_000) == "bad_eml"


TIMES = 5 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1
"""At night a text is this many times as long and may take this many times longer."""


def test_no_header_takes_long() -> None:
    for piece in ["(", ";", '"', "=?a?q?", "<", ",", "a*0*=b;", "=", "\n ", "\n:"]:
        for name in ["To", "Subject", "Date", "Content-Type: text/plain", "Content-Disposition: attachment"]:
            began = time.process_time()
            field = f"{name}{';' if ':' in name else ':'} {piece * (TIMES * 12_000 // len(piece))}\n"
            describe("eml", "a.eml", f"Subject: a\n{field}\nb".encode())
            assert time.process_time() - began < TIMES, (piece, name)


_LINES = st.sampled_from(
    [
        "Subject: =?utf-8?q?a?=",
        "Content-Type: multipart/alternative; boundary=b",
        "Content-Type: multipart/digest; boundary=b",
        "Content-Type: message/rfc822",
        "Content-Type: text/html; charset=utf-7",
        "Content-Type: text/plain; charset*=utf-16'x'%00",
        "Content-Disposition: attachment; filename*0*=a'b; filename*1=c",
        "Content-Transfer-Encoding: base64",
        "Content-Transfer-Encoding: x-uuencode",
        "begin 666 a",
        "--b",
        "--b--",
        "",
        "",
        "<p>text",
        "YWJj",
        "é\x00",
    ]
)


@examples(75)
@given(st.lists(_LINES, max_size=25), st.sampled_from(["\n", "\r\n"]))
def test_lines_in_any_order_are_read_with_valid_marks(lines: list[str], end: str) -> None:
    document = read(f"From: a{end}{end.join(lines)}".encode())
    assert why_unfit(document.marks, len(document.text)) is None
    assert any(mark.kind == "part" for mark in document.marks)
