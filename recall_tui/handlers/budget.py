"""Moving the budget, packing other chunks, and copying what was packed."""

from __future__ import annotations

from recall_tui.handlers.holder import Holder
from recall_tui.messages import Budgeted, Pointed
from recall_tui.panes.context import ContextPane
from recall_tui.state import packing
from recall_tui.state import session as state

MOST_DIGITS = 18  # of a number that is typed; Python reads 4,300 at most


class BudgetActions(Holder):
    """The group Context of the table."""

    def on_budgeted(self, message: Budgeted) -> None:
        """The mouse moved the slider."""
        self.become(state.budgeted(self.session, message.tokens))

    def on_pointed(self, message: Pointed) -> None:
        """A line was clicked."""
        self._point(message.row)

    def action_budget(self, tokens: int) -> None:
        """Move the budget."""
        self.become(state.budgeted(self.session, self.session.budget_tokens + tokens))

    def action_budget_half(self) -> None:
        """Halve the budget."""
        self.become(state.budgeted(self.session, self.session.budget_tokens // 2))

    def action_budget_double(self) -> None:
        """Double the budget."""
        self.become(state.budgeted(self.session, self.session.budget_tokens * 2))

    async def action_type_budget(self) -> None:
        """Ask for a budget."""
        tokens = str(self.session.budget_tokens)
        await self.prompt("Budget", tokens, "tokens, then Enter", not_a_budget, self._budget_typed)

    def action_copy_context(self) -> None:
        """Put the packed context on the clipboard."""
        packed = self.session.packed
        if packed is not None:
            self.copy(packing.printed(packed), f"context, {packed.used_tokens} tokens")

    def action_scale_budget(self, percent: int) -> None:
        """Move the budget by a share of itself."""
        self.become(packing.scaled(self.session, percent))

    def action_point_block(self, rows: int) -> None:
        """Choose another line."""
        self._point(packing.cursor(self.session) + rows)

    def action_point_first_block(self) -> None:
        """Choose the first line."""
        self._point(0)

    def action_point_last_block(self) -> None:
        """Choose the last line."""
        self._point(len(packing.entries(self.session)))

    def action_scroll_context(self, pages: int) -> None:
        """Scroll, and let the chosen line be."""
        self.bench.query_one(ContextPane).scroll_pages(pages)

    def action_open_block(self) -> None:
        """Show the chosen block whole, and its row in the results."""
        self.become(packing.unfolded(self.session))

    def action_pin_chunk(self) -> None:
        """Force the chosen chunk in, or no longer."""
        self.become(packing.pinned(self.session))

    def action_drop_chunk(self) -> None:
        """Force the chosen chunk out, or no longer."""
        self.become(packing.forced_out(self.session))

    def action_reset_what_ifs(self) -> None:
        """Drop every what-if."""
        self.become(packing.freed(self.session))

    def _point(self, row: int) -> None:
        rows = len(packing.entries(self.session))
        if rows:
            self.become(state.pointed(self.session, packing.LIST, row, rows))

    def _budget_typed(self, typed: str | None) -> None:
        if typed is not None:
            self.become(state.budgeted(self.session, int(typed.replace(",", ""))))


def not_a_budget(typed: str) -> str:
    """What is wrong with a budget; "" when it is a whole number above 0."""
    digits = typed.replace(",", "")
    is_number = digits.isdecimal() and len(digits) <= MOST_DIGITS and int(digits) > 0
    return "" if is_number else "A budget is a whole number of tokens above 0."
