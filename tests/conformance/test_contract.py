"""Every command's --json answer fits the shipped schema exactly, and repeating a command gives the same bytes."""

from __future__ import annotations

import inspect
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

import recall_core
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.contract.responses import AnyResponse

SCHEMA = Path(recall_core.__file__).parent / "schema" / "response.schema.json"
RQL = "SELECT * FROM chunk USING lexical('retry'), semantic('retry') FILTER doc.tag = 'docs' LIMIT 2"


OF_NO_STORE = ("AgentsResponse", "DaemonResponse", "RouteResponse", "StatusResponse")
"""Answers that no method of a store gives."""


def test_every_answering_method_has_its_own_type() -> None:
    answers = {kind.__name__ for kind in get_args(AnyResponse)} - {"ErrorResponse", *OF_NO_STORE}
    returned = {
        name: re.findall(r"\w+Response", str(member.__annotations__.get("return", "")))
        for name, member in inspect.getmembers(Recall, inspect.isfunction)
    }

    assert {kind for kinds in returned.values() for kind in kinds} == answers


READING: dict[str, list[str]] = {
    "search": ["search", "retry", "backoff", "--k", "3"],
    "search explained": ["search", "retry", "--explain"],
    "search lexical": ["search", "retry", "--bm25", "--explain"],
    "search semantic": ["search", "retry", "--vector", "--explain", "--exact"],
    "search filtered": ["search", "retry", "--filter", "doc.path GLOB '**/a.md'"],
    "search by rank": ["search", "retry", "--set", "fusion=rrf", "--explain"],
    "search in vain": ["search", "zzzzqqqq", "--bm25"],
    "search with stop words only": ["search", "the", "--bm25"],
    "query": ["query", RQL, "--explain"],
    "query structured": ["query", "SELECT doc.path, chunk.offset FROM chunk ORDER BY doc.path LIMIT 1"],
    "query documents": ["query", "SELECT * FROM doc USING lexical('retry')"],
    "query of an unknown field": ["query", "SELECT nope, score FROM chunk LIMIT 1"],
    "query from stdin": ["query", "-"],
    "rql check": ["rql", "check", RQL],
    "rql format": ["rql", "format", RQL],
    "rql explain": ["rql", "explain", RQL + " OPTION fusion rrf"],
    "rql explain structured": [
        "rql",
        "explain",
        "SELECT doc.path FROM doc FILTER NOT doc.path GLOB 'x' OR doc.tag = 'y'",
    ],
    "rql complete": ["rql", "complete", "SELECT * FROM chunk FILTER doc.tag = "],
    "context": ["context", "retry", "--budget-tokens", "40"],
    "context in markdown": ["context", "retry", "--format", "markdown", "--diversity", "1", "--explain"],
    "context too small": ["context", "retry", "--budget-tokens", "1"],
    "context by rql": ["context", "--rql", RQL, "--counter", "approx"],
    "replay": ["replay", "retry.json"],
    "get": ["get", "docs/a.md"],
    "get lines": ["get", "docs/a.md:1-2"],
    "ls": ["ls"],
    "ls of a page": ["ls", "docs", "--glob", "**/*.md", "--long", "--k", "1", "--offset", "0"],
    "ls in vain": ["ls", "nowhere"],
    "stats": ["stats"],
    "config": ["config"],
    "doctor": ["doctor"],
    "doctor with near-duplicates": ["doctor", "--dups"],
    "export": ["export", "--out", "out.jsonl"],
    "backup": ["backup", "copy.db", "--force"],
    "verify": ["verify", "recall.db"],
}
FAILING: dict[str, tuple[list[str], int]] = {
    "unknown flag": (["search", "x", "--fitler", "y"], 2),
    "unknown command": (["serch"], 2),
    "bad filter": (["search", "x", "--filter", "doc.tgas = 'x'"], 2),
    "bad query": (["query", "SELECT * FROM"], 2),
    "bad query to check": (["rql", "check", "SELECT * FROM doc FILTER doc.tgas = 'x'"], 2),
    "bad setting": (["search", "x", "--set", "fusion=best"], 2),
    "unknown target": (["get", "nowhere.md"], 8),
    "unknown target of rm": (["rm", "nowhere.md"], 8),
    "snapshot mismatch": (["search", "retry", "--snapshot", "0" * 64], 4),
    "bad glob": (["ls", "--glob", "{a,b}" * 9], 2),
    "missing file": (["add", "nowhere"], 1),
    "missing receipt": (["replay", "nowhere.json"], 2),
    "missing import": (["import", "nowhere.jsonl"], 1),
    "no store": (["--store", "elsewhere/none.db", "stats"], 1),
}


def run(*argv: str, stdin: str = "") -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home: Path = tmp_path_factory.mktemp("library")
    docs = home / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n\n# Deploy\n\nRoll out slowly.\n")
    (docs / "b.txt").write_text("A retry budget keeps a storm of retries from spreading.\n")
    (docs / "bin.dat").write_bytes(b"\x00\x01")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", "docs", "--tag", "docs", "--source", "test", "--meta", "year=2024")[0] == 0
        assert run("search", "retry", "--receipt", "retry.json")[0] == 0
    return home


