from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.interfaces import FileVectorStore, InMemoryVectorStore
from recall_core.interfaces.foreign import ReadableStore


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ReadableStore]:
    if request.param == "memory":
        yield InMemoryVectorStore()
    else:
        with FileVectorStore(tmp_path / "kept") as kept:
            yield kept
