"""What each command answers, a type for each."""

from __future__ import annotations

from typing import TypeAlias

from recall_core.contract import Head, views
from recall_core.contract.explaining import DiffView, ReceiptPart, ReplayView, ReportView, TraceView, WhyNotView
from recall_core.contract.judging import CalibrationView, EvaluationView, FixturesView, JudgedView, TuningView
from recall_core.contract.ledger import ExplanationView
from recall_core.contract.store import (
    IngestView,
    ListedView,
    RechunkView,
    RootsPart,
    RootView,
    StoreView,
)
from recall_core.contract.views import ContextView
from recall_core.rql.views import CandidateView, ExplainedView, RqlView


class Reply(Head):
    """What every answer has that is no error."""

    warnings: list[str]
    """Strings `"W_CODE: text"`."""


class TimedReply(Reply):
    """An answer with its figures."""

    stats: views.StatsView
    """Time and totals of this answer."""


class QuestionReply(TimedReply):
    """An answer to a question."""

    query: views.QueryEcho
    """The question as it was understood."""


class SearchResponse(QuestionReply, views.SparsePart, ReceiptPart, views.NextPart):
    """What search and query answer."""

    results: list[views.ResultView]
    """Hits, best first."""


class ContextResponse(QuestionReply, views.SparsePart, ReceiptPart):
    """What context answers."""

    context: ContextView
    """The packed text with its sources."""


class ReplayResponse(Reply):
    """What replay answers."""

    replay: ReplayView
    """An answer beside its receipt."""


class ExplainResponse(QuestionReply, views.SparsePart):
    """What explain answers."""

    explanation: ExplanationView
    """Why a chunk scores what it scores."""


class WhyNotResponse(QuestionReply):
    """What whynot answers."""

    whynot: WhyNotView
    """Why a target is not in the answer."""


class TraceResponse(QuestionReply):
    """What trace answers."""

    trace: TraceView
    """Rows left after each step."""


class ReportResponse(QuestionReply, views.SparsePart):
    """What report answers: search, trace and context of one question, and what it draws."""

    results: list[views.ResultView]
    context: ContextView
    trace: TraceView
    report: ReportView
    """What a page shows beside results and context."""


class GetResponse(Reply):
    """What get answers."""

    found: views.TextView
    """The text."""


class ListResponse(TimedReply, views.NextPart):
    """What ls answers."""

    documents: list[ListedView]
    """Live documents by path."""
    total: int
    """How many there are on all pages."""


class StatsResponse(TimedReply):
    """What stats and init answer."""

    store: StoreView
    """The store at rest."""


class DoctorResponse(Reply):
    """What doctor answers."""

    checks: list[views.CheckView]
    """One entry a check."""


class IngestResponse(Reply):
    """What add and sync answer."""

    ingest: IngestView
    """What came in."""


class RemoveResponse(Reply):
    """What rm answers."""

    removed: views.RemovedView
    """What went out."""


class RootsResponse(Reply, RootsPart):
    """What roots answers."""

    roots: list[RootView]
    """The folders and files that were added."""


class TrustResponse(Reply):
    """What trust answers."""

    trust: views.TrustView
    """What recall.toml says that waits to be accepted."""


class CompactResponse(Reply):
    """What compact answers."""

    compacted: views.CompactView
    """What was freed."""


class TransferResponse(Reply):
    """What export and import answer."""

    transfer: views.TransferView
    """What was written or read."""


class BackupResponse(Reply):
    """What backup answers."""

    backup: views.BackupView
    """The copy that was written."""


class VerifyResponse(Reply):
    """What verify answers."""

    verified: views.VerifiedView
    """The file that was checked."""
    checks: list[views.CheckView]


class RecoverResponse(Reply):
    """What recover answers."""

    recovered: views.RecoveredView
    """The store that was made of a damaged one."""
    checks: list[views.CheckView]
    """Of the new store."""


class EmbeddersResponse(Reply):
    """What embedders answers."""

    embedders: list[views.EmbedderView]
    """One entry an embedder."""


class ReembedResponse(Reply):
    """What reembed answers."""

    reembedded: views.ReembedView
    """What was made anew."""


class RechunkResponse(Reply):
    """What rechunk answers."""

    rechunked: RechunkView
    """What was cut anew."""


class WarmResponse(Reply):
    """What warm answers."""

    warmed: views.WarmView
    """What was embedded ahead."""


class RqlResponse(Reply):
    """What rql check and rql format answer."""

    rql: RqlView
    """The query in its canonical spelling."""


class ExplainedResponse(QuestionReply):
    """What rql explain answers."""

    explained: ExplainedView
    """What the query does."""


class CompletionResponse(Reply):
    """What rql complete answers."""

    candidates: list[CandidateView]
    """What may stand at the cursor."""


class EvaluationResponse(TimedReply):
    """What eval answers."""

    evaluation: EvaluationView
    """How good the ranking is."""


class FixturesResponse(Reply):
    """What eval --fixtures answers."""

    fixtures: FixturesView
    """Verdicts on facts that contexts must hold."""


class CalibrationResponse(Reply):
    """What eval --calibrate-sparse answers."""

    calibration: CalibrationView
    """A proposed distance ceiling."""


class JudgeResponse(Reply):
    """What judge answers."""

    judged: JudgedView
    """What was read or written."""


class TuneResponse(TimedReply):
    """What tune answers to judged queries."""

    tuning: TuningView
    """Which weights are better."""


class SweepResponse(QuestionReply):
    """What tune answers to one question."""

    tuning: TuningView


class DiffResponse(TimedReply, views.QueryPart):
    """What diff answers."""

    diff: DiffView
    """Two rankings of the same questions, compared."""


class ErrorResponse(Head):
    """What any command answers that failed."""

    error: views.ErrorView
    """Why there is no answer."""


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
