"""The explain pane: its tabs, missing targets, the applied fixes, and the equivalent commands."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Input

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.errors import UsageError
from recall_core.types import Root
from recall_tui.panes.explain import BAR_CELLS, NAMES, TITLE_AT, ExplainPane, pieces
from recall_tui.screens.target import TargetScreen
from recall_tui.state import explaining, weighing
from recall_tui.state.explaining import (
    FIX_CURSOR,
    Comparison,
    DocumentPassage,
    Funnel,
    Ledger,
    Missing,
    Paths,
    chosen_remedy,
    whynot_of,
)
from recall_tui.state.packing import chosen_entry
from recall_tui.state.records import Analysis, Moved, Tweaks
from recall_tui.state.session import VIEWS, Session, View, move_cursor, result_of, select_row, set_budget
from recall_tui.widgets.draw import UNICODE, VISIBLE
from recall_tui.widgets.lines import PointedList
from tests.examples import mostly_nightly
from tests.workbench_driver import Driver, workbench

RQL = "SELECT * FROM chunk USING lexical('token budget'), semantic('token budget') LIMIT 2"

SMALL = (80, 24)
"""A terminal with the least to draw: one pane below the results."""
ANALYSES: dict[View, tuple[Callable[[Session], Analysis | None], type[Any]]] = {
    "ledger": (explaining.ledger_analysis, Ledger),
    "passage": (explaining.passage_analysis, DocumentPassage),
    "whynot": (explaining.whynot_analysis, Missing),
    "funnel": (explaining.funnel_analysis, Funnel),
    "compare": (explaining.compare_analysis, Comparison),
}


def result(session: Session, view: View) -> Any:
    """Return the result of a tab, or None."""
    analysis_of, of = ANALYSES[view]
    analysis = analysis_of(session)
    made = result_of(session, analysis, of=of) if analysis is not None else None
    return made if isinstance(made, of) else None


async def opened(bench: Driver, text: str = "token budget") -> None:
    """Ask, leave the field, and wait for the ledger of the first hit."""
    await bench.ask(text)
    await bench.press("escape")
    await bench.until(lambda now: result(now, "ledger"))


async def missed(bench: Driver, target: str) -> None:
    """Search for a missing target, and wait for its account."""
    bench.app.become(explaining.seek_target(bench.session, target))
    bench.app.bench.give_focus("explain")
    await bench.until(lambda now: now.results.sought == target and whynot_of(now))


def title(bench: Driver) -> str:
    """Return the title as read."""
    return Content.from_markup(bench.painted("explain").splitlines()[0]).plain


async def choose(bench: Driver, kind: str) -> None:
    """Move the cursor to the first fix of a kind."""
    whynot = whynot_of(bench.session)
    assert whynot is not None
    place = next(at for at, remedy in enumerate(whynot.remedies) if remedy.kind == kind)
    bench.app.become(move_cursor(bench.session, FIX_CURSOR, place, len(whynot.remedies)))
    await bench.until(lambda now: (remedy := chosen_remedy(now)) is not None and remedy.kind == kind)


def printed_by(bench: Driver) -> tuple[int, dict[str, Any]]:
    """Return the response and the exit code of the copied command."""
    typed = shlex.split(bench.app.clipboard)
    assert typed[0] == "recall"
    streams = Streams(io.StringIO(), out := io.StringIO(), io.StringIO())
    code = cli.main(["--json", *typed[1:]], streams=streams)
    return code, json.loads(out.getvalue())


@pytest.fixture(scope="session")
def chunked_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store whose documents have many overlapping chunks."""
    folder = tmp_path_factory.mktemp("chunked")
    lines = [f"def step{number}(budget):  # step {number}\n    return 'word{number}'" for number in range(1, 41)]
    (folder / "steps.py").write_text("\n".join(lines), encoding="utf-8")
    (folder / "other.txt").write_text("The budget of another text.\n", encoding="utf-8")
    Recall.init(str(folder), settings=("chunk_tokens=40", "overlap_tokens=10"))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "steps.py"), str(folder / "other.txt")], Root("", parser="text")):
            pass
        return Path(recall.store.info().path)


def said(bench: Driver) -> str:
    """Return the lines of the pane as one text."""
    return " ".join(" ".join(bench.app.bench.query_one(ExplainPane).lines).split())


async def select(bench: Driver, row: int) -> None:
    """Select a row of the results, and wait for its ledger."""
    bench.app.become(select_row(bench.session, row))
    await bench.until(lambda now: now.results.selected == row and result(now, "ledger"))


async def budget(bench: Driver, tokens: int) -> None:
    """Set the budget, and wait for its context."""
    bench.app.become(set_budget(bench.session, tokens))
    await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == tokens)


