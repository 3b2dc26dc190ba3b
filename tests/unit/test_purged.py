"""A purge leaves nothing to later rows: no vector, word, label, judgement or cached value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.errors import Outdated
from recall_core.evaluate.judgements import Judgement, Spot, names_of, put, read_stored
from recall_core.retrieve.answer import Answer
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Root

NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
MTIME_NS = 1_700_000_000_000_000_000
KEPT = {"docs/keep.txt": "a quokka and a wombat meet\n\nthe wombat digs\n", "docs/more.txt": "quokka quokka\n"}
OLD = {
    "late/a.txt": "the quokka smiles\n\nthe quokka eats leaves and grass\n\nwombat\n",
    "late/b.txt": "wombat wombat quokka\n",
}
NEW = {
    "late/a.txt": "the herons stalks\n\nthe herons hunt minnow and trout\n\nquokka\n",
    "late/b.txt": "herons herons quokka\n",
}
"""As many words and chunks as the old documents, at the same offsets."""


class Home:
    """A folder with a store, which other connections may have open."""

    def __init__(self, base: Path) -> None:
        base.mkdir()
        self.base = base
        Recall.init(str(base), settings=("chunk_tokens=6", "overlap_tokens=0"))
        self.recall = Recall.open(str(base))

    def add(self, files: dict[str, str], **labels: Any) -> dict[str, Any]:
        for name, text in files.items():
            place = self.base / name
            place.parent.mkdir(exist_ok=True)
            place.write_text(text, encoding="utf-8")
            os.utime(place, ns=(MTIME_NS, MTIME_NS))
        work = self.recall.add([str(self.base / name) for name in files], Root("", **labels))
        while True:
            try:
                next(work)
            except StopIteration as done:
                return dict(done.value["ingest"])

    def purge(self, files: dict[str, str]) -> None:
        self.recall.remove([str(self.base / name) for name in files], purge=True)
        for name in files:
            (self.base / name).unlink()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """Yield a store whose last documents the test purges."""
    made = Home(tmp_path / "home")
    made.add(KEPT)
    made.add(OLD, tags=("old",), source="before", meta=(("shelf", "1"),))
    with made.recall:
        yield made


ASKS = [
    Ask(k=20, explain=True),
    Ask(k=20, explain=True, mode="lexical"),
    Ask(k=20, explain=True, mode="semantic"),
    Ask(k=20, explain=True, settings=("lexical_model=bm25f", "fusion=rrf")),
    Ask(k=20, filter="doc.tag = 'old' OR doc.source = 'before' OR doc.meta.shelf = '1'"),
]


QUESTIONS = ("quokka wombat", "herons", '"the quokka"', "quokka")
if not NIGHTLY:
    QUESTIONS = QUESTIONS[:3]


def answers(recall: Recall) -> list[Any]:
    """Return the answers of every kind of query for the old and the new words."""
    told: list[Any] = []
    for words in QUESTIONS:
        told += [recall.search(words, ask) for ask in ASKS]
        told.append(recall.context(words, Ask(explain=True), Pack()))
        told.append(recall.query(f"SELECT * FROM doc USING lexical('{words}'), semantic('{words}')"))
    told.append(recall.query("SELECT * FROM chunk LIMIT 100"))
    for response in told:
        response["stats"] = {**response["stats"], "took_ms": 0, "timings": {}}
    return told


def same(home: Home) -> Recall:
    return home.recall


def other(home: Home) -> Recall:
    return Recall.open(str(home.base))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the answers of a store that never contained the old documents."""
    never = Home(tmp_path_factory.mktemp("made") / "never")
    never.add(KEPT)
    never.add(NEW)
    with never.recall:
        return answers(never.recall)


@pytest.mark.parametrize(
    ("connect", "questions"),
    [
        (same, 1),
        (other, 2),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((same, 0), (same, 3), (other, 0), (other, 1), (other, 3))
        ),
    ],
)
def test_answers_after_a_purge_show_no_trace_of_it(
    home: Home, expected: list[Any], connect: Callable[[Home], Recall], questions: int
) -> None:
    asked = connect(home)
    for _ in range(questions):
        answers(asked)

    home.purge(OLD)
    home.add(NEW)

    for time in range(3 if NIGHTLY else 2):
        assert answers(asked) == expected, time
    asked.close()


def test_purge_leaves_every_row_sound(home: Home) -> None:
    home.purge(OLD)
    home.add(NEW)

    severities = {check["severity"] for check in home.recall.doctor()["checks"] if check["code"] != "sparse_ceiling"}
    assert severities == {"ok"}


def test_purged_text_is_embedded_again(home: Home) -> None:
    home.purge(OLD)

    assert home.add(OLD)["embedded"] == 4


def test_purged_document_returns_without_its_labels(home: Home) -> None:
    home.purge(OLD)
    home.add(OLD)

    (document,) = home.recall.query("SELECT * FROM doc FILTER doc.path = 'late/a.txt'")["results"]
    assert [document["doc"].get(label) for label in ("tags", "source", "meta")] == [[], None, None]


