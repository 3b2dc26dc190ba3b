"""Promises of the parsers of reStructuredText, AsciiDoc and Org."""

import os
import time
from hashlib import sha256
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.ingest.parse import parser
from recall_core.marks import why_unfit
from recall_core.ports import ParsedDocument
from tests.examples import examples
from tests.unit.test_parse_elsewhere import NightlyElsewhere

RST = """======
 Guide
======

:Author: A. Writer
:Tags: sea, ships
:Long: one
  two

.. A comment
   Hidden
   ======

First ``part``
==============

A text::

    # literal

    Hidden
    ======

.. code-block:: python
   :linenos:

   x = 1

Second
------

=====  =====
a      b
=====  =====
1      2
=====  =====

+---+---+
| a | b |
+---+---+

.. note:: Words

   .. code:: sh

      ls

Third `text <https://example.org>`_
===================================
"""
ASCIIDOC = """= The *Guide*
A. Writer <a@example.org>
:keywords: sea, ships
:version: 1.2
:toc:

== First `part`

Words
== in a paragraph

----
== hidden
----

====
An example.

....
== hidden
....
====

Second
~~~~~~

[discrete]
== Discrete

[[anchor]]
.A table
|===
| a | b
|===

// == hidden
### Third ###
"""
ORG = """#+TITLE: The Guide
#+FILETAGS: :sea:ships:
#+DATE: <2024-01-05 Fri>
#+STARTUP: overview
#+TODO: NEXT(n) | GONE

* TODO [#A] First =part= :tag:other:
:PROPERTIES:
:ID: 1
:END:
#+begin_src org
,* hidden
#+end_src
** NEXT [[https://example.org][Second]]
| a | b |
|---+---|
| 1 | 2 |

#+BEGIN_QUOTE
* Third
#+END_QUOTE
"""


class TestRstConformance(NightlyElsewhere):
    name = "rst"
    samples: ClassVar[dict[str, bytes]] = {
        "a.rst": RST.encode(),
        "crlf.rst": RST.replace("\n", "\r\n").encode(),
        "0.rst": b"",
    }


class TestAsciidocConformance(NightlyElsewhere):
    name = "asciidoc"
    samples: ClassVar[dict[str, bytes]] = {
        "a.adoc": ASCIIDOC.encode(),
        "crlf.adoc": ASCIIDOC.replace("\n", "\r\n").encode(),
        "0.adoc": b"",
    }


class TestOrgConformance(NightlyElsewhere):
    name = "org"
    samples: ClassVar[dict[str, bytes]] = {
        "a.org": ORG.encode(),
        "crlf.org": ORG.replace("\n", "\r\n").encode(),
        "0.org": b"",
    }


def read(name: str, text: str) -> ParsedDocument:
    raw = text.encode()
    (document,) = parser(name).parse(raw, path="docs/a.txt", digest=sha256(raw).hexdigest())
    return document


def headings(name: str, text: str) -> list[tuple[int, str]]:
    return [(mark.level, mark.name) for mark in read(name, text).marks if mark.kind == "heading"]


def blocks(name: str, text: str) -> list[str]:
    found: list[tuple[int, int]] = []
    opened: list[tuple[int, int]] = []
    for mark in read(name, text).marks:
        if mark.kind == "block":
            opened.append((mark.level, mark.offset))
        elif mark.kind == "end":
            level, start = opened.pop()
            assert level == mark.level
            found.append((start, mark.offset))
    return [text[start:end] for start, end in sorted(found)]


# --- reStructuredText


def test_rst_sections_nest_by_first_use_of_adornments() -> None:
    assert headings("rst", RST) == [(1, "Guide"), (2, "First part"), (3, "Second"), (2, "Third text")]


def test_literal_blocks_code_and_tables_of_rst_are_blocks() -> None:
    assert [block.split("\n")[0].strip() for block in blocks("rst", RST)] == [
        "# literal",
        ".. code-block:: python",
        "=====  =====",
        "+---+---+",
        ".. code:: sh",
    ]


def test_top_field_list_of_rst_is_metadata_and_tags() -> None:
    document = read("rst", RST)

    assert (document.title, document.tags) == ("Guide", ("sea", "ships"))
    assert document.meta == {"author": "A. Writer", "long": "one two"}


