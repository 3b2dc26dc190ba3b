"""Verify reports the content of a file or its errors, and changes neither the file nor its folder."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
from hashlib import sha256
from pathlib import Path

import apsw
import pytest

from recall_core import Recall
from recall_core.errors import StoreError
from tests.damage import change_vectors
from tests.unit.test_backup import run

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base: Path = tmp_path_factory.mktemp("made")
    (base / "docs").mkdir()
    for name in "abc":
        (base / "docs" / f"{name}.md").write_text(f"# Title {name}\n\nA quokka smiles at {name}. 東京\n")
    Recall.init(str(base))
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "docs"))
        with (base / "export.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            recall.export(out)
        with (base / "bare.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            recall.export(out, embeddings=False)
    return base


@pytest.fixture
def base(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "base"))


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


def errors(path: Path) -> list[str]:
    return [check["code"] for check in Recall.verify(path)["checks"] if check["severity"] == "error"]


def test_sound_store_is_counted_and_passes_every_check(base: Path) -> None:
    before = state(base)

    response = Recall.verify(base / "recall.db")

    verified = response["verified"]
    assert (verified["kind"], verified["documents"], verified["chunks"]) == ("store", 3, 3)
    assert {check["severity"] for check in response["checks"]} == {"ok"}
    assert {"integrity", "fulltext", "texts", "vector_values", "digest"} <= {c["code"] for c in response["checks"]}
    assert state(base) == before


def test_store_with_a_log_is_checked_and_left_unchanged(base: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    (base / "docs" / "d.md").write_text("A fourth.\n")
    with Recall.open(str(base)) as recall:
        reader = apsw.Connection(str(base / "recall.db"))
        reader.execute("BEGIN; SELECT count(*) FROM doc").fetchall()
        recall.index(str(base / "docs"))
        for name in ("recall.db", "recall.db-wal"):
            shutil.copy(base / name, killed / name)
        reader.close()
    before = state(killed)
    assert before["recall.db-wal"][0]

    verified = Recall.verify(killed / "recall.db")["verified"]

    assert verified["documents"] == 4
    assert state(killed) == before


def test_store_of_an_earlier_version_is_verified_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress((GOLDEN / "schema-2.db.gz").read_bytes()))
    before = state(tmp_path)

    assert errors(path) == []
    assert state(tmp_path) == before


DAMAGE: dict[str, tuple[str, str]] = {
    "a text": ("UPDATE chunk SET text = replace(text, 'smiles', 'snarls') WHERE rowid = 1", "texts"),
    "a vector": (
        "UPDATE vec SET embedding = (SELECT embedding FROM vec WHERE chunk = 2) WHERE chunk = 1",
        "vector_values",
    ),
    "a ghost": ("INSERT INTO chunk_fts(rowid, title, body) VALUES(999, 't', 'ghost')", "fulltext"),
    "a title": ("UPDATE doc SET title = 'Another title' WHERE rowid = 2", "digest"),
}


def test_damage_in_a_store_is_named(template: Path, tmp_path: Path) -> None:
    for name, (statement, code) in DAMAGE.items():
        base = Path(shutil.copytree(template, tmp_path / name))
        db = apsw.Connection(str(base / "recall.db"))
        change_vectors(db)
        db.execute(f"DROP TRIGGER chunk_text_is_immutable; {statement}")
        db.close()

        assert code in errors(base / "recall.db"), name


def test_file_other_than_a_store_fails_a_check(base: Path) -> None:
    path = base / "recall.db"
    raw = path.read_bytes()
    for spoilt in (b"", b"\x00" * len(raw), b"x" + raw[1:]):
        path.write_bytes(spoilt)

        response = Recall.verify(path)

        (check,) = response["checks"]
        assert (check["code"], check["severity"]) == ("integrity", "error"), spoilt[:9]
        assert str(path) in check["evidence"], spoilt[:9]
        assert "documents" not in response["verified"], spoilt[:9]


def test_sound_export_is_counted(base: Path) -> None:
    for name in ["export.jsonl", "bare.jsonl"]:
        response = Recall.verify(base / name)

        verified = response["verified"]
        assert (verified["kind"], verified["documents"], verified["chunks"]) == ("export", 3, 3), name
        body = (base / name).read_bytes().splitlines(keepends=True)[:-1]
        assert verified["sha256"] == sha256(b"".join(body)).hexdigest(), name
        assert [check["severity"] for check in response["checks"]] == ["ok"], name


def test_export_with_a_changed_byte_is_never_verified(base: Path) -> None:
    sound = (base / "export.jsonl").read_bytes()
    for seed in range(24):
        chance, raw = random.Random(seed), bytearray(sound)
        raw[chance.randrange(1, len(raw) - 1)] ^= 1 << chance.randrange(8)
        (base / "export.jsonl").write_bytes(raw)

        assert errors(base / "export.jsonl") == ["export"], seed


def seal(lines: list[bytes]) -> bytes:
    body = b"".join(lines)
    return body + json.dumps({"type": "end", "sha256": sha256(body).hexdigest()}).encode() + b"\n"


def test_export_with_a_changed_label_fails_its_digest(base: Path) -> None:
    sound = (base / "export.jsonl").read_bytes().splitlines(keepends=True)[:-1]
    place = next(n for n, line in enumerate(sound) if b'"type":"document"' in line)
    for key, value in {"title": "Another", "source": "elsewhere", "tags": ["x"], "meta": {"year": 1}}.items():
        lines = [*sound]
        lines[place] = json.dumps({**json.loads(lines[place]), key: value}, ensure_ascii=False).encode() + b"\n"
        (base / "export.jsonl").write_bytes(seal(lines))

        (check,) = Recall.verify(base / "export.jsonl")["checks"]

        assert (check["severity"], "digest" in check["evidence"]) == ("error", True), key


def test_truncated_export_is_reported(base: Path) -> None:
    raw = (base / "export.jsonl").read_bytes()
    (base / "export.jsonl").write_bytes(raw[: len(raw) // 2])

    assert errors(base / "export.jsonl") == ["export"]


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as error:
        Recall.verify(tmp_path / "nowhere.db")

    assert error.value.code == "no_store"
    with pytest.raises(StoreError) as error:
        Recall.verify(tmp_path)
    assert error.value.code == "store_unreadable"


def test_command_exits_6_for_any_damage(base: Path) -> None:
    path = base / "recall.db"
    code, out, _ = run("verify", str(path))
    assert (code, out.splitlines()[0].split("  ")[0]) == (0, f"{path}: store, 3 documents, 3 chunks")

    path.write_bytes(b"no store")
    code, out, _ = run("verify", str(path))

    assert (code, out.splitlines()[0]) == (6, f"{path}: store, damaged")
    with Recall.open(":memory:"):
        assert run("verify", str(base / "export.jsonl"))[0] == 0


def test_store_opened_by_others_can_be_verified(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        (base / "docs" / "d.md").write_text("A fourth.\n")
        recall.index(str(base / "docs"))
        assert Recall.verify(base / "recall.db")["verified"]["documents"] == 4
        (base / "docs" / "e.md").write_text("A fifth.\n")
        recall.index(str(base / "docs"))
        assert recall.stats()["store"]["documents"] == 5
    out = io.StringIO()
    with Recall.open(str(base)) as recall:
        assert recall.export(out)["transfer"]["documents"] == 5
