"""Progress: the response is returned, and Ctrl-C leaves a sentence and a clean store."""

from __future__ import annotations

import io
from collections.abc import Generator
from pathlib import Path
from typing import NoReturn

import pytest

from recall_core import Recall
from recall_core.adapters import cli
from recall_core.adapters.progress import counts, follow, name_stage, share_done, watch
from recall_core.adapters.streams import Streams
from recall_core.contract.responses import IngestResponse
from recall_core.errors import Interrupted
from recall_core.types import Progress, Stage

DONE: IngestResponse = {"ok": True, "schema_version": "1"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def streams(stderr: io.StringIO | None = None) -> Streams:
    return Streams(io.StringIO(), io.StringIO(), stderr or io.StringIO())


def moment(documents: int) -> Progress:
    """Return an event; every second one is a commit."""
    stage: Stage = "commit" if documents % 2 == 0 else "index"
    return Progress(stage, "a.md", documents, 3, documents, documents, 0, 0, 0, documents, 0, 0, ())


def work(closed: list[bool], *, stop_after: int = 3) -> Generator[Progress, None, IngestResponse]:
    try:
        for documents in range(1, 4):
            yield moment(documents)
            if documents == stop_after:
                raise KeyboardInterrupt
    finally:
        closed.append(True)
    return DONE


def test_response_is_returned_and_a_pipe_stays_quiet() -> None:
    to = streams()

    assert follow(work([], stop_after=9), streams=to) == DONE
    assert to.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_pipe_gets_a_line_every_ten_seconds() -> None:
    to, now = streams(), iter([0.0, 9.9, 10.0, 10.0, 19.9])

    follow(work([], stop_after=9), streams=to, clock=now.__next__)

    assert to.stderr.getvalue() == "writing 2/3 files\n"  # type: ignore[attr-defined]


def test_stopping_work_finishes_the_current_event() -> None:
    closed: list[bool] = []

    with pytest.raises(Interrupted, match="2 documents saved"):
        follow(work(closed, stop_after=9), streams=streams()._replace(is_ending=iter([False, False, True]).__next__))

    assert closed == [True]


def test_terminal_shows_a_bar() -> None:
    terminal = Terminal()

    assert follow(work([], stop_after=9), streams=streams(terminal)) == DONE
    assert "3/3 files" in terminal.getvalue()


def test_bar_names_and_counts_its_work() -> None:
    for name, stage, shown in [
        ("reading", "discover", ("looking for files", "2/3 files, 5 texts")),
        ("reading", "read", ("reading", "2/3 files, 5 texts")),
        ("reading", "embed", ("embedding", "2/3 files, 5 texts")),
        ("reading", "done", ("reading", "2/3 files, 5 texts")),
        ("embedding", "embed", ("embedding", "9/12 texts")),
        ("embedding", "commit", ("embedding", "9/12 texts")),
        ("embedding", "ask", ("asking", "2/3 queries, 5 texts")),
        ("asking", "ask", ("asking", "2/3 queries, 5 texts")),
        ("copying", "copy", ("copying", "2/3 pages, 5 texts")),
    ]:
        event = moment(2)._replace(stage=stage, chunks=12, embedded=5, reused=4)

        assert (name_stage(event, name), counts(event, name)) == shown, (name, stage)


def test_bar_has_its_name_before_the_first_event() -> None:
    terminal = Terminal()

    follow(work([], stop_after=9), streams=streams(terminal), name="copying")

    assert "copying" in terminal.getvalue()
    assert "files" in terminal.getvalue()
    assert "discover" not in terminal.getvalue()


def test_bar_subtracts_texts_without_vectors() -> None:
    for files_done, chunks, waiting, expected in [
        (0, 0, 0, 0.0),
        (2, 0, 0, 0.5),
        (2, 100, 50, 0.25),
        (4, 100, 100, 0.0),
        (4, 100, 0, 1.0),
        (4, 3, 9, 0.0),
    ]:
        event = moment(2)._replace(files_done=files_done, files_total=4, chunks=chunks, waiting=waiting)

        assert share_done(event) == expected, (files_done, chunks, waiting)


def test_interrupted_reembed_reports_its_progress() -> None:
    with pytest.raises(Interrupted) as caught:
        follow(work([], stop_after=2), streams=streams(), kept=lambda event: f"{event and event.chunks} texts")

    assert caught.value.message == "interrupted: 2 texts; run the same command again to continue"


def test_ctrl_c_ends_watch_with_130_and_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("words\n")
    monkeypatch.chdir(tmp_path)
    Recall.init()
    with Recall.open() as recall:
        list(recall.add(["."]))

        def stop(_: object) -> NoReturn:
            raise KeyboardInterrupt

        for is_ending in (False, True):  # between two syncs, and in the middle of one
            to = streams()._replace(is_ending=lambda is_ending=is_ending: is_ending)

            assert cli.guard_run(lambda to=to: watch(recall, to, stop), streams=to) == 130  # type: ignore[misc]
            assert to.stderr.getvalue() == "Stopped. All reported changes are saved.\n"  # type: ignore[attr-defined]


def test_ctrl_c_closes_the_work_and_reports_committed_files() -> None:
    closed: list[bool] = []

    with pytest.raises(Interrupted) as caught:
        follow(work(closed, stop_after=3), streams=streams())

    assert closed == [True]
    assert caught.value.message == "interrupted: 2 documents saved; run the same command again to continue"
    assert caught.value.exit_code == 130
