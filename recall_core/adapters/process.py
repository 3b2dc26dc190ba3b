"""What every program of this project does around its work: signals, a closed pipe, the exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from recall_core.adapters.streams import Streams, standard


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM.

    A class of its own, because CPython remembers a plain KeyboardInterrupt that passed through eval(), as it does
    while a named tuple is being defined, and then ends the process by SIGINT although it was handled.
    """


def run(work: Callable[[Streams], int]) -> int:
    """The exit code of a whole program; SIGTERM stops as cleanly as Ctrl-C, a closed pipe silently."""
    gc.set_threshold(100_000)  # while modules are imported there is no garbage, and looking for it costs 6 ms
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = work(standard())
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more at exit; it must find something that takes the bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped
