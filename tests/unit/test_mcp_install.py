"""The entry that starts `recall mcp` comes into the files of its clients, and nothing else in them changes."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.mcp.install import CLIENTS, Installed, entry_for, merged, place_of, write
from recall_core.errors import RecallError

COMMAND = ["/bin/python", "-m", "recall_core", "mcp", "--store", "/notes/recall.db"]
OTHER = ["/bin/python", "-m", "recall_core", "mcp", "--store", '/ünicode/"quoted"/recall.db']
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
JSON_CLIENTS = [client for client in CLIENTS if client != "codex"]
WITH_COMMENTS = ["vscode", "zed", "opencode"]
LARGE = 5_000_000 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 500_000
"""Characters of a file for which work that grows by the square would take minutes."""

SETTINGS = """// Settings of Zed
{
    "theme": "One", // not "Two", /* nor three
    /* servers, { by me */
    "context_servers": {
        // the first
        "a": { "command": "x", "args": [], }, // about a
    },
    "url": "http://example.org/*",
}
"""


def read(client: str, text: str) -> dict[str, Any]:
    return tomllib.loads(text) if client == "codex" else json.loads(text)  # type: ignore[no-any-return]


def refused(client: str, text: str) -> RecallError:
    with pytest.raises(RecallError) as caught:
        merged(client, text, command=COMMAND)
    assert (caught.value.code, caught.value.hint) == ("client_config_unreadable", f"recall mcp --install {client}")
    return caught.value


def merged_or_code(client: str, text: str) -> str:
    try:
        return merged(client, text, command=COMMAND)
    except RecallError as error:
        return error.code


def test_the_clients_are_those_that_are_documented() -> None:
    assert sorted(CLIENTS) == sorted(ENTRIES)


def test_the_command_line_offers_each_client_in_the_same_order() -> None:
    install = next(flag for flag in BY_NAME["mcp"].flags if flag.name == "--install")

    assert install.choices == CLIENTS


def test_what_is_printed_is_a_file_with_only_the_entry() -> None:
    for client in CLIENTS:
        servers, entry = ENTRIES[client]

        printed = entry_for(client, command=COMMAND)

        assert read(client, printed) == {servers: {"recall": entry}}, client
        assert printed.endswith(("}\n", "]\n")), client


def test_an_entry_has_the_name_that_was_asked_for() -> None:
    for client in CLIENTS:
        assert [*read(client, entry_for(client, command=COMMAND, name="my notes"))[ENTRIES[client][0]]] == [
            "my notes"
        ], client


def test_each_client_has_its_place() -> None:
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


def test_variables_move_a_place_where_the_client_reads_them() -> None:
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


def test_without_a_home_a_person_has_no_configuration_and_a_project_has() -> None:
    environ = {"HOME": "", "XDG_CONFIG_HOME": "not/from/the/root"}
    places = {client: place_of(client, environ, folder=Path("/p"), platform="linux") for client in CLIENTS}

    assert [client for client, place in places.items() if place is None] == ["claude-desktop", "codex", "zed"]


KEYS = st.text(max_size=8) | st.sampled_from(["mcpServers", "servers", "recall", "command", "a//b", "/*", ",}"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
LAYOUTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@given(
    client=st.sampled_from(JSON_CLIENTS),
    others=OBJECTS,
    servers=st.none() | OBJECTS,
    layout=LAYOUTS,
    is_ascii=st.booleans(),
    line_end=st.sampled_from(["\n", "\r\n"]),
    start=st.sampled_from(["", "\ufeff"]),
)
def test_merging_keeps_every_other_key_and_value_in_order(
    *,
    client: str,
    others: dict[str, Any],
    servers: dict[str, Any] | None,
    layout: int | str | None,
    is_ascii: bool,
    line_end: str,
    start: str,
) -> None:
    key, entry = ENTRIES[client]
    others = {other: value for other, value in others.items() if other != key}
    servers = {name: value for name, value in (servers or {}).items() if name not in {"recall", "servers"}}
    former = {**others, key: servers} if servers else others
    before = start + json.dumps(former, indent=layout, ensure_ascii=is_ascii).replace("\n", line_end)

    after = merged(client, before, command=COMMAND)

    expected = {**others, key: {**servers, "recall": entry}}
    assert json.dumps(json.loads(after.removeprefix(start))) == json.dumps(expected)
    assert after.startswith(start)
    assert merged(client, after, command=COMMAND) == after


COMMENTS = ["", " // §, }", ' /* § " */', "/*§*/", " // §\u00a0", " //§ {"]
"""Each with a character that JSON in ASCII lacks."""


@given(
    client=st.sampled_from(WITH_COMMENTS),
    others=OBJECTS,
    servers=OBJECTS,
    comments=st.lists(st.sampled_from(COMMENTS), min_size=1, max_size=9),
    has_trailing_comma=st.booleans(),
)
def test_merging_keeps_comments_wherever_a_line_ends(
    *,
    client: str,
    others: dict[str, Any],
    servers: dict[str, Any],
    comments: list[str],
    has_trailing_comma: bool,
) -> None:
    key, entry = ENTRIES[client]
    others = {other: value for other, value in others.items() if other != key}
    servers = {name: value for name, value in servers.items() if name not in {"recall", "servers"}}
    lines = json.dumps({**others, key: servers}, indent=2).split("\n")
    if has_trailing_comma:
        lines[-2] += ","
    before = "\n".join(line + comments[number % len(comments)] for number, line in enumerate(lines))

    after = merged(client, before, command=COMMAND)

    assert after.count("§") == before.count("§")
    for comment in sorted(filter(None, comments), key=len, reverse=True):
        after = after.replace(comment, "")
    after = after.replace("},\n}", "}\n}")
    assert json.loads(after) == {**others, key: {**servers, "recall": entry}}


@given(client=st.sampled_from(JSON_CLIENTS), former=OBJECTS, layout=LAYOUTS)
def test_an_entry_that_is_changed_and_changed_back_is_as_it_was(
    client: str, former: dict[str, Any], layout: int | str | None
) -> None:
    former = {other: value for other, value in former.items() if other != ENTRIES[client][0]}
    first = merged(client, json.dumps(former, indent=layout), command=COMMAND)

    changed = merged(client, first, command=OTHER)

    assert changed != first
    assert merged(client, changed, command=COMMAND) == first


@given(text=st.text(st.sampled_from('{}[]",:/*\\ \n\r\tamcp1'), max_size=30) | st.text(max_size=30))
@pytest.mark.parametrize("client", ["cursor", "zed", "codex"])
def test_any_text_is_refused_or_takes_the_entry_once(client: str, text: str) -> None:
    after = merged_or_code(client, text)

    assert after in {"client_config_unreadable", merged_or_code(client, after)}


def test_the_bytes_of_everything_else_stay() -> None:
    before = '{\n  "n": 1.50e+02,\t"big": 123456789012345678901234567890,\n\n  "e": "\\u00e9\\/", "x":[1,2 , 3]\n}\n'

    after = merged("cursor", before, command=["/r"])

    added = ',\n  "mcpServers": {\n    "recall": {\n      "command": "/r",\n      "args": []\n    }\n  }'
    assert after == before.removesuffix("\n}\n") + added + "\n}\n"


def test_comments_and_trailing_commas_stay() -> None:
    after = merged("zed", SETTINGS, command=["/r"])

    added = """        "recall": {
            "command": "/r",
            "args": []
        },
