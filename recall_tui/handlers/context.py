"""Moving the budget, packing other chunks, and copying what was packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.panes.context import ContextPane
from recall_tui.state import packing
from recall_tui.state import session as state

if TYPE_CHECKING:
    from recall_tui.host import Host

MOST_DIGITS = 18  # of a number that is typed; Python reads 4,300 at most


def budget(app: Host, tokens: int) -> None:
    """Move the budget by some tokens."""
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
    """Put the packed context on the clipboard."""
    packed = app.session.context.packed
    if packed is not None:
        app.copy(packing.print_context(packed), f"context, {packed.used_tokens} tokens")


def choose_block(app: Host, row: int) -> None:
    """Select the entry in this row."""
    rows = len(packing.entries(app.session))
    if rows:
        app.become(state.move_cursor(app.session, packing.LIST, row, rows))


def point_block(app: Host, rows: int) -> None:
    """Select an entry some rows further."""
    choose_block(app, packing.cursor(app.session) + rows)


def point_last_block(app: Host) -> None:
    """Select the last entry."""
    choose_block(app, len(packing.entries(app.session)))


def scroll_context(app: Host, pages: int) -> None:
    """Scroll, and let the chosen line be."""
    app.bench.query_one(ContextPane).scroll_pages(pages)


def pin_chunk(app: Host) -> None:
    """Pin the chosen chunk, or no longer."""
    app.become(packing.toggle_pin(app.session))
    _say_change(app, "Pinned to the context", app.session.context.pins, "pin_chunk")


def drop_chunk(app: Host) -> None:
    """Exclude the chosen chunk, or no longer."""
    app.become(packing.toggle_drop(app.session))
    _say_change(app, "Excluded from the context", app.session.context.drops, "drop_chunk")


def _say_change(app: Host, done: str, marked: tuple[str, ...], action: str) -> None:
    """Say what was done to a row from another pane: the context may be out of sight."""
    if app.session.pane != "context":
        is_marked = bool(set(packing.chosen_chunks(app.session)) & set(marked))
        undone = app.table.spell(f"{done}; {{{action}}} undoes it.")
        app.notify(undone if is_marked else f"No longer {done.lower()}.")


def not_a_budget(typed: str) -> str:
    """What is wrong with a budget; "" when it is a whole number above 0."""
    digits = typed.replace(",", "")
    is_number = digits.isdecimal() and len(digits) <= MOST_DIGITS and int(digits) > 0
    return "" if is_number else "A budget is a whole number of tokens above 0."
