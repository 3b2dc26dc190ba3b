"""Shared fixtures of the end-to-end tests."""

from collections.abc import Iterator

import pytest

from tests import warm


@pytest.fixture(autouse=True, scope="module")
def _warm_processes_end() -> Iterator[None]:
    """End the forking processes after each test file."""
    yield
    warm.end()
