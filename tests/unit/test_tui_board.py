"""The board of judged queries on a real store: the figures of recall eval, and no repeated search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import SettingValue
from recall_core.errors import Interrupted, UsageError
from recall_core.evaluate.judgements import Judgement, Spot, put
from recall_core.evaluate.measures import EvalOptions
from recall_core.types import Root
from recall_tui.analyses import judge
from recall_tui.analyses.explain import fitting_paths
from recall_tui.analyses.judge import KEPT, BoardCache
from recall_tui.state.judging import MEASURES, Board, JudgedQueries, Missed, board_analysis
from recall_tui.state.records import Analysis, WeightsState
from recall_tui.state.session import Session
from recall_tui.threads.analysis_thread import AnalysisRun
from tests.workbench_corpus import build_store

SET = {
    "q1": ("token budget", {"docs/budget.md": 3, "notes/cafe.txt": 1, "gone.md": 2}),
    "q2": ("read a file line by line", {"docs/files.md": 2, "src/read.py": 1}),
    "q3": ("keep the manual in mind", {"docs/scoring.md": 1, "manual/part28.txt": 2}),
    "q4": ("nothing relevant", {"docs/budget.md": 0}),
}
MOVED = {"bm25_weight": 0.3, "vector_weight": 0.7}


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    with Recall.open(str(build_store(tmp_path))) as recall:
        yield recall


@pytest.fixture
def judged(recall: Recall) -> Recall:
    texts = {query: text for query, (text, _) in SET.items()}
    put(
        recall.store,
        texts,
        [Judgement(query, Spot(path), g) for query, (_, of) in SET.items() for path, g in of.items()],
    )
    return recall


def test_the_picker_without_text_lists_graded_then_changed_documents(judged: Recall) -> None:
    put(judged.store, {"q5": "more"}, [Judgement("q5", Spot("src/read.py"), 3)])
    recent = judged.store.paths_with((), 100)

    paths = fitting_paths(run_of(judged, {}), Analysis("paths", "")).paths

    graded = (
        "src/read.py",
        "docs/budget.md",
        "docs/files.md",
        "docs/scoring.md",
        "manual/part28.txt",
        "notes/cafe.txt",
    )
    assert paths == tuple(dict.fromkeys((*graded, *recent)))


def run_of(
    recall: Recall, kept: dict[str, object], give_way: Callable[[], None] = lambda: None, **tweaks: SettingValue
) -> AnalysisRun:
    return AnalysisRun(
        recall, Session(weights=WeightsState(tweaks=tweaks)), give_way, kept, give_way, lambda done, total: None
    )


def made(recall: Recall, kept: dict[str, object], **tweaks: SettingValue) -> Board:
    run = run_of(recall, kept, **tweaks)
    return judge.judged_board(run, board_analysis(run.session))


def cache(kept: dict[str, object]) -> BoardCache:
    found = kept[KEPT]
    assert isinstance(found, BoardCache)
    return found


def evaluated(recall: Recall, **settings: SettingValue) -> dict[str, tuple[float, float, float, dict[str, float]]]:
    """Return mean, interval and values by measure, from recall eval."""
    work = recall.evaluate(EvalOptions(metrics=",".join(MEASURES), settings=settings))
    while True:
        try:
            next(work)
        except StopIteration as stop:
            (mode,) = stop.value["evaluation"]["modes"]
            break
    return {
        each["measure"]: (each["mean"], each["interval"]["low"], each["interval"]["high"], each["values"])
        for each in mode["measures"]
    }


def test_the_board_has_the_figures_of_recall_eval(judged: Recall) -> None:
    for settings in [{}, MOVED, {"fusion": "rrf"}, {"pool": 3}, {"sparse_recall": False, "min_score": 0.2}]:
        kept: dict[str, object] = {}
        made(judged, kept)  # cached results of other settings must not leak into these

        found = made(judged, kept, **settings)

        assert evaluated(judged, **settings) == {
            name: (each.mean, each.low, each.high, {line.query: line.values[name] for line in found.lines})
            for name, each in found.figures.items()
        }, settings
        assert found.is_moved == bool(settings), settings
        assert found.passed_over == 1, settings


def test_a_changed_weight_searches_nothing(judged: Recall) -> None:
    kept: dict[str, object] = {}
    made(judged, kept)
    before = dict(cache(kept).answers)

    made(judged, kept, **MOVED)

    assert len(before) == 3
    assert all(cache(kept).answers[key] is answer for key, answer in before.items())
    assert cache(kept).answers.keys() == before.keys()


def test_outdated_rankings_leave_the_cache(judged: Recall) -> None:
    kept: dict[str, object] = {}
    for settings in ({}, MOVED, {"vector_weight": 0.4}):
        made(judged, kept, **settings)

    assert {config.vector_weight for _, config, _ in cache(kept).rankings} == {0.1, 0.4}


def test_a_store_that_changed_is_searched_again(judged: Recall, tmp_path: Path) -> None:
    kept: dict[str, object] = {}
    made(judged, kept)
    before = cache(kept)
    (tmp_path / "docs" / "budget.md").write_text("# Nothing\n\nOf this is about it any more.\n")
    for _ in judged.add([str(tmp_path / "docs")], Root("")):
        pass

    made(judged, kept)

    assert cache(kept) is not before
    assert not {id(each) for each in cache(kept).answers.values()} & {id(each) for each in before.answers.values()}


def test_an_interrupted_board_resumes(judged: Recall) -> None:
    kept: dict[str, object] = {}
    left = [None, None]

    def give_way() -> None:
        if not left:
            raise Interrupted("interrupted", "Cancelled: something else comes first.")
        left.pop()

    with pytest.raises(Interrupted):
        judge.judged_board(run_of(judged, kept, give_way), Analysis("board"))
    before = dict(cache(kept).answers)

    found = made(judged, kept)

    assert len(before) == 2
    assert all(cache(kept).answers[key] is answer for key, answer in before.items())
    assert [each.query for each in found.lines] == ["q1", "q2", "q3"]


def test_candidates_beyond_the_cache_are_searched_again(judged: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, object] = {}
    whole = made(judged, {}, **MOVED)
    monkeypatch.setattr(judge, "MOST_CANDIDATES", 40)

    assert made(judged, kept, **MOVED) == whole
    assert len(cache(kept).answers) == 1
    assert cache(kept).candidates <= 40


def test_a_single_query_has_its_line_of_the_board(judged: Recall) -> None:
    kept: dict[str, object] = {}
    alone = judge.judged_line(run_of(judged, kept, **MOVED), Analysis("line", "q3"))

    assert alone == made(judged, kept, **MOVED).lines[2]
    assert alone.before


def test_a_query_removed_by_another_program_has_no_line(judged: Recall) -> None:
    with judged.store.transaction():
        judged.store.execute("DELETE FROM judged_query WHERE id = 'q3'")

    with pytest.raises(UsageError) as caught:
        judge.judged_line(run_of(judged, {}), Analysis("line", "q3"))

    assert caught.value.code == "no_judgements"


def test_relevant_documents_below_the_top_ten_are_listed(judged: Recall) -> None:
    first, second, third = made(judged, {}).lines

    assert first.missed[0] == Missed("gone.md", 2, None)
    assert first.missed[1][:2] == ("notes/cafe.txt", 1)
    assert first.missed[1].rank is None or first.missed[1].rank > 10
    assert second.missed == ()
    assert [each.grade for each in third.missed] == [2, 1]


def test_a_cut_ranking_shows_its_depth_for_missed_documents(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(105):
        (tmp_path / "notes" / f"{number}.txt").write_text(f"A note about the tea of day {number}.\n")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        list(recall.add([str(tmp_path / "notes")], Root("")))
        grades = [Judgement("q1", Spot("gone.txt"), 1), Judgement("q2", Spot("gone.txt"), 1)]
        put(recall.store, {"q1": "tea", "q2": "tea of day 7"}, grades)

        whole = made(recall, {}, min_score=0.6)
        cut = made(recall, {})

        assert [line.missed for line in cut.lines] == [(Missed("gone.txt", 1, None, 100),)] * 2
        assert Missed("gone.txt", 1, None) in [missed for line in whole.lines for missed in line.missed]


def test_without_a_relevant_document_there_is_no_board(recall: Recall) -> None:
    with pytest.raises(UsageError) as caught:
        made(recall, {})

    assert caught.value.code == "no_judgements"


def test_judgements_keep_the_first_query_of_the_same_words(judged: Recall) -> None:
    put(judged.store, {"q10": " token\nbudget", "q5": "alone"}, [])

    known = judge.all_grades(run_of(judged, {}), Analysis("grades"))

    assert isinstance(known, JudgedQueries)
    assert known.ids["token budget"] == "q1"
    assert known.ids["alone"] == "q5"
    assert {path: [each.grade for each in found] for path, found in known.places["q1"].items()} == {
        "docs/budget.md": [3],
        "gone.md": [2],
        "notes/cafe.txt": [1],
    }
