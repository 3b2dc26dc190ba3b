"""One thread at a time: the guard of a connection, which lets in the calls of one thread and refuses any other."""

from __future__ import annotations

from _thread import get_ident  # threading, of which this is a part, costs a cold search a millisecond
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from os import getpid, register_at_fork
from typing import Any, TypeVar

from recall_core.errors import UsageError

Yielded = TypeVar("Yielded")
Result = TypeVar("Result")


class _Process:
    """The process that this is; asking the system for it at each call would cost a fifth of a guard."""

    number = getpid()

    @classmethod
    def note_fork(cls) -> None:
        """Read the number again, right after a fork."""
        cls.number = getpid()


register_at_fork(after_in_child=_Process.note_fork)


class ThreadGuard:
    """Gives one thread at a time its turn to use a connection, in the process that opened it.

    Any other thread is refused at once: SQLite would end the process, and a thread that waited could wait for the
    one that waits for it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._process = _Process.number
        self._running: dict[str, tuple[int, int, object]] = {}
        """"turn": the process and the thread that has its turn, and what tells this turn from others."""
        self._dropped: list[Generator[Any, None, Any]] = []

    @property
    def is_held(self) -> bool:
        """True during a turn of this thread."""
        running = self._running.get("turn")
        return running is not None and running[:2] == (_Process.number, get_ident())

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep other threads out of this block; within a turn of the same thread it changes nothing.

        Raises UsageError `wrong_thread` during another thread's turn, and after a fork.
        """
        if self.is_held:
            yield
            return
        self.expect_own_process()
        mine = (_Process.number, get_ident(), object())
        try:
            # setdefault takes the turn in one step. Ctrl-C may raise as soon as it has returned, or the block has:
            # so the turn is looked at rather than remembered, and between that and letting go nothing is called.
            if self._running.setdefault("turn", mine) is not mine:
                raise self._refuse("is used by another thread at this moment; open one in each thread")
            while self._dropped:
                self._dropped.pop().close()
            yield
        finally:
            if self._running == {"turn": mine}:
                del self._running["turn"]

    @contextmanager
    def last_turn(self) -> Iterator[None]:
        """The turn that ends the connection: raises UsageError `wrong_thread` within one of this thread too."""
        if self.is_held:
            raise self._refuse("cannot be closed in the midst of a call")
        with self.turn():
            yield

    def steps(self, steps: Generator[Yielded, None, Result]) -> Generator[Yielded, None, Result]:
        """Take each step in a turn of its own. Between two steps other threads are let in.

        A step that is refused ends the generator. What its steps have begun ends with the next turn.
        """
        try:
            while True:
                with self.turn():
                    try:
                        step = next(steps)
                    except StopIteration as end:
                        result: Result = end.value
                        return result
                yield step
        finally:  # wherever the generator is dropped, perhaps in another thread than the one that has its turn
            self._dropped.append(steps)
            with suppress(UsageError), self.turn():
                pass

    def expect_own_process(self) -> None:
        """Raise UsageError `wrong_thread` after a fork: SQLite's locks are those of the process that opened it."""
        if _Process.number != self._process:
            raise self._refuse("was opened before this process was forked off; open one in each process")

    def _refuse(self, why: str) -> UsageError:
        hint = f"with Recall.open({self._path!r}) as recall:"
        return UsageError("wrong_thread", f"This Recall of {self._path} {why}.", hint=hint)
