"""The command copied by `Y` in each pane reproduces the pane."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recall_core.config import NAMES
from recall_tui.handlers import query as query_handlers
from recall_tui.handlers import shell, weights
from recall_tui.state import explaining, judging, packing, store_pane, tuning, weighing
from recall_tui.state.explaining import Comparison, DocumentPassage, Funnel, Ledger
from recall_tui.state.records import Moved
from recall_tui.state.session import PANES, VIEWS, Pane, Session, result_of, select_row
from recall_tui.state.store_pane import StoreOverview
from recall_tui.state.tuning import stability_at
from recall_tui.state.weighing import current, exact_share
from tests.workbench_corpus import build_store
from tests.workbench_driver import Driver, workbench
from tests.workbench_grades import grade

pytestmark = pytest.mark.slow  # a process for every line that is copied

RQL = "SELECT * FROM chunk USING lexical('budget'), semantic('token') FILTER chunk.tokens > 5 LIMIT 12"
MISSED = "notes/diary.txt"

Step = Callable[[Driver], Awaitable[object]]
Check = Callable[[Session, str, str], None]
"""session; output of the first command; output of the second one."""


class Case(NamedTuple):
    """Steps before `Y`, the pane where it is pressed, and how the output is compared."""

    pane: Pane
    state: str
    view: str = ""


# States: questions that the commands must reproduce completely.


async def settle(bench: Driver) -> None:
    await bench.until(
        lambda now: (
            not now.query.busy
            and now.results.answer
            and now.results.ranked_at == now.context.packed_at == now.query.generation
        )
    )


async def become(bench: Driver, change: Callable[[Session], Session]) -> None:
    bench.app.become(change(bench.session))
    await settle(bench)


async def as_words(bench: Driver) -> None:
    await bench.ask("keep the manual in mind")
    await become(bench, lambda now: select_row(now, 2))


async def as_rql(bench: Driver) -> None:
    await bench.ask(RQL)
    await become(bench, lambda now: select_row(now, 2))


async def filtered(bench: Driver) -> None:
    """Ask words under a filter, and select a row further down."""
    await bench.ask("keep the manual in mind")
    await bench.press("escape", "slash")
    await bench.write("doc.path GLOB 'manual/*'")
    await bench.press("enter")
    await bench.until(lambda now: now.results.answer and now.results.answer.plan.filters)
    await settle(bench)
    await become(bench, lambda now: select_row(now, 12))


async def tweaked(bench: Driver) -> None:
    """Change weights, scale and number of rows, lower the budget, pin and drop a chunk, and select a deeper row."""
    await bench.ask("keep the manual in mind")
    await become(
        bench,
        lambda now: (base := weighing.nudge_share(weighing.turn_choice(now, "normalize"), 20))._replace(
            context=base.context._replace(budget_tokens=90)
        ),
    )
    await become(bench, lambda now: weighing.set_moves(now, Moved(now.weights.tweaks, 20)))
    await become(bench, what_if)
    await bench.until(lambda now: now.context.packing and now.context.packing.pins and now.context.packing.drops)
    await become(bench, lambda now: select_row(now, 9))


def what_if(now: Session) -> Session:
    """Keep a row further down in the context, and leave the first one out."""
    first, later = now.results.hits[0].chunk, now.results.hits[12].chunk
    assert first
    assert later
    return now._replace(context=now.context._replace(pins=(later.id,), drops=(first.id,)))


async def tweaked_rql(bench: Driver) -> None:
    """Ask a query in RQL with another fusion and number of rows."""
    await bench.ask(RQL)
    await become(bench, lambda now: weighing.turn_choice(now, "fusion"))
    await become(bench, lambda now: weighing.set_moves(now, Moved(now.weights.tweaks, 5)))
    await become(bench, lambda now: select_row(now, 3))


STATES: dict[str, Step] = {
    "words": as_words,
    "rql": as_rql,
    "filter": filtered,
    "moved": tweaked,
    "moved rql": tweaked_rql,
}

# What each pane shows, compared with the output of its command.


def same_rows(now: Session, said: str, _more: str) -> None:
    answer = json.loads(said)
    assert [(row["chunk"]["id"], row["score"]) for row in answer["results"]] == [
        (hit.chunk.id, hit.score) for _, hit in sorted(now.results.hits.items()) if hit.chunk
    ]
    assert answer["stats"]["digest"] == now.results.answer.digest  # type: ignore[union-attr]


def same_lines(now: Session, said: str, more: str) -> None:
    """Compare the rows, and the weights of the second command at which they keep their order."""
    same_rows(now, said, more)
    order, gauge = (
        json.loads(more)["tuning"]["sweep"]["order"],
        stability_at(now.weights.chart, exact_share(current(now))),
    )  # type: ignore[arg-type]
    assert (order["low"], order["high"]) == (float(gauge.order.low), float(gauge.order.high))


def same_curve(now: Session, said: str, more: str) -> None:
    same_rows(now, said, more)
    curve = tuning.curve_of(now)
    assert curve is not None
    assert json.loads(more)["tuning"]["judged"]["curve"]["means"] == list(curve.means)


def same_wishes(now: Session, said: str, more: str) -> None:
    same_rows(now, said, more)
    pinned, granted = json.loads(more)["tuning"]["pinned"], tuning.target_weights(now)
    assert granted is not None
    assert [wish["target"] for wish in pinned["wishes"]] == [pin.chunk_id for pin in tuning.pins_of(now)]


def same_context(now: Session, said: str, _more: str) -> None:
    assert now.context.packed is not None
    assert said == packing.print_context(now.context.packed)
    assert hashlib.sha256(said.encode()).hexdigest() == packing.digest(now.context.packed)


def result(now: Session, view: str) -> Any:
    """Return the content of the tab."""
    analyses = {
        "ledger": (explaining.ledger_analysis, Ledger),
        "passage": (explaining.passage_analysis, DocumentPassage),
        "funnel": (explaining.funnel_analysis, Funnel),
        "compare": (explaining.compare_analysis, Comparison),
    }
    if view == "whynot":
        return explaining.whynot_of(now)
    analysis_of, of = analyses[view]
    analysis = analysis_of(now)
    known = result_of(now, analysis, of=of) if analysis else None
    return known if isinstance(known, of) else None


def normalized(view: Any) -> Any:
    """Return an account with store paths removed from its commands and one name for each setting."""
    text = re.sub(r" --store [^ \"]+", "", json.dumps(view))
    for key, name in NAMES.items():
        text = text.replace(key, name)
    return json.loads(text)


def same_account(now: Session, said: str, _more: str) -> None:
    answer, known = json.loads(said), result(now, now.view)
    shown = json.loads(json.dumps(known.view)) if now.view != "passage" else None
    match now.view:
        case "ledger" | "compare":
            assert answer["explanation"] == shown
        case "passage":
            assert answer["found"]["text"].removesuffix("\n") == "\n".join(line.text for line in known.lines)
            return
        case "whynot":
            assert normalized(answer["whynot"]) == normalized(shown)
        case "funnel":
            assert answer["trace"]["stages"] == shown["stages"]
            assert answer["trace"].get("filter") == shown.get("filter")
    assert answer["stats"]["digest"] == now.results.answer.digest  # type: ignore[union-attr]


def same_board(now: Session, said: str, _more: str) -> None:
    known = judging.board(now)
    assert isinstance(known, judging.Board)
    evaluation = json.loads(said)["evaluation"]
    (mode,) = evaluation["modes"]
    assert {each["measure"]: (each["mean"], each["values"]) for each in mode["measures"]} == {
        measure: (figure.mean, {line.query: line.values[measure] for line in known.lines})
        for measure, figure in known.figures.items()
    }
    assert {each["measure"]: (each["wins"], each["losses"], each["ties"]) for each in evaluation["comparisons"]} == (
        {name: (each.wins, each.losses, each.ties) for name, each in known.figures.items()}
        if now.weights.tweaks
        else {}
    )


def same_store(now: Session, said: str, _more: str) -> None:
    answer, overview = json.loads(said), store_pane.overview(now)
    assert isinstance(overview, StoreOverview)
    match store_pane.view_of(now):
        case "stats":
            assert answer["store"] == json.loads(json.dumps(overview.view))
        case "checks":
            known = dict(store_pane.checks(now))
            assert answer["checks"] == json.loads(json.dumps([known[code] for code in store_pane.CHECKS]))
        case "embedder":
            assert answer["embedders"] == json.loads(json.dumps(overview.embedders))
        case "documents":
            line = store_pane.chosen_line(now)
            assert line is not None
            paths = [row["doc"]["path"] for row in answer["results"]]
            assert len(paths) == line.documents > 0
            assert all(path.startswith(line.path) for path in paths)


# The panes.


async def go(bench: Driver, pane: Pane, view: str) -> None:
    """Go to the pane, and wait until everything is shown."""
    if pane == "explain":
        await become(
            bench, lambda now: now._replace(results=now.results._replace(sought=MISSED, marked=now.results.hits[0]))
        )
        await become(bench, lambda now: explaining.turn_to(now, view))  # type: ignore[arg-type]
        bench.app.bench.give_focus("explain")
        await bench.until(lambda now: result(now, view))
        return
    await bench.press("escape")
    shell.focus_pane(bench.app, pane)
    if pane == "weights" and view == "curve":
        await bench.press("t")
        await bench.until(lambda now: now.weights.is_of_all and tuning.curve_of(now))
    elif pane == "weights" and view == "pins":
        await bench.press("p")
        await bench.until(tuning.target_weights)
    elif pane == "weights":
        await bench.until(lambda now: now.weights.chart)
    elif pane == "judge":
        await bench.until(lambda now: judging.is_current(now) and judging.pointed_line(now))
    elif pane == "store":
        await become(bench, lambda now: store_pane.show_view(now, view))  # type: ignore[arg-type]
        await bench.until(lambda now: isinstance(store_pane.overview(now), StoreOverview))
        await bench.until(lambda now: view != "documents" or store_pane.chosen_line(now))
        await bench.until(lambda now: view != "checks" or all(check for _, check in store_pane.checks(now)))


CHECKS: dict[tuple[Pane, str], Check] = {
    ("query", ""): same_rows,
    ("results", ""): same_rows,
    **{("explain", view): same_account for view in VIEWS},
    ("weights", "lines"): same_lines,
    ("weights", "curve"): same_curve,
    ("weights", "pins"): same_wishes,
    ("context", ""): same_context,
    ("judge", ""): same_board,
    **{("store", view): same_store for view in store_pane.VIEWS},
}
"""By pane and case."""
ANY_STATE: tuple[Pane, ...] = ("store",)
"""Panes whose command is not about a question."""
APART: dict[Pane, str] = {"ingest": "its command writes: see the test of the copied command in test_ingest.py"}
"""Panes without a case, with the reason."""
CASES = [
    Case(pane, state, view)
    for pane, view in CHECKS
    for state in (["words"] if pane in ANY_STATE else STATES)
    if (pane, state) != ("query", "filter")  # `/` types into the field there
]


@pytest.fixture(scope="module")
def judged_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with judged queries that tests only read."""
    store = build_store(tmp_path_factory.mktemp("judged"))
    grade(store, tmp_path_factory.mktemp("grades"))
    return store