@pytest.fixture
def store(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    shutil.copytree(library, home)
    monkeypatch.chdir(home)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return home


@pytest.fixture(scope="module")
def check() -> Callable[[str], dict[str, Any]]:
    """Return a function that validates one line against the shipped schema and refuses other keys."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for definition in schema["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    validator = jsonschema.Draft202012Validator(schema)

    def valid(line: str) -> dict[str, Any]:
        assert line.endswith("\n")
        assert line.count("\n") == 1
        response: dict[str, Any] = json.loads(line, parse_constant=pytest.fail)
        validator.validate(response)
        assert response["ok"] is ("error" not in response)
        return response

    return valid


def timeless(response: dict[str, Any]) -> str:
    stats = {key: value for key, value in response.get("stats", {}).items() if key not in {"took_ms", "timings"}}
    return json.dumps({**response, "stats": stats}, ensure_ascii=False)


def test_reading_commands_fit_schema_with_same_bytes_twice(store, check) -> None:  # type: ignore[no-untyped-def]
    for name, argv in READING.items():
        first, second = (run(*argv, "--json", stdin=RQL) for _ in range(2))

        assert first[0] == 0, (name, first)
        assert timeless(check(first[1])) == timeless(check(second[1])), name


def test_failures_fit_schema_and_have_their_exit_codes(store, check) -> None:  # type: ignore[no-untyped-def]
    for name, (argv, exit_code) in FAILING.items():
        code, out, err = run("--json", *argv)

        response = check(out)
        assert (code, err) == (exit_code, ""), name
        assert response["error"]["hint"] or response["error"]["details"]["expected"], name
        assert response["error"]["code"] not in {"internal_error", "io_error"}, name


def test_every_writing_command_fits_the_schema(store, check) -> None:  # type: ignore[no-untyped-def]
    (store / "docs" / "c.txt").write_text("Circuit breakers open after failures.\n")

    answers = {
        "sync": run("sync", "--json"),
        "add": run("add", "docs", "--tag", "docs", "--source", "test", "--meta", "year=2024", "--json"),
        "rm": run("rm", "docs/b.txt", "--json"),
        "purge": run("rm", "docs/c.txt", "--purge", "--json"),
        "compact": run("compact", "--json"),
        "fix": run("doctor", "--fix", "--json"),
        "export": run("export", "--out", "all.jsonl", "--json"),
        "verify": run("verify", "all.jsonl", "--json"),
        "recover": run("recover", "recall.db", "recovered.db", "--json"),
        "init": run("init", "other", "--embedding", "hash", "--json"),
        "import": run("--store", "other/recall.db", "import", "all.jsonl", "--json"),
    }

    assert {name: code for name, (code, _, _) in answers.items() if code} == {}
    responses = {name: check(out) for name, (_, out, _) in answers.items()}
    assert responses["sync"]["ingest"]["added"] == 1
    assert responses["add"]["ingest"]["added"] == 0
    assert responses["add"]["ingest"]["skipped"]
    assert responses["rm"]["removed"]["documents"] == 1
    assert responses["purge"]["removed"]["purged"]


def test_receipt_answers_and_their_diffs_fit_schema(store, check) -> None:  # type: ignore[no-untyped-def]
    for argv in (["search", "retry"], ["query", RQL], ["context", "retry"]):
        response = check(run(*argv, "--receipt", f"{argv[0]}.json", "--json")[1])
        assert set(response["receipt"]) == {"sha256", "path"}
    assert run("rm", "docs/b.txt")[0] == 0

    for name in ("search", "query", "context"):
        code, out, _ = run("replay", f"{name}.json", "--json")
        assert code == 7
        assert check(out)["replay"]["changes"]


def test_search_ledger_adds_up_to_score(store, check) -> None:  # type: ignore[no-untyped-def]
    response = check(run("search", "retry", "--explain", "--json")[1])

    for result in response["results"]:
        parts = result["explain"]["parts"]
        assert sum(part["points"] for part in parts) == pytest.approx(result["score"], abs=1e-12)
    assert response["query"]["plan"]["fusion"] == "weighted"


def test_strict_fresh_exits_3_for_stale_file(store, check) -> None:  # type: ignore[no-untyped-def]
    (store / "docs" / "a.md").write_text("# Retry\n\nNever retry.\n")

    marked = check(run("search", "retry", "--json")[1])
    code, out, _ = run("search", "retry", "--strict-fresh", "--json")

    assert any(result["doc"].get("state") == "modified" for result in marked["results"])
    assert any(warning.startswith("W_STALE") for warning in marked["warnings"])
    assert code == 3
    assert check(out)["ok"] is False


def test_fresh_reads_the_changed_file_first(store, check) -> None:  # type: ignore[no-untyped-def]
    (store / "docs" / "a.md").write_text("# Retry\n\nNever retry xylophones.\n")

    response = check(run("search", "xylophones", "--bm25", "--fresh", "--json")[1])

    assert len(response["results"]) == 1


def test_export_writes_json_lines_to_stdout_and_report_to_stderr(store, check) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run("export", "--json")

    assert code == 0
    assert all(isinstance(json.loads(line), dict) for line in out.splitlines())
    assert check(err)["transfer"]["documents"] == 2


def test_schema_prints_the_shipped_schema(store) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run("schema")

    assert code == 0
    assert out == SCHEMA.read_text(encoding="utf-8")
