"""Ctrl-C and SIGTERM while a program still imports itself, when there is nothing yet to stop."""

import os
import signal  # and nothing that is not loaded already: until this is imported, Ctrl-C is a traceback
import sys


def end_quietly() -> None:
    """From here on both end the process, with one line and exit code 130. Work stops otherwise: see `process.run`."""
    signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: object) -> None:
    try:
        if sys.stderr is not None:  # 2 may be the number of another file otherwise
            os.write(2, b"error: Interrupted.\n")
    finally:
        os._exit(130)
