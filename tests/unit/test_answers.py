"""Recorded answers: the queries depend on the seed only, the answers on the program only."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import recall_core
from benchmarks.answers import __main__ as answers
from benchmarks.answers import recording
from benchmarks.answers.checkout import Checkout, Output
from benchmarks.answers.corpus import files
from benchmarks.answers.normalize import normalized
from benchmarks.answers.questions import mistakes, questions
from benchmarks.answers.world import Places

TREE = Path(recall_core.__file__).parents[1]


def record(out: Path) -> Path:
    assert answers.main(["record", "--tiny", "--count=12", "--in-process", f"--out={out}"]) == 0
    return out


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small recording of this checkout."""
    return record(tmp_path_factory.mktemp("tiny") / "answers.jsonl")


@pytest.fixture
def recording_file(tmp_path: Path) -> Path:
    """Return a recording of three answers."""
    path = tmp_path / "answers.jsonl"
    outputs = (
        Output(0, '{"ok":true,"results":[{"path":"a.md","score":0.5}],"warnings":["W_STALE: a.md"]}\n', ""),
        Output(2, '{"ok":false,"error":{"code":"unknown_command"}}\n', ""),
        Output(0, "1 document\n", "warning: W_COPIES: two\n"),
    )
    lines = ("search retry --json", "serach retry --json", "stats")
    kept = (
        recording.Answer(f"cd hash && recall {line}", f"cd hash && recall {line}", "", output)
        for line, output in zip(lines, outputs, strict=True)
    )
    recording.write(recording.Recording({"version": 1, "seed": 1, "count": 3, "stores": {}}, tuple(kept)), path)
    return path


@pytest.mark.slow
def test_recording_the_same_program_twice_gives_identical_bytes(tiny: Path, tmp_path: Path) -> None:
    again = record(tmp_path / "again.jsonl")

    assert again.read_bytes() == tiny.read_bytes()
    assert answers.main(["compare", str(tiny), str(again)]) == 0


def test_recording_survives_reading_and_is_summarised(recording_file: Path, tmp_path: Path) -> None:
    kept = recording.read(recording_file)
    recording.write(kept, tmp_path / "again.jsonl")

    assert (tmp_path / "again.jsonl").read_bytes() == recording_file.read_bytes()
    assert [each.command for each in kept.answers] == ["search", "serach", "stats"]
    assert list(recording.coverage(kept.answers)) == [
        "search          1  exit 0: 1",
        "serach          1  exit 2: 1",
        "stats           1  exit 0: 1",
        "W_COPIES 1, W_STALE 1, unknown_command 1",
    ]
    assert answers.main(["compare", str(recording_file), str(recording_file)]) == 0


@pytest.mark.slow
def test_recording_contains_answers_errors_and_written_files(tiny: Path) -> None:
    kept = recording.read(tiny).answers

    assert {0, 1, 2, 7} <= {each.output.status for each in kept}
    assert {"search", "sync", "rm", "import", "reembed", "cat"} <= {each.command for each in kept}
    assert any(each.output.stdout.startswith('{"ok":false') for each in kept)
    assert str(TREE) not in tiny.read_text(encoding="utf-8")


def test_changed_answer_is_reported_with_its_query(
    recording_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = recording.read(recording_file)
    place = next(n for n, each in enumerate(old.answers) if '"score":' in each.output.stdout)
    output = old.answers[place].output
    stdout = output.stdout.replace('"score":', '"score":1', 1)
    changed = old.answers[place]._replace(output=output._replace(stdout=stdout))
    other = tmp_path / "other.jsonl"
    recording.write(old._replace(answers=(*old.answers[:place], changed, *old.answers[place + 1 :])), other)
    capsys.readouterr()

    assert answers.main(["compare", str(recording_file), str(other)]) == 1

    told = capsys.readouterr().out
    assert f"$ {changed.line}" in told
    assert told.count(".score = ") == 2
    assert f"{len(old.answers) - 1} equal, 1 different" in told


def test_recordings_of_different_queries_are_not_compared(
    recording_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = recording.read(recording_file)
    other = tmp_path / "other.jsonl"
    recording.write(old._replace(answers=old.answers[1:]), other)

    assert answers.main(["compare", str(recording_file), str(other)]) == 1
    assert "not comparable: different questions" in capsys.readouterr().out


def test_first_queries_do_not_depend_on_their_number() -> None:
    corpora = {"hash": files(1, share=0.05), "void": ()}

    few, many = (list(questions(count, corpora, seed=3)) for count in (5, 9))

    assert many[:5] == few
    assert list(questions(5, corpora, seed=4)) != few
    assert {question.argv[0] == "--json" for question in mistakes()} == {True, False}


def test_new_process_and_shared_interpreter_agree(tmp_path: Path) -> None:
    line = ["search", "retry", "--json"]
    with Checkout(TREE, sys.executable, work=tmp_path) as checkout:
        assert checkout.start(line, folder=tmp_path) == checkout.ask(line, folder=tmp_path)
        assert checkout.ask(["rql", "format", "-"], folder=tmp_path, stdin="select * from doc").stdout == (
            "SELECT * FROM doc\n"
        )


def test_package_from_another_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(SystemExit, match="not from"):
        Checkout(tmp_path / "empty", sys.executable, work=tmp_path)


def test_durations_are_removed_but_quoted_durations_stay() -> None:
    quoting = '{"text":"\\"took_ms\\":7 {","a \\"took_ms":7,"stats":'
    line = quoting + '{"took_ms":3.25,"timings":{"rank":1.5e-3}},"rank":4}\n'
    plain = "stage            in      out       ms\nlive             12       12      0.3  ####\nstore   1\n"

    assert normalized(Output(0, line, ""), where={}).stdout == (
        quoting + '{"took_ms":0,"timings":{"rank":0}},"rank":4}\n'
    )
    assert normalized(Output(0, plain, "3 of 9 hits in 41 ms\n41 ms\n"), where={}) == Output(
        0,
        "stage            in      out       ms\nlive             12       12  0.0  ####\nstore   1\n",
        "3 of 9 hits in 0 ms\n41 ms\n",
    )


def test_folders_are_replaced_by_placeholders() -> None:
    output = Output(1, "", "error: /tmp/x/world/none/recall.db\n")

    assert normalized(output, where={"/tmp/x/world": "<world>"}).stderr == "error: <world>/none/recall.db\n"


def test_ids_are_replaced_by_position() -> None:
    places = Places(("aabbccdd", "eeff0011"), ("11223344",), "d1")

    assert places.filled("{chunk:3} {chunk:0/4} {doc:9} {digest} {a,b} {n}") == "eeff0011 aabb 11223344 d1 {a,b} {n}"
