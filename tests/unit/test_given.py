"""Given vectors: each belongs to its own document, and no text shares it, on any path."""

import json
from array import array
from collections.abc import Iterator
from hashlib import sha256
from io import StringIO
from math import nan
from pathlib import Path
from threading import Thread

import pytest

from recall_core import PutDocument, Recall, RecallError
from recall_core.api.engine import result_of
from recall_core.api.put import id_of, path_of
from recall_core.embed.hash import HashEmbedder
from recall_core.maintain.doctor import make_vectors

TEXT = "The harbour pilot wrote a short report on tides."
DIMENSION = 16
OWN = HashEmbedder(DIMENSION).embed([TEXT])[0]
"""The vector that the store's embedder makes of the text."""


def axis(number: int, *, size: int = DIMENSION) -> list[float]:
    return [float(each == number) for each in range(size)]


def given(name: str, number: int, text: str = TEXT) -> PutDocument:
    return PutDocument(name, text, embedding=axis(number))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    Recall.init(str(tmp_path), embedding="hash", settings={"embedding_dim": DIMENSION})
    return tmp_path


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(str(home)) as recall:
        yield recall


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Recall]:
    Recall.init(str(tmp_path / "bare"), embedding=f"given:{DIMENSION}")
    with Recall.open(str(tmp_path / "bare")) as recall:
        yield recall


def add(recall: Recall, name: str, text: str = TEXT) -> None:
    (recall.engine.base / name).write_text(text)
    recall.index(name if name.startswith("/") else str(recall.engine.base / name))


def vectors(recall: Recall) -> dict[str, bytes]:
    """Return the vector of each live document by path."""
    sql = """SELECT d.path, v.embedding FROM chunk c JOIN doc d ON d.rowid = c.doc JOIN vec v ON v.chunk = c.rowid
    WHERE c.deleted = 0"""
    return {path: bytes(vector) for path, vector in recall.store.execute(sql)}


def unit(number: int) -> bytes:
    return array("f", axis(number)).tobytes()


def mixed(recall: Recall) -> dict[str, bytes]:
    """Store the text in a file, with two given vectors, and in a later file. Return the expected vectors."""
    add(recall, "before.txt")
    recall.put([given("a", 0), given("b", 1)])
    add(recall, "after.txt")
    return {"before.txt": OWN, "after.txt": OWN, path_of("a"): unit(0), path_of("b"): unit(1)}


def test_ingest_shares_no_given_vector(recall: Recall) -> None:
    expected = mixed(recall)
    assert vectors(recall) == expected


def test_given_vector_first_is_not_shared_either(recall: Recall) -> None:
    recall.put([given("a", 0)])
    add(recall, "after.txt")
    recall.put([PutDocument("c", TEXT)])

    assert vectors(recall) == {path_of("a"): unit(0), "after.txt": OWN, path_of("c"): OWN}


def test_tombstone_keeps_no_given_vector(recall: Recall) -> None:
    recall.put([given("a", 0)])
    recall.put([given("a", 1)])
    assert recall.delete(["a"]) == 1
    assert recall.store.execute("SELECT count(*) FROM vec_cache") == [(0,)]

    add(recall, "after.txt")
    recall.put([given("b", 2)])

    assert vectors(recall) == {"after.txt": OWN, path_of("b"): unit(2)}


def test_removed_file_leaves_its_vector_to_texts_alone(recall: Recall) -> None:
    add(recall, "before.txt")
    recall.remove(["before.txt"])
    recall.put([given("a", 0)])
    add(recall, "after.txt")

    assert vectors(recall) == {path_of("a"): unit(0), "after.txt": OWN}


def test_import_keeps_each_vector(recall: Recall, tmp_path: Path) -> None:
    expected = mixed(recall)
    out = StringIO()
    recall.export(out)
    source = tmp_path / "export.jsonl"
    source.write_text(out.getvalue())
    Recall.init(str(tmp_path / "other"), embedding="hash", settings={"embedding_dim": DIMENSION})

    with Recall.open(str(tmp_path / "other")) as other:
        other.import_(source)
        again = StringIO()
        other.export(again)
        assert (vectors(other), again.getvalue()) == (expected, out.getvalue())
        other.put([PutDocument("c", TEXT)])
        assert vectors(other) == expected | {path_of("c"): OWN}


