"""What the workbench draws through: a terminal, which may go away while it is drawn on."""

from __future__ import annotations

import codecs
import os
import re
import select
import string
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from io import StringIO, TextIOBase
from typing import Any, TextIO

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.message import Message

from recall_tui.actions.table import Table

READ_BYTES = 4_096  # of keys at a time
LAST_SECONDS = 0.1  # for late reports of the mouse, which the next program must not read as keys
BEGINNINGS = "[]\\^_OP"
"""Esc begins a sequence of a terminal with these."""
WORDWISE = "bf"
"""With these it is a Mac's Option and an arrow."""


def _name(character: str) -> str:
    """What Textual calls a character that comes with Alt, after `alt+`."""
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
        """The terminal's own."""
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
        """True once nobody is at the other side; not every terminal that is closed sends a signal."""
        poll = select.poll()
        poll.register(self.fileno, select.POLLHUP)
        return any(event & select.POLLHUP for _, event in poll.poll(0))
