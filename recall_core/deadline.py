"""Deadlines: how long whoever asked is willing to wait, and how all that works for them finds out that it is over.

Who waits no longer may also say so, from another thread, by a `Cancel` that the block was given.

A deadline is in force inside a `within` block, for all that the block's thread does there. What may take long calls
`check` each time round; the store has its database do so, and whoever waits for a server looks between two waits. It
is not handed from function to function: ranking and packing are pure, and what they compute does not depend on it.
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
"""What is proposed to who was in a hurry."""


class Cancel:
    """By which one thread ends what another does in a `within` block, whatever that is; once, and for good."""

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        """From any thread: what runs in the block raises Interrupted when it looks next."""
        self.is_set = True


class Deadline:
    """So many seconds from now by a clock; or the end of the deadline around it, where that comes first."""

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
        """Whether nobody waits any more, for this one or the one around it."""
        is_own = self._cancel is not None and self._cancel.is_set
        return is_own or (self._outer is not None and self._outer.is_cancelled())

    def left(self) -> float:
        """Seconds until it is over, 0 once it is, or is cancelled."""
        if self._cancel is not None and self._cancel.is_set:
            return 0.0
        left = max(0.0, self._end - self._clock())
        return left if self._outer is None else min(left, self._outer.left())

    def is_over(self) -> bool:
        """Whether its time has gone by, or it was cancelled."""
        return not self.left()

    def allowed(self) -> float:
        """The seconds that there were in all, of the one that is over first."""
        outer = self._outer
        return self._seconds if outer is None or self._end - self._clock() <= outer.left() else outer.allowed()


class _InForce(_local):
    """What each thread has: the deadline that is in force there."""

    deadline: Deadline | None = None


_in_force = _InForce()


@contextmanager
def within(
    seconds: float | None, *, clock: Callable[[], float] = monotonic, cancel: Cancel | None = None
) -> Iterator[None]:
    """A block that has so many seconds; None for any number, within those of a block around it.

    clock: what tells seconds. cancel: ends the block's work from another thread. Raises UsageError `bad_value`.
    """
    if seconds is None and cancel is None:
        yield
        return
    limit = inf if seconds is None else check_seconds(seconds)
    with until(Deadline(limit, clock, _in_force.deadline, cancel)):
        yield


@contextmanager
def until(deadline: Deadline) -> Iterator[None]:
    """A block under this deadline, which may have begun before it and in another thread."""
    outer = _in_force.deadline
    _in_force.deadline = deadline
    try:
        yield
    finally:
        _in_force.deadline = outer


def check_seconds(seconds: float) -> float:
    """The seconds, if they are a number above 0. Raises UsageError `bad_value`."""
    if not isinstance(seconds, int | float) or not isfinite(seconds) or seconds <= 0:
        message = f"A timeout is a number of seconds above 0, not {seconds}."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, timeout=_PATIENT_SECONDS))
    return seconds


def is_set() -> bool:
    """Whether a deadline is in force here."""
    return _in_force.deadline is not None


def seconds_left() -> float:
    """How many of the seconds are left; infinitely many without a deadline."""
    deadline = _in_force.deadline
    return inf if deadline is None else deadline.left()


def check() -> None:
    """Go on, or raise TimedOut where the deadline in force is over, Interrupted where it was cancelled."""
    deadline = _in_force.deadline
    if deadline is not None and not deadline.left():
        if deadline.is_cancelled():
            raise Interrupted("interrupted", "The question was cancelled.", hint="ask it again")
        allowed = deadline.allowed()
        raise TimedOut(
            "timed_out",
            f"There is no answer after {allowed:g} s.",
            hint=Hint(AGAIN, timeout=max(_PATIENT_SECONDS, round(2 * allowed))),
        )
