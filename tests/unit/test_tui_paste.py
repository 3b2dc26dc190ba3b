"""A paste is one event with its text in order, even if its bytes are split."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from textual.events import Key, Paste

from recall_tui.terminal import PasteParser

START, END = "\x1b[200~", "\x1b[201~"


def read(*pieces: str) -> str:
    """Return the text of the keys and pastes from these pieces, with a paste in angle brackets."""
    parser = PasteParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return "".join(
        f"<{event.text}>" if isinstance(event, Paste) else str(event.character) if isinstance(event, Key) else "?"
        for event in events
    )


def test_a_paste_with_escapes_keeps_its_order() -> None:
    assert read(f"a{START}one \x1btwo \x1b[31mred\x1b[0m{END}b{START}{END}c") == "a<one two red>b<>c"


@given(st.text(st.characters(exclude_characters="\x1b\x00", codec="utf-8")), st.lists(st.integers(0, 200)))
def test_a_paste_may_be_split_anywhere_after_its_start(text: str, places: list[int]) -> None:
    whole = f"{text}{END}z"
    cuts = sorted({0, *(place for place in places if 0 < place < len(whole)), len(whole)})

    assert read(START, *(whole[start:end] for start, end in pairwise(cuts))) == f"<{text}>z"
