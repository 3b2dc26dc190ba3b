"""Missing and modified files are reported as in a search, and the named fix works."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config
from recall_core.contract.views import CheckView
from recall_core.maintain.checks import unchanged_files
from recall_core.maintain.doctor import check_one
from recall_core.types import Root
from tests.builders import memory_store, new_file, put, without_privileges

TEXT = "a quokka smiles\n"
OTHER = "a wombat digs all night\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store over a folder of three texts and one file that was added by name."""
    template = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir()
    for name in ("docs/a.md", "docs/b.md", "docs/c.md", "-x y.md"):
        (template / name).write_text(f"{TEXT}{name}\n", encoding="utf-8")
    with contextlib.chdir(template):
        run("recall init . --embedding hash --set max_file_bytes=1000")
        run("recall add docs -- '-x y.md'")
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a copy of that folder."""
    home = Path(shutil.copytree(template, tmp_path / "home"))
    monkeypatch.chdir(home)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    yield home
    for path in home.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def run(line: str) -> None:
    """Run a command."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert cli.main(shlex.split(line)[1:], streams=streams) == 0, streams


def files_check(home: Path) -> CheckView:
    """Return the one check of doctor that these tests concern."""
    with Recall.open(str(home)) as recall:
        return check_one(recall.store, "files", lambda: recall.engine.embedder, base=home, config=recall.config)


def modify(home: Path) -> None:
    (home / "docs/a.md").write_text(OTHER, encoding="utf-8")


def missing(home: Path) -> None:
    (home / "docs/a.md").unlink()


def both(home: Path) -> None:
    modify(home)
    (home / "docs/c.md").unlink()


def binary(home: Path) -> None:
    (home / "docs/a.md").write_bytes(b"\0\1\2")


def too_large(home: Path) -> None:
    (home / "docs/a.md").write_text(OTHER * 100, encoding="utf-8")


def half_binary(home: Path) -> None:
    binary(home)
    (home / "docs/b.md").write_text(OTHER, encoding="utf-8")


def ignore_modified(home: Path) -> None:
    modify(home)
    (home / "docs/.gitignore").write_text("a.md\n", encoding="utf-8")


def ignored_and_missing(home: Path) -> None:
    missing(home)
    (home / "docs/.gitignore").write_text("a.md\n", encoding="utf-8")


def a_pipe(home: Path) -> None:
    missing(home)
    os.mkfifo(home / "docs/a.md")


def a_folder(home: Path) -> None:
    missing(home)
    (home / "docs/a.md").mkdir()


def a_socket(home: Path) -> None:
    missing(home)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("docs/a.md")


def without_its_root(home: Path) -> None:
    shutil.rmtree(home / "docs")


def named_oddly(home: Path) -> None:
    (home / "-x y.md").write_bytes(b"\0")


def added_by_name(home: Path) -> None:
    (home / "-x y.md").unlink()


CASES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "modified": (modify, "docs/a.md is modified", "recall sync"),
    "missing": (missing, "docs/a.md is missing", "recall sync"),
    "one of each": (both, "docs/a.md is modified, docs/c.md is missing", "recall sync"),
    "binary by now": (binary, "docs/a.md is modified", "recall rm docs/a.md"),
    "too large by now": (too_large, "docs/a.md is modified", "recall rm docs/a.md"),
    "one that can be read and one that cannot": (
        half_binary,
        "docs/a.md is modified, docs/b.md is modified",
        "recall sync, then recall rm docs/a.md",
    ),
    "left out by a rule since": (ignore_modified, "docs/a.md is modified", "recall add {home}/docs/a.md"),
    "left out by a rule, and gone": (ignored_and_missing, "docs/a.md is missing", "recall sync"),
    "a pipe in its place": (a_pipe, "docs/a.md is missing", "recall rm docs/a.md"),
    "a folder in its place": (a_folder, "docs/a.md is missing", "recall rm docs/a.md"),
    "a socket in its place": (a_socket, "docs/a.md is missing", "recall rm docs/a.md"),
    "the whole folder gone": (without_its_root, "docs/a.md is missing", "recall rm docs, or mount it again"),
    "a name that needs quoting": (named_oddly, "-x y.md is modified", "recall rm -- '-x y.md'"),
    "a file that was added by its name, gone": (added_by_name, "-x y.md is missing", "recall sync"),
}


