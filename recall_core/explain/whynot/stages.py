"""The stages up to the pool: whether the target is read, live and indexed, passes the filter, matches and is
proposed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from recall_core import shell
from recall_core.config import Config
from recall_core.contract.explaining import EvidenceView, SoughtTermView
from recall_core.deadline import check
from recall_core.errors import IngestError, UsageError
from recall_core.explain.whynot.question import KeptAsker, position, position_in, retrieval
from recall_core.explain.whynot.target import Sought, Target
from recall_core.ingest import ignore
from recall_core.ingest.discover import NEVER_READ, Found, find_one, matches_any, printable, single
from recall_core.ingest.parse import is_earlier
from recall_core.ingest.reader import FileReader, parser_in_settings, read_raw
from recall_core.paths import path_of, shorten
from recall_core.rank.bm25 import IDF_FLOOR
from recall_core.rank.columns import Scores
from recall_core.rank.fuse import signal_ranks
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Asker
from recall_core.retrieve.freshness import stale_documents
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.pool import lexical_query, score_words
from recall_core.rql.ast import And, Compare, Expr, Field, Not, Or, Words
from recall_core.rql.fields import FieldValue, value_of
from recall_core.rql.match import HasWords, match, without_index
from recall_core.rql.print import print_filter
from recall_core.shell import Hint, flag
from recall_core.text import nfc
from recall_core.types import (
    Fingerprint,
    LexicalQuery,
    LiteralQuery,
    Part,
    Pool,
    RawQuery,
    Root,
    Row,
    Signal,
    Skip,
)
from recall_core.words.form import readable
from recall_core.words.typed import TypedQuestion

_ALTERNATIVES = 5


class Failing(NamedTuple):
    """A predicate that the row fails, with any NOT before it, and the row's value."""

    text: str
    value: FieldValue


def failing(where: Expr, row: Row, has_words: HasWords = without_index) -> tuple[Failing, ...]:
    """Return every predicate that the row fails in a failing part of the filter, in reading order, each once."""
    found: dict[str, Failing] = {}
    for literal in _false_literals(_push_nots(where, negated=False), row, has_words):
        text, predicate = print_filter(literal), literal.operand if isinstance(literal, Not) else literal
        assert not isinstance(predicate, Not | And | Or)  # noqa: S101 - NOT has been pushed down
        if isinstance(predicate, Words):
            found[text] = Failing(text, literal is not predicate)
        else:
            found[text] = Failing(text, value_of(predicate.field, row.doc, row.chunk))
    return tuple(found.values())


def drops(where: Expr, row: Row, has_words: HasWords = without_index) -> tuple[tuple[str, ...], ...]:
    """Return the smallest sets of predicates to drop so that the row passes, spelled as in `failing`.

    An AND needs all of its failing terms dropped, an OR those of its cheapest branch. NOT is pushed down first. A
    dropped predicate counts as true for every row. At most 5 sets of equal size, in reading order; () if the row
    passes.
    """
    if match(where, row, has_words):
        return ()
    return tuple(tuple(each) for each in _cheapest(_push_nots(where, negated=False), row, has_words))


def describe_dropped(parts: Iterable[Expr], typed: TypedQuestion | None = None) -> str:
    """Return a description of a search without these parts; an AND or OR is in parentheses.

    typed: the question, whose exclusions are named as typed.
    """
    excluded: dict[Expr, str] = {Not(Words(word)): f"-{word}" for word in (typed.excluded if typed else ())}
    texts = [
        f"({print_filter(each)})" if isinstance(each, And | Or) else excluded.get(each) or print_filter(each)
        for each in parts
    ]
    return f"search without {' and without '.join(texts)}"


def given_up(expr: Expr, dropped: Collection[str]) -> Iterator[Expr]:
    """Yield the parts of a filter that `without` leaves out, in reading order; an OR as a whole."""
    if isinstance(expr, Not) and isinstance(expr.operand, And | Or | Not):
        pushed = _push_nots(expr, negated=False)
        left = without(pushed, dropped)
        if left is None:
            yield expr
        elif left != pushed:
            yield from given_up(pushed, dropped)
    elif isinstance(expr, Or) and without(expr, dropped) is None:
        yield expr
    elif isinstance(expr, And | Or):
        for term in expr.terms:
            yield from given_up(term, dropped)
    elif print_filter(expr) in dropped:
        yield expr


