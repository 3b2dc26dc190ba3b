"""Twice the page takes about twice the time, as for every first-party parser."""

from __future__ import annotations

import pytest

from recall_man.escapes import words
from recall_man.mdoc import tokens_of
from tests.property import test_scaling as scaling

BOUNDED = {
    "escapes._WORD": "blanks at the end are stripped",
    "mdoc._TOKEN": "blanks at the end are stripped",
}
"""Patterns that are superlinear on texts they never receive; CALLS tests their callers."""

CALLS: dict[str, scaling.Call] = {
    "words of a macro": lambda text: words(text + '"'),
    "tokens of a macro": lambda text: tokens_of(text + '"'),
}
PAGES = scaling.beginnings(".TH A 1\n.SH NAME\n", ".Dd a\n.Dt A 1\n.Sh NAME\n", ".TH A 1\n.TS\n")


@pytest.mark.timeout(900)
def test_every_regex_takes_linear_time() -> None:
    found = scaling.patterns("recall_man")

    assert all(any(f".{name}:" in each for each in found) for name in BOUNDED)
    assert scaling.slow_patterns(found, BOUNDED) == []


@pytest.mark.timeout(900)
def test_pages_take_linear_time() -> None:
    assert scaling.slow_files("man", (("a.1",), PAGES)) == []


@pytest.mark.timeout(900)
def test_words_take_linear_time() -> None:
    assert scaling.slow_calls(CALLS) == []
