"""Promises about documents that grow: journals, logs and the transcripts of sessions."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.timing import child
from recall_core.api.engine import result_of
from recall_core.api.recall import Recall
from recall_core.ingest import pipeline
from recall_core.store.values import StoreCheck
from recall_core.types import Progress
from tests.embedders import CountingEmbedder
from tests.ingest_folder import IngestFolder

LINES = st.lists(st.sampled_from(["", "# Head", "one two three four", "a b c d e f g", "x " * 60]), max_size=30)


CHECKS: tuple[StoreCheck, ...] = get_args(StoreCheck)


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    folder = IngestFolder(tmp_path)
    folder.embedder = CountingEmbedder()
    folder.store = folder.empty_store()
    return folder


def transcript(turns: int) -> str:
    """Return a session file of this many turns."""
    roles = ("user", "assistant")
    texts = [
        {"role": roles[n % 2], "content": f"Turn {n} is about the harbour {n * n} and more."} for n in range(turns)
    ]
    lines = [{"type": "message", "message": text} for text in texts]
    return "".join(json.dumps(line) + "\n" for line in [{"type": "session", "id": "s"}, *lines])


def live_rows(folder: IngestFolder) -> dict[int, str]:
    """Return rowid to text of every live chunk."""
    return dict(folder.store.execute("SELECT rowid, text FROM chunk WHERE deleted = 0"))


def contents(folder: IngestFolder) -> list[object]:
    """Return everything that answers depend on, and the codes of failed checks."""
    store = folder.store
    failed = [code for code in CHECKS if store.check(code).severity == "error"]
    files = [file._replace(mtime_ns=0, ctime_ns=0, inode=0) for file in store.live_files()]
    words = store.execute("SELECT term, doc, cnt FROM chunk_vocab ORDER BY term")
    return [failed, files, words, store.info()._replace(generation=0, tombstones=0, snapshot="", digest="")]


def test_new_turn_writes_at_most_two_chunks(folder: IngestFolder) -> None:
    folder.write("s.jsonl", transcript(400))
    folder.ingest("s.jsonl")
    before = live_rows(folder)
    for turns in (401, 402, 403):
        folder.write("s.jsonl", transcript(turns))
        done = folder.sync()
        after = live_rows(folder)
        assert (done.updated, done.embedded) == (1, 1), turns
        assert len(after.items() - before.items()) <= 2, turns
        before = after
    assert len(before) > 50


@pytest.mark.slow
def test_new_turn_costs_little_more_than_a_sync_without_changes(tmp_path: Path, counted: Callable[..., None]) -> None:
    Recall.init(str(tmp_path), settings={"embedding": "hash"})
    (tmp_path / "s.jsonl").write_text(transcript(5_000), encoding="utf-8")
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(tmp_path / "s.jsonl"))
    sync = child(["-m", "recall_core", "sync"], cwd=tmp_path)
    sync()
    ratios = []
    for turns in range(5_001, 5_008):
        (tmp_path / "s.jsonl").write_text(transcript(turns), encoding="utf-8")
        ratios.append(sync() / sync())
    counted(
        "sync of a grown transcript",
        "times the processor time of a sync without changes",
        ratio=round(median(ratios), 2),
    )
    assert median(ratios) <= 2.5


@settings(max_examples=25, deadline=None)
@given(versions=st.lists(LINES, min_size=2, max_size=5), grows=st.booleans())
def test_every_version_is_stored_as_if_it_were_the_first(versions: list[list[str]], grows: bool) -> None:
    with TemporaryDirectory() as place:
        folder, fresh = IngestFolder(Path(place)), IngestFolder(Path(place))
        lines: list[str] = []
        for version in versions:
            lines = [*lines, *version] if grows else version
            folder.write("a.md", "\n".join(lines))
            folder.ingest("a.md")
            fresh.store = fresh.empty_store()
            fresh.ingest("a.md")
            assert contents(folder) == contents(fresh)
            assert contents(folder)[0] == []


DAY = 86_400


def aged(place: Path, days: float) -> None:
    """Make a file this many days old."""
    moment = time.time() - days * DAY
    os.utime(place, (moment, moment))


def skips(done: Progress) -> dict[str, str]:
    return {skip.path: skip.code for skip in done.skipped}


def test_grown_session_waits_for_enough_new_text(folder: IngestFolder) -> None:
    folder.config = folder.config._replace(session_min_bytes=4_000, session_min_messages=5)
    folder.write("s.jsonl", transcript(20))
    folder.write("notes.jsonl", '{"text": "one"}\n')
    folder.ingest("s.jsonl", "notes.jsonl")
    before = folder.state()
    folder.write("s.jsonl", transcript(24))
    done = folder.sync()
    assert (skips(done), folder.state(), done.unchanged) == ({"s.jsonl": "session_waits"}, before, 2)
    assert "or 1 more message" in done.skipped[0].reason
    folder.write("notes.jsonl", '{"text": "one"}\n{"text": "two"}\n')
    folder.write("s.jsonl", transcript(25))
    assert (folder.sync().updated, "Turn 24" in folder.rows("s.jsonl")[-1].chunk.text) == (2, True)


@pytest.mark.parametrize("text", [transcript(10), transcript(21).replace("Turn 3 ", "Turn x "), "", "no json\n"])
def test_rewritten_session_is_read_at_once(folder: IngestFolder, text: str) -> None:
    folder.config = folder.config._replace(session_min_bytes=10**6)
    folder.write("s.jsonl", transcript(20))
    folder.ingest("s.jsonl")
    folder.write("s.jsonl", text)
    done = folder.sync()
    assert (skips(done), done.updated) == ({}, 1)
    assert ("Turn 19" in "".join(row.chunk.text for row in folder.rows("s.jsonl"))) == ("Turn 19" in text)


def test_old_session_does_not_wait(folder: IngestFolder) -> None:
    folder.config = folder.config._replace(session_min_messages=50, retention_days=30)
    folder.write("s.jsonl", transcript(20))
    folder.ingest("s.jsonl")
    aged(folder.write("s.jsonl", transcript(21)), 31)
    done = folder.sync()
    assert (skips(done), folder.documents()) == ({"s.jsonl": "session_expired"}, {})


def test_reparse_ignores_what_a_session_waits_for(folder: IngestFolder) -> None:
    folder.config = folder.config._replace(session_min_messages=50)
    folder.write("s.jsonl", transcript(20))
    folder.ingest("s.jsonl")
    folder.write("s.jsonl", transcript(21))
    events = pipeline.sync(folder.store, folder.embedder, folder.config, folder.base, reparse=True)
    assert ([*events][-1].updated, "Turn 20" in folder.rows("s.jsonl")[-1].chunk.text) == (1, True)


def test_old_sessions_leave_and_come_back(folder: IngestFolder) -> None:
    folder.config = folder.config._replace(retention_days=30)
    old = folder.write("in/old.jsonl", transcript(20))
    aged(folder.write("in/never.jsonl", transcript(8)), 31)
    aged(folder.write("in/notes.md"), 31)
    folder.write("in/new.jsonl", transcript(9))
    folder.ingest("in")
    aged(old, 31)
    done = folder.sync()
    assert skips(done) == {"in/old.jsonl": "session_expired", "in/never.jsonl": "session_expired"}
    assert (done.added, done.removed, [*folder.documents()]) == (0, 2, ["in/new.jsonl", "in/notes.md"])
    again, state = folder.sync(), folder.state()
    assert (again.added, again.updated, again.removed, again.unchanged) == (0, 0, 0, 4)
    assert (skips(again), folder.sync().updated, folder.state()) == (skips(done), 0, state)

    folder.write("in/old.jsonl", transcript(21))
    assert (folder.sync().embedded, len(folder.rows("in/old.jsonl")) > 1) == (1, True)
    folder.config = folder.config._replace(retention_days=0)
    folder.sync()
    assert "in/never.jsonl" in folder.documents()


def test_text_of_old_sessions_is_purged_once_a_day(tmp_path: Path) -> None:
    Recall.init(str(tmp_path), embedding="hash")
    (tmp_path / "recall.toml").write_text('embedding = "hash"\nretention_days = 30\n', encoding="utf-8")
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(transcript(12).replace("harbour", f"quokka{name}"), encoding="utf-8")
    with Recall.open(str(tmp_path)) as recall:
        result_of(recall.add([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]))
        aged(tmp_path / "a.jsonl", 31)
        first = result_of(recall.sync())["ingest"]
        assert (first["removed"], first.get("purged")) == (1, 1)
        aged(tmp_path / "b.jsonl", 31)
        assert "purged" not in result_of(recall.sync())["ingest"]
        files = b"".join(each.read_bytes() for each in tmp_path.glob("recall.db*"))
        assert (b"quokkaa" in files, b"quokkab" in files) == (False, True)
        with recall.store.transaction():
            recall.store.execute("UPDATE meta SET value = value - 1 WHERE key = 'retention_day'")
        assert result_of(recall.sync())["ingest"].get("purged") == 1
    assert b"quokka" not in b"".join(each.read_bytes() for each in tmp_path.glob("recall.db*"))


def test_broken_lines_are_named_by_number(folder: IngestFolder) -> None:
    lines = transcript(6).splitlines()
    folder.write("s.jsonl", "\n".join([*lines[:3], '{"type": "mess', *lines[3:]]) + "\n")
    assert folder.ingest("s.jsonl").notes == (("s.jsonl", "line 4 is not JSON and was skipped"),)
