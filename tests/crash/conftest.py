"""Shared fixtures of the crash tests."""

from collections.abc import Iterator

import pytest

from tests import warm
from tests.crash.harness import Stage


@pytest.fixture(autouse=True, scope="module")
def _warm_processes_end() -> Iterator[None]:
    """End the forking processes after each test file."""
    yield
    warm.end()


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return small stores; each command is prepared, and run undisturbed, once for all test files."""
    return Stage(tmp_path_factory.mktemp("small"), files=2)
