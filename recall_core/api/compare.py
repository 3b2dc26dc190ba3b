"""Compare one query, or a set, under two configurations, in two stores, or both."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from recall_core import views
from recall_core.api.engine import Engine
from recall_core.config import SETTINGS, Config, load, override
from recall_core.contract import OK
from recall_core.contract.explaining import (
    AbsenceView,
    DiffView,
    MoveView,
    QueryDiffView,
    SetChangeView,
    SideView,
    StandingView,
)
from recall_core.contract.judging import ConditionView
from recall_core.contract.responses import DiffResponse
from recall_core.contract.views import QueryEcho, QueryPart, StatsView
from recall_core.embed.trust import COUNTER, RERANKER, FoundSettings
from recall_core.errors import ConfigError
from recall_core.evaluate.formats import read_queries
from recall_core.evaluate.measures import Condition, bad_gate, parse_gate
from recall_core.explain.moves import DEPTH, PERSISTENCE, Diff, Move, RowStanding, Side, diff
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Ask, Asker, rows_of
from recall_core.shell import AGAIN, Hint
from recall_core.types import Progress, Table

if TYPE_CHECKING:
    from recall_core.api.engine import Engine

FIGURES = ("rbo", "jaccard", "rbo_min", "jaccard_min", "queries_changed", "firsts_changed")

"""The figures that diff --gate accepts."""

_LIVE = tuple(key for key, setting in SETTINGS.items() if setting.live)


class DiffRequest(NamedTuple):
    """The input for both sides: words, a query, or the queries of a file.

    gate: comma-separated conditions.
    """

    text: str | None = None
    is_rql: bool = False
    queries: Path | None = None
    gate: str | None = None


class _ComparedQuestion(NamedTuple):
    """One query of a set: its id, text and two answers."""

    query: str
    text: str
    diff: Diff


def configure(config: Config, given: Sequence[str], *, is_vouched: bool = False) -> Config:
    """Return a config with the ranking and packing settings of recall.toml files and of `key=value,…` settings.

    given: in order; later ones win. A file sets all such settings, including defaults, but not the store's own.
    is_vouched: True to accept what the files request. Raises ConfigError, UsageError.
    """
    for each in given:
        path = Path(each)
        if path.is_file():
            fresh = load(path)
            FoundSettings(fresh, path, is_vouched=is_vouched).expect(RERANKER, COUNTER)
            config = config._replace(
                **{key: getattr(fresh, key) for key, setting in SETTINGS.items() if setting.live}
            )
        elif "=" in each:
            config = override(config, each.split(","))
        else:
            raise ConfigError(
                "config_invalid", f"{each} is neither a file nor settings.", hint=Hint(AGAIN, b="fusion=rrf,rrf_k=10")
            )
    return config


class _Sides(NamedTuple):
    """The two sides, with equal queries. k: rows compared on each side."""

    a: Asker
    b: Asker
    ask: Ask
    is_rql: bool
    k: int

    def answers(self, text: str) -> tuple[Answer, Answer]:
        return self._answer(self.a, text), self._answer(self.b, text)

    def diff(self, answers: tuple[Answer, Answer]) -> Diff:
        return diff(Side(answers[0], self.a.store), Side(answers[1], self.b.store), k=self.k)

    def _answer(self, asker: Asker, text: str) -> Answer:
        ask = self.ask._replace(k=self.k)
        return asker.answer(asker.rql_plan(text, ask) if self.is_rql else asker.words_plan(text, ask))


def beside(mine: Engine, theirs: Engine, asked: DiffRequest, ask: Ask) -> Generator[Progress, None, DiffResponse]:
    """Compare the answers of two engines. If both use one store, words are embedded once."""
    is_embedded_twice = theirs.store is mine.store and ask.mode != "lexical" and not asked.is_rql
    a = mine.once() if is_embedded_twice else mine.beside()
    b = theirs.beside(embedder=a.embedder if is_embedded_twice else None)
    return compare(a, b, asked, ask)


def compare(a: Asker, b: Asker, asked: DiffRequest, ask: Ask) -> Generator[Progress, None, DiffResponse]:
    """Compare the answers of b with those of a. Each store is read in one transaction.

    Raises UsageError `bad_gate`, `bad_queries` before the first query.
    """
    started = perf_counter()
    conditions = _conditions(asked.gate)
    texts = {"": asked.text or ""} if asked.queries is None else read_queries(asked.queries)
    question: QueryPart = {}
    sides = _Sides(a, b, ask, asked.is_rql, rows_of(ask))
    with a.store.reading(), b.store.reading():
        shown = _side_view(a, b, ask), _side_view(b, a, ask)
        if asked.queries is None:
            view, question["query"], warnings = _one(sides, texts[""], shown)
        else:
            view, warnings = yield from _many(sides, texts, shown)
    if conditions:
        figures: dict[str, Any] = {"rbo_min": view["rbo"], "jaccard_min": view["jaccard"], **view}
        view["gate"] = []
        for each in conditions:
            value = float(figures[each.figure])  # for one query, the least is its own
            view["gate"].append(ConditionView(condition=each.text, value=value, holds=each.holds(value)))
    took_ms = round((perf_counter() - started) * 1000, 3)
    return {**OK, **question, "diff": view, "stats": StatsView(took_ms=took_ms), "warnings": warnings}


def _one(sides: _Sides, text: str, shown: tuple[SideView, SideView]) -> tuple[DiffView, QueryEcho, list[str]]:
    answers = sides.answers(text)
    for side, answer in zip(shown, answers, strict=True):
        if answer.pool is not None:
            side["plan"] = views.plan_echo(answer.plan, answer.pool)
    found = sides.diff(answers)
    view = _view(shown, [found], sides.k)
    view["moves"] = _move_views(found.moves, sides.a, sides.b, table=answers[0].plan.table)
    echo = views.query_echo(answers[0].plan, None, limit=sides.k)
    return view, echo, list(dict.fromkeys([*answers[0].warnings, *answers[1].warnings]))


def _many(
    sides: _Sides, texts: dict[str, str], shown: tuple[SideView, SideView]
) -> Generator[Progress, None, tuple[DiffView, list[str]]]:
    compared = []
    for number, (query, text) in enumerate(texts.items(), start=1):
        compared.append(_ComparedQuestion(query, text, sides.diff(sides.answers(text))))
        yield Progress("ask", query, number, len(texts), 0, 0, 0, 0, 0, 0, 0, 0, ())
    view = _view(shown, [each.diff for each in compared], sides.k)
    changed = [each for each in compared if _is_changed(each.diff)]
    # Stable: equal queries keep the order of the file.
    changed.sort(key=lambda each: (each.diff.rbo, each.diff.jaccard))
    view["changed"] = [_query_view(each) for each in changed]
    return view, []


def _view(sides: tuple[SideView, SideView], found: Sequence[Diff], k: int) -> DiffView:
    """Return the figures over these queries."""
    view: dict[str, Any] = {"a": sides[0], "b": sides[1], "k": k, "p": PERSISTENCE, "depth": max(DEPTH, k)}
    view |= {"rbo": _mean(each.rbo for each in found), "jaccard": _mean(each.jaccard for each in found)}
    if len(found) != 1:
        view |= {
            "rbo_min": min((each.rbo for each in found), default=1.0),
            "jaccard_min": min((each.jaccard for each in found), default=1.0),
            "queries": len(found),
        }
    view |= {
        "queries_changed": sum(map(_is_changed, found)),
        "firsts_changed": sum(each.first_changed for each in found),
        "sets": _set_changes(move for each in found for move in each.moves),
    }
    return cast(DiffView, view)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 1.0


def _is_changed(found: Diff) -> bool:
    return any(move.kind != "same" for move in found.moves)


def _set_changes(moves: Iterable[Move]) -> list[SetChangeView]:
    counts: Tally[tuple[str, str]] = Tally()
    for move in moves:
        counts.update((absent["side"], absent["cause"]) for absent in _absences(move))
    return [
        cast(SetChangeView, {"side": side, "cause": cause, "rows": rows})
        for (side, cause), rows in sorted(counts.items())
    ]


def _side_view(own: Asker, other: Asker, ask: Ask) -> SideView:
    ours, theirs = (override(each.config, ask.settings)._asdict() for each in (own, other))
    view: dict[str, Any] = {"settings": {key: value for key, value in ours.items() if value != theirs[key]}}
    info = own.store.info()
    if own.store is not other.store:
        view["store"] = info.path
    view["digest"] = info.digest
    return cast(SideView, view)


def _query_view(compared: _ComparedQuestion) -> QueryDiffView:
    found = compared.diff
    return QueryDiffView(
        query=compared.query,
        text=compared.text,
        rbo=found.rbo,
        jaccard=found.jaccard,
        first_changed=found.first_changed,
    )


def _move_views(moves: Sequence[Move], a: Asker, b: Asker, *, table: Table) -> list[MoveView]:
    """Return the moves with their rows, as in b, else as in a."""
    listed = []
    for move in moves:
        rowid, store = (move.pair.a, a.store) if move.pair.b is None else (move.pair.b, b.store)
        assert rowid is not None  # noqa: S101 - a pair has one side at least
        view: dict[str, Any] = {
            "kind": move.kind,
            "a": _standing_view(move.a),
            "b": _standing_view(move.b),
            "delta": None if move.a.score is None or move.b.score is None else move.b.score - move.a.score,
            "causes": [cause._asdict() for cause in move.causes],
            "subtotals": [{**share._asdict(), "delta": share.b - share.a} for share in move.subtotals],
            "absent": _absences(move),
        }
        if table == "doc":
            view["doc"] = views.doc_view(store.documents([rowid])[rowid])
        else:
            (row,) = store.fetch([rowid])
            view |= {"doc": views.doc_view(row.doc), "chunk": views.chunk_view(row.chunk)}
        listed.append(cast(MoveView, view))
    return listed


def _standing_view(standing: RowStanding) -> StandingView:
    view = StandingView(rank=standing.rank, score=standing.score)
    if standing.injected:
        view["injected"] = True
    if standing.displaced:
        view["displaced"] = True
    return view


def _absences(move: Move) -> list[AbsenceView]:
    both = (("a", move.a.absent), ("b", move.b.absent))
    return [cast(AbsenceView, {"side": side, "cause": cause}) for side, cause in both if cause is not None]


def _conditions(text: str | None) -> tuple[Condition, ...]:
    conditions = () if text is None else parse_gate(text)
    for each in conditions:
        if each.mode is not None or each.figure not in FIGURES:
            hint = f"use one of: {', '.join(FIGURES)}"
            raise bad_gate(f"{each.text!r} does not name a figure of diff", hint=hint)
    return conditions