def without(expr: Expr, dropped: Collection[str]) -> Expr | None:
    """Return the filter without these predicates (spelled as in `failing`); None if nothing is left.

    A part where nothing is dropped keeps its spelling.
    """
    if isinstance(expr, Not) and not isinstance(expr.operand, And | Or | Not):
        return None if print_filter(expr) in dropped else expr
    if isinstance(expr, Not):
        pushed = _push_nots(expr, negated=False)
        kept = without(pushed, dropped)
        return expr if kept == pushed else kept
    if isinstance(expr, And | Or):
        terms = [without(term, dropped) for term in expr.terms]
        kept_terms = tuple(term for term in terms if term is not None)
        if isinstance(expr, Or) and len(kept_terms) < len(terms):
            return None
        if len(kept_terms) > 1:
            return And(kept_terms) if isinstance(expr, And) else Or(kept_terms)
        return kept_terms[0] if kept_terms else None
    return None if print_filter(expr) in dropped else expr


def _push_nots(expr: Expr, *, negated: bool) -> Expr:
    """Return an equivalent filter with NOT only on predicates."""
    if isinstance(expr, Not):
        return _push_nots(expr.operand, negated=not negated)
    if isinstance(expr, And | Or):
        terms = tuple(_push_nots(term, negated=negated) for term in expr.terms)
        return And(terms) if isinstance(expr, And) != negated else Or(terms)
    return Not(expr) if negated else expr


def _false_literals(expr: Expr, row: Row, has_words: HasWords) -> list[Expr]:
    if match(expr, row, has_words):
        return []
    if isinstance(expr, And | Or):
        return [literal for term in expr.terms for literal in _false_literals(term, row, has_words)]
    return [expr]


def _cheapest(expr: Expr, row: Row, has_words: HasWords) -> list[dict[str, None]]:
    """Return the smallest sets of predicates (as keys, to keep their order) without which the row passes."""
    check()
    if match(expr, row, has_words):
        return [{}]
    if isinstance(expr, Or):
        branches = [found for term in expr.terms for found in _cheapest(term, row, has_words)]
        return _smallest(branches)
    if isinstance(expr, And):
        together: list[dict[str, None]] = [{}]
        for term in expr.terms:
            together = _smallest([one | other for one in together for other in _cheapest(term, row, has_words)])
        return together
    return [{print_filter(expr): None}]


def _smallest(sets: list[dict[str, None]]) -> list[dict[str, None]]:
    least = min(map(len, sets))
    distinct = {frozenset(each): each for each in sets if len(each) == least}
    return list(distinct.values())[:_ALTERNATIVES]


STAGES: dict[str, tuple[str, ...]] = {
    "identify": (),
    "ingested": ("not_ingested",),
    "fresh": ("stale",),
    "live": ("tombstoned",),
    "vector": ("no_vector",),
    "indexed": ("not_indexed",),
    "filter": ("filter",),
    "lexical": ("lexical",),
    "semantic": ("semantic",),
    "pool": ("pool_miss",),
    "fusion": ("rank",),
    "tie_break": ("tie_break",),
    "min_score": ("threshold",),
    "rerank": ("rerank",),
    "copy": ("copy",),
    "sparse": ("displaced",),
    "page": ("offset", "limit"),
    "diversity": ("diversity",),
    "duplicate": ("duplicate",),
    "budget": ("budget",),
    "truncated": ("truncated",),
}
"""Every stage in order, with its possible verdicts."""

OF_SETTINGS: dict[str, tuple[str, ...]] = {"index": ("ann_miss",), "min_cosine": ("distant",)}
"""Stages of some queries only. `index` comes before `pool`, if an approximate index proposed rows. `min_cosine` comes
after `min_score`, if it is set."""


