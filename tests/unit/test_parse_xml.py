"""XML becomes the text of its elements; DocBook and feeds keep headings, lists, tables and listings."""

from __future__ import annotations

import os
import re
import time
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.parse import parser
from recall_core.marks import Outline, Places, why_unfit
from recall_core.ports import ParsedDocument
from tests.unit.test_parse_elsewhere import NightlyElsewhere

BOOK = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [
<!ENTITY version "1.2"> <!-- ' --> <!ENTITY all "&version;]">
]>
<book lang="en"><bookinfo><title>The harbour</title><author>A. Pilot</author></bookinfo>
<chapter><title>Tides <emphasis>and</emphasis> winds</title>
<para><emphasis>High</emphasis> tide, version &version;, is
 at <literal>noon</literal> &mdash; près du quai &amp; &#233;.</para>
<itemizedlist><listitem><para>one</para></listitem><listitem><para>two</para></listitem></itemizedlist>
<orderedlist><listitem><para>first</para></listitem></orderedlist>
<programlisting><![CDATA[
if a < b:
    go()
]]></programlisting>
<section><title>A table</title><table><title>Of days</title><tgroup cols="2"><thead><row><entry>day</entry>
<entry>high</entry></row></thead><tbody><row><entry>Mon</entry><entry>5</entry></row></tbody></tgroup></table>
</section></chapter></book>
"""
TEXT = """The harbour

A. Pilot

Tides and winds

High tide, version , is at noon — près du quai & é.

- one

- two

1. first

if a < b:
    go()

A table

