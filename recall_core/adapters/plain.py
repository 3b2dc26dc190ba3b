"""A command line that is written plainly, understood without argparse, which takes much longer to import.

Plainly means: the command comes first, each flag is whole and given once, and nothing is wrong. Any other line is for
`parser.parse`, which knows what is meant, or what to type instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from recall_core.adapters.flags import GLOBALS, LARGEST
from recall_core.adapters.menu import BY_NAME
from recall_core.named import NamedTuple

if TYPE_CHECKING:
    from recall_core.adapters.flags import Command, Flag


class Request(NamedTuple):
    """One parsed command line. command: None when only help or the version was asked for."""

    command: Command | None
    words: tuple[str, ...]
    """The operands, in order."""
    flags: Any
    """One attribute a flag, by its key; a flag that was not given is None, False or ()."""
    store: str | None
    json: bool
    help: bool = False
    version: bool = False


class _NotPlainError(Exception):
    """The line is for argparse."""


def wants_json(argv: Sequence[str]) -> bool:
    """True when --json stands among the flags, so that even a wrong command line can be answered in JSON."""
    flags = argv[: list(argv).index("--")] if "--" in argv else argv
    return "--json" in flags


def parse(argv: Sequence[str]) -> Request | None:
    """The request in argv (without the program's name), as `parser.parse` gives it; None where that has to say."""
    command = BY_NAME.get(argv[0]) if argv else None
    if command is None:
        return None
    try:
        words, given = _read(command, argv[1:])
    except _NotPlainError:
        return None
    if not _is_operand(command, words) or given["help"]:
        return None
    return Request(command, words, SimpleNamespace(**given), given["store"], given["json"])


def _read(command: Command, argv: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The words, and the value of each flag by its key."""
    flags = {name: flag for flag in (*command.flags, *GLOBALS) for name in flag.names}
    given: dict[str, Any] = {flag.key: None if flag.metavar else False for flag in flags.values()}
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise _NotPlainError
        if not word.startswith("-"):
            words.append(word)
            continue
        name, equals, text = word.partition("=")
        if name not in flags or (equals and not (flags[name].metavar and name.startswith("--"))):
            raise _NotPlainError
        _take(flags[name], given, text if equals else None, rest)
    return tuple(words), given


def _take(flag: Flag, given: dict[str, Any], text: str | None, rest: Iterator[str]) -> None:
    """Keep a flag's value: what stands behind its `=`, else the next word."""
    if not flag.metavar:
        given[flag.key] = True
        return
    text = next(rest, "") if text is None else text
    if not text or text.startswith("-") or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _NotPlainError
    value = _value(flag, text)
    if flag.many:
        given[flag.key] = [*(given[flag.key] or ()), value]
    elif given[flag.key] is None:
        given[flag.key] = value
    else:
        raise _NotPlainError


def _value(flag: Flag, text: str) -> object:
    if flag.is_seconds or (flag.choices and text not in flag.choices):
        raise _NotPlainError
    if flag.least is None:
        return text
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))
    if not is_number or not flag.least <= int(text) <= LARGEST:
        raise _NotPlainError
    return int(text)


def _is_operand(command: Command, words: Sequence[str]) -> bool:
    """Whether the words are as many, and such, as the command takes."""
    operand = command.operand
    if operand is None:
        return not words
    if len(words) < operand.least or (operand.most is not None and len(words) > operand.most):
        return False
    if operand.actions and words and words[0] not in operand.actions:
        return False
    return not operand.choices or all(word in operand.choices for word in words)
