"""The explain pane: its tabs, what is missed, the fixes that are tried, and the commands that say the same."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Input

from recall_core.api.recall import Recall
from recall_core.errors import UsageError
from recall_core.types import Root
from recall_tui.panes.explain import ExplainPane
from recall_tui.panes.explain.compare import BAR_CELLS
from recall_tui.panes.explain.figures import VISIBLE
from recall_tui.panes.explain.pane import NAMES, TITLE_AT, pieces
from recall_tui.screens.target import TargetScreen
from recall_tui.state import explaining, weighing
from recall_tui.state.analyses import Analysis
from recall_tui.state.explaining import Comparison, DocumentPassage, Funnel, Ledger, Missing, Paths
from recall_tui.state.fixes import chosen_remedy, whynot_of
from recall_tui.state.packing import chosen_entry
from recall_tui.state.records import Tweaks
from recall_tui.state.results import result_of
from recall_tui.state.session import VIEWS, Session, View
from recall_tui.widgets.draw import UNICODE
from recall_tui.widgets.lists import PointedList
from tests.examples import mostly_nightly
from tests.workbench_driver import Driver, workbench

RQL = "SELECT * FROM chunk USING lexical('token budget'), semantic('token budget') LIMIT 2"

ANALYSES: dict[View, tuple[Callable[[Session], Analysis | None], type[Any]]] = {
    "ledger": (explaining.ledger_analysis, Ledger),
    "passage": (explaining.passage_analysis, DocumentPassage),
    "whynot": (explaining.whynot_analysis, Missing),
    "funnel": (explaining.funnel_analysis, Funnel),
    "compare": (explaining.compare_analysis, Comparison),
}


def result(session: Session, view: View) -> Any:
    """What was found out for a tab, or None."""
    analysis_of, of = ANALYSES[view]
    analysis = analysis_of(session)
    made = result_of(session, analysis, of=of) if analysis is not None else None
    return made if isinstance(made, of) else None


async def opened(bench: Driver, text: str = "token budget") -> None:
    """Ask, leave the field, and wait until the score of the first hit is taken apart."""
    await bench.ask(text)
    await bench.press("escape")
    await bench.until(lambda now: result(now, "ledger"))


async def missed(bench: Driver, target: str) -> None:
    """Name what is missed, and wait for the account of it."""
    await bench.press("m")
    await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
    await bench.write(target)
    await bench.until(lambda now: result_of(now, Analysis("paths", target), of=Paths))
    await bench.press("enter")
    await bench.until(lambda now: now.results.sought == target and whynot_of(now))


def title(bench: Driver) -> str:
    """The title as it is read."""
    return Content.from_markup(bench.painted("explain").splitlines()[0]).plain


async def choose(bench: Driver, kind: str) -> None:
    """Move the cursor to the first fix of a kind."""
    whynot = whynot_of(bench.session)
    assert whynot is not None
    place = next(at for at, remedy in enumerate(whynot.remedies) if remedy.kind == kind)
    await bench.press(*["down"] * place)
    await bench.until(lambda now: (remedy := chosen_remedy(now)) is not None and remedy.kind == kind)


def printed_by(bench: Driver) -> tuple[int, dict[str, Any]]:
    """What the copied command answers, with its exit code."""
    typed = shlex.split(bench.app.clipboard)
    assert typed[0] == "recall"
    ran = subprocess.run(
        [sys.executable, "-m", "recall_core", "--json", *typed[1:]], capture_output=True, check=False
    )
    return ran.returncode, json.loads(ran.stdout)


def ids_in_context(session: Session) -> set[str]:
    packed = session.context.packed
    return {each for block in packed.blocks for each in block.chunk_ids if not block.truncated} if packed else set()


@pytest.fixture(scope="session")
def chunked_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose documents have many chunks that overlap."""
    folder = tmp_path_factory.mktemp("chunked")
    lines = [f"def step{number}(budget):  # step {number}\n    return 'word{number}'" for number in range(1, 41)]
    (folder / "steps.py").write_text("\n".join(lines), encoding="utf-8")
    (folder / "other.txt").write_text("The budget of another text.\n", encoding="utf-8")
    Recall.init(str(folder), settings=("chunk_tokens=40", "overlap_tokens=10"))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "steps.py"), str(folder / "other.txt")], Root("", parser="text")):
            pass
        return Path(recall.store.info().path)


# The tabs.


