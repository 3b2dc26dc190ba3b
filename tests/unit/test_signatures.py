"""The signature index: equal bits everywhere, correct after every change, and always reported."""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from recall_core.api.recall import Recall
from recall_core.config import FILE_NAME, Config
from recall_core.errors import ConfigError, RecallError
from recall_core.maintain import embedders
from recall_core.retrieve import pool as pool_module
from recall_core.retrieve.asking import Ask
from recall_core.rql.parser import parse_filter
from recall_core.store import signatures
from recall_core.store.sqlite import lsh
from recall_core.store.sqlite.memory import matrix
from recall_core.store.sqlite.store import SqliteStore, open_store
from recall_core.store.values import ReembedTarget, Signing
from recall_core.types import Vector
from tests.builders import EMBEDDER, memory_store, new_file, put

IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
SIGNING = Signing(128, 7)
WORDS = "ant bee cat dog elk fox gnu hen ibis jay kite lion mole newt owl pike".split()
KNOWN = "79adc4cff14f3072d2dac5c8a2137675b910a7f959e069e82c36a84cee30a316"
"""sha256 of some signatures."""
WHERES = (None, "doc.source = 'a'", "doc.path GLOB '3/*'", "doc.source = 'nowhere'")


def unit(random: Random, dimension: int) -> Vector:
    values = np.array([random.gauss(0, 1) for _ in range(dimension)])
    return bytes((values / np.linalg.norm(values)).astype("<f4").tobytes())


def some_file(random: Random, number: int) -> Any:
    texts = [" ".join(random.choices(WORDS, k=random.randint(1, 12))) for _ in range(random.randint(1, 4))]
    return new_file(f"{number % 5}/{number:03}.txt", texts, source=random.choice(["a", "b"]))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("signed") / "recall.db")
    store, random = memory_store(where), Random(3)
    assert store.sign(SIGNING)
    put(store, *(some_file(random, number) for number in range(60)))
    store.close()
    return where


@pytest.fixture
def path(template: str, tmp_path: Path) -> str:
    return str(shutil.copy(template, tmp_path / "recall.db"))


@cache
def sign(vector: Vector) -> bytes:
    return bytes(signatures.signature(vector, SIGNING))


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    opened = open_store(path)
    yield opened
    opened.close()


def by_rule(store: SqliteStore, vector: Vector, where: str | None, k: int) -> list[int]:
    """Return the shortlist by its definition."""
    rowids = [key.rowid for key in store.candidates(None if where is None else parse_filter(where))]
    own, held = sign(vector), store.vectors(rowids)

    def far(rowid: int) -> int:
        other = sign(bytes(held[rowid]))
        return (int.from_bytes(own, "big") ^ int.from_bytes(other, "big")).bit_count()

    return sorted((rowid for rowid in rowids if rowid in held), key=far)[:k]


def shortlists(store: SqliteStore, seed: int) -> list[tuple[object, object]]:
    """Return the shortlists of random queries, and the expected ones."""
    random = Random(seed)
    vector = EMBEDDER.embed([" ".join(random.choices(WORDS, k=3))], is_query=True)[0]
    found: list[tuple[object, object]] = []
    with store.reading():
        for where in WHERES:
            k = random.choice([0, 1, 7, 40, 1_000])
            given = None if where is None else parse_filter(where)
            found.append((store.shortlist(vector, SIGNING, where=given, k=k), by_rule(store, vector, where, k)))
    return found


def signatures_of(store: SqliteStore) -> dict[int, bytes]:
    return dict(store.execute("SELECT chunk, signature FROM ann_lsh"))


def fresh(store: SqliteStore) -> dict[int, bytes]:
    held = store.vectors([key.rowid for key in store.candidates(None)])
    return {rowid: sign(bytes(vector)) for rowid, vector in held.items()}


def test_seed_gives_the_same_bits_on_every_machine() -> None:
    vectors = EMBEDDER.embed(WORDS)
    made = b"".join(signatures.signature(vector, Signing(256, 5)) for vector in vectors)
    assert sha256(made).hexdigest() == KNOWN


