"""Judged queries: their grades, their measures, and the grading of a row. Pure, and without a screen."""

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
"""What the judge pane can show of each query, the first one first."""
UNITS: Mapping[Unit, str] = {"chunk": "chunks", "doc": "docs"}
"""What a figure is of, in few cells."""
BOARD_ROWS = 12  # of the pane in front, with something measured
TOP = 10  # rows that people read: what is missed is not among them, and so many are looked at for judged@10


class JudgedQueries(NamedTuple):
    """Every judged query, and the judgements of each by path."""

    texts: Mapping[str, str]
    ids: Mapping[str, str]
    """From the words of a query to its id."""
    places: Mapping[str, Mapping[str, tuple[Judgement, ...]]]
    digest: str = ""
    """Of all of them as they were read."""


class Missed(NamedTuple):
    """A relevant document or chunk that is not in the top ten. rank: None where it is not among the ranked ones."""

    path: str
    grade: int
    rank: int | None
    depth: int | None = None
    """How many ranked ones were looked at, where that is as deep as the board goes: it may be below."""
    lines: tuple[int, int] | None = None
    """Of a chunk, its first and last line."""

    @property
    def place(self) -> str:
        """What names it: a path, with its lines where it is a chunk."""
        return self.path if self.lines is None else f"{self.path}:{self.lines[0]}-{self.lines[1]}"


class QueryLine(NamedTuple):
    """One query on the board. before: its values under the saved settings, where others hold."""

    query: str
    text: str
    values: Mapping[str, float]
    before: Mapping[str, float]
    judged: float | None
    """The share of its top ten that is judged."""
    relevant: int
    missed: tuple[Missed, ...]


class Figure(NamedTuple):
    """A measure over all queries, and how it compares with the saved settings: as `recall eval` gives both."""

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
    """All judged queries under the settings as they are. is_moved: they are not the saved. unit: of all."""

    lines: tuple[QueryLine, ...]
    figures: Mapping[str, Figure]
    judged: float | None
    passed_over: int
    """Queries without a relevant document."""
    depth: int
    is_moved: bool
    unit: Unit = "doc"


# What is wanted, and what is known.


def board_analysis(session: Session) -> Analysis:
    """Return the analysis that measures all judged queries under the moved settings and under the saved ones."""
    saved = session.weights.saved
    values = "" if saved is None else "\n".join(f"{key}={getattr(saved, key)}" for key in KEYS)
    return Analysis("board", "\n".join(assignments(session.weights.tweaks)), values)


def line_analysis(session: Session) -> Analysis | None:
    """Return the analysis that measures the question on the screen alone; None unless it has a relevant document."""
    query, analysis = query_here(session), board_analysis(session)
    grades = (each.grade for judgements in judgements_here(session).values() for each in judgements)
    if query is None or not any(grade > 0 for grade in grades):
        return None
    return Analysis("line", query, f"{analysis.target}\n\n{analysis.other}")


def wants(session: Session) -> Iterator[Analysis]:
    """Yield all judgements, since any row may have one; the board while it is seen and nothing is ingested."""
    yield Analysis("grades")
    known = judged_queries(session)
    if known is None or not is_seen(session, "judge") or is_ingesting(session) or not has_relevant(known):
        return
    if session.judge.gradings:
        return  # the store is about to know more, or calls the query by another id
    if (line := line_analysis(session)) is not None:
        yield line
    yield board_analysis(session)


def judged_queries(session: Session) -> JudgedQueries | None:
    """Return the judgements with the grades that are on their way into the store; None while none were read."""
    known = latest(session, "grades", JudgedQueries)
    if known is None or isinstance(known, RecallError):
        return None
    for grading in session.judge.gradings:
        known = _apply_change(known, grading.change)
    return known


def has_relevant(known: JudgedQueries) -> bool:
    """Return True when some query has a document with a grade above 0: only then is there something to measure."""
    return any(each.grade > 0 for paths in known.places.values() for found in paths.values() for each in found)


def is_measurable(session: Session) -> bool:
    """Return True while some grade is above 0, or before that is known."""
    known = judged_queries(session)
    return known is None or has_relevant(known)


SEARCH_FIRST = (
    "To begin: search for something ({focus_pane('query')}), then grade its results with {switch_grading}, "
    "or import judgements with {import_judgements}."
)
GRADE_ABOVE_0 = (
    "Measures need a grade above 0: after {switch_grading}, {grade(3)} {grade(2)} {grade(1)} grade the selected "
    "result 3 2 1."
)
GRADE_FIRST = (
    "To begin: after {switch_grading}, {grade(3)} {grade(2)} {grade(1)} {grade(0)} grade the selected result "
    "3 2 1 0; {import_judgements} imports judgements."
)


