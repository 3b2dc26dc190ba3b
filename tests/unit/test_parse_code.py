"""Promises of the source code parsers in every language."""

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse import parser
from recall_core.ingest.parse.code import definitions, languages
from recall_core.ingest.parse.code.languages import GRAMMARS, Grammar, language_of, missing
from recall_core.marks import Mark, Outline, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import counter
from tests.examples import examples, mostly_nightly
from tests.unit.test_parse_elsewhere import NightlyElsewhere

PYTHON = b'''"""Doc."""
import x


# why
@wrap
def one():
    def inner(): ...


class Session(Base):
    n = 1

    def close(self): return "\xc3\xa9\xe6\x97\xa5"

    m = 2


one()
'''
RUST = (
    b"//! A.\n/// B.\n#[derive(Debug)]\npub struct Box<T> { x: T }\nimpl<T> Display for Box<T> {\n  fn go() {}\n}\n"
)
C = b"/* a */\nint\nmain(void)\r\n{\r\n\treturn 0;\r\n}\r\n\r\nint n;\n"
SHELL = b"#!/bin/sh\nset -e\n# hi\nhi() {\n  echo \xe2\x82\xac\n}\nhi\n"
DART = b"/// A box.\nclass Box extends Base {\n  int n = 1;\n}\n\nvoid main() {}\n"

needs_python = pytest.mark.skipif(missing("python") is not None, reason="tree-sitter-python is not installed")


def parse(raw: bytes | str, path: str = "a.py", name: str = "code") -> ParsedDocument:
    raw = raw.encode() if isinstance(raw, str) else raw
    (document,) = parser(name).parse(raw, path=path, digest="")
    assert why_unfit(document.marks, len(document.text)) is None
    return document


def names_of(document: ParsedDocument) -> list[str]:
    return [mark.name or mark.kind for mark in document.marks]


class TestCode(NightlyElsewhere):
    name = "code"
    samples: ClassVar = {"a.py": PYTHON, "src/b.rs": RUST, "c.c": C, "run": SHELL, "e.dart": DART, "f": b"words\n"}


class TestSourceOutline(NightlyElsewhere):
    name = "outline"
    samples: ClassVar = {"a.py": PYTHON, "b.rs": RUST, "c.c": C, "d": SHELL}


# The content of a document


@needs_python
def test_title_is_the_file_name_and_metadata_its_language() -> None:
    document = parse(PYTHON, "src/a.py")

    assert (document.title, document.meta, document.notes) == ("a.py", {"language": "python"}, ())


@needs_python
def test_definition_includes_comments_above_and_other_code_is_statements() -> None:
    text = PYTHON.decode()

    assert parse(PYTHON).marks == (
        Mark(text.index("# why"), "function", "def one", 1),
        Mark(text.index("class"), "class", "class Session", 1),
        Mark(text.index("    def close"), "method", "def close", 2),
        Mark(text.index("    m = 2"), "statements", "", 2),
        Mark(text.rindex("one()"), "statements", "", 1),
    )


@needs_python
def test_chunk_heading_lists_its_enclosing_definitions() -> None:
    document = parse(PYTHON)
    config = Config(chunk_tokens=5, overlap_tokens=0)

    spans = chunk(document.text, counter=counter("whitespace"), config=config, marks=document.marks)

    headings = {document.text[span.offset : span.end].strip(): span.heading for span in spans}
    assert headings['def close(self): return "é日"'] == "class Session › def close"


@needs_python
def test_detached_comment_belongs_to_no_definition() -> None:
    source = "x = 1\n# a\n\ndef one(): ...\ny = 2  # b\ndef two(): ...\n"

    one, statements, two = parse(source).marks

    assert source[one.offset :].startswith("def one")
    assert source[statements.offset :].startswith("y = 2")
    assert source[two.offset :].startswith("def two")


@needs_python
def test_closing_brackets_are_not_statements() -> None:
    source = "class A {\n  f() {}\n  }\n  ;\n}  // A\n\n});\n"

    assert names_of(parse(source, "a.js")) == ["class A", "f()"] or missing("javascript")


