"""What completion knows of a store, and what it asks for."""

from __future__ import annotations

from recall_core.rql.ast import Field
from recall_core.rql.complete import Known
from recall_tui.state.lexicon import Entry, Lexicon, Lookup

TAG = Field("doc", "tag")
KNOWN = (Known("docs", 5), Known("draft", 2), Known("news", 1))


def test_what_was_not_looked_up_is_missing() -> None:
    lexicon = Lexicon({})

    assert lexicon.values(TAG, "d") == ()
    assert lexicon.keys("") == ()
    assert lexicon.missing == [Lookup(TAG, "d"), Lookup(None, "")]


def test_a_whole_list_answers_for_every_longer_prefix() -> None:
    lexicon = Lexicon({Lookup(TAG, ""): Entry(KNOWN, is_whole=True)})

    assert lexicon.values(TAG, "d") == KNOWN[:2]
    assert lexicon.values(TAG, "x") == ()
    assert lexicon.missing == []


def test_a_cut_list_answers_for_now_and_the_rest_is_missing() -> None:
    lexicon = Lexicon({Lookup(TAG, ""): Entry(KNOWN, is_whole=False)})

    assert lexicon.values(TAG, "") == KNOWN
    assert lexicon.missing == []
    assert lexicon.values(TAG, "do") == KNOWN[:1]
    assert lexicon.missing == [Lookup(TAG, "do")]


def test_truths_and_numbers_are_found_by_how_they_are_written() -> None:
    field = Field("doc", "meta", "draft")
    known = (Known(True, 2), Known(12, 1))
    lexicon = Lexicon({Lookup(field, ""): Entry(known, is_whole=True)})

    assert lexicon.values(field, "tr") == known[:1]
    assert lexicon.values(field, "1") == known[1:]
