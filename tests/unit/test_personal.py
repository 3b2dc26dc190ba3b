"""A person's own settings: their order, the file, and the places where they take effect."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core import config
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.config import Config
from recall_core.errors import ConfigError
from recall_core.personal import BUILT_IN, FILE, TABLE, Personal, load, place, resolve, save
from recall_tui.opening import FirstStore, create_store
from tests.unit.test_cli_judging import Terminal


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the person's file, which does not exist, from an empty folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return tmp_path / "config" / "recall" / FILE


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def run(*argv: str, stdout: io.StringIO | None = None) -> tuple[int, str, str]:
    out, err = stdout or io.StringIO(), io.StringIO()
    code = cli.main(argv, streams=Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


def test_variable_wins_over_file_and_file_over_default(file: Path) -> None:
    write(file, 'color = "always"\nquery_cache = 7\n\n[init]\nlanguage = "de"\n')
    environ = {**os.environ, "RECALL_QUERY_CACHE": "0", "RECALL_DAEMON": "1", "RECALL_INIT_CHUNK_TOKENS": "300"}

    found = resolve(environ)

    assert list(found) == list(TABLE.settings)
    assert found["query_cache"] == (0, "RECALL_QUERY_CACHE")
    assert found["color"] == ("always", str(file))
    assert found["query_cache_mb"] == (16, BUILT_IN)
    own = {"language": "de", "chunk_tokens": 300}
    assert load(environ) == Personal(daemon=True, query_cache=0, color="always", init=own)
    assert load({}) == Personal()


def test_no_color_wins_over_the_file_alone(file: Path) -> None:
    write(file, 'color = "always"\n')
    for variables, color in (
        ({}, "always"),
        ({"NO_COLOR": ""}, "always"),
        ({"NO_COLOR": "1"}, "never"),
        ({"NO_COLOR": "1", "RECALL_COLOR": "auto"}, "auto"),
        ({"RECALL_COLOR": ""}, "always"),
    ):
        assert load({**os.environ, **variables}).color == color, variables


def test_wrong_setting_names_its_file_or_variable(file: Path) -> None:
    for text, hint in (
        ("colour = 'never'", "did you mean color?"),
        ("color = 'purple'", "one of: auto, always, never"),
        ("daemon = 1", "daemon = false"),
        ("daemon_idle_minutes = 0", "daemon_idle_minutes = 10"),
        ("init = 3", None),
        ("[init]\nlexical_weight = 0.5", None),
        ("[init]\nchunk_tokens = 10", "overlap_tokens = 80"),
        ("[tables]\na = 1", None),
        ("color = ", None),
    ):
        write(file, text)
        with pytest.raises(ConfigError) as raised:
            load(os.environ)

        assert (raised.value.code, str(file) in raised.value.message) == ("config_invalid", True), text
        assert raised.value.hint
        assert hint in (None, raised.value.hint), text

    with pytest.raises(ConfigError, match=r"^RECALL_DAEMON: daemon takes true or false, not 'maybe'") as raised:
        load({"RECALL_DAEMON": "maybe"})
    assert (raised.value.code, raised.value.hint) == ("config_invalid", "export RECALL_DAEMON=false")


def test_special_or_unreachable_file_sets_nothing(file: Path) -> None:
    for home in ("/dev/null", "/proc/1/nowhere"):
        assert load({"HOME": home}, "linux") == Personal()
    file.parent.mkdir(parents=True)
    os.mkfifo(file)

    assert load(os.environ) == Personal()


def test_workspace_cannot_hold_settings_of_a_person(tmp_path: Path) -> None:
    for line in ("daemon = true", 'editor = "rm"', "[init]\nallow_network = true"):
        (tmp_path / "recall.toml").write_text(line, encoding="utf-8")
        with pytest.raises(ConfigError) as raised:
            config.load(tmp_path / "recall.toml")

        assert raised.value.code == "unknown_key", line


def test_no_setting_of_a_person_changes_a_ranking() -> None:
    live = {key for key, setting in config.SETTINGS.items() if setting.live}

    assert live.isdisjoint(name.removeprefix("init.") for name in TABLE.settings)
    assert set(TABLE.settings) == set(TABLE.defaults)


def test_file_as_it_is_saved_is_read_without_tomllib(file: Path) -> None:
    for name, text in (("init.language", "de"), ("color", "never"), ("daemon", "on")):
        save(name, text, os.environ)
    script = (
        "import os, sys; from recall_core import personal; personal.load(os.environ); print('tomllib' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
    assert load(os.environ) == Personal(daemon=True, color="never", init={"language": "de"})


def test_change_keeps_comments_other_lines_and_links(file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    lines = ["# mine", "color = 'purple'  # wrong", "future = [1,  2]", "", "[init]", "# few", "language = 'de'", ""]
    kept.write_bytes("\r\n".join(lines).encode())
    file.parent.mkdir(parents=True)
    file.symlink_to(kept)

    save("color", "never", os.environ)
    save("init.counter", "approx", os.environ)
    save("init.language", None, os.environ)

    changed = {lines[1]: 'color = "never"  # wrong', lines[6]: 'counter = "approx"'}
    assert file.is_symlink()
    assert kept.read_text(encoding="utf-8").splitlines() == [changed.get(line, line) for line in lines[:-1]]


def test_saved_file_is_private(file: Path) -> None:
    save("init.language", "de", os.environ)
    save("color", "never", os.environ)
    save("editor", None, os.environ)

    assert file.read_text(encoding="utf-8") == 'color = "never"\n\n[init]\nlanguage = "de"\n'
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file, file.parent)] == [0o600, 0o700]


def test_refused_change_leaves_the_file_alone(file: Path) -> None:
    for content, name, text, code in (
        ("color = ", "color", "never", "config_invalid"),
        ("\udcff", "color", "never", "config_invalid"),
        ("init = 3\n", "init.language", "de", "config_invalid"),
        ("", "colour", "never", "unknown_key"),
        ("", "init.pool", "9", "unknown_key"),
        ("", "color", "purple", "bad_value"),
        ("", "query_cache", "-1", "bad_value"),
        ("", "init.chunk_tokens", "10", "bad_value"),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode(errors="surrogateescape"))
        with pytest.raises(ConfigError) as raised:
            save(name, text, os.environ)

        assert raised.value.code == code, (content, name)
        assert file.read_bytes() == content.encode(errors="surrogateescape")


def test_setting_without_home_or_with_folder_in_its_place(file: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        save("daemon", "on", {})
    assert (raised.value.code, raised.value.hint) == ("settings_unwritable", "export RECALL_DAEMON=on")

    file.mkdir(parents=True)
    with pytest.raises(ConfigError, match="add by hand: daemon = true") as raised:
        save("daemon", "on", os.environ)
    assert raised.value.code == "settings_unwritable"


def spelled(name: str) -> st.SearchStrategy[str]:
    setting, default = TABLE.settings[name], TABLE.defaults[name]
    if setting.choices:
        return st.sampled_from(setting.choices)
    if isinstance(default, bool):
        return st.sampled_from(("true", "off", "1"))
    if isinstance(default, int):
        return st.just(str(default))
    return st.text(st.characters(codec="utf-8"), max_size=20)


@given(st.sampled_from(list(TABLE.settings)).flatmap(lambda name: st.tuples(st.just(name), spelled(name))))
@example(("editor", r"my\ editor \n 'x'"))
def test_saved_value_is_read_back(tmp_path_factory: pytest.TempPathFactory, change: tuple[str, str]) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("config"))}
    name, text = change

    saved = save(name, text, environ).setting

    assert resolve(environ)[name] == saved == (saved.value, str(place(environ)))
    assert saved.value == text or not isinstance(saved.value, str)


def test_command_lists_gets_sets_and_unsets(file: Path) -> None:
    assert run("config", "set", "color", "never") == (0, f'color = "never"  # {file}\n', "")
    assert run("config", "get", "color") == (0, "never\n", "")
    assert run("config", "get", "daemon", "--show-origin") == (0, "false  # built-in\n", "")
    code, listed, _ = run("config", "list", "--show-origin")
    assert (code, len(listed.splitlines())) == (0, len(TABLE.settings))
    assert f'\ncolor = "never"  # {file}\n' in listed
    assert run("config")[1].startswith("daemon = false  # let a daemon")
    assert run("config", "unset", "color") == (0, 'color = "auto"  # built-in\n', "")
    assert file.read_text(encoding="utf-8") == ""
    view = json.loads(run("config", "get", "query_cache", "--json")[1])["settings"]
    assert [(each["name"], each["value"], each["default"], each["origin"]) for each in view] == [
        ("query_cache", 256, 256, BUILT_IN)
    ]


def test_command_refuses_too_few_words_and_too_many(file: Path) -> None:
    for argv, code in (
        (("get",), "missing_argument"),
        (("set", "color"), "missing_argument"),
        (("list", "color"), "unexpected_argument"),
        (("unset", "color", "never"), "unexpected_argument"),
        (("get", "colour"), "unknown_key"),
        (("edit",), "bad_value"),
    ):
        error = json.loads(run("config", *argv, "--json")[1])["error"]
        assert (error["code"], bool(error["hint"])) == (code, True), argv
    assert not file.exists()


def test_wrong_file_is_mended_by_the_command(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(file, 'color = "purple"\ncolour = 1\n')
    assert run("config")[0] == 2
    assert run("config", "set", "color", "never")[0] == 0

    monkeypatch.setenv("RECALL_COLOR", "auto")
    warned = run("config", "set", "color", "always")[2]

    assert warned == f"warning: W_CONFIG: RECALL_COLOR is set and wins over color in {file}\n"


def test_new_store_keeps_settings_of_its_maker(file: Path) -> None:
    write(
        file,
        '[init]\nembedding = "hash"\nembedding_dim = 64\nchunk_tokens = 300\nlanguage = "de"\nembedding_url = "http://a"\n',
    )
    for folder, flags, expected in (
        ("a", (), (64, 300, "de", "http://a")),
        ("b", ("--embedding", "hash", "--language", "none"), (512, 300, "none", "")),
        ("c", ("--set", "chunk_tokens=200", "--set", "embedding_dim=128"), (128, 200, "de", "")),
    ):
        assert run("init", folder, *flags)[0] == 0
        made = config.load(Path(folder, "recall.toml"))
        found = (made.embedding_dim, made.chunk_tokens, made.language, made.embedding_url)
        assert found == expected, folder
    with create_store("d", FirstStore(".", "hash")) as recall:
        assert (recall.config.embedding_dim, recall.config.chunk_tokens) == (512, 300)


def test_existing_recall_toml_is_kept_without_a_note(file: Path) -> None:
    write(file, "[init]\nchunk_tokens = 300\n")
    Path("recall.toml").write_text('embedding = "hash"\n', encoding="utf-8")

    code, _, said = run("init")

    assert (code, "ignored" in said) == (0, False)
    assert config.load(Path("recall.toml")).chunk_tokens == Config().chunk_tokens


def test_color_reaches_terminals_and_pipes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    run("init", "--embedding", "hash")
    Path("a.md").write_text("# Retry\n\nRetry with backoff.\n", encoding="utf-8")
    run("add", "a.md")
    for color, stream, is_drawn, has_colour in (
        ("auto", Terminal, True, True),
        ("never", Terminal, True, False),
        ("auto", io.StringIO, False, False),
        ("always", io.StringIO, True, True),
    ):
        write(file, f'color = "{color}"\n')
        shown = run("search", "retry", stdout=stream())[1]
        assert ("\x1b[1m" in shown, "\x1b[36m" in shown) == (is_drawn, has_colour), (color, stream)
    assert run("search", "retry", "--json")[1].startswith("{")
