"""The JSON contract: every response's shape. The shipped JSON Schema is generated from these types.

Keys appear in the order in which they are declared. New keys may be added; none changes its meaning within
schema_version 1. Keys that do not concern a command are left out.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from recall_core.contract.comparing import DiffView, ReportView
from recall_core.contract.evaluation import CalibrationView, EvaluationView, FixturesView, JudgedView
from recall_core.contract.ledger import (
    ExplainView,
    ExplanationView,
    LeafView,
    LedgerView,
    PartView,
    RecallView,
    VersusView,
)
from recall_core.contract.packing import (
    AccountView,
    ContextBlock,
    ContextChunk,
    ContextView,
    OmittedView,
)
from recall_core.contract.tuning import TuningView
from recall_core.contract.views import (
    CheckView,
    ChunkView,
    CompactView,
    DocView,
    EmbedderView,
    ErrorView,
    IngestView,
    LexicalModelEcho,
    NormalizerEcho,
    PlanEcho,
    QueryEcho,
    ReembedView,
    RemovedView,
    RerankEcho,
    ResultView,
    SignalEcho,
    SkipView,
    SparseView,
    StatsView,
    StoreView,
    TermEcho,
    TextView,
    TransferView,
)
from recall_core.contract.whynot import TraceView, WhyNotView
from recall_core.rql.views import CandidateView, ExplainedView, RqlView

SCHEMA_VERSION = "1"
__all__ = [
    "SCHEMA_VERSION",
    "AccountView",
    "CalibrationView",
    "CandidateView",
    "CheckView",
    "ChunkView",
    "CompactView",
    "ContextBlock",
    "ContextChunk",
    "ContextView",
    "DiffView",
    "DocView",
    "EmbedderView",
    "ErrorView",
    "EvaluationView",
    "ExplainView",
    "ExplanationView",
    "FixturesView",
    "IngestView",
    "JudgedView",
    "LeafView",
    "LedgerView",
    "LexicalModelEcho",
    "NormalizerEcho",
    "OmittedView",
    "PartView",
    "PlanEcho",
    "QueryEcho",
    "RecallView",
    "ReembedView",
    "RemovedView",
    "ReportView",
    "RerankEcho",
    "Response",
    "ResultView",
    "SignalEcho",
    "SkipView",
    "SparseView",
    "StatsView",
    "StoreView",
    "TermEcho",
    "TextView",
    "TraceView",
    "TransferView",
    "TuningView",
    "VersusView",
    "WhyNotView",
    "schema",
]


class Response(TypedDict):
    """What every command answers, on one line of JSON."""

    ok: bool
    schema_version: str
    query: NotRequired[QueryEcho]
    results: NotRequired[list[ResultView]]
    sparse: NotRequired[SparseView]
    context: NotRequired[ContextView]
    ingest: NotRequired[IngestView]
    store: NotRequired[StoreView]
    removed: NotRequired[RemovedView]
    found: NotRequired[TextView]
    checks: NotRequired[list[CheckView]]
    compacted: NotRequired[CompactView]
    transfer: NotRequired[TransferView]
    rql: NotRequired[RqlView]
    explained: NotRequired[ExplainedView]
    explanation: NotRequired[ExplanationView]
    whynot: NotRequired[WhyNotView]
    trace: NotRequired[TraceView]
    candidates: NotRequired[list[CandidateView]]
    embedders: NotRequired[list[EmbedderView]]
    reembedded: NotRequired[ReembedView]
    evaluation: NotRequired[EvaluationView]
    fixtures: NotRequired[FixturesView]
    calibration: NotRequired[CalibrationView]
    judged: NotRequired[JudgedView]
    tuning: NotRequired[TuningView]
    diff: NotRequired[DiffView]
    report: NotRequired[ReportView]
    stats: NotRequired[StatsView]
    warnings: NotRequired[list[str]]
    next_offset: NotRequired[int]
    error: NotRequired[ErrorView]


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of Response."""
    import msgspec  # noqa: PLC0415 - only when the schema is asked for

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "recall/response/1",
        "title": "Recall response",
        **_on_one_line(msgspec.json.schema(Response)),
    }


def _on_one_line(node: Any) -> Any:
    """The schema with each description on one line: Python 3.13 indents docstrings otherwise than 3.12."""
    if isinstance(node, list):
        return [_on_one_line(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: " ".join(value.split()) if key == "description" and isinstance(value, str) else _on_one_line(value)
        for key, value in node.items()
    }
