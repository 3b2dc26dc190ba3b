"""What a process keeps in memory of a store that it asks again: keys, vectors, postings, filters, as arrays."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.store.sqlite.memory import shared
else:
    __getattr__ = attach(__name__)
