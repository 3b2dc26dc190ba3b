"""`recall mcp` over stdio, called by the official client: every tool, every error, and the traffic on the pipes."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import shutil
import signal
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import apsw
import pytest

pytest.importorskip("mcp")

import mcp_types as types
from mcp import ClientSession

from recall_core.adapters import cli
from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from tests.mcp_client import (
    INITIALIZE,
    INITIALIZED,
    PROGRAM,
    ROOT,
    Client,
    Piped,
    filled,
    over_stdio,
    text_of,
)

NOTES = {f"notes/n{n:03}.md": f"# Note {n}\n\nEntry {n} of the harbour's diary.\n" for n in range(240)}
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
LONG = 5_000_000 if IS_NIGHTLY else 500_000
LINES = "".join(f"Line {number} of the log.\n" for number in range(1, 301))
ODD = {
    "odd/größe und mehr.md": "Die Größe des Hafens.\n",
    "odd/50%25 #1?.md": "Half of the harbour.\n",
    "odd/港.md": "港の水深は十二メートルです。\n",
}
TEXTS = {
    **NOTES,
    **ODD,
    "log.txt": LINES,
    **{name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("json.md", "keys.md", "trust.md")},
}
TOP_LEVEL = ["json.md", "keys.md", "log.txt", "trust.md"]
QUESTIONS = ("how is a chunk's score made", "what does a reranker do", "who may read the settings of a store")
COMMANDS = re.compile(r"recall (search|query|context|explain|whynot|get|ls|list|stats|status)\b")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("mcp") / "store", TEXTS)


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[Client]:
    with over_stdio(store) as client:
        yield client


def hits(client: Client, **question: Any) -> list[dict[str, Any]]:
    return list(client.json("search", fields="all", **question)["results"])


def test_search_citations_work_as_get_targets(client: Client) -> None:
    told = client.text("search", query="entry 17 of the diary", k=3)

    assert told.startswith("3 hits; ")
    cited = re.findall(r"\*\*(\S+:[0-9-]+)\*\*", told)
    assert len(cited) == 3
    assert all(client.text("get", targets=[each]).startswith(f"**{each}**\n") for each in cited)


def test_search_accepts_rql_filters_modes_and_settings(client: Client) -> None:
    by_rql = client.text("search", rql="SELECT chunk.text FROM chunk USING lexical('diary') LIMIT 2")
    filtered = client.text(
        "search", query="Hafens", filter="doc.path GLOB 'odd/*'", mode="lexical", set={"min_score": 0}
    )

    assert by_rql.startswith("2 hits")
    assert "odd/größe und mehr.md" in filtered
    assert "notes/" not in filtered


def test_context_packs_texts_under_the_budget(client: Client) -> None:
    told = client.text("context", query=QUESTIONS[0], budgetTokens=300)

    used, budget = map(int, re.findall(r"(\d+) of (\d+) tokens", told)[0])
    assert budget == 300
    assert 0 < used <= 300
    assert re.search(r"^\[1\] (json|words|trust)\.md:", told, re.MULTILINE)


def test_explain_and_whynot_name_their_targets(client: Client) -> None:
    first, second = (each["chunk"]["id"] for each in hits(client, query="diary", k=2))

    assert "score" in client.text("explain", query="diary", target=first, versus=second)
    assert "notes/n100.md" in client.text("whynot", query="reranker", target="notes/n100.md")
    assert client.text("whynot", query="reranker", target='"Entry 17 of the harbour"')


def test_list_and_status_report_the_store(client: Client) -> None:
    pages = [client.json("list", fields="all", offset=offset) for offset in (0, 200)]

    listed = [each["path"] for page in pages for each in page["documents"]]
    assert sorted(listed) == sorted(TEXTS)
    assert client.text("list", prefix="odd/").splitlines()[1:] == ["```", *sorted(ODD), "```"]
    assert client.text("list", glob="notes/n23?.md").startswith("10 of 10 documents.")
    assert client.text("status").startswith(f"{len(TEXTS)} documents, ")


def test_get_reads_whole_texts_lines_ids_and_globs(client: Client) -> None:
    chunk = hits(client, query="diary", k=1)[0]

    last_two = client.text("get", targets=["log.txt:299-300"])
    assert last_two == "**log.txt:299-300**\n```\nLine 299 of the log.\nLine 300 of the log.\n```"
    assert client.json("get", targets=["log.txt"], fields="all")["found"]["text"] == LINES
    assert chunk["chunk"]["text"] in client.text("get", targets=[chunk["chunk"]["id"][:12]])
    assert client.text("get", glob="odd/*", lines="1").count("**") == 2 * len(ODD)


def test_memory_tools_answer_as_openclaw_expects(client: Client) -> None:
    found = client.json("memory_search", query="entry 17 of the diary", maxResults=2, text=True)
    (first, _) = found["results"]
    read = client.json("memory_get", path=first["path"], from_=first["startLine"], lines=1)

    assert {"path", "startLine", "endLine", "score", "snippet", "source", "citation", "text"} <= set(first)
    assert found["provider"]
    assert first["text"].startswith(read["text"].strip())
    assert read["path"] == first["path"]


def test_folder_resources_lead_to_every_document(client: Client) -> None:
    listed = client.ask(lambda session: session.list_resources())

    assert listed.next_cursor is None
    assert sorted(each.name for each in listed.resources) == sorted(["notes/", "odd/", *TOP_LEVEL])
    by_name = {each.name: each for each in listed.resources}
    assert by_name["notes/"].description == "240 documents"
    assert client.read(by_name["odd/"].uri).splitlines()[2:-1] == sorted(ODD)
    assert client.read(by_name["log.txt"].uri).startswith("**log.txt**\n```\nLine 1 of the log.\n")


def test_resource_accepts_every_spelling_of_its_address(client: Client) -> None:
    for uri, name, text in (
        ("recall://notes/n007.md", "notes/n007.md", NOTES["notes/n007.md"]),
        ("recall://log.txt:2-3", "log.txt:2-3", "Line 2 of the log.\nLine 3 of the log.\n"),
        ("recall://notes%2Fn007.md", "notes/n007.md", NOTES["notes/n007.md"]),
        ("recall://odd/größe und mehr.md", "odd/größe und mehr.md", ODD["odd/größe und mehr.md"]),
        ("recall://odd/%E6%B8%AF.md:1", "odd/港.md:1", ODD["odd/港.md"]),
        ("recall://odd/50%2525%20%231%3F.md", "odd/50%25 #1?.md", ODD["odd/50%25 #1?.md"]),
    ):
        assert client.read(uri) == f"**{name}**\n```\n{text}```", uri


def test_template_and_prompt_are_listed(client: Client) -> None:
    (template,) = client.ask(lambda session: session.list_resource_templates()).resource_templates
    (prompt,) = client.ask(lambda session: session.list_prompts()).prompts
    (message,) = client.ask(lambda session: session.get_prompt(prompt.name)).messages

    assert template.uri_template == "recall://{+path}"
    assert isinstance(message.content, types.TextContent)
    assert "`search`" in message.content.text


def test_instructions_say_how_to_cite_and_status_what_there_is(client: Client) -> None:
    told = client.session.initialize_result

    assert told is not None
    assert "status names the folders" in str(told.instructions)
    assert "path:first-last" in str(told.instructions)
    assert told.server_info.name == "recall"
    assert "\nBy folder: notes/ (240), odd/ (3), " in client.text("status")


ERRORS: list[tuple[str, dict[str, Any], str, str]] = [
    ("memory_search", {"query": "x", "maxResults": 0}, "bad_arguments", "maxResults"),
    ("search", {"query": "x", "limit": 3}, "bad_arguments", "limit"),
    ("search", {"query": True}, "bad_arguments", "query"),
    ("search", {"query": "x", "k": "many"}, "bad_arguments", "k"),
    ("search", {"query": "x", "mode": "fuzzy"}, "bad_arguments", "mode"),
    ("search", {"query": "x " * 10_001}, "query_too_long", "20,002 characters"),
    ("search", {"query": "x", "set": {"lexical_weight": [1]}}, "bad_arguments", "set"),
    ("search", {}, "bad_arguments", "query"),
    ("search", {"query": "x", "rql": "SELECT * FROM chunk"}, "bad_arguments", "rql"),
    ("search", {"rql": "SELECT * FROM chunk", "mode": "lexical"}, "bad_arguments", "mode"),
    ("search", {"rql": "SELECT nothing"}, "rql_syntax", "FROM"),
    ("search", {"query": "x", "filter": "doc.tgas = 'a'"}, "unknown_field", "doc.tags"),
    ("search", {"query": "x", "set": {"nope": 1}}, "unknown_key", "nope"),
    ("search", {"query": "x", "set": {"min_score": 2}}, "bad_value", "min_score"),
    ("context", {"query": "x", "budgetTokens": 0}, "bad_arguments", "budgetTokens"),
    ("explain", {"query": "x"}, "bad_arguments", "target"),
    ("explain", {"query": "x", "target": "log.txt"}, "unknown_target", "log.txt"),
    ("whynot", {"query": "x", "target": "notes/nope.md"}, "unknown_target", "notes/nope.md"),
    ("get", {}, "bad_arguments", "targets"),
    ("get", {"targets": []}, "bad_arguments", "targets"),
    ("get", {"targets": ["a"], "glob": "b"}, "bad_arguments", "glob"),
    ("get", {"targets": ["../x"]}, "bad_path", "../x"),
    ("get", {"targets": ["/etc/passwd"]}, "bad_path", "/etc/passwd"),
    ("get", {"targets": ["log.txt:301"]}, "bad_lines", "300"),
    ("get", {"targets": ["log.txt"], "lines": "301-302"}, "bad_lines", "300"),
    ("get", {"targets": ["odd/grösse und mehr.md"]}, "unknown_target", "odd/größe und mehr.md"),
    ("list", {"offset": -1}, "bad_arguments", "offset"),
    ("status", {"all": True}, "bad_arguments", "all"),
    ("memory_search", {"query": "x", "corpus": "wiki"}, "unknown_corpus", "wiki"),
    ("memory_get", {"path": "log.txt", "from": 301}, "bad_lines", "300"),
    ("memory_get", {"path": "../x"}, "bad_path", "../x"),
]


def test_error_uses_tool_words_for_its_cause(client: Client) -> None:
    for tool, arguments, code, named in ERRORS:
        error, call = client.error(tool, **arguments), (tool, str(arguments)[:80])

        assert error["code"] == code, call
        assert named in json.dumps(error, ensure_ascii=False), call
        assert not COMMANDS.search(str(error.get("hint"))), call


def test_filter_error_reports_its_position(client: Client) -> None:
    details = client.error("search", query="x", filter="doc.path GLOB 'a' AND doc.tgas = 'a'")["details"]

    assert details["span"] == [22, 30]
    assert (details["line"], details["column"]) == (1, 23)


def test_error_suggests_near_names(client: Client) -> None:
    assert client.error("get", targets=["log.tx"])["details"]["near"] == ["log.txt"]
    assert len(client.error("get", targets=["notes/n17.md"])["details"]["near"]) == 3


def test_unknown_request_is_a_protocol_error(client: Client) -> None:
    cursor = types.PaginatedRequestParams(cursor="-1")
    asked: list[Any] = [
        lambda session: session.call_tool("delete", {}),
        lambda session: session.get_prompt("nope"),
        lambda session: session.read_resource("file:///etc/passwd"),
        lambda session: session.read_resource("recall://notes/nope.md"),
        lambda session: session.list_resources(params=cursor),
    ]

    assert [client.refused(each).code for each in asked] == [types.INVALID_PARAMS] * len(asked)
    assert client.refused(asked[3]).data["code"] == "unknown_target"


def test_progress_is_sent_on_request(client: Client) -> None:
    told: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    client.ask(lambda session: session.call_tool("status", {}, progress_callback=note))

    assert told
    assert told[0] == (0, 1)


def test_tool_list_and_instructions_are_short(client: Client) -> None:
    tools = client.ask(lambda session: session.list_tools())

    assert len(tools.model_dump_json(by_alias=True, exclude_none=True).encode()) <= 10_240
    assert all(each.annotations is not None and each.annotations.read_only_hint for each in tools.tools)


def test_answers_are_short(client: Client) -> None:
    for question in QUESTIONS:
        six = client.text("search", query=question, k=6)
        packed = client.text("context", query=question, budgetTokens=800)
        blocks = client.json("context", query=question, budgetTokens=800, fields="all")["context"]["blocks"]

        assert len(six.encode()) <= 4_096, question
        assert len(packed) <= 1.3 * sum(len(each["text"]) for each in blocks), question


def test_long_answer_names_what_it_omits(client: Client, store: Path) -> None:
    cut = client.text("get", targets=["log.txt", "keys.md"], maxBytes=1000)
    assert len(cut) < 1_300
    assert re.search(r"Warning: \d+ of \d+ bytes are left out; continue with log\.txt:\d+-300$", cut, re.MULTILINE)

    with Piped(store, "--max-answer-chars", "500", "--structured") as server:
        narrow = server.opened()
        listed = narrow.text("list")
        found = narrow.json("memory_search", query="diary")
        structured = narrow.call("status")

    assert len(listed) <= 500
    assert re.search(r"\n```\n\[left out for length: the rest of paths\]$", listed)
    assert found["truncated"]
    assert structured.structured_content is not None
    assert structured.structured_content["store"]["documents"] == len(TEXTS)


CALLS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("search", {"query": "diary of the harbour", "k": 4}, ["search", "diary of the harbour", "--k", "4"]),
    ("search", {"rql": "SELECT * FROM chunk LIMIT 3"}, ["query", "SELECT * FROM chunk LIMIT 3"]),
    (
        "context",
        {"query": "diary", "budgetTokens": 200},
        ["context", "diary", "--budget-tokens", "200"],
    ),
    ("explain", {"query": "diary", "target": "CHUNK"}, ["explain", "diary", "--chunk", "CHUNK"]),
    (
        "whynot",
        {"query": "reranker", "target": "notes/n100.md"},
        ["whynot", "reranker", "--target", "notes/n100.md"],
    ),
    ("get", {"targets": ["log.txt:3-4"]}, ["get", "log.txt:3-4"]),
    ("list", {"prefix": "odd/"}, ["ls", "odd/"]),
    ("status", {}, ["stats"]),
]


def test_answer_equals_that_of_command_line_and_tool(
    client: Client, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store)
    chunk = hits(client, query="diary", k=1)[0]["chunk"]["id"]
    with Recall.open(str(store)) as recall:
        for tool, arguments, _ in CALLS:
            given = {key: chunk if value == "CHUNK" else value for key, value in arguments.items()}
            assert client.text(tool, **given) == BY_NAME[tool].answer(recall, given, Limits()).text, tool
    for tool, arguments, line in CALLS:
        given = {key: chunk if value == "CHUNK" else value for key, value in arguments.items()}
        answer = client.json(tool, fields="all", **given)

        out = io.StringIO()
        argv = ["--json", *(chunk if word == "CHUNK" else word for word in line)]
        cli.main(argv, streams=Streams(io.StringIO(), out, io.StringIO()))

        assert without_times(answer) == without_times(json.loads(out.getvalue())), line


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        left_out = ("took_ms", "timings", "cached")
        return {key: without_times(each) for key, each in value.items() if key not in left_out}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def lock(file: Path) -> apsw.Connection:
    """Return a connection that locks out every other reader."""
    db = apsw.Connection(str(file))
    db.pragma("locking_mode", "exclusive")
    db.execute("BEGIN EXCLUSIVE; UPDATE meta SET value = value")
    return db


def move_database(whole: Path, place: Path) -> Path:
    """Move the database file without its companion files and return its new path."""
    for each in ("recall.db-wal", "recall.db-shm"):
        (place / each).unlink(missing_ok=True)
    shutil.copy(whole / "recall.toml", place / "recall.toml")
    return Path(shutil.move(whole / "recall.db", place / "recall.db"))


def test_server_follows_a_store_that_appears_and_changes(tmp_path: Path) -> None:
    first = filled(tmp_path / "first", {"a.md": "Retries wait a second.\n"})
    second = filled(tmp_path / "second", {"b.md": "Retries are counted.\n"})
    (place := tmp_path / "place").mkdir()

    with Piped(place) as server:
        client = server.opened()
        told = client.error("search", query="retries")
        disabled = [client.json("memory_search", query="retries"), client.json("memory_get", path="a.md")]
        client.request("resources", "resources/list")
        resources = client.answer("resources")["error"]
        file = move_database(first, place)
        holder = lock(file)
        is_locked = client.error("search", query="retries")
        holder.close()
        came = client.text("search", query="retries")
        move_database(second, place)
        replaced = client.text("search", query="retries")
        file.write_bytes(b"no database, but long enough to be taken for one. " * 200)
        broken = client.error("search", query="retries")

    assert told["code"] == "no_store"
    assert "ask the user to run: recall init" in told["hint"]
    assert [each["disabled"] for each in disabled] == [True, True]
    assert [each["results"] for each in disabled] == [[], []]
    assert "recall init" in disabled[0]["action"]
    assert resources["data"]["code"] == "no_store"
    assert is_locked["code"] == "store_locked"
    assert "a.md:1" in came
    assert "b.md:1" in replaced
    assert "a.md:1" not in replaced
    assert broken["code"] in ("not_a_store", "store_corrupt")


@pytest.fixture(scope="module")
def waiting_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Piped, Path, Path]]:
    """Yield a server with one connection and a short timeout, a store, and the storeless folder of the server."""
    folder = tmp_path_factory.mktemp("waiting")
    (place := folder / "place").mkdir()
    whole = filled(folder / "whole", {"a.md": "Retries wait a second.\n"})
    with Piped(place, "--connections", "1", "--call-timeout", "2") as server:
        yield server.opened(), whole, place


def search(request_id: int, **meta: Any) -> dict[str, Any]:
    params = {"name": "search", "arguments": {"query": "retries"}, **({"_meta": meta} if meta else {})}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def test_waiting_call_can_be_cancelled_times_out_and_limits_others(
    waiting_server: tuple[Piped, Path, Path],
) -> None:
    server, whole, place = waiting_server
    holder = lock(move_database(whole, place))

    server.send(search(1, progressToken="begun"))
    begun = server.message()
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    server.send(*(search(number) for number in range(100, 200)))
    told = [server.message() for _ in range(100)]
    holder.close()
    server.send(search(2))
    after = server.message()

    assert begun["method"] == "notifications/progress"
    assert sorted(each["id"] for each in told) == list(range(100, 200))
    errors = [json.loads(each["result"]["content"][0]["text"]) for each in told]
    codes = [each["code"] for each in errors]
    assert set(codes) == {"busy", "timed_out"}
    busy = errors[codes.index("busy")]
    assert busy["details"]["retry_after_seconds"] > 0
    assert after["id"] == 2
    assert "a.md:1" in after["result"]["content"][0]["text"]


@pytest.mark.parametrize("is_paired", [True, False], ids=["each cancelled at once", "all cancelled at the end"])
def test_server_answers_at_once_after_six_hundred_cancelled_calls(store: Path, is_paired: bool) -> None:
    calls = [search(number) for number in range(600)]
    cancels = [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        for number in range(600)
    ]
    with Piped(store) as server:
        server.opened()
        server.text("search", query="diary")
        server.send(*([each for pair in zip(calls, cancels, strict=True) for each in pair] if is_paired else calls))
        if not is_paired:
            server.send(*cancels)
        started = perf_counter()
        assert server.text("status").startswith(f"{len(TEXTS)} documents")
        seconds = perf_counter() - started
    print(f"status after {1_000 * seconds:.0f} ms")

    assert seconds < (0.2 if IS_NIGHTLY else 5.0)


def test_impatient_client_cancels_and_continues(client: Client) -> None:
    async def impatient(session: ClientSession) -> types.CallToolResult:
        import anyio  # noqa: PLC0415 - inside the event loop that it serves

        begun = anyio.Event()

        async def note(*_: Any) -> None:
            begun.set()

        async with anyio.create_task_group() as group:
            group.start_soon(
                lambda: session.call_tool(
                    "whynot", {"query": "harbour " * 2_000, "target": "log.txt"}, progress_callback=note
                )
            )
            await begun.wait()
            group.cancel_scope.cancel()
        return await session.call_tool("status", {})

    assert text_of(client.ask(impatient)).startswith(f"{len(TEXTS)} documents")


LOUD = f"""
import os, subprocess, sys, threading
from recall_core.api.recall import Recall
was = Recall.stats
def loud(self):
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"])
    threads = [threading.Thread(target=print, args=("by a thread",)) for _ in range(3)]
    for each in threads: each.start()
    for each in threads: each.join()
    sys.stdout.flush()
    return was(self)
