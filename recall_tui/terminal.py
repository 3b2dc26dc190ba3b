"""A terminal: what it sends and takes, its signals, and each key, done before the next one begins.

Textual hands all keys to the widget with the focus as they come. What a key is bound to is done by the application,
once the key has gone up from that widget through all that is around it. Of keys that come in one read, those behind
a bound key, and those that the application itself looks at first, would be ahead of it.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import select
import signal
import string
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from io import StringIO, TextIOBase
from types import FrameType
from typing import Any, TextIO

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.dom import DOMNode
from textual.drivers.linux_driver import LinuxDriver
from textual.events import AppBlur, AppFocus, Event, InputEvent, Key, Paste
from textual.keys import _character_to_key
from textual.message import Message
from textual.widget import Widget

from recall_tui.actions.table import Table

READ_BYTES = 4_096  # of keys at a time
LAST_SECONDS = 0.1  # for late reports of the mouse, which the next program must not read as keys
BEGINNINGS = "[]\\^_OP"
"""Esc begins a sequence of a terminal with these."""
WORDWISE = "bf"
"""With these it is a Mac's Option and an arrow."""


def _name(character: str) -> str:
    """Return what Textual calls a character that comes with Alt, after `alt+`."""
    return f"shift+{character.lower()}" if character.isupper() else _character_to_key(character)


_TYPED = set(string.digits + string.ascii_letters + string.punctuation).difference(BEGINNINGS + WORDWISE)
NAMED = {_name(character): character for character in sorted(_TYPED)}
_Alt = Enum("_Alt", {name: f"alt+{name}" for name in NAMED})  # type: ignore[misc]
for _key, _character in NAMED.items():  # Textual drops, or misreads, an Esc that comes together with one
    ANSI_SEQUENCES_KEYS[f"\x1b{_character}"] = (_Alt[_key],)  # type: ignore[index]


_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~])?|\x00")


class PasteParser(XTermParser):
    """Textual's parser, except for a paste: of an Esc in one it makes keys, which come before the text."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: StringIO | None = None
        self._end = ""
        """The newest characters of the paste, which may begin the mark of its end."""

    def feed(self, data: str) -> Iterable[Message]:
        """Yield the events of these characters. A paste has its text without colours and other sequences."""
        while True:
            if self._pasted is None:
                typed, mark, data = data.partition(_PASTE)
                if typed or not mark:
                    yield from super().feed(typed)
                if not mark:
                    return
                self._pasted = StringIO()
            self._pasted.write(data)
            if _PASTE_END not in self._end + data:
                self._end = (self._end + data)[1 - len(_PASTE_END) :]
                return
            text, _, data = self._pasted.getvalue().partition(_PASTE_END)
            self._pasted, self._end = None, ""
            yield Paste(_SEQUENCE.sub("", text))
            if not data:
                return


class Outlet(TextIOBase):
    """The terminal's output. What it does not take any more is lost.

    Textual writes in a thread of its own. Should that end with an error, the queue before it fills up, and whoever
    puts the next text there waits for good.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write it if there is a terminal."""
        with suppress(OSError):
            self._terminal.write(text)
        return len(text)

    def flush(self) -> None:
        """Let the terminal have it, if there is one."""
        with suppress(OSError):
            self._terminal.flush()

    def fileno(self) -> int:
        """Return the terminal's own."""
        return self._terminal.fileno()


def apart(key: Key, table: Table) -> tuple[Key, ...]:
    """Esc and a character that come together, as they were pressed: Textual makes the character with Alt of them.

    A key with Alt that a keymap.toml gives to an action stays as it is.
    """
    modifier, _, name = key.key.partition("+")
    character = key.character or NAMED.get(name)
    if modifier != "alt" or character is None or any(key.key in each.keys for each in table.actions):
        return (key,)
    return Key("escape", "\x1b"), Key(_character_to_key(character), character)


