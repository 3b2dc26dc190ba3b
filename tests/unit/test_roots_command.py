"""`recall roots`: added folders are listed by number, edited and forgotten; and the result of `add` on a folder."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.types import Root

RELATIVE = "which is relative to it"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of texts with a store of its Markdown files."""
    template = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir()
    for name in ("a.md", "b.md", "c.txt"):
        (template / "docs" / name).write_text(f"words of {name}\n")
    (template / "top.md").write_text("words on top\n")
    with contextlib.chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", "docs", "--glob", "*.md")[0] == 0
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def ask(*argv: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(*argv, "--json")[1])
    return answer


def documents() -> list[str]:
    return [line.split()[0] for line in run("query", "SELECT doc.path FROM doc ORDER BY doc.path")[1].splitlines()]


def test_root_is_listed_with_its_flags(home: Path) -> None:
    labels = ("--tag", "my guide", "--source", "wiki", "--meta", "ok=true")
    run("add", "docs", "--ignore", "b.*", *labels, "--no-gitignore")
    run("add", "top.md", "--parser", "text")
    run("rm", "docs/b.md")

    code, out, err = run("roots")

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "  1  docs *.md  1 document",
        "     excluded  docs/b.md",
        "  2  docs not b.*  1 document",
        "     --tag 'my guide' --source wiki --meta ok=true --no-gitignore",
        "  3  top.md  1 document",
        "     --parser text",
    ]


def test_store_without_roots_shows_how_to_add_one(home: Path) -> None:
    run("roots", "forget", "1", "--rm")

    assert run("roots") == (0, "", "no roots yet; next: recall add DIR\n")


def test_edit_reports_changes_and_next_sync_applies_them(home: Path) -> None:
    code, out, err = run("roots", "edit", "1", "--glob", "*.txt", "--tag", "new")

    assert (code, out) == (0, "  1  docs\n     glob  *.md -> *.txt\n     tag  none -> new\n")
    assert err == "next: recall sync applies this to 2 files in the store and new files\n"
    assert documents() == ["docs/a.md", "docs/b.md"]
    assert run("sync")[1].startswith("files: 1 added, 0 updated, 0 unchanged, 2 removed")
    assert documents() == ["docs/c.txt"]
    assert ask("roots")["roots"][0]["tags"] == ["new"]


def test_edit_with_sync_is_applied_at_once(home: Path) -> None:
    answer = ask("roots", "edit", "1", "--glob", "", "--source", "wiki", "--sync")

    assert list(answer) == ["ok", "schema_version", "roots", "edited", "ingest", "warnings"]
    assert answer["edited"] == {
        "number": 1,
        "folder": "docs",
        "active": True,
        "changes": [
            {"field": "globs", "before": ["*.md"], "after": []},
            {"field": "source", "before": None, "after": "wiki"},
        ],
        "files": 2,
    }
    assert (answer["ingest"]["added"], answer["ingest"]["updated"]) == (1, 2)
    assert answer["roots"][0]["documents"] == 3
    assert ask("roots", "edit", "1", "--source", "")["edited"]["changes"] == [
        {"field": "source", "before": "wiki", "after": None}
    ]


def test_edited_labels_need_no_new_chunk_or_vector(home: Path) -> None:
    with Recall.open(str(home)) as recall:
        before = recall.store.in_order()
        recall.roots(edit=1, changes={"tags": ("new",), "meta": (("year", 2024),)})
        *_, done = recall.sync()

        assert (done.updated, done.embedded) == (2, 0)
        assert list(recall.store.in_order()) == list(before)
        assert recall.search("words", filter="doc.tag = 'new' AND doc.meta.year = 2024")["stats"]["total_hits"] == 2


