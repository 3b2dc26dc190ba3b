"""The stages of the signals: which words of the question it holds, how near it lies, and whether it was proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from recall_core.contract.explaining import SoughtTermView
from recall_core.explain.whynot.kept import KeptAsker, retrieval
from recall_core.explain.whynot.present import position, position_in
from recall_core.explain.whynot.stage import Stage, failed, passed, passed_over
from recall_core.explain.whynot.target import Sought
from recall_core.rank.bm25 import IDF_FLOOR
from recall_core.rank.columns import Scores
from recall_core.rank.fuse import signal_ranks
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.pool import lexical_query
from recall_core.types import LexicalQuery, LiteralQuery, Part, RawQuery, Signal, TermStat


def lexical_stage(
    asker: KeptAsker, plan: Plan, found: Answer, sought: Sought, *, is_listed: bool, is_dropped: bool = False
) -> Stage:
    """Which terms it holds and which not, and its rank by words alone.

    Fails where the words do not match it, unless its place in the list is good enough without (is_listed), or it is
    min_cosine that keeps it out (is_dropped).
    """
    if plan.lexical is None:
        return passed_over("lexical", "the question does not look for words")
    query, _ = lexical_query(plan, asker.store)
    if query is None or query.is_empty or found.pool is None:
        return failed("lexical", "lexical", "the question has no word to look for")
    part = _part(found, sought, "lexical")
    raw = part.raw if part else _alone(asker, query, sought, plan)
    views = _terms(asker, query, found.pool.terms, sought)
    missing = [view["text"] for view in views if not (view.get("title", 1) or view.get("body", 1))]
    evidence = {"terms": views, "missing": missing, **_figures(found, part, "lexical"), "raw": raw}
    if raw is None:
        needed = "every word is needed" if plan.config.match == "all" else "it holds none of the words"
        without = f", and it is without {', '.join(missing)}" if missing and plan.config.match == "all" else ""
        if is_listed:
            return passed("lexical", f"{needed + without}, and it has its place without", evidence)
        if is_dropped:
            return passed("lexical", f"{needed + without}, and so min_cosine decides", evidence)
        return failed("lexical", "lexical", needed + without, evidence)
    floored = [view["text"] for view in views if view["floored"]]
    common = f"; in half of all chunks or more, and so with the least weight: {', '.join(floored)}" if floored else ""
    held = (
        "its words match"
        if isinstance(query, RawQuery)
        else f"it holds {len(views) - len(missing)} of {len(views)} terms"
    )
    return passed("lexical", f"{held}{_ranked(evidence)}{common}", evidence)


def semantic_stage(plan: Plan, found: Answer, sought: Sought, *, is_listed: bool) -> Stage:
    """Its cosine and its rank by meaning alone.

    Fails where it is not at all similar, or has no vector, unless its place in the list is good enough without.
    """
    if plan.semantic is None:
        return passed_over("semantic", "the question does not look for meaning")
    part = _part(found, sought, "semantic")
    if part is None:
        return passed_over("semantic", "it was not scored")
    evidence = {**_figures(found, part, "semantic"), "raw": part.raw}
    if part.raw is None or part.raw <= 0:
        nothing = "it has no vector to compare"
        if part.raw is not None:
            nothing = f"its cosine is {part.raw:g}, which counts as nothing"
        if is_listed:
            return passed("semantic", f"{nothing}, and it has its place without", evidence)
        return failed("semantic", "semantic", nothing, evidence)
    return passed("semantic", f"cosine {part.raw:g}{_ranked(evidence)}", evidence)


def index_stages(asker: KeptAsker, plan: Plan, found: Answer, sought: Sought) -> Iterator[Stage]:
    """Whether an index that skips rows let it through; nothing where none was asked.

    Fails where an exact search by meaning would have proposed it, and nothing else does.
    """
    if found.pool is None or (shortlist := found.pool.shortlist) is None:
        return
    depth, of = plan.config.pool, len(shortlist)
    if sought.row.rowid in shortlist:
        place = shortlist.index(sought.row.rowid) + 1
        yield passed("index", f"its signature is {place} of the {of} nearest", {"rank": place, "of": of})
        return
    rank = full_ranks(asker, plan, found, sought)["semantic"]
    missed = f"its signature is not among the {of} nearest"
    evidence = {"rank": rank, "of": of, "depth": depth}
    if position(found, sought) is not None:
        yield passed("index", f"{missed}, and its words propose it", evidence)
    elif rank is None or rank > depth:
        yield passed("index", f"{missed}, nor would its meaning have proposed it", evidence)
    else:
        yield failed("index", "ann_miss", f"{missed}, though it is {rank} by meaning", evidence)


def pool_stage(asker: KeptAsker, plan: Plan, found: Answer, sought: Sought) -> Stage:
    """Whether a bounded pool holds it; the exact ranks say how deep it would have to be."""
    if found.pool is None:
        return passed_over("pool", "the question scores nothing")
    if found.pool.exact:
        return passed_over("pool", "every row is a candidate")
    ranks = full_ranks(asker, plan, found, sought)
    depth = plan.config.pool
    told = ", ".join(f"{rank} by {name}" for name, rank in ranks.items() if rank is not None) or "unranked"
    evidence: dict[str, Any] = {"depth": depth}
    nearest = min((rank for rank in ranks.values() if rank is not None), default=None)
    evidence |= {"rank": nearest}
    if position(found, sought) is not None:
        return passed("pool", f"it is among the first {depth} of a signal: {told}", evidence)
    return failed("pool", "pool_miss", f"it is {told}, and each signal proposes {depth}", evidence)


def full_ranks(asker: KeptAsker, plan: Plan, found: Answer, sought: Sought) -> dict[Signal, int | None]:
    """Its rank in each signal's full list, from 1. found: the answer to that plan, with its bounded pool."""
    key = (retrieval(plan), sought.row.rowid)
    if key not in asker.ranks:
        asker.ranks[key] = {
            "lexical": _lexical_rank(asker, plan, found, sought),
            "semantic": _semantic_rank(asker, plan, found, sought),
        }
    return asker.ranks[key]


