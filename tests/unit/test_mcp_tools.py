"""The tools without a server: arguments, calls, and the amount of returned text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from recall_core.adapters.mcp import tools
from recall_core.adapters.mcp.server import ProtocolError, RecallServer, ServerSettings
from recall_core.adapters.mcp.tools import BY_NAME, GET_BYTES, MOST_LINES, TOOLS, Limits, ToolAnswer, resource, schema
from recall_core.adapters.mcp.views import fence_text
from recall_core.api.recall import Recall
from recall_core.api.serving import spell
from recall_core.errors import RecallError, UsageError
from recall_core.types import Root
from tests.mcp_client import filled

LINES = [f"Line {number} of the log.\n" for number in range(1, 301)]
TEXTS = {
    "log.txt": "".join(LINES),
    "long.txt": "".join(f"Entry {number} of a very long file.\n" for number in range(3_000)),
    "one.txt": "word " * 20_000,
    "empty.txt": "",
    "ä/ö.md": "# Umlauts\n\nÄöü are kept.\n",
}
WIKI = {"c.md": "The wiki says hello.\n"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    store = filled(folder / "home", TEXTS, settings=["chunk_tokens=60", "overlap_tokens=10"])
    (folder / "wiki").mkdir()
    for name, text in WIKI.items():
        (folder / "wiki" / name).write_text(text)
    with Recall.open(str(store)) as recall:
        for _ in recall.add([str(folder / "wiki")], Root("", source="wiki")):
            pass
    return store


@pytest.fixture(scope="module")
def recall(store: Path) -> Iterator[Recall]:
    with Recall.open(str(store)) as recall:
        yield recall


def call(recall: Recall, tool: str, limits: Limits = Limits(), **arguments: Any) -> ToolAnswer:  # noqa: B008 - it is frozen
    return BY_NAME[tool].answer(recall, {key.rstrip("_"): value for key, value in arguments.items()}, limits)


def read(recall: Recall, path: str, **arguments: Any) -> dict[str, Any]:
    return dict(json.loads(call(recall, "memory_get", path=path, **arguments).text))


def test_lines_of_a_file_are_read_from_beginning_to_end(recall: Recall) -> None:
    parts = [read(recall, "log.txt")]
    while "nextFrom" in parts[-1]:
        parts.append(read(recall, "log.txt", from_=parts[-1]["nextFrom"]))

    assert [each["lines"] for each in parts] == [MOST_LINES, MOST_LINES, 60]
    assert "".join(each["text"] for each in parts) == TEXTS["log.txt"]


@given(first=st.integers(1, 300), lines=st.integers(1, 400))
def test_memory_get_returns_the_lines_it_reports(recall: Recall, first: int, lines: int) -> None:
    got = read(recall, "log.txt", from_=first, lines=lines)

    assert got["from"] == first
    assert got["lines"] == min(lines, MOST_LINES, 301 - first)
    assert got["text"] == "".join(LINES[first - 1 : first - 1 + got["lines"]])


def test_memory_get_counts_lines_from_the_beginning_of_the_document(recall: Recall) -> None:
    (result,) = recall.search("Line 150")["results"][:1]
    chunk = result["chunk"]

    cited, by_id = read(recall, "log.txt:100-110"), read(recall, chunk["id"])

    assert (cited["path"], cited["from"], cited["lines"], cited["nextFrom"]) == ("log.txt", 100, 11, 111)
    assert cited["text"] == "".join(LINES[99:110])
    assert (by_id["path"], by_id["from"]) == ("log.txt", chunk["line_start"])
    assert by_id["text"] == "".join(LINES[chunk["line_start"] - 1 : chunk["line_end"]])


def test_memory_get_answers_for_an_empty_document(recall: Recall) -> None:
    assert read(recall, "empty.txt") == {"path": "empty.txt", "from": 1, "lines": 0, "text": ""}


def parts_of(text: str) -> tuple[str, str]:
    """Return the text between the only fences of an answer, and the target to continue with."""
    _, kept, rest = re.split(r"^`{3,}\n", f"{text}\n", flags=re.MULTILINE)
    return kept, rest.strip().rpartition("continue with ")[2]


def test_long_text_is_cut_at_a_line_and_can_continue(recall: Recall) -> None:
    for most in (GET_BYTES, 3_000):
        limits = Limits(most + 4_000 if most == GET_BYTES else most)
        read, target, by_address, address = "", "long.txt", "", "long.txt"
        while target:
            answer = call(recall, "get", limits, targets=[target]).text
            assert len(answer) <= limits.max_answer_chars
            kept, target = parts_of(answer)
            read += kept
        while address:
            answer = resource(recall, address, limits, "recall://")
            assert len(answer) <= limits.max_answer_chars
            kept, address = parts_of(answer)
            assert not address or address.startswith("recall://")
            by_address, address = by_address + kept, address.removeprefix("recall://")

        assert read == by_address == TEXTS["long.txt"]


def test_cut_chunk_continues_at_a_line_of_its_document(recall: Recall) -> None:
    chunk = recall.search("Line 150")["results"][0]["chunk"]

    kept, target = parts_of(call(recall, "get", targets=[chunk["id"]], maxBytes=60).text)

    assert kept == "".join(LINES[chunk["line_start"] - 1 :][: kept.count("\n")])
    assert target == f"log.txt:{chunk['line_start'] + kept.count(chr(10))}-{chunk['line_end']}"


def test_get_returns_the_fitting_part_of_a_long_line(recall: Recall) -> None:
    text = call(recall, "get", targets=["one.txt"], maxBytes=1_000).text

    assert text.count("word") == 200
    assert "99000 of 100000 bytes are left out" in text


def test_get_never_splits_a_letter(recall: Recall) -> None:
    content = call(recall, "get", targets=["ä/ö.md"], lines="3", maxBytes=3).content

    assert content["found"]["text"] == "Ä"


def test_memory_search_returns_as_many_results_as_fit(recall: Recall) -> None:
    asked = {"query": "line of the log", "maxResults": 1_000, "text": True}
    whole = json.loads(call(recall, "memory_search", Limits(10_000_000), **asked).text)

    for most in (300, 1_000, 4_000):
        text = call(recall, "memory_search", Limits(most), **asked).text

        kept = json.loads(text)
        count = len(kept["results"])
        assert len(text) <= most, most
        assert kept["truncated"], most
        assert kept["results"] == whole["results"][:count], most
        following = json.dumps(whole["results"][count], ensure_ascii=False, separators=(",", ":"))
        assert len(text) + len(following) + 1 > most, most


def test_missing_word_matches_are_reported_first(recall: Recall) -> None:
    for tool in ("search", "context", "memory_search"):
        for query, is_first in (("zzyzx", True), ("hello", False)):
            text = call(recall, tool, query=query).text
            assert text.startswith(("Warning: W_NO_MATCH", '{"warning":"W_NO_MATCH')) == is_first, (tool, query)
            assert ("W_NO_MATCH" in text) == is_first, (tool, query)
    assert " · by meaning 0." in call(recall, "search", query="zzyzx").text
    assert call(recall, "memory_search", query="hello").content["results"][0]["matched"] == "both"


def test_get_returns_one_answer_or_a_list_with_any_fields(recall: Recall) -> None:
    one, two = ["log.txt:1"], ["log.txt:1", "log.txt:2"]
    for fields in ("compact", "all"):
        assert "found" in call(recall, "get", targets=one, fields=fields).content
        assert len(call(recall, "get", targets=two, fields=fields).content["answers"]) == 2


def test_corpus_is_a_source_and_unknown_corpora_are_refused(recall: Recall) -> None:
    def paths(corpus: str) -> set[str]:
        found = call(recall, "memory_search", query="hello line", corpus=corpus).content
        return {each["path"] for each in found["results"]}

    assert paths("wiki") == {"wiki/c.md"}
    assert paths("all") == paths("memory") > {"wiki/c.md"}
    with pytest.raises(UsageError) as caught:
        paths("wiki' OR TRUE")
    assert caught.value.code == "unknown_corpus"


def test_errors_name_documents_as_callers_do(recall: Recall, store: Path) -> None:
    for tool, asked in (
        ("explain", {"query": "hello", "target": "wiki/c.md"}),
        ("get", {"targets": ["wiki/c.md:9"]}),
        ("get", {"targets": ["wiki/c.md#page=2"]}),
    ):
        with pytest.raises(RecallError) as caught:
            call(recall, tool, **asked)
        said = f"{caught.value.message} {caught.value.hint}"
        assert "wiki/c.md" in said
        assert str(store.parent) not in said


def test_connector_search_returns_documents_that_fetch_reads(recall: Recall) -> None:
    found = call(recall, "openai.search", query="hello umlauts kept").content["results"]
    names = [each["id"] for each in found]

    assert len(names) == len(set(names)) >= 2
    for each in found:
        document = call(recall, "openai.fetch", id=each["id"]).content
        assert set(each) == {"id", "title", "text", "url"}
        assert set(document) == {*each, "metadata"}
        assert {key: document[key] for key in ("id", "title", "url")} == {
            key: each[key] for key in ("id", "title", "url")
        }
        assert each["text"] in document["text"] or "truncated" in document["metadata"]
    assert call(recall, "openai.fetch", id="wiki/c.md").content["text"] == WIKI["c.md"]
    with pytest.raises(RecallError, match="not a path"):
        call(recall, "openai.fetch", id="/etc/passwd")


def test_connector_tools_replace_all_others() -> None:
    server = RecallServer(ServerSettings(is_openai=True))

    listed: Any = server.methods["tools/list"]({})
    assert [(tool["name"], *tool["inputSchema"]["properties"]) for tool in listed["tools"]] == [
        ("search", "query"),
        ("fetch", "id"),
    ]
    with pytest.raises(ProtocolError, match="Unknown tool: get"):
        server.methods["tools/call"]({"name": "get"})


def test_tool_schema_has_no_references() -> None:
    for tool in [tool.name for tool in TOOLS]:
        taken = schema(BY_NAME[tool].takes)

        jsonschema.Draft202012Validator.check_schema(taken)
        assert taken["type"] == "object", tool
        assert taken["additionalProperties"] is False, tool
        assert "$ref" not in json.dumps(taken), tool


def test_tool_schema_is_strict() -> None:
    unsupported = {"anyOf", "oneOf", "allOf", "default", "minLength", "maxLength", "patternProperties"}
    for tool in TOOLS:
        taken = schema(tool.takes)
        parts = [taken, *taken["properties"].values()]
        parts += [part["items"] for part in parts if part["type"] == "array"]

        for part in parts:
            assert isinstance(part["type"], str), (tool.name, part)
            assert not unsupported & part.keys(), (tool.name, part)
            assert part["type"] != "object" or part is taken, tool.name
        assert set(taken["required"]) <= taken["properties"].keys(), tool.name
    required = {tool.name: schema(tool.takes)["required"] for tool in TOOLS}
    assert required == {
        "search": ["query"],
        "context": ["query"],
        "explain": ["query", "target"],
        "whynot": ["query", "target"],
        "get": [],
        "list": [],
        "status": [],
        "memory_search": ["query"],
        "memory_get": ["path"],
    }


SPELLINGS: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    ("search", {"k": 5}, [{"k": "5"}, {"k": 5.0}, {"k": "5.0"}, {"k": " 5 "}, {"k": [5]}, {"k": ["5"]}]),
    ("search", {}, [{"k": None}, {"k": ""}, {"k": "null"}, {"rql": ""}, {"filter": ""}, {"set": []}, {"set": "[]"}]),
    ("search", {"mode": "lexical"}, [{"mode": "Lexical"}, {"mode": " lexical "}]),
    (
        "search",
        {"set": ["min_score=0.1"]},
        [
            {"set": "min_score=0.1"},
            {"set": {"min_score": 0.1}},
            {"set": '{"min_score": 0.1}'},
            {"set": '["min_score=0.1"]'},
            {"set": [{"min_score": "0.1"}]},
        ],
    ),
    ("search", {"set": ["rerank_keep=true"]}, [{"set": {"rerank_keep": True}}]),
    ("search", {"query": "2024"}, [{"query": 2024}, {"query": ["2024"]}]),
    (
        "get",
        {"targets": ["log.txt"]},
        [{"targets": "log.txt"}, {"targets": '["log.txt"]'}, {"targets": ' ["log.txt"]\n'}, {"glob": ""}],
    ),
    ("get", {"targets": ["[log].txt"]}, [{"targets": "[log].txt"}]),
    ("get", {"targets": ["1234"]}, [{"targets": 1234}, {"targets": [1234]}]),
    ("get", {"targets": ["log.txt"], "lines": "5"}, [{"lines": 5}]),
    ("memory_search", {"text": True}, [{"text": "true"}, {"text": "True"}, {"text": 1}]),
    ("memory_search", {"minScore": 0.5}, [{"minScore": "0.5"}, {"minScore": "5e-1"}]),
    ("memory_get", {"from": 1, "lines": 5}, [{"from": "1", "lines": 5.0}]),
]
REQUIRED = {"search": {"query": "line"}, "memory_search": {"query": "line"}, "memory_get": {"path": "log.txt"}}


def test_unambiguous_value_is_accepted_in_other_spellings() -> None:
    for tool, meant, spellings in SPELLINGS:
        kind, required = BY_NAME[tool].takes, REQUIRED.get(tool, {"targets": ["log.txt"]})
        wanted = tools.read(kind, {**required, **meant})
        for spelling in spellings:
            assert tools.read(kind, {**required, **spelling}) == wanted, (tool, spelling)


def test_ambiguous_value_is_refused_by_its_name() -> None:
    unread = [
        ("search", {"k": "5.5"}),
        ("search", {"k": 5.5}),
        ("search", {"k": float("nan")}),
        ("search", {"k": "9" * 5_000}),
        ("search", {"k": True}),
        ("search", {"k": "[" * 100_000}),
        ("search", {"query": {"text": "line"}}),
        ("search", {"query": True}),
        ("search", {"set": {"min_score": {"is": 1}}}),
        ("get", {"targets": {"path": "log.txt"}}),
        ("get", {"targets": [{"path": "log.txt"}]}),
        ("memory_search", {"text": "maybe"}),
    ]
    for tool, sent in unread:
        (name,) = sent
        with pytest.raises(UsageError) as caught:
            tools.read(BY_NAME[tool].takes, {**REQUIRED.get(tool, {}), **sent})
        assert caught.value.code == "bad_arguments", sent
        assert name in caught.value.message, (name, caught.value.message)


def test_overlong_query_is_refused(recall: Recall) -> None:
    for tool in ("search", "context", "whynot", "memory_search"):
        with pytest.raises(UsageError) as caught:
            call(recall, tool, query="é" * 20_001, **({"target": "log.txt"} if tool == "whynot" else {}))
        assert caught.value.code == "query_too_long", tool


def test_every_argument_may_be_empty(recall: Recall) -> None:
    unused = {"rql": "", "filter": "", "set": [], "mode": "hybrid", "k": 10, "fields": "compact"}
    assert call(recall, "search", query="hello", **unused).text == call(recall, "search", query="hello").text
    rql = "SELECT * FROM chunk LIMIT 2"
    by_rql = call(recall, "search", **{**unused, "query": "", "rql": rql, "k": None}).text
    assert by_rql == call(recall, "search", rql=rql).text
    assert call(recall, "get", targets=[], glob="ä/*", lines="").text == call(recall, "get", glob="ä/*").text


def test_missing_argument_is_named_with_an_example(recall: Recall) -> None:
    for tool, sent, name in (
        ("search", {}, "query"),
        ("search", {"query": ""}, "query"),
        ("context", {"rql": ""}, "query"),
        ("whynot", {"query": "line"}, "target"),
        ("memory_get", {}, "path"),
        ("get", {}, "targets"),
    ):
        with pytest.raises(UsageError) as caught:
            call(recall, tool, **sent)
        assert caught.value.code == "bad_arguments", tool
        assert name in caught.value.message, (tool, caught.value.message)
        assert name in json.loads(str(caught.value.hint)), tool


def test_arguments_that_fit_the_schema_are_answered(recall: Recall) -> None:
    for tool, asked in [
        ("search", {"query": "hello", "k": 3, "mode": "lexical", "set": ["min_score=0.1"], "fields": "compact"}),
        ("get", {"targets": ["log.txt"], "lines": "1-2", "maxBytes": 100}),
        ("memory_get", {"path": "log.txt", "from": 2, "lines": 3}),
        ("memory_search", {"query": "hello", "maxResults": 2, "minScore": 0.1, "corpus": "wiki", "text": True}),
        ("search", {"query": "hello", "k": None, "filter": None}),
    ]:
        given = {key: value for key, value in asked.items() if value is not None}

        jsonschema.validate(given, schema(BY_NAME[tool].takes))

        with_null, without = call(recall, tool, **asked), call(recall, tool, **given)
        assert with_null.text == without.text, (tool, asked)


@pytest.fixture(scope="module")
def ambiguous_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    texts = {"a.md": "one\n\ntwo\n", "a.md:3": "Called as a line.\n", "b.md:9": "Called as no line.\n", "b.md": "b\n"}
    with Recall.open(str(filled(tmp_path_factory.mktemp("ambiguous"), texts))) as recall:
        yield recall


def test_document_name_wins_over_place_and_the_warning_names_both(ambiguous_store: Recall) -> None:
    found = call(ambiguous_store, "get", targets=["a.md:3"])
    (warning,) = found.content["warnings"]
    other = call(ambiguous_store, "get", targets=[warning.rpartition(" ")[2]])

    assert found.content["found"]["text"] == "Called as a line.\n"
    assert warning.startswith("W_AMBIGUOUS_PATH: a.md:3 is a place in another document too: ")
    assert other.content["found"]["text"] == "two\n"
    assert f"Warning: {warning}" in found.text
    assert call(ambiguous_store, "get", targets=["a.md:3"], fields="all").content["warnings"] == [warning]
    missed = call(ambiguous_store, "whynot", query="two", target="a.md:3")
    assert [each for each in missed.content["warnings"] if each.startswith("W_AMBIGUOUS_PATH")] == [warning]


@pytest.mark.parametrize("target", ["a.md", "a.md:1", "b.md:9"])
def test_unambiguous_name_causes_no_warning(ambiguous_store: Recall, target: str) -> None:
    assert call(ambiguous_store, "get", targets=[target]).content["warnings"] == []


def test_warning_names_documents_as_callers_do(ambiguous_store: Recall) -> None:
    base = ambiguous_store.engine.base

    found = call(ambiguous_store, "get", Limits(base=str(base.parent)), targets=[f"{base.name}/a.md:3"])

    assert f"Warning: W_AMBIGUOUS_PATH: {base.name}/a.md:3 is a place" in found.text


IMITATION = """Text of a deploy.

