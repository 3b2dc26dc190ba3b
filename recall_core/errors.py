"""The error tree: every deliberate failure is a RecallError with a stable code, a plain sentence and a hint.

RecallError                exit
├── UsageError                2   a flag, an argument or a setting is wrong
│   ├── ConfigError           2   recall.toml
│   └── RqlError              2   a query or a filter, with line, column and span
├── StoreError                1   the file: missing, read-only, full, newer
│   ├── StoreLocked           5   another process is writing
│   └── StoreCorrupt          6   the file is damaged
├── IngestError               1   a named file that cannot be read
├── EmbedError                1   an embedder that is missing, fails or returns nonsense
├── StaleError                3   --strict-fresh and a file has changed
├── SnapshotMismatch          4   --snapshot and the store has changed
├── Outdated                  4   the store no longer has what an answer found
├── UnknownTarget             8   an id or a path that the store does not hold
├── TimedOut                  1   --timeout, and there is no answer yet
├── Busy                      1   a server has as many questions waiting as it takes
└── Interrupted             130   Ctrl-C
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

_LONGEST = 4_000
"""Characters of a message: what a refusal repeats has no bound of its own."""
_LONGEST_LINE = 160
"""Characters of a query's line that are shown around a mistake."""
_SECRETS = re.compile(
    r"(?i)((?<=://)[^\s/?#:@]*:|(?<![a-z])(?:pass(?:word|wd|phrase)?|pwd)=)((?<=:)\S*(?=@)|(?<==)(?:'[^']*'?|[^\s&;]*))"
)


class RecallError(Exception):
    """A failure that a person can act on.

    code: stable, lower_snake_case, listed in docs/errors.md.  hint: something that can be typed, or None; a
    `shell.Hint` where it is an action of Recall.
    details: machine-readable context for the JSON contract, or None.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, *, hint: str | None = None, details: object = None) -> None:
        message = _clip(message)
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint if hint is None or _clip(hint) == hint else _clip(hint)
        self.details = details


def _clip(text: str) -> str:
    """The text of at most `_LONGEST` characters in valid Unicode, without the password of a URL."""
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    text = text.encode("utf-8", "backslashreplace").decode()
    return _SECRETS.sub(r"\1…", text)


class UsageError(RecallError):
    """The command line, a setting or an argument is wrong; nothing was executed."""

    exit_code = 2


class ConfigError(UsageError):
    """recall.toml cannot be used as it stands."""


class RqlError(UsageError):
    """A query or filter that cannot be understood.

    text: the whole source.  start, end: the offending span in code points (end exclusive, start == end at the
    end of input).  line and column count from 1.  expected: what would have been accepted there, or None.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        text: str,
        start: int,
        end: int,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.expected = expected
        self.line = text.count("\n", 0, start) + 1
        self.column = start - (text.rfind("\n", 0, start) + 1) + 1
        details = {"line": self.line, "column": self.column, "span": [start, end], "expected": expected}
        super().__init__(code, message, hint=hint, details=details)

    def caret(self) -> str:
        """The offending line with carets under the span, and what was expected there."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.start)
        last = len(self.text) if last < 0 else last
        if last - first > _LONGEST_LINE:
            first = max(first, self.start - _LONGEST_LINE // 2)
            last = min(last, first + _LONGEST_LINE)
        width = max(1, min(self.end, last) - self.start)
        wanted = f"  expected {self.expected}" if self.expected else ""
        line = self.text[first:last]
        shown = "".join(mark if mark.isprintable() else " " if mark == "\t" else "?" for mark in line)
        return f"{shown}\n{' ' * (self.start - first)}{'^' * width}{wanted}"


class StoreError(RecallError):
    """The database file cannot be used for this."""


NO_STORE = frozenset(("no_store", "no_settings"))
"""Codes of a folder that names no store: what needs none goes on there."""


class StoreLocked(StoreError):
    """Another process holds the write lock for longer than we wait."""

    exit_code = 5


class StoreCorrupt(StoreError):
    """The database file is damaged, or is not a Recall store."""

    exit_code = 6


class IngestError(RecallError):
    """A file named by the caller cannot become a document; nothing of that call was written."""


class EmbedError(RecallError):
    """An embedder is unavailable, failed, or returned vectors that cannot be stored."""


class StaleError(RecallError):
    """A returned document no longer matches its file and the caller asked for fresh answers only."""

    exit_code = 3


class SnapshotMismatch(RecallError):
    """The store's digest is not the one the caller asserted."""

    exit_code = 4


class Outdated(RecallError):
    """The store no longer has what an answer found in it; the question has to be asked again."""

    exit_code = 4


class UnknownTarget(RecallError):
    """No live document or chunk answers to this id, prefix or path."""

    exit_code = 8


class TimedOut(RecallError):
    """The time that a question was given is over; it has no answer, and nothing was written for it."""


class Busy(RecallError):
    """A server takes no more questions for now; details.retry_after_seconds says when it may."""


class Interrupted(RecallError):
    """The user pressed Ctrl-C; whatever was committed stays."""

    exit_code = 130


def expect_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raises UsageError `bad_value` with the choices where the value is none of them. name: of what has the value."""
    if value not in (known := tuple(choices)):
        raise UsageError("bad_value", f"{name} cannot be {value!r}.", hint=f"one of: {', '.join(known)}")


def why_unread(error: OSError | ValueError) -> str:
    """Why a file could not be read or written, in words that follow a colon and end without a full stop."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start})"
    if isinstance(error, ValueError):
        return "no file can have this name"
    return error.strerror[:1].lower() + error.strerror[1:] if error.strerror else str(error)
