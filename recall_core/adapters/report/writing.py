"""`recall report`: a question asked, and its page written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recall_core.adapters.asked import ask_of, check_question, pack_of
from recall_core.adapters.parser import Request
from recall_core.adapters.replacing import replacing
from recall_core.adapters.report.markdown import markdown
from recall_core.adapters.report.page import page
from recall_core.adapters.rql import read_rql
from recall_core.adapters.streams import Streams
from recall_core.contract import Response
from recall_core.errors import UsageError
from recall_core.service import Recall

STDOUT = "-"


def report(recall: Recall, request: Request, streams: Streams) -> Response:
    """`recall report`. A page that goes to stdout is the only thing there."""
    flags = request.flags
    check_question(request)
    if flags.html is None and flags.md is None:
        raise UsageError("missing_argument", "A report goes somewhere: --html or --md.", hint="--html report.html")
    if flags.html == flags.md:
        raise UsageError("conflicting_flags", "--html and --md name the same place.", hint="--html report.html")
    is_rql = flags.rql is not None
    text = read_rql(flags.rql, streams.stdin) if is_rql else " ".join(request.words)
    response = recall.report(text, ask_of(flags), pack_of(flags), is_rql=is_rql)
    if flags.html is not None:
        response["report"]["html"] = _write(page(response), flags.html, streams)
    if flags.md is not None:
        response["report"]["markdown"] = _write(markdown(response), flags.md, streams)
    return response


def lines(response: Response) -> Iterator[str]:
    """Where the page was written."""
    view = response["report"]
    yield from (f"{kind:<10}{view[kind]}" for kind in ("html", "markdown") if view.get(kind, STDOUT) != STDOUT)


def _write(text: str, target: str, streams: Streams) -> str:
    if target == STDOUT:
        streams.stdout.write(text)
    else:
        with replacing(Path(target), hint="recall report WORDS --html FILE") as out:
            out.write(text)
    return target