def first_step(session: Session) -> str:
    """Return how to begin while nothing is judged that can be measured; "" before that is known.

    Ids of actions stand for their keys.
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
    """Return the newest board, which may be of earlier settings or judgements; None if nothing can be measured."""
    return latest(session, "board", Board) if is_measurable(session) else None


def is_current(session: Session) -> bool:
    """Return True when the board is of these settings and judgements."""
    return result_of(session, board_analysis(session), Board) is not None


def headway(session: Session) -> tuple[int, int] | None:
    """Return how many queries of how many the wanted board has; None while none is under way."""
    if session.analysing is None or session.analysing[0] != board_analysis(session) or is_current(session):
        return None
    return session.analysing[1:] if is_measurable(session) else None


def words_of(answer: Answer | None) -> str:
    """Return what results of this answer are judged for: its words, or those of the signals of a query in RQL."""
    if answer is None:
        return ""
    plan = answer.plan
    if plan.rql is None:
        return words(plan.text)
    return words(" ".join(dict.fromkeys(filter(None, (plan.lexical, plan.semantic)))))


def query_here(session: Session) -> str | None:
    """Return the id of the judged query that the answer belongs to, None where it is not judged."""
    known = judged_queries(session)
    return None if known is None else known.ids.get(words_of(session.results.answer))


def judgements_here(session: Session) -> Mapping[str, tuple[Judgement, ...]]:
    """By path: the judgements of the question that the rows answer."""
    known = judged_queries(session)
    return {} if known is None else known.places.get(known.ids.get(words_of(session.results.answer), ""), {})


def grade_of(judgements: Mapping[str, tuple[Judgement, ...]], hit: Hit, table: Table) -> int | None:
    """Return the grade of a row of this table, None without any."""
    standing = judgements.get(hit.doc.path)
    return grade_of_chunk(standing, spot_of(hit, table)) if standing else None


def sign(grade: int | None) -> str:
    """Return a grade in one cell: `+` above 9, `-` below 0, a dot for none."""
    if grade is None:
        return "."
    return "-" if grade < 0 else "+" if grade > 9 else str(grade)


def spot_of(hit: Hit, table: Table) -> Spot:
    """Return where a row's chunk is; the whole document where the row is one, whichever chunk speaks for it."""
    return (
        Spot(hit.doc.path)
        if hit.chunk is None or table == "doc"
        else Spot(hit.doc.path, hit.chunk.offset, hit.chunk.end)
    )


def lines_of(session: Session) -> tuple[QueryLine, ...]:
    """Return the queries of the newest board, that of the question on the screen as fresh as it is known."""
    known = board(session)
    if not isinstance(known, Board):
        return ()
    fresh = line_here(session)
    if fresh is None:
        return known.lines
    return tuple(fresh if fresh.query == line.query else line for line in known.lines)


def line_here(session: Session) -> QueryLine | None:
    """Return the question on the screen, where it was measured under these settings before the others."""
    return value_of(session, line_analysis(session), QueryLine)


def pointed_line(session: Session) -> QueryLine | None:
    """Return the chosen query."""
    known = board(session)
    if not isinstance(known, Board):
        return None
    line, fresh = known.lines[min(session.cursors.get("judge", 0), len(known.lines) - 1)], line_here(session)
    return fresh if fresh is not None and fresh.query == line.query else line


def pointed_missed(session: Session) -> Missed | None:
    """Return the chosen document of those that the chosen query misses, while their list is in front."""
    line = pointed_line(session)
    if line is None or not line.missed or not is_at_missed(session):
        return None
    return line.missed[min(session.cursors.get("missed", 0), len(line.missed) - 1)]


def is_at_missed(session: Session) -> bool:
    """Return True while the list of missed documents takes the keys."""
    line = pointed_line(session)
    return bool(session.cursors.get("at missed") and line is not None and line.missed)


def front_of(session: Session) -> str:
    """Return the list that takes the keys: `judge` or `missed`."""
    return "missed" if is_at_missed(session) else "judge"


def rows_of(session: Session, name: str) -> int:
    """Return how many lines `judge` or `missed` has."""
    line = pointed_line(session)
    return len(lines_of(session)) if name == "judge" else len(line.missed) if line else 0


