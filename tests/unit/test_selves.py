"""Self-retrieval: a chunk that its own words or vector no longer find is detected."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.contract.views import CheckView
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import EmbedError
from recall_core.maintain.checks import self_retrieval
from recall_core.maintain.doctor import check_one
from recall_core.ports import Embedder
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Root, Vector
from tests.builders import EMBEDDER, FISH, fish_store, memory_store, new_file, put
from tests.damage import change_vectors

SWAPPED = """
CREATE TEMP TABLE old AS SELECT chunk, embedding FROM vec WHERE chunk < 3;
UPDATE vec SET embedding = (SELECT embedding FROM old WHERE old.chunk = 3 - vec.chunk) WHERE chunk < 3
"""
FORGOTTEN = """
INSERT INTO chunk_fts(chunk_fts, rowid, title, body)
SELECT 'delete', rowid, title, coalesce(search_text, text) FROM chunk WHERE rowid = 3
"""
ANEW = "recall export --no-embeddings --out FILE, then recall init a new store and recall import FILE"


class Recorded(HashEmbedder):
    """A hash embedder that records its texts."""

    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        self.texts += texts
        return super().embed(texts, is_query=is_query)


def damage(store: SqliteStore, sql: str) -> None:
    """Change the file without the store."""
    store.db.pragma("query_only", False)
    change_vectors(store.db)
    store.db.execute(sql)
    store.db.pragma("query_only", True)


def check_selves(store: SqliteStore, *, config: Config = Config(), own: Embedder = EMBEDDER) -> CheckView:
    return check_one(store, "self_retrieval", lambda: own, base=Path(), config=config)


def test_every_chunk_of_a_sound_store_finds_itself() -> None:
    evidence = "4 chunks are found by their rarest words and fresh vectors"

    assert check_selves(fish_store()) == {"code": "self_retrieval", "severity": "ok", "evidence": evidence}


def test_vector_of_another_text_is_detected() -> None:
    store = fish_store()
    damage(store, SWAPPED)

    check = check_selves(store)

    assert (check["severity"], check["fix"]) == ("warning", ANEW)
    assert check["evidence"].startswith("2 of 4 chunks are not found by ")
    assert check["evidence"].endswith("first: a.txt:1-1 by its vector")


def test_fix_recomputes_every_vector(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for path, text in FISH.items():
        (tmp_path / "docs" / path).write_text(text, encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        deque(recall.add([str(tmp_path / "docs")], Root("")), maxlen=0)
        damage(recall.store, SWAPPED)
        assert check_selves(recall.store, own=recall.engine.embedder)["severity"] == "warning"
        with (tmp_path / "all.jsonl").open("w", encoding="utf-8") as out:
            recall.export(out, embeddings=False)

    Recall.init(str(tmp_path / "other"))
    with Recall.open(str(tmp_path / "other")) as recall:
        recall.import_(tmp_path / "all.jsonl")
        check = check_selves(recall.store, own=recall.engine.embedder)

    assert check["evidence"] == "4 chunks are found by their rarest words and fresh vectors"


def test_duplicate_texts_both_find_themselves() -> None:
    store = memory_store()
    put(store, *(new_file(path, ["the same words in both"]) for path in ("a.txt", "b.txt")))

    assert check_selves(store)["severity"] == "ok"


def test_chunk_missing_from_the_word_index_is_detected() -> None:
    store = fish_store()
    damage(store, FORGOTTEN)

    check = check_selves(store)

    assert (check["severity"], check["fix"]) == ("warning", "recall doctor --fix")
    assert check["evidence"].endswith("first: c.txt:1-1 by its words")


def test_no_text_is_sent_to_a_remote_embedder() -> None:
    own = Recorded()

    check = check_selves(fish_store(), config=Config(embedding="openai", allow_network=True), own=own)

    assert own.texts == []
    assert check["severity"] == "ok"
    assert "stored vectors (the embedder sends text off this machine)" in check["evidence"]


def test_stored_vectors_replace_a_missing_embedder() -> None:
    def own() -> Embedder:
        raise EmbedError("embedder_unavailable", "It is not installed.")

    check = check_one(fish_store(), "self_retrieval", own, base=Path())

    assert check["evidence"] == "4 chunks are found by their rarest words and stored vectors (It is not installed)"


def test_sample_is_small_and_evenly_spaced_by_path() -> None:
    store = memory_store()
    put(store, *(new_file(f"{number:03}.txt", [f"number {number} of many"]) for number in reversed(range(200))))
    own = Recorded()

    check = check_selves(store, own=own)

    assert own.texts == [f"number {number} of many" for number in range(0, 200, 10)]
    assert check["evidence"].startswith("20 chunks ")


def test_invalid_vectors_and_texts_without_a_feature_are_skipped() -> None:
    store = fish_store()
    put(store, new_file("e.txt", ["the of and"]), new_file("f.txt", ["!? ..."]))
    damage(store, "UPDATE vec SET embedding = zeroblob(8) WHERE chunk = 1")
    damage(store, f"UPDATE vec SET embedding = x'{'0000c07f' * 64}' WHERE chunk = 2")
    damage(store, "DELETE FROM vec WHERE chunk = 3")

    assert check_selves(store)["severity"] == "ok"


def test_empty_store_has_nothing_to_try() -> None:
    assert self_retrieval(memory_store(), EMBEDDER).evidence == "no chunks to check"


def test_text_of_any_spelling_finds_itself() -> None:
    for text in ['he said "fish" AND (NOT) fish*', "色 红色的鱼 色", "a'b C++ foo-bar ñandú naïve", "x " * 500]:
        store = fish_store()
        put(store, new_file("z.txt", [text]))

        assert check_selves(store)["severity"] == "ok", text
