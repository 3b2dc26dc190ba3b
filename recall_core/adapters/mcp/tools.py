"""The tools: what each is for, what it takes, which method of Recall it calls, and its answer as a client gets it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from recall_core.adapters.mcp import views
from recall_core.api.recall import Recall
from recall_core.api.serving import CallerNames, ServedTarget
from recall_core.errors import RecallError, UnknownTarget, UsageError
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.targets import lines_in
from recall_core.text import is_storable

if TYPE_CHECKING:
    from recall_core.contract.views import TextView

Arguments = TypeVar("Arguments", bound=msgspec.Struct)

MOST_LINES = 120
"""Lines that `memory_get` gives at once."""

Fields = Annotated[
    Literal["compact", "all"], Meta(description="all: the whole answer as JSON, as `recall --json` prints it")
]


class QuestionArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A question: words, or a query in RQL. With `rql`, `query` may be empty or absent."""

    query: Annotated[str, Meta(description='Words; "quoted" phrases match exactly. "" with rql')]
    rql: Annotated[str, Meta(description="A query in RQL instead of words")] | UnsetType = UNSET
    k: Annotated[int, Meta(ge=1, le=1_000_000, description="Most rows")] | UnsetType = UNSET
    mode: Literal["hybrid", "lexical", "semantic", "bm25", "vector"] | UnsetType = UNSET
    filter: (
        Annotated[
            str,
            Meta(description="RQL condition, such as doc.path GLOB 'docs/*' AND doc.tag = 'api'"),
        ]
        | UnsetType
    ) = UNSET
    set: (
        Annotated[list[str], Meta(description="Ranking settings of this question, each key=value: min_score=0.2")]
        | UnsetType
    ) = UNSET
    fields: Fields | UnsetType = UNSET


class SearchArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `search` takes."""


class ContextArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `context` takes."""

    budget_tokens: Annotated[int, Meta(ge=1, le=1_000_000, description="Tokens of the whole text")] | UnsetType = (
        UNSET
    )


class ExplainArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `explain` takes."""

    target: Annotated[str, Meta(description="A chunk's id")]
    versus: Annotated[str, Meta(description="Another chunk's id, to compare")] | UnsetType = UNSET


class WhyNotArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `whynot` takes."""

    target: Annotated[str, Meta(description='A path, path:line, a chunk\'s id or a "quoted text" that is missed')]
    budget_tokens: (
        Annotated[int, Meta(ge=1, le=1_000_000, description="Why it is not in a context of so many")] | UnsetType
    ) = UNSET


class GetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `get` takes."""

    targets: (
        Annotated[
            list[str],
            Meta(max_length=100, description="Paths, path:10-20, path#page=3, path#heading, ids"),
        ]
        | UnsetType
    ) = UNSET
    glob: Annotated[str, Meta(description="Or every document whose path matches, such as docs/*.md")] | UnsetType = (
        UNSET
    )
    lines: Annotated[str, Meta(description="10-20, of each")] | UnsetType = UNSET
    max_bytes: Annotated[int, Meta(ge=1, le=10_000_000, description="Most of all texts together")] | UnsetType = UNSET
    fields: Fields | UnsetType = UNSET


class ListArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `list` takes."""

    prefix: Annotated[str, Meta(description="Beginning of the path, such as docs/")] | UnsetType = UNSET
    glob: str | UnsetType = UNSET
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] | UnsetType = UNSET
    fields: Fields | UnsetType = UNSET


class StatusArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `status` takes."""

    fields: Fields | UnsetType = UNSET


class MemorySearchArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `memory_search` takes."""

    query: str
    max_results: Annotated[int, Meta(ge=1, le=1_000, description="Most results (6)")] = 6
    min_score: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    corpus: Annotated[str, Meta(description="One source of documents; memory or all for every one")] = "all"
    text: Annotated[bool, Meta(description="Give the whole chunk beside the snippet")] = False


class MemoryGetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `memory_get` takes."""

    path: str
    from_: Annotated[int, Meta(ge=1, le=1_000_000_000, description="First line (1)")] = msgspec.field(
        default=1, name="from"
    )
    lines: Annotated[int, Meta(ge=1, le=1_000_000, description=f"How many, at most {MOST_LINES}")] = MOST_LINES


def read(kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a client as the type. Raises UsageError `bad_arguments`.

    A value of another type is converted if it can be read in one way only: `"5"` and `5.0` for 5, a text or a JSON
    text for a list. null is an absent argument, and so is an empty value of one that is not required: clients with
    strict schemas send every argument.
    """
    wanted = schema(kind)
    values = {key: _convert(key, value, wanted["properties"].get(key)) for key, value in given.items()}
    if values.get("rql"):
        values.setdefault("query", "")
    values = {
        key: value
        for key, value in values.items()
        if value is not None and (key in wanted["required"] or value not in ("", [], {}))
    }
    if not is_storable(json.dumps(values, ensure_ascii=False)):
        raise UsageError("bad_arguments", "A text in it is not valid Unicode.", hint="without lone surrogates")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        absent = [name for name in wanted["required"] if name not in values]
        example = {name: _EXAMPLES[name] for name in wanted["required"]}
        hint = json.dumps(example) if absent else f"it takes {', '.join(wanted['properties'])}"
        raise UsageError("bad_arguments", _plainly(str(error)), hint=hint) from error


_EXAMPLES = {"query": "words", "target": "notes/a.md", "path": "notes/a.md"}
"""Values of required arguments, for hints."""


def _convert(name: str, value: Any, wanted: Mapping[str, Any] | None) -> Any:
    """Return the value as its schema wants it if there is one way to read it so, else as it is."""
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
    """Return the settings of a map as `key=value`, and any other item as it is."""
    if not isinstance(item, dict) or not all(isinstance(each, str | int | float) for each in item.values()):
        return [item]
    return [f"{key}={str(each).lower() if isinstance(each, bool) else each}" for key, each in item.items()]


def _parse_text(text: str) -> Any:
    """Return what the text is as JSON, or the text. "" is null."""
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return text


