"""Twice the text takes about twice the time: every regex and parser of ingest and RQL, on its worst strings.

Strings grow until the longer of two takes 50 ms of CPU time, or up to a cap. Anything faster at the cap is quick
enough. The cap is low in CI, where only quadratic time with a large factor shows.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pkgutil
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from inspect import getsource
from itertools import islice
from random import Random
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as regex_parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

import pytest

from recall_core.config import Config
from recall_core.errors import RecallError
from recall_core.ingest import ignore, kinds
from recall_core.ingest.chunk import chunk
from recall_core.ingest.decode import decode_file
from recall_core.ingest.parse import BUILT_IN, parser
from recall_core.ingest.parse.asciidoc import asciidoc_name
from recall_core.ingest.parse.org import org_name
from recall_core.ingest.parse.rst import rst_name
from recall_core.rql.complete import NoVocabulary, complete
from recall_core.rql.filters import parse_filter
from recall_core.rql.highlight import highlight
from recall_core.rql.parser import is_query, parse_query
from recall_core.rql.patterns import glob_match, ilike_match, like_match
from recall_core.text import counter

MOST = 2.6
"""Largest allowed multiple of the time for twice the text; more is not linear."""
ENOUGH_SECONDS = 0.05
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
CAP = 128 << 10 if NIGHTLY else 10 << 10
SHORTEST = 1000

UNITS = (
    *" \t\n\r\"'\\1aé;:+-=#*_`~|[](){}<>&@/",
    *(" \n", '\\"', "1.", "1,", "a ", "a:", "a=", "<a ", "<!--", ". ", "\n ", "\n-", "a\n", "--\n"),
)
"""Blanks, quotes, backslashes, digits, runs of signs and openers without a closer."""

BLOCKS = (
    "- ", "> ", "* a\n", "1. ", "---\n", "```\n", "| - |\n", "[a](", "![", "[[", "[a]: b\n", "<p>", "<b>",
    "<ul><li>", "<table><tr><td>", "</a>", "<script>", "<style>", "<a b='", "<![CDATA[", "<?", "&#1;", "a: b\n",
    "  - a\n", "a:\n  ", ".. a::\n", "....\n", "====\na\n", "|===\n", "<<", ":PROPERTIES:\n", "#+begin_src\n",
    "* TODO a\n", "def f(", "if a:\n", "[1,", '{"a":', '{"a":1},', '"a"\n', "a,b\n",
    "1\n00:00:01,000 --> 00:00:02,000\na\n\n", "WEBVTT\n", "User: a\n", ".SH a\n", ".TS\n", "T{\n", ".if n \\{",
    ".RS\n", "\\fB", "\\*a", ".Oo ", ".Bl\n", "--b\n", "=?utf-8?q?", "\\u", "\ufeff", "\x0c", "\x1b[",
)  # fmt: skip
"""Beginnings of blocks and elements of the formats."""

Call = Callable[[str], object]


def seconds(call: Call, text: str, times: int) -> float:
    """Return the best CPU time of `times` calls. A deliberate error counts as an answer; other errors propagate."""
    best = float("inf")
    for _ in range(times):
        before = process_time()
        with suppress(RecallError):
            call(text)
        best = min(best, process_time() - before)
    return best


def growth(call: Call, head: str, unit: str, tail: str, cap: int = CAP) -> float:
    """Return the time of twice the text as a multiple; 0 if it never takes 50 ms."""

    def text(size: int) -> str:
        return head + unit * (size // len(unit)) + tail

    size = SHORTEST
    while size < cap and seconds(call, text(size), 1) < ENOUGH_SECONDS:
        size *= 2 if NIGHTLY else 4
    size = min(size, cap)
    once = seconds(call, text(size), 1)
    if once < ENOUGH_SECONDS:
        return 0
    times = 5 if once < 1 else 1
    gc.collect()
    gc.disable()
    try:
        return seconds(call, text(size), times) / seconds(call, text(size // 2), times)
    finally:
        gc.enable()


def check(name: str, call: Call, strings: Iterator[tuple[str, str, str]], cap: int = CAP) -> list[str]:
    """Return the first string that takes more than linear time, if any.

    Each string is measured three times, because other processes use the CPU too.
    """
    slow = (each for each in strings if all(growth(call, *each, cap) > MOST for _ in range(3)))
    return [f"{name}: {each!r}" for each in islice(slow, 1)]


# Regular expressions.

BOUNDED = {
    "rst._TITLE_MARKUP": "titles are cut",
    "asciidoc._TITLE_MARKUP": "titles are cut",
    "org._TITLE_MARKUP": "titles are cut",
}
"""Patterns that take more than linear time on texts that they never get; CALLS contains their callers."""

PACKAGES = (
    "recall_core.ingest",
    "recall_core.rql",
    "recall_core.text",
    "recall_core.marks",
    "recall_core.pack.compress",
)

SEARCHES = r"(?:\[[^\]]*\])?\.(?:search|finditer|findall|sub|subn|split)\("


def modules(*packages: str) -> Iterator[Any]:
    for name in packages:
        package = importlib.import_module(name)
        yield package
        for each in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
            yield importlib.import_module(each.name)


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (each for part in value.values() for each in patterns_in(part))
    elif isinstance(value, (list, tuple)):
        yield from (each for part in value for each in patterns_in(part))


def patterns(*packages: str) -> dict[str, re.Pattern[Any]]:
    """Return every compiled pattern of the packages' modules and their tables, by name."""
    found: dict[str, re.Pattern[Any]] = {}
    seen = set()
    for module in modules(*packages):
        for name, value in vars(module).items():
            for number, pattern in enumerate(patterns_in(value)):
                if (pattern.pattern, pattern.flags) not in seen:
                    seen.add((pattern.pattern, pattern.flags))
                    found[f"{module.__name__}.{name}:{number}"] = pattern
    return found


