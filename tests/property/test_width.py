"""Lines fitted into a terminal are never wider, lose nothing, and commands still parse in a shell."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recall_core.adapters.terminal import fit
from recall_core.shell import Hint

WIDTHS = st.sampled_from([40, 60, 80, 100, 120])
WORDS = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=90), min_size=1)
GAPS = st.sampled_from([" ", "  ", "     ", " · "])


@given(WORDS, st.lists(GAPS, min_size=1), st.integers(0, 12), WIDTHS)
def test_no_line_is_too_wide_and_nothing_is_lost(words: list[str], gaps: list[str], indent: int, width: int) -> None:
    line = " " * indent + "".join(word + gaps[place % len(gaps)] for place, word in enumerate(words)).rstrip()

    found = list(fit(line, width))

    assert max(map(cell_len, found)) <= width
    assert "".join("".join(found).split()) == "".join(line.split())
    if cell_len(line) <= width:
        assert found == [line]


@given(
    st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=300),
    st.lists(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=60), max_size=4),
    st.sampled_from(["", "fix   ", "hint: "]),
    WIDTHS,
)
def test_wrapped_command_is_the_same_command(words: str, settings: list[str], label: str, width: int) -> None:
    command = Hint("search", words, set=tuple(settings))

    found = list(fit(label + command, width))

    assert max(map(cell_len, found)) <= width
    pasted = "\n".join([found[0].removeprefix(label), *found[1:]])
    assert shlex.split(pasted.replace("\\\n", "")) == shlex.split(command)
