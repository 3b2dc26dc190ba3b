"""Judged queries: their grades, their measures, and the grading of a row. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from recall_core.config import assignments
from recall_core.errors import RecallError
from recall_core.evaluate.judgements import (
    Judgement,
    Regrade,
    Spot,
    apply_change,
    at_home,
    free_id,
    grade_of_chunk,
    regrade_chunk,
    undo_of,
    words,
)
from recall_core.evaluate.questions import Unit, unit_of
from recall_core.types import Hit, Table
from recall_tui.state.records import Analysis, Grading
from recall_tui.state.session import Session, is_ingesting, is_seen, latest, move_cursor, result_of, value_of
from recall_tui.state.weighing import KEYS

if TYPE_CHECKING:
    from recall_core.retrieve.answer import Answer

MEASURES = ("ndcg@10", "mrr", "map", "p@10", "recall@10", "recall@100")
"""Measures of the judge pane, in the order in which they are shown."""
UNITS: Mapping[Unit, str] = {"chunk": "chunks", "doc": "docs"}
"""Short names of the units that a figure counts."""
BOARD_ROWS = 12  # of the active pane with a board
TOP = 10  # rows that people read; documents below them are missed, and judged@10 counts them


class JudgedQueries(NamedTuple):
    """Every judged query, with its judgements by path."""

    texts: Mapping[str, str]
    ids: Mapping[str, str]
    """Id of a query by its words."""
    places: Mapping[str, Mapping[str, tuple[Judgement, ...]]]
    digest: str = ""
    """Digest of all of them as read."""


class Missed(NamedTuple):
    """A relevant document or chunk outside the top ten. rank: None if it is not ranked."""

    path: str
    grade: int
    rank: int | None
    depth: int | None = None
    """Number of ranked rows searched, if that is the depth of the board: it may rank lower."""
    lines: tuple[int, int] | None = None
    """First and last line of a chunk."""

    @property
    def place(self) -> str:
        """Its name: a path, with lines for a chunk."""
        return self.path if self.lines is None else f"{self.path}:{self.lines[0]}-{self.lines[1]}"


class QueryLine(NamedTuple):
    """A query on the board. before: its values under the saved settings, if others apply."""

    query: str
    text: str
    values: Mapping[str, float]
    before: Mapping[str, float]
    judged: float | None
    """Judged share of its top ten."""
    relevant: int
    missed: tuple[Missed, ...]


class Figure(NamedTuple):
    """A measure over all queries, and its difference from the saved settings, as in `recall eval`."""

    mean: float
    low: float
    high: float
    difference: float = 0.0
    difference_low: float = 0.0
    difference_high: float = 0.0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    verdict: str = ""


class Board(NamedTuple):
    """All judged queries under the current settings. is_moved: these differ from the saved ones. unit: of all."""

    lines: tuple[QueryLine, ...]
    figures: Mapping[str, Figure]
    judged: float | None
    passed_over: int
    """Queries without a relevant document."""
    depth: int
    is_moved: bool
    unit: Unit = "doc"


# Analyses and their results.


def board_analysis(session: Session) -> Analysis:
    """Return the analysis that measures all judged queries under the changed and the saved settings."""
    saved = session.weights.saved
    values = "" if saved is None else "\n".join(f"{key}={getattr(saved, key)}" for key in KEYS)
    return Analysis("board", "\n".join(assignments(session.weights.tweaks)), values)


def line_analysis(session: Session) -> Analysis | None:
    """Return the analysis that measures only the current query, or None unless it has a relevant document."""
    query, analysis = query_here(session), board_analysis(session)
    grades = (each.grade for judgements in judgements_here(session).values() for each in judgements)
    if query is None or not any(grade > 0 for grade in grades):
        return None
    return Analysis("line", query, f"{analysis.target}\n\n{analysis.other}")


def wants(session: Session) -> Iterator[Analysis]:
    """Yield the grades, since any row may have one, and the board while it is visible and no ingest is running."""
    yield Analysis("grades")
    known = judged_queries(session)
    if known is None or not is_seen(session, "judge") or is_ingesting(session) or not has_relevant(known):
        return
    if session.judge.gradings:
        return  # the store is about to change, perhaps with another id for the query
    if (line := line_analysis(session)) is not None:
        yield line
    yield board_analysis(session)


def judged_queries(session: Session) -> JudgedQueries | None:
    """Return the judgements with the grades still being written, or None before they are read."""
    known = latest(session, "grades", JudgedQueries)
    if known is None or isinstance(known, RecallError):
        return None
    for grading in session.judge.gradings:
        known = _apply_change(known, grading.change)
    return known


def has_relevant(known: JudgedQueries) -> bool:
    """Return True if a query has a document with a grade above 0, so that there is something to measure."""
    return any(
        each.grade > 0 for paths in known.places.values() for judgements in paths.values() for each in judgements
    )


def is_measurable(session: Session) -> bool:
    """Return True if a grade is above 0, or before grades are known."""
    known = judged_queries(session)
    return known is None or has_relevant(known)


SEARCH_FIRST = (
    "To start: search for something ({focus_pane('query')}), then grade its results with {switch_grading}, "
    "or import judgements with {import_judgements}."
)
GRADE_ABOVE_0 = (
    "Measures need a grade above 0: after {switch_grading}, {grade(3)} {grade(2)} {grade(1)} grade the selected "
    "result 3 2 1."
)
GRADE_FIRST = (
    "To start: after {switch_grading}, {grade(3)} {grade(2)} {grade(1)} {grade(0)} grade the selected result "
    "3 2 1 0; {import_judgements} imports judgements."
)


def first_step(session: Session) -> str:
    """Return how to start if no query can be measured, or "" before that is known.

    Ids of actions are placeholders for their keys.
    """
    known = judged_queries(session)
    if known is None or has_relevant(known):
        return ""
    if session.results.answer is None or session.results.answer.total == 0:
        return SEARCH_FIRST
    if any(known.places.values()):
        return GRADE_ABOVE_0
    return GRADE_FIRST


def board(session: Session) -> Board | RecallError | None:
    """Return the newest board, perhaps of earlier settings or judgements, or None if nothing can be measured."""
    return latest(session, "board", Board) if is_measurable(session) else None


def is_current(session: Session) -> bool:
    """Return True if the board is of the current settings and judgements."""
    return result_of(session, board_analysis(session), Board) is not None


def headway(session: Session) -> tuple[int, int] | None:
    """Return the progress of the wanted board as (done, total) queries, or None while none is running."""
    if session.analysing is None or session.analysing[0] != board_analysis(session) or is_current(session):
        return None
    return session.analysing[1:] if is_measurable(session) else None


def words_of(answer: Answer | None) -> str:
    """Return the words that results of this answer are judged for. For RQL, the words of its signals."""
    if answer is None:
        return ""
    plan = answer.plan
    if plan.rql is None:
        return words(plan.text)
    return words(" ".join(dict.fromkeys(filter(None, (plan.lexical, plan.semantic)))))


def query_here(session: Session) -> str | None:
    """Return the id of the judged query of the answer, or None if it is not judged."""
    known = judged_queries(session)
    return None if known is None else known.ids.get(words_of(session.results.answer))


def judgements_here(session: Session) -> Mapping[str, tuple[Judgement, ...]]:
    """Return the judgements of the answered query, by path."""
    known = judged_queries(session)
    return {} if known is None else known.places.get(known.ids.get(words_of(session.results.answer), ""), {})


def grade_of(judgements: Mapping[str, tuple[Judgement, ...]], hit: Hit, table: Table) -> int | None:
    """Return the grade of a row of this table, or None."""
    standing = judgements.get(hit.doc.path)
    return grade_of_chunk(standing, spot_of(hit, table)) if standing else None


def sign(grade: int | None) -> str:
    """Return a grade in one cell: `+` above 9, `-` below 0, a dot for none."""
    if grade is None:
        return "."
    return "-" if grade < 0 else "+" if grade > 9 else str(grade)


def spot_of(hit: Hit, table: Table) -> Spot:
    """Return the place of a row's chunk, or the whole document if the row is a document."""
    return (
        Spot(hit.doc.path)
        if hit.chunk is None or table == "doc"
        else Spot(hit.doc.path, hit.chunk.offset, hit.chunk.end)
    )


