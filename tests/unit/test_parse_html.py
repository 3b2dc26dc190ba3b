"""HTML becomes the text shown by a browser; every part knows its bytes in the file."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from typing import ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.parse import parser
from recall_core.ingest.parse.flow import TextFlow, collapse_spaces
from recall_core.ingest.parse.html import MOST_ANCHORS, HtmlReader
from recall_core.marks import ANCHOR, Mark, Outline, Places, anchor_at, anchor_unit, why_unfit
from recall_core.ports import ParsedDocument
from tests.unit.test_parse_elsewhere import NightlyElsewhere

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The  harbour
 guide</title>
<meta name="description" content="Where ships &amp; boats lie."><meta name="Author" content="A. Pilot">
<meta property="article:published_time" content="2024-05-01T10:00:00Z">
<meta name="keywords" content="harbour, tides,harbour , "><link rel="canonical" href="https://example.org/guide">
<style>p { color: red }</style><script>var a = "<p>not text</p>";</script></head>
<body><nav><ul><li>Home</ul></nav><!-- a comment <p>no</p> -->
<h1>Harbour <small>guide</small><a href="#x">¶</a></h1>
<p>Ships lie <b>here</b>,
   boats&nbsp;there — près du quai.<p>A second paragraph<br>with a new line.
<ul><li>north<li>south <ol start=3><li>pier<li>quay</ol></ul>
<h2>Tides</h2>
<table><caption>Of a week</caption><tr><th><th>high<th>low<tr><td>Mon<td><p>5.1</p><td>0.8<tr><td>Tue<td><td>0.9
</table>
<pre><code>
  def tide():
      return  5.1
</code></pre>
<p hidden>unseen</p><div aria-hidden="true">unseen<div>unseen</div>unseen</div>
<span style="display: none">unseen</span>
<img src=a.png alt="A crane"><img src=b.png alt=""><svg><title>unseen</title><path/><text>unseen</text></svg>
<form><label>Name <input value=unseen></label><select><option>unseen<option>unseen</select>
<button>unseen</button></form>
</body></html>
"""
TEXT = """Harbour guide

Ships lie here, boats there — près du quai.

A second paragraph
with a new line.

- north
- south
  3. pier
  4. quay

Tides

Of a week
| high | low
Mon | 5.1 | 0.8
Tue |  | 0.9

  def tide():
      return  5.1

[A crane]

Name"""
XHTML = """<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "b">]>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head>
<body><div id="top"/><p>Text <![CDATA[1 < 2 &amp; 3]]></p></body></html>"""
TABLES = "<table><tr><td><h2>Left</h2><p>one<p>two<td><table><tr><td>a<td>b</table></table>" + "<p>long " * 300


class TestHtml(NightlyElsewhere):
    name = "html"
    samples: ClassVar = {
        "a.html": PAGE.encode(),
        "b.xhtml": XHTML.encode(),
        "c.htm": TABLES.encode(),
        "empty.html": b"<p>",
    }


def read(source: str, path: str = "folder/a.html") -> ParsedDocument:
    (document,) = parser("html").parse(source.encode(), path=path, digest="0")
    return document


def test_text_matches_a_browser() -> None:
    assert read(PAGE).text == TEXT


def test_title_and_metadata_come_from_the_page() -> None:
    document = read(PAGE)
    assert document.title == "The harbour guide"
    assert document.meta == {
        "author": "A. Pilot",
        "date": "2024-05-01T10:00:00Z",
        "description": "Where ships & boats lie.",
        "lang": "en",
        "url": "https://example.org/guide",
    }
    assert document.tags == ("harbour", "tides")


def test_title_falls_back_to_first_h1_then_file_name() -> None:
    assert read("<h2>a</h2><h1>b</h1><h1>c</h1>").title == "b"
    assert read("<h2>a</h2>").title == "a.html"


def test_headings_are_marks_by_level() -> None:
    marks = [mark for mark in read(PAGE).marks if mark.kind == "heading"]
    assert [(mark.name, mark.level) for mark in marks] == [("Harbour guide", 1), ("Tides", 2)]
    assert [TEXT[mark.offset :].partition("\n")[0] for mark in marks] == ["Harbour guide", "Tides"]


