"""Manual pages in mdoc(7)."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import ClassVar

from recall_core.ingest.kinds import is_man
from recall_core.marks import Outline
from recall_core.ports import ParsedDocument
from recall_core.testing import ParserConformance
from recall_man import Man

HEAD = ".Dd $Mdocdate: June 5 2023 $\n.Dt GROW 1\n.Os\n.Sh NAME\n.Nm grow ,\n.Nm shrink\n.Nd change the size\n"

PAGE = r""".\" a page of OpenBSD's kind
.Dd June 5, 2023
.Dt GROW 1
.Os
.Sh NAME
.Nm grow
.Nd change the size of a file
.Sh SYNOPSIS
.Nm
.Op Fl nv
.Op Fl o Ar file
.Oo Fl \-size Ns = Ns Ar n Oc
.Ar
.Nm grow
.Fl h
.Sh DESCRIPTION
The
.Nm
utility grows
.Ar file .
.Pp
The options are as follows:
.Bl -tag -width Ds
.It Fl n
Do nothing, as in
.Xr make 1 .
.It Fl o Ar file , Fl \-output Ns = Ns Ar file
Write to
.Pa file
.Pq see Sx FILES .
.Bl -bullet -compact
.It
one
.It
two
.El
Again.
.It Fl v
.It Fl \-verbose
Say more.
.El
After the list,
.Dq quoted
and
.Ql literal .
.Bd -literal -offset indent
$ grow  -n a
.Ic exit
.Ed
.Sh EXIT STATUS
.Ex -std
.Sh AUTHORS
.An Ann Author Aq Mt ann@a.example
.An Bob
"""


def page(source: str) -> ParsedDocument:
    raw = source.encode()
    (document,) = Man().parse(raw, path="grow.1", digest=sha256(raw).hexdigest())
    return document


def body(source: str, *, section: str = "TEXT") -> str:
    """Return the text of a page after its NAME section."""
    return page(f"{HEAD}.Sh {section}\n{source}").text.partition(f"{section}\n")[2]


class TestConformance(ParserConformance):
    name = "man"
    samples: ClassVar = {"grow.1": PAGE.encode(), "short.3": HEAD.encode()}


class TestPage:
    def test_page_reads_as_man_shows_it(self) -> None:
        assert page(PAGE).text == (
            "NAME\ngrow - change the size of a file\n\n"
            "SYNOPSIS\ngrow [-nv] [-o file] [--size=n] file ...\ngrow -h\n\n"
            "DESCRIPTION\nThe grow utility grows file.\n\nThe options are as follows:\n\n"
            "-n\nDo nothing, as in make(1).\n\n"
            "-o file, --output=file\nWrite to file (see FILES).\n• one\n• two\n\nAgain.\n\n"
            "-v\n--verbose\nSay more.\n\n"
            "After the list, “quoted” and ‘literal’.\n\n$ grow  -n a\nexit\n\n"
            "EXIT STATUS\nThe grow utility exits 0 on success, and >0 if an error occurs.\n\n"
            "AUTHORS\nAnn Author <ann@a.example>\nBob"
        )

    def test_title_and_metadata(self) -> None:
        document = page(HEAD)
        assert document.title == "grow(1) - change the size"
        assert document.meta == {"section": "1", "date": "June 5 2023", "names": ["grow", "shrink"]}

    def test_items_are_units_with_their_content(self) -> None:
        document = page(PAGE)
        outline = Outline(document.marks, len(document.text))
        (unit,) = outline.units_around(document.text.index("two"))
        assert document.text[unit.start : unit.end].startswith("-o file")
        assert document.text[unit.start : unit.end].rstrip().endswith("Again.")
        assert outline.units_around(document.text.index("After the list") + 3) == []
        assert outline.heading_at(document.text.index("two")) == "DESCRIPTION"

    def test_displays_are_blocks(self) -> None:
        document = page(PAGE)
        block = next(mark for mark in document.marks if mark.kind == "block")
        assert document.text[block.offset :].startswith("$ grow  -n a\nexit")

    def test_page_is_recognized_by_content(self) -> None:
        assert is_man("grow.1", PAGE)

    def test_macros_in_headings(self) -> None:
        document = page(f"{HEAD}.Sh THE Fl n No OPTION\n.Ss Fn open\nx\n")
        assert [mark.name for mark in document.marks if mark.kind == "heading"][1:] == ["THE -n OPTION", "open()"]


class TestWords:
    def test_macros_within_a_line(self) -> None:
        for source, said in [
            (".Fl a b | c", "-a -b | -c"),
            (".Fl", "-"),
            (".Fl Fl long", "--long"),
            (".Op Fl a Ns Ar x .", "[-a x].".replace(" ", "")),
            (".Ar", "file ..."),
            (".Ar a , b .", "a, b."),
            (".Pq Em a ,", "(a),"),
            (".Bq Brq Aq Qq x", '[{<"x">}]'),
            (".Em a Ap s", "a's"),
            (".Pf ( Ar a )", "(a)"),
            (".No a Ns b", "ab"),
            ('.Li "two words" "Fl"', "two words Fl"),
            (".Xr ls 1 , Xr cp 1 .", "ls(1), cp(1)."),
            (".Nm ,", "grow,"),
            ('.Nm "a b"', "a b"),
            ('.Fn open "const char *path" flags .', "open(const char *path, flags)."),
            (".In sys/types.h", "<sys/types.h>"),
            ('.Lk https://a.example "the site"', "the site: https://a.example"),
            (".St -p1003.1-2008 .", "IEEE Std 1003.1-2008 (“POSIX.1”)."),
            (".Lb libc", "Standard C Library (libc, -lc)"),
            (".Lb libown", "library “libown”"),
            (".At v7", "Version 7 AT&T UNIX"),
            (".At V.4 x", "AT&T System V Release 4 UNIX x"),
            (".Bx 4.3 reno ,", "4.3BSD-Reno,"),
            (".Fx 13 and Ox .", "FreeBSD 13 and OpenBSD."),
            (".Ux", "UNIX"),
            (".Eo < Em a Ec >", "<a>"),
            (".Sm off\n.No a b\n.Sm on\n.No c d", "ab c d"),
            (".Do a\nb\n.Dc .", "“a b”."),
            (".Oo\n.Fl a\n.Oo Ar b Oc Oc", "[-a [b]]"),
            (".Nosuch a b", "a b"),
        ]:
            assert body(f"{source}\n") == said, (source, said)

    def test_open_enclosure_does_not_swallow_the_page(self) -> None:
        assert body(".Oo Fl a\n.Pp\nb\n.Sh NEXT\n.Bl -tag\n.It Fl x\nc\n.El\n").endswith("b\n\nNEXT\n-x\nc")


class TestBlocks:
    def test_a_synopsis_of_functions(self) -> None:
        source = (
            ".In stdio.h\n.Ft int\n.Fn puts \"const char *s\"\n.Ft \"FILE *\"\n"
            ".Fo fopen\n.Fa \"const char *path\"\n.Fa \"const char *mode\"\n.Fc\n"
        )  # fmt: skip
        assert body(source, section="SYNOPSIS") == (
            "#include <stdio.h>\nint\nputs(const char *s);\nFILE *\nfopen(const char *path, const char *mode);"
        )

    def test_lists_of_other_kinds(self) -> None:
        source = (
            ".Bl -enum -compact\n.It\na\n.It\nb\n.El\n.Bl -inset\n.It Em c\nd\n.El\n"
            ".Bl -diag\n.It Fl e\nf\n.El\n.Bl -item\n.It\ng\n.El\n"
        )
        assert body(source) == "1. a\n2. b\n\nc d\n\nFl e f\n\ng"

    def test_columns_are_between_bars(self) -> None:
        source = '.Bl -column "one" "two"\n.It Sy Name Ta Sy Use\n.It a\tb c\n.It Fl d Ta Op Ar e Ta f\n.El\n'
        assert body(source) == "Name | Use\na | b c\n-d | [e] | f"

    def test_tag_may_span_lines(self) -> None:
        assert body(".Bl -tag -width x\n.It Fl L Xo\n.Ar a : Ns\n.Ar b\n.Xc\nmeaning\n.El\n") == "-L a:b\nmeaning"

    def test_a_reference_is_a_sentence(self) -> None:
        source = ".Rs\n.%T A Paper\n.%A Ann Author\n.%A Bob\n.%J Journal\n.%D 1999\n.Re\n"
        assert body(source) == "Ann Author and Bob, “A Paper”, Journal, 1999."

    def test_lines_of_examples(self) -> None:
        assert body("See:\n.Dl $ grow a\n.D1 Fl n Ar b\nend\n") == "See:\n\n$ grow a\n\n-n b\n\nend"

    def test_return_values(self) -> None:
        assert body(".Rv -std a b\n").startswith("The a() and b() functions return the value 0 if successful;")

    def test_a_table_within_a_page(self) -> None:
        assert body(".TS\nl l.\na\tT{\n.Fl b\nT}\n.TE\n") == "a | -b"


class TestHostile:
    def test_time_is_linear_in_the_size(self) -> None:
        size = 100_000 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 20_000
        for piece in [
            ".Oo\n",
            ".Bl -tag\n",
            ".Bl -tag\n.It a\n",
            ".It Xo\n",
            ".Bd -literal\n",
            "Op ",
            ". ",
            "Fl ",
            ".Fa a\n",
        ]:
            start = "" if piece.startswith(".") and piece != ". " else ".Op "
            document = page(f"{HEAD}.Sh TEXT\n.Fo x\n{start}{piece * (size // len(piece))}\n.Sh END\nlast\n")
            assert document.text.endswith("last"), piece
