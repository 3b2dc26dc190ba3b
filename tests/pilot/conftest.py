"""Stores for the workbench."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.rest import as_for_people
from tests.workbench_corpus import build_store
from tests.workbench_driver import SHARED


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def shared_workbench() -> AsyncIterator[None]:
    """Let the tests of a module share one workbench."""
    async with SHARED.during_module():
        yield


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that tests only read."""
    return build_store(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def own_store(tmp_path: Path) -> Path:
    """Return a store that a test may change."""
    return build_store(tmp_path)


@pytest.fixture
def every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw every frame, as for a user, not only the last one."""
    as_for_people(monkeypatch)


@pytest.fixture(autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a new history folder for every test, never the developer's own."""
    home = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    return home
