"""`recall rql`: check, format, explain and complete, with and without a store."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.flags import read_rql
from recall_core.adapters.streams import Streams

QUERY = "select path from doc filter doc.tag='docs' -- why\n;"
CANONICAL = "SELECT doc.path FROM doc FILTER doc.tag = 'docs'"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder without a store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return tmp_path


@pytest.fixture
def home(nowhere: Path) -> Path:
    (nowhere / "docs").mkdir()
    (nowhere / "docs" / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n")
    (nowhere / "docs" / "b.txt").write_text("A retry budget.\n")
    (nowhere / "c.txt").write_text("Nothing to see.\n")
    assert run("init", "--embedding", "hash")[0] == 0
    assert run("add", "docs", "--tag", "docs", "--meta", "year=2024")[0] == 0
    assert run("add", "c.txt")[0] == 0
    return nowhere


def run(*argv: str, stdin: str = "") -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def ask(*argv: str, stdin: str = "") -> dict[str, Any]:
    response: dict[str, Any] = json.loads(run(*argv, "--json", stdin=stdin)[1])
    return response


def code_of(*argv: str) -> str:
    code, out, _ = run(*argv, "--json")
    assert code == 2
    refused: str = json.loads(out)["error"]["code"]
    return refused


def test_check_needs_no_store(nowhere: Path) -> None:
    (nowhere / "q.rql").write_text(QUERY)

    answers = [
        run("rql", "check", QUERY),
        run("rql", "check", "@q.rql"),
        run("rql", "check", "--rql", "@q.rql"),
        run("rql", "check", "-", stdin=QUERY),
    ]

    assert answers == [(0, CANONICAL + "\n", "")] * 4


def test_error_position_is_shown_in_text_and_json(nowhere: Path) -> None:
    text = "SELECT *\nFROM doc FILTER doc.tgas = 'x'"

    code, out, err = run("rql", "check", text)

    assert (code, out) == (2, "")
    line, caret = err.splitlines()[1:3]
    assert line.index("doc.tgas") == caret.index("^^^^^^^^  expected a field such as doc.tag")
    error = ask("rql", "check", text)["error"]
    assert (error["code"], error["hint"]) == ("unknown_field", "did you mean doc.tags?")
    assert error["details"] == {"line": 2, "column": 17, "span": [25, 33], "expected": "a field such as doc.tag"}


def test_warning_becomes_an_error_under_strict(nowhere: Path) -> None:
    odd = "SELECT nope, doc.path FROM doc"

    assert ask("rql", "check", odd)["warnings"][0].startswith("W_UNKNOWN_FIELD")
    assert code_of("rql", "check", odd, "--set", "strict=true") == "unknown_field"


def test_format_keeps_comments_and_is_idempotent(nowhere: Path) -> None:
    code, out, _ = run("rql", "format", QUERY)

    assert (code, out) == (0, f"-- why\n{CANONICAL}\n")
    assert run("rql", "format", out)[1] == out


def test_format_omits_nothing(nowhere: Path) -> None:
    assert code_of("rql", "format", "SELECT nope, doc.path FROM doc") == "unknown_field"
    assert code_of("rql", "format", "SELECT doc.path FROM doc ORDER BY score") == "order_without_using"


def test_format_writes_in_place_and_reports_changes(nowhere: Path) -> None:
    file = nowhere / "q.rql"
    file.write_text(QUERY)
    file.chmod(0o640)

    first, second = (ask("rql", "format", "--write", "@q.rql")["rql"] for _ in range(2))

    assert (first["changed"], second["changed"], first["path"]) == (True, False, "q.rql")
    assert file.read_text() == f"-- why\n{CANONICAL}\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in nowhere.iterdir()] == ["q.rql"]


def test_unparsable_query_leaves_its_file_unchanged(nowhere: Path) -> None:
    (nowhere / "q.rql").write_text("SELECT")

    assert code_of("rql", "format", "--write", "@q.rql") == "rql_syntax"
    assert (nowhere / "q.rql").read_text() == "SELECT"


def test_explain_counts_rows_for_each_filter_part(home: Path) -> None:
    rql = (
        "SELECT doc.path FROM chunk USING lexical('retry') "
        "FILTER doc.tag = 'docs' AND NOT (doc.path GLOB '*.md' OR doc.meta.year = '2025')"
    )

    response = ask("rql", "explain", rql)
    view = response["explained"]

    assert (view["table"], view["select"], view["rows"], view["passing"]) == ("chunk", ["doc.path"], 3, 2)
    tag, negation = view["filter"]["terms"]
    pattern, year = negation["terms"][0]["terms"]
    assert (tag["text"], tag["rows"], tag["native"]) == ("doc.tag = 'docs'", 2, True)
    assert (negation["kind"], negation["rows"]) == ("not", 3)
    assert [(part["rows"], part["native"]) for part in (pattern, year)] == [(0, False), (0, False)]
    assert view["order"] == ["score DESC, doc.path, chunk.offset, chunk.id"]
    assert any("SEARCH" in step or "SCAN" in step for step in view["steps"])
    assert response["query"]["plan"]["signals"][0]["terms"][0]["df"] == 2
    assert response["stats"]["total_hits"] == 2


def test_explain_of_documents_counts_documents(home: Path) -> None:
    view = ask("rql", "explain", "SELECT * FROM doc FILTER chunk.tokens > 3 ORDER BY doc.mtime DESC")["explained"]

    assert (view["rows"], view["passing"], view["order"]) == (3, 1, ["doc.mtime DESC"])


def test_piped_explain_is_one_line_per_fact(home: Path) -> None:
    code, out, _ = run("rql", "explain", "SELECT * FROM chunk USING lexical('retry') FILTER doc.tag = 'docs' LIMIT 1")

    assert code == 0
    assert "rows     2 of 3 chunks pass the filter\n" in out
    assert "filter          2  native   doc.tag = 'docs'\n" in out
    assert "limit    1 offset 0 of 2 rows\n" in out


def test_explain_needs_a_store(nowhere: Path) -> None:
    assert run("rql", "explain", "SELECT * FROM doc")[0] == 1


def test_completion_suggests_the_values_of_the_store(home: Path) -> None:
    found = ask("rql", "complete", "SELECT * FROM doc FILTER doc.tag = 'd")["candidates"]

    assert found == [{"text": "'docs'", "kind": "value", "start": 35, "end": 37, "detail": "2 documents"}]


def test_completion_uses_the_cursor(home: Path) -> None:
    assert run("rql", "complete", "SELECT doc.ha FROM doc", "--cursor", "13")[1].startswith("doc.hash  field  ")


def test_completion_works_without_a_store(nowhere: Path) -> None:
    assert run("rql", "complete", "SELECT * FR")[:2] == (0, "FROM  keyword\n")


def test_completion_hides_no_other_store_error(nowhere: Path) -> None:
    (nowhere / "broken.db").write_text("not a database" * 100)

    assert run("rql", "complete", "SELECT * FR", "--store", "broken.db")[0] == 6
    assert run("rql", "complete", "SELECT * FR", "--store", "missing.db")[0] == 1


def test_wrong_command_line_is_refused(nowhere: Path) -> None:
    for argv, code in [
        (["rql"], "missing_argument"),
        (["rql", "check"], "missing_argument"),
        (["rql", "chekc", "x"], "bad_value"),
        (["rql", "check", "x", "--rql", "y"], "unexpected_argument"),
        (["rql", "check", "@nowhere.rql"], "rql_unreadable"),
        (["rql", "check", QUERY, "--write"], "conflicting_flags"),
        (["rql", "format", QUERY, "--set", "strict=true"], "conflicting_flags"),
        (["rql", "explain", QUERY, "--cursor", "1"], "conflicting_flags"),
        (["rql", "format", QUERY, "--write"], "missing_argument"),
        (["rql", "complete", "SELECT", "--cursor", "-1"], "bad_value"),
    ]:
        assert code_of(*argv) == code, argv


def test_bom_before_a_query_is_ignored(nowhere: Path) -> None:
    (nowhere / "q.rql").write_bytes("\ufeffselect doc.path from doc\n".encode())
    stdin = io.StringIO("\ufeffselect doc.path from doc")

    assert read_rql("@q.rql", stdin) == "select doc.path from doc\n"
    assert read_rql("-", stdin) == "select doc.path from doc"