def test_purged_records_can_be_added_again(home: Home) -> None:
    lines = {"data/list.jsonl": '{"id": "one", "text": "a heron"}\n{"id": "two", "text": "a stork"}\n'}
    home.add(lines, parser="jsonl")
    home.purge(lines)

    assert home.add(lines, parser="jsonl")["added"] == 1
    assert len(home.recall.search("heron", Ask(mode="lexical"))["results"]) == 1


def rowids(store: SqliteStore) -> set[tuple[str, int]]:
    found = store.execute("SELECT 'doc', rowid FROM doc UNION SELECT 'chunk', rowid FROM chunk")
    return {(table, rowid) for table, rowid in found}


def test_rowid_is_never_reused(home: Home) -> None:
    store = home.recall.store
    given = rowids(store)
    for gone, come in ((OLD, NEW), (NEW, OLD), (OLD, OLD)):
        home.purge(gone)
        left = rowids(store)
        home.add(come)
        assert not (rowids(store) - left) & given
        given |= rowids(store)


def test_rowid_is_never_reused_without_a_recorded_maximum(home: Home) -> None:
    store = home.recall.store
    with store.transaction():
        store.execute("DELETE FROM meta WHERE key IN ('last_doc', 'last_chunk')")
    given = rowids(store)
    home.purge(OLD)
    left = rowids(store)
    home.add(NEW)

    assert not (rowids(store) - left) & given


def test_restoring_old_bytes_reuses_no_rowid(home: Home) -> None:
    store = home.recall.store
    home.add({"late/b.txt": NEW["late/b.txt"]})
    given = rowids(store)
    live = "SELECT 'chunk', c.rowid FROM chunk c WHERE c.deleted = 0"
    before = set(store.execute(live))
    home.add({"late/b.txt": OLD["late/b.txt"]})

    assert not (set(store.execute(live)) - before) & given


HELD: dict[str, Callable[[Recall, Answer], Any]] = {
    "listed": lambda recall, found: recall.engine.hits(found, 0, 20),
    "packed": lambda recall, found: recall.engine.pack(found, Pack(budget_tokens=1_000)),
    "ordered": lambda recall, found: recall.engine.weigh(
        found._replace(plan=found.plan._replace(order=recall.engine.plan(ORDERED).order)), found.plan.config
    ),
}
ORDERED = "SELECT * FROM chunk ORDER BY doc.path"


def is_outdated(show: Callable[[], Any]) -> bool:
    try:
        show()
    except Outdated:
        return True
    return False


def test_purging_a_text_makes_its_answer_outdated(home: Home) -> None:
    texts = ("quokka", "SELECT * FROM doc USING lexical('quokka') LIMIT 20")
    with Recall.open(str(home.base)) as reader:
        answered = {(act, text): reader.engine.answer(reader.engine.plan(text)) for act in HELD for text in texts}
        home.purge(OLD)
        home.add(NEW)

        for (act, text), answer in answered.items():
            assert is_outdated(lambda act=act, answer=answer: HELD[act](reader, answer)), (act, text)  # type: ignore[misc]


def test_open_answer_still_shows_the_texts_it_read(home: Home) -> None:
    with Recall.open(str(home.base)) as reader:
        found = reader.engine.answer(reader.engine.plan("quokka"))
        before = reader.engine.hits(found, 0, 20)
        home.purge(OLD)
        home.add(NEW)

        assert reader.engine.hits(found, 0, 20) == before


JUDGED = (
    Judgement("q", Spot("late/a.txt"), 2),
    Judgement("q", Spot("late/a.txt", 19, 51), 3),
    Judgement("q", Spot("b.txt"), 1),
    Judgement("q", Spot("b"), 1),
    Judgement("q", Spot("docs/keep.txt"), 2),
    Judgement("q", Spot("docs/keep.txt", 0, 5), 1),
    Judgement("q", Spot("not/there.txt"), 1),
)
"""Two kinds of spans, and other names of a document than its path."""


def read_judgements(home: Home) -> set[Judgement]:
    return set(read_stored(home.recall.store, names_of(home.recall.store)).judgements)


def test_purge_removes_exactly_the_judgements_of_the_text(home: Home) -> None:
    put(home.recall.store, {"q": "quokkas that smile"}, JUDGED)
    assert Judgement("q", Spot("late/b.txt"), 1) in read_judgements(home)

    home.purge(OLD)
    home.add(NEW)

    assert read_judgements(home) == set(JUDGED[4:])
    assert home.recall.store.judged_queries() == {"q": "quokkas that smile"}


def test_removal_without_purge_keeps_judgements(home: Home) -> None:
    put(home.recall.store, {"q": "quokkas that smile"}, JUDGED)
    before = read_judgements(home)

    home.recall.remove([str(home.base / name) for name in OLD])
    home.add(OLD)

    assert read_judgements(home) == before


def test_purge_dry_run_keeps_judgements(home: Home) -> None:
    put(home.recall.store, {"q": "quokkas that smile"}, JUDGED)
    before = read_judgements(home)

    home.recall.remove([str(home.base / "late")], purge=True, dry_run=True)

    assert read_judgements(home) == before
