"""Where documents live: the seam to a store (`port`, `values`), and a folder for each kind of store behind it."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.store import signatures, values
else:
    __getattr__ = attach(__name__)
