"""Found settings: nothing is sent and no code loaded without acceptance; and each way to accept."""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.config import Config, load
from recall_core.embed import registry
from recall_core.embed.trust import EMBEDDER, FoundSettings
from recall_core.errors import ConfigError
from recall_core.maintain.embedders import write_settings
from recall_tui.opening import open_to_ask
from recall_tui.state.events import Answered, Ran, Repacked, Waits
from recall_tui.state.records import Packing
from recall_tui.state.transitions import QueryRequest
from recall_tui.threads.query_thread import QueryThread
from recall_tui.threads.writing import CommandThread
from tests.event_log import EventLog
from tests.plug_ins import scan_once, write_plug_in
from tests.provider_server import ProviderServer, provider_server

KEY = "the-key-of-this-person"
PLUG_IN = """
from pathlib import Path
Path(__file__).with_name("loaded").touch()
from recall_core.embed.hash import HASH
class Kind:
    name, purpose, vector_weight = "stranger", "a stranger's", 0.5
    def sends_text(self, config): return False
    def missing(self, config): return None
    def dimension(self, config): return 64
    def recognises(self, identity, config): return identity == "hash-1:64"
    def new(self, config, *, dimension=None): return HASH.new(config, dimension=64)
KIND = Kind()
"""


@pytest.fixture(autouse=True)
def one_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan installed packages once for each sys.path, since a scan takes 60 ms."""
    scan_once(monkeypatch)


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the state folder of a user with a key who has accepted nothing yet."""
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("RECALL_TRUST", raising=False)
    return state / "recall" / "trust.json"


@pytest.fixture(scope="module")
def listening() -> Iterator[ProviderServer]:
    with provider_server() as listening:
        yield listening


@pytest.fixture
def server(listening: ProviderServer) -> ProviderServer:
    listening.seen.clear()
    return listening


