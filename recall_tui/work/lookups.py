"""What completion asks of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.state.events import Learned
from recall_tui.state.lexicon import Entry, Lookup

if TYPE_CHECKING:
    from recall_core.service import Recall


def learned(recall: Recall, lookup: Lookup) -> Learned:
    """The keys or the values that begin so, the most frequent first."""
    from recall_core.store.sqlite.vocabulary import MOST, SqliteVocabulary  # noqa: PLC0415 - only while RQL is typed

    vocabulary = SqliteVocabulary(recall.store.execute)
    field, prefix = lookup
    known = vocabulary.keys(prefix) if field is None else vocabulary.values(field, prefix)
    return Learned(lookup, Entry(tuple(known), len(known) < MOST))
