"""Storable metadata from every source, and the errors for other metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters.render import json_line
from recall_core.api.recall import Ask, Recall
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import IngestError, StoreError, UsageError
from recall_core.ingest.metadata import DEEPEST, why_unfit
from recall_core.maintain.transfer import export, import_
from recall_core.ports import ParsedDocument
from recall_core.steps import Segment, chunk, index
from recall_core.store.sqlite.store import create_store
from recall_core.types import Progress, Root

INFINITE = float("inf")


def nested(levels: int) -> dict[str, Any]:
    """Return metadata of `levels` levels, including itself."""
    value: Any = 1
    for _ in range(levels - 1):
        value = [value]
    return {"deep": value}


UNFIT = [
    ({"score": float("nan")}, "too large"),
    ({"score": -INFINITE}, "too large"),
    ({"scores": [1.0, {"best": INFINITE}]}, "too large"),
    ({"whole": 10**400}, "too large"),
    (nested(DEEPEST + 1), "deeper than 500 levels"),
    ({"tags": {"a", "b"}}, "not JSON"),
    ({"title": "\ud800"}, "not JSON"),
    ({"a": 1, 2: 3}, "not JSON"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Recall]:
    Recall.init(str(tmp_path), settings=("embedding=hash",))
    with Recall.open(str(tmp_path / "recall.db")) as recall:
        yield recall


def add(store: Recall, place: Path, parser: str = "jsonl") -> Progress:
    return [step for step in store.add([str(place)], Root("", parser=parser)) if isinstance(step, Progress)][-1]


def test_unstorable_metadata_gets_a_reason() -> None:
    for metadata, reason in UNFIT:
        assert reason in str(why_unfit(metadata)), (metadata, reason)


def test_any_json_metadata_is_storable() -> None:
    held = {"a": True, "b": None, "c": [1, 2.5, {"d": "é"}, ("e",)], "f": 1.7e308, "g": -(2**70)}

    assert why_unfit({}) is why_unfit(held) is why_unfit(nested(DEEPEST)) is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [("1e999", "too large"), ("[-1e999]", "too large"), ("[" * 600 + "]" * 600, "deeper than 500 levels")],
    ids=["huge", "huge inside", "deep"],
)
def test_unstorable_record_is_skipped_by_name_with_a_reason(
    tmp_path: Path, store: Recall, value: str, reason: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "bad.jsonl").write_text(
        f'{{"id": "a", "text": "words"}}\n{{"id": "b", "text": "t", "score": {value}}}\n'
    )
    (folder / "good.jsonl").write_text('{"id": "a", "text": "words"}\n')

    (skip,) = add(store, folder).skipped

    assert (skip.path, skip.code) == ("in/bad.jsonl", "bad_metadata")
    assert skip.reason.startswith("#b: ")
    assert reason in skip.reason
    assert store.store.info().documents == 1
    with pytest.raises(IngestError, match=r"in/bad\.jsonl#b: .*" + reason) as refused:
        add(store, folder / "bad.jsonl")
    assert refused.value.code == "bad_metadata"


def test_metadata_of_an_installed_parser_is_checked_too(
    tmp_path: Path, store: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FrontMatter:
        def parse(self, raw: bytes, *, path: str, digest: str) -> list[ParsedDocument]:
            return [ParsedDocument(None, raw.decode(), path, digest, len(raw), {"weight": INFINITE})]

    monkeypatch.setattr("recall_core.ingest.reader.parser", lambda _name: FrontMatter())
    (tmp_path / "a.md").write_text("words")

    with pytest.raises(IngestError, match=r"a\.md: .*too large") as refused:
        add(store, tmp_path / "a.md", parser="text")

    assert refused.value.code == "bad_metadata"


def test_pieces_with_unstorable_metadata_are_refused(store: Recall) -> None:
    for metadata, reason in UNFIT:
        with pytest.raises(UsageError, match=reason) as refused:
            index(chunk([Segment("good", "words"), Segment("bad", "words", metadata=metadata)]), store)

        assert refused.value.code == "bad_pieces", reason
        assert store.store.info().documents == 0, reason


def test_metadata_of_all_pieces_is_checked_together(store: Recall) -> None:
    with pytest.raises(UsageError, match="too large"):
        index(chunk([Segment("a", "one", metadata={"n": 1}), Segment("a", "two", metadata={"m": INFINITE})]), store)


@pytest.mark.parametrize(
    "value",
    ["1e999", "NaN", "-Infinity", "[" * 600 + "]" * 600, "[" * 100_000, '"\\ud800"'],
    ids=["huge", "nan", "infinite", "deep", "deepest", "surrogate"],
)
def test_export_with_unstorable_metadata_imports_nothing(tmp_path: Path, store: Recall, value: str) -> None:
    index(chunk([Segment("a", "words", metadata={"score": "HERE"})]), store)
    lines = export_text(store).replace('"HERE"', value).splitlines(keepends=True)[:-1]
    checksum = sha256("".join(lines).encode()).hexdigest()
    place = tmp_path / "made.jsonl"
    place.write_text("".join([*lines, json.dumps({"type": "end", "sha256": checksum}) + "\n"]))
    info = store.store.info()
    other = create_store(
        ":memory:", embedder=info.embedder, dimension=info.dimension, counter=info.counter, chunker=info.chunker
    )

    with pytest.raises(StoreError) as refused:
        import_(other, place, embedder=HashEmbedder(info.dimension))

    assert refused.value.code == "import_invalid"
    assert "line " in refused.value.message
    assert other.info().documents == 0


def test_stored_non_finite_number_is_answered_as_null(store: Recall) -> None:
    index(chunk([Segment("a", "quokka", metadata={"score": 1})]), store)
    with store.store.transaction():
        store.store.execute("UPDATE doc SET meta = ?", ('{"score":Infinity,"scores":[NaN,2]}',))

    (result,) = json.loads(json_line(store.search("quokka", Ask())))["results"]

    assert result["doc"]["meta"] == {"score": None, "scores": [None, 2]}
    assert '"meta":{"score":null,"scores":[null,2]}' in export_text(store)


def export_text(store: Recall) -> str:
    out = StringIO()
    export(store.store, out)
    return out.getvalue()
