"""Lines over the panes: commands behind `:`, the filter behind `/`, and the comparison in the history."""

from __future__ import annotations

import os
import shlex
import threading
from pathlib import Path

from textual.content import Content
from textual.events import Paste
from textual.widgets import Input, Static

from recall_tui.home import history
from recall_tui.home.history import KeptRow, PastQuestion
from recall_tui.screens.dialog import PromptScreen
from recall_tui.screens.line import LineScreen
from tests.workbench_driver import Driver, in_form, workbench


async def open_line(bench: Driver) -> None:
    await bench.until(lambda now: now.store.info)
    await bench.press("escape", "colon")
    await bench.until(lambda _: isinstance(bench.app.screen, LineScreen))


async def run(bench: Driver, line: str) -> str:
    """Type a line, wait for its end, and return its output on the screen."""
    await bench.write(line)
    await bench.press("enter")
    await bench.until(lambda _: bench.app.output.ran and bench.app.output.ran.line == line)
    return bench.painted("output")


def hint(bench: Driver) -> str:
    return str(bench.app.screen.query_one("#hint", Static).render())


async def test_commands_run_as_typed_or_pasted(shared_store: Path) -> None:
    rql = "SELECT chunk.text, score\nFROM chunk\nUSING lexical('tea')"
    pasted = shlex.join(["recall", "--store", str(shared_store), "query", "--rql", rql])
    async with workbench(shared_store, size=(200, 40)) as bench:
        await open_line(bench)
        field = bench.app.screen.query_one(Input)
        shown = await run(bench, "search 'token budget' --k 2")
        assert "docs/budget.md" in shown
        assert "exit 0" in shown
        shown = await run(bench, "serch tea")
        assert "! hint: did you mean recall search?" in shown
        assert "exit 2" in shown

        line = f"$ recall --store {shared_store} search 'token budget' --k 2"
        before, field.value = bench.app.output.ran, line
        await bench.press("enter")
        await bench.until(lambda _: bench.app.output.ran and bench.app.output.ran is not before)
        assert "docs/budget.md" in bench.painted("output")
        assert "recall recall" not in bench.painted("output")

        before = bench.app.output.ran
        field.post_message(Paste(f"{pasted}\nrecall stats\n"))
        await bench.until(lambda _: field.value.endswith("recall stats"))
        await bench.press("enter")
        await bench.until(lambda _: bench.app.output.ran and bench.app.output.ran is not before)
        assert bench.app.output.ran is not None
        assert bench.app.output.ran.code == 0
        assert "household was spent on tea" in bench.app.output.ran.stdout
        assert "chunks" in bench.app.output.ran.stdout
        assert "score↵" in bench.painted("output")
        await bench.press("up")
        assert field.value.count("↵") == 3

        field.value = ""
        await bench.type("stats")
        await bench.press("f5")
        await bench.until(lambda _: "no query" in hint(bench))
        await bench.press(*["backspace"] * 5)
        await bench.write("search budget --filter \"doc.path GLOB 'docs/*'\"")
        await bench.press("f5")
        await bench.answered("budget")
        assert bench.session.pane == "query"
        assert {hit.doc.path.split("/")[0] for hit in bench.session.results.hits.values()} == {"docs"}


async def test_a_writing_command_updates_the_screen(own_store: Path) -> None:
    (own_store.parent / "more.txt").write_text("A chapter on zebras.\n", encoding="utf-8")
    async with workbench(own_store) as bench:
        await bench.ask("zebras")
        await open_line(bench)
        budget, documents = bench.session.context.budget_tokens, bench.session.store.info.documents  # type: ignore[union-attr]

        await run(bench, f"add {shlex.quote(str(own_store.parent / 'more.txt'))}")
        await bench.until(lambda now: now.store.info and now.store.info.documents == documents + 1)
        await bench.press("escape")
        await bench.until(
            lambda now: not now.query.busy and 0 in now.results.hits and now.results.hits[0].doc.path == "more.txt"
        )

        assert bench.session.context.budget_tokens == budget


