"""Rows below their documents: each listed once, documents by best rank, and the line of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from recall_core.config import Config
from recall_core.rank.weighing import Ranking
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.types import Key, Pool
from recall_tui.state.events import Answered, Reweighed
from recall_tui.state.grouping import BY_RANK, MOST_GROUPED, Grouping, ListLine, group_rows, grouping_of, why_not
from recall_tui.state.session import Session, ask, move_selection, select_place, select_row, toggle_grouping
from recall_tui.state.transitions import after, query_request

DOCUMENTS = some.lists(some.sampled_from("abcdefgh"), max_size=60)
REST = some.integers(0, 40)
HEIGHT = some.sampled_from([1, 2])


def answer_of(documents: str, text: str = "budget", offset: int = 0) -> Answer:
    """Return an answer that lists a chunk of each of these documents in order, after `offset` others."""
    keys = tuple(Key(row, ord(path), path, row, 1) for row, path in enumerate("?" * offset + documents))
    pool = Pool(keys, (None,) * len(keys), (), 0.0, (), exact=True, index_kind="flat")
    ranking = Ranking(range(len(keys)), [0.5] * len(keys), (), kept=len(keys))
    config = Config()
    if text.startswith("SELECT"):
        plan = plan_rql(text, config=config, exact=False)
    else:
        plan = plan_words(text, config=config, mode="hybrid", filter_text=None, k=len(keys), exact=False)
    plan = plan._replace(offset=offset, limit=len(documents))
    return Answer(plan, pool, ranking, len(keys), "d" * 64, 1, "", 1.0, {}, (), "whitespace", {})


def painted(grouping: Grouping, rows: int, height: int) -> list[ListLine]:
    """Return what is drawn, from the first line to the last."""
    return [grouping.at(line, height) for line in range(grouping.line(rows, height))]


@given(documents=DOCUMENTS, rest=REST)
def test_rows_and_places_match_one_to_one(documents: list[str], rest: int) -> None:
    rows = len(documents) + rest
    grouping = group_rows(documents, rows)

    assert sorted(map(grouping.row, range(rows))) == list(range(rows))
    assert [grouping.row(grouping.place(row)) for row in range(rows)] == list(range(rows))


@given(documents=DOCUMENTS, rest=REST)
def test_documents_are_ordered_by_best_rank(documents: list[str], rest: int) -> None:
    grouping = group_rows(documents, len(documents) + rest)
    groups = [grouping.group(start) for start in grouping.starts if start < len(documents)]
    by_group = [[grouping.row(place) for place in group] for group in groups]

    assert [{documents[row] for row in rows} for rows in by_group] == [{each} for each in dict.fromkeys(documents)]
    assert all(rows == sorted(rows) for rows in by_group)
    assert [rows[0] for rows in by_group] == sorted(rows[0] for rows in by_group)
    assert all(grouping.group(place) == group for group in groups for place in group)


@given(documents=DOCUMENTS, rest=REST, height=HEIGHT)
def test_lines_map_to_rows_and_headings(documents: list[str], rest: int, height: int) -> None:
    rows = len(documents) + rest
    grouping = group_rows(documents, rows)

    for place in range(rows):
        first = grouping.line(place, height)
        assert [grouping.at(first + part, height) for part in range(height)] == [
            ListLine(place, part) for part in range(height)
        ]
        assert (first > 0 and grouping.at(first - 1, height) == ListLine(place, None)) == (place in grouping.starts)


@given(documents=DOCUMENTS, rest=REST, height=HEIGHT)
def test_no_line_is_drawn_twice_or_left_out(documents: list[str], rest: int, height: int) -> None:
    rows = len(documents) + rest
    grouping = group_rows(documents, rows)
    lines = painted(grouping, rows, height)

    assert lines == sorted(lines, key=lambda line: (line.place, -1 if line.part is None else line.part))
    assert len(set(lines)) == len(lines) == rows * height + len(grouping.starts)


@given(rows=some.integers(1, 10**6), height=HEIGHT)
def test_without_groups_a_place_is_a_rank(rows: int, height: int) -> None:
    assert (BY_RANK.row(rows), BY_RANK.place(rows), BY_RANK.line(rows, height)) == (rows, rows, rows * height)
    assert BY_RANK.at(rows * height + height - 1, height) == ListLine(rows, height - 1)
    assert BY_RANK.rows(rows, rows + 3) == [rows, rows + 1, rows + 2]
    assert not BY_RANK.group(rows)


def test_rows_after_the_groups_follow_by_rank() -> None:
    grouping = group_rows("aba", 5)

    assert [grouping.row(place) for place in range(5)] == [0, 2, 1, 3, 4]
    assert painted(grouping, 5, 1) == [
        *(ListLine(0, None), ListLine(0, 0), ListLine(1, 0)),
        *(ListLine(2, None), ListLine(2, 0)),
        *(ListLine(3, None), ListLine(3, 0), ListLine(4, 0)),
    ]
    assert not grouping.group(3)


def test_only_the_listed_rows_are_grouped() -> None:
    answer = answer_of("abacb", offset=2)

    assert grouping_of(answer, 2, 5) == group_rows("abacb", 5)


def test_a_long_list_is_grouped_up_to_a_limit() -> None:
    rows = MOST_GROUPED + 1

    grouping = grouping_of(answer_of("ab" * (rows // 2) + "c"), 0, rows)

    assert len(grouping.order) == MOST_GROUPED
    assert grouping.starts == (0, MOST_GROUPED // 2, MOST_GROUPED)


def test_ungrouped_rows_explain_and_follow_rank() -> None:
    for answer, reason in [
        (answer_of("aba", "SELECT * FROM doc USING lexical('budget')"), "each row is a document"),
        (answer_of("aba")._replace(pool=None, ranked=None), "no scores"),
    ]:
        assert reason in why_not(answer), answer
        assert grouping_of(answer, 0, 3) == BY_RANK, answer


def test_the_selection_moves_in_drawing_order() -> None:
    session = Session()._replace(results=Session().results._replace(answer=answer_of("abab")))

    below = toggle_grouping(select_row(session, 0))

    assert [move_selection(below, step).results.selected for step in range(5)] == [0, 2, 1, 3, 3]
    assert move_selection(select_row(below, 1), -1).results.selected == 2
    assert select_place(below, 9).results.selected == 3
    assert toggle_grouping(below) == select_row(session, 0)


def test_grouping_lasts_until_it_is_switched_off() -> None:
    first, other = answer_of("abab"), answer_of("abba")
    session = after(ask(toggle_grouping(Session()), "budget", 1.0), Answered(1, first, {}, {}, 1.5, question=1))
    moved = after(session, Reweighed(1, other, {}, {}, Config(), {}))

    assert session.results.grouping == group_rows("abab", 4)
    assert moved.results.grouping == group_rows("abba", 4)
    assert query_request(moved).is_grouped
    assert ask(moved, "", 2.0).results.grouping == BY_RANK
    assert toggle_grouping(moved).results.grouping == BY_RANK
    assert after(toggle_grouping(moved), Reweighed(1, first, {}, {}, Config(), {})).results.grouping == BY_RANK
