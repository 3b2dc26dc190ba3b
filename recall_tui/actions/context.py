"""Moving the budget and copying what it packs."""

from __future__ import annotations

from recall_tui.actions.action import Action, has_context

ACTIONS = (
    Action("budget(-100)", ("left_square_bracket", "minus"), "less", "Budget 100 tokens down"),
    Action("budget(100)", ("right_square_bracket", "plus"), "more", "Budget 100 tokens up"),
    Action("budget_half", ("left_curly_bracket",), "", "Halve the budget"),
    Action("budget_double", ("right_curly_bracket",), "", "Double the budget"),
    Action("type_budget", ("b",), "budget", "Type a budget"),
    Action("copy_context", ("y",), "copy", "Copy the packed context, byte for byte", has_context),
)
