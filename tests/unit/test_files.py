"""Queries in files and in an external editor."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recall_core.errors import UsageError
from recall_tui.files import MOST_BYTES, edit, edit_at, editor, holds, load, place, save


def test_saved_query_loads_unchanged_with_one_final_line_break(tmp_path: Path) -> None:
    file = tmp_path / "q.rql"

    save(file, "SELECT *\nFROM chunk -- café\n\n")

    assert file.read_text(encoding="utf-8") == "SELECT *\nFROM chunk -- café\n"
    assert load(file) == "SELECT *\nFROM chunk -- café"
    assert holds(file, "SELECT *\nFROM chunk -- café")
    assert not holds(file, "SELECT *")


def test_saving_keeps_the_mode_and_link_of_a_file(tmp_path: Path) -> None:
    file, link = tmp_path / "q.rql", tmp_path / "link.rql"
    file.write_text("old\n", encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)

    save(link, "new")

    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("new\n", 0o640)
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.rql", "q.rql"]


def test_saving_replaces_no_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "q.rql"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="Not a regular file"):
        save(pipe, "new")

    assert pipe.is_fifo()


def test_name_without_a_suffix_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/you")

    assert place("~/q") == Path("/home/you/q.rql")
    assert place("q.txt") == Path("q.txt")


def test_folder_name_gets_no_suffix() -> None:
    for typed in ["/", ".", "..", ""]:
        assert place(typed).is_dir(), typed

        with pytest.raises(IsADirectoryError):
            holds(place(typed), "text")
        with pytest.raises(IsADirectoryError):
            load(place(typed))


def test_foreign_line_breaks_and_boms_are_read(tmp_path: Path) -> None:
    file = tmp_path / "q.rql"
    file.write_bytes(b"\xef\xbb\xbfSELECT *\r\nFROM chunk\r\n")

    assert load(file) == "SELECT *\nFROM chunk"


def test_non_text_file_is_refused(tmp_path: Path) -> None:
    binary, large = tmp_path / "a.rql", tmp_path / "b.rql"
    binary.write_bytes(b"caf\xe9")
    large.write_bytes(b"x" * (MOST_BYTES + 1))

    with pytest.raises(UsageError, match="not UTF-8"):
        load(binary)
    with pytest.raises(UsageError, match="larger"):
        load(large)


def script(folder: Path, body: str) -> str:
    file = folder / "my editor"
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_text_is_returned_as_the_editor_leaves_it(tmp_path: Path) -> None:
    command = [script(tmp_path, 'case "$1" in *.rql) echo " -- more" >> "$1";; esac')]

    assert edit("SELECT *", command) == "SELECT *\n -- more"


def test_failing_editor_changes_nothing(tmp_path: Path) -> None:
    command = [script(tmp_path, 'echo lost > "$1"; exit 3')]

    with pytest.raises(UsageError, match="ended with code 3"):
        edit("SELECT *", command)


def test_visual_precedes_editor_and_both_accept_arguments(tmp_path: Path) -> None:
    program = script(tmp_path, "")
    path = os.environ["PATH"]

    assert editor({"VISUAL": f"'{program}' -w", "EDITOR": "nothing", "PATH": path}) == [program, "-w"]
    assert editor({"EDITOR": f"'{program}'", "PATH": path}) == [program]


def test_own_setting_precedes_visual(tmp_path: Path) -> None:
    program = script(tmp_path, "")
    (tmp_path / "recall").mkdir()
    (tmp_path / "recall" / "config.toml").write_text(f"editor = \"'{program}' -w\"\n", encoding="utf-8")
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "VISUAL": "nothing", "PATH": os.environ["PATH"]}

    assert editor(environ) == [program, "-w"]
    with pytest.raises(UsageError, match="no editor 'nowhere'") as raised:
        editor({**environ, "RECALL_EDITOR": "nowhere"})
    assert raised.value.hint == "recall config set editor nano"


def test_known_editor_receives_the_line(tmp_path: Path) -> None:
    for name, words in [
        ("nvim", "+12 {}"),
        ("nano", "+12 {}"),
        ("emacs", "+12 {}"),
        ("code", "-g {}:12"),
        ("hx", "{}:12"),
        ("fnord", "{}"),
    ]:
        command = tmp_path / name
        command.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\n')
        command.chmod(0o700)

        edit_at(tmp_path / "a.md", 12, [str(command)])

        assert (tmp_path / "words").read_text() == words.format(tmp_path / "a.md") + "\n", name


def test_missing_editor_is_named() -> None:
    for written in ["no-such-editor -w", "'unclosed", " "]:
        with pytest.raises(UsageError, match="ditor") as raised:
            editor({"EDITOR": written, "PATH": "/nowhere"})

        assert raised.value.hint == "export EDITOR=nano", written


@pytest.mark.parametrize("made", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_special_file_is_neither_loaded_nor_compared(tmp_path: Path, made: Callable[[Path], None]) -> None:
    made(tmp_path / "q.rql")

    for read in (load, lambda path: holds(path, "SELECT *")):
        with pytest.raises(OSError, match="Not a regular file"):
            read(tmp_path / "q.rql")
