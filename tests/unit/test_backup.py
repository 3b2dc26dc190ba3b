"""A backup is a checked store of one moment, for its owner only. Until it is complete, an existing file stays."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from recall_core import Recall
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api import write
from recall_core.errors import RecallError, StoreCorrupt, StoreError, UsageError
from recall_core.store.sqlite import copying
from recall_core.store.sqlite.store import SqliteStore
from tests.damage import change_vectors


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in "abc":
        (tmp_path / "docs" / f"{name}.md").write_text(f"# Title {name}\n\nA quokka smiles at {name}. 東京\n")
    Recall.init(str(tmp_path))
    return tmp_path


@pytest.fixture
def recall(base: Path) -> Iterator[Recall]:
    with Recall.open(str(base)) as opened:
        opened.index(str(base / "docs"))
        yield opened


def export_text(recall: Recall) -> str:
    out = io.StringIO()
    recall.export(out)
    return out.getvalue()


def sqlite(recall: Recall) -> SqliteStore:
    assert isinstance(recall.store, SqliteStore)
    return recall.store


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(".recall-"))


def test_backup_answers_like_the_store(recall: Recall, base: Path) -> None:
    target = base / "copy.db"

    view = recall.backup(target)["backup"]

    before = export_text(recall)
    with Recall.open(str(target)) as copy:
        assert export_text(copy) == before
        assert copy.search("quokka")["results"] == recall.search("quokka")["results"]
    assert (view["documents"], view["chunks"], view["bytes"]) == (3, 3, target.stat().st_size)
    assert view["digest"] == recall.search("quokka")["stats"]["digest"]


def test_backup_is_one_file_readable_by_its_owner_only(recall: Recall, base: Path) -> None:
    recall.backup(base / "copy.db")

    assert stat.S_IMODE((base / "copy.db").stat().st_mode) == 0o600
    assert sorted(path.name for path in base.glob("copy.db*")) == ["copy.db"]
    assert left_over(base) == []


def test_backup_gets_the_requested_mode(recall: Recall, base: Path) -> None:
    target = base / "copy.db"

    assert run("--store", str(base), "backup", str(target), "--mode", "640")[0] == 0

    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_backup_is_consistent_during_writes(recall: Recall, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "STEP_PAGES", 1)
    before = export_text(recall)
    steps = write.backup(recall.engine, base / "copy.db", force=False)
    with Recall.open(str(base)) as writer:
        for n, _ in enumerate(steps):
            (base / "docs" / "b.md").write_text(f"By now it says {n}.\n")
            if n < 5:
                writer.index(str(base / "docs"))

    with Recall.open(str(base / "copy.db")) as copy:
        assert export_text(copy) == before
    assert export_text(recall) != before


def test_backup_reports_progress(recall: Recall, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "STEP_PAGES", 4)

    told = [
        (event.stage, event.files_done, event.files_total)
        for event in write.backup(recall.engine, base / "copy.db", force=False)
    ]

    pages = (base / "copy.db").stat().st_size // 8192
    assert told == [("copy", min(4 * n, pages), pages) for n in range(1, len(told) + 1)]
    assert told[-1] == ("copy", pages, pages)


def test_stopped_backup_leaves_no_file(recall: Recall, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "STEP_PAGES", 1)
    steps = write.backup(recall.engine, base / "copy.db", force=False)
    next(steps)

    steps.close()

    assert not (base / "copy.db").exists()
    assert left_over(base) == []
    assert recall.backup(base / "copy.db")["ok"]


def test_backup_replaces_a_file_only_with_force(recall: Recall, base: Path) -> None:
    (base / "copy.db").write_text("what I wrote yesterday")
    (base / "copy.db").chmod(0o640)

    with pytest.raises(StoreError) as error:
        recall.backup(base / "copy.db")

    assert (error.value.code, error.value.hint) == ("backup_exists", f"recall backup {base / 'copy.db'} --force")
    assert (base / "copy.db").read_text() == "what I wrote yesterday"
    recall.backup(base / "copy.db", force=True)
    assert Recall.verify(base / "copy.db")["verified"]["documents"] == 3
    assert stat.S_IMODE((base / "copy.db").stat().st_mode) == 0o640


def test_backup_never_replaces_a_store_in_use(recall: Recall, base: Path, tmp_path: Path) -> None:
    (base / "link.db").symlink_to(base / "recall.db")
    for name in ("recall.db", "link.db"):
        with pytest.raises(UsageError, match="is the store itself"):
            recall.backup(base / name, force=True)
    Recall.init(str(tmp_path / "other"))
    with Recall.open(str(tmp_path / "other")) as other:
        other.search("x")
        with pytest.raises(StoreError, match="in use"):
            recall.backup(tmp_path / "other" / "recall.db", force=True)


def test_unwritable_backup_is_reported(recall: Recall, base: Path) -> None:
    make: dict[str, Callable[[Path], object]] = {
        "folder": Path.mkdir,
        "pipe": os.mkfifo,
        "loop": lambda target: target.symlink_to(target),
        "nowhere/copy.db": lambda target: None,
    }
    for name, made in make.items():
        target = base / name
        made(target)

        with pytest.raises(RecallError) as error:
            recall.backup(target, force=True)

        assert (error.value.code, error.value.hint) == ("out_unwritable", "recall backup FILE"), name
        assert left_over(base) == [], name


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunk SET text = replace(text, 'smiles', 'snarls') WHERE rowid = 1",
        "UPDATE vec SET embedding = (SELECT embedding FROM vec WHERE chunk = 2) WHERE chunk = 1",
        "UPDATE doc SET title = 'Another title' WHERE rowid = 2",
        "DELETE FROM doc WHERE rowid = 3",
    ],
)
def test_damaged_store_leaves_the_last_backup_unchanged(recall: Recall, base: Path, statement: str) -> None:
    recall.backup(base / "copy.db")
    before = (base / "copy.db").read_bytes()
    db = sqlite(recall).db
    db.pragma("query_only", False)
    db.pragma("foreign_keys", False)
    change_vectors(db)
    db.execute(f"DROP TRIGGER chunk_text_is_immutable; {statement}")

    with pytest.raises(StoreCorrupt) as error:
        recall.backup(base / "copy.db", force=True)

    assert error.value.exit_code == 6
    assert (base / "copy.db").read_bytes() == before
    assert left_over(base) == []


def test_backup_contains_nothing_of_an_unfinished_purge(recall: Recall, base: Path) -> None:
    with recall.store.writer() as writer:
        writer.begin_purge(["docs/b.md"])
        writer.tombstone(["docs/b.md"])

    recall.backup(base / "copy.db")

    assert b"smiles at b" not in (base / "copy.db").read_bytes()


def test_backup_does_not_wait_for_a_long_reader(recall: Recall, base: Path) -> None:
    reader = apsw.Connection(str(base / "recall.db"))
    reader.execute("BEGIN; SELECT count(*) FROM doc").fetchall()
    with recall.store.writer() as writer:
        writer.begin_purge(["docs/b.md"])
        writer.tombstone(["docs/b.md"])

    with pytest.raises(StoreError) as error:
        recall.backup(base / "copy.db")

    reader.close()
    assert error.value.code == "purge_incomplete"
    assert not (base / "copy.db").exists()


def test_in_memory_store_can_be_backed_up(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A quokka smiles.\n")
    with Recall.open(":memory:", start=tmp_path) as recall:
        recall.index(str(tmp_path / "a.md"))
        recall.backup(tmp_path / "copy.db")
        before = export_text(recall)

    with Recall.open(str(tmp_path / "copy.db")) as copy:
        assert export_text(copy) == before
        copy.index(str(tmp_path / "a.md"))


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_command_prints_what_it_wrote(recall: Recall, base: Path) -> None:
    digest = recall.search("quokka")["stats"]["digest"]
    target = str(base / "copy.db")

    code, out, err = run("--store", str(base), "backup", target)

    size = Path(target).stat().st_size
    assert (code, out, err) == (0, f"{target}: 3 documents, 3 chunks, {size} bytes  digest {digest}\n", "")
