"""Grading by key, the judged queries with their measure, and import and export of judgements."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.style import Style
from textual.events import Key, MouseScrollUp
from textual.message import Message
from textual.widgets import Input

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.evaluate.judgements import Judgement, Spot, names_of, put, read_stored
from recall_tui.panes.judge import JudgeLines, JudgePane, layout
from recall_tui.screens.dialog import READING_SECONDS
from recall_tui.state import judging, weighing
from recall_tui.state.session import Session
from recall_tui.threads import query_thread
from recall_tui.widgets.draw import UNICODE
from tests.workbench_corpus import build_store
from tests.workbench_driver import Driver, workbench

SET = {
    "q1": ("token budget", {"docs/budget.md": 3, "docs/scoring.md": 1, "notes/cafe.txt": 1}),
    "q2": ("read a file line by line", {"docs/files.md": 2, "src/read.py": 1}),
    "q3": ("keep the manual in mind", {"docs/scoring.md": 1, "manual/part28.txt": 2}),
}


def judged(store: Path) -> set[tuple[str, str, int]]:
    """Return query, path and grade of every judgement."""
    with Recall.open(str(store)) as recall:
        found = read_stored(recall.store, names_of(recall.store)).judgements
    return {(each.query, each.spot.path, each.grade) for each in found}


def queries(store: Path) -> dict[str, str]:
    with Recall.open(str(store)) as recall:
        return recall.store.judged_queries()


NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
SMALL = (80, 40)
"""A terminal with one pane below the results, whose rows have two lines."""


def judge(store: Path) -> None:
    """Put the grades of SET into a store."""
    with Recall.open(str(store)) as recall:
        texts = {query: text for query, (text, _) in SET.items()}
        grades = [Judgement(query, Spot(path), grade) for query, (_, of) in SET.items() for path, grade in of.items()]
        put(recall.store, texts, grades)


@pytest.fixture(scope="module")
def judged_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with grades that tests only read."""
    store = build_store(tmp_path_factory.mktemp("judged"))
    judge(store)
    return store


@pytest.fixture
def own_judged_store(own_store: Path) -> Path:
    """Return a store with grades that a test may change."""
    judge(own_store)
    return own_store


def column(bench: Driver) -> list[str]:
    """Return the grades in the list from the first row, or nothing without their column."""
    _, heads, *lines = bench.painted("results").splitlines()
    return [row.split()[-1] for row in lines if "grade" in heads and row[1:4].strip().isdigit()]


def board_row(bench: Driver, query: str) -> str:
    lines = bench.painted("judge").splitlines()
    return next((line for line in lines if line[3:].startswith(f"{query} ")), "")


def is_dim(drawn: JudgeLines) -> list[bool]:
    """Return for the row of each query whether it is dim."""
    styles = [drawn.lines[at].style for at, (name, _) in drawn.places.items() if name == "judge"]
    return [isinstance(style, Style) and bool(style.dim) for style in styles]


def stored_now(session: Session) -> bool:
    """Return True if nothing is being written to the store and everything was read back."""
    return not session.judge.gradings and not session.store.task


def current(session: Session) -> bool:
    return judging.is_current(session) and stored_now(session)


async def open_results(bench: Driver) -> None:
    await bench.ask()
    await bench.until(lambda now: judging.judged_queries(now) is not None)
    await bench.press("escape", "g")


def messages(bench: Driver) -> list[str]:
    """Return the messages on the screen."""
    return [note.message for note in bench.app._notifications]