Recall.stats = loud
{PROGRAM}
"""


def test_stdout_carries_only_messages_even_when_code_prints(store: Path) -> None:
    with Piped(store, program=LOUD) as server:
        server.opened()
        for number in range(1, 4):
            server.request(number, "tools/call", name="status", arguments={})
        told = [server.message() for _ in range(3)]
        server.stdin.close()
        assert server.line() == ""
        code, errors = server.ended()

    assert sorted(each["id"] for each in told) == [1, 2, 3]
    assert code == 0
    assert {"printed", "written", "by a child", "by a thread"} <= set(errors.split("\n"))


def test_server_survives_garbage_and_ends_with_its_input(store: Path) -> None:
    with Piped(store) as server:
        server.opened()
        server.write('garbage\n\n{"jsonrpc": "1.0"}\n\xff\xfe\n{"jsonrpc": "2.0", "id": 1}\nnull\n')
        server.write(b"\xff\xfe\x00\n")
        server.send([{"jsonrpc": "2.0", "id": 2, "method": "ping"}])  # batches left the protocol with 2025-06-18
        server.request(3, "ping")
        assert server.message() == {"jsonrpc": "2.0", "id": 3, "result": {}}

        server.request(3, "ping")
        assert server.message()["id"] == 3  # the id of a request that was answered

        server.request(4, "tools/call", name="search", arguments={"query": "x" * LONG})
        assert "query_too_long" in server.answer(4)["result"]["content"][0]["text"]
        server.request(5, "tools/call", name="search", arguments={"query": "x", "padding": "y" * LONG})
        assert "bad_arguments" in server.answer(5)["result"]["content"][0]["text"]
        server.request("six", "nonsense/method")
        assert server.message()["error"]["code"] == types.METHOD_NOT_FOUND

        server.write('{"jsonrpc": "2.0", "id": 7, "meth')
        server.stdin.close()
        assert server.line() == ""
        assert server.ended() == (0, "")


def test_uninitialized_requests_are_refused_and_unknown_versions_get_known_one(store: Path) -> None:
    with Piped(store) as server:
        server.request(1, "tools/list")
        refused = server.message()
        server.request(2, "ping")
        pinged = server.message()
        unknown = {**INITIALIZE["params"], "protocolVersion": "1999-01-01"}
        server.send({**INITIALIZE, "params": unknown}, INITIALIZED)
        opened = server.answer(INITIALIZE["id"])
        server.request(3, "tools/list")
        listed = server.message()

    assert refused["error"]["code"] == types.INVALID_PARAMS
    assert pinged == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert opened["result"]["protocolVersion"] == INITIALIZE["params"]["protocolVersion"]
    assert len(listed["result"]["tools"]) == 9


@pytest.mark.parametrize(
    "calls", [pytest.param(0, marks=pytest.mark.slow), 20], ids=["at once", "with calls that are not answered yet"]
)
def test_server_exits_cleanly_at_end_of_input(store: Path, calls: int) -> None:
    with Piped(store) as server:
        if calls:
            server.opened().send(*(search(number) for number in range(calls)))
        server.stdin.close()
        while server.line():
            pass
        assert server.ended() == (0, "")


def test_signal_ends_a_server_whose_client_reads_nothing(store: Path) -> None:
    with Piped(store) as server:
        server.opened()
        for number in range(60):
            server.request(number, "tools/call", name="list", arguments={})
        while unread(server) < 40_000:  # by now or soon the pipe is full
            pass
        assert server.ended(signal.SIGTERM) == (130, "Interrupted.\n")


def unread(server: Piped) -> int:
    """Return the number of unread bytes on stdout."""
    found = fcntl.ioctl(server.stdout, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(found, sys.byteorder)


@pytest.mark.parametrize("is_asked", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["idle", "asked"])
def test_server_ends_if_its_reader_is_gone(store: Path, is_asked: bool) -> None:
    with Piped(store) as server:
        server.opened()
        if is_asked:
            server.send(*(search(number) for number in range(20)))
        server.stdout.close()
        assert server.ended() == (0, "")


@pytest.mark.slow  # a server whose answers are not read is the harder case
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_busy_server(store: Path, number: signal.Signals) -> None:
    with Piped(store) as server:
        server.opened()
        server.send(*(search(each) for each in range(20)))
        server.message()
        assert server.ended(number) == (130, "Interrupted.\n")


def test_search_finds_what_changed_just_before(tmp_path: Path) -> None:
    own = tmp_path / ".config" / "recall" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("sync_on_search_ms = 60000\n", encoding="utf-8")
    store = filled(tmp_path / "store", {"a.md": "quokka\n"})
    with over_stdio(store) as client:
        for word in ("wombat", "heron"):
            (store / f"{word}.md").write_text(f"{word}\n", encoding="utf-8")
            assert f"**{word}.md:1**" in client.text("search", query=word)
