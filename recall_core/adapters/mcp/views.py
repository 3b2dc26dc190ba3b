"""Answers for models: Markdown with citations, in pieces. The last pieces of a long answer are left out.

Texts of documents are in fences longer than any fence in them, and names are escaped, so that a document cannot
imitate Recall's own text. `fields = all` returns the full answer. Paths are the names that `api.serving` gives to
callers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from recall_core.adapters import ledger, whynot
from recall_core.adapters.render import CAUTION, DIGITS, as_json, count_of
from recall_core.api.serving import spell
from recall_core.config import NO_VECTORS
from recall_core.deadline import check
from recall_core.text import behind

if TYPE_CHECKING:
    from recall_core.agents.profiles import Citations
    from recall_core.api.serving import CallerNames
    from recall_core.contract.explaining import FixView
    from recall_core.contract.responses import (
        ContextResponse,
        ExplainResponse,
        GetResponse,
        ListResponse,
        SearchResponse,
        StatsResponse,
        WhyNotResponse,
    )
    from recall_core.contract.views import ResultView, TextView

SNIPPET_CHARS = 480
"""Most characters of a chunk without a passage."""
EXCERPT_CHARS = 40
"""A shorter passage, such as a heading, is shown with the lines after it, up to six times this."""
FOLDERS = 12
"""Most folders that `status` names below the base, and most of the others."""
_MOST_NAMES = 8
"""Most names of omitted pieces."""
_LONG = 80
"""The shortest useful part of a cut line. Lines such as paths are not cut."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = 3
_TICKS = re.compile("`+")
_FENCE_LINE = re.compile(f"^`{{{_FENCE},}}$", re.MULTILINE)


class AnswerPiece(NamedTuple):
    """A part of an answer, and its name in the list of omitted parts."""

    name: str
    text: str


Writer: TypeAlias = Callable[[Any], Iterator[AnswerPiece]]
"""Writes answers of one type as pieces."""


def in_pieces(answer: Mapping[str, Any], names: CallerNames, write: Writer) -> list[AnswerPiece]:
    """Return the answer in pieces. The first piece contains the summary and the warnings and is never left out.

    write: the writer for this kind of answer.
    """
    renamed = names.rename_in(answer)
    first, *others = write(renamed)
    cautions, warnings = "", ""
    for each in renamed["warnings"]:
        line = f"Warning: {spell(each)}\n"
        cautions, warnings = (cautions + line, warnings) if each.startswith(CAUTION) else (cautions, warnings + line)
    last = [AnswerPiece("warnings", "\n" + warnings.removesuffix("\n"))] if warnings else []
    return [first._replace(text=cautions + first.text), *others, *last]


def fence_of(text: str) -> str:
    """Return a fence longer than any in the text."""
    return "`" * max(_FENCE, 1 + max(map(len, _TICKS.findall(text)), default=0))


def fence_text(text: str) -> str:
    """Return the text in fences."""
    fence = fence_of(text)
    return "\n".join((fence, text.removesuffix("\n"), fence))


def fitting(text: str, most: int) -> str:
    """Return the start of a text that fits with its fences into `most` characters, in whole lines if possible."""
    if len(fence_text(text)) <= most:
        return text
    count = bisect_right(range(len(text) + 1), most, key=lambda end: len(fence_text(text[:end]))) - 1
    head = text[: max(0, count)]
    return head[: head.rfind("\n") + 1] or head


def join_pieces(pieces: Sequence[AnswerPiece], most: int) -> str:
    """Join the pieces that fit into `most` characters, and list the names of the others.

    The first piece that does not fit is cut at the end of a line, or inside a long line, and its fence is closed. All
    later pieces are left out. Only the list of names may exceed the limit.
    """
    joined = "\n".join(piece.text for piece in pieces)
    room = most
    while len(joined) > most:
        kept, left = _cut(pieces, room)
        names = ", ".join(filter(None, left[:_MOST_NAMES]))
        more = f" and {len(left) - _MOST_NAMES} more" if len(left) > _MOST_NAMES else ""
        joined = "\n".join([*kept, f"[left out for length: {names}{more}]"])
        if not kept:
            break
        room -= max(1, len(joined) - most)
    return joined


