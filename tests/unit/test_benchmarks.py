"""The benchmarks run and print every figure. No test judges speed on a shared machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import changes, checks, corpus, passages, quality, windows, words, workbench
from benchmarks.terminal import Terminal
from benchmarks.timing import Comparison, Spread, compare
from recall_core.embed.hash import HashEmbedder


def test_corpus_is_reproducible() -> None:
    assert list(corpus.paragraphs(3)) == list(corpus.paragraphs(3))
    assert list(corpus.paragraphs(3)) != list(corpus.paragraphs(3, seed=2))


def test_ratio_is_taken_per_round_without_the_first_round() -> None:
    ours, peer = iter([99.0, 2.0, 6.0, 3.0]), iter([99.0, 1.0, 2.0, 3.0])
    found = compare("a", lambda: next(ours), "b", lambda: next(peer), chunks=1, rounds=3)
    assert found == Comparison("a", "b", 1, Spread(3.0, 2.0, 6.0), Spread(2.0, 1.0, 3.0), Spread(2.0, 1.0, 3.0))


def test_only_figures_over_budget_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = Spread(1.0, 1.0, 1.0), Spread(2.0, 1.5, 4.0)
    near = workbench.Figure("near", "peer", "ms", two, one, two, most=2.0)
    beyond = near._replace(name="beyond", most=1.9)
    counts = [
        workbench.Count("few", 7, "", most=7),
        workbench.Count("many", 8, "", most=7),
        workbench.Count("any", 9, ""),
        workbench.Count("none", 0, "", most=0),
        workbench.Count("one", 1, "", most=0),
    ]
    figures = {
        "harlequin": False,
        "figures": [workbench.as_json(near), workbench.as_json(beyond)],
        "counts": [each._asdict() for each in counts],
    }

    assert workbench.over(json.loads(json.dumps(figures))) == ["beyond", "many", "one"]
    assert "harlequin was not measured" in "\n".join(workbench.table(figures))


@pytest.mark.slow
def test_freshness_checks_are_measured_and_compared(tmp_path: Path) -> None:
    answers, looked = checks.measure(20, tmp_path, answers=1, rounds=1)

    assert (answers.name, looked.name) == ("answers after chmod -R", "texts and vectors")
    assert [line.split("  ")[0] for line in checks.table([answers, looked])] == [answers.name, looked.name]
    dear, cheap = (answers._replace(ratio=Spread(ratio, 0, 9)) for ratio in (1.2, 1.1))
    assert checks.over([dear, cheap, looked._replace(ratio=Spread(5.0, 5.0, 5.0))]) == [answers.name]


def test_expensive_answer_is_listed() -> None:
    one = Spread(1.0, 1.0, 1.0)
    answers = Comparison("answers after chmod -R", "before", 60, one, one, Spread(1.2, 0, 9))
    cheap = answers._replace(ratio=Spread(1.1, 0, 9))
    looked = answers._replace(name="texts and vectors", ratio=Spread(5.0, 5.0, 5.0))

    assert [line.split("  ")[0] for line in checks.table([answers, looked])] == [answers.name, looked.name]
    assert checks.over([answers, cheap, looked]) == [answers.name]


def test_terminal_program_gets_keys_and_reports_its_cost(tmp_path: Path) -> None:
    said = r"print('ready', flush=True); print('\x1b[1mgot\x1b[0m', sys.stdin.readline(), flush=True)"
    script = f"import sys; {said}; input()"
    with Terminal([sys.executable, "-c", script], cwd=tmp_path) as terminal:
        terminal.until("ready")
        pressed = terminal.press("seven\n")
        at, _ = terminal.until("got seven")
        cost = terminal.end()

    assert at > pressed
    assert cost.cpu_ms > 0
    assert cost.seconds > at - pressed


def test_ended_program_and_timeout_raise_different_errors(tmp_path: Path) -> None:
    with (
        Terminal([sys.executable, "-c", "print('gone')"], cwd=tmp_path) as ended,
        pytest.raises(EOFError, match="gone"),
    ):
        ended.until("never")
    with (
        Terminal([sys.executable, "-c", "input()"], cwd=tmp_path) as silent,
        pytest.raises(TimeoutError),
    ):
        silent.until("never", seconds=0.2)


def test_quality_benchmarks_report_a_missing_collection(capsys: pytest.CaptureFixture[str]) -> None:
    assert (quality.main([]), changes.main([]), windows.main([])) == (0, 0, 0)
    assert capsys.readouterr().out.count("no judged collection. Pass --data") == 3


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Return ten documents about one word each; each word is a query with its document relevant."""
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    words = "apple boat cloud desk engine forest glass harbour island jacket".split()
    corpus = [{"_id": word, "title": word.title(), "text": f"all about the {word} and a {word}"} for word in words]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in corpus), encoding="utf-8")
    asked = [{"_id": f"q{n}", "text": word} for n, word in enumerate(words)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked), encoding="utf-8")
    rows = "".join(f"q{n}\t{word}\t1\n" for n, word in enumerate(words))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows, encoding="utf-8")
    return folder


