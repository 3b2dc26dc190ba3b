"""From a query to an answer: parse it, gather the pool with all values, rank, page."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.retrieve import alike, answer, copies, freshness, passage, plan, targets, worth
else:
    __getattr__ = attach(__name__)
