"""The response types of the commands."""

from __future__ import annotations

from typing import TypeAlias

from recall_core.contract import Head, agents, views
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
    """Keys of every response except errors."""

    warnings: list[str]
    """Warnings, as `"W_CODE: text"`."""


class TimedReply(Reply):
    """A response with time and totals."""

    stats: views.StatsView
    """Time and totals of this answer."""


class QuestionReply(TimedReply):
    """A response to a query."""

    query: views.QueryEcho
    """The query as Recall interpreted it."""


class SearchResponse(QuestionReply, views.SparsePart, ReceiptPart, views.NextPart):
    """The answer of search and query."""

    results: list[views.ResultView]
    """Hits, best first."""


class ContextResponse(QuestionReply, views.SparsePart, ReceiptPart):
    """The answer of context."""

    context: ContextView
    """The packed text with its sources."""


class ReplayResponse(Reply):
    """The answer of replay."""

    replay: ReplayView
    """The comparison with the receipt."""


class ExplainResponse(QuestionReply, views.SparsePart):
    """The answer of explain."""

    explanation: ExplanationView
    """How the score of a chunk adds up."""


class WhyNotResponse(QuestionReply):
    """The answer of whynot."""

    whynot: WhyNotView
    """Why a target is missing from the answer."""


class TraceResponse(QuestionReply):
    """The answer of trace."""

    trace: TraceView
    """The rows that each step keeps."""


class ReportResponse(QuestionReply, views.SparsePart):
    """The answer of report: search, trace and context of a query, and the data of its drawings."""

    results: list[views.ResultView]
    context: ContextView
    trace: TraceView
    report: ReportView
    """The parts of the page other than results and context."""


class GetResponse(Reply):
    """The answer of get."""

    found: views.TextView
    """The text."""


class ListResponse(TimedReply, views.NextPart):
    """The answer of ls."""

    documents: list[ListedView]
    """Live documents by path."""
    total: int
    """Number of documents on all pages."""


class StatsResponse(TimedReply):
    """The answer of stats and init."""

    store: StoreView
    """The figures of the store."""


class DoctorResponse(Reply):
    """The answer of doctor."""

    checks: list[views.CheckView]
    """One entry per check."""


class IngestResponse(Reply):
    """The answer of add and sync."""

    ingest: IngestView
    """The outcome of the ingest run."""


class RemoveResponse(Reply):
    """The answer of rm."""

    removed: views.RemovedView
    """The removed documents."""


class RootsResponse(Reply, RootsPart):
    """The answer of roots."""

    roots: list[RootView]
    """The roots: added folders and files."""


class TrustResponse(Reply):
    """The answer of trust."""

    trust: views.TrustView
    """The settings in recall.toml that need acceptance."""


class DaemonResponse(Reply):
    """The answer of daemon."""

    daemon: views.DaemonView
    """The state of recalld, after the action."""


class ConfigResponse(Reply):
    """The answer of config."""

    settings: list[views.SettingView]
    """The person's settings that were asked for, or the one that was changed."""


class AgentsResponse(Reply):
    """The answer of agents."""

    agents: list[agents.AgentView]
    """The agents, in the order of their files."""


class RouteResponse(Reply):
    """The answer of route."""

    route: agents.RouteView
    """The agent of the message."""


class StatusResponse(Reply):
    """The answer of status."""

    memory: agents.MemoryView
    """The state of the store."""


class CompactResponse(Reply):
    """The answer of compact."""

    compacted: views.CompactView
    """What compact removed and freed."""


class TransferResponse(Reply):
    """The answer of export, import and copy."""

    transfer: views.TransferView
    """The exported, imported or copied amounts."""


class BackupResponse(Reply):
    """The answer of backup."""

    backup: views.BackupView
    """The copy."""


class VerifyResponse(Reply):
    """The answer of verify."""

    verified: views.VerifiedView
    """The checked file."""
    checks: list[views.CheckView]


class RecoverResponse(Reply):
    """The answer of recover."""

    recovered: views.RecoveredView
    """The new store, built from a damaged one."""
    checks: list[views.CheckView]
    """Checks of the new store."""


class EmbeddersResponse(Reply):
    """The answer of embedders."""

    embedders: list[views.EmbedderView]
    """One entry per embedder."""


class ReembedResponse(Reply):
    """The answer of reembed."""

    reembedded: views.ReembedView
    """The outcome of reembed."""


class RechunkResponse(Reply):
    """The answer of rechunk."""

    rechunked: RechunkView
    """The outcome of rechunk."""


class ReindexResponse(Reply):
    """The answer of reindex."""

    reindexed: views.ReindexView
    """The outcome of reindex."""


class WarmResponse(Reply):
    """The answer of warm."""

    warmed: views.WarmView
    """The outcome of warm."""


class RqlResponse(Reply):
    """The answer of rql check and rql format."""

    rql: RqlView
    """The query in canonical form."""


class ExplainedResponse(QuestionReply):
    """The answer of rql explain."""

    explained: ExplainedView
    """The plan of the query."""


class CompletionResponse(Reply):
    """The answer of rql complete."""

    candidates: list[CandidateView]
    """The completions at the cursor."""


class EvaluationResponse(TimedReply):
    """The answer of eval."""

    evaluation: EvaluationView
    """The ranking quality."""


class FixturesResponse(Reply):
    """The answer of eval --fixtures."""

    fixtures: FixturesView
    """Verdicts on facts that contexts must contain."""


class CalibrationResponse(Reply):
    """The answer of eval --calibrate-sparse."""

    calibration: CalibrationView
    """A proposed distance ceiling."""


class JudgeResponse(Reply):
    """The answer of judge."""

    judged: JudgedView
    """The queries and judgements read or written."""


class TuneResponse(TimedReply):
    """The answer of tune for judged queries."""

    tuning: TuningView
    """The weights that rank better."""


class SweepResponse(QuestionReply):
    """The answer of tune for one query."""

    tuning: TuningView


class DiffResponse(TimedReply, views.QueryPart):
    """The answer of diff."""

    diff: DiffView
    """The comparison of two rankings."""


class ErrorResponse(Head):
    """The response of a failed command."""

    error: views.ErrorView
    """The error."""


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
    | DaemonResponse
    | ConfigResponse
    | AgentsResponse
    | RouteResponse
    | StatusResponse
    | CompactResponse
    | TransferResponse
    | BackupResponse
    | VerifyResponse
    | RecoverResponse
    | EmbeddersResponse
    | ReembedResponse
    | RechunkResponse
    | ReindexResponse
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
