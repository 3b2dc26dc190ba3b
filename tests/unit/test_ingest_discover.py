"""Promises of discovery, on real folders."""

import os
import socket
import unicodedata
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.ingest.discover import Found, covers, find_one, single, walk
from recall_core.paths import os_path_of, path_of
from recall_core.types import Root, Skip
from tests.builders import without_privileges


def make(folder: Path, *files: str) -> None:
    for name in files:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"text of {name}\n")


EVERYTHING = Root(".")


def list_files(base: Path, root: Root = EVERYTHING, **settings: int | str) -> tuple[list[str], dict[str, str]]:
    """Return the found paths, and the skipped paths with their codes."""
    steps = list(walk(root, base, Config()._replace(**settings)))
    found = [step.path for step in steps if isinstance(step, Found)]
    return found, {step.path: step.code for step in steps if isinstance(step, Skip)}


def test_files_come_in_code_point_order_of_their_paths(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a.md", "a-b/c.md", "B.md", "é.md")

    found, skipped = list_files(tmp_path)

    assert found == sorted(["b.md", "a/z.md", "a.md", "a-b/c.md", "B.md", "é.md"])
    assert skipped == {}


def test_found_file_has_its_size_and_time(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md")
    status = (tmp_path / "docs/a.md").stat()

    (found,) = walk(Root("docs"), tmp_path, Config())

    assert found == Found("docs/a.md", "docs/a.md", status.st_size, status.st_mtime_ns)


def test_folder_outside_the_store_is_named_absolutely(tmp_path: Path) -> None:
    make(tmp_path, "elsewhere/a.md")
    store = tmp_path / "store"
    store.mkdir()

    found, _ = list_files(store, Root(str(tmp_path / "elsewhere")))

    assert found == [str(tmp_path / "elsewhere/a.md")]


def test_hidden_and_built_in_folders_are_not_mentioned(tmp_path: Path) -> None:
    make(tmp_path, ".env", ".config/a", ".git/config", "node_modules/a.js", "src/__pycache__/a.pyc", "recall.db")
    make(tmp_path, "venv/pyvenv.cfg", "venv/a.py", "recall.db-wal", "recall.db-shm", "recall.toml", "recall.db.bak-1")
    make(tmp_path, "a.md")

    assert list_files(tmp_path) == (["a.md"], {})


def test_hidden_option_reads_dotfiles_but_never_a_repository(tmp_path: Path) -> None:
    make(tmp_path, ".env", ".git/config", "a.md", ".recall-mine", ".recall-0123456789abcdef")

    assert list_files(tmp_path, Root(".", hidden=True))[0] == [".env", ".recall-mine", "a.md"]


def test_named_folder_is_walked_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, ".hidden/a.md")

    assert list_files(tmp_path, Root(".hidden"))[0] == [".hidden/a.md"]


def test_globs_are_relative_and_any_match_is_enough(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md", "docs/deep/b.md", "docs/deep/c.txt", "docs/d.py")

    assert list_files(tmp_path, Root("docs", globs=("**/*.txt", "*.py")))[0] == ["docs/d.py", "docs/deep/c.txt"]


def test_glob_matches_a_name_in_another_unicode_form(tmp_path: Path) -> None:
    make(tmp_path, "caf\u00e9/a.md", "b.md")

    assert list_files(tmp_path, Root(".", globs=("cafe\u0301/*.md",)))[0] == ["caf\u00e9/a.md"]
    assert list_files(tmp_path, Root(".", ignores=("cafe\u0301",)))[0] == ["b.md"]


def test_ignore_excludes_files_and_whole_folders(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "drafts/b.md", "deep/drafts/c.md", "a.log")

    assert list_files(tmp_path, Root(".", ignores=("drafts", "*.log")))[0] == ["a.md", "deep/drafts/c.md"]


def test_gitignore_files_apply_where_they_are(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.md", "build/c.md", "deep/keep.log", "deep/d.log", "deep/top.md", "top.md")
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n/top.md\n!\n[z-a]\n")
    (tmp_path / "deep/.gitignore").write_text("!keep.log\n")

    assert list_files(tmp_path)[0] == ["b.md", "deep/keep.log", "deep/top.md"]
    assert len(list_files(tmp_path, Root(".", gitignore=False))[0]) == 7


def test_gitignore_of_the_enclosing_repository_applies(tmp_path: Path) -> None:
    make(tmp_path, ".git/config", "docs/a.md", "docs/a.log", "docs/out/b.md")
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")

    assert list_files(tmp_path, Root("docs"))[0] == ["docs/a.md"]
    assert list_files(tmp_path, Root("docs/out"))[0] == ["docs/out/b.md"]


def test_gitignore_above_outside_any_repository_does_not_apply(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md")
    (tmp_path / ".gitignore").write_text("*.md\n")

    assert list_files(tmp_path, Root("docs"))[0] == ["docs/a.md"]


def test_file_above_the_size_limit_is_skipped(tmp_path: Path) -> None:
    make(tmp_path, "a.md")

    assert list_files(tmp_path, max_file_bytes=3) == ([], {"a.md": "file_too_large"})


def test_link_that_vanishes_during_the_walk_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md")
    (tmp_path / "b.md").symlink_to("a.md")
    readlink = os.readlink

    def gone(path: str) -> str:
        if os.path.basename(path) == "b.md":  # noqa: PTH119 - the argument is a string
            os.unlink(path)  # noqa: PTH108 - as above
            raise FileNotFoundError(2, "No such file or directory", path)
        return readlink(path)

    monkeypatch.setattr(os, "readlink", gone)

    assert list_files(tmp_path) == (["a.md"], {"b.md": "unreadable"})


def test_link_out_of_the_folder_is_skipped_unless_followed(tmp_path: Path) -> None:
    make(tmp_path, "in/a.md", "out/b.md", "c.md")
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")
    (tmp_path / "in/file.md").symlink_to(tmp_path / "c.md")

    assert list_files(tmp_path, Root("in")) == (
        ["in/a.md"],
        {"in/file.md": "symlink_outside", "in/folder": "symlink_outside"},
    )
    reasons = [step.reason for step in walk(Root("in"), tmp_path, Config()) if isinstance(step, Skip)]
    assert reasons[0] == f"the link points outside the folder, to {tmp_path.resolve() / 'c.md'} (--follow reads it)"
    assert list_files(tmp_path, Root("in", follow=True)) == (["in/a.md", "in/file.md", "in/folder/b.md"], {})


@pytest.mark.parametrize("follow", [False, True])
def test_link_cycles_end(tmp_path: Path, follow: bool) -> None:
    make(tmp_path, "in/a.md", "out/b.md")
    (tmp_path / "in/up").symlink_to("..")
    (tmp_path / "in/self").symlink_to("self")
    (tmp_path / "in/out").symlink_to("../out")
    (tmp_path / "out/back").symlink_to("../in")
    (tmp_path / "out/here").symlink_to(".")

    found, skipped = list_files(tmp_path, Root("in", follow=follow))

    assert found == (["in/a.md", "in/out/b.md"] if follow else ["in/a.md"])
    assert skipped["in/up"] == skipped["in/self"] == "symlink_loop"


def test_link_to_a_walked_folder_is_not_walked_twice(tmp_path: Path) -> None:
    make(tmp_path, "a/x.md")
    (tmp_path / "b").symlink_to("a")

    assert list_files(tmp_path, Root(".", follow=True)) == (["a/x.md"], {"b": "symlink_inside"})


def test_two_links_to_one_folder_are_followed_once(tmp_path: Path) -> None:
    make(tmp_path, "in/a.md", "out/b.md")
    (tmp_path / "in/one").symlink_to("../out")
    (tmp_path / "in/two").symlink_to("../out")

    assert list_files(tmp_path, Root("in", follow=True)) == (["in/a.md", "in/one/b.md"], {"in/two": "symlink_inside"})


def test_bare_repository_is_skipped_but_similar_folder_is_not(tmp_path: Path) -> None:
    make(tmp_path, "p.git/HEAD", "p.git/config", "p.git/objects/ab/cd", "p.git/refs/heads/main")
    make(tmp_path, "q/HEAD", "q/refs/a.md", "a.md")

    assert list_files(tmp_path) == (["a.md", "q/HEAD", "q/refs/a.md"], {})
    assert list_files(tmp_path, Root("p.git"))[0][:2] == ["p.git/HEAD", "p.git/config"]


def test_broken_link_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to("nowhere.md")

    assert list_files(tmp_path) == ([], {"a.md": "broken_link"})
    (skip,) = walk(EVERYTHING, tmp_path, Config())
    assert isinstance(skip, Skip)
    assert skip.reason == "the link points to nowhere.md, which does not exist"


def test_skipped_entries_of_a_folder_come_in_code_point_order(tmp_path: Path) -> None:
    for name in ("c", "B", "é", "a"):
        (tmp_path / name).symlink_to(name)

    assert [step.path for step in walk(EVERYTHING, tmp_path, Config())] == ["B", "a", "c", "é"]


def test_find_one_and_walk_agree_on_a_file(tmp_path: Path) -> None:
    make(tmp_path, "in/b.md")
    (tmp_path / "in/a.md").symlink_to("a.md")

    for step in walk(EVERYTHING, tmp_path, Config()):
        assert find_one(EVERYTHING, tmp_path, Config(), step.path) == step
    assert find_one(EVERYTHING, tmp_path, Config(), "in/c.md") is None


def test_missing_file_added_by_name_is_skipped(tmp_path: Path) -> None:
    assert single(Root("a.md"), tmp_path) == Skip("a.md", "unreadable", "cannot be read: No such file or directory")


def test_self_link_is_skipped_only_where_its_name_matches(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt"):
        (tmp_path / name).symlink_to(name)

    assert list_files(tmp_path, Root(".", globs=("*.md",))) == ([], {"a.md": "symlink_loop"})


def test_special_file_is_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))

        assert list_files(tmp_path) == ([], {"pipe": "not_a_file", "socket": "not_a_file"})


def test_name_that_is_not_utf8_is_skipped_and_shown_escaped(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x")
    except OSError:
        pytest.skip("the file system refuses the name")

    assert list_files(tmp_path) == ([], {"caf\\xe9.md": "bad_name"})


def test_decomposed_name_is_found_composed_and_opened_as_on_disk(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "café.md")
    make(tmp_path, name)

    (found,) = walk(Root("."), tmp_path, Config())

    assert isinstance(found, Found)
    assert found.path == "café.md"
    assert (tmp_path / found.os_path).read_text()


def test_folder_that_vanishes_during_the_walk_is_skipped(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "later/b.md")
    steps = walk(Root("."), tmp_path, Config())
    next(steps)
    (tmp_path / "later/b.md").unlink()
    (tmp_path / "later").rmdir()

    assert [step.code for step in steps if isinstance(step, Skip)] == ["unreadable"]


def test_unreadable_folder_is_skipped(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "closed/b.md")
    (tmp_path / "closed").chmod(0)

    with without_privileges(tmp_path):
        assert list_files(tmp_path) == (["a.md"], {"closed": "unreadable"})


def test_root_covers_its_folder_and_globs() -> None:
    for root, path, expected in [
        (Root("."), "a.md", True),
        (Root("."), "/abs/a.md", False),
        (Root("docs"), "docs/a.md", True),
        (Root("docs"), "docs2/a.md", False),
        (Root("docs", globs=("*.md",)), "docs/deep/a.md", False),
        (Root("docs", ignores=("*.md",)), "docs/a.md", False),
        (Root("/abs"), "/abs/a.md", True),
    ]:
        assert covers(root, path) is expected, (root, path, expected)


def test_path_below_the_store_is_relative_and_others_absolute(tmp_path: Path) -> None:
    make(tmp_path, "store/docs/a.md", "other/b.md")
    (tmp_path / "alias").symlink_to("store")
    (tmp_path / "store/link").symlink_to("../other")
    (tmp_path / "to_docs").symlink_to("store/docs")
    (tmp_path / "to_a.md").symlink_to("store/docs/a.md")
    base = tmp_path / "store"

    assert path_of(base / "docs/../docs/a.md", base) == "docs/a.md"
    assert path_of(tmp_path / "alias/docs/a.md", base) == "docs/a.md"
    assert path_of(base / "link/b.md", base) == "link/b.md"
    assert path_of(tmp_path / "alias/link", base) == "link"
    assert path_of(tmp_path / "to_docs", base) == str(tmp_path / "to_docs")
    assert os_path_of(tmp_path / "to_docs", base, is_added=True) == "docs"
    assert path_of(tmp_path / "to_docs/a.md", base) == "docs/a.md"
    assert path_of(tmp_path / "to_a.md", base) == str(tmp_path / "to_a.md")
    assert path_of(tmp_path / "other/b.md", base) == str(tmp_path / "other/b.md")
