"""One step between a file and an answer, and whether what is sought got past it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from recall_core.contract.explaining import EvidenceView

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
"""Every stage in order, with the verdicts that it may give."""

OF_SETTINGS: dict[str, tuple[str, ...]] = {"index": ("ann_miss",), "min_cosine": ("distant",)}
"""Stages that only some questions have: `index` before `pool`, where an index that skips rows has proposed some, and
`min_cosine` after `min_score`, where that is set."""


class Stage(NamedTuple):
    """A stage's outcome. code: the verdict where it fails. hint: what to type where a fix cannot be tried."""

    stage: str
    status: Literal["pass", "fail", "not_applicable"]
    detail: str
    evidence: EvidenceView = EvidenceView()
    code: str | None = None
    hint: str | None = None


def passed(stage: str, detail: str, evidence: Mapping[str, Any] | None = None) -> Stage:
    """It got past."""
    return Stage(stage, "pass", detail, EvidenceView(**(evidence or {})))  # type: ignore[typeddict-item]


def failed(
    stage: str, code: str, detail: str, evidence: Mapping[str, Any] | None = None, *, hint: str | None = None
) -> Stage:
    """It did not."""
    return Stage(stage, "fail", detail, EvidenceView(**(evidence or {})), code, hint)  # type: ignore[typeddict-item]


def passed_over(stage: str, detail: str) -> Stage:
    """The question does not come to this stage, or has none."""
    return Stage(stage, "not_applicable", detail)
