"""The results grouped by document: the order of rows, and each key and click."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.panes.results import HEAD, ResultsPane
from tests.workbench_driver import Driver, workbench

QUERY = "zebra"
SECTIONS = 60
BELOW = re.compile(r"^[▶ ] +(\d+) \d\.\d{3} \S* *:(\d+) › ", re.MULTILINE)
"""A row below its document: its rank and its line."""
DOCUMENT = re.compile(r"^(\S+\.md) +(\d+) chunks? · best (\d+) · (\d\.\d{3}) +$", re.MULTILINE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return three long files and a short one, with a word that their sections contain more and less often."""
    folder = tmp_path_factory.mktemp("grouped")
    (folder / "herd").mkdir()
    for file, name in enumerate(("first", "second", "third")):
        sections = [
            f"## Section {number}\n\n{'zebra ' * (3 * number + file + 1)}{'grass and water ' * 80}\n"
            for number in range(SECTIONS // 3)
        ]
        (folder / "herd" / f"{name}.md").write_text("\n".join(sections), encoding="utf-8")
    (folder / "herd" / "fourth.md").write_text("# Few\n\nOne zebra.\n", encoding="utf-8")
    Recall.init(str(folder))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "herd")], Root("")):
            pass
    return folder / "recall.db"


async def grouped(bench: Driver, query: str = QUERY) -> None:
    """Show the rows of the query grouped by document."""
    await bench.ask(query)
    await bench.press("escape", "G")
    await drawn(bench)


async def drawn(bench: Driver) -> None:
    """Return a condition: every visible row was fetched with its passage."""
    pane = bench.app.bench.query_one(ResultsPane)

    def is_drawn() -> bool:
        hits = [bench.session.results.hits.get(row) for row in pane.whole_rows]
        return all(hit and hit.chunk and hit.chunk.id in bench.session.results.passages for hit in hits)

    await bench.until(lambda _: is_drawn())


def documents(bench: Driver) -> list[str]:
    """Return the document of each listed row, by rank."""
    hits = bench.session.results.hits
    return [hits[row].doc.path for row in sorted(hits)]


def selected(bench: Driver) -> int:
    return bench.session.results.selected


