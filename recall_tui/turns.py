"""What a person does, in the order in which it is done: a key has done all that it does before the next one begins.

Textual hands all keys to the widget with the focus as they come. What a key is bound to is done by the application,
once the key has gone up from that widget through all that is around it. Of keys that come in one read, those behind
a bound key, and those that the application itself looks at first, would be ahead of it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from textual.app import App
from textual.dom import DOMNode
from textual.events import AppBlur, AppFocus, Event, InputEvent, Key, Paste
from textual.widget import Widget

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
                await _passed(node)
        self._app.call_later(self._ended)

    async def _ended(self) -> None:
        self._followed = None
        await self._go_on()


def _is_taken(event: Event, field: Widget) -> bool:
    """True for a key that goes no further than to this widget."""
    return isinstance(event, Key) and field.check_consume_key(event.key, event.character)


async def _passed(node: DOMNode) -> None:
    """Wait until a node has dealt with all that it has got so far, or is no more."""
    reached = asyncio.Event()
    if not (node.is_running and node.call_later(reached.set)):
        return
    arrival = asyncio.create_task(reached.wait())
    ends = [] if isinstance(node, App) else [node.task]  # an application is not outlived by this
    await asyncio.wait([arrival, *ends], return_when=asyncio.FIRST_COMPLETED)
    arrival.cancel()