"""
    head, tail = SETTINGS.split("    },\n")
    assert after == head + added + "    },\n" + tail
    assert merged("zed", after, command=["/r"]) == after


def test_a_comment_below_the_last_key_stays_below_it() -> None:
    before = '{\n  "servers": {\n    "a": {} // the last\n  }\n}\n'

    after = merged("vscode", before, command=["/r"])

    assert '"a": {}, // the last\n    "recall": {\n' in after


def test_a_file_without_keys_takes_the_entry() -> None:
    for client in WITH_COMMENTS:
        for before in ["// nothing yet\n", "/* nothing */", "{ // nothing\n}", "{}", " \n", "\ufeff"]:
            after = merged(client, before, command=COMMAND)

            assert "nothing" not in before or "nothing" in after, (client, before)
            assert '"recall"' in after, (client, before)
            assert merged(client, after, command=COMMAND) == after, (client, before)


def test_comments_are_refused_where_the_client_reads_none() -> None:
    for before in ['{"a": 1, // b\n}', '{"a": 1,}', "// only\n"]:
        refused("claude-desktop", before)


def test_a_command_with_a_comment_in_it_is_not_replaced() -> None:
    before = '{"servers": {"recall": {"type": "stdio", "command": "/x", "args": [ // the store\n"-m"]}}}'

    assert "comment" in refused("vscode", before).message


def test_json_that_is_not_an_object_is_refused() -> None:
    for client, before in product(
        JSON_CLIENTS, ["[]", "null", "1", '"{}"', "{", "{,}", '{"a":1,,}', '{"a":NaN}', "{}{}", "{} /*"]
    ):
        assert merged_or_code(client, before) == "client_config_unreadable", (client, before)
        refused(client, before)


def test_servers_that_are_not_a_table_are_refused() -> None:
    for client, value in product(CLIENTS, ["[]", '""', "1", "true"]):
        key = ENTRIES[client][0]
        before = f"{key} = {value}\n" if client == "codex" else f'{{"{key}": {value}}}'

        assert merged_or_code(client, before) == "client_config_unreadable", (client, value)
        refused(client, before)


@pytest.mark.parametrize(
    "before", ['{"mcpServers": {}, "mcpServers": {}}', '{"mcpServers": {"recall": {}, "recall": {}}}']
)
def test_a_key_that_is_there_twice_is_refused_where_the_entry_goes(before: str) -> None:
    assert "twice" in refused("cursor", before).message


def test_a_key_that_is_there_twice_elsewhere_stays_twice() -> None:
    assert merged("cursor", '{"a": 1, "a": 2}', command=COMMAND).startswith('{"a": 1, "a": 2, ')


def test_deep_nesting_is_refused_or_kept() -> None:
    deep = f'{{"a": {"[" * 200}{"]" * 200}}}'

    assert deep[:-1] in merged("zed", deep, command=COMMAND)
    refused("zed", f'{{"a": {"[" * 100_000}{"]" * 100_000}}}')


def test_a_very_long_file_takes_the_entry() -> None:
    for filling in ("x", '\\"', "//", ",", "/*"):
        before = f'{{"a": "{filling * (LARGE // len(filling))}"}}'

        assert merged("zed", before, command=COMMAND).startswith(before[:-1]), filling


def test_a_very_long_broken_file_is_refused() -> None:
    for filling in ('\\"', "/*", '/*"', "{,", "[ ", "// "):
        broken = '{"a": ' + filling * (LARGE // 5 // len(filling))

        assert merged_or_code("zed", broken) == "client_config_unreadable", filling


def test_what_was_set_besides_the_command_stays() -> None:
    before = '{"mcpServers": {"recall": {"env": {"A": "b"}, "command": "/old", "disabled": false}}}'

    after = json.loads(merged("cursor", before, command=COMMAND))

    assert after["mcpServers"]["recall"] == {"env": {"A": "b"}, "disabled": False, **STDIO}


def test_an_entry_that_starts_no_program_is_replaced() -> None:
    for old in ["null", "[]", '{"url": "https://example.org"}']:
        after = merged("cursor", f'{{"mcpServers": {{"recall": {old}}}}}', command=COMMAND)

        assert json.loads(after) == {"mcpServers": {"recall": STDIO}}, old


def test_opencode_2_has_its_servers_one_level_below() -> None:
    before = '{"mcp": {"servers": {"a": {"type": "local", "command": ["x"]}}}}'

    after = merged("opencode", before, command=COMMAND)

    assert json.loads(after)["mcp"]["servers"]["recall"] == {"type": "local", "command": COMMAND}
    assert merged("opencode", after, command=COMMAND) == after


TOML = """# mine
model = "x"  # the model

