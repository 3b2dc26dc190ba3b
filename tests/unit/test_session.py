"""The transitions of a session, without a screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from recall_core.config import Config
from recall_core.errors import StoreLocked, UsageError
from recall_core.rank.weighing import Ranking
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.types import Chunk, Document, Hit, Key, Packed, Pool, Progress, StoreInfo
from recall_tui.actions.action import can_cancel
from recall_tui.home.history import PastQuestion
from recall_tui.state import weighing
from recall_tui.state.events import (
    Advanced,
    AnalysisDone,
    Answered,
    Charted,
    Ended,
    Failed,
    Fetched,
    Learned,
    Repacked,
    Reweighed,
    StoreOpened,
)
from recall_tui.state.records import Analysis, Chart, Lookup, LookupResult, StoreState
from recall_tui.state.runs import Meter, Run
from recall_tui.state.session import (
    WORDS_K,
    Session,
    ask,
    focus_pane,
    give_up,
    is_ingesting,
    is_stale,
    list_range,
    look_at,
    next_pane,
    result_of,
    select_row,
    set_budget,
    settle,
    stamp_of,
    want_lookups,
)
from recall_tui.state.transitions import after, query_request
from recall_tui.state.weighing import to_keep


def answer_of(text: str, total: int) -> Answer:
    config = Config()
    if text.startswith("SELECT"):
        plan = plan_rql(text, config=config, exact=False)
    else:
        plan = plan_words(text, config=config, mode="hybrid", filter_text=None, k=WORDS_K, exact=False)
    return Answer(plan, None, None, total, "d" * 64, 1, "", 1.0, {}, (), "whitespace", {})


def hit_of(rank: int) -> Hit:
    document = Document("d" * 64, f"doc{rank}.txt", "h", "2023-11-14T22:13:20.000000Z", 1, "t", None, (), {})
    return Hit(rank, 0.5, document, Chunk("c" * 64, document.id, 0, 4, 1, 1, 1, None, "text"), ())


def answered(text: str = "token budget", total: int = 40) -> Session:
    session = ask(Session(), text, 10.0)
    rows = {row: hit_of(row + 1) for row in range(min(total, 20))}
    return after(
        session,
        Answered(session.query.generation, answer_of(text, total), rows, {}, 10.5, question=session.query.question),
    )


def test_query_makes_the_session_busy_until_its_answer() -> None:
    busy = ask(Session(), "token budget", 10.0)

    done = answered()

    assert (busy.query.busy, busy.results.answer) == (True, None)
    assert (done.query.busy, done.results.took_ms, done.results.hit) == (False, 500.0, hit_of(1))


def test_event_of_an_older_query_changes_nothing() -> None:
    for event in [
        Answered(1, answer_of("old", 3), {}, {}, 11.0, question=1),
        Fetched(1, {0: hit_of(9)}, {}),
        Repacked(1, Packed("old", 5, 1, "whitespace", 1, (), ()), ()),
        Failed(1, StoreLocked("store_locked", "Locked.")),
    ]:
        newer = ask(answered(), "another", 12.0)

        assert after(newer, event) is newer, event


def test_failed_query_marks_the_old_answer_stale() -> None:
    before = ask(answered(), "SELECT nonsense", 12.0)

    session = after(before, Failed(before.query.question, UsageError("bad", "No.")))

    assert is_stale(session)
    assert not session.query.busy
    assert (session.results.answer, session.results.hits) == (before.results.answer, before.results.hits)
    assert not is_stale(ask(session, "", 13.0))


def test_query_failing_after_a_weight_change_marks_it_too() -> None:
    moved = weighing.nudge_share(ask(answered(), "household", 12.0), 5)
    assert moved.query.generation > moved.query.question

    session = after(moved, Failed(moved.query.question, UsageError("bad", "No.")))

    assert is_stale(session)
    assert not session.query.busy


def test_slow_query_can_be_cancelled_and_old_rows_stay() -> None:
    pending = ask(answered(), "more", at=1.0)
    assert not can_cancel.holds(pending)
    lingering = pending._replace(query=pending.query._replace(lingers=pending.query.question))
    assert can_cancel.holds(lingering)

    cancelled = give_up(lingering)

    assert not can_cancel.holds(cancelled)
    assert cancelled.results.hits == answered().results.hits
    assert is_stale(cancelled)
    assert query_request(cancelled).is_given_up
    assert not query_request(ask(cancelled, "more", at=2.0)).is_given_up
    assert not can_cancel.holds(ask(lingering, "even more", at=2.0))


def test_row_analyses_stay_until_other_rows_arrive() -> None:
    asked_for, analysis = answered(), Analysis("ledger", "c" * 64)
    known = after(asked_for, AnalysisDone(analysis, stamp_of(asked_for, analysis), "leaves"))

    busy = ask(known, "SELECT nonsense", 12.0)
    stale = after(busy, Failed(busy.query.question, UsageError("bad", "No.")))
    other = after(
        busy, Answered(busy.query.generation, answer_of("other", 3), {}, {}, 12.5, question=busy.query.question)
    )

    assert [result_of(now, analysis, str) for now in (known, busy, stale, other)] == [
        "leaves",
        "leaves",
        "leaves",
        None,
    ]


def test_empty_query_runs_and_shows_nothing() -> None:
    session = ask(answered(), "  \n", 12.0)

    assert (
        session.query.busy,
        session.results.answer,
        session.results.hits,
        session.results.hit,
        session.context.packed,
    ) == (False, None, {}, None, None)


def test_selection_stays_inside_the_list() -> None:
    session = answered(total=40)

    assert select_row(session, -5).results.selected == 0
    assert select_row(session, 99).results.selected == 39
    assert select_row(Session(), 3).results.selected == 0


def test_selected_row_shows_its_hit_once_it_arrives() -> None:
    session = select_row(answered(total=40), 30)
    assert session.results.hit == hit_of(1)

    session = after(session, Fetched(session.query.generation, {30: hit_of(31)}, {}))

    assert session.results.hit == hit_of(31)


def test_fetched_rows_stay_until_the_order_changes() -> None:
    session = answered(total=400)
    first = session.results.hits[0]

    session = after(session, Fetched(session.query.generation, {300: hit_of(301)}, {"d9": "modified"}, {300: 7}))
    session = after(session, Fetched(session.query.generation, {200: hit_of(201)}, {}, {200: 8}))
    again = ask(session, session.query.text, 12.0)
    again = after(
        again,
        Answered(
            again.query.generation, answer_of(session.query.text, 400), {}, {}, 12.0, question=again.query.question
        ),
    )

    assert {row: session.results.hits[row] for row in (0, 300, 200)} == {0: first, 300: hit_of(301), 200: hit_of(201)}
    assert (session.results.states, session.weights.saved_ranks) == ({"d9": "modified"}, {300: 7, 200: 8})
    assert (again.results.hits, again.results.states, again.weights.saved_ranks) == ({}, {}, {})


def test_selection_stays_for_the_same_query_and_resets_for_another() -> None:
    session = select_row(answered(), 7)

    again = ask(session, session.query.text, 12.0)
    again = after(
        again,
        Answered(
            again.query.generation, answer_of(session.query.text, 5), {}, {}, 12.0, question=again.query.question
        ),
    )
    other = ask(session, "other", 12.0)
    other = after(
        other, Answered(other.query.generation, answer_of("other", 40), {}, {}, 12.0, question=other.query.question)
    )

    assert again.results.selected == 4
    assert other.results.selected == 0


def listing(text: str, generation: int, *places: tuple[str, int]) -> Answer:
    """Return an answer that lists these paths and offsets, best first, for one generation of the store."""
    keys = tuple(Key(row, row, path, offset, 1) for row, (path, offset) in enumerate(sorted(places)))
    order = [next(at for at, key in enumerate(keys) if (key.path, key.offset) == place) for place in places]
    pool = Pool(keys, (), (), 1.0, (), True, "none")
    ranked = Ranking(order, [0.5] * len(keys), (), kept=len(keys))
    found = answer_of(text, len(places))
    return found._replace(pool=pool, ranked=ranked, generation=generation, digest=str(generation) * 64)


def test_selection_follows_its_row_when_the_store_changes() -> None:
    for generation, places, selected, displaced in [
        (2, (("c", 0), ("a", 0), ("b", 0), ("b", 9)), 3, 0),
        (2, (("b", 0), ("a", 0), ("c", 0)), 0, 0),
        (2, (("a", 0), ("d", 0), ("c", 0)), 1, 1),
        (2, (("a", 0),), 0, 1),
        (1, (("c", 0), ("a", 0), ("b", 0), ("b", 9)), 1, 0),
    ]:
        start = ask(Session(), "token budget", 10.0)
        older = listing(start.query.text, 1, ("a", 0), ("b", 9), ("b", 0), ("c", 0))
        session = select_row(
            after(start, Answered(start.query.generation, older, {}, {}, 10.5, question=start.query.question)), 1
        )

        again = ask(session, session.query.text, 12.0)
        newer = listing(start.query.text, generation, *places)
        session = after(again, Answered(again.query.generation, newer, {}, {}, 12.0, question=again.query.question))

        assert (session.results.selected, session.results.displaced) == (selected, displaced), (
            generation,
            places,
            selected,
            displaced,
        )


def test_scrolling_inside_the_window_requests_nothing() -> None:
    session = answered()

    assert query_request(look_at(session, 5, 30)) == query_request(session)._replace(seen=(5, 30))
    assert look_at(look_at(session, 5, 30), 5, 30) == look_at(session, 5, 30)
    assert look_at(session, 500, 530).results.window == (440, 590)


def test_rows_are_requested_a_screenful_early() -> None:
    session = look_at(answered(), 500, 530)

    assert look_at(session, 520, 550).results.window == session.results.window
    assert look_at(session, 540, 570).results.window == (480, 630)


def test_window_of_another_query_begins_at_the_top() -> None:
    session = look_at(answered(), 500, 530)

    assert ask(session, "other", 1.0).results.window[0] == 0
    assert ask(session, session.query.text, 1.0).results.window == session.results.window


def test_words_list_first_rows_and_a_query_its_limit() -> None:
    for text, rows in [
        ("token budget", (0, 40)),
        ("SELECT * FROM chunk LIMIT 5", (0, 5)),
        ("SELECT * FROM chunk LIMIT 5 OFFSET 38", (38, 2)),
        ("SELECT * FROM chunk LIMIT 5 OFFSET 99", (99, 0)),
    ]:
        assert list_range(answer_of(text, 40)) == rows, text
        assert list_range(answer_of("token budget", 400)) == (0, WORDS_K), text


def test_budget_is_never_below_one() -> None:
    assert set_budget(Session(), -3).context.budget_tokens == 1


def test_store_sets_the_budget_only_when_it_first_opens() -> None:
    info = None
    opened = after(Session(), StoreOpened(info, Config(budget_tokens=777)))  # type: ignore[arg-type]

    assert opened.context.budget_tokens == 777
    assert after(set_budget(opened, 50), StoreOpened(info)).context.budget_tokens == 50  # type: ignore[arg-type]


def test_tab_visits_the_ingest_strip_only_during_a_run() -> None:
    judge = focus_pane(Session(), "judge")

    assert next_pane(judge, 1) == "store"
    assert next_pane(judge._replace(store=judge.store._replace(run=Run("docs"))), 1) == "ingest"
    assert next_pane(Session(), -1) == "store"


def test_run_ends_done_failed_or_cancelled_and_reports_it() -> None:
    running = Session(store=StoreState(run=Run("docs")))
    view = {"added": 3, "updated": 0, "unchanged": 9, "removed": 0, "chunks": 12}
    progress = Progress("read", "a.txt", 1, 2, 1, 4, 4, 0, 0, 1, 0, 0, ())

    assert is_ingesting(after(running, Advanced(Meter(progress=progress))))
    done = after(running, Ended(view, None)).store.run  # type: ignore[arg-type]
    failed = after(running, Ended(None, StoreLocked("store_locked", "Locked.", hint="wait"))).store.run
    cancelled = after(running, Ended(None, None)).store.run

    assert done is not None
    assert (done.ended, done.summary) == ("done", "3 added, 9 unchanged")
    assert failed is not None
    assert (failed.ended, failed.summary) == ("failed", "Locked. (wait)")
    assert cancelled is not None
    assert cancelled.ended == "cancelled"


def info_of(generation: int) -> StoreInfo:
    return StoreInfo(
        "recall.db", 1, "hash-1:512", 512, "whitespace", "plain", "porter", generation, "d" * 64, 1, 1, 1, 0, 0, ""
    )


def test_settled_answer_enters_the_history_once() -> None:
    live = answered("token budget")
    left = focus_pane(live, "results")
    kept = left._replace(query=left.query._replace(kept=PastQuestion("token budget")))

    found = [to_keep(session) for session in (live, left, settle(live), kept)]
    assert [past.text if past else "" for past in found] == ["", *["token budget"] * 2, ""]


def test_further_typing_unsettles_the_text() -> None:
    ran = settle(answered("token"))

    more = ask(ran, "token budget", 12.0)

    assert ask(ran, "token", 12.0).query.is_settled
    assert not more.query.is_settled
    assert ask(focus_pane(ran, "results"), "token budget", 12.0).query.is_settled


def test_query_without_an_answer_is_not_kept() -> None:
    busy = settle(ask(answered(), "SELECT nonsense", 12.0))
    failed = after(busy, Failed(busy.query.question, UsageError("bad", "No.")))

    assert (to_keep(busy), to_keep(failed), to_keep(settle(Session()))) == (None, None, None)


def test_missing_completions_are_requested_until_they_arrive() -> None:
    keys, other = Lookup(None, ""), Lookup(None, "a")
    entry = LookupResult((), is_whole=True)
    session = want_lookups(Session(), [keys, other])
    assert query_request(session).lookups == (keys, other)

    session = after(session, Learned(keys, entry))

    assert (session.query.entries, query_request(session).lookups) == ({keys: entry}, (other,))
    assert query_request(want_lookups(session, [keys])).lookups == ()


def test_completions_are_forgotten_when_the_store_changes() -> None:
    opened = after(Session(), StoreOpened(info_of(1)))
    learned = after(opened, Learned(Lookup(None, ""), LookupResult((), is_whole=True)))

    assert after(learned, StoreOpened(info_of(1))).query.entries == learned.query.entries
    assert after(learned, StoreOpened(info_of(2))).query.entries == {}


def test_package_and_its_session_load_without_textual() -> None:
    code = "import recall_tui.state.session, recall_tui.threads.threads, sys; sys.exit('textual' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0


def test_weight_change_drops_older_events_but_not_its_chart() -> None:
    session = weighing.nudge_share(answered(), 5)
    chart = Chart("weighted", "bound", 60, (), (), (), ())

    assert after(session, Repacked(1, Packed("old", 5, 1, "whitespace", 1, (), ()), ())) is session
    assert after(session, Charted(session.query.question, chart)).weights.chart == chart
    assert after(session, Charted(session.query.question - 1, chart)) is session


def test_rows_in_another_order_keep_the_selection_on_its_row() -> None:
    session = weighing.nudge_share(select_row(answered(total=40), 3), 5)
    event = Reweighed(session.query.generation, answer_of("token budget", 2), {1: hit_of(9)}, {}, Config(), {1: 5})

    session = after(session, event)

    assert (session.results.selected, session.results.hit, session.weights.saved_ranks) == (1, hit_of(9), {1: 5})


def test_weight_change_over_a_stale_list_leaves_it_stale() -> None:
    before = ask(answered(), "SELECT nonsense", 12.0)
    failed = after(before, Failed(before.query.question, UsageError("bad", "No.")))
    session = weighing.nudge_share(failed, 5)

    session = after(session, Reweighed(session.query.generation, answer_of("token budget", 2), {}, {}, Config(), {}))

    assert is_stale(session)


def test_request_contains_changed_settings_without_counting_as_a_query() -> None:
    session = answered()

    moved = weighing.turn_choice(weighing.nudge_share(session, 5), "sparse_recall")

    assert query_request(moved).settings == {"bm25_weight": 0.85, "vector_weight": 0.15, "sparse_recall": False}
    assert query_request(moved).question == query_request(session).question
    assert query_request(moved).generation > query_request(session).generation


def test_answer_counts_despite_a_weight_change_in_the_meantime() -> None:
    question = ask(Session(), "token budget", 10.0)
    moved = question._replace(query=question.query._replace(generation=question.query.generation + 1))

    late = after(moved, Answered(question.query.generation, answer_of("token budget", 3), {}, {}, 10.5, question=1))

    assert late.results.answer is not None
    assert not late.query.busy
