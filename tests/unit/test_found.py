"""The meaning of a name: relative to the current folder, then as Recall prints it, without guessing."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from recall_core import shell
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.errors import RecallError, UsageError
from recall_core.maintain.remove import find_removal
from recall_core.retrieve import targets
from recall_core.shell import Hint
from recall_core.types import Root
from tests.builders import memory_store, new_file, put

FILES = ("old/a.md", "old/old/c.md", "new/b.md", "new/top.md", "top.md", "c/x.md", "c#.md")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store of files in folders, and of a folder outside."""
    monkeypatch.delenv("RECALL_STORE", raising=False)
    for place in (
        *(tmp_path / "home" / name for name in FILES),
        tmp_path / "far" / "f.md",
        tmp_path / "far" / "top.md",
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"The text of {place.parent.name}/{place.name}.\n")
    monkeypatch.chdir(tmp_path / "home")
    run("init", "--embedding", "hash")
    run("add", ".", str(tmp_path / "far"))
    return tmp_path / "home"


def run(*argv: str) -> Any:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    cli.main(["--json", *argv], streams=streams)
    return json.loads(streams.stdout.getvalue().splitlines()[-1])  # type: ignore[attr-defined]


def dry_run(*targets: str) -> list[str]:
    """Return the documents that a dry run would remove."""
    answer = run("rm", "--dry-run", "--", *targets)
    assert answer["ok"], answer
    return list(answer["removed"]["paths"])


def refusal(*argv: str) -> tuple[str, str]:
    error = run(*argv)["error"]
    return error["code"], error["hint"]


def got(target: str) -> str:
    answer = run("get", "--", target)
    assert answer["ok"], answer
    return str(answer["found"]["doc"]["path"])


def test_dot_means_the_current_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "old")

    assert (
        dry_run(".")
        == dry_run("./")
        == dry_run(str(home / "old"))
        == dry_run("../old")
        == ["old/a.md", "old/old/c.md"]
    )
    assert run("rm", ".", "--purge")["removed"]["documents"] == 2

    assert run("stats")["store"]["documents"] == len(FILES)  # two fewer, and two from outside
    assert run("stats")["store"]["roots"] == [".", str(home.parent / "far")]


def test_store_folder_does_not_include_outside_files(home: Path) -> None:
    assert dry_run(".") == dry_run(str(home)) == dry_run("../home") == sorted(FILES)
    assert dry_run("**/*.md") == sorted(FILES)
    assert (
        dry_run(str(home.parent / "far"))
        == dry_run("../far")
        == [f"{home.parent}/far/f.md", f"{home.parent}/far/top.md"]
    )
    assert dry_run("../far/f*") == [f"{home.parent}/far/f.md"]

    run("rm", ".")

    assert run("stats")["store"]["documents"] == 2
    assert run("stats")["store"]["roots"] == [str(home.parent / "far")]


@pytest.mark.usefixtures("home")
def test_empty_name_is_refused() -> None:
    for words in [["rm", ""], ["rm", "--purge", "top.md", ""], ["get", ""], ["whynot", "text", "--target", ""]]:
        assert refusal(*words) == ("empty_target", "recall stats"), words

        assert run("stats")["store"]["documents"] == len(FILES) + 2, words


def test_rm_of_an_ambiguous_name_removes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, target, both in [
        ("new", "top.md", "./top.md or ../top.md"),
        ("old", "old", "./old or ../old"),
        ("new", "*.md", "'./*.md' or '../*.md'"),
        ("../far", "top.md", "./top.md or {home}/top.md"),
    ]:
        monkeypatch.chdir(home / folder)

        words = ["--store", str(home / "recall.db"), "rm", target]
        assert refusal(*words) == ("ambiguous_path", both.format(home=home)), folder

        assert run("--store", str(home / "recall.db"), "stats")["store"]["documents"] == len(FILES) + 2, folder


