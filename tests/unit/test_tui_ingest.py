"""Drawings of an ingest run: its state and the reasons come before long names, at every width."""

from __future__ import annotations

from rich.cells import cell_len

from recall_core.store.values import Source
from recall_core.types import Progress, Root, Skip
from recall_tui.panes.ingest import opened_lines, strip
from recall_tui.state.records import StoreState
from recall_tui.state.runs import Meter, Rates, Run
from recall_tui.state.session import Session, focus_pane, stamp_of
from recall_tui.state.store_pane import OVERVIEW, StoreOverview
from recall_tui.widgets.draw import ASCII, UNICODE

WIDTHS = [58, 77, 118]
BOTH = [UNICODE, ASCII]

DEEP = "archive/of/several/years/with/notes/that/nobody/has/read/since/they/were/written"
SKIPPED = (
    Skip(f"{DEEP}/latin.txt", "not_utf8", "is not UTF-8: byte 0xe9 at offset 3."),
    Skip("logo.png", "binary_file", "is a binary file: it has a NUL byte."),
)
HALFWAY = Progress("embed", "b.md", 784, 1_284, 790, 5_730, 4_410, 802, 120, 600, 64, 0, SKIPPED, waiting=518)
METER = Meter(9.0, HALFWAY, 5_120, 9.0, Rates(120.4, 870.2, 812.6, 799.9, 0.055))
SUMMARY = "The server at http://localhost:11434 does not answer after three attempts. (start it with: ollama serve)"
RUNS = {
    "running": Run(DEEP, METER),
    "asked": Run(DEEP, METER, hold="asked"),
    "held": Run(DEEP, METER, hold="held"),
    "cancelled": Run(DEEP, METER, ended="cancelled", summary="cancelled; F5 in pane 7 resumes from there"),
    "done": Run(DEEP, METER, ended="done", summary="664 added, 120 unchanged"),
    "failed": Run(DEEP, METER, ended="failed", summary=SUMMARY),
}


def shown(run: Run | None, *sources: Source) -> Session:
    session = focus_pane(Session(store=StoreState(run=run)), "ingest")
    known = StoreOverview({}, sources, ())  # type: ignore[typeddict-item]
    return session._replace(analyses={OVERVIEW: (stamp_of(session, OVERVIEW), known)})


def text_of(run: Run, width: int = 77) -> str:
    return "\n".join(line.plain.rstrip() for line in opened_lines(shown(run), width, UNICODE)[0])


def test_every_line_fits_its_width() -> None:
    source = Source(Root(DEEP, ("*.md", "*.txt"), tags=("old",)), 12_345, "2026-01-02T03:04:05")
    for width in WIDTHS:
        for glyphs in BOTH:
            for name, run in RUNS.items():
                session = shown(run, source)

                lines = [*opened_lines(session, width, glyphs)[0], strip(session, width, glyphs)]

                assert max(cell_len(line.plain) for line in lines) <= width, (width, glyphs, name)
                if glyphs is ASCII:
                    assert all(line.plain.isascii() for line in lines), (width, glyphs, name)


def test_the_state_appears_next_to_a_long_folder() -> None:
    for width in WIDTHS:
        for name, expected in [
            ("running", "H pauses, ^g cancels"),
            ("asked", "pausing after this step"),
            ("held", "PAUSED, H resumes"),
        ]:
            head = opened_lines(shown(RUNS[name]), width, UNICODE)[0][0].plain

            assert expected in head, (width, name)
            assert "written" in head, (width, name)


def test_the_reason_of_a_failed_run_is_shown_in_full() -> None:
    for width in WIDTHS:
        lines = [line.plain for line in opened_lines(shown(RUNS["failed"]), width, UNICODE)[0]]

        head = " ".join(
            " ".join(lines[: next(row for row, line in enumerate(lines) if line.startswith("read"))]).split()
        )
        assert SUMMARY in head, width
        assert head.endswith("F5 runs it again"), width


def test_a_skip_reason_appears_next_to_a_long_path() -> None:
    for width in WIDTHS:
        drawn = opened_lines(shown(RUNS["done"]), width, UNICODE)

        first, second = (drawn[0][place].plain for place in drawn[1])
        assert "latin.txt: is not UTF-8" in first, width
        assert second.rstrip().endswith("logo.png: is a binary file: it has a NUL byte."), width


def test_only_skipped_files_can_be_chosen() -> None:
    for width in WIDTHS:
        for run in RUNS.values():
            drawn = opened_lines(shown(run), width, UNICODE)

            assert [SKIPPED[at].path[-8:] in drawn[0][place].plain for at, place in enumerate(drawn[1])] == [
                True,
                True,
            ], width


def test_waiting_chunks_are_mentioned_only_if_any() -> None:
    stored = METER._replace(indexed=5_730)

    assert "610 chunks are not stored yet" in text_of(RUNS["held"])
    assert "not stored yet" not in text_of(RUNS["held"]._replace(meter=stored))


def test_one_of_a_kind_uses_the_singular() -> None:
    one = HALFWAY._replace(waiting=1, reused=1, tokens=1)
    session = shown(None, Source(Root("docs"), 1, ""))

    running = text_of(Run("docs", METER._replace(progress=one)), 200)
    held = text_of(Run("docs", METER._replace(progress=one, indexed=5_729), hold="held"), 200)

    assert "1 text waits for the embedder" in running
    assert "1 vector reused" in running
    assert "1 token charged" in running
    assert "1 chunk is not stored yet" in held
    assert " 1 doc  " in opened_lines(session, 77, UNICODE)[0][-1].plain


def test_many_skipped_files_have_thousands_separators() -> None:
    progress = HALFWAY._replace(skipped=SKIPPED * 600)
    session = shown(Run("docs", Meter(progress=progress), ended="done", summary="784 added"))

    assert "1,200 skipped" in strip(session, 118, UNICODE).plain


def test_the_strip_keeps_its_figures_next_to_a_long_name() -> None:
    for width in [80, 120]:
        run = Run("/notes/" + "a name that somebody gave to a folder " * 4, METER._replace(seconds=0.0))

        assert "784 of 1,284 files" in strip(shown(run), width, UNICODE).plain, width


def test_the_strip_of_a_cancelled_run_names_its_keys() -> None:
    for width in [58, 77, 98, 118]:
        text = strip(shown(RUNS["cancelled"]._replace(folder="docs")), width, UNICODE).plain.rstrip()

        assert "F5 in pane 7 resumes" in text, width
        assert text.endswith(("2 skipped", "7 lists them")), width


def test_remaining_work_and_sync_state_are_shown_in_full() -> None:
    for width in [58, 77, 118]:
        session = shown(None, Source(Root(DEEP), 12_345, "2026-01-02T03:04:05"))

        text = " ".join(line.plain.rstrip() for line in opened_lines(session, width, UNICODE)[0])

        assert "R syncs every folder." in text, width
        assert text.endswith("not synced here yet"), width
        assert ("newest 2026-01-02" in text) == (width > 58), width


def test_a_source_keeps_the_end_of_its_folder() -> None:
    session = shown(None, Source(Root(DEEP), 3, ""), Source(Root("docs", ("*.md",), tags=("old",)), 7, ""))

    long, short = (line.plain for line in opened_lines(session, 77, UNICODE)[0][-2:])

    assert "they/were/written" in long
    assert " docs *.md #old" in short


def test_skipped_files_are_counted_by_reason() -> None:
    text = text_of(RUNS["done"], 118)

    assert "Skipped 2 · Enter shows why · 1 binary · 1 not UTF-8" in text


def test_names_are_neutralised() -> None:
    for glyphs in BOTH:
        hostile = "evil\x1b[2J\nname"
        progress = HALFWAY._replace(skipped=(Skip(hostile, "not_utf8", f"is named {hostile}"),))
        session = shown(Run(hostile, Meter(progress=progress)), Source(Root(hostile), 3, ""))

        lines = [line.plain for line in [*opened_lines(session, 118, glyphs)[0], strip(session, 118, glyphs)]]

        assert all(line.isprintable() for line in lines), glyphs
        assert sum(line.count("evil [2J name") for line in lines) == 5, glyphs
