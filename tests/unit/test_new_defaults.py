"""The defaults of a new store, and the settings that an older one keeps."""

from __future__ import annotations

from pathlib import Path

from recall_core.api.recall import Recall
from recall_core.config import NEW, Config, load, render


def older(folder: Path, *lines: str) -> None:
    """Make a store whose recall.toml is older than some settings of a new store."""
    Recall.init(str(folder))
    toml = folder / "recall.toml"
    kept = [line for line in render(Config()).splitlines() if line.partition(" ")[0] not in NEW]
    toml.write_text("\n".join([*kept, *lines]) + "\n", encoding="utf-8")


def older_settings(folder: Path) -> list[str]:
    with Recall.open(str(folder)) as recall:
        return recall.stats()["store"].get("older_settings", [])


def test_new_store_gets_the_new_defaults_silently(tmp_path: Path) -> None:
    assert "older_settings" not in Recall.init(str(tmp_path))["store"]
    assert {key: getattr(load(tmp_path / "recall.toml"), key) for key in NEW} == NEW
    assert older_settings(tmp_path) == []


def test_older_store_keeps_its_settings_and_stats_reports_it(tmp_path: Path) -> None:
    older(tmp_path)

    assert {key: getattr(load(tmp_path / "recall.toml"), key) for key in NEW} == {
        key: getattr(Config(), key) for key in NEW
    }
    assert older_settings(tmp_path) == ["stop_words=english", "rerank_keep=false", "sparse_share=0.0"]


def test_explicit_setting_is_not_an_older_default(tmp_path: Path) -> None:
    older(tmp_path, 'stop_words = "english"', "sparse_share = 0.0", "rerank_keep = false")
    assert older_settings(tmp_path) == []


def test_init_flag_overrides_a_new_default(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), settings=("stop_words=none",))
    assert load(tmp_path / "recall.toml").stop_words == "none"


def test_in_memory_store_is_a_new_store(tmp_path: Path) -> None:
    with Recall.open(":memory:", start=tmp_path) as recall:
        assert recall.config.stop_words == NEW["stop_words"]
        assert "older_settings" not in recall.stats()["store"]