def test_piece_knows_the_names_of_its_sections() -> None:
    outline = Outline(read(PAGE).marks, len(TEXT))
    assert outline.heading_at(TEXT.index("def tide")) == "Harbour guide › Tides"


SPHINX = """<html><body id="all"><div class="document" id="wrapper"><div class="body" role="main">
<section id="module-datetime"><span id="alias"></span><h1><code>datetime</code> — Basic
<a class="headerlink" href="#module-datetime" title="Link to this heading"><span>¶</span></a></h1><p>Of dates.</p>
<section id="technical-detail"><h2>Technical detail<a class="headerlink" href="#technical-detail">¶</a></h2>
<p>Objects are <em>immutable</em>. <a href="#x">&para;</a></p><div hidden><p id="unseen">unseen</p></div>
<dl class="py class"><dt class="sig" id="datetime.timedelta"><em>class</em> timedelta<a
class="headerlink" href="#datetime.timedelta">¶</a></dt><dd><p>A duration.</p>
<dl><dt id="datetime.timedelta.min">min</dt><dd><p>The least.</p></dd></dl></dd></dl>
<dl><dt id="datetime.date">date</dt><dd><p>A day.</p></dd></dl></section>
<h2><a name="old-style"></a>Old style <a id="second" href="#old-style">#</a></h2><p>Words.</p>
<h2>No id</h2><p>Nothing to cite.</p><a id="loose"></a><p id="own">Own.</p>
<p><a id="b">Second</a> <a id="own">third</a></p>
<p id="has space">four</p><p id="page=3">five</p><p id="{long}">six</p><p id="at-the-end"></p></section></body></html>
""".replace("{long}", "x" * 121)


def test_id_marks_its_text() -> None:
    document = read(SPHINX)
    found = [(mark.name, document.text[mark.offset :].partition("\n")[0]) for mark in anchors(document)]
    assert found == [
        ("module-datetime", "datetime — Basic"),
        ("technical-detail", "Technical detail"),
        ("datetime.timedelta", "class timedelta"),
        ("datetime.timedelta.min", "min"),
        ("datetime.date", "date"),
        ("old-style", "Old style"),
        ("own", "Own."),
        ("b", "Second third"),
    ]


def test_permalink_sign_is_dropped() -> None:
    assert "¶" not in read(SPHINX).text
    for link in ('<a class="headerlink" href="#x">any</a>', '<a href="#x"> § </a>', "<A HREF=#x>&#182;</A >"):
        assert read(f"<p>a{link}b</p>").text == "ab", link
    for link in ("¶", '<a href="b.html">¶</a>', '<a href="#x">¶1</a>', "<b>#</b>"):
        assert read(f"<p>a{link}b</p>").text != "ab", link


def test_element_has_the_section_of_its_heading() -> None:
    page = (
        "<div id=wrapper><p>Crumbs.</p><h1>Vec</h1><p>A list.</p>"
        "<section id=new><span>1.0</span><h2>fn new</h2></section><p>Makes one.</p>"
        f"<div id=far><p>{'far ' * 60}</p><h3>Far</h3></div><p id=side>Side.</p><h2>Last</h2><p>End.</p></div>"
    )
    document = read(page)
    units = {
        name: document.text[slice(*(anchor_unit(document.marks, len(document.text), name) or ()))]
        for name in ("wrapper", "new", "far", "side")
    }
    assert (units["wrapper"], units["side"]) == (document.text, "Side.\n\n")
    assert (units["new"].split("\n")[0], units["new"].rstrip().rpartition("\n")[2]) == ("1.0", "Side.")
    assert units["far"].split() == ["far"] * 60
    words = {
        word: anchor_at(document.marks, document.text.index(word))
        for word in ("Crumbs", "list", "1.0", "fn", "Makes", "End")
    }
    assert list(words.values()) == ["wrapper", "wrapper", "new", "new", "new", "wrapper"]


