"""The stages before any question: is it known, read as it is on disk, live, and in the indexes?"""

from __future__ import annotations

from collections.abc import Iterator

from recall_core.explain.whynot.question import Asker
from recall_core.explain.whynot.stage import STAGES, Stage, failed, passed, passed_over
from recall_core.explain.whynot.target import Sought, Target
from recall_core.explain.whynot.undiscovered import why_not_ingested, why_not_read_again
from recall_core.retrieve import Plan
from recall_core.retrieve.freshness import stale_documents
from recall_core.store.sqlite.sought import has_vector, is_indexed
from recall_core.types import Row


def absent_stages(asker: Asker, target: Target) -> list[Stage]:
    """Every stage for a target of which the store holds no chunk."""
    stage, outcome = _absent(asker, target)
    stages = {name: passed_over(name, "there is no chunk to look at") for name in STAGES}
    stages["identify"] = passed("identify", f"{target.text} names a {target.kind}")
    if stage != "ingested":
        stages["ingested"] = passed("ingested", f"{target.path} was read")
    stages[stage] = outcome
    return list(stages.values())


def _absent(asker: Asker, target: Target) -> tuple[str, Stage]:
    if target.absent == "tombstoned":
        detail = f"{target.path} was removed from the store"
        return "live", failed("live", "tombstoned", detail, hint=f"recall add {target.path}")
    if target.absent == "not_indexed":
        return "indexed", failed("indexed", "not_indexed", f"{target.path} is empty: it has no chunk")
    reason = why_not_ingested(asker, target.path)
    evidence = {"rules": list(reason.rules)}
    return "ingested", failed("ingested", "not_ingested", reason.detail, evidence, hint=reason.hint)


def stored_stages(asker: Asker, target: Target, sought: Sought, plan: Plan, *, is_listed: bool) -> Iterator[Stage]:
    """identify, ingested, fresh, live, vector, indexed. is_listed: it needs no vector to have its place."""
    row = sought.row
    where = f"{row.doc.path}:{row.chunk.line_start}-{row.chunk.line_end}"
    others = f", the best ranked of {len(target.rows)} chunks" if len(target.rows) > 1 else ""
    yield passed("identify", f"{where}{others}")
    yield passed("ingested", f"{row.doc.path} was read")
    yield _fresh(asker, row)
    yield passed("live", "it was not removed")
    if plan.semantic is None:
        yield passed_over("vector", "the question does not ask for meaning")
    elif has_vector(asker.store, row.rowid):
        yield passed("vector", "it has a vector")
    elif is_listed:
        yield passed("vector", "it has no vector, and it has its place without")
    else:
        yield failed("vector", "no_vector", "its text has no feature that the embedder knows")
    if is_indexed(asker.store, row.rowid):
        yield passed("indexed", "the full-text index holds it")
    else:
        detail = "the full-text index does not hold it"
        yield failed("indexed", "not_indexed", detail, hint="recall doctor --fix")


def _fresh(asker: Asker, row: Row) -> Stage:
    state = stale_documents([row.doc.id], store=asker.store, base=asker.base).get(row.doc.id)
    if state is None:
        return passed("fresh", "the file is as it was read")
    detail, hint = f"{row.doc.path} is {state} since it was read", "recall sync"
    file = asker.store.sources([row.doc.id])[row.doc.id]
    if state == "modified" and (reason := why_not_read_again(asker, file)):
        detail, hint = f"{detail}; a sync leaves it so: {reason.detail}", reason.hint
    return failed("fresh", "stale", detail, {"state": state}, hint=hint)
