"""The `recall` command: parse command lines, run them, print answers and errors, return the exit code.

`run_process` handles signals, closed pipes and exit codes for every program of this project.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import recall_core
from recall_core import adapters, paths, shell
from recall_core._lazy import traceback
from recall_core._version import __version__
from recall_core.adapters import commands, starting
from recall_core.adapters.render import json_line
from recall_core.adapters.streams import OutputLost, Streams, discard, for_data, standard
from recall_core.errors import Interrupted, RecallError, RqlError, UsageError, why_unread
from recall_core.text import harmless

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from recall_core.adapters.flags import Opener
    from recall_core.api.recall import Recall


def main(argv: Sequence[str], *, streams: Streams, opener: Opener | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code.

    opener: opens the store for a --store value. By default each command opens and closes its own store.
    Raises BrokenPipeError if stdout is closed.
    """
    return guard_run(lambda: _run(argv, streams, opener), streams=streams, as_json=commands.asks_for_json(argv))


def guard_run(run: Callable[[], int], *, streams: Streams, as_json: bool = False) -> int:
    """Return the exit code of `run`. Print errors instead of raising them."""
    try:
        code = run()
        streams.stdout.flush()
    except RecallError as error:
        return _fail(error, streams, as_json=as_json)
    except KeyboardInterrupt:
        return _fail(Interrupted("interrupted", "Interrupted."), streams, as_json=as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = why_unread(error)
        text = f"{error.filename}: {why}." if error.filename else f"{why}.".capitalize()
        return _fail(RecallError("io_error", text), streams, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the outermost frame: a defect is one line, not a page
        if os.environ.get("RECALL_DEBUG"):
            streams.stderr.write(harmless("".join(traceback.format_exception(error))))
        text = f"Unexpected {type(error).__name__}: {error}"
        defect = RecallError("internal_error", text, hint="run it again with RECALL_DEBUG=1 for the traceback")
        return _fail(defect, streams, as_json=as_json)
    return code


def run_commands(
    command_lines: Sequence[str],
    *,
    store: str | None,
    streams: Streams,
    opening: Callable[[str | None], AbstractContextManager[Recall]] | None = None,
) -> int:
    """Run the command lines in order. Stop at the first failure and return its exit code.

    command_lines: a command line, or @FILE with one per line (# starts a comment). FILE must not be a pipe. All lines
    are read before the first one runs.
    store: the default for lines without --store. A store is opened once for all lines.
    opening: opens a store for a --store value.
    """
    with ExitStack() as stack:
        shared: dict[str | None, Recall] = {}

        def opener(named: str | None) -> AbstractContextManager[Recall]:
            where = named or store
            if where not in shared:
                shared[where] = stack.enter_context((opening or commands.open_store)(where))
            return nullcontext(shared[where])

        lines: list[str] = []
        for command in command_lines:
            lines += _read_lines(Path(command[1:])) if command.startswith("@") else [command]
        for argv in list(filter(None, map(_words, lines))):  # a list: all lines are read before the first runs
            code = main(argv, streams=streams, opener=opener)
            if code:
                return code
            if "init" in argv:  # the new store may be nearer than the one found in a parent folder
                stack.close()
                shared.clear()
    return 0


def _run(argv: Sequence[str], streams: Streams, opener: Opener | None) -> int:
    request = commands.parse_plain(argv) or adapters.parser.parse(argv)
    if request.version:
        streams.stdout.write(f"recall {__version__}\n")
        return 0
    if request.command is None:
        streams.stdout.write(adapters.parser.top_help(__version__))
        return 0
    if request.help:
        streams.stdout.write(adapters.parser.command_parser(request.command, operands=True).format_help())
        return 0
    return commands.run(request, streams=streams, opener=opener)


def _fail(error: RecallError, streams: Streams, *, as_json: bool) -> int:
    if as_json and not isinstance(error, OutputLost):
        with suppress(OutputLost):
            for_data(streams.stdout).write(json_line(recall_core.views.failure(error)))
            streams.stdout.flush()
            return error.exit_code
    streams.say(error.message if isinstance(error, Interrupted) else f"error: {error.message}")
    if isinstance(error, RqlError):
        for line in error.caret().splitlines():
            streams.say(f"  {line}")
    if error.hint:
        streams.say(f"hint: {error.hint}")
    return error.exit_code


def _read_lines(path: Path) -> list[str]:
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
            "bad_value", f"{operator} needs a shell; this line is a single command.", hint=f"as a word: '{operator}'"
        )
    return words[1:] if words[:1] == ["recall"] else words


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM.

    Not a plain KeyboardInterrupt: CPython remembers one that passed through eval() (defining a named tuple calls it)
    and then ends the process by SIGINT even if it was handled.
    """


def run_process(work: Callable[[Streams], int]) -> int:
    """Run a program and return its exit code. SIGTERM stops it like Ctrl-C, a closed pipe stops it silently."""
    streams = standard()
    try:
        signal.signal(signal.SIGINT, _stop)
        signal.signal(signal.SIGTERM, _stop)
        return work(streams)
    except BrokenPipeError:
        return 0
    except Stopped:  # a second signal while the first is reported
        return Interrupted.exit_code
    finally:
        starting.end_quietly()
        # The interpreter flushes both streams again at exit, which must not fail.
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                discard(stream)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped
