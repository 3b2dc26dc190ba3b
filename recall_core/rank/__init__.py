"""From a pool to a ranking: normalize, weigh, order, page. Pure functions over frozen values."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.rank import estimates, page
else:
    __getattr__ = attach(__name__)
