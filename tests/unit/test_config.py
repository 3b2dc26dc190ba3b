"""Settings as typed and as written: escapes, control characters and invalid values."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import FILE_NAME, Config, Settings, assign, assignments, load, override, settings_of
from recall_core.errors import ConfigError, RecallError, UsageError
from recall_core.maintain.embedders import write_settings
from recall_core.shell import Hint


def test_known_escape_means_its_character() -> None:
    for typed, meant in [
        (r"\n—\n", "\n—\n"),
        (r"é\té", "é\té"),
        (r"\\n", r"\n"),
        (r"\r\f", "\r\f"),
        (r"\x0b\u2014\U0001F600", "\x0b—😀"),
        (r"\x41", "A"),
        ("—", "—"),
    ]:
        assert override(Config(), [f"separator={typed}"]).separator == meant, typed


def test_unknown_escape_is_refused_with_a_hint() -> None:
    for typed in ["\\", "a\\", r"\q", r"a\b.db", r"\x4", r"\u12", r"\U00110000", r"\N{DASH}", "\\\n"]:
        with pytest.raises(ConfigError) as caught:
            override(Config(), [f"separator={typed}"])

        assert (caught.value.code, caught.value.exit_code) == ("bad_value", 2), typed
        assert "separator" in caught.value.message, typed
        assert r"\\" in (caught.value.hint or ""), typed


def test_init_writes_settings_that_every_command_reads(tmp_path: Path) -> None:
    for typed in [r"\x0b", r"\f", r"\x00", r"\x7f", r"\r", '"', "\x1f\x85\u2028"]:
        base = tmp_path / typed.encode("unicode_escape").hex()
        Recall.init(str(base), settings=[f"separator={typed}"])

        with Recall.open(start=base) as recall:
            assert recall.config.separator == override(Config(), [f"separator={typed}"]).separator, typed


def test_database_needs_its_own_file(tmp_path: Path) -> None:
    for name in [FILE_NAME, f"./{FILE_NAME}", f"x/../{FILE_NAME}", f"../new/{FILE_NAME}", "", ".", r"a\x00b"]:
        with pytest.raises(RecallError) as caught:
            Recall.init(str(tmp_path / "new"), settings=[f"store_path={name}"])

        assert caught.value.code == "bad_value", name
        assert "store_path" in caught.value.message, name
        assert list(tmp_path.iterdir()) == [], name


def test_recall_toml_cannot_name_itself(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(f'store_path = "{FILE_NAME}"\n', encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        Recall.init(str(tmp_path))

    assert caught.value.code == "bad_value"
    assert (tmp_path / FILE_NAME).read_text(encoding="utf-8") == f'store_path = "{FILE_NAME}"\n'


def test_header_with_an_absurd_width_is_refused(tmp_path: Path) -> None:
    for header in [
        "{n:>9999999999}",
        "{n:.1001f}",
        "{path:>{n}}",
        "{title:{title}}",
        "{n:>1001}",
        "{n:>٩٩٩٩}",
        "{n:>" + "9" * 5000 + "}",
    ]:
        (tmp_path / FILE_NAME).write_text(f'header = "{header}"\n', encoding="utf-8")

        with pytest.raises(ConfigError) as typed:
            override(Config(), [f"header={header}"])
        with pytest.raises(ConfigError) as written:
            load(tmp_path / FILE_NAME)
        assert typed.value.code == written.value.code == "bad_value", header


def test_header_may_align_its_fields() -> None:
    assert (
        override(Config(), ["header={n:>3} {path:9>1000} {{x:99999}}"]).header == "{n:>3} {path:9>1000} {{x:99999}}"
    )


def test_bom_before_settings_is_ignored(tmp_path: Path) -> None:
    toml = tmp_path / FILE_NAME
    toml.write_bytes(b"\xef\xbb\xbfpool = 7 # mine\n")

    assert load(toml).pool == 7

    write_settings(toml, {"pool": 8})
    assert toml.read_bytes() == b"\xef\xbb\xbfpool = 8 # mine\n"


def test_unencodable_text_is_refused() -> None:
    for typed in ["\udcff", r"\ud800", r"\uD83D\uDE00"]:
        with pytest.raises(ConfigError) as caught:
            assign(Config(), [f"embedding_model={typed}"], where="--set")

        assert caught.value.code == "bad_value", typed


def test_overlarge_number_in_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(f"vector_weight = 1{'0' * 400}\n")

    with pytest.raises(ConfigError) as caught:
        load(tmp_path / FILE_NAME)

    assert caught.value.code == "bad_value"


VALUES: Settings = {
    "separator": "A\\n\n",
    "rerank": "onnx:/Models/Big",
    "vector_weight": 1e-05,
    "pool": 7,
    "strict": True,
}


def test_printed_settings_read_back_equal() -> None:
    assert settings_of(assignments(VALUES), where="--set") == VALUES
    assert override(Config(), assignments(VALUES)) == override(Config(), VALUES)


def test_last_of_repeated_settings_wins() -> None:
    typed = ("vector_weight=.70", "sparse_recall=off", "pool=7", "pool=9")

    assert settings_of(typed, where="--set") == {"vector_weight": 0.7, "sparse_recall": False, "pool": 9}
    assert assignments(typed) == typed


def test_store_setting_is_refused_in_both_forms() -> None:
    for settings in [["embedding_dim=64"], {"embedding_dim": 64}]:
        with pytest.raises(UsageError) as caught:
            override(Config(), settings)

        hint = Hint("reembed", "hash", set="embedding_dim=64")
        assert (caught.value.code, caught.value.hint) == ("setting_fixed", hint), settings


def test_unknown_name_or_value_is_refused_with_a_code() -> None:
    for settings, code, message in [
        ({"pool": "x"}, "bad_value", "--set: pool takes a whole number, not 'x'."),
        ({"pool": True}, "bad_value", "--set: pool takes a whole number, not True."),
        ({"pool": 2.0}, "bad_value", "--set: pool takes a whole number, not 2.0."),
        ({"pool": None}, "bad_value", "--set: pool takes a whole number, not None."),
        ({"strict": 1}, "bad_value", "--set: strict takes true or false, not 1."),
        ({"fusion": ["rrf"]}, "bad_value", "--set: fusion takes a string, not ['rrf']."),
        ({"vector_weight": "0.5"}, "bad_value", "--set: vector_weight takes a number, not '0.5'."),
        ({"vector_weight": float("nan")}, "bad_value", "--set: vector_weight must be from 0 to 1000, not nan."),
        ({"vector_weight": 10**400}, "bad_value", "--set: vector_weight must be from 0 to 1000, not inf."),
        ({"vector_weight": -(10**400)}, "bad_value", "--set: vector_weight must be from 0 to 1000, not -inf."),
        ({"nope": 1}, "unknown_key", "--set has no setting 'nope'."),
        ({1: 2}, "unknown_key", "--set has no setting 1."),
        ({None: None}, "unknown_key", "--set has no setting None."),
    ]:
        with pytest.raises(ConfigError) as caught:
            override(Config(), settings)

        assert (caught.value.code, str(caught.value)) == (code, message), settings
        assert caught.value.hint, settings