def _plainly(message: str) -> str:
    """`Expected int >= 1 - at $.k` as a sentence about `k`."""
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
    """Return the JSON Schema of a type as strict clients take it: without references, every property with a type.

    Lengths of texts and defaults are left out, since several providers refuse a strict schema that has them.
    """
    _, parts = msgspec.json.schema_components([kind])
    whole: dict[str, Any] = json.loads(json.dumps(parts[kind.__name__]))
    properties = {
        name: {"type": "string"} | {key: value for key, value in part.items() if key not in ("maxLength", "default")}
        for name, part in whole["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": whole["required"], "additionalProperties": False}


LIST_LIMIT = 200
"""Documents that `list` names at once."""
GET_BYTES = 36_000
"""Of all texts of `get` together: with the rest of the answer they stay within its characters."""
_EVERY_CORPUS = frozenset(("all", "memory"))


class Limits(NamedTuple):
    """What bounds an answer. base: the folder that paths are relative to, None for the store's own."""

    max_answer_chars: int = 40_000
    base: str | None = None


class Told(NamedTuple):
    """An answer for a client: its text, and the object that it is taken from, for who asks for structured content."""

    text: str
    content: dict[str, Any]


Answer: TypeAlias = Mapping[str, Any]
Call: TypeAlias = Callable[[Recall, CallerNames, Any, Limits], Told]


class Tool(NamedTuple):
    """One tool. All of them only read."""

    name: str
    title: str
    description: str
    takes: type[msgspec.Struct]
    call: Call

    def answer(self, recall: Recall, given: Mapping[str, Any], limits: Limits) -> Told:
        """Return the answer to a call. Raises RecallError."""
        asked = read(self.takes, given)
        names = CallerNames(recall, limits.base)
        with recall.store.reading():
            try:
                return self.call(recall, names, asked, limits)
            except RecallError as error:
                raise names.rename(error) from error.__cause__


def _ask(asked: QuestionArguments) -> Ask:
    """Return how the question is asked. Raises UsageError `bad_arguments`."""
    if bool(asked.query) == bool(asked.rql):
        raise UsageError("bad_arguments", "A question is either query or rql.", hint='{"query": "words"}')
    if asked.rql and (asked.mode not in (UNSET, "hybrid") or asked.filter):
        message = "mode and filter go with query; a query in RQL says both itself."
        raise UsageError("bad_arguments", message, hint="USING and FILTER, in rql")
    return Ask(
        k=_or_none(asked.k),
        mode=asked.mode or "hybrid",
        filter=_or_none(asked.filter),
        settings=tuple(asked.set or ()),
    )


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value


def _words(asked: QuestionArguments) -> tuple[str | None, str | None]:
    return asked.query or None, _or_none(asked.rql)


def _give(answer: Answer, write: views.Writer, asked: Any, names: CallerNames, limits: Limits) -> Told:
    content = dict(answer)
    if asked.fields == "all":
        return Told(views.as_json(content), content)
    return Told(views.join_pieces(views.in_pieces(answer, names, write), limits.max_answer_chars), content)


def _search(recall: Recall, names: CallerNames, asked: SearchArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    answer = recall.search(words, ask) if rql is None else recall.query(rql, ask)  # type: ignore[arg-type]
    return _give(answer, views.write_hits, asked, names, limits)


def _context(recall: Recall, names: CallerNames, asked: ContextArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    pack = Pack(budget_tokens=_or_none(asked.budget_tokens))
    if asked.fields == "all":
        return _give(recall.context(words, ask, pack, rql=rql), views.write_context, asked, names, limits)
    fence, longest = "", views.fence_of("")
    while len(longest) > len(fence):  # a block has a longer fence than was counted
        fence = longest
        answer = recall.context(words, _with_fences(ask, fence), pack, rql=rql)
        longest = max((views.fence_of(block["text"]) for block in answer["context"]["blocks"]), key=len, default="")
    return _give(answer, views.write_context, asked, names, limits)


def _with_fences(ask: Ask, fence: str) -> Ask:
    """Return the question with the lines around each block as an agent gets them, so that the budget counts them."""
    assert isinstance(ask.settings, tuple)  # noqa: S101 - `_ask` made them
    return ask._replace(settings=(*ask.settings, f"header=[{{n}}] {{path}}:{{lines}}\n{fence}", f"footer={fence}"))


def _explain(recall: Recall, names: CallerNames, asked: ExplainArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    target = _chunk(names, asked.target)
    versus = _chunk(names, asked.versus) if asked.versus else None
    return _give(
        recall.explain(words, target, ask, versus=versus, rql=rql), views.write_explanation, asked, names, limits
    )


def _chunk(names: CallerNames, name: str) -> str:
    """Return the id of a chunk that a caller named. Raises UnknownTarget, also for a document or lines of it."""
    found = names.find(name)
    if found.path is not None:
        hint = "give a chunk's id, as search shows it"
        raise UnknownTarget("unknown_target", f"{name} is a document, or a part of one, not a chunk.", hint=hint)
    return found.target


def _whynot(recall: Recall, names: CallerNames, asked: WhyNotArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    pack = Pack(budget_tokens=_or_none(asked.budget_tokens))
    if pack.budget_tokens is not None:
        ask = _with_fences(ask, views.fence_of(""))
    missed = _find_missing(names, asked.target)
    answer = recall.why_not(words, missed.target, ask, pack, rql=rql)
    answer["whynot"]["target"]["text"] = asked.target
    answer["warnings"] += missed.warnings
    return _give(answer, views.write_whynot, asked, names, limits)


def _find_missing(names: CallerNames, target: str) -> ServedTarget:
    """Return what is missed: a text in quotes as it is, a name by its id, any other text in quotes."""
    if len(target) > 2 and target[0] == target[-1] == '"':
        return ServedTarget(target, None)
    try:
        return names.find(target)
    except UnknownTarget:
        if " " not in target:
            raise
        return ServedTarget(f'"{target}"', None)


def _get(recall: Recall, names: CallerNames, asked: GetArguments, limits: Limits) -> Told:
    if bool(asked.targets) == bool(asked.glob):
        raise UsageError("bad_arguments", "get takes either targets or glob.", hint='{"targets": ["notes/a.md"]}')
    behind = f":{asked.lines}" if asked.lines else ""
    if asked.glob:
        found = recall.list(glob=names.stored_as(asked.glob), limit=LIST_LIMIT)["documents"]
        targets = [ServedTarget(each["id"] + behind, None) for each in found]
    else:
        targets = [names.find(each + behind) for each in asked.targets or ()]
    answers = [_got(recall, each) for each in targets]
    if asked.fields == "all":
        content = _content(answers)
        return Told(views.as_json(content), content)
    most = GET_BYTES if asked.max_bytes is UNSET else asked.max_bytes
    return _texts(answers, names, most, limits)


def resource(recall: Recall, name: str, limits: Limits, scheme: str) -> str:
    """Return the text of a resource, within the characters of an answer.

    It is a document or lines of it, or, if the name ends with a slash, the first documents below a folder.
    """
    names = CallerNames(recall, limits.base)
    if name.endswith("/"):
        return BY_NAME["list"].answer(recall, {"prefix": name}, limits).text
    with recall.store.reading():
        return _texts([_got(recall, names.find(name))], names, GET_BYTES, limits, scheme).text


def _texts(answers: Sequence[Answer], names: CallerNames, most: int, limits: Limits, scheme: str = "") -> Told:
    """Return the texts of documents with so many bytes in all. scheme: begins the addresses to go on with."""
    cut = _bound_answers(answers, most, limits.max_answer_chars, scheme)
    pieces = [piece for each in cut for piece in views.in_pieces(each, names, views.write_text)]
    if not answers:
        pieces = [views.AnswerPiece("", "0 documents match.")]
    return Told(views.join_pieces(pieces, limits.max_answer_chars), _content(cut))


def _got(recall: Recall, served: ServedTarget) -> Answer:
    answer = recall.get(served.target)
    answer["warnings"] += served.warnings
    return answer


def _content(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the object of what was got: one answer as the command line gives it, several in a list."""
    return dict(answers[0]) if len(answers) == 1 else {"answers": [*answers]}


def _bound_answers(answers: Sequence[Answer], most: int, letters: int, scheme: str) -> list[dict[str, Any]]:
    """Return the answers with so many bytes of text in all, within so many characters with all that is around it.

    A text that is longer is cut at the end of a line, with a warning that says where to go on.
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
"""Characters around a text besides names: its header, and the warning that a part is left out."""


def _go_on(view: TextView, shown: str, scheme: str, *, is_first: bool) -> str:
    """Return how to get the rest of a text: by its lines, unless the first of them is too long by itself."""
    part: Mapping[str, Any] = view.get("chunk", view)
    kind, _, place = part.get("place", "").partition(" ")
    first = int(place.partition("-")[0]) if kind == "line" else part.get("line_start", 1)
    if (kind and kind != "line" and "line_start" not in part) or (is_first and "\n" not in shown):
        return "go on with a larger maxBytes, or get it with fields=all"
    last = first + lines_in(view["text"]) - 1
    path = view["doc"]["path"].replace("%", "%25") if scheme else view["doc"]["path"]
    return f"go on with {scheme}{path}:{first + shown.count(chr(10))}-{last}"


def _list(recall: Recall, names: CallerNames, asked: ListArguments, limits: Limits) -> Told:
    prefix, glob = (asked.prefix or "").removeprefix("./"), asked.glob
    answer = recall.list(
        names.stored_as(prefix) if prefix else "",
        glob=names.stored_as(glob) if glob else None,
        limit=LIST_LIMIT,
        offset=asked.offset or 0,
    )
    return _give(answer, views.write_documents, asked, names, limits)


def _status(recall: Recall, names: CallerNames, asked: StatusArguments, limits: Limits) -> Told:
    return _give(recall.stats(), views.write_store, asked, names, limits)


def _memory_search(recall: Recall, names: CallerNames, asked: MemorySearchArguments, limits: Limits) -> Told:
    settings = () if asked.min_score is UNSET else (f"min_score={asked.min_score}",)
    filter_ = None if asked.corpus in _EVERY_CORPUS else _source(recall, asked.corpus)
    answer = recall.search(asked.query, Ask(k=asked.max_results, settings=settings, filter=filter_))
    found = views.memory_results(answer, names, has_text=asked.text)
    provider, model = recall.config.embedding.partition(":")[0], recall.store.embedder()
    result: dict[str, Any] = {key: found.pop(key) for key in ("warning", "results") if key in found}
    result |= {"provider": provider, "model": model, **found}
    room = limits.max_answer_chars - len(views.as_json({**result, "results": []}))
    kept = views.first_that_fit(result["results"], room)
    if len(kept) < len(result["results"]):
        result |= {"results": kept, "truncated": True}
    return Told(views.as_json(result), result)


def _source(recall: Recall, corpus: str) -> str:
    """Return a filter for one source. Raises UsageError `unknown_corpus`."""
    known = sorted({root.source for root in recall.store.roots() if root.source})
    if corpus not in known:
        raise UsageError(
            "unknown_corpus",
            f"There is no corpus {corpus!r}.",
            hint=f"one of: {', '.join(('all', *known))}",
            details={"known": ["all", *known]},
        )
    quoted = corpus.replace("'", "''")
    return f"doc.source = '{quoted}'"


def _memory_get(recall: Recall, names: CallerNames, asked: MemoryGetArguments, limits: Limits) -> Told:
    view: Any = recall.get(names.find(asked.path).target)["found"]
    first, most = asked.from_, min(asked.lines, MOST_LINES)
    part = view.get("chunk", view)
    if "line_start" in part:  # lines are counted from the beginning of the document, whatever was named of it
        first += part["line_start"] - 1
        most = min(most, max(1, part["line_end"] - first + 1))
        view = recall.get(view["doc"]["id"])["found"]
    text = views.memory_text(views.as_callers_say(view, names), first, most)
    if text["lines"] == 0 and first > 1:
        count = lines_in(view["text"])
        raise UsageError("bad_lines", f"{asked.path} has lines 1 to {count}.", hint=f'{{"from": {max(1, count)}}}')
    return Told(views.as_json(text), text)


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
        "The best chunks, in full and with sources, packed into one text under a token budget.",
        ContextArguments,
        _context,
    ),
    Tool(
        "explain",
        "Explain a rank",
        "Why a chunk scores what it scores for a question: the ledger of its score.",
        ExplainArguments,
        _explain,
    ),
    Tool(
        "whynot",
        "Explain an absence",
        "Why a document, line or text is not in the answer to a question, and changes that bring it in.",
        WhyNotArguments,
        _whynot,
    ),
    Tool(
        "get",
        "Read documents",
        "Text of documents, or lines of them, verbatim as indexed; by path, citation, id (targets) or glob.",
        GetArguments,
        _get,
    ),
    Tool("list", "List documents", "Paths of documents, by prefix or glob.", ListArguments, _list),
    Tool("status", "Store status", "What the store holds, its embedder and digest.", StatusArguments, _status),
    Tool(
        "memory_search",
        "Search memory",
        "Search notes and documents, as OpenClaw's memory_search: results with path, startLine, endLine, snippet.",
        MemorySearchArguments,
        _memory_search,
    ),
    Tool(
        "memory_get",
        "Read memory",
        f"Lines of one document, as OpenClaw's memory_get: at most {MOST_LINES}, and where to go on.",
        MemoryGetArguments,
        _memory_get,
    ),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
MEMORY_TOOLS = frozenset(("memory_search", "memory_get"))
