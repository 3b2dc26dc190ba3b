"""A store of the schema before this one, as it was written then, opens, and loses nothing."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from recall_core import Recall

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "recall.db"
    path.write_bytes(gzip.decompress((GOLDEN / "schema-2.db.gz").read_bytes()))
    (tmp_path / "recall.toml").write_text('store_path = "recall.db"\nchunk_tokens = 100\noverlap_tokens = 10\n')
    return path


def test_an_older_store_is_copied_and_holds_after_its_upgrade_what_it_held(old: Path) -> None:
    before = old.read_bytes()
    with Recall.open(str(old)) as recall:
        out = io.StringIO()
        recall.export(out)
        assert recall.stats()["store"]["schema_version"] == 3
        checks = {check["code"]: check["severity"] for check in recall.doctor()["checks"]}
        assert [code for code, severity in checks.items() if severity == "error"] == []
        assert checks["texts"] == "ok"
        assert [root["folder"] for root in recall.roots()["roots"]] == ["docs", "notes.jsonl"]
        assert recall.search("balancer")["results"][0]["doc"]["path"] == "docs/deploy.md"
        assert len(recall.store.judgements()) == 1
    assert out.getvalue() == (GOLDEN / "schema-2.jsonl").read_text(encoding="utf-8")
    copy = Path(f"{old}.bak-schema-2")
    assert copy.exists()
    assert old.read_bytes() != before


def test_a_text_that_does_not_agree_with_what_was_embedded_of_it_is_marked_unverified(old: Path) -> None:
    import apsw  # noqa: PLC0415

    db = apsw.Connection(str(old))
    db.execute("DROP TRIGGER chunk_text_is_immutable")
    db.execute("UPDATE chunk SET text = text || '!' WHERE rowid = 1")
    db.close()

    with Recall.open(str(old)) as recall:
        (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "texts")
    assert check["evidence"] == "1 of 4 texts were never verified"
    assert json.dumps(check)
