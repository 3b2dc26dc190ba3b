"""The terminal: its input and output, its signals, and keys handled one after the other.

Textual hands all keys to the focused widget as they come. The application handles a bound key only after the key has
passed from that widget through all its ancestors. Keys after it in the same read could overtake it.
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

READ_BYTES = 4_096  # per read
LAST_SECONDS = 0.1  # for late mouse reports, which the next program must not read as keys
BEGINNINGS = "[]\\^_OP"
"""Characters that, after Esc, start a terminal sequence."""
WORDWISE = "bf"
"""Characters that, after Esc, are a Mac's Option and an arrow."""


def _name(character: str) -> str:
    """Return Textual's name of a character with Alt, after `alt+`."""
    return f"shift+{character.lower()}" if character.isupper() else _character_to_key(character)


_TYPED = set(string.digits + string.ascii_letters + string.punctuation).difference(BEGINNINGS + WORDWISE)
NAMED = {_name(character): character for character in sorted(_TYPED)}
_Alt = Enum("_Alt", {name: f"alt+{name}" for name in NAMED})  # type: ignore[misc]
for _key, _character in NAMED.items():  # Textual drops or misreads an Esc that comes with one of these
    ANSI_SEQUENCES_KEYS[f"\x1b{_character}"] = (_Alt[_key],)  # type: ignore[index]


_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~])?|\x00")


class PasteParser(XTermParser):
    """Textual's parser, with a fix for pastes: Textual turns an Esc in a paste into keys before the text."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: StringIO | None = None
        self._end = ""
        """The last characters of the paste, which may be the start of its end mark."""

    def feed(self, data: str) -> Iterable[Message]:
        """Yield the events of these characters. Colours and other sequences are removed from a paste."""
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
    """The terminal's output, which ignores errors.

    Textual writes in its own thread. If that ended with an error, its queue would fill up, and the next writer would
    wait forever.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write the text if there is a terminal."""
        with suppress(OSError):
            self._terminal.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the terminal, if there is one."""
        with suppress(OSError):
            self._terminal.flush()

    def fileno(self) -> int:
        """Return the terminal's file descriptor."""
        return self._terminal.fileno()


def apart(key: Key, table: Table) -> tuple[Key, ...]:
    """Split Esc and a character that came together, which Textual reads as the character with Alt.

    A key with Alt that a keymap.toml gives to an action stays as it is.
    """
    modifier, _, name = key.key.partition("+")
    character = key.character or NAMED.get(name)
    if modifier != "alt" or character is None or any(key.key in each.keys for each in table.actions):
        return (key,)
    return Key("escape", "\x1b"), Key(_character_to_key(character), character)


class TerminalDriver(LinuxDriver):
    """Textual's driver, made to survive the loss of its terminal."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = Outlet(sys.__stderr__)  # type: ignore[assignment, arg-type]  # it has the methods that the driver uses
        self._input_end, self._end_input = os.pipe()

    def run_input_thread(self) -> None:
        """Pass on keys.

        Textual's version polls for its end ten times a second, which would dominate an idle workbench.
        """
        parser, decoder = PasteParser(self._debug), codecs.getincrementaldecoder("utf-8")()
        ready: list[int] = []
        while self._input_end not in ready:
            esc_ends = parser._timeout_time  # when a lone Esc counts as a key
            patience = None if esc_ends is None else max(0.0, esc_ends - get_time())
            ready, _, _ = select.select([self.fileno, self._input_end], [], [], patience)
            if self.fileno in ready:
                typed = os.read(self.fileno, READ_BYTES)
                if not typed:
                    return  # the terminal is gone; the application notices
                if text := decoder.decode(typed):
                    for event in parser.feed(text):
                        self.process_message(event)
            for event in parser.tick():
                self.process_message(event)
        select.select([self.fileno], [], [], LAST_SECONDS)

    def disable_input(self) -> None:
        """End the thread that reads keys, which otherwise waits forever."""
        os.write(self._end_input, b"\0")
        super().disable_input()
        os.read(self._input_end, 1)

    def _sigtstp_application(self, *_: Any) -> None:
        """Release the terminal and stop, from the loop: the signal may come while the output is locked."""
        self._soon(super()._sigtstp_application)

    def _sigcont_application(self, *_: Any) -> None:
        self._soon(self._go_on)

    def _soon(self, act: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _go_on(self) -> None:
        """Take the terminal again, if it still exists. A closing terminal sends this signal too.

        After SIGSTOP the key thread is still running, so it is stopped first: two readers would each get half of the
        keys.
        """
        if self.is_gone():
            return
        if self._auto_restart:
            if self._key_thread is not None and self._key_thread.is_alive():
                self.suspend_application_mode()
            self._must_signal_resume = True
        super()._sigcont_application()

    def is_gone(self) -> bool:
        """Return True if the other side is closed. Not every closed terminal sends a signal."""
        poll = select.poll()
        poll.register(self.fileno, select.POLLHUP)
        return any(event & select.POLLHUP for _, event in poll.poll(0))


INPUT = (InputEvent, Paste, AppFocus, AppBlur)
"""Events of the user's input."""
ROUNDS = 2
"""Rounds to wait: one after the key itself, one after the messages it caused."""


