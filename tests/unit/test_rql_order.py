from recall_core.rql.ast import Field, OrderKey, Score
from recall_core.rql.match import sort_hits
from recall_core.types import Chunk, Document, Hit


def hit(path: str, *, offset: int = 0, score: float | None = None, **labels: object) -> Hit:
    source = labels.pop("source", None)
    tags = labels.pop("tags", ())
    assert source is None or isinstance(source, str)
    assert isinstance(tags, tuple)
    doc = Document(path, path, "", "", 0, "", source, tags, labels)
    return Hit(0, score, doc, Chunk(f"{path}:{offset}", path, offset, 0, 1, 1, 0, None, ""), ())


def places(hits: list[Hit]) -> list[str]:
    return [found.chunk.id for found in hits if found.chunk]


def test_no_key_keeps_the_natural_order() -> None:
    hits = [hit("b"), hit("a", offset=9), hit("a", offset=10), hit("B")]

    assert places(sort_hits(hits, ())) == ["B:0", "a:9", "a:10", "b:0"]


def test_missing_values_come_last_in_either_direction() -> None:
    hits = [hit("a"), hit("b", source="x"), hit("c", source="y")]
    source = Field("doc", "source")

    assert places(sort_hits(hits, [OrderKey(source)])) == ["b:0", "c:0", "a:0"]
    assert places(sort_hits(hits, [OrderKey(source, descending=True)])) == ["c:0", "b:0", "a:0"]


def test_ties_end_in_natural_order_in_either_direction() -> None:
    hits = [hit("b", score=1.0), hit("a", score=1.0), hit("c", score=2.0)]

    assert places(sort_hits(hits, [OrderKey(Score(), descending=True)])) == ["c:0", "a:0", "b:0"]
    assert places(sort_hits(hits, [OrderKey(Score())])) == ["a:0", "b:0", "c:0"]


def test_first_key_counts_most() -> None:
    hits = [hit("a", year=1, rank=2), hit("b", year=2, rank=1), hit("c", year=1, rank=1)]
    keys = [OrderKey(Field("doc", "meta", "year")), OrderKey(Field("doc", "meta", "rank"))]

    assert places(sort_hits(hits, keys)) == ["c:0", "a:0", "b:0"]


def test_metadata_sorts_numbers_and_booleans_before_text() -> None:
    hits = [hit("a", v="1"), hit("b", v=0.5), hit("c", v=True), hit("d", v=[0]), hit("e", v=-1)]

    assert places(sort_hits(hits, [OrderKey(Field("doc", "meta", "v"))])) == [
        "e:0",
        "b:0",
        "c:0",
        "a:0",
        "d:0",
    ]


def test_documents_are_sorted_by_their_first_tag() -> None:
    hits = [hit("a", tags=("z", "b")), hit("b", tags=("c",)), hit("c")]

    assert places(sort_hits(hits, [OrderKey(Field("doc", "tag"))])) == ["a:0", "b:0", "c:0"]
    assert places(sort_hits(hits, [OrderKey(Field("doc", "tag"), descending=True)])) == ["b:0", "a:0", "c:0"]