async def test_the_command_line_has_history_and_completion(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await open_line(bench)
        await run(bench, "stats")
    async with workbench(shared_store) as bench:
        await open_line(bench)
        field = bench.app.screen.query_one(Input)
        await bench.type("sea")
        await bench.press("up")
        assert field.value == "stats"
        await bench.press("down", "tab")
        assert field.value == "search "
        await bench.type("tea --ex")
        await bench.press("tab")
        assert (field.value, hint(bench)) == ("search tea --ex", "--exact --explain")


async def test_quitting_does_not_wait_for_a_command(own_store: Path) -> None:
    for number in range(2_000 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 150):
        (own_store.parent / f"many{number}.txt").write_text(f"text {number} " * 50, encoding="utf-8")
    async with workbench(own_store) as bench:
        await open_line(bench)
        await bench.type(f"add {shlex.quote(str(own_store.parent))}")
        await bench.press("enter", "ctrl+q")

    assert bench.app.return_code == 0
    assert "recall-command" not in [thread.name for thread in threading.enumerate()]


async def test_the_workbench_has_its_own_verbs(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await open_line(bench)
        await bench.type("theme purple")
        await bench.press("enter")
        await bench.until(lambda _: "theme is one of" in hint(bench))
        await bench.type("theme light")
        await bench.press("enter")
        await bench.until(lambda _: bench.app.theme == "light")
        await bench.type("q")
        await bench.press("enter")
        await bench.pilot.pause()

    assert bench.app.return_code == 0


async def test_a_filter_narrows_words_and_joins_the_command(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("budget")
        everything = bench.session.results.answer.total  # type: ignore[union-attr]
        await bench.press("escape", "slash")
        await bench.write("doc.tgas = 'x'")
        await bench.press("enter")
        await bench.until(lambda _: "did you mean doc.tags" in hint(bench))
        assert "^" in hint(bench)
        assert bench.session.query.filter == ""
        assert isinstance(bench.app.screen, PromptScreen)
        await bench.press("escape")

        for pattern in ("docs/[a-z]*", "[@click=app.leave]docs", "docs[/b]", "docs/*"):
            await bench.press("slash")
            await bench.write(f"doc.path GLOB '{pattern}'")
            await bench.press("enter")
            await bench.until(lambda now, pattern=pattern: pattern in now.query.filter and not now.query.busy)
            title = Content.from_markup(bench.app.bench.query_one("#query").border_title or "").plain
            assert title == f"1 Query (words, filter doc.path GLOB '{pattern}')"

        await bench.until(lambda now: now.results.answer and 0 < now.results.answer.total < everything)
        assert "filter doc.path GLOB 'docs/*'" in bench.painted("query")
        await bench.press("Y")
        assert "--filter \"doc.path GLOB 'docs/*'\"" in bench.app.clipboard.replace("'\"'\"'", "'").replace(
            "'doc.path GLOB 'docs/*''", "\"doc.path GLOB 'docs/*'\""
        )
        await bench.press("slash", "escape")
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and now.results.answer.total == everything
        )
        assert "filter" not in bench.painted("query")

        await bench.press("1")
        await bench.ask("SELECT * FROM chunk LIMIT 3")
        await bench.press("escape", "slash")
        assert bench.app.screen is bench.app.bench  # a query in RQL has a filter of its own


async def test_the_history_keeps_an_answer_with_its_settings(shared_store: Path, state_home: Path) -> None:
    query = "SELECT * FROM chunk USING lexical('budget'), semantic('budget') LIMIT 4"
    async with workbench(shared_store) as bench:
        await bench.ask("keep the manual in mind")
        await bench.press("escape", "4", "right", "right", "f5")
        await bench.until(lambda now: not now.query.busy and now.query.kept.settings)
        digest = bench.session.store.info.digest  # type: ignore[union-attr]
        rows = [bench.session.results.hits[row].chunk.id for row in range(3)]  # type: ignore[union-attr]
        await bench.press("0", *in_form("k", "left"), *in_form("k", "left"), "f5")
        await bench.until(lambda now: not now.query.busy and f"k={now.weights.k}" in now.query.kept.settings)
        assert bench.session.weights.k is not None

        await bench.press("1")
        for text in (query, f"{query} OFFSET 3"):
            await bench.ask(text)
            await bench.press("f5")
            await bench.until(lambda now, text=text: not now.query.busy and now.query.kept.text == text)

    page, whole, _, moved, plain = history.load(state_home / "recall" / "history.jsonl")
    assert (plain.settings, bool(moved.settings)) == ((), True)
    assert moved.digest == digest
    assert [row.id for row in moved.top[:3]] == rows
    assert (whole.offset, page.offset) == (0, 3)
    assert (history.moves(whole, page)[0].before, history.moves(whole, page)[0].after) == (4, 4)


async def test_two_answers_are_compared(shared_store: Path, state_home: Path) -> None:
    path = state_home / "recall" / "history.jsonl"
    history.append(
        path, PastQuestion("tea", top=(KeptRow("a", "a.txt"), KeptRow("b", "b.txt"), KeptRow("c", "c.txt")))
    )
    history.append(
        path,
        PastQuestion(
            "tea", settings=("k1=2",), top=(KeptRow("b", "b.txt"), KeptRow("d", "d.txt"), KeptRow("c", "c.txt"))
        ),
    )
    async with workbench(shared_store) as bench:
        await bench.press("ctrl+r", "f6", "down", "tab", "up", "f6")
        await bench.until(lambda _: bench.app.screen.query("#moves"))

        lines = [line.rstrip(" |▁▂▃▄▅▆▇█") for line in bench.painted("moves").splitlines()]
        assert "     2      1    ▲1  b.txt" in lines
        assert "     .      2   new  d.txt" in lines
        assert "     3      3     =  c.txt" in lines
        assert "     1      .  left  a.txt" in lines
        assert "        k1=2" in lines
        await bench.press("escape", "enter")
        await bench.until(lambda _: bench.app.bench.editor.text == "tea")


async def test_the_command_line_fits_a_small_screen(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await open_line(bench)
        for line, size in (("search budget", (80, 24)), ("search  budget", (60, 20))):
            await bench.pilot.resize_terminal(*size)
            shown = await run(bench, line)
            assert "exit 0" in shown or "docs/" in shown, size
            assert bench.app.screen.query_one(Input).region.bottom < size[1]