def test_edit_removes_root_keys_but_not_record_keys(home: Path) -> None:
    (home / "r.jsonl").write_text('{"id": "1", "text": "words", "own": 1}\n')
    with Recall.open(str(home)) as recall:
        recall.index("r.jsonl", template=Root("", parser="jsonl", meta=(("year", 2024),)))
        recall.roots(edit=2, changes={"meta": ()})
        list(recall.sync())

        assert recall.get("r.jsonl#1")["found"]["doc"]["meta"] == {"own": 1}


def test_edited_root_keeps_its_number_and_no_change_writes_nothing(home: Path) -> None:
    run("add", "top.md")
    run("roots", "edit", "1", "--hidden")
    before = ask("stats")["store"]["generation"]

    assert run("roots", "edit", "1", "--hidden")[1:] == ("  1  docs  unchanged\n", "")
    assert [root["folder"] for root in ask("roots")["roots"]] == ["docs", "top.md"]
    assert ask("stats")["store"]["generation"] == before


def test_temporarily_unreadable_files_stay(home: Path) -> None:
    run("roots", "edit", "1", "--tag", "new")
    (home / "docs" / "a.md").unlink()
    (home / "docs" / "a.md").symlink_to("nowhere.md")
    (home / "docs" / "b.md").write_text("x" * 200)
    toml = home / "recall.toml"
    toml.write_text(toml.read_text().replace("max_file_bytes = 67108864", "max_file_bytes = 100"))

    assert "0 removed, 2 skipped" in run("sync")[1]

    assert documents() == ["docs/a.md", "docs/b.md"]


def test_files_behind_a_link_go_when_links_are_not_followed(home: Path) -> None:
    (home.parent / "elsewhere").mkdir(exist_ok=True)
    (home.parent / "elsewhere" / "e.md").write_text("words of e\n")
    (home / "docs" / "way").symlink_to(home.parent / "elsewhere")
    (home / "docs" / "f.md").symlink_to(home.parent / "elsewhere" / "e.md")
    run("roots", "edit", "1", "--follow", "--glob", "**/*.md", "--sync")
    assert documents() == ["docs/a.md", "docs/b.md", "docs/f.md", "docs/way/e.md"]

    run("roots", "edit", "1", "--no-follow", "--sync")

    assert documents() == ["docs/a.md", "docs/b.md"]


def test_unreadable_content_does_not_remove_a_file(home: Path) -> None:
    run("roots", "edit", "1", "--tag", "new")
    (home / "docs" / "a.md").write_bytes(b"\0\1")

    code, out, err = run("sync")

    assert (code, documents()) == (0, ["docs/a.md", "docs/b.md"])
    assert "1 updated, 0 unchanged, 0 removed, 1 skipped" in out
    assert err.startswith("skipped docs/a.md: is a binary file")


def test_files_of_another_root_stay_after_an_edit(home: Path) -> None:
    run("add", "docs/b.md")

    run("roots", "edit", "1", "--glob", "*.txt", "--sync")

    assert documents() == ["docs/b.md", "docs/c.txt"]


def test_pending_root_can_be_edited_and_stays_pending(home: Path) -> None:
    with Recall.open(str(home)) as recall, recall.store.writer() as writer:
        writer.put_root(Root("/elsewhere"), is_active=False)

    assert run("roots", "edit", "2", "--tag", "a")[2] == "not synced yet: recall roots accept 2, then recall sync\n"
    assert [root["active"] for root in ask("roots")["roots"]] == [True, False]


def test_forgotten_root_leaves_its_documents_even_after_sync(home: Path) -> None:
    code, out, _ = run("roots", "forget", "1")

    assert code == 0
    assert out.splitlines() == [
        "  1  docs  forgotten",
        "     2 documents of it stay in the store (recall rm docs removes all documents there)",
    ]
    (home / "docs" / "a.md").unlink()
    assert run("sync")[1].startswith("files: 0 added, 0 updated, 0 unchanged, 0 removed")
    assert documents() == ["docs/a.md", "docs/b.md"]


