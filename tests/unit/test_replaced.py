"""An open store notices that its file was deleted or replaced."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_core import Recall, RecallError


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("a quokka smiles\n")
    Recall.init(str(tmp_path))
    return tmp_path


@pytest.fixture
def recall(base: Path) -> Iterator[Recall]:
    with Recall.open(str(base)) as opened:
        opened.index(str(base / "docs"))
        opened.search("quokka")
        yield opened


def delete(store: Path) -> None:
    store.unlink()


def replace(store: Path) -> None:
    other = store.with_name("other.db")
    other.write_bytes(store.read_bytes())
    other.replace(store)


USES: dict[str, Callable[[Recall], object]] = {
    "search": lambda recall: recall.search("quokka"),
    "query": lambda recall: recall.query("SELECT * FROM chunk"),
    "context": lambda recall: recall.context("quokka"),
    "get": lambda recall: recall.get("docs/a.txt"),
    "sync": lambda recall: [(recall.engine.base / "docs" / "b.txt").write_text("more"), *recall.sync()],
    "remove": lambda recall: recall.remove(["docs/a.txt"]),
    "compact": lambda recall: recall.compact(),
}


@pytest.mark.parametrize("change", [delete, replace])
def test_every_use_of_a_replaced_store_is_an_error(
    base: Path, tmp_path_factory: pytest.TempPathFactory, change: Callable[[Path], None]
) -> None:
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "docs"))
    for name, use in USES.items():
        copy = Path(shutil.copytree(base, tmp_path_factory.mktemp("used"), dirs_exist_ok=True))
        with Recall.open(str(copy)) as recall:
            recall.search("quokka")
            change(copy / "recall.db")

            with pytest.raises(RecallError) as caught:
                use(recall)
        assert (caught.value.code, caught.value.exit_code) == ("store_replaced", 1), name


def test_no_transaction_begins_in_a_replaced_file(base: Path, recall: Recall) -> None:
    replace(base / "recall.db")
    begun: list[str] = []

    with pytest.raises(RecallError) as caught, recall.store.writer():
        begun.append("a transaction")

    assert (caught.value.code, begun) == ("store_replaced", [])


def test_open_transaction_of_a_replaced_file_is_rolled_back(base: Path, recall: Recall) -> None:
    def write() -> None:
        with recall.store.writer() as writer:
            writer.tombstone(["docs/a.txt"])
            replace(base / "recall.db")

    with pytest.raises(RecallError, match="nothing was written") as caught:
        write()
    assert caught.value.code == "store_replaced"

    with Recall.open(str(base)) as other:
        assert other.stats()["store"]["documents"] == 1