async def test_left_and_right_go_from_tab_to_tab_and_the_title_says_which_is_in_front(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("3")
        assert title(bench) == "3 Explain #1  ▶Ledger · Passage · Why not · Funnel · Compare"

        await bench.press("right", "right")
        assert (bench.session.view, "▶Why not" in title(bench)) == ("whynot", True)
        await bench.press("left", "left", "left")

        assert (bench.session.view, "▶Compare" in title(bench)) == ("compare", True)
        assert bench.session.results.selected == 0


@pytest.mark.parametrize("size", [(100, 40), (80, 24), (120, 40)])
async def test_a_click_on_the_name_of_a_tab_opens_it(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await opened(bench)
        for view in reversed(VIEWS):
            pane = bench.app.bench.query_one(ExplainPane)
            at = TITLE_AT
            for text, named, _ in pieces(bench.session, pane.outer_size.width - 2 * TITLE_AT, pane.glyphs):
                if named == view:
                    break
                at += cell_len(text)

            await bench.pilot.click(ExplainPane, offset=(at, 0))

            await bench.until(lambda now, view=view: (now.view, now.pane) == (view, "explain"))
            assert f"▶{NAMES[view]}" in title(bench)


async def test_every_tab_is_named_whole_where_the_pane_is_narrowest(shared_store: Path) -> None:
    async with workbench(shared_store, size=(60, 20)) as bench:
        await opened(bench)
        await bench.press("3")

        assert all(name in title(bench) for name in NAMES.values())


async def test_every_tab_is_named_whole_in_the_narrowest_pane_that_is_stale(shared_store: Path) -> None:
    async with workbench(shared_store, size=(100, 24)) as bench:
        await opened(bench)
        bench.app.bench.editor.text = "SELECT * FORM"
        await bench.until(lambda now: now.query.trouble)

        pane = bench.app.screen.query_one(ExplainPane)
        border = pane.render_lines(Region(0, 0, pane.outer_size.width, 1))[0].text
        assert "3 stale" in border
        assert all(name in border for name in NAMES.values())


async def test_the_keys_of_a_pane_scroll_the_tab_in_front_and_leave_the_selection(chunked_store: Path) -> None:
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


async def test_the_keys_of_a_pane_leave_the_selection_where_there_is_nothing_to_scroll(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await opened(bench)
        await bench.press("3", "left")
        await bench.until(lambda now: now.view == "compare")

        await bench.press("down", "j", "pagedown", "space", "end", "end", "left")

        await bench.until(lambda now: now.view == "funnel")
        assert bench.session.results.selected == 0


async def test_J_and_K_go_through_the_results_with_the_pane_in_front(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await opened(bench)
        await bench.press("3", "z", "J", "J")
        await bench.until(lambda now: now.results.selected == 2 and result(now, "ledger"))
        assert title(bench).startswith("3 Explain #3")

        await bench.press("K")

        await bench.until(lambda now: now.results.selected == 1 and result(now, "ledger"))
        assert title(bench).startswith("3 Explain #2")
        assert (bench.session.pane, bench.session.zoomed) == ("explain", True)


# The ledger.


async def test_the_ledger_follows_the_selection_and_names_what_the_points_are_made_of(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)

        ledger = bench.painted("explain")
        assert re.search(r"token +idf 2\.29 · in 3 chunks · 3 times +0\.751", ledger)
        assert "maximum possible BM25 here: 5.034" in ledger
        assert re.search(r"budget 0\.032 · .*more +-?[<>.\d]+", ledger)

        await bench.press("j")
        await bench.until(lambda now: now.results.selected == 1 and result(now, "ledger"))
        assert title(bench).startswith("3 Explain #2")


async def test_points_of_one_signal_alone_say_what_they_are_divided_by(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, "SELECT * FROM chunk USING lexical('token budget')")

        assert "points: normalized × weight / 0.90, the sum of weights" in said(bench)

        await opened(bench, RQL)

        assert "the sum of weights" not in said(bench)


async def test_a_rank_is_named_once(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, "SELECT * FROM chunk USING lexical('token budget') OPTION fusion rrf")

        assert re.search(r"^\W*rank 1 +1\.000", bench.painted("explain"), re.MULTILINE)


async def test_without_a_result_the_ledger_says_how_to_ask_why(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("SELECT * FROM chunk USING lexical('zyzzyva')")
        await bench.until(lambda now: now.results.answer and now.results.answer.total == 0 and not now.query.busy)

        assert "Nothing was found. m explains why a document is missing." in bench.painted("explain")


async def test_the_ledger_is_there_before_its_leaves(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        total = next(line for line in bench.painted("explain").splitlines() if line.startswith("total"))

        hit = bench.session.results.hit

        assert hit is not None
        assert hit.score == sum(part.points for part in hit.parts)
        assert "✓" in total
        assert f"{hit.score:.3f}" in total


async def test_words_of_the_meaning_have_one_line_until_the_pane_has_the_screen(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 40)) as bench:
        await opened(bench, "token budget scoring files")
        assert re.search(r" [1-9]\d* more +-?[<>.\d]+", bench.painted("explain"))
        assert not re.search(r"feature|collision", bench.painted("explain"))

        await bench.press("3", "z")
        await bench.until(lambda _: re.search(r"scoring +feature", said(bench)))

        assert not re.search(r"\d more ", said(bench))


async def test_the_sentence_on_top_names_the_word_that_puts_the_row_there(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        first = bench.app.bench.query_one(ExplainPane).lines[0]
        assert first == "First: best match of words and nearest in meaning, most by token (3"

        await bench.press("j")
        await bench.until(lambda now: now.results.selected == 1 and result(now, "ledger"))

        assert said(bench).startswith("Second: 2nd by words")


async def test_the_ledger_says_that_its_parts_sum_to_the_score_and_what_would_change_the_place(
    shared_store: Path,
) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("j", "j", "3", "z")
        await bench.until(lambda now: now.results.selected == 2 and result(now, "ledger"))

        text = " ".join(bench.painted("explain").split())

        assert "✓ parts sum to score" in text
        assert "falls below #4 where lexical < 0.168" in text
        assert "below #4 notes/diary.txt, follows by 0.496" in text
        assert "✓ stable · top 20 keeps its order at lexical" in text


async def test_the_command_of_the_ledger_gives_its_figures(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, RQL)
        await bench.press("j", "3")
        await bench.until(lambda now: now.results.selected == 1 and result(now, "ledger"))

        await bench.press("Y")
        _, said = printed_by(bench)

        assert said["explanation"] == json.loads(json.dumps(result(bench.session, "ledger").view))
        assert said["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]


async def test_the_command_of_the_ledger_gives_a_row_that_recall_added(chunked_store: Path) -> None:
    async with workbench(chunked_store) as bench:
        await opened(bench, "step30 word30")
        bench.app.become(weighing.tweaked(bench.session, {"min_score": 0.3, "sparse_distance_ceiling": 2.0}))
        await bench.until(
            lambda now: now.results.answer and now.results.answer.recall and now.results.answer.recall.given
        )
        await bench.press("end", "3")
        await bench.until(lambda now: now.results.hit and now.results.hit.injection and result(now, "ledger"))
        lines = " ".join(bench.app.bench.query_one(ExplainPane).lines)
        assert "sparse-document recall gave it the row, since it is short and near, at distance" in lines

        await bench.press("Y")
        _, said = printed_by(bench)

        assert said["explanation"] == json.loads(json.dumps(result(bench.session, "ledger").view))
        assert said["explanation"]["chunk"]["recall"]["recall_injected"] is True


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


async def test_a_line_break_at_the_end_of_a_document_begins_no_line(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("3", "right")
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))

        lines = result(bench.session, "passage").lines

        assert lines[-1].text == "Headers and separators count against the budget too."
        assert lines[-1].number == bench.session.results.hit.chunk.line_end  # type: ignore[union-attr]


async def test_the_words_of_the_question_and_of_the_language_are_marked(chunked_store: Path) -> None:
    async with workbench(chunked_store) as bench:
        await opened(bench, "budgets")
        await bench.press("3", "right")
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))

        lines = result(bench.session, "passage").lines
        marked = {(mark.kind, line.text[mark.start : mark.end]) for line in lines for mark in line.marks}

        assert ("term", "budget") in marked
        assert ("keyword", "def") in marked
        assert ("comment", "# step 1") in marked


async def test_the_passage_shows_where_the_context_cuts_the_chunk(chunked_store: Path) -> None:
    async with workbench(chunked_store, size=(120, 50)) as bench:
        await opened(bench, "step30 word30")
        await bench.press("b", *"30", "enter")
        await bench.until(
            lambda now: now.context.packed and any(block.truncated for block in now.context.packed.blocks)
        )
        cut = bench.session.context.packed.blocks[0]  # type: ignore[union-attr]
        assert cut.chunk_ids == (bench.session.results.hit.chunk.id,)  # type: ignore[union-attr]

        await bench.press("3", "right", "z")
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))

        lines = bench.painted("explain").splitlines()
        at = next(row for row, line in enumerate(lines) if "the context is cut here" in line)
        before = [line for line in lines[:at] if re.match(r" *\d+ [█▓] ", line)][-1]
        assert re.split(r"[█▓] ", before)[1].split() == cut.text.rstrip().splitlines()[-1].split()


async def test_the_command_of_the_passage_prints_the_document(chunked_store: Path) -> None:
    async with workbench(chunked_store) as bench:
        await opened(bench, "step30")
        await bench.press("3", "right")
        await bench.until(lambda now: isinstance(result(now, "passage"), DocumentPassage))

        await bench.press("Y")
        _, said = printed_by(bench)

        passage = result(bench.session, "passage")
        assert said["found"]["text"] == "\n".join(line.text for line in passage.lines)


def program(folder: Path, name: str) -> str:
    """A program that leaves its arguments, and what is in the last of them, in a folder."""
    script = folder / name
    script.write_text(f'#!/bin/sh\necho "$@" > {folder}/words\nfor last; do :; done\ncat "$last" > {folder}/text\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


@pytest.mark.parametrize("keys", [["e"], ["3", "e"], ["5", "e"]])
async def test_the_editor_gets_the_file_at_the_line_of_the_chosen_row(
    chunked_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: list[str]
) -> None:
    monkeypatch.setenv("VISUAL", program(tmp_path, "vim"))
    async with workbench(chunked_store) as bench:
        monkeypatch.setattr(bench.app, "suspend", contextlib.nullcontext)
        await opened(bench, "step30")
        await bench.until(lambda now: now.context.packed)
        line = bench.session.results.hit.chunk.line_start  # type: ignore[union-attr]
        assert line > 1

        await bench.press(*keys)
        await bench.until(lambda _: (tmp_path / "text").exists())

    assert (tmp_path / "words").read_text() == f"+{line} {chunked_store.parent / 'steps.py'}\n"


async def test_a_record_is_read_in_the_pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.jsonl").write_text('{"text": "A quokka."}\n{"text": "A numbat."}\n', encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        list(recall.add([str(tmp_path / "notes.jsonl")], Root("", parser="jsonl")))
    monkeypatch.setenv("PAGER", program(tmp_path, "less"))
    async with workbench(tmp_path / "recall.db") as bench:
        monkeypatch.setattr(bench.app, "suspend", contextlib.nullcontext)
        await opened(bench, "numbat")

        await bench.press("e")
        await bench.until(lambda _: (tmp_path / "text").exists())

    assert (tmp_path / "text").read_text().strip() == "A numbat."


async def test_a_file_that_is_gone_is_read_in_the_pager_as_the_store_has_it_at_its_line(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", program(tmp_path, "less"))
    async with workbench(own_store) as bench:
        monkeypatch.setattr(bench.app, "suspend", contextlib.nullcontext)
        await opened(bench)
        file = own_store.parent / bench.session.results.hit.doc.path  # type: ignore[union-attr]
        text = file.read_text(encoding="utf-8")
        file.unlink()

        await bench.press("e")
        await bench.until(lambda _: (tmp_path / "text").exists())

    assert (tmp_path / "text").read_text(encoding="utf-8") == text


async def test_an_editor_that_is_not_there_is_said(chunked_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor")
    async with workbench(chunked_store) as bench:
        await opened(bench, "step30")

        await bench.press("3", "e")

        await bench.until(lambda _: any("no-such-editor" in note.message for note in bench.app._notifications))


async def test_where_no_terminal_can_be_lent_that_is_said_with_the_place(
    chunked_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "cat")
    async with workbench(chunked_store) as bench:
        await opened(bench, "step30")
        line = bench.session.results.hit.chunk.line_start  # type: ignore[union-attr]

        await bench.press("e")

        told = f"steps.py:{line} cannot be opened from here"
        await bench.until(lambda _: any(told in note.message for note in bench.app._notifications))


# What is missed.


async def test_paths_that_fit_are_offered_while_a_target_is_typed(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("m")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
        screen = bench.app.screen
        assert isinstance(screen, TargetScreen)

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
        assert "docs/files.md:1-4" in bench.painted("explain")


async def test_escape_leaves_the_target_as_it_was(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("m")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))

        await bench.press("x", "escape")

        await bench.until(lambda now: now.results.picking is None)
        assert (bench.session.results.sought, bench.session.view) == ("", "ledger")


async def test_a_target_that_names_nothing_is_said_with_its_hint(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("m")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))

        await bench.write('"nowhere at all"')
        await bench.press("enter")

        said = "The store holds nothing with the text"
        await bench.until(lambda _: said in " ".join(bench.painted("explain").split()))


async def test_the_first_failing_stage_is_opened_and_the_others_are_folded(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, "SELECT * FROM chunk USING lexical('token') FILTER doc.path GLOB 'docs/*' LIMIT 9")

        await missed(bench, "src/pack.py")

        lines = [line.rstrip() for line in bench.painted("explain").splitlines()]
        assert lines[1] == "✗ not in the top 9: it fails doc.path GLOB 'docs/*' (it is src/pack.…"
        assert lines[2].strip().startswith("src/pack.py:1-")
        assert lines[4] == "▶ ask without doc.path GLOB 'docs/*' · rank 2 of 3 with it"
        opened_at = next(row for row, line in enumerate(lines) if line.startswith("✗  filter"))
        assert lines[opened_at].endswith("it fails doc.path GLOB 'docs/*' (it is src/pack.py)")
        assert lines[opened_at + 1].startswith("passed: identify, ingested, fresh, live, indexed, lexical")


async def test_w_asks_for_the_row_of_the_results_and_for_what_the_context_left_out(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("j", "w", "w")
        await bench.until(whynot_of)
        assert bench.session.results.sought == bench.session.results.hit.chunk.id[:12]  # type: ignore[union-attr]
        assert "✓ in the results and in the context" in bench.painted("explain")

        await bench.press("b", *"62", "enter", "5", "end")
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)
        entry = chosen_entry(bench.session)
        assert entry is not None
        assert entry.kind == "omission"
        await bench.press("w")

        await bench.until(lambda now: now.results.sought == entry.chunk_ids[0][:12] and whynot_of(now))
        assert bench.app.bench.query_one(ExplainPane).lines[0].startswith("✗ not in the context")


class Case(NamedTuple):
    """A question from which something is missing, the keys that set it up, and the fix that is tried."""

    text: str
    target: str
    kind: str
    tweaks: Tweaks = MappingProxyType({})
    budget: str = ""
    filter: str = ""


SELECT = "SELECT * FROM chunk USING lexical('token budget'), semantic('token budget')"
CASES = {
    "budget": Case("token budget", "notes/diary.txt", "budget", budget="62"),
    "a word": Case("token budget", "notes/diary.txt", "term", budget="62"),
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
    "fusion": Case("token budget", "notes/diary.txt", "fusion", {"min_score": 0.5}),
}


def is_there(session: Session, target: str) -> bool:
    """Whether the rows have it, or, of words, the context."""
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


QUICK = ("budget", "a pin", "filter", "LIMIT", "weight in an option", "match", "filter of words")


@pytest.mark.parametrize("name", mostly_nightly(CASES, *QUICK))
async def test_a_fix_that_is_tried_brings_the_target_in_and_u_takes_it_back(shared_store: Path, name: str) -> None:
    case = CASES[name]
    async with workbench(shared_store) as bench:
        await opened(bench, case.text)
        if case.tweaks:
            bench.app.become(weighing.tweaked(bench.session, case.tweaks))
            await bench.until(
                lambda now: (
                    not now.query.busy
                    and now.results.answer
                    and all(
                        getattr(now.results.answer.plan.config, key) == value for key, value in case.tweaks.items()
                    )
                )
            )
        if case.budget:
            await bench.press("b", *case.budget, "enter")
            await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == int(case.budget))
        if case.filter:
            bench.app.become(bench.session._replace(query=bench.session.query._replace(filter=case.filter)))
            bench.app.ask()
            await bench.until(
                lambda now: (
                    not now.query.busy and now.results.answer and now.results.answer.plan.filters == case.filter
                )
            )
        before = bench.session
        await missed(bench, case.target)
        assert not is_there(bench.session, case.target)

        await choose(bench, case.kind)
        await bench.press("enter")

        await bench.until(
            lambda now: (
                now.weights.applied and not now.query.busy and (made := whynot_of(now)) and is_whole(now, made)
            )
        )
        await bench.until(lambda now: is_there(now, case.target))
        assert bench.app.bench.editor.text == bench.session.query.text

        await bench.press("u")

        await bench.until(
            lambda now: not now.weights.applied and not now.query.busy and not is_there(now, case.target)
        )
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
        )
        assert bench.app.bench.editor.text == case.text


def is_whole(session: Session, whynot: Missing) -> bool:
    """Whether the account says that it is there. Pins are not among what it counts."""
    return whynot.view["present"] or bool(session.context.pins) or whynot.in_list


async def short_of_budget(bench: Driver) -> None:
    """Miss a document that the budget leaves out; two fixes bring it in."""
    await opened(bench)
    await bench.press("b", *"40", "enter")
    await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 40)
    await missed(bench, "manual/part30.txt")


async def test_the_verdict_and_the_target_stay_on_top_where_not_all_lines_fit(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared_store.parent)
    async with workbench("recall.db", size=(80, 24)) as bench:
        await short_of_budget(bench)
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))

        assert "$ recall --store recall.db context 'token budget' --budget-tokens 238" in bench.painted("explain")
        await bench.press("j")
        await bench.until(lambda _: "▶ pin it" in bench.painted("explain"))
        await bench.press("end")
        pane = bench.app.bench.query_one(ExplainPane)
        await bench.until(lambda _: pane.scroll_offset.y > 0)

        verdict, target = bench.painted("explain").splitlines()[1:3]
        assert verdict.startswith("✗ not in the context: it has 30 tokens, and ")
        assert target.strip().startswith("manual/part30.txt:1-")
        await bench.press("k")
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))


