"""Packing: ranked hits become one text within a token budget."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.pack import graphemes, layout, policy
else:
    __getattr__ = attach(__name__)
