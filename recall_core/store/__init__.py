"""Document storage: the store interface (`port`, `values`) and one folder for each kind of store."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.store import signatures, values
else:
    __getattr__ = attach(__name__)