def test_numpy_and_plain_python_make_the_same_signatures() -> None:
    for dimension in [1, 8, 33, 64, 300, 512]:
        random = Random(dimension)
        vectors = [unit(random, dimension) for _ in range(9)]
        vectors += [array("f", [0.0] * dimension).tobytes(), array("f", [1.0] + [0.0] * (dimension - 1)).tobytes()]
        plain = [signatures._plain(vector, SIGNING) for vector in vectors]
        assert signatures.signatures(vectors, SIGNING) == plain, dimension
        assert [signatures.signature(vector, SIGNING) for vector in vectors] == plain, dimension


def test_more_bits_extend_a_signature_and_another_seed_changes_it() -> None:
    vector = unit(Random(0), 64)
    few, many = (signatures.signature(vector, Signing(bits, 1)) for bits in (64, 512))
    assert many[:8] == few != signatures.signature(vector, Signing(64, 2))


def test_vector_near_a_hyperplane_has_one_side_everywhere() -> None:
    """Two components cancel each other out, and the others are too small to count."""
    near = [array("f", [0.7, first, *([1e-6] * 62)]).tobytes() for first in (0.7, -0.7)]
    made = signatures.signatures(near, SIGNING)
    assert made == [signatures._plain(vector, SIGNING) for vector in near]
    assert (int.from_bytes(made[0], "big") & int.from_bytes(made[1], "big")) == 0


def test_sums_beyond_single_precision_are_exact_too() -> None:
    """The bits of a vector do not depend on its length."""
    longer = array("f", [2.0**9, *([2.0**-15] * 31), -(2.0**9)]).tobytes()
    assert signatures.signatures([longer], SIGNING) == [signatures._plain(longer, SIGNING)]


def test_older_numpy_counts_bits_equally() -> None:
    words = np.array([[0, 1, 2**64 - 1], [2**63, 12345, 7]], dtype=np.uint64)
    assert matrix.ones_by_byte(words[0]).tolist() == [0, 1, 64] == matrix.ones(words[0]).tolist()
    assert matrix.ones_by_byte(words[1]).tolist() == matrix.ones(words[1]).tolist()


def test_shortlist_equals_a_full_comparison_of_filtered_rows(store: SqliteStore) -> None:
    for memory_mb in [0, 512]:
        store.memory_mb = memory_mb
        assert not memory_mb or store.fill_memory(), memory_mb
        for seed in range(20 if IS_NIGHT else 6):
            for found, wanted in shortlists(store, seed):
                assert found == wanted, (seed, memory_mb)
        with store.reading():
            store.remember(object())
            memory = store.in_memory()
            assert (memory is not None and memory.nearby is not None) is bool(memory_mb), memory_mb


def test_shortlist_contains_only_live_rows(store: SqliteStore) -> None:
    (gone,) = by_rule(store, EMBEDDER.embed(["ant"])[0], None, 1)
    with store.unlock():
        store.execute("UPDATE doc SET deleted = 1 WHERE rowid = (SELECT doc FROM chunk WHERE rowid = ?)", (gone,))
    found = store.shortlist(EMBEDDER.embed(["ant"])[0], SIGNING, where=None, k=5)
    assert found == by_rule(store, EMBEDDER.embed(["ant"])[0], None, 5)
    assert gone not in (found or [])


WRITES = ("put", "tombstone", "compact", "purge", "reembed", "put_vectors", "refresh")


@pytest.mark.parametrize("seed", range(4 if IS_NIGHT else 1))
def test_signatures_follow_every_write(store: SqliteStore, seed: int) -> None:
    random = Random(seed)
    for step, write in enumerate(random.sample(WRITES, len(WRITES)) + random.choices(WRITES, k=5 * IS_NIGHT)):
        match write:
            case "put":
                put(store, *(some_file(random, random.randint(0, 80)) for _ in range(random.randint(1, 20))))
            case "tombstone":
                paths = [file.path for file in store.files()]
                with store.writer() as writer:
                    writer.tombstone(random.sample(paths, min(9, len(paths))))
            case "compact":
                store.compact()
            case "purge":
                with store.writer() as writer:
                    writer.begin_purge([])
                store.purge()
            case "reembed":
                reembed(store, step)
            case "put_vectors":
                vectors = store.vectors([key.rowid for key in store.candidates(None)])
                with store.transaction():
                    some = random.sample(sorted(vectors), 5)
                    store.execute_many("DELETE FROM vec_place WHERE chunk = ?", [(rowid,) for rowid in some])
                made = {rowid: (vectors[rowid], 1) for rowid in some}
                store.put_vectors(embedder=store.embedder(), made=made)
            case _:
                put(store, *[some_file(Random(1), 1)])
        assert signatures_of(store) == fresh(store), (step, write)
        assert store.is_signed(SIGNING), (step, write)
        assert store.wrong_signatures() == 0, (step, write)


