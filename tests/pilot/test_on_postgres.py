"""The five tasks of decision 42 on a collection in Postgres, opened by its URL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core import Recall
from tests import postgres_server
from tests.five_tasks import NARROW, tasks
from tests.pilot.test_five_tasks import do
from tests.postgres_server import collection
from tests.real_pages import build_pages
from tests.workbench_driver import workbench

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    with postgres_server.running() as server, Recall.open(str(build_pages(tmp_path))) as recall:
        recall.copy(named := collection(server, "workbench"))
        yield named


@pytest.mark.parametrize("number", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, 5))])
async def test_tasks_on_a_collection(url: str, number: int) -> None:
    toml = Path("recall.toml")
    if number == 2:  # only a recall.toml with its URL takes the settings
        toml.write_text(toml.read_text(encoding="utf-8").replace("recall.db", url), encoding="utf-8")
    async with workbench(url, size=NARROW, is_own=True) as bench:
        await do(bench, tasks(NARROW)[number])
