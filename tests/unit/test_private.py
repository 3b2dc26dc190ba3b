"""Files with user texts are readable by their owner only, unless configured otherwise."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams, replacing
from recall_core.files import make_private


@pytest.fixture(params=[0o000, pytest.param(0o077, marks=pytest.mark.slow), 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder: Path) -> dict[str, int]:
    """Return the modes of the store's files, by name."""
    return {path.name: mode(path) for path in folder.glob("recall.db*")}


def run(*argv: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    code = cli.main(argv, streams=Streams(io.StringIO(), out, err))
    return code, err.getvalue()


def test_new_store_and_its_companions_are_owner_only(tmp_path: Path, umask: int) -> None:
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        (tmp_path / "a.txt").touch(0o644)
        recall.index(str(tmp_path / "a.txt"))
        recall.store.back_up()
        found = modes(tmp_path)

    assert {name.partition("bak")[0] for name in found} == {f"recall.db{kind}" for kind in ("", "-wal", "-shm", ".")}
    assert set(found.values()) == {0o600}


def test_store_log_and_index_get_the_requested_mode(tmp_path: Path, umask: int) -> None:
    assert run("init", str(tmp_path), "--mode", "660")[0] == 0

    with Recall.open(str(tmp_path)) as recall, recall.store.writer():
        assert set(modes(tmp_path).values()) == {0o660}


def test_existing_store_keeps_its_mode_and_backups_are_private(tmp_path: Path, umask: int) -> None:
    Recall.init(str(tmp_path))
    (tmp_path / "recall.db").chmod(0o644)

    with Recall.open(str(tmp_path)) as recall:
        recall.compact()
        (tmp_path / "recall.db.bak-1").touch(0o644)
        copy = recall.store.back_up()

    assert copy is not None
    assert (mode(tmp_path / "recall.db"), mode(Path(copy))) == (0o644, 0o600)


def test_new_export_is_private_and_existing_export_keeps_mode(tmp_path: Path, umask: int) -> None:
    Recall.init(str(tmp_path))
    file, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    old.touch()
    old.chmod(0o640)

    for target in (file, old):
        assert run("--store", str(tmp_path), "export", "--out", str(target))[0] == 0
    assert (mode(file), mode(old)) == (0o600, 0o640)

    for target in (file, old):
        assert run("--store", str(tmp_path), "export", "--out", str(target), "--mode", "0644")[0] == 0
    assert (mode(file), mode(old)) == (0o644, 0o644)


def test_export_is_private_during_writing(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.touch()
    target.chmod(0o644)

    with replacing(target, hint="", is_private=True) as out:
        out.write("half")
        (part,) = tmp_path.glob(".recall-*")
        assert mode(part) == 0o600
    assert (target.read_text(), mode(target)) == ("half", 0o644)


def test_public_file_gets_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "page.html", hint="") as out:
            out.write("page")
    finally:
        os.umask(before)
    assert mode(tmp_path / "page.html") == 0o640


def test_shared_file_is_private_until_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(os, "fchmod", lambda file, mode: seen.append(stat.S_IMODE(os.fstat(file).st_mode)))
    before = os.umask(0)
    try:
        make_private(tmp_path / "a", 0o664)
    finally:
        os.umask(before)
    assert seen == [0o600]


def test_mode_without_owner_access_is_refused(tmp_path: Path) -> None:
    for given in ("0", "77", "440", "1777", "6000", "rw", "0o640", "888", "-640", ""):
        code, printed = run("init", str(tmp_path / "new"), f"--mode={given}")

        assert (code, "hint: --mode 640" in printed) == (2, True), given
        assert not (tmp_path / "new").exists(), given


def test_mode_without_a_file_is_refused(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    assert run("--store", str(tmp_path), "export", "--mode", "640")[0] == 2


def test_private_file_replaces_no_other_file(tmp_path: Path) -> None:
    make_private(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("a", "link"):
        with pytest.raises(FileExistsError):
            make_private(tmp_path / name)


def test_failed_backup_is_reported_as_a_store_error(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        (tmp_path / f"recall.db.bak-{recall.store.generation()}").mkdir()
        with pytest.raises(RecallError) as caught:
            recall.store.back_up()
    assert caught.value.code == "store_unreadable"
