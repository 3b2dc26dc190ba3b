"""`recall whynot` and `recall trace` as they are typed: exit codes, JSON, the ladder, the funnel."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams, shown
from tests.contracts import schema, validator

FILTER = "doc.path GLOB 'r*' AND (doc.source = 's' OR chunk.tokens > 3)"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made")
    (home / "retry.md").write_text("A failed call is retried three times.\n")
    (home / "cache.md").write_text("Answers are cached; a failed call is not.\n")
    (home / "paint.md").write_text("Blue paint dries within an hour.\n")
    run("init", str(home))
    run("--store", str(home), "add", str(home))
    return home


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def keys_beyond(answer: Any, node: dict[str, Any], root: dict[str, Any]) -> set[str]:
    """Keys of an answer that the schema does not name."""
    if "$ref" in node:
        node = root["$defs"][node["$ref"].rsplit("/", 1)[1]]
    for choice in node.get("anyOf", []):
        if isinstance(answer, list | dict) and ("$ref" in choice or choice.get("type") in ("array", "object")):
            node = choice if "$ref" not in choice else root["$defs"][choice["$ref"].rsplit("/", 1)[1]]
    if isinstance(answer, list):
        return {key for each in answer for key in keys_beyond(each, node.get("items", {}), root)}
    if not isinstance(answer, dict) or "properties" not in node:
        return set()
    known = node["properties"]
    inner = (keys_beyond(value, known[key], root) for key, value in answer.items() if key in known)
    return set(answer) - set(known) | {key for keys in inner for key in keys}


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["whynot", "retried", "--target", "retry.md"], 0),
        (["whynot", "retried", "--target", "paint.md", "--k", "1"], 7),
        (["whynot", "retried", "--target", "paint.md", "--k", "1", "--filter", FILTER], 7),
        (["whynot", "retried", "--target", "cache.md", "--budget-tokens", "12"], 7),
        (["whynot", "--rql", "SELECT * FROM doc USING lexical('call') LIMIT 1", "--target", "cache.md"], 7),
        (["whynot", "--rql", "SELECT * FROM chunk FILTER doc.path = 'x'", "--target", "cache.md", "--no-fixes"], 7),
        (["whynot", "retried", "--target", "nowhere.md"], 8),
        (["whynot", "retried"], 2),
        (["whynot", "--target", "retry.md"], 2),
        (["whynot", "retried", "--target", "retry.md", "--diversity", "1"], 2),
        (["trace", "retried"], 0),
        (["trace", "retried", "--filter", FILTER, "--budget-tokens", "20"], 0),
        (["trace", "--rql", "SELECT * FROM doc FILTER doc.tag = 'x'"], 0),
        (["trace", "retried", "--snapshot", "0" * 64], 4),
    ],
)
def test_exit_codes_and_answers_that_fit_the_contract(folder: Path, argv: list[str], code: int) -> None:
    found, stdout, stderr = run(*argv, "--json")
    answer = json.loads(stdout)
    validator().validate(answer)
    assert found == code, stderr
    assert keys_beyond(answer, schema(), schema()) == set()


def test_the_ladder_marks_each_stage_and_expands_the_first_cross(folder: Path) -> None:
    _, text, _ = run("whynot", "retried", "--target", "paint.md", "--k", "1", "--filter", FILTER)
    lines = text.splitlines()
    marked = [line.split()[1] for line in lines if line[0] in "✓✗·"]
    assert lines[0].startswith("absent: filter  paint.md:1-1")
    assert marked[:3] == ["identify", "ingested", "fresh"]
    assert len(marked) == 20
    cross = next(number for number, line in enumerate(lines) if line.startswith("✗"))
    assert lines[cross + 1].strip() == "doc.path GLOB 'r*'  is paint.md"


def test_a_fix_can_be_typed_as_it_stands(folder: Path) -> None:
    _, text, _ = run("whynot", "failed call", "--target", "cache.md", "--k", "1")
    command = re.search(r"^fix   recall (search 'failed call' --k 2)$", text, flags=re.M)
    assert command is not None
    assert "would not do" in text
    assert "cache.md" in run("search", "failed call", "--k", "2")[1]


def test_a_fix_names_the_store_that_was_named(folder: Path) -> None:
    code, stdout, _ = run(
        "--store", str(folder), "whynot", "failed call", "--target", "cache.md", "--k", "1", "--json"
    )
    commands = [fix["command"] for fix in json.loads(stdout)["whynot"]["fixes"]]
    assert code == 7
    assert all(command.startswith(f"recall --store {folder} ") for command in commands)


def test_words_that_look_like_flags_are_typed_behind_two_dashes(folder: Path) -> None:
    _, stdout, _ = run("whynot", "--target", "cache.md", "--k", "1", "--json", "--", "-failed")
    commands = [fix["command"] for fix in json.loads(stdout)["whynot"]["fixes"]]
    assert any(command.endswith("-- -failed") for command in commands)


def test_the_funnel_shows_rows_and_what_each_predicate_removes(folder: Path) -> None:
    _, text, _ = run("trace", "call", "--filter", FILTER)
    rows = {line.split()[0]: line.split()[1:3] for line in text.splitlines() if line and line[0].isalpha()}
    assert rows["filter"] == ["3", "1"]
    assert rows["union"] == ["1", "1"]
    assert re.search(r"^ +2 +2 +2  doc\.path GLOB 'r\*'$", text, flags=re.M)
    assert re.search(r"3 rows without a value$", text, flags=re.M)


def test_the_same_question_is_traced_with_the_same_rows(folder: Path) -> None:
    def untimed() -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(run("trace", "call", "--filter", FILTER, "--json")[1])
        del answer["stats"], answer["trace"]["timings"]
        return answer

    assert untimed() == untimed()


def test_marks_are_ascii_where_the_stream_has_no_others() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert shown("✓ a ✗ b · c", ascii_only) == "+ a x b - c"
    assert shown("✓ a", io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) == "✓ a"
    assert shown("✓ a", io.StringIO()) == "✓ a"


def test_one_row_of_a_part_of_a_filter_passes(folder: Path) -> None:
    _, text, _ = run("trace", "call", "--filter", "doc.path = 'retry.md' OR doc.path = 'nowhere'")

    assert "(1 row passes)" in text
    assert "(0 rows pass)" in text


def test_one_row_less_is_told_in_the_singular(folder: Path) -> None:
    _, text, _ = run("whynot", "failed call", "--target", "cache.md", "--k", "1")

    assert "; confirmed, and 1 row would not do" in text
