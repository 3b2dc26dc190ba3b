"""Targets by the end of their path, suggestions for unknown names, and lines judged as lines."""

from __future__ import annotations

import io
import json
from contextlib import chdir
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams

LINES = "".join(f"line {number} of the retry schedule\n" for number in range(1, 41))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    for folder in ("lib/asyncio", "lib/other", "data"):
        (template / folder).mkdir(parents=True)
    (template / "lib" / "sched.py").write_text(LINES)
    (template / "lib" / "asyncio" / "events.py").write_text("an event loop\n")
    (template / "lib" / "other" / "events.py").write_text("other events\n")
    (template / "data" / "corpus.jsonl").write_text('{"id": "207", "text": "a record"}\n')
    with chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", "lib")[0] == run("add", "data", "--parser", "jsonl")[0] == 0
    return template


@pytest.fixture(autouse=True)
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(copytree(template, tmp_path, dirs_exist_ok=True))


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def ask_whynot(target: str, *flags: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run("whynot", "retry", "--target", target, *flags, "--json")[1])
    return answer


def chosen(target: str) -> tuple[str, str]:
    view = ask_whynot(target)["whynot"]["target"]
    return view["kind"], view["chosen"]["path"]


def test_unique_path_ending_selects_the_document() -> None:
    assert chosen("sched.py") == ("document", "lib/sched.py")
    assert chosen("other/events.py") == ("document", "lib/other/events.py")
    assert chosen("sched.py:3-4") == ("lines", "lib/sched.py")
    assert chosen("corpus.jsonl#207") == ("document", "data/corpus.jsonl#207")
    assert chosen("corpus.jsonl") == ("document", "data/corpus.jsonl#207")
    assert run("get", "sched.py")[1] == LINES
    assert run("get", "sched.py:2")[1] == LINES.splitlines(keepends=True)[1]


def test_path_ending_works_from_any_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "lib" / "other")

    assert chosen("sched.py") == ("document", "lib/sched.py")
    assert run("get", "sched.py")[1] == LINES


def test_part_of_a_name_is_not_an_ending() -> None:
    assert run("get", "hed.py")[0] == 8


def test_ending_of_several_paths_is_refused_with_both() -> None:
    for argv in (("get", "events.py"), ("whynot", "retry", "--target", "events.py")):
        code, _, err = run(*argv)

        assert code == 2
        assert "2 paths end with events.py" in err
        assert "hint: lib/asyncio/events.py or lib/other/events.py" in err


def test_ambiguous_ending_is_still_a_text(home: Path) -> None:
    (home / "lib" / "note.txt").write_text("look into events.py\n")
    run("sync")

    assert chosen("events.py") == ("text", "lib/note.txt")


def test_file_on_disk_of_that_name_takes_precedence(home: Path) -> None:
    (home / "sched.py").write_text("another\n")

    assert ask_whynot("sched.py")["whynot"]["verdict"] == "not_ingested"
    assert run("get", "sched.py")[0] == 8


def test_anchored_path_is_not_an_ending() -> None:
    assert run("get", "./sched.py")[0] == run("get", "/sched.py")[0] == 8


def test_rm_accepts_no_endings() -> None:
    assert run("rm", "sched.py")[0] == 8
    assert run("get", "lib/sched.py")[0] == 0


def test_misspelled_name_gets_a_suggestion() -> None:
    for typed in ("lib/shced.py", "schedd.py", "lib/sched.py.bak:12", "src/sched.pyx"):
        for argv in (("get", typed), ("whynot", "retry", "--target", typed)):
            assert "hint: did you mean lib/sched.py?" in run(*argv)[2], argv


def test_unfamiliar_name_suggests_a_search() -> None:
    assert "hint: recall search quokka.md" in run("get", "quokka.md")[2]


def test_line_is_judged_by_its_line() -> None:
    """A context that cuts the chunk contains the lines before the cut, and not those after."""
    context = json.loads(run("context", "retry", "--budget-tokens", "60", "--json")[1])["context"]
    (block,) = (each for each in context["blocks"] if each["path"] == "lib/sched.py")
    assert block["truncated"]
    whole = [number for number, line in enumerate(LINES.splitlines(), 1) if line in block["text"].splitlines()]
    assert 0 < len(whole) < 40

    budget = ("--budget-tokens", "60", "--no-fixes")
    for number in (1, whole[-1], whole[-1] + 2, 40):
        view = ask_whynot(f"lib/sched.py:{number}", *budget)["whynot"]
        assert (view["verdict"] == "present") == (number in whole), number
    assert ask_whynot(f"lib/sched.py:1-{whole[-1]}", *budget)["whynot"]["present"]
    assert ask_whynot(f"lib/sched.py:1-{whole[-1] + 2}", *budget)["whynot"]["verdict"] == "truncated"
    assert ask_whynot("lib/sched.py", *budget)["whynot"]["verdict"] == "truncated"


def test_unknown_file_gets_a_reason_and_a_command(home: Path) -> None:
    (home / "lib" / ".secret.md").write_text("hidden")
    (home / "elsewhere.md").write_text("not added")
    (home / "lib" / "blob.md").write_bytes(b"a\0b")
    run("rm", "lib/other/events.py")

    assert run("whynot", "retry", "--target", "lib/.secret.md")[1].splitlines() == [
        "lib/.secret.md is not in the store: lib was added, but .secret.md is hidden (--hidden)",
        "hint: recall add lib/.secret.md",
    ]
    assert run("whynot", "retry", "--target", "elsewhere.md")[1].splitlines() == [
        "elsewhere.md is not in the store: no added folder or file contains elsewhere.md",
        "hint: recall add elsewhere.md",
    ]
    (gone, hint) = run("whynot", "retry", "--target", "lib/other/events.py")[1].splitlines()
    assert gone.startswith("lib/other/events.py is not in the answer: ")
    assert hint == "hint: recall add lib/other/events.py"


def test_unreadable_file_gets_the_hint_of_add(home: Path) -> None:
    for content in (b"a\0b", b"\xff\xfe a text in UTF-16", b"caf\xe9"):
        (home / "lib" / "blob.md").write_bytes(content)
        refused = json.loads(run("add", "lib/blob.md", "--json")[1])["error"]
        told = run("whynot", "retry", "--target", "lib/blob.md")[1].splitlines()

        assert [line.removeprefix("hint: ") for line in told[1:]] == [refused["hint"]] * bool(refused["hint"])
        assert "recall add" not in " ".join(told)