class Stage(NamedTuple):
    """A stage's outcome. code: the verdict of a failure. hint: what to type if no fix can be tried."""

    stage: str
    status: Literal["pass", "fail", "not_applicable"]
    detail: str
    evidence: EvidenceView = EvidenceView()
    code: str | None = None
    hint: str | None = None


def pass_stage(stage: str, detail: str, evidence: Mapping[str, Any] | None = None) -> Stage:
    """Return a stage that the target passed."""
    return Stage(stage, "pass", detail, EvidenceView(**(evidence or {})))  # type: ignore[typeddict-item]


def fail_stage(
    stage: str, code: str, detail: str, evidence: Mapping[str, Any] | None = None, *, hint: str | None = None
) -> Stage:
    """Return a stage that stopped the target."""
    return Stage(stage, "fail", detail, EvidenceView(**(evidence or {})), code, hint)  # type: ignore[typeddict-item]


def skip_stage(stage: str, detail: str) -> Stage:
    """Return a stage that the query does not reach or does not have."""
    return Stage(stage, "not_applicable", detail)


def absent_stages(asker: Asker, target: Target) -> list[Stage]:
    """Return every stage for a target without a chunk in the store."""
    stage, outcome = _absent(asker, target)
    stages = {name: skip_stage(name, "no chunk") for name in STAGES}
    stages["identify"] = pass_stage("identify", f"{target.text} names a {target.kind}")
    if stage != "ingested":
        stages["ingested"] = pass_stage("ingested", f"{target.path} was read")
    stages[stage] = outcome
    return list(stages.values())


def _absent(asker: Asker, target: Target) -> tuple[str, Stage]:
    if target.absent == "tombstoned":
        detail = f"{target.path} was removed from the store"
        return "live", fail_stage("live", "tombstoned", detail, hint=Hint("add", shorten(asker.base / target.path)))
    if target.absent == "not_indexed":
        return "indexed", _without_text(asker, target.path)
    reason = why_not_ingested(asker, target.path)
    evidence = {"rules": list(reason.rules)}
    return "ingested", fail_stage("ingested", "not_ingested", reason.detail, evidence, hint=reason.hint)


def _without_text(asker: Asker, path: str) -> Stage:
    """Return the stage of a document without chunks. An earlier version of its parser may have missed its text."""
    files = asker.store.sources([asker.store.document_at(path) or ""]).values()
    detail = f"{path} is empty: it has no chunks"
    if any(file.os_path and is_earlier(parser_in_settings(file.settings)) for file in files):
        detail = f"{path} has no chunks; an earlier version of its parser read it"
        return fail_stage("indexed", "not_indexed", detail, hint=Hint("sync"))
    return fail_stage("indexed", "not_indexed", detail)


def stored_stages(
    asker: Asker, target: Target, target_chunk: Sought, plan: Plan, *, is_listed: bool
) -> Iterator[Stage]:
    """Yield identify, ingested, fresh, live, vector and indexed. is_listed: the chunk is listed even without a
    vector.
    """
    row = target_chunk.row
    where = row.where
    others = f", the best-ranked of {len(target.rows)} chunks" if len(target.rows) > 1 else ""
    yield pass_stage("identify", f"{where}{others}")
    yield pass_stage("ingested", f"{row.doc.path} was read")
    yield _fresh(asker, row)
    yield pass_stage("live", "not removed")
    if plan.semantic is None:
        yield skip_stage("vector", "the query has no semantic part")
    elif asker.store.vectors([row.rowid]):
        yield pass_stage("vector", "has a vector")
    elif is_listed:
        yield pass_stage("vector", "has no vector, but is listed without one")
    else:
        yield fail_stage("vector", "no_vector", "its text contains no feature that the embedder knows")
    if asker.store.is_indexed(row.rowid):
        yield pass_stage("indexed", "in the full-text index")
    else:
        detail = "missing from the full-text index"
        yield fail_stage("indexed", "not_indexed", detail, hint=Hint("doctor", fix=True))