# The tabs.


async def click_every_tab(bench: Driver) -> None:
    """Open each tab by a click on its name."""
    for view in reversed(VIEWS):
        pane = bench.app.bench.query_one(ExplainPane)
        at = TITLE_AT
        for text, named in pieces(bench.session, pane.outer_size.width - 2 * TITLE_AT, pane.glyphs):
            if named == view:
                break
            at += cell_len(text)

        await bench.pilot.click(ExplainPane, offset=(at, 0))

        await bench.until(lambda now, view=view: (now.view, now.pane) == (view, "explain"))  # type: ignore[misc]
        assert f"▶{NAMES[view]}" in title(bench)


async def test_keys_and_clicks_switch_tabs_with_full_names(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("3")
        assert title(bench) == "3 Explain #1  ▶Ledger · Passage · Why not · Funnel · Compare"
        await bench.press("right", "right")
        assert (bench.session.view, "▶Why not" in title(bench)) == ("whynot", True)
        await bench.press("left", "left", "left")
        assert (bench.session.view, "▶Compare" in title(bench)) == ("compare", True)
        await bench.press("down", "j", "pagedown", "space", "end", "end", "left")
        await bench.until(lambda now: now.view == "funnel")
        assert bench.session.results.selected == 0, "keys leave the selection where there is nothing to scroll"

        await bench.pilot.resize_terminal(80, 24)
        await click_every_tab(bench)
        assert bench.session.view == "ledger"
        await bench.press("z", "J", "J")
        await bench.until(lambda now: now.results.selected == 2 and result(now, "ledger"))
        assert title(bench).startswith("3 Explain #3")
        await bench.press("K")
        await bench.until(lambda now: now.results.selected == 1 and result(now, "ledger"))
        assert title(bench).startswith("3 Explain #2")
        assert (bench.session.pane, bench.session.zoomed) == ("explain", True)

        await bench.press("z")
        await bench.pilot.resize_terminal(60, 20)
        await bench.until(lambda _: bench.app.bench.query_one(ExplainPane).outer_size.width <= 60)
        assert all(name in title(bench) for name in NAMES.values())

        await bench.pilot.resize_terminal(100, 24)
        bench.app.bench.editor.text = "SELECT * FORM"
        await bench.until(lambda now: now.query.trouble)
        pane = bench.app.screen.query_one(ExplainPane)
        border = pane.render_lines(Region(0, 0, pane.outer_size.width, 1))[0].text
        assert "3 stale" in border
        assert all(name in border for name in NAMES.values())


@pytest.mark.slow
@pytest.mark.parametrize("size", [(100, 40), (80, 24), (120, 40)])
async def test_clicking_the_name_of_a_tab_opens_it(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await opened(bench)

        await click_every_tab(bench)


async def test_keys_scroll_the_open_tab_and_keep_the_selection(chunked_store: Path) -> None:
    async with workbench(chunked_store) as bench:
        await opened(bench, "step budget")
        await bench.press("3", "right")
        await bench.until(lambda now: result(now, "passage"))
        pane = bench.app.bench.query_one(ExplainPane)
        end, page = pane.max_scroll_y, pane.size.height - 1
        assert end > 2 * page

        for keys, place in (
            (("j", "down"), 2),
            (("k", "up"), 0),
            (("pagedown", "space"), 2 * page),
            (("pageup",), page),
            (("end",), end),
            (("home",), 0),
        ):
            await bench.press(*keys)
            await bench.until(lambda _, place=place: pane.scroll_offset.y == place)
        assert bench.session.results.selected == 0


# The ledger.


async def test_the_ledger_follows_the_selection_and_explains_its_points(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        total = next(line for line in bench.painted("explain").splitlines() if line.startswith("total"))
        hit = bench.session.results.hit
        assert hit is not None
        assert hit.score == sum(part.points for part in hit.parts)
        assert "✓" in total, "the total is there before its leaves"
        assert f"{hit.score:.3f}" in total

        await bench.press("escape")
        await bench.until(lambda now: result(now, "ledger"))
        ledger = bench.painted("explain")
        assert re.search(r"token +idf 2\.29 · in 3 chunks · 3 times +0\.751", ledger)
        assert "maximum possible BM25 here: 5.034" in ledger
        assert re.search(r"budget 0\.032 · .*more +-?[<>.\d]+", ledger)
        first = bench.app.bench.query_one(ExplainPane).lines[0]
        assert first == "First: best match of words and nearest in meaning, most by token (3"

        await bench.press("j")
        await bench.until(lambda now: now.results.selected == 1 and result(now, "ledger"))
        assert title(bench).startswith("3 Explain #2")
        assert said(bench).startswith("Second: 2nd by words")

        await bench.press("j", "3", "z")
        await bench.until(lambda now: now.results.selected == 2 and result(now, "ledger"))
        text = " ".join(bench.painted("explain").split())
        assert "✓ parts sum to score" in text
        assert "falls below #4 where lexical < 0.168" in text
        assert "below #4 notes/diary.txt, follows by 0.496" in text
        assert "✓ first 8 rows keep their order for lexical" in text

        bench.app.become(explaining.turn_to(select_row(bench.session, 0), "passage"))
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))
        lines = result(bench.session, "passage").lines
        assert lines[-1].text == "Headers and separators count against the budget too."
        assert lines[-1].number == bench.session.results.hit.chunk.line_end  # type: ignore[union-attr]


@pytest.mark.slow
async def test_the_ledger_explains_special_questions(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, "SELECT * FROM chunk USING lexical('token budget')")
        assert "points: normalized × weight / 0.90, the sum of weights" in said(bench)

        await opened(bench, "SELECT * FROM chunk USING lexical('token budget') OPTION fusion rrf")
        assert re.search(r"^\W*rank 1 +1\.000", bench.painted("explain"), re.MULTILINE), "a rank is named once"

        bench.app.bench.editor.text = "SELECT * FROM chunk USING lexical('zyzzyva')"
        await bench.until(lambda now: now.results.answer and now.results.answer.total == 0 and not now.query.busy)
        assert "Nothing was found. m explains why a document is missing." in bench.painted("explain")

        await opened(bench, RQL)
        assert "the sum of weights" not in said(bench)
        await select(bench, 1)
        await bench.press("3", "Y")
        _, printed = printed_by(bench)
        assert printed["explanation"] == json.loads(json.dumps(result(bench.session, "ledger").view))
        assert printed["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]

        await opened(bench, "token budget scoring files")
        assert re.search(r" [1-9]\d* more +-?[<>.\d]+", bench.painted("explain"))
        assert not re.search(r"feature|collision", bench.painted("explain"))
        await bench.press("3", "z")
        await bench.until(lambda _: re.search(r"scoring +feature", said(bench)))
        assert not re.search(r"\d more ", said(bench))


async def test_the_ledger_command_finds_a_row_added_by_recall(chunked_store: Path) -> None:
    async with workbench(chunked_store, size=SMALL) as bench:
        await opened(bench, "step30 word30")
        bench.app.become(weighing.move_settings(bench.session, {"min_score": 0.3, "sparse_distance_ceiling": 2.0}))
        await bench.until(
            lambda now: now.results.answer and now.results.answer.recall and now.results.answer.recall.given
        )
        await bench.press("end", "3")
        await bench.until(lambda now: now.results.hit and now.results.hit.injection and result(now, "ledger"))
        lines = " ".join(bench.app.bench.query_one(ExplainPane).lines)
        assert "sparse-document recall added it, as it is short and near, at distance" in lines

        await bench.press("Y")
        _, printed = printed_by(bench)

        assert printed["explanation"] == json.loads(json.dumps(result(bench.session, "ledger").view))
        assert printed["explanation"]["chunk"]["recall"]["recall_injected"] is True


# The passage.


async def test_the_passage_shows_the_document_around_the_chunk(chunked_store: Path) -> None:
    async with workbench(chunked_store, size=(120, 50)) as bench:
        await opened(bench, "step30 word30")
        await bench.press("3", "right", "z")
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))
        passage, chunk = result(bench.session, "passage"), bench.session.results.hit.chunk  # type: ignore[union-attr]
        painted = bench.painted("explain")
        assert f"▶ chunk {chunk.id[:12]} {chunk.line_start}-{chunk.line_end}" in painted
        assert len(passage.chunks) > 3
        marks = dict(line.split()[:2] for line in painted.splitlines() if re.match(r" *\d+ [█▓▒│]", line))
        assert (marks[str(chunk.line_start)], marks[str(chunk.line_start + 4)]) == ("▓", "█")
        assert marks[str(chunk.line_start - 1)] == "│"
        assert bench.app.bench.query_one(ExplainPane).scroll_offset.y > 0

        await bench.press("Y")
        _, printed = printed_by(bench)
        assert printed["found"]["text"] == "\n".join(line.text for line in passage.lines)

        await budget(bench, 30)
        cut = bench.session.context.packed.blocks[0]  # type: ignore[union-attr]
        assert cut.truncated
        assert cut.chunk_ids == (chunk.id,)
        await bench.until(lambda _: "the context is cut here" in bench.painted("explain"))
        lines = bench.painted("explain").splitlines()
        at = next(row for row, line in enumerate(lines) if "the context is cut here" in line)
        before = [line for line in lines[:at] if re.match(r" *\d+ [█▓] ", line)][-1]
        assert re.split(r"[█▓] ", before)[1].split() == cut.text.rstrip().splitlines()[-1].split()

        await bench.ask("budgets")
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))
        lines = result(bench.session, "passage").lines
        marked = {(mark.kind, line.text[mark.start : mark.end]) for line in lines for mark in line.marks}
        assert {("term", "budget"), ("keyword", "def"), ("comment", "# step 1")} <= marked


