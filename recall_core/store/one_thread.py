"""Thread guard: lets one thread at a time use a connection and refuses the others."""

from __future__ import annotations

from _thread import get_ident  # importing threading would cost a cold search a millisecond
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from os import getpid, register_at_fork
from typing import Any, TypeVar

from recall_core.errors import UsageError

Yielded = TypeVar("Yielded")
Result = TypeVar("Result")


class _Process:
    """The current process. os.getpid at each call would cost a fifth of the guard's time."""

    number = getpid()

    @classmethod
    def note_fork(cls) -> None:
        """Read the process number again after a fork."""
        cls.number = getpid()


register_at_fork(after_in_child=_Process.note_fork)


class ThreadGuard:
    """Gives one thread at a time its turn on a connection, in the process that opened it.

    Another thread is refused at once. SQLite would crash the process, and waiting could deadlock.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._process = _Process.number
        self._running: dict[str, tuple[int, int, object]] = {}
        """"turn": process, thread, and a token that identifies this turn."""
        self._dropped: list[Generator[Any, None, Any]] = []

    @property
    def is_held(self) -> bool:
        """True during a turn of the current thread."""
        running = self._running.get("turn")
        return running is not None and running[:2] == (_Process.number, get_ident())

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep other threads out of this block. Within a turn of the same thread it does nothing.

        Raises UsageError `wrong_thread` during another thread's turn, and after a fork.
        """
        if self.is_held:
            yield
            return
        self.expect_own_process()
        mine = (_Process.number, get_ident(), object())
        try:
            # setdefault takes the turn in one step. Ctrl-C may raise right after it or after the block. So the turn
            # is read from the dict, not remembered, and nothing is called between that read and the del.
            if self._running.setdefault("turn", mine) is not mine:
                raise self._refuse("is in use by another thread; open one in each thread")
            while self._dropped:
                self._dropped.pop().close()
            yield
        finally:
            if self._running == {"turn": mine}:
                del self._running["turn"]

    @contextmanager
    def last_turn(self) -> Iterator[None]:
        """Take the turn that closes the connection. Raises UsageError `wrong_thread` within a turn of this thread
        too."""
        if self.is_held:
            raise self._refuse("cannot be closed during a call")
        with self.turn():
            yield

    def steps(self, steps: Generator[Yielded, None, Result]) -> Generator[Yielded, None, Result]:
        """Take each step in its own turn. Between two steps other threads may take theirs.

        A refused step ends the generator. What its steps began is closed in the next turn.
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
        finally:  # the generator may be dropped in another thread than the one with the turn
            self._dropped.append(steps)
            with suppress(UsageError), self.turn():
                pass

    def expect_own_process(self) -> None:
        """Raise UsageError `wrong_thread` after a fork: SQLite's locks belong to the process that opened the file."""
        if _Process.number != self._process:
            raise self._refuse("was opened before this process forked; open one in each process")

    def _refuse(self, why: str) -> UsageError:
        hint = f"with Recall.open({self._path!r}) as recall:"
        return UsageError("wrong_thread", f"The Recall object of {self._path} {why}.", hint=hint)
