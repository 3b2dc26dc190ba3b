"""The operations below /v1: what each takes, the method of Recall that it calls, its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

import recall_core
from recall_core._version import __version__
from recall_core.api.put import PREFIX, PutCounts, PutDocument, path_of
from recall_core.api.recall import Recall
from recall_core.api.serving import CallerNames
from recall_core.config import SettingValue
from recall_core.contract import OK
from recall_core.contract.responses import Reply
from recall_core.errors import RecallError, UnknownTarget, UsageError
from recall_core.retrieve.asking import Ask, Pack
from recall_core.shell import Hint

SCHEMA = Path(recall_core.__file__).parent / "schema" / "response.schema.json"
DOCUMENTS = "/v1/documents/"
NAME_BYTES = 1_024
"""Most bytes of a document's name."""

_Count = Annotated[int, Meta(ge=0, le=1_000_000)]
_Target = Annotated[str, Meta(description="A path, path:line, or id")]


class _Options(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Options of every question, as in the library."""

    k: Annotated[_Count | None, Meta(description="Number of rows")] = None
    settings: Annotated[
        dict[str, SettingValue] | list[str], Meta(description='Ranking settings: {"fusion": "rrf"} or ["fusion=rrf"]')
    ] = msgspec.field(default_factory=dict)
    explain: bool = False
    exact: bool = False
    snapshot: Annotated[str | None, Meta(description="The digest that the store must have")] = None
    strict_fresh: bool = False
    passages: bool = True
    lines_around: _Count = 0
    verbose: bool = False
    documents_with_words: bool = False


class _WordOptions(_Options, forbid_unknown_fields=True, kw_only=True):
    """Options that RQL writes in the query."""

    mode: Literal["hybrid", "lexical", "semantic", "bm25", "vector"] = "hybrid"
    filter: Annotated[str | None, Meta(description="A condition in RQL, such as doc.tag = 'api'")] = None


class SearchQuestion(_WordOptions, forbid_unknown_fields=True, kw_only=True):
    """The body of search."""

    words: str


class QueryQuestion(_Options, forbid_unknown_fields=True, kw_only=True):
    """The body of query."""

    rql: str


class ExplainQuestion(_WordOptions, forbid_unknown_fields=True, kw_only=True):
    """The body of explain: words or rql."""

    words: str | None = None
    rql: str | None = None
    chunk: Annotated[_Target | None, Meta(description="The chunk to explain (default: the first hit)")] = None
    versus: Annotated[_Target | None, Meta(description="Another chunk to compare with")] = None


class ContextQuestion(_WordOptions, forbid_unknown_fields=True, kw_only=True):
    """The body of context: words or rql."""

    words: str | None = None
    rql: str | None = None
    budget_tokens: _Count | None = None
    diversity: _Count | None = None
    counter: str | None = None
    format: Literal["plain", "markdown", "xml"] = "plain"
    pins: list[str] = []
    drops: list[str] = []
    pack: str | None = None
    lean: bool = False


class WhyNotQuestion(ContextQuestion, forbid_unknown_fields=True, kw_only=True):
    """The body of whynot: words or rql. With a budget, the answer is a context."""

    target: Annotated[str, Meta(description='What is missing: a path, path:line, id or "quoted text"')]
    fixes: bool = True


class GetQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """The body of get."""

    target: _Target


class DocumentsQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of documents."""

    prefix: str = ""
    glob: str = ""
    limit: _Count = 1_000
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class DocumentBody(msgspec.Struct, forbid_unknown_fields=True):
    """A document to store. With an embedding it is one chunk; without one it is cut and embedded like a file."""

    content: str
    title: str = ""
    tags: list[str] = []
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)
    embedding: list[float] | None = None


class PutResponse(Reply):
    """The answer of PUT."""

    put: PutCounts


class DeleteResponse(Reply):
    """The answer of DELETE."""

    deleted: int
    """Number of deleted documents."""


Answer: TypeAlias = Mapping[str, Any]
Takes = TypeVar("Takes", bound=msgspec.Struct)


class Operation(NamedTuple):
    """One operation. takes: its body, or the parameters of GET. answers: a type of the contract or of this module."""

    method: str
    path: str
    summary: str
    takes: type[msgspec.Struct] | None
    answers: str
    call: Callable[[Recall, CallerNames, Any, str], Answer]
    """Takes the body and the document's name, if the path has one."""
    is_reading: bool = True
    """All of it sees one state of the store."""


def _ask(question: Any) -> Ask:
    fields = {name: getattr(question, name) for name in Ask._fields if hasattr(question, name)}
    settings = fields["settings"]
    return Ask(**{**fields, "settings": tuple(settings) if isinstance(settings, list) else settings})


def _wording(question: Any) -> dict[str, Any]:
    """Return the words and the query. Raises UsageError `bad_arguments`."""
    if (question.words is None) == (question.rql is None):
        raise UsageError("bad_arguments", "Give either words or rql.", hint='{"words": "retry"}')
    if question.rql is not None and (question.mode != "hybrid" or question.filter is not None):
        message = "mode and filter cannot be used with rql."
        raise UsageError("bad_arguments", message, hint="write USING and FILTER in rql")
    return {"words": question.words, "rql": question.rql, "ask": _ask(question)}