async def test_j_brings_the_only_fix_back_into_sight(shared_store: Path) -> None:
    case = CASES["match"]
    async with workbench(shared_store, size=(80, 24)) as bench:
        await opened(bench, case.text)
        bench.app.become(weighing.tweaked(bench.session, case.tweaks))
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.config.match == "all"
        )
        await missed(bench, case.target)
        remedy = chosen_remedy(bench.session)
        assert remedy is not None
        pointer = f"▶ {remedy.change[:20]}"
        await bench.until(lambda _: pointer in bench.painted("explain"))
        pane = bench.app.bench.query_one(ExplainPane)
        whynot = whynot_of(bench.session)
        assert whynot is not None
        assert len(whynot.remedies) == 1
        for key in ("j", "k"):
            await bench.press("end")
            await bench.until(lambda _: pane.scroll_offset.y == pane.max_scroll_y > 0)
            assert pointer not in bench.painted("explain")

            await bench.press(key)

            await bench.until(lambda _: pointer in bench.painted("explain"))


async def test_nothing_is_scrolled_where_all_of_the_account_fits(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 50)) as bench:
        await short_of_budget(bench)
        await bench.press("z")
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))

        assert bench.app.bench.query_one(ExplainPane).scroll_offset.y == 0
        assert "✗ not in the context" in bench.painted("explain")


