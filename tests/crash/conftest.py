"""What every test of crashes shares."""

from collections.abc import Iterator

import pytest

from tests import warm
from tests.crash.harness import Stage


@pytest.fixture(autouse=True, scope="module")
def _warm_processes_end() -> Iterator[None]:
    """End the processes that fork with the file of tests that has used them."""
    yield
    warm.end()


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Small stores: each command is prepared, and run undisturbed, once for all files of tests."""
    return Stage(tmp_path_factory.mktemp("small"), files=2)
