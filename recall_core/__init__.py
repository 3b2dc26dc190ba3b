"""Recall: a local-first hybrid search database for documents, in one SQLite file."""

from __future__ import annotations

TYPE_CHECKING = (
    False  # as type checkers know it: importing `typing` for it would double what `recall --version` takes
)
if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.errors import RecallError
    from recall_core.retrieve.asking import Ask, Pack

__all__ = ["Ask", "Pack", "Recall", "RecallError", "__version__"]
__version__ = "0.1.0"

_ROOMS = {
    "Ask": "recall_core.retrieve.asking",
    "Pack": "recall_core.retrieve.asking",
    "Recall": "recall_core.api.recall",
    "RecallError": "recall_core.errors",
}
"""Where each name is looked up once it is asked for: whoever wants one module of this package loads no other."""


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - most processes never look here

    return getattr(import_module(_ROOMS[name]), name)