@needs_python
def test_two_definitions_on_one_line_have_separate_marks() -> None:
    marks = parse("class A { f() {} g() {} } class B {}\n", "a.js").marks

    if not missing("javascript"):
        assert [(mark.offset, mark.name, mark.level) for mark in marks] == [
            (0, "class A", 1),
            (10, "f()", 2),
            (17, "g()", 2),
            (26, "class B", 1),
        ]


def test_definition_on_the_last_line_of_another_follows_it() -> None:
    source = "function f() {\n  a()\n} function g() {}\n"

    if not missing("javascript"):
        assert [mark.offset for mark in parse(source, "a.js").marks] == [0, source.index("function g")]


@needs_python
def test_comment_inside_a_decorator_belongs_to_it() -> None:
    (mark,) = parse("@wrap(\n    # why\n    1,\n)\ndef one(): ...\n").marks

    assert mark == Mark(0, "function", "def one")


@needs_python
def test_offsets_are_code_points_with_any_line_end() -> None:
    source = "# ☃ é\r\n\r\n# \U0001f600\r\ndef naïve():\r\n\tpass\r\n\r\ndef other(): pass\r\n"

    assert [source[mark.offset :].partition("\r\n")[0] for mark in parse(source).marks] == [
        "# \U0001f600",
        "def other(): pass",
    ]


@needs_python
def test_broken_file_is_outlined_as_far_as_possible() -> None:
    assert names_of(parse("def one(:\n    pass\n\n)]}\n\ndef two():\n    return 1\n")) == ["def one", "def two"]


@needs_python
def test_file_of_comments_has_no_definitions() -> None:
    assert parse("# a\n" * 1000).marks == ()
    assert parse("").marks == ()


@needs_python
def test_long_name_is_cut_and_stays_on_its_line() -> None:
    (mark,) = parse(f"def {'x' * 600}(): pass\n").marks

    assert len(mark.name) == 120


@needs_python
def test_nested_definitions_are_marked_to_a_limited_depth() -> None:
    source = "".join(f"{' ' * i}class A{i}:\n" for i in range(80)) + " " * 80 + "pass\n"
    assert [mark.level for mark in parse(source).marks] == list(range(1, 81))

    by_lines = "".join(f"{' ' * i}class A{i}:\n" for i in range(700)) + " " * 700 + "pass\n"
    assert max(mark.level for mark in parse(by_lines, "a.dart").marks) == 500


# Without a usable grammar


def test_large_file_is_outlined_by_lines_with_a_note() -> None:
    document = parse(f"def one():\n    pass\n    return {'1' * 400}\n" * 2_700)

    assert document.notes == ("larger than 1 MiB: outlined by line patterns",)
    assert len(document.marks) == 2_700


def test_difficult_code_is_outlined_by_lines() -> None:
    for filler, reason in [
        ("x" * 70_000, "a line is longer than 64 KiB"),
        ("(\n" * 2000, "brackets nested deeper than 1,000"),
        ("x\n" * 5000 + "\0\n", "it contains a NUL byte"),
    ]:
        document = parse(f"def one(): pass\n{filler}\n")

        assert document.notes == (f"{reason}: outlined by line patterns",), (filler, reason)
        assert document.marks[0] == Mark(0, "function", "def one"), (filler, reason)


def test_missing_grammar_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    definitions._tools.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)

    document = parse("package a\n\nfunc (s *Server) Close() error {\n}\n", "a.go")

    assert document.notes == ("no grammar for Go is installed: outlined by line patterns",)
    assert names_of(document) == ["func (s *Server) Close"]


@needs_python
def test_incompatible_grammar_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    definitions._tools.cache_clear()
    monkeypatch.setattr(definitions, "GRAMMARS", {**GRAMMARS, "go": Grammar("x", "math", "pi")})

    assert parse("func a() {}\n", "a.go").notes == ("no grammar for Go is installed: outlined by line patterns",)
    definitions._tools.cache_clear()


def test_language_without_a_grammar_is_outlined_by_lines() -> None:
    document = parse(DART, "a.dart")

    assert (document.meta, document.notes) == ({"language": "dart"}, ())
    assert document.marks == (Mark(0, "class", "class Box"), Mark(52, "statements"))


def test_binary_files_are_refused() -> None:
    with pytest.raises(IngestError) as refused:
        parse(b"a\0b")

    assert refused.value.code == "binary_file"


# The outline by lines


