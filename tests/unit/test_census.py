"""What takes up the room of a store, and what came of each root."""

from pathlib import Path

from recall_core.api.recall import Recall
from recall_core.types import Root
from tests.workbench_corpus import build_store


def test_texts_vectors_and_index_take_room_within_the_file(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        found = recall.store.sizes()
        page = int(recall.store.execute("PRAGMA page_size")[0][0])

        assert found.vectors >= 37 * 512 * 4
        assert all(size > 0 and size % page == 0 for size in (found.text, found.vectors, found.fulltext))
        assert found.text + found.vectors + found.fulltext < recall.store.size_bytes()


def test_the_tokens_are_those_of_the_live_chunks(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        before = recall.store.sizes().tokens
        rows = recall.store.execute(
            "SELECT sum(c.tokens) FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE d.path LIKE 'manual/%'"
        )
        recall.remove(["manual"])

        assert recall.store.sizes().tokens == before - rows[0][0]


def test_each_root_has_the_documents_it_found_and_their_newest_time(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        found = {source.root.folder: source for source in recall.store.root_sources()}

    assert {folder: source.documents for folder, source in found.items()} == {
        "docs": 3,
        "manual": 30,
        "notes": 2,
        "src": 2,
    }
    assert {source.newest[:10] for source in found.values()} == {"2023-11-14"}


def test_an_empty_root_has_no_newest_time(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        list(recall.add([str(tmp_path / "empty")], Root("")))

        assert [(source.documents, source.newest) for source in recall.store.root_sources()] == [(0, "")]


def test_stats_tells_the_same_sizes(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        view, found = recall.stats()["store"], recall.store.sizes()

    assert (view["tokens"], view["text_bytes"], view["vector_bytes"], view["index_bytes"]) == found[:4]
