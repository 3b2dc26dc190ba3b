"""The full explanation: every stage, the verdict, and the fixes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from recall_core.config import assignments
from recall_core.contract.explaining import (
    FailingView,
    FixView,
    ProofView,
    RivalView,
    SoughtView,
    StageView,
    TargetView,
    WhyNotView,
)
from recall_core.explain import whynot
from recall_core.explain.sweep import interval_view
from recall_core.explain.whynot.fix import K_MOST, Change, Start
from recall_core.explain.whynot.placed import holder_of_text, last_row, packed_stages, placed_stages
from recall_core.explain.whynot.question import (
    KeptAsker,
    Question,
    as_asked,
    ask_question,
    command,
    is_packed,
    is_shown,
    keep_reads,
    pack_of,
    places_in,
    plan_of,
    position,
    row_of,
    standing,
    with_filter,
    with_trees,
)
from recall_core.explain.whynot.stages import (
    Stage,
    absent_stages,
    drops,
    fail_stage,
    failing,
    index_stages,
    lexical_stage,
    pass_stage,
    pool_stage,
    semantic_stage,
    skip_stage,
    stored_stages,
    without,
)
from recall_core.explain.whynot.target import Sought, Target, identify
from recall_core.rank.columns import positions_of
from recall_core.retrieve.answer import Answer, is_distant
from recall_core.retrieve.asking import Asker
from recall_core.retrieve.plan import Plan
from recall_core.rql.match import HasWords
from recall_core.types import Row

_OTHERS = 10


class WhyNot(NamedTuple):
    """The explanation and its answer. changes: the fixes in order, with their changed queries."""

    view: WhyNotView
    answer: Answer
    changes: tuple[Change, ...] = ()


def why_not(asker: Asker, question: Question, target: str, *, fixes: bool = True) -> WhyNot:
    """Explain why the target is not in the answer, with all stages, even after one fails.

    fixes: also search for changes that bring it in, each one tried. Raises UnknownTarget, and any error of the query.
    """
    asker = keep_reads(asker)
    named = identify(asker, target)
    plan = plan_of(question, asker)
    answer, question = as_asked(asker, question, asker.answer(plan)), with_trees(question, plan)
    if not named.rows:
        return WhyNot(_view(named, None, [], absent_stages(asker, named), is_present=False), answer)
    target_chunk, listed = _choose(asker, question, plan, answer, named)
    is_listed = _is_listed(asker, question, listed, target_chunk)
    own, is_context = position(listed, target_chunk), question.budget_tokens is not None
    packed = asker.pack(listed, pack_of(question)) if is_context and listed.struck else None
    is_dropped = own is not None and is_distant(listed, own)
    stages = [
        *stored_stages(asker, named, target_chunk, plan, is_listed=is_listed),
        _filter_stage(plan, target_chunk.row, asker.store.has_words),
        lexical_stage(asker, listed.plan, listed, target_chunk, is_listed=is_listed, is_dropped=is_dropped),
        semantic_stage(listed.plan, listed, target_chunk, is_listed=is_listed),
        *index_stages(asker, listed.plan, listed, target_chunk),
        pool_stage(asker, listed.plan, listed, target_chunk),
        *placed_stages(asker, listed, target_chunk, is_context=is_context, packed=packed),
        *_packed_stages(asker, question, answer, target_chunk),
    ]
    is_present = is_shown(asker, question, answer, target_chunk)
    view = _view(named, target_chunk, _others(asker, answer, named, target_chunk), stages, is_present=is_present)
    view["target"]["chosen"]["rank"] = _rank(asker, answer, target_chunk)
    changes = _add_fixes(view, asker, question, answer, target_chunk) if fixes and not is_present else ()
    return WhyNot(view, answer, changes)


def _choose(asker: KeptAsker, question: Question, plan: Plan, answer: Answer, named: Target) -> tuple[Sought, Answer]:
    """Return the chunk that represents the target, and an answer that ranks it, with a relaxed filter if needed."""
    has_words = asker.store.has_words
    rows = [row for row in named.rows if plan.where is None or not drops(plan.where, row, has_words)]
    if rows or plan.where is None:
        return _best(asker, answer, rows or named.rows, named, question), answer
    dropped = min((drops(plan.where, row, has_words)[0] for row in named.rows), key=len)
    relaxed = ask_question(asker, with_filter(question, without(plan.where, dropped)))
    passing = [
        row for row in named.rows if relaxed.plan.where is None or not drops(relaxed.plan.where, row, has_words)
    ]
    return _best(asker, relaxed, passing or named.rows, named, question), relaxed


def _best(asker: KeptAsker, answer: Answer, rows: Iterable[Row], named: Target, question: Question) -> Sought:
    """Return the best-ranked of these chunks: listed ones first, then those whose text is listed.

    For a context, return a packed one if there is one.
    """
    choices = [Sought(row, asker.store.rowid("doc", row.doc.id), named.snippet, named.lines) for row in rows]
    places = _places(asker, answer, choices)
    ranked = sorted(choices, key=lambda each: places.get(each.row.rowid, inf))
    if ranked[0].row.rowid not in places:
        ranked.sort(key=lambda each: _place_of_text(answer, each))
    if question.budget_tokens is None or len(ranked) == 1:
        return ranked[0]
    packed = asker.pack(answer, pack_of(question))
    return next((each for each in ranked if is_packed(packed, answer.plan.table, each)), ranked[0])


def _place_of_text(answer: Answer, target_chunk: Sought) -> float:
    """Return the place of the row that represents a copy's text; infinity if the chunk is not a copy."""
    other = standing(answer, target_chunk)
    return inf if other is None or answer.ranked is None else answer.ranked.order.index(other)


