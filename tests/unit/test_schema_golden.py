"""A store in an earlier schema, as written then, opens and loses nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import apsw
import pytest

from recall_core import Ask, Recall
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.engine import Engine
from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import StoreError
from recall_core.store.sqlite.schema import AS_NEWER, SCHEMA_VERSION
from recall_core.store.sqlite.store import SqliteStore, open_store

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "recall.db"
    path.write_bytes(gzip.decompress((GOLDEN / "schema-2.db.gz").read_bytes()))
    (tmp_path / "recall.toml").write_text('store_path = "recall.db"\nchunk_tokens = 100\noverlap_tokens = 10\n')
    return path


def test_older_store_is_copied_and_upgraded_without_loss(old: Path) -> None:
    before = old.read_bytes()
    with Recall.open(str(old)) as recall:
        out = io.StringIO()
        recall.export(out)
        assert recall.stats()["store"]["schema_version"] == SCHEMA_VERSION
        checks = {check["code"]: check["severity"] for check in recall.doctor()["checks"]}
        assert [code for code, severity in checks.items() if severity == "error"] == []
        assert checks["texts"] == "ok"
        roots = [(root["folder"], root["active"]) for root in recall.roots()["roots"]]
        assert roots == [("docs", True), ("notes.jsonl", True)]
        assert recall.search("balancer")["results"][0]["doc"]["path"] == "docs/deploy.md"
        assert len(recall.store.judgements()) == 1
    assert out.getvalue() == (GOLDEN / "schema-2.jsonl").read_text(encoding="utf-8")
    copy = Path(f"{old}.bak-schema-2")
    assert copy.exists()
    assert old.read_bytes() != before


@pytest.mark.parametrize("version", [3, 4])
def test_store_of_a_later_schema_keeps_its_content_too(old: Path, version: int) -> None:
    old.write_bytes(gzip.decompress((GOLDEN / f"schema-{version}.db.gz").read_bytes()))
    with Recall.open(str(old)) as recall:
        out = io.StringIO()
        recall.export(out)
        assert recall.stats()["store"]["schema_version"] == SCHEMA_VERSION
        assert [check["code"] for check in recall.doctor()["checks"] if check["severity"] == "error"] == []
    assert out.getvalue() == (GOLDEN / "schema-2.jsonl").read_text(encoding="utf-8")
    assert Path(f"{old}.bak-schema-{version}").exists()


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_upgrade_to_vector_blocks_keeps_answers(old: Path, mode: Literal["semantic", "hybrid"]) -> None:
    old.write_bytes(gzip.decompress((GOLDEN / "schema-4.db.gz").read_bytes()))
    db = apsw.Connection(str(old), flags=apsw.SQLITE_OPEN_READONLY)
    for view in AS_NEWER.values():
        db.execute(view)
    before = SqliteStore(db, str(old), writable=False)
    config = Config(embedding="hash", embedding_dim=before.info().dimension)

    def asked(store: SqliteStore) -> object:
        recall = Recall(Engine(store, config=config, base=old.parent))
        answers = [recall.search(words, Ask(mode=mode))["results"] for words in ("balancer", "deploy", "balancer")]
        vector = HashEmbedder(config.embedding_dim).embed(["balancer"])[0]
        return answers, store.nearest(vector, where=None, k=2), store.vectors([1, 2, 3])

    assert before.execute("SELECT type FROM sqlite_schema WHERE name = 'vec'") == [("table",)]
    answers = asked(before)
    before.close()
    after = open_store(str(old))
    assert after.execute("SELECT type FROM sqlite_schema WHERE name = 'vec'") == [("view",)]
    assert asked(after) == answers
    after.close()


READ_ONLY = """
mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && {python} -c "
from recall_core import Recall
with Recall.open('{folder}/recall.db') as recall:
    print(recall.store.writable, recall.store.upgrade, recall.search('balancer')['results'][0]['doc']['path'])
"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a read-only file system")
def test_read_only_older_store_is_read_unchanged(old: Path) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("needs permission to mount")
    old.write_bytes(gzip.decompress((GOLDEN / "schema-4.db.gz").read_bytes()))
    script = READ_ONLY.format(folder=old.parent, python=sys.executable)

    result = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)

    assert result.stdout == "False  docs/deploy.md\n", result.stderr