[mcp_servers.a]
command = 'y'

[z]
n = nan
"""


def test_toml_gets_a_table_below_and_keeps_its_bytes() -> None:
    assert merged("codex", TOML, command=["/r"]) == TOML + '\n[mcp_servers.recall]\ncommand = "/r"\nargs = []\n'


def test_a_table_of_toml_is_changed_where_it_is() -> None:
    table = "[mcp_servers.recall]\n# why\ncommand = '/old' # c\nargs = []\nenabled = false\n"
    below = "[mcp_servers.recall.tools.search]\napproval_mode = 'approve'\n\n[z]\na = 1\n"

    after = merged("codex", table + below, command=["/new"])

    assert after == table.replace("'/old'", '"/new"') + below


def test_toml_in_every_spelling_keeps_what_it_means() -> None:
    for before in [
        "mcp_servers = {a = {command = 'x'}}\n",
        "mcp_servers.a.command = 'x'\nk = 1\n",
        "[mcp_servers]\n[z]\n[mcp_servers.b]\ncommand = 'x'\n",
        "[mcp_servers.recall]\nurl = 'x'\n[z]\n",
        "[a]\r\nb = 1\r\n",
        "k = 1",
        "\ufeff[a]\n",
    ]:
        after = merged("codex", before, command=COMMAND)

        former = tomllib.loads(before.removeprefix("\ufeff"))
        servers = {**former.get("mcp_servers", {}), "recall": STDIO}
        assert tomllib.loads(after.removeprefix("\ufeff")) == {**former, "mcp_servers": servers}, before
        assert merged("codex", after, command=COMMAND) == after, before
        assert ("\r\n" in before) == ("\r\n" in after), before
        assert "\r\n" not in before or after.count("\n") == after.count("\r\n"), before


def test_toml_that_is_none_is_refused() -> None:
    refused("codex", "a = \n")


def test_a_command_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(RecallError, match="not"):
        entry_for("zed", command=["/bin/\udcff"])


def test_a_new_file_comes_with_its_folders_for_its_owner(tmp_path: Path) -> None:
    for client in CLIENTS:
        home = tmp_path / client
        place = place_of(client, {"HOME": str(home)}, folder=home / "project", platform="darwin")
        assert place is not None, client

        assert write(client, place, command=COMMAND) == Installed(place, None, changed=True), client
        assert place.read_text(encoding="utf-8") == entry_for(client, command=COMMAND), client
        assert stat.S_IMODE(place.stat().st_mode) == 0o600, client
        assert [path.name for path in place.parent.iterdir()] == [place.name], client


def test_the_former_file_stays_next_to_the_new_one(tmp_path: Path) -> None:
    for client in CLIENTS:
        (tmp_path / client).mkdir()
        place, backup = tmp_path / client / "config", tmp_path / client / "config.bak-recall"
        former = entry_for(client, command=COMMAND, name="another").encode()
        place.write_bytes(former)
        place.chmod(0o640)

        written = write(client, place, command=COMMAND)

        assert written == Installed(place, backup, changed=True), client
        assert backup.read_bytes() == former, client
        assert place.read_text(encoding="utf-8") == merged(client, former.decode(), command=COMMAND), client
        assert stat.S_IMODE(place.stat().st_mode) == 0o640, client


def test_writing_twice_changes_nothing_and_keeps_no_second_copy(tmp_path: Path) -> None:
    place = tmp_path / "settings.json"
    place.write_bytes(SETTINGS.replace("\n", "\r\n").encode())
    write("zed", place, command=COMMAND)
    once = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}

    assert write("zed", place, command=COMMAND) == Installed(place, None, changed=False)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == once


def test_a_copy_never_takes_the_place_of_another(tmp_path: Path) -> None:
    place = tmp_path / "mcp.json"
    backups = []
    for text in ("{}", '{"a": 1}', "{}"):
        place.write_text(text, encoding="utf-8")
        backups.append(write("cursor", place, command=COMMAND).backup)

    first, second = tmp_path / "mcp.json.bak-recall", tmp_path / "mcp.json.bak-recall-2"
    assert backups == [first, second, first]
    assert (first.read_text(), second.read_text()) == ("{}", '{"a": 1}')


def test_a_link_keeps_leading_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "mcp.json", tmp_path / "mcp.json"
    target.write_text("{}", encoding="utf-8")
    link.symlink_to(target)

    written = write("cursor", link, command=COMMAND)

    assert written == Installed(link, tmp_path / "dotfiles" / "mcp.json.bak-recall", changed=True)
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == merged("cursor", "{}", command=COMMAND)


def test_an_empty_file_has_no_copy(tmp_path: Path) -> None:
    place = tmp_path / "mcp.json"
    place.touch(mode=0o644)

    assert write("cursor", place, command=COMMAND) == Installed(place, None, changed=True)


@pytest.mark.parametrize("former", [b'{"a": "\xff"}', b"[]", b'{"mcpServers": 1}', "{}".encode("utf-16")])
def test_a_file_that_is_refused_is_as_it_was(former: bytes, tmp_path: Path) -> None:
    place = tmp_path / "mcp.json"
    place.write_bytes(former)

    with pytest.raises(RecallError) as caught:
        write("cursor", place, command=COMMAND)

    assert caught.value.code == "client_config_unreadable"
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [former]


def test_what_is_no_file_cannot_be_written(tmp_path: Path) -> None:
    pipe, folder, loop = tmp_path / "pipe", tmp_path / "folder", tmp_path / "loop"
    os.mkfifo(pipe)
    folder.mkdir()
    loop.symlink_to(loop)

    for place in (pipe, folder, loop, folder / ("x" * 300), Path(os.devnull)):
        with pytest.raises(RecallError) as caught:
            write("cursor", place, command=COMMAND)
        assert (caught.value.code, caught.value.hint) == (
            "client_config_unwritable",
            "recall mcp --install cursor",
        )
