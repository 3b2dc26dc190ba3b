"""The analyzer of a store, by the name that the store keeps."""

from __future__ import annotations

from functools import cache

from recall_core import words
from recall_core.words.analyzer import Analyzer


@cache
def analyzer_named(name: str) -> Analyzer:
    """Return the analyzer with this name, "" for that of stores that were made before words had names."""
    return Analyzer() if name else words.old.OldAnalyzer()
