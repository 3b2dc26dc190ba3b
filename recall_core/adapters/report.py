"""`recall report`: run a query and write its page, in HTML or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core.adapters.flags import (
    EXPLAIN,
    QUESTION,
    RQL,
    WORDS,
    Command,
    Flag,
    K,
    Operand,
    ask_of,
    check_question,
    in_lines,
    on_store,
    pack_of,
    read_rql,
)
from recall_core.adapters.render import talk_of_report
from recall_core.adapters.report_page import account_facts, page, place, plan_facts, question, visible
from recall_core.adapters.streams import Streams, encode_for, replacing
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint

if TYPE_CHECKING:
    from recall_core.adapters.flags import Request
    from recall_core.api.recall import Recall
    from recall_core.contract.explaining import ReportView
    from recall_core.contract.responses import ReportResponse
    from recall_core.contract.views import ContextView, ResultView


_SYNTAX = re.compile(r"([\\`*_\[\]#|<>~&$])")


def markdown(response: ReportResponse) -> str:
    """Return the report in Markdown, without timings."""
    return "\n".join(_lines(response)) + "\n"


def _lines(response: ReportResponse) -> Iterator[str]:
    yield f"# {flat(question(response['query'])) or 'No query'}"
    yield ""
    yield from _table(("plan", ""), plan_facts(response["query"]))
    yield from (f"- {flat(warning)}" for warning in response["warnings"])
    yield "\n## Results"
    offset = response["query"]["offset"]
    for number, result in enumerate(response["results"], start=offset + 1):
        yield from _result(result, number)
    yield from _weights(response["report"], response["results"])
    if stages := response["trace"]["stages"]:
        yield "\n## Funnel\n"
        yield from _table(
            ("stage", "rows"), [(each["stage"], f"{each['rows_in']} → {each['rows_out']}") for each in stages]
        )
    yield from _context(response["context"])


def _result(result: ResultView, number: int) -> Iterator[str]:
    score = f" {result['score']:.3f}" if "score" in result else ""
    yield f"\n### {number}.{score} {flat(place(result))}\n"
    rows = [
        (name, points)
        for part in result.get("explain", {}).get("parts", [])
        for name, points in [
            (part["signal"], f"{part['points']:+.6f}"),
            *((f"- {leaf['text']} ({leaf['kind']})", f"{leaf['points']:+.6f}") for leaf in part.get("leaves", [])),
        ]
    ]
    yield from _table(("part", "points"), rows)
    text = result.get("chunk", {}).get("text", "")
    if text:
        yield ""
        yield from fence_text(text)


def _weights(view: ReportView, results: Sequence[ResultView]) -> Iterator[str]:
    if "lines" not in view or "weight" not in view:
        return
    yield f"\n## Rank by semantic weight\n\nThe semantic weight is {view['weight']:.3g}.\n"
    rows = []
    for line in view["lines"]:
        steps = ", ".join(f"#{each['rank']} from {each['low']:.4g} to {each['high']:.4g}" for each in line["steps"])
        rows.append((place(results[line["result"]]), steps))
    yield from _table(("result", "ranks by semantic weight"), rows)


def _context(view: ContextView) -> Iterator[str]:
    reserved = f", {view['reserved_tokens']} reserved for recalled documents" if "reserved_tokens" in view else ""
    used = f"{view['used_tokens']} of {view['budget_tokens']} tokens ({flat(view['counter'])}{reserved})"
    yield f"\n## Context\n\n{used}.\n"
    yield from _table(("account", ""), account_facts(view))
    yield ""
    yield from fence_text(view["text"])


def _table(head: tuple[str, str], rows: Iterator[tuple[str, str]] | Sequence[tuple[str, str]]) -> Iterator[str]:
    body = [f"| {flat(name)} | {flat(value)} |" for name, value in rows]
    if body:
        yield f"| {head[0]} | {head[1]} |\n|---|---|"
        yield from body


def flat(text: str) -> str:
    """Return the text on one line, escaped for Markdown."""
    return _SYNTAX.sub(r"\\\1", " ".join(visible(text).split()))


def fence_text(text: str) -> Iterator[str]:
    """Yield the text in a fence longer than any fence in it."""
    text = visible(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text\n{text}\n{fence}"


STDOUT = "-"


def report(recall: Recall, request: Request, streams: Streams) -> ReportResponse:
    """Run `recall report`."""
    flags = request.flags
    check_question(request)
    if flags.html is None and flags.md is None:
        raise UsageError(
            "missing_argument", "recall report needs --html or --md.", hint=Hint(AGAIN, html="report.html")
        )
    if flags.html == flags.md:
        raise UsageError(
            "conflicting_flags", "--html and --md name the same file.", hint=Hint(AGAIN, html="report.html")
        )
    is_rql = flags.rql is not None
    text = read_rql(flags.rql, streams.stdin) if is_rql else " ".join(request.words)
    response = recall.report(text, ask_of(flags), pack_of(flags), is_rql=is_rql)
    if flags.html is not None:
        response["report"]["html"] = _write(page(response), flags.html, streams)
    if flags.md is not None:
        response["report"]["markdown"] = _write(markdown(response), flags.md, streams)
    return response


def lines(response: ReportResponse) -> Iterator[str]:
    """Yield the path of each file written."""
    view = response["report"]
    yield from (f"{kind:<10}{view[kind]}" for kind in ("html", "markdown") if view.get(kind, STDOUT) != STDOUT)


def _write(text: str, target: str, streams: Streams) -> str:
    if target == STDOUT:
        streams.stdout.write(encode_for(text, streams.stdout))
    else:
        with replacing(Path(target), hint=Hint("report", "WORDS", html="FILE")) as out:
            out.write(text)
    return target


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "report",
        "Write the results, ledgers, rank lines and context of a query to one self-contained page.",
        run=on_store(report),
        prints=in_lines(lines),
        operand=Operand("WORDS", WORDS + "; or use --rql", least=0, most=None),
        flags=(
            Flag("--html", "write an HTML page to FILE (- for stdout)", "FILE"),
            Flag("--md", "write Markdown to FILE (- for stdout)", "FILE"),
            RQL,
            K,
            Flag("--budget-tokens", "token budget of the context", "N", least=1),
            Flag(
                "--pack",
                "pack the context in rank order, or for the highest total value",
                "POLICY",
                choices=("rank", "optimal"),
            ),
            *(flag for flag in QUESTION if flag is not EXPLAIN),
        ),
        examples=(
            'recall report "zero-downtime deploy" --html report.html',
            "recall report retries --k 5 --md - | less",
        ),
        note="With -, only the page goes to stdout, and the --json answer goes to stderr.",
        talks=talk_of_report,
        takes_stdout=lambda flags: STDOUT in (flags.html, flags.md),
    ),
)
