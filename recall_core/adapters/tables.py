"""Responses on a terminal: the same facts as in a pipe, drawn with Rich."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from recall_core.adapters import board, render
from recall_core.contract.responses import Response
from recall_core.contract.views import ResultView
from recall_core.text import one_line

_SEVERITY = {"ok": "green", "warning": "yellow", "error": "bold red"}
_STATE = "yellow"
_RECALLED = "magenta"


def draw(response: Response, stdout: TextIO) -> bool:
    """Draw the response if a table suits it; False leaves it to plain lines.

    Width, colour and NO_COLOR are Rich's to find out from the terminal.
    """
    table = _table(response)
    if table is None:
        return False
    Console(file=stdout, highlight=False, emoji=False).print(table)
    return True


def _table(response: Response) -> RenderableType | None:
    results = [] if "report" in response else response.get("results", [])
    if results:
        return _hits(results) if all(map(render.is_whole, results)) else _chosen(results)
    if "store" in response:
        return _pairs(response)
    if "checks" in response and not {"verified", "recovered"} & response.keys():
        return _checks(response)
    if "embedders" in response:
        return _embedders(response)
    if "evaluation" in response:
        view = response["evaluation"]
        return Group(*map(_figures, board.tables(view)), *map(_cell, board.runs(view)))
    return None


def _hits(results: list[ResultView]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if any("score" in result for result in results):
        table.add_column("score", justify="right", no_wrap=True)
    table.add_column("where", overflow="fold", style="cyan", ratio=2)
    table.add_column("text", ratio=3)
    for result in results:
        score = [Text(f"{result['score']:.3f}", style="bold")] if "score" in result else []
        table.add_row(*score, _place(result), _body(result))
    return table


def _chosen(results: list[ResultView]) -> Table:
    rows = [render.fields(result) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        is_number = name in ("score", "chunk.offset", "chunk.tokens")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    marks = [render.recalled(result) for result in results]
    if any(marks):
        table.add_column("", style=_RECALLED)
    for row, mark in zip(rows, marks, strict=True):
        table.add_row(*(Text(row.get(name, "")) for name in names), *map(Text, mark))
    return table


def _place(result: ResultView) -> Text:
    style = _STATE if "state" in result.get("doc", {}) else ""
    return Text(render.place(result), style=style)


def _body(result: ResultView) -> Group:
    heading = render.heading(result)
    shown = [Text(heading, style="bold")] if heading else []
    shown.append(Text(render.snippet(result, 160)))
    shown += [Text(mark, style=_RECALLED) for mark in render.recalled(result)]
    return Group(*shown, *_ledger(result))


def _ledger(result: ResultView) -> Iterator[Text]:
    """The ledger's lines, cut into two where they would break in the middle of a figure."""
    for line in render.ledger_lines(result):
        points, value, figures = line.partition(" value ") if line[2:3].strip() else (line, "", "")
        yield Text(f"{points.rstrip()}\n    value {figures}" if value else line, style="dim")


def _cell(text: str) -> Text:
    """A text that steers no terminal, on one line."""
    return Text(one_line(text))


def _pairs(response: Response) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in render.store_rows(response):
        table.add_row(Text(name), Text(value))
    return table


def _checks(response: Response) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", "check", "evidence", "fix"):
        table.add_column(name, overflow="fold")
    for check in response["checks"]:
        severity = Text(check["severity"], style=_SEVERITY[check["severity"]])
        told = Text("\n").join(map(_cell, [check["evidence"], *render.lost_lines(check.get("lost", []))]))
        table.add_row(severity, _cell(check["code"]), told, _cell(check.get("fix", "")))
    return table


def _figures(rows: board.Rows) -> Table:
    """One table of the evaluation board; a verdict stands in words, its colour says nothing more."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, justify="left" if name in board.LEFT else "right", overflow="fold")
    for row in rows[1:]:
        is_bold = any(cell == "fails" or cell.startswith(("better", "worse")) for cell in row)
        table.add_row(*map(_cell, row), style="bold" if is_bold else "")
    return table


def _embedders(response: Response) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("embedder", "", "dimension", "max input", "runs", "weight", "pace", "what it is"):
        is_number = name in ("dimension", "max input", "weight", "pace")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold", no_wrap=name == "embedder")
    for view in response["embedders"]:
        style = "green" if view["in_use"] else "" if view["available"] else "dim"
        table.add_row(*map(_cell, render.embedder_row(view)), style=style)
    return table
