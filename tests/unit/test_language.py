"""The setting `language`: German stems, no stems, and how `auto` decides."""

from __future__ import annotations

import json
import random
from itertools import takewhile
from math import isclose
from pathlib import Path

import pytest

from recall_core import Recall
from recall_core.api.engine import Engine
from recall_core.api.recall import Ask
from recall_core.config import Config
from recall_core.errors import ConfigError
from recall_core.marks import Mark
from recall_core.store.sqlite.store import SqliteStore, open_store
from recall_core.types import Root
from recall_core.words.form import form_of
from recall_core.words.question import literal
from recall_core.words.versions import analyzer_named
from tests.builders import memory_store, new_file, put
from tests.ingest_folder import IngestFolder
from tests.unit.test_memory import everything, opening
from tests.unit.test_words_fold import random_text

GERMAN = analyzer_named("words-1 de")
WORDS = (
    "Haus Häuser Häusern Straße Straßen laufen läuft gelaufen Kinder Kindern großes größere Bücher Buch der und mit "
    "running C++ node.js 漢字 état"
).split()
PROSE = (
    "Das Haus ist alt, und die Straßen werden nicht mehr von den Bürgern benutzt, aber sie können auch mit dem Rad "
    "durch die Gassen fahren, wenn es nach dem Essen noch hell ist.\n"
)
ENGLISH = "The houses of the town are old, and the streets are not used by the people, but they can also walk.\n"


def in_words(rng: random.Random) -> str:
    plain = [word for word in WORDS if word != "C++"]  # its sign is no word alone
    return " ".join(rng.choice([*plain, random_text(rng)[:9]]) for _ in range(12))


def german_store(path: str = ":memory:") -> SqliteStore:
    store = memory_store(path)
    rng = random.Random(5)
    with store.writer() as writer:
        assert writer.use_language("de")
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(3, 30))) for _ in range(60)]
    put(store, *(new_file(f"{n % 10}/{n:03}.txt", [text], title=rng.choice(WORDS)) for n, text in enumerate(texts)))
    return store


def found(store: SqliteStore, words: str) -> list[str]:
    query = literal(words, analyzer=store.analyzer, match="all", index=store)
    scores = store.lexical(query, where=None, k=None, title_weight=1.0)
    return sorted(row.doc.path for row in store.fetch(list(scores)))


def test_inflected_german_words_find_each_other() -> None:
    store = memory_store()
    with store.writer() as writer:
        writer.use_language("de")
    put(store, new_file("a", ["Das Haus in der Schlüterstraße."]), new_file("b", ["Den Häusern fehlten Bücher."]))
    for words in ("Haus", "Häuser", "Haeuser", "hausern"):
        assert found(store, words) == ["a", "b"], words
    assert found(store, '"den Haus"') == ["b"]
    assert (found(store, "Buch"), found(store, "Straßen")) == (["b"], ["a"])


def test_words_without_stems_find_only_themselves() -> None:
    store = memory_store()
    with store.writer() as writer:
        writer.use_language("none")
    put(store, new_file("a", ["He is Running"]))
    assert (found(store, "run"), found(store, "running")) == ([], ["a"])


def test_a_span_folds_and_stems_to_its_term() -> None:
    rng = random.Random(49)
    for _ in range(200):
        text = in_words(rng)
        terms = GERMAN.terms(text)
        assert tuple(each.term for each in terms) == analyzer_named("words-1 none").stem([GERMAN.form(text)]), ascii(
            text
        )
        for start, end, term in terms:
            assert term in GERMAN.stem(GERMAN.tokens(form_of(text[start:end]))), ascii(text)


def test_a_span_covers_its_whole_word() -> None:
    text = "Die großen Häuser"
    assert [text[start:end] for start, end in GERMAN.spans(text, ["Haus", "groß"])] == ["großen", "Häuser"]


def test_german_memory_equals_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.test_memory.WORDS", WORDS)
    path = str(tmp_path / "recall.db")
    german_store(path).close()
    with opening(path, memory_mb=0) as cold, opening(path) as memory:
        assert memory.fill_memory()
        for seed in range(8):
            assert everything(memory, random.Random(seed)) == everything(cold, random.Random(seed)), seed


def test_german_points_add_up_to_the_score() -> None:
    recall = Recall(Engine(german_store(), config=Config(embedding_dim=64), base=Path("/nowhere")))
    for words in ('"großes Haus" laufen', "Häuser node.js", "Bücher"):
        for hit in recall.search(words, Ask(mode="lexical", explain=True))["results"]:
            (part,) = hit["explain"]["parts"]
            assert isclose(sum(leaf["points"] for leaf in part["leaves"]), hit["score"], abs_tol=2e-6), words