def _lexical_rank(asker: KeptAsker, plan: Plan, found: Answer, sought: Sought) -> int | None:
    query, _ = lexical_query(plan, asker.store)
    if query is None or query.is_empty or found.pool is None:
        return None
    # Beside the best of a query with phrases stand rows that are not, and BM25F scores those again that FTS5 finds.
    is_plain = isinstance(query, LiteralQuery) and not query.long_phrases and found.pool.lexical_model == "fts5"
    if is_plain and (rank := _among_the_best(found, found.pool.lexical, sought)):
        return rank
    weight = plan.config.title_weight
    return _rank(asker, asker.store.lexical(query, where=plan.where, k=None, title_weight=weight), sought)


def _semantic_rank(asker: KeptAsker, plan: Plan, found: Answer, sought: Sought) -> int | None:
    if plan.semantic is None or found.pool is None:
        return None
    if found.pool.index_kind == "exact" and (rank := _among_the_best(found, found.pool.semantic, sought)):
        return rank
    vector = asker.vector(plan)
    ahead = asker.store.ahead(vector, sought.row.rowid, where=plan.where) if vector else None
    return None if ahead is None else ahead + 1


def _among_the_best(found: Answer, raw: Sequence[float | None], sought: Sought) -> int | None:
    """Its rank in a bounded pool, if it is one of the best that the signal proposed: all before it are there, too."""
    assert found.pool is not None  # noqa: S101 - the caller looked
    at = position_in(found.pool, sought)
    rank = signal_ranks(raw)[at] if at is not None and raw else None
    return rank if rank is not None and rank <= found.plan.config.pool else None


def _rank(asker: KeptAsker, values: Mapping[int, float], sought: Sought) -> int | None:
    """Ties stand in natural order."""
    rowid = sought.row.rowid
    if isinstance(values, Scores):
        held, every = values.values_array[values.rowids == rowid], values.values_array
        if not len(held):
            return None
        ahead, level = int((every > held[0]).sum()), values.rowids[every == held[0]].tolist()
    else:
        own = values.get(rowid)
        if own is None:
            return None
        ahead = sum(value > own for value in values.values())
        level = [each for each, value in values.items() if value == own]
    return ahead + 1 + [key.rowid for key in asker.store.candidates(None, rowids=level)].index(rowid)


def _part(found: Answer, sought: Sought, signal: Signal) -> Part | None:
    at = position(found, sought)
    if at is None or found.ranked is None:
        return None
    index = found.ranked.order.index(at)
    return next((part for part in found.ranked[index].parts if part.signal == signal), None)


def _figures(found: Answer, part: Part | None, signal: Signal) -> dict[str, Any]:
    if part is None or found.pool is None:
        return {}
    raw = found.pool.lexical if signal == "lexical" else found.pool.semantic
    present = len(raw) - raw.count(None)
    return {"value": part.value, "points": part.points, "rank": part.rank, "of": present}


def _ranked(evidence: Mapping[str, Any]) -> str:
    return f", rank {evidence['rank']} of {evidence['of']}" if evidence.get("rank") else ""


def _alone(asker: KeptAsker, query: LexicalQuery, sought: Sought, plan: Plan) -> float | None:
    rowid = sought.row.rowid
    return asker.store.lexical_scores(query, [rowid], title_weight=plan.config.title_weight).get(rowid)


def _terms(
    asker: KeptAsker, query: LexicalQuery, terms: tuple[TermStat, ...], sought: Sought
) -> list[SoughtTermView]:
    views: list[dict[str, Any]] = []
    for term in terms:
        view = {"text": term.text, "df": term.df, "idf": term.idf, "floored": 0 < term.idf <= IDF_FLOOR}
        views.append(view | ({"words": term.words} if term.words > 1 else {}))
    if isinstance(query, LiteralQuery) and query.phrases:
        rowid = sought.row.rowid
        counts = asker.store.occurrences(query, [rowid]).counts
        for view, phrase, held in zip(views, query.phrases, counts, strict=True):
            stem = " ".join(stem for token in phrase.tokens for stem in asker.store.stems(token))
            if stem != phrase.text.strip('"'):
                view["stem"] = stem
            view["title"], view["body"] = held.get(rowid, (0, 0))
    return cast(list[SoughtTermView], views)