@pytest.fixture(scope="module")
def foreign_template(listening: ProviderServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("strangers") / "foreign"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.txt").write_text("the quokka smiles\n")
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("XDG_STATE_HOME", str(folder.parent / "their-state"))
        theirs.setenv("OPENAI_API_KEY", "the-key-of-the-stranger")
        Recall.init(str(folder), embedding="openai", settings=to(listening))
        with Recall.open(str(folder)) as recall:
            recall.index(str(folder / "docs"))
    return folder


@pytest.fixture
def foreign(foreign_template: Path, tmp_path: Path, server: ProviderServer) -> Path:
    """Return a folder received from a stranger: a store, and a recall.toml that names their server."""
    return Path(shutil.copytree(foreign_template, tmp_path / "foreign"))


def to(server: ProviderServer) -> dict[str, str]:
    return {"embedding_url": server.url, "embedding_model": "theirs"}


def run(*argv: str, terminal: str | None = None) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command. terminal: typed input; None without a terminal."""
    screen: type[io.StringIO] = io.StringIO if terminal is None else Screen
    out, err = io.StringIO(), screen()
    code = cli.main(argv, streams=Streams(screen(terminal or ""), out, err))
    return code, out.getvalue(), err.getvalue()


class Screen(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def answer(*argv: str) -> dict[str, object]:
    code, out, _ = run(*argv, "--json")
    decoded: dict[str, object] = json.loads(out)
    assert decoded["ok"] is (code == 0)
    return decoded


ASKING = (
    ("search", "quokka"),
    ("search", "--vector", "quokka"),
    ("query", "SELECT * FROM chunk USING semantic('quokka')"),
    ("context", "quokka"),
    ("whynot", "quokka", "--target", "docs/a.txt"),
    ("trace", "quokka"),
    ("report", "quokka", "--md", "-"),
    ("diff", "quokka", "--b", "vector_weight=0.7"),
    ("sync",),
    ("add", "docs"),
    ("search", "quokka", "--bm25", "--fresh"),
)


def test_foreign_recall_toml_sends_nothing_and_is_described(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    for argv in ASKING:
        code, _, said = run(*argv)

        assert (code, server.seen) == (2, []), argv
        assert f"recall.toml in {foreign} would send every question and text to {server.url} as model theirs" in said
        assert "with the key in OPENAI_API_KEY" in said, argv
        assert "hint: recall trust, or recall search --bm25 …\n" in said, argv


def test_naming_a_store_accepts_nothing(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for way in ("folder", "flag", "variable", "file"):
        before = ("--store", str(foreign / "recall.db")) if way == "file" else ()
        before = ("--store", str(foreign)) if way == "flag" else before
        with monkeypatch.context() as here:
            if way == "variable":
                here.setenv("RECALL_STORE", str(foreign))
            if way == "folder":
                here.chdir(foreign / "docs")
            code, _, said = run(*before, "search", "quokka")

        assert (code, server.seen) == (2, []), way
        hint = "recall trust, or" if way == "folder" else f"recall --store {foreign} trust, or"
        assert f"hint: {hint}" in said, way


def test_commands_without_an_embedder_still_work(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    others = {name: home for name, home in registry.KINDS.items() if name not in ("local", "minilm")}
    monkeypatch.setattr(registry, "KINDS", others)  # probing these two would load their models
    lines = (
        ("search", "--bm25", "quokka"), ("query", "SELECT * FROM chunk USING lexical('quokka')"),
        ("get", "docs/a.txt"), ("stats",), ("doctor",), ("export",), ("roots",), ("embedders", "--probe"),
        ("context", "--bm25", "quokka"), ("compact",), ("rm", "docs/a.txt", "--dry-run"),
    )  # fmt: skip

    assert [(line[0], run(*line)[0]) for line in lines] == [(line[0], 0) for line in lines]
    assert "smiles" in run("search", "--bm25", "quokka")[1]
    assert "W_CONFIG" not in run("stats")[2]
    assert server.seen == []


def test_user_accepts_exactly_the_settings_shown(
    foreign: Path, server: ProviderServer, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    _, shown, _ = run("trust", "--show")
    assert f"send every question and text to {server.url} as model theirs with the key in OPENAI_API_KEY" in shown

    code, _, asked = run("trust", terminal="y\n")

    assert code == 0
    assert server.url in asked
    assert json.loads(person.read_text()) == {str(foreign): shown.split("sha256")[1].split()[0]}
    assert oct(person.stat().st_mode & 0o777) == "0o600"
    assert run("search", "quokka")[0] == 0
    assert server.seen[-1].headers["authorization"] == f"Bearer {KEY}"


def test_nothing_is_accepted_without_a_yes(foreign: Path, person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(foreign)
    for typed in ("n\n", "", None):
        code, _, said = run("trust", terminal=typed)

        assert code == 2, typed
        assert "recall trust" in said, typed
        assert not person.exists(), typed


def test_changed_values_ask_again(foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(foreign)
    toml = foreign / "recall.toml"
    accepted = toml.read_text()
    assert run("trust", "--yes")[0] == 0
    values = {"embedding_url": f"{server.url}/other", "embedding_model": "another", "rerank": "openai"}
    for change, value in values.items():
        toml.write_text(accepted)
        assert run("search", "quokka")[0] == 0, change
        server.seen.clear()
        write_settings(toml, {change: value})

        code, _, said = run("search", "quokka")

        assert (code, server.seen) == (2, []), change
        assert "The settings have changed since you accepted them." in said, change


def test_acceptance_can_be_withdrawn(foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(foreign)
    run("trust", "--yes")

    assert run("trust", "--forget")[0] == 0

    assert run("search", "quokka")[0] == 2
    assert server.seen == []


def test_ci_accepts_by_the_shown_digest(
    foreign: Path, server: ProviderServer, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    view = answer("trust", "--show")["trust"]
    assert isinstance(view, dict)
    assert (view["accepted"], view["kept"]) == (False, False)
    monkeypatch.setenv("RECALL_TRUST", f"{'0' * 64},{view['sha256']}")

    assert run("search", "quokka")[0] == 0
    assert len(server.seen) == 1
    write_settings(foreign / "recall.toml", {"embedding_model": "another"})
    assert run("search", "quokka")[0] == 2
    assert len(server.seen) == 1
    assert not person.exists()


def test_digest_covers_the_settings_not_the_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "recall.toml").write_text('embedding = "ollama"\n')

    one, two = (answer("--store", str(tmp_path / name), "trust", "--show")["trust"] for name in ("one", "two"))

    assert isinstance(one, dict)
    assert isinstance(two, dict)
    assert one["sha256"] == two["sha256"]


def test_open_with_trust_accepts_the_settings(foreign: Path, server: ProviderServer, person: Path) -> None:
    with Recall.open(str(foreign), trust=True) as recall:
        assert len(recall.search("quokka")["results"]) == 1

    assert len(server.seen) == 1
    assert not person.exists()
    with Recall.open(str(foreign)) as recall, pytest.raises(ConfigError) as caught:
        recall.search("quokka")
    assert caught.value.code == "untrusted_config"


def test_digest_works_in_a_container_without_a_home(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    assert "without a home folder no acceptance can be saved" in run("search", "quokka")[2]

    code, _, told = run("trust", "--yes")

    hint = told.partition("hint: export ")[2].strip()
    assert (code, server.seen) == (2, [])
    monkeypatch.setenv(*hint.split("="))
    assert run("search", "quokka")[0] == 0


def test_file_of_another_user_is_accepted_for_one_run_only(
    foreign: Path, server: ProviderServer, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    monkeypatch.setattr(os, "geteuid", lambda: (foreign / "recall.toml").stat().st_uid + 1)
    assert "The file belongs to another user" in run("search", "quokka")[2]

    code, _, told = run("trust", "--yes")

    assert (code, person.exists(), server.seen) == (2, False, [])
    monkeypatch.setenv(*told.partition("hint: export ")[2].strip().split("="))
    assert run("search", "quokka")[0] == 0
    with Recall.open(str(foreign), trust=True) as recall:
        assert recall.search("quokka")["results"]


def test_file_with_a_new_owner_is_no_longer_accepted(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    run("trust", "--yes")
    toml, stat = foreign / "recall.toml", Path.stat

    def of_another(path: Path, **options: bool) -> os.stat_result:
        found = stat(path, **options)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:])) if path == toml else found

    monkeypatch.setattr(Path, "stat", of_another)

    assert run("search", "quokka")[0] == 2
    assert server.seen == []


def test_first_message_after_an_upgrade_explains_the_change(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(foreign)

    assert "Since version 0.1.0 such settings wait until you accept them." in run("search", "quokka")[2]


# Explicit requests of a user.


def test_new_store_accepts_the_settings_of_its_creator(
    tmp_path: Path, server: ProviderServer, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a quokka\n")
    flags = [word for key, value in to(server).items() for word in ("--set", f"{key}={value}")]
    assert run("init", "--embedding", "openai", *flags)[0] == 0

    assert [run(*line)[0] for line in (("add", "a.txt"), ("search", "quokka"))] == [0, 0]
    assert list(json.loads(person.read_text())) == [str(tmp_path)]


def test_local_store_writes_nothing_to_the_state_folder(tmp_path: Path, person: Path) -> None:
    Recall.init(str(tmp_path / "plain"))
    with Recall.open(str(tmp_path / "plain")) as recall:
        recall.search("quokka")

    assert not person.parent.exists()


def test_new_store_without_a_home_explains_how_to_accept(
    tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")

    warnings = Recall.init(str(tmp_path / "made"), embedding="openai", settings=to(server))["warnings"]

    (warning,) = [each for each in warnings if each.startswith("W_TRUST")]
    monkeypatch.setenv(*warning.partition("export ")[2].split("="))
    with Recall.open(str(tmp_path / "made")) as recall:
        assert recall.search("quokka")["results"] == []


def test_init_accepts_nothing_of_an_existing_recall_toml(
    tmp_path: Path, server: ProviderServer, person: Path
) -> None:
    lines = "".join(f'{key} = "{value}"\n' for key, value in to(server).items())
    (tmp_path / "recall.toml").write_text(f'embedding = "openai"\nallow_network = true\n{lines}')

    for flags in ((), ("--embedding", "auto"), ("--embedding", "openai"), ("--embedding", "hash")):
        code, _, said = run("init", str(tmp_path), *flags)

        assert (code, server.seen, person.exists()) == (2, [], False), flags
        assert server.url in said, flags
        assert not (tmp_path / "recall.db").exists(), flags


def test_found_auto_setting_sends_no_key(tmp_path: Path, server: ProviderServer) -> None:
    (tmp_path / "recall.toml").write_text(
        f'embedding = "auto"\nallow_network = true\nembedding_url = "{server.url}"\nembedding_model = "x"\n'
    )

    assert run("init", str(tmp_path), "--embedding", "auto")[0] == 2
    assert server.seen == []


def test_in_memory_store_below_a_foreign_recall_toml_sends_nothing(foreign: Path, server: ProviderServer) -> None:
    with pytest.raises(ConfigError) as caught:
        Recall.open(":memory:", start=foreign)

    assert (caught.value.code, server.seen) == ("untrusted_config", [])
    with Recall.open(":memory:", start=foreign, trust=True) as recall:
        assert recall.search("quokka")["results"] == []


@pytest.fixture(scope="module")
def plain_template(listening: ProviderServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home") / "plain"
    Recall.init(str(folder))
    (folder / "a.txt").write_text("a quokka\n")
    with Recall.open(str(folder)) as recall:
        recall.index(str(folder / "a.txt"))
    write_settings(folder / "recall.toml", {**to(listening), "allow_network": True})
    return folder


@pytest.fixture
def plain(plain_template: Path, tmp_path: Path, server: ProviderServer) -> Path:
    """Return a store of hash vectors whose recall.toml still names a server."""
    return Path(shutil.copytree(plain_template, tmp_path / "plain"))


def test_named_embedder_uses_no_found_server(plain: Path, server: ProviderServer) -> None:
    code, _, told = run("--store", str(plain), "reembed", "openai")

    assert (code, server.seen) == (2, [])
    assert f"--set embedding_url={server.url} --set embedding_model=theirs" in told
    named = [word for key, value in to(server).items() for word in ("--set", f"{key}={value}")]
    assert run("--store", str(plain), "reembed", "openai", *named)[0] == 0
    assert run("--store", str(plain), "search", "quokka")[0] == 0


def test_auto_sends_nothing_if_only_the_file_allows_network(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_settings(plain / "recall.toml", {"embedding_url": "", "embedding_model": ""})
    monkeypatch.setattr(registry, "FOUND_BY_AUTO", ("openai",))

    code, _, told = run("--store", str(plain), "reembed", "auto")

    assert code == 2
    assert "https://api.openai.com/v1" in told
    assert "--set allow_network=true" in told


def test_new_embedder_leaves_other_settings_unaccepted(plain: Path, server: ProviderServer) -> None:
    write_settings(plain / "recall.toml", {"rerank": "openai", "embedding_model": ""})
    named = ("--set", f"embedding_url={server.url}", "--set", "embedding_model=mine")

    code, _, told = run("--store", str(plain), "reembed", "ollama", *named)

    assert code == 0
    assert "W_TRUST: " in told
    server.seen.clear()
    assert run("--store", str(plain), "search", "quokka")[0] == 2
    assert server.seen == []


def test_new_local_embedder_keeps_accepted_settings(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    write_settings(foreign / "recall.toml", {"rerank": "openai"})
    run("trust", "--yes")

    assert run("reembed", "hash")[0] == 0

    server.seen.clear()
    assert run("search", "quokka")[0] == 0
    assert server.seen != []


# Rerankers, plug-ins, places.


def test_reranker_contacts_no_found_server(
    plain: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(plain)
    (plain / "other.toml").write_text('rerank = "openai"\nembedding_url = "http://127.0.0.1:9/v1"\n')
    for argv, is_found in [
        (("search", "--bm25", "quokka", "--set", "rerank=openai"), False),
        (("query", "SELECT * FROM chunk USING lexical('quokka') OPTION rerank openai"), False),
        (("diff", "--bm25", "quokka", "--b", str(plain / "other.toml")), False),
        (("warm", "--all", "--set", "rerank=openai"), False),
        (("search", "--bm25", "quokka"), True),
        (("warm", "--all"), True),
    ]:
        if is_found:
            write_settings(plain / "recall.toml", {"rerank": "openai"})

        code, _, said = run(*argv)

        assert (code, server.seen) == (2, []), argv
        assert "best texts" in said, argv


def test_accepted_reranker_contacts_its_server(
    plain: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(plain)
    write_settings(plain / "recall.toml", {"rerank": "openai"})
    run("trust", "--yes")

    assert run("search", "quokka")[0] == 0
    assert server.seen != []


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that the plug-in creates when it is loaded."""
    site = tmp_path / "site"
    embedder, reranker = "stranger = stranger_to_trust:KIND\n", "scorer = stranger_to_trust:KIND\n"
    counter = "sundial = stranger_to_trust:KIND\n"
    entry_points = f"[recall.embedder]\n{embedder}[recall.reranker]\n{reranker}[recall.counter]\n{counter}"
    write_plug_in(site, "stranger_to_trust", entry_points, source=PLUG_IN)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "stranger_to_trust", raising=False)
    importlib.invalidate_caches()
    return site / "loaded"


