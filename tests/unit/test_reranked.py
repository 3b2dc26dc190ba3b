"""Cached reranker vectors: nothing is embedded twice, no caller waits for the cache, and no answer depends on it."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core import Recall, RecallError
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.engine import result_of
from recall_core.embed import rescore
from recall_core.embed.hash import HashEmbedder
from recall_core.embed.local import LocalEmbedder
from recall_core.embed.model_files import components, unit
from recall_core.store.values import RerankVector
from recall_core.types import Vector
from tests.builders import letters, memory_store, new_file, pieces_left, put, without_privileges

QUESTION = "where do quokkas sleep"
TEXTS = {
    "quokka.md": "# Quokkas\n\nA quokka sleeps below a bush.\n",
    "wombat.md": "# Wombats\n\nA wombat sleeps in its burrow.\n",
    "river.md": "# Rivers\n\nThe river never sleeps.\n",
}
IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
MAKER = "some-1:64"
EMBEDDER = HashEmbedder(64)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("made")
    (template / "notes").mkdir()
    for name, text in TEXTS.items():
        (template / "notes" / name).write_text(text)
    Recall.init(str(template), embedding="hash", settings={"rerank": "local", "rerank_keep": True})
    with Recall.open(str(template)) as recall:
        recall.index(str(template / "notes"))
    return template


@pytest.fixture(scope="module", autouse=True)
def one_model() -> Iterator[None]:
    """Read the files of the local model once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEmbedder, "_model", LocalEmbedder()._model)
        yield


@pytest.fixture
def base(template: Path, tmp_path: Path) -> Path:
    return copy_to(template, tmp_path)


def copy_to(made: Path, to: Path) -> Path:
    return Path(shutil.copytree(made, to, dirs_exist_ok=True))


@pytest.fixture
def embedded_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of texts and queries given to the reranker's model."""
    texts: list[str] = []
    embed = LocalEmbedder.embed

    def counted(self: LocalEmbedder, given: list[str], *, is_query: bool = False) -> list[Vector]:
        texts.extend(given)
        return embed(self, given, is_query=is_query)

    monkeypatch.setattr(LocalEmbedder, "embed", counted)
    return texts


def ask_reranked(recall: Recall, question: str = QUESTION) -> dict[str, Any]:
    """Return an answer without clock-dependent fields."""
    answer: dict[str, Any] = dict(recall.search(question, explain=True))
    answer["stats"] = {key: value for key, value in answer["stats"].items() if key not in ("took_ms", "timings")}
    return answer


def count_vectors(recall: Recall, *, is_query: bool = False) -> int:
    """Return the number of cached vectors."""
    count: int = recall.store.execute(  # type: ignore[attr-defined]
        "SELECT count(*) FROM vec_rerank WHERE is_query = ?", (is_query,)
    )[0][0]
    return count


def test_later_processes_reuse_embedded_vectors(base: Path, embedded_texts: list[str]) -> None:
    with Recall.open(str(base)) as recall:
        first = ask_reranked(recall)
    assert len(embedded_texts) == 1 + len(TEXTS)
    embedded_texts.clear()

    with Recall.open(str(base)) as recall:
        assert ask_reranked(recall) == first
        assert ask_reranked(recall) == first
    assert embedded_texts == []


ASKED = """
import sys
from recall_core import Recall
with Recall.open(sys.argv[1]) as recall:
    answer = recall.search(sys.argv[2], settings=("rerank=minilm",))
print(answer["results"][0]["score"], "onnxruntime" in sys.modules, "tokenizers" in sys.modules)
"""


def in_new_process(base: Path) -> list[str]:
    argv = [sys.executable, "-c", ASKED, str(base), QUESTION]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()


