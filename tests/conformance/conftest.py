"""Shared fixtures of the conformance tests."""

from collections.abc import Iterator

import pytest

from tests import postgres_server, warm


@pytest.fixture(autouse=True, scope="module")
def _warm_processes_end() -> Iterator[None]:
    """End the forking processes after each test file."""
    yield
    warm.end()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Start a server of Postgres and return its URL."""
    with postgres_server.running() as url:
        yield url
