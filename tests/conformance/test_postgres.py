"""Stores in Postgres keep the promises of the levels that they offer, and answer like files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recall_core.api.stores import store_kind, store_url
from recall_core.store.port import Store
from recall_core.testing import SearchConformance, WriteConformance
from tests import postgres_server
from tests.postgres_server import collection

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a server and return its URL."""
    with postgres_server.running() as url:
        yield url


class TestCollection(SearchConformance, WriteConformance):
    """The promises of a collection."""

    @pytest.fixture(autouse=True)
    def clear(self, server: str) -> Iterator[None]:
        self.server = server
        self.made: list[Store] = []
        yield
        for number, store in enumerate(self.made):
            store.close()
            store.close()
            store_kind("postgresql").discard(store_url(collection(self.server, f"made{number}")).where)

    def new(self, *, embedder: str, dimension: int, counter: str, chunker: str) -> Store:
        where = store_url(collection(self.server, f"made{len(self.made)}")).where
        recorded = {"embedder": embedder, "counter": counter, "chunker": chunker}
        self.made.append(store_kind("postgresql").create(where, dimension=dimension, **recorded))
        return self.made[-1]

    def again(self, store: Store) -> Store:
        return store_kind("postgresql").open(store_url(store.path).where)
