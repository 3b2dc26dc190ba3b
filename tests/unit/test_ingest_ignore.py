"""Promises of `.gitignore`, each idiom as git reads it. tests/property compares random rules with git."""

import os
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.ingest.discover import Found, walk
from recall_core.ingest.ignore import decided_by, of_folder
from recall_core.types import Root

FILES = (
    "keep.md",
    "x.log",
    "foo",
    "sub/keep.md",
    "sub/x.log",
    "sub/foo/a.md",
    "sub/foo/b.log",
    "sub/deep/foo",
    "sub/deep/keep.md",
)


def read(folder: Path, top: bytes, below: bytes | None = None) -> str:
    """Return the files that a walk finds under a `.gitignore` at the top and one in `sub`."""
    for name in FILES:
        place = folder / name
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("text\n")
    (folder / ".gitignore").write_bytes(top)
    if below is not None:
        (folder / "sub/.gitignore").write_bytes(below)
    return " ".join(step.path for step in walk(Root("."), folder, Config()) if isinstance(step, Found))


def test_allow_list_keeps_its_files(tmp_path: Path) -> None:
    for rules, expected in (
        (b"*\n!*/\n!*.md\n", "keep.md sub/deep/keep.md sub/foo/a.md sub/keep.md"),
        (b"*\n!sub/\n!sub/keep.md\n", "sub/keep.md"),
        (b"/*\n!/sub\n", "sub/deep/foo sub/deep/keep.md sub/foo/a.md sub/foo/b.log sub/keep.md sub/x.log"),
        (b"sub/*\n!sub/foo/\n", "foo keep.md sub/foo/a.md sub/foo/b.log x.log"),
        (b"sub/foo/**\n!sub/foo/b.log\n*.md\nx*\n", "foo sub/deep/foo sub/foo/b.log"),
    ):
        assert read(tmp_path, rules) == expected, rules


def test_excluded_folder_hides_files_from_later_rules(tmp_path: Path) -> None:
    assert read(tmp_path, b"sub/\n!sub/keep.md\n", b"!keep.md\n") == "foo keep.md x.log"
    assert read(tmp_path, b"sub\n!*.md\n") == "foo keep.md x.log"


def test_folder_rule_includes_no_file_below_it(tmp_path: Path) -> None:
    for folders in (b"!*/\n", b"!foo/\n", b"!**/\n"):
        assert read(tmp_path, b"*.log\nkeep.md\n", folders) == "foo sub/deep/foo sub/foo/a.md", folders


def test_lines_are_read_as_git_reads_them(tmp_path: Path) -> None:
    for rules, is_read in (
        (b"\xef\xbb\xbf*.log\n", False),
        (b"*.log  ", False),
        (b"*.log\r\n", False),
        (b"*.log\t\n", True),
        (b"*.log\x0c\n", True),
        (b"a\x0c*.log\n", True),
        (b"a\xe2\x80\xa8*.log\n", True),
        (b"# *.log\n", True),
        (b"*.lo[[:lower:]]\n", False),
        (b"*.lo[[:digit:]]\n", True),
        (b"*.lo[g\n", True),
        (b"*.{log,md}\n", True),
    ):
        assert ("sub/x.log" in read(tmp_path, rules)) is is_read, rules


def test_last_matching_line_decides(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("# all but texts\n*\n!*/\n!*.md\n")
    rules = of_folder(tmp_path)

    said = [
        found[1].line if (found := decided_by(rules, f"{tmp_path}/{name}", is_folder=is_folder)) else None
        for name, is_folder in [("sub", True), ("sub/a.md", False), ("sub/a.log", False)]
    ]

    assert said == [3, 4, 2]


def test_line_that_matches_nothing_is_skipped(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("/\n!\n\n[a\na\\\n[[:nope:]]\n" + "x" * 2_000 + "\n")

    assert of_folder(tmp_path)[0].rules == ()
    assert of_folder(tmp_path / "nowhere") == ()


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder whose global ignore file names logs."""
    home = tmp_path / "home"
    (home / "own/git").mkdir(parents=True)
    (home / "own/git/ignore").write_text("*.log\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "own"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    return home


def test_personal_excludes_apply_to_every_folder(tmp_path: Path, person: Path) -> None:
    assert "x.log" not in read(tmp_path / "plain", b"")
    (tmp_path / "repository/.git").mkdir(parents=True)
    assert "x.log" not in read(tmp_path / "repository", b"")
    assert "sub/x.log" in read(tmp_path / "other", b"!*.log\n")


def test_repository_cannot_set_the_personal_excludes_file(tmp_path: Path, person: Path) -> None:
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("keep.md\n")
    (tmp_path / "repository/.git/config").write_text(f"[core]\n\texcludesFile = {tmp_path}/elsewhere\n")

    assert read(tmp_path / "repository", b"").startswith("foo keep.md sub/deep/foo")


def test_home_settings_come_after_xdg_settings(tmp_path: Path, person: Path) -> None:
    (person / "own/git/config").write_text("[core]\n\texcludesFile = ~/first\n")
    (person / "first").write_text("foo\n")
    assert "foo" not in read(tmp_path / "one", b"").split()
    (person / ".gitconfig").write_text(f'[core] excludesfile = "{person}/second" ; mine\n')
    (person / "second").write_text("keep.md\n")

    assert "keep.md" not in read(tmp_path / "two", b"")
    assert "foo" in read(tmp_path / "two", b"").split()


def test_nested_repositories_keep_their_own_rules(tmp_path: Path) -> None:
    for top in ("", "sub"):
        (tmp_path / top / ".git/info").mkdir(parents=True)
    (tmp_path / ".git/info/exclude").write_text("*.log\n")
    (tmp_path / "sub/.git/info/exclude").write_text("/keep.md\n")

    assert read(tmp_path, b"") == "foo keep.md sub/deep/foo sub/deep/keep.md sub/foo/a.md"


def test_rules_linked_from_outside_the_repository_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere/info").mkdir(parents=True)
    (tmp_path / "elsewhere/info/exclude").write_text("keep.md\n")
    whole = "foo keep.md sub/deep/foo sub/deep/keep.md sub/foo/a.md sub/foo/b.log sub/keep.md sub/x.log x.log"
    for name, kind in (("a", "link"), ("b", "file"), ("c", "inner")):
        (tmp_path / name).mkdir()
        if kind == "link":
            (tmp_path / name / ".git").symlink_to(tmp_path / "elsewhere")
        elif kind == "file":
            (tmp_path / name / ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")
        else:
            (tmp_path / name / ".git").mkdir()
            (tmp_path / name / ".git/info").symlink_to(tmp_path / "elsewhere/info")

        assert read(tmp_path / name, b"") == whole


def test_pipe_in_place_of_rules_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "sub/.gitignore")

    assert "sub/keep.md" in read(tmp_path, b"*.log\n")