def program(folder: Path, name: str) -> str:
    """Return a program that saves its arguments, and the content of the last one, in a folder."""
    script = folder / name
    script.write_text(f'#!/bin/sh\necho "$@" > {folder}/words\nfor last; do :; done\ncat "$last" > {folder}/text\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


async def test_the_editor_opens_the_file_at_the_chosen_row(
    chunked_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(chunked_store, size=SMALL) as bench:
        await opened(bench, "step30")
        await bench.until(lambda now: now.context.packed)
        line = bench.session.results.hit.chunk.line_start  # type: ignore[union-attr]
        assert line > 1

        for visual, key, words in (
            ("cat", "2", f"steps.py:{line} cannot be opened: this terminal"),
            ("no-such-editor", "3", "no-such-editor"),
        ):
            monkeypatch.setenv("VISUAL", visual)
            await bench.press(key, "e")
            await bench.until(
                lambda _, words=words: any(words in note.message for note in bench.app._notifications)  # type: ignore[misc]
            )

        monkeypatch.setenv("VISUAL", program(tmp_path, "vim"))
        monkeypatch.setattr(bench.app, "suspend", contextlib.nullcontext)
        for key in ("2", "3", "5"):
            (tmp_path / "text").unlink(missing_ok=True)
            await bench.press(key, "e")
            await bench.until(lambda _: (tmp_path / "text").exists())
            assert (tmp_path / "words").read_text() == f"+{line} {chunked_store.parent / 'steps.py'}\n", key


async def test_the_pager_shows_records_and_lost_files(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.jsonl").write_text('{"text": "A quokka."}\n{"text": "A numbat."}\n', encoding="utf-8")
    with Recall.open(str(own_store)) as recall:
        list(recall.add([str(tmp_path / "notes.jsonl")], Root("", parser="jsonl")))
    monkeypatch.setenv("PAGER", program(tmp_path, "less"))
    async with workbench(own_store, size=SMALL) as bench:
        monkeypatch.setattr(bench.app, "suspend", contextlib.nullcontext)
        await opened(bench, "numbat")
        await bench.press("e")
        await bench.until(lambda _: (tmp_path / "text").exists())
        assert (tmp_path / "text").read_text().strip() == "A numbat."

        (tmp_path / "text").unlink()
        await opened(bench)
        file = own_store.parent / bench.session.results.hit.doc.path  # type: ignore[union-attr]
        text = file.read_text(encoding="utf-8")
        file.unlink()
        await bench.press("e")
        await bench.until(lambda _: (tmp_path / "text").exists())
        assert (tmp_path / "text").read_text(encoding="utf-8") == text


# Missing targets.


async def to_target(bench: Driver) -> TargetScreen:
    """Open the prompt for a missing document."""
    await bench.press("m")
    await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
    assert isinstance(bench.app.screen, TargetScreen)
    return bench.app.screen


async def test_a_target_is_typed_completed_and_cancelled(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await to_target(bench)
        await bench.press("x", "escape")
        await bench.until(lambda now: now.results.picking is None)
        assert (bench.session.results.sought, bench.session.view) == ("", "ledger")

        screen = await to_target(bench)
        await bench.type("ILES doc")
        await bench.until(lambda _: screen.query_one(PointedList).option_count == 2)
        assert screen.query_one(PointedList).highlighted == 1
        await bench.press("tab")
        assert screen.query_one(Input).value == "docs/files.md"
        await bench.type(":2-3")
        await bench.until(lambda now: result_of(now, Analysis("paths", "docs/files.md:2-3"), of=Paths))
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought == "docs/files.md:2-3" and whynot_of(now))
        assert (bench.session.view, bench.session.pane, bench.session.results.picking) == ("whynot", "explain", None)
        assert "docs/files.md:" in bench.painted("explain")

        screen = await to_target(bench)
        screen.query_one(Input).value = ""
        await bench.until(lambda _: "docs/budget.md" in bench.painted("targets"))
        screen.query_one(Input).value = "manual/part07.txt"
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought != "docs/files.md:2-3")
        assert bench.session.results.sought == "manual/part07.txt", "not a path found for less of it"

        screen = await to_target(bench)
        screen.query_one(Input).value = '"nowhere at all"'
        await bench.press("enter")
        await bench.until(lambda _: "The store contains nothing with the text" in said(bench))


async def test_the_first_failing_stage_is_open_and_others_folded(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, "SELECT * FROM chunk USING lexical('token') FILTER doc.path GLOB 'docs/*' LIMIT 9")

        await missed(bench, "src/pack.py")

        lines = [line.rstrip() for line in bench.painted("explain").splitlines()]
        assert lines[1] == "✗ not in the top 9: fails doc.path GLOB 'docs/*' (value: src/pack.py)"
        assert lines[2].strip().startswith("src/pack.py:2  not ranked")
        assert lines[4] == "▶ search without doc.path GLOB 'docs/*' · rank 2 of 3 with it"
        opened_at = next(row for row, line in enumerate(lines) if line.startswith("✗  filter"))
        assert lines[opened_at].endswith("fails doc.path GLOB 'docs/*' (value: src/pack.py)")
        assert lines[opened_at + 1].startswith("passed: identify, ingested, fresh, live, indexed, lexical")


async def test_w_explains_a_result_and_a_chunk_left_out(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await opened(bench)
        await bench.press("j", "w", "w")
        await bench.until(whynot_of)
        assert bench.session.results.sought == bench.session.results.hit.chunk.id[:12]  # type: ignore[union-attr]
        assert "✓ in the results and in the context" in bench.painted("explain")

        await bench.press("5")
        await budget(bench, 62)
        await bench.press("end")
        entry = chosen_entry(bench.session)
        assert entry is not None
        assert entry.kind == "omission"
        await bench.press("w")

        await bench.until(lambda now: now.results.sought == entry.chunk_ids[0][:12] and whynot_of(now))
        assert bench.app.bench.query_one(ExplainPane).lines[0].startswith("✗ not in the context")


class Case(NamedTuple):
    """A question with a missing target, the keys that prepare it, and the fix to apply."""

    text: str
    target: str
    kind: str
    tweaks: Tweaks = MappingProxyType({})
    budget: str = ""
    filter: str = ""


SELECT = "SELECT * FROM chunk USING lexical('token budget'), semantic('token budget')"
CASES = {
    "budget": Case("token budget", "notes/diary.txt", "budget", budget="62"),
    "a word": Case("token budget", "notes/diary.txt", "name", budget="62"),
    "a pin": Case("token budget", "notes/diary.txt", "pin", budget="62"),
    "filter": Case(f"{SELECT} FILTER doc.path GLOB 'docs/*' LIMIT 4", "src/pack.py", "filter"),
    "LIMIT": Case(f"{SELECT} LIMIT 2", "notes/diary.txt", "k"),
    "OFFSET": Case(f"{SELECT} LIMIT 5 OFFSET 2", "docs/budget.md", "offset"),
    "weight": Case(f"{SELECT} LIMIT 3", "notes/diary.txt", "weight"),
    "weight in an option": Case(f"{SELECT} LIMIT 3 OPTION vector_weight 0.2", "notes/diary.txt", "weight"),
    "match": Case(
        "SELECT * FROM chunk USING lexical('token household')", "notes/diary.txt", "match", {"match": "all"}
    ),
    "min_score": Case("token budget", "notes/diary.txt", "min_score", {"min_score": 0.5}),
    "filter of words": Case("token budget", "src/pack.py", "filter", filter="doc.path GLOB 'docs/*'"),
}


def is_there(session: Session, target: str) -> bool:
    """Return True if the rows, or for words the context, contain the target."""
    if (
        any(hit.doc.path == target for hit in session.results.hits.values())
        and session.results.answer
        and session.results.answer.plan.rql
    ):
        return True
    return (
        any(block.doc.path == target and not block.truncated for block in session.context.packed.blocks)
        if session.context.packed
        else False
    )


async def prepared(bench: Driver, case: Case) -> None:
    """Ask the question of a case with its settings, budget and filter, and no other changes."""
    tokens = int(case.budget or 2_000)
    now = weighing.set_moves(bench.session, Moved(case.tweaks, None))
    bench.app.become(
        now._replace(
            query=now.query._replace(filter=case.filter),
            context=now.context._replace(budget_tokens=tokens, pins=()),
            results=now.results._replace(sought=""),
            view="ledger",
        )
    )
    bench.app.bench.editor.text = case.text
    bench.app.ask()
    await bench.until(
        lambda now: (
            not now.query.busy
            and now.results.answer
            and now.results.answer.plan.text == case.text
            and now.results.answered == now.query.question
            and (not case.filter or now.results.answer.plan.filters == case.filter)
            and now.results.answer.plan.config == weighing.current(now)
            and now.context.packed
            and now.context.packed.budget_tokens == tokens
        )
    )


def is_whole(session: Session, whynot: Missing) -> bool:
    """Return True if the account finds the target. It does not count pins."""
    return whynot.view["present"] or bool(session.context.pins) or whynot.in_list


async def try_and_take_back(bench: Driver, case: Case) -> None:
    """Apply the fix of a case: it brings the target in, and u undoes it."""
    await prepared(bench, case)
    await bench.press("escape")
    before = bench.session
    await missed(bench, case.target)
    assert not is_there(bench.session, case.target), case

    await choose(bench, case.kind)
    await bench.press("enter")

    await bench.until(
        lambda now: now.weights.applied and not now.query.busy and (made := whynot_of(now)) and is_whole(now, made)
    )
    await bench.until(lambda now: is_there(now, case.target))
    assert bench.app.bench.editor.text == bench.session.query.text, case

    await bench.press("u")

    await bench.until(lambda now: not now.weights.applied and not now.query.busy and not is_there(now, case.target))
    now = bench.session
    assert (
        now.query.text,
        now.query.filter,
        dict(now.weights.tweaks),
        now.context.budget_tokens,
        now.context.pins,
    ) == (
        before.query.text,
        before.query.filter,
        dict(before.weights.tweaks),
        before.context.budget_tokens,
        before.context.pins,
    ), case
    assert bench.app.bench.editor.text == case.text, case


@pytest.mark.parametrize(
    "names",
    [
        ("filter", "weight in an option", "match", "filter of words"),
        pytest.param(tuple(CASES), marks=pytest.mark.slow),
    ],
    ids=["some", "all"],
)
async def test_a_fix_brings_the_target_in_and_u_undoes_it(shared_store: Path, names: tuple[str, ...]) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await bench.ask()
        for name in names:
            await try_and_take_back(bench, CASES[name])


async def short_of_budget(bench: Driver) -> None:
    """Miss a document that the budget leaves out. Two fixes bring it in."""
    await opened(bench)
    await budget(bench, 40)
    await missed(bench, "manual/part30.txt")


@pytest.mark.slow
async def test_the_verdict_and_the_chosen_fix_stay_visible(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared_store.parent)
    async with workbench("recall.db", size=(120, 50)) as bench:
        await short_of_budget(bench)
        await bench.press("z")
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))
        pane = bench.app.bench.query_one(ExplainPane)
        assert pane.scroll_offset.y == 0, "nothing is scrolled where all of it fits"
        assert "✗ not in the context" in bench.painted("explain")

        await bench.press("z")
        await bench.pilot.resize_terminal(80, 24)
        await bench.until(lambda _: pane.size.height < 10)
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))
        assert bench.painted("explain").splitlines()[1].startswith("✗ not in the context")
        assert "$ recall --store recall.db context 'token budget' --budget-tokens 238" in bench.painted("explain")

        await bench.press("j")
        await bench.until(lambda _: "▶ pin it" in bench.painted("explain"))
        await bench.press("end")
        await bench.until(lambda _: pane.scroll_offset.y > 0)
        verdict, target = bench.painted("explain").splitlines()[1:3]
        assert verdict.startswith("✗ not in the context: needs 30 tokens; ")
        assert target.strip().startswith("manual/part30.txt:4  rank 9")
        await bench.press("k")
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))

        await bench.until(lambda _: "Enter apply" in bench.painted("footer"))
        await bench.press("enter")
        await bench.until(lambda now: now.weights.applied and "u undo" in bench.painted("footer"))
        assert bench.session.context.budget_tokens == 238
        await bench.press("u")
        await bench.until(lambda now: not now.weights.applied)
        assert bench.session.context.budget_tokens == 40

        await prepared(bench, CASES["match"])
        await missed(bench, CASES["match"].target)
        remedy, whynot = chosen_remedy(bench.session), whynot_of(bench.session)
        assert remedy is not None
        assert whynot is not None
        assert len(whynot.remedies) == 1
        pointer = f"▶ {remedy.change[:20]}"
        await bench.until(lambda _: pointer in bench.painted("explain"))
        for key in ("j", "k"):
            await bench.press("end")
            await bench.until(lambda _: pane.scroll_offset.y == pane.max_scroll_y > 0)
            assert pointer not in bench.painted("explain")
            await bench.press(key)
            await bench.until(lambda _: pointer in bench.painted("explain"))


