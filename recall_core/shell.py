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


def in_store(line: str, store: str | None) -> str:
    """A command of Recall that names its store, where one was named."""
    return line if store is None else join(["recall", "--store", store]) + line.removeprefix("recall")


def operator(line: str) -> str:
    """The first pipe, redirection or separator of a line that stands unquoted at the start of a word; "" without one.

    A line that is no shell's takes it for a word like any other, and whoever typed it meant something else.
    """
    marks, quoted, before = iter(line), "", " "
    for mark in marks:
        if mark == "\\" and quoted != "'":
            next(marks, None)
        elif mark == quoted:
            quoted = ""
        elif not quoted and mark in "'\"":
            quoted = mark
        elif not quoted and mark in "|<>;&" and before.isspace():
            return mark
        before = mark
    return ""
