"""Completion data of a store, and its lookups."""

from __future__ import annotations

from recall_core.rql.ast import Field
from recall_core.rql.complete import KnownValue
from recall_tui.state.records import KnownNames, Lookup, LookupResult

TAG = Field("doc", "tag")
KNOWN = (KnownValue("docs", 5), KnownValue("draft", 2), KnownValue("news", 1))


def test_missing_lookups_are_recorded() -> None:
    lexicon = KnownNames({})

    assert lexicon.values(TAG, "d") == ()
    assert lexicon.keys("") == ()
    assert lexicon.missing == [Lookup(TAG, "d"), Lookup(None, "")]


def test_complete_list_answers_every_longer_prefix() -> None:
    lexicon = KnownNames({Lookup(TAG, ""): LookupResult(KNOWN, is_whole=True)})

    assert lexicon.values(TAG, "d") == KNOWN[:2]
    assert lexicon.values(TAG, "x") == ()
    assert lexicon.missing == []


def test_truncated_list_answers_and_longer_prefix_is_looked_up() -> None:
    lexicon = KnownNames({Lookup(TAG, ""): LookupResult(KNOWN, is_whole=False)})

    assert lexicon.values(TAG, "") == KNOWN
    assert lexicon.missing == []
    assert lexicon.values(TAG, "do") == KNOWN[:1]
    assert lexicon.missing == [Lookup(TAG, "do")]


def test_booleans_and_numbers_are_found_by_their_spelling() -> None:
    field = Field("doc", "meta", "draft")
    known = (KnownValue(True, 2), KnownValue(12, 1))
    lexicon = KnownNames({Lookup(field, ""): LookupResult(known, is_whole=True)})

    assert lexicon.values(field, "tr") == known[:1]
    assert lexicon.values(field, "1") == known[1:]