def test_headings_of_rst() -> None:
    for text, expected in [
        ("Title\n=====\n", [(1, "Title")]),
        ("Title\n===\n", []),
        ("Title\n====\n", [(1, "Title")]),
        ("T\n=\n", [(1, "T")]),
        ("a\nTitle\n=====\n", []),
        (" Title\n======\n", []),
        ("text\n\n-----\n\ntext\n", []),
        ("====\nTitle\n----\n", []),
        ("- item\n------\n", []),
        ("1. Title\n--------\n", [(1, "1. Title")]),
        ("A\n=\nB\n-\nC\n=\n", [(1, "A"), (2, "B"), (1, "C")]),
        ("A\n=\n\n===\n B\n===\n", [(1, "A"), (2, "B")]),
        ("".join(f"A\n{mark}\n" for mark in "=-~^+#*"), [(level, "A") for level in (1, 2, 3, 4, 5, 6, 6)]),
        (".. comment\n   Title\n   =====\n", []),
        ("..\n\n   Title\n   =====\n\nReal\n====\n", [(1, "Real")]),
        (".. _target:\n\nTitle\n=====\n", [(1, "Title")]),
        ("a::\n\n  Title\n  =====\n", []),
        ("*Em* **strong** |sub| ref_ :role:`x` \\*\n" + "=" * 50, [(1, "Em strong sub ref x *")]),
        ("CMAKE_<LANG>_X\n==============\n", [(1, "CMAKE_<LANG>_X")]),
    ]:
        assert headings("rst", text) == expected, (text, expected)


def test_literal_block_needs_an_empty_line_and_an_indent() -> None:
    assert blocks("rst", "a::\n\nb\n") == []
    assert blocks("rst", "a::\n  b\n") == []
    assert blocks("rst", "::\n\n  b\n\n   c\n\nd\n") == ["  b\n\n   c\n"]


def test_unclosed_rst_table_is_not_a_table() -> None:
    assert headings("rst", "=== ===\na b\n\nTitle\n=====\n") == [(1, "Title")]


def test_fields_below_a_paragraph_are_text() -> None:
    assert read("rst", "text\n\n:a: b\n").meta == {}


# --- AsciiDoc


def test_asciidoc_sections_are_titles_outside_blocks_and_paragraphs() -> None:
    assert headings("asciidoc", ASCIIDOC) == [(1, "The Guide"), (2, "First part"), (3, "Second"), (3, "Third")]


def test_delimited_blocks_may_be_nested() -> None:
    assert [(block.split("\n")[0], block.count("\n")) for block in blocks("asciidoc", ASCIIDOC)] == [
        ("----", 3),
        ("====", 7),
        ("....", 3),
        ("|===", 3),
    ]


def test_attributes_of_the_header_are_metadata_and_tags() -> None:
    document = read("asciidoc", ASCIIDOC)

    assert (document.title, document.tags, document.meta) == ("The Guide", ("sea", "ships"), {"version": "1.2"})
    assert read("asciidoc", "= T\n\n:late: x\n").meta == {}
    assert read("asciidoc", ":early: x\n= T\n:too: y\n").meta == {"early": "x", "too": "y"}


def test_headings_of_asciidoc() -> None:
    for text, expected in [
        ("=Title\n", []),
        ("======= seven\n", []),
        ("== Title ==\n", [(2, "Title")]),
        ("Title\n-----\n", [(2, "Title")]),
        ("Title\n----------\ncode\n----------\n", []),
        ("text\nTitle\n-----\n", []),
        (":toc:\n-----\n== hidden\n-----\n", []),
        ("====\n== in\n====\n== out\n", [(2, "out")]),
        ("```ruby\n== in\n```\n== out\n", [(2, "out")]),
        ("----\n== never closed\n", []),
        ("====\n----\n== in\n====\n== out\n", [(2, "out")]),
        ("[float]\n.Title\n== No section\n\n== Section\n", [(2, "Section")]),
        ("== https://example.org[A link] and <<id,a reference>> [[x]]\n", [(2, "A link and a reference")]),
        ("== _em_ *strong* #mark# a_b_c **u**n\n", [(2, "em strong mark a_b_c un")]),
        ("---\ntitle: T\n---\n== A\n", [(2, "A")]),
    ]:
        assert headings("asciidoc", text) == expected, (text, expected)


def test_unclosed_asciidoc_block_reaches_the_end() -> None:
    assert blocks("asciidoc", "a\n----\nb\n") == ["----\nb\n"]


def test_front_matter_above_asciidoc_is_read() -> None:
    document = read("asciidoc", "---\ntitle: T\ntags: [x]\n---\n= A\n:keywords: y\n:a: b\n")

    assert (document.title, document.tags, document.meta) == ("T", ("x", "y"), {"a": "b"})


# --- Org


def test_org_headings_drop_state_priority_and_tags() -> None:
    assert headings("org", ORG) == [(1, "First part"), (2, "Second"), (1, "Third")]


def test_org_blocks_drawers_and_tables_end_at_a_heading() -> None:
    assert [block.split("\n")[0] for block in blocks("org", ORG)] == [":PROPERTIES:", "#+begin_src org", "| a | b |"]