def test_found_plug_in_is_not_even_loaded(plain: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain)
    toml = plain / "recall.toml"
    before = toml.read_text()
    found: tuple[dict[str, str | float | bool], ...] = (
        {"embedding": "stranger"},
        {"rerank": "scorer"},
        {"rerank": "stranger"},
        {"counter": "sundial"},
        {"pack_counter": "sundial"},
    )
    for settings in found:
        toml.write_text(before)
        write_settings(toml, settings)
        for line in (("search", "quokka"), ("search", "--bm25", "quokka"), ("stats",), ("doctor",), ("sync",)):
            run(*line)
        with monkeypatch.context() as at_init:
            at_init.chdir(plain.parent)
            lines = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
            (plain.parent / "recall.toml").write_text(lines)
            run("init", "--embedding", "hash")
            (plain.parent / "recall.db").unlink(missing_ok=True)

        assert not installed.exists(), settings
        assert "the plug-in s" in run("trust", "--show")[1], settings


def test_naming_a_file_or_auto_loads_no_plug_in(
    plain: Path, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(plain)
    monkeypatch.setattr(registry, "FOUND_BY_AUTO", ())
    write_settings(
        plain / "recall.toml", {"embedding_url": "", "embedding_model": "", "embedding_fallback": "stranger"}
    )
    (plain / "other.toml").write_text('rerank = "scorer"\n')

    for argv in (("diff", "--bm25", "quokka", "--b", "other.toml"), ("reembed", "auto")):
        code, _, said = run(*argv)

        assert (code, installed.exists()) == (2, False), argv
        assert "load the plug-in s" in said, argv


def test_explicitly_named_plug_in_is_loaded(plain: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain)
    write_settings(plain / "recall.toml", {"embedding_url": "", "embedding_model": ""})

    assert run("reembed", "stranger")[0] == 0
    assert run("search", "quokka")[0] == 0
    assert installed.exists()


def test_accepted_plug_in_is_loaded(plain: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plain)
    write_settings(plain / "recall.toml", {"embedding": "stranger"})
    run("trust", "--yes")

    run("search", "quokka")

    assert installed.exists()


def test_store_outside_its_folder_needs_acceptance(tmp_path: Path) -> None:
    Recall.init(str(tmp_path / "private"))
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "recall.db").symlink_to(tmp_path / "private" / "recall.db")
    (folder / "inside").symlink_to(tmp_path / "private")
    places = {
        "absolute": str(tmp_path / "private" / "recall.db"),
        "upwards": "../private/recall.db",
        "link": "recall.db",
        "linked folder": "inside/recall.db",
    }
    for way, place in places.items():
        (folder / "recall.toml").write_text(f'store_path = "{place}"\n')

        for verb in ("stats", "search"):
            code, _, said = run("--store", str(folder), verb, *("quokka",) * (verb == "search"))
            assert code == 2, way
            assert str(tmp_path / "private" / "recall.db") in said, way
            assert "--bm25" not in said, way  # opening it would need acceptance too
        assert run("--store", str(folder), "trust", "--yes")[0] == 0, way
        assert run("--store", str(folder), "stats")[0] == 0, way
        assert run("--store", str(folder), "trust", "--forget")[0] == 0, way


