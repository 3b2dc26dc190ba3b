"""`--receipt FILE` and `recall replay FILE`: receipts into new files, and answers held against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from string import hexdigits

from recall_core.adapters.plain import Request
from recall_core.adapters.render import DIGITS, counted
from recall_core.adapters.streams import Streams, expect_new, write_new
from recall_core.api.recall import Recall
from recall_core.contract import response_of
from recall_core.contract.explaining import ReplayChangeView
from recall_core.contract.responses import AnyResponse, Response
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint
from recall_core.text import one_line

_HASH = 64  # hexadecimal digits
_HINT = Hint(AGAIN, receipt="FILE")


def kept(name: str, ask: Callable[[], AnyResponse]) -> AnyResponse:
    """The answer, with its receipt in the new file of that name; nothing is asked where there is one already."""
    if name == "-":
        raise UsageError("bad_value", "--receipt takes a file: stdout has the answer.", hint=_HINT)
    expect_new(Path(name), hint=_HINT)
    answer = ask()
    receipt = response_of(answer)["receipt"]
    write_new(Path(name), receipt.pop("text"), hint=_HINT)
    receipt["path"] = name
    return answer


def replay(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """`recall replay FILE`."""
    return recall.replay(Path(request.words[0]))


def lines(response: Response) -> Iterator[str]:
    """Whether the answer is the one of the receipt, and a line for each thing that is another."""
    view = response["replay"]
    said = "identical" if view["identical"] else "changed"
    yield f"{said}  {counted(view['rows'], 'row')}  sha256 {view['sha256']}"
    yield from (f"{change['kind']:<10}{_told(change)}" for change in view["changes"])


def _told(change: ReplayChangeView) -> str:
    """One change. Names come out of a file that anybody may have made."""
    names = (change.get("what", ""), change.get("key", ""), change.get("path", ""), _short(change.get("id", "")))
    told = one_line("  ".join(filter(None, (*names, ", ".join(change.get("fields", []))))))
    if "before" not in change or "after" not in change:
        return told
    return f"{told}  {_value(change['before'])} -> {_value(change['after'])}".strip()


def _value(value: str | float | bool | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return one_line(_short(value)) or '""' if isinstance(value, str) else repr(value)


def _short(text: str) -> str:
    """An id or a hash as people read it; any other text as it is."""
    return text[:DIGITS] if len(text) == _HASH and set(text) <= set(hexdigits) else text
