"""Command lines run in order in one process, without a terminal: the workbench's headless twin."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import adapters, paths, shell
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.errors import UsageError, why_unread

if TYPE_CHECKING:
    from recall_core.api.recall import Recall


def run_commands(
    commands: Sequence[str],
    *,
    store: str | None,
    streams: Streams,
    opening: Callable[[str | None], AbstractContextManager[Recall]] | None = None,
) -> int:
    """Run the command lines in order, each as `recall` would; stop at the first that fails, with its exit code.

    commands: command lines, or @FILE with one a line (# starts a comment), which is no pipe; all are read before any
    runs.
    store: used where a line names none. A store that several lines use is opened once.
    opening: how one is opened, by the --store value, and closed.
    """
    with ExitStack() as stack:
        shared: dict[str | None, Recall] = {}

        def opener(named: str | None) -> AbstractContextManager[Recall]:

            where = named or store
            if where not in shared:
                shared[where] = stack.enter_context((opening or adapters.commands.open_store)(where))
            return nullcontext(shared[where])

        for argv in _command_lines(commands):
            code = cli.main(argv, streams=streams, opener=opener)
            if code:
                return code
            if "init" in argv:  # a new store may now be nearer than the one that was found upward
                stack.close()
                shared.clear()
    return 0


def _command_lines(commands: Sequence[str]) -> list[list[str]]:
    lines: list[str] = []
    for command in commands:
        lines += _read(Path(command[1:])) if command.startswith("@") else [command]
    return [argv for argv in map(_words, lines) if argv]


def _read(path: Path) -> list[str]:
    try:
        paths.expect_file(path)
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "commands_unreadable", f"{path} cannot be read: {why_unread(error)}.", hint="--cmd @FILE"
        ) from error


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise UsageError(
            "bad_value", f"{line!r} cannot be split into words: {error}.", hint="close the quote"
        ) from error
    if operator := shell.operator(line):
        raise UsageError(
            "bad_value", f"{operator} is for a shell, and this line is one command.", hint=f"as a word: '{operator}'"
        )
    return words[1:] if words[:1] == ["recall"] else words  # as a shell takes it
