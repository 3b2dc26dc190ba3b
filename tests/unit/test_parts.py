"""A killed command leaves no copy of a store: the next writer removes the unfinished copy, wherever it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from time import time

import pytest

from recall_core import Recall, files
from tests.builders import letters, pieces_left


@pytest.fixture
def base(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "docs").mkdir(parents=True)
    (home / "docs" / "a.md").write_text("A quokka smiles.\n")
    Recall.init(str(home))
    with Recall.open(str(home)) as recall:
        recall.index(str(home / "docs"))
    return home


@pytest.fixture(scope="module")
def dead_pid() -> int:
    """Return the id of an ended process."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def part(folder: Path, *, text: str = "the whole store", age_s: float = 0, **fields: str) -> Path:
    """Make a copy as named by a process with these fields; without fields, by this process."""
    match = re.fullmatch(r"\.recall-(\w+)-(\w+)-(\w+)-(\d+)-(\d+)-(\w+)", files.part_of(folder / "x").name)
    assert match
    names = ("machine", "boot", "space", "pid", "start", "random")
    own = dict(zip(names, match.groups(), strict=True)) | fields
    path = folder / f".recall-{'-'.join(own.values())}"
    return written(path, text, age_s)


def written(path: Path, text: str, age_s: float) -> Path:
    path.write_text(text)
    os.utime(path, (time() - age_s, time() - age_s))
    return path


def test_copy_is_abandoned_if_its_process_is_known_dead(tmp_path: Path, dead_pid: int) -> None:
    other, old = "1234abcd", 90_000.0
    has_machine = "-00000000-" not in part(tmp_path, boot=other, space=other).name
    cases = {
        "living": [{}, {"start": "0"}],
        "dead": [{"pid": str(dead_pid)}, {"start": "1"}, *([{"boot": other}] if has_machine else [])],
        "unknown": [
            *({"boot": other, "machine": other}, {"space": other}, {"boot": "0" * 8}),
            *({"boot": other, "machine": "0" * 8}, {"machine": other, "boot": other, "pid": str(dead_pid)}),
        ],
    }
    for number, (state, fields) in enumerate((state, fields) for state, named in cases.items() for fields in named):
        folder = tmp_path / str(number)
        folder.mkdir()
        new, old_one = part(folder, **fields), part(folder, age_s=old, **fields)
        assert [each.state for each in files.find(folder)] == [state] * 2, fields
        assert len(files.remove(folder)) == (0 if state == "dead" else 2), fields
        remaining = {each.path for each in files.remove(folder, is_thorough=True)}
        assert remaining == {"living": {new, old_one}, "unknown": {new}, "dead": set()}[state], fields
        assert {*folder.iterdir()} == remaining, fields


def test_old_style_names_are_removed_after_a_day_if_unlocked(tmp_path: Path) -> None:
    name = ".recall-0123456789abcdef"
    for each in (name, f"{name}-wal", ".recall-mine", f"{name}0"):
        written(tmp_path / each, "text", 90_000)
    locked = written(tmp_path / ".recall-00000000deadbeef", "text", 90_000)
    script = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"
    )
    command = [sys.executable, "-c", script, str(locked)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        assert [each.path for each in files.remove(tmp_path, is_thorough=True)] == [locked]
        holder.communicate(b"\n")
    assert files.remove(tmp_path, is_thorough=True) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}0", ".recall-mine"]


