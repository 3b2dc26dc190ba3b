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
            event = self._waiting.popleft()
            before = self._target
            await self._deal(event)
            if isinstance(event, Key | Paste) and not self._is_within_a_word(event, before):
                target = before if event.is_forwarded else self._target
                self._followed = asyncio.create_task(self._follow(target.ancestors_with_self))

    def _is_within_a_word(self, event: Event, field: Widget) -> bool:
        """True for a character that went to a field, with another one next: in its queue they keep their order."""
        following = self._waiting[0] if self._waiting else None
        return event.is_forwarded and _is_taken(event, field) and _is_taken(following, field)

    @property
    def _target(self) -> Widget:
        """What gets the keys."""
        return self._app.focused or self._app.screen

    async def _follow(self, way: Sequence[DOMNode]) -> None:
        """Go the way of a key, from its target up to the application, until it has led to nothing more."""
        for _ in range(ROUNDS):
            for node in way:
                await _passed(node)
        self._app.call_later(self._ended)

    async def _ended(self) -> None:
        self._followed = None
        await self._go_on()


def _is_taken(event: Event | None, field: Widget) -> bool:
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