def test_vector_checks_survive_upgrade_and_document_removal(old: Path) -> None:
    def checked(recall: Recall, table: str) -> tuple[int, int]:
        """Return the number of vectors, and how many have a check."""
        sql = f"SELECT count(*), count(checksum) FROM {table}"
        counts: tuple[int, int] = recall.store.execute(sql)[0]  # type: ignore[attr-defined]
        return counts

    with Recall.open(str(old)) as recall:
        assert (checked(recall, "vec"), checked(recall, "vec_cache")) == ((4, 4), (1, 1))

        recall.remove(["docs/deploy.md"])

        count, with_check = checked(recall, "vec_cache")
        assert count == with_check > 1
        assert recall.store.check("vector_values").severity == "ok"


def run(*argv: str, runner: Callable[..., int] = cli.main) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = runner(argv, streams=Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


def test_upgrade_is_reported_once_on_stderr(old: Path) -> None:
    note = f"note: {old} was upgraded from schema 2 to {SCHEMA_VERSION}; the old file is {old}.bak-schema-2.\n"

    first = run("--store", str(old), "roots")
    again = run("--store", str(old), "roots")

    assert again[2] == ""
    assert first == (again[0], again[1], note)


def test_upgrade_is_reported_once_for_several_commands_with_json(old: Path) -> None:
    lines = ["--json search balancer", "--json stats", "stats"]

    code, out, err = run(*lines, runner=partial(cli.run_commands, store=str(old)))

    assert (code, err.count("note: ")) == (0, 1)
    assert [json.loads(line)["ok"] for line in out.splitlines()[:2]] == [True, True]


def test_upgrade_copy_is_owner_only_and_still_opens(old: Path) -> None:
    old.chmod(0o644)
    Recall.open(str(old)).close()

    copy = Path(f"{old}.bak-schema-2")
    assert [path.stat().st_mode & 0o777 for path in (old, copy)] == [0o644, 0o600]
    db = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    assert (db.pragma("user_version"), db.pragma("integrity_check")) == (2, "ok")
    db.close()


RACING = """
import sys
from recall_core import Recall
sys.stdin.readline()
with Recall.open(sys.argv[1]) as recall:
    print(bool(recall.store.upgrade), recall.stats()["store"]["schema_version"])
"""


RACERS = 4 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 2


def test_one_of_several_concurrent_upgrades_runs_with_one_copy(old: Path) -> None:
    argv = [sys.executable, "-c", RACING, str(old)]
    racers = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(RACERS)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = [racer.communicate() for racer in racers]

    assert sorted(answers) == [(f"False {SCHEMA_VERSION}\n", "")] * (RACERS - 1) + [(f"True {SCHEMA_VERSION}\n", "")]
    db = apsw.Connection(f"{old}.bak-schema-2")
    assert db.pragma("user_version") == 2
    db.close()


def test_process_that_waited_for_an_upgrade_makes_no_copy(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[str] = []

    def upgrades_first(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        if sql.startswith("BEGIN IMMEDIATE") and not others:
            others.append("")
            with Recall.open(str(old)) as other:
                others[0] = other.store.upgrade
        return True

    def watched(db: apsw.Connection) -> None:
        db.exec_trace = upgrades_first

    monkeypatch.setattr(apsw, "connection_hooks", [watched])
    with Recall.open(str(old)) as recall:
        assert recall.store.upgrade == ""
        assert recall.stats()["store"]["schema_version"] == SCHEMA_VERSION

    assert others != [""]
    assert [path.name for path in old.parent.glob("*.bak*")] == ["recall.db.bak-schema-2"]


def test_upgrade_without_a_copy_changes_nothing(old: Path) -> None:
    Path(f"{old}.bak-schema-2").mkdir()
    before = old.read_bytes()

    with pytest.raises(StoreError):
        Recall.open(str(old))

    assert old.read_bytes() == before


def test_text_that_disagrees_with_its_vector_is_marked_unverified(old: Path) -> None:
    db = apsw.Connection(str(old))
    db.execute("DROP TRIGGER chunk_text_is_immutable")
    db.execute("UPDATE chunk SET text = text || '!' WHERE rowid = 1")
    db.close()

    with Recall.open(str(old)) as recall:
        (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "texts")
    assert check["evidence"] == "1 of 4 texts were stored by an earlier version, without a hash"
    assert json.dumps(check)