def test_names_of_definitions_are_split_before_stemming() -> None:
    marks = (Mark(5, "class", "class HausTüren"),)
    assert GERMAN.titles("Häuser.md", marks, [(0, 4), (5, 20)]) == ["haus md", "haus md\nclass haustur haus tur"]


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    folder = IngestFolder(tmp_path)
    for n in range(12):
        folder.write(f"de/{n}.txt", f"{n} {PROSE * 8}")
        folder.write(f"src/{n}.py", f"# {ENGLISH * 20}\n")
    folder.write("en/a.txt", ENGLISH * 8)
    return folder


@pytest.mark.parametrize("targets", [("de", "src", "en"), ("en", "src", "de")])
def test_auto_is_german_for_german_prose_in_any_order(folder: IngestFolder, targets: tuple[str, ...]) -> None:
    done = folder.ingest(*targets)
    assert done.language is not None
    assert done.language == ("de", 13, done.language.words, done.language.function_words, done.language.german)
    assert done.language.words > 2_000
    assert folder.store.info().language == "de"


@pytest.mark.parametrize("target", ["en", "src", "de/1.txt"])
def test_auto_is_english_for_code_and_short_or_english_prose(folder: IngestFolder, target: str) -> None:
    folder.ingest(target)
    assert folder.ingest("de").language is None
    assert folder.store.info().language == "en"


def test_a_foreign_text_with_german_quotations_stays_as_it_is(folder: IngestFolder) -> None:
    folder.write("pl.txt", "Nie wiem dlaczego lampa stoi przy oknie. " * 500 + PROSE)
    folder.ingest("pl.txt")
    assert folder.store.info().language == "en"


def test_the_language_comes_with_the_first_documents(tmp_path: Path, folder: IngestFolder) -> None:
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(str(tmp_path)) as recall:
        events = recall.add([str(tmp_path / "de")], Root(""))
        list(takewhile(lambda event: event.stage != "commit", events))
        events.close()
        assert (recall.store.info().documents > 0, recall.store.info().language) == (True, "de")


def test_export_import_and_recovery_keep_the_language(tmp_path: Path, folder: IngestFolder) -> None:
    def exported(recall: Recall) -> bytes:
        out = tmp_path / "out.jsonl"
        with out.open("w", encoding="utf-8", newline="") as file:
            recall.export(file)
        return out.read_bytes()

    Recall.init(str(tmp_path), embedding="hash")
    Recall.init(str(tmp_path / "new"), embedding="hash")
    with Recall.open(str(tmp_path)) as recall, Recall.open(str(tmp_path / "new")) as new:
        list(recall.add([str(tmp_path / "de")], Root("")))
        content = exported(recall)
        new.import_(tmp_path / "out.jsonl")
        assert json.loads(content.partition(b"\n")[0])["language"] == "de"
        assert exported(new) == content
    Recall.recover(tmp_path / "recall.db", tmp_path / "saved.db")
    store = open_store(str(tmp_path / "saved.db"))
    assert (store.info().language, len(found(store, "Haus"))) == ("de", len(found(store, "Häuser")))
    assert found(store, "Hause")


def test_a_changed_language_waits_for_reindex(tmp_path: Path, folder: IngestFolder) -> None:
    Recall.init(str(tmp_path), embedding="hash", settings={"language": "fr"})
    toml = tmp_path / "recall.toml"
    with Recall.open(str(tmp_path)) as recall:
        list(recall.add([str(tmp_path / "de")], Root("")))
        assert recall.store.info().language == "en"
        assert recall.search("Haus")["warnings"] == []
    toml.write_text(toml.read_text().replace('language = "fr"', 'language = "de"'))
    with Recall.open(str(tmp_path)) as recall:
        (warning,) = recall.search("Haus")["warnings"]
        assert "sets language to de, but the store was made with en" in warning
        assert warning.endswith("recall reindex --language de")
        list(recall.reindex())
        assert recall.search("Haus")["warnings"] == []
        assert recall.store.info().language == "de"
        list(recall.reindex("none"))
        assert recall.search("Haus")["warnings"] == []
        with pytest.raises(ConfigError, match="first add"):
            recall.reindex("auto").send(None)
    assert 'language = "none"' in toml.read_text()


def test_an_empty_store_takes_the_language_of_its_settings(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), embedding="hash", language="de")
    with Recall.open(str(tmp_path)) as recall:
        assert (recall.store.info().language, recall.store.info().generation) == ("de", 0)


def test_an_unknown_language_names_a_near_one() -> None:
    for value, hint in (("deutsch", "did you mean de?"), ("xyz", "one of: auto, none, da, de")):
        with pytest.raises(ConfigError) as caught:
            Recall.init("/nowhere/at/all", language=value)
        assert caught.value.code == "bad_value"
        assert str(caught.value.hint).startswith(hint)