async def test_rows_are_grouped_and_keys_follow_them(store: Path) -> None:
    async with workbench(store, size=(120, 60)) as bench:
        await bench.ask(QUERY)
        await bench.press("escape")
        by_rank = bench.session.results.hits
        await bench.press("G")
        await drawn(bench)
        painted = bench.painted("results")

        (path, chunks, best, score), *_ = DOCUMENT.findall(painted)
        ranks = [int(rank) for rank, _ in BELOW.findall(painted)]
        assert painted.startswith("2 Results by document\n")
        assert (best, score) == ("1", f"{by_rank[0].score:.3f}")
        assert int(chunks) == documents(bench).count(f"herd/{path}") > 1
        assert ranks == sorted(ranks)
        assert ranks != list(range(1, len(ranks) + 1))
        assert {by_rank[rank - 1].doc.path for rank in ranks[: int(chunks)]} == {f"herd/{path}"}

        await bench.press("G")

        assert bench.painted("results").startswith("2 Results\n")
        assert bench.session.results.hits == by_rank

        await bench.press("G")
        await drawn(bench)
        grouping, rows = bench.session.results.grouping, 50

        seen = [selected(bench)]
        for key in ("j", "down", "J"):
            await bench.press(key)
            seen.append(selected(bench))
        assert seen == [grouping.row(place) for place in range(4)] != list(range(4))
        await bench.press("K", "k")
        assert selected(bench) == grouping.row(1)
        await bench.press("end")
        assert selected(bench) == grouping.row(rows - 1)
        await bench.press("home")
        assert selected(bench) == 0

        pane = bench.app.bench.query_one(ResultsPane)
        row = grouping.row(2)
        await bench.pilot.click(ResultsPane, offset=(20, pane.line_of(row)))
        assert selected(bench) == row
        await bench.pilot.click(ResultsPane, offset=(20, pane.line_of(0) - 1))
        assert selected(bench) == 0

        await bench.pilot.resize_terminal(120, 40)
        await bench.pilot.pause()
        shown = set(pane.whole_rows)
        await bench.press("pagedown")
        await drawn(bench)
        assert selected(bench) in pane.whole_rows
        assert 0 < min(map(grouping.places.__getitem__, pane.whole_rows)) <= len(shown)  # no row is skipped
        assert pane.scroll_offset.y > HEAD
        top = bench.painted("results").splitlines()[1]  # the line of the document has scrolled away
        assert DOCUMENT.findall(top)[0][0] == documents(bench)[0].removeprefix("herd/")
        await bench.press("pageup")
        assert selected(bench) == 0
        assert pane.scroll_offset.y == 0

        row = grouping.row(1)
        assert row > 1
        await bench.press("j", "c")
        await bench.until(lambda _: re.search(rf"#{row + 1} .* against #1 ", bench.painted("explain")))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_paging_down_skips_no_row(store: Path, size: tuple[int, int]) -> None:
    async with workbench(store, size=size) as bench:
        await grouped(bench)
        pane = bench.app.bench.query_one(ResultsPane)

        first = documents(bench)[0].removeprefix("herd/")
        shown = set(pane.whole_rows)
        last, pages = bench.session.results.grouping.row(49), 0
        while selected(bench) != last and pages < 50:
            await bench.press("pagedown")
            await drawn(bench)
            assert selected(bench) in pane.whole_rows
            shown |= set(pane.whole_rows)
            pages += 1
            if pages == 1 and size == (120, 40):  # the line of the document has scrolled away
                assert pane.scroll_offset.y > HEAD
                assert DOCUMENT.findall(bench.painted("results").splitlines()[1])[0][0] == first

        assert shown == set(range(50))
        for _ in range(pages + 1):
            await bench.press("pageup")
        assert selected(bench) == 0
        assert pane.scroll_offset.y == 0


@pytest.mark.slow
async def test_grouping_survives_other_questions_and_weights(store: Path) -> None:
    async with workbench(store) as bench:
        await grouped(bench)
        await bench.press("1")
        await bench.ask("grass")
        assert bench.painted("results").startswith("2 Results by document")

        await bench.press("escape", "4", "left", "left")
        await bench.until(lambda now: now.results.ranked_at == now.query.generation and now.weights.tweaks)
        await drawn(bench)

        assert DOCUMENT.search(bench.painted("results"))
        assert sorted(bench.session.results.grouping.order) == list(range(50))


async def test_grouped_rows_are_copied_and_exported_by_rank(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with workbench(store) as bench:
        await bench.ask("SELECT * FROM doc USING lexical('zebra')")
        await bench.press("escape", "G")
        assert [note.message for note in bench.app._notifications] == ["Not grouped: each row is a document."]
        assert bench.painted("results").startswith("2 Results\n")
        assert not bench.session.results.is_grouped

        await bench.press("1")
        await bench.ask(QUERY)
        await bench.press("escape", "Y")
        command, packed, hits = bench.app.clipboard, bench.session.context.packed, bench.session.results.hits
        await bench.press("G", "Y", "E")
        await bench.write("rows.csv")
        await bench.press("enter")
        await bench.until(lambda now: now.store.tasks_done and not now.store.task)

        assert bench.app.clipboard == command
        assert bench.session.context.packed == packed
        rows = list(csv.DictReader((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()))
        assert [row["chunk.id"] for row in rows] == [hits[row].chunk.id for row in range(50)]  # type: ignore[union-attr]


async def test_a_grouped_row_of_one_line_omits_its_document(store: Path) -> None:
    async with workbench(store, size=(80, 24)) as bench:
        await grouped(bench)
        painted = bench.painted("results")

        assert bench.app.bench.query_one(ResultsPane).row_height == 1
        assert DOCUMENT.search(painted)
        assert re.search(r"^▶ +1 \d\.\d{3} :\d+ › Section \d+ ", painted, re.MULTILINE)
