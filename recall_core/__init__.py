"""Recall: a local-first hybrid search database for documents, in one SQLite file."""

from __future__ import annotations

from importlib import import_module

from recall_core._lazy import attach
from recall_core._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core import files, installing, model_tokens, parts
    from recall_core.api.recall import Recall
    from recall_core.errors import RecallError
    from recall_core.retrieve.asking import Ask, Pack

__all__ = ["Ask", "Pack", "Recall", "RecallError", "__version__"]

_HOMES = {
    "Ask": "recall_core.retrieve.asking",
    "Pack": "recall_core.retrieve.asking",
    "Recall": "recall_core.api.recall",
    "RecallError": "recall_core.errors",
}
"""The module of each name, which is imported when the name is first used."""
_module = attach(__name__)


def __getattr__(name: str) -> object:
    return getattr(import_module(_HOMES[name]), name) if name in _HOMES else _module(name)