def _cut(pieces: Sequence[AnswerPiece], room: int) -> tuple[list[str], list[str]]:
    """Return the texts that fit, and the names of the other pieces."""
    kept: list[str] = []
    for place, piece in enumerate(pieces):
        if len(piece.text) + 1 > room:
            head, name = _beginning(piece.text, room), piece.name or "the rest"
            left = [f"the rest of {piece.name}" if head and piece.name else name]
            return [*kept, *([head] if head else [])], left + [each.name for each in pieces[place + 1 :]]
        kept.append(piece.text)
        room -= len(piece.text) + 1
    return kept, []


def _beginning(text: str, room: int) -> str:
    """Return the first lines of a text that fit, with a closing fence, or ""."""
    fence = max(_FENCE_LINE.findall(text), key=len, default="")
    head = text[: max(0, room - len(fence) - 1)]
    lines = head.rpartition("\n")[0]
    if len(head) - len(lines) > _LONG and lines.rpartition("\n")[2] == fence:
        lines = head
    if not fence or lines.split("\n").count(fence) % 2 == 0:
        return lines
    return lines.removesuffix(fence).rstrip("\n") if lines.endswith(f"\n{fence}") else f"{lines}\n{fence}"


def memory_results(
    answer: Mapping[str, Any], names: CallerNames, *, has_text: bool, citations: Citations
) -> dict[str, Any]:
    """Return the hits of a search in the format of OpenClaw's `memory_search`."""
    renamed = names.rename_in(answer)
    cautions = [each for each in renamed["warnings"] if each.startswith(CAUTION)]
    return {
        **({"warning": cautions[0]} if cautions else {}),
        "results": [_memory_result(result, has_text=has_text, citations=citations) for result in renamed["results"]],
        "digest": renamed["stats"]["digest"][:DIGITS],
        "warnings": renamed["warnings"],
    }


