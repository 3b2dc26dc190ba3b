"""No tool call reaches a file that is not a document, in any of many ways to ask for one.

Files that were never added contain a unique word. No answer may contain the word, and no call may open such a file.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("mcp")

from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.api.recall import Recall
from recall_core.errors import RecallError
from recall_core.types import Root
from tests.mcp_client import Client, over_stdio, text_of

CANARY = "zanzibarine"
SECRET = f"The {CANARY} password.\n"
ADDED = {
    "home/docs/a.md": "# A\n\nThe harbour is deep.\n",
    "home/docs/gone.md": "This document is taken away again, says the heron.\n",
    "home/docs/stay.md": "A second text of the harbour.\n",
    "wiki/c.md": "The wiki lies elsewhere.\n",
}
NEVER_ADDED = (
    "home/secret.md",
    "home/docs-private/e.md",
    "home/.env",
    "home/notes.txt",
    "wiki-private/e.md",
    "secret/e.md",
    "secret/tokenizer.json",
    "user/.ssh/id_rsa",
    "user/.local/state/recall/mcp-8765.token",
    "user/secret.md",
)


class Place(NamedTuple):
    """A folder with a store, and its surroundings. removed: ids of a removed document and its chunk."""

    folder: Path
    store: Path
    removed: tuple[str, str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("reach")
    for name, text in (ADDED | dict.fromkeys(NEVER_ADDED, SECRET)).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    store = folder / "home"
    Recall.init(str(store), embedding="hash")
    toml = store / "recall.toml"
    toml.write_text(f"# {SECRET}{toml.read_text()}")
    with Recall.open(str(store)) as recall:
        for each in ("home/docs", "wiki"):
            for _ in recall.add([str(folder / each)], Root("")):
                pass
        (found,) = recall.search("heron")["results"][:1]
        (store / "docs" / "gone.md").unlink()
        for _ in recall.sync():
            pass
    for name in ("docs/link.md", "docs/gone.md", "link.md"):
        (store / name).symlink_to(folder / "secret" / "e.md")
    (store / "docs" / "folder").symlink_to(folder / "secret", target_is_directory=True)
    (folder / "wiki" / "link").symlink_to(folder / "wiki-private", target_is_directory=True)
    (store / "docs" / "stay.md").unlink()
    (store / "docs" / "stay.md").symlink_to(folder / "secret" / "e.md")
    return Place(folder, store, (found["doc"]["id"], found["chunk"]["id"]))


@pytest.fixture(scope="module")
def client(place: Place) -> Iterator[Client]:
    with over_stdio(place.store) as client:
        yield client


NAMES = [
    "/etc/passwd",
    "//etc/passwd",
    "{folder}/secret/e.md",
    "{folder}/home/secret.md",
    "/{folder}/secret/e.md",
    "/proc/self/environ",
    "/proc/self/fd/0",
    "/dev/stdin",
    "secret.md",
    "./secret.md",
    "e.md",
    "secret/e.md",
    "docs-private/e.md",
    ".env",
    "notes.txt",
    "notes.txt:1",
    "recall.toml",
    "./recall.toml",
    "recall.db",
    "recall.db:1-5",
    "recall.db-wal",
    "recall.db#page=1",
    "..",
    "../secret/e.md",
    "../../secret/e.md",
    "docs/../../secret/e.md",
    "docs/../secret.md",
    "docs/./../secret.md",
    "docs//../secret.md",
    "./../secret/e.md",
    ".//../secret/e.md",
    "docs/..",
    "docs/.../secret.md",
    "..\\secret\\e.md",
    "docs\\..\\..\\secret\\e.md",
    "\\\\server\\share\\e.md",
    "C:\\secret\\e.md",
    "C:/secret/e.md",
    "c:secret.md",
    "CON",
    "docs/a.md::$DATA",
    "%2e%2e/secret/e.md",
    "%2e%2e%2fsecret%2fe.md",
    "..%2fsecret/e.md",
    "%252e%252e%252fsecret%252fe.md",
    "%2Fetc%2Fpasswd",
    "docs/%2e%2e/secret.md",
    "%c0%ae%c0%ae/secret/e.md",
    "．．/secret/e.md",
    "․․/secret/e.md",
    "..／secret／e.md",
    "..∕secret∕e.md",
    "..\u200b/secret/e.md",
    "docs/a\u0301.md",
    "~/secret.md",
    "~",
    "~root/.ssh/id_rsa",
    "$HOME/secret.md",
    "user/.ssh/id_rsa",
    "user/.local/state/recall/mcp-8765.token",
    "file:///etc/passwd",
    "file://{folder}/secret/e.md",
    "recall:///etc/passwd",
    "recall://../secret/e.md",
    "http://localhost/secret/e.md",
    "@{folder}/secret/e.md",
    "-",
    "secret.md\0",
    "docs/a.md\0../../secret/e.md",
    "secret.md\n",
    "docs/a.md\n../../secret/e.md",
    "\r\nsecret.md",
    " secret.md",
    "secret.md ",
    "docs/link.md",
    "docs/gone.md",
    "link.md",
    "docs/folder/e.md",
    "docs/folder",
    "wiki/link/e.md",
    "wiki/../wiki-private/e.md",
    "wiki-private/e.md",
    "outside/etc/passwd",
    "outside{folder}/secret/e.md",
    "outside/../secret/e.md",
    "x" * 100_000,
    "../" * 10_000 + "etc/passwd",
    "docs/" + "y" * 300 + ".md",
    "/**",
    "**/e.md",
    "../*",
    "[/]etc/*",
    "{removed_document}",
    "{removed_chunk}",
    "{removed_chunk}:1",
]
PATTERNS = [
    "/**", "/etc/*", "../*", "../**", "**/../**", "[/]etc/*", "{folder}/secret/*", "{folder}/**", "~/*", "*.toml",
    "*.db*", "**/.env", ".*", "**/*.token", "secret*", "**/link*", "docs/folder/**", "[.][.]/**", "outside/**",
    "?etc/passwd", "**/e.md", "docs-private/*", "\\..\\*", "[!a]*/e.md",
]  # fmt: skip
SETTINGS = [
    ("rerank", "onnx:{folder}/secret"),
    ("rerank", "hf:{folder}/secret"),
    ("rerank", "{folder}/secret/e.md"),
    ("rerank", "../secret/e.md"),
    ("pack_counter", "hf:{folder}/secret/tokenizer.json"),
    ("pack_counter", "{folder}/secret/tokenizer.json"),
    ("counter", "hf:{folder}/secret/tokenizer.json"),
    ("lexical_model", "{folder}/secret/e.md"),
    ("stop_words", "{folder}/secret/e.md"),
    ("embedding", "onnx:{folder}/secret"),
    ("embedding_url", "file://{folder}/secret/e.md"),
    ("store_path", "{folder}/secret/e.md"),
    ("header", "@{folder}/secret/e.md"),
    ("header", "{{path.__class__.__init__.__globals__}}"),
    ("header", "{{n.__class__}}"),
    ("footer", "@{folder}/secret/e.md"),
    ("footer", "$(cat {folder}/secret/e.md)"),
    ("separator", "file://{folder}/secret/e.md"),
    ("parsers", "{folder}/secret/e.md"),
]
FILTERS = [
    "doc.path = '{folder}/secret/e.md'",
    "doc.path = '../secret/e.md'",
    "doc.path GLOB '/**'",
    "doc.path GLOB '../**'",
    "doc.path = 'x' OR doc.source = '{folder}/secret/e.md'",
    "doc.path MATCHES '.*'",
    "doc.path = readfile('{folder}/secret/e.md')",
    "doc.path IN (SELECT readfile('{folder}/secret/e.md'))",
    "@{folder}/secret/e.md",
    "doc.path = 'x'; ATTACH '{folder}/secret/e.md' AS s",
    "load_extension('{folder}/secret/e.md')",
]


def fill_placeholders(text: str, place: Place) -> str:
    """Replace placeholders in a text by the places of this test."""
    document, chunk = place.removed
    text = text.replace("{folder}", str(place.folder)).replace("{removed_document}", document)
    return text.replace("{removed_chunk}", chunk).replace("{{", "{").replace("}}", "}")


def by_name(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every call that accepts a document name."""
    return [
        ("get", {"targets": [name]}),
        ("get", {"targets": [name], "fields": "all"}),
        ("get", {"targets": [name], "lines": "1"}),
        ("memory_get", {"path": name}),
        ("whynot", {"query": "harbour", "target": name}),
        ("explain", {"query": "harbour", "target": name}),
        ("list", {"prefix": name}),
        ("memory_search", {"query": "password", "corpus": name}),
    ]