def test_zombie_writes_nothing(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("reads the process state from /proc")
    with subprocess.Popen([sys.executable, "-c", "print(flush=True)"], stdout=subprocess.PIPE) as child:
        path = part(tmp_path, pid=str(child.pid), start="0")
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert [each.state for each in files.find(tmp_path)] == ["dead"]
    assert path.exists()


def test_every_writer_removes_copies_of_killed_commands(base: Path, dead_pid: int) -> None:
    secret = letters("left")
    target = base / "docs" / "a.md"
    for kind in ("add", "judge", "purge", "compact", "fix", "backup"):
        left = part(base, text=secret, pid=str(dead_pid))
        scratch = Path(f"{left.parent / left.name[:-8]}00000000")
        scratch.mkdir()
        (scratch / "old.db").write_text(secret)
        living = part(base, text="in use")
        with Recall.open(str(base)) as recall:
            match kind:
                case "add":
                    target.write_text("A wombat digs.\n")
                    recall.index(str(base / "docs"))
                case "judge":
                    with recall.store.judging() as writer:
                        writer.put_query("q", "quokka?")
                case "purge":
                    recall.remove([str(target)], purge=True)
                case "compact":
                    recall.compact()
                case "fix":
                    (check,) = (each for each in recall.doctor(fix=True)["checks"] if each["code"] == "left_parts")
                    assert (check["severity"], check["files"]) == ("ok", sorted([str(left), str(scratch)]))
                case "backup":
                    recall.backup(base / "copy.db")
        assert pieces_left(base, secret, within="**/*") == [], kind
        assert (left.exists(), scratch.exists(), living.exists()) == (False, False, True), kind
        living.unlink()


def test_doctor_lists_leftover_copies_and_removes_nothing(base: Path, dead_pid: int) -> None:
    left = [part(base, pid=str(dead_pid)), written(base / ".recall-0123456789abcdef", "text", 0)]
    with Recall.open(str(base)) as recall:
        (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "left_parts")
        assert (check["severity"], check["fix"]) == ("warning", "recall doctor --fix")
        assert check["files"] == sorted(map(str, left))
        assert all(path.exists() for path in left)


def test_copy_that_cannot_be_removed_yet_is_a_note(base: Path) -> None:
    for age_s, severity in ((0, "ok"), (90_000, "warning")):
        left = written(base / ".recall-0123456789abcdef", "text", age_s)
        with Recall.open(str(base)) as recall:
            (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "left_parts")
        assert (check["severity"], check["files"]) == (severity, [str(left)])
        assert "one day after their last change" in check["evidence"]


@pytest.fixture
def elsewhere(base: Path, tmp_path: Path, dead_pid: int) -> Path:
    """Return a copy in a folder on another disk, which the store remembers."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with files.remembering(str(base / "recall.db"), disk / "copy.db"):
        (note,) = base.glob(".recall-*-to")
        content = note.read_text()
    dead = part(base, text=content, pid=str(dead_pid))
    dead.rename(f"{dead}-to")
    return part(disk, pid=str(dead_pid))


def test_copy_on_another_disk_is_remembered_until_removed(base: Path, elsewhere: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    elsewhere.parent.rename(away)
    for is_made in (False, True):  # the mount point of a disk stays
        if is_made:
            elsewhere.parent.mkdir()
        with Recall.open(str(base)) as recall:
            recall.compact()
            (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "left_parts")
        assert (check["severity"], len(check["files"])) == ("warning", 1)
        assert check["fix"] == f"mount the disk of {elsewhere.parent}, then: recall doctor --fix"
    elsewhere.parent.rmdir()
    away.rename(elsewhere.parent)
    with Recall.open(str(base)) as recall:
        recall.compact()
        (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "left_parts")
    assert check["severity"] == "ok"
    assert (list(elsewhere.parent.iterdir()), list(base.glob(".recall-*"))) == ([], [])


def test_purge_names_copies_that_it_cannot_remove(base: Path, elsewhere: Path, tmp_path: Path) -> None:
    elsewhere.parent.rename(tmp_path / "away")
    living = part(base)
    with Recall.open(str(base)) as recall:
        backups = recall.remove([str(base / "docs" / "a.md")], purge=True)["removed"]["backups"]
    (note,) = base.glob(".recall-*-to")
    assert backups == sorted([str(living), str(note)])


def test_finished_command_leaves_no_note(base: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with Recall.open(str(base)) as recall:
        recall.backup(other / "copy.db")
    Recall.recover(base / "recall.db", other / "new.db")
    assert sorted(path.name for path in other.iterdir()) == ["copy.db", "new.db"]
    assert list(base.glob(".recall-*")) == []


def test_nonsense_note_counts_as_a_copy(base: Path, dead_pid: int) -> None:
    for text in ("", "{", "[]", '{"folder": 3}', '{"folder": "/nowhere", "inode": "x"}', '"a"'):
        path = part(base, text=text, pid=str(dead_pid))
        path.rename(f"{path}-to")
        remaining = files.remove(base)
        assert len(remaining) == ("nowhere" in text), text
        for each in remaining:
            each.path.unlink()
