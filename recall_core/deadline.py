"""Deadlines and cancellation of calls.

A deadline applies to everything that a thread does inside a `within` block. Long loops call `check`; the store lets
its database call it, and code that waits for a server calls it between waits. Another thread can end the block with
its `Cancel`. The deadline is not a parameter, because results of ranking and packing do not depend on it.
"""

from __future__ import annotations

from _thread import _local  # threading, which hands it on, costs a cold search a file
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, isfinite
from time import monotonic

from recall_core.errors import Interrupted, TimedOut, UsageError
from recall_core.shell import AGAIN, Hint

_PATIENT_SECONDS = 60
"""The shortest timeout in seconds that the hint suggests."""


class Cancel:
    """Lets one thread end the `within` block of another. Cannot be reset."""

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        """Make the block raise Interrupted at its next `check`. Can be called from any thread."""
        self.is_set = True


class Deadline:
    """A deadline `seconds` from now, or at the end of the enclosing deadline if that is earlier."""

    __slots__ = ("_cancel", "_clock", "_end", "_outer", "_seconds")

    def __init__(
        self, seconds: float, clock: Callable[[], float], outer: Deadline | None, cancel: Cancel | None
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._outer = outer
        self._cancel = cancel

    def is_cancelled(self) -> bool:
        """Return True if this deadline or an enclosing one is cancelled."""
        is_own = self._cancel is not None and self._cancel.is_set
        return is_own or (self._outer is not None and self._outer.is_cancelled())

    def left(self) -> float:
        """Return the remaining seconds, 0 if expired or cancelled."""
        if self._cancel is not None and self._cancel.is_set:
            return 0.0
        left = max(0.0, self._end - self._clock())
        return left if self._outer is None else min(left, self._outer.left())

    def is_over(self) -> bool:
        """Return True if the deadline is expired or cancelled."""
        return not self.left()

    def allowed(self) -> float:
        """Return the total seconds of the deadline that expires first."""
        outer = self._outer
        return self._seconds if outer is None or self._end - self._clock() <= outer.left() else outer.allowed()


class _InForce(_local):
    """The current deadline of each thread."""

    deadline: Deadline | None = None


_in_force = _InForce()


@contextmanager
def within(
    seconds: float | None, *, clock: Callable[[], float] = monotonic, cancel: Cancel | None = None
) -> Iterator[None]:
    """Limit a block to `seconds` (None: no limit of its own). Enclosing limits still apply.

    clock: returns seconds.
    cancel: ends the block from another thread.
    Raises UsageError `bad_value`.
    """
    if seconds is None and cancel is None:
        yield
        return
    limit = inf if seconds is None else check_seconds(seconds)
    with until(Deadline(limit, clock, _in_force.deadline, cancel)):
        yield


@contextmanager
def until(deadline: Deadline) -> Iterator[None]:
    """Apply a deadline to a block. It may have started earlier and in another thread."""
    outer = _in_force.deadline
    _in_force.deadline = deadline
    try:
        yield
    finally:
        _in_force.deadline = outer


def check_seconds(seconds: float) -> float:
    """Return the seconds if they are above 0. Raises UsageError `bad_value`."""
    if not isinstance(seconds, int | float) or not isfinite(seconds) or seconds <= 0:
        message = f"A timeout must be a number of seconds above 0, not {seconds}."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, timeout=_PATIENT_SECONDS))
    return seconds


def is_set() -> bool:
    """Return True if the thread has a deadline."""
    return _in_force.deadline is not None


def seconds_left() -> float:
    """Return the remaining seconds, infinity without a deadline."""
    deadline = _in_force.deadline
    return inf if deadline is None else deadline.left()


def check() -> None:
    """Raise TimedOut if the current deadline is expired, or Interrupted if it is cancelled."""
    deadline = _in_force.deadline
    if deadline is not None and not deadline.left():
        if deadline.is_cancelled():
            raise Interrupted("interrupted", "The query was cancelled.", hint="run it again")
        allowed = deadline.allowed()
        raise TimedOut(
            "timed_out",
            f"There is no answer after {allowed:g} s.",
            hint=Hint(AGAIN, timeout=max(_PATIENT_SECONDS, round(2 * allowed))),
        )
