"""Writing what a pane shows into a file: the rows of the results, or the text of the context."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import adapters, paths
from recall_core.contract import response_of
from recall_core.errors import why_unread
from recall_core.files import write
from recall_core.text import behind_unit
from recall_core.types import Progress
from recall_tui.state import packing
from recall_tui.state.shell import command

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import SearchResponse
    from recall_tui.host import Host

ROWS, CONTEXT = "Export results", "Export context"
MARKDOWN = ".md"
FLAGS = {".csv": ("--csv",), ".jsonl": ("--jsonl",), MARKDOWN: ()}
"""The kinds of files that rows are written into, by suffix, and what `recall search` takes for each."""


async def export_results(app: Host) -> None:
    """Ask for the name of a file for the rows."""
    line = command(app.session._replace(pane="results"), None)
    hint = ".csv, .jsonl or .md (Markdown), then Enter"
    then = partial(_results_named, app, line)
    await app.prompt(ROWS, "results.csv", hint, unsuited, then)


async def export_context(app: Host) -> None:
    """Ask for the name of a file for the text, exactly as `recall context` prints it."""
    packed = app.session.context.packed
    if packed is not None:
        then = partial(_context_named, app, packing.printed(packed))
        await app.prompt(CONTEXT, "context.txt", "a file, then Enter", no_place, then)


def unsuited(typed: str) -> str:
    """What is wrong with the name of a file for rows; "" when nothing is."""
    if paths.expanded(typed).suffix.lower() not in FLAGS:
        return f"The name ends in {', '.join(FLAGS)}."
    return no_place(typed)


def no_place(typed: str) -> str:
    """What is wrong with the name of a file; "" when one can stand there."""
    path = paths.expanded(typed)
    is_place = os.path.isdir(path.parent) and not os.path.isdir(path)  # noqa: PTH112 - False where nobody may look
    return "" if typed and is_place else f"{typed!r} cannot be written: its folder does not exist, or it is a folder."


async def _results_named(app: Host, line: str, typed: str | None) -> None:
    if typed is not None:
        path = paths.expanded(typed)
        words = [*shlex.split(line)[1:2], *FLAGS[path.suffix.lower()], *shlex.split(line)[2:]]
        await _ask_to_replace(app, ROWS, path, lambda: app.do(ROWS, partial(exported, words, path)))


async def _context_named(app: Host, text: str, typed: str | None) -> None:
    if typed is not None:
        path = paths.expanded(typed)
        await _ask_to_replace(app, CONTEXT, path, partial(_write_context, app, path, text))


async def _ask_to_replace(app: Host, title: str, path: Path, then: Callable[[], None]) -> None:
    """Go on at once where there is no such file, and else after a yes."""

    def answered(is_agreed: bool | None) -> None:
        if is_agreed:
            then()

    if os.path.lexists(path):
        await app.confirm(title, f"{path} exists. Replace it?", answered)
    else:
        then()


def _write_context(app: Host, path: Path, text: str) -> None:
    try:
        write(path, text.encode("utf-8"))
    except OSError as error:
        app.warn(f"{path} cannot be written: {why_unread(error)}.")
    else:
        app.notify(f"Exported: {path}", markup=False)


def exported(words: list[str], path: Path, recall: Recall, _say: Callable[[Progress], None]) -> str:
    """Answer a command line of `search` or `query` and write its rows into a file. Raises RecallError."""
    request = adapters.parser.parse(words)
    rql, ask = getattr(request.flags, "rql", None), adapters.options.ask_of(request.flags)
    response = recall.search(" ".join(request.words), ask) if rql is None else recall.query(rql, ask)
    with adapters.streams.replacing(path, hint="E") as out:
        if path.suffix.lower() == MARKDOWN:
            out.writelines(markdown(response))
        elif (write_rows := adapters.searching.choose_rows(request)) is not None:
            write_rows(response_of(response), out)
    count = len(response["results"])
    return f"Exported: {count:,} row{'s' * (count != 1)} to {path}"


def markdown(response: SearchResponse) -> Iterator[str]:
    """The rows as a numbered list: title and heading, place and score, and the passage as a quotation."""
    for rank, result in enumerate(response["results"], start=1):
        doc, unit = result.get("doc", {}), result.get("passage", result.get("chunk", {}))
        path = doc.get("path", "")
        names = " › ".join(filter(None, (doc.get("title") or path, unit.get("heading"))))
        lines = ""
        if "line_start" in unit:
            lines = behind_unit(path, unit)
        score = f" · {result['score']:.3f}" if "score" in result else ""
        yield f"{rank}. **{_escaped(names)}** · `{path}{lines}`{score}\n"
        if text := result.get("passage", result.get("chunk", {})).get("text", "").strip():
            yield "\n" + "".join(f"   > {line}\n" if line else "   >\n" for line in text.splitlines())
        yield "\n"


def _escaped(name: str) -> str:
    """A name between asterisks: those of its own, and what Markdown makes of brackets, stand as they are."""
    return "".join(f"\\{mark}" if mark in "\\*_`[]<" else mark for mark in name)
