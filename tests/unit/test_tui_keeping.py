"""The store pane: its analyses, its lists, and its fixes."""

import re
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.errors import StoreCorrupt
from recall_core.maintain.doctor import codes
from recall_core.maintain.embedders import embedders
from recall_core.types import Progress, Skip, StoreInfo
from recall_tui.state import store_pane as pane_state
from recall_tui.state.events import StoreOpened
from recall_tui.state.records import Analysis, StoreState
from recall_tui.state.runs import EVERYTHING, Meter, Run
from recall_tui.state.session import Session, focus_pane, move_cursor, result_of, stamp_of
from recall_tui.state.store_pane import CHECKS, OVERVIEW, PACE, QUALITY, QUALITY_OF_WORDS, Health, StoreCommand
from recall_tui.state.transitions import after

EMBEDDERS = (Path(__file__).parents[2] / "docs" / "embedders.md").read_text(encoding="utf-8")


def store_pane(view: pane_state.View = "stats") -> Session:
    return pane_state.show_view(focus_pane(Session(), "store"), view)


def with_checks(session: Session, **severities: str) -> Session:
    """Return the session with these checks done. A warning has a fix."""
    analysed = dict(session.analyses)
    for code, severity in severities.items():
        check = {"code": code, "severity": severity, "evidence": "counted", "fix": "recall compact"}
        analysed[Analysis("health", code)] = stamp_of(session, Analysis("health", code)), Health(check)  # type: ignore[arg-type]
    return session._replace(analyses=analysed)


def test_the_checks_match_doctor() -> None:
    assert codes() == CHECKS


def test_an_unasked_server_is_described_as_needed() -> None:
    listed = {view["name"]: view for view in embedders(Config(), in_use=None, probe=False)}
    assert set(pane_state.SERVERS) <= set(listed)
    assert (pane_state.state_of(listed["ollama"]), pane_state.state_of(listed["hash"])) == ("server", "ready")
    assert "needs a running server" in pane_state.embedder_words(listed["ollama"])
    assert "server" not in pane_state.embedder_words(listed["hash"])
    assert pane_state.state_of({**listed["ollama"], "in_use": True}) == "in use"
    assert pane_state.state_of({**listed["ollama"], "available": False}) == "missing"


def test_the_quality_of_an_embedder_matches_its_page() -> None:
    for name in QUALITY:
        measured = [
            float(re.search(rf"^\| {corpus}, `{name}` \| [^|]+ \| (\.\d+) ", EMBEDDERS, re.M)[1])  # type: ignore[index]
            for corpus in ("Cranfield", "SciFact")
        ]

        assert tuple(measured) == QUALITY[name], name


def test_the_quality_of_words_alone_matches_the_page() -> None:
    for name in QUALITY:
        added = [
            float(re.search(rf"^\| {corpus}, `{name}` (?:\|[^|]+){{2}}\| \+(\.\d+) ", EMBEDDERS, re.M)[1])  # type: ignore[index]
            for corpus in ("Cranfield", "SciFact")
        ]

        assert [round(all_of - more, 3) for all_of, more in zip(QUALITY[name], added, strict=True)] == pytest.approx(
            list(QUALITY_OF_WORDS), abs=0.002
        ), name


def test_only_measured_embedders_have_a_pace() -> None:
    assert set(PACE) == set(QUALITY)


def test_checks_run_only_while_visible() -> None:
    assert list(pane_state.wants(Session())) == []
    assert list(pane_state.wants(store_pane())) == [OVERVIEW]
    assert list(pane_state.wants(store_pane("checks"))) == [OVERVIEW, *(Analysis("health", code) for code in CHECKS)]
    assert list(pane_state.wants(focus_pane(Session(), "ingest"))) == [OVERVIEW]


def test_the_views_form_a_ring() -> None:
    session = store_pane()

    seen = []
    for _ in pane_state.VIEWS:
        session = pane_state.turn_view(session, 1)
        seen.append(pane_state.view_of(session))

    assert seen == ["checks", "embedder", "documents", "stats"]
    assert pane_state.view_of(pane_state.turn_view(session, -1)) == "documents"


def test_each_view_keeps_its_own_chosen_row() -> None:
    session = move_cursor(store_pane("checks"), "store checks", 3, len(CHECKS))

    assert pane_state.cursor_of(session) == 3
    assert pane_state.cursor_of(pane_state.show_view(session, "embedder")) == 0
    assert pane_state.cursor_of(pane_state.show_view(pane_state.show_view(session, "embedder"), "checks")) == 3


def test_an_unfinished_check_has_no_result() -> None:
    session = with_checks(store_pane("checks"), integrity="ok")
    analysis = Analysis("health", "schema")
    error = StoreCorrupt("store_corrupt", "The file is damaged.", hint="restore a backup")
    session = session._replace(analyses={**session.analyses, analysis: (stamp_of(session, analysis), error)})

    found = dict(pane_state.checks(session))
    first, second, third = found["integrity"], found["foreign_keys"], found["schema"]

    assert first is not None
    assert first["severity"] == "ok"
    assert second is None
    assert third is not None
    assert (third["severity"], third["evidence"], third["fix"]) == (
        "error",
        "The file is damaged.",
        "restore a backup",
    )