@pytest.mark.parametrize("way", ["reembed", "no vectors", "another vector"])
def test_import_never_makes_a_given_vector(recall: Recall, tmp_path: Path, way: str) -> None:
    mixed(recall)
    out = StringIO()
    recall.export(out, embeddings=way != "no vectors")
    lines = out.getvalue().splitlines(keepends=True)
    if way == "another vector":
        chunks = {n: json.loads(line) for n, line in enumerate(lines) if '"type":"chunk"' in line}
        (first, one), (_, other) = [each for each in chunks.items() if each[1]["text"] == TEXT][-2:]
        lines[first] = lines[first].replace(one["vector"], other["vector"])
    lines[-1] = json.dumps({"type": "end", "sha256": sha256("".join(lines[:-1]).encode()).hexdigest()}) + "\n"
    source = tmp_path / "export.jsonl"
    source.write_text("".join(lines))
    Recall.init(str(tmp_path / "other"), embedding="hash", settings={"embedding_dim": DIMENSION})

    with Recall.open(str(tmp_path / "other")) as other:
        with pytest.raises(RecallError) as caught:
            other.import_(source, reembed=way == "reembed")
        assert caught.value.code == ("import_invalid" if way == "another vector" else "vectors_given")
        assert vectors(other) == {}


def test_rebuilt_store_keeps_each_vector(recall: Recall, tmp_path: Path) -> None:
    expected = mixed(recall)
    before = recall.store.info()

    recall.store.rebuild(copy=None, made_with=lambda: None)

    assert vectors(recall) == expected
    assert recall.store.info().digest == before.digest
    assert len(recall.store.given_vectors()) == 2
    recall.put([PutDocument("c", TEXT)])
    assert vectors(recall) == expected | {path_of("c"): OWN}


def test_recovered_store_keeps_each_vector(recall: Recall, home: Path, tmp_path: Path) -> None:
    expected = mixed(recall)
    recall.store.fold()

    assert Recall.recover(home / "recall.db", tmp_path / "new.db")["recovered"]["lost"] == []

    with Recall.open(str(tmp_path / "new.db")) as new:
        assert vectors(new) == expected


def test_rechunk_leaves_given_vectors(recall: Recall) -> None:
    text = "One. Two three four. Five six seven eight.\n\n" * 40
    recall.put([given("a", 0, text)])

    result_of(recall.rechunk({"chunk_tokens": 20, "overlap_tokens": 0, "counter": "whitespace"}))

    assert vectors(recall) == {path_of("a"): unit(0)}


def test_lost_given_vector_is_reported_not_made(recall: Recall) -> None:
    mixed(recall)
    with recall.store.transaction():
        (chunk,) = recall.store.execute(
            "SELECT c.rowid FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE d.path = ?", (path_of("a"),)
        )
        recall.store.execute("DELETE FROM vec_place WHERE chunk = ?", chunk)

    make_vectors(recall.store, lambda: recall.engine.embedder)

    assert path_of("a") not in vectors(recall)
    evidence = {check["code"]: check["evidence"] for check in recall.doctor()["checks"]}
    assert evidence["vectors"] == "1 given vectors are lost"


def test_reembed_refuses_given_vectors(recall: Recall) -> None:
    expected = mixed(recall)
    before = recall.store.info()

    with pytest.raises(RecallError, match="2 vectors were given") as caught:
        result_of(recall.reembed("hash", {"embedding_dim": 32}))

    assert (caught.value.code, recall.store.info(), vectors(recall)) == ("vectors_given", before, expected)
    assert "--given" in str(caught.value.hint)


def test_reembed_refuses_a_vector_given_meanwhile(recall: Recall) -> None:
    add(recall, "before.txt")
    work = recall.reembed("hash", {"embedding_dim": 32})
    next(work)
    with Recall.open(str(recall.engine.base)) as other:
        other.put([given("a", 0)])

    with pytest.raises(RecallError, match="1 vector was given"):
        result_of(work)

    assert vectors(recall) == {"before.txt": OWN, path_of("a"): unit(0)}


@pytest.mark.parametrize("dimension", [DIMENSION, 32])
def test_reembed_replaces_and_counts_given_vectors(recall: Recall, dimension: int) -> None:
    mixed(recall)
    recall.put([PutDocument("c", TEXT), PutDocument("d", "Cargo and crew.", title="Log", embedding=axis(0))])

    view = result_of(recall.reembed("hash", {"embedding_dim": dimension}, given=True))["reembedded"]

    (own,), (titled,) = (HashEmbedder(dimension).embed([text]) for text in (TEXT, "Log\n\nCargo and crew."))
    texts = dict.fromkeys(["before.txt", "after.txt", *map(path_of, "abc")], own)
    assert (view["given"], vectors(recall)) == (3, texts | {path_of("d"): titled})
    assert recall.store.given_vectors() == []
    assert {check["severity"] for check in recall.doctor()["checks"]} <= {"ok", "warning"}
    recall.put([given("a", 3)]) if dimension == DIMENSION else recall.put([PutDocument("a", TEXT)])
    add(recall, "later.txt")
    assert vectors(recall)["later.txt"] == own


def test_digest_depends_on_given_vectors(bare: Recall) -> None:
    digests = set()
    for number in (0, 1, 0):
        bare.put([given("a", number)])
        digests.add(bare.store.info().digest)
    assert len(digests) == 2


def test_putting_the_same_again_writes_nothing(recall: Recall) -> None:
    documents = [given("a", 0), PutDocument("b", "x " * 3_000, {"n": [1, {"m": None}]}, title="T", tags=("t", "s"))]
    assert recall.put(documents)["added"] == 2
    before = recall.store.info()

    counts = recall.put(iter(documents))

    assert (counts["unchanged"], counts["updated"], recall.store.info()) == (2, 0, before)


@pytest.mark.parametrize(
    "change", [{"title": "U"}, {"tags": ("u",)}, {"metadata": {"k": 1}}, {"content": "else"}, {"embedding": axis(1)}]
)
def test_any_change_replaces_the_document(bare: Recall, change: dict[str, object]) -> None:
    bare.put([given("a", 0)])
    assert bare.put([given("a", 0)._replace(**change)])["updated"] == 1  # type: ignore[arg-type]
    info = bare.store.info()
    assert (info.documents, info.vectors) == (1, 1)
    assert {check["severity"] for check in bare.doctor()["checks"]} <= {"ok", "warning"}


def test_sync_keeps_put_documents(recall: Recall) -> None:
    expected = mixed(recall)
    result_of(recall.sync())
    assert vectors(recall) == expected


@pytest.mark.parametrize(
    "name", ["a", "b/../c#d%25", "\u65e5\u672c", "e\u0301\u00e9 %", "..", "/etc/passwd", "x" * 999]
)
def test_ids_come_back_as_they_were(bare: Recall, name: str) -> None:
    bare.put([given(name, 0)])
    (hit,) = bare.nearest(axis(0))["results"]
    assert id_of(hit["doc"]["path"]) == name
    assert bare.get(path_of(name))["found"]["text"] == TEXT  # type: ignore[typeddict-item]
    assert (bare.delete([name, "other"]), bare.delete([name])) == (1, 0)


REFUSED = {
    "dimension_mismatch": [PutDocument("x", TEXT, embedding=[1.0]), PutDocument("x", TEXT, embedding=[axis(0)])],  # type: ignore[list-item]
    "bad_vector": [
        PutDocument("x", TEXT, embedding=values)
        for values in ([nan] * DIMENSION, [1e999, *axis(0)[1:]], [0.0] * DIMENSION, ["a"] * DIMENSION)
    ],
    "bad_id": [given("", 0), given("a\n", 0), given("\udc00", 0)],
    "duplicate_id": [given("new", 2)],
    "bad_document": [
        PutDocument("x", "\udc00"),
        PutDocument("x", TEXT, {"a": nan}),
        PutDocument("x", "", {"a": object()}),
    ],
    "bad_value": [PutDocument("x", 3), PutDocument("x", TEXT, tags="ab")],  # type: ignore[arg-type]
}


