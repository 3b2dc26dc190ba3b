"""An answered question as a response: hits listed or packed, and checked against files and snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recall_core import views
from recall_core.config import Config, replace
from recall_core.contract import Response, StatsView
from recall_core.errors import SnapshotMismatch, StaleError, UsageError
from recall_core.retrieve import Answer
from recall_core.retrieve.answer import candidate_range, candidates, packable, page
from recall_core.retrieve.freshness import State, stale_documents
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.port import Store
from recall_core.text import counter
from recall_core.types import Document, Hit, Omission, Packed
from recall_core.views import Leaves, explain_view

if TYPE_CHECKING:
    from recall_core.pack.policy import Terms

MARKDOWN_HEADER = "### [{n}] {path}:{lines}"


class Ask(NamedTuple):
    """How a question is asked. settings: `key=value`, as --set takes them. k: None leaves the default."""

    k: int | None = None
    mode: str = "hybrid"
    filter: str | None = None
    settings: tuple[str, ...] = ()
    explain: bool = False
    exact: bool = False
    snapshot: str | None = None
    fresh: bool = False
    strict_fresh: bool = False


class Pack(NamedTuple):
    """How hits are packed; None leaves the configured value. pins and drops: ids or prefixes of packed chunks."""

    budget_tokens: int | None = None
    diversity: int | None = None
    counter: str | None = None
    format: str = "plain"
    pins: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    pack: str | None = None


Ledger: TypeAlias = Callable[[Answer, Sequence[Hit]], list[Leaves]]

"""Takes the parts of these hits of an answer apart, for questions that want their scores explained."""


def listed(
    found: Answer,
    ask: Ask,
    *,
    store: Store,
    base: Path,
    notes: tuple[str, ...],
    started: float,
    ledger: Ledger | None = None,
) -> Response:
    """The page that the plan asks for."""
    began = perf_counter()
    shown = page(found, store)
    states, stale = checked((hit.doc for hit in shown), ask, store=store, base=base)
    found = _timed(found, "fetch", began)
    began = perf_counter()
    leaves = [None] * len(shown) if ledger is None else ledger(found, shown)
    found = found if ledger is None else _timed(found, "explain", began)
    plan = found.plan
    following = plan.offset + len(shown)
    return views.ok(
        query=views.query_echo(plan, found.pool, limit=plan.limit),
        results=[
            views.result_view(hit, plan, states, explain=ask.explain, leaves=each)
            for hit, each in zip(shown, leaves, strict=True)
        ],
        sparse=views.sparse_view(found, explain=ask.explain),
        stats=stats_view(found, started),
        warnings=[*notes, *found.warnings, *stale],
        next_offset=following if shown and following < found.total and _is_paged(found) else None,
    )


def packed(
    found: Answer,
    ask: Ask,
    options: Pack,
    *,
    store: Store,
    base: Path,
    notes: tuple[str, ...],
    started: float,
    ledger: Ledger | None = None,
) -> Response:
    """The ranked list packed under the budget."""
    began = perf_counter()
    found = packable(found, store)
    seen: list[Hit] = []
    context = packing(found, options, store=store, seen=seen)
    states, stale = checked((block.doc for block in context.blocks), ask, store=store, base=base)
    found = _timed(found, "pack", began)
    start, stop = candidate_range(found)
    hits = {hit.chunk.id: hit for hit in seen if hit.chunk is not None}
    view = views.context_view(context, hits, states)
    if ledger is not None:
        shown = [hits[chunk["id"]] for chunk in view["chunks"]]
        for chunk, hit, leaves in zip(view["chunks"], shown, ledger(found, shown), strict=True):
            if hit.score is not None:
                chunk["explain"] = explain_view(hit, found.plan, leaves)
    if ask.explain:
        from recall_core.retrieve.worth import account_view  # noqa: PLC0415 - few contexts are explained

        view["account"] = account_view(context, found, _terms(found, options, store), store)
    return views.ok(
        query=views.query_echo(found.plan, found.pool, limit=stop - start),
        sparse=views.sparse_view(found, explain=ask.explain),
        context=view,
        stats=stats_view(found, started),
        warnings=[*notes, *found.warnings, *context.warnings, *stale],
    )


def packing(found: Answer, options: Pack, *, store: Store, seen: list[Hit] | None = None) -> Packed:
    """The ranked list under a budget. found: as `packable` gives it. seen collects every hit whose text was read."""
    from recall_core.pack.policy import pack  # noqa: PLC0415 - a search never needs it

    config, counting, pinned, dropped = _terms(found, options, store)
    start, stop = candidate_range(found)
    stream: Iterable[Hit] = _with_text(candidates(found, store), seen if seen is not None else [])
    context = pack(
        stream,
        total=stop - start,
        budget_tokens=config.budget_tokens,
        counter=counting,
        config=config,
        pinned=pinned,
        dropped=dropped,
    )
    below = _below_min_score(found)
    if below is None:
        return context
    return context._replace(candidates=context.candidates + below.chunks, omitted=(*context.omitted, below))


def asserted(found: Answer, ask: Ask) -> Answer:
    """The answer, if the store is still the one the caller has in mind. Raises SnapshotMismatch."""
    if ask.snapshot is not None and not (len(ask.snapshot) >= 6 and found.digest.startswith(ask.snapshot)):
        raise SnapshotMismatch(
            "snapshot_mismatch",
            f"The store's digest is {found.digest[:12]}, not {ask.snapshot[:12]}.",
            hint=Hint(AGAIN, snapshot=found.digest[:12]),
            details={"digest": found.digest},
        )
    return found


def stats_view(found: Answer, started: float) -> StatsView:
    """The figures of an answer. started: perf_counter() when the question came."""
    return StatsView(
        took_ms=round((perf_counter() - started) * 1000, 3),
        total_hits=found.total,
        snapshot=found.snapshot,
        exact=found.exact,
        index=found.pool.index_kind if found.pool else "none",
        digest=found.digest,
        timings=found.timings,
    )


def checked(
    documents: Iterable[Document], ask: Ask, *, store: Store, base: Path
) -> tuple[dict[str, State], list[str]]:
    """What happened to the files behind an answer, and the warnings that say so. Raises StaleError if asked to."""
    shown = {document.id: document.path for document in documents}
    states = stale_documents(list(shown), store=store, base=base)
    warnings = [f"W_STALE: {shown[doc_id]} was {_PAST[state]} since it was read" for doc_id, state in states.items()]
    if states and ask.strict_fresh:
        paths = sorted(shown[doc_id] for doc_id in states)
        remove = Hint("rm", paths[0])
        raise StaleError(
            "stale",
            f"{len(paths)} of the documents changed on disk: {', '.join(paths[:3])}.",
            hint=remove if ask.fresh else f"{Hint('sync')}, or {remove} where that skips it",
            details={"paths": paths},
        )
    return states, warnings


_PAST: dict[State, str] = {"modified": "changed", "missing": "deleted or moved"}


def _terms(found: Answer, options: Pack, store: Store) -> Terms:
    from recall_core.pack.policy import Terms  # noqa: PLC0415 - a search never needs it

    config = _pack_config(found.plan.config, options)
    counting = counter(options.counter or found.counter)
    return Terms(config, counting, _ids(options.pins, store), _ids(options.drops, store))


def _pack_config(config: Config, options: Pack) -> Config:
    if options.pack is not None:
        config = replace(config, {"pack": options.pack}, where=flag("pack"))
    if options.format not in ("plain", "markdown"):
        raise UsageError(
            "bad_value", f"There is no context format {options.format!r}.", hint=Hint(AGAIN, format="markdown")
        )
    if options.format == "markdown":
        config = config._replace(header=MARKDOWN_HEADER)
    if options.budget_tokens is not None:
        config = config._replace(budget_tokens=options.budget_tokens)
    if config.budget_tokens < 1:
        raise UsageError("bad_value", "A budget has at least one token.", hint=Hint(AGAIN, budget_tokens=2000))
    if options.diversity is not None:
        config = config._replace(diversity=options.diversity)
    if config.diversity < 0:
        message = f"{flag('diversity')} goes from 0, which means no cap."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, diversity=2))
    return config


def _ids(targets: tuple[str, ...], store: Store) -> frozenset[str]:
    chosen = set()
    for target in targets:
        chunks = [full for kind, full in store.resolve(target) if kind == "chunk"]
        if len(chunks) != 1:
            message = f"{target} is not the id of one chunk."
            raise UsageError("unknown_chunk", message, hint=Hint("search", "WORDS", json=True))
        chosen.add(chunks[0])
    return frozenset(chosen)


def _with_text(stream: Iterator[Hit], seen: list[Hit]) -> Iterator[Hit]:
    for hit in stream:
        seen.append(hit)
        yield hit


def _is_paged(found: Answer) -> bool:
    """Sparse-document recall does not go with the OFFSET that another page of a query would need."""
    return found.recall is None or found.plan.rql is None


def _below_min_score(found: Answer) -> Omission | None:
    """What min_score keeps out of a list that no limit cuts."""
    ranked, pool = found.ranked, found.pool
    if ranked is None or pool is None or found.plan.is_capped or len(ranked) <= ranked.kept:
        return None
    first = pool.keys[ranked.order[ranked.kept]]
    return Omission("below_min_score", ranked.kept + 1, len(ranked) - ranked.kept, "", first.path)


def _timed(found: Answer, stage: str, began: float) -> Answer:
    spent = round((perf_counter() - began) * 1000, 3)
    return found._replace(timings={**found.timings, stage: spent})
