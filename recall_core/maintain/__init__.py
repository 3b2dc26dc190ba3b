"""The care of a store: is it sound, can it be smaller, how does it travel."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.maintain import copies, doctor, embedders, receipts, rechunk, remove, transfer
else:
    __getattr__ = attach(__name__)
