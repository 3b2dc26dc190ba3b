"""Every action of the table, by its keys and by the mouse, has an effect that was not there before."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from rich.cells import cell_len
from textual.command import CommandPalette
from textual.events import MouseScrollDown, MouseScrollUp

from recall_core.api.recall import Recall
from recall_core.config import load
from recall_core.evaluate.judgements import Judgement, Spot, put
from recall_core.maintain.embedders import write_settings
from recall_core.types import Progress, Root, Skip
from recall_tui.actions.action import key_name
from recall_tui.actions.table import GROUPS, TABLE
from recall_tui.app import Workbench
from recall_tui.handlers import ingest
from recall_tui.handlers import shell as shell_handlers
from recall_tui.home import history
from recall_tui.home.preferences import PaneSizes
from recall_tui.panes.context import BudgetSlider, ContextPane, PackedList
from recall_tui.panes.explain import TITLE_AT, ExplainPane, pieces
from recall_tui.panes.results import ResultsPane
from recall_tui.panes.whynot import FIX
from recall_tui.screens.dialog import JumpScreen, Label
from recall_tui.screens.help import HelpScreen
from recall_tui.state import commands, explaining, judging, packing, store_pane, tuning, weighing
from recall_tui.state.explaining import FixOffer, Funnel
from recall_tui.state.records import QueryTab
from recall_tui.state.runs import Meter, Run
from recall_tui.state.session import WORDS_K, Pane, Session, k_of, move_cursor, open_tab, result_of, select_row
from recall_tui.widgets.slider import Slider
from tests.provider_server import provider_server
from tests.workbench_corpus import QUESTION, build_store
from tests.workbench_driver import Driver, workbench

SIZE = (440, 44)
"""Wide enough for every key that the footer offers."""
SET = {
    "q1": (QUESTION, {"docs/budget.md": 3, "notes/cafe.txt": 1}),
    "q2": ("read a file line by line", {"docs/files.md": 2, "src/read.py": 1}),
}
RQL = "SELECT * FROM chunk USING lexical('budget'), semantic('tea')"
MISSED = "notes/diary.txt"
SMALL = 62
"""A budget that leaves out the missing target."""


class Was(NamedTuple):
    """The state before the action."""

    session: Session
    layout: PaneSizes
    documents: int


Effect = Callable[[Was, Driver], object]
Step = Callable[[Driver], Awaitable[object]]


class Row(NamedTuple):
    """An action, the steps that prepare it, and a condition that holds only after it."""

    action: str
    holds: Effect
    before: Step | None = None
    then: Sequence[str] = ()
    """Keys for the dialog that it opens. `@text` is written into its field."""
    panes: tuple[Pane, ...] = ()
    """Panes where it is pressed; () for all panes of the action except the query, or for the results."""
    mouse: Step | None = None
    """Another way to run it than its label in the footer, which every labelled action has."""


# States.


async def settle(bench: Driver) -> None:
    """Wait until rows, context and tasks match the session."""
    await bench.until(
        lambda now: (
            not now.query.busy
            and not now.store.task
            and not now.judge.gradings
            and (now.store.run is None or now.store.run.ended or now.store.run.hold)
            and (now.results.answer is None or now.results.ranked_at == now.context.packed_at == now.query.generation)
        )
    )


def moved(**tweaks: str | float | bool) -> Step:
    """Change settings."""
    return lambda bench: _become(bench, weighing.move_settings(bench.session, tweaks))


def unsaved(**tweaks: str | float | bool) -> Step:
    """Change settings from those the session knows, then restore recall.toml."""

    async def step(bench: Driver) -> None:
        assert bench.session.weights.saved is not None
        assert bench.session.weights.toml is not None
        write_settings(bench.session.weights.toml, {key: getattr(bench.session.weights.saved, key) for key in tweaks})
        await moved(**tweaks)(bench)

    return step


def become(change: Callable[[Session], Session]) -> Step:
    """Replace the session."""
    return lambda bench: _become(bench, change(bench.session))


def in_row(row: int) -> Step:
    """Choose this row of the form of weights."""
    return become(lambda now: weighing.choose_setting(now, row))


async def _become(bench: Driver, session: Session) -> None:
    bench.app.become(session)
    await settle(bench)


def in_turn(*steps: Step) -> Step:
    """Run the steps one after the other."""

    async def all_of_them(bench: Driver) -> None:
        for step in steps:
            await step(bench)

    return all_of_them


def asked(text: str) -> Step:
    """Ask another question."""
    return lambda bench: bench.ask(text)


def selected(row: int) -> Step:
    """Select another row."""
    return become(lambda now: select_row(now, row))


async def sought(bench: Driver) -> None:
    """Miss a target in a context that is too small for it, and wait for the fixes."""
    await _become(
        bench,
        explaining.seek_target(
            bench.session._replace(context=bench.session.context._replace(budget_tokens=SMALL)), MISSED
        ),
    )
    bench.app.bench.give_focus("explain")
    await bench.until(explaining.chosen_remedy)


async def lower(bench: Driver) -> None:
    """Make the explain pane shorter than its content, at its first line."""
    pane = bench.app.bench.query_one(ExplainPane)
    for _ in range(6):
        shell_handlers.heighten(bench.app, -5)
    pane.scroll_to(y=0, animate=False, immediate=True)
    await bench.until(lambda _: pane.max_scroll_y > pane.size.height > 2)


def scrolled_to(line: int) -> Step:
    """Scroll it to that line."""

    async def scroll(bench: Driver) -> None:
        await lower(bench)
        bench.app.bench.query_one(ExplainPane).scroll_to(y=line, animate=False, immediate=True)

    return scroll


def two_fixes(now: Session) -> Session:
    """Apply two fixes."""
    for fix in (
        FixOffer("budget", "", "", budget_tokens=77),
        FixOffer("pin", "", "", pin=now.results.hits[9].chunk.id),
    ):  # type: ignore[union-attr]
        now = explaining.apply_fix(now, fix, 0.0)
    return explaining.turn_to(now, "whynot")


async def curved(bench: Driver) -> None:
    """Wait for the curve of the grades, with the weight at its end."""
    await moved(bm25_weight=0.0, vector_weight=1.0)(bench)
    await bench.until(lambda now: (curve := tuning.curve_of(now)) and curve.steps)


async def wished(bench: Driver) -> None:
    """Exclude the first row from the top two, and wait for the weights that achieve this."""
    await bench.ask("keep the manual in mind")
    await _become(
        bench,
        weighing.set_moves(
            bench.session, bench.session.weights.undo[-1] if bench.session.weights.undo else _first(2)
        ),
    )
    await _become(bench, tuning.toggle_target(bench.session, "out"))
    await bench.until(tuning.target_weights)


def _first(rows: int) -> weighing.Moved:
    return weighing.Moved({}, rows)


async def measured(bench: Driver) -> None:
    """Wait until the judged queries are measured."""
    await bench.until(lambda now: judging.is_current(now) and judging.pointed_line(now))


def grading_on(now: Session) -> Session:
    """Turn grading on."""
    return now._replace(judge=now.judge._replace(is_grading=True))


def graded(key: str) -> Step:
    """Give the selected row this grade, in the store too."""

    async def press(bench: Driver) -> None:
        row = bench.session.results.selected
        await _become(bench, grading_on(bench.session))
        await bench.press(key)
        await settle(bench)
        await _become(bench, select_row(bench.session, row))

    return press


def viewed(view: store_pane.View) -> Step:
    """Show this view of the store pane."""
    return in_turn(
        become(lambda now: store_pane.show_view(now, view)), lambda bench: bench.until(store_pane.embedders)
    )


def skipping(now: Session) -> Session:
    """Skip three files in a run, and show the embedders in the store pane."""
    skipped = tuple(Skip(f"docs/bad{number}.md", "not_utf8", "bytes that are no text") for number in range(3))
    at_end = Progress("done", "", 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, skipped)
    return store_pane.show_view(
        now._replace(store=now.store._replace(run=Run("docs", Meter(progress=at_end), ended="done"))), "embedder"
    )


async def listing(bench: Driver) -> None:
    """Fill any active pane with lines to choose from."""
    await _become(bench, skipping(bench.session))
    await bench.until(lambda now: store_pane.rows_of(now) > 1)


def at_line(row: int) -> Step:
    """Choose the line with that number."""
    return in_turn(
        listing,
        become(
            lambda now: move_cursor(
                now, store_pane.list_of(now), row % store_pane.rows_of(now), store_pane.rows_of(now)
            )
        ),
    )


async def broken(bench: Driver) -> None:
    """Break the count of documents, and choose the check that reports it."""
    db = apsw.Connection(bench.session.store.info.path)  # type: ignore[union-attr]
    db.execute("UPDATE meta SET value = '99' WHERE key = 'documents'")
    db.close()
    await _become(
        bench,
        store_pane.show_view(
            bench.session._replace(store=bench.session.store._replace(tasks_done=bench.session.store.tasks_done + 1)),
            "checks",
        ),
    )
    place = store_pane.CHECKS.index("counts")
    await _become(bench, move_cursor(bench.session, "store checks", place, len(store_pane.CHECKS)))
    await bench.until(lambda now: (check := store_pane.chosen_check(now)) and check.get("fix"))


async def new_file(bench: Driver) -> None:
    """Add a file that the store does not know to one of its folders."""
    notes = Path(bench.session.store.info.path).parent / "notes"  # type: ignore[union-attr]
    (notes / f"n{len(list(notes.iterdir()))}.txt").write_text("A wombat was here.\n", encoding="utf-8")


def file(name: str, text: str) -> Step:
    """Create a file."""

    async def write(_bench: Driver) -> None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")

    return write


async def remembered(_bench: Driver) -> None:
    """Add a query to the history."""
    path = history.place(os.environ)
    assert path is not None
    history.append(path, history.PastQuestion("cosine", "doc.path GLOB 'docs/*'", ("fusion=rrf",)))


# Effects.


def config(key: str, value: object) -> Effect:
    """Return a condition: the rows are those of this setting."""

    def is_so(_was: Was, bench: Driver) -> bool:
        answer = bench.session.results.answer
        return answer is not None and not bench.session.query.busy and getattr(answer.plan.config, key) == value

    return is_so


def at_share(share: float) -> Effect:
    """Return a condition: the rows are those of this weight, which the slider shows."""
    return lambda _was, bench: (
        round(weighing.share(bench.session.results.answer.plan.config), 2) == share  # type: ignore[union-attr]
        and f"{share:.2f} semantic" in bench.painted("slider")
    )


def of_session(holds: Callable[[Session], object]) -> Effect:
    """Return a condition on the session."""
    return lambda _was, bench: holds(bench.session)


def in_front(pane: Pane) -> Effect:
    """Return a condition: the pane has the focus and is visible."""
    return lambda _was, bench: (
        bench.session.pane == pane
        and bench.app.bench.pane_of(bench.app.focused) == pane
        and bench.app.bench.query_one(f"#{pane}").size.height > 0
    )


def at_row(row: Callable[[Was, Driver], int]) -> Effect:
    """Return a condition: that row is selected and explained, and has the pointer."""
    return lambda was, bench: (
        bench.session.results.selected == row(was, bench)
        and bench.session.results.hit is bench.session.results.hits.get(bench.session.results.selected)
        and f"{bench.session.results.selected + 1} " in _pointed_line(bench, "results")
    )


def beside(row: Callable[[Was], int]) -> Effect:
    """Return a condition: that row is selected and explained, and the same pane has the focus."""
    return lambda was, bench: (
        at_row(lambda was, _: row(was))(was, bench)
        and in_front("explain")(was, bench)
        and f"Explain #{bench.session.results.selected + 1} " in bench.painted("explain")
    )


def explain_at(line: Callable[[ExplainPane], int]) -> Effect:
    """Return a condition: the explain pane is scrolled to that line, with the same selection."""

    def is_so(was: Was, bench: Driver) -> bool:
        pane = bench.app.bench.query_one(ExplainPane)
        return (
            pane.scroll_offset.y == line(pane) > -1 and bench.session.results.selected == was.session.results.selected
        )

    return is_so


def packed_for(budget_tokens: int) -> Effect:
    """Return a condition: the context is packed for this budget."""
    return lambda _was, bench: (
        bench.session.context.packed is not None
        and bench.session.context.packed.budget_tokens == budget_tokens
        and f"of {budget_tokens:,} tokens" in bench.painted("context")
    )


def at_block(row: Callable[[int], int]) -> Effect:
    """Return a condition: that line of the context is chosen and drawn so. row: of the entries."""

    def is_so(_was: Was, bench: Driver) -> bool:
        lines = len(packing.entries(bench.session))
        return packing.cursor(bench.session) == row(lines) and "▶" in bench.painted("packed")

    return is_so


def has_grade(grade: int | None) -> Effect:
    """Return a condition: the row selected before has this grade."""

    def is_so(was: Was, bench: Driver) -> bool:
        now = bench.session
        judgements, hit = judging.judgements_here(now), was.session.results.hits[was.session.results.selected]
        return judging.grade_of(judgements, hit, "chunk") == grade

    return is_so


def gives(grade: int) -> Effect:
    """Return a condition: the row has the grade, and the next one is selected."""
    return lambda was, bench: (
        has_grade(grade)(was, bench) and bench.session.results.selected == was.session.results.selected + 1
    )


def line_chosen(row: Callable[[int], int]) -> Effect:
    """Return a condition: that line of the active pane is chosen and drawn so. row: of its lines."""
    return lambda _was, bench: (
        store_pane.rows_of(bench.session) > 0
        and store_pane.cursor_of(bench.session) == row(store_pane.rows_of(bench.session))
        and "▶" in bench.painted(bench.session.pane)
    )


def dialog(of: type[object]) -> Effect:
    """Return a condition: this screen is in front."""
    return lambda _was, bench: isinstance(bench.app.screen, of)


def wider(part: str, sign: int) -> Effect:
    """Return a condition: a border moved in that direction."""
    return lambda was, bench: sign * (getattr(bench.app.bench.body.measure(), part) - getattr(was.layout, part)) > 0


def _pointed_line(bench: Driver, pane: str) -> str:
    return next((line for line in bench.painted(pane).splitlines() if line.startswith("▶")), "")


def _idle(bench: Driver) -> bool:
    return not bench.session.store.task and bench.app.screen is bench.app.bench


# The mouse.


def wheel(widget: type[Slider], of: type[MouseScrollDown | MouseScrollUp]) -> Step:
    """Turn the wheel over a slider."""

    async def turn(bench: Driver) -> None:
        slider = bench.app.bench.query_one(widget)
        slider.post_message(of(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False))

    return turn


def click(widget: str, text: str, *, times: int = 1) -> Step:
    """Click the line of a pane that contains a text."""

    async def point(bench: Driver) -> None:
        box = bench.app.bench.query_one(f"#{widget}")
        lines = bench.painted(widget).splitlines()
        await bench.until(lambda _: any(text in line for line in bench.painted(widget).splitlines()[1:]))
        lines = bench.painted(widget).splitlines()[1:]
        row = next(row for row, line in enumerate(lines) if text in line)
        await bench.pilot.click(box, offset=(box.gutter.left + 4, box.gutter.top + row), times=times)

    return point


def click_pane(pane: Pane) -> Step:
    """Click into a pane."""

    async def point(bench: Driver) -> None:
        box = bench.app.bench.query_one(f"#{pane}")
        await bench.pilot.click(box, offset=(box.outer_size.width // 2, 1))

    return point


def click_bar(bar: str, text: str) -> Step:
    """Click a text in the header, the status line or the footer."""

    async def point(bench: Driver) -> None:
        await bench.until(lambda _: text in bench.painted(bar))
        line = bench.painted(bar)
        await bench.pilot.click(f"#{bar}", offset=(cell_len(line[: line.index(text)]) + len(text) // 2, 0))

    return point


async def click_tab(bench: Driver) -> None:
    """Click the next tab."""
    pane, at = bench.app.bench.query_one(ExplainPane), TITLE_AT
    for text, view in pieces(bench.session, pane.size.width - 2 * TITLE_AT, pane.glyphs):
        if view == "passage":
            break
        at += cell_len(text)
    await bench.pilot.click(ExplainPane, offset=(at, 0))


async def click_fix(bench: Driver) -> None:
    """Click the chosen fix."""
    pane = bench.app.bench.query_one(ExplainPane)
    row = next(row for row, line in enumerate(pane._lines) if getattr(line.style, "meta", {}).get(FIX) == 0)
    await bench.pilot.click(ExplainPane, offset=(8, 1 + row - int(pane.scroll_offset.y)))


def drag(across: int, down: int) -> Step:
    """Drag the corner between the columns."""

    async def pull(bench: Driver) -> None:
        body, results = bench.app.bench.query_one("#body"), bench.app.bench.query_one("#results")
        right = bench.app.bench.query_one("#right").region.x
        at = (right, 20) if across else (10, results.region.bottom - 1 - body.region.y)
        await bench.pilot.mouse_down(body, offset=at)
        await bench.pilot.hover(body, offset=(at[0] + across, at[1] + down))
        await bench.pilot.mouse_up(body, offset=(at[0] + across, at[1] + down))

    return pull


async def jump_to_context(bench: Driver) -> None:
    """Press the letter of the context."""
    await bench.until(lambda _: isinstance(bench.app.screen, JumpScreen))
    label = next(each for each in bench.app.screen.query(Label) if each.mark.pane == "context")
    await bench.press(str(label.render()).strip())


def _budget_of(now: Session) -> bool:
    return len(explaining.fixes_in_force(now)) == 1 and now.context.budget_tokens == 77 and now.context.pins == ()


def _packed(now: Session) -> set[str]:
    return {one for block in now.context.packed.blocks for one in block.chunk_ids} if now.context.packed else set()


def _judged(now: Session) -> Sequence[str]:
    known = judging.judged_queries(now)
    return tuple(known.texts) if known else ()


def _read(name: str) -> str:
    return Path(name).read_text(encoding="utf-8") if Path(name).exists() else ""


def _run_is_over(now: Session) -> bool:
    return now.store.run is not None and now.store.run.ended == "done"


async def _scrolled(bench: Driver) -> None:
    bench.app.bench.query_one(ContextPane).scroll_pages(1)
    await bench.until(lambda _: bench.app.bench.query_one(PackedList).scroll_offset.y > 0)


async def _more(_bench: Driver) -> None:
    folder = Path("more")
    folder.mkdir(exist_ok=True)
    (folder / f"m{len(list(folder.iterdir()))}.txt").write_text("A numbat was here.\n", encoding="utf-8")


async def _removed(bench: Driver) -> None:
    """Return a condition: another program removed documents."""
    gone = Path(f"gone{len(list(Path().glob('gone*')))}")
    gone.touch()
    with Recall.open(bench.session.store.info.path) as recall:  # type: ignore[union-attr]
        recall.remove([f"manual/part1{gone.name[4:]}.txt"])
    bench.app.do("look", lambda recall, _say: "")
    await bench.until(lambda now: now.store.info and now.store.info.tombstones > 0)


async def one_more(bench: Driver) -> None:
    """Add a document with its own folder to the store."""
    file = Path("one") / "once.txt"
    file.parent.mkdir(exist_ok=True)
    file.write_text("A bilby was here.\n", encoding="utf-8")
    with Recall.open(bench.session.store.info.path) as recall:  # type: ignore[union-attr]
        list(recall.add([str(file)], Root("")))
        documents = recall.store.info().documents
    bench.app.do("look", lambda recall, _say: "")
    await bench.until(lambda now: now.store.info and now.store.info.documents == documents and not now.store.task)


async def another_query(bench: Driver) -> None:
    """Create a file with a query that the store does not know yet."""
    judgement = f"tea {len(_judged(bench.session))},notes/diary.txt,2"
    Path("in.csv").write_text(f"query,docid,rating\n{judgement}\n", encoding="utf-8")


async def _wide(bench: Driver) -> None:
    before = bench.app.bench.body.measure().right or 0
    shell_handlers.widen(bench.app, 20)
    await bench.until(lambda _: (bench.app.bench.body.measure().right or 0) > before)


ROWS: tuple[Row, ...] = (
    # Panes.
    Row("focus_pane('query')", in_front("query"), mouse=click_pane("query")),
    Row("focus_pane('results')", in_front("results"), panes=("context",), mouse=click_pane("results")),
    Row("focus_pane('explain')", in_front("explain"), mouse=click_pane("explain")),
    Row("focus_pane('weights')", in_front("weights"), mouse=click_pane("weights")),
    Row("focus_pane('context')", in_front("context"), mouse=click_pane("context")),
    Row("focus_pane('judge')", in_front("judge"), mouse=click_pane("judge")),
    Row("focus_pane('ingest')", in_front("ingest")),
    Row("focus_pane('store')", in_front("store")),
    Row("next_pane", in_front("explain")),
    Row("previous_pane", in_front("query")),
    Row(
        "zoom",
        lambda _, bench: (
            bench.session.zoomed
            and not bench.app.bench.query_one("#query").display
            and bench.app.bench.query_one("#results").outer_size.width == SIZE[0]
        ),
    ),
    Row("step_out", in_front("results"), panes=("context",)),
    # Query.
    Row(
        "run",
        lambda was, bench: (
            bench.session.query.question == was.session.query.question + 1 and not bench.session.query.busy
        ),
    ),
    Row(
        "filter",
        lambda was, bench: (
            not bench.session.query.busy and bench.session.results.answer.total < was.session.results.answer.total
        ),  # type: ignore[union-attr]
        then=("@doc.path GLOB 'docs/*'", "enter"),
    ),
    Row(
        "open_history",
        lambda _, bench: (
            bench.app.bench.editor.text == "cosine"
            and bench.session.pane == "query"
            and bench.session.query.filter == "doc.path GLOB 'docs/*'"
            and bench.session.weights.tweaks == {"fusion": "rrf"}
        ),
        remembered,
        then=("@cosine", "enter"),
    ),
    Row("save_query", lambda *_: _read("mine.rql") == f"{QUESTION}\n", then=("@mine", "enter")),
    Row(
        "load_query",
        of_session(lambda now: now.results.answer and now.results.answer.plan.text == "tea" and not now.query.busy),
        file("other.rql", "tea\n"),
        then=("@other", "enter"),
    ),
    Row("clear_query", lambda _, bench: bench.app.bench.editor.text == "" and bench.session.results.answer is None),
    Row(
        "new_tab",
        lambda _, bench: (
            len(bench.session.query.tabs) == 2
            and bench.app.bench.editor.text == ""
            and "1 token budget" in bench.painted("query")
        ),
    ),
    *(
        Row(
            f"step_tab({step})",
            lambda _, bench: bench.session.query.tab == 0 and bench.app.bench.editor.text == QUESTION,
            become(lambda now: open_tab(now, QUESTION)),
        )
        for step in (1, -1)
    ),
    Row(
        "close_tab",
        lambda _, bench: (
            bench.session.query.tabs == (QueryTab(QUESTION),) and bench.app.bench.editor.text == QUESTION
        ),
        become(lambda now: open_tab(now, QUESTION)),
    ),
    Row("edit_outside", lambda _, bench: bench.app.bench.editor.text == "edited words"),
    Row(
        "copy_command",
        lambda _, bench: bench.app.clipboard == commands.command(bench.session, bench.app.store) != "",
        mouse=click_bar("status", "Y copies"),
    ),
    # Results.
    Row("select(1)", at_row(lambda was, _: was.session.results.selected + 1), mouse=click("results", "src/pack.py")),
    Row("select(-1)", at_row(lambda was, _: was.session.results.selected - 1), selected(2)),
    Row(
        "page(1)",
        at_row(
            lambda was, bench: was.session.results.selected + bench.app.bench.query_one(ResultsPane).rows_to_page(1)
        ),
    ),
    Row("page(-1)", at_row(lambda *_: 0), selected(3)),
    Row("select_first", at_row(lambda *_: 0), selected(3)),
    Row("select_last", at_row(lambda was, _: was.session.results.answer.total - 1)),  # type: ignore[union-attr]
    Row("group", lambda _, bench: "2 Results by document" in bench.painted("results")),
    Row(
        "export_results",
        lambda *_: "docs/budget.md" in _read("rows.csv"),
        then=("@rows.csv", "enter"),
    ),
    Row("count(-1)", of_session(lambda now: now.weights.k == 30 and not now.query.busy)),
    Row(
        "count(1)",
        of_session(lambda now: k_of(now) == WORDS_K and not now.query.busy),
        become(lambda now: weighing.step_k(now, -1)),
    ),
    # Explain.
    Row("step_view(-1)", lambda _, bench: "▶Compare" in bench.painted("explain")),
    Row("step_view(1)", lambda _, bench: "▶Passage" in bench.painted("explain"), mouse=click_tab),
    Row("scroll_explain(1)", explain_at(lambda _: 1), lower),
    Row("scroll_explain(-1)", explain_at(lambda _: 1), scrolled_to(2)),
    Row("page_explain(1)", explain_at(lambda pane: pane.size.height - 1), lower),
    Row("page_explain(-1)", explain_at(lambda _: 0), scrolled_to(2)),
    Row("explain_top", explain_at(lambda _: 0), scrolled_to(2)),
    Row("explain_end", explain_at(lambda pane: pane.max_scroll_y), lower),
    Row("select_beside(1)", beside(lambda was: was.session.results.selected + 1), panes=("explain",)),
    Row("select_beside(-1)", beside(lambda was: was.session.results.selected - 1), selected(2), panes=("explain",)),
    Row(
        "why_this",
        lambda was, bench: (
            in_front("explain")(was, bench)
            and "▶Ledger" in bench.painted("explain")
            and bench.session.results.hit == was.session.results.hit
        ),
        become(lambda now: now._replace(view="passage")),
    ),
    Row(
        "miss",
        lambda _, bench: bench.session.results.sought == MISSED and explaining.whynot_of(bench.session),
        then=(f"@{MISSED}", "enter"),
    ),
    Row("open_file", lambda *_: _read("edited").endswith("docs/budget.md\n")),
    Row("mark_hit", lambda was, bench: bench.session.results.marked == was.session.results.hit),
    Row("compare", lambda _, bench: bench.session.pane == "explain" and "▶Compare" in bench.painted("explain")),
    Row(
        "open_funnel",
        of_session(lambda now: now.view == "funnel" and result_of(now, explaining.funnel_analysis(now), of=Funnel)),  # type: ignore[arg-type]
    ),
    Row("try_fix", lambda _, bench: len(explaining.fixes_in_force(bench.session)) == 1, sought, mouse=click_fix),
    Row("take_back", of_session(_budget_of), become(two_fixes)),
    Row(
        "take_all_back",
        of_session(
            lambda now: not now.weights.applied and now.context.budget_tokens == 2_000 and not now.context.pins
        ),
        become(two_fixes),
    ),
    # Weights.
    Row("choose_setting(1)", lambda _, bench: weighing.chosen_setting(bench.session) == "fusion", in_row(0)),
    Row("choose_setting(-1)", lambda _, bench: weighing.chosen_setting(bench.session) == "weight", in_row(1)),
    Row("change_setting(-5)", at_share(0.05), in_row(0), mouse=wheel(Slider, MouseScrollDown)),
    Row("change_setting(5)", at_share(0.15), in_row(0), mouse=wheel(Slider, MouseScrollUp)),
    Row("change_setting(-1)", at_share(0.09), in_row(0)),
    Row("change_setting(1)", at_share(0.11), in_row(0)),
    Row("undo_weights", config("fusion", "weighted"), moved(fusion="rrf")),
    Row(
        "redo_weights",
        config("fusion", "rrf"),
        in_turn(moved(fusion="rrf"), become(weighing.undo)),
    ),
    Row(
        "reset_weights",
        of_session(
            lambda now: (
                not now.weights.tweaks and now.results.answer and now.results.answer.plan.config == now.weights.saved
            )
        ),
        in_turn(moved(fusion="rrf"), moved(min_score=0.2)),
    ),
    Row("turn_beside", of_session(lambda now: now.weights.is_beside), moved(fusion="rrf")),
    Row("turn_curve", lambda _, bench: "mean nDCG@10" in " ".join(bench.painted("board").split())),
    Row(
        "take_best",  # every weight is as good for this question
        lambda _, bench: any("already among the best" in note.message for note in bench.app._notifications),
        curved,
    ),
    Row("pin_row('in')", of_session(lambda now: [pin.want for pin in tuning.pins_of(now)] == ["in"])),
    Row("pin_row('out')", of_session(lambda now: [pin.want for pin in tuning.pins_of(now)] == ["out"])),
    Row(
        "take_granting",
        lambda was, bench: (
            bench.session.weights.tweaks
            and "all targets met" in bench.painted("board")
            and was.session.results.hit not in bench.session.results.hits.values()
            and bench.session.results.hits[0].chunk.id != was.session.results.hit.chunk.id  # type: ignore[union-attr]
        ),
        wished,
    ),
    Row(
        "write_options",
        lambda _, bench: (
            bench.app.bench.editor.text == f"{RQL} OPTION fusion rrf" and not bench.session.weights.tweaks
        ),
        in_turn(asked(RQL), moved(fusion="rrf")),
    ),
    Row(
        "save_weights",
        lambda _, bench: not bench.session.weights.tweaks and load(bench.session.weights.toml).fusion == "rrf",  # type: ignore[arg-type]
        unsaved(fusion="rrf"),
        then=("y",),
    ),
    # Context.
    Row("budget(-100)", packed_for(1_900)),
    Row("budget(100)", packed_for(2_100)),
    Row("type_budget", packed_for(300), then=("@300", "enter")),
    Row("copy_context", lambda _, bench: bench.app.clipboard == packing.print_context(bench.session.context.packed)),  # type: ignore[arg-type]
    Row("scale_budget(-5)", packed_for(1_905), mouse=wheel(BudgetSlider, MouseScrollDown)),
    Row("scale_budget(5)", packed_for(2_100), mouse=wheel(BudgetSlider, MouseScrollUp)),
    Row("scale_budget(-1)", packed_for(1_980)),
    Row("scale_budget(1)", packed_for(2_020)),
    Row("details", of_session(lambda now: now.context.details)),
    Row("point_block(1)", at_block(lambda _: 1), mouse=click("packed", " 2 src/pack.py")),
    Row("point_block(-1)", at_block(lambda _: 1), become(lambda now: move_cursor(now, packing.LIST, 2, 9))),
    Row("point_first_block", at_block(lambda _: 0), become(lambda now: move_cursor(now, packing.LIST, 2, 9))),
    Row("point_last_block", at_block(lambda lines: lines - 1)),
    Row("scroll_context(1)", lambda _, bench: bench.app.bench.query_one(PackedList).scroll_offset.y > 0),
    Row(
        "scroll_context(-1)",
        lambda _, bench: bench.app.bench.query_one(PackedList).scroll_offset.y == 0,
        _scrolled,
    ),
    Row(
        "open_block",
        lambda _, bench: (
            bench.session.context.unfolded == packing.entries(bench.session)[0].chunk_ids[0]
            and bench.session.results.selected == 0
            and "Chunks are packed by score" in " ".join(bench.painted("packed").split())
        ),
        selected(4),
    ),
    Row(
        "pin_chunk",
        lambda _, bench: bench.session.context.packing.pins and "pinned" in bench.painted("packed"),  # type: ignore[union-attr]
    ),
    Row(
        "drop_chunk",
        lambda was, bench: (
            bench.session.context.packing.drops == (was.session.results.hit.chunk.id,)  # type: ignore[union-attr]
            and was.session.results.hit.chunk.id not in _packed(bench.session)  # type: ignore[union-attr]
        ),
    ),
    Row(
        "export_context",
        lambda _, bench: _read("text.txt") == packing.print_context(bench.session.context.packed),  # type: ignore[arg-type]
        then=("@text.txt", "enter"),
    ),
    Row(
        "reset_what_ifs",
        of_session(
            lambda now: (
                not now.context.pins
                and not now.context.drops
                and now.context.packing
                and not now.context.packing.drops
            )
        ),
        become(packing.toggle_drop),
    ),
    Row("turn('pack')", config("pack", "optimal")),
    # Judge.
    Row(
        "switch_grading",
        lambda was, bench: bench.session.judge.is_grading is not was.session.judge.is_grading,
    ),
    *(
        Row(f"grade({grade})", gives(grade), in_turn(selected(1), graded("f" if grade else "a")))
        for grade in (3, 2, 1, 0)
    ),
    Row("clear_grade", has_grade(None), in_turn(selected(1), graded("a"))),
    Row("undo_grade", has_grade(1), in_turn(selected(1), graded("d"), graded("a"))),
    Row(
        "point_query(1)",
        lambda _, bench: _pointed_line(bench, "judge").endswith("q2") or "▶  q2" in bench.painted("judge"),
        measured,
        mouse=click("judge", " q2 "),
    ),
    Row(
        "point_query(-1)",
        lambda _, bench: "▶● q1" in bench.painted("judge"),
        in_turn(measured, become(lambda now: judging.step_line(now, 1))),
    ),
    Row("page_query(1)", lambda _, bench: _pointed_line(bench, "judge").startswith("▶  q"), measured),
    Row(
        "page_query(-1)",
        lambda _, bench: "▶● q1" in bench.painted("judge"),
        in_turn(measured, become(lambda now: judging.step_line(now, 2))),
    ),
    Row(
        "point_first_query",
        lambda _, bench: "▶● q1" in bench.painted("judge"),
        in_turn(measured, become(lambda now: judging.step_line(now, 2))),
    ),
    Row("point_last_query", lambda _, bench: "▶  q2" in bench.painted("judge"), measured),
    Row("enter_missed", lambda _, bench: "▶ 1 notes/cafe.txt" in bench.painted("judge"), measured),
    Row(
        "leave_missed",
        lambda _, bench: "▶● q1" in bench.painted("judge") and "▶ 1 " not in bench.painted("judge"),
        in_turn(measured, become(lambda now: judging.choose_side(now, missed=True))),
    ),
    Row(
        "take_query",
        lambda _, bench: (
            bench.session.results.answer.plan.text == bench.app.bench.editor.text == SET["q2"][0]  # type: ignore[union-attr]
            and bench.session.pane == "judge"
        ),
        in_turn(measured, become(lambda now: judging.step_line(now, 1))),
        mouse=click("judge", " q2 ", times=2),
    ),
    Row("next_measure", lambda _, bench: "MRR" in bench.painted("judge"), measured),
    Row(
        "import_judgements",
        lambda was, bench: len(_judged(bench.session)) == len(_judged(was.session)) + 1 and _idle(bench),
        another_query,
        then=("@in.csv", "enter"),
    ),
    Row(
        "export_judgements",
        lambda *_: "q2\tdocs/files.md\t2" in _read("out.tsv"),
        measured,
        then=("@out.tsv", "enter"),
    ),
    # Store.
    Row(
        "add_folder",
        lambda was, bench: bench.session.store.info.documents == was.documents + 1 and _run_is_over(bench.session),  # type: ignore[union-attr]
        _more,
        then=("@more", "enter"),
    ),
    Row("point_line(1)", line_chosen(lambda _: 1), listing),
    Row("point_line(-1)", line_chosen(lambda _: 1), at_line(2)),
    Row("point_first", line_chosen(lambda _: 0), at_line(2)),
    Row("point_last", line_chosen(lambda rows: rows - 1), listing),
    Row("open_skip", lambda *_: "docs/bad0.md" in _read("edited"), listing, then=("y",)),
    Row(
        "sync",
        lambda was, bench: bench.session.store.info.documents == was.documents + 1 and _run_is_over(bench.session),  # type: ignore[union-attr]
        new_file,
    ),
    Row(
        "watch",
        lambda was, bench: bench.session.store.watching and bench.session.store.info.documents == was.documents + 1,  # type: ignore[union-attr]
        new_file,
    ),
    Row("next_store_view", of_session(lambda now: store_pane.view_of(now) == "checks")),
    Row("turn_store(-1)", of_session(lambda now: store_pane.view_of(now) == "documents")),
    Row("turn_store(1)", of_session(lambda now: store_pane.view_of(now) == "checks")),
    Row(
        "check",
        of_session(
            lambda now: store_pane.view_of(now) == "checks" and all(check for _, check in store_pane.checks(now))
        ),
    ),
    Row(
        "open_line",
        lambda _, bench: (
            _idle(bench) and (check := store_pane.chosen_check(bench.session)) and check["severity"] == "ok"
        ),
        broken,
        then=("y",),
    ),
    Row(
        "compact",
        lambda was, bench: (
            _idle(bench) and bench.session.store.info.tombstones == 0 < was.session.store.info.tombstones
        ),  # type: ignore[union-attr]
        _removed,
        then=("y",),
    ),
    Row(
        "remove",
        lambda was, bench: _idle(bench) and bench.session.store.info.documents == was.documents - 1,  # type: ignore[union-attr]
        one_more,
        then=("@one/[a-z]*.txt", "enter", "question", "y"),
    ),
    Row(
        "reembed",
        lambda _, bench: store_pane.view_of(bench.session) == "embedder" and "in use" in bench.painted("store"),
    ),
    # Screen.
    Row(
        "command_line",
        lambda _, bench: bench.app.output.ran is not None and bench.app.output.ran.code == 0,
        then=("@embedders", "enter"),
    ),
    Row("jump", in_front("context"), then=("jump to the context",)),
    Row("widen(5)", wider("right", 1), mouse=drag(-12, 0)),
    Row("widen(-5)", wider("right", -1), _wide, mouse=drag(12, 0)),
    Row("heighten(5)", wider("below", 1), mouse=drag(0, -5)),
    Row("heighten(-5)", wider("below", -1), mouse=drag(0, 5)),
    Row("reset_layout", wider("right", -1), _wide),
    Row("choose_theme", lambda _, bench: bench.app.theme == "light" and _idle(bench), then=("down", "enter")),
    Row(
        "export_picture",
        lambda *_: "docs/budget.md:1-7" in _read("shot.txt"),
        then=("@shot.txt", "enter"),
    ),
    # Help.
    Row("command_palette", of_session(lambda now: now.zoomed), then=("@whole screen", "enter")),
    Row(
        "suspend_program",
        lambda _, bench: any("Cannot suspend" in note.message for note in bench.app._notifications),
        panes=("results",),
    ),
    Row(
        "help",
        lambda was, bench: dialog(HelpScreen)(was, bench) and "Select the next result" in bench.painted("keys"),
        mouse=click_bar("header", "? help"),
    ),
)
SLOW: tuple[Row, ...] = (
    Row("cancel", of_session(lambda now: now.store.run and now.store.run.ended == "cancelled")),
    Row("hold", lambda _, bench: bench.session.store.run.hold == "held" and "PAUSED" in bench.painted("ingest")),  # type: ignore[union-attr]
    Row("repeat_run", of_session(lambda now: now.store.run and now.store.run.ended == "done")),
)
"""Actions that need a running ingest, or a cancelled one."""
LEAVING: tuple[Row, ...] = (Row("leave", lambda _, bench: bench.app.return_code == 0),)
"""Actions that end the workbench."""
BY_ID = {action.id: action for action in TABLE.actions}


# Running the table.


def panes_of(row: Row) -> tuple[Pane, ...]:
    """Return the panes where a row is pressed."""
    own: tuple[Pane, ...] = tuple(pane for pane in BY_ID[row.action].panes if pane != "query")
    return row.panes or own or ("results",)


class Way(NamedTuple):
    """A way to run an action."""

    row: Row
    pane: Pane
    name: str
    do: Step


def pressed(key: str) -> Step:
    return lambda bench: bench.press(key)


def ways(row: Row) -> Iterator[Way]:
    """Yield every key in the first pane, the first key in the others, the label in the footer, and the mouse."""
    action, (first, *others) = BY_ID[row.action], panes_of(row)
    for key in action.keys:
        yield Way(row, first, key, pressed(key))
    for pane in others if action.keys else ():
        yield Way(row, pane, action.keys[0], pressed(action.keys[0]))
    if not action.keys:
        yield Way(row, first, "palette", lambda bench: bench.app.perform(action.id))
    elif action.label:
        label = f"{key_name(action.keys[0])} {action.label}"
        yield Way(row, first, f"footer: {label}", click_bar("footer", f"  {label}"))
    if row.mouse is not None:
        yield Way(row, first, "mouse", row.mouse)


async def start_again(bench: Driver, base: Session) -> None:
    """Restore the state after the first answer. The store may have changed."""
    app, now = bench.app, bench.session
    while app.screen is not app.bench:
        app.pop_screen()
    if now.store.watching:
        ingest.watch(app)
    app._clipboard = ""
    app._notifications.clear()
    if app.theme != "dark":
        shell_handlers.take_theme(app, "dark")
    shell_handlers.reset_layout(app)
    for left in (
        *Path().glob("*.rql"),
        *Path().glob("*.txt"),
        *Path().glob("*.tsv"),
        *Path().glob("*.csv"),
        Path("paged"),
        Path("edited"),
        *Path("docs").glob("bad*"),
    ):
        left.unlink(missing_ok=True)
    app.output = type(app.output)()
    store = base.store._replace(info=now.store.info, tasks_done=now.store.tasks_done)
    query = base.query._replace(generation=now.query.generation + 1, question=now.query.question + 1, busy=True)
    judge = base.judge._replace(regrades=now.judge.regrades)
    app.become(base._replace(query=query, judge=judge, store=store, analyses=now.analyses))
    app.bench.editor.text = base.query.text
    app.bench.give_focus(base.pane)
    app.bench.query_one(PackedList).scroll_to(y=0, animate=False, immediate=True)
    await settle(bench)


async def follow(bench: Driver, keys: Sequence[str]) -> None:
    """Press the keys for the dialog."""
    if not keys:
        return
    await bench.until(lambda _: bench.app.screen is not bench.app.bench)
    for key in keys:
        if key == "jump to the context":
            await jump_to_context(bench)
        elif key == "question":
            await bench.questioned()
        elif key.startswith("@"):
            await bench.until(lambda _: bench.app.focused is not None)
            await bench.write(key[1:])
            await bench.pilot.pause(0.1)
        else:
            await bench.press(key)


async def wrong_with(bench: Driver, base: Session, way: Way) -> str:
    """Return what a way to run an action fails to do, or "" if it has its effect."""
    try:
        await work_through(bench, base, way)
    except (AssertionError, pytest.fail.Exception) as failure:
        return f"{way.row.action} by {way.name} in {way.pane}: {str(failure).splitlines()[0]:.60}"
    return ""


async def work_through(bench: Driver, base: Session, way: Way) -> None:
    """Check that the effect is missing before the action and there after it."""
    await start_again(bench, base)
    if way.pane != bench.session.pane:
        shell_handlers.focus_pane(bench.app, way.pane)
    if way.row.before is not None:
        await way.row.before(bench)
    await bench.pilot.pause()
    documents = bench.session.store.info.documents if bench.session.store.info else 0
    was = Was(bench.session, bench.app.bench.body.measure(), documents)
    assert BY_ID[way.row.action].when.holds(was.session), "not possible"
    assert not way.row.holds(was, bench), "it holds before"
    await way.do(bench)
    await follow(bench, way.row.then)
    await bench.until(lambda _: way.row.holds(was, bench))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with judged queries."""
    store = build_store(tmp_path_factory.mktemp("template"))
    with Recall.open(str(store)) as recall:
        texts = {query: text for query, (text, _) in SET.items()}
        grades = [(query, path, grade) for query, (_, of) in SET.items() for path, grade in of.items()]
        put(recall.store, texts, [Judgement(query, Spot(path), grade) for query, path, grade in grades])
    return store


@pytest.fixture
def place(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store in the current folder, with an editor and a pager that leave a trace there."""
    shutil.copytree(template.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "editor": f'printf "edited words" > "$1"; echo "$1" > {tmp_path}/edited',
        "less": f'for last; do :; done; cat "$last" > {tmp_path}/paged',
    }.items():
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", str(tmp_path / "bin" / "editor"))
    monkeypatch.setenv("PAGER", str(tmp_path / "bin" / "less"))
    monkeypatch.setattr(Workbench, "suspend", lambda _app: contextlib.nullcontext())
    return tmp_path / template.name


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
async def test_every_action_works_by_key_and_mouse(place: Path, group: str) -> None:
    ids = [action.id for action in GROUPS[group]]
    async with workbench(place, size=SIZE) as bench:
        await bench.ask()
        await bench.press("escape")
        await bench.until(lambda now: judging.judged_queries(now) is not None)
        await settle(bench)
        base = bench.session
        wrong = [await wrong_with(bench, base, way) for row in ROWS if row.action in ids for way in ways(row)]

    assert not any(wrong), "\n".join(filter(None, wrong))


async def test_keys_pause_cancel_and_repeat_a_run(tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(60):
        (many / f"n{number:02}.txt").write_text(f"Note {number} has a budget.\n", encoding="utf-8")
    with provider_server(768) as server:
        Recall.init(str(tmp_path), embedding="ollama", settings=(f"embedding_url={server.url}",))
        server.gate.clear()
        async with workbench(tmp_path / "recall.db", size=SIZE) as bench:
            await bench.until(lambda now: now.store.info)
            await bench.press("escape")
            ingest._folder_typed(bench.app, str(many))
            await bench.until(lambda _: server.seen)
            await bench.press("7")
            for row in sorted(SLOW, key=lambda row: ("hold", "cancel", "repeat_run").index(row.action)):
                was = Was(bench.session, bench.app.bench.body.measure(), 0)
                assert BY_ID[row.action].when.holds(was.session), row.action
                assert not row.holds(was, bench), row.action

                await bench.press(BY_ID[row.action].keys[0])
                server.gate.set()

                await bench.until(lambda _, row=row, was=was: row.holds(was, bench))


@pytest.mark.parametrize("key", BY_ID["leave"].keys)
async def test_the_quit_keys_end_the_workbench(place: Path, key: str) -> None:
    (row,) = LEAVING
    async with workbench(place, size=SIZE) as bench:
        await bench.until(lambda now: now.store.info)
        await bench.press("escape")
        was = Was(bench.session, bench.app.bench.body.measure(), 0)
        assert not row.holds(was, bench)

        await bench.press(key)

    assert row.holds(was, bench)


@pytest.mark.slow
async def test_the_palette_runs_an_action(place: Path) -> None:
    async with workbench(place) as bench:
        await bench.ask()
        await bench.press("escape")
        for words, holds in (
            ("Lower the budget by 100 tokens", packed_for(1_900)),
            ("Let the pane fill the screen", of_session(lambda now: now.zoomed)),
            (
                "Show how many rows each step leaves",
                of_session(lambda now: (now.pane, now.view) == ("explain", "funnel")),
            ),
        ):
            was = Was(bench.session, bench.app.bench.body.measure(), 0)
            assert not holds(was, bench), words
            await bench.press("ctrl+p")
            await bench.until(lambda _: isinstance(bench.app.screen, CommandPalette))
            await bench.write(words)
            await bench.found(words)

            await bench.press("enter")

            await bench.until(lambda _, holds=holds, was=was: holds(was, bench))


def test_every_action_has_a_test_row() -> None:
    rows = [row.action for row in (*ROWS, *SLOW, *LEAVING)]

    assert sorted(rows) == sorted(BY_ID)