def test_a_task_invalidates_every_check() -> None:
    session = with_checks(store_pane("checks"), integrity="ok")

    assert pane_state.checks(session._replace(store=session.store._replace(tasks_done=1)))[0] == ("integrity", None)


def test_a_write_invalidates_only_figures_and_checks() -> None:
    session, curve = with_checks(store_pane("checks"), integrity="ok"), Analysis("curve", "tea")
    info = StoreInfo("recall.db", 1, "hash-1:8", 8, "whitespace", "plain", "porter", 1, "d" * 64, 1, 1, 1, 0, 0, "")
    session = session._replace(store=session.store._replace(info=info))
    kept = {
        analysis: (stamp_of(session, analysis), "found")
        for analysis in (OVERVIEW, Analysis("health", "integrity"), curve)
    }
    session = session._replace(analyses=kept)

    reported, written = after(session, StoreOpened(info)), after(session, StoreOpened(info, is_written=True))

    assert [result_of(reported, analysis, str) for analysis in kept] == ["found", "found", "found"]
    assert [result_of(written, analysis, str) for analysis in kept] == [None, None, "found"]


def test_the_chosen_check_is_that_of_the_row() -> None:
    session = with_checks(store_pane("checks"), integrity="ok", space="warning")
    session = move_cursor(session, "store checks", CHECKS.index("space"), len(CHECKS))

    chosen = pane_state.chosen_check(session)

    assert chosen is not None
    assert chosen["code"] == "space"
    assert pane_state.chosen_check(pane_state.show_view(session, "stats")) is None


def test_problems_come_first_and_the_choice_stays() -> None:
    session = pane_state.pick_line(with_checks(store_pane("checks"), integrity="ok"), CHECKS.index("texts"))

    found = with_checks(session, space="warning", counts="error", schema="warning")

    codes = [code for code, _ in pane_state.checks(found)]
    assert codes[:3] == ["counts", "schema", "space"]
    assert codes[3:] == [code for code in CHECKS if code not in codes[:3]]
    assert codes[pane_state.cursor_of(found)] == "texts"
    assert pane_state.pick_line(found, 99).cursors["store checks"] == CHECKS.index("environment")


def test_only_a_single_command_runs_as_a_fix() -> None:
    for command, remedy in [
        ("recall doctor --fix", StoreCommand("doctor")),
        ("recall compact", StoreCommand("compact")),
        ("recall sync", StoreCommand("sync")),
        ("recall sync, then recall rm a.md", None),
        ("recall reembed local", StoreCommand("reembed", "local")),
        (
            "recall reembed ollama --set 'embedding_model=a b'",
            StoreCommand("reembed", "ollama", ("embedding_model=a b",)),
        ),
        ("recall rm PATH, then recall add PATH", None),
        ("restore a backup, or recall init a new store and recall import an export", None),
        ("pip install --upgrade recall-tui", None),
        ("recall reembed local --set", None),
    ]:
        assert pane_state.remedy(command) == remedy, command


def test_the_ingest_pane_lists_the_skipped_files_of_its_run() -> None:
    skips = (Skip("a", "binary_file", "x"), Skip("b", "not_utf8", "y"))
    progress = Progress("done", "", 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, skips)
    session = focus_pane(Session(store=StoreState(run=Run("docs", Meter(progress=progress)))), "ingest")

    assert pane_state.rows_of(session) == 2
    assert pane_state.rows_of(focus_pane(Session(), "ingest")) == 0


def test_each_view_has_its_command() -> None:
    for session, words in [
        (store_pane(), ["stats", "--sizes"]),
        (store_pane("checks"), ["doctor"]),
        (store_pane("embedder"), ["embedders"]),
        (store_pane("documents"), ["query", "SELECT doc.path FROM doc ORDER BY doc.path"]),
        (focus_pane(Session(), "ingest"), ["sync"]),
        (focus_pane(Session(store=StoreState(run=Run(EVERYTHING))), "ingest"), ["sync"]),
        (focus_pane(Session(store=StoreState(run=Run("docs"))), "ingest"), ["add", "docs"]),
        (focus_pane(Session(store=StoreState(run=Run("-x"))), "ingest"), ["add", "--", "-x"]),
        (focus_pane(Session(store=StoreState(run=Run("docs"), watching=True)), "ingest"), ["sync", "--watch"]),
    ]:
        assert pane_state.command_words(session) == words, session


def test_an_unmeasured_embedder_has_no_quality() -> None:
    assert pane_state.ndcg("local") == ".406  .722"
    assert pane_state.ndcg("gemini").split() == ["-", "-"]
    assert len(pane_state.ndcg("gemini")) == len(pane_state.ndcg("local"))
