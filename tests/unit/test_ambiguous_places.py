"""Names that may mean a file, a record or a place in a document: which of these `get` returns."""

from __future__ import annotations

import io
import json
from contextlib import chdir
from pathlib import Path
from shutil import copy2, copytree
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams

RECORDS = ("alpha", "beta", "gamma")
CHAT = [{"role": "user", "content": "How long?"}, {"role": "assistant", "content": "Two hours."}]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of a conversation, lines, records, and files named like places in them."""
    template = tmp_path_factory.mktemp("made")
    ids = ("line=2", "second", "turn=1")
    records = (json.dumps({"id": name, "text": text}) for name, text in zip(ids, RECORDS, strict=True))
    files = {
        "r.jsonl": "\n".join(records),
        "chat.json": json.dumps(CHAT),
        "chat.json#turn=2": "A file of that name.\n",
        "chat.json#turn=9": "A turn that is none.\n",
        "a.md": "one\n\ntwo\n",
        "a.md:3": "Called as a line.\n",
        "deep/b.md": "one\n",
        "deep/b.md:1": "Called as the line of another.\n",
        "deep/only.md:1": "Beside no file that it is a line of.\n",
        "new/chat.json": json.dumps(CHAT).replace("Two", "Three"),
        "new/a.md": "one\n\nthree\n",
    }
    for name, text in files.items():
        (template / name).parent.mkdir(exist_ok=True)
        (template / name).write_text(text)
    with chdir(template):
        run("init", "--embedding", "hash")
        assert run("add", ".")["ok"]
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder."""
    monkeypatch.delenv("RECALL_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return Path(copytree(template, tmp_path, copy_function=copy2, dirs_exist_ok=True))


def run(*argv: str) -> Any:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    cli.main(["--json", *argv], streams=streams)
    return json.loads(streams.stdout.getvalue().splitlines()[-1])  # type: ignore[attr-defined]


def text_of(target: str) -> str:
    answer = run("get", "--", target)
    assert answer["ok"], answer
    return str(answer["found"]["text"])


@pytest.mark.usefixtures("home")
def test_file_wins_over_a_place_with_a_warning() -> None:
    for target, text, file, other in [
        ("chat.json#turn=2", "A file of that name.\n", "chat.json", "assistant:\nTwo hours.\n\n"),
        ("r.jsonl#line=2", "alpha", "r.jsonl", "beta"),
        ("a.md:3", "Called as a line.\n", "a.md", "two\n"),
    ]:
        answer = run("get", target)
        (warning,) = answer["warnings"]
        command = warning.partition(": recall get ")[2]

        assert answer["found"]["text"] == text, target
        assert warning.startswith(f"W_AMBIGUOUS_PATH: {target} is a place in {file} too: "), target
        assert text_of(command.strip("'")) == other, target


@pytest.mark.usefixtures("home")
def test_unambiguous_name_causes_no_warning() -> None:
    for target in ["chat.json#turn=9", "r.jsonl#turn=1", "a.md", "r.jsonl#second"]:
        assert run("get", target)["warnings"] == [], target


def test_ambiguous_relative_name_is_refused_with_both_spellings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "new")

    error = run("get", "chat.json#turn=2")["error"]
    assert (error["code"], error["hint"]) == ("ambiguous_path", "'./chat.json#turn=2' or '../chat.json#turn=2'")

    assert text_of("./chat.json#turn=2") == "assistant:\nThree hours.\n\n"
    assert text_of("../chat.json#turn=2") == "A file of that name.\n"
    assert run("get", "a.md:3")["error"]["code"] == "ambiguous_path"
    assert text_of("./a.md:3") == "three\n"


@pytest.mark.usefixtures("home")
def test_path_suffix_means_a_file_before_a_place() -> None:
    assert text_of("b.md:1") == "Called as the line of another.\n"
    assert text_of("only.md:1") == "Beside no file that it is a line of.\n"
    assert text_of("b.md#line=1") == "one\n"


def test_name_with_a_line_break_accepts_line_numbers(home: Path) -> None:
    (home / "two\nlines.md").write_text("one\ntwo\n")
    assert run("add", "two\nlines.md")["ok"]

    assert text_of("two\nlines.md:2") == "two\n"


