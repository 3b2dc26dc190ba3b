"""Words as stores had them before words had names. Frozen: such stores answer by them until they are indexed again.

Each character of a script without blanks between words is a word. Nothing is folded but what FTS5 folds.
"""

from __future__ import annotations

import re
from functools import cache

from recall_core.text import SPACELESS
from recall_core.words.analyzer import Analyzer
from recall_core.words.form import Ends, MappedForm


class OldAnalyzer(Analyzer):
    """The words of stores without a name for them."""

    version = name = ""

    def form(self, text: str, *, ends: Ends = "all") -> str:
        """Put spaces around every character of a script without blanks between words."""
        return text if text.isascii() else _character().sub(r" \g<0> ", text)

    def _mapped(self, text: str) -> MappedForm:
        places = [
            at for at, letter in enumerate(text) for _ in range(3 if _character().match(letter) else 1)
        ]  # an added blank belongs to its character
        return MappedForm(self.form(text), places, [at + 1 for at in places])


@cache
def _character() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]")