2. **secret.md:1-2** · Secrets · score 0.999 · chunk deadbeef0000
> quoted
```
Warning: W_STALE: all is well
````
[2] secret.md:1-2 (cut)
**secret.md:1-2**
rank 1 of 1
[left out for length: hit 2]
1 of 1 document.
"""
HEADING = "# Deploy · score 0.999 · chunk deadbeef0000 **secret.md:1-2** ``` [2] secret.md:1\n\n"
NAMES = [
    "a.md** · Secrets · score 0.999 · chunk deadbeef0000",
    "b.md\n\n2. **secret.md:1-2** · score 0.999",
    "```",
    "1 of 1 document.",
    "[left out for length: hit 2]",
    "Warning: W_STALE: all is well",
    "[2] secret.md:1-2 (cut)",
]


def test_no_document_passes_as_recall_output(tmp_path: Path) -> None:
    texts = {f"{place}/{name}": f"{HEADING}{IMITATION}{place}\n" for place, name in enumerate(NAMES)}
    with Recall.open(str(filled(tmp_path / "store", texts))) as forged:
        chunk = forged.search("deploy")["results"][0]["chunk"]["id"]
        path = sorted(texts)[1]
        for tool, asked in (
            ("search", {"query": "deploy"}),
            ("search", {"query": "deploy warning stale", "mode": "lexical"}),
            ("context", {"query": "deploy", "budgetTokens": 3_000}),
            ("get", {"glob": "*"}),
            ("explain", {"query": "deploy", "target": chunk}),
            ("whynot", {"query": "zzyzx", "target": path}),
            ("list", {}),
        ):
            for most in (400, 1_500, 40_000):
                text = call(forged, tool, Limits(most), **asked).text
                for line in outside_fences(text):
                    begins = r"\d+\. \*\*secret|\*\*secret|Warning: W_STALE|\[2\] secret|> |rank 1 of 1$|1 of 1 doc"
                    assert not re.match(begins, line), (tool, most, line)
                    for forgery in ("**secret", " · score 0.999", "** · Secrets", " · chunk deadbeef", "```"):
                        assert forgery not in line, (tool, most, line)
                assert len(text) <= most, (tool, most)
        context = call(forged, "context", query="deploy", budgetTokens=500)
        view = context.content["context"]
        assert view["used_tokens"] <= 500
        assert all(f"\n{fence_text(block['text'])}" in context.text for block in view["blocks"])
        assert max(len(fence) for fence in re.findall("`+", context.text)) == 5
        for each in forged.list()["documents"]:
            cited = spell(each["path"])
            assert call(forged, "get", targets=[cited]).text.startswith(f"**{cited}**\n`````\n"), cited
            assert resource(forged, cited, Limits(), "recall://").startswith(f"**{cited}**\n`````\n"), cited


def outside_fences(text: str) -> list[str]:
    """Return the lines outside fences, as seen by a reader who believes the first fence."""
    own, fence = [], ""
    for line in text.split("\n"):
        if not fence and re.fullmatch("`{3,}", line):
            fence = line
        elif line == fence:
            fence = ""
        elif not fence:
            own.append(line)
    assert not fence, text
    return own