def _fresh(asker: Asker, row: Row) -> Stage:
    state = stale_documents([row.doc.id], store=asker.store, base=asker.base).get(row.doc.id)
    if state is None:
        return pass_stage("fresh", "the file is unchanged")
    detail = f"{row.doc.path} is {state}; the store has its earlier text"
    hint: str | None = Hint("sync")
    file = asker.store.sources([row.doc.id])[row.doc.id]
    if state == "modified" and (reason := why_not_read_again(asker, file)):
        detail, hint = f"{detail}; a sync does not read it: {reason.detail}", reason.hint
    return fail_stage("fresh", "stale", detail, {"state": state}, hint=hint)


class Reason(NamedTuple):
    """The rules that keep a file out, as a sentence and as codes, with a hint if one helps."""

    detail: str
    rules: tuple[str, ...]
    hint: str | None


def why_not_ingested(asker: Asker, path: str) -> Reason:
    """Return why the newest root that covers the file does not read it, or that no root covers it."""
    place = Path(path)
    name = path_of(place, asker.base)
    covering = [root for root in asker.store.roots() if _is_under(root, name)]
    if not covering:
        detail = f"no added folder or file contains {printable(name)}"
        alone = Root(name)
        found = single(alone, asker.base)
        unread = _by_content(alone, place, name, asker.config) if isinstance(found, Found) else None
        if unread is not None and unread.rules != ("not_synced",):
            return Reason(f"{detail}, and {unread.detail}", ("no_root", *unread.rules), unread.hint)
        return Reason(detail, ("no_root",), Hint("add", shorten(place)))
    return _by_root(covering[-1], place, name, asker)


def why_not_read_again(asker: Asker, file: Fingerprint) -> Reason | None:
    """Return why a sync does not read a changed file; None if it does."""
    place = asker.base / file.os_path
    covering = [root for root in asker.store.roots() if _is_under(root, file.path)]
    reasons = [_by_root(root, place, file.path, asker) for root in covering]
    if not reasons or any("not_synced" in reason.rules for reason in reasons):
        return None
    return reasons[-1]._replace(hint=Hint("rm", file.path))


def _is_under(root: Root, name: str) -> bool:
    folder = nfc(root.folder)
    if folder == ".":
        return not name.startswith("/")
    return name == folder or name.startswith(folder.rstrip("/") + "/")


def _by_root(root: Root, place: Path, name: str, asker: Asker) -> Reason:
    left_out = next(each.left_out for each in asker.store.known_roots() if each.root == root)
    if name in left_out:
        detail = f"the file was removed from the store after {root.folder} was added"
        return Reason(detail, ("left_out",), Hint("add", shorten(place)))
    found = _looked_at(root, name, asker.base, asker.config)
    if isinstance(found, Found):
        return _by_content(root, place, name, asker.config)
    if isinstance(found, Skip):
        return Reason(found.reason, (found.code,), Hint("add", shorten(place)))
    rules = _rules(root, place, name, asker)
    return Reason(f"{root.folder} was added, but {'; '.join(rules)}", rules, Hint("add", shorten(place)))


def _looked_at(root: Root, name: str, base: Path, config: Config) -> Found | Skip | None:
    return single(root, base) if name == nfc(root.folder) else find_one(root, base, config, name)


def _by_content(root: Root, place: Path, name: str, config: Config) -> Reason:
    """Return the result of reading a file that the rules allow."""
    try:
        raw = read_raw(place, path=name, config=config)
        with FileReader(config) as reader:
            reader.read(raw.content, path=name, root=root, digest=raw.digest)
    except (IngestError, UsageError) as error:
        return Reason(error.message, (error.code,), error.hint)  # adding it by name ends with the same error
    except OSError as error:
        return Reason(
            f"the file cannot be read: {error.strerror}", ("unreadable",), f"ls -l {shell.quote(str(place))}"
        )
    return Reason(f"the file appeared after {root.folder} was added", ("not_synced",), Hint("sync"))


