"""The JSON contract: every response's shape. The shipped JSON Schema is generated from these types.

Keys appear in the order in which they are declared. New keys may be added; none changes its meaning within
schema_version 1. Keys that do not concern a command are left out.
"""

from __future__ import annotations

from typing import Any, get_args

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
from recall_core.contract.responses import (
    OK,
    SCHEMA_VERSION,
    AnyResponse,
    CalibrationResponse,
    CompactResponse,
    CompletionResponse,
    ContextResponse,
    DiffResponse,
    DoctorResponse,
    EmbeddersResponse,
    ErrorResponse,
    EvaluationResponse,
    ExplainedResponse,
    ExplainResponse,
    FixturesResponse,
    GetResponse,
    Head,
    IngestResponse,
    JudgeResponse,
    NextPart,
    QueryPart,
    ReembedResponse,
    RemoveResponse,
    ReportResponse,
    Response,
    RqlResponse,
    SearchResponse,
    StatsResponse,
    SweepResponse,
    TraceResponse,
    TransferResponse,
    TuneResponse,
    WhyNotResponse,
    response_of,
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

__all__ = [
    "OK",
    "SCHEMA_VERSION",
    "AccountView",
    "AnyResponse",
    "CalibrationResponse",
    "CalibrationView",
    "CandidateView",
    "CheckView",
    "ChunkView",
    "CompactResponse",
    "CompactView",
    "CompletionResponse",
    "ContextBlock",
    "ContextChunk",
    "ContextResponse",
    "ContextView",
    "DiffResponse",
    "DiffView",
    "DocView",
    "DoctorResponse",
    "EmbedderView",
    "EmbeddersResponse",
    "ErrorResponse",
    "ErrorView",
    "EvaluationResponse",
    "EvaluationView",
    "ExplainResponse",
    "ExplainView",
    "ExplainedResponse",
    "ExplainedView",
    "ExplanationView",
    "FixturesResponse",
    "FixturesView",
    "GetResponse",
    "Head",
    "IngestResponse",
    "IngestView",
    "JudgeResponse",
    "JudgedView",
    "LeafView",
    "LedgerView",
    "LexicalModelEcho",
    "NextPart",
    "NormalizerEcho",
    "OmittedView",
    "PartView",
    "PlanEcho",
    "QueryEcho",
    "QueryPart",
    "RecallView",
    "ReembedResponse",
    "ReembedView",
    "RemoveResponse",
    "RemovedView",
    "ReportResponse",
    "ReportView",
    "RerankEcho",
    "Response",
    "ResultView",
    "RqlResponse",
    "RqlView",
    "SearchResponse",
    "SignalEcho",
    "SkipView",
    "SparseView",
    "StatsResponse",
    "StatsView",
    "StoreView",
    "SweepResponse",
    "TermEcho",
    "TextView",
    "TraceResponse",
    "TraceView",
    "TransferResponse",
    "TransferView",
    "TuneResponse",
    "TuningView",
    "VersusView",
    "WhyNotResponse",
    "WhyNotView",
    "response_of",
    "schema",
]


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what commands answer: a Response, and one of those that it is made of."""
    from msgspec.json import schema_components  # noqa: PLC0415 - only when the schema is asked for

    kinds = get_args(AnyResponse)
    references, components = schema_components((Response, *kinds), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "recall/response/1",
        "title": "Recall response",
        **references[0],
        "anyOf": list(references[1:]),
        "$defs": _on_one_line(components),
    }


def _on_one_line(node: object) -> object:
    """The schema with each description on one line: Python 3.13 indents docstrings otherwise than 3.12."""
    if isinstance(node, list):
        return [_on_one_line(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: " ".join(value.split()) if key == "description" and isinstance(value, str) else _on_one_line(value)
        for key, value in node.items()
    }