async def test_the_fix_stays_in_sight_when_the_terminal_becomes_small(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared_store.parent)
    async with workbench("recall.db", size=(120, 50)) as bench:
        await short_of_budget(bench)
        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))

        await bench.pilot.resize_terminal(80, 24)
        await bench.until(lambda _: bench.app.bench.query_one(ExplainPane).size.height < 10)

        await bench.until(lambda _: "▶ allow 238 tokens" in bench.painted("explain"))
        assert bench.painted("explain").splitlines()[1].startswith("✗ not in the context")


async def test_the_footer_of_a_small_terminal_offers_to_try_the_fix_and_to_take_it_back(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await short_of_budget(bench)
        await bench.until(lambda _: "Enter apply" in bench.painted("footer"))

        await bench.press("enter")

        await bench.until(lambda now: now.weights.applied and "u undo" in bench.painted("footer"))


async def test_r_takes_back_all_fixes_that_were_tried(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("b", *"62", "enter")
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)
        await missed(bench, "notes/diary.txt")
        await choose(bench, "budget")
        await bench.press("enter")
        await bench.until(lambda now: len(now.weights.applied) == 1 and whynot_of(now))
        await missed(bench, "notes/cafe.txt")
        await choose(bench, "budget")
        await bench.press("enter")
        await bench.until(lambda now: len(now.weights.applied) == 2 and whynot_of(now))

        await bench.press("r")

        assert (bench.session.weights.applied, bench.session.context.budget_tokens) == ((), 62)


@pytest.mark.parametrize(
    ("text", "budget", "kind", "undo"),
    [("token budget", "62", "pin", ["5", "r"]), (f"{SELECT} LIMIT 3", "", "weight", ["4", "u"])],
    ids=["pin", "weight"],
)
async def test_a_fix_that_is_undone_in_its_own_pane_is_no_longer_tried(
    shared_store: Path, text: str, budget: str, kind: str, undo: list[str]
) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, text)
        if budget:
            await bench.press("b", *budget, "enter")
            await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == int(budget))
        await missed(bench, "notes/diary.txt")
        await choose(bench, kind)
        await bench.press("enter")
        await bench.until(lambda now: not now.query.busy and whynot_of(now))
        await bench.until(lambda _: "u undoes it" in said(bench))

        await bench.press(*undo, "3")
        await bench.until(lambda now: not now.query.busy and whynot_of(now))

        assert "undoes" not in said(bench)
        before = bench.session
        await bench.press("u")
        assert bench.session is before