def test_outside_store_chosen_by_its_creator_needs_no_acceptance(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    Recall.init(str(tmp_path / "here"), settings={"store_path": str(tmp_path / "disk" / "big.db")})

    assert run("--store", str(tmp_path / "here"), "stats")[0] == 0


def test_store_in_a_subfolder_needs_no_acceptance(tmp_path: Path) -> None:
    (tmp_path / "here" / "data").mkdir(parents=True)
    Recall.init(str(tmp_path / "here"), settings={"store_path": "data/recall.db"})

    assert FoundSettings(load(tmp_path / "here" / "recall.toml"), tmp_path / "here" / "recall.toml").acts() == ()


def test_outside_model_needs_acceptance(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    for model, waits in [("models/e5", False), ("../e5", True), ("/models/e5", True)]:
        toml.write_text(f'embedding = "onnx:{model}"\n')

        assert bool(FoundSettings(load(toml), toml).acts(EMBEDDER)) is waits, model


def test_name_with_a_line_break_forges_no_line(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_text('embedding = "ollama"\nembedding_model = "m\\naccepted"\n')

    code, shown, _ = run("--store", str(tmp_path), "trust", "--show")

    assert code == 0
    assert "accepted" not in shown.splitlines()


def test_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_text('embedding = "ollama"\nembedding_url = "http://me:secret@127.0.0.1:9/v1"\n')

    assert "secret" not in run("--store", str(tmp_path), "trust", "--show")[1]


def test_damaged_acceptance_list_accepts_nothing(
    foreign: Path, server: ProviderServer, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign)
    person.parent.mkdir(parents=True)
    for damage in ("", "[]", "{", '{"FOLDER": 3}', '{"FOLDER": "' + "0" * 64 + '"}'):
        person.write_text(damage.replace("FOLDER", str(foreign)))
        server.seen.clear()

        assert run("search", "quokka")[0] == 2, damage
        assert server.seen == [], damage
        assert run("trust", "--yes")[0] == 0, damage
        assert run("search", "quokka")[0] == 0, damage


def test_settings_built_by_a_program_are_trusted(tmp_path: Path, server: ProviderServer) -> None:
    config = Config(embedding="openai", **to(server))

    assert FoundSettings(config, tmp_path / "recall.toml", is_vouched=True).refusal(EMBEDDER) is None


def test_open_store_rechecks_settings_written_by_another_program(foreign: Path, server: ProviderServer) -> None:
    run("--store", str(foreign), "trust", "--yes")
    with Recall.open(str(foreign)) as recall, provider_server() as another:
        assert recall.search("quokka")["results"]
        with Recall.open(str(foreign)) as other:
            for _ in other.reembed("ollama", {"embedding_url": another.url, "embedding_model": "mine"}):
                pass
        assert recall.search("quokka")["results"]
        assert len(another.seen) > 1
        with Recall.open(str(foreign)) as other:
            for _ in other.reembed("ollama", {"embedding_url": another.url, "embedding_model": "third"}):
                pass
        run("--store", str(foreign), "trust", "--forget")
        another.seen.clear()

        with pytest.raises(ConfigError) as caught:
            recall.search("quokka")

        assert (caught.value.code, another.seen) == ("untrusted_config", [])


# The workbench.


def test_workbench_searches_by_words_only_and_explains_why(
    foreign: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(foreign / "recall.toml", {"rerank": "openai"})
    log = EventLog()
    thread = QueryThread(lambda: open_to_ask(str(foreign)), log.post, time.monotonic)
    thread.start()
    thread.submit(QueryRequest(1, "quokka", (0, 10), Packing(500), question=1))
    log.wait_for(lambda event: isinstance(event, Repacked))

    (told,) = [event for event in log.events if isinstance(event, Waits)]
    (answered,) = [event for event in log.events if isinstance(event, Answered)]
    assert told.error.code == "untrusted_config"
    assert (answered.answer.total, answered.answer.plan.semantic, server.seen) == (1, None, [])
    run("--store", str(foreign), "trust", "--yes")
    thread.submit(QueryRequest(2, "quokka smiles", (0, 10), Packing(500), question=2))
    log.wait_for(lambda event: isinstance(event, Repacked) and event.generation == 2)
    thread.stop()
    assert {text for texts in server.texts() for text in texts} >= {"quokka smiles"}


def test_workbench_command_is_refused_and_accepted_like_a_shell_command(
    foreign: Path, server: ProviderServer
) -> None:
    def ran(line: str) -> Ran:
        log = EventLog()
        thread = CommandThread([line], str(foreign), Recall.open, log.post, None)
        thread.start()
        event = log.wait_for(lambda event: isinstance(event, Ran))
        assert isinstance(event, Ran)
        return event

    assert (ran("search quokka").code, ran("trust").code, server.seen) == (2, 2, [])
    assert (ran("trust --yes").code, ran("search quokka").code) == (0, 0)
    assert server.seen != []