@pytest.mark.usefixtures("home")
def test_line_anchor_selects_lines() -> None:
    assert text_of("r.jsonl#line=3") == "gamma"
    assert text_of("a.md#line=1-2") == "one\n\n"
    assert run("get", "chat.json#line=1")["error"]["code"] == "bad_place"
    assert run("get", "a.md#line=4")["error"]["code"] == "bad_lines"


@pytest.mark.usefixtures("home")
def test_warning_goes_to_stderr_and_text_to_stdout() -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    status = cli.main(["get", "chat.json#turn=2"], streams=streams)

    assert status == 0
    assert streams.stdout.getvalue() == "A file of that name.\n"  # type: ignore[attr-defined]
    assert streams.stderr.getvalue().startswith("warning: W_AMBIGUOUS_PATH: ")  # type: ignore[attr-defined]


@pytest.mark.usefixtures("home")
def test_get_accepts_a_folder_and_a_file_of_records() -> None:
    for target, message, hint in [
        ("new", "new is a folder of 2 documents.", "recall ls new"),
        ("r.jsonl", "r.jsonl is a file of 3 records.", "recall ls r.jsonl"),
        (".", ". is a folder of 13 documents.", "recall ls"),
    ]:
        error = run("get", target)["error"]

        assert (error["code"], error["message"], error["hint"]) == ("unknown_target", message, hint), target
        assert run(*hint.split()[1:])["ok"], target


def test_path_suffix_and_line_select_a_record(home: Path) -> None:
    (home / "deep" / "s.jsonl").write_text('{"id": "k", "text": "delta"}\n\n{"text": "epsilon"}\n')
    run("add", "deep")

    assert text_of("s.jsonl:3") == text_of("s.jsonl#line=3") == "epsilon"
    assert run("get", "s.jsonl:2")["error"]["code"] == "unknown_target"


def test_empty_document_has_no_lines(home: Path) -> None:
    (home / "empty.txt").write_text("")
    run("add", ".")

    error = run("get", "empty.txt:1")["error"]
    assert (error["code"], error["message"]) == ("bad_lines", "empty.txt has no lines: it is empty.")
    assert error["hint"] is None


def test_place_past_the_end_is_refused_with_the_valid_range(home: Path) -> None:
    (home / "page.html").write_text("<html><p>One.</p></html>")
    (home / "one.json").write_text(json.dumps(CHAT[:1]))
    run("add", ".")

    assert run("get", "page.html#bytes=9-13")["found"]["text"] == "One."
    assert run("get", "page.html#bytes=500-600")["error"]["code"] == "bad_place"
    assert run("get", "one.json#turn=2")["error"]["message"] == "one.json has no turn 2: it has turn 1."


MANUAL = '.TH GNU 1\n.\\" 2\n.\\" 3\n.\\" 4\n.SH NAME\ngnu \\- an antelope\n.SH HABITAT\nIt lives in the\nplains.\n'


def test_whynot_accepts_the_places_of_get(home: Path) -> None:
    (home / "gnu.1").write_text(MANUAL)
    run("add", ".")
    for target, words in (
        ("gnu.1:8-9", "plains"),
        ("gnu.1#line=8", "plains"),
        ("gnu.1:6", "antelope"),
        ("chat.json#turn=1", "How long"),
    ):
        view = run("whynot", "zebra", "--target", target)["whynot"]["target"]

        assert words in text_of(target), target
        assert view["chosen"]["path"] == target.partition("#")[0].partition(":")[0], target
        assert words in text_of(view["chosen"]["chunk_id"]), target


def test_whynot_refuses_a_missing_place(home: Path) -> None:
    (home / "gnu.1").write_text(MANUAL)
    run("add", ".")

    assert run("whynot", "zebra", "--target", "chat.json#turn=3")["error"]["code"] == "bad_place"
    assert run("get", "chat.json#verse=1")["error"]["code"] == "bad_place"
    assert run("whynot", "zebra", "--target", "gnu.1:1-2")["error"]["code"] == "bad_place"
