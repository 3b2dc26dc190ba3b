"""The progress of an ingest run: stages, rates, time left, and its end."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from recall_core.errors import StoreLocked
from recall_core.types import Progress, Skip
from recall_tui.state.events import Advanced, Ended, Held
from recall_tui.state.runs import (
    EVERYTHING,
    Meter,
    Rates,
    Run,
    chunks_committed,
    may_hold,
    seconds_left,
    smooth_rate,
    stages,
    update_meter,
)
from recall_tui.state.transitions import run_after


def moment(
    files: int = 0, chunks: int = 0, waiting: int = 0, stage: str = "read", skipped: tuple[Skip, ...] = ()
) -> Progress:
    """Return the progress of a run over ten files."""
    return Progress(stage, "a.md", files, 10, files, chunks, 0, 0, 0, files, 0, 0, skipped, waiting=waiting)  # type: ignore[arg-type]


def test_the_stages_count_their_work() -> None:
    meter = Meter(progress=moment(files=4, chunks=40, waiting=15), indexed=20)

    assert [(stage.name, stage.done, stage.total, stage.unit) for stage in stages(meter)] == [
        ("read", 4, 10, "files"),
        ("chunk", 40, 0, "chunks"),
        ("embed", 25, 0, "chunks"),
        ("index", 20, 0, "chunks"),
    ]
    assert [stage.share for stage in stages(meter)] == pytest.approx([0.4, 0.4, 0.25, 0.2])


MOMENTS = some.lists(
    some.tuples(*[some.integers(0, 40)] * 5, some.sampled_from(["read", "chunk", "embed", "commit"])), min_size=1
)


@given(moments=MOMENTS)
def test_no_bar_shrinks_when_more_files_turn_up(
    moments: list[tuple[int, int, int, int, int, str]],
) -> None:
    """Return progress reports: counts and totals grow, and any part of the chunks may wait."""
    meter, files, more, chunks, indexed = Meter(), 0, 0, 0, 0
    shares: list[tuple[float, ...]] = []
    for at, (new_files, new_totals, new_chunks, waiting, kept, stage) in enumerate(moments, start=1):
        files, more, chunks = files + new_files, more + new_totals, chunks + new_chunks
        indexed = min(chunks, indexed + kept)
        progress = moment(files, chunks, min(waiting, chunks), stage)._replace(files_total=files + more)
        meter = update_meter(meter, progress, indexed, float(at))
        shares.append((*(each.share for each in stages(meter)), meter.reached.run))

    assert all(0.0 <= share <= 1.0 for each in shares for share in each)
    for before, after in pairwise(shares):
        assert all(now >= then for then, now in zip(before, after, strict=True))


def test_a_waiting_bar_continues_once_the_run_catches_up() -> None:
    first = update_meter(Meter(), moment(files=4, chunks=40), 0, 1.0)
    more = update_meter(first, moment(files=5, chunks=80, waiting=40), 0, 2.0)
    last = update_meter(more, moment(files=10, chunks=80), 80, 3.0)

    embedding = [stages(meter)[2].share for meter in (first, more, last)]
    assert embedding == pytest.approx([0.4, 0.4, 1.0])


def test_the_number_of_chunks_is_known_after_the_last_file() -> None:
    assert stages(Meter(progress=moment(files=10, chunks=90)))[1].total == 90
    assert stages(Meter(progress=moment(files=9, chunks=90)))[1].total == 0


def test_a_run_without_a_report_has_no_stages() -> None:
    assert stages(Meter()) == ()


def test_indexed_chunks_grow_only_with_commits() -> None:
    meter = Meter(indexed=5)

    assert chunks_committed(meter, moment(chunks=30, stage="embed")) == 5
    assert chunks_committed(meter, moment(chunks=30, stage="commit")) == 30
    assert chunks_committed(meter, moment(chunks=30, stage="done")) == 30


def test_the_first_interval_sets_the_rate() -> None:
    first = update_meter(Meter(at=10.0), moment(files=2, chunks=20), 0, 11.0)
    second = update_meter(first, moment(files=6, chunks=60), 20, 12.0)

    assert (first.rates.read, first.rates.cut, first.seconds) == (2.0, 20.0, 1.0)
    assert 2.0 < second.rates.read < 4.0
    assert 20.0 < second.rates.cut < 40.0
    assert second.rates.stored == 20.0


def test_a_rate_does_not_depend_on_the_number_of_steps() -> None:
    slow = smooth_rate(100.0, 0.0, 0.0, 1.0)
    quick = 100.0
    for _ in range(10):
        quick = smooth_rate(quick, 0.0, 0.0, 0.1)

    assert quick == pytest.approx(slow)


def test_no_time_passed_changes_no_rate() -> None:
    meter = Meter(at=5.0, rates=Rates(read=7.0))

    assert update_meter(meter, moment(files=3), 0, 5.0).rates == meter.rates


def test_the_end_is_not_estimated_before_two_seconds() -> None:
    early = Meter(progress=moment(files=5), seconds=1.9, rates=Rates(share=0.1))

    assert seconds_left(early) is None
    assert seconds_left(early._replace(seconds=2.0)) == pytest.approx(5.0)
    assert seconds_left(early._replace(seconds=2.0, rates=Rates())) is None
    assert seconds_left(Meter(seconds=9.0)) is None


def test_a_pause_is_requested_then_held_then_over() -> None:
    asked = Run("docs", hold="asked")

    held = run_after(asked, Held(is_held=True))

    assert held.hold == "held"
    assert may_hold(held)
    assert run_after(held, Held(is_held=False)).hold == ""


def test_a_finished_run_cannot_be_paused() -> None:
    assert not may_hold(None)
    assert not may_hold(run_after(Run("docs", hold="held"), Ended(None, None)))
    assert run_after(Run("docs", hold="held"), Ended(None, None)).hold == ""


def test_a_cancelled_run_says_how_to_resume() -> None:
    run = run_after(Run("docs"), Ended(None, None))

    assert run.ended == "cancelled"
    assert "F5 in pane 7 resumes" in run.summary


def test_a_failed_run_keeps_its_skipped_files_and_says_why() -> None:
    skip = Skip("a.bin", "binary_file", "it has a NUL byte")
    advanced = run_after(Run("docs"), Advanced(Meter(progress=moment(skipped=(skip,)))))

    failed = run_after(advanced, Ended(None, StoreLocked("store_locked", "Locked.", hint="wait")))

    assert (failed.ended, failed.summary, failed.skipped) == ("failed", "Locked. (wait)", (skip,))


def test_a_run_is_named_by_its_last_folder() -> None:
    assert [Run(folder).name for folder in ("/a/docs", "docs/", ".", EVERYTHING)] == [
        "docs",
        "docs",
        ".",
        "every folder",
    ]
