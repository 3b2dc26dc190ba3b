"""`recall mcp --install` prints the entry of each client, its file, and the client's own command."""

from __future__ import annotations

import io
import json
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.adapters import cli
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.mcp.command import CLIENTS, entry_for, line_for, place_of
from recall_core.adapters.streams import Streams
from recall_core.errors import RecallError

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = ["/bin/python", "-m", "recall_core", "--store", "/notes", "mcp"]
STDIO = {"command": COMMAND[0], "args": COMMAND[1:]}
ENTRIES: dict[str, tuple[str, dict[str, object]]] = {
    "claude-code": ("mcpServers", STDIO),
    "claude-desktop": ("mcpServers", STDIO),
    "codex": ("mcp_servers", STDIO),
    "cursor": ("mcpServers", STDIO),
    "vscode": ("servers", {"type": "stdio", **STDIO}),
    "zed": ("context_servers", STDIO),
    "opencode": ("mcp", {"type": "local", "enabled": True, "command": COMMAND}),
}
LINES = {
    "claude-code": ["claude", "mcp", "add", "--scope", "project", "recall", "--"],
    "codex": ["codex", "mcp", "add", "recall", "--"],
    "vscode": ["code", "--add-mcp"],
}
"""For clients with a command for this: the words before the server."""
WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=1)


def read(client: str, text: str) -> dict[str, Any]:
    return tomllib.loads(text) if client == "codex" else json.loads(text)  # type: ignore[no-any-return]


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_command_line_offers_each_documented_client_in_order() -> None:
    install = next(flag for flag in BY_NAME["mcp"].flags if flag.name == "--install")

    assert install.choices == CLIENTS == tuple(ENTRIES)


def test_url_of_a_store_stays_as_it_is() -> None:
    url = "postgresql://me@host/notes?collection=team"
    assert url in run("--store", url, "mcp", "--install", "codex")[1]
    code, printed, said = run("--store", url.replace("me@", "me:s3cret@"), "mcp", "--install", "codex")
    assert (code, printed, "s3cret" in said) == (2, "", False)


def test_printed_file_contains_only_the_entry() -> None:
    for client, (servers, entry) in ENTRIES.items():
        printed = entry_for(client, COMMAND)

        assert read(client, printed) == {servers: {"recall": entry}}, client
        assert printed.endswith(("}\n", "]\n")), client


@given(command=WORDS)
def test_every_path_survives_entry_and_command(command: list[str]) -> None:
    for client, (servers, _) in ENTRIES.items():
        entry = read(client, entry_for(client, command))[servers]["recall"]
        assert command == (entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]), client

        words = shlex.split(line_for(client, command))
        if client == "vscode":
            server = {"name": "recall", "type": "stdio", "command": command[0], "args": command[1:]}
            assert (words[:-1], json.loads(words[-1])) == (LINES[client], server)
        else:
            assert words == ([*LINES[client], *command] if client in LINES else []), client


def test_non_utf8_path_is_refused() -> None:
    for client in CLIENTS:
        with pytest.raises(RecallError, match="is not valid UTF-8") as caught:
            entry_for(client, ["/bin/\udcff"])
        assert caught.value.code == "client_config_unwritable", client


def test_install_prints_the_entry_and_changes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "my notes"
    home.mkdir()
    monkeypatch.chdir(home)
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "RECALL_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    assert run("init", ".", "--embedding", "hash")[0] == 0
    before = sorted(home.iterdir())

    for client in CLIENTS:
        place = place_of(client, os.environ, folder=home)
        code, out, err = run("mcp", "--install", client)
        servers, _ = ENTRIES[client]

        assert code == 0, client
        assert str(home) in json.dumps(read(client, out)[servers]["recall"]), client
        first, *rest = err.splitlines()
        assert first == f"add this to {place}", client
        words = [shlex.split(line.removeprefix("or run: ")) for line in rest]
        assert [line[: len(LINES[client])] for line in words] == ([LINES[client]] if client in LINES else []), client
        assert all(str(home) in " ".join(line[-2:]) for line in words), client
    assert sorted(home.iterdir()) == before


def test_write_flag_no_longer_exists() -> None:
    code, out, err = run("mcp", "--install", "codex", "--write")

    assert (code, out) == (2, "")
    assert "recall mcp has no flag --write" in err


def test_agents_page_shows_the_printed_entry() -> None:
    python = "/home/ada/.local/share/pipx/venvs/recall-tui/bin/python"
    command = [python, "-m", "recall_core", "--store", "/home/ada/lantern", "mcp"]
    page = (DOCS / "agents.md").read_text(encoding="utf-8")

    for client in ("claude-code", "codex", "opencode"):
        shown = f"$ recall mcp --install {client}\n{entry_for(client, command)}add this to /home/ada/"
        assert shown in page, client
    for client in LINES:
        assert f"or run: {line_for(client, command)}\n" in page, client


def test_each_client_has_its_file() -> None:
    for client, linux, macos in [
        ("claude-code", "/p/.mcp.json", "/p/.mcp.json"),
        (
            "claude-desktop",
            "/h/.config/Claude/claude_desktop_config.json",
            "/h/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("codex", "/h/.codex/config.toml", "/h/.codex/config.toml"),
        ("cursor", "/p/.cursor/mcp.json", "/p/.cursor/mcp.json"),
        ("vscode", "/p/.vscode/mcp.json", "/p/.vscode/mcp.json"),
        ("zed", "/h/.config/zed/settings.json", "/h/.config/zed/settings.json"),
        ("opencode", "/p/opencode.json", "/p/opencode.json"),
    ]:
        places = [
            place_of(client, {"HOME": "/h"}, folder=Path("/p"), platform=platform) for platform in ("linux", "darwin")
        ]

        assert places == [Path(linux), Path(macos)], (client, linux, macos)


def test_variables_move_the_file_as_the_client_expects() -> None:
    for client, platform, place in [
        ("claude-desktop", "linux", "/x/Claude/claude_desktop_config.json"),
        ("zed", "linux", "/x/zed/settings.json"),
        ("zed", "darwin", "/h/.config/zed/settings.json"),
        ("codex", "linux", "/c/config.toml"),
        ("codex", "darwin", "/c/config.toml"),
    ]:
        environ = {"HOME": "/h", "XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c"}

        assert place_of(client, environ, folder=Path("/p"), platform=platform) == Path(place), (
            client,
            platform,
            place,
        )


def test_only_project_configuration_exists_without_a_home() -> None:
    environ = {"HOME": "", "XDG_CONFIG_HOME": "not/from/the/root"}
    places = {client: place_of(client, environ, folder=Path("/p"), platform="linux") for client in CLIENTS}

    assert [client for client, place in places.items() if place is None] == ["claude-desktop", "codex", "zed"]