def _rules(root: Root, place: Path, name: str, asker: Asker) -> tuple[str, ...]:
    """Return every rule that excludes the file."""
    relative = name.removeprefix(nfc(root.folder).rstrip("/") + "/") if root.folder != "." else name
    parts = relative.split("/")
    rules = [f"{part} is never read" for part in parts if part in NEVER_READ]
    hidden = [part for part in parts if part.startswith(".") and part not in NEVER_READ]
    rules += [f"{part} is hidden ({flag('hidden')})" for part in hidden if not root.hidden]
    folders = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    ignores = [pattern for pattern in root.ignores if any(matches_any([pattern], each) for each in folders)]
    rules += [f"{flag('ignore')} {pattern} matches" for pattern in ignores]
    if root.globs and not matches_any(root.globs, relative):
        rules.append(f"no {flag('glob')} matches: {' '.join(root.globs)}")
    if root.gitignore and (line := _gitignore_line(root, place, asker.base)):
        rules.append(line)
    open_root = root._replace(globs=(), ignores=(), hidden=True, gitignore=False)
    if not set(parts) & NEVER_READ and _looked_at(open_root, name, asker.base, asker.config) is None:
        rules.append("the file is the store's own, in a virtual environment or behind a link")
    return tuple(rules)


def _gitignore_line(root: Root, place: Path, base: Path) -> str | None:
    """Return the .gitignore line that excludes the file or a folder above it, such as `.gitignore line 1 says
    build/`.
    """
    top = base / root.folder
    below = Path(os.path.abspath(place)).relative_to(Path(os.path.abspath(top)))  # noqa: PTH100 - as it is spelt
    rules = ignore.above(top)
    for depth, part in enumerate(below.parts):
        folder = Path(os.path.abspath(top), *below.parts[:depth])  # noqa: PTH100
        rules = (*rules, *(ignore.of_repository(folder) if depth else ()), *ignore.of_folder(folder))
        is_folder = depth + 1 < len(below.parts)
        decisive = ignore.decided_by(rules, str(folder / part), is_folder=is_folder)
        if decisive and decisive[1].excludes:
            file, rule = decisive
            return f"{file.source} line {rule.line} says {rule.text} ({flag('no_gitignore')})"
    return None


def lexical_stage(
    asker: KeptAsker,
    plan: Plan,
    answer: Answer,
    target_chunk: Sought,
    *,
    is_listed: bool,
    is_dropped: bool = False,
) -> Stage:
    """Return the lexical stage: the terms that the target contains and misses, and its rank by words alone.

    Fails if the words do not match, unless the row is listed anyway (is_listed) or min_cosine excludes it
    (is_dropped).
    """
    if plan.lexical is None:
        return skip_stage("lexical", "the query has no lexical part")
    query, _ = lexical_query(plan, asker.store)
    if query is None or query.is_empty or answer.pool is None:
        return fail_stage("lexical", "lexical", "the query has no word to search for")
    part = _part(answer, target_chunk, "lexical")
    raw = part.raw if part else _lexical_raw(asker, query, answer.pool, plan, target_chunk)
    views = _terms(asker, query, answer.pool, target_chunk)
    missing = [view["text"] for view in views if not (view.get("title", 1) or view.get("body", 1))]
    evidence = {"terms": views, "missing": missing, **_figures(answer, part, "lexical"), "raw": raw}
    if raw is None:
        detail = "contains none of the words"
        if plan.config.match == "all":
            detail = "match = all needs every word" + (f"; missing: {', '.join(missing)}" if missing else "")
        if is_listed:
            return pass_stage("lexical", f"{detail}; listed without them", evidence)
        if is_dropped:
            return pass_stage("lexical", f"{detail}; min_cosine decides", evidence)
        return fail_stage("lexical", "lexical", detail, evidence)
    floored = [view["text"] for view in views if view.get("floored")]
    common = f"; minimal weight, in at least half of all chunks: {', '.join(floored)}" if floored else ""
    matched = (
        "matches the words"
        if isinstance(query, RawQuery)
        else f"contains {len(views) - len(missing)} of {len(views)} terms"
    )
    return pass_stage("lexical", f"{matched}{_rank_text(evidence)}{common}", evidence)


def _lexical_raw(asker: KeptAsker, query: LexicalQuery, pool: Pool, plan: Plan, target_chunk: Sought) -> float | None:
    """Return the raw score of a chunk's words that the pool does not contain; None if they do not match."""
    rowid = target_chunk.row.rowid
    if pool.lexical_model == "ts_rank":
        own = Compare(Field("chunk", "id"), "=", target_chunk.row.chunk.id)
        return score_words(query, asker.store, plan.config, where=own).get(rowid)
    return asker.store.lexical_scores(query, [rowid], title_weight=plan.config.title_weight).get(rowid)


def semantic_stage(plan: Plan, answer: Answer, target_chunk: Sought, *, is_listed: bool) -> Stage:
    """Return the semantic stage: the target's cosine and its rank by meaning alone.

    Fails without a vector or with a cosine of at most 0, unless the row is listed anyway (is_listed).
    """
    if plan.semantic is None:
        return skip_stage("semantic", "the query has no semantic part")
    part = _part(answer, target_chunk, "semantic")
    if part is None:
        return skip_stage("semantic", "not scored")
    evidence = {**_figures(answer, part, "semantic"), "raw": part.raw}
    if part.raw is None or part.raw <= 0:
        detail = "has no vector to compare"
        if part.raw is not None:
            detail = f"cosine {part.raw:g} counts as 0"
        if is_listed:
            return pass_stage("semantic", f"{detail}; listed without it", evidence)
        return fail_stage("semantic", "semantic", detail, evidence)
    return pass_stage("semantic", f"cosine {part.raw:g}{_rank_text(evidence)}", evidence)


def index_stages(asker: KeptAsker, plan: Plan, answer: Answer, target_chunk: Sought) -> Iterator[Stage]:
    """Yield the index stage, if an approximate index is in use.

    Fails if an exact search by meaning would have proposed the target and no other signal does.
    """
    if answer.pool is None or (shortlist := answer.pool.shortlist) is None:
        return
    depth, of = plan.config.pool, len(shortlist)
    if target_chunk.row.rowid in shortlist:
        place = shortlist.index(target_chunk.row.rowid) + 1
        yield pass_stage("index", f"the index ranks it {place} of the {of} nearest", {"rank": place, "of": of})
        return
    rank = full_ranks(asker, plan, answer, target_chunk)["semantic"]
    missed = f"the index does not list it among the {of} nearest"
    evidence = {"rank": rank, "of": of, "depth": depth}
    if position(answer, target_chunk) is not None:
        yield pass_stage("index", f"{missed}, but its words propose it", evidence)
    elif rank is None or rank > depth:
        yield pass_stage("index", f"{missed}, and its cosine would not propose it either", evidence)
    else:
        yield fail_stage("index", "ann_miss", f"{missed}, but it ranks {rank} by cosine", evidence)


def pool_stage(asker: KeptAsker, plan: Plan, answer: Answer, target_chunk: Sought) -> Stage:
    """Return the pool stage: whether a bounded pool contains the target, and the exact ranks, which tell the depth to
    use.
    """
    if answer.pool is None:
        return skip_stage("pool", "the query does not score rows")
    if answer.pool.exact:
        return skip_stage("pool", "every row is a candidate")
    ranks = full_ranks(asker, plan, answer, target_chunk)
    depth = plan.config.pool
    places = ", ".join(f"rank {rank} by {name}" for name, rank in ranks.items() if rank is not None) or "unranked"
    evidence: dict[str, Any] = {"depth": depth}
    nearest = min((rank for rank in ranks.values() if rank is not None), default=None)
    evidence |= {"rank": nearest}
    if position(answer, target_chunk) is not None:
        return pass_stage("pool", f"among the first {depth} of a signal: {places}", evidence)
    return fail_stage("pool", "pool_miss", f"{places}; each signal proposes {depth}", evidence)