def lines_of(session: Session) -> tuple[QueryLine, ...]:
    """Return the queries of the newest board, with the newest figures for the current query."""
    known = board(session)
    if not isinstance(known, Board):
        return ()
    fresh = line_here(session)
    if fresh is None:
        return known.lines
    return tuple(fresh if fresh.query == line.query else line for line in known.lines)


def line_here(session: Session) -> QueryLine | None:
    """Return the current query, if it was measured under these settings before the others."""
    return value_of(session, line_analysis(session), QueryLine)


def pointed_line(session: Session) -> QueryLine | None:
    """Return the chosen query."""
    known = board(session)
    if not isinstance(known, Board):
        return None
    line, fresh = known.lines[min(session.cursors.get("judge", 0), len(known.lines) - 1)], line_here(session)
    return fresh if fresh is not None and fresh.query == line.query else line


def pointed_missed(session: Session) -> Missed | None:
    """Return the chosen document that the chosen query misses, while their list is active."""
    line = pointed_line(session)
    if line is None or not line.missed or not is_at_missed(session):
        return None
    return line.missed[min(session.cursors.get("missed", 0), len(line.missed) - 1)]


def is_at_missed(session: Session) -> bool:
    """Return True while the list of missed documents has the keys."""
    line = pointed_line(session)
    return bool(session.cursors.get("at missed") and line is not None and line.missed)


def front_of(session: Session) -> str:
    """Return the name of the list with the keys: `judge` or `missed`."""
    return "missed" if is_at_missed(session) else "judge"


def rows_of(session: Session, name: str) -> int:
    """Return the number of lines in `judge` or `missed`."""
    line = pointed_line(session)
    return len(lines_of(session)) if name == "judge" else len(line.missed) if line else 0


def in_top(line: QueryLine, unit: Unit) -> str:
    """Return how many of a query's relevant documents or chunks are outside the top ten."""
    if line.missed:
        return f"{len(line.missed)} of {line.relevant} relevant {UNITS[unit]} not in the top {TOP}"
    if line.relevant == 1:
        return f"the only relevant {unit} is in the top {TOP}"
    return f"all {line.relevant} relevant {UNITS[unit]} are in the top {TOP}"


def unit_here(session: Session) -> Unit:
    """Return the unit of the board, or of the judgements if there is no board."""
    known, grades = board(session), judged_queries(session)
    if isinstance(known, Board) or grades is None:
        return known.unit if isinstance(known, Board) else "doc"
    return unit_of([each for paths in grades.places.values() for judgements in paths.values() for each in judgements])


def judge_rows(session: Session) -> int:
    """Return the rows that the pane can fill, without its border: 1 unless it is active with a board."""
    return 1 if session.pane != "judge" or board(session) is None else BOARD_ROWS


def measure_of(session: Session) -> str:
    """Return the measure shown."""
    return MEASURES[session.cursors.get("measure", 0)]


# Actions.


def next_measure(session: Session) -> Session:
    """Return the session with the next measure, wrapping around."""
    place = (session.cursors.get("measure", 0) + 1) % len(MEASURES)
    return session._replace(cursors={**session.cursors, "measure": place})


def step_line(session: Session, rows: int) -> Session:
    """Return the session with another line chosen in the list with the keys."""
    name = front_of(session)
    chosen = max(0, min(session.cursors.get(name, 0), rows_of(session, name) - 1))
    return pick_line(session, name, chosen + rows)


def pick_line(session: Session, name: str, row: int) -> Session:
    """Choose this line of `judge` or `missed`. Another query starts its list of missed documents at the top."""
    line = pointed_line(session)
    if line is None:
        return session
    if name == "missed":
        fresh = move_cursor(session, name, row, rows_of(session, name))
        return fresh._replace(cursors={**fresh.cursors, "at missed": 1})
    fresh = move_cursor(session, name, row, rows_of(session, name))
    moved = fresh.cursors["judge"] != session.cursors.get("judge", 0)
    return fresh._replace(
        cursors={**fresh.cursors, "at missed": 0, "missed": 0 if moved else fresh.cursors.get("missed", 0)}
    )


def choose_side(session: Session, *, missed: bool) -> Session:
    """Return the session with the keys on the missed documents, or on the queries."""
    return session._replace(cursors={**session.cursors, "at missed": int(missed)})


