"""One store with one method a command: the only rooms where everything meets."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.api import (
        changing,
        compare,
        copies,
        filling,
        get,
        kept,
        listing,
        recall,
        receipts,
        replay,
        report,
        roots,
        twins,
        warm,
        whynot,
    )
else:
    __getattr__ = attach(__name__)