def said(bench: Driver) -> str:
    return " ".join(" ".join(bench.app.bench.query_one(ExplainPane).lines).split())


async def test_a_fix_in_the_text_is_undone_in_the_editor_too(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, f"{SELECT} LIMIT 2")
        await missed(bench, "notes/diary.txt")
        await choose(bench, "k")
        await bench.press("enter")
        await bench.until(lambda now: now.weights.applied and not now.query.busy)
        assert bench.app.bench.editor.text.endswith("LIMIT 4")

        await bench.press("1", "ctrl+z")

        assert bench.app.bench.editor.text == f"{SELECT} LIMIT 2"


async def test_a_click_chooses_a_fix_and_another_one_tries_it(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 50)) as bench:
        await opened(bench)
        await bench.press("b", *"62", "enter")
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)
        await missed(bench, "notes/diary.txt")
        await bench.press("z")
        await bench.until(lambda _: "add the word tea" in bench.painted("explain"))
        rows = bench.painted("explain").splitlines()
        at = next(row for row, line in enumerate(rows) if "add the word household" in line)

        await bench.pilot.click(ExplainPane, offset=(8, at))
        await bench.until(lambda now: (remedy := chosen_remedy(now)) and remedy.change == "add the word household")
        assert "▶ add the word household" in bench.painted("explain")
        await bench.pilot.click(ExplainPane, offset=(8, at))

        await bench.until(lambda now: now.query.text == "token budget household" and not now.query.busy)