def _places(asker: KeptAsker, answer: Answer, choices: Sequence[Sought]) -> dict[int, int]:
    """Return the place of each listed chunk, by its rowid."""
    if answer.pool is None or answer.ranked is None or answer.plan.table == "doc":
        places = {each.row.rowid: row_of(asker, answer, each) for each in choices}
        return {rowid: at for rowid, at in places.items() if at is not None}
    held = positions_of(answer.pool.keys, [each.row.rowid for each in choices])
    at = places_in(answer.ranked.order, held.values())
    return {rowid: at[position] for rowid, position in held.items() if position in at}


def _rank(asker: KeptAsker, answer: Answer, target_chunk: Sought) -> int | None:
    at = row_of(asker, answer, target_chunk)
    return None if at is None else at + 1


def _filter_stage(plan: Plan, row: Row, has_words: HasWords) -> Stage:
    if plan.where is None:
        return skip_stage("filter", "no filter")
    sets = drops(plan.where, row, has_words)
    if not sets:
        return pass_stage("filter", "passes the filter")
    left = failing(plan.where, row, has_words)
    shown = [
        FailingView(predicate=each.text, value=list(each.value) if isinstance(each.value, tuple) else each.value)
        for each in left
    ]
    values = "; ".join(f"{each['predicate']} (value: {_spell(each['value'])})" for each in shown)
    evidence = {"failing": shown, "drop": [list(each) for each in sets]}
    return fail_stage("filter", "filter", f"fails {values}", evidence)


def _spell(value: object) -> str:
    if value is None or value == []:
        return "missing"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _packed_stages(asker: KeptAsker, question: Question, answer: Answer, target_chunk: Sought) -> list[Stage]:
    plan = answer.plan
    cap = plan.config.diversity if question.diversity is None else question.diversity
    if question.budget_tokens is None:
        return list(packed_stages(None, plan.table, target_chunk, cap=cap, is_listed=False))
    is_listed = _is_listed(asker, question, answer, target_chunk)
    packed = asker.pack(answer, pack_of(question))
    is_copy = standing(answer, target_chunk) is not None and holder_of_text(asker, packed, target_chunk) is not None
    return list(packed_stages(packed, plan.table, target_chunk, cap=cap, is_listed=is_listed, is_copy=is_copy))


def _is_listed(asker: KeptAsker, question: Question, answer: Answer, target_chunk: Sought) -> bool:
    """Return True if the target has one of the rows to show or to pack."""
    is_context = question.budget_tokens is not None
    rank, last = _rank(asker, answer, target_chunk), last_row(answer, is_context=is_context)
    if (
        rank is None
        and is_context
        and (other := standing(answer, target_chunk)) is not None
        and answer.ranked is not None
    ):
        rank = answer.ranked.order.index(other) + 1
    return rank is not None and answer.plan.offset < rank <= min(answer.total if last is None else last, answer.total)


