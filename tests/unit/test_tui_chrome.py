"""The bars around the panes: what they drop if there is no room."""

from __future__ import annotations

from recall_tui.widgets.chrome import abridge, fit_facts, short_name
from recall_tui.widgets.draw import UNICODE

FACTS = [" recall", "notes.db", "37 docs", "hash-1:512"]


def test_facts_that_do_not_fit_are_dropped_from_the_end() -> None:
    assert fit_facts(FACTS, 41, UNICODE) == " recall   notes.db   37 docs   hash-1:512"
    assert fit_facts(FACTS, 38, UNICODE) == " recall  notes.db  37 docs  hash-1:512"
    assert fit_facts(FACTS, 37, UNICODE).rstrip() == " recall   notes.db   37 docs"


def test_the_store_name_is_cut_but_never_dropped() -> None:
    assert fit_facts(FACTS, 15, UNICODE) == " recall  notes…"


def test_a_command_shows_short_ids() -> None:
    whole = "ab" * 32

    assert abridge(f"recall context --pin {whole} 'token\nbudget'", UNICODE) == (
        "recall context --pin abababababab… 'token↵budget'"
    )


def test_an_embedder_has_a_short_name() -> None:
    names = ("local-l2_supercat-1:256", "hash-1:512", "openai:text-embedding-3-small:1536", "minilm-int8-1:384")

    assert [short_name(each) for each in names] == ["local", "hash", "openai", "minilm"]