async def test_the_command_of_why_not_gives_the_same_account(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("b", *"62", "enter")
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)
        await missed(bench, "notes/diary.txt")

        await bench.press("Y")
        code, said = printed_by(bench)

        view = whynot_of(bench.session).view  # type: ignore[union-attr]
        assert code == 7
        assert said["whynot"] == json.loads(json.dumps(view))
        assert said["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]


async def test_the_command_of_a_fix_names_the_store_that_the_workbench_was_opened_with(shared_store: Path) -> None:
    async with workbench(shared_store, size=(200, 60)) as bench:
        await opened(bench)
        await bench.press("b", *"62", "enter")
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)
        await missed(bench, "notes/diary.txt")

        remedies = whynot_of(bench.session).remedies  # type: ignore[union-attr]
        assert {"budget", "pin"} <= {remedy.kind for remedy in remedies}
        assert all(shlex.split(each.command)[:3] == ["recall", "--store", str(shared_store)] for each in remedies)
        assert "$ recall --store " in bench.painted("explain")


async def test_a_search_for_what_is_missed_waits_for_a_faulty_query_and_says_so(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await missed(bench, "notes/diary.txt")
        bench.app.bench.editor.text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
        await bench.until(lambda now: now.query.trouble)

        await bench.press("m")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
        await bench.write("docs/budget.md")
        await bench.press("enter")

        await bench.until(
            lambda now: now.results.sought != "notes/diary.txt" and "This waits" in bench.painted("explain")
        )
        bench.app.bench.editor.text = "token budget"
        await bench.until(lambda now: whynot_of(now) and "This waits" not in bench.painted("explain"))


async def test_what_is_looked_for_waits_as_soon_as_the_query_has_a_fault(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        pane = bench.app.screen.query_one(ExplainPane)
        looking = bench.session._replace(
            view="whynot", results=bench.session.results._replace(sought="notes/diary.txt"), analyses={}
        )

        pane.show_session(looking)
        assert "Tracing notes/diary.txt …" in bench.painted("explain")
        pane.show_session(
            looking._replace(query=looking.query._replace(trouble=UsageError("expected", "That is no query.")))
        )
        assert "This waits until the query can be answered." in bench.painted("explain")


# The funnel, and two hits side by side.


async def to_funnel(bench: Driver) -> None:
    """Go to its tab, and wait for it."""
    await bench.press("3", "left", "left")
    await bench.until(lambda now: isinstance(result(now, "funnel"), Funnel))


def compared(bench: Driver) -> tuple[str, str]:
    """The chunks that stand side by side."""
    view = result(bench.session, "compare").view
    return view["chunk"]["id"], view["other"]["id"]


async def test_the_funnel_counts_rows_after_each_predicate_and_stage(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(
            bench, "SELECT * FROM chunk USING lexical('budget') FILTER doc.path GLOB 'docs/*' AND chunk.tokens > 8"
        )
        await to_funnel(bench)

        await bench.press("z")
        painted = bench.painted("explain")

        assert re.search(r"in the store +37 +\d+\.\d  █+", painted)
        assert re.search(r"pass the filter +3 ", painted)
        assert re.search(r" 34 +34 +\d+  doc\.path GLOB 'docs/\*'", painted)
        assert "Only lexical proposes rows, out of what the filter leaves." in " ".join(painted.split())


@pytest.mark.parametrize(("text", "told"), [(RQL, "Every row that"), ("SELECT * FROM chunk", "The answer took")])
async def test_the_funnel_speaks_of_the_signals_that_are_asked(shared_store: Path, text: str, told: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask(text)
        await bench.press("escape")
        await to_funnel(bench)

        lines = bench.painted("explain").splitlines()
        after = next(row for row, line in enumerate(lines) if line.startswith("in the context "))
        assert lines[after + 1].startswith(told)


async def test_the_funnel_says_that_pins_and_drops_are_not_in_it(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await to_funnel(bench)
        assert "not counted" not in said(bench)

        await bench.press("5", "x", "3")

        await bench.until(lambda _: "1 chunk excluded: not counted here." in said(bench))


async def test_the_command_of_the_funnel_gives_its_figures(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, RQL)
        await to_funnel(bench)

        await bench.press("Y")
        _, said = printed_by(bench)

        assert said["trace"]["stages"] == result(bench.session, "funnel").view["stages"]
        assert said["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]


async def test_two_hits_are_compared_leaf_by_leaf_the_largest_difference_first(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("j")
        await bench.until(lambda now: now.results.selected == 1)
        await bench.press("c")
        await bench.until(lambda now: isinstance(result(now, "compare"), Comparison))

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


async def test_without_a_mark_a_hit_is_compared_with_the_one_above_and_the_first_with_the_second(
    shared_store: Path,
) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        first, second, third = (bench.session.results.hits[row].chunk.id for row in range(3))  # type: ignore[union-attr]

        await bench.press("c")
        await bench.until(lambda now: result(now, "compare"))
        assert compared(bench) == (first, second)
        await bench.press("J", "J")
        await bench.until(lambda now: result(now, "compare"))

        assert compared(bench) == (third, second)


async def test_marking_the_marked_hit_takes_the_mark_off(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)

        await bench.press("M")
        assert bench.session.results.marked is not None
        await bench.press("M")

        assert bench.session.results.marked is None


async def test_the_command_of_the_comparison_gives_its_figures(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        await bench.press("M", "j", "c")
        await bench.until(lambda now: isinstance(result(now, "compare"), Comparison))

        await bench.press("Y")
        _, said = printed_by(bench)

        assert said["explanation"] == json.loads(json.dumps(result(bench.session, "compare").view))
        assert said["stats"]["digest"] == bench.session.results.answer.digest  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [(60, 24), (80, 24), (100, 40), (200, 60)])
async def test_no_line_of_a_tab_is_wider_than_the_pane(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await opened(bench)
        await missed(bench, "notes/diary.txt")
        await bench.press("M", "2", "j", "3")
        pane, drawn = bench.app.bench.query_one(ExplainPane), []
        for view in VIEWS:
            bench.app.become(explaining.turned_to(bench.session, view))
            await bench.until(lambda now, view=view: result(now, view))  # type: ignore[misc]
            drawn.append(pane.lines)

            assert pane.lines
            assert max(map(cell_len, pane.lines)) <= pane.scrollable_content_region.width
    assert len(set(map(tuple, drawn))) == len(VIEWS)


async def test_enter_takes_what_is_typed_and_not_a_path_found_for_less_of_it(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "m")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
        await bench.until(lambda _: "docs/budget.md" in bench.painted("targets"))

        bench.app.screen.query_one(Input).value = "manual/part07.txt"
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought)

        assert bench.session.results.sought == "manual/part07.txt"
