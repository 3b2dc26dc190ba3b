"""The MCP tools: descriptions, arguments, the method of Recall that each calls, and its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Meta, UnsetType

from recall_core.adapters.mcp import views
from recall_core.adapters.mcp.offers import OPENAI, SCHEME, Limits
from recall_core.adapters.render import as_json
from recall_core.agents.profiles import EXTRA, MAX_RESULTS
from recall_core.api.recall import Recall
from recall_core.api.serving import CallerNames, ServedTarget, spell
from recall_core.errors import RecallError, UnknownTarget, UsageError
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.targets import lines_in
from recall_core.text import is_storable

if TYPE_CHECKING:
    from recall_core.contract.views import TextView

Arguments = TypeVar("Arguments", bound=msgspec.Struct)

CONNECTOR_DOCUMENTS = 10
"""Most documents that ChatGPT's connectors get from a search."""
MOST_LINES = 120
"""Most lines that `memory_get` returns."""

Fields = Annotated[Literal["compact", "all"], Meta(description="all: the full answer as JSON, like `recall --json`")]


class QuestionArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A query in words or in RQL. With `rql`, `query` may be empty or absent."""

    query: Annotated[str, Meta(description='Words to find; "exact phrase", back*, -word, title:word. "" with rql')]
    rql: Annotated[str, Meta(description="RQL query instead of words")] | UnsetType = UNSET
    k: Annotated[int, Meta(ge=1, le=1_000_000, description="Number of rows")] | UnsetType = UNSET
    mode: Literal["hybrid", "lexical", "semantic", "bm25", "vector"] | UnsetType = UNSET
    filter: (
        Annotated[
            str,
            Meta(description="RQL condition such as doc.path GLOB 'docs/*' AND doc.tag = 'api'"),
        ]
        | UnsetType
    ) = UNSET
    set: (
        Annotated[list[str], Meta(description="Ranking settings for this query, as key=value: min_score=0.2")]
        | UnsetType
    ) = UNSET
    fields: Fields | UnsetType = UNSET


class SearchArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Arguments of `search`."""


class ContextArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Arguments of `context`."""

    budget_tokens: (
        Annotated[int, Meta(ge=1, le=1_000_000, description="Token budget of the whole text")] | UnsetType
    ) = UNSET


class ExplainArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Arguments of `explain`."""

    target: Annotated[str, Meta(description="Chunk id")]
    versus: Annotated[str, Meta(description="Id of another chunk to compare with")] | UnsetType = UNSET


class WhyNotArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Arguments of `whynot`."""

    target: Annotated[str, Meta(description='What is missing: path, path:line, chunk id or "quoted text"')]
    budget_tokens: (
        Annotated[int, Meta(ge=1, le=1_000_000, description="Explain a context of this many tokens")] | UnsetType
    ) = UNSET


class GetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Arguments of `get`."""

    targets: (
        Annotated[
            list[str],
            Meta(max_length=100, description="Paths, path:10-20, path#page=3, path#heading, ids"),
        ]
        | UnsetType
    ) = UNSET
    glob: Annotated[str, Meta(description="Instead of targets: paths that match, such as docs/*.md")] | UnsetType = (
        UNSET
    )
    lines: Annotated[str, Meta(description="Lines of each document, such as 10-20")] | UnsetType = UNSET
    max_bytes: (
        Annotated[int, Meta(ge=1, le=10_000_000, description="Most bytes of all texts together")] | UnsetType
    ) = UNSET
    fields: Fields | UnsetType = UNSET


class ListArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Arguments of `list`."""

    prefix: Annotated[str, Meta(description="Start of the path, such as docs/")] | UnsetType = UNSET
    glob: str | UnsetType = UNSET
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] | UnsetType = UNSET
    fields: Fields | UnsetType = UNSET


class StatusArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Arguments of `status`."""

    fields: Fields | UnsetType = UNSET


class MemorySearchArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Arguments of `memory_search`."""

    query: str
    max_results: Annotated[int, Meta(ge=1, le=1_000, description="Number of results (default 6)")] | UnsetType = UNSET
    min_score: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    corpus: Annotated[str, Meta(description="One source of documents; memory or all for every source")] = "all"
    text: Annotated[bool, Meta(description="Also return the whole chunk")] = False


class MemoryGetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Arguments of `memory_get`."""

    path: str
    from_: Annotated[int, Meta(ge=1, le=1_000_000_000, description="First line (default 1)")] = msgspec.field(
        default=1, name="from"
    )
    lines: Annotated[int, Meta(ge=1, le=1_000_000, description=f"Number of lines, at most {MOST_LINES}")] = MOST_LINES