def test_definition_like_lines_begin_a_unit() -> None:
    for line, name in [
        ("def x(self):", "def x"),
        ("async def x():", "def x"),
        ("pub(crate) async fn parse<T>(a: T) {", "fn parse"),
        ("func (s *Server) Close() error {", "func (s *Server) Close"),
        ("export default class Session extends Base {", "class Session"),
        ("impl<T> Display for Box<T> {", "impl Display"),
        ("type Server struct {", "type Server"),
        ("public static interface Store", "interface Store"),
        ("namespace a::b {", "namespace a::b"),
        ("total <- function(x) x + 1", "total()"),
        ("module.exports.go = function () {", "module.exports.go()"),
        ("  sub add {", "sub add"),
    ]:
        assert names_of(parse(f"{line}\n", name="outline")) == [name], (line, name)


def test_prose_has_no_definition() -> None:
    for line in [
        "The class of people",
        "type of a thing.",
        "class action suits are slow",
        "function",
        "a def x():",
        "# def x():",
    ]:
        assert parse(f"{line}\n", name="outline").marks == (), line


def test_outline_follows_indentation() -> None:
    source = (
        "import x\n\n// A store.\nclass Store\n{\n  // opens\n  function open()\n  {\n    function inner() {}\n"
        "  }\n\n  n = 1\n}\n\ngo()\n"
    )

    marks = parse(source, "a", name="outline").marks

    assert [(source[mark.offset :].partition("\n")[0], mark.kind, mark.level) for mark in marks] == [
        ("// A store.", "class", 1),
        ("  // opens", "method", 2),
        ("  n = 1", "statements", 2),
        ("go()", "statements", 1),
    ]


def test_decorator_lines_belong_to_no_earlier_definition() -> None:
    source = "class A {\n  function one() {\n  }\n\n  @Wrap(\n    x,\n  )\n  function two() {\n  }\n}\n"
    document = parse(source, "a.x", name="outline")

    assert Outline(document.marks, len(source)).heading_at(source.index("x,")) == "class A"


@needs_python
def test_python_outline_matches_the_grammar() -> None:
    assert [tuple(mark) for mark in parse(PYTHON, name="outline").marks] == [
        tuple(mark) for mark in parse(PYTHON).marks
    ]


# Languages


def test_language_is_recognised_by_name_or_first_line() -> None:
    for path, first_line, language in [
        ("a.py", "", "python"),
        ("src/A.JAVA", "", "java"),
        ("x/Rakefile", "", "ruby"),
        (".bashrc", "", "bash"),
        ("run", "#!/bin/sh", "bash"),
        ("run", "#! /usr/bin/env -S A=1 python3.11 -u", "python"),
        ("run", "#!/usr/bin/env", None),
        ("run.txt", "words", None),
        ("a.d.ts", "", "typescript"),
        ("a.ts", '<?xml version="1.0"?>', None),
        ("py", "", None),
        (".py", "", None),
        ("a.py/b", "", None),
    ]:
        assert language_of(path, first_line) == language, (path, first_line, language)


def test_header_file_is_in_the_language_it_resembles() -> None:
    found = [parse(text, "a.h").meta for text in ("int a;\n", "namespace a {}\n", "#import <a.h>\n@class A;\n")]

    assert found == [{"language": "c"}, {"language": "cpp"}, {"language": "objc"}]


def test_every_grammar_has_a_matching_query() -> None:
    installed = [language for language in GRAMMARS if missing(language) is None]

    assert all(definitions._tools(language) for language in installed)
    assert {*GRAMMARS} == {*definitions.QUERIES}


def test_missing_returns_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "find_spec", lambda name: None if name == "tree_sitter_go" else object())

    assert (missing("go"), missing("python"), missing("dart")) == ("tree-sitter-go", None, None)


def test_recognising_a_language_imports_no_grammar() -> None:
    program = (
        "import sys, recall_core.ingest.parse.code.parsers\n"
        "from recall_core.ingest.parse.code.languages import language_of, missing\n"
        "language_of('a.py'); missing('python'); print([m for m in sys.modules if m.startswith('tree_sitter')])"
    )

    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert told.stdout == "[]\n"


# Against Python's own parser

LIBRARY = Path(sysconfig.get_path("stdlib"))
FEWEST = "dataclasses enum functools".split()
A_FEW = (
    "ast argparse dataclasses typing enum functools inspect pathlib zipfile tarfile unittest/mock http/client".split()
)


