"""Pane 8: the figures, the checks with their fixes, the embedders, and what is done to the store from there."""

import gzip
import json
import shlex
import threading
from collections import deque
from pathlib import Path

import apsw
import pytest
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widgets import Input, Static

from recall_core.adapters import cli
from recall_core.adapters.streams import standard
from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.handlers.store import NamedTarget, named_in, reembedded
from recall_tui.panes.store import TITLE_AT
from recall_tui.screens.confirm import READING_SECONDS, ConfirmScreen, PromptScreen
from recall_tui.state import store_pane
from recall_tui.state.shell import command
from recall_tui.state.store_pane import CHECKS, StoreCommand
from tests.workbench_driver import NAMES, Driver, workbench

GOLDEN = Path(__file__).parents[1] / "golden"


async def opened(bench: Driver, *keys: str) -> None:
    await bench.until(lambda now: now.store.info)
    await bench.press("escape", "8", *keys)


async def checked(bench: Driver) -> None:
    """Open the checks and wait for all of them."""
    await opened(bench, "C")
    await bench.until(
        lambda _: "waits" not in bench.painted("store") and f"of {len(CHECKS)}" not in bench.painted("store")
    )


async def choose(bench: Driver, code: str) -> None:
    codes = [each for each, _ in store_pane.checks(bench.session)]
    await bench.press("home", *["down"] * codes.index(code))
    await bench.until(lambda _: any("▶" in line and code in line for line in bench.painted("store").splitlines()))


async def agreed(bench: Driver) -> None:
    await bench.questioned()
    await bench.press("y")
    await bench.until(lambda now: not now.store.task and bench.app.screen is bench.app.bench)


def told(bench: Driver) -> str:
    return " ".join(note.message for note in bench.app._notifications)


def lines_of(bench: Driver) -> list[str]:
    return bench.painted("store").splitlines()


def break_counts(store: Path) -> None:
    """What a crash of another program might leave: a wrong count of documents."""
    db = apsw.Connection(str(store))
    db.execute("UPDATE meta SET value = '99' WHERE key = 'documents'")
    db.close()


async def test_the_figures_are_those_of_stats(shared_store: Path) -> None:
    with Recall.open(str(shared_store)) as recall:
        stats = recall.stats(sizes=True)["store"]
    async with workbench(shared_store, size=(120, 60)) as bench:
        await opened(bench)
        await bench.until(lambda _: "tokens" in bench.painted("store") and "..." not in bench.painted("store"))

        shown = bench.painted("store")

        assert f"{stats['tokens']:,}" in shown
        assert stats["embedder"] in shown
        assert stats["digest"][:12] in shown
        assert f"{stats['vector_bytes'] / 1024:,.1f} KiB" in shown
        assert all(root in shown for root in stats["roots"])


async def test_every_check_of_doctor_is_a_line_with_its_verdict_in_words(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 76)) as bench:
        await checked(bench)

        lines = bench.painted("store").splitlines()
        with Recall.open(str(shared_store)) as recall:
            for check in recall.doctor()["checks"]:
                assert any(check["severity"] in line and check["code"] in line for line in lines), check


async def test_t_right_and_left_turn_the_views_and_each_copies_its_command(
    shared_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench)
        found = []
        for key in ("t", "right", "left"):
            found.append(command(bench.session, str(shared_store)))
            await bench.press(key)
        await bench.press("t")
        assert "▶Embedder" in bench.painted("store")
        found.append(command(bench.session, str(shared_store)))
        digest = bench.session.store.info.digest if bench.session.store.info else ""

    assert [shlex.split(each)[3:] for each in found] == [
        ["stats", "--sizes"],
        ["doctor"],
        ["embedders"],
        ["embedders"],
    ]
    assert cli.main([*shlex.split(found[0])[1:], "--json"], streams=standard()) == 0
    assert json.loads(capsys.readouterr().out)["store"]["digest"] == digest


