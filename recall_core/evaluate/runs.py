"""TREC run files: which documents a system gave for each query, best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path

from recall_core.errors import UsageError, why_unread

_HINT = "q1 Q0 doc1 1 12.5 name on each line"


def parse_run(text: str, *, name: str) -> dict[str, list[str]]:
    """Query id to documents, best first: by score, equal scores by rank, then as they stand.

    name: the file, for messages. Raises UsageError `bad_run` with the line and what was expected there.
    """
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        cells = line.split()
        if not cells:
            continue
        where = f"{name}:{number}"
        if len(cells) != 6:
            raise _bad(where, f"there are {len(cells)} columns, not 6: query, Q0, document, rank, score, name")
        query, _, document, rank, score, _ = cells
        hits = found.setdefault(query, {})
        if document in hits:
            raise _bad(where, f"query {query} has the document {document} above")
        hits[document] = (-_score(score, where), _rank(rank, where))
    if not found:
        raise _bad(name, "there is no hit")
    return {query: sorted(hits, key=hits.__getitem__) for query, hits in found.items()}


def run_lines(rankings: Mapping[str, Sequence[str]], *, tag: str) -> Iterator[str]:
    """A run, queries as given and documents best first, under this tag.

    The score counts down to 1, because evaluators order by score and break ties by the document's name.
    """
    for query, documents in rankings.items():
        for rank, document in enumerate(documents, start=1):
            yield f"{query} Q0 {document} {rank} {len(documents) + 1 - rank} {tag}\n"


def read_text(path: Path) -> str:
    """A run file's or baseline's text. Raises UsageError `bad_baseline`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "bad_baseline", f"{path} cannot be read: {why_unread(error)}.", hint="--baseline FILE"
        ) from error


def _score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError as error:
        raise _bad(where, f"the score {text!r} is not a number") from error
    if not isfinite(score):
        raise _bad(where, f"the score {text!r} is not finite")
    return score


def _rank(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _bad(where, f"the rank {text!r} is not a whole number")
    return int(text)


def _bad(where: str, reason: str) -> UsageError:
    return UsageError("bad_run", f"{where}: {reason}.", hint=_HINT)
