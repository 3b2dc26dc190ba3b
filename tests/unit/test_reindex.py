"""Reindex: the old words serve until every chunk has new ones, and interruptions cost nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from recall_core.adapters.cli import main
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.errors import ConfigError, StoreError
from recall_core.store.sqlite import reindexing
from recall_core.types import Progress, Root
from recall_core.words.analyzer import Analyzer

FILES = {f"{n:02}.txt": f"note {n} about C++ and naïve 東京都 tides\n" for n in range(12)}
CODE = "class LłódźTides:\n    def 東京都(self):\n        return 1\n"
WARNING = "W_OLD_WORDS: this store has the words of an earlier version; recall reindex"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store that has the words of stores without a name for them."""
    home: Path = tmp_path_factory.mktemp("made")
    (home / "docs").mkdir()
    for name, text in {**FILES, "tides.py": CODE}.items():
        (home / "docs" / name).write_text(text)
    Recall.init(str(home), settings=["embedding_dim=64"])
    with Recall.open(start=home) as recall:
        with recall.store.transaction():
            recall.store.execute("DELETE FROM meta WHERE key = 'words'")
        run(recall.add([str(home / "docs")], Root("")))
    return home


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    shutil.copytree(template, home)
    monkeypatch.chdir(home)
    monkeypatch.setattr(reindexing, "BATCH", 2)
    return home


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(start=home) as recall:
        yield recall


def run(work: Iterator[Progress]) -> None:
    list(work)


def answers(recall: Recall) -> object:
    found = [recall.search(words, k=50) for words in ("c++", "東京都", "lodz", "naive tides", "Tides")]
    return [[(row["chunk"]["id"], row["score"]) for row in each["results"]] for each in found]


def severities(recall: Recall) -> dict[str, str]:
    return {each["code"]: each["severity"] for each in recall.doctor()["checks"] if each["severity"] != "ok"}


def fresh(recall: Recall, home: Path) -> object:
    """Return the answers of a new store of the same files."""
    shutil.copytree(home / "docs", home / "other/docs")
    Recall.init(str(home / "other"), settings=["embedding_dim=64"])
    with Recall.open(start=home / "other") as other:
        run(other.add([str(home / "other/docs")], Root("")))
        return answers(other)


def test_reindexed_store_answers_like_a_fresh_one(recall: Recall, home: Path) -> None:
    before, digest = answers(recall), recall.store.info().digest
    vectors = recall.store.vectors(recall.store.in_order())

    run(recall.reindex())

    assert answers(recall) == fresh(recall, home) != before
    assert (recall.store.info().digest, recall.store.analyzer.name) == (digest, Analyzer.name)
    assert recall.store.vectors(recall.store.in_order()) == vectors
    assert severities(recall) == {}
    assert not [name for (name,) in recall.store.execute("SELECT name FROM sqlite_schema") if "next_" in name]


def test_old_words_warn_once_in_every_answer(recall: Recall) -> None:
    query = recall.query("SELECT doc.path FROM chunk USING lexical('tides')")
    asked = [recall.search("tides"), query, recall.context("tides"), recall.stats()]

    assert [each["warnings"].count(WARNING) for each in asked] == [1] * 4
    assert severities(recall) == {"words": "warning"}
    run(recall.reindex())
    assert WARNING not in recall.search("tides")["warnings"] + recall.stats()["warnings"]


def test_stopped_reindex_answers_as_before_and_resumes(recall: Recall, home: Path) -> None:
    before = answers(recall)
    work = recall.reindex()
    while next(work).reused < 5:
        pass
    work.close()

    assert answers(recall) == before
    assert severities(recall) == {"words": "warning"}
    assert next(recall.reindex()).reused >= 5
    run(recall.reindex())
    assert answers(recall) == fresh(recall, home)


def test_failure_between_batches_changes_no_answer(
    recall: Recall, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, some = answers(recall), recall.store.reindex_some

    def fail(name: str, *, after: int) -> tuple[int, int] | None:
        if after > 4:
            raise StoreError("disk_full", "The disk is full.")
        return some(name, after=after)

    monkeypatch.setattr(recall.store, "reindex_some", fail)
    with pytest.raises(StoreError, match="full"):
        run(recall.reindex())

    with Recall.open(start=home) as other:
        assert answers(other) == before
        run(other.reindex())
        assert answers(other) == fresh(recall, home)


def test_changes_meanwhile_end_up_in_the_new_words(recall: Recall, home: Path) -> None:
    changed = 0
    with Recall.open(start=home) as other:
        for event in recall.reindex():
            if event.stage == "index" and changed < 6:
                (home / f"docs/{changed:02}.txt").write_text(f"changed {changed} to C# in Łódź\n")
                (home / f"docs/late{changed}.txt").write_text(f"late {changed} at 京都\n")
                (home / f"docs/{11 - changed:02}.txt").unlink()
                run(other.sync())
                changed += 1

    assert changed == 6
    assert answers(recall) == fresh(recall, home)
    assert severities(recall).keys() <= {"space"}


def test_deleted_chunk_leaves_an_unfinished_reindex(recall: Recall) -> None:
    work = recall.reindex()
    while next(work).reused < 13:
        pass
    work.close()
    with recall.store.transaction():
        recall.store.execute("DELETE FROM doc WHERE path = 'docs/03.txt'")

    run(recall.reindex())

    assert {code: recall.store.check(code).severity for code in ("fulltext", "fulltext_rows")} == {
        "fulltext": "ok",
        "fulltext_rows": "ok",
    }


def test_purge_leaves_nothing_in_an_unfinished_reindex(recall: Recall, home: Path) -> None:
    (home / "docs/secret.txt").write_text("the 東京 password is xyzzyplugh\n")
    run(recall.sync())
    work = recall.reindex()
    while next(work).reused < 14:
        pass
    work.close()
    stored = recall.store.execute("SELECT count(*) FROM chunk_fts_next WHERE chunk_fts_next MATCH 'xyzzyplugh'")

    recall.remove(["docs/secret.txt"], purge=True)

    assert stored == [(1,)]
    assert b"xyzzyplugh" not in Path(recall.store.path).read_bytes()
    run(recall.reindex())
    assert severities(recall) == {}


def test_current_words_change_nothing(recall: Recall, home: Path) -> None:
    run(recall.reindex())
    before = recall.store.info()
    out = StringIO()

    code = main(["reindex"], streams=Streams(StringIO(), out, StringIO()))

    assert (code, out.getvalue()) == (0, f"nothing to do: the store has the words {Analyzer.name}\n")
    assert recall.store.info() == before


def test_wrong_forms_are_reported_and_mended_by_reindex(recall: Recall) -> None:
    run(recall.reindex())
    with recall.store.transaction():
        (trigger,) = recall.store.execute("SELECT sql FROM sqlite_schema WHERE name = 'chunk_text_is_immutable'")
        recall.store.execute("DROP TRIGGER chunk_text_is_immutable")
        recall.store.execute("UPDATE chunk SET search_text = text || ' wrong' WHERE rowid = 3")
        recall.store.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
        recall.store.execute(*trigger)

    (check,) = [each for each in recall.doctor()["checks"] if each["code"] == "words"]

    assert (check["severity"], check["fix"]) == ("error", "recall reindex")
    run(recall.reindex())
    assert severities(recall) == {}


def test_unknown_language_is_refused(recall: Recall) -> None:
    with pytest.raises(ConfigError, match="language cannot be 'xx'"):
        run(recall.reindex("xx"))


def test_read_only_store_is_refused(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall.store, "writable", False)
    with pytest.raises(StoreError, match="cannot be written"):
        run(recall.reindex())
