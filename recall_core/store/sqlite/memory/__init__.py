"""Data that a process keeps in memory when it queries a store again: keys, vectors, postings, filters, as arrays."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.store.sqlite.memory import snapshot
else:
    __getattr__ = attach(__name__)
