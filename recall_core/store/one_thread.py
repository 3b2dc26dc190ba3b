"""One thread at a time: the guard of a connection, and the classes whose every call it lets in or refuses."""

from __future__ import annotations

from _thread import get_ident  # threading, of which this is a part, costs a cold search a millisecond
from collections.abc import Callable, Generator
from functools import wraps
from os import getpid, register_at_fork
from types import FunctionType, GeneratorType
from typing import Any, ParamSpec, TypeVar

from recall_core.errors import UsageError

Given = ParamSpec("Given")
Result = TypeVar("Result")
Yielded = TypeVar("Yielded")
Sent = TypeVar("Sent")
Kind = TypeVar("Kind")

_FREE = "is_from_any_thread"


class _Process:
    """The process that this is; asking the system for it at each call would cost a fifth of a guard."""

    number = getpid()

    @classmethod
    def note_fork(cls) -> None:
        """Right after a fork."""
        cls.number = getpid()


register_at_fork(after_in_child=_Process.note_fork)


class ThreadGuard:
    """Lets the calls of one thread at a time to a connection, in the process that opened it.

    A call within a call of the same thread goes through. Any other is refused at once: SQLite would end the process,
    and one that waited could wait for the thread that waits for it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._process = _Process.number
        self._running: dict[str, tuple[int, int]] = {}
        """"call": the process and the thread whose call runs, while one does."""
        self._dropped: list[object] = []

    def call(self, function: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Its result. Raises UsageError `wrong_thread` beside another thread's call, and after a fork."""
        mine = (_Process.number, get_ident())
        if self._running.get("call") == mine:
            return function(*args, **kwargs)
        if mine[0] != self._process:
            self.expect_own_process()
        try:
            # setdefault takes the turn in one step. Ctrl-C may raise as soon as it has returned, or the function has:
            # so what runs is looked at rather than remembered, and between that and letting go nothing is called.
            if self._running.setdefault("call", mine) is not mine:
                raise self._refused("is used by another thread at this moment; open one in each thread")
            while self._dropped:
                self._dropped.pop()
            return function(*args, **kwargs)
        finally:
            if self._running == {"call": mine}:
                del self._running["call"]

    def last_call(self, function: Callable[[], None]) -> None:
        """The same for what ends the connection, which no call may be in the midst of, one of this thread neither."""
        if self._running.get("call") == (_Process.number, get_ident()):
            raise self._refused("cannot be closed in the midst of a call")
        self.call(function)

    def expect_own_process(self) -> None:
        """Raises UsageError `wrong_thread` after a fork: SQLite's locks are those of the process that opened it."""
        if _Process.number != self._process:
            raise self._refused("was opened before this process was forked off; open one in each process")

    def drop(self, steps: object) -> None:
        """Let go of steps that nobody resumes any more once a call is let in: their end may touch the connection."""
        self._dropped.append(steps)

    def _refused(self, why: str) -> UsageError:
        hint = f"with Recall.open({self._path!r}) as recall:"
        return UsageError("wrong_thread", f"This Recall of {self._path} {why}.", hint=hint)


class Steps(Generator[Yielded, Sent, Result]):
    """A generator of which every step is a call; between two steps it keeps nobody out."""

    def __init__(self, guard: ThreadGuard, steps: Generator[Yielded, Sent, Result]) -> None:
        self._guard = guard
        self._steps = steps

    def send(self, value: Sent, /) -> Yielded:
        """Take the next step."""
        return self._guard.call(self._steps.send, value)

    def throw(self, *error: Any) -> Yielded:
        """Take the next step with this error."""
        return self._guard.call(self._steps.throw, *error)

    def close(self) -> None:
        """Take no more."""
        self._guard.call(self._steps.close)

    def __del__(self) -> None:
        """Whoever forgets it may be another thread than the one whose call runs."""
        self._guard.drop(self._steps)


def one_thread_at_a_time(kind: type[Kind]) -> type[Kind]:
    """The class, each of whose public methods and properties is a call under its `guard`, steps of generators too.

    Static and class methods, and those marked `from_any_thread`, are left as they are.
    """
    for name, member in list(vars(kind).items()):
        if not name.startswith("_"):
            setattr(kind, name, _guarded(member))
    return kind


def from_any_thread(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The method, which sees to threads by itself."""
    setattr(function, _FREE, True)
    return function


def _guarded(member: object) -> object:
    if isinstance(member, property):
        getter, setter = (each and _call(each) for each in (member.fget, member.fset))
        return property(getter, setter, doc=member.__doc__)
    if isinstance(member, FunctionType) and not hasattr(member, _FREE):
        return _call(member)
    return member


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        guard: ThreadGuard = self.guard
        result = guard.call(function, self, *args, **kwargs)
        return Steps(self.guard, result) if type(result) in (GeneratorType, Steps) else result

    return call
