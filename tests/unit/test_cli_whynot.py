"""`recall whynot` and `recall trace` on the command line: exit codes, JSON, the ladder and the funnel."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams, encode_for
from recall_core.adapters.whynot import NOT_RECALLED, VERDICTS, detail_of, whynot_lines
from recall_core.contract.explaining import FixView, StageView
from recall_core.explain.whynot.fix import Change, by_effort
from recall_core.explain.whynot.question import Question
from recall_core.explain.whynot.stages import OF_SETTINGS, STAGES
from tests.contracts import schema, validator

FILTER = "doc.path GLOB 'r*' AND (doc.source = 's' OR chunk.tokens > 3)"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made")
    (home / "retry.md").write_text("A failed call is retried three times.\n")
    (home / "cache.md").write_text("Answers are cached; a failed call is not.\n")
    (home / "paint.md").write_text("Blue paint dries within an hour.\n")
    run("init", str(home), "--embedding", "hash")
    run("--store", str(home), "add", str(home))
    return home


@pytest.fixture
def folder(template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(template)
    return template


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def keys_beyond(answer: Any, node: dict[str, Any], root: dict[str, Any]) -> set[str]:
    """Return the keys of an answer that the schema does not name."""
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


def test_exit_codes_and_answers_fit_the_contract(folder: Path) -> None:
    for argv, code in [
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
    ]:
        found, stdout, stderr = run(*argv, "--json")
        answer = json.loads(stdout)
        validator().validate(answer)
        assert found == code, stderr
        assert keys_beyond(answer, schema(), schema()) == set(), argv


def test_ladder_marks_each_stage_and_expands_the_first_cross(folder: Path) -> None:
    _, text, _ = run("whynot", "retried", "--target", "paint.md", "--k", "1", "--filter", FILTER, "--all")
    lines = text.splitlines()
    marked = [line.split()[1] for line in lines if line and line[0] in "✓✗·"]
    assert marked[:3] == ["identify", "ingested", "fresh"]
    assert len(marked) == 20
    cross = next(number for number, line in enumerate(lines) if line.startswith("✗"))
    assert lines[cross + 1].strip() == "doc.path GLOB 'r*'  is paint.md"


def test_report_shows_verdict_stage_and_commands_only(folder: Path) -> None:
    argv = ("whynot", "retried", "--target", "paint.md", "--k", "1", "--filter", FILTER)
    _, text, _ = run(*argv)
    verdict, why, *rest = text.splitlines()
    fixes = json.loads(run(*argv, "--json")[1])["whynot"]["fixes"]

    assert verdict.startswith("paint.md:1 is not in the answer: the filter excludes it  ")
    assert why == "why   filter: fails doc.path GLOB 'r*' (value: paint.md)"
    assert [line.split(None, 1)[1] for line in rest if line.startswith("fix")] == [fix["command"] for fix in fixes]
    assert len(fixes) > 0
    assert rest[-1] == "more  --all shows all 20 stages"
    assert len(rest) == 2 * len(fixes) + 1


def test_rank_is_compared_with_the_last_row_in_words(folder: Path) -> None:
    argv = ("whynot", "failed call", "--target", "cache.md", "--k", "1")
    view = json.loads(run(*argv, "--json")[1])["whynot"]
    held = next(stage["evidence"] for stage in view["stages"] if stage["stage"] == "fusion")

    assert run(*argv)[1].splitlines()[1] == (
        f"why   fusion: it is row 2 of 3 with a score of {held['score']:.6f}; "
        f"row 1, the last row shown, has {held['last_score']:.6f}"
    )


def test_all_adds_details_below_the_rest(folder: Path) -> None:
    argv = ("whynot", "failed call", "--target", "call", "--k", "1", "--set", "collapse=false")
    short, whole = (run(*argv, *more)[1].splitlines() for more in ((), ("--all",)))

    assert whole[: len(short) - 1] == short[:-1]
    assert short[-1] == "more  --all shows all 20 stages and 1 other chunk"
    assert [line for line in whole if line.startswith("also")] != []


def test_every_verdict_has_plain_words() -> None:
    codes = {code for each in (*STAGES.values(), *OF_SETTINGS.values()) for code in each}

    assert codes == set(VERDICTS)


def test_filter_fix_names_the_dropped_predicates(folder: Path) -> None:
    for where, said in [
        ("doc.path = 'x' OR doc.source = 's'", "search without (doc.path = 'x' OR doc.source = 's')"),
        ("NOT (doc.path = 'paint.md' AND chunk.tokens > 1)", None),
        ("chunk.tokens > 1 AND doc.path = 'x'", "search without doc.path = 'x'"),
        (
            "chunk.tokens > 1 AND (doc.path = 'x' OR doc.source = 's')",
            "search without (doc.path = 'x' OR doc.source = 's')",
        ),
    ]:
        answer = json.loads(run("whynot", "paint", "--target", "paint.md", "--filter", where, "--json")[1])
        changes = [fix["change"] for fix in answer["whynot"]["fixes"] if fix["kind"] == "filter"]

        assert changes == [said or f"search without {where}"], where


def test_distinguishing_words_come_last_with_a_label(folder: Path) -> None:
    argv = ("whynot", "failed retried", "--target", "paint.md", "--k", "1")
    kinds = [fix["kind"] for fix in json.loads(run(*argv, "--json")[1])["whynot"]["fixes"]]
    changes = [line for line in run(*argv)[1].splitlines() if line.startswith("      ")]

    assert kinds[0] != "term"
    assert kinds.count("term") <= 1
    assert kinds == sorted(kinds, key=lambda kind: kind == "term")
    assert ["distinctive for its text" in line for line in changes] == [kind == "term" for kind in kinds]


def test_fixes_are_sorted_by_effort_of_last_change() -> None:
    kinds = "term filter spelling filter+k k weight filter+weight min_score+k budget offset match".split()
    changes = [Change(kind, "", Question(""), {}, 1) for kind in kinds]

    told = [change.kind for change in by_effort(changes)]

    assert told == "filter match filter+k k min_score+k budget offset spelling weight filter+weight term".split()


def test_printed_fix_can_be_typed(folder: Path) -> None:
    _, text, _ = run("whynot", "failed call", "--target", "cache.md", "--k", "1")
    command = re.search(r"^fix   recall (search 'failed call' --k 2)$", text, flags=re.M)
    assert command is not None
    assert "is not enough" in text
    assert "cache.md" in run("search", "failed call", "--k", "2")[1]


def test_weight_fix_uses_new_names_in_text_only() -> None:
    command = "recall search x --set bm25_weight=0.4 --set vector_weight=0.6"
    fix: FixView = {"kind": "weight", "change": "set the semantic weight to 0.6 instead of 0.1", "command": command}
    view: Any = {
        "target": {
            "text": "a.md",
            "kind": "document",
            "chosen": {"path": "a.md", "line_start": 1, "line_end": 2, "chunk_id": "c", "rank": 9},
        },
        "present": False,
        "verdict": "rank",
        "stages": [],
        "fixes": [fix],
    }

    told = list(whynot_lines(view))

    assert "fix   recall search x --set lexical_weight=0.4 --set semantic_weight=0.6" in told
    assert "      set the semantic weight to 0.6 instead of 0.1; confirmed" in told
    assert view["fixes"][0]["command"] == command


def test_missing_sparse_recall_is_explained_in_words() -> None:
    for reason in sorted(NOT_RECALLED):
        detail = f"no row was taken from it ({reason})"
        stage: StageView = {"stage": "sparse", "status": "pass", "detail": detail, "evidence": {"reason": reason}}

        assert detail_of(stage) == f"not applied: {NOT_RECALLED[reason]}", reason
        assert detail_of({**stage, "detail": "a row was given to it"}) == "a row was given to it", reason


def test_fix_names_the_given_store(folder: Path) -> None:
    code, stdout, _ = run(
        "--store", str(folder), "whynot", "failed call", "--target", "cache.md", "--k", "1", "--json"
    )
    commands = [fix["command"] for fix in json.loads(stdout)["whynot"]["fixes"]]
    assert code == 7
    assert all(command.startswith(f"recall --store {folder} ") for command in commands)


def test_flag_like_words_follow_two_dashes(folder: Path) -> None:
    _, stdout, _ = run("whynot", "--target", "cache.md", "--k", "1", "--json", "--", "-failed")
    commands = [fix["command"] for fix in json.loads(stdout)["whynot"]["fixes"]]
    assert any(command.endswith("-- -failed") for command in commands)


def test_funnel_shows_rows_and_predicate_removals(folder: Path) -> None:
    _, text, _ = run("trace", "call", "--filter", FILTER)
    rows = {line.split()[0]: line.split()[1:3] for line in text.splitlines() if line and line[0].isalpha()}
    assert rows["filter"] == ["3", "1"]
    assert rows["union"] == ["1", "1"]
    assert re.search(r"^ +2 +2 +2  doc\.path GLOB 'r\*'$", text, flags=re.M)
    assert re.search(r"3 rows without a value$", text, flags=re.M)


def test_tracing_twice_gives_the_same_rows(folder: Path) -> None:
    def untimed() -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(run("trace", "call", "--filter", FILTER, "--json")[1])
        del answer["stats"], answer["trace"]["timings"]
        return answer

    assert untimed() == untimed()


def test_marks_are_ascii_on_ascii_streams() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert encode_for("✓ a ✗ b · c", ascii_only) == "+ a x b - c"
    assert encode_for("✓ a", io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) == "✓ a"
    assert encode_for("✓ a", io.StringIO()) == "✓ a"


def test_one_passing_row_is_singular(folder: Path) -> None:
    _, text, _ = run("trace", "call", "--filter", "doc.path = 'retry.md' OR doc.path = 'nowhere'")

    assert "(1 row passes)" in text
    assert "(0 rows pass)" in text


def test_one_missing_row_is_singular(folder: Path) -> None:
    _, text, _ = run("whynot", "failed call", "--target", "cache.md", "--k", "1")

    assert "showing 1 result is not enough" in text