def test_perfect_ranking_has_an_ndcg_of_one(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "PEERS", {"reversed": lambda tiny: {q: list(tiny.grades) for q in tiny.queries}})

    found = {
        each.system: each
        for each in quality.figures(quality.read_collection(collection), ["hash"], tmp_path / "work")
    }

    assert found["recall lexical"].mean == 1.0
    assert found["reversed"].mean == 0.0
    assert found["recall lexical"].paired is not None
    assert found["recall lexical"].paired.verdict == "better"
    assert found["recall hybrid, hash"].mean == 1.0


def test_change_is_compared_with_the_previous_ranking(collection: Path, tmp_path: Path) -> None:
    found = list(changes.figures(quality.read_collection(collection), ["hash"], tmp_path / "work"))

    rows = {(each.system, each.change): each for each in found if each.measure == "ndcg@10"}
    assert {system for system, _ in rows} == {"words", "hash"}
    assert rows["words", "before"].paired is None
    assert all(rows["words", change].mean == 1.0 for change in changes.CHANGES)


def test_records_without_text_are_a_separate_change(collection: Path, tmp_path: Path) -> None:
    made = changes.without_texts(quality.read_collection(collection), tmp_path / "work")
    lost = [
        word for word in ("apple", "boat", "cloud", "desk", "engine", "forest", "glass") if changes.is_textless(word)
    ]
    rows = {
        (each.system, each.change): each
        for each in changes.figures(made, ["hash"], tmp_path / "work")
        if each.measure == "recall@100"
    }

    assert lost
    assert rows["words", "before"].mean < 1.0
    assert rows["words", "titles found (1)"].mean == 1.0
    assert rows["words", "questions (4)"].paired is not None
    assert rows["words", "questions (4)"].paired.difference == 0


def test_joined_chunks_contain_abstracts_and_a_window_cuts_one(collection: Path) -> None:
    chunks, chunk_of = windows.joined(quality.read_collection(collection), 4)

    assert (len(chunks), chunk_of["apple"], chunk_of["engine"], chunk_of["jacket"]) == (3, "0", "1", "2")
    assert "all about the desk" in chunks[0]
    assert windows.cut(chunks[0], HashEmbedder(64)) == " ".join(chunks[0].split())


def test_passage_costs_are_reported_per_process_and_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert passages.main(["--chunks", "20", "--questions", "2"]) in (0, 1)
    head, of_processes, of_rows = capsys.readouterr().out.splitlines()

    assert head == "20 chunks, 2 questions"
    assert 0 < float(of_processes.split()[3].rstrip("%,")) < 100
    assert float(of_rows.split()[2]) > 0


def test_docstring_becomes_a_question_and_leaves_the_source() -> None:
    source = 'def read():\n    """Return the lines of :class:`File` x.\n\n    More.\n    """\n    return 1\n'
    [(question, place)] = words.docstrings(source)

    assert question == "return the lines of File x"
    assert words.without_docstring(source, place) == "def read():\n    ...\n    return 1\n"


def test_manual_page_is_split_into_description_and_body() -> None:
    page = ".TH LS 1\n.SH NOM\nls \\- lister des fichiers\n.SH SYNOPSIS\nls \\-a\n"
    assert words.split_page(page.encode()) == ("lister des fichiers", "SYNOPSIS\nls -a")


def test_notes_contain_an_identifier_once_or_only_its_pieces() -> None:
    literal = words.literal_note("foo_bar.baz", 100).split()

    assert (len(literal), literal.count("foo_bar.baz")) == (100, 1)
    assert words.pieces_note("foo_bar.baz").split()[2:9:3] == ["baz", "bar", "foo"]


def test_chosen_items_are_evenly_spaced() -> None:
    assert words.choose_evenly(range(10), 4) == [0, 2, 5, 7]
    assert words.choose_evenly(range(3), 4) == [0, 1, 2]