def test_spellings_in_the_hint_are_unambiguous(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "new")

    assert (dry_run("./top.md"), dry_run("../top.md")) == (["new/top.md"], ["top.md"])
    assert (dry_run("./*.md"), dry_run("../*.md")) == (["new/b.md", "new/top.md"], ["c#.md", "top.md"])
    assert (got("./top.md"), got("../top.md"), got(str(home / "top.md"))) == ("new/top.md", "top.md", "top.md")


def test_unindexed_local_file_makes_the_name_ambiguous(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "new")
    run("rm", "./top.md")

    assert refusal("rm", "top.md") == ("ambiguous_path", "./top.md or ../top.md")
    assert got("top.md") == "top.md"


def test_printed_path_is_found_from_every_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("old", "../far", ".."):
        monkeypatch.chdir(home / folder)
        monkeypatch.setenv("RECALL_STORE", str(home / "recall.db"))

        assert got("new/b.md") == "new/b.md"
        assert dry_run("new/b.md", "c") == ["c/x.md", "new/b.md"]
        assert run("whynot", "text", "--target", "new/b.md:1")["whynot"]["target"]["chosen"]["path"] == "new/b.md"


def test_local_path_precedes_printed_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "old")

    assert got("a.md") == "old/a.md"
    assert dry_run("a.md") == dry_run("a*") == ["old/a.md"]
    assert dry_run("old/c.md") == ["old/old/c.md"]


