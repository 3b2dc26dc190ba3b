"""Start and end of a process: signals during imports, and a fast exit."""

from __future__ import annotations

import atexit
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:  # until the handlers are set, Ctrl-C prints a traceback, and `signal` imports enum, which takes 3 ms
    import _signal as signal


def begin() -> None:
    """Prepare the process before other modules are imported."""
    gc.set_threshold(100_000)  # imports make no garbage; collecting during them takes 6 ms
    end_quietly()


def end_quietly() -> None:
    """Make SIGINT and SIGTERM print one line and exit with 130. `cli.run_process` later installs its own handlers."""
    signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: object) -> None:
    try:
        if sys.stderr is not None:  # if stderr is closed, file number 2 may be another file
            os.write(2, b"Interrupted.\n")
    finally:
        os._exit(130)


def write_ascii(text: str) -> bool:
    """Write ASCII text to stdout. Return False on failure; the caller then writes it again to report the error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # stdout is closed or full
        return False
    return True


def leave(code: int) -> NoReturn:
    """Exit without tearing down modules, which takes a sixth of a cold search. The streams must be flushed.

    Waits for non-daemon threads and runs atexit handlers.
    """
    if "threading" in sys.modules:
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)
