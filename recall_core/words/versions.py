"""The analyzer of a store, by the name that the store keeps."""

from __future__ import annotations

from functools import cache

from recall_core import words
from recall_core.words.analyzer import Analyzer


@cache
def analyzer_named(name: str) -> Analyzer:
    """Return the analyzer with this name, "" for that of stores that were made before words had names."""
    match name:
        case "":
            return words.old.OldAnalyzer()
        case "words-1 de":
            return words.language.German()
        case "words-1 none":
            return words.language.Unstemmed()
        case _:
            return Analyzer()


def words_of(language: str) -> str:
    """Return the name of a language's analyzer. Languages without words of their own have those of English."""
    return f"words-1 {language if language in ('de', 'none') else 'en'}"