Of days
day | high
Mon | 5"""
FEED = """<rss version="2.0" xmlns:content="c"><channel><title>News</title><description>Of the harbour</description>
<item><title>A ship</title><description>&lt;p&gt;It is &lt;b&gt;big&lt;/b&gt;.&lt;/p&gt;&lt;p&gt;Red &amp;amp; black
</description></item><item><title>A boat</title><content:encoded><![CDATA[<h4>Small</h4><p>one]]>
</content:encoded></item></channel></rss>
"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><entry><title type="text">Day 1</title>
<content type="xhtml"><div><p>Fair <b>wind</b></p><p>calm</p></div></content></entry></feed>"""
DATA = """<ships><ship><name>Ada</name><length>12</length></ship>
<ship><name>Bo</name><note>new<i>ish</i></note></ship></ships>"""


class TestXml(NightlyElsewhere):
    name = "xml"
    samples: ClassVar = {
        "a.xml": BOOK.encode(),
        "b.rss": FEED.encode(),
        "c.atom": ATOM.encode(),
        "d.xml": DATA.encode(),
    }


def read(source: str, path: str = "folder/a.xml") -> ParsedDocument:
    (document,) = parser("xml").parse(source.encode(), path=path, digest="0")
    return document


def code_of(source: str) -> str:
    with pytest.raises(IngestError) as refused:
        read(source)
    return refused.value.code


def test_docbook_reads_as_text() -> None:
    assert read(BOOK).text == TEXT


def test_section_titles_are_headings() -> None:
    document = read(BOOK)
    assert document.title == "The harbour"
    headings = [(mark.name, mark.level) for mark in document.marks if mark.kind == "heading"]
    assert headings == [("The harbour", 1), ("Tides and winds", 2), ("A table", 3)]
    path = Outline(document.marks, len(TEXT)).heading_at(TEXT.index("Mon"))
    assert path == "The harbour › Tides and winds › A table"


def test_listings_and_tables_are_blocks() -> None:
    marks = read(BOOK).marks
    starts = [mark.offset for mark in marks if mark.kind == "block"]
    assert [TEXT[start:].partition("\n")[0] for start in starts] == ["if a < b:", "Of days"]


def test_byte_range_contains_its_text() -> None:
    places, raw = Places(read(BOOK).marks), BOOK.encode()
    for words in ("harbour", "Pilot", "près", "noon", "two", "go()", "Mon"):
        at = TEXT.index(words)
        first, last = re.fullmatch(r"bytes (\d+)-(\d+)", str(places.at(at, at + len(words)))).groups()  # type: ignore[union-attr]
        assert words in raw[int(first) : int(last)].decode(), words


def test_pages_in_a_feed_are_read_as_html() -> None:
    document = read(FEED)
    assert document.text == "News\n\nOf the harbour\n\nA ship\n\nIt is big.\n\nRed & black\n\nA boat\n\nSmall\n\none"
    assert document.title == "News"
    assert [mark.name for mark in document.marks if mark.kind == "heading"] == ["A ship", "A boat", "Small"]


def test_page_in_a_feed_stays_in_its_item() -> None:
    item = "<item><title>{}</title><description>&lt;h1&gt;{}&lt;/h1&gt;&lt;p&gt;{}</description></item>"
    items = item.format("A ship", "Big", "hull") + item.format("A boat", "Small", "mast")
    document = read(f"<rss><channel><title>News</title>{items}</channel></rss>")
    outline = Outline(document.marks, len(document.text))
    assert [outline.heading_at(document.text.index(word)) for word in ("hull", "mast")] == [
        "A ship › Big",
        "A boat › Small",
    ]


def test_xhtml_in_a_feed_is_read_as_elements() -> None:
    assert read(ATOM).text == "Log\n\nDay 1\n\nFair wind\n\ncalm"
    ruby = "<ruby><rb>北</rb>京<rp>(</rp><rt><b>jīng</b></rt><rtc><rt>a</rt></rtc></ruby>大学"
    assert read(ATOM.replace("calm", ruby)).text.endswith("\n\n北京大学")
    assert read("<a><rt>12</rt></a>").text == "12"


def test_data_elements_are_lines_and_records_are_separated() -> None:
    assert read(DATA).text == "Ada\n12\n\nBo\nnewish"


def test_empty_element_reads_as_its_attribute_values() -> None:
    document = read('<codes><code id="aar" name="Afar"/><code id="abk">Abkhazian</code></codes>')
    assert document.text == "aar Afar\nAbkhazian"
    assert Places(document.marks).at(0, 8) == "bytes 7-59"
    assert read('<book><chapter><para>a<imagedata fileref="b.png"/></para></chapter></book>').text == "a"


def test_title_falls_back_to_the_file_name() -> None:
    assert read(DATA).title == "a.xml"


def test_malformed_xml_is_refused() -> None:
    for source in ["", "text", "<a>", "<a></b>", "<a/><b/>", "<a>\x01</a>", "<a b=1/>", "<a>&#xD800;</a>"]:
        assert code_of(source) == "bad_xml", source


def test_deep_nesting_is_refused_quickly() -> None:
    began = time.perf_counter()
    assert code_of("<a>" * 100_000) == "too_deep"
    assert time.perf_counter() - began < 1
    assert read("<a>" * 500 + "x" + "</a>" * 500).text == "x"


def test_no_entity_of_a_file_is_expanded() -> None:
    bomb = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    began = time.perf_counter()
    assert read(f'<!DOCTYPE x [{bomb}]><x y="&a11;">a&a11;b</x>').text == "ab"
    assert (
        read('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd"><!ATTLIST x y CDATA "]">]><x>a&e;b</x>').text
        == "ab"
    )
    assert read('<!DOCTYPE x SYSTEM "http://example.org/x.dtd"><x>a&e;b</x>').text == "ab"
    assert time.perf_counter() - began < 1


def test_unremovable_definitions_are_refused() -> None:
    assert code_of('<!DOCTYPE x ["><!ENTITY e "f">]><x>&e;</x>') == "bad_xml"


TIMES = 5 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1
"""At night a text is this many times as long and may take this many times longer."""


def test_repetition_takes_linear_time() -> None:
    for piece in ["<!--", "<?", "'", '"', "<", "<!ENTITY a 'b'>", "<!-- -->", " "]:
        began = time.process_time()
        many = piece * (TIMES * 200_000 // len(piece))
        for source in (
            many,
            f"<!DOCTYPE x {many}",
            f"<!DOCTYPE x [{many}",
            f"<!DOCTYPE x [{many}]><x/>",
            f"<x>{many}</x>",
        ):
            with pytest.raises(IngestError):
                read(source + "<")
        assert time.process_time() - began < 2 * TIMES, piece


_NAMES = st.sampled_from(
    "a b para title section table row entry itemizedlist listitem programlisting rss item description remark".split()
)
_TREES = st.recursive(
    st.sampled_from(["", " ", "x", " y\n", "é &amp; z", "&lt;p&gt;q"]),
    lambda inner: st.builds(
        lambda name, parts: f"<{name}>{''.join(parts)}</{name}>", _NAMES, st.lists(inner, max_size=4)
    ),
    max_leaves=25,
)


@given(_NAMES, st.lists(_TREES, max_size=5))
def test_any_tree_is_read_with_valid_marks(name: str, trees: list[str]) -> None:
    source = f"<{name}>{''.join(trees)}</{name}>"
    document = read(source)
    assert why_unfit(document.marks, len(document.text)) is None
    places = [int(mark.name) for mark in document.marks if mark.kind == "bytes"]
    assert places == sorted(places)
    assert all(place <= len(source.encode()) for place in places)
    assert bool(places) == bool(document.text)