def test_forget_rm_keeps_documents_of_other_roots(home: Path) -> None:
    run("add", "docs/b.md")

    answer = ask("roots", "forget", "1", "--rm")

    assert [root["number"] for root in answer["roots"]] == [1]
    assert answer["forgotten"]["roots"][0]["globs"] == ["*.md"]
    assert [answer["forgotten"][key] for key in ("documents", "paths", "kept")] == [1, ["docs/a.md"], 1]
    assert documents() == ["docs/b.md"]
    assert run("roots", "forget", "1", "--rm")[1] == "  1  docs/b.md  forgotten\n     removed 1 document\n"
    assert documents() == []


def test_several_roots_are_forgotten_by_their_listed_numbers(home: Path) -> None:
    run("add", "top.md")
    run("add", "docs", "--tag", "x")

    answer = ask("roots", "forget", "3", "1")

    assert [root["number"] for root in answer["forgotten"]["roots"]] == [1, 3]
    assert [(root["number"], root["folder"]) for root in answer["roots"]] == [(1, "top.md")]


def test_unknown_root_number_lists_the_existing_numbers(home: Path) -> None:
    for action in ["edit", "forget", "accept"]:
        run("add", "top.md")
        flags = ["--tag", "x"] if action == "edit" else []

        code, _, err = run("roots", action, "3", *flags)

        assert code == 8, action
        assert err == "error: No root has the number 3: there are 1 docs, 2 top.md.\nhint: recall roots\n", action
        assert ask("roots", action, "0", *flags)["error"]["code"] == "unknown_target", action


def test_only_the_first_of_many_roots_are_listed(home: Path) -> None:
    with Recall.open(str(home)) as recall, recall.store.writer() as writer:
        for number in range(9):
            writer.put_root(Root(f"f{number}"))

    assert "there are 1 docs, 2 f0, 3 f1, 4 f2, 5 f3, 5 more." in run("roots", "forget", "11")[2]


def test_refused_change_to_a_root_changes_nothing(home: Path) -> None:
    for words, code, status in [
        (("edit",), "missing_argument", 2),
        (("forget",), "missing_argument", 2),
        (("edit", "1"), "missing_argument", 2),
        (("edit", "1", "2", "--tag", "x"), "unexpected_argument", 2),
        (("edit", "docs", "--tag", "x"), "bad_value", 2),
        (("edit", "1", "--hidden", "--no-hidden"), "conflicting_flags", 2),
        (("edit", "1", "--tag", "x", "--rm"), "conflicting_flags", 2),
        (("edit", "1", "--parser", "dcx"), "unknown_parser", 2),
        (("edit", "1", "--glob", "{a,b}" * 40), "bad_pattern", 2),
        (("edit", "1", "--meta", "a=1", "--meta", "a=2"), "bad_value", 2),
        (("edit", "2", "--glob", "*.md"), "conflicting_flags", 2),
        (("edit", "3", "--glob", "*.md"), "root_exists", 2),
        (("forget", "1", "--tag", "x"), "conflicting_flags", 2),
        (("--sync",), "conflicting_flags", 2),
        (("drop", "1"), "bad_value", 2),
    ]:
        run("add", "top.md")
        run("add", "docs")
        before = ask("roots")["roots"]

        told = run("roots", *words, "--json")

        assert (told[0], json.loads(told[1])["error"]["code"]) == (status, code), words
        assert json.loads(told[1])["error"]["hint"], words
        assert ask("roots")["roots"] == before, words


def test_folder_added_with_other_flags_reports_the_new_root(home: Path) -> None:
    assert "roots" not in ask("add", "docs", "--glob", "*.md")["ingest"]

    err = run("add", "docs", "--tag", "x")[2]

    assert err == "root 2 is new: docs, with rules that differ from root 1 (to change those: recall roots edit 1 …)\n"
    assert ask("add", "docs", "--tag", "y")["ingest"]["roots"] == [
        {"number": 3, "folder": "docs", "change": "made", "others": [1, 2]}
    ]


