"""Reembed: old vectors serve until all new ones exist, and interruptions cost nothing twice."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.embedders
from recall_core.adapters.cli import main
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Recall
from recall_core.contract.responses import ReembedResponse
from recall_core.errors import EmbedError, StoreError, UsageError
from recall_core.ingest.pipeline import sync
from recall_core.maintain import embedders as module
from recall_core.types import Progress, Root
from tests.embedders import COUNTING, KEY, KEYED, WINDOWED
from tests.plug_ins import scan_once

FILES = 40
TEXT = "note {n} about tides\n"


@pytest.fixture(autouse=True)
def one_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan installed packages once for each sys.path, since a scan takes 60 ms."""
    scan_once(monkeypatch)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a third-party package of embedders."""
    site: Path = tmp_path_factory.mktemp("site")
    tests.embedders.write_package(site)
    return site


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home: Path = tmp_path_factory.mktemp("made")
    (home / "docs").mkdir()
    for n in range(FILES):
        (home / f"docs/{n:02}.txt").write_text(TEXT.format(n=n))
    Recall.init(str(home), settings=["embedding_dim=64"])
    with Recall.open(start=home) as recall:
        run(recall.add([str(home / "docs")], Root("")))
    return home


@pytest.fixture
def home(template: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a store of hash vectors, and install the third-party embedders."""
    monkeypatch.syspath_prepend(site)
    for kind in (COUNTING, WINDOWED, KEYED):
        name = kind.embedder.identity.partition(":")[0]
        monkeypatch.setattr(kind, "embedder", type(kind.embedder)(name=name))
    home = Path(shutil.copytree(template, tmp_path / "home"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(start=home) as recall:
        yield recall


def run(work: Iterator[Progress]) -> ReembedResponse:
    """Return the response of the work."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            response: ReembedResponse = stop.value
            return response


def answers(recall: Recall) -> list[tuple[str, float]]:
    response = recall.search("tides of note 7", Ask(mode="semantic"))
    return [(result["doc"]["path"], result["score"]) for result in response["results"]]


def vectors(recall: Recall) -> list[tuple[int, bytes]]:
    return [
        (row[0], bytes(row[1])) for row in recall.store.execute("SELECT chunk, embedding FROM vec ORDER BY chunk")
    ]


def test_reembed_replaces_every_vector_and_reports_it(recall: Recall) -> None:
    before = recall.store.info()

    response = run(recall.reembed("counting"))

    after = recall.store.info()
    assert response["reembedded"] == {
        "embedder": "counting-1:64",
        "previous": "hash-1:64",
        "dimension": 64,
        "chunks": FILES,
        "vectors": FILES,
        "embedded": FILES,
        "reused": 0,
        "tokens": FILES * 4 + 1,
    }
    assert (after.embedder, after.vectors, after.generation) == ("counting-1:64", FILES, before.generation + 1)
    assert after.digest != before.digest
    assert recall.store.execute("SELECT count(*) FROM vec_next")[0][0] == 0
    assert recall.store.reembed_target() is None
    assert {each["severity"] for each in recall.doctor()["checks"]} == {"ok"}


def test_each_distinct_text_is_embedded_once(recall: Recall, home: Path) -> None:
    for n in range(FILES):
        (home / f"docs/copy{n}.txt").write_text(TEXT.format(n=n))
    run(recall.sync())

    response = run(recall.reembed("counting"))

    assert (response["reembedded"]["vectors"], response["reembedded"]["embedded"]) == (2 * FILES, FILES)
    assert set(COUNTING.embedder.read.values()) == {1}


def test_queries_during_a_reembed_use_the_old_vectors(recall: Recall, home: Path) -> None:
    before, old = answers(recall), vectors(recall)
    digest = recall.store.info().digest

    with Recall.open(start=home) as other:
        work = recall.reembed("windowed")
        moments = 0
        for event in work:
            if event.stage == "embed":
                moments += 1
                assert answers(other) == answers(recall) == before
                assert vectors(other) == old
                assert other.store.info().digest == digest
        assert moments > 3
        assert other.store.info().embedder == "windowed-1:64"
        assert answers(other) == before  # these vectors are hash vectors under another name


def test_stopped_reembed_resumes(recall: Recall) -> None:
    before = answers(recall)
    work = recall.reembed("counting")
    while next(work).embedded < 10:
        pass
    work.close()
    read = COUNTING.embedder.read.total() - 1  # one text tests whether the embedder answers

    assert answers(recall) == before
    warning = next(each for each in recall.doctor()["checks"] if each["code"] == "reembed")
    assert (warning["severity"], warning["fix"]) == ("warning", "recall reembed counting")
    assert f"{read} of {FILES} texts" in warning["evidence"]

    view = run(recall.reembed("counting"))["reembedded"]

    assert (view["embedded"], view["reused"], view["vectors"]) == (FILES - read, read, FILES)
    assert set(COUNTING.embedder.read.values()) == {1}


def test_failing_embedder_leaves_the_answers_unchanged(recall: Recall) -> None:
    before, state = answers(recall), recall.store.info()
    COUNTING.embedder.patience = 20

    with pytest.raises(EmbedError, match="gone home"):
        run(recall.reembed("counting"))

    assert answers(recall) == before
    assert recall.store.info() == state
    COUNTING.embedder.patience = None
    view = run(recall.reembed("counting"))["reembedded"]
    assert view["embedded"] + view["reused"] == FILES
    assert view["reused"] > 0
    assert set(COUNTING.embedder.read.values()) == {1}


_KILLED = """
import os, sys
from recall_core.maintain import embedders
from recall_core.api.recall import Recall
embedders.COMMIT_SECONDS = 0
with Recall.open() as recall:
    for event in recall.reembed("counting"):
        if event.embedded >= 10:
            os._exit(9)
"""


def test_killed_reembed_loses_only_unsaved_vectors(recall: Recall, home: Path, site: Path) -> None:
    before = answers(recall)
    path = f"{site}:{Path(tests.embedders.__file__).parent.parent}"

    done = subprocess.run([sys.executable, "-c", _KILLED], check=False, env={"PYTHONPATH": path}, cwd=home)

    assert done.returncode == 9
    assert answers(recall) == before
    view = run(recall.reembed("counting"))["reembedded"]
    assert view["reused"] >= 10
    assert (view["embedded"] + view["reused"], view["vectors"]) == (FILES, FILES)


def test_another_target_restarts_and_reports_it(recall: Recall) -> None:
    work = recall.reembed("counting")
    while next(work).embedded < 10:
        pass
    work.close()

    response = run(recall.reembed("windowed"))

    assert any("dropped the unfinished reembed to counting-1:64" in each for each in response["warnings"])
    assert (response["reembedded"]["embedded"], response["reembedded"]["reused"]) == (FILES, 0)


def test_unreachable_target_drops_nothing(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY, raising=False)
    work = recall.reembed("counting")
    while next(work).embedded < 10:
        pass
    work.close()
    saved = recall.store.reembedded()

    with pytest.raises(EmbedError, match=KEY):
        run(recall.reembed("keyed"))

    assert recall.store.reembedded() == saved > 0
    assert run(recall.reembed("counting"))["reembedded"]["reused"] == saved


def test_current_embedder_embeds_nothing_and_ends_an_unfinished_reembed(recall: Recall) -> None:
    work = recall.reembed("counting")
    while next(work).embedded < 10:
        pass
    work.close()
    generation = recall.store.info().generation

    response = run(recall.reembed("hash"))

    assert response["reembedded"]["embedded"] == 0
    assert recall.store.info().generation == generation
    assert recall.store.reembed_target() is None
    assert any("dropped the unfinished" in each for each in response["warnings"])


def test_chunks_added_meanwhile_are_embedded_before_the_switch(recall: Recall, home: Path) -> None:
    added: set[int] = set()
    with Recall.open(start=home) as other:
        for event in recall.reembed("counting"):
            late = event.embedded // 10
            if event.stage == "embed" and late and late not in added:
                added.add(late)
                (home / f"docs/late{late}.txt").write_text(f"late arrival number {late}\n")
                run(other.sync())

    info = recall.store.info()
    assert len(added) > 1
    assert (info.embedder, info.vectors) == ("counting-1:64", FILES + len(added))
    expected = {bytes(vector) for vector in COUNTING.embedder.embed([f"late arrival number {n}\n" for n in added])}
    assert expected <= {vector for _, vector in vectors(recall)}


def test_running_add_cannot_mix_in_old_vectors(recall: Recall, home: Path) -> None:
    (home / "docs/new.txt").write_text("a new file\n")
    with Recall.open(start=home) as other:
        work = other.add(["docs"], Root(""))
        old = other.engine.embedder
        run(recall.reembed("counting"))

        with pytest.raises(StoreError) as caught:
            list(sync(other.store, old, other.engine.store_config(), other.engine.base))

        assert caught.value.code == "embedder_changed"
        assert recall.store.info().vectors == FILES
        run(work)  # it had not begun, and uses the new embedder
    assert recall.store.info().vectors == FILES + 1
    assert COUNTING.embedder.read["a new file\n"] == 1


def test_two_concurrent_reembeds_do_not_disturb_each_other(recall: Recall, home: Path) -> None:
    with Recall.open(start=home) as other:
        slow = other.reembed("counting")
        while next(slow).embedded < 4:
            pass
        run(recall.reembed("counting"))
        view = run(slow)["reembedded"]

    assert view["vectors"] == FILES
    assert recall.store.info().embedder == "counting-1:64"


def test_displaced_reembed_is_reported(recall: Recall, home: Path) -> None:
    with Recall.open(start=home) as other:
        slow = other.reembed("counting")
        while next(slow).embedded < 4:
            pass
        ahead = recall.reembed("windowed")
        while next(ahead).embedded < 4:
            pass

        with pytest.raises(StoreError) as caught:
            run(slow)

        assert caught.value.code == "reembed_replaced"
        run(ahead)
    assert recall.store.info().embedder == "windowed-1:64"


def test_compact_keeps_an_unfinished_reembed_except_removed_texts(recall: Recall) -> None:
    work = recall.reembed("counting")
    while next(work).embedded < FILES:
        pass
    work.close()
    recall.remove(["docs/00.txt"], purge=False)

    recall.compact()

    assert recall.store.execute("SELECT count(*) FROM vec_next")[0][0] == FILES - 1
    assert run(recall.reembed("counting"))["reembedded"]["embedded"] == 0


def test_windows_are_counted_and_stats_report_their_share(recall: Recall, home: Path) -> None:
    (home / "docs/long.txt").write_text("word " * 30)
    run(recall.sync())
    assert recall.stats()["store"]["truncated_share"] == 0

    run(recall.reembed("windowed"))
    (home / "docs/longer.txt").write_text("tide " * 50)
    run(recall.sync())

    rows = recall.store.execute("SELECT windows, count(*) FROM vec GROUP BY windows ORDER BY windows")
    assert rows == [(1, FILES), (4, 1), (7, 1)]
    assert recall.stats()["store"]["truncated_share"] == round(2 / (FILES + 2), 6)
    recall.remove(["docs/long.txt"], purge=False)
    recall.index(str(home / "docs/long.txt"))  # restored, with its cached vector
    assert recall.store.info().windowed == 2
    assert WINDOWED.embedder.read["word " * 30] == 1


def test_text_without_a_feature_is_not_embedded_again(recall: Recall, home: Path) -> None:
    (home / "docs/stop.txt").write_text("the of and")
    run(recall.sync())
    work = recall.reembed("counting")
    while next(work).embedded < FILES + 1:
        pass
    work.close()

    view = run(recall.reembed("counting"))["reembedded"]

    assert (view["embedded"], view["reused"], view["vectors"]) == (0, FILES + 1, FILES)


def test_cached_vector_of_a_removed_text_leaves_with_its_embedder(recall: Recall, home: Path) -> None:
    (home / "docs/07.txt").unlink()
    run(recall.sync())
    assert recall.store.execute("SELECT count(*) FROM vec_cache") == [(1,)]

    run(recall.reembed("counting"))

    (home / "docs/07.txt").write_text(TEXT.format(n=7))
    run(recall.sync())
    assert COUNTING.embedder.read[TEXT.format(n=7)] == 1


def test_key_rotation_embeds_nothing(recall: Recall, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "first")
    run(recall.reembed("keyed"))
    read = KEYED.embedder.read.total()

    monkeypatch.setenv(KEY, "second")
    with Recall.open(start=home) as fresh:
        again = run(fresh.reembed("keyed"))["reembedded"]
        synced = run(fresh.sync())["ingest"]

    assert (again["embedded"], synced["embedded"], synced["unchanged"]) == (0, 0, FILES)
    assert KEYED.embedder.read.total() == read


def test_recall_toml_follows_after_the_switch(recall: Recall, home: Path) -> None:
    toml = home / "recall.toml"
    text = toml.read_text().replace('embedding = "hash"', 'embedding = "hash"  # mine')
    toml.write_text("# my own words\n" + text)

    for _ in (work := recall.reembed("counting", ["diversity=3"])):
        if recall.store.info().embedder == "hash-1:64":
            assert 'embedding = "hash"  # mine' in toml.read_text()
    work.close()

    expected = text.replace('embedding = "hash"', 'embedding = "counting"').replace("diversity = 0", "diversity = 3")
    expected = expected.replace("semantic_weight = 0.1", "semantic_weight = 0.4")
    expected = expected.replace("lexical_weight = 0.9", "lexical_weight = 0.6")
    assert toml.read_text() == "# my own words\n" + expected
    assert (recall.config.embedding, recall.config.diversity) == ("counting", 3)
    with Recall.open(start=home) as fresh:
        assert fresh.engine.notes() == ()


def test_tuned_weights_of_the_current_embedder_stay(recall: Recall, home: Path) -> None:
    run(recall.reembed("counting", ["vector_weight=0.75"]))
    assert "semantic_weight = 0.75\n" in (home / "recall.toml").read_text()

    run(recall.reembed("counting", ["diversity=2"]))

    text = (home / "recall.toml").read_text()
    assert "semantic_weight = 0.75\n" in text
    assert "diversity = 2\n" in text


def test_unwritable_settings_are_reported_with_their_new_content(recall: Recall, home: Path) -> None:
    (home / "recall.toml").unlink()
    (home / "recall.toml").mkdir()

    response = run(recall.reembed("counting"))

    warning = next(each for each in response["warnings"] if "cannot be written" in each)
    assert 'embedding = "counting", lexical_weight = 0.6, semantic_weight = 0.4' in warning
    assert recall.store.info().embedder == "counting-1:64"


def test_invalid_request_is_refused_before_any_change(recall: Recall) -> None:
    for name, settings, code in [
        ("nonsense", [], "unknown_embedder"),
        ("counting", ["store_path=other.db"], "setting_fixed"),
        ("counting", ["embedding=hash"], "setting_fixed"),
        ("counting", ["chunk_tokens=9"], "setting_fixed"),
        ("counting", ["vector_weight=lots"], "bad_value"),
        ("counting", ["vectorweight=1"], "unknown_key"),
    ]:
        state = recall.store.info()

        with pytest.raises((EmbedError, UsageError)) as caught:
            run(recall.reembed(name, settings))

        assert caught.value.code == code, settings
        assert recall.store.info() == state, settings
        assert recall.store.reembed_target() is None, settings


def test_auto_is_resolved_and_saved(recall: Recall, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    response = run(recall.reembed("auto", ["embedding_fallback=counting"]))

    written = (home / "recall.toml").read_text()
    chosen = response["reembedded"]["embedder"].partition("-")[0]
    assert f'embedding = "{chosen}"' in written
    assert any(each.startswith(f'W_AUTO: Using embedder "{chosen}"') for each in response["warnings"])


def test_vectors_are_saved_along_the_way(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMIT_SECONDS", 0.0)

    seen = [recall.store.execute("SELECT count(*) FROM vec_next")[0][0] for _ in recall.reembed("counting")]

    assert 0 < seen[1] < seen[2] < seen[3] == FILES


def cli(*words: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = main(words, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_command_prints_a_one_line_summary(home: Path) -> None:
    code, out, err = cli("reembed", "counting", "--set", "diversity=1")

    done = f"{FILES} vectors: {FILES} texts embedded, 0 reused; {FILES * 4 + 1} tokens"
    assert (code, out, err) == (0, f"hash-1:64 -> counting-1:64  {done}\n", "")


def test_embedders_are_listed_with_and_without_a_store(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    within = json.loads(cli("embedders", "--json")[1])["embedders"]
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    code, out, _ = cli("embedders", "--json")

    assert [view["name"] for view in within if view["in_use"]] == ["hash"]
    assert (code, [view["name"] for view in json.loads(out)["embedders"] if view["in_use"]]) == (0, [])
    assert cli("embedders", "--store", str(tmp_path / "absent.db"))[0] == 1
