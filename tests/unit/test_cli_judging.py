"""`recall eval` and `recall judge` in process: files, figures in words, exit codes."""

from __future__ import annotations

import io
import json
import os
from contextlib import chdir
from pathlib import Path
from shutil import copy2, copytree

import pytest

from recall_core.adapters import cli, commands
from recall_core.adapters.judging import board_tables, verdict_of
from recall_core.adapters.streams import Streams
from recall_core.contract import judging
from recall_core.contract.judging import ComparisonView
from tests.contracts import validator

EVAL = ("eval", "--queries", "q.tsv", "--qrels", "r.txt", "--metrics", "mrr,p@1")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir()
    (template / "docs" / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n")
    (template / "docs" / "b.txt").write_text("A retry budget for every client.\n")
    (template / "q.tsv").write_text("q1\tbackoff\nq2\tbudget of a client\n")
    (template / "r.txt").write_text("q1 0 docs/a.md 1\nq2 0 b 1\nq2 0 zzz 0\n")
    with chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", "docs")[0] == 0
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a folder with a store, queries and judgements."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(copytree(template, tmp_path, copy_function=copy2, dirs_exist_ok=True))


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def refusal(*argv: str) -> str:
    code, out, _ = run(*argv, "--json")
    assert code == 2
    refused: str = json.loads(out)["error"]["code"]
    return refused


def test_figures_are_printed_in_columns_and_time_on_stderr(home: Path) -> None:
    code, out, err = run(*EVAL, "--modes", "bm25,vector")

    lines = out.splitlines()
    assert code == 0
    assert lines[0].split() == ["mode", "measure", "unit", "mean", "95", "%", "interval", "judged", "could", "be"]
    assert lines[1].split()[:3] == ["bm25", "mrr", "doc"]
    assert lines[6].split()[:3] == ["mode", "against", "measure"]
    assert "no significant difference (p=" in lines[7]
    assert err.startswith("2 queries, 3 judgements, 100 hits deep, in ")
    assert "warning: W_UNKNOWN_DOCUMENT" in err


def test_every_answer_fits_the_contract_exactly(home: Path) -> None:
    (home / "before.json").write_text(run(*EVAL, "--modes", "bm25,vector", "--json")[1])
    full = ("--per-query", "--run", "{mode}.run", "--baseline", "before.json", "--gate", "mrr>2")
    commands = [
        (*EVAL, "--modes", "vector,bm25", *full),
        ("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt"),
        ("judge", "export", "--qrels", "out.tsv"),
        (*EVAL, "--gate", "nonsense"),
    ]

    answers = [run(*argv, "--json")[1] for argv in commands]

    for answer in answers:
        validator(is_closed=True).validate(json.loads(answer, parse_constant=pytest.fail))
    assert set(json.loads(answers[0])["evaluation"]) == set(judging.EvaluationView.__annotations__)
    assert [code for code, _, _ in (run(*argv) for argv in commands)] == [7, 0, 0, 2]


def test_failed_gate_answers_and_exits_7(home: Path) -> None:
    held, failed = run(*EVAL, "--gate", "mrr>=.1"), run(*EVAL, "--gate", "mrr>=.1,mrr>1", "--json")

    assert held[0] == 0
    assert held[1].splitlines()[-1].split()[:2] == ["holds", "mrr>=.1"]
    assert failed[0] == 7
    assert [each["holds"] for each in json.loads(failed[1])["evaluation"]["gate"]] == [True, False]


def test_json_answer_is_its_own_baseline_without_regressions(home: Path) -> None:
    (home / "before.json").write_text(run(*EVAL, "--json")[1])

    code, out, _ = run(*EVAL, "--baseline", "before.json", "--gate", "regressions=0")

    assert code == 0
    assert "baseline hybrid" in out


def test_regressed_queries_are_named(home: Path) -> None:
    (home / "before.run").write_text("q1 Q0 docs/a.md 1 1 x\nq2 Q0 docs/b.txt 1 1 x\n")
    (home / "r.txt").write_text("q1 0 docs/b.txt 1\nq1 0 docs/a.md 1\nq2 0 b 1\n")
    (home / "q.tsv").write_text("q1\tbackoff\nq2\tgive up\n")

    _, out, _ = run(*EVAL, "--modes", "bm25", "--baseline", "before.run")

    fallen = next(line for line in out.splitlines() if line.endswith("give up"))
    assert fallen.split() == ["bm25", "mrr", "q2", "1.000", "0.000", "give", "up"]


def test_one_run_per_mode_is_written(home: Path) -> None:
    code, out, _ = run(*EVAL, "--modes", "bm25,vector", "--run", "out-{mode}.run")

    assert code == 0
    assert out.splitlines()[-2:] == ["wrote  out-bm25.run", "wrote  out-vector.run"]
    found = json.loads(run("search", "backoff", "--bm25", "--json")[1])["results"][0]
    line = (home / "out-bm25.run").read_text().splitlines()[0]
    assert line == f"q1 Q0 docs/a.md 1 {found['score']:.6f} recall-bm25"
    assert not list(home.glob(".recall-*"))
    assert refusal(*EVAL, "--modes", "bm25,vector", "--run", "out.run") == "bad_value"


def test_per_query_shows_every_query(home: Path) -> None:
    _, out, _ = run(*EVAL, "--modes", "bm25", "--per-query")

    assert [line.split()[:2] for line in out.splitlines() if line.startswith("q")] == [
        ["query", "mode"],
        ["q1", "bm25"],
        ["q2", "bm25"],
    ]
    assert "per_query" not in json.loads(run(*EVAL, "--json")[1])["evaluation"]


def test_judgements_survive_import_and_export(home: Path) -> None:
    _, said, _ = run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    _, wrote, _ = run("judge", "export", "--queries", "q.jsonl", "--qrels", "out.tsv")
    run("judge", "export", "--qrels", "out.txt", "--format", "trec")

    assert said == "2 queries, 3 judgements, 1 for documents not in the store\n"
    assert wrote.splitlines()[1:] == ["wrote  q.jsonl", "wrote  out.tsv"]
    assert (home / "q.jsonl").read_text().splitlines()[0] == '{"_id": "q1", "text": "backoff"}'
    assert (home / "out.tsv").read_text().splitlines()[:2] == ["query-id\tcorpus-id\tscore", "q1\tdocs/a.md\t1"]
    assert (home / "out.txt").read_text().splitlines()[1] == "q2 0 docs/b.txt 1"
    run("judge", "export", "--qrels", "out.csv", "--format", "quepid")
    assert (home / "out.csv").read_text().splitlines()[:2] == ["query,docid,rating", "backoff,docs/a.md,1"]
    assert run("eval", "--metrics", "mrr", "--gate", "mrr>=.5")[0] == 0
    assert json.loads(run("stats", "--json")[1])["store"]["judgements"] == 3


def test_judgements_before_and_after_splitting_into_records_are_kept_once(home: Path) -> None:
    (home / "c.jsonl").write_text('{"_id": "7", "text": "backoff"}\n{"_id": "8", "text": "budget"}\n')
    (home / "r.txt").write_text("q1 0 7 1\nq1 0 8 0\nq2 0 8 1\n")
    importing = ("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    said = [run(*importing)[1]]

    for parser in ("text", "jsonl"):
        run("add", "c.jsonl", "--parser", parser)
        said.append(run(*importing)[1])

    unknown = "2 queries, 3 judgements, 3 for documents not in the store\n"
    assert said == [unknown, unknown, "2 queries, 3 judgements\n"]
    assert run("judge", "export", "--qrels", "-", "--format", "trec")[1] == "q1 0 7 1\nq1 0 8 0\nq2 0 8 1\n"
    assert json.loads(run("stats", "--json")[1])["store"]["judgements"] == 3
    assert json.loads(run("eval", "--metrics", "mrr", "--json")[1])["evaluation"]["judgements"] == 3


def test_judgements_of_unsplit_records_suggest_a_parser(home: Path) -> None:
    (home / "c.jsonl").write_text('{"_id": "7", "text": "backoff"}\n')
    (home / "r.txt").write_text("q1 0 7 1\n")
    importing = ("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    hint = "; recall add FILE --parser jsonl reads each record as a document\n"

    assert hint not in run(*importing)[2]  # the file does not exist
    run("add", "c.jsonl", "--parser", "text")
    assert run(*importing)[2].endswith(hint)
    assert hint in run("eval", "--metrics", "mrr")[2]
    (home / "r.txt").write_text("q1 0 docs/a.md 1\n")
    assert hint not in run("judge", "import", "--qrels", "r.txt")[2]  # some judgements find their document


def test_incomplete_or_overfull_judge_command_is_refused(home: Path) -> None:
    assert refusal("judge", "import") == "missing_argument"
    assert refusal("judge", "export") == "missing_argument"
    assert refusal("judge", "export", "--queries", "x", "--qrels", "x") == "conflicting_flags"
    assert refusal("judge", "import", "--qrels", "r.txt", "--format", "trec") == "conflicting_flags"


def test_writing_a_file_touches_no_other_file(home: Path) -> None:
    run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    (home / "g.tsv.part").write_text("mine")
    before = {path.name for path in home.iterdir()}

    assert run("judge", "export", "--qrels", "g.tsv")[0] == 0

    assert (home / "g.tsv.part").read_text() == "mine"
    assert {path.name for path in home.iterdir()} == before | {"g.tsv"}


def test_file_is_written_through_symlinks(home: Path) -> None:
    run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    (home / "kept").mkdir()
    (home / "kept" / "real.tsv").write_text("old")
    (home / "link.tsv").symlink_to("kept/real.tsv")
    (home / "dangling.tsv").symlink_to("kept/new.tsv")

    for target in ("link.tsv", "dangling.tsv"):
        assert run("judge", "export", "--qrels", target)[0] == 0

    assert (home / "link.tsv").is_symlink()
    assert (home / "dangling.tsv").is_symlink()
    written = (home / "kept" / "real.tsv").read_text()
    assert written.startswith("query-id")
    assert (home / "kept" / "new.tsv").read_text() == written
    assert sorted(path.name for path in (home / "kept").iterdir()) == ["new.tsv", "real.tsv"]


def test_queries_and_judgements_never_share_one_file(home: Path) -> None:
    (home / "link.tsv").symlink_to("real.tsv")

    assert refusal("judge", "export", "--queries", "link.tsv", "--qrels", "real.tsv") == "conflicting_flags"


def test_special_file_is_never_replaced(home: Path) -> None:
    run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    os.mkfifo(home / "pipe")
    (home / "link").symlink_to("pipe")
    (home / "loop").symlink_to("loop")

    refused = {target: run("judge", "export", "--qrels", target) for target in ("pipe", "link", "loop")}

    assert {code for code, _, _ in refused.values()} == {1}
    assert "pipe cannot be written: Not a regular file." in refused["pipe"][2]
    assert "loop cannot be written: Too many levels of symbolic links." in refused["loop"][2]
    assert (home / "pipe").is_fifo()
    assert (home / "link").is_symlink()
    assert (home / "loop").is_symlink()


def test_failed_write_leaves_no_file(home: Path) -> None:
    for target in ["nowhere/r.tsv", "/", ".."]:
        run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")

        code, out, _ = run("judge", "export", "--queries", "q.jsonl", "--qrels", target, "--json")

        assert (code, json.loads(out)["error"]["code"]) == (1, "out_unwritable"), target
        assert not (home / "q.jsonl").exists(), target


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_terminal_shows_the_same_facts_as_a_table(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    response = json.loads(run(*EVAL, "--modes", "bm25,vector", "--gate", "mrr>.1", "--json")[1])
    stdout = Terminal()

    assert commands.draw(commands.BY_NAME["eval"], response, stdout, None)

    shown = " ".join(stdout.getvalue().split())
    cells = [cell for rows in board_tables(response["evaluation"]) for row in rows for cell in row]
    assert len(cells) > 50
    assert [cell for cell in cells if cell not in shown] == []


def test_significance_is_printed_in_words() -> None:
    def said(p: float, verdict: str) -> str:
        return verdict_of(ComparisonView(p=p, verdict=verdict))  # type: ignore[typeddict-item]

    assert said(0.31, "no significant difference") == "no significant difference (p=.310)"
    assert said(0.0001, "better") == "better (p<.001)"
    assert said(1.0, "no significant difference").endswith("(p=1.000)")


def test_dash_is_stdout_and_the_report_goes_to_stderr(home: Path) -> None:
    run("judge", "import", "--queries", "q.tsv", "--qrels", "r.txt")
    run("judge", "export", "--qrels", "out.txt", "--format", "trec")

    code, out, err = run("judge", "export", "--qrels", "-", "--format", "trec")

    assert (code, out) == (0, (home / "out.txt").read_text(encoding="utf-8"))
    assert "3 judgements" in err
    assert not (home / "-").exists()


def test_empty_list_is_not_the_default(home: Path) -> None:
    for flags, code in [
        (["--metrics", ""], "unknown_metric"),
        (["--metrics", "mrr,"], "unknown_metric"),
        (["--modes", ""], "bad_value"),
        (["--modes", "", "--calibrate-sparse"], "bad_value"),
    ]:
        status, out, _ = run("eval", *flags, "--json")

        error = json.loads(out)["error"]
        assert (status, error["code"]) == (2, code), flags
        assert error["hint"].startswith(f"{flags[0]} "), flags
