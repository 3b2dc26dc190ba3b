"""A failing disk read is reported as such; the stored data may be intact and is not called damaged."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns

import apsw
import pytest

from recall_core import Ask, Recall, RecallError


class Disk(apsw.VFS):
    """A disk on which the n-th read of a database file, and all later ones, can fail."""

    def __init__(self) -> None:
        self.reads = 0
        self.fails_from: int | None = None
        self.is_back = False
        """If True, only one read fails."""
        self.real = apsw.vfs_names()[0]
        super().__init__("failing", self.real)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return DiskFile(self, name, flags)


class DiskFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.disk = disk
        self.is_store = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__(disk.real, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        if self.is_store:
            self.disk.reads += 1
            later = self.disk.reads - (self.disk.fails_from or self.disk.reads + 1)
            if later == 0 or (later > 0 and not self.disk.is_back):
                error = apsw.IOError("the disk failed")
                error.extendedresult = apsw.SQLITE_IOERR_READ  # type: ignore[attr-defined]
                raise error
        return super().xRead(amount, offset)


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    apsw.set_default_vfs("failing")
    yield disk
    disk.fails_from = None
    apsw.set_default_vfs(disk.real)
    disk.unregister()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir()
    for number in range(30):
        (template / "docs" / f"{number}.md").write_text(f"# Title {number}\n\n" + f"quokka{number} smiles. " * 300)
    Recall.init(str(template))
    with Recall.open(str(template)) as recall:
        recall.index(str(template / "docs"))
    return template


@pytest.fixture
def base(template: Path, tmp_path: Path, disk: Disk) -> Path:
    return Path(copytree(template, tmp_path, copy_function=copy2, dirs_exist_ok=True))


USES: dict[str, Callable[[Recall], object]] = {
    "search": lambda recall: recall.search("quokka7 smiles"),
    "lexical": lambda recall: recall.search("smiles", Ask(mode="lexical", k=30)),
    "query": lambda recall: recall.query("SELECT * FROM doc FILTER doc.path LIKE '%7.md'"),
    "context": lambda recall: recall.context("quokka7"),
    "get": lambda recall: recall.get("docs/7.md"),
    "stats": lambda recall: recall.stats(),
    "export": lambda recall: recall.export(io.StringIO()),
    "remove": lambda recall: recall.remove(["docs/7.md"]),
    "compact": lambda recall: recall.compact(),
    "judge": lambda recall: recall.store.judgements(),
}


def open_and_use(base: Path, use: Callable[[Recall], object]) -> object:
    with Recall.open(str(base)) as recall:
        return use(recall)


def test_failing_read_is_reported_as_io_error(base: Path, disk: Disk, tmp_path: Path) -> None:
    disk.reads, disk.fails_from = 0, None
    with Recall.open(str(base)):
        opening = disk.reads
    for name, use in USES.items():
        disk.fails_from = None
        place = Path(copytree(base, tmp_path / "of" / name, copy_function=copy2, ignore=ignore_patterns("of")))
        codes = set()
        for number in (1, 2, opening, opening + 1, opening + 2, opening + 5, opening + 9):
            disk.reads, disk.fails_from = 0, number
            try:
                open_and_use(place, use)
            except RecallError as error:
                codes.add((error.code, error.exit_code))

        assert codes == {("io_error", 1)}, name


def test_single_failed_read_is_not_reported_as_read_only(base: Path, disk: Disk) -> None:
    disk.reads, disk.fails_from, disk.is_back = 0, 1, True
    with pytest.raises(RecallError) as caught:
        Recall.open(str(base))
    assert caught.value.code == "io_error"

    Recall.open(str(base)).close()


def test_doctor_reports_the_disk_for_each_check_and_repairs_nothing(base: Path, disk: Disk) -> None:
    with Recall.open(str(base)) as recall:
        recall.doctor()
        recall.store.db.pragma("cache_size", 0)  # type: ignore[attr-defined]
        disk.reads, disk.fails_from = 0, 5
        failed = [check for check in recall.doctor(fix=True)["checks"] if check["severity"] == "error"]

    assert failed
    for check in failed:
        assert "the disk failed" in check["evidence"]
        assert check["fix"] == f"df {base}"
    assert not list(base.glob("recall.db.bak-*"))