def first_that_fit(results: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """Return the first objects that fit into `most` characters of JSON, with a note if others are left out."""
    room = most - len(',"truncated":true')
    kept = []
    for result in results:
        check()
        room -= len(as_json(result)) + 1
        if room < 0:
            break
        kept.append(result)
    return kept


def memory_text(view: TextView, first: int, lines: int) -> dict[str, Any]:
    """Return lines of a document in the format of OpenClaw's `memory_get`, with the next line to read."""
    split = _LINE.findall(view["text"])
    last = min(len(split), first + lines - 1)
    fields: dict[str, Any] = {
        "path": view["doc"]["path"],
        "from": first,
        "lines": max(0, last - first + 1),
        "text": "".join(split[first - 1 : last]),
    }
    if last < len(split):
        fields |= {"truncated": True, "linesLeft": len(split) - last, "nextFrom": last + 1}
    return fields


def _memory_result(result: Mapping[str, Any], *, has_text: bool, citations: Citations) -> dict[str, Any]:
    doc, chunk = result["doc"], result["chunk"]
    shown = _excerpt(chunk, result.get("passage"))
    fields: dict[str, Any] = {
        "path": doc["path"],
        "startLine": chunk["line_start"],
        "endLine": chunk["line_end"],
        "score": result["score"],
        "matched": result["matched"],
        "snippet": shown.text,
        "source": doc.get("source", "memory"),
    }
    if citations != "off":
        fields["citation"] = citation = _citation(doc, result.get("passage", chunk), shown)
        if citations == "on":
            fields["snippet"] += f"\n\nSource: {spell(citation)}"
    return fields | {"text": chunk["text"]} if has_text else fields


def write_hits(answer: SearchResponse) -> Iterator[AnswerPiece]:
    """Yield hits with their passages."""
    results, stats = answer["results"], answer["stats"]
    total = stats.get("total_hits", len(results))
    more = f"; {total - len(results)} more with a larger k" if total > len(results) else ""
    yield AnswerPiece("", f"{count_of(len(results), 'hit')}{more}. Digest {stats['digest'][:DIGITS]}.")
    for rank, result in enumerate(results, start=answer["query"]["offset"] + 1):
        check()
        yield AnswerPiece(f"hit {rank}", _hit(rank, result))


def _hit(rank: int, result: ResultView) -> str:
    doc, chunk, passage = result.get("doc", {}), result.get("chunk", {}), result.get("passage")
    if "path" not in doc or not (passage or "text" in chunk):
        return f"{rank}. {as_json(result)}"
    score = f" · score {result['score']:.3f}" if "score" in result else ""
    unit = passage or chunk
    heading = f" · {spell(unit['heading'])}" if "heading" in unit else ""
    score += f" · by meaning {result['cosine']:.3f}" if "cosine" in result else ""
    chunk_id = f" · chunk {chunk['id'][:DIGITS]}" if "id" in chunk else ""
    shown = _excerpt(chunk, passage)
    cited = _citation(doc, unit, shown)
    return f"\n{rank}. **{spell(cited)}**{heading}{score}{_state(doc)}{chunk_id}\n{fence_text(shown.text)}"


def _state(doc: Mapping[str, Any]) -> str:
    """Return a note if the document's file changed or is missing."""
    return f" · {_STATES[doc['state']]}" if "state" in doc else ""


_STATES = {"modified": "file changed since indexing", "missing": "file is missing"}


class _ShownText(NamedTuple):
    """The text shown of a chunk, and its lines, or None if they were not selected."""

    text: str
    lines: tuple[int, int] | None


def _excerpt(chunk: Mapping[str, Any], passage: Mapping[str, Any] | None) -> _ShownText:
    """Return the passage. Extend a short passage with the lines after it in the chunk."""
    if passage is None:
        lines = (chunk["line_start"], chunk["line_end"]) if "line_start" in chunk else None
        text = chunk["text"]
        shown = text if len(text) <= SNIPPET_CHARS else text[: SNIPPET_CHARS - 2].rstrip() + " …"
        return _ShownText(shown, lines)
    first, last = passage["line_start"], passage["line_end"]
    if not {"offset", "text"} <= chunk.keys():
        return _ShownText(passage["text"], (first, last))
    chunk_text, start, end = chunk["text"], *(passage[place] - chunk["offset"] for place in ("offset", "end"))
    while end < len(chunk_text) and end - start < EXCERPT_CHARS:
        following = chunk_text.find("\n", end + 1)
        following = len(chunk_text) if following < 0 else following
        if following - start > 6 * EXCERPT_CHARS:
            break
        last += chunk_text.count("\n", end, following)
        end = following
    text = chunk_text[start:end].rstrip()
    return _ShownText(text, (first, last - chunk_text[start:end].count("\n") + text.count("\n")))


def _citation(doc: Mapping[str, Any], unit: Mapping[str, Any], shown: _ShownText) -> str:
    """Return the path with the lines shown or with the place of the passage (else of the chunk)."""
    if shown.lines is None:
        return str(doc["path"])
    return _cite(doc["path"], *shown.lines, unit.get("place"))


def _cite(path: str, first: int, last: int, place: str | None = None) -> str:
    return path + behind(path, first, last if last > first else None, place)


def write_context(answer: ContextResponse) -> Iterator[AnswerPiece]:
    """Yield the blocks of a context."""
    view = answer["context"]
    blocks = view["blocks"]
    about = f"{count_of(len(blocks), 'block')}, {view['used_tokens']} of {view['budget_tokens']} tokens"
    yield AnswerPiece("", f"{about} ({view['counter']}). Digest {answer['stats']['digest'][:DIGITS]}.")
    for block in blocks:
        where = _cite(block["path"], block["line_start"], block["line_end"], block.get("place"))
        cut = " (cut)" if block.get("truncated") else ""
        text = fence_text(block.get("text", ""))
        yield AnswerPiece(f"block {block['n']}", f"\n[{block['n']}] {spell(where)}{cut}\n{text}")


def write_explanation(answer: ExplainResponse) -> Iterator[AnswerPiece]:
    """Yield the ledgers of an explanation."""
    view = answer["explanation"]
    chunks = (view["chunk"], view["other"]) if "other" in view else (view["chunk"],)
    fence = max((fence_of(each["passage"]["text"]) for each in chunks if "passage" in each), key=len, default="")
    named = _with_spelled_names({**answer})
    yield AnswerPiece("", "\n".join(ledger.lines(named, lambda text: (fence, text.removesuffix("\n"), fence))))


def write_whynot(answer: WhyNotResponse) -> Iterator[AnswerPiece]:
    """Yield why a target is missing, and each fix with its settings for `set`."""

    def fix_text(fix: FixView, change: str) -> str:
        return f"{change} (set {', '.join(fix['settings'])})" if fix["settings"] else change

    yield AnswerPiece("", "\n".join(whynot.account(_with_spelled_names(answer["whynot"]), fix_text)))


def _with_spelled_names(value: Any, key: str = "") -> Any:
    """Return the value with names and inline texts escaped."""
    if isinstance(value, dict):
        check()
        if value.get("kind") == "scale":  # its text is Recall's own and has two spaces
            return value
        return {
            each: _with_spelled_names(part, "quoted" if key == "passage" and each == "text" else each)
            for each, part in value.items()
        }
    if isinstance(value, list):
        return [_with_spelled_names(each, key) for each in value]
    return spell(value) if key in _WITHIN_A_LINE and isinstance(value, str) else value


_WITHIN_A_LINE = frozenset(("path", "heading", "title", "text"))


def write_text(answer: GetResponse) -> Iterator[AnswerPiece]:
    """Yield the text of a document or part of it."""
    view = answer["found"]
    doc, chunk = view["doc"], view.get("chunk")
    where = doc["path"]
    if chunk is not None:
        where = _cite(where, chunk["line_start"], chunk["line_end"], chunk.get("place"))
    elif "place" in view:
        where = _cite(where, 1, 1, view["place"])
    elif "line_start" in view:
        where = _cite(where, view["line_start"], view["line_end"])
    yield AnswerPiece("", f"**{spell(where)}**{_state(doc)}")
    if view["text"]:
        yield AnswerPiece(spell(where), fence_text(view["text"]))


def write_documents(answer: ListResponse) -> Iterator[AnswerPiece]:
    """Yield the paths of documents."""
    documents, following = answer["documents"], answer.get("next_offset")
    more = "" if following is None else f"; continue with offset {following}"
    yield AnswerPiece("", f"{len(documents)} of {count_of(answer['total'], 'document')}{more}.")
    if documents:
        yield AnswerPiece("paths", fence_text("\n".join(spell(each["path"]) for each in documents)))


class StoreContents(NamedTuple):
    """What a store contains, for a caller.

    here, elsewhere: document counts of the folders below the caller's base and of the others.
    newest: day of the newest document, or "".
    """

    here: Mapping[str, int]
    elsewhere: Mapping[str, int]
    sources: Sequence[str]
    newest: str


def write_store(answer: StatsResponse, contents: StoreContents) -> Iterator[AnswerPiece]:
    """Yield the figures of a store and the names of its folders."""
    store = answer["store"]
    amount = f"{count_of(store['documents'], 'document')}, {count_of(store['chunks'], 'chunk')}"
    vectors = f"{store['vectors']} with vectors of {store['embedder']}"
    if store["embedder"] == NO_VECTORS:
        vectors = "no vectors: searches use words alone"
    yield AnswerPiece("", f"{amount}, {vectors}. Digest {store['digest'][:DIGITS]}.")
    for title, counts in (("By folder", contents.here), ("Elsewhere", contents.elsewhere)):
        if counts:
            named = [f"{spell(name)} ({count})" for name, count in counts.items()]
            more = f" and {len(named) - FOLDERS} more" if len(named) > FOLDERS else ""
            yield AnswerPiece("folders", f"{title}: {', '.join(named[:FOLDERS])}{more}.")
    if contents.sources:
        yield AnswerPiece("sources", f"Sources: {', '.join(contents.sources)}.")
    if contents.newest:
        yield AnswerPiece("newest", f"Newest document: {contents.newest}.")