async def test_grades_are_stored_measured_and_undone(own_store: Path) -> None:
    async with workbench(own_store, size=SMALL) as bench:
        await open_results(bench)
        await bench.press("6", "2")
        await bench.press("g")
        await bench.press("6", "E")
        await bench.until(lambda _: messages(bench))
        (message,) = messages(bench)
        assert "nothing to export" in message
        assert bench.app.screen is bench.app.bench
        await bench.press("4", "t")
        assert not bench.session.weights.is_of_all, "a curve needs a grade above 0"
        await bench.press("5", "plus", "2", "g")
        assert column(bench)[:4] == [".", ".", ".", "."]

        with Recall.open(str(own_store)) as other, other.store.transaction():
            await bench.press("a")
            assert column(bench)[:2] == ["3", "."], "painted before the store has it"
            assert bench.session.judge.gradings
        await bench.until(stored_now)
        assert len(judged(own_store)) == 1
        assert bench.session.context.budget_tokens == 2_100, "a budget stays when something is graded"
        await bench.press("6")
        await bench.until(lambda now: current(now) and "1.000" in board_row(bench, "q1"))
        assert "1 of 1 query judged (chunks)" in bench.painted("judge")
        await bench.until(lambda _: "nDCG@10 (chunks) 1.000  of one query" in bench.painted("judge"))
        assert "95 %" not in bench.painted("judge")
        await bench.press("4", "t")
        assert bench.session.weights.is_of_all

        await bench.press("6", "2", "k", "delete")
        assert column(bench)[0] == "."
        assert bench.session.results.selected == 0
        await bench.until(lambda now: stored_now(now) and not judged(own_store))
        await bench.until(lambda _: "No grades yet" in bench.painted("judge"))
        assert "1.000" not in bench.painted("judge")
        assert bench.painted("judge").splitlines()[-1] == "g ends grading"

        await bench.press("a", "s", "d", "f")
        assert column(bench)[:5] == ["3", "2", "1", "0", "."]
        assert bench.session.results.selected == 4
        await bench.until(stored_now)
        assert column(bench)[:5] == ["3", "2", "1", "0", "."]
        assert queries(own_store) == {"q1": "token budget"}
        paths = [bench.session.results.hits[row].doc.path for row in range(4)]
        assert judged(own_store) == {("q1", path, 3 - row) for row, path in enumerate(paths)}

        for shown in (["3", "2", "1", "."], ["3", "2", ".", "."], ["3", ".", ".", "."], [".", ".", ".", "."]):
            await bench.press("u")
            assert column(bench)[:4] == shown
        await bench.press("u", "u")  # the grade that was deleted, and its first one
        await bench.until(stored_now)
        assert judged(own_store) == set()
        assert queries(own_store) == {}


@pytest.mark.slow
async def test_grades_belong_to_the_words_of_a_question(own_store: Path) -> None:
    async with workbench(own_store, size=SMALL) as bench:
        await open_results(bench)
        await bench.press("a")
        await bench.ask("budget of tokens")
        assert set(column(bench)) == {"."}
        await bench.ask("token  budget")
        assert column(bench)[0] == "3"

        await bench.ask("SELECT * FROM chunk USING lexical('household tea') LIMIT 5")
        await bench.until(lambda now: judging.judged_queries(now) is not None)
        await bench.press("a")
        await bench.until(stored_now)
        await bench.ask("household tea")
        assert queries(own_store) == {"q1": "token budget", "q2": "household tea"}
        assert column(bench)[0] == "3"

        before = judged(own_store)
        await bench.ask("SELECT * FROM chunk LIMIT 5")
        await bench.until(lambda now: judging.judged_queries(now) is not None)
        await bench.press("a")
        assert bench.session.judge.gradings == (), "rows without words are not graded"
        assert judged(own_store) == before


@pytest.mark.parametrize("width", [100, *(pytest.param(width, marks=pytest.mark.slow) for width in (120, 200))])
async def test_the_status_line_explains_the_first_step(own_store: Path, width: int) -> None:
    async with workbench(own_store, size=(width, 40)) as bench:
        await bench.until(lambda now: now.store.info)
        await bench.press("escape", "6")
        await bench.until(lambda _: "search for something (1)" in bench.painted("status"))
        assert "import judgements with I" in bench.painted("status")

        await bench.ask()
        await bench.until(lambda _: "after g, a s d f grade the selected result" in bench.painted("status"))
        assert "I imports judgements." in bench.painted("status")

        await bench.press("g", "f")
        await bench.until(lambda _: "Measures need a grade above 0" in bench.painted("status"))

        await bench.press("a")
        await bench.until(lambda _: "recall --store" in bench.painted("status"))
        assert "Y copies" in bench.painted("status")


