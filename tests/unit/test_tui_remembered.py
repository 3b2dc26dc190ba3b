"""The saved preferences: what is restored, and protection against invalid files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall_tui.home.preferences import LEAST, MOST, PaneSizes, Preferences, clamp, load, save, size_class


def test_saved_preferences_are_private_and_load_again(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    liked = Preferences("light", {"normal-tall": PaneSizes(40, None), "wide-tall": PaneSizes(None, 60)})

    save(environ, liked)

    assert load(environ) == liked
    assert (tmp_path / "recall" / "workbench.json").stat().st_mode & 0o777 == 0o600


def test_saving_keeps_earlier_preferences(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    for chosen in (
        Preferences(theme="light"),
        Preferences(layouts={"normal-tall": PaneSizes(40, None)}),
        Preferences(layouts={"wide-tall": PaneSizes(60, None)}),
        Preferences(layouts={"normal-tall": PaneSizes()}),
    ):
        save(environ, chosen)

    assert load(environ) == Preferences("light", {"normal-tall": PaneSizes(), "wide-tall": PaneSizes(60, None)})


def test_without_a_home_nothing_is_saved_and_nothing_fails() -> None:
    save({}, Preferences("light"))

    assert load({}) == Preferences()


def test_an_invalid_file_is_ignored(tmp_path: Path) -> None:
    for text in [
        "",
        "[]",
        "{",
        "null",
        "[" * 200_000,
        "\x00",
        '{"theme": 3}',
        '{"layouts": 3}',
        '{"theme": null, "layouts": []}',
    ]:
        folder = tmp_path / "recall"
        folder.mkdir(exist_ok=True)
        (folder / "workbench.json").write_text(text, encoding="utf-8")

        assert load({"XDG_STATE_HOME": str(tmp_path)}) == Preferences(), text


def test_an_invalid_size_falls_back_to_the_style_sheet(tmp_path: Path) -> None:
    for value in ["40", 40.5, True, None, LEAST - 1, MOST + 1, [], 10**30]:
        folder = tmp_path / "recall"
        folder.mkdir(exist_ok=True)
        record = {"layouts": {"x": {"right": value, "below": 50}, "y": value}}
        (folder / "workbench.json").write_text(json.dumps(record), encoding="utf-8")

        assert load({"XDG_STATE_HOME": str(tmp_path)}).layouts == {"x": PaneSizes(None, 50), "y": PaneSizes()}, value


def test_a_border_leaves_room_on_both_sides() -> None:
    assert [clamp(share) for share in (-10, 15.4, 50, 99)] == [LEAST, 15, 50, MOST]


def test_screens_fall_into_a_few_classes() -> None:
    found = [size_class(*size) for size in ((80, 24), (100, 31), (120, 40), (160, 32))]

    assert found == ["narrow-short", "normal-short", "normal-tall", "wide-tall"]


def test_a_failed_save_leaves_no_file_behind(tmp_path: Path) -> None:
    (tmp_path / "recall" / "workbench.json").mkdir(parents=True)

    with pytest.raises(OSError, match="directory"):
        save({"XDG_STATE_HOME": str(tmp_path)}, Preferences("light"))

    assert [path.name for path in (tmp_path / "recall").iterdir()] == ["workbench.json"]