def test_keywords_of_org_are_title_tags_and_metadata() -> None:
    document = read("org", ORG)

    assert (document.title, document.tags, document.meta) == ("The Guide", ("sea", "ships"), {"date": "2024-01-05"})
    assert read("org", "#+title: A\n#+title: /B/\n#+keywords: x y, z\n").title == "A B"
    assert read("org", "#+keywords: x y, z\n").tags == ("x y", "z")


def test_headings_of_org() -> None:
    for text, expected in [
        ("*bold*\n *no\n", []),
        ("******** deep\n", [(6, "deep")]),
        ("* TODO\n", [(1, "")]),
        ("* TODOS are words\n", [(1, "TODOS are words")]),
        ("* DONE a :b:c\n", [(1, "a :b:c")]),
        ("* a\t:b:\n", [(1, "a")]),
        ("* :b:\n", [(1, "")]),
        ("* COMMENT a\n", [(1, "a")]),
        ("* GONE x\n#+SEQ_TODO: GONE | THERE\n", [(1, "x")]),
        ("* ~a~ /b/ _c_ +d+ [[e]] <<f>> g/h/i\n", [(1, "a b c d e f g/h/i")]),
    ]:
        assert headings("org", text) == expected, (text, expected)


def test_nested_org_block_is_a_block() -> None:
    text = "#+begin_quote\n#+begin_src c\nx\n#+end_src\n#+end_quote\n"

    assert blocks("org", text) == [text, "#+begin_src c\nx\n#+end_src\n"]


def test_title_falls_back_to_first_heading_then_file() -> None:
    assert read("org", "* A\n").title == read("rst", "A\n=\n").title == read("asciidoc", "== A\n").title == "A"
    assert {read(name, "text").title for name in ("org", "rst", "asciidoc")} == {"a.txt"}


# --- all

PIECES = (
    *(
        "=",
        "==",
        "====",
        "----",
        "....",
        "|===",
        "--",
        "///",
        "////",
        "*",
        "** ",
        "* a",
        "# a",
        "= a",
        "Title",
        "a::",
        "::",
    ),
    *(
        ".. ",
        ".. code::",
        ".. note:: x",
        ":a: b",
        ":a:",
        ":END:",
        "[x]",
        "[discrete]",
        ".T",
        "=== ===",
        "+--+",
        "| a",
        " ",
        "   ",
    ),
    *(
        "#+begin_a",
        "#+end_a",
        "#+begin:",
        "#+end:",
        "#+TITLE: x",
        "#+FILETAGS: :a:",
        "TODO",
        "`a`_",
        "<<a>>",
        "\t",
        "\r\n",
        "\r",
    ),
)


@pytest.mark.parametrize("name", ["rst", "asciidoc", "org"])
@examples(75)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(("", "\n", "\n", "\n\n"))), max_size=30))
def test_any_text_is_read(name: str, pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + gap for piece, gap in pieces)

    document = read(name, text)

    assert why_unfit(document.marks, len(text)) is None
    blocks(name, text)


TIMES = 5 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 1
"""At night a text is this many times as long and may take this many times longer."""
NASTY = (
    *(
        "=",
        "\n",
        "x\n====\n\n",
        "====\nx\n====\n\n",
        "a::\n\n b\n\n",
        ".. x\n",
        ".. code::\n\n",
        "=== ===\na\n",
        "=== ===\n\nx\n\n",
    ),
    *(
        ":a: b\n",
        "+-+\n",
        "a" + "`a <" * 110 + "\n====\n\n",
        "a-a." * 110 + "\n====\n\n",
        ":a:" * 150 + "`\n====\n\n",
    ),
    *(
        "====\n----\n",
        "|===\n",
        "== " + "<<a," * 110 + "\n\n",
        "== " + "link:a[" * 60 + "\n\n",
        "== " + "http://" * 60 + "\n\n",
    ),
    *(
        "#+begin_src\n",
        "#+begin_a\n#+end_b\n",
        ":a:\n",
        "* x" + ":a" * 240 + "\n",
        "* " + "[[a][" * 80 + "\n",
        "#+TITLE: x\n",
        "* ",
    ),
)


def test_hostile_text_takes_linear_time() -> None:
    for name in ["rst", "asciidoc", "org"]:
        for piece in NASTY:
            text = piece * (TIMES * 10_000 // len(piece))

            began = time.process_time()
            read(name, text)
            assert time.process_time() - began < TIMES, (name, piece)


def test_delimiters_of_every_length_nest_up_to_a_limit() -> None:
    read("asciidoc", "".join("=" * (4 + length) + "\n" for length in range(2000)) * 2)
