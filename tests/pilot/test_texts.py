"""Sources of query texts: the history, files and another editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_tui.home import history
from recall_tui.screens.dialog import ConfirmScreen, PromptScreen
from recall_tui.screens.history import HistoryScreen, having
from tests.workbench_driver import Driver, in_form, workbench

RQL = "SELECT * FROM chunk\nUSING lexical('budget') LIMIT 3"


def remembered(state_home: Path) -> list[str]:
    return [past.text for past in history.load(state_home / "recall" / "history.jsonl")]


def said(bench: Driver) -> str:
    """Return the newest notification."""
    return [notification.message for notification in bench.app._notifications][-1]


async def test_the_history_keeps_settled_queries(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("token")
        await bench.ask("token budget")
        assert remembered(state_home) == []
        await bench.press("escape")
        assert remembered(state_home) == ["token budget"]  # and not what was typed on the way

        await bench.press("1")
        await bench.ask("cosine")
        await bench.press("f5")
        await bench.until(lambda now: now.query.kept.text == "cosine")
        bench.app.bench.editor.text = "SELECT nothing"
        await bench.until(lambda now: now.query.trouble)
        await bench.press("f5", "escape")
        await bench.until(lambda now: not now.query.busy)
        assert remembered(state_home) == ["cosine", "token budget"]

        await bench.press("1")
        await bench.ask(RQL)
        await bench.press("ctrl+q")

    assert remembered(state_home) == [RQL, "cosine", "token budget"]


async def test_an_earlier_query_is_found_by_words_and_run(shared_store: Path, state_home: Path) -> None:
    for text in (RQL, "cosine", "household tea"):
        history.append(state_home / "recall" / "history.jsonl", history.PastQuestion(text))
    async with workbench(shared_store) as bench:
        await bench.type("draft")
        for keys in (["ctrl+r"], ["escape", "h"]):
            await bench.press(*keys)
            await bench.type("LEXICAL select")
            await bench.pilot.pause()
            assert bench.app.screen.query_one("#past").option_count == 1  # type: ignore[attr-defined]

            await bench.press("enter")
            await bench.answered(RQL)

            editor = bench.app.bench.editor
            assert (editor.text, bench.session.pane) == (RQL, "query"), keys
            await bench.press("ctrl+z")
            assert editor.text == "draft"


PAST = history.PastQuestion("household tea", "doc.path GLOB 'notes/*'", ("fusion=rrf", "min_score=0.01", "k=3"))


def asked_with(bench: Driver) -> tuple[object, ...]:
    """Return everything that an entry of the history restores."""
    now = bench.session
    return now.query.text, now.query.filter, dict(now.weights.tweaks), now.weights.k


async def taken(bench: Driver, *keys: str) -> None:
    await bench.press("ctrl+r", *keys)
    await bench.until(
        lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.text == PAST.text
    )


async def test_enter_loads_a_whole_entry_and_u_undoes_it(shared_store: Path, state_home: Path) -> None:
    history.append(state_home / "recall" / "history.jsonl", PAST)
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "4", *in_form("fusion", "right"))
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.config.fusion == "rrf")
        await bench.press(*in_form("normalize", "right"), *in_form("sparse_recall", "right"))
        before = asked_with(bench)

        await taken(bench, "down", "enter")

        assert asked_with(bench) == (PAST.text, PAST.filter, {"fusion": "rrf", "min_score": 0.01}, 3)
        assert bench.session.results.answer.total == 2  # type: ignore[union-attr]
        assert said(bench) == (
            "Loaded with filter doc.path GLOB 'notes/*', fusion=rrf, min_score=0.01, k=3; u in pane 4 undoes it."
        )
        await bench.press("escape", "4", "u")
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.text == "token budget"
        )
        assert asked_with(bench) == before
        assert bench.app.bench.editor.text == "token budget"
        await bench.press("U")
        await bench.answered(PAST.text)
        assert asked_with(bench) == (PAST.text, PAST.filter, {"fusion": "rrf", "min_score": 0.01}, 3)
        assert bench.app.bench.editor.text == PAST.text


async def test_f5_loads_only_the_text_of_an_entry(shared_store: Path, state_home: Path) -> None:
    history.append(state_home / "recall" / "history.jsonl", PAST)
    async with workbench(shared_store) as bench:
        await bench.ask("cosine")
        await bench.press("escape", "4", *in_form("normalize", "right"))
        settings = dict(bench.session.weights.tweaks)

        await taken(bench, "down", "f5")

        assert settings
        assert asked_with(bench) == (PAST.text, "", settings, None)


async def test_unknown_settings_are_reported_and_ignored(shared_store: Path, state_home: Path) -> None:
    strange = PAST._replace(filter="", settings=("fusion=rrf", "k1=2", "normalize=softmax", "k=many"))
    history.append(state_home / "recall" / "history.jsonl", strange)
    async with workbench(shared_store) as bench:
        await taken(bench, "enter")

        assert asked_with(bench) == (PAST.text, "", {"fusion": "rrf"}, None)
        left_out = "k1=2, normalize=softmax, k=many"
        assert said(bench) == f"Loaded with fusion=rrf, without {left_out}; u in pane 4 undoes it."


@pytest.mark.slow
async def test_the_history_keeps_the_number_of_rows(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "4", *in_form("k", "left"), *in_form("k", "left"), "f5")
        await bench.until(lambda now: not now.query.busy and now.query.kept.settings)

        (newest, *_) = history.load(state_home / "recall" / "history.jsonl")

        assert newest.settings == (f"k={bench.session.weights.k}",) != ("k=None",)


async def test_the_history_lists_its_keys(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("ctrl+r")
        assert "history is empty" in said(bench)

        history.append(state_home / "recall" / "history.jsonl", PAST)
        for size in ((60, 20), (80, 24), (120, 40)):
            await bench.pilot.resize_terminal(*size)
            await bench.press("ctrl+r")
            await bench.until(lambda _: "1 of 1" in bench.painted("history").splitlines()[-1])
            foot = bench.painted("history").splitlines()[-1]
            assert "Enter" in foot
            assert "F5" in foot
            assert len(foot) <= min(size[0], 100) - 4, size
            await bench.press("escape")


async def test_arrows_choose_an_earlier_query_and_escape_cancels(shared_store: Path, state_home: Path) -> None:
    for text in ("first", "second", "third"):
        history.append(state_home / "recall" / "history.jsonl", history.PastQuestion(text))
    async with workbench(shared_store) as bench:
        await bench.press("ctrl+r", "down", "down", "up", "enter")
        assert bench.app.bench.editor.text == "second"

        await bench.press("ctrl+r", "down", "escape")

        assert bench.app.bench.editor.text == "second"
        assert not isinstance(bench.app.screen, HistoryScreen)


async def test_a_history_that_cannot_be_written_is_reported_once(shared_store: Path, state_home: Path) -> None:
    (state_home / "recall").write_text("a file in the way", encoding="utf-8")
    async with workbench(shared_store) as bench:
        await bench.ask("token budget")
        await bench.press("f5")
        await bench.until(lambda now: now.query.kept.text == "token budget")
        assert "history cannot be written" in said(bench)
        before = len(bench.app._notifications)

        await bench.ask("cosine")
        await bench.press("f5")
        await bench.until(lambda now: now.query.kept.text == "cosine")

        assert len(bench.app._notifications) == before


def test_earlier_queries_are_found_by_every_word_in_any_case() -> None:
    texts = [*map(history.PastQuestion, ("SELECT * FROM chunk", "token budget", "Budget of a token"))]

    assert having(texts, "BUDGET tok") == texts[1:]
    assert having(texts, " ") == texts


async def test_a_query_is_saved_and_loaded_by_key(
    shared_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "q.rql"
    for link in ("self.rql", "loop"):
        Path(link).symlink_to(link)
    Path("latin.rql").write_bytes(b"caf\xe9")

    async def save(bench: Driver, name: Path | str) -> None:
        await bench.press("f2")
        await bench.write(str(name))
        await bench.press("enter")
        await bench.pilot.pause()

    async with workbench(shared_store) as bench:
        await bench.ask(RQL)
        await bench.press("f2")
        await bench.type("mine")
        await bench.press("enter")
        await bench.until(lambda _: (tmp_path / "mine.rql").exists())
        await bench.ask("token budget")

        for key, kept in (("n", "old\n"), ("escape", "old\n"), ("y", "token budget\n")):
            file.write_text("old\n", encoding="utf-8")
            await save(bench, file)
            assert isinstance(bench.app.screen, ConfirmScreen)
            await bench.press("enter")
            await bench.press(key)
            await bench.pilot.pause()
            assert file.read_text(encoding="utf-8") == kept, key
            assert bench.app.bench.editor.text == "token budget"

        bench.app.clear_notifications()
        await save(bench, file)  # with the same content
        assert said(bench) == f"Saved: {file}"

        for name, reason in (
            (tmp_path / "no" / "folder.rql", "No such file or directory"),
            (tmp_path / "self.rql", "Too many levels of symbolic links"),
            (tmp_path / "loop" / "q", "Too many levels of symbolic links"),
        ):
            bench.app.clear_notifications()
            await save(bench, name)
            await bench.until(lambda _: list(bench.app._notifications))
            assert said(bench).startswith(reason), name
            assert bench.app.bench.editor.text == "token budget"

        await bench.press("f3")
        await bench.write(str(tmp_path / "latin"))
        await bench.press("enter")
        await bench.pilot.pause()
        assert isinstance(bench.app.screen, PromptScreen)
        assert "is not UTF-8 text" in bench.painted("hint")
        await bench.press("escape")
        assert bench.app.bench.editor.text == "token budget"

        await bench.press("f3")
        await bench.write(str(tmp_path / "mine"))
        await bench.press("enter")
        await bench.answered(RQL)
        assert (tmp_path / "mine.rql").read_text(encoding="utf-8") == f"{RQL}\n"


async def test_an_editor_that_fails_to_start_is_reported(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench(shared_store) as bench:
        await bench.type("token")
        monkeypatch.setenv("EDITOR", "no-such-editor")
        await bench.press("f4")
        assert said(bench) == "There is no editor 'no-such-editor' on PATH. (export EDITOR=nano)"
        assert bench.app.bench.editor.text == "token"

        monkeypatch.setenv("EDITOR", "true")
        await bench.press("f4")
        assert "cannot run an editor" in said(bench)
        assert bench.app.bench.editor.text == "token"
