"""Changes of recall.toml keep the text of its owner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recall_core.config import Config, load, render
from recall_core.errors import ConfigError
from recall_core.maintain.embedders import write_settings


def test_comments_order_and_line_ends_stay(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_bytes(b'# mine\r\nembedding   =  "hash" # why\r\n\r\n# last\r\npool = 7')

    write_settings(toml, {"embedding": "local"})

    assert toml.read_bytes() == b'# mine\r\nembedding   =  "local" # why\r\n\r\n# last\r\npool = 7'


def test_every_setting_can_be_written_and_read_again(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_text(render(Config()))
    values: dict[str, Any] = {
        "embedding": 'onnx:/a "b"',
        "vector_weight": 0.3,
        "pool": 9,
        "strict": True,
        "separator": "\n-\n",
    }

    write_settings(toml, values)

    assert load(toml) == Config()._replace(**values)


def test_missing_file_is_created_and_new_key_comes_last(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"

    write_settings(toml, {"embedding": "local"})
    write_settings(toml, {"pool": 3})

    assert toml.read_text() == 'embedding = "local"\npool = 3\n'


def test_file_keeps_its_mode_and_symlink(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "recall.toml"
    real.write_text("pool = 1\n")
    real.chmod(0o640)
    link.symlink_to(real)

    write_settings(link, {"pool": 2})

    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("pool = 2\n", 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.toml", "recall.toml"]


def test_no_other_file_is_touched(tmp_path: Path) -> None:
    toml, other = tmp_path / "recall.toml", tmp_path / "recall.toml.part"
    other.write_text("mine")

    write_settings(toml, {"pool": 2})

    assert (toml.read_text(), other.read_text()) == ("pool = 2\n", "mine")
    assert len(list(tmp_path.iterdir())) == 2


def test_invalid_toml_stays_and_the_error_shows_new_settings(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_text("= nonsense")

    with pytest.raises(ConfigError) as caught:
        write_settings(toml, {"embedding": "local", "pool": 3})

    assert caught.value.code == "settings_unwritable"
    assert 'embedding = "local", pool = 3' in caught.value.message
    assert toml.read_text() == "= nonsense"


def test_write_failure_is_explained_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        write_settings(tmp_path / "gone" / "recall.toml", {"pool": 3})

    assert caught.value.message.endswith("cannot be written (no such file or directory); add by hand: pool = 3")