def _others(asker: KeptAsker, answer: Answer, named: Target, target_chunk: Sought) -> list[SoughtView]:
    """Return the target's other chunks, best first."""
    others = [Sought(row, target_chunk.doc_rowid, None) for row in named.rows if row.rowid != target_chunk.row.rowid]
    if not others or answer.plan.table == "doc" or answer.pool is None or answer.ranked is None:
        return [_sought_view(each.row, None) for each in others[:_OTHERS]]
    places = _places(asker, answer, others)
    others.sort(key=lambda each: places.get(each.row.rowid, inf))
    ranks = [places.get(each.row.rowid) for each in others]
    return [
        _sought_view(each.row, None if at is None else at + 1)
        for each, at in zip(others[:_OTHERS], ranks[:_OTHERS], strict=True)
    ]


def _sought_view(row: Row, rank: int | None) -> SoughtView:
    chunk = row.chunk
    view = SoughtView(
        chunk_id=chunk.id, path=row.doc.path, line_start=chunk.line_start, line_end=chunk.line_end, rank=rank
    )
    if chunk.place is not None:
        view["place"] = chunk.place
    return view


def _view(
    named: Target,
    target_chunk: Sought | None,
    others: list[SoughtView],
    stages: list[Stage],
    *,
    is_present: bool,
) -> WhyNotView:
    target = TargetView(text=named.text, kind=named.kind, chunks=len(named.rows))
    if target_chunk is not None:
        target["chosen"] = _sought_view(target_chunk.row, None)
        target["others"] = others
    first = next((stage.code for stage in stages if stage.status == "fail" and stage.code), "limit")
    verdict = "present" if is_present else first
    return WhyNotView(
        target=target, present=is_present, verdict=verdict, stages=[_stage_view(each) for each in stages]
    )


def _stage_view(stage: Stage) -> StageView:
    view = StageView(stage=stage.stage, status=stage.status, detail=stage.detail)
    if stage.code is not None:
        view["code"] = stage.code
    if stage.evidence:
        view["evidence"] = stage.evidence
    if stage.hint is not None:
        view["hint"] = stage.hint
    return view


def _add_fixes(
    view: WhyNotView, asker: KeptAsker, question: Question, answer: Answer, target_chunk: Sought
) -> tuple[Change, ...]:
    result = whynot.fixes.fixes(asker, question, answer, target_chunk)
    view["fixes"] = [_fix_view(change) for change in result.changes]
    if result.words is not None:
        view["words"] = result.words
    if result.never is not None and result.never.doubt:
        view["no_proof"] = result.never.doubt
    elif result.never is not None:
        winning = result.never.winning
        view["proof"] = ProofView(
            kind="never",
            k=K_MOST,
            best_rank=winning.best_rank,
            at=result.never.at,
            always_ahead=len(winning.always_ahead),
            ahead=[_rival(asker, result.start, position) for position in result.never.ahead],
        )
    return result.changes


def _fix_view(change: Change) -> FixView:
    view = FixView(
        kind=change.kind,
        change=change.description,
        command=command(change.question),
        settings=list(assignments(change.settings)),
        size=change.size,
        confirmed=True,
    )
    if change.weights is not None:
        view["weights"] = interval_view(change.weights)
    if change.smaller_description is not None:
        view["next_smaller"] = change.smaller_description
    return view


def _rival(asker: KeptAsker, start: Start, position: int) -> RivalView:
    pool, ranked = start.answer.pool, start.answer.ranked
    assert pool is not None  # noqa: S101 - a proof speaks of a pool
    assert ranked is not None  # noqa: S101
    row = asker.store.fetch([pool.keys[position].rowid])[0]
    view = RivalView(chunk_id=row.chunk.id, path=row.doc.path)
    for column in ranked.columns:
        if column.signal == "lexical":
            view["lexical"] = column.values[position]
        elif column.signal == "semantic":
            view["semantic"] = column.values[position]
    return view
