"""Moving the budget, packing other chunks, and copying what was packed."""

from __future__ import annotations

from recall_tui.actions.action import Action, has_context, has_pool
from recall_tui.state.packing import chosen_entry, has_chunk, has_what_ifs
from recall_tui.state.session import Session


def has_entries(session: Session) -> bool:
    """While there are blocks, or chunks left out."""
    return chosen_entry(session) is not None


_EVERYWHERE = (
    Action("budget(-100)", ("left_square_bracket", "minus"), "less", "Budget 100 tokens down"),
    Action("budget(100)", ("right_square_bracket", "plus"), "more", "Budget 100 tokens up"),
    Action("budget_half", ("left_curly_bracket",), "", "Halve the budget"),
    Action("budget_double", ("right_curly_bracket",), "", "Double the budget"),
    Action("type_budget", ("b",), "budget", "Type a budget"),
    Action("copy_context", ("y",), "copy", "Copy the context, exactly as recall context prints it", has_context),
)
_INSIDE = (
    Action("scale_budget(-5)", ("left",), "-5%", "Budget 5 % down"),
    Action("scale_budget(5)", ("right",), "+5%", "Budget 5 % up"),
    Action("scale_budget(-1)", ("shift+left",), "", "Budget 1 % down"),
    Action("scale_budget(1)", ("shift+right",), "", "Budget 1 % up"),
    Action("point_block(1)", ("j", "down"), "", "Choose the next block, or chunk left out", has_entries),
    Action("point_block(-1)", ("k", "up"), "", "Choose the previous block, or chunk left out", has_entries),
    Action("point_first_block", ("g", "home"), "", "Choose the first block", has_entries),
    Action("point_last_block", ("G", "end"), "", "Choose the last line", has_entries),
    Action("scroll_context(1)", ("pagedown", "space"), "", "Scroll the context one page further", has_entries),
    Action("scroll_context(-1)", ("pageup",), "", "Scroll the context one page back", has_entries),
    Action("open_block", ("enter",), "open", "Show the block whole, and select its row in the results", has_entries),
    Action("pin_chunk", ("o",), "pin", "Force the chosen chunk into the context, or no longer", has_chunk),
    Action("drop_chunk", ("x",), "out", "Force the chosen chunk out of the context, or no longer", has_chunk),
    Action("reset_what_ifs", ("0",), "reset", "Drop every pin, and all that is forced out", has_what_ifs),
    Action("turn('pack')", ("p",), "packing", "Fill by rank order, or by most value", has_pool),
)
ACTIONS = (*_EVERYWHERE, *(action._replace(panes=("context",)) for action in _INSIDE))
