"""Explanations of a ranking: what each weight would change, exactly, and how sure a better weight is."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.explain import advice, curve, explanation, funnel, ledger, lines, sweep, winning
else:
    __getattr__ = attach(__name__)