def truth(body: list[ast.stmt], level: int = 1) -> list[tuple[str, int, int, int]]:
    """Return the definitions of modules and classes: name, level, first and last line."""
    found = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.append((node.name, level, first, node.end_lineno or 0))
            if isinstance(node, ast.ClassDef):
                found += truth(node.body, level + 1)
            continue
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, part, [])
            for each in inner:
                found += truth(
                    each.body if hasattr(each, "body") and not isinstance(each, ast.stmt) else [each], level
                )
    return found


def seen(document: ParsedDocument) -> list[tuple[str, int, int, int]]:
    """Return the same for a document, without comments and empty lines at either end."""
    lines = document.text.split("\n")
    is_code = [bool(line.strip()) and not line.lstrip().startswith("#") for line in lines]
    tree = Outline(document.marks, len(document.text))._tree
    found = []
    for mark, end in zip(document.marks, tree._ends, strict=True):
        first = document.text.count("\n", 0, mark.offset)
        last = document.text.count("\n", 0, end) - (end < len(document.text))
        while not is_code[first] and first < last:
            first += 1
        while not is_code[last] and first < last:
            last -= 1
        if mark.kind != "statements":
            found.append((mark.name.split()[1], mark.level, first + 1, last + 1))
    return found


def share_of_equal(paths: list[Path]) -> float:
    equal = total = 0
    for path in paths:
        raw = path.read_bytes()
        try:
            expected = truth(ast.parse(raw.decode()).body)
        except (SyntaxError, ValueError):
            continue  # a test of the interpreter itself
        document = parse(raw, path.name)
        if b"\f" in raw or document.notes:
            continue  # lines are reported differently
        ours = seen(document)
        equal += len({*expected} & {*ours})
        total += len({*expected} | {*ours})
    return equal / total


@needs_python
@pytest.mark.parametrize("names", [FEWEST, pytest.param(A_FEW, marks=pytest.mark.slow)], ids=["few", "some"])
def test_definitions_match_python_in_part_of_its_library(names: list[str]) -> None:
    assert share_of_equal([LIBRARY / f"{name}.py" for name in names]) == 1


@needs_python
@pytest.mark.slow
def test_definitions_match_python_in_its_whole_library() -> None:
    paths = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)

    assert share_of_equal(paths) >= 0.997


# Hostile files

WORDS = "( ) { } [ ] < > \" ' ` # // /* */ @ \\ ; : , = é \U0001f600 def class fn func end impl <<A $( x 1 if".split()
PIECES = st.sampled_from([*WORDS, "\n", "\n\n", "\t", "\r\n"])


@given(
    pieces=st.lists(PIECES, max_size=80),
    suffix=st.sampled_from(["py", "js", "ts", "c", "h", "cpp", "rs", "go", "rb", "sh", "x"]),
)
@examples(75)
def test_any_pieces_in_any_order_are_read(pieces: list[str], suffix: str) -> None:
    source = " ".join(pieces)

    document = parse(source, f"a.{suffix}")

    assert document.text == source
    assert parse(source, f"a.{suffix}", "outline").text == source


REPEATED = [
    "(",
    "{",
    "class A {",
    " ",
    "\t\n",
    "# a\n",
    "@a\n",
    "}\n",
    "end\n",
    "x<",
    "def ",
    "a::",
    "* ",
    '"""\\"',
    "(\n'",
]


@pytest.mark.parametrize("piece", mostly_nightly(REPEATED, "class A {"))
def test_repetitive_megabyte_is_read_in_linear_time(piece: str) -> None:
    document = parse(piece * (1_100_000 // len(piece)))

    assert document.notes
    assert len(document.marks) <= 200_000


def test_repetitive_outline_takes_linear_time() -> None:
    for piece in REPEATED:
        text = piece * (110_000 // len(piece))

        assert parse(text, name="outline").text == text, piece


@needs_python
def test_file_of_equal_lines_is_read_by_its_grammar() -> None:
    size = 200_000 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 20_000
    for piece in ("# a\n", "x = 1\r\n", "\n", "}\n", "if a:\n", "@a\n", "def a(): pass\n"):
        assert not parse(piece * (size // len(piece))).notes, piece
