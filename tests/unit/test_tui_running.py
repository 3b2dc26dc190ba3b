"""The thread of a command line: its reports, and stopping it at any time."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.embed.hash import HashEmbedder
from recall_core.ingest.watch import Stop
from recall_core.ports import Embedder
from recall_core.types import Vector
from recall_tui.state.events import Crashed, Event, Ran, StoreOpened
from recall_tui.threads.writing import MOST_CHARACTERS, Caught, CommandThread
from tests.builders import opened_by
from tests.workbench_corpus import build_store


class Listener:
    """Collects the events of a thread."""

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self._is_over = threading.Event()

    def __call__(self, event: Event) -> None:
        self.heard.append(event)
        if isinstance(event, Ran | Crashed):
            self._is_over.set()

    def ran(self) -> Ran:
        assert self._is_over.wait(60)
        assert isinstance(self.heard[-1], Ran)
        return self.heard[-1]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_store(tmp_path_factory.mktemp("store")))


def test_a_command_reports_its_streams_and_the_store(store: str) -> None:
    said = Listener()

    CommandThread(["search budget --k 1"], store, Recall.open, said, None).start()

    ran = said.ran()
    assert (ran.code, ran.stdout.count("docs/"), ran.line) == (0, 1, "search budget --k 1")
    assert [type(event) for event in said.heard] == [StoreOpened, Ran]


def test_a_command_that_needs_no_store_opens_none(store: str) -> None:
    for line, code, words in [
        ("serch x", 2, "did you mean recall search"),
        ("search 'x", 2, "quote"),
        ("search", 2, "needs WORDS"),
        ("--help", 0, ""),
    ]:
        said = Listener()

        CommandThread([line], store, Recall.open, said, None).start()

        assert (said.ran().code, len(said.heard)) == (code, 1), line
        assert words in said.ran().stderr, line


def test_a_missing_store_is_reported_as_on_the_command_line(tmp_path: Path) -> None:
    said = Listener()

    CommandThread(["stats"], str(tmp_path), Recall.open, said, None).start()

    assert said.ran().code == 1
    assert "hint: recall init" in said.ran().stderr


def test_a_command_cancelled_before_opening_does_nothing(store: str) -> None:
    said, is_opening, may_open = Listener(), threading.Event(), threading.Event()

    def slow(named: str | None) -> Recall:
        is_opening.set()
        assert may_open.wait(60)
        return Recall.open(named)

    command = CommandThread(["stats"], store, slow, said, None)
    command.start()
    assert is_opening.wait(60)
    command.cancel()
    may_open.set()

    assert (said.ran().code, said.ran().stdout) == (130, "")


def test_a_finished_command_can_be_cancelled(store: str) -> None:
    said = Listener()
    command = CommandThread(["stats"], store, Recall.open, said, None)
    command.start()
    said.ran()

    command.stop()

    assert said.ran().code == 0


def test_a_command_cancelled_while_closing_keeps_its_result(store: str) -> None:
    said = Listener()

    class Closing(Recall):
        def close(self) -> None:
            super().close()
            command.cancel()

    command = CommandThread(["stats"], store, Closing.open, said, None)
    command.start()

    assert (said.ran().code, said.ran().stderr) == (0, "")


def test_an_import_is_cancelled_between_two_statements(store: str, tmp_path: Path) -> None:
    exported = tmp_path / "export.jsonl"
    with Recall.open(store) as recall, exported.open("w", encoding="utf-8") as out:
        recall.export(out, embeddings=False)
        dimension = recall.engine.embedder.dimension
    Recall.init(str(tmp_path), embedding="hash")
    said = Listener()

    class Cancelling(HashEmbedder):
        def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
            command.cancel()  # within the transaction, between two statements
            return super().embed(texts, is_query=is_query)

    class Importing(Engine):
        @property
        def embedder(self) -> Embedder:
            return Cancelling(dimension)

    command = CommandThread(
        [f"import {shlex.quote(str(exported))}"],
        str(tmp_path),
        lambda place: opened_by(Importing, place or str(tmp_path)),
        said,
        None,
    )
    command.start()

    assert said.ran().code == 130
    with Recall.open(str(tmp_path)) as recall:
        assert recall.store.info().documents == 0


@pytest.mark.parametrize("line", ["import {}", "@{}", "@{}.txt"])
def test_a_command_never_waits_for_a_pipe(store: str, tmp_path: Path, line: str) -> None:
    pipe, said = tmp_path / "pipe", Listener()
    os.mkfifo(pipe)
    (tmp_path / "pipe.txt").write_text(f"import {shlex.quote(str(pipe))}\n", encoding="utf-8")

    CommandThread([line.format(shlex.quote(str(pipe)))], store, Recall.open, said, None).start()

    assert said.ran().code in (1, 2)
    assert "pipe cannot be read: not a regular file." in said.ran().stderr


def test_a_waiting_watch_can_be_cancelled(store: str) -> None:
    said, is_watching = Listener(), threading.Event()

    class Watched(Recall):
        def changes(self, stop: Stop | None = None) -> Iterator[tuple[str, ...]]:
            for places in super().changes(stop):
                yield places
                is_watching.set()  # the first sync is over

    command = CommandThread(["sync --watch"], store, Watched.open, said, None)
    command.start()
    assert is_watching.wait(60)
    command.cancel()

    assert said.ran().code == 130
    assert "0 added" in said.ran().stdout


def test_the_output_of_a_command_is_limited() -> None:
    caught = Caught()

    for _ in range(3):
        assert caught.write("x" * MOST_CHARACTERS) == MOST_CHARACTERS

    assert caught.whole() == "x" * MOST_CHARACTERS + "\n(cut here)\n"
