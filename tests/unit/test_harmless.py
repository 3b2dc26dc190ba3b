"""Texts and names of documents steer no terminal and forge no line."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from recall_core import Recall
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.errors import RqlError
from recall_core.text import harmless, one_line

EVIL = "a\x1b[2Jquokka\x07 \x9b31m \u202egnp.txt\u2066 \x08\x00\x7f end"
NAME = "evil\nerror: forged\x1b]0;title\x07\u202e.txt"


class Screen(io.StringIO):
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that tests only read."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "docs").mkdir()
    (folder / "docs" / NAME).write_text(f"# quokka \x1b[31mtitle\n\n{EVIL.replace(chr(0), '')}\r\n\ta tab\n")
    Recall.init(str(folder))
    with Recall.open(str(folder)) as recall:
        recall.index(str(folder / "docs"))
    return folder


def run(base: Path, *argv: str, terminal: bool) -> tuple[str, str]:
    out, err = (Screen(), Screen()) if terminal else (io.StringIO(), io.StringIO())
    cli.main(["--store", str(base), *argv], streams=Streams(io.StringIO(), out, err))
    return out.getvalue(), err.getvalue()


def terminal_codes(text: str) -> list[str]:
    """Return the marks that a terminal obeys, except line ends, tabs and the styles of Rich."""
    return [mark for mark in re.sub(r"\x1b\[[0-9;]*m", "", text) if mark not in "\n\t" and one_line(mark) != mark]


LINES: tuple[tuple[str, ...], ...] = (
    ("search", "quokka"),
    ("search", "quokka", "--explain"),
    ("context", "quokka"),
    ("context", "quokka", "--format", "markdown"),
    ("query", "SELECT doc.path, chunk.text FROM chunk USING lexical('quokka')"),
    ("query", "SELECT nothing\x1b[2J FROM\x07 chunk"),
    ("get", f"docs/{NAME}"),
    ("get", "docs/no\x1b[2Jne\nhint: forged"),
    ("whynot", "quokka", "--target", f"docs/{NAME}"),
    ("trace", "quokka"),
    ("rql", "complete", "SELECT * FROM chunk FILTER doc.path = '"),
    ("report", "quokka", "--md", "-"),
    ("roots",),
    ("stats",),
    ("doctor",),
)


def test_no_control_character_reaches_a_terminal(base: Path) -> None:
    for argv in LINES:
        out, err = run(base, *argv, terminal=True)

        assert terminal_codes(out) == [], argv
        assert terminal_codes(err) == [], argv
        assert not [line for line in err.splitlines() if line.startswith(("error: forged", "hint: forged"))], argv


def test_traceback_steers_no_terminal_either(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(store: str | None) -> Recall:
        raise ValueError(f"{EVIL}\nerror: forged")

    monkeypatch.setenv("RECALL_DEBUG", "1")
    err = Screen()
    cli.main(["stats"], streams=Streams(io.StringIO(), Screen(), err), opener=broken)

    assert "Traceback" in err.getvalue()
    assert terminal_codes(err.getvalue()) == []


def test_piped_texts_are_verbatim_and_headers_one_line(base: Path) -> None:
    out, _ = run(base, "context", "quokka", terminal=False)

    assert EVIL.replace("\x00", "") in out
    assert [line for line in out.split("\n") if line.startswith("[1]")] == [f"[1] docs/{one_line(NAME)}:1-4"]


@pytest.mark.parametrize("command", [("context", "quokka"), ("get", f"docs/{NAME}")])
def test_raw_prints_every_byte_on_a_terminal_too(base: Path, command: tuple[str, ...]) -> None:
    assert EVIL.replace("\x00", "") in run(base, *command, "--raw", terminal=True)[0]


def test_harmless_keeps_lines_and_letters_and_escapes_the_rest() -> None:
    for text, shown in [
        ("plain ünï 語 👩‍👩‍👧", "plain ünï 語 👩‍👩‍👧"),
        ("two\r\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[2J \x9b \r", "\\x1b[2J \\x9b \\r"),
        ("\u202eabc\u2069", "\\u202eabc\\u2069"),
        ("\x00\x7f\u2028", "\\x00\\x7f\\u2028"),
        ("\u061c \u200e \u200f", "\\u061c \\u200e \\u200f"),
        ("half \udcff", "half \\udcff"),
    ]:
        assert harmless(text) == shown, (text, shown)


def test_name_stays_on_one_line() -> None:
    assert one_line("a\nb\tc\r") == "a\\nb\\tc\\r"
    assert one_line("naïve 語.txt") == "naïve 語.txt"


def test_carets_line_up_with_the_escaped_text() -> None:
    error = RqlError("rql_syntax", "no", text="SELECT \x1b[2J\tx", start=13, end=14)

    line, carets = error.caret().split("\n")
    assert (line, carets) == ("SELECT ?[2J x", " " * 13 + "^")