def by_pattern(pattern: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every call that accepts a path pattern."""
    return [
        ("get", {"glob": pattern}),
        ("list", {"glob": pattern}),
        ("list", {"glob": pattern, "fields": "all"}),
        ("search", {"query": "password", "filter": f"doc.path GLOB '{pattern}'"}),
    ]


def by_setting(key: str, value: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every call that accepts a setting."""
    option = f"SELECT * FROM chunk USING lexical('harbour') OPTION {key} '{value}'"
    return [
        ("search", {"query": "harbour", "set": {key: value}}),
        ("context", {"query": "harbour", "set": {key: value}}),
        ("whynot", {"query": "harbour", "target": "docs/a.md", "set": {key: value}}),
        ("search", {"rql": option}),
        ("context", {"rql": option}),
    ]


def by_filter(condition: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every call that accepts a condition or a full query."""
    return [
        ("search", {"query": "password", "filter": condition}),
        ("context", {"query": "password", "filter": condition}),
        ("search", {"rql": f"SELECT * FROM chunk FILTER {condition}"}),
        ("search", {"rql": condition}),
        ("search", {"query": condition}),
    ]


def every_call(place: Place) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every call."""
    for name in NAMES:
        yield from by_name(fill_placeholders(name, place))
    for pattern in PATTERNS:
        yield from by_pattern(fill_placeholders(pattern, place))
    for key, value in SETTINGS:
        yield from by_setting(key, fill_placeholders(value, place))
    for condition in FILTERS:
        yield from by_filter(fill_placeholders(condition, place))


SCHEMES = [
    "recall://",
    "recall:///",
    "recall://localhost/",
    "RECALL://",
    "file://",
    "file:///",
    "http://127.0.0.1/",
    "",
]


def one_of_each(place: Place) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the most likely call for each name, pattern, setting and condition."""
    for name in NAMES:
        yield by_name(fill_placeholders(name, place))[0]
    for pattern in PATTERNS:
        yield by_pattern(fill_placeholders(pattern, place))[0]
    for key, value in SETTINGS:
        yield by_setting(key, fill_placeholders(value, place))[1]
    for condition in FILTERS:
        yield by_filter(fill_placeholders(condition, place))[0]


@pytest.mark.parametrize("calls", [one_of_each, pytest.param(every_call, marks=pytest.mark.slow)])
def test_no_tool_call_returns_unadded_text(
    client: Client, place: Place, calls: Callable[[Place], Iterator[tuple[str, dict[str, Any]]]]
) -> None:
    told = [text_of(client.call(tool, **arguments)) for tool, arguments in calls(place)]

    assert len(told) > 130
    assert not [each for each in told if CANARY in each or "root:" in each or "internal_error" in each]
    searched = [client.text("search", query=CANARY), client.text("context", query=CANARY), client.text("list")]
    assert not [each for each in searched if SECRET.strip() in each]


@pytest.mark.parametrize("schemes", [SCHEMES[:1], pytest.param(SCHEMES[1:], marks=pytest.mark.slow)])
def test_no_resource_address_reads_unadded_files(client: Client, place: Place, schemes: list[str]) -> None:
    names = [fill_placeholders(name, place) for name in NAMES if len(name) < 1_000]

    async def ask(session: Any) -> list[str]:
        told = []
        for uri in (scheme + name for scheme in schemes for name in names):
            try:
                told.append((await session.read_resource(uri)).model_dump_json())
            except Exception as error:  # noqa: BLE001 - every exception is reported
                told.append(repr(error))
        return told

    told = client.ask(ask)

    assert len(told) == len(schemes) * len(names)
    assert not [each for each in told if CANARY in each or "root:" in each]
    assert "The harbour is deep." in client.read("recall://docs/a.md")


def test_added_files_are_answered_as_indexed(client: Client) -> None:
    assert sorted(client.text("list").splitlines()[2:-1]) == ["docs/a.md", "docs/stay.md", "wiki/c.md"]
    assert "A second text of the harbour." in client.text("get", targets=["docs/stay.md"])
    assert client.json("memory_get", path="docs/stay.md")["text"] == "A second text of the harbour.\n"
    assert client.error("get", targets=["docs/gone.md"])["code"] == "unknown_target"


@pytest.mark.parametrize("calls", [one_of_each, pytest.param(every_call, marks=pytest.mark.slow)])
def test_tool_calls_touch_no_file_outside_their_documents(
    place: Place, calls: Callable[[Place], Iterator[tuple[str, dict[str, Any]]]]
) -> None:
    touched: list[tuple[str, object]] = []
    own = {str(place.folder / name) for name in ADDED}
    functions = [(builtins, "open"), (io, "open")]
    functions += [(os, name) for name in ("open", "stat", "lstat", "listdir", "scandir", "readlink", "access")]

    def noted(where: Any, name: str) -> Any:
        was = getattr(where, name)

        def note(path: Any = ".", *rest: Any, **options: Any) -> Any:
            if not isinstance(path, int) and Path(path).name != "recall.db" and os.fspath(path) not in own:
                touched.append((name, path))
            return was(path, *rest, **options)

        return note

    with Recall.open(str(place.store)) as recall:
        recall.engine.is_for_others = True
        for tool, arguments in warming():
            BY_NAME[tool].answer(recall, arguments, Limits())
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(place.folder / "secret")
            for where, name in functions:
                patched.setattr(where, name, noted(where, name))
            for tool, arguments in calls(place):
                with suppress(RecallError):
                    told = BY_NAME[tool].answer(recall, arguments, Limits())
                    assert SECRET.strip() not in told.text + json.dumps(told.content)
            astray = [each for each in touched if not is_on_the_way(each[1], place)]
    assert astray == []


def warming() -> list[tuple[str, dict[str, Any]]]:
    """Return one call of each tool, which triggers late imports."""
    return [
        ("search", {"query": "harbour"}),
        ("context", {"query": "harbour"}),
        ("whynot", {"query": "harbour", "target": "wiki/c.md"}),
        ("list", {}),
        ("get", {"targets": ["docs/a.md"]}),
        ("status", {}),
        ("memory_search", {"query": "harbour"}),
        ("memory_get", {"path": "docs/a.md"}),
    ]


def is_on_the_way(path: object, place: Place) -> bool:
    """Return True for a folder above the store or process, a name by id in the latter, or a path of Python."""
    here = Path.cwd()
    whole = Path(os.path.normpath(here / str(path)))
    is_above = whole in (place.store, *place.store.parents, here, *here.parents)
    is_id = whole.parent == here and re.fullmatch(r"[0-9a-f]{64}:[0-9-]+", whole.name) is not None
    return is_above or is_id or any(whole.is_relative_to(each) for each in sys.path if each)
