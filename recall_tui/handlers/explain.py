"""The tabs of the explain pane, what is missing, and the fixes that bring it in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recall_tui import screens
from recall_tui.messages import FixChosen, Picking, ViewChosen
from recall_tui.panes.explain.pane import ExplainPane
from recall_tui.state import explaining, fixes
from recall_tui.state.packing import chosen_entry, row_of
from recall_tui.state.session import View, chosen, pointed, went_on

if TYPE_CHECKING:
    from recall_tui.host import Host


def on_view_chosen(app: Host, message: ViewChosen) -> None:
    """A tab was clicked."""
    _turn_to_view(app, message.view)


def on_fix_chosen(app: Host, message: FixChosen) -> None:
    """A fix was clicked: chosen, and tried when it was chosen already."""
    if message.place == app.session.cursors.get(fixes.CURSOR, 0):
        try_fix(app)
    else:
        _point_fix(app, message.place)


def on_picking(app: Host, message: Picking) -> None:
    """Paths are wanted for what is typed."""
    app.become(app.session._replace(results=app.session.results._replace(picking=message.typed)))


def step_view(app: Host, tabs: int) -> None:
    """Go from tab to tab."""
    app.become(explaining.stepped_view(app.session, tabs))


def scroll_explain(app: Host, rows: int) -> None:
    """Go on among the fixes, or, where there are none, among the lines."""
    if fixes.chosen_remedy(app.session) is not None:
        _point_fix(app, app.session.cursors.get(fixes.CURSOR, 0) + rows)
        _explained(app).go_to_fix()  # it may have been scrolled away from, and have no neighbour to go to
    else:
        _explained(app).scroll_relative(y=rows, animate=False, immediate=True)


def page_explain(app: Host, pages: int) -> None:
    """Scroll by what is visible."""
    _explained(app).scroll_pages(pages)


def explain_top(app: Host) -> None:
    """Scroll to the top."""
    _explained(app).scroll_home(animate=False, immediate=True)


def explain_end(app: Host) -> None:
    """Scroll to the end."""
    _explained(app).scroll_end(animate=False, immediate=True)


def select_beside(app: Host, rows: int) -> None:
    """Explain another result, and let the focus be."""
    app.become(went_on(app.session, rows))


def open_funnel(app: Host) -> None:
    """Show the funnel."""
    _turn_to_view(app, "funnel")


def compare(app: Host) -> None:
    """Show the selected hit beside the marked one, or beside the row above."""
    _turn_to_view(app, "compare")


def mark_hit(app: Host) -> None:
    """Mark the selected hit."""
    app.become(explaining.marked_hit(app.session))
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
        app.become(chosen(session, row))
    elif (session.pane, session.view) == ("explain", "ledger"):
        _look_for(app, explaining.short(explaining.chunk_of(session)))
        return
    _turn_to_view(app, "ledger")


async def miss(app: Host) -> None:
    """Ask what is missing."""

    await app.push_screen(screens.target.TargetScreen(), partial(_target_named, app))


def try_fix(app: Host) -> None:
    """Try the chosen fix, or, where only the command line can, copy its command."""
    remedy = fixes.chosen_remedy(app.session)
    if remedy is None:
        return
    if not fixes.is_doable(remedy):
        app.copy(remedy.command, remedy.command)
        return
    app.take(fixes.applied(app.session, remedy, app.clock()))
    app.notify(app.table.spelled("Fix applied. {take_back} undoes it"), markup=False)


def take_back(app: Host) -> None:
    """Undo the last fix."""
    app.take(fixes.taken_back(app.session, app.clock()))


def take_all_back(app: Host) -> None:
    """Undo all fixes."""
    app.take(fixes.taken_back(app.session, app.clock(), whole=True))


def _explained(app: Host) -> ExplainPane:
    return app.bench.query_one(ExplainPane)


def _turn_to_view(app: Host, view: View) -> None:
    app.become(explaining.turned_to(app.session, view))
    app.bench.give_focus("explain")


def _point_fix(app: Host, place: int) -> None:
    whynot = fixes.whynot_of(app.session)
    if whynot is not None and whynot.remedies:
        app.become(pointed(app.session, fixes.CURSOR, place, len(whynot.remedies)))


def _target_named(app: Host, target: str | None) -> None:
    app.become(app.session._replace(results=app.session.results._replace(picking=None)))
    if target:
        _look_for(app, target)


def _look_for(app: Host, target: str) -> None:
    app.become(explaining.sought_after(app.session, target))
    app.bench.give_focus("explain")
