"""A hit's score as the JSON contract spells it: parts, their leaves, and a row that sparse-document recall gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from recall_core.contract import ExplainView, LeafView, RecallView
from recall_core.retrieve import Plan
from recall_core.types import Chunk, Hit, Injection, Signal

Leaves: TypeAlias = Mapping[Signal, list[LeafView]]
"""Of one hit, by signal; a signal whose points nobody can take apart is missing."""


def explain_view(hit: Hit, plan: Plan, leaves: Leaves | None = None) -> ExplainView:
    """Stage values, the parts that add up to the score, and the leaves that add up to each part, where known."""
    view: dict[str, Any] = {part.signal: part.value for part in hit.parts}
    if plan.config.fusion == "rrf":
        k = plan.config.rrf_k
        fused = [part for part in hit.parts if part.signal != "rerank"]
        view["raw_score"] = sum(part.weight / (k + part.rank) for part in fused if part.rank is not None)
    made = leaves or {}
    view["parts"] = [
        part._asdict() | ({"leaves": made[part.signal]} if part.signal in made else {}) for part in hit.parts
    ]
    return cast(ExplainView, view)


def recall_view(injection: Injection, chunk: Chunk) -> RecallView:
    """Why sparse-document recall gave the chunk its row."""
    view = RecallView(
        recall_injected=True,
        reason="sparse_doc_recall",
        chunk_id=chunk.id,
        knowledge_item_id=chunk.doc_id,
        distance=injection.distance,
    )
    if injection.displaced is not None:
        view["displaced"] = injection.displaced
    return view