@pytest.mark.parametrize("code", REFUSED)
def test_refused_put_changes_nothing(bare: Recall, code: str) -> None:
    bare.put([given("a", 0)])
    before = bare.store.info()
    for document in REFUSED[code]:
        with pytest.raises(RecallError) as caught:
            bare.put([given("new", 1), given("a", 1), document])
        assert (caught.value.code, bare.store.info()) == (code, before), document


def test_nearest_gives_each_equal_text_its_own_row(bare: Recall) -> None:
    bare.put([PutDocument(name, TEXT, embedding=vector) for name, vector in VECTORS.items()])

    found = bare.nearest([2.0, *axis(-1)[1:]], 5)

    assert [(id_of(hit["doc"]["path"]), hit["score"]) for hit in found["results"]] == [
        ("b", 1.0),
        ("c", 1.0),
        ("d", 0.707107),
        ("a", 0.0),
        ("z", -1.0),
    ]
    assert found["stats"]["total_hits"] == 5
    assert bare.search("harbour")["results"][0]["copies"]["count"] == 4


VECTORS = {"c": axis(0), "b": axis(0), "a": axis(1), "z": [-1.0, *axis(1)[2:], 0.0], "d": [3.0, 3.0, *axis(-1)[2:]]}


def test_nearest_filters_before_the_cut(bare: Recall) -> None:
    bare.put([PutDocument(str(n), TEXT, {"even": n % 2 == 0}, [1.0, n / 10, *axis(-1)[2:]]) for n in range(20)])

    found = bare.nearest(axis(0), 3, "doc.meta.even = FALSE")

    assert [id_of(hit["doc"]["path"]) for hit in found["results"]] == ["1", "3", "5"]
    assert (found["stats"]["total_hits"], found["query"]["filters"]) == (10, "doc.meta.even = FALSE")
    for k, vector, code in (
        (-1, axis(0), "bad_value"),
        (1, [1.0], "dimension_mismatch"),
        (1, [nan] * 16, "bad_vector"),
    ):
        with pytest.raises(RecallError) as caught:
            bare.nearest(vector, k)
        assert caught.value.code == code
    assert bare.nearest(axis(0), 0)["results"] == []


def test_words_are_lexical_without_query_vectors(bare: Recall) -> None:
    bare.put([given("a", 0), PutDocument("b", "Cargo and crew.")])

    for answer in (bare.search("crew"), bare.query("SELECT * FROM chunk USING lexical('crew'), semantic('crew')")):
        assert [hit["doc"]["path"] for hit in answer["results"]] == [path_of("b")]
        assert [each.partition(":")[0] for each in answer["warnings"]] == ["W_NO_QUERY_VECTOR"]
        assert answer["query"]["plan"]["mode"] == "lexical"
    with pytest.raises(RecallError) as caught:
        bare.search("crew", mode="semantic")
    assert (caught.value.code, str(caught.value.hint)) == ("embedder_unavailable", "recall search --bm25 …")


def test_folder_in_a_given_store_has_no_vectors(bare: Recall) -> None:
    add(bare, "file.txt")
    assert (vectors(bare), bare.search("harbour")["stats"]["total_hits"]) == ({}, 1)
    assert {check["severity"] for check in bare.doctor()["checks"]} == {"ok"}


def test_explained_points_add_up_for_given_vectors(recall: Recall) -> None:
    mixed(recall)
    for hit in recall.search("harbour tides", explain=True, settings={"collapse": False})["results"]:
        parts = hit["explain"]["parts"]
        assert hit["score"] == pytest.approx(sum(part["points"] for part in parts))
        for part in parts:
            assert part["points"] == pytest.approx(sum(leaf["points"] for leaf in part["leaves"]), abs=1e-9)


def test_threads_put_and_ask_at_once(bare: Recall) -> None:
    failed: list[object] = []

    def work(number: int) -> None:
        try:
            with Recall.open(str(bare.engine.base)) as own:
                for turn in range(3):
                    own.put([given(f"{number}-{turn}", number)])
                    best = own.nearest(axis(number), 1)["results"][0]
                    failed.extend([best] if best["score"] != 1.0 else [])
        except RecallError as error:
            failed.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (failed, bare.store.info().vectors) == ([], 48)
