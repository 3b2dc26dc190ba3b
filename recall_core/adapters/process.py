"""What every program of this project does around its work: signals, a closed pipe, the exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from recall_core.adapters import starting
from recall_core.adapters.streams import Streams, discard, standard
from recall_core.errors import Interrupted


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM.

    A class of its own, because CPython remembers a plain KeyboardInterrupt that passed through eval(), as it does
    while a named tuple is being defined, and then ends the process by SIGINT although it was handled.
    """


def run(work: Callable[[Streams], int]) -> int:
    """Return the exit code of a whole program; SIGTERM stops as cleanly as Ctrl-C, a closed pipe silently."""
    streams = standard()
    try:
        signal.signal(signal.SIGINT, _stop)
        signal.signal(signal.SIGTERM, _stop)
        return work(streams)
    except BrokenPipeError:
        return 0
    except Stopped:  # once more, while the first was being told
        return Interrupted.exit_code
    finally:
        starting.end_quietly()
        _let_go()


def _let_go() -> None:
    """The interpreter flushes both streams once more at exit; each must find something that takes the bytes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped
