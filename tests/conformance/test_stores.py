"""The built-in stores keep the promises of every store: in a file and in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.store.port import Store
from recall_core.store.sqlite.store import SQLITE
from recall_core.testing import StoreConformance


class Made(StoreConformance):
    """In-memory stores that are closed after each test."""

    @pytest.fixture(autouse=True)
    def clear(self) -> Iterator[None]:
        self.made: list[Store] = []
        yield
        for store in self.made:
            store.close()
            store.close()

    def new(self, *, embedder: str, dimension: int, counter: str, chunker: str) -> Store:
        recorded = {"embedder": embedder, "counter": counter, "chunker": chunker}
        self.made.append(SQLITE.create(self.where(), dimension=dimension, **recorded))
        return self.made[-1]

    def where(self) -> str:
        return ":memory:"


@pytest.mark.slow  # many unit tests use in-memory stores
class TestMemory(Made):
    """The promises of a store in memory."""


class TestFile(Made):
    """The promises of a store in a file."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.tmp_path = tmp_path

    def where(self) -> str:
        return str(self.tmp_path / f"{len(self.made)}.db")

    def again(self, store: Store) -> Store:
        return SQLITE.open(store.path)
