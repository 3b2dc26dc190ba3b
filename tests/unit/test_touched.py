"""A touched file has a new time and the same bytes: the effect on digest, generation and rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.errors import SnapshotMismatch
from recall_core.types import Root

FIRST_NS = 1_700_000_000_123_456_000
LATER_NS = 1_700_000_500_000_000_000
RECORDS = [{"id": "one", "text": "a quokka smiles"}, {"id": "two", "text": "a wombat digs"}]
FILES = {
    "docs/a.md": "# Anteaters\n\nAn anteater eats ants.\n\n## Ants\n\nAnts are eaten by anteaters.\n",
    "docs/same.md": "# Anteaters\n\nAn anteater eats ants.\n\n## Ants\n\nAnts are eaten by anteaters.\n",
    "docs/b.txt": "nothing of the kind\n",
    "data/list.jsonl": "".join(json.dumps(record) + "\n" for record in RECORDS),
}
TOUCHED = {"docs/a.md": ("docs/a.md",), "data/list.jsonl": ("data/list.jsonl#one", "data/list.jsonl#two")}
"""File to the paths of its documents."""


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        touch(tmp_path / name, FIRST_NS)
    with open_new(tmp_path, "recall.db") as made:
        yield made


def open_new(base: Path, name: str) -> Recall:
    """Open a new store with all the files."""
    Recall.init(str(base), name=name)
    recall = Recall.open(str(base / name))
    add(recall)
    return recall


def touch(place: Path, mtime_ns: int) -> None:
    os.utime(place, ns=(mtime_ns, mtime_ns))


def done(work: Generator[Any, None, Any]) -> dict[str, Any]:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return dict(end.value["ingest"])


def add(recall: Recall, *, mtime_only: bool = False) -> dict[str, Any]:
    docs = done(recall.add([str(recall.engine.base / "docs")], Root("", tags=("guide",)), mtime_only=mtime_only))
    data = done(recall.add([str(recall.engine.base / "data")], Root("", parser="jsonl"), mtime_only=mtime_only))
    return {name: docs[name] + data[name] for name in ("added", "updated", "removed", "embedded", "unchanged")}


def fresh(recall: Recall) -> dict[str, Any]:
    recall.search("ants", Ask(fresh=True))
    return dict.fromkeys(("added", "updated", "removed", "embedded"), 0)


Way = Callable[[Recall], dict[str, Any]]
WAYS: dict[str, Way] = {
    "add": add,
    "add --mtime-only": lambda recall: add(recall, mtime_only=True),
    "sync": lambda recall: done(recall.sync()),
    "search --fresh": fresh,
}


def digest(recall: Recall) -> str:
    return recall.store.info().digest


def state(recall: Recall) -> tuple[int, str]:
    return recall.store.generation(), digest(recall)


def rows(recall: Recall) -> list[Any]:
    """Return everything in the store except times, digests and the generation."""
    documents = "SELECT rowid, id, path, file, size, hash, title, source, meta, deleted FROM doc ORDER BY rowid"
    files = "SELECT rowid, path, os_path, size, hash, settings, root FROM file ORDER BY rowid"
    following = "'generation', 'digest_sum', 'census', 'sum_meta'"
    counts = f"SELECT key, value FROM meta WHERE key NOT IN ({following}) ORDER BY key"
    whole = [f"SELECT * FROM {table} ORDER BY 1, 2" for table in ("chunk", "vec", "vec_cache", "doc_tag", "root")]
    words = [recall.search(word, Ask(mode="lexical"))["results"] for word in ("anteater", "ants", "quokka")]
    found = [[(row["chunk"]["id"], row["score"]) for row in results] for results in words]
    return [*(recall.store.execute(sql) for sql in (documents, files, counts, *whole)), found]


def times(recall: Recall) -> dict[str, str]:
    return dict(recall.store.execute("SELECT path, mtime FROM doc WHERE deleted = 0"))


def touch_back(recall: Recall, name: str) -> None:
    """Restore a file and the store to their state before a touch."""
    touch(recall.engine.base / name, FIRST_NS)
    add(recall)


def test_touch_changes_time_digest_and_generation_but_no_row(recall: Recall) -> None:
    kept, old = rows(recall), times(recall)
    for name, paths in TOUCHED.items():
        for way_name, way in WAYS.items():
            case = (name, way_name)
            generation, before = state(recall)
            touch(recall.engine.base / name, LATER_NS)

            counts = way(recall)

            assert [counts[each] for each in ("added", "updated", "removed", "embedded")] == [0, 0, 0, 0], case
            assert recall.store.generation() == generation + 1, case
            assert digest(recall) != before, case
            assert rows(recall) == kept, case
            assert times(recall) == {**old, **dict.fromkeys(paths, "2023-11-14T22:21:40.000000Z")}, case
            assert recall.store.info().snapshot == "2023-11-14T22:21:40.000000Z", case
            touch_back(recall, name)


def test_touch_gives_the_digest_of_a_newer_store(recall: Recall) -> None:
    for name in TOUCHED:
        touch(recall.engine.base / name, LATER_NS)
        with open_new(recall.engine.base, f"{Path(name).stem}.db") as other:
            expected = digest(other)
        for way_name, way in WAYS.items():
            touch(recall.engine.base / name, LATER_NS)

            way(recall)

            assert digest(recall) == expected, (name, way_name)
            found = {check["severity"] for check in recall.doctor()["checks"] if check["code"] == "digest"}
            assert found == {"ok"}, (name, way_name)
            touch_back(recall, name)


def test_touch_is_written_once(recall: Recall) -> None:
    for name, way in WAYS.items():
        touch(recall.engine.base / "docs/a.md", LATER_NS)
        way(recall)
        after = state(recall)

        for again in WAYS.values():
            again(recall)

        assert state(recall) == after, name
        touch_back(recall, "docs/a.md")


def test_restoring_the_time_restores_the_digest(recall: Recall) -> None:
    for name, way in WAYS.items():
        generation, before = state(recall)
        for mtime_ns in (LATER_NS, FIRST_NS):
            touch(recall.engine.base / "docs/a.md", mtime_ns)
            way(recall)

        assert state(recall) == (generation + 2, before), name


def test_touch_below_the_stored_precision_keeps_the_digest(recall: Recall) -> None:
    before = digest(recall)
    for name, way in WAYS.items():
        touch(recall.engine.base / "docs/a.md", FIRST_NS + 999)

        way(recall)

        after = state(recall)
        way(recall)
        assert digest(recall) == before, name
        assert state(recall) == after, name
        touch_back(recall, "docs/a.md")


def test_touched_file_gets_new_labels_in_the_same_write(recall: Recall) -> None:
    generation = recall.store.generation()
    touch(recall.engine.base / "docs/b.txt", LATER_NS)

    done(recall.add([str(recall.engine.base / "docs/b.txt")], Root("", source="manual")))

    (document,) = recall.query("SELECT * FROM doc FILTER doc.source = 'manual'")["results"]
    assert (document["doc"]["path"], document["doc"]["mtime"]) == ("docs/b.txt", "2023-11-14T22:21:40.000000Z")
    assert recall.store.generation() == generation + 1


ASKING: dict[str, Callable[[Recall, Ask], Any]] = {
    "search": lambda recall, ask: recall.search("ants quokka", ask),
    "query": lambda recall, ask: recall.query("SELECT * FROM chunk USING lexical('ants quokka')", ask),
    "filter": lambda recall, ask: recall.query("SELECT * FROM doc", ask),
    "context": lambda recall, ask: recall.context("ants quokka", ask, Pack()),
    "explain": lambda recall, ask: recall.explain("ants", _first_chunk(recall), ask),
}


def _first_chunk(recall: Recall) -> str:
    return str(recall.query("SELECT chunk.id FROM chunk FILTER doc.path = 'docs/a.md'")["results"][0]["chunk"]["id"])


def test_query_after_a_touch_changes_neither_answer_nor_store(recall: Recall) -> None:
    ask = Ask(snapshot=digest(recall), strict_fresh=True)
    before, kept, old = state(recall), rows(recall), times(recall)
    for name in TOUCHED:
        for asking_name, asking in ASKING.items():
            case = (name, asking_name)
            touch(recall.engine.base / name, FIRST_NS)
            first = timeless(asking(recall, ask))
            touch(recall.engine.base / name, LATER_NS)

            answers = [timeless(asking(recall, ask)) for _ in range(3)]

            assert answers == [first] * 3, case
            assert (state(recall), rows(recall), times(recall)) == (before, kept, old), case
        touch(recall.engine.base / name, FIRST_NS)


def timeless(response: Any) -> Any:
    return {**response, "stats": {**response["stats"], "took_ms": 0, "timings": {}}}


def test_touch_seen_by_a_search_is_written_later(recall: Recall) -> None:
    before = digest(recall)
    touch(recall.engine.base / "docs/a.md", LATER_NS)
    with open_new(recall.engine.base, "other.db") as other:
        expected = digest(other)
    for name, way in WAYS.items():
        touch(recall.engine.base / "docs/a.md", LATER_NS)
        recall.search("ants")

        way(recall)

        assert digest(recall) == expected != before, name
        with pytest.raises(SnapshotMismatch):
            recall.search("ants", Ask(snapshot=before))
        touch_back(recall, "docs/a.md")
        assert digest(recall) == before, name


def test_bytes_changed_after_a_seen_touch_are_stale(recall: Recall) -> None:
    place = recall.engine.base / "docs/b.txt"
    touch(place, LATER_NS)
    assert recall.search("nothing")["warnings"] == []
    place.write_bytes(place.read_bytes().replace(b"kind", b"sort"))
    touch(place, LATER_NS + 1_000_000)

    states = {row["doc"]["path"]: row["doc"].get("state") for row in recall.search("nothing")["results"]}

    assert states["docs/b.txt"] == "modified"


def test_mtime_only_reads_no_file_of_equal_size_and_time(recall: Recall) -> None:
    place = recall.engine.base / "docs/b.txt"
    place.write_bytes(place.read_bytes().replace(b"kind", b"sort"))
    touch(place, FIRST_NS)
    before = (state(recall), rows(recall), times(recall))

    counts = add(recall, mtime_only=True)

    assert (counts["unchanged"], counts["updated"]) == (4, 0)
    assert (state(recall), rows(recall), times(recall)) == before


@pytest.mark.parametrize(("words", "mtime_ns"), [("sort", LATER_NS), ("kinds", FIRST_NS)])
def test_mtime_only_reads_a_file_of_another_time_or_size(recall: Recall, words: str, mtime_ns: int) -> None:
    place = recall.engine.base / "docs/b.txt"
    place.write_bytes(place.read_bytes().replace(b"kind", words.encode()))
    touch(place, mtime_ns)

    counts = add(recall, mtime_only=True)

    assert (counts["unchanged"], counts["updated"]) == (3, 1)
    assert recall.get("docs/b.txt")["found"]["text"] == f"nothing of the {words}\n"
