"""Promises of stores without vectors: `vectors = false`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.api.engine import result_of
from recall_core.api.recall import Recall
from recall_core.config import load
from recall_core.errors import EmbedError, UsageError
from recall_core.retrieve.asking import Ask

TEXTS = {"a.md": "# Deploys\n\nA deploy is undone with ship --back.\n", "b.md": "# Cats\n\nA cat sleeps.\n"}


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    Recall.init(str(tmp_path), settings={"vectors": False})
    with Recall.open(str(tmp_path)) as recall:
        result_of(recall.add([str(tmp_path)]))
        yield recall


def test_search_uses_words_without_a_warning(recall: Recall) -> None:
    for mode in ("hybrid", "lexical"):
        answer = recall.search("deploy undone", Ask(mode=mode))
        assert [hit["doc"]["path"] for hit in answer["results"]] == ["a.md"], mode
        assert (answer["warnings"], answer["query"]["plan"]["mode"]) == ([], "lexical"), mode


def test_search_by_meaning_says_why_it_cannot(recall: Recall) -> None:
    with pytest.raises(EmbedError, match="has no vectors") as raised:
        recall.search("deploy", Ask(mode="semantic"))
    assert raised.value.code == "no_vectors"


def test_nothing_is_embedded_and_nothing_is_wrong(recall: Recall) -> None:
    Path(recall.engine.base, "a.md").write_text("# Deploys\n\nNothing is undone.\n", encoding="utf-8")
    synced = result_of(recall.sync())
    assert (synced["ingest"]["updated"], synced["ingest"]["embedded"], synced["warnings"]) == (1, 0, [])
    assert (recall.store.info().embedder, recall.store.info().vectors) == ("none", 0)
    checks = {check["code"]: check for check in recall.doctor()["checks"]}
    assert [code for code, check in checks.items() if check["severity"] != "ok"] == ["space"]
    assert checks["embedder"]["evidence"] == "none: searches use words alone, and no text needs a vector"


def test_status_says_that_words_alone_count(recall: Recall) -> None:
    assert "no vectors: searches use words alone" in BY_NAME["status"].answer(recall, {}, Limits()).text


def test_reembed_asks_for_the_setting_first(recall: Recall) -> None:
    with pytest.raises(UsageError) as raised:
        result_of(recall.reembed("hash"))
    assert (raised.value.code, str(raised.value.hint)) == ("vectors_off", "recall reembed hash --set vectors=true")
    result_of(recall.reembed("hash", {"vectors": True}))
    assert (recall.store.info().vectors, load(recall.engine.toml).vectors) == (2, True)
    result_of(recall.reembed("none"))
    assert (recall.store.info().vectors, recall.search("deploy")["warnings"]) == (0, [])


def test_stored_vectors_are_named_until_they_are_dropped(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), embedding="hash")
    (tmp_path / "recall.toml").write_text("vectors = false\n", encoding="utf-8")
    with Recall.open(str(tmp_path)) as recall:
        (warning,) = recall.stats()["warnings"]
        assert warning.endswith("the store's value applies until recall reembed none")
        result_of(recall.reembed("none"))
        assert (recall.stats()["warnings"], load(recall.engine.toml).vectors) == ([], False)
