"""Moving the budget and copying what it packs."""

from __future__ import annotations

from recall_tui import session as state
from recall_tui.acts.holder import Holder
from recall_tui.screens.prompt import PromptScreen


class BudgetActions(Holder):
    """The group Context of the table."""

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
        prompt = PromptScreen("Budget", str(self.session.budget_tokens), "tokens, then Enter", not_a_budget)
        await self.push_screen(prompt, self._budget_typed)

    def action_copy_context(self) -> None:
        """Put the packed context on the clipboard."""
        if self.session.packed is not None:
            self.copy(self.session.packed.text, f"context, {self.session.packed.used_tokens} tokens")

    def _budget_typed(self, typed: str | None) -> None:
        if typed is not None:
            self.become(state.budgeted(self.session, int(typed.replace(",", ""))))


def not_a_budget(typed: str) -> str:
    """What is wrong with a budget; "" when it is a whole number above 0."""
    digits = typed.replace(",", "")
    return "" if digits.isdecimal() and int(digits) > 0 else "A budget is a whole number of tokens above 0."