def test_no_command_guesses_between_two_documents(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, part in [
        *(
            (command, part)
            for command in (["get"], ["whynot", "text", "--target"])
            for part in ("", ":1", "#line=1-2")
        ),
        *((["tune", "text", "--pin"], part) for part in ("", ":1")),
    ]:
        monkeypatch.chdir(home / "new")
        both = [shell.quote(f"{folder}/top.md{part}") for folder in (".", "..")]
        assert refusal(*command, f"top.md{part}") == ("ambiguous_path", " or ".join(both)), (command, part)


def test_ambiguous_path_ending_lists_each_path_with_its_lines(home: Path) -> None:
    (home / "old" / "b.md").write_text("Another of that name.\n")
    run("add", "old/b.md")

    assert refusal("get", "b.md:1") == ("ambiguous_path", "new/b.md:1 or old/b.md:1")


def test_path_ending_begins_with_a_whole_name(home: Path) -> None:
    (home / "old" / "ab.md").write_text("A name that ends like another.\n")
    run("add", "old/ab.md")

    for target in ("b.md", "b.md:1"):
        assert run("get", target)["found"]["doc"]["path"] == "new/b.md", target
    (home / "old" / "xyz.md").write_text("Another one.\n")
    run("add", "old/xyz.md")
    for target in ("yz.md", "yz.md:1", "yz.md#Name", "ld/xyz.md"):
        assert refusal("get", target)[0] == "unknown_target", target
        assert refusal("whynot", "another", "--target", target)[0] == "unknown_target", target


def test_file_with_a_record_like_name_is_not_a_record(home: Path) -> None:
    (home / "r.jsonl").write_text('{"id": 1, "text": "one"}\n{"id": "a/b", "text": "two"}\n')
    (home / "r.jsonl#note.md").write_text("No record.\n")
    run("add", "r.jsonl", "--parser", "jsonl")
    run("add", "r.jsonl#note.md")

    assert dry_run("c") == ["c/x.md"]
    assert dry_run("r.jsonl") == ["r.jsonl#1", "r.jsonl#a/b"]
    assert dry_run("r.jsonl#a/b") == ["r.jsonl#a/b"]
    assert run("whynot", "text", "--target", "r.jsonl")["whynot"]["target"]["chunks"] == 2


def test_folder_named_like_a_pattern_is_not_a_pattern(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("v[1]/p.md", "v1/p.md", r"w\x.md", "w/x.md"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("A text.\n")
    run("add", ".")
    assert dry_run(r"w\x.md") == [r"w\x.md"]

    monkeypatch.chdir(home / "v[1]")

    assert dry_run("p*") == dry_run("./p*") == ["v[1]/p.md"]


def test_paths_precede_ids(home: Path) -> None:
    doc_id = run("get", "top.md")["found"]["doc"]["id"]
    assert dry_run(doc_id[:8]) == ["top.md"]
    (home / doc_id[:8]).mkdir()
    (home / doc_id[:8] / "n.md").write_text("A text.\n")
    run("add", ".")

    assert dry_run(doc_id[:8]) == [f"{doc_id[:8]}/n.md"]


def test_composed_name_removes_a_root_with_decomposed_name(home: Path) -> None:
    folder = home / unicodedata.normalize("NFD", "café")
    folder.mkdir()
    (folder / "n.md").write_text("A text.\n")
    run("add", str(folder))

    assert run("rm", "café")["ok"]

    assert [root for root in run("stats")["store"]["roots"] if root.startswith("caf")] == []


def test_removal_lists_documents_and_their_roots(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "old")
    monkeypatch.chdir(home / "old")
    with Recall.open() as recall:
        assert find_removal(recall.store, ["."], base=recall.engine.base) == (
            ("old/a.md", "old/old/c.md"),
            ("old",),
            (),
        )
        assert find_removal(recall.store, ["./*.md"], base=recall.engine.base) == (("old/a.md",), (), ())
        with pytest.raises(UsageError):
            find_removal(recall.store, ["old"], base=recall.engine.base)


def test_impossible_file_name_matches_nothing(home: Path) -> None:
    for target in ["a\0b", "/a\0b", "a\0b/c", "./" + "a" * 5000, "~nobody", "/", ".."]:
        with Recall.open(start=home) as recall, pytest.raises(RecallError) as caught:
            recall.get(target)

        assert caught.value.code == "unknown_target", target


def test_anchored_name_has_one_reading(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "new")

    assert [reading.names for reading in targets.readings("x.md", base=home)] == [("new/x.md",), ("x.md",)]
    for target in ("./x.md", "../x.md", ".", "..", str(home / "x.md")):
        assert len(targets.readings(target, base=home)) == 1
    assert [reading.names for reading in targets.readings("x.md", base=home, start=home)] == [("x.md",)]


def test_fixture_file_means_the_same_from_every_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = home / "fixtures.jsonl"
    fixture.write_text('{"id": "t", "query": "text", "gold": "top.md", "must_contain": ["home/top"]}\n')
    monkeypatch.chdir(home / "new")
    with Recall.open() as recall:
        for _ in recall.add([str(home / "top.md")], Root("")):
            pass
        checked = recall.check_fixtures(fixture)["fixtures"]["results"][0]

    assert (checked["forced"], checked["gold_hit"]) == (True, True), checked


def test_ambiguous_id_prefix_names_neither(tmp_path: Path) -> None:
    store = memory_store()
    put(store, new_file("1671.md", ["x"]), new_file("2729.md", ["x"]))
    both, shared = sorted(str(store.document_at(path)) for path in ("1671.md", "2729.md")), "8f3016"
    assert all(full.startswith(shared) for full in both)

    for name in (targets.by_id, lambda store, target: targets.one(store, target, base=tmp_path)):
        with pytest.raises(UsageError) as caught:
            name(store, shared)
        assert caught.value.code == "ambiguous_id"
        assert str(caught.value) == f"{shared} could be any of {both[0][:12]}, {both[1][:12]}."
    assert [targets.by_id(store, full[:12]) for full in both] == [("doc", full) for full in both]


def test_symlink_keeps_its_name_in_a_resolved_folder(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "link.md").symlink_to("top.md")
    (tmp_path / "way").symlink_to("old")
    known = {
        name: targets.readings(str(tmp_path / name), base=tmp_path)[0].names
        for name in ("link.md", "way/a.md", "way/..")
    }

    assert known == {"link.md": ("link.md",), "way/a.md": ("way/a.md", "old/a.md"), "way/..": (".",)}


def test_quoted_target_is_reported_as_a_text() -> None:
    for target, how, words in [('"a"', "with the text", "a"), ('""', "named", '""'), ("a", "named", "a")]:
        error = targets.unknown(target)

        assert str(error) == f"The store contains nothing {how} {target}.", target
        assert error.hint == Hint("search", words), target
