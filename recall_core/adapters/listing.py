"""`recall ls`: the documents of a store, a path a line, or with their figures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from recall_core.adapters.render import counted
from recall_core.shell import Hint
from recall_core.text import one_line

if TYPE_CHECKING:
    from recall_core.adapters.plain import Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import ListResponse, Response
    from recall_core.contract.store import ListedView

_AT_ONCE = 1_000  # lines in one piece


def ls(recall: Recall, request: Request, streams: Streams) -> ListResponse:
    """The documents with such paths."""
    flags, prefix = request.flags, "".join(request.words)
    answer = recall.list(prefix, glob=flags.glob, limit=flags.k, offset=flags.offset or 0)
    if not answer["total"] and not request.json:
        streams.say(_nothing(prefix, flags.glob))
    return answer


def paths(response: Response) -> Iterator[str]:
    """A path a line."""
    return _pieces(one_line(view["path"]) for view in response["documents"])


def rows(response: Response) -> Iterator[str]:
    """Chunks, tokens and when it was changed, in columns; then path, title and source."""
    return _pieces(map(_row, response["documents"]))


def figures(view: ListedView) -> tuple[str, str, str, str]:
    """chunks, tokens, when it was changed, source."""
    changed = f"{view['mtime'][:19]}Z".replace("T", " ")
    return str(view["chunks"]), str(view["tokens"]), changed, view.get("source", "")


def talk(response: Response) -> Iterator[str]:
    """How many of the documents these are, and where the others begin."""
    shown, total = len(response["documents"]), response["total"]
    if total:
        amount = counted(total, "document") if shown == total else f"{shown} of {counted(total, 'document')}"
        more = f", next page: --offset {response['next_offset']}" if "next_offset" in response else ""
        yield f"{amount} in {response['stats']['took_ms']:.0f} ms{more}"


def _row(view: ListedView) -> str:
    chunks, tokens, changed, source = figures(view)
    told = (f"{chunks:>6}", f"{tokens:>8}", changed, *map(one_line, (view["path"], view["title"], source)))
    return "  ".join(filter(None, told))


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """The lines, many in a piece."""
    while some := list(islice(lines, _AT_ONCE)):
        yield "\n".join(some) + "\n"


def _nothing(prefix: str, glob: str | None) -> str:
    begins = f"begins with {prefix}" if prefix else ""
    matches = f"matches {glob}" if glob is not None else ""
    if begins or matches:
        return f"no document has a path that {' and '.join(filter(None, (begins, matches)))}"
    return f"the store holds no document; next: {Hint('add', 'DIR')}"
