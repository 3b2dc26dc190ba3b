"""Where a command reads and writes: stdout is data, stderr is talk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple, TextIO

_IN_ASCII = str.maketrans({"✓": "+", "✗": "x", "·": "-", "…": "...", "Σ": "sum"})


def _never() -> bool:
    return False


class Streams(NamedTuple):
    """The three streams of one command, and whether somebody wants it to end who has no Ctrl-C for it."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    is_ending: Callable[[], bool] = _never
    may_wait: bool = True
    """False where nobody could end a read that waits for ever."""

    def say(self, line: str) -> None:
        """One line of talk."""
        self.stderr.write(line + "\n")


def shown(text: str, stream: TextIO) -> str:
    """The text with its marks in ASCII, where the stream's encoding has no others."""
    if text.isascii():
        return text
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate(_IN_ASCII)
    return text


def standard() -> Streams:
    """The process's own streams, in UTF-8 whatever the locale says.

    A lone surrogate (a file name that is not UTF-8) is written as `\\udcXX`, which JSON reads back as itself.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8")
    return Streams(sys.stdin, sys.stdout, sys.stderr)
