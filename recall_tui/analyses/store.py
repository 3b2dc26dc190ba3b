"""Analyses of the store: its contents and roots, its checks, its documents, and the worth of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_core import maintain, pack, retrieve, rql
from recall_core.text import counter
from recall_tui.state.packing import Worth, to_pack
from recall_tui.state.records import Analysis
from recall_tui.state.store_pane import MOST_LINES, TAGS, Health, StoreOverview, TagCounts
from recall_tui.threads.analysis_thread import AnalysisRun

if TYPE_CHECKING:
    from recall_core.store.values import FolderListing


def store_overview(run: AnalysisRun, _analysis: Analysis) -> StoreOverview:
    """Return the figures of `recall stats`, the roots, and the list of `recall embedders`."""
    recall = run.recall
    with recall.store.reading():
        view, sources = recall.stats(sizes=True)["store"], recall.store.root_sources()
    run.checkpoint()
    waits = recall.engine.usable != recall.config
    listed = recall.embedders(recall.config, in_use=view["embedder"], waits=waits)["embedders"]
    return StoreOverview(view, sources, tuple(listed))


def store_checks(run: AnalysisRun, analysis: Analysis) -> Health:
    """Return the check whose code the analysis names, as `recall doctor` runs it."""
    recall = run.recall
    engine = recall.engine
    check = maintain.doctor.check_one(
        recall.store, analysis.target, lambda: engine.embedder, base=engine.base, config=engine.usable
    )
    return Health(check)


def store_documents(run: AnalysisRun, analysis: Analysis) -> FolderListing | TagCounts:
    """Return the folder that the analysis names, or the tags."""
    store = run.recall.store
    if analysis != TAGS:
        return store.folder(analysis.target, MOST_LINES)

    known = store.vocabulary(MOST_LINES + 1).values(rql.ast.Field("doc", "tag"), "")
    tags = tuple((str(each.value), each.documents) for each in known)
    return TagCounts(tags[:MOST_LINES], len(tags) > MOST_LINES)


ROUGH = "whitespace"
"""The counter that counts words. A model counts more tokens than words, so their number is estimated."""


def context_worth(run: AnalysisRun, analysis: Analysis) -> Worth:
    """Return the account of the packed context, with an estimate of the model's token count."""
    answer, packed, packing = run.session.results.answer, run.session.context.packed, run.session.context.packing
    assert answer is not None and packed is not None and packing is not None  # noqa: S101, PT018 - checked when it was requested
    answer = to_pack(answer, is_k_moved=run.session.weights.k is not None)
    store = run.recall.store
    config = answer.plan.config._replace(budget_tokens=packing.budget_tokens)
    terms = pack.policy.Terms(config, counter(packed.counter), frozenset(packing.pins), frozenset(packing.drops))
    with store.reading():
        packable = retrieve.answer.packable(answer, store)
        run.checkpoint()
        view = retrieve.worth.account_view(packed, packable, terms, store, run.recall.engine.cited)
    model = counter("approx").count(packed.text) if packed.counter == ROUGH else None
    return Worth(view, model)