def callers(name: str, pattern: re.Pattern[Any]) -> Iterator[Call]:
    """Yield the ways to use a pattern: from one position on, and from every position."""
    place, _, own = name.partition(":")[0].rpartition(".")
    source = getsource(importlib.import_module(place))
    is_bytes = isinstance(pattern.pattern, bytes)

    def at(text: str) -> object:
        return pattern.match(text.encode() if is_bytes else text)

    def everywhere(text: str) -> object:
        return pattern.sub(b"" if is_bytes else "", text.encode() if is_bytes else text)

    yield at
    if re.search(rf"\b{own}" + SEARCHES, source) or not re.search(rf"\b{own}\.(?:full)?match\(", source):
        yield everywhere


def example(items: Any, choose: Random) -> str:
    """Return a string that a parsed pattern probably matches."""
    text = ""
    for code, value in items:
        if code is codes.LITERAL:
            text += chr(value)
        elif code is codes.IN:
            text += member(choose.choice(value))
        elif code in (codes.ANY, codes.NOT_LITERAL):
            text += "x"
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inner = value
            text += example(inner, choose) * min(max(least, choose.choice((1, 2))), int(most), 40)
        elif code is codes.SUBPATTERN:
            text += example(value[3], choose)
        elif code is codes.ATOMIC_GROUP:
            text += example(value, choose)
        elif code is codes.BRANCH:
            text += example(choose.choice(value[1]), choose)
    return text


def member(item: Any) -> str:
    code, value = item
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0])
    kinds_of = {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_NOT_WORD: "-"}
    return kinds_of.get(value, "x") if code is codes.CATEGORY else "x"