async def test_a_grade_that_cannot_be_stored_is_reverted(own_store: Path) -> None:
    with Recall.open(str(own_store)) as other:
        put(other.store, {"q1": "token budget"}, [])
    async with workbench(own_store, size=SMALL) as bench:
        await open_results(bench)
        with Recall.open(str(own_store)) as other, other.store.transaction():
            other.store.execute("UPDATE judged_query SET text = 'something else'")  # without the workbench noticing
        await bench.press("a")

        await bench.until(lambda now: not now.judge.gradings)

        assert column(bench)[0] == "."
        assert bench.session.judge.regrades == ()
        said = [note.message for note in bench.app._notifications]
        assert any("Query q1 is already stored with a different text" in message for message in said)


@pytest.mark.slow
async def test_grades_of_other_programs_are_kept(own_store: Path) -> None:
    async with workbench(own_store, size=SMALL) as bench:
        await open_results(bench)
        path, second = (bench.session.results.hits[row].doc.path for row in range(2))
        with Recall.open(str(own_store)) as other:
            put(other.store, {"q1": "something else"}, [Judgement("q1", Spot(path), 2)])
        await bench.press("a", "s")
        await bench.until(stored_now)
        both = {("q1", path, 2), ("q2", path, 3), ("q2", second, 2)}
        assert queries(own_store) == {"q1": "something else", "q2": "token budget"}, "two began a query at once"
        assert judged(own_store) == both
        assert column(bench)[:2] == ["3", "2"]

        await bench.ask("household tea")
        before, path = bench.session.judge.regrades, bench.session.results.hits[0].doc.path
        await bench.press("f")
        await bench.until(stored_now)
        with Recall.open(str(own_store)) as other:
            spot = judging.spot_of(bench.session.results.hits[0], "chunk")
            put(other.store, {}, [Judgement("q3", spot, 1)])
        await bench.press("u")
        await bench.until(stored_now)
        assert judged(own_store) == {*both, ("q3", path, 1)}
        assert column(bench)[0] == "1"
        assert bench.session.judge.regrades == before
        assert f"Not undone: another program graded it 1: {path}" in messages(bench)
        assert not any(message.startswith("Undone") for message in messages(bench))


