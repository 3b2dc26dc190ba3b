"""Hints, and commands as they are typed: what Recall prints to be run can be read, and pasted into any POSIX shell.

A hint says what to do: an action of Recall with its arguments, by the names that the settings and the methods of the
library have. Only here is it known how the command line spells them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import recall_core

_EXPANDED = frozenset('"$`\\!')
"""What double quotes do not protect: from the shell itself, and ! from the history of an interactive one."""

_IN_ONE_MODE = {"lexical": "bm25", "semantic": "vector"}
"""Modes that have a flag of their own."""

Option: TypeAlias = str | int | tuple[str, ...] | None
"""The value of one: True and False turn something on and off, several are given one by one, None is not said."""
Options: TypeAlias = Mapping[str, Option]


class Verbatim(str):
    """A word that stands on the line as it is, in quotes of its own or in none."""

    __slots__ = ()


REST = Verbatim("…")
"""The word for everything else that the command is given."""
AGAIN = "again"
"""The action that has just failed, to be tried again with the options of the hint."""
INSTALL = "install"
"""The action that is not Recall's own: it installs packages beside this Recall."""


class Hint(str):
    """An action and its arguments; as a string, the line to type.

    words: what the action is about.  options: how, by name.  Whoever is no command line spells it from these.

    >>> str(Hint("add", "my notes", parser="text")), str(Hint("search", REST, mode="lexical")), str(Hint(AGAIN, k=10))
    ("recall add 'my notes' --parser text", 'recall search --bm25 …', '--k 10')
    """

    __slots__ = ("action", "options", "words")

    action: str
    words: tuple[str, ...]
    options: tuple[tuple[str, Option], ...]

    def __new__(cls, action: str, /, *words: str, **options: Option) -> Hint:
        """The hint, spelled."""
        hint = super().__new__(cls, _line(action, words, options))
        hint.action, hint.words, hint.options = action, words, tuple(options.items())
        return hint

    def about(self, words: Iterable[str]) -> Hint:
        """The same action with the same options, about these words."""
        return Hint(self.action, *words, **dict(self.options))

    def __getnewargs_ex__(self) -> tuple[tuple[str, ...], dict[str, Option]]:
        """What a copy is made of."""
        return (self.action, *self.words), dict(self.options)


def install_extra(extra: str, **options: Option) -> Hint:
    """What installs the packages that stand behind an extra of the project."""
    return Hint(INSTALL, *recall_core.installing.requirements(extra), **options)


def flag(name: str) -> str:
    """The flag of that option."""
    return f"--{name.replace('_', '-')}"


def _line(action: str, words: Iterable[str], options: Options) -> str:
    """Words before flags, unless one could be taken for a flag itself; the rest of the command is last."""
    rest = [word for word in words if _is_rest(word)]
    named = [word for word in words if not _is_rest(word)]
    flags = [word for name, value in options.items() if name != "store" for word in _option(name, value)]
    if action == INSTALL:
        switches = {name: bool(value) for name, value in options.items()}
        return join([*recall_core.installing.command(**switches), *named])
    is_flagged = any(
        _is_like_flag(word) if action == "query" else word.startswith("-") and word != "-" for word in named
    )
    told = [*flags, "--", *named] if is_flagged else [*named, *flags]
    if action == AGAIN:
        return join([*told, *rest])
    store = _option("store", options.get("store"))
    return join(["recall", *store, *action.split(), *told, *rest])


def _is_like_flag(word: str) -> bool:
    """Whether the word would be taken for a flag; dashes and a space begin a comment of a query."""
    return word.startswith("-") and " " not in word.partition("=")[0]


def _is_rest(word: str) -> bool:
    return word == REST and isinstance(word, Verbatim)


def _option(name: str, value: Option) -> list[str]:
    """The words of one option."""
    if name == "mode":
        return [flag(_IN_ONE_MODE[str(value)])] if value in _IN_ONE_MODE else []
    if value is None or isinstance(value, bool):
        return [] if value is None else [flag(name if value else f"no_{name}")]
    if isinstance(value, str | int):
        word = value if isinstance(value, str) else str(value)
        return [f"{flag(name)}={word}"] if _is_like_flag(word) else [flag(name), word]
    return [word for each in value for word in _option(name, each)]


def quote(word: str) -> str:
    """One word of a command line. A query in RQL stands in double quotes, because it has single ones itself."""
    if isinstance(word, Verbatim):
        return word
    if "'" in word and _EXPANDED.isdisjoint(word):
        return f'"{word}"'
    return shlex.quote(word)


def join(words: Iterable[str]) -> str:
    """A command line of these words; `shlex.split` gives them back."""
    return " ".join(map(quote, words))


def in_store(line: str, store: str | None) -> str:
    """A command of Recall that names its store, where one was named."""
    return line if store is None else join(["recall", flag("store"), store]) + line.removeprefix("recall")


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