def test_anchor_means_its_section_or_following_text() -> None:
    document = read(SPHINX)
    units = {mark.name: anchor_unit(document.marks, len(document.text), mark.name) for mark in anchors(document)}
    ends = {
        name: unit and document.text[unit.start : unit.end].rstrip().rpartition("\n")[2]
        for name, unit in units.items()
    }
    assert ends == {
        "module-datetime": "six",
        "technical-detail": "A day.",
        "datetime.timedelta": "The least.",
        "datetime.timedelta.min": "The least.",
        "datetime.date": "A day.",
        "old-style": "Words.",
        "own": "six",
        "b": "six",
    }
    assert anchor_unit(document.marks, len(document.text), "alias") is None


def test_line_gets_an_anchor_that_shows_it() -> None:
    document = read(SPHINX)
    for words, anchor in [
        ("Of dates", "module-datetime"),
        ("immutable", "technical-detail"),
        ("A duration", "datetime.timedelta"),
        ("A day", "datetime.date"),
        ("Words", "old-style"),
        ("No id", "module-datetime"),
        ("Nothing to cite", "module-datetime"),
        ("third", "b"),
    ]:
        assert anchor_at(document.marks, document.text.index(words)) == anchor, words
    assert anchor_at(read("<p>a</p><p id=x>b</p>").marks, 0) is None


def test_anchors_neither_cut_nor_name_sections() -> None:
    with_ids = read(SPHINX)
    without = read(re.sub(r' (?:id|name)="[^"]*"', "", SPHINX))
    size = len(with_ids.text)
    assert (with_ids.text, Outline(with_ids.marks, size).joints) == (
        without.text,
        Outline(without.marks, size).joints,
    )
    at = with_ids.text.index("The least")
    assert Outline(with_ids.marks, size).heading_at(at) == "datetime — Basic › Technical detail"
    assert Outline(with_ids.marks, size).names_within(0, size) == ()
    assert [mark for mark in with_ids.marks if mark.kind not in ("bytes", ANCHOR)] == [
        mark for mark in without.marks if mark.kind != "bytes"
    ]


def test_page_of_very_many_ids_has_no_anchors() -> None:
    lines = "".join(f"<a id={number}>x</a>\n" for number in range(MOST_ANCHORS + 1))
    assert anchors(read(f"<pre>{lines}</pre>")) == []
    assert len(anchors(read(f"<pre>{lines.partition('</a>')[2]}</pre>"))) == MOST_ANCHORS


def anchors(document: ParsedDocument) -> list[Mark]:
    return [mark for mark in document.marks if mark.kind == ANCHOR]


def test_tables_and_preformatted_text_are_blocks() -> None:
    marks = read(PAGE).marks
    starts = [mark.offset for mark in marks if mark.kind == "block"]
    ends = [mark.offset for mark in marks if mark.kind == "end"]
    assert [TEXT[start:end].partition("\n")[0] for start, end in zip(starts, ends, strict=True)] == [
        "Of a week",
        "  def tide():",
    ]
    assert TEXT[: ends[1]].endswith("5.1")


def test_byte_range_contains_its_text() -> None:
    places, raw = Places(read(PAGE).marks), PAGE.encode()
    for words in ("boats", "près", "second", "pier", "0.9", "return", "crane", "Name"):
        at = TEXT.index(words)
        first, last = re.fullmatch(r"bytes (\d+)-(\d+)", str(places.at(at, at + len(words)))).groups()  # type: ignore[union-attr]
        assert words in raw[int(first) : int(last)].decode(), words


def test_bytes_end_with_the_last_text() -> None:
    raw = "<p>é</p><p>last one</p><p></p>"
    last = read(raw).marks[-1]
    assert (last.kind, last.offset) == ("bytes", len("é\n\nlast one"))
    assert raw.encode()[: int(last.name)].endswith(b"last one")


def test_long_paragraph_has_several_places() -> None:
    text = "word " * 4000
    places = [mark for mark in read(f"<p>{text}").marks if mark.kind == "bytes"]
    assert 5 < len(places) < 20


