"""Recall: a local-first hybrid search database for documents, in one SQLite file."""

from __future__ import annotations

from recall_core._lazy import attach
from recall_core._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core import files, installing, model_tokens, personal, plug_ins, views
    from recall_core.api.put import PutDocument
    from recall_core.api.recall import Recall
    from recall_core.errors import RecallError
    from recall_core.retrieve.asking import Ask, Pack
else:
    __getattr__ = attach(
        __name__,
        Ask="retrieve.asking",
        Pack="retrieve.asking",
        PutDocument="api.put",
        Recall="api.recall",
        RecallError="errors",
    )

__all__ = ["Ask", "Pack", "PutDocument", "Recall", "RecallError", "__version__"]