async def test_fixes_are_undone_together_or_in_their_pane(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await opened(bench)
        await budget(bench, 62)
        for count, target in enumerate(("notes/diary.txt", "notes/cafe.txt"), start=1):
            await missed(bench, target)
            await choose(bench, "budget")
            await bench.press("enter")
            await bench.until(lambda now, count=count: len(now.weights.applied) == count and whynot_of(now))  # type: ignore[misc]
        await bench.press("r")
        assert (bench.session.weights.applied, bench.session.context.budget_tokens) == ((), 62)

        for text, kind, undo in (("token budget", "pin", ["5", "r"]), (f"{SELECT} LIMIT 3", "weight", ["4", "u"])):
            await bench.ask(text)
            await missed(bench, "notes/diary.txt")
            await choose(bench, kind)
            await bench.press("enter")
            await bench.until(lambda now: not now.query.busy and whynot_of(now))
            await bench.until(lambda _: "u undoes it" in said(bench))

            await bench.press(*undo, "3")
            await bench.until(lambda now: not now.query.busy and whynot_of(now))
            assert "undoes" not in said(bench), kind
            before = bench.session
            await bench.press("u")
            assert bench.session is before, kind

        await bench.ask(f"{SELECT} LIMIT 2")
        await missed(bench, "notes/diary.txt")
        await choose(bench, "k")
        await bench.press("enter")
        await bench.until(lambda now: now.weights.applied and not now.query.busy)
        assert bench.app.bench.editor.text.endswith("LIMIT 4")
        await bench.press("1", "ctrl+z")
        assert bench.app.bench.editor.text == f"{SELECT} LIMIT 2"


async def test_a_click_chooses_a_fix_and_a_second_applies_it(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 50)) as bench:
        await opened(bench)
        await budget(bench, 62)
        await missed(bench, "notes/diary.txt")

        await bench.press("Y")
        code, printed = printed_by(bench)
        assert code == 7
        assert printed["whynot"] == json.loads(json.dumps(whynot_of(bench.session).view))  # type: ignore[union-attr]
        assert printed["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]
        remedies = whynot_of(bench.session).remedies  # type: ignore[union-attr]
        assert {"budget", "pin"} <= {remedy.kind for remedy in remedies}
        assert all(shlex.split(each.command)[:3] == ["recall", "--store", str(shared_store)] for each in remedies)

        await bench.press("z")
        await bench.until(lambda _: 'also search for "diary"' in bench.painted("explain"))
        assert "$ recall --store " in bench.painted("explain")
        rows = bench.painted("explain").splitlines()
        at = next(row for row, line in enumerate(rows) if 'also search for "diary"' in line)
        await bench.pilot.click(ExplainPane, offset=(8, at))
        await bench.until(lambda now: (remedy := chosen_remedy(now)) and remedy.change == 'also search for "diary"')
        assert '▶ also search for "diary"' in bench.painted("explain")
        await bench.pilot.click(ExplainPane, offset=(8, at))
        await bench.until(lambda now: now.query.text == "token budget diary" and not now.query.busy)


async def test_why_not_waits_for_a_faulty_query(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await opened(bench)
        pane = bench.app.screen.query_one(ExplainPane)
        looking = bench.session._replace(
            view="whynot", results=bench.session.results._replace(sought="notes/diary.txt"), analyses={}
        )
        pane.show_session(looking)
        assert "Tracing notes/diary.txt …" in bench.painted("explain")
        pane.show_session(
            looking._replace(query=looking.query._replace(trouble=UsageError("expected", "That is not a query.")))
        )
        assert "Waiting until the query can be answered." in bench.painted("explain")

        await missed(bench, "notes/diary.txt")
        bench.app.bench.editor.text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
        await bench.until(lambda now: now.query.trouble)
        await to_target(bench)
        await bench.write("docs/budget.md")
        await bench.press("enter")
        await bench.until(
            lambda now: now.results.sought != "notes/diary.txt" and "Waiting until" in bench.painted("explain")
        )
        bench.app.bench.editor.text = "token budget"
        await bench.until(lambda now: whynot_of(now) and "Waiting until" not in bench.painted("explain"))


# The funnel, and two hits compared.


async def to_funnel(bench: Driver) -> None:
    """Go to its tab, and wait for it."""
    bench.app.become(explaining.turn_to(bench.session, "funnel"))
    await bench.until(lambda now: isinstance(result(now, "funnel"), Funnel))


def compared(bench: Driver) -> tuple[str, str]:
    """Return the chunks shown side by side."""
    view = result(bench.session, "compare").view
    return view["chunk"]["id"], view["other"]["id"]


async def test_the_funnel_counts_rows_after_each_predicate_and_stage(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        for text, words in ((RQL, "Every row that"), ("SELECT * FROM chunk", "The answer took")):
            await bench.ask(text)
            await bench.press("escape")
            await to_funnel(bench)
            lines = bench.painted("explain").splitlines()
            after = next(row for row, line in enumerate(lines) if line.startswith("in the context "))
            assert lines[after + 1].startswith(words), text

        await bench.ask(RQL)
        await to_funnel(bench)
        assert "not counted" not in said(bench)
        await bench.press("3", "Y")
        _, printed = printed_by(bench)
        assert printed["trace"]["stages"] == result(bench.session, "funnel").view["stages"]
        assert printed["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]
        await bench.press("5", "x", "3")
        await bench.until(lambda _: "1 chunk excluded: not counted here." in said(bench))

        await bench.ask(
            "SELECT * FROM chunk USING lexical('budget') FILTER doc.path GLOB 'docs/*' AND chunk.tokens > 8"
        )
        await to_funnel(bench)
        await bench.press("z")
        painted = bench.painted("explain")
        assert re.search(r"in the store +37 +\d+\.\d  █+", painted)
        assert re.search(r"pass the filter +3 ", painted)
        assert re.search(r" 34 +34 +\d+  doc\.path GLOB 'docs/\*'", painted)
        assert "Only lexical finds rows, among those that pass the filter." in " ".join(painted.split())


async def test_comparing_lists_leaves_by_largest_difference(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        first, second, third = (bench.session.results.hits[row].chunk.id for row in range(3))  # type: ignore[union-attr]
        await bench.press("M")
        assert bench.session.results.marked is not None
        await bench.press("M")
        assert bench.session.results.marked is None, "marking again takes the mark off"

        await bench.press("c")
        await bench.until(lambda now: result(now, "compare"))
        assert compared(bench) == (first, second)
        await bench.press("J")
        await bench.until(lambda now: now.results.selected == 1 and isinstance(result(now, "compare"), Comparison))

        lines = [line.rstrip() for line in bench.painted("explain").splitlines()]
        assert lines[1].split(" against ")[0].startswith("#2 ")
        assert lines[1].split(" against ")[1].startswith("#1 ")
        assert lines[2].startswith("#1 leads by 0.239: lexical +")
        rows = [line for line in lines if re.match(r"(lex|sem) ", line)]
        assert rows[0].split() == ["lex", "term", "token", "0.521", "0.751", "-0.230", "▒" * BAR_CELLS]
        assert any(re.match(r"total +0\.574 +0\.813 +-0\.239 ✓", line) for line in lines)
        bars = f" {UNICODE.eighths}{''.join(UNICODE.series)}"
        figures = [line.rstrip(bars).split()[-1] for line in rows]
        sizes = [0.0 if "<" in each or ">" in each else abs(float(each)) for each in figures]
        assert sizes == sorted(sizes, reverse=True)
        assert [bool(set(line) & set(UNICODE.eighths + UNICODE.series)) for line in rows] == [
            size >= VISIBLE for size in sizes
        ], "what three decimals cannot show has no bar"

        await bench.press("J")
        await bench.until(lambda now: now.results.selected == 2 and result(now, "compare"))
        assert compared(bench) == (third, second)

        await bench.press("K", "K", "M", "J")
        await bench.until(lambda now: now.results.selected == 1 and isinstance(result(now, "compare"), Comparison))
        assert compared(bench) == (second, first)
        await bench.press("Y")
        _, printed = printed_by(bench)
        assert printed["explanation"] == json.loads(json.dumps(result(bench.session, "compare").view))
        assert printed["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]


@pytest.mark.parametrize("size", mostly_nightly(["60x24", "80x24", "100x40", "200x60"], "60x24"))
async def test_every_tab_fits_the_pane(shared_store: Path, size: str) -> None:
    width, height = map(int, size.split("x"))
    async with workbench(shared_store, size=(width, height)) as bench:
        await opened(bench)
        await missed(bench, "notes/diary.txt")
        await bench.press("M", "2", "j", "3")
        pane, drawn = bench.app.bench.query_one(ExplainPane), []
        for view in VIEWS:
            bench.app.become(explaining.turn_to(bench.session, view))
            await bench.until(lambda now, view=view: result(now, view))  # type: ignore[misc]
            drawn.append(pane.lines)

            assert pane.lines
            assert max(map(cell_len, pane.lines)) <= pane.scrollable_content_region.width
    assert len(set(map(tuple, drawn))) == len(VIEWS)