def test_changed_file_is_reported_with_a_working_fix(home: Path, tmp_path: Path) -> None:
    assert files_check(home)["severity"] == "ok"
    for number, (name, (change, evidence, fix)) in enumerate(CASES.items()):
        place = Path(shutil.copytree(home, tmp_path / str(number)))
        with contextlib.chdir(place):
            change(place)
            check = files_check(place)

            assert check["severity"] == "warning", name
            assert evidence in check["evidence"], name
            assert check["fix"] == fix.format(home=place), name
            for line in check["fix"].removesuffix(", or mount it again").split(", then "):
                run(line)
            assert files_check(place)["severity"] == "ok", name


def test_unreadable_file_breaks_nothing(home: Path) -> None:
    modify(home)
    (home / "docs/a.md").chmod(0)
    (home / "recall.db").chmod(0o644)  # as its owner may have set it
    with without_privileges(home):
        check = files_check(home)

    assert (check["severity"], check["fix"]) == ("warning", "recall rm docs/a.md")


def test_check_counts_the_files_that_search_marks(home: Path) -> None:
    both(home)
    os.utime(home / "docs/b.md")

    with Recall.open(str(home)) as recall:
        results = recall.search("quokka", Ask(k=100))["results"]

    marked = {each["doc"]["path"]: each["doc"].get("state") for each in results}
    assert marked == {"docs/a.md": "modified", "docs/b.md": None, "docs/c.md": "missing", "-x y.md": None}
    assert files_check(home)["evidence"].startswith("4 files checked, 1 missing, 1 modified: ")


def test_first_files_are_named_and_the_rest_counted(home: Path) -> None:
    for number in range(9):
        (home / f"docs/more{number}.md").write_text(f"{number} {TEXT}", encoding="utf-8")
    run("recall sync")
    for number in range(9):
        (home / f"docs/more{number}.md").unlink()

    evidence = files_check(home)["evidence"]

    assert evidence.startswith("13 files checked, 9 missing, 0 modified: docs/more0.md is missing, ")
    assert evidence.endswith("docs/more4.md is missing, and 4 more")


def test_many_unsynced_files_are_fixed_in_several_rounds(home: Path) -> None:
    for number in range(9):
        (home / f"docs/more{number}.md").write_text(f"{number} {TEXT}", encoding="utf-8")
    run("recall sync")
    for number in range(9):
        (home / f"docs/more{number}.md").write_bytes(b"\0")

    turns = 0
    while (check := files_check(home))["severity"] != "ok":
        turns += 1
        for line in check["fix"].split(", then "):
            run(line)

    assert turns == 2


def test_program_documents_have_no_file_to_miss() -> None:
    store = memory_store()
    put(store, new_file("a.txt", [TEXT])._replace(os_path=""))

    found = unchanged_files(store, base=Path("/nowhere"), config=Config())

    assert (found.severity, found.evidence) == ("ok", "0 files are unchanged since they were read")


def test_impossible_file_name_counts_as_missing(tmp_path: Path) -> None:
    store = memory_store()
    put(store, new_file("a\0b.txt", [TEXT]))

    found = unchanged_files(store, base=tmp_path, config=Config())

    assert found.severity == "warning"
    assert found.fix.startswith("recall rm ")


def test_file_of_no_source_is_added_or_removed(tmp_path: Path) -> None:
    store = memory_store()
    put(store, new_file("a.txt", [TEXT]), new_file("b.txt", [TEXT]))
    (tmp_path / "a.txt").write_text(OTHER, encoding="utf-8")

    found = unchanged_files(store, base=tmp_path, config=Config())

    assert found.fix == f"recall add {tmp_path}/a.txt, then recall rm b.txt"


def test_missing_parser_is_left_for_sync_to_report(tmp_path: Path) -> None:
    store = memory_store()
    (tmp_path / "a.txt").write_text(OTHER, encoding="utf-8")
    with store.writer() as writer:
        writer.put_root(Root("a.txt", parser="papyrus"))
        writer.put(new_file("a.txt", [TEXT]))

    found = unchanged_files(store, base=tmp_path, config=Config())

    assert found.fix == "recall sync"
