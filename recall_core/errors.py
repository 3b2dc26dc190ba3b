"""The error tree. Every deliberate error is a RecallError with a stable code, a message and a hint.

RecallError                exit
├── UsageError                2   a flag, an argument or a setting is wrong
│   ├── ConfigError           2   recall.toml
│   ├── RqlError              2   a query or filter, with line, column and span
│   ├── DimensionMismatch     2   a vector of another size than the store's
│   └── InvalidId             2   a document whose id cannot be stored
├── StoreError                1   the file: missing, read-only, full, newer
│   ├── StoreLocked           5   another process is writing
│   └── StoreCorrupt          6   the file is damaged
├── IngestError               1   a named file that cannot be read
├── EmbedError                1   an embedder that is missing, fails or returns nonsense
│   ├── InvalidResponse       1   its vectors cannot be used
│   ├── RateLimited           1   its provider takes no more requests now
│   ├── Timeout               1   its provider does not answer in time
│   ├── ProviderError         1   its provider refuses, or cannot be used
│   └── Other                 1   it raised an error of its own, which is the cause
├── StaleError                3   --strict-fresh, and a file has changed
├── SnapshotMismatch          4   --snapshot, and the store has changed
├── Outdated                  4   the store no longer contains a hit of an answer
├── UnknownTarget             8   an id or path that is not in the store
├── TimedOut                  1   --timeout expired
├── Busy                      1   the queue of a server is full
└── Interrupted             130   Ctrl-C
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Iterable
from typing import ClassVar

_LONGEST = 4_000
"""Most characters of a message. Quoted input has no limit of its own."""
_LONGEST_LINE = 160
"""Characters of a query line shown around an error."""
SECRETS = re.compile(
    r"(?i)((?<=://)[^\s/?#:@]*:|(?<![a-z])(?:pass(?:word|wd|phrase)?|pwd)=)((?<=:)\S*(?=@)|(?<==)(?:'[^']*'?|[^\s&;]*))"
)
"""Passwords in URLs and connection strings; group 1 is what precedes one."""


class RecallError(Exception):
    """An error that the user can act on.

    code: stable, lower_snake_case, listed in docs/errors.md.
    hint: text to type, or None. A `shell.Hint` if it is a Recall command.
    details: machine-readable context for JSON, or None.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, *, hint: str | None = None, details: object = None) -> None:
        message = _clip(message)
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint if hint is None or _clip(hint) == hint else _clip(hint)
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the attributes, so that a worker process can raise its error in the parent."""
        return copyreg.__newobj__, (type(self), self.message), self.__dict__  # type: ignore[attr-defined]


def _clip(text: str) -> str:
    """Return the text as valid Unicode, without the password of a URL, cut to `_LONGEST` characters."""
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    text = text.encode("utf-8", "backslashreplace").decode()
    return SECRETS.sub(r"\1…", text)


class UsageError(RecallError):
    """The command line, a setting or an argument is wrong. Nothing was executed."""

    exit_code = 2


class ConfigError(UsageError):
    """recall.toml is invalid."""


class RqlError(UsageError):
    """A query or filter is invalid.

    text: the whole source.
    start, end: span of the error in code points, end exclusive. start == end at the end of input.
    line, column: position of the error, from 1.
    expected: what is valid there, or None.
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
        """Return the line with carets under the error, and what was expected."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.start)
        last = len(self.text) if last < 0 else last
        if last - first > _LONGEST_LINE:
            first = max(first, self.start - _LONGEST_LINE // 2)
            last = min(last, first + _LONGEST_LINE)
        width = max(1, min(self.end, last) - self.start)
        expectation = f"  expected {self.expected}" if self.expected else ""
        line = self.text[first:last]
        visible_line = "".join(mark if mark.isprintable() else " " if mark == "\t" else "?" for mark in line)
        return f"{visible_line}\n{' ' * (self.start - first)}{'^' * width}{expectation}"


class DimensionMismatch(UsageError):
    """A vector has another number of components than the store's. expected, got: these numbers."""

    def __init__(self, expected: int, got: int) -> None:
        self.expected = expected
        self.got = got
        super().__init__(
            "dimension_mismatch",
            f"A vector has {got} components instead of {expected}.",
            hint="use the embedder that made the store's vectors",
            details={"expected": expected, "got": got},
        )


class InvalidId(UsageError):
    """A document has no id, or one that cannot be stored."""


class StoreError(RecallError):
    """The database file is missing, read-only, full or too new."""


UNMADE = frozenset(("no_store", "pgvector_missing"))
"""Codes for a store that can be made; making a collection installs pgvector."""
NO_STORE = frozenset(("no_store", "no_settings"))
"""Codes for a folder without a store. Commands that need no store ignore these errors."""


class StoreLocked(StoreError):
    """Another process holds the write lock for too long."""

    exit_code = 5


class StoreCorrupt(StoreError):
    """The database file is damaged or not a Recall store."""

    exit_code = 6


class IngestError(RecallError):
    """A file named by the caller cannot be indexed. The call wrote nothing."""


class EmbedError(RecallError):
    """An embedder is unavailable, failed, or returned vectors that cannot be stored."""


class InvalidResponse(EmbedError):
    """The vectors of an embedding have the wrong number, size or values."""


class RateLimited(EmbedError):
    """The provider of an embedding takes no more requests now."""


class Timeout(EmbedError):
    """The provider of an embedding does not answer in time."""


class ProviderError(EmbedError):
    """The provider of an embedding refuses, or cannot be used here."""


class Other(EmbedError):
    """An embedding raised an error of its own, kept as `__cause__`."""


class StaleError(RecallError):
    """A returned document no longer matches its file, and the caller wants fresh answers only."""

    exit_code = 3


class SnapshotMismatch(RecallError):
    """The store does not have the digest that the caller expects."""

    exit_code = 4


class Outdated(RecallError):
    """The store no longer contains a hit of an answer. Run the query again."""

    exit_code = 4


class UnknownTarget(RecallError):
    """No live document or chunk has this id, prefix or path."""

    exit_code = 8


class TimedOut(RecallError):
    """The time limit of a query expired. There is no answer, and nothing was written."""


class Busy(RecallError):
    """The queue of a server is full. details.retry_after_seconds says when to retry."""


class Interrupted(RecallError):
    """The user pressed Ctrl-C. Committed work is kept."""

    exit_code = 130


def expect_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise UsageError `bad_value` with the choices if the value is not one of them. name: of the parameter."""
    if value not in (known := tuple(choices)):
        raise UsageError("bad_value", f"{name} cannot be {value!r}.", hint=f"one of: {', '.join(known)}")


def why_unread(error: OSError | ValueError) -> str:
    """Return why a file could not be read or written: a phrase to follow a colon, without a full stop."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {error.start})"
    if isinstance(error, ValueError):
        return "no file can have this name"
    return error.strerror[:1].lower() + error.strerror[1:] if error.strerror else str(error)