def attacks(pattern: re.Pattern[Any], choose: Random) -> Iterator[tuple[str, str, str]]:
    """Yield heads, units and tails: plain ones, and the beginnings of matches with any run."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = regex_parser.parse(source, pattern.flags & (re.VERBOSE | re.DOTALL | re.IGNORECASE | re.MULTILINE))
    yield from (("", unit, tail) for unit in UNITS for tail in ("", "\x01"))
    for _ in range(8 if NIGHTLY else 1):
        begun = example(tree, choose)[:60]
        for end in range(1, len(begun) + 1, 1 if NIGHTLY else 5):
            yield "", begun[:end], "\x01"
            yield begun[:end], choose.choice(UNITS), "\x01"
            yield begun[: end - 1], begun[end - 1], ""


def slow_patterns(found: dict[str, re.Pattern[Any]], bounded: Iterable[str]) -> list[str]:
    """Return a slow string for each pattern, without the patterns for bounded input."""
    slow = []
    for name, pattern in found.items():
        if not any(f".{each}:" in name for each in bounded):
            for call in callers(name, pattern):
                slow += check(name, call, attacks(pattern, Random(name)))
    return slow


@pytest.mark.timeout(900)
@pytest.mark.parametrize("share", range(8) if NIGHTLY else [0])
def test_every_regex_takes_linear_time(share: int) -> None:
    found = patterns(*PACKAGES)
    assert len(found) > 150
    assert all(any(f".{name}:" in each for each in found) for name in BOUNDED)

    assert slow_patterns(dict([*found.items()][share :: 8 if NIGHTLY else 1]), BOUNDED) == []


# Parsers.


def zip_parts(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:  # stored, because a long run compresses more than an archive may
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
    'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="a.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def docx(text: str) -> bytes:
    return zip_parts({"word/document.xml": f"<w:document {W}><w:body>{text}</w:body></w:document>"})


def epub(text: str) -> bytes:
    return zip_parts({"META-INF/container.xml": CONTAINER, "a.opf": OPF, "a.xhtml": f"<html><body>{text}"})


def notebook(text: str) -> bytes:
    cells = [{"cell_type": kind, "source": text, "outputs": []} for kind in ("markdown", "code")]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def mail(head: str) -> Callable[[str], bytes]:
    return lambda text: f"From: a\n{head}{text}".encode()


def beginnings(*heads: str) -> tuple[Callable[[str], bytes], ...]:
    return tuple(lambda text, head=head: (head + text).encode() for head in ("", *heads))  # type: ignore[misc]


def in_front_matter(text: str) -> bytes:
    return f"---\na: 1\nkey: {text}\n---\n".encode()


OWN_UNITS = {
    "docx": ("<w:p>", "<w:p><w:r><w:t>a</w:t></w:r></w:p>", "<w:tbl><w:tr><w:tc>", "<w:p><w:r><w:tab/></w:r></w:p>"),
    "json": ('{"role":"user","content":"a"},', '{"a":1}\n'),
    "jsonl": ('{"text":"a"}\n', '{"id":"a"}\n'),
    "markdown": ("a: 1\n", "\n- a", "[a, ", "? ", "&a ", "\\u00e9"),
}

Samples = tuple[tuple[str, ...], tuple[Callable[[str], bytes], ...]]
"""File names, and the functions that make a file from a text."""

FILES: dict[str, Samples] = {
    "text": (("a.txt", "a.md"), beginnings()),
    "jsonl": (("a.jsonl",), beginnings('{"text": "')),
    "outline": (("a.py",), beginnings()),
    "markdown": (("a.md",), (*beginnings("---\n", "a\n"), in_front_matter)),
    "rst": (("a.rst",), beginnings("T\n=\n\n")),
    "asciidoc": (("a.adoc",), beginnings("= T\n")),
    "org": (("a.org",), beginnings()),
    "html": (("a.html",), beginnings("<html><head>", "<p>")),
    "xml": (("a.xml",), beginnings("<article>", "<!DOCTYPE a [")),
    "json": (("a.json", "a.jsonl"), beginnings("[", '{"a":"', '{"a":1}\n')),
    "transcript": (("a.txt",), beginnings("User: ")),
    "notebook": (("a.ipynb",), (notebook,)),
    "table": (("a.csv", "a.tsv"), beginnings("a,b\n", 'a,"')),
    "subtitles": (("a.srt", "a.vtt"), beginnings("WEBVTT\n\n", "1\n00:00:01,000 --> 00:00:02,000\n")),
    "epub": (("a.epub",), (epub,)),
    "eml": (
        ("a.eml",),
        tuple(
            map(
                mail,
                (
                    "\n",
                    "Subject: ",
                    "Content-Type: ",
                    "Content-Type: text/html\n\n",
                    "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
                ),
            )
        ),
    ),
    "docx": (("a.docx",), (docx,)),
}
"""By parser. A new parser needs an entry."""

FOREIGN = {"code", "pdf"}
"""Third-party parsers, tree-sitter and PDFium, may take any time on broken files: the worker ends them."""


def readings(name: str, samples: Samples) -> Iterator[tuple[str, Call]]:
    paths, makers = samples
    reader = parser(name)
    for path in paths:
        for number, make in enumerate(makers):

            def read(text: str, path: str = path, make: Callable[[str], bytes] = make) -> object:
                return [*reader.parse(make(text), path=path, digest="")]

            yield f"{path} {number}", read


def sample(strings: list[tuple[str, str, str]], name: str, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield some of the strings in CI, all of them at night."""
    return iter(strings if NIGHTLY else Random(name).sample(strings, count))


def slow_files(name: str, samples: Samples) -> list[str]:
    """Return a string for each sample of a parser that takes more than linear time."""
    units = [("", unit, "") for unit in (*UNITS, *BLOCKS, *OWN_UNITS.get(name, ()))]
    return [slow for place, read in readings(name, samples) for slow in check(place, read, sample(units, place, 3))]


def test_every_parser_has_worst_strings() -> None:
    assert {*FILES} | FOREIGN == {*BUILT_IN}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FILES if NIGHTLY else ["all"])
def test_every_parser_takes_linear_time(name: str) -> None:
    assert [slow for each in (FILES if name == "all" else [name]) for slow in slow_files(each, FILES[each])] == []


# Functions around them.

LIKES = ("%a%a%a%b", "%a_%b", "%__%b", "a%a", "%\\%%b")
GLOBS = (
    "*a*a*a*b",
    "**/a/**/b",
    "**/*a*/**/*b*",
    "{*a,*a*}b",
    "[a-z]*[a-z]*[0-9]",
    "*/*/*/b",
    "**/**/**/b",
    "*?*?*b",
    "{**/,}{**/,}b",
)
VALUES = ("a", "a/", "/a", "aa/", "/", "b", "%", "a.", "\n")

CALLS: dict[str, Call] = {
    "chunk by words": lambda text: chunk(text, counter=counter("whitespace"), config=Config(), marks=()),
    "chunk by tokens": lambda text: chunk(text, counter=counter("approx"), config=Config(), marks=()),
    "decode": lambda text: decode_file(text.encode() + b"\xff", path="a.html", parser="html"),
    "choose": lambda text: [
        kinds.choose(path, text.encode(), parser="auto", overrides=()) for path in ("a", "a.xml", "a.1")
    ],
    "gitignore": lambda text: [*ignore._rules(text.encode())],
    "git's settings": lambda text: [*ignore._values(text)],
    "title of AsciiDoc": asciidoc_name,
    "title of Org": org_name,
    "title of reStructuredText": rst_name,
}
QUERIES: dict[str, Call] = {
    "query": parse_query,
    "filter of a query": lambda text: parse_query(f"FROM doc FILTER {text}"),
    "string of a query": lambda text: parse_query(f"FROM doc FILTER path = '{text}"),
    "filter": parse_filter,
    "is_query": is_query,
    "highlight": highlight,
    "complete": lambda text: complete(text, len(text), vocabulary=NoVocabulary()),
}
CLAUSES = ("NOT ", "(", "path = 'a' AND ", "tag HAS 'a' OR ", "path IN ('a',", "'a',", "a.b.", "1e", "SELECT ", "-- ")


def slow_calls(calls: Mapping[str, Call]) -> list[str]:
    """Return a string for each call that takes more than linear time."""
    strings = [
        ("", unit, "") for unit in (*UNITS, *BLOCKS, "[:a", "[[:a:]", "\\ ", "e\u0301", "\u0301", "\u200d", "中")
    ]
    return [slow for name, call in calls.items() for slow in check(name, call, sample(strings, name, 4))]


@pytest.mark.timeout(900)
def test_ingest_around_parsers_takes_linear_time() -> None:
    assert slow_calls(CALLS) == []


@pytest.mark.timeout(900)
def test_queries_take_linear_time() -> None:
    strings = [("", unit, "") for unit in (*UNITS, *CLAUSES)]
    cap = 60_000 if NIGHTLY else 4_000  # a query may have 64 KiB
    assert [slow for name, call in QUERIES.items() for slow in check(name, call, sample(strings, name, 6), cap)] == []


def test_patterns_take_linear_time() -> None:
    strings = [("", unit, tail) for unit in VALUES for tail in ("", "/c")]
    matches = ((like_match, LIKES), (ilike_match, LIKES), (glob_match, GLOBS))
    slow = []
    for match, chosen in matches:
        for pattern in chosen:
            slow += check(pattern, lambda text, m=match, p=pattern: m(p, text), iter(strings))  # type: ignore[misc]
    assert slow == []