class Turns:
    """Handles the input events of an application one after the other. deal: handles one of them in its own task."""

    def __init__(self, app: App[Any], deal: Callable[[Event], Awaitable[None]]) -> None:
        self._app = app
        self._deal = deal
        self._waiting: deque[Event] = deque()
        self._followed: asyncio.Task[None] | None = None
        self._written: Widget | None = None
        """The field that received the newest character. It is followed once something else comes."""
        self._has_begun = False

    async def begin(self) -> None:
        """Start with the first event. Until now all events wait."""
        self._has_begun = True
        await self._go_on()

    async def take(self, *events: Event) -> None:
        """Add events after all earlier ones."""
        self._waiting.extend(events)
        await self._go_on()

    def stop(self) -> None:
        """Handle no more events."""
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
        """True if a character follows another one into the same field, whose own queue keeps their order."""
        return self._written is self._target and _is_taken(self._waiting[0], self._target)

    def _follow(self, target: Widget) -> None:
        """Make the next event wait until this target's event has no more effects."""
        self._written = None
        self._followed = asyncio.create_task(self._go_up(target.ancestors_with_self))

    @property
    def _target(self) -> Widget:
        """The widget that receives the keys."""
        return self._app.focused or self._app.screen

    async def _go_up(self, way: Sequence[DOMNode]) -> None:
        """Follow a key from its target up to the application, after everything it caused."""
        for _ in range(ROUNDS):
            for node in way:
                await _wait_until_idle(node)
        self._app.call_later(self._end_following)

    async def _end_following(self) -> None:
        self._followed = None
        await self._go_on()


def _is_taken(event: Event, field: Widget) -> bool:
    """Return True if the widget consumes the key."""
    return isinstance(event, Key) and field.check_consume_key(event.key, event.character)


async def _wait_until_idle(node: DOMNode) -> None:
    """Wait until a node has handled all its messages, or has ended."""
    reached = asyncio.Event()
    if not (node.is_running and node.call_later(reached.set)):
        return
    arrival = asyncio.create_task(reached.wait())
    ends = [] if isinstance(node, App) else [node.task]  # this ends before an application does
    await asyncio.wait([arrival, *ends], return_when=asyncio.FIRST_COMPLETED)
    arrival.cancel()


NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stops:
    """The signals that came. They wait until `heed`, since an application cannot quit while it is being built."""

    def __init__(self) -> None:
        self._then: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_come = False

    def heed(self, then: Callable[[], None]) -> None:
        """Call this in the running loop at every signal from now on, and once for earlier signals."""
        self._then, self._loop = then, asyncio.get_running_loop()
        if self._has_come:
            then()

    def take(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal, which may have interrupted anything."""
        self._has_come = True
        if self._then is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._then)


@contextmanager
def listening() -> Iterator[Stops]:
    """Let no signal raise an error within this block."""
    stops = Stops()
    before = {number: signal.signal(number, stops.take) for number in NUMBERS}
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C within this block, which belongs to another program.

    A function, since SIG_IGN would be inherited.
    """
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
