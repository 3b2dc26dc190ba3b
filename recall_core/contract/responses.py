"""What each command answers, a type for each; `Response` has the keys of all of them."""

from __future__ import annotations

from typing import Any, NotRequired, TypeAlias, TypedDict, get_args

from recall_core._lazy import msgspec
from recall_core.contract import Head, views
from recall_core.contract.explaining import DiffView, ReceiptView, ReplayView, ReportView, TraceView, WhyNotView
from recall_core.contract.judging import CalibrationView, EvaluationView, FixturesView, JudgedView, TuningView
from recall_core.contract.ledger import ExplanationView
from recall_core.contract.store import (
    ForgottenView,
    IngestView,
    ListedView,
    RechunkView,
    RootEditView,
    RootView,
    StoreView,
)
from recall_core.contract.views import ContextView
from recall_core.rql.views import CandidateView, ExplainedView, RqlView


class SearchResponse(Head):
    """What search and query answer. next_offset: where the next page begins, while there is one."""

    query: views.QueryEcho
    results: list[views.ResultView]
    sparse: NotRequired[views.SparseView]
    stats: views.StatsView
    warnings: list[str]
    next_offset: NotRequired[int]
    receipt: NotRequired[ReceiptView]


class ContextResponse(Head):
    """What context answers."""

    query: views.QueryEcho
    sparse: NotRequired[views.SparseView]
    context: ContextView
    stats: views.StatsView
    warnings: list[str]
    receipt: NotRequired[ReceiptView]


class ReplayResponse(Head):
    """What replay answers."""

    replay: ReplayView
    warnings: list[str]


class ExplainResponse(Head):
    """What explain answers."""

    query: views.QueryEcho
    explanation: ExplanationView
    sparse: NotRequired[views.SparseView]
    stats: views.StatsView
    warnings: list[str]


class WhyNotResponse(Head):
    """What whynot answers."""

    query: views.QueryEcho
    whynot: WhyNotView
    stats: views.StatsView
    warnings: list[str]


class TraceResponse(Head):
    """What trace answers."""

    query: views.QueryEcho
    trace: TraceView
    stats: views.StatsView
    warnings: list[str]


class ReportResponse(Head):
    """What report answers: search, trace and context of one question, and what it draws."""

    query: views.QueryEcho
    results: list[views.ResultView]
    sparse: NotRequired[views.SparseView]
    context: ContextView
    trace: TraceView
    report: ReportView
    stats: views.StatsView
    warnings: list[str]


class GetResponse(Head):
    """What get answers."""

    found: views.TextView
    warnings: list[str]


class ListResponse(Head):
    """What ls answers. next_offset: where the next page begins, while there is one."""

    documents: list[ListedView]
    total: int
    stats: views.StatsView
    warnings: list[str]
    next_offset: NotRequired[int]


class StatsResponse(Head):
    """What stats and init answer."""

    store: StoreView
    stats: views.StatsView
    warnings: list[str]


class DoctorResponse(Head):
    """What doctor answers."""

    checks: list[views.CheckView]
    warnings: list[str]


class IngestResponse(Head):
    """What add and sync answer."""

    ingest: IngestView
    warnings: list[str]


class RemoveResponse(Head):
    """What rm answers."""

    removed: views.RemovedView
    warnings: list[str]


class RootsResponse(Head):
    """What roots answers."""

    roots: list[RootView]
    edited: NotRequired[RootEditView]
    forgotten: NotRequired[ForgottenView]
    ingest: NotRequired[IngestView]
    warnings: list[str]


class TrustResponse(Head):
    """What trust answers."""

    trust: views.TrustView
    warnings: list[str]


class CompactResponse(Head):
    """What compact answers."""

    compacted: views.CompactView
    warnings: list[str]


class TransferResponse(Head):
    """What export and import answer."""

    transfer: views.TransferView
    warnings: list[str]


class BackupResponse(Head):
    """What backup answers."""

    backup: views.BackupView
    warnings: list[str]


class VerifyResponse(Head):
    """What verify answers."""

    verified: views.VerifiedView
    checks: list[views.CheckView]
    warnings: list[str]


class RecoverResponse(Head):
    """What recover answers. checks: of the new store."""

    recovered: views.RecoveredView
    checks: list[views.CheckView]
    warnings: list[str]


class EmbeddersResponse(Head):
    """What embedders answers."""

    embedders: list[views.EmbedderView]
    warnings: list[str]


class ReembedResponse(Head):
    """What reembed answers."""

    reembedded: views.ReembedView
    warnings: list[str]


class RechunkResponse(Head):
    """What rechunk answers."""

    rechunked: RechunkView
    warnings: list[str]


class WarmResponse(Head):
    """What warm answers."""

    warmed: views.WarmView
    warnings: list[str]


class RqlResponse(Head):
    """What rql check and rql format answer."""

    rql: RqlView
    warnings: list[str]


class ExplainedResponse(Head):
    """What rql explain answers."""

    query: views.QueryEcho
    explained: ExplainedView
    stats: views.StatsView
    warnings: list[str]


class CompletionResponse(Head):
    """What rql complete answers."""

    candidates: list[CandidateView]
    warnings: list[str]


class EvaluationResponse(Head):
    """What eval answers."""

    evaluation: EvaluationView
    stats: views.StatsView
    warnings: list[str]


class FixturesResponse(Head):
    """What eval --fixtures answers."""

    fixtures: FixturesView
    warnings: list[str]


