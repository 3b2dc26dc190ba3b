"""The first and the last moments of a process: Ctrl-C and SIGTERM while it imports itself, and its end."""

from __future__ import annotations

import atexit
import gc
import os
import signal  # and nothing that is not loaded already: until this is imported, Ctrl-C is a traceback
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def begin() -> None:
    """Prepare the process before anything else is imported."""
    gc.set_threshold(100_000)  # while modules are imported there is no garbage, and looking for it costs 6 ms
    end_quietly()


def end_quietly() -> None:
    """Let both signals end the process with one line and exit code 130. `cli.run_process` stops work otherwise."""
    signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: object) -> None:
    try:
        if sys.stderr is not None:  # 2 may be the number of another file otherwise
            os.write(2, b"Interrupted.\n")
    finally:
        os._exit(130)


def is_told(text: str) -> bool:
    """Write a text in ASCII to stdout. Return False if that failed: the caller writes it again to report why."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):  # stdout was closed, or nothing fits into it
        return False
    return True


def leave(code: int) -> NoReturn:
    """End the process, whose streams are flushed: taking every module apart first is a sixth of a cold search.

    Threads that must end by themselves are waited for, and what was registered for the end is run.
    """
    if "threading" in sys.modules:
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)