def _apply_change(known: JudgedQueries, change: Regrade) -> JudgedQueries:
    """Return the judgements after a change."""
    change = at_home(change, known.texts, known.ids)
    query = change.query
    place = (*change.added, *change.removed)[0].spot.path
    paths = dict(known.places.get(query, {}))
    paths[place] = apply_change(paths.get(place, ()), change)
    texts = {**known.texts, query: change.text}
    ids = {**known.ids, words(change.text): known.ids.get(words(change.text), query)}
    if change.ends:
        del texts[query], ids[words(change.text)]
    return JudgedQueries(texts, ids, {**known.places, query: paths})


GRADE = "Grade"
"""The name of the task that writes a grade."""
UNDO_MOST = 200


def switch_grading(session: Session) -> Session:
    """Return the session with grading on or off."""
    return session._replace(judge=session.judge._replace(is_grading=not session.judge.is_grading))


def last_grade(session: Session) -> tuple[str, str] | None:
    """Return the newest grade that can be undone (`no grade` if it was removed) and its path."""
    if not session.judge.regrades:
        return None
    change = session.judge.regrades[-1]
    newest = (*change.added, *change.removed)[0]
    return (str(newest.grade) if change.added else "no grade"), newest.spot.path


def why_not_gradable(session: Session) -> str:
    """Return why the selected row cannot be graded, or ""."""
    if session.results.answer is None or not session.results.answer.total:
        return "Nothing to grade: no results."
    if session.results.hits.get(session.results.selected) is None:
        return "The row is still loading."
    if not words_of(session.results.answer):
        return "The query has no words, so its results cannot be graded."
    known = latest(session, "grades", JudgedQueries)
    if isinstance(known, RecallError):
        return known.message
    return "The judgements are still loading." if known is None else ""


def change_for(session: Session, grade: int | None) -> Regrade:
    """Return the change that gives the selected row this grade. The caller checked `why_not_gradable`."""
    known, answer = judged_queries(session), session.results.answer
    assert known is not None and answer is not None  # noqa: S101, PT018 - see above
    text, spot = words_of(answer), spot_of(session.results.hits[session.results.selected], answer.plan.table)
    query = known.ids.get(text)
    if query is None:
        return regrade_chunk(free_id(known.texts), text, (), spot, grade)._replace(begins=grade is not None)
    return regrade_chunk(query, known.texts[query], known.places.get(query, {}).get(spot.path, ()), spot, grade)


def changes(change: Regrade) -> bool:
    """Return True if the change has an effect."""
    return change.removed != change.added


def add_grade(session: Session, change: Regrade) -> Session:
    """Return the session with a change on its way to the store, shown as if it were already there."""
    undo = (*session.judge.regrades, change)[-UNDO_MOST:]
    return session._replace(
        judge=session.judge._replace(gradings=(*session.judge.gradings, Grading(change)), regrades=undo)
    )


def take_grade_back(session: Session) -> tuple[Session, Regrade]:
    """Return the session that undoes the newest grade, and the change for the store. There must be a grade."""
    *earlier, last = session.judge.regrades
    change = undo_of(last)
    gradings = (*session.judge.gradings, Grading(change, is_undo=True))
    return session._replace(judge=session.judge._replace(gradings=gradings, regrades=tuple(earlier))), change


def finish_grading(session: Session, *, failed: bool) -> Session:
    """Return the session after the oldest pending grading was written or failed. A failed one is dropped."""
    place = next((place for place, each in enumerate(session.judge.gradings) if each.written is None), None)
    if place is None:
        return session
    before, grading, after = (
        session.judge.gradings[:place],
        session.judge.gradings[place],
        session.judge.gradings[place + 1 :],
    )
    if not failed:
        return session._replace(
            judge=session.judge._replace(
                gradings=(*before, grading._replace(written=session.store.tasks_done), *after)
            )
        )
    regrades = tuple(each for each in session.judge.regrades if each is not grading.change)
    if grading.is_undo:
        regrades = (*regrades, undo_of(grading.change))
    return session._replace(judge=session.judge._replace(gradings=(*before, *after), regrades=regrades))


def drop_read_gradings(session: Session, tasks: int) -> Session:
    """Return the session after judgements were read. tasks: number of finished tasks whose gradings they include."""
    if not session.judge.gradings:
        return session
    left = tuple(each for each in session.judge.gradings if each.written is None or each.written > tasks)
    return session._replace(judge=session.judge._replace(gradings=left))
