"""The tabs of the explain pane, what is missing, and the fixes that bring it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui import screens
from recall_tui.panes.explain.pane import ExplainPane
from recall_tui.state import explaining
from recall_tui.state.packing import chosen_entry, row_of
from recall_tui.state.session import View, move_cursor, select_row

if TYPE_CHECKING:
    from recall_tui.host import Host


def show_view(app: Host, view: View) -> None:
    """Show a tab, and go there."""
    app.become(explaining.turn_to(app.session, view))
    app.bench.give_focus("explain")


def choose_fix(app: Host, place: int) -> None:
    """Select a fix; apply it if it is selected already."""
    if place == app.session.cursors.get(explaining.FIX_CURSOR, 0):
        try_fix(app)
    else:
        _point_fix(app, place)


def list_paths(app: Host, typed: str | None) -> None:
    """List the paths that match what is typed; None lists none."""
    app.become(app.session._replace(results=app.session.results._replace(picking=typed)))


def scroll_explain(app: Host, rows: int) -> None:
    """Go on among the fixes, or, where there are none, among the lines."""
    if explaining.chosen_remedy(app.session) is not None:
        _point_fix(app, app.session.cursors.get(explaining.FIX_CURSOR, 0) + rows)
        app.bench.query_one(
            ExplainPane
        ).go_to_fix()  # it may have been scrolled away from, and have no neighbour to go to
    else:
        app.bench.query_one(ExplainPane).scroll_relative(y=rows, animate=False, immediate=True)


def page_explain(app: Host, pages: int) -> None:
    """Scroll by what is visible."""
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
    """Show the score of the chosen row; where that is shown, or it was left out, why the context lacks it."""
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
    """Ask what is missing."""

    def explain_target(target: str | None) -> None:
        list_paths(app, None)
        if target:
            _look_for(app, target)

    await app.push_screen(screens.target.TargetScreen(), explain_target)


def try_fix(app: Host) -> None:
    """Try the chosen fix, or, where only the command line can, copy its command."""
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
