"""Input and output of a command: answers go to stdout, messages to stderr."""

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
"""Columns of the narrowest terminal. A character is never wider than its bytes in UTF-8."""


def _never() -> bool:
    return False


class OutputLost(RecallError):
    """Writing to stdout failed."""


class Streams(NamedTuple):
    """The three streams of a command, and how it learns that it must stop without a Ctrl-C."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    is_ending: Callable[[], bool] = _never
    may_wait: bool = True
    """False if the caller cannot interrupt a read that blocks."""
    color: str | None = None
    """auto, always or never; None for the person's setting. In a pipe, `always` draws as on a terminal."""

    def say(self, line: str) -> None:
        """Write one line to stderr, with control characters escaped. Ignore a closed stderr."""
        try:
            self.stderr.write(one_line(line) + "\n")
        except OSError:
            discard(self.stderr)

    def say_in_parts(self, line: str) -> None:
        """Write the line to stderr. On a narrow terminal, break it at ` · `."""
        parts = line.split(" · ")
        if len(parts) == 1 or len(line.encode()) <= _NARROW or not self.stderr.isatty():
            self.say(line)
            return

        for part in adapters.terminal.join_with_dots(parts, adapters.terminal.width_of(self.stderr), indent=0):
            self.say(part)


class Out:
    """stdout. Write errors raise OutputLost once; a closed pipe raises BrokenPipeError."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text."""
        with self._failures_lost():
            return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines unchanged."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the buffer."""
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
    """Redirect the stream to the null device, including what it has buffered."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def encode_for(text: str, stream: TextIO, *, raw: bool = False) -> str:
    """Return the text in a form the stream can show: marks in ASCII if the encoding lacks them, control characters
    escaped on a terminal.

    raw: escape nothing.
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
    """A terminal's stdout for lines of data. Escapes control characters as JSON does."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text."""
        return self._stream.write(harmless_json(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines unchanged."""
        for line in lines:
            self.write(line)


def for_data(stream: TextIO) -> TextIO:
    """Return the stream for lines of data. Only on a terminal are control characters escaped."""
    return cast("TextIO", TerminalLines(stream)) if stream.isatty() else stream


def standard() -> Streams:
    """Return the streams of the process, in UTF-8 regardless of the locale.

    A lone surrogate (from a file name that is not UTF-8) is written as `\\udcXX`, which JSON reads back unchanged. A
    closed stream is replaced by one whose operations fail, so that no file opened later gets its number.
    """
    sys.stdin = sys.stdin or _open_failing("r", os.O_WRONLY)
    sys.stdout = sys.stdout or _open_failing("w", os.O_RDONLY)
    sys.stderr = sys.stderr or _open_failing("w", os.O_WRONLY)  # messages without a reader are dropped
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
    """Yield a stream whose text replaces the target if the block succeeds, see `files.replacing`.

    store: path of the store that is copied. It remembers the target's folder during the copy.
    Raises RecallError `out_unwritable` with this hint.
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
    """Raise RecallError `receipt_exists` if the path exists."""
    if os.path.lexists(target):
        raise RecallError("receipt_exists", f"{target} already exists.", hint=hint)


def write_new(target: Path, text: str, *, hint: str) -> None:
    """Write a new file, readable by its owner only. The file appears when it is complete.

    Raises RecallError `receipt_exists` or `out_unwritable` with this hint.
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
    """Raise StoreError `import_unreadable` unless the source is a readable regular file."""
    try:
        recall_core.paths.expect_file(source)
    except OSError as error:
        message = f"{source} cannot be read: {why_unread(error)}."
        raise StoreError("import_unreadable", message, hint=f"ls -l {source}") from error
