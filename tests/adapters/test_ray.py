"""Vectors from a Ray cluster of two nodes equal those of one process, even if a node is killed."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest

from recall_core import Recall

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_killed_node_changes_no_byte_of_the_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="needs Ray, which `make adapters` installs")
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - Ray may be missing

    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES))  # for the workers
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import ray_embed  # noqa: PLC0415 - from the folder above

    (tmp_path / "docs").mkdir()
    for number in range(150):
        (tmp_path / "docs" / f"{number}.txt").write_text(f"{number} red fish, blue fish\n\n" * 200)
    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    doomed = cluster.add_node(**node)
    killing = Thread(target=cluster.remove_node, args=(doomed,), kwargs={"allow_graceful": False})

    class Killing(ray_embed.OnRay):
        calls = 0

        def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[bytes]:
            Killing.calls += 1
            if Killing.calls == 3:
                killing.start()
            return super().embed(texts, is_query=is_query)

    monkeypatch.setattr(ray_embed, "OnRay", Killing)
    try:
        assert ray_embed.main(str(tmp_path / "docs"), str(tmp_path / "ray.db"), cluster.address) == 0
        killing.join()
    finally:
        cluster.shutdown()
    assert Killing.calls > 3
    with Recall.open(str(tmp_path / "serial.db"), create=True) as recall:
        recall.index(str(tmp_path / "docs"))
    exports = []
    for name in ("ray", "serial"):
        with Recall.open(str(tmp_path / f"{name}.db")) as recall:
            recall.export(out := StringIO())
            assert recall.store.info().vectors > 400
        exports.append(out.getvalue())
    assert exports[0] == exports[1]
