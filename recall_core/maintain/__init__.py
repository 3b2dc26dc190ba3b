"""Maintenance of a store: check, repair, compact, back up, export and import."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.maintain import copies, doctor, embedders, receipts, rechunk, remove, transfer
else:
    __getattr__ = attach(__name__)
