"""Where a command reads and writes: stdout is data, stderr is talk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO, cast

import recall_core
from recall_core import adapters
from recall_core.errors import RecallError, StoreError, why_unread
from recall_core.named import NamedTuple
from recall_core.text import harmless, harmless_json, one_line

_IN_ASCII = str.maketrans({"✓": "+", "✗": "x", "·": "-", "…": "...", "Σ": "sum"})

_NARROW = 60
"""Columns of the narrowest terminal; a letter takes no more of them than it has bytes."""


def _never() -> bool:
    return False


class OutputLost(RecallError):
    """stdout takes nothing any more."""


class Streams(NamedTuple):
    """The three streams of one command, and whether somebody wants it to end who has no Ctrl-C for it."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    is_ending: Callable[[], bool] = _never
    may_wait: bool = True
    """False where nobody could end a read that waits for ever."""

    def say(self, line: str) -> None:
        """Write one line of talk, whatever names are in it; it is left out if nobody reads it."""
        try:
            self.stderr.write(one_line(line) + "\n")
        except OSError:
            discard(self.stderr)

    def say_in_parts(self, line: str) -> None:
        """Do the same; if a terminal is too narrow for the line, in several that end at its dots."""
        parts = line.split(" · ")
        if len(parts) == 1 or len(line.encode()) <= _NARROW or not self.stderr.isatty():
            self.say(line)
            return

        for part in adapters.terminal.join_with_dots(parts, adapters.terminal.width_of(self.stderr), indent=0):
            self.say(part)


class Out:
    """stdout, whose failures are OutputLost, once; a closed pipe stays a BrokenPipeError."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text."""
        with self._failures_lost():
            return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines, each with the end that it has."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hand on what is buffered."""
        with self._failures_lost():
            self._stream.flush()

    @contextmanager
    def _failures_lost(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            discard(self._stream)
            raise OutputLost("io_error", f"stdout: {why_unread(error)}.") from error


def discard(stream: TextIO) -> None:
    """Send to nowhere what the stream still holds, and all that comes after it."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def encode_for(text: str, stream: TextIO, *, raw: bool = False) -> str:
    """Return the text as the stream takes it: marks in ASCII if the encoding has no others, harmless on a terminal.

    raw: byte for byte on a terminal too.
    """
    if stream.isatty() and not raw:
        text = harmless(text)
    if text.isascii():
        return text
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate(_IN_ASCII)
    return text


class TerminalLines:
    """A terminal's stdout for data in lines, whose controls are escaped as JSON escapes them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text."""
        return self._stream.write(harmless_json(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines, each with the end that it has."""
        for line in lines:
            self.write(line)


def for_data(stream: TextIO) -> TextIO:
    """Return the stream for lines of data: byte for byte, but on a terminal."""
    return cast("TextIO", TerminalLines(stream)) if stream.isatty() else stream


def standard() -> Streams:
    """Return the process's own streams, in UTF-8 whatever the locale says.

    A lone surrogate (a file name that is not UTF-8) is written as `\\udcXX`, which JSON reads back as itself. In the
    place of one that was closed is one that fails as it would: no file that is opened later gets its number.
    """
    sys.stdin = sys.stdin or _open_failing("r", os.O_WRONLY)
    sys.stdout = sys.stdout or _open_failing("w", os.O_RDONLY)
    sys.stderr = sys.stderr or _open_failing("w", os.O_WRONLY)  # talk that nobody wants is no failure
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8")
    return Streams(sys.stdin, cast("TextIO", Out(sys.stdout)), sys.stderr)


def _open_failing(mode: str, access: int) -> TextIO:
    return os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8")  # type: ignore[return-value]


@contextmanager
def replacing(
    target: Path, *, hint: str, is_private: bool = False, mode: int | None = None, store: str = ""
) -> Iterator[TextIO]:
    """Return a stream whose text takes the target's place when the block ends well; see `files.replacing`.

    store: the path of the store that is copied, which remembers the target's folder meanwhile.
    Raises RecallError `out_unwritable` with the hint.
    """
    try:
        with (
            recall_core.files.remembering(store, target),
            recall_core.files.replacing(target, mode=mode, is_private=is_private) as out,
            TextIOWrapper(out, encoding="utf-8", newline="\n") as text,
        ):
            yield text
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}."
        raise RecallError("out_unwritable", message, hint=hint) from error


def expect_new(target: Path, *, hint: str) -> None:
    """Raise RecallError `receipt_exists` where anything has that name."""
    if os.path.lexists(target):
        raise RecallError("receipt_exists", f"{target} exists already.", hint=hint)


def write_new(target: Path, text: str, *, hint: str) -> None:
    """Write a file that was not there, for its owner alone; whoever looks for it finds all of it or nothing.

    Raises RecallError `receipt_exists`, `out_unwritable` with the hint.
    """
    try:
        recall_core.files.write_new(target, text.encode())
    except FileExistsError:
        expect_new(target, hint=hint)
        raise
    except OSError as error:
        message = f"{target} cannot be written: {why_unread(error)}."
        raise RecallError("out_unwritable", message, hint=hint) from error


def expect_source(source: Path) -> None:
    """Raise StoreError `import_unreadable` unless it is a file that can be read to its end."""
    try:
        recall_core.paths.expect_file(source)
    except OSError as error:
        message = f"{source} cannot be read: {why_unread(error)}."
        raise StoreError("import_unreadable", message, hint=f"ls -l {source}") from error
