"""Ingest: files become documents and chunks, as a stream of Progress events."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.ingest import discover, metadata, watch
else:
    __getattr__ = attach(__name__)