def test_broken_and_odd_pages_read_as_in_a_browser() -> None:
    for source, text in [
        ("<p>a<p>b", "a\n\nb"),
        ("a</p>b", "a\n\nb"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"),
        ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
        ("<p>a<b>b<p>c</b>d", "ab\n\ncd"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\nb\nc\nd"),
        ("<h1>a<h2>b</h3>c", "a\n\nb\n\nc"),
        ("<td>a</td><td>b</td>", "ab"),
        ("<div>a</section></div>b", "a\nb"),
        ("<table><tr><td>a</div><td>b</table>c", "a | b\n\nc"),
        ("<div><table><tr><td>a</div><td>b</table>c</div>d", "a | b\n\nc\nd"),
        ("a < b <3 &lt; &#xe9; &eacute &#233", "a < b <3 < é é é"),
        ("a<script>b<p></scripty></SCRIPT >c", "ac"),
        ("a<!-->b<!-- c > d --!>e<!doctype x>f<?g?>h</ i>j", "abefhj"),
        ('<p title="a > b" x=\'"\' y=c"d>e', "e"),
        ("a<br/>b<hr/>c<p/>d", "a\nb\n\nc\n\nd"),
        ("a<br><br><br>b", "a\n\nb"),
        ("Donau&shy;dampf\xadschiff", "Donaudampfschiff"),
        ("a<wbr>b <i> c </i> d", "ab c d"),
        ("<p hidden>a<p>b", "b"),
        ("<p>a<select><option>b<hr><option>c</select>d", "ad"),
        ("<ul><li hidden>a<ul><li>b</ul><li>c</ul>", "- c"),
        ("<span hidden>a<span>b</span>c</span>d", "d"),
        ("<div hidden=until-found>a</div>", "a"),
        ("<pre>\n a\r\n  b\t<b>c</b> \n\n</pre>d", " a\n  b\tc\n\nd"),
        ("<pre><div>a</div><div>b</div></pre>", "a\nb"),
        ("&#99999999999999999999;&#0;&#xd800;", "\ufffd\ufffd\ufffd"),
        ("a<title>t</title>b<textarea><p>c</textarea>d", "abd"),
        ("a<p", "a"),
        ("a<!-- b", "a"),
        ("a<p title='b>c", "a"),
    ]:
        assert read(source).text == text, (source, text)


def test_ruby_annotations_are_dropped() -> None:
    for source, text in [
        ("<p><ruby>北<rt>běi</rt>京<rt>jīng</rt></ruby>大学</p>", "北京大学"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字</ruby>", "漢字"),
        ("<ruby>漢<rp>(<rt>kan<rp>)</ruby>字", "漢字"),
        ("<ruby><rb>漢<rb>字<rt>kan<rt>ji<rtc><rt>Chinese<rt>sign</ruby>を", "漢字を"),
        ("<ruby><rb>漢<rt>kan<rb>字<rtc>ji<rb>を</ruby>", "漢字を"),
        ("<ruby>漢<rtc>a<rt>b</rt>c</rtc>字</ruby>", "漢字"),
        ("<ruby>漢<rt><b>kan</rt></b>字</ruby>", "漢字"),
        ("<ruby><ruby>漢<rt>kan</ruby><rt>Han</ruby>字", "漢字"),
        ("<ruby>漢<rt>kan<ruby>a<rp>(<rt>b</ruby>c</ruby>字", "漢字"),
        ("<p><ruby>漢<rt>kan</p>字", "漢\n\n字"),
        ("<ruby>漢<rt>kan<div>字</div>", "漢\n字"),
        ("<ruby>漢<rt>kan<rtc><rt>b<ruby>c<rt>d<h2>字</h2>", "漢\n\n字"),
        ("<p>漢<rt>kan<hr>字", "漢\n\n字"),
        ("<table><tr><td>漢<rt>kan<td>字</table>を", "漢 | 字\n\nを"),
        ("<ul><li>漢<rt>kan<li>字</ul>", "- 漢\n- 字"),
    ]:
        assert read(source).text == read(source, "a.xhtml").text == text, source
    assert read("<h1><ruby>漢<rt>kan<rt/>字<rt>ji</ruby></h1>").title == "漢"
    assert read("<h1><ruby>漢<rt/>字<rt>ji</rt></ruby></h1>", "a.xhtml").title == "漢字"


def test_text_after_ruby_keeps_its_place() -> None:
    page = "".join(f'<p id="n{n}"><ruby>漢<rt>kan<b>{n}</b></ruby>字 word{n}</p><!--é-->' for n in range(9))
    document, raw = read(page), page.encode()
    for n in range(9):
        at = document.text.index(f"word{n}")
        places = Places(document.marks).at(at, at + 5)
        first, last = re.fullmatch(r"bytes (\d+)-(\d+)", str(places)).groups()  # type: ignore[union-attr]
        assert raw[int(first) : int(last)].decode().startswith(f"漢<rt>kan<b>{n}</b></ruby>字 word{n}")
        assert anchor_at(document.marks, at) == f"n{n}"


def test_xhtml_allows_empty_elements_and_cdata() -> None:
    assert read(XHTML, "a.html").text == "Text 1 < 2 &amp; 3"
    assert read("<p>a<title/>b", "a.xhtml").text == "ab"


def test_cells_of_several_paragraphs_stay_in_their_row() -> None:
    assert read("<table><tr><td><p>a<p>b<td>c<br>d<td><ul><li>e<li>f</ul></table>").text == "a b | c d | - e - f"


def test_layout_table_is_not_a_table() -> None:
    document = read(TABLES[: TABLES.index("<p>long")])
    assert document.text == "Left\n\none\n\ntwo\n\na | b"
    assert [document.text[mark.offset :] for mark in document.marks if mark.kind == "block"] == ["a | b"]


def test_long_cell_keeps_its_paragraphs() -> None:
    page = "<table><tr><td>" + "<p>word word</p>" * 200 + "</table>"
    assert read(page).text.count("\n\n") > 100


def test_page_without_text_is_reported() -> None:
    document = read("<title>a</title><script>b</script>")
    assert (document.text, document.title, document.marks) == ("", "a", ())
    assert document.notes == ("no visible text",)


def test_deep_nesting_is_refused_quickly() -> None:
    for tag in ["<div>", "<ul><li>", "<table><tr><td>", "<span hidden>", "<svg><g>", "<blockquote>"]:
        raw, began = tag * 100_000, time.perf_counter()
        with pytest.raises(IngestError) as refused:
            read(raw)
        assert refused.value.code == "too_deep", tag
        assert time.perf_counter() - began < 1, tag


def test_500_levels_are_read() -> None:
    assert read("<div>" * 500 + "a").text == "a"


TIMES = 5 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1
"""At night a text is this many times as long and may take this many times longer."""


def test_repetition_takes_linear_time() -> None:
    for piece in [
        "<",
        "<a ",
        '<a b="',
        "<!--",
        "<![",
        "<!DOCTYPE[>",
        "&",
        "&#1",
        "<p",
        "</",
        "<svg/>",
        "<pre>\n</pre>",
        "<td>",
        "= '",
    ]:
        began = time.process_time()
        read(piece * (TIMES * 40_000 // len(piece)))
        read("<table><tr><td>" + piece * (TIMES * 40_000 // len(piece)))
        assert time.process_time() - began < 2 * TIMES, piece


_TAGS = """<p> </p> <div> </div> <table> </table> <tr> <td> </td> <ul> </ul> <li> <ol> <pre> </pre> <h1> </h1> <h2>
<br> <hr> <svg> </svg> <b> </b> <nav> </nav> <title> </title> <!-- -->
<ruby> </ruby> <rb> <rt> </rt> <rp> <rtc>
<![CDATA[ ]]> & &amp; &#x \xa0 é word < > " = / <a"""
_ODD = (
    " ",
    "\n",
    "\n\n",
    "<p id=a>",
    "<h2 id=b>",
    "<a name=c>",
    "<td id=d>",
    "<pre id=e>",
    "<br id=f>",
    "<p hidden>",
    "<span hidden>",
    "</span>",
    "<img alt=x>",
    "a b " * 60,
)
_PIECES = st.sampled_from([*_TAGS.split(), *_ODD])


@given(st.lists(_PIECES, max_size=40), st.sampled_from(["a.html", "a.xhtml"]))
@example(["<pre>", "<table>", " "], "a.html")
def test_tags_in_any_order_are_read_with_valid_marks(pieces: list[str], path: str) -> None:
    source = "".join(pieces)
    document = read(source, path)
    size = len(source.encode())
    assert why_unfit(document.marks, len(document.text)) is None
    places = [int(mark.name) for mark in document.marks if mark.kind == "bytes"]
    assert places == sorted(places)
    offsets = [mark.offset for mark in anchors(document)]
    assert offsets == sorted({*offsets})
    for offset in range(len(document.text)):
        name = anchor_at(document.marks, offset)
        unit = name and anchor_unit(document.marks, len(document.text), name)
        assert not unit or unit.start <= offset < unit.end
        assert unit or not any(at <= offset for at in offsets) or "<h" in source
    assert all(place <= size for place in places)
    assert bool(places) == bool(document.text)
    assert document.text == document.text.strip("\n")
    assert "\n\n\n" not in document.text or "<pre>" in source


def test_letters_of_a_page_match_lexbor() -> None:
    lexbor = pytest.importorskip("selectolax.lexbor")
    page = PAGE.replace(" start=3", "")
    tree = lexbor.LexborHTMLParser(page)
    unseen = "nav,script,style,svg,select,button,[hidden],[aria-hidden=true],[style],img"
    for node in tree.css(unseen):
        node.decompose()
    expected = re.findall(r"\w", tree.body.text())
    own = re.sub(r"(?m)^ *\d+\. |\[.*?\]", "", read(page).text)
    assert Counter(re.findall(r"\w", own)) == Counter(expected)


def test_late_nul_is_dropped() -> None:
    assert read("<!--" + "-" * 9000 + "-->a\0b").text == "ab"


PIECES = (
    "<b>", "</b>", '<a href="x" class="hidden">', "</a>", "<em hidden>", '<i style="display:none">', "</i>", "<em/>",
    "<q x=1>", "</br>", "<p>", "</p>", "<pre>", "</pre>", "<table><tr><td>", "</table>", "<ul><li>", "</ul>", "<h2>",
    "</h2>", "<nav>", "</nav>", "<div>", "</div>", "<title>", "</title>", "<!--", "-->", "<![CDATA[", "]]>", "<svg>",
    "</svg>", '<a class="headerlink" href="#x">', '<a href="#x">', "¶", "&para;", "#",
    "<ruby>", "</ruby>", "<rb>", "<rt>", "</rt>", "<rtc>",
    "<br>", "<", "</", "&am", "p;", "&#6", "5;", "a", " ", "\n", "\r", "\xad", "\xa0", "word  ", "x" * 201,
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.booleans())
@example(["<pre>", "a", "\r", "<b>", "\n", "b"], False)
@example(["<p>", "&am", "<b>", "p;", "</b>", "&am", "<b>", "p;lt;"], False)
@example(["<", "<b>", "b>"], False)
def test_page_reads_the_same_without_places(pieces: list[str], is_xml: bool) -> None:
    found = []
    for has_places in (True, False):
        flow = TextFlow()
        reader = HtmlReader(flow, path="a", is_xml=is_xml, has_places=has_places)
        reader.read("".join(pieces))
        found.append((flow.text(), flow.marks, vars(reader.head)))

    assert found[0] == found[1]


def test_style_tags_take_linear_time() -> None:
    for piece in ["<b>", "</b>", '<b x="">', '<b x="', "<b x='", '<b x="" ', "<b\r>", "<", "\r<b>", "<b "]:
        source = piece * (TIMES * 400_000 // len(piece))
        began = time.process_time()

        HtmlReader(TextFlow(), path="a").read(source)

        assert time.process_time() - began < 2 * TIMES, piece


def test_white_space_of_any_kind_is_one_blank() -> None:
    blanks = [chr(each) for each in range(0x11000) if chr(each).isspace()]
    for text in (f"{a}{'x' * 300}{a}{b}y{a}" for a in ("", *blanks) for b in blanks):
        assert collapse_spaces(text) == " ".join(text.split())
