"""The figures and checks of pane 8: current values of the file, with correct shares."""

import re
from pathlib import Path

import apsw
import pytest

from recall_core.api.recall import Recall
from recall_tui.panes.store import mebibytes
from recall_tui.state.session import stamp_of
from recall_tui.state.store_pane import OVERVIEW, StoreOverview, checks, overview
from recall_tui.threads import query_thread
from tests.workbench_driver import Driver, workbench

TALL = (120, 60)


async def opened(bench: Driver, *keys: str) -> None:
    await bench.until(lambda now: now.store.info)
    await bench.press("escape", "8", *keys)


def size_of(store: Path) -> str:
    """Return the size of the file, as in `recall stats` and formatted as in the pane."""
    with Recall.open(str(store)) as recall:
        return mebibytes(recall.stats()["store"]["bytes"])


def enlarge(store: Path) -> None:
    """Write a megabyte that affects no question and no judgement."""
    db = apsw.Connection(str(store))
    db.execute("CREATE TABLE ballast AS SELECT randomblob(1000000) AS value")
    db.close()


def figure_of(bench: Driver, name: str) -> str:
    """Return the value after a name in the pane."""
    return (re.findall(rf"{name} +(\S+(?: [KM]iB)?)", bench.painted("store")) or [""])[0]


async def test_the_figures_follow_writes_of_other_programs(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    with Recall.open(str(own_store)) as recall:
        recall.remove(["manual"])
    async with workbench(own_store, size=TALL) as bench:
        await opened(bench)
        await bench.until(lambda _: figure_of(bench, "file"))
        assert int(figure_of(bench, "tombstones")) > 0
        before = figure_of(bench, "file")
        enlarge(own_store)
        await bench.until(lambda _: figure_of(bench, "file") not in ("", before))
        assert figure_of(bench, "file") == size_of(own_store)
        assert not bench.app._notifications

        with Recall.open(str(own_store)) as other:
            other.compact()

        await bench.until(lambda _: figure_of(bench, "tombstones") == "0")
        await bench.until(lambda _: figure_of(bench, "file") == size_of(own_store))


@pytest.mark.slow
async def test_checks_run_again_after_another_program_wrote(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    async with workbench(own_store, size=TALL) as bench:
        await opened(bench, "C")
        await bench.until(lambda now: all(checks(now)))
        assert "error" not in bench.painted("store")

        db = apsw.Connection(str(own_store))
        db.execute("UPDATE meta SET value = '99' WHERE key = 'documents'")
        db.close()

        await bench.until(lambda _: "1 error" in bench.painted("store"))


async def test_the_shares_of_file_and_vectors_are_correct(shared_store: Path) -> None:
    async with workbench(shared_store, size=TALL) as bench:
        await opened(bench)
        await bench.until(lambda now: isinstance(overview(now), StoreOverview))
        assert bench.session.store.info
        for vectors, chunks, covered in (
            (1_637, 1_637, "100%"),
            (1_635, 1_637, "99%"),
            (1, 1_637, "0%"),
            (0, 4, "0%"),
            (3, 4, "75%"),
            (0, 0, "-"),
        ):
            info = bench.session.store.info._replace(vectors=vectors, chunks=chunks)
            bench.app.become(bench.session._replace(store=bench.session.store._replace(info=info)))

            cover = f"{vectors:,} {covered} covered"
            await bench.until(lambda _, cover=cover: cover in bench.painted("store"))

        known = overview(bench.session)
        assert isinstance(known, StoreOverview)
        view = {**known.view, "bytes": 1_000, "text_bytes": 476, "vector_bytes": 316, "index_bytes": 127}
        result = known._replace(view=view)  # type: ignore[arg-type]
        bench.app.become(bench.session._replace(analyses={OVERVIEW: (stamp_of(bench.session, OVERVIEW), result)}))
        await bench.until(lambda _: "1.0 KiB" in bench.painted("store"))

        shares = re.findall(r"^  (?:texts|vectors|index|other) .* (\d+)%", bench.painted("store"), flags=re.M)

        assert shares == ["48", "31", "13", "8"]  # 47.6, 31.6, 12.7 and 8.1 percent