class TerminalDriver(LinuxDriver):
    """Textual's, which outlives its terminal."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = Outlet(sys.__stderr__)  # type: ignore[assignment, arg-type]  # it does what the driver asks of it
        self._input_end, self._end_input = os.pipe()

    def run_input_thread(self) -> None:
        """Hand on keys. Textual's own looks for its end ten times a second, most of what an idle workbench costs."""
        parser, decoder = PasteParser(self._debug), codecs.getincrementaldecoder("utf-8")()
        ready: list[int] = []
        while self._input_end not in ready:
            esc_ends = parser._timeout_time  # when an Esc that came alone is a key of its own
            patience = None if esc_ends is None else max(0.0, esc_ends - get_time())
            ready, _, _ = select.select([self.fileno, self._input_end], [], [], patience)
            if self.fileno in ready:
                typed = os.read(self.fileno, READ_BYTES)
                if not typed:
                    return  # the terminal is gone, which the application notices
                if text := decoder.decode(typed):
                    for event in parser.feed(text):
                        self.process_message(event)
            for event in parser.tick():
                self.process_message(event)
        select.select([self.fileno], [], [], LAST_SECONDS)

    def disable_input(self) -> None:
        """End the thread that reads keys, which waits without a limit."""
        os.write(self._end_input, b"\0")
        super().disable_input()
        os.read(self._input_end, 1)

    def _sigtstp_application(self, *_: Any) -> None:
        """Let go of the terminal and stop, from the loop: the signal may come while the output is locked."""
        self._soon(super()._sigtstp_application)

    def _sigcont_application(self, *_: Any) -> None:
        self._soon(self._go_on)

    def _soon(self, act: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _go_on(self) -> None:
        """Take the terminal again, if it is there, and say so: one that goes away sends this signal too.

        A process that was stopped by SIGSTOP has ended nothing, and of two readers each would get half of the keys.
        """
        if self.is_gone():
            return
        if self._auto_restart:
            if self._key_thread is not None and self._key_thread.is_alive():
                self.suspend_application_mode()
            self._must_signal_resume = True
        super()._sigcont_application()

    def is_gone(self) -> bool:
        """Return True once the other side is closed; not every terminal that is closed sends a signal."""
        poll = select.poll()
        poll.register(self.fileno, select.POLLHUP)
        return any(event & select.POLLHUP for _, event in poll.poll(0))


INPUT = (InputEvent, Paste, AppFocus, AppBlur)
"""What a terminal sends of what a person does."""
ROUNDS = 2
"""One behind the key itself, and one behind the messages that it has led to."""


class Turns:
    """The keys and the rest of the input of one application. deal: does what one of them does, in its own task."""

    def __init__(self, app: App[Any], deal: Callable[[Event], Awaitable[None]]) -> None:
        self._app = app
        self._deal = deal
        self._waiting: deque[Event] = deque()
        self._followed: asyncio.Task[None] | None = None
        self._written: Widget | None = None
        """The field that the newest character went to, which is followed when something else comes."""
        self._has_begun = False

    async def begin(self) -> None:
        """Give the first one its turn; until here all of them wait."""
        self._has_begun = True
        await self._go_on()

    async def take(self, *events: Event) -> None:
        """Let these have their turns, behind all that came before."""
        self._waiting.extend(events)
        await self._go_on()

    def stop(self) -> None:
        """Deal nothing out any more."""
        self._waiting.clear()
        if self._followed is not None:
            self._followed.cancel()

    async def _go_on(self) -> None:
        while self._has_begun and self._waiting and self._followed is None:
            if self._written is not None and not self._is_written_on:
                self._follow(self._written)
            else:
                await self._give_turn(self._waiting.popleft())

    async def _give_turn(self, event: Event) -> None:
        before = self._target
        await self._deal(event)
        if event.is_forwarded and _is_taken(event, before):
            self._written = before
        elif isinstance(event, Key | Paste):
            self._follow(before if event.is_forwarded else self._target)

    @property
    def _is_written_on(self) -> bool:
        """True where one character comes behind another: in the queue of their field they keep their order."""
        return self._written is self._target and _is_taken(self._waiting[0], self._target)

    def _follow(self, target: Widget) -> None:
        """Let the next one wait until the one that went to this target has led to nothing more."""
        self._written = None
        self._followed = asyncio.create_task(self._go_up(target.ancestors_with_self))

    @property
    def _target(self) -> Widget:
        """What gets the keys."""
        return self._app.focused or self._app.screen

    async def _go_up(self, way: Sequence[DOMNode]) -> None:
        """Go the way of a key, from its target up to the application, behind all that it has led to."""
        for _ in range(ROUNDS):
            for node in way:
                await _wait_until_idle(node)
        self._app.call_later(self._end_following)

    async def _end_following(self) -> None:
        self._followed = None
        await self._go_on()


def _is_taken(event: Event, field: Widget) -> bool:
    """Return True for a key that goes no further than to this widget."""
    return isinstance(event, Key) and field.check_consume_key(event.key, event.character)


async def _wait_until_idle(node: DOMNode) -> None:
    """Wait until a node has dealt with all that it has got so far, or is no more."""
    reached = asyncio.Event()
    if not (node.is_running and node.call_later(reached.set)):
        return
    arrival = asyncio.create_task(reached.wait())
    ends = [] if isinstance(node, App) else [node.task]  # an application is not outlived by this
    await asyncio.wait([arrival, *ends], return_when=asyncio.FIRST_COMPLETED)
    arrival.cancel()


NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stops:
    """The signals that came. Before `heed` they wait: an application that is being built up cannot be taken down."""

    def __init__(self) -> None:
        self._then: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_come = False

    def heed(self, then: Callable[[], None]) -> None:
        """Do this in the running loop at every signal from here on, and once for those that came already."""
        self._then, self._loop = then, asyncio.get_running_loop()
        if self._has_come:
            then()

    def take(self, _number: int, _frame: FrameType | None) -> None:
        """A signal came; it may have interrupted anything."""
        self._has_come = True
        if self._then is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._then)


@contextmanager
def listening() -> Iterator[Stops]:
    """For the length of this block no signal raises anything."""
    stops = Stops()
    before = {number: signal.signal(number, stops.take) for number in NUMBERS}
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """For the length of this block Ctrl-C is another program's, which would inherit SIG_IGN, and no function."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