def reembed(store: SqliteStore, step: int) -> None:
    target = ReembedTarget(f"other-{step}", 32, "reembed")
    store.begin_reembed(target)
    while texts := store.texts_to_reembed(after=b"", limit=1_000):
        store.save_reembedded(target, {key: (unit(Random(text), 32), 1) for key, text in texts.items()})
    assert store.finish_reembed(target)
    back = ReembedTarget(EMBEDDER.identity, 64, "reembed")
    store.begin_reembed(back)
    while texts := store.texts_to_reembed(after=b"", limit=1_000):
        made = EMBEDDER.embed(list(texts.values()))
        store.save_reembedded(back, {key: (vector, 1) for key, vector in zip(texts, made, strict=True)})
    assert store.finish_reembed(back)


def test_vectors_and_signatures_share_one_transaction(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signatures_of(store)
    monkeypatch.setattr(store, "_expect_in_place", fail_second())
    with pytest.raises(ZeroDivisionError):
        put(store, new_file("new.txt", ["gnu"]))
    monkeypatch.undo()
    assert signatures_of(store) == before == fresh(store)


def fail_second() -> Callable[[], None]:
    """Return a check that passes as a transaction begins and fails before its commit."""
    looks = iter([None, ZeroDivisionError()])

    def look() -> None:
        if error := next(looks):
            raise error

    return look


def test_writer_without_signatures_hides_nothing(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(lsh, "sign", lambda *_: None)
        put(store, new_file("new.txt", ["gnu"]))
    assert not store.is_signed(SIGNING)
    assert store.shortlist(EMBEDDER.embed(["gnu"])[0], SIGNING, where=None, k=5) is None
    assert store.wrong_signatures() == 1
    put(store, new_file("newer.txt", ["owl"]))
    assert store.is_signed(SIGNING)
    assert signatures_of(store) == fresh(store)


def test_changed_settings_rebuild_or_drop_signatures(store: SqliteStore) -> None:
    generation, digest = store.generation(), store.info().digest
    assert not store.sign(SIGNING)
    assert store.sign(Signing(64, 1))
    assert store.signing() == Signing(64, 1)
    assert not store.is_signed(SIGNING)
    assert {len(each) for each in signatures_of(store).values()} == {8}
    assert store.sign(None)
    assert not store.sign(None)
    assert store.signing() is None
    names = [name for (name,) in store.execute("SELECT name FROM sqlite_schema")]
    assert [name for name in names if name.startswith("ann")] == []
    assert (store.generation(), store.info().digest) == (generation, digest)


def test_purge_leaves_no_signature(path: str) -> None:
    store = open_store(path)
    (first, *_) = store.files()
    gone = {signatures_of(store)[rowid] for rowid in store.chunks_of_file(first.path)}
    with store.writer() as writer:
        writer.begin_purge([first.path])
        writer.tombstone([first.path])
    gone -= set(signatures_of(store).values())
    assert gone
    assert store.purge()
    store.close()
    content = Path(path).read_bytes()
    assert [each for each in gone if each in content] == []


# The command line.


@pytest.fixture(scope="module")
def home_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home: Path = tmp_path_factory.mktemp("home")
    docs, random = home / "docs", Random(5)
    docs.mkdir()
    for number in range(60):
        heading = " ".join(random.choices(WORDS, k=3))
        (docs / f"{number:02}.md").write_text(f"# {heading}\n\n{' '.join(random.choices(WORDS, k=30))}\n")
    init(home, "vector_index=lsh", "ann_bits=128", "embedding_dim=64")
    with Recall.open(start=home) as recall:
        recall.index(str(docs))
    return home


@pytest.fixture
def home(home_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", 0)
    monkeypatch.setattr(embedders, "EXACT_VECTORS", 0)
    monkeypatch.setattr(pool_module, "SHORTLIST", 6)
    return Path(shutil.copytree(home_template, tmp_path, dirs_exist_ok=True))


def init(folder: Path, *settings: str) -> None:
    Recall.init(str(folder), settings=("pool=4", *settings))


def set_to(home: Path, **settings: Any) -> None:
    toml = home / FILE_NAME
    lines = [line for line in toml.read_text().splitlines() if line.partition(" = ")[0] not in settings]
    toml.write_text("\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]))


def comparable(response: Any) -> Any:
    """Return the response without what store and query do not determine."""
    response["stats"].pop("took_ms"), response["stats"].pop("timings")
    return response


def test_answer_reports_signature_use_and_examined_rows(home: Path) -> None:
    with Recall.open(start=home) as recall:
        answer = recall.search("ant bee", mode="semantic")
        stats, plan = answer["stats"], answer["query"]["plan"]
        words = recall.search("ant bee", mode="lexical")["stats"]
    assert (stats["exact"], stats["index"], stats["examined"], stats["total_hits"]) == (False, "lsh", 6, 4)
    assert plan["index"] == "lsh"
    assert ("examined" in words, words["index"]) == (False, "exact")


def test_every_process_gives_the_same_bytes_repeatedly(home: Path) -> None:
    asks = [
        Ask(mode=mode, filter=filtered, explain=True)
        for mode in ("semantic", "hybrid")
        for filtered in (None, "doc.path GLOB '*/1?.md'")
    ]

    def asked(recall: Recall) -> list[Any]:
        return [comparable(recall.search("ant bee kite", ask)) for ask in asks]

    with Recall.open(start=home) as cold, Recall.open(start=home) as warm:
        first = asked(cold)
        assert warm.store.fill_memory()
        for _ in range(5):
            assert asked(warm) == first
        with warm.store.reading():
            warm.store.remember(object())
            assert warm.store.in_memory() is not None
        plain = cold
        plain.store.memory_mb = 0
        assert asked(plain) == first


def test_exact_query_equals_a_store_without_an_index(home: Path, tmp_path: Path) -> None:
    rql = "SELECT * FROM chunk USING semantic('ant bee'), lexical('ant') LIMIT 9 OPTION exact ON"
    with Recall.open(start=home) as recall:
        before = [comparable(recall.search("ant bee", exact=True)), comparable(recall.query(rql))]
    for index in ("auto", "exact"):
        set_to(home, vector_index=index)
        with Recall.open(start=home) as recall:
            assert [comparable(recall.search("ant bee", exact=True)), comparable(recall.query(rql))] == before
            signed = comparable(recall.search("ant bee"))
            recall.compact()
            assert recall.store.signing() is None
            assert comparable(recall.search("ant bee")) == signed
            assert signed["stats"]["index"] == "exact"
        set_to(home, vector_index="lsh")
        with Recall.open(start=home) as recall:
            recall.compact()


def test_filter_applies_before_the_shortlist(home: Path) -> None:
    where = "doc.path IN ('docs/10.md', 'docs/11.md', 'docs/12.md')"
    with Recall.open(start=home) as recall:
        answer = recall.search("ant bee", mode="semantic", filter=where)
        exact = recall.search("ant bee", mode="semantic", filter=where, exact=True)
    assert answer["results"] == exact["results"]
    assert (answer["stats"]["examined"], len(answer["results"])) == (3, 3)


def test_signatures_of_other_settings_are_ignored_with_a_hint(home: Path) -> None:
    for changed in [{"ann_bits": 192}, {"ann_seed": 1}]:
        set_to(home, **changed)
        with Recall.open(start=home) as recall:
            answer = recall.search("ant bee", k=4)
            (warning,) = answer["warnings"]
            stats = recall.stats()["store"]["vector_index"]
            (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "vector_index")
        assert (answer["stats"]["index"], "examined" in answer["stats"]) == ("exact", False), changed
        assert warning.startswith("W_VECTOR_INDEX: "), changed
        assert "to make them: recall compact" in warning, changed
        assert (stats["ready"], stats["used"]) == (False, False), changed
        assert (check["severity"], check["fix"]) == ("warning", "recall compact"), changed
        with Recall.open(start=home) as recall:
            assert recall.compact()["compacted"]["signatures"] == 60, changed
            again = recall.search("ant bee", k=4)
        assert (again["stats"]["index"], again["warnings"]) == ("lsh", []), changed


def test_small_store_is_searched_fully_without_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", 60)
    monkeypatch.setattr(embedders, "EXACT_VECTORS", 60)
    set_to(home, ann_seed=1)
    with Recall.open(start=home) as recall:
        answer = recall.search("ant bee")
    assert (answer["stats"]["exact"], answer["stats"]["index"], answer["warnings"]) == (True, "exact", [])


def test_stats_and_doctor_measure_recall_on_word_queries(home: Path) -> None:
    with Recall.open(start=home) as recall:
        stats = recall.stats()["store"]["vector_index"]
        assert stats == recall.stats()["store"]["vector_index"]
        (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "vector_index")
        found = embedders.measure_recall(recall.store, recall.engine.embedder, recall.config)
    assert (stats["ready"], stats["used"], stats["questions"]) == (True, True, 20)
    assert stats["recall_at_10"] is not None
    assert 0 < stats["recall_at_10"] < 1
    assert (found.at_10, found.at_pool) == (stats["recall_at_10"], stats["recall_at_pool"])
    assert check["severity"] == "ok"
    assert check["evidence"] == f"60 signatures of 128 bits with seed 0; {found}"


def test_shortlist_of_every_row_finds_everything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "SHORTLIST", 60)
    with Recall.open(start=home) as recall:
        found = embedders.measure_recall(recall.store, recall.engine.embedder, recall.config)
    assert (found.at_10, found.at_pool) == (1.0, 1.0)


def test_empty_store_has_undefined_recall(tmp_path: Path) -> None:
    init(tmp_path, "vector_index=lsh")
    with Recall.open(start=tmp_path) as recall:
        view = recall.stats()["store"]["vector_index"]
    assert (view["ready"], view["questions"], view["recall_at_10"], view["recall_at_pool"]) == (True, 0, None, None)


def test_doctor_finds_a_wrong_signature_and_rebuilds_all(home: Path) -> None:
    with Recall.open(start=home) as recall:
        with recall.store.transaction():  # type: ignore[attr-defined]
            recall.store.execute(  # type: ignore[attr-defined]
                "UPDATE ann_lsh SET signature = zeroblob(16) WHERE chunk IN (SELECT min(chunk) FROM ann_lsh)"
            )
        (check,) = (each for each in recall.doctor()["checks"] if each["code"] == "vector_index")
        assert (check["severity"], check["fix"]) == ("error", "recall doctor --fix")
        assert check["evidence"] == "1 signatures do not match their vectors"
        checks = {each["code"]: each for each in recall.doctor(fix=True)["checks"]}
        assert (checks["vector_index"]["severity"], "backup" in checks) == ("ok", True)
        assert recall.store.wrong_signatures() == 0
        assert "backup" not in {each["code"] for each in recall.doctor(fix=True)["checks"]}


def test_rebuilt_damaged_store_has_its_signatures(home: Path) -> None:
    with Recall.open(start=home) as recall:
        store = recall.store
        assert isinstance(store, SqliteStore)
        with store.transaction():
            store.execute("UPDATE chunk SET hash = zeroblob(32) WHERE rowid = (SELECT min(rowid) FROM chunk)")
        checks = {each["code"]: each for each in recall.doctor(fix=True)["checks"]}
    assert {"rebuilt", "backup"} <= checks.keys()
    assert checks["vector_index"]["severity"] == "ok"
    with Recall.open(start=home) as recall:
        assert recall.store.is_signed(Signing(128, 0))
        assert recall.store.wrong_signatures() == 0
        assert recall.search("ant bee")["stats"]["index"] == "lsh"


def test_doctor_ignores_an_unwanted_index(home: Path) -> None:
    set_to(home, vector_index="auto")
    with Recall.open(start=home) as recall:
        assert "vector_index" not in {each["code"] for each in recall.doctor()["checks"]}
        assert "vector_index" not in recall.stats()["store"]
        assert "signatures" not in recall.compact()["compacted"]


def test_import_signs_its_vectors(home: Path, tmp_path: Path) -> None:
    with Recall.open(start=home) as recall, (home / "out.jsonl").open("w") as out:
        recall.export(out)
        before = recall.store.execute("SELECT count(*) FROM ann_lsh")  # type: ignore[attr-defined]
        asked = comparable(recall.search("ant bee"))
    (home / "recall.db").rename(home / "first.db")
    init(home)
    with Recall.open(start=home) as recall:
        assert recall.store.is_signed(Signing(128, 0))
        recall.import_(home / "out.jsonl")
        assert recall.store.execute("SELECT count(*) FROM ann_lsh") == before  # type: ignore[attr-defined]
        assert recall.store.wrong_signatures() == 0
        assert comparable(recall.search("ant bee")) == asked


def test_recovered_store_has_the_configured_signatures(home: Path) -> None:
    Recall.recover(home / "recall.db", home / "other.db")
    store = open_store(str(home / "other.db"))
    assert store.is_signed(Signing(128, 0))
    assert store.wrong_signatures() == 0
    store.close()


def test_whynot_reports_index_misses_and_suggests_exact_search(home: Path) -> None:
    with Recall.open(start=home) as recall:
        near = recall.search("ant bee", mode="semantic", k=4)
        exact = recall.search("ant bee", mode="semantic", k=4, exact=True)
        held = {each["doc"]["path"] for each in near["results"]}
        missed = [each["doc"]["path"] for each in exact["results"] if each["doc"]["path"] not in held]
        view = recall.why_not("ant bee", missed[0], Ask(mode="semantic", k=4))["whynot"]
        listed = recall.why_not("ant bee", sorted(held)[0], Ask(mode="semantic", k=4), fixes=False)["whynot"]
    stages = {each["stage"]: each for each in view["stages"]}
    assert (view["verdict"], stages["index"]["status"]) == ("ann_miss", "fail")
    assert stages["index"]["evidence"]["rank"] <= 4
    assert stages["index"]["evidence"]["of"] == 6
    fix = next(fix for fix in view["fixes"] if fix["kind"] == "exact")
    assert (fix["confirmed"], "--exact" in fix["command"]) == (True, True)
    (stage,) = (each for each in listed["stages"] if each["stage"] == "index")
    assert stage["status"] == "pass"


def test_whynot_does_not_blame_the_index_for_exact_misses(home: Path) -> None:
    with Recall.open(start=home) as recall:
        last = recall.search("ant bee", mode="semantic", k=60, exact=True)["results"][-1]["doc"]["path"]
        view = recall.why_not("ant bee", last, Ask(mode="semantic"), fixes=False)["whynot"]
        set_to(home, vector_index="auto")
    (stage,) = (each for each in view["stages"] if each["stage"] == "index")
    assert (view["verdict"], stage["status"]) == ("pool_miss", "pass")
    with Recall.open(start=home) as recall:
        view = recall.why_not("ant bee", last, Ask(mode="semantic"), fixes=False)["whynot"]
    assert [each for each in view["stages"] if each["stage"] == "index"] == []


def test_impossible_settings_are_refused(tmp_path: Path) -> None:
    for value in ["ann_bits=100", "ann_bits=32", "ann_seed=-1", "vector_index=ivf"]:
        with pytest.raises(ConfigError) as refused:
            init(tmp_path, value)
        assert refused.value.code == "bad_value", value


def test_index_belongs_to_the_store_not_to_a_query(home: Path) -> None:
    with Recall.open(start=home) as recall, pytest.raises(RecallError) as refused:
        recall.search("ant", settings=("vector_index=exact",))
    assert refused.value.code == "setting_fixed"


def test_store_without_signature_support_answers_with_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteStore, "capabilities", frozenset({"lexical_fts"}))
    with Recall.open(start=home) as recall:
        answer = recall.search("ant bee", k=4)
        view = recall.stats()["store"]["vector_index"]
        recall.compact()
    assert answer["warnings"] == ["W_VECTOR_INDEX: this kind of store has no index 'lsh'; compared every vector"]
    assert (answer["stats"]["index"], view["ready"]) == ("exact", False)


def test_defaults_use_no_index() -> None:
    assert (Config().vector_index, Config().ann_bits, Config().ann_seed) == ("auto", 1024, 0)