async def test_a_grade_goes_to_the_row_selected_at_the_key(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    async with workbench(own_store, size=SMALL) as bench:
        await open_results(bench)
        await bench.press("j")
        gone, selected = (bench.session.results.hits[row].doc.path for row in range(2))
        with Recall.open(str(own_store)) as other:
            other.remove((gone,))
        await bench.until(lambda now: not now.query.busy and now.results.hits[0].doc.path != gone)
        await bench.press("a")
        await bench.until(stored_now)
        assert judged(own_store) == {("q1", selected, 3)}

        before, early = bench.session.judge.regrades, Key("a", "a")
        row = bench.session.results.selected
        gone = bench.session.results.hits[row].doc.path
        with Recall.open(str(own_store)) as other:
            other.remove((gone,))
        await bench.until(lambda now: now.results.displaced and not now.query.busy)
        displaced_at = Message().time
        bench.app.post_message(early)
        await bench.pilot.pause()
        assert any(each.startswith("Not graded: another result has just replaced") for each in messages(bench))
        assert (bench.session.judge.regrades, bench.session.results.selected) == (before, row)

        await bench.until(lambda _: Message().time > displaced_at + READING_SECONDS)
        await bench.press("a")
        await bench.until(stored_now)
        assert [grade for *_, grade in judged(own_store)] == [3, 3]


async def test_the_pane_explains_the_start_and_keeps_a_last_grade(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await open_results(bench)
        during = bench.painted("judge").splitlines()
        await bench.press("g")
        before = bench.painted("judge").splitlines()
        assert [each.strip() for each in before if each.strip()] == [
            "6 Judge",
            "No grades yet. g starts grading.",
            "g grade",
        ]
        assert during[1].startswith("No grades yet. a s d f: 3 2 1 0.")
        assert during[-1] == "g ends grading"
        await bench.press("g")
        path = bench.session.results.hits[0].doc.path
        await bench.press("a", "ctrl+q")

    assert judged(own_store) == {("q1", path, 3)}


async def test_the_pane_lists_measured_queries_and_runs_one(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await open_results(bench)
        await bench.press("6")
        await bench.until(current)
        painted = bench.painted("judge")
        assert "3 of 3 queries judged (docs)" in painted
        assert "judged@10" in painted
        assert "nDCG@10" in painted
        assert board_row(bench, "q1").startswith("▶● q1")
        assert board_row(bench, "q2").startswith("   q2")
        shown = {query: float(board_row(bench, query).split()[-2]) for query in SET}
        known = judging.board(bench.session)
        assert isinstance(known, judging.Board)
        assert shown == {line.query: round(line.values["ndcg@10"], 3) for line in known.lines}

        await bench.press("t")
        assert "MRR" in bench.painted("judge")
        assert "1.000" in board_row(bench, "q1")
        await bench.press(*["t"] * 5)
        assert "nDCG@10" in bench.painted("judge")

        row = next(at for at, line in enumerate(bench.painted("judge").splitlines()) if line[3:].startswith("q3 "))
        await bench.pilot.click("#judge", offset=(5, row))
        await bench.until(lambda _: board_row(bench, "q3").startswith("▶"))
        await bench.pilot._post_mouse_events([MouseScrollUp], bench.app.bench.query_one("#judge"), (5, 5))
        await bench.until(lambda _: board_row(bench, "q2").startswith("▶  q2"))

        await bench.press("enter")
        await bench.answered("read a file line by line")
        assert bench.app.bench.editor.text == "read a file line by line"
        assert bench.session.pane == "judge"
        await bench.until(lambda _: board_row(bench, "q2").startswith("▶● q2"))
        assert "2" in column(bench)
        await bench.press("z")
        await bench.until(lambda _: "q2: all 2 relevant docs are in the top 10" in bench.painted("judge"))


@pytest.mark.slow
async def test_enter_explains_a_missed_document(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await open_results(bench)
        await bench.press("6")
        await bench.until(current)
        await bench.press("2")
        await bench.until(lambda _: "not in the top" not in bench.painted("judge"))
        await bench.press("6")
        await bench.until(lambda _: "q1: 1 of 3 relevant docs not in the top 10" in bench.painted("judge"))
        assert "  1 notes/cafe.txt" in bench.painted("judge")
        await bench.press("right")
        assert "▶ 1 notes/cafe.txt" in bench.painted("judge")
        await bench.press("enter")
        assert (bench.session.pane, bench.session.view) == ("explain", "whynot")
        assert bench.session.results.sought == "notes/cafe.txt"

        await bench.press("6", "left", "down", "down", "right")
        line = judging.pointed_line(bench.session)
        assert line is not None
        assert line.query == "q3"
        assert line.missed
        await bench.press("enter")
        await bench.answered("keep the manual in mind")  # its question is asked first
        assert bench.session.results.sought == line.missed[0].path
        assert bench.session.view == "whynot"


async def test_changed_weights_are_measured_against_the_saved(judged_store: Path, tmp_path: Path) -> None:
    async with workbench(judged_store) as bench:
        await bench.ask("keep the manual in mind")
        await bench.press("escape", "6")
        await bench.until(current)
        assert "vs saved" not in bench.painted("judge")
        await bench.press("Y")
        assert bench.app.clipboard.endswith(" --metrics ndcg@10,mrr,map,p@10,recall@10,recall@100 --per-query")

        measured = bench.session
        moved = measured._replace(
            weights=measured.weights._replace(tweaks={**measured.weights.tweaks, "vector_weight": 0.7})
        )
        dim = [is_dim(layout(session, (60, 20), UNICODE, 0)) for session in (measured, moved)]
        assert dim == [[False] * 3, [True] * 3], "rows measured under other settings are dim"
        low, high = (layout(measured, (60, rows), UNICODE, 0) for rows in (5, 6))
        below = layout(judging.step_line(measured, 2), (60, 5), UNICODE, 0)
        assert [each.lines[2].plain.split()[:3] for each in (low, below)] == [
            ["query", "text", "1-2/3"],
            ["query", "text", "2-3/3"],
        ]
        assert high.lines[2].plain.split()[:3] == ["query", "text", "nDCG@10"]

        bench.app.become(weighing.set_share(bench.session, 0.9))
        await bench.until(lambda now: current(now) and now.weights.tweaks)
        known = judging.board(bench.session)
        assert isinstance(known, judging.Board)
        figure = known.figures["ndcg@10"]
        assert (figure.wins, figure.losses, figure.ties) == (1, 1, 1)
        painted = bench.painted("judge")
        assert painted.count("vs saved") == 2, "over the column, and before the mean difference"
        assert "▲1 ▼1 =1" in painted
        for line in known.lines:
            delta = line.values["ndcg@10"] - line.before["ndcg@10"]
            shown = "=" if abs(delta) < 0.0005 else f"{'▲' if delta > 0 else '▼'}{abs(delta):.3f}"
            assert board_row(bench, line.query).split()[-1] == shown

        await bench.press("Y")
        printed = shell(f"{bench.app.clipboard} --json", tmp_path)
        assert figures(printed) == {
            measure: (each.mean, each.low, each.high, {line.query: line.values[measure] for line in known.lines})
            for measure, each in known.figures.items()
        }
        compared = {
            each["measure"]: (each["difference"], each["wins"], each["losses"], each["ties"])
            for each in json.loads(printed)["evaluation"]["comparisons"]
        }
        assert compared == {
            name: (each.difference, each.wins, each.losses, each.ties) for name, each in known.figures.items()
        }


def figures(said: str) -> dict[str, tuple[float, float, float, dict[str, float]]]:
    """Return mean, interval and values by measure, from an answer of recall eval."""
    (mode,) = json.loads(said)["evaluation"]["modes"]
    return {
        each["measure"]: (each["mean"], each["interval"]["low"], each["interval"]["high"], each["values"])
        for each in mode["measures"]
    }


def shell(line: str, folder: Path) -> str:
    """Return the output of a line that pipes the figures of the saved settings into those of the changed ones.

    In nightly runs a shell runs it with the recall of this environment.
    """
    if NIGHTLY:
        line = line.replace("recall --store", f"{sys.executable} -m recall_core --store")
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    saved, moved = line.split(" | ")
    assert " --baseline /dev/stdin" in moved
    before = folder / "before.json"
    before.write_text(printed_by(saved))
    return printed_by(moved.replace("/dev/stdin", str(before)))


def printed_by(line: str) -> str:
    """Return the output of one recall command."""
    name, *words = shlex.split(line)
    streams = Streams(io.StringIO(), out := io.StringIO(), err := io.StringIO())
    assert name == "recall"
    assert cli.main(words, streams=streams) == 0, err.getvalue()
    return out.getvalue()


@pytest.fixture
def much_judged(own_store: Path) -> Path:
    """Return the small store with 40 judged queries. The first one misses a document."""
    with Recall.open(str(own_store)) as recall:
        texts = {f"q{number:02}": f"token budget {number}" for number in range(1, 41)}
        grades = [Judgement(query, Spot("docs/budget.md"), 1) for query in texts]
        gone = [Judgement("q01", Spot(f"gone{number}.md"), 1) for number in range(30)]
        put(recall.store, texts, [*grades, *gone])
    return own_store


async def test_pages_and_ends_of_the_lists_are_reachable(much_judged: Path) -> None:
    async with workbench(much_judged) as bench:
        await bench.ask()
        await bench.press("escape", "6", "z")
        await bench.until(current)

        def chosen() -> str:
            return next(line.split()[1] for line in bench.painted("judge").splitlines() if line.startswith("▶"))

        def in_view() -> int:
            return sum(" token budget " in line for line in bench.painted("judge").splitlines())

        at = 1
        for key, pages in (("pagedown", 1), ("space", 1), ("pageup", -1), ("pageup", -1)):
            assert 1 < in_view() < 40
            at = max(1, min(40, at + pages * in_view()))
            await bench.press(key)
            await bench.until(lambda _, wanted=f"q{at:02}": chosen() == wanted)  # type: ignore[misc]
        for key, query in (("end", "q40"), ("home", "q01"), ("end", "q40"), ("pagedown", "q40"), ("home", "q01")):
            await bench.press(key)
            await bench.until(lambda _, wanted=query: chosen() == wanted)  # type: ignore[misc]

        await bench.press("right", "end")
        await bench.until(lambda now: (missed := judging.pointed_missed(now)) and missed.path == "gone9.md")
        await bench.press("home")
        await bench.until(lambda now: (missed := judging.pointed_missed(now)) and missed.path == "gone0.md")
        await bench.press("left")
        await bench.until(lambda _: chosen() == "q01")


async def prompted(bench: Driver, key: str, typed: str) -> None:
    await bench.press(key)
    await bench.pilot.pause()
    bench.app.screen.query_one(Input).value = typed
    await bench.press("enter")


def written_sets(folder: Path) -> dict[str, Callable[[], str]]:
    """By name: the board that the pane reads."""
    (folder / "q.jsonl").write_text('{"_id": "x1", "text": "token budget"}\n')
    (folder / "q.tsv").write_text("x1\ttoken budget\n")
    (folder / "beir.tsv").write_text("query-id\tcorpus-id\tscore\nx1\tdocs/budget.md\t2\n")
    (folder / "trec.txt").write_text("x1 0 docs/budget.md 2\n")
    (folder / "quepid.csv").write_text("query,docid,rating\ntoken budget,docs/budget.md,2\n")
    return {
        "beir": lambda: f"{folder}/q.jsonl {folder}/beir.tsv",
        "trec": lambda: f"{folder}/trec.txt '{folder}/q.tsv'",
        "quepid": lambda: f"{folder}/quepid.csv",
    }


async def test_judgements_are_imported_or_refused_with_a_reason(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = written_sets(tmp_path)
    (tmp_path / "bad1.tsv").write_text("x1\tdocs/budget.md\t2\nbroken line\n")
    (tmp_path / "bad2.tsv").write_text("x1\tdocs/budget.md\tmuch\nx\ty\tz\n")
    monkeypatch.chdir(tmp_path)
    async with workbench(own_store, size=SMALL) as bench:
        await open_results(bench)
        await bench.press("6")
        for names, reason in (
            ("nowhere.tsv", "There is no file"),
            ("q.jsonl beir.tsv trec.txt", "Name one or two files"),
            ("", "Name one or two files"),
            ("'q.jsonl", "A quote is not closed."),
        ):
            await prompted(bench, "I", names)
            assert reason in str(bench.app.screen.query_one("#hint").render()), names
            await bench.press("escape")

        for tasks, (name, reason) in enumerate((("bad1.tsv", "bad1.tsv:2"), ("bad2.tsv", "bad2.tsv:1")), start=1):
            await prompted(bench, "I", f"{tmp_path}/q.jsonl {tmp_path}/{name}")
            await bench.until(lambda now, tasks=tasks: now.store.tasks_done == tasks)  # type: ignore[misc]
            assert any(reason in message for message in messages(bench)), name
            assert queries(own_store) == {}, name

        for tasks, name in enumerate(("beir", "trec", "quepid"), start=3):
            with Recall.open(str(own_store)) as recall, recall.store.transaction():
                recall.store.execute("DELETE FROM judgement")
            await prompted(bench, "I", typed[name]())
            await bench.until(lambda now, tasks=tasks: now.store.tasks_done == tasks and current(now))  # type: ignore[misc]
            await bench.until(lambda now: judging.pointed_line(now) and "1.000" in bench.painted("judge"))
            (row,) = judged(own_store)
            assert row[1:] == ("docs/budget.md", 2), name


async def test_exports_can_be_imported(own_judged_store: Path, tmp_path: Path) -> None:
    before = judged(own_judged_store)
    assert (len(queries(own_judged_store)), len(before)) == (3, 7)
    async with workbench(own_judged_store, size=SMALL) as bench:
        await open_results(bench)
        await bench.press("6")
        await bench.until(current)

        done = 0
        for names, message in (
            ("a.tsv", "Exported: 7 judgements"),
            ("a.jsonl", "Exported: 3 queries"),
            ("b.tsv b.jsonl", "Exported: 3 queries, 7 judgements"),
            ("c.jsonl c.txt", "Exported: 3 queries, 7 judgements"),
            ("d.csv", ""),
        ):
            bench.app._notifications.clear()
            paths = " ".join(str(tmp_path / name) for name in names.split())
            await prompted(bench, "E", paths)
            done += 1
            await bench.until(lambda now, done=done: now.store.tasks_done == done)  # type: ignore[misc]
            assert not message or messages(bench) == [message], names
            if names.startswith("a"):
                continue
            with Recall.open(str(own_judged_store)) as recall, recall.store.transaction():
                recall.store.execute("DELETE FROM judgement")
            await prompted(bench, "I", paths)
            done += 1
            await bench.until(lambda now, done=done: now.store.tasks_done == done)  # type: ignore[misc]
            assert judged(own_judged_store) == before, names

        for lines, message in (
            (
                "gone.md 1\nq1 0 gone.md 2",
                "Imported: 1 judgement. 1 of the judgements names no document of this store, or more than one",
            ),
            (
                "docs/budget.md 1\nnone 0 docs/budget.md 1\nnone 0 docs/files.md 1",
                "Imported: 1 judgement. 2 judgements are of queries without a text.",
            ),
        ):
            bench.app._notifications.clear()
            (tmp_path / "some.trec").write_text(f"q1 0 {lines}\n")
            await prompted(bench, "I", str(tmp_path / "some.trec"))
            done += 1
            await bench.until(lambda now, done=done: now.store.tasks_done == done)  # type: ignore[misc]
            (shown,) = messages(bench)
            assert shown.startswith(message)


async def test_a_file_is_replaced_only_after_a_yes(judged_store: Path, tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("mine\n")
    async with workbench(judged_store, size=SMALL) as bench:
        await open_results(bench)
        await bench.press("6")
        await bench.until(current)
        await prompted(bench, "E", f"{tmp_path}/one.tsv {tmp_path}/two.csv")
        await bench.pilot.pause()
        assert "One of two files must be .jsonl" in str(bench.app.screen.query_one("#hint").render())
        await bench.press("escape")
        assert not (tmp_path / "one.tsv").exists()

        await prompted(bench, "E", str(tmp_path / "out.tsv"))
        await bench.pilot.pause()
        await bench.press("n")
        assert (tmp_path / "out.tsv").read_text() == "mine\n"

        await prompted(bench, "E", str(tmp_path / "out.tsv"))
        await bench.pilot.pause()
        await bench.press("y")
        await bench.until(lambda now: now.store.tasks_done == 1)

    assert (tmp_path / "out.tsv").read_text().startswith("query-id\t")
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out.tsv"]


@pytest.mark.parametrize(
    "size", [(80, 24), *(pytest.param(size, marks=pytest.mark.slow) for size in ((100, 30), (200, 60)))]
)
async def test_every_line_fits_the_pane(judged_store: Path, size: tuple[int, int]) -> None:
    async with workbench(judged_store, size=size) as bench:
        await open_results(bench)
        bench.app.become(weighing.set_share(bench.session, 0.55))
        await bench.press("6")
        await bench.until(lambda now: current(now) and now.weights.tweaks)

        pane = bench.app.bench.query_one(JudgePane)
        width = pane.scrollable_content_region.width
        assert [line for line in pane._lines if line.cell_len > width] == []  # type: ignore[attr-defined]
        assert board_row(bench, "q1")
