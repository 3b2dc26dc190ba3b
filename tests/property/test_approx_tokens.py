"""The estimate of model tokens, compared with its definition character by character."""

from __future__ import annotations

import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.text import SPACELESS, counter
from tests.examples import examples

PIECES = re.compile(rf"([A-Za-z]+)|([0-9]+)|([{SPACELESS}])|(\w)|([^\w\s])|(\n)")
ODD = "aZ09_ \n\t\r\x0b\x1c\x1f\x85\xa0\u2028\u3000.,-é߀٣中かㄅ、。\u0301\x00\u200b🙂\ud7ff"


def spelled_out(text: str) -> int:
    """Return the summed cost of letters, digits, CJK, other letters, marks and line ends."""
    pieces = 0.0
    for letters, digits, cjk, letter, mark, newline in PIECES.findall(text):
        if letters:
            pieces += 1 + max(0, len(letters) - 2) // 5
        elif digits:
            pieces += -(-len(digits) // 3)
        elif cjk or mark:
            pieces += 1
        elif letter or newline:
            pieces += 0.5
    return int(pieces + 0.5) if pieces >= 1 else int(bool(pieces))


@examples(100)
@given(st.text() | st.text(alphabet=ODD) | st.text(alphabet=st.characters(max_codepoint=127)))
def test_estimate_matches_its_definition(text: str) -> None:
    assert counter("approx").count(text) == spelled_out(text)


def begins_a_range(code: int) -> bool:
    """Return True for a character unlike the one before it, and at both ends of many blocks."""
    return code % 128 in (0, 127) or category(chr(code)) != category(chr(code - 1))


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["ranges", "whole"])
def test_every_character_costs_what_the_definition_says(is_whole: bool) -> None:
    for code in range(0x34000):
        if not 0xD800 <= code <= 0xDFFF and (is_whole or begins_a_range(code)):
            text = f"a{chr(code)}{chr(code)} 1"
            assert counter("approx").count(text) == spelled_out(text), hex(code)