def _pack(question: Any) -> Pack:
    fields = {name: getattr(question, name) for name in Pack._fields}
    return Pack(**{**fields, "pins": tuple(question.pins), "drops": tuple(question.drops)})


def _explain(recall: Recall, names: CallerNames, question: Any, _: str) -> Answer:
    chunk, versus = (each and names.find(each).target for each in (question.chunk, question.versus))
    return recall.explain(chunk=chunk, versus=versus, **_wording(question))


def _why_not(recall: Recall, names: CallerNames, question: Any, _: str) -> Answer:
    """Explain a missing name or text. A text with a space that names nothing is quoted text."""
    missed = names.find_missing(question.target)
    answer = recall.why_not(target=missed.target, pack=_pack(question), fixes=question.fixes, **_wording(question))
    answer["whynot"]["target"]["text"] = question.target
    answer["warnings"] += missed.warnings
    return answer


def _get(recall: Recall, names: CallerNames, question: Any, _: str) -> Answer:
    served = names.find(question.target)
    answer = recall.get(served.target)
    answer["warnings"] += served.warnings
    return answer


def _list(recall: Recall, names: CallerNames, question: Any, _: str) -> Answer:
    prefix, glob = (text and names.stored_as(text) for text in (question.prefix, question.glob))
    return recall.list(prefix, glob=glob or None, limit=question.limit, offset=question.offset)


def _put(recall: Recall, _: CallerNames, new: Any, name: str) -> Answer:
    document = PutDocument(name, new.content, new.metadata, new.embedding, new.title, tuple(new.tags))
    return {**OK, "put": recall.put([document]), "warnings": []}


def _delete(recall: Recall, _: CallerNames, __: Any, name: str) -> Answer:
    if not recall.delete([name]):
        message = f"No program put a document named {name}."
        raise UnknownTarget("unknown_target", message, hint=Hint("ls", PREFIX))
    return {**OK, "deleted": 1, "warnings": []}


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "POST", "/v1/search", "Return the best chunks for words.", SearchQuestion, "SearchResponse",
        lambda recall, _, question, __: recall.search(question.words, _ask(question)),
    ),
    Operation(
        "POST", "/v1/query", "Return the rows of an RQL query.", QueryQuestion, "SearchResponse",
        lambda recall, _, question, __: recall.query(question.rql, _ask(question)),
    ),
    Operation(
        "POST", "/v1/context", "Pack the best chunks under a token budget.", ContextQuestion, "ContextResponse",
        lambda recall, _, question, __: recall.context(pack=_pack(question), **_wording(question)),
    ),
    Operation(
        "POST", "/v1/explain", "Explain the score of a chunk.", ExplainQuestion, "ExplainResponse", _explain
    ),
    Operation(
        "POST", "/v1/whynot", "Explain why something is missing from an answer.", WhyNotQuestion, "WhyNotResponse",
        _why_not,
    ),
    Operation("POST", "/v1/get", "Return a document, lines of it or a chunk.", GetQuestion, "GetResponse", _get),
    Operation("GET", "/v1/documents", "List documents by path.", DocumentsQuestion, "ListResponse", _list),
    Operation(
        "GET", "/v1/stats", "Return the store's statistics.", None, "StatsResponse",
        lambda recall, _, __, ___: recall.stats(),
    ),
    Operation(
        "GET", "/v1/doctor", "Check the store, without repairs.", None, "DoctorResponse",
        lambda recall, _, __, ___: recall.doctor(), is_reading=False,
    ),
    Operation(
        "GET", "/v1/healthz", "Return whether the store can be read.", None, "Head",
        lambda recall, _, __, ___: recall.store.info() and OK,
    ),
    Operation(
        "PUT", f"{DOCUMENTS}{{name}}", "Store a document that has no file. The same again writes nothing.",
        DocumentBody, "PutResponse", _put, is_reading=False,
    ),
    Operation(
        "DELETE", f"{DOCUMENTS}{{name}}", "Delete a document that PUT stored.", None, "DeleteResponse", _delete,
        is_reading=False,
    ),
)  # fmt: skip


def answer(recall: Recall, operation: Operation, question: Any, name: str) -> Answer:
    """Return the answer of an operation. Errors have the caller's names of documents."""
    names = CallerNames(recall)
    try:
        with recall.store.reading() if operation.is_reading else nullcontext():
            return operation.call(recall, names, question, name)
    except RecallError as error:
        raise names.rename(error) from error.__cause__