def printed(line: str, folder: Path, *, as_json: bool) -> str:
    """Return the output of a copied line in the folder of the store."""
    assert line.startswith("recall ")
    is_piped = " | " in line
    recall = shlex.join([sys.executable, "-m", "recall_core", *(["--json"] if as_json and not is_piped else [])])
    line = re.sub(r"(^|\| )recall ", lambda match: f"{match[1]}{recall} ", line) + (" --json" if is_piped else "")
    ran = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 7), ran.stderr
    return ran.stdout


@pytest.mark.parametrize("state", STATES)
async def test_copied_commands_reproduce_the_panes(
    judged_store: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.chdir(judged_store.parent)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    wrong = []
    async with workbench(None) as bench:
        await bench.until(lambda now: now.store.info)
        await STATES[state](bench)
        for case in CASES:
            if case.state != state:
                continue
            if bench.session.weights.is_of_all:
                weights.turn_curve(bench.app)
            await go(bench, case.pane, case.view)
            await bench.press("Y" if case.pane != "query" else "escape")
            if case.pane == "query":
                shell.focus_pane(bench.app, "query")
                query_handlers.copy_command(bench.app)
            lines, now = bench.app.clipboard.splitlines(), bench.session
            said = [printed(line, judged_store.parent, as_json=case.pane != "context") for line in lines]
            try:
                CHECKS[case.pane, case.view](now, said[0], said[1] if len(said) > 1 else "")
            except AssertionError as failure:
                wrong.append(f"{case}: {lines}: {str(failure)[:400]}")

    assert not wrong, "\n\n".join(wrong)


def test_every_pane_has_a_case_or_a_reason() -> None:
    assert {pane for pane, _ in CHECKS} | set(APART) == set(PANES)
    assert not {pane for pane, _ in CHECKS} & set(APART)