def in_top(line: QueryLine, unit: Unit) -> str:
    """Return how many of a query's relevant documents or chunks are not among the first, or that all of them are."""
    if line.missed:
        return f"{len(line.missed)} of {line.relevant} relevant {UNITS[unit]} not in the top {TOP}"
    if line.relevant == 1:
        return f"the only relevant {unit} is in the top {TOP}"
    return f"all {line.relevant} relevant {UNITS[unit]} are in the top {TOP}"


def unit_here(session: Session) -> Unit:
    """Return what is graded and measured: that of the board, or that of the judgements before there is one."""
    known, grades = board(session), judged_queries(session)
    if isinstance(known, Board) or grades is None:
        return known.unit if isinstance(known, Board) else "doc"
    return unit_of([each for paths in grades.places.values() for found in paths.values() for each in found])


def judge_rows(session: Session) -> int:
    """Return the rows that the pane can fill, without its border: one unless it is in front with a board."""
    return 1 if session.pane != "judge" or board(session) is None else BOARD_ROWS


def measure_of(session: Session) -> str:
    """Return the measure that is shown."""
    return MEASURES[session.cursors.get("measure", 0)]


# What a person does.


def next_measure(session: Session) -> Session:
    """Return the session showing the next measure, round the end."""
    place = (session.cursors.get("measure", 0) + 1) % len(MEASURES)
    return session._replace(cursors={**session.cursors, "measure": place})


def step_line(session: Session, rows: int) -> Session:
    """Return the session with another line chosen, of the list that takes the keys."""
    name = front_of(session)
    chosen = max(0, min(session.cursors.get(name, 0), rows_of(session, name) - 1))
    return pick_line(session, name, chosen + rows)


def pick_line(session: Session, name: str, row: int) -> Session:
    """Choose this line of `judge` or `missed`; another query has another list of what it misses."""
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
    """Return the session with the keys going to the missed documents, or back to the queries."""
    return session._replace(cursors={**session.cursors, "at missed": int(missed)})


def _apply_change(known: JudgedQueries, change: Regrade) -> JudgedQueries:
    """Return the judgements once a change is made."""
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
"""The name of the task that writes one."""
UNDO_MOST = 200


def switch_grading(session: Session) -> Session:
    """Return the session with grading begun, or ended."""
    return session._replace(judge=session.judge._replace(is_grading=not session.judge.is_grading))


def last_grade(session: Session) -> tuple[str, str] | None:
    """Return the newest grade that can be taken back, `no grade` where it was cleared, and the path that it is of."""
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
        return "The row is still being read."
    if not words_of(session.results.answer):
        return "The query has no words, so its results cannot be graded."
    known = latest(session, "grades", JudgedQueries)
    if isinstance(known, RecallError):
        return known.message
    return "The judgements are still being read." if known is None else ""


def change_for(session: Session, grade: int | None) -> Regrade:
    """Return what gives the selected row this grade; `why_not` has said that it can be graded."""
    known, answer = judged_queries(session), session.results.answer
    assert known is not None and answer is not None  # noqa: S101, PT018 - see above
    text, spot = words_of(answer), spot_of(session.results.hits[session.results.selected], answer.plan.table)
    query = known.ids.get(text)
    if query is None:
        return regrade_chunk(free_id(known.texts), text, (), spot, grade)._replace(begins=grade is not None)
    return regrade_chunk(query, known.texts[query], known.places.get(query, {}).get(spot.path, ()), spot, grade)


def changes(change: Regrade) -> bool:
    """Return True when something is different after it."""
    return change.removed != change.added


def add_grade(session: Session, change: Regrade) -> Session:
    """Return the session with a change on its way into the store, and shown as if it were there."""
    undo = (*session.judge.regrades, change)[-UNDO_MOST:]
    return session._replace(
        judge=session.judge._replace(gradings=(*session.judge.gradings, Grading(change)), regrades=undo)
    )


def take_grade_back(session: Session) -> tuple[Session, Regrade]:
    """Return the session with the newest grade being taken back, and the change that does it; there is one."""
    *earlier, last = session.judge.regrades
    change = undo_of(last)
    gradings = (*session.judge.gradings, Grading(change, is_undo=True))
    return session._replace(judge=session.judge._replace(gradings=gradings, regrades=tuple(earlier))), change


def finish_grading(session: Session, *, failed: bool) -> Session:
    """Return the session once the oldest grading that was not written is, or cannot be; then it never was."""
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
    """Return the session once judgements were read after so many tasks: those gradings are in them."""
    if not session.judge.gradings:
        return session
    left = tuple(each for each in session.judge.gradings if each.written is None or each.written > tasks)
    return session._replace(judge=session.judge._replace(gradings=left))
