"""Actions on the rows: select, show, group, explain, pack and export."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual.app import SuspendNotSupported

from recall_core import adapters, api, paths, retrieve
from recall_core.errors import RecallError, UsageError, why_unread
from recall_core.files import write
from recall_core.shell import REST, Hint
from recall_core.text import behind_unit
from recall_core.types import Progress
from recall_tui import files, screens
from recall_tui.host import reason_of
from recall_tui.panes.context import ContextPane
from recall_tui.panes.explain import ExplainPane
from recall_tui.panes.results import ResultsPane
from recall_tui.state import explaining, packing
from recall_tui.state import session as state
from recall_tui.state.commands import command
from recall_tui.state.grouping import MOST_GROUPED, why_not
from recall_tui.state.packing import chosen_entry, row_of
from recall_tui.state.session import View, move_cursor, select_row

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import SearchResponse
    from recall_tui.host import Host

ROWS, CONTEXT = "Export results", "Export context"
MARKDOWN = ".md"
FLAGS = {".csv": ("--csv",), ".jsonl": ("--jsonl",), MARKDOWN: ()}
"""File types for exported rows by suffix, each with its flags of `recall search`."""


def look_at_rows(app: Host, first: int, end: int) -> None:
    """Fetch the rows that the list shows, from first to end (exclusive)."""
    session = state.look_at(app.session, first, end)
    if session is not app.session:
        app.become(session)


def page(app: Host, pages: int) -> None:
    """Move the selection by the visible height."""
    app.become(state.move_selection(app.session, app.bench.query_one(ResultsPane).rows_to_page(pages)))


def select_first(app: Host) -> None:
    """Select the first row."""
    app.become(state.select_place(app.session, 0))


def select_last(app: Host) -> None:
    """Select the last row."""
    if app.session.results.answer is not None:
        app.become(state.select_place(app.session, app.session.results.answer.total))


def group(app: Host) -> None:
    """Group the rows by document, or list them by rank again."""
    answer = app.session.results.answer
    if answer is None:
        return
    if reason := why_not(answer):
        app.notify(reason)
        return
    app.become(state.toggle_grouping(app.session))
    rows = state.list_range(answer)[1]
    if app.session.results.is_grouped and rows > MOST_GROUPED:
        app.notify(f"By document: the first {MOST_GROUPED:,} of {rows:,} rows. The others follow by rank.")


async def export_results(app: Host) -> None:
    """Ask for the file for the rows."""
    line = command(app.session._replace(pane="results"), None)

    async def export_to(typed: str) -> None:
        path = paths.expand(typed)
        words = [*shlex.split(line)[1:2], *FLAGS[path.suffix.lower()], *shlex.split(line)[2:]]
        await _ask_to_replace(app, ROWS, path, lambda: app.do(ROWS, partial(export_rows, words, path)))

    await app.prompt(ROWS, "results.csv", ".csv, .jsonl or .md (Markdown), then Enter", reject_suffix, export_to)


async def export_context(app: Host) -> None:
    """Ask for the file for the context, exactly as `recall context` prints it."""
    packed = app.session.context.packed
    if packed is None:
        return
    text = packing.print_context(packed)

    async def export_to(typed: str) -> None:
        path = paths.expand(typed)
        await _ask_to_replace(app, CONTEXT, path, partial(_write_context, app, path, text))

    await app.prompt(CONTEXT, "context.txt", "a file, then Enter", no_place, export_to)


def reject_suffix(typed: str) -> str:
    """Return what is wrong with the name of a file for rows, or ""."""
    if paths.expand(typed).suffix.lower() not in FLAGS:
        return f"The name must end in {', '.join(FLAGS)}."
    return no_place(typed)


def no_place(typed: str) -> str:
    """Return what is wrong with the name of a file to write, or ""."""
    path = paths.expand(typed)
    is_place = os.path.isdir(path.parent) and not os.path.isdir(path)  # noqa: PTH112 - False without permission
    return "" if typed and is_place else f"{typed!r} cannot be written: its folder does not exist, or it is a folder."


async def _ask_to_replace(app: Host, title: str, path: Path, then: Callable[[], None]) -> None:
    """Continue if there is no such file, else ask first."""
    if os.path.lexists(path):
        await app.confirm(title, f"{path} exists. Replace it?", then)
    else:
        then()


def _write_context(app: Host, path: Path, text: str) -> None:
    try:
        write(path, text.encode("utf-8"))
    except OSError as error:
        app.warn(f"{path} cannot be written: {why_unread(error)}.")
    else:
        app.notify(f"Exported: {path}", markup=False)


def export_rows(words: list[str], path: Path, recall: Recall, _say: Callable[[Progress], None]) -> str:
    """Run a command line of `search` or `query` and write its rows to a file. Raises RecallError."""
    request = adapters.parser.parse(words)
    rql, ask = getattr(request.flags, "rql", None), adapters.flags.ask_of(request.flags)
    response = recall.search(" ".join(request.words), ask) if rql is None else recall.query(rql, ask)
    with adapters.streams.replacing(path, hint="E") as out:
        if path.suffix.lower() == MARKDOWN:
            out.writelines(markdown(response))
        elif (write_rows := adapters.searching.choose_rows(request)) is not None:
            write_rows(response, out)
    count = len(response["results"])
    return f"Exported: {count:,} row{'s' * (count != 1)} to {path}"


def markdown(response: SearchResponse) -> Iterator[str]:
    """Yield the rows as a numbered list: title and heading, place and score, and the passage as a quotation."""
    for rank, result in enumerate(response["results"], start=1):
        doc, unit = result.get("doc", {}), result.get("passage", result.get("chunk", {}))
        path = doc.get("path", "")
        names = " › ".join(filter(None, (doc.get("title") or path, unit.get("heading"))))
        lines = ""
        if "line_start" in unit:
            lines = behind_unit(path, unit)
        score = f" · {result['score']:.3f}" if "score" in result else ""
        yield f"{rank}. **{_escape(names)}** · `{path}{lines}`{score}\n"
        if text := result.get("passage", result.get("chunk", {})).get("text", "").strip():
            yield "\n" + "".join(f"   > {line}\n" if line else "   >\n" for line in text.splitlines())
        yield "\n"


def _escape(name: str) -> str:
    """Escape a name for use between asterisks, so that Markdown shows it unchanged."""
    return "".join(f"\\{mark}" if mark in "\\*_`[]<" else mark for mark in name)


class Place(NamedTuple):
    """The start of a chunk. file: None if no file has exactly this text; then `text` is the document."""

    name: str
    line: int
    file: Path | None
    text: str


async def open_file(app: Host) -> None:
    """Open the file of the chosen row at its line. If it is not a file of its own, page the text that was read."""
    entry = chosen_entry(app.session) if app.session.pane == "context" else None
    chunk_id = entry.chunk_ids[0] if entry is not None and entry.chunk_ids else explaining.chunk_of(app.session)
    try:
        place = await asyncio.to_thread(place_of, app.store, chunk_id)
    except RecallError as error:
        app.warn(reason_of(error))
        return
    what = f"{place.name}:{place.line}"
    try:
        if place.file is not None:
            command = files.editor(os.environ)
            with app.suspend():
                files.edit_at(place.file, place.line, command)
        else:
            command = files.pager(os.environ)
            with app.suspend():
                files.page(place.text, command, name=place.name, line=place.line)
    except SuspendNotSupported:
        app.warn(f"{what} cannot be opened: this terminal cannot run another program.")
    except RecallError as error:
        app.warn(reason_of(error))
    except OSError as error:
        app.warn(f"{what} cannot be opened: {why_unread(error)}.")


def place_of(store: str | None, chunk_id: str) -> Place:
    """Return the start of a chunk of a store. Raises RecallError, also if the chunk has left the store."""
    with api.recall.Recall.open(store) as recall, recall.store.reading():
        row = retrieve.targets.chunk(recall.store, chunk_id, base=recall.engine.base)
        source = recall.store.sources([row.doc.id]).get(row.doc.id)
        is_file = (
            source is not None and source.os_path != "" and source.path == row.doc.path
        )  # not a record of a file
        file = recall.engine.base / source.os_path if source is not None and is_file else None
        file = file if file is not None and file.is_file() else None
        text = "" if file is not None else document_text(recall, row.doc.id)
        return Place(row.doc.path, row.chunk.line_start, file, text)


def document_text(recall: Recall, doc_id: str) -> str:
    """Return a document as it was read. Raises RecallError."""
    target = recall.get(doc_id)["found"]
    if target["kind"] != "doc":
        raise UsageError("unknown_target", f"{doc_id} is not a document.", hint=Hint("search", REST))
    return target["text"]


MOST_DIGITS = 18  # of a typed number; Python reads at most 4,300


def budget(app: Host, tokens: int) -> None:
    """Change the budget by this many tokens."""
    app.become(state.set_budget(app.session, app.session.context.budget_tokens + tokens))


async def type_budget(app: Host) -> None:
    """Ask for a budget."""
    tokens = str(app.session.context.budget_tokens)
    await app.prompt(
        "Budget",
        tokens,
        "tokens, then Enter",
        not_a_budget,
        lambda typed: app.become(state.set_budget(app.session, int(typed.replace(",", "")))),
    )


def copy_context(app: Host) -> None:
    """Copy the packed context."""
    packed = app.session.context.packed
    if packed is not None:
        app.copy(packing.print_context(packed), f"context, {packed.used_tokens} tokens")


def choose_block(app: Host, row: int) -> None:
    """Select the entry in this row."""
    rows = len(packing.entries(app.session))
    if rows:
        app.become(state.move_cursor(app.session, packing.LIST, row, rows))


def point_block(app: Host, rows: int) -> None:
    """Select the entry `rows` rows further."""
    choose_block(app, packing.cursor(app.session) + rows)


def point_last_block(app: Host) -> None:
    """Select the last entry."""
    choose_block(app, len(packing.entries(app.session)))


def scroll_context(app: Host, pages: int) -> None:
    """Scroll and keep the chosen line."""
    app.bench.query_one(ContextPane).scroll_pages(pages)


def pin_chunk(app: Host) -> None:
    """Pin the chosen chunk, or unpin it."""
    app.become(packing.toggle_pin(app.session))
    _say_change(app, "Pinned to the context", app.session.context.pins, "pin_chunk")


def drop_chunk(app: Host) -> None:
    """Exclude the chosen chunk, or include it again."""
    app.become(packing.toggle_drop(app.session))
    _say_change(app, "Excluded from the context", app.session.context.drops, "drop_chunk")


def _say_change(app: Host, done: str, marked: tuple[str, ...], action: str) -> None:
    """Report a change made from another pane, since the context may not be visible."""
    if app.session.pane != "context":
        is_marked = bool(set(packing.chosen_chunks(app.session)) & set(marked))
        undone = app.table.spell(f"{done}; {{{action}}} undoes it.")
        app.notify(undone if is_marked else f"No longer {done.lower()}.")


def not_a_budget(typed: str) -> str:
    """Return what is wrong with a budget, or "" for a whole number above 0."""
    digits = typed.replace(",", "")
    is_number = digits.isdecimal() and len(digits) <= MOST_DIGITS and int(digits) > 0
    return "" if is_number else "The budget must be a whole number of tokens above 0."


def show_view(app: Host, view: View) -> None:
    """Show a tab of the explain pane and focus it."""
    app.become(explaining.turn_to(app.session, view))
    app.bench.give_focus("explain")


def choose_fix(app: Host, place: int) -> None:
    """Select a fix, or apply it if it is already selected."""
    if place == app.session.cursors.get(explaining.FIX_CURSOR, 0):
        try_fix(app)
    else:
        _point_fix(app, place)


def list_paths(app: Host, typed: str | None) -> None:
    """List the paths that match the typed text. None lists no paths."""
    app.become(app.session._replace(results=app.session.results._replace(picking=typed)))


def scroll_explain(app: Host, rows: int) -> None:
    """Select another fix, or scroll if there are no fixes."""
    if explaining.chosen_remedy(app.session) is not None:
        _point_fix(app, app.session.cursors.get(explaining.FIX_CURSOR, 0) + rows)
        app.bench.query_one(ExplainPane).go_to_fix()  # a fix without a neighbour may be scrolled out of view
    else:
        app.bench.query_one(ExplainPane).scroll_relative(y=rows, animate=False, immediate=True)


def page_explain(app: Host, pages: int) -> None:
    """Scroll by the visible height."""
    app.bench.query_one(ExplainPane).scroll_pages(pages)


def explain_top(app: Host) -> None:
    """Scroll to the top."""
    app.bench.query_one(ExplainPane).scroll_home(animate=False, immediate=True)


def explain_end(app: Host) -> None:
    """Scroll to the end."""
    app.bench.query_one(ExplainPane).scroll_end(animate=False, immediate=True)


def mark_hit(app: Host) -> None:
    """Mark the selected hit."""
    app.become(explaining.toggle_mark(app.session))
    marked = app.session.results.marked
    app.notify(f"Marked: {marked.doc.path}" if marked else "No result is marked.", markup=False)


def why_this(app: Host) -> None:
    """Show the score of the chosen row.

    If it is shown already or the row was left out, show why the context lacks it.
    """
    session = app.session
    if session.pane == "context" and (entry := chosen_entry(session)) is not None:
        row = row_of(session, entry) if entry.kind == "block" else None
        if row is None:
            _look_for(app, explaining.short(entry.chunk_ids[0]))
            return
        app.become(select_row(session, row))
    elif (session.pane, session.view) == ("explain", "ledger"):
        _look_for(app, explaining.short(explaining.chunk_of(session)))
        return
    show_view(app, "ledger")


async def miss(app: Host) -> None:
    """Ask which document is missing."""

    def explain_target(target: str | None) -> None:
        list_paths(app, None)
        if target:
            _look_for(app, target)

    await app.push_screen(screens.target.TargetScreen(), explain_target)


def try_fix(app: Host) -> None:
    """Apply the chosen fix, or copy its command if only the command line can apply it."""
    remedy = explaining.chosen_remedy(app.session)
    if remedy is None:
        return
    if not explaining.is_doable(remedy):
        app.copy(remedy.command, remedy.command)
        return
    app.take(explaining.apply_fix(app.session, remedy, app.clock()))
    app.notify(app.table.spell("Fix applied. {take_back} undoes it"), markup=False)


def take_back(app: Host) -> None:
    """Undo the last fix."""
    app.take(explaining.take_fix_back(app.session, app.clock()))


def take_all_back(app: Host) -> None:
    """Undo all fixes."""
    app.take(explaining.take_fix_back(app.session, app.clock(), whole=True))


def _point_fix(app: Host, place: int) -> None:
    whynot = explaining.whynot_of(app.session)
    if whynot is not None and whynot.remedies:
        app.become(move_cursor(app.session, explaining.FIX_CURSOR, place, len(whynot.remedies)))


def _look_for(app: Host, target: str) -> None:
    app.become(explaining.seek_target(app.session, target))
    app.bench.give_focus("explain")
