"""Hits as lines: where each one is, and below it the passage with what was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from recall_core.adapters import render
from recall_core.text import cited, harmless, one_line

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.responses import Response
    from recall_core.contract.views import ResultView

Line = list[tuple[str, bool]]
"""A line in pieces, each with whether it matches the question."""

INDENT = 7
"""As wide as a score, so that a passage stands below the place it is from."""

_RECORD = re.compile(r"(.*?\.\w+)#.* line (\d+)", re.DOTALL)


def lines(response: Response) -> Iterator[str]:
    """Every hit with its passage and its ledger, the same in every terminal and on every run."""
    for result in response["results"]:
        yield one_line("  ".join(header(result))) + "\n"
        for line in passage_lines(result):
            yield f"{' ' * INDENT}{harmless(''.join(text for text, _ in line))}".rstrip() + "\n"
        yield from (f"{one_line(line)}\n" for line in render.ledger_lines(result))


def has_passage(result: ResultView) -> bool:
    """Whether the hit is told by its passage: SELECT chose no other form."""
    return "passage" in result and render.is_whole(result)


def header(result: ResultView) -> list[str]:
    """`0.843`, `docs/a.md:12`, `Heading`; of a record its title first, and the line of the file that it stands on."""
    if not has_passage(result):
        return [render.hit_line(result)]
    score = [f"{result['score']:.3f}"] if "score" in result else []
    return [*score, *filter(None, [*places(result), render.heading(result)]), *render.marks(result)]


def places(result: ResultView) -> list[str]:
    """Where the passage is: `path:line`; of a record `Title` and `file:line`."""
    doc, passage = result.get("doc", {}), result["passage"]
    path, place = doc.get("path", ""), passage.get("place")
    state = f" ({doc['state']})" if "state" in doc else ""
    record = _RECORD.fullmatch(f"{path} {place or ''}")
    if record is None:
        return [render.clean(cited(path, passage["line_start"], place=place)) + state]
    return [render.clean(doc.get("title", "")), render.clean(f"{record[1]}:{record[2]}") + state]


def bracketed(response: Response) -> Response:
    """The answer with what matches in [brackets], for who sees nothing in bold."""
    if "results" not in response:
        return response
    results = [
        cast("ResultView", {**result, "passage": _bracketed(result["passage"])}) if "passage" in result else result
        for result in response["results"]
    ]
    return cast("Response", {**response, "results": results})


def _bracketed(passage: PassageView) -> PassageView:
    marked = "".join(f"[{text}]" if matches else text for text, matches in _pieces(passage["text"], passage))
    return {**passage, "text": marked, "matches": []}


def passage_lines(result: ResultView) -> Iterator[Line]:
    """The passage, and the lines around it where those were asked for, without the indentation that all share."""
    if not has_passage(result):
        return
    passage = result["passage"]
    before = passage.get("before", _indentation(result))
    pieces = [(before, False), *_pieces(passage["text"], passage), (passage.get("after", ""), False)]
    shown: list[Line] = [[]]
    for text, matches in pieces:
        first, *others = text.split("\n")
        shown[-1].append((first, matches))
        shown += [[(other, matches)] for other in others]
    whole = ["".join(text for text, _ in line) for line in shown]
    blanks = [text[: len(text) - len(text.lstrip())] for text in whole if text.strip()]
    least = min(blanks, key=len, default="")
    shared = len(least) if all(each.startswith(least) for each in blanks) else 0
    yield from (_cut(line, shared) for line in shown)


def _pieces(text: str, passage: PassageView) -> Iterator[tuple[str, bool]]:
    """The text in pieces that match and pieces that do not; matches that overlap are one."""
    end = 0
    for first, last in _merged([(int(start), int(stop)) for start, stop, _ in passage["matches"]]):
        yield text[end : first - passage["offset"]], False
        end = last - passage["offset"]
        yield text[first - passage["offset"] : end], True
    yield text[end:], False


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _indentation(result: ResultView) -> str:
    """What stands before the passage on its line, where that is nothing but blanks."""
    chunk, passage = result.get("chunk", {}), result["passage"]
    above = chunk.get("text", "")[: passage["offset"] - chunk.get("offset", 0)].rpartition("\n")[2]
    return "" if above.strip() else above


def _cut(line: Line, length: int) -> Line:
    """The line without so many of its first characters."""
    left: Line = []
    for text, matches in line:
        left.append((text[length:].rstrip("\r"), matches))
        length = max(0, length - len(text))
    return left
