"""Hints and commands that can be pasted into any POSIX shell.

A hint is an action of Recall with its arguments, named like the settings and library methods. This module translates
the names to flags.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import recall_core

_EXPANDED = frozenset('"$`\\!')
"""Characters that double quotes do not protect. `!` is special in the history of interactive shells."""

_IN_ONE_MODE = {"lexical": "bm25", "semantic": "vector"}
"""Modes with their own flag."""

Option: TypeAlias = str | int | tuple[str, ...] | None
"""The value of an option. True and False turn a switch on and off. A tuple repeats the flag. None omits it."""
Options: TypeAlias = Mapping[str, Option]


class Verbatim(str):
    """A word that is not quoted again."""

    __slots__ = ()


REST = Verbatim("…")
"""Placeholder for the other arguments of a command."""
AGAIN = "again"
"""The action that failed, to run again with the options of the hint."""
INSTALL = "install"
"""The action that installs packages. It is not a Recall command."""


class Hint(str):
    """An action and its arguments. As a string, it is the command line to type.

    words: positional arguments.
    options: options by name. Other interfaces, such as MCP, use these fields instead of the string.

    >>> str(Hint("add", "my notes", parser="text")), str(Hint("search", REST, mode="lexical")), str(Hint(AGAIN, k=10))
    ("recall add 'my notes' --parser text", 'recall search --bm25 …', '--k 10')
    """

    __slots__ = ("action", "options", "words")

    action: str
    words: tuple[str, ...]
    options: tuple[tuple[str, Option], ...]

    def __new__(cls, action: str, /, *words: str, **options: Option) -> Hint:
        """Return the hint."""
        hint = super().__new__(cls, _line(action, words, options))
        hint.action, hint.words, hint.options = action, words, tuple(options.items())
        return hint

    def about(self, words: Iterable[str]) -> Hint:
        """Return the hint with these words."""
        return Hint(self.action, *words, **dict(self.options))

    def __getnewargs_ex__(self) -> tuple[tuple[str, ...], dict[str, Option]]:
        """Return the arguments for pickle and copy."""
        return (self.action, *self.words), dict(self.options)


def install_extra(extra: str, **options: Option) -> Hint:
    """Return the hint that installs the packages of an extra."""
    return Hint(INSTALL, *recall_core.installing.requirements(extra), **options)


def flag(name: str) -> str:
    """Return the flag of an option."""
    return f"--{name.replace('_', '-')}"


def _line(action: str, words: Iterable[str], options: Options) -> str:
    """Return the command line: words, flags, REST. If a word looks like a flag, all words follow `--`."""
    rest = [word for word in words if _is_rest(word)]
    named = [word for word in words if not _is_rest(word)]
    flags = [word for name, value in options.items() if name != "store" for word in _option(name, value)]
    if action == INSTALL:
        switches = {name: bool(value) for name, value in options.items()}
        return join([*recall_core.installing.command(**switches), *named])
    is_flagged = any(
        _is_like_flag(word) if action == "query" else word.startswith("-") and word != "-" for word in named
    )
    ordered = [*flags, "--", *named] if is_flagged else [*named, *flags]
    if action == AGAIN:
        return join([*ordered, *rest])
    store = _option("store", options.get("store"))
    return join(["recall", *store, *action.split(), *ordered, *rest])


def _is_like_flag(word: str) -> bool:
    """Return True if the word looks like a flag. Dashes with a space start an RQL comment instead."""
    return word.startswith("-") and " " not in word.partition("=")[0]


def _is_rest(word: str) -> bool:
    return word == REST and isinstance(word, Verbatim)


def _option(name: str, value: Option) -> list[str]:
    """Return the words of an option."""
    if name == "mode":
        return [flag(_IN_ONE_MODE[str(value)])] if value in _IN_ONE_MODE else []
    if value is None or isinstance(value, bool):
        return [] if value is None else [flag(name if value else f"no_{name}")]
    if isinstance(value, str | int):
        word = value if isinstance(value, str) else str(value)
        return [f"{flag(name)}={word}"] if _is_like_flag(word) else [flag(name), word]
    return [word for each in value for word in _option(name, each)]


def quote(word: str) -> str:
    """Quote a word for a shell. RQL goes in double quotes, because it contains single quotes."""
    if isinstance(word, Verbatim):
        return word
    if "'" in word and _EXPANDED.isdisjoint(word):
        return f'"{word}"'
    return shlex.quote(word)


def join(words: Iterable[str]) -> str:
    """Return a command line of these words. `shlex.split` reverses it."""
    return " ".join(map(quote, words))


def in_store(line: str, store: str | None, *, agent: str | None = None) -> str:
    """Add --store or --agent to a Recall command, if one is given."""
    named = _option("store", store) or _option("agent", agent)
    return join(["recall", *named]) + line.removeprefix("recall") if named else line


def operator(line: str) -> str:
    """Return the first unquoted pipe, redirection or separator at the start of a word, or "".

    Without a shell it would be an ordinary word, which is not what the user means.
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
