"""The `recall` command: parse, run one command, print its answer or its error, return the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from recall_core import adapters
from recall_core._lazy import traceback
from recall_core._version import __version__
from recall_core.adapters import plain
from recall_core.adapters.streams import OutputLost, Streams, for_data
from recall_core.errors import Interrupted, RecallError, RqlError, why_unread
from recall_core.text import harmless
from recall_core.views import failure

if TYPE_CHECKING:
    from recall_core.adapters.flags import Command, Opener
    from recall_core.adapters.plain import Request


def main(argv: Sequence[str], *, streams: Streams, opener: Opener | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code.

    opener: how a command gets its store, by the --store value; by default each opens and closes its own.
    A BrokenPipeError is the caller's to handle: nobody reads stdout any more.
    """
    return guarded(lambda: _run(argv, streams, opener), streams=streams, as_json=plain.wants_json(argv))


def guarded(run: Callable[[], int], *, streams: Streams, as_json: bool = False) -> int:
    """The exit code of `run`, with every failure told to the user instead of raised."""
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
        return _fail(RecallError("io_error", _io(error)), streams, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the outermost frame: a defect is one line, not a page
        return _fail(_defect(error, streams), streams, as_json=as_json)
    return code


def _io(error: OSError) -> str:
    return f"{error.filename}: {why_unread(error)}." if error.filename else f"{why_unread(error)}.".capitalize()


def _run(argv: Sequence[str], streams: Streams, opener: Opener | None) -> int:
    request = plain.parse(argv)
    if request is None:
        request = _parsed(argv)
    if request.version:
        streams.stdout.write(f"recall {__version__}\n")
        return 0
    if request.command is None:
        streams.stdout.write(_help(None))
        return 0
    if request.help:
        streams.stdout.write(_help(request.command))
        return 0

    return adapters.commands.run(request, streams=streams, opener=opener)


def _parsed(argv: Sequence[str]) -> Request:

    return adapters.parser.parse(argv)


def _help(command: Command | None) -> str:

    if command is None:
        return adapters.parser.top_help(__version__)
    return adapters.parser.command_parser(command, operands=True).format_help()


def _defect(error: Exception, streams: Streams) -> RecallError:
    if os.environ.get("RECALL_DEBUG"):
        streams.stderr.write(harmless("".join(traceback.format_exception(error))))
    text = f"Unexpected {type(error).__name__}: {error}"
    return RecallError("internal_error", text, hint="run it again with RECALL_DEBUG=1 for the traceback")


def _fail(error: RecallError, streams: Streams, *, as_json: bool) -> int:
    if as_json and not isinstance(error, OutputLost) and _is_answered(error, streams):
        return error.exit_code
    streams.say(error.message if isinstance(error, Interrupted) else f"error: {error.message}")
    if isinstance(error, RqlError):
        for line in error.caret().splitlines():
            streams.say(f"  {line}")
    if error.hint:
        streams.say(f"hint: {error.hint}")
    return error.exit_code


def _is_answered(error: RecallError, streams: Streams) -> bool:
    """Whether the error could be told on stdout."""

    with suppress(OutputLost):
        for_data(streams.stdout).write(adapters.render.json_line(failure(error)))
        streams.stdout.flush()
        return True
    return False