def read_body(body: bytes, kind: type[Takes]) -> Takes:
    """Return a body as `kind`. Raises RecallError `bad_json`; UsageError `bad_arguments`."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise _bad_arguments(error, kind) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecallError("bad_json", f"The body is not JSON: {error}.", hint='{"words": "retry"}') from error


def read_parameters(given: Mapping[str, str], kind: type[Takes]) -> Takes:
    """Return the parameters of a URL as `kind`. Raises UsageError `bad_arguments`."""
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _bad_arguments(error, kind) from error


def _bad_arguments(error: msgspec.ValidationError, kind: type[msgspec.Struct]) -> UsageError:
    fields = kind.__struct_fields__
    unknown = re.search(r"unknown field `(.*)`", str(error), re.DOTALL)
    near = get_close_matches(unknown[1], fields, n=1) if unknown else []
    hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(fields)}" if fields else "leave it out"
    message = f"There is no argument {unknown[1]}." if unknown else f"{str(error).replace('`', '')}."
    return UsageError("bad_arguments", message, hint=hint)


def read_name(raw: bytes) -> str:
    """Return the document's name in the rest of a path. Raises UsageError `bad_path`."""
    try:
        name = raw.decode()
        is_fit = 0 < len(raw) <= NAME_BYTES and not {"", ".", ".."} & {*name.split("/")}
        path_of(name)
    except (UnicodeDecodeError, UsageError):
        is_fit = False
    if not is_fit:
        message = f"A document's name is a relative path of at most {NAME_BYTES:,} bytes, without control characters."
        raise UsageError("bad_path", message, hint=f"{DOCUMENTS}notes/a.md")
    return name


_STATUSES = {
    "ambiguous_id": 409, "ambiguous_path": 409, "bad_content_type": 415, "bad_json": 400, "bad_path": 400,
    "body_late": 408, "body_too_large": 413, "busy": 429, "chunker_changed": 409, "closed": 503,
    "config_invalid": 503, "disk_full": 507, "embedder_changed": 409, "foreign_host": 421, "foreign_origin": 403,
    "internal_error": 500, "method_not_allowed": 405, "no_room": 507, "not_writable": 403, "outdated": 409,
    "snapshot_mismatch": 409, "stale": 409, "text_unstorable": 422, "token_in_url": 400, "unauthorized": 401,
    "unknown_route": 404, "unknown_target": 404, "untrusted_config": 503,
}  # fmt: skip


def status_of(error: RecallError) -> int:
    """Return the HTTP status of an error: by its code, else 422 for the caller's mistakes and 503 for others."""
    return _STATUSES.get(error.code, 422 if isinstance(error, UsageError) else 503)


def openapi() -> dict[str, Any]:
    """Return the description of all operations: OpenAPI 3.1, with the types of the contract."""
    place = "#/components/schemas/"
    kinds = [each.takes for each in OPERATIONS if each.takes] + [PutResponse, DeleteResponse]
    _, own = msgspec.json.schema_components(kinds, ref_template=f"{place}{{name}}")
    known = json.loads(SCHEMA.read_text(encoding="utf-8").replace("#/$defs/", place))["$defs"] | own
    known["Head"] = {"type": "object", "properties": {"ok": {"const": True}, "schema_version": {"type": "string"}}}
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation, known, place)
    for path, summary, media in TEXTS:
        text = {media: {"schema": {"type": "object" if media.endswith("json") else "string"}}}
        paths[path] = {"get": {"summary": summary, "responses": _responses(text)}}
    wanted, left = set[str](), [each.answers for each in OPERATIONS] + ["ErrorResponse"] + [*own]
    while left:
        if (name := left.pop()) not in wanted:
            wanted.add(name)
            left += re.findall(f'"{place}(\\w+)"', json.dumps(known[name]))
    failure = {"application/json": {"schema": {"$ref": f"{place}ErrorResponse"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Recall", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {name: known[name] for name in sorted(wanted)},
            "responses": {"Error": {"description": "An error with a code.", "content": failure}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


TEXTS = (
    ("/v1/schema", "Return the JSON Schema of the answers.", "application/schema+json"),
    ("/v1/openapi.json", "Return this description.", "application/json"),
    ("/v1/metrics", "Return counts and durations for Prometheus.", "text/plain"),
)
"""Path, summary and media type of the other pages."""


def _describe(operation: Operation, known: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return one operation of the description. known: types by name."""
    answer = {"application/json": {"schema": {"$ref": place + operation.answers}}}
    described: dict[str, Any] = {"summary": operation.summary, "responses": _responses(answer)}
    takes = "" if operation.takes is None else operation.takes.__name__
    if operation.path.endswith("{name}"):
        name = {"type": "string", "minLength": 1, "maxLength": NAME_BYTES}
        described["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": name}]
    if takes and operation.method == "GET":
        properties = known[takes]["properties"].items()
        described["parameters"] = [{"name": name, "in": "query", "schema": each} for name, each in properties]
    elif takes:
        body = {"application/json": {"schema": {"$ref": place + takes}}}
        described["requestBody"] = {"required": True, "content": body}
    return described


def _responses(content: Mapping[str, Any]) -> dict[str, Any]:
    failures = sorted({422, *_STATUSES.values()})
    return {
        "200": {"description": "The answer.", "content": content},
        **{str(status): {"$ref": "#/components/responses/Error"} for status in failures},
    }
