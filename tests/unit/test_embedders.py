"""The list of embedders: availability, the embedder in use, and speed."""

from __future__ import annotations

from pathlib import Path

import pytest

import tests.embedders
from recall_core.adapters import embedding
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.contract.views import EmbedderView
from recall_core.maintain import embedders as module
from tests.embedders import COUNTING, KEYED, WINDOWED


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests.embedders.install(tmp_path / "site", monkeypatch)
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", tests.embedders.KEY):
        monkeypatch.delenv(name, raising=False)


def list_embedders(
    config: Config = Config(), *, in_use: str | None = None, probe: bool = False
) -> dict[str, EmbedderView]:
    return {view["name"]: view for view in Recall.embedders(config, in_use=in_use, probe=probe)["embedders"]}


def test_every_kind_is_listed_with_its_purpose() -> None:
    found = list_embedders()

    assert list(found)[:3] == ["hash", "local", "minilm"]
    assert {"counting", "openai", "gemini"} <= set(found)
    assert all(view["purpose"] for view in found.values())
    assert all(view["reason"] for view in found.values() if not view["available"])
    assert found["counting"] == {
        "name": "counting",
        "purpose": "counting, for tests",
        "available": True,
        "reason": "",
        "network": False,
        "in_use": False,
        "vector_weight": 0.4,
        "dimension": 64,
        "hint": "recall reembed counting",
    }
    assert found["windowed"]["max_input"] == 8


def test_embedder_of_the_store_is_in_use_at_any_dimension() -> None:
    found = list_embedders(in_use="hash-1:128")

    assert [name for name, view in found.items() if view["in_use"]] == ["hash"]
    assert found["hash"]["dimension"] == 128
    assert "hint" not in found["hash"]
    assert [name for name, view in list_embedders().items() if view["in_use"]] == []


def test_networked_embedder_is_marked() -> None:
    found = list_embedders()

    assert (found["openai"]["network"], found["hash"]["network"]) == (True, False)
    assert not found["openai"]["available"]


def test_unprobed_server_has_no_state() -> None:
    found = list_embedders(in_use="hash-1:512")
    states = {name: embedding.embedder_row(view)[1] for name, view in found.items()}

    assert states["ollama"] == states["llamacpp"] == "not probed"
    assert (states["hash"], states["counting"], states["openai"]) == ("in use", "available", "unavailable")
    assert [name for name, view in found.items() if view.get("probed") is False] == ["ollama", "llamacpp"]


def test_model_of_another_provider_is_not_used() -> None:
    config = Config(embedding="ollama", embedding_model="all-minilm", allow_network=True)

    assert list_embedders(config)["openai"]["dimension"] == list_embedders()["openai"]["dimension"]


def test_probe_measures_available_local_embedders_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PROBE_SECONDS", 0.02)

    views = [module._view(kind, Config(), in_use=None, probe=True) for kind in (COUNTING, WINDOWED, KEYED)]

    assert views[0]["texts_per_second"] > 0
    assert views[1]["texts_per_second"] > 0
    assert (views[2]["available"], "texts_per_second" in views[2]) == (False, False)
    assert tests.embedders.KEY in views[2]["reason"]


def test_provider_is_never_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COUNTING, "sends_text", lambda config: True)

    view = module._view(COUNTING, Config(), in_use=None, probe=True)

    assert "texts_per_second" not in view
    assert COUNTING.embedder.read.total() == 0


def test_probe_texts_have_a_hundred_words_and_differ() -> None:
    assert {len(text.split()) for text in module._PROBE_TEXTS} == {100}
    assert len(set(module._PROBE_TEXTS)) > 100


def test_piped_list_is_aligned_lines() -> None:
    lines = list(embedding.embedder_lines(Recall.embedders()))

    starts = {line.index("  ") for line in lines if line.startswith("sentence-transformers")}
    assert starts == {len("sentence-transformers")}
    assert lines[0].startswith("hash                   available")
    assert all(line == line.rstrip() for line in lines)