class CalibrationResponse(Head):
    """What eval --calibrate-sparse answers."""

    calibration: CalibrationView
    warnings: list[str]


class JudgeResponse(Head):
    """What judge answers."""

    judged: JudgedView
    warnings: list[str]


class TuneResponse(Head):
    """What tune answers to judged queries."""

    tuning: TuningView
    stats: views.StatsView
    warnings: list[str]


class SweepResponse(Head):
    """What tune answers to one question."""

    query: views.QueryEcho
    tuning: TuningView
    stats: views.StatsView
    warnings: list[str]


class DiffResponse(Head):
    """What diff answers. query: of the one question that is asked."""

    query: NotRequired[views.QueryEcho]
    diff: DiffView
    stats: views.StatsView
    warnings: list[str]


class ErrorResponse(Head):
    """What any command answers that failed."""

    error: views.ErrorView


AnyResponse: TypeAlias = (
    SearchResponse
    | ContextResponse
    | ReplayResponse
    | ExplainResponse
    | WhyNotResponse
    | TraceResponse
    | ReportResponse
    | GetResponse
    | ListResponse
    | StatsResponse
    | DoctorResponse
    | IngestResponse
    | RemoveResponse
    | RootsResponse
    | TrustResponse
    | CompactResponse
    | TransferResponse
    | BackupResponse
    | VerifyResponse
    | RecoverResponse
    | EmbeddersResponse
    | ReembedResponse
    | RechunkResponse
    | WarmResponse
    | RqlResponse
    | ExplainedResponse
    | CompletionResponse
    | EvaluationResponse
    | FixturesResponse
    | CalibrationResponse
    | JudgeResponse
    | TuneResponse
    | SweepResponse
    | DiffResponse
    | ErrorResponse
)


class Response(TypedDict):
    """What every command answers, on one line of JSON: any of the keys above."""

    ok: bool
    """False exactly when there is an `error`."""
    schema_version: str
    """The version of this contract."""
    query: NotRequired[views.QueryEcho]
    """The question as it was understood."""
    results: NotRequired[list[views.ResultView]]
    """Hits, best first."""
    sparse: NotRequired[views.SparseView]
    """What sparse-document recall did."""
    context: NotRequired[ContextView]
    """The packed text with its sources."""
    receipt: NotRequired[ReceiptView]
    """What the answer was, to be held against a later one."""
    replay: NotRequired[ReplayView]
    """An answer beside its receipt."""
    ingest: NotRequired[IngestView]
    """What came in."""
    store: NotRequired[StoreView]
    """The store at rest."""
    removed: NotRequired[views.RemovedView]
    """What went out."""
    roots: NotRequired[list[RootView]]
    """The folders and files that were added."""
    edited: NotRequired[RootEditView]
    """The one that was edited."""
    forgotten: NotRequired[ForgottenView]
    """Those that were forgotten."""
    trust: NotRequired[views.TrustView]
    """What recall.toml says that waits to be accepted."""
    found: NotRequired[views.TextView]
    """The text."""
    documents: NotRequired[list[ListedView]]
    """Live documents by path."""
    total: NotRequired[int]
    """How many there are on all pages."""
    checks: NotRequired[list[views.CheckView]]
    """One entry a check."""
    compacted: NotRequired[views.CompactView]
    """What was freed."""
    transfer: NotRequired[views.TransferView]
    """What was written or read."""
    backup: NotRequired[views.BackupView]
    """The copy that was written."""
    verified: NotRequired[views.VerifiedView]
    """The file that was checked."""
    recovered: NotRequired[views.RecoveredView]
    """The store that was made of a damaged one."""
    rql: NotRequired[RqlView]
    """The query in its canonical spelling."""
    explained: NotRequired[ExplainedView]
    """What the query does."""
    explanation: NotRequired[ExplanationView]
    """Why a chunk scores what it scores."""
    whynot: NotRequired[WhyNotView]
    """Why a target is not in the answer."""
    trace: NotRequired[TraceView]
    """Rows left after each step."""
    candidates: NotRequired[list[CandidateView]]
    """What may stand at the cursor."""
    embedders: NotRequired[list[views.EmbedderView]]
    """One entry an embedder."""
    reembedded: NotRequired[views.ReembedView]
    """What was made anew."""
    rechunked: NotRequired[RechunkView]
    """What was cut anew."""
    warmed: NotRequired[views.WarmView]
    """What was embedded ahead."""
    evaluation: NotRequired[EvaluationView]
    """How good the ranking is."""
    fixtures: NotRequired[FixturesView]
    """Verdicts on facts that contexts must hold."""
    calibration: NotRequired[CalibrationView]
    """A proposed distance ceiling."""
    judged: NotRequired[JudgedView]
    """What was read or written."""
    tuning: NotRequired[TuningView]
    """Which weights are better."""
    diff: NotRequired[DiffView]
    """Two rankings of the same questions, compared."""
    report: NotRequired[ReportView]
    """What a page shows beside results and context."""
    stats: NotRequired[views.StatsView]
    """Time and totals of this answer."""
    warnings: NotRequired[list[str]]
    """Strings `"W_CODE: text"`."""
    next_offset: NotRequired[int]
    """The offset of the next page, while there is one."""
    error: NotRequired[views.ErrorView]
    """Why there is no answer."""


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what commands answer: a Response, and one of those that it is made of."""
    references, components = msgspec.json.schema_components(
        (Response, *get_args(AnyResponse)), ref_template="#/$defs/{name}"
    )
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
