"""The user's keys: the content of keymap.toml, and faults that change nothing."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from recall_core.adapters.streams import Streams
from recall_tui.actions.action import acts_in, key_name, key_of
from recall_tui.actions.table import TABLE, Table, footer
from recall_tui.home.keymap import KEPT, Keymap, apply, read, to_toml
from recall_tui.program import run
from recall_tui.state.session import PANES, Session


def keys(table: Table, action: str) -> tuple[str, ...]:
    return next(each.keys for each in table.actions if each.id == action)


def test_every_key_of_the_table_can_be_written_and_read() -> None:
    for action in TABLE.actions:
        for key in action.keys:
            assert key_of(key_name(key)) == key == key_of(key)


def test_a_key_has_its_common_or_its_table_name() -> None:
    for spelt, key in [
        ("^q", "ctrl+q"),
        ("Ctrl+Home", "ctrl+home"),
        ("/", "slash"),
        ("A", "A"),
        ("PgDn", "pagedown"),
        ("é", "é"),
    ]:
        assert key_of(spelt) == key, spelt


def test_a_name_that_is_not_a_key_is_rejected() -> None:
    for spelt in ["", "fnord", "hyper+x", "F99", "shift+a", "ctrl+ctrl+x", "\x07", "++"]:
        assert key_of(spelt) is None, spelt


def test_the_printed_keymap_equals_the_table() -> None:
    assert apply(to_toml(TABLE)) == Keymap(TABLE)


def test_keys_of_an_action_are_replaced_or_removed() -> None:
    table, faults, _ = apply('[keys]\nzoom = ["F6", "F12"]\nrun = []\n')

    assert faults == ()
    assert (keys(table, "zoom"), keys(table, "run"), keys(table, "load_query")) == (("f6", "f12"), (), ("f3",))


def test_two_actions_may_swap_their_keys() -> None:
    table, faults, _ = apply("[keys]\n\"select(1)\" = ['k']\n'select(-1)' = [\"j\"]\n")

    assert faults == ()
    assert (keys(table, "select(1)"), keys(table, "select(-1)")) == (("k",), ("j",))


def test_the_ways_out_keep_their_keys() -> None:
    for action in KEPT:
        for text in (f"[keys]\n{action} = []", f'[keys]\nzoom = ["{KEPT[action]}"]'):
            assert KEPT[action] in keys(apply(text).table, action), action


def test_a_faulty_line_is_reported_and_the_table_stays() -> None:
    for line, fault in [
        ('zooom = ["x"]', "keymap.toml:3: unknown action 'zooom'; did you mean 'zoom'?"),
        ('zoom = ["fnord"]', "keymap.toml:3: zoom: unknown key 'fnord'"),
        ('zoom = ["^i"]', "keymap.toml:3: zoom: terminals send ^i as Tab"),
        ('zoom = ["ctrl+enter"]', "keymap.toml:3: zoom: terminals send ctrl+enter as Enter"),
        ('zoom = ["^q"]', "keymap.toml:3: zoom: ^q always stays with leave"),
        ('zoom = "x"', 'keymap.toml:3: zoom needs a list of keys, such as ["f6", "x"]'),
        ("zoom = [3]", 'keymap.toml:3: zoom needs a list of keys, such as ["f6", "x"]'),
        ('zoom = ["j"]', "keymap.toml:3: j is the key of select(1) in the results pane, so zoom keeps z"),
    ]:
        assert apply(f"# mine\n[keys]\n{line}\n") == Keymap(TABLE, (fault,)), line


def test_the_lower_of_two_lines_with_one_key_is_faulty() -> None:
    table, faults, _ = apply('[keys]\nrun = ["F12"]\nzoom = ["F12"]\n')

    assert (keys(table, "run"), keys(table, "zoom"), len(faults)) == (("f12",), ("z",), 1)
    assert faults[0].startswith("keymap.toml:3: F12 is the key of run")


def test_a_line_depending_on_a_faulty_one_fails_too() -> None:
    table, faults, _ = apply('[keys]\nhelp = ["z"]\nzoom = ["fnord"]\n')

    assert table == TABLE
    assert [fault.partition(": ")[0] for fault in faults] == ["keymap.toml:3", "keymap.toml:2"]


def test_an_invalid_file_is_reported_and_the_table_stays() -> None:
    for text in ["[keys", "keys = 3", "[more]\nx = 1", "[[keys]]\nzoom = 1", 'keys."zoom" = ', "\x00"]:
        table, faults, _ = apply(text)

        assert table == TABLE, text
        assert all(fault.startswith("keymap.toml:1: ") for fault in faults), text
        assert faults, text


def test_no_key_means_two_things_with_any_file() -> None:
    table, *_ = apply("[keys]\n" + "".join(f'"{action.id}" = ["F12", "j", "^t"]\n' for action in TABLE.actions))

    for pane in PANES:
        held = [key for action in table.actions if acts_in(action, pane) for key in action.keys]
        assert len(held) == len(set(held))


def test_the_footer_names_the_keys_in_force() -> None:
    table, *_ = apply('[keys]\nzoom = ["F6"]\nhelp = []\n')

    offers = footer(Session(pane="results"), editing=False, table=table)

    assert ("F6", "zoom", "zoom") in offers
    assert "help" not in [offer.action for offer in offers]


def test_the_keymap_is_in_the_config_folder(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    path = tmp_path / "recall" / "keymap.toml"
    assert read(environ) == read({}) == Keymap(TABLE)
    path.parent.mkdir()
    path.write_text('[keys]\nzoom = ["F6"]', encoding="utf-8")
    assert keys(read(environ).table, "zoom") == ("f6",)
    path.write_bytes(b"\xff")
    assert read(environ).table == TABLE
    assert str(path) in read(environ).faults[0]


def test_the_keys_in_force_are_printed_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "recall" / "keymap.toml"
    path.parent.mkdir()
    path.write_text('[keys]\nzoom = ["F6"]\nnext_pane = 3\n', encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()

    code = run(["--keys"], streams=Streams(io.StringIO(), out, err))

    assert code == 0
    assert keys(apply(out.getvalue()).table, "zoom") == ("f6",)
    assert err.getvalue().startswith(f"{path}:3: next_pane needs a list")


def test_a_letter_with_two_verbs_is_reported() -> None:
    table, faults, shared = apply('[keys]\nsync = ["w"]\n"budget(100)" = ["F6"]\n')

    assert faults == ()
    assert keys(table, "sync") == ("w",)
    assert shared == ("keymap.toml:2: w is sync there, and why this in results, explain, context",)


def test_a_letter_without_its_other_verb_is_not_reported() -> None:
    assert apply('[keys]\nsync = ["w"]\nwhy_this = ["W"]\nwrite_options = []\n').shared == ()