class OpenAISearchArguments(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of `search` in the shape of ChatGPT's connectors."""

    query: str


class FetchArguments(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of `fetch`."""

    id: Annotated[str, Meta(description="An id from search")]


def read(kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return a client's arguments as `kind`. Raises UsageError `bad_arguments`.

    A value of another type is converted if there is only one way: `"5"` and `5.0` to 5, a text or a JSON text to a
    list. null counts as absent, and so does an empty value of an optional argument, because clients with strict
    schemas send every argument.
    """
    expected = schema(kind)
    values = {key: _convert(key, value, expected["properties"].get(key)) for key, value in given.items()}
    if values.get("rql"):
        values.setdefault("query", "")
    values = {
        key: value
        for key, value in values.items()
        if value is not None and (key in expected["required"] or value not in ("", [], {}))
    }
    if not is_storable(json.dumps(values, ensure_ascii=False)):
        raise UsageError("bad_arguments", "An argument is not valid Unicode.", hint="remove lone surrogates")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        absent = [name for name in expected["required"] if name not in values]
        example = {name: _EXAMPLES[name] for name in expected["required"]}
        hint = json.dumps(example) if absent else f"it takes {', '.join(expected['properties'])}"
        raise UsageError("bad_arguments", _plainly(str(error)), hint=hint) from error


_EXAMPLES = {"id": "notes/a.md", "query": "words", "target": "notes/a.md", "path": "notes/a.md"}
"""Example values of required arguments, for hints."""


def _convert(name: str, value: Any, wanted: Mapping[str, Any] | None) -> Any:
    """Convert the value to the type of its schema if there is only one way, else return it unchanged."""
    kind = wanted["type"] if wanted is not None else None
    if wanted is None or value is None:
        return value
    if kind == "array":
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            parsed = _parse_text(value)
            value = parsed if isinstance(parsed, list | dict) else value
        if value == "" or (isinstance(value, dict) and name != "set"):
            return value
        items = value if isinstance(value, list) else [value]
        if name == "set":
            items = [setting for item in items for setting in _settings(item)]
        return [_convert("", item, wanted["items"]) for item in items]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind == "string":
        value = json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        plain = value.strip().lower() if isinstance(value, str) else value
        return plain if plain in wanted.get("enum", ()) else value
    if isinstance(value, str):
        value = _parse_text(value.lower())
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return bool(value) if kind == "boolean" and value in (0, 1) else value


def _settings(item: Any) -> list[Any]:
    """Return the entries of a map as `key=value`. Return any other item unchanged."""
    if not isinstance(item, dict) or not all(isinstance(each, str | int | float) for each in item.values()):
        return [item]
    return [f"{key}={str(each).lower() if isinstance(each, bool) else each}" for key, each in item.items()]


def _parse_text(text: str) -> Any:
    """Parse the text as JSON, else return it unchanged. "" is null."""
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return text


def _plainly(message: str) -> str:
    """Rewrite a message such as `Expected int >= 1 - at $.k` as a sentence about `k`."""
    for pattern, words in _PLAINLY:
        message = pattern.sub(words, message)
    return f"{message}."


_PLAINLY = (
    (re.compile(r"Object contains unknown field `(.*)`"), r"There is no argument \1"),
    (re.compile(r"Object missing required field `(.*)`"), r"The argument \1 is missing"),
    (re.compile(r"(.*) - at `\$\.(.*)`"), r"\2: \1"),
    (re.compile(r"`"), ""),
)


@cache
def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a type in a form for strict clients: without references, every property typed.

    Defaults and text lengths are left out, because several providers reject them in a strict schema.
    """
    _, parts = msgspec.json.schema_components([kind])
    root: dict[str, Any] = json.loads(json.dumps(parts[kind.__name__]))
    properties = {
        name: {"type": "string"} | {key: value for key, value in part.items() if key not in ("maxLength", "default")}
        for name, part in root["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": root["required"], "additionalProperties": False}


LIST_LIMIT = 200
"""Most documents that `list` returns."""
GET_BYTES = 36_000
"""Default bytes of all texts of `get`, so that the answer stays within its limit."""


class ToolAnswer(NamedTuple):
    """The answer of a tool: its text, and the object behind it for structured content."""

    text: str
    content: dict[str, Any]


Answer: TypeAlias = Mapping[str, Any]
Call: TypeAlias = Callable[[Recall, CallerNames, Any, Limits], ToolAnswer]


class Tool(NamedTuple):
    """One tool. All tools only read."""

    name: str
    title: str
    description: str
    takes: type[msgspec.Struct]
    call: Call

    def answer(self, recall: Recall, given: Mapping[str, Any], limits: Limits) -> ToolAnswer:
        """Return the answer to a call. Raises RecallError."""
        arguments = read(self.takes, given)
        names = CallerNames(recall, limits.base)
        with recall.store.reading():
            try:
                return self.call(recall, names, arguments, limits)
            except RecallError as error:
                raise names.rename(error) from error.__cause__


def _ask(arguments: QuestionArguments) -> Ask:
    """Return the search options. Raises UsageError `bad_arguments`."""
    if bool(arguments.query) == bool(arguments.rql):
        raise UsageError("bad_arguments", "Give either query or rql.", hint='{"query": "words"}')
    if arguments.rql and (arguments.mode not in (UNSET, "hybrid") or arguments.filter):
        message = "mode and filter cannot be used with rql."
        raise UsageError("bad_arguments", message, hint="write USING and FILTER in rql")
    return Ask(
        k=_or_none(arguments.k),
        mode=arguments.mode or "hybrid",
        filter=_or_none(arguments.filter),
        settings=tuple(arguments.set or ()),
    )


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value


def _words(arguments: QuestionArguments) -> tuple[str | None, str | None]:
    return arguments.query or None, _or_none(arguments.rql)


def _give(answer: Answer, write: views.Writer, arguments: Any, names: CallerNames, limits: Limits) -> ToolAnswer:
    content = dict(answer)
    if arguments.fields == "all":
        return ToolAnswer(as_json(content), content)
    return ToolAnswer(views.join_pieces(views.in_pieces(answer, names, write), limits.max_answer_chars), content)


def _search(recall: Recall, names: CallerNames, arguments: SearchArguments, limits: Limits) -> ToolAnswer:
    ask, (words, rql) = _ask(arguments), _words(arguments)
    answer = recall.search(words, ask) if rql is None else recall.query(rql, ask)  # type: ignore[arg-type]
    return _give(answer, views.write_hits, arguments, names, limits)


def _context(recall: Recall, names: CallerNames, arguments: ContextArguments, limits: Limits) -> ToolAnswer:
    ask, (words, rql) = _ask(arguments), _words(arguments)
    pack = Pack(budget_tokens=_or_none(arguments.budget_tokens))
    if arguments.fields == "all":
        return _give(recall.context(words, ask, pack, rql=rql), views.write_context, arguments, names, limits)
    fence, longest = "", views.fence_of("")
    while len(longest) > len(fence):  # a block needs a longer fence than the budget counts
        fence = longest
        answer = recall.context(words, _with_fences(ask, fence), pack, rql=rql)
        longest = max((views.fence_of(block["text"]) for block in answer["context"]["blocks"]), key=len, default="")
    return _give(answer, views.write_context, arguments, names, limits)


def _with_fences(ask: Ask, fence: str) -> Ask:
    """Add the lines around each block to the settings, so that the budget counts them."""
    assert isinstance(ask.settings, tuple)  # noqa: S101 - `_ask` made them
    return ask._replace(settings=(*ask.settings, f"header=[{{n}}] {{path}}:{{lines}}\n{fence}", f"footer={fence}"))


def _explain(recall: Recall, names: CallerNames, arguments: ExplainArguments, limits: Limits) -> ToolAnswer:
    ask, (words, rql) = _ask(arguments), _words(arguments)
    target = _chunk(names, arguments.target)
    versus = _chunk(names, arguments.versus) if arguments.versus else None
    return _give(
        recall.explain(words, target, ask, versus=versus, rql=rql), views.write_explanation, arguments, names, limits
    )


def _chunk(names: CallerNames, name: str) -> str:
    """Return the id of the named chunk. Raises UnknownTarget, also for a document or its lines."""
    found = names.find(name)
    if found.path is not None:
        hint = "use a chunk id from search"
        raise UnknownTarget("unknown_target", f"{name} is a document or part of one, not a chunk.", hint=hint)
    return found.target


def _whynot(recall: Recall, names: CallerNames, arguments: WhyNotArguments, limits: Limits) -> ToolAnswer:
    ask, (words, rql) = _ask(arguments), _words(arguments)
    pack = Pack(budget_tokens=_or_none(arguments.budget_tokens))
    if pack.budget_tokens is not None:
        ask = _with_fences(ask, views.fence_of(""))
    missed = names.find_missing(arguments.target)
    answer = recall.why_not(words, missed.target, ask, pack, rql=rql)
    answer["whynot"]["target"]["text"] = arguments.target
    answer["warnings"] += missed.warnings
    return _give(answer, views.write_whynot, arguments, names, limits)


def _get(recall: Recall, names: CallerNames, arguments: GetArguments, limits: Limits) -> ToolAnswer:
    if bool(arguments.targets) == bool(arguments.glob):
        raise UsageError("bad_arguments", "Give either targets or glob.", hint='{"targets": ["notes/a.md"]}')
    behind = f":{arguments.lines}" if arguments.lines else ""
    if arguments.glob:
        found = recall.list(glob=names.stored_as(arguments.glob), limit=LIST_LIMIT)["documents"]
        targets = [ServedTarget(each["id"] + behind, None) for each in found]
    else:
        targets = [names.find(each + behind) for each in arguments.targets or ()]
    answers = [_got(recall, each) for each in targets]
    if arguments.fields == "all":
        content = _content(answers)
        return ToolAnswer(as_json(content), content)
    most = GET_BYTES if arguments.max_bytes is UNSET else arguments.max_bytes
    return _texts(answers, names, most, limits)


def resource(recall: Recall, name: str, limits: Limits, scheme: str) -> str:
    """Return the text of a resource, within the limit of an answer.

    name: a document, lines of it, or a folder with a trailing slash for the first documents below it.
    """
    names = CallerNames(recall, limits.base)
    if name.endswith("/"):
        return BY_NAME["list"].answer(recall, {"prefix": name}, limits).text
    with recall.store.reading():
        return _texts([_got(recall, names.find(name))], names, GET_BYTES, limits, scheme).text


def _texts(answers: Sequence[Answer], names: CallerNames, most: int, limits: Limits, scheme: str = "") -> ToolAnswer:
    """Return the texts of documents, at most `most` bytes in total. scheme: prefix of addresses to continue with."""
    cut = _bound_answers(answers, most, limits.max_answer_chars, scheme)
    pieces = [piece for each in cut for piece in views.in_pieces(each, names, views.write_text)]
    if not answers:
        pieces = [views.AnswerPiece("", "0 documents match.")]
    return ToolAnswer(views.join_pieces(pieces, limits.max_answer_chars), _content(cut))


def _got(recall: Recall, served: ServedTarget) -> Answer:
    answer = recall.get(served.target)
    answer["warnings"] += served.warnings
    return answer


def _content(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the structured content: a single answer as on the command line, several in a list."""
    return dict(answers[0]) if len(answers) == 1 else {"answers": [*answers]}


def _bound_answers(answers: Sequence[Answer], most: int, letters: int, scheme: str) -> list[dict[str, Any]]:
    """Limit the answers to `most` bytes of text and `letters` characters in total.

    A longer text is cut at the end of a line, with a warning that says where to continue.
    """
    kept: list[dict[str, Any]] = []
    for answer in answers:
        view, warnings = answer["found"], answer["warnings"]
        text = view["text"].encode()
        letters -= _AROUND_CHARS + 2 * len(view["doc"]["path"]) + sum(map(len, warnings))
        shown = text[:most].decode(errors="ignore")
        if len(text) > most:
            shown = shown[: shown.rfind("\n") + 1] or shown
        shown = views.fitting(shown, letters)
        size = len(shown.encode())
        if size < len(text):
            following = _go_on(view, shown, scheme, is_first=not kept)
            left = f"{len(text) - size} of {len(text)} bytes are left out; {following}"
            kept.append({**answer, "found": {**view, "text": shown}, "warnings": [*warnings, left]})
        else:
            kept.append({**answer})
        most -= size
        letters -= len(views.fence_text(shown)) + 1 if shown else 0
    return kept


_AROUND_CHARS = 150
"""Characters around a text besides names: its header and the warning about omitted text."""


def _go_on(view: TextView, shown: str, scheme: str, *, is_first: bool) -> str:
    """Return how to get the rest of a text: by lines, unless its first line is too long."""
    part: Mapping[str, Any] = view.get("chunk", view)
    kind, _, place = part.get("place", "").partition(" ")
    first = int(place.partition("-")[0]) if kind == "line" else part.get("line_start", 1)
    if (kind and kind != "line" and "line_start" not in part) or (is_first and "\n" not in shown):
        return "continue with a larger maxBytes, or use fields=all"
    last = first + lines_in(view["text"]) - 1
    path = view["doc"]["path"].replace("%", "%25") if scheme else view["doc"]["path"]
    return f"continue with {scheme}{path}:{first + shown.count(chr(10))}-{last}"


def _list(recall: Recall, names: CallerNames, arguments: ListArguments, limits: Limits) -> ToolAnswer:
    prefix, glob = (arguments.prefix or "").removeprefix("./"), arguments.glob
    answer = recall.list(
        names.stored_as(prefix) if prefix else "",
        glob=names.stored_as(glob) if glob else None,
        limit=LIST_LIMIT,
        offset=arguments.offset or 0,
    )
    return _give(answer, views.write_documents, arguments, names, limits)


def _status(recall: Recall, names: CallerNames, arguments: StatusArguments, limits: Limits) -> ToolAnswer:
    return _give(
        recall.stats(), lambda answer: views.write_store(answer, _contents(recall, names)), arguments, names, limits
    )


def _contents(recall: Recall, names: CallerNames) -> views.StoreContents:
    known, elsewhere = folders(recall, names), names.labels()
    rows = recall.query("SELECT doc.mtime FROM doc ORDER BY doc.mtime DESC LIMIT 1")["results"]
    newest: Mapping[str, Any] = rows[0].get("doc", {}) if rows else {}
    return views.StoreContents(
        {name: count for name, count in known.items() if name not in elsewhere},
        {name: known[name] for name in elsewhere if known[name]},
        sorted({root.source for root in recall.store.roots() if root.source}),
        str(newest.get("mtime", ""))[:10],
    )


def folders(recall: Recall, names: CallerNames) -> dict[str, int]:
    """Return the document count of each top folder of the store, and of each labelled folder elsewhere."""
    elsewhere = {name: recall.list(names.stored_as(name), limit=0)["total"] for name in names.labels()}
    return names.folders() | elsewhere


def _memory_search(
    recall: Recall, names: CallerNames, arguments: MemorySearchArguments, limits: Limits
) -> ToolAnswer:
    settings = () if arguments.min_score is UNSET else (f"min_score={arguments.min_score}",)
    scope = recall.engine.scope
    rows = arguments.max_results or (MAX_RESULTS if scope is None else scope.agent.max_results)
    answer = recall.search(
        arguments.query, Ask(k=rows, settings=settings, filter=_corpus_filter(recall, arguments.corpus))
    )
    citations = "auto" if scope is None else scope.agent.citations
    found = views.memory_results(answer, names, has_text=arguments.text, citations=citations)
    provider, model = recall.config.embedding.partition(":")[0], recall.store.embedder()
    result: dict[str, Any] = {key: found.pop(key) for key in ("warning", "results") if key in found}
    result |= {"provider": provider, "model": model, **found}
    if scope is not None:
        result["citations"] = citations
    room = limits.max_answer_chars - len(as_json({**result, "results": []}))
    kept = views.first_that_fit(result["results"], room)
    if len(kept) < len(result["results"]):
        result |= {"results": kept, "truncated": True}
    return ToolAnswer(as_json(result), result)


def _corpus_filter(recall: Recall, corpus: str) -> str | None:
    """Return a filter for one source, or None for all. Raises UsageError `unknown_corpus`.

    `memory` means every document, but for an agent its source; `extra` are its extra paths.
    """
    scope, roots = recall.engine.scope, recall.store.roots()
    known = sorted({root.source for root in roots if root.source} if scope is None else scope.agent.sources)
    if scope is not None and any(EXTRA in root.tags for root in roots):
        known.append(EXTRA)
    if corpus == "all" or (corpus == "memory" and scope is None):
        return None
    if corpus not in known:
        raise UsageError(
            "unknown_corpus",
            f"There is no corpus {corpus!r}.",
            hint=f"one of: {', '.join(('all', *known))}",
            details={"known": ["all", *known]},
        )
    quoted = corpus.replace("'", "''")
    return f"doc.tag = '{quoted}'" if scope is not None and corpus == EXTRA else f"doc.source = '{quoted}'"


def _memory_get(recall: Recall, names: CallerNames, arguments: MemoryGetArguments, limits: Limits) -> ToolAnswer:
    view: Any = recall.get(names.find(arguments.path).target)["found"]
    first, most = arguments.from_, min(arguments.lines, MOST_LINES)
    part = view.get("chunk", view)
    if "line_start" in part:  # line numbers count from the start of the document
        first += part["line_start"] - 1
        most = min(most, max(1, part["line_end"] - first + 1))
        view = recall.get(view["doc"]["id"])["found"]
    text = views.memory_text(names.rename_in(view), first, most)
    if text["lines"] == 0 and first > 1:
        count = lines_in(view["text"])
        raise UsageError(
            "bad_lines", f"{arguments.path} has lines 1 to {count}.", hint=f'{{"from": {max(1, count)}}}'
        )
    return ToolAnswer(as_json(text), text)


def _openai_search(
    recall: Recall, names: CallerNames, arguments: OpenAISearchArguments, limits: Limits
) -> ToolAnswer:
    """Return the documents of the best hits, each with its best passage."""
    best: dict[str, dict[str, str]] = {}
    for hit in recall.search(arguments.query, Ask(k=5 * CONNECTOR_DOCUMENTS))["results"]:
        doc, passage = hit["doc"], hit.get("passage")
        found = _connector_entry(names.shown(doc["path"]), doc.get("title", ""), passage["text"] if passage else "")
        best.setdefault(found["id"], found)
    content = {
        "results": views.first_that_fit(
            [*best.values()][:CONNECTOR_DOCUMENTS], limits.max_answer_chars - len('{"results":[]}')
        )
    }
    return ToolAnswer(as_json(content), content)


def _connector_entry(name: str, title: str, text: str) -> dict[str, str]:
    """Return a document as ChatGPT's connectors show it."""
    return {"id": spell(name), "title": title or name, "text": text, "url": SCHEME + quote(name)}


def _fetch(recall: Recall, names: CallerNames, arguments: FetchArguments, limits: Limits) -> ToolAnswer:
    """Return the whole text of a document, or its beginning if it is longer than an answer."""
    served = names.find(arguments.id)
    view = recall.get(served.target)["found"]
    doc, name = view["doc"], names.shown(view["doc"]["path"])
    text = views.fitting(view["text"], limits.max_answer_chars)
    metadata = {"mtime": doc["mtime"], **({"truncated": "true"} if len(text) < len(view["text"]) else {})}
    content = {**_connector_entry(name, doc.get("title", ""), text), "metadata": metadata}
    return ToolAnswer(as_json(content), content)


TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        "Search documents",
        "Find the passages that answer a question, best first, each with a citation (path:lines). Start here. "
        "Requires query, or rql with an empty query.",
        SearchArguments,
        _search,
    ),
    Tool(
        "context",
        "Pack a context",
        "Pack the best chunks, in full and with sources, into one text within a token budget.",
        ContextArguments,
        _context,
    ),
    Tool(
        "explain",
        "Explain a score",
        "Show how a chunk's score for a query adds up (its ledger).",
        ExplainArguments,
        _explain,
    ),
    Tool(
        "whynot",
        "Explain a missing result",
        "Explain why a document, line or text is missing from an answer, and which changes would add it.",
        WhyNotArguments,
        _whynot,
    ),
    Tool(
        "get",
        "Read documents",
        "Get the exact indexed text of documents or lines, by path, citation, id (targets) or glob.",
        GetArguments,
        _get,
    ),
    Tool("list", "List documents", "List document paths by prefix or glob.", ListArguments, _list),
    Tool("status", "Store status", "Show the size, embedder and digest of the store.", StatusArguments, _status),
    Tool(
        "memory_search",
        "Search memory",
        "Search notes and documents like OpenClaw's memory_search: results with path, startLine, endLine, snippet.",
        MemorySearchArguments,
        _memory_search,
    ),
    Tool(
        "memory_get",
        "Read memory",
        f"Get lines of one document like OpenClaw's memory_get: at most {MOST_LINES}, and the next line to read.",
        MemoryGetArguments,
        _memory_get,
    ),
)
OPENAI_TOOLS = (
    Tool(
        f"{OPENAI}search",
        "Search documents",
        "Find the documents that answer a question, best first: id, title, text of the best passage, and url.",
        OpenAISearchArguments,
        _openai_search,
    ),
    Tool(f"{OPENAI}fetch", "Read a document", "Get the text of one document by its id.", FetchArguments, _fetch),
)
"""The only tools that ChatGPT's connectors call."""
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in (*TOOLS, *OPENAI_TOOLS)}


def described() -> list[dict[str, Any]]:
    """Return the tools as clients see them."""
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": schema(tool.takes),
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }
        for tool in (*TOOLS, *OPENAI_TOOLS)
    ]