def test_query_with_cached_vectors_does_not_load_the_model(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        score = ask_reranked(recall)["results"][0]["score"]
        recall.engine.keep_vectors()
        maker = recall.engine.vectors_of_reranker(recall.config._replace(rerank="minilm"))
        assert maker is not None
        with recall.store.transaction():  # type: ignore[attr-defined]
            recall.store.execute("UPDATE vec_rerank SET maker = ?", (maker.maker,))  # type: ignore[attr-defined]

    assert in_new_process(base) == [str(score), "False", "False"]


@pytest.mark.slow
def test_second_process_does_not_load_the_model(base: Path) -> None:
    first, second = in_new_process(base), in_new_process(base)

    assert first[:2] == [second[0], "True"]
    assert second[1:] == ["False", "False"]


def test_embedder_of_the_store_reranks_with_stored_vectors(base: Path, embedded_texts: list[str]) -> None:
    with Recall.open(str(base)) as recall:
        list(recall.reembed("local"))
        embedded_texts.clear()
        own = ask_reranked(recall)
        assert embedded_texts == [QUESTION, QUESTION]  # one for the search, one for the reranker
    with Recall.open(str(base)) as recall:
        assert (count_vectors(recall), count_vectors(recall, is_query=True)) == (0, 1)
        fresh = rescore.EmbedderReranker(LocalEmbedder())
        rows = [recall.get(result["doc"]["path"])["found"]["text"] for result in own["results"]]
        values = [result["explain"]["rerank"] for result in own["results"]]
        assert values == fresh.score(QUESTION, rows)


def test_vectors_of_a_replaced_embedder_are_not_used(base: Path, embedded_texts: list[str]) -> None:
    with Recall.open(str(base)) as recall:
        fresh = ask_reranked(recall)
    with Recall.open(str(base)) as recall, Recall.open(str(base)) as other:
        list(other.reembed("local"))
        ask_reranked(recall)
        list(other.reembed("hash"))
        values = [each["explain"]["rerank"] for each in ask_reranked(recall, QUESTION)["results"]]
    assert values == [each["explain"]["rerank"] for each in fresh["results"]]


def test_rerank_keep_false_stores_no_vectors(base: Path, embedded_texts: list[str]) -> None:
    toml = base / "recall.toml"
    toml.write_text(toml.read_text().replace("rerank_keep = true", "rerank_keep = false"))
    for _ in range(2):
        with Recall.open(str(base)) as recall:
            ask_reranked(recall)
            assert (count_vectors(recall), count_vectors(recall, is_query=True)) == (0, 0)
    assert len(embedded_texts) == 2 * (1 + len(TEXTS))


def test_next_query_saves_the_vectors_of_the_previous_query(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        ask_reranked(recall)
        assert count_vectors(recall) == 0
        ask_reranked(recall, "another question")
        assert (count_vectors(recall), count_vectors(recall, is_query=True)) == (len(TEXTS), 1)
        plan = recall.engine.plan("a third")
        recall.engine.answer(plan)
        assert count_vectors(recall, is_query=True) == 2


def test_search_waits_for_no_writer_and_saves_vectors_later(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        recall.store.db.set_busy_timeout(3_600_000)  # type: ignore[attr-defined]
        with Recall.open(str(base)) as other, other.store.writer():
            first = ask_reranked(recall)
            assert ask_reranked(recall) == first
            assert count_vectors(recall) == 0
        assert ask_reranked(recall) == first
        assert count_vectors(recall) == len(TEXTS)


def test_read_only_store_still_answers(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        first = ask_reranked(recall)
    with Recall.open(str(base)) as recall:
        recall.store.execute("SELECT 1")  # type: ignore[attr-defined]
    (base / "recall.db").chmod(0o444)
    base.chmod(0o555)
    try:
        with without_privileges(base), Recall.open(str(base)) as recall:
            other = ask_reranked(recall, "another question")
            assert (ask_reranked(recall), ask_reranked(recall, "another question")) == (first, other)
            assert count_vectors(recall, is_query=True) == 1
    finally:
        base.chmod(0o755)


def test_cached_vectors_change_no_generation_digest_or_export(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        before, exported = recall.store.info(), io.StringIO()
        recall.export(exported)
        ask_reranked(recall)
    with Recall.open(str(base)) as recall:
        assert count_vectors(recall) == len(TEXTS)
        after = io.StringIO()
        recall.export(after)
        assert (recall.store.info(), after.getvalue()) == (before, exported.getvalue())


# Removal.


def vector_pieces(recall: Recall, path: str) -> frozenset[bytes]:
    """Return pieces of eight bytes of the cached vector of a document's text."""
    rows = recall.store.execute(  # type: ignore[attr-defined]
        "SELECT r.embedding FROM vec_rerank r JOIN chunk c USING (text_hash) JOIN doc d ON d.rowid = c.doc "
        "WHERE d.path = ?",
        (path,),
    )
    return frozenset(bytes(vector)[16:24] for (vector,) in rows)


def test_purge_removes_a_text_and_its_vectors(base: Path) -> None:
    secret = letters("secret")
    (base / "notes" / "secret.md").write_text(secret)
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "notes"))
        ask_reranked(recall, secret[:60])
        recall.engine.keep_vectors()
        pieces = vector_pieces(recall, "notes/secret.md")
        assert pieces
        assert pieces_left(base, pieces=pieces) != []

        recall.remove([str(base / "notes" / "secret.md")], purge=True)

        assert (count_vectors(recall), count_vectors(recall, is_query=True)) == (len(TEXTS), 0)
    assert pieces_left(base, secret, pieces=pieces) == []


def test_text_purged_with_pending_vectors_does_not_return(base: Path) -> None:
    secret = letters("secret")
    (base / "notes" / "secret.md").write_text(secret)
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "notes"))
        ask_reranked(recall, secret[:60])
        with Recall.open(str(base)) as other:
            other.remove([str(base / "notes" / "secret.md")], purge=True)
    with Recall.open(str(base)) as recall:
        assert (count_vectors(recall), count_vectors(recall, is_query=True)) == (len(TEXTS), 0)
        assert recall.store.check("vector_values").severity == "ok"


def test_compact_drops_vectors_of_removed_texts(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        ask_reranked(recall)
        recall.engine.keep_vectors()
        recall.remove([str(base / "notes" / "river.md")])
        assert count_vectors(recall) == len(TEXTS)
        size = recall.store.reranked_bytes()

        recall.compact()

        assert (count_vectors(recall), count_vectors(recall, is_query=True)) == (len(TEXTS) - 1, 1)
        assert 0 < recall.store.reranked_bytes() < size


def vectors(*texts: str) -> list[RerankVector]:
    store = memory_store()
    put(store, new_file("a.txt", texts))
    hashes = [bytes(row[0]) for row in store.execute("SELECT text_hash FROM chunk ORDER BY offset")]
    return [RerankVector(key, False, vector) for key, vector in zip(hashes, EMBEDDER.embed(texts), strict=True)]


def test_oldest_vectors_make_room_for_the_newest() -> None:
    texts = ["alpha ", "beta ", "gamma ", "delta "]
    store, made = memory_store(), vectors(*texts)
    put(store, new_file("a.txt", texts))
    size = len(made[0].vector)
    store.keep_reranked(MAKER, made[:1], most_bytes=10**6)
    one = store.reranked_bytes()
    assert one > size

    for each in made[1:]:
        assert store.keep_reranked(MAKER, [each], most_bytes=2 * one + one // 2)

    found = store.reranked(MAKER, [each.text_hash for each in made], is_query=False)
    assert found == {each.text_hash: each.vector for each in made[2:]}
    assert store.reranked_bytes() == 2 * one
    assert store.keep_reranked(MAKER, made, most_bytes=0)
    assert (store.reranked_bytes(), store.reranked(MAKER, list(found), is_query=False)) == (0, {})


def test_vectors_are_separate_by_maker_and_kind() -> None:
    store, (made,) = memory_store(), vectors("alpha ")
    put(store, new_file("a.txt", ["alpha "]))
    store.keep_reranked(MAKER, [made], most_bytes=10**6)
    assert store.reranked(MAKER, [made.text_hash], is_query=False) == {made.text_hash: made.vector}
    assert store.reranked(MAKER, [made.text_hash], is_query=True) == {}
    assert store.reranked("another", [made.text_hash], is_query=False) == {}


def test_query_vector_is_saved_only_if_nothing_was_written() -> None:
    store = memory_store()
    asked = RerankVector(b"q" * 32, True, EMBEDDER.embed(["alpha"])[0], store.generation())
    put(store, new_file("a.txt", ["alpha "]))
    store.keep_reranked(MAKER, [asked], most_bytes=10**6)
    assert store.reranked(MAKER, [asked.text_hash], is_query=True) == {}
    store.keep_reranked(MAKER, [asked._replace(generation=store.generation())], most_bytes=10**6)
    assert store.reranked(MAKER, [asked.text_hash], is_query=True) == {asked.text_hash: asked.vector}


# Damage and backups.


def test_damaged_vector_is_recomputed_and_reported_by_doctor(base: Path, embedded_texts: list[str]) -> None:
    with Recall.open(str(base)) as recall:
        first = ask_reranked(recall)
    with Recall.open(str(base)) as recall:
        with recall.store.transaction():  # type: ignore[attr-defined]
            recall.store.execute(  # type: ignore[attr-defined]
                "UPDATE vec_rerank SET embedding = zeroblob(length(embedding)) WHERE rowid = 2"
            )
        assert recall.store.check("vector_values").severity == "error"
        embedded_texts.clear()
        assert ask_reranked(recall) == first
        assert len(embedded_texts) == 1
    with Recall.open(str(base)) as recall:
        assert (recall.store.check("vector_values").severity, count_vectors(recall)) == ("ok", len(TEXTS))


def test_doctor_removes_a_damaged_vector(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        ask_reranked(recall)
        recall.engine.keep_vectors()
        with recall.store.transaction():  # type: ignore[attr-defined]
            recall.store.execute("UPDATE vec_rerank SET embedding = x'00' WHERE is_query = 0")  # type: ignore[attr-defined]
        recall.doctor(fix=True)
        assert (recall.store.check("vector_values").severity, count_vectors(recall)) == ("ok", 0)
        assert count_vectors(recall, is_query=True) == 1


def test_recovered_or_backed_up_store_is_sound(base: Path, tmp_path: Path) -> None:
    with Recall.open(str(base)) as recall:
        first = ask_reranked(recall)
        recall.engine.keep_vectors()
        before = count_vectors(recall)
        recall.backup(tmp_path / "copy.db")
    assert [
        check["code"] for check in Recall.verify(tmp_path / "copy.db")["checks"] if check["severity"] == "error"
    ] == []
    Recall.recover(base / "recall.db", tmp_path / "new.db")
    with Recall.open(str(tmp_path / "new.db"), trust=True) as recall:
        assert count_vectors(recall) == before > 0
        assert [check["code"] for check in recall.doctor()["checks"] if check["severity"] == "error"] == []
        assert [each["score"] for each in ask_reranked(recall)["results"]] == [
            each["score"] for each in first["results"]
        ]


# The command line.


class Watched(io.StringIO):
    """A stdout that records the number of cached vectors at every write."""

    def __init__(self, base: Path) -> None:
        super().__init__()
        self.base = base
        self.kept: list[int] = []

    def write(self, text: str) -> int:
        """Write the text."""
        with Recall.open(str(self.base)) as recall:
            self.kept.append(count_vectors(recall))
        return super().write(text)


def test_vectors_are_saved_after_the_answer_is_printed(base: Path) -> None:
    out = Watched(base)
    argv = ["search", *QUESTION.split(), "--store", str(base), "--json"]
    assert cli.main(argv, streams=Streams(io.StringIO(), out, io.StringIO())) == 0

    assert json.loads(out.getvalue())["ok"]
    assert set(out.kept) == {0}
    with Recall.open(str(base)) as recall:
        assert count_vectors(recall) == len(TEXTS)


# Concurrent processes.

SEARCHING = """
import json, sys
from recall_core import Recall
with Recall.open(sys.argv[1]) as recall:
    store, answers = recall.store, []
    for line in sys.stdin:
        if (question := line.strip()) == "reads":
            print(store._lease.shared.reads if store._lease else 0, store.generation(), flush=True)
        else:
            found = recall.search(question, settings=("rerank_rows=3",))
            print(json.dumps([(each["doc"]["path"], each["score"]) for each in found["results"]]), flush=True)
"""
WRITING = """
import sys
from pathlib import Path
from recall_core import Recall
base = Path(sys.argv[1])
with Recall.open(sys.argv[1]) as recall:
    for line in sys.stdin:
        path = base / "notes" / f"{line.strip()}.md"
        path.write_text(f"# {line.strip()}\\n\\nNothing of the kind.\\n")
        recall.index(str(path))
        print("written", flush=True)
"""


class Process:
    """A process that answers each line with a line."""

    def __init__(self, code: str, base: Path) -> None:
        argv = [sys.executable, "-c", code, str(base)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line: str) -> None:
        """Send a line without waiting."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        """Return the next answer."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        """Send a line and return its answer."""
        self.say(line)
        return self.hear()

    def end(self) -> int:
        """Return the exit code once the process has ended."""
        self._process.communicate()
        return self._process.returncode


@pytest.fixture
def processes(base: Path) -> Iterator[list[Process]]:
    """Yield two searching processes and a writing one."""
    running = [Process(SEARCHING, base), Process(SEARCHING, base), Process(WRITING, base)]
    yield running
    assert [each.end() for each in running] == [0, 0, 0]


def answers(base: Path, questions: list[str]) -> list[str]:
    """Return the answers of a process without a cache."""
    toml = base / "recall.toml"
    toml.write_text(toml.read_text().replace("rerank_keep = true", "rerank_keep = false"))
    with Recall.open(str(base)) as recall:
        assert count_vectors(recall) == 0
        found = [recall.search(question, settings=("rerank_rows=3",))["results"] for question in questions]
    return [json.dumps([(each["doc"]["path"], each["score"]) for each in results]) for results in found]


def test_concurrent_searches_and_writes_answer_right_and_keep_caches(
    base: Path, processes: list[Process], template: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, second, writer = processes
    reference = copy_to(template, tmp_path_factory.mktemp("reference"))
    questions = [f"{QUESTION} {n}" for n in range(24 if IS_NIGHT else 4)]
    found = [(first if n % 2 else second).ask(question) for n, question in enumerate(questions)]
    with Recall.open(str(base)) as recall:
        assert count_vectors(recall, is_query=True) >= len(questions) - 2
    for each in (first, second):
        assert int(each.ask("reads").split()[0]) == 1
    assert found == answers(reference, questions)

    began = int(first.ask("reads").split()[1])
    questions = [f"{QUESTION} again {n}" for n, _ in enumerate(questions)]
    for n, question in enumerate(questions):
        writer.say(f"new{n}")
        first.say(question)
        second.say(question)
        assert writer.hear() == "written"
        assert json.loads(first.hear())
        assert json.loads(second.hear())

    for each in (first, second):
        reads, generation = map(int, each.ask("reads").split())
        assert reads <= generation - began + 1
    shutil.copytree(base / "notes", reference / "notes", dirs_exist_ok=True)
    with Recall.open(str(reference)) as recall:
        recall.index(str(reference / "notes"))
    later = [(first.ask(question), second.ask(question)) for question in questions]
    assert later == [(answer, answer) for answer in answers(reference, questions)]


# The sixth decimal.

COMPONENTS = st.lists(st.floats(-1, 1, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=8, max_size=8)


@given(st.lists(COMPONENTS, min_size=1, max_size=5), st.booleans())
def test_similarity_is_the_exact_sum_in_any_order(rows: list[list[float]], has_numpy: bool) -> None:
    made = [vector for vector in map(unit, rows) if vector]
    with pytest.MonkeyPatch.context() as patch:
        import numpy as np  # noqa: F401, PLC0415 - one of the two code paths

        if not has_numpy:
            patch.delitem(sys.modules, "numpy")
        for question in made:
            exact = [
                fsum(x * y for x, y in zip(components(question), components(each), strict=True)) for each in made
            ]
            wanted = [max(0.0, min(1.0, round(value, 6))) for value in exact]
            assert rescore._similarities(question, made) == wanted


# Warming.


def warm(recall: Recall, **wanted: Any) -> dict[str, Any]:
    return dict(result_of(recall.warm(**wanted))["warmed"])


def test_warm_embeds_every_text_once_for_later_queries(base: Path, embedded_texts: list[str]) -> None:
    with Recall.open(str(base)) as recall:
        first = warm(recall, everything=True)
        assert (first["embedded"], first["kept"], first["left"]) == (len(TEXTS), len(TEXTS), 0)
        assert first["bytes"] == recall.store.reranked_bytes() > 0
        assert warm(recall, everything=True) == first | {"embedded": 0}
    embedded_texts.clear()
    with Recall.open(str(base)) as recall:
        ask_reranked(recall)
    assert embedded_texts == [QUESTION]


def test_warm_for_queries_embeds_the_texts_they_need(base: Path, tmp_path: Path, embedded_texts: list[str]) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text(f"1\t{QUESTION}\n2\twho digs a burrow\n")
    with Recall.open(str(base)) as recall:
        view = warm(recall, queries=queries, settings={"rerank_rows": 2})
        assert (view["questions"], view["left"]) == (2, 0)
        assert count_vectors(recall, is_query=True) == 2
    embedded_texts.clear()
    with Recall.open(str(base)) as recall:
        recall.search(QUESTION, settings={"rerank_rows": 2})
        recall.search("who digs a burrow", settings={"rerank_rows": 2})
    assert embedded_texts == []


def many(base: Path) -> None:
    for n in range(20):
        (base / "notes" / f"more{n}.md").write_text(f"{letters(f'more {n}')} {'and more ' * 100}\n")
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "notes"))


def test_stopped_warm_resumes(base: Path, embedded_texts: list[str]) -> None:
    many(base)
    for way in ("budget", "closed"):
        embedded_texts.clear()
        with Recall.open(str(base)) as recall:
            with recall.store.transaction():  # type: ignore[attr-defined]
                recall.store.execute("DELETE FROM vec_rerank")  # type: ignore[attr-defined]
            texts = recall.store.texts()
            if way == "budget":
                view = warm(recall, everything=True, budget_s=1e-9)
                assert (view["kept"], view["left"]) == (view["embedded"], texts - view["embedded"])
            else:
                steps = recall.warm(everything=True)
                next(steps)
                next(steps)
                steps.close()
            made = count_vectors(recall)
            assert 0 < made < texts, way
        with Recall.open(str(base)) as recall:
            view = warm(recall, everything=True)
            assert (view["embedded"], view["kept"], view["left"]) == (texts - made, texts, 0), way
        assert len(embedded_texts) == texts, way


def test_warm_stops_and_reports_a_full_cache(base: Path) -> None:
    with Recall.open(str(base)) as recall:
        recall.engine.config = recall.config._replace(rerank_mb=0)
        response = result_of(recall.warm(everything=True))
        assert (response["warmed"]["embedded"], response["warmed"]["left"]) == (0, len(TEXTS))
        assert response["warnings"][0].startswith("W_RERANK_MB: ")


def test_warm_has_nothing_to_do_for_the_store_embedder(base: Path, embedded_texts: list[str]) -> None:
    with Recall.open(str(base)) as recall:
        view = warm(recall, everything=True, settings={"rerank": "hash"})
    assert (view["embedded"], view["kept"], view["left"], embedded_texts) == (0, len(TEXTS), 0, [])


def test_invalid_warm_request_is_refused(base: Path) -> None:
    for wanted, code in [
        ({"everything": True, "settings": {"rerank": ""}}, "no_reranker"),
        ({}, "missing_argument"),
        ({"everything": True, "queries": Path("q.tsv")}, "missing_argument"),
        ({"everything": True, "settings": {"rerank": "nobody"}}, "unknown_reranker"),
    ]:
        with Recall.open(str(base)) as recall, pytest.raises(RecallError) as caught:
            warm(recall, **wanted)
        assert caught.value.code == code, wanted


def test_warm_command_prints_a_summary(base: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    argv = ["warm", "--all", "--store", str(base)]
    assert cli.main(argv, streams=Streams(io.StringIO(), out, err)) == 0
    assert out.getvalue().startswith("local: 3 texts embedded; 3 of 3 stored, 0.0 MB")