def full_ranks(asker: KeptAsker, plan: Plan, answer: Answer, target_chunk: Sought) -> dict[Signal, int | None]:
    """Return the target's rank in each signal's full list, from 1."""
    key = (retrieval(plan), target_chunk.row.rowid)
    if key not in asker.ranks:
        asker.ranks[key] = {
            "lexical": _lexical_rank(asker, plan, answer, target_chunk),
            "semantic": _semantic_rank(asker, plan, answer, target_chunk),
        }
    return asker.ranks[key]


def _lexical_rank(asker: KeptAsker, plan: Plan, answer: Answer, target_chunk: Sought) -> int | None:
    query, _ = lexical_query(plan, asker.store)
    if query is None or query.is_empty or answer.pool is None:
        return None
    # Phrase queries also return rows that are not the best, and BM25F rescores what FTS5 finds.
    is_plain = isinstance(query, LiteralQuery) and not query.long_phrases and answer.pool.lexical_model == "fts5"
    if is_plain and (rank := _among_the_best(answer, answer.pool.lexical, target_chunk)):
        return rank
    return _rank(asker, score_words(query, asker.store, plan.config, where=plan.where), target_chunk)


def _semantic_rank(asker: KeptAsker, plan: Plan, answer: Answer, target_chunk: Sought) -> int | None:
    if plan.semantic is None or answer.pool is None:
        return None
    if answer.pool.index_kind == "exact" and (rank := _among_the_best(answer, answer.pool.semantic, target_chunk)):
        return rank
    vector = asker.vector(plan)
    ahead = asker.store.ahead(vector, target_chunk.row.rowid, where=plan.where) if vector else None
    return None if ahead is None else ahead + 1


def _among_the_best(answer: Answer, raw: Sequence[float | None], target_chunk: Sought) -> int | None:
    """Return the target's rank in a bounded pool, if it is deep enough to contain all better rows."""
    assert answer.pool is not None  # noqa: S101 - the caller checked
    at = position_in(answer.pool, target_chunk)
    rank = signal_ranks(raw)[at] if at is not None and raw else None
    return rank if rank is not None and rank <= answer.plan.config.pool else None


def _rank(asker: KeptAsker, values: Mapping[int, float], target_chunk: Sought) -> int | None:
    """Return the target's rank among these values; ties follow natural order."""
    rowid = target_chunk.row.rowid
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


def _part(answer: Answer, target_chunk: Sought, signal: Signal) -> Part | None:
    at = position(answer, target_chunk)
    if at is None or answer.ranked is None:
        return None
    index = answer.ranked.order.index(at)
    return next((part for part in answer.ranked[index].parts if part.signal == signal), None)


def _figures(answer: Answer, part: Part | None, signal: Signal) -> dict[str, Any]:
    if part is None or answer.pool is None:
        return {}
    raw = answer.pool.lexical if signal == "lexical" else answer.pool.semantic
    present = len(raw) - raw.count(None)
    return {"value": part.value, "points": part.points, "rank": part.rank, "of": present}


def _rank_text(evidence: Mapping[str, Any]) -> str:
    return f", rank {evidence['rank']} of {evidence['of']}" if evidence.get("rank") else ""


def _terms(asker: KeptAsker, query: LexicalQuery, pool: Pool, target_chunk: Sought) -> list[SoughtTermView]:
    views: list[dict[str, Any]] = []
    for term in pool.terms:
        view: dict[str, Any] = {"text": term.text, "df": term.df}
        if pool.lexical_model != "ts_rank":
            view |= {"idf": term.idf, "floored": 0 < term.idf <= IDF_FLOOR}
        views.append(view | ({"words": term.words} if term.words > 1 else {}))
    if isinstance(query, LiteralQuery) and query.phrases:
        rowid = target_chunk.row.rowid
        counts = asker.store.occurrences(query, [rowid]).counts
        for view, phrase, held in zip(views, query.phrases, counts, strict=True):
            stem = " ".join(map(readable, phrase.terms))
            if stem != phrase.text.strip('"'):
                view["stem"] = stem
            view["title"], view["body"] = held.get(rowid, (0, 0))
    return cast(list[SoughtTermView], views)
