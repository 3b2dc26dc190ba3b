"""The line behind `:`: what it means, what may follow, and which question it asks. Pure, and without a screen."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from recall_core.adapters import parser
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import GLOBALS, Command
from recall_core.errors import UsageError
from recall_tui.state.events import Ran

VERBS = {
    "q": "quit the workbench",
    "quit": "quit the workbench",
    "theme": "apply a theme",
    "tab": "open a tab of queries; tab N goes to one, tab close closes the current one",
    "help": "show the keys",
}
"""What the line does beside the commands of `recall`."""
QUESTIONS = ("search", "query", "context", "explain", "trace")
"""Commands whose question the editor can take up."""


class Verb(NamedTuple):
    """Something for the workbench itself."""

    name: str
    words: tuple[str, ...]


class Taken(NamedTuple):
    """A question that a line asks: the text for the editor, and the filter beside it."""

    text: str
    filter: str


class Output(NamedTuple):
    """What stands above the line: the command under way, or what the last one did."""

    running: str = ""
    ran: Ran | None = None


class Offered(NamedTuple):
    """How a line may go on. line: completed as far as all agree; choices: what its last word may become."""

    line: str
    choices: tuple[str, ...]


def lines_of(text: str) -> tuple[str, ...]:
    """Return the command lines of a text, without prompts; a line break in quotes is part of one."""
    lines: list[str] = []
    begun = ""
    for piece in text.split("\n"):
        begun = f"{begun}\n{piece}" if begun else piece
        try:
            shlex.split(begun)
        except ValueError:
            continue  # a quote is open
        lines.append(begun)
        begun = ""
    return tuple(filter(None, map(without_prompt, (*lines, begun))))


def without_prompt(line: str) -> str:
    """Return the line as it is meant where it was pasted as a shell takes it, or with the prompt that `Y` shows."""
    words = line.strip().removeprefix("$ ").lstrip()
    return words.removeprefix("recall").lstrip() if words.split(" ", 1)[0] == "recall" else words


def verb(line: str) -> Verb | None:
    """Return what the line asks of the workbench itself; None where it is a command of `recall`."""
    words = line.split()
    return Verb(words[0], tuple(words[1:])) if words and words[0] in VERBS else None


def question(line: str) -> Taken | None:
    """Return the question of a line, for the editor; None where it has none. Raises UsageError."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError("bad_value", f"The line cannot be split into words: {error}.") from error
    request = parser.parse(words)
    if request.command is None or request.command.name not in QUESTIONS:
        return None
    flags = vars(request.flags)
    text = flags.get("rql") or " ".join(request.words)
    return Taken(text, flags.get("filter") or "") if text and text[0] not in "@" and text != "-" else None


def complete(line: str, themes: Sequence[str]) -> Offered:
    """Return the line with its last word completed as far as there is no choice, and the choices that are left."""
    before, _, last = line.rpartition(" ")
    choices = tuple(choice for choice in _candidates(before.split(), last, themes) if choice.startswith(last))
    if not choices:
        return Offered(line, ())
    grown = _common_start(choices) + (" " if len(choices) == 1 else "")
    return Offered(f"{before} {grown}" if before else grown, choices if len(choices) > 1 else ())


def _common_start(words: Sequence[str]) -> str:
    """Return what all of them begin with."""
    first, last = min(words), max(words)
    agreed = next((place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first[:agreed]


def _candidates(words: list[str], last: str, themes: Sequence[str]) -> list[str]:
    if not words:
        return [*BY_NAME, *VERBS]
    if words[0] in ("theme", "tab"):
        return list(themes) if words[0] == "theme" else ["close"]
    command = next((BY_NAME[word] for word in words if word in BY_NAME), None)
    if command is None:
        return list(BY_NAME)
    flags = (*command.flags, *GLOBALS)
    asked = next((flag for flag in flags if flag.name == words[-1] and flag.metavar), None)
    if asked is not None:
        return list(asked.choices)
    if last.startswith("-"):
        return sorted(flag.name for flag in flags)
    return _operands(command, words)


def _operands(command: Command, words: list[str]) -> list[str]:
    operand = command.operand
    if operand is None or words[-1] != command.name:
        return []
    return [*operand.choices, *operand.actions]