async def test_the_documents_are_a_tree_whose_folders_open_and_close(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await opened(bench, "t", "t", "t")
        await bench.until(lambda _: "docs/" in bench.painted("store"))
        assert "budget.md" not in bench.painted("store")

        await bench.press("right")
        await bench.until(lambda _: "budget.md" in bench.painted("store"))
        await bench.press("down", "left")
        await bench.until(lambda _: any("▶- docs/" in line for line in bench.painted("store").splitlines()))
        await bench.press("left")

        await bench.until(lambda _: "budget.md" not in bench.painted("store"))
        assert store_pane.view_of(bench.session) == "documents"


async def test_enter_makes_a_folder_a_file_or_a_tag_the_filter_and_once_more_takes_it_away(own_store: Path) -> None:
    folder = own_store.parent / "zoo"
    folder.mkdir()
    (folder / "quokka.txt").write_text("The token of a quokka.\n", encoding="utf-8")
    with Recall.open(str(own_store)) as recall:
        for _ in recall.add([str(folder)], Root("", tags=("animals",))):
            pass
    async with workbench(own_store, size=(120, 60)) as bench:
        await bench.ask("token budget")
        await opened(bench, "t", "t", "t")
        await bench.until(lambda _: "docs/" in bench.painted("store") and "tags" in bench.painted("store"))

        await bench.press("right")
        await bench.until(lambda _: "budget.md" in bench.painted("store"))
        for key, expression in [
            ("home", "doc.path GLOB 'docs/**'"),
            ("down", "doc.path = 'docs/budget.md'"),
            ("end", "doc.tag = 'animals'"),
        ]:
            await bench.press(key, "enter")
            await bench.until(lambda now, wanted=expression: now.query.filter == wanted and not now.query.busy)
            answer = bench.session.results.answer
            assert answer is not None
            assert answer.plan.filters == expression
            await bench.until(lambda _: any("▶" in line and "filter" in line for line in lines_of(bench)))

        await bench.press("enter")
        await bench.until(lambda now: now.query.filter == "" and not now.query.busy)


async def test_the_command_of_the_documents_lists_what_is_chosen(
    shared_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await opened(bench, "t", "t", "t")
        await bench.until(store_pane.chosen_line)
        typed = command(bench.session, str(shared_store))

    assert cli.main([*shlex.split(typed)[1:], "--json"], streams=standard()) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert rows
    assert all(row["doc"]["path"].startswith("docs/") for row in rows)


async def test_a_query_in_rql_keeps_its_own_filter(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await bench.ask("SELECT * FROM doc")
        await opened(bench, "t", "t", "t")
        await bench.until(store_pane.chosen_line)

        await bench.press("enter")

        assert bench.session.query.filter == ""
        assert "has its own FILTER" in told(bench)


async def test_a_broken_count_is_an_error_and_its_fix_names_the_backup(own_store: Path) -> None:
    break_counts(own_store)
    async with workbench(own_store, size=(120, 60)) as bench:
        await checked(bench)
        assert "1 error" in bench.painted("store")
        await choose(bench, "counts")
        assert "recall doctor --fix" in bench.painted("store")

        await bench.press("enter")
        await agreed(bench)

        assert ".bak-" in told(bench)
        await checked(bench)
        await bench.until(lambda _: "error" not in bench.painted("store"))
    assert list(own_store.parent.glob("*.bak-*"))


async def test_a_file_that_changed_is_synced_by_its_fix_at_once_and_the_check_is_made_anew(own_store: Path) -> None:
    (own_store.parent / "notes/diary.txt").write_text("Rain all day.\n", encoding="utf-8")
    async with workbench(own_store, size=(120, 66)) as bench:
        await checked(bench)
        await choose(bench, "files")
        await bench.until(lambda _: "fix: recall sync" in bench.painted("store"))

        await bench.press("enter")

        await bench.until(lambda _: "37 files are as they" in bench.painted("store"))


async def test_a_no_repairs_nothing(own_store: Path) -> None:
    break_counts(own_store)
    async with workbench(own_store) as bench:
        await checked(bench)
        await choose(bench, "counts")

        await bench.press("enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("n")

        assert bench.session.store.tasks_done == 0
    assert not list(own_store.parent.glob("*.bak-*"))


async def test_shift_c_checks_once_more(own_store: Path) -> None:
    async with workbench(own_store, size=(120, 60)) as bench:
        await checked(bench)
        assert "error" not in bench.painted("store")
        break_counts(own_store)

        await bench.press("C")

        await bench.until(lambda _: "1 error" in bench.painted("store"))


async def test_compact_drops_what_was_removed_after_a_yes(own_store: Path) -> None:
    with Recall.open(str(own_store)) as recall:
        recall.remove(["manual"])
    async with workbench(own_store) as bench:
        await opened(bench)
        await bench.app.perform("compact")
        await agreed(bench)

        assert "tombstones deleted" in told(bench)
        await bench.until(lambda now: now.store.info and now.store.info.tombstones == 0)


async def test_the_third_view_offers_every_embedder_and_enter_makes_the_vectors_anew(own_store: Path) -> None:
    async with workbench(own_store, size=(120, 60)) as bench:
        await opened(bench, "right", "right")
        await bench.until(lambda _: "in use" in bench.painted("store"))
        assert "hash" in next(line for line in bench.painted("store").splitlines() if "in use" in line)

        await bench.press("j")
        await bench.until(lambda _: "meaning of words" in bench.painted("store"))
        await bench.press("enter")
        await agreed(bench)
        await bench.until(lambda now: now.store.info and now.store.info.embedder.startswith("local-"))

        assert "texts embedded" in told(bench)
        await bench.ask("token budget")
        assert bench.session.results.answer is not None


@pytest.mark.parametrize(("texts", "said"), [(1, "1 text embedded, 0 found"), (2, "2 texts embedded, 0 found")])
def test_one_text_is_not_told_as_many(tmp_path: Path, texts: int, said: str) -> None:
    for number in range(texts):
        (tmp_path / f"{number}.txt").write_text(f"Text {number}.\n", encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        deque(recall.add([str(tmp_path)], Root("")), maxlen=0)

        summary = reembedded(
            recall, lambda _: None, remedy=StoreCommand("reembed", "local"), stopped=threading.Event()
        )

    assert said in summary


async def test_an_embedder_that_cannot_be_used_says_why(own_store: Path) -> None:
    async with workbench(own_store, size=(120, 60)) as bench:
        await opened(bench, "right", "right")
        await bench.until(lambda _: "missing" in bench.painted("store"))

        await bench.press("end", "enter")

        assert "not installed" in told(bench)
        assert bench.session.store.task == ""


async def test_enter_is_offered_only_where_it_does_something_and_under_a_name_that_fits(own_store: Path) -> None:
    break_counts(own_store)
    async with workbench(own_store, size=(200, 60)) as bench:
        await opened(bench)
        await bench.until(store_pane.embedders)
        assert "Enter" not in bench.painted("footer")

        await checked(bench)
        await choose(bench, "integrity")
        await bench.until(lambda _: "Enter" not in bench.painted("footer"))
        await choose(bench, "counts")
        await bench.until(lambda _: "Enter run" in bench.painted("footer"))

        await bench.press("right")
        await bench.until(lambda _: "Enter run" in bench.painted("footer"))


async def test_a_click_chooses_a_row(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await opened(bench, "right", "right")
        await bench.until(lambda _: "minilm" in bench.painted("store"))
        line = next(row for row, text in enumerate(bench.painted("store").splitlines()[1:]) if " minilm " in text)

        await bench.pilot.click("#store", offset=(20, line + 1))

        await bench.until(
            lambda _: any("▶" in text and "minilm" in text for text in bench.painted("store").splitlines())
        )


def title_of(bench: Driver) -> str:
    """The upper edge of the pane, cell by cell."""
    title = Content.from_markup(bench.painted("store").splitlines()[0]).plain
    return f"{'':{TITLE_AT}}{title}"


async def test_a_click_on_a_name_in_the_title_opens_its_view_and_chooses_no_row(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await checked(bench)
        await bench.press("end")
        await bench.until(lambda _: "▶" in bench.painted("store") and CHECKS[-1] in bench.painted("store"))
        for name in ("Stats", "Embedder", "Documents", "Checks"):
            await bench.pilot.click("#store", offset=(title_of(bench).index(name), 0))

            await bench.until(lambda _, name=name: f"▶{name}" in bench.painted("store"))

        await bench.pilot.click("#store", offset=(title_of(bench).index("Checks"), 0))
        await bench.pilot.pause()
        assert any("▶" in line and CHECKS[-1] in line for line in bench.painted("store").splitlines())


async def test_without_unicode_a_check_is_called_ok_once(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    async with workbench(shared_store, size=(120, 60)) as bench:
        await checked(bench)

        line = next(each for each in bench.painted("store").splitlines() if "integrity" in each)

        assert line.split()[:2] == ["ok", "integrity"] or line.split()[:3] == [">", "ok", "integrity"]


async def test_the_chosen_check_stays_in_sight_on_a_small_screen(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await checked(bench)

        await bench.press("end")
        await bench.until(lambda _: "▶" in bench.painted("store") and CHECKS[-1] in bench.painted("store"))
        await bench.press("home")
        await bench.until(lambda _: "▶" in bench.painted("store") and "integrity" in bench.painted("store"))


async def test_the_checks_do_not_wait_for_a_query_that_can_be_answered(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await bench.ask()
        bench.app.bench.editor.text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
        await bench.until(lambda now: now.query.trouble)

        await checked(bench)

        assert "integrity" in bench.painted("store")


async def named(bench: Driver, target: str) -> None:
    """Name documents to take out."""
    await opened(bench, "delete")
    await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))
    await bench.write(target)
    await bench.press("enter")


def asked(bench: Driver) -> str:
    """What the question in front says."""
    return "\n".join(str(line.render()) for line in bench.app.screen.query(Static))


@pytest.mark.parametrize(
    ("target", "documents", "shown"),
    [
        ("docs/budget.md", 1, ["1 document leaves the store", "  docs/budget.md"]),
        ("manual/part0[12].txt", 2, ["2 documents leave the store", "  manual/part01.txt\n  manual/part02.txt"]),
        ("**/*.txt", 32, ["32 documents leave the store", "  and 27 more"]),
    ],
)
async def test_documents_are_counted_first_and_leave_after_a_yes(
    own_store: Path, target: str, documents: int, shown: list[str]
) -> None:
    async with workbench(own_store) as bench:
        await named(bench, target)
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        assert [text for text in shown if text not in asked(bench)] == []
        assert "a sync adds those of a source again" in asked(bench)
        with Recall.open(str(own_store)) as recall:
            assert recall.store.info().documents == 37

        await agreed(bench)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 37 - documents)

        assert f"{documents} document{'s' * (documents > 1)} removed" in told(bench)
        assert bench.session.store.info.tombstones > 0  # type: ignore[union-attr]
    with Recall.open(str(own_store)) as recall:
        assert recall.store.info().documents == 37 - documents
    assert (own_store.parent / "docs" / "budget.md").exists()


async def test_a_removed_source_is_told_and_forgotten(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own_store.parent)
    async with workbench(own_store) as bench:
        await named(bench, "docs")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        assert "The folder is no longer a source" in asked(bench)

        await agreed(bench)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 34)
    with Recall.open(str(own_store)) as recall:
        assert "docs" not in recall.stats()["store"]["roots"]


async def test_the_question_lists_what_goes_as_seen_from_the_folder_one_stands_in(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_store.parent / "docs")
    async with workbench(own_store) as bench:
        await named(bench, ".")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        assert "3 documents leave the store:\n  docs/budget.md\n  docs/files.md\n  docs/scoring.md\n" in asked(bench)
        assert "The folder is no longer a source" in asked(bench)

        await agreed(bench)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 34)
    with Recall.open(str(own_store)) as recall:
        assert "docs" not in recall.stats()["store"]["roots"]
        assert "manual" in recall.stats()["store"]["roots"]


async def test_a_name_of_two_things_stays_in_the_prompt_with_both(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_store.parent / "docs" / "manual").mkdir()
    monkeypatch.chdir(own_store.parent / "docs")
    async with workbench(own_store) as bench:
        await named(bench, "manual")
        await bench.until(
            lambda _: isinstance(bench.app.screen, PromptScreen) and "could be" in bench.painted("hint")
        )

        assert "./manual" in bench.painted("hint")
        assert "../manual" in bench.painted("hint")
        await bench.press("escape")
        assert bench.session.store.tasks_done == 0


@pytest.fixture
def may_look(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """What is to be removed is looked up when this is set."""
    event = threading.Event()

    def looked_up(store: str | None, target: str) -> NamedTarget:
        event.wait()
        return named_in(store, target)

    monkeypatch.setattr("recall_tui.handlers.store.named_in", looked_up)
    return event


async def test_who_types_on_when_the_question_appears_removes_nothing_and_has_typed_it(
    own_store: Path, may_look: threading.Event
) -> None:
    text = "why yesterday yields, they say, may vary"
    async with workbench(own_store) as bench:
        await named(bench, "docs/*.md")
        await bench.press("1")
        await bench.until(lambda now: now.pane == "query")
        keys = [Key(NAMES.get(mark, mark), mark) for mark in text]
        for place, key in enumerate(keys):
            key.time += 0.06 * place
        may_look.set()
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

        for key in keys:
            bench.app.post_message(key)
        await bench.until(lambda _: bench.app.bench.editor.text == text)
        assert isinstance(bench.app.screen, ConfirmScreen)

        await bench.until(lambda _: Message().time > keys[-1].time + READING_SECONDS)
        await bench.press("n")
        await bench.until(lambda _: bench.app.screen is bench.app.bench)

        assert bench.session.store.tasks_done == 0
    with Recall.open(str(own_store)) as recall:
        assert recall.store.info().documents == 37


@pytest.mark.parametrize("text", ["supply and 60 yards", "a", "Why?"])
async def test_who_begins_a_word_after_a_rest_has_typed_it_and_is_asked_still(
    own_store: Path, may_look: threading.Event, text: str
) -> None:
    async with workbench(own_store) as bench:
        await named(bench, "docs/*.md")
        await bench.press("1")
        await bench.until(lambda now: now.pane == "query")
        may_look.set()
        await bench.questioned()
        last = Message().time
        keys = [Key(NAMES.get(mark, mark), mark) for mark in text]
        for place, key in enumerate(keys):
            key.time = last + 10 + 0.1 * place

        for key in keys:
            bench.app.post_message(key)

        await bench.until(lambda _: bench.app.bench.editor.text == text)
        assert isinstance(bench.app.screen, ConfirmScreen)
        assert bench.session.store.tasks_done == 0


async def test_a_no_takes_no_document_out(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await named(bench, "docs/*.md")
        await bench.questioned()

        await bench.press("n")
        await bench.pilot.pause()

        assert bench.session.store.tasks_done == 0
    with Recall.open(str(own_store)) as recall:
        assert recall.store.info().documents == 37


async def test_the_question_copies_the_command_and_waits(own_store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with workbench(own_store) as bench:
        await named(bench, "docs/*.md")
        await bench.questioned()

        await bench.press("Y")

        typed = shlex.split(bench.app.clipboard)
        assert isinstance(bench.app.screen, ConfirmScreen)
        await bench.press("escape")
    assert typed == ["recall", "--store", str(own_store), "rm", "docs/*.md"]
    assert cli.main([*typed[1:], "--dry-run", "--json"], streams=standard()) == 0
    said = json.loads(capsys.readouterr().out)["removed"]
    assert said["paths"] == ["docs/budget.md", "docs/files.md", "docs/scoring.md"]


async def test_a_name_of_nothing_stays_in_the_prompt_with_the_reason(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await named(bench, "nowhere/*.md")
        await bench.until(
            lambda _: isinstance(bench.app.screen, PromptScreen) and "nothing named" in bench.painted("hint")
        )

        assert bench.app.screen.query_one(Input).value == "nowhere/*.md"
        await bench.press("escape")
        assert bench.session.store.tasks_done == 0


async def test_nothing_leaves_when_other_documents_match_by_the_time_of_the_yes(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await named(bench, "docs/*.md")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        with Recall.open(str(own_store)) as recall:
            recall.remove(["docs/files.md"])

        await agreed(bench)

        assert "Nothing was removed: by now docs/*.md names other documents." in told(bench)
    with Recall.open(str(own_store)) as recall:
        assert recall.get("docs/budget.md")["ok"]


async def test_a_store_of_an_earlier_version_says_that_it_was_brought_up_to_date(tmp_path: Path) -> None:
    store = tmp_path / "recall.db"
    store.write_bytes(gzip.decompress((GOLDEN / "schema-2.db.gz").read_bytes()))
    async with workbench(store) as bench:
        await opened(bench)
        await bench.until(lambda _: f"as it was it lies in {store}.bak-schema-2" in told(bench))

    async with workbench(store) as bench:
        await opened(bench)
        assert "schema" not in told(bench)
