"""Promises about documents that grow: journals, logs and the transcripts of sessions."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_core.store.values import StoreCheck
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
