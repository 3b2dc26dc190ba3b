"""Responses on a terminal: the same facts as in a pipe, drawn with Rich."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TextIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recall_core.adapters import board, hits, listing, render
from recall_core.adapters.width import fitted, joined
from recall_core.contract.responses import Response
from recall_core.contract.store import ListedView
from recall_core.contract.views import EmbedderView, ResultView
from recall_core.text import harmless, one_line

_SEVERITY = {"ok": "green", "warning": "yellow", "error": "bold red"}
_STATE = "yellow"
_RECALLED = "magenta"
_MOST_DRAWN = 1_000  # documents
_BETWEEN, _EDGES, _LEAST_TITLE = 3, 2, 12  # columns of a terminal
_TO_THE_MINUTE = 16  # characters of a time
_UNBOUND = 10_000  # wider than any terminal


def draw(response: Response, stdout: TextIO, *, is_long: bool = False) -> bool:
    """Draw the response if a table suits it; False leaves it to plain lines. is_long: with every figure of documents.

    Width, colour and NO_COLOR are Rich's to find out from the terminal.
    """
    console = Console(file=stdout, highlight=False, emoji=False)
    documents = response.get("documents", [])
    table = _documents(documents, console.width, is_long=is_long) if documents else _table(response, console)
    if table is None:
        return False
    console.print(table, soft_wrap=False)
    return True


def _table(response: Response, console: Console) -> RenderableType | None:
    results = [] if "report" in response else response.get("results", [])
    if results:
        return _hits(results) if all(map(render.is_whole, results)) else _chosen(results)
    if "store" in response:
        return _pairs(response)
    if "checks" in response and not {"verified", "recovered"} & response.keys():
        return _checks(response)
    if "embedders" in response:
        return _embedders(response, console.width)
    if "evaluation" in response:
        view = response["evaluation"]
        return Group(*(_figures(rows, console) for rows in board.tables(view)), *map(_cell, board.runs(view)))
    return None


def _documents(documents: list[ListedView], width: int, *, is_long: bool) -> Table | None:
    """None for a long list: Rich measures every cell before it draws the first.

    With figures a row is one line: titles are cut to the room that is left, or left out. Only a long path is broken.
    """
    if len(documents) > _MOST_DRAWN:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("path", style="cyan", overflow="fold")
    names: tuple[str, ...] = ("chunks", "tokens", "changed (UTC)", "source") if is_long else ()
    names = names if any("source" in view for view in documents) else names[:3]
    rows = [[_cell(view["path"]), _cell(view["title"])] for view in documents]
    if is_long:
        for row, view in zip(rows, documents, strict=True):
            chunks, tokens, changed, source = listing.figures(view)
            row.extend(map(_cell, (chunks, tokens, changed[:_TO_THE_MINUTE], source)))
        widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
        taken = widths[0] + sum(max(len(name), own) for name, own in zip(names, widths[2:], strict=False))
        room = width - taken - _BETWEEN * (len(names) + 1) - _EDGES
        if room >= _LEAST_TITLE:
            table.add_column("title", no_wrap=True, overflow="ellipsis", max_width=room)
        else:
            rows = [[path, *figures] for path, _, *figures in rows]
    else:
        table.add_column("title", overflow="fold")
    for name in names:
        is_number = name in ("chunks", "tokens")
        no_wrap = name != "source"
        table.add_column(name, justify="right" if is_number else "left", no_wrap=no_wrap, overflow="fold")
    for row in rows:
        table.add_row(*row[: len(table.columns)])
    return table


def _hits(results: list[ResultView]) -> Group:
    return Group(*(part for result in results for part in _hit(result)))


def _hit(result: ResultView) -> Iterator[RenderableType]:
    """Its header, its passage with what matches in bold, its ledger."""
    yield _header(result)
    for line in hits.passage_lines(result) if hits.has_passage(result) else [[(render.snippet(result, 160), False)]]:
        shown = Text.assemble(*((harmless(text), "bold" if matches else "") for text, matches in line))
        yield Padding(shown, (0, 0, 0, hits.INDENT))
    yield from _ledger(result)


def _header(result: ResultView) -> Text:
    has_passage = hits.has_passage(result)
    *title, place = hits.places(result) if has_passage else [render.place(result)]
    score = [(f"{result['score']:.3f}", "bold")] if "score" in result else []
    place_style = _STATE if "state" in result.get("doc", {}) else "cyan"
    parts = [*score, *((each, "bold") for each in title), (place, place_style)]
    parts += [(render.heading(result), ""), *((mark, _RECALLED) for mark in render.marks(result))]
    shown = [part for part in parts if part[0]]
    return Text("  ").join(Text(text, style) for text, style in shown)


def _chosen(results: list[ResultView]) -> Table:
    rows = [render.fields(result) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        is_number = name in ("score", "chunk.offset", "chunk.tokens")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    marks = [render.marks(result) for result in results]
    if any(marks):
        table.add_column("", style=_RECALLED)
    for row, mark in zip(rows, marks, strict=True):
        table.add_row(*(Text(row.get(name, "")) for name in names), *map(Text, mark))
    return table


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


def _figures(rows: board.Rows, console: Console) -> RenderableType:
    """One table of the evaluation board, or a few lines a row where the terminal is too narrow for it."""
    table = _board_table(rows)
    if Measurement.get(console, console.options.update(max_width=_UNBOUND), table).maximum <= console.width:
        return table
    lines = (line for row in rows[1:] for line in _stacked(rows[0], row, console.width))
    return Group(Text(""), *lines)


def _stacked(head: tuple[str, ...], row: tuple[str, ...], width: int) -> Iterator[Text]:
    """What the row is of, and below it each figure behind its name."""
    named = list(zip(head, map(one_line, row), strict=True))
    words = [f"against {cell}" if name == "against" else cell for name, cell in takewhile(_is_of_words, named)]
    figures = [f"{name} {cell}" for name, cell in named[len(words) :]]
    style = "bold" if _is_telling(row) else ""
    yield from (Text(line, style=style) for line in fitted("  ".join(words), width))
    yield from (Text(line) for line in joined(figures, width, indent=2))


def _is_of_words(named: tuple[str, str]) -> bool:
    return named[0] in board.LEFT


def _is_telling(row: tuple[str, ...]) -> bool:
    return any(cell == "fails" or cell.startswith(("better", "worse")) for cell in row)


def _board_table(rows: board.Rows) -> Table:
    """A verdict stands in words, its colour says nothing more."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, justify="left" if name in board.LEFT else "right", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(_cell, row), style="bold" if _is_telling(row) else "")
    return table


def _embedders(response: Response, width: int) -> Group:
    """Each with its figures on a line, and below it what it is and what to know about it."""
    return Group(*(line for view in response["embedders"] for line in _embedder(view, width)))


def _embedder(view: EmbedderView, width: int) -> Iterator[Text]:
    name, state, dimension, reads, where, weight, pace, _ = map(one_line, render.embedder_row(view))
    figures = [where, f"weight {weight}"]
    figures += [f"{dimension} components"] if dimension != "-" else []
    figures += [f"reads {reads} tokens"] if reads != "-" else []
    figures += [f"embeds {pace}"] if pace != "-" else []
    style = "green" if view["in_use"] else "" if view["available"] else "dim"
    head = f"{name:<22} {state:<11} "
    yield from (Text(line, style=style) for line in joined(figures, width, head=head))
    reason, installs, command = one_line(view["reason"]).partition("installed: ")
    for told in (one_line(view["purpose"]), f"{reason}{installs.rstrip(': ')}"):
        yield from (Text(line, style="dim") for line in fitted(f"    {told}", width) if told)
    if command:
        yield from (Text(line, style="dim") for line in fitted(f"    {command}", width))
