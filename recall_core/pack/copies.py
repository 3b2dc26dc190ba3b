"""Candidates with one text, of which a context holds one: the first that may be packed, at the rank of them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from recall_core.pack.layout import omission
from recall_core.types import Hit, Omission


class Alike(Protocol):
    """The candidates that a ranked one stands for, because it was the first with their text."""

    def count(self, hit: Hit) -> int:
        """How many they are."""

    def others(self, hit: Hit) -> Iterator[Hit]:
        """They themselves, in order and with its rank, each read when it is asked for."""


class Alone:
    """Of candidates that stand for nobody."""

    def count(self, hit: Hit) -> int:
        """None, whoever is asked for."""
        return 0

    def others(self, hit: Hit) -> Iterator[Hit]:
        """As above."""
        return iter(())


ALONE = Alone()


class Taker:
    """One ranked candidate and those behind it, one after the other until one is packed."""

    def __init__(self, hit: Hit, alike: Alike) -> None:
        self.hit: Hit | None = hit
        self._others = alike.others(hit)
        self._left = alike.count(hit)

    def pass_over(self) -> None:
        """On to the next one with this text, if there is one."""
        self.hit = next(self._others, None) if self._left else None
        self._left -= self.hit is not None

    def copies(self) -> list[Omission]:
        """Those that are left, because their text is packed."""
        if not self._left:
            return []
        return [omission("copy", next(self._others), count=self._left)]

    def rest(self) -> Iterator[Hit]:
        """Those that are left."""
        return self._others if self._left else iter(())
