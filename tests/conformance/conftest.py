"""What every test of conformance shares."""

from collections.abc import Iterator

import pytest

from tests import warm


@pytest.fixture(autouse=True, scope="module")
def _warm_processes_end() -> Iterator[None]:
    """End the processes that fork with the file of tests that has used them."""
    yield
    warm.end()