def test_folder_added_as_before_reports_that_it_is_last_again(home: Path) -> None:
    for tag in "xy":
        run("add", "docs", "--tag", tag)

    err = run("add", "docs", "--tag", "x")[2]

    assert err == "root 3, docs, was added last, so its rules also apply to files of roots 1, 2\n"
    assert [root["tags"] for root in ask("roots")["roots"]] == [[], ["y"], ["x"]]
    assert run("add", "docs", "--tag", "x")[2] == ""


def test_pending_root_added_by_name_is_reported(home: Path) -> None:
    with Recall.open(str(home)) as recall, recall.store.writer() as writer:
        writer.put_root(Root("top.md"), is_active=False)

    assert run("add", "top.md")[2] == "root 2, top.md, is synced from now on\n"


def test_empty_add_explains_why_and_suggests_a_fix(home: Path) -> None:
    for number, (files, flags, why, way) in enumerate([
        (["sub/a.md"], ["--glob", "*.md"], f"no file in new2 matches --glob *.md, {RELATIVE}", "--glob '**/*.md'"),
        (["a.md"], ["--glob", "*.rst"], f"no file in new3 matches --glob *.rst, {RELATIVE}", "--glob ''"),
        (["a.md"], ["--ignore", "*"], "--ignore excludes every file in new4", "--ignore ''"),
        ([".a.md"], [], "every file in new5 is hidden", "--hidden"),
        (["a.log", ".gitignore"], [], "git ignores every file in new6", "--no-gitignore"),
        ([".a.md"], ["--glob", "*.rst"], "several rules together exclude every file in new7",
         "--glob '' --ignore '' --no-gitignore --hidden"),
    ], start=2):  # fmt: skip
        folder = home / f"new{number}"
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("*.log\n" if name == ".gitignore" else "words\n")

        code, _, err = run("add", folder.name, *flags)

        expected = f"warning: W_NOTHING_ADDED: {why}; recall roots edit {number} {way} --sync\n"
        assert (code, err) == (0, expected), why
        assert "1 added" in run(*shlex.split(err.partition("; recall ")[2]))[1] or ".gitignore" in files, why


def test_exclusion_rule_is_reported_before_skipped_files(home: Path) -> None:
    (home / "new").mkdir()
    (home / "new" / "a.md").write_text("words\n")
    (home / "new" / "elsewhere").symlink_to("/")

    told = run("add", "new", "--glob", "*.rst")[2].splitlines()[-1]

    assert told.startswith("warning: W_NOTHING_ADDED: no file in new matches --glob *.rst, which is relative to it; ")


def test_empty_folder_and_store_without_folders_are_reported(home: Path) -> None:
    (home / "new").mkdir()
    assert "W_NOTHING_ADDED: new has no file of a readable type\n" in run("add", "new")[2]

    run("roots", "forget", "1", "2")
    assert "W_NOTHING_ADDED: there is no folder to sync; recall add DIR\n" in run("sync")[2]


def test_fully_skipped_folder_gets_a_suggestion(home: Path) -> None:
    (home / "new").mkdir()
    (home / "new" / "a.txt").write_bytes(b"caf\xe9\n")

    told = run("add", "new")[2].splitlines()[-1]

    assert told == (
        "warning: W_NOTHING_ADDED: the only file that could be read was skipped; "
        "save them as UTF-8, or name their encoding: recall add new --encoding NAME"
    )


def test_suggestion_names_only_the_skipped_files_it_helps(home: Path) -> None:
    (home / "new").mkdir()
    for name in ("a.txt", "b.txt"):
        (home / "new" / name).write_bytes(b"caf\xe9\n")
    (home / "new" / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")

    told = run("add", "new")[2].splitlines()[-1]

    assert told.endswith(
        "each of the 3 files that could be read was skipped; for 2 (not UTF-8): "
        "save them as UTF-8, or name their encoding: recall add new --encoding NAME"
    )
