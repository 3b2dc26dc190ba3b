"""The tools: what each is for, what it takes, which method of Recall it calls, and its answer as a client gets it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET

from recall_core.adapters.mcp import arguments as taken
from recall_core.adapters.mcp import views
from recall_core.api.recall import Recall
from recall_core.api.serving.names import CallerNames, ServedTarget
from recall_core.errors import RecallError, UnknownTarget, UsageError
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.targets import lines_in

if TYPE_CHECKING:
    from recall_core.contract.views import TextView

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
        """The answer to a call. Raises RecallError."""
        asked = taken.read(self.takes, given)
        names = CallerNames(recall, limits.base)
        with recall.store.reading():
            try:
                return self.call(recall, names, asked, limits)
            except RecallError as error:
                raise names.renamed(error) from error.__cause__


def _ask(asked: taken.QuestionArguments) -> Ask:
    """How the question is asked. Raises UsageError `bad_arguments`."""
    if bool(asked.query) == bool(asked.rql):
        raise UsageError("bad_arguments", "A question is either query or rql.", hint='{"query": "words"}')
    if asked.rql and (asked.mode not in (UNSET, "hybrid") or asked.filter):
        message = "mode and filter go with query; a query in RQL says both itself."
        raise UsageError("bad_arguments", message, hint="USING and FILTER, in rql")
    return Ask(
        k=_given(asked.k),
        mode=asked.mode or "hybrid",
        filter=_given(asked.filter),
        settings=tuple(asked.set or ()),
    )


def _given(value: Any) -> Any:
    return None if value is UNSET else value


def _words(asked: taken.QuestionArguments) -> tuple[str | None, str | None]:
    return asked.query or None, _given(asked.rql)


def _told(answer: Answer, asked: Any, names: CallerNames, limits: Limits) -> Told:
    content = dict(answer)
    if asked.fields == "all":
        return Told(views.as_json(content), content)
    return Told(views.joined(views.mcp(answer, names), limits.max_answer_chars), content)


def _search(recall: Recall, names: CallerNames, asked: taken.SearchArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    answer = recall.search(words, ask) if rql is None else recall.query(rql, ask)  # type: ignore[arg-type]
    return _told(answer, asked, names, limits)


def _context(recall: Recall, names: CallerNames, asked: taken.ContextArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    pack = Pack(budget_tokens=_given(asked.budget_tokens))
    if asked.fields == "all":
        return _told(recall.context(words, ask, pack, rql=rql), asked, names, limits)
    fence, longest = "", views.fence_of("")
    while len(longest) > len(fence):  # a block has a longer fence than was counted
        fence = longest
        answer = recall.context(words, _with_fences(ask, fence), pack, rql=rql)
        longest = max((views.fence_of(block["text"]) for block in answer["context"]["blocks"]), key=len, default="")
    return _told(answer, asked, names, limits)


def _with_fences(ask: Ask, fence: str) -> Ask:
    """Return the question with the lines around each block as an agent gets them, so that the budget counts them."""
    assert isinstance(ask.settings, tuple)  # noqa: S101 - `_ask` made them
    return ask._replace(settings=(*ask.settings, f"header=[{{n}}] {{path}}:{{lines}}\n{fence}", f"footer={fence}"))


def _explain(recall: Recall, names: CallerNames, asked: taken.ExplainArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    target = _chunk(names, asked.target)
    versus = _chunk(names, asked.versus) if asked.versus else None
    return _told(recall.explain(words, target, ask, versus=versus, rql=rql), asked, names, limits)


def _chunk(names: CallerNames, name: str) -> str:
    """The id of a chunk that a caller named. Raises UnknownTarget, also for a document or lines of it."""
    found = names.find(name)
    if found.path is not None:
        hint = "give a chunk's id, as search shows it"
        raise UnknownTarget("unknown_target", f"{name} is a document, or a part of one, not a chunk.", hint=hint)
    return found.target


def _whynot(recall: Recall, names: CallerNames, asked: taken.WhyNotArguments, limits: Limits) -> Told:
    ask, (words, rql) = _ask(asked), _words(asked)
    pack = Pack(budget_tokens=_given(asked.budget_tokens))
    if pack.budget_tokens is not None:
        ask = _with_fences(ask, views.fence_of(""))
    missed = _missed(names, asked.target)
    answer = recall.why_not(words, missed.target, ask, pack, rql=rql)
    answer["whynot"]["target"]["text"] = asked.target
    answer["warnings"] += missed.warnings
    return _told(answer, asked, names, limits)


def _missed(names: CallerNames, target: str) -> ServedTarget:
    """What is missed: a text in quotes as it is, a name by its id, any other text in quotes."""
    if len(target) > 2 and target[0] == target[-1] == '"':
        return ServedTarget(target, None)
    try:
        return names.find(target)
    except UnknownTarget:
        if " " not in target:
            raise
        return ServedTarget(f'"{target}"', None)


def _get(recall: Recall, names: CallerNames, asked: taken.GetArguments, limits: Limits) -> Told:
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
    cut = _bounded(answers, most, limits.max_answer_chars, scheme)
    pieces = [piece for each in cut for piece in views.mcp(each, names)]
    if not answers:
        pieces = [views.AnswerPiece("", "0 documents match.")]
    return Told(views.joined(pieces, limits.max_answer_chars), _content(cut))


def _got(recall: Recall, served: ServedTarget) -> Answer:
    answer = recall.get(served.target)
    answer["warnings"] += served.warnings
    return answer


def _content(answers: Sequence[Answer]) -> dict[str, Any]:
    """The object of what was got: one answer as the command line gives it, several in a list."""
    return dict(answers[0]) if len(answers) == 1 else {"answers": [*answers]}


def _bounded(answers: Sequence[Answer], most: int, letters: int, scheme: str) -> list[dict[str, Any]]:
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
        letters -= len(views.fenced(shown)) + 1 if shown else 0
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


def _list(recall: Recall, names: CallerNames, asked: taken.ListArguments, limits: Limits) -> Told:
    prefix, glob = (asked.prefix or "").removeprefix("./"), asked.glob
    answer = recall.list(
        names.stored_as(prefix) if prefix else "",
        glob=names.stored_as(glob) if glob else None,
        limit=LIST_LIMIT,
        offset=asked.offset or 0,
    )
    return _told(answer, asked, names, limits)


def _status(recall: Recall, names: CallerNames, asked: taken.StatusArguments, limits: Limits) -> Told:
    return _told(recall.stats(), asked, names, limits)


def _memory_search(recall: Recall, names: CallerNames, asked: taken.MemorySearchArguments, limits: Limits) -> Told:
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
    """A filter for one source. Raises UsageError `unknown_corpus`."""
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


def _memory_get(recall: Recall, names: CallerNames, asked: taken.MemoryGetArguments, limits: Limits) -> Told:
    view: Any = recall.get(names.find(asked.path).target)["found"]
    first, most = asked.from_, min(asked.lines, taken.MOST_LINES)
    part = view.get("chunk", view)
    if "line_start" in part:  # lines are counted from the beginning of the document, whatever was named of it
        first += part["line_start"] - 1
        most = min(most, max(1, part["line_end"] - first + 1))
        view = recall.get(view["doc"]["id"])["found"]
    text = views.memory_text(views.named(view, names), first, most)
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
        taken.SearchArguments,
        _search,
    ),
    Tool(
        "context",
        "Pack a context",
        "The best chunks, in full and with sources, packed into one text under a token budget.",
        taken.ContextArguments,
        _context,
    ),
    Tool(
        "explain",
        "Explain a rank",
        "Why a chunk scores what it scores for a question: the ledger of its score.",
        taken.ExplainArguments,
        _explain,
    ),
    Tool(
        "whynot",
        "Explain an absence",
        "Why a document, line or text is not in the answer to a question, and changes that bring it in.",
        taken.WhyNotArguments,
        _whynot,
    ),
    Tool(
        "get",
        "Read documents",
        "Text of documents, or lines of them, verbatim as indexed; by path, citation, id (targets) or glob.",
        taken.GetArguments,
        _get,
    ),
    Tool("list", "List documents", "Paths of documents, by prefix or glob.", taken.ListArguments, _list),
    Tool("status", "Store status", "What the store holds, its embedder and digest.", taken.StatusArguments, _status),
    Tool(
        "memory_search",
        "Search memory",
        "Search notes and documents, as OpenClaw's memory_search: results with path, startLine, endLine, snippet.",
        taken.MemorySearchArguments,
        _memory_search,
    ),
    Tool(
        "memory_get",
        "Read memory",
        f"Lines of one document, as OpenClaw's memory_get: at most {taken.MOST_LINES}, and where to go on.",
        taken.MemoryGetArguments,
        _memory_get,
    ),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
MEMORY_TOOLS = frozenset(("memory_search", "memory_get"))
