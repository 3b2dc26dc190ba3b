"""Commands as they are typed: what Recall prints to be run again can be read, and pasted into any POSIX shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

_EXPANDED = frozenset('"$`\\!')
"""What double quotes do not protect: from the shell itself, and ! from the history of an interactive one."""


def quote(word: str) -> str:
    """One word of a command line. A query in RQL stands in double quotes, because it has single ones itself."""
    if "'" in word and _EXPANDED.isdisjoint(word):
        return f'"{word}"'
    return shlex.quote(word)


def join(words: Iterable[str]) -> str:
    """A command line of these words; `shlex.split` gives them back."""
    return " ".join(map(quote, words))
