"""The effects of typing."""

import asyncio
import re
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.evaluate.judgements import Judgement, Regrade, Spot, change
from recall_core.maintain.embedders import write_settings
from recall_core.types import Root
from recall_tui.handlers import query as query_handlers
from recall_tui.state.judging import judged_queries
from recall_tui.state.session import is_lingering
from recall_tui.threads import query_thread
from tests.provider_server import provider_server
from tests.workbench_driver import workbench


async def test_results_follow_the_words_without_a_key(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.type("token budget")

        await bench.answered("token budget")

        assert "docs/budget.md:1 " in bench.painted("results")
        assert "1 Query (words)" in str(bench.app.bench.query_one("#query").border_title)


async def test_rows_follow_the_text_of_the_query(shared_store: Path) -> None:
    rql = "SELECT * FROM chunk USING lexical('budget') FILTER doc.path GLOB 'docs/**' LIMIT 1"
    async with workbench(shared_store) as bench:
        await bench.ask(rql)
        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.rql == rql
        assert set(bench.session.results.hits) == {0}
        assert "1 Query (RQL)" in str(bench.app.bench.query_one("#query").border_title)

        await bench.ask("SELECT * FROM chunk FILTER doc.path GLOB 'src/**'")
        assert " pack.py:1 " in bench.painted("results")
        assert "names no signal" in bench.painted("explain")

        await bench.ask("SELECT * FROM chunk USING lexical('budget') LIMIT 2 OFFSET 3")
        assert [hit.rank for hit in bench.session.results.hits.values()] == [4, 5]
        assert "2 of " in bench.painted("results")

        await bench.ask("SELECT * FROM chunk USING lexical('zzzzqq')")
        assert "Nothing matches" in bench.painted("results")

        bench.app.bench.editor.clear()
        await bench.until(lambda now: now.results.answer is None)
        assert "Type words to search" in bench.painted("results")
        assert bench.session.context.packed is None


async def test_rows_stay_stale_until_the_text_is_repaired(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("token budget")
        before = bench.session.query.generation
        await bench.press("f5")
        await bench.until(lambda now: not now.query.busy and now.query.generation == before + 1)
        assert bench.session.results.hits

        await bench.write("SELECT * FROM chunk FILTER doc.tgas = 'x'")
        await bench.until(lambda now: now.query.trouble and "tgas" in now.query.trouble.message)
        assert "docs/budget.md:1 " in bench.painted("results")
        assert "(stale)" in bench.painted("results")
        assert "^^^^^^^^\nThere is no field doc.tgas" in bench.painted("notes")
        assert "did you mean" in bench.painted("notes")

        await bench.ask("cosine")
        assert "(stale)" not in bench.painted("results")
        assert "There is no" not in bench.painted("notes")

        await bench.ask("budget zzyzx")
        assert "W_UNKNOWN_TERM" in bench.painted("notes")
        await bench.ask("budget")
        assert not bench.app.bench.query_one("#notes").display


async def test_messages_take_two_lines_in_a_small_terminal(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        notes = bench.app.bench.query_one("#notes")
        await bench.ask("budget zzyzx qqzzy xxyyx")
        await bench.until(lambda _: "W_UNKNOWN_TERM" in bench.painted("notes"))
        message = "W_UNKNOWN_TERM: zzyzx, qqzzy and xxyyx occur nowhere in this store"
        assert bench.painted("notes").rstrip() == message
        assert bench.session.results.answer is not None
        assert len(bench.session.results.answer.warnings) == 3

        await bench.ask("token budget")
        await bench.until(lambda _: bench.app.bench.query_one("#query").size.height == 1)
        bench.app.bench.editor.text = "SELECT * FROM chunk FILTER doc.path GLOB 'docs"
        await bench.until(lambda now: now.query.trouble and notes.size.height == 2)
        trouble = bench.session.query.trouble
        assert trouble is not None
        assert f"1:42 {trouble.message} ({trouble.hint})" in " ".join(bench.painted("notes").split())
        assert bench.app.bench.editor.size.height == 1
        assert "2 Results (stale)" in bench.painted("results")

        bench.app.bench.editor.text = "SELECT * FROM chunk FILTER size = 'x'"
        await bench.until(lambda now: now.query.trouble and "field size" in now.query.trouble.message)
        await bench.until(lambda _: notes.size.height == 2)
        assert bench.painted("notes").startswith("1:28 There is no field size.")
        assert bench.painted("notes").endswith("…")

        await bench.ask("SELECT doc.colour FROM chunk USING lexical('budget')")
        await bench.until(lambda _: notes.size.height == 2)
        assert bench.session.results.answer is not None
        (warning,) = bench.session.results.answer.warnings
        assert len(warning) > 78
        assert warning in " ".join(bench.painted("notes").split())

        await bench.ask("SELECT doc.colour, doc.size, doc.shape FROM chunk USING lexical('budget')")
        await bench.until(lambda _: bench.painted("notes").rstrip().endswith("… and 1 more"))
        assert bench.painted("notes").splitlines()[0].rstrip().endswith("…")
        assert all("W_UNKNOWN_FIELD: SELECT doc." in line for line in bench.painted("notes").splitlines())
        await bench.ask("budget")
        await bench.until(lambda _: bench.app.bench.query_one("#query").size.height == 1)


async def test_a_burst_of_keys_causes_few_searches(shared_store: Path) -> None:
    text = "token budget memory of a file "[:30].strip()
    async with workbench(shared_store) as bench:
        await bench.until(lambda now: now.store.info)

        await bench.type(text)
        await bench.answered(text)

        assert bench.session.query.generation <= 7


async def test_a_changed_file_is_marked_in_its_row(own_store: Path) -> None:
    (own_store.parent / "docs" / "budget.md").write_text("Another budget.\n", encoding="utf-8")
    (own_store.parent / "src" / "pack.py").unlink()
    async with workbench(own_store) as bench:
        await bench.ask("token budget")

        assert "(modified) docs/budget.md" in bench.painted("results")
        assert "(missing) src/pack.py" in bench.painted("results")


async def test_text_typed_before_the_store_opens_is_answered(shared_store: Path) -> None:
    async with workbench(shared_store, is_own=True) as bench:
        bench.app.bench.editor.text = "token budget"
        query_handlers.run(bench.app)

        await bench.answered("token budget")

        assert "docs/budget.md:1 " in bench.painted("results")


async def test_grades_and_removals_of_other_programs_appear(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    async with workbench(own_store) as bench:
        await bench.ask()
        await bench.until(judged_queries)
        path = bench.session.results.hits[0].doc.path
        with Recall.open(str(own_store)) as other:
            grade = Judgement("q1", Spot(path), 3)
            change(other.store, Regrade("q1", "token budget", added=(grade,), begins=True))
        await bench.until(lambda now: (known := judged_queries(now)) and known.places)
        assert re.search(rf"▶ +1 .*{path}:\d+ .* 29 +3 *$", bench.painted("results"), re.MULTILINE)
        assert bench.session.store.tasks_done == 1

        await bench.press("escape", "2", "j", "g", "a")
        await bench.until(lambda now: now.store.tasks_done == 2 and not now.judge.gradings)
        await asyncio.sleep(0.5)  # ten looks at its own writes
        assert bench.session.store.tasks_done == 2

        await bench.press("home")
        assert path in bench.painted("results")
        with Recall.open(str(own_store)) as other:
            other.remove((path,))
        await bench.until(
            lambda now: (
                now.results.answer
                and now.store.info
                and now.results.answer.generation == now.store.info.generation > 1
            )
        )
        await bench.until(lambda now: not now.query.busy and now.results.hits[0].doc.path != path)
        assert path not in bench.painted("results")
        assert any("The store changed" in notice.message for notice in bench.app._notifications)


async def test_a_long_question_is_cancelled_and_asked_again(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("the budget of a text", encoding="utf-8")
    with provider_server() as server:
        settings = (f"embedding_url={server.url}", "embedding_model=some-model")
        Recall.init(str(tmp_path), embedding="openai", settings=settings)
        with Recall.open(start=tmp_path) as recall:
            list(recall.add([str(tmp_path / "one.txt")], Root("")))
        server.gate.clear()
        async with workbench(tmp_path / "recall.db") as bench:
            bench.app.bench.editor.text = "budget"
            await bench.until(is_lingering)
            assert "^g cancel" in bench.painted("footer")
            assert "Searching; ^g cancels." in bench.painted("results")

            await bench.press("ctrl+g")
            await bench.until(lambda now: now.query.trouble)

            assert not bench.session.query.busy
            assert "The query was cancelled. (F5 runs it again)" in bench.painted("notes")
            assert "cancelled" in str(bench.app.bench.query_one("#query").border_subtitle)
            assert "No results: the query was cancelled." in bench.painted("results")
            assert "^g" not in bench.painted("footer")
            server.gate.set()
            await bench.press("f5")
            await bench.until(lambda now: now.results.answer and now.query.trouble is None)
            assert bench.session.results.answer is not None
            assert bench.session.results.answer.total == 1


async def test_untrusted_settings_leave_the_lexical_signal_only(own_store: Path) -> None:
    with provider_server(768) as server:
        write_settings(own_store.parent / "recall.toml", {"embedding": "ollama", "embedding_url": server.url})
        async with workbench(own_store) as bench:
            await bench.ask()
            await bench.until(lambda _: any(":trust --yes" in each.message for each in bench.app._notifications))

            await bench.until(lambda now: now.results.answer is not None)
            answer = bench.session.results.answer
            assert answer is not None
            assert (answer.plan.semantic, answer.total > 0, server.seen) == (None, True, [])
        assert server.seen == []
