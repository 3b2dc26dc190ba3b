"""No file can block a run: which parsers run in a worker, and what happens to an endless file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from queue import Queue

import pytest

from recall_core.api.recall import Recall
from recall_core.api.serving import Follower, Following, StoreSettings
from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest import watch
from recall_core.ingest.parse.worker import Worker, WorkerPool
from recall_core.ingest.reader import SHORT_LINE_BYTES, SMALL_BYTES, FileReader, FileText
from recall_core.types import Progress, Root
from tests.ingest_folder import IngestFolder
from tests.plug_ins import write_plug_in

ROOT = Path(__file__).parents[2]

ENDLESS = """
from itertools import count
from recall_core.ports import ParsedDocument

class Endless:
    def parse(self, raw, *, path, digest):
        word = raw.decode().split()[0]
        while word == "loop":
            pass
        for n in count() if word == "yield" else range(3):
            yield ParsedDocument(str(n), word * (1000 if word == "yield" else 1), path, digest, len(raw), {})
"""


@pytest.fixture(scope="module", autouse=True)
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a third-party parser that does not declare itself foreign."""
    place = tmp_path_factory.mktemp("site")
    write_plug_in(place, "endless", "[recall.parser]\nendless = endless:Endless\n", source=ENDLESS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        yield place


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    return IngestFolder(tmp_path)


def read(reader: FileReader, path: str, raw: bytes, parser: str = "auto") -> FileText:
    return reader.read(raw, path=path, root=Root("", parser=parser), digest=sha256(raw).hexdigest())


def test_only_small_files_with_short_lines_are_read_in_process() -> None:
    line = b"w" * (SHORT_LINE_BYTES - 1) + b"\n"
    small = line * ((SMALL_BYTES - 1) // len(line))
    small = small.ljust(SMALL_BYTES - 1, b"\n")
    for path, raw, parser, is_here in (
        ("a.md", b"words\n", "auto", True),
        ("a.md", small, "auto", True),
        ("a.md", small + b"\n", "auto", False),
        ("a.txt", b"\n" + line, "auto", True),
        ("a.txt", b"\nw" + line, "auto", False),
        ("a.json", b"{}" + b" " * SHORT_LINE_BYTES, "auto", False),
        ("a.x", b"say", "endless", False),
        ("a.1", b".TH A 1\n", "auto", False),
    ):
        with FileReader(Config()) as reader:
            read(reader, path, raw, parser)

            assert (reader._worker._process is None) == is_here, (path, len(raw))


def test_worker_gives_the_same_result_for_a_large_file() -> None:
    records = b"".join(b'{"_id": "%d", "text": "%s"}\n' % (n, b"word " * 100) for n in range(5_000))
    with FileReader(Config()) as reader:
        found = read(reader, "a.jsonl", records)

    assert [each.record for each in found.documents] == [str(n) for n in range(5_000)]
    assert {each.text for each in found.documents} == {"word " * 100}


def test_long_blank_line_in_json_is_read(folder: IngestFolder) -> None:
    for suffix in ("json", "jsonl", "ndjson"):
        folder.write(f"docs/a.{suffix}", '{"a":1}\n' + " " * 1_000_000 + '\n{"b":1}\n')

    done = folder.ingest("docs")

    assert (done.added, done.skipped) == (3, ())


def add(folder: IngestFolder) -> Progress:
    return folder.ingest("docs", template=Root("", parser="endless"))


def sync(folder: IngestFolder) -> Progress:
    folder.write("docs/first.x", "say")
    loop = folder.write("docs/loop.x", "say")
    add(folder)
    loop.write_bytes(b"loop")
    return folder.sync()


def quicken(patch: pytest.MonkeyPatch) -> None:
    for made in (Worker, WorkerPool):
        patch.setitem(made.__init__.__kwdefaults__, "seconds", 0.5)


@pytest.mark.parametrize("run", [add, sync])
@pytest.mark.parametrize("cores", [1, 2])
def test_endless_parser_is_named_and_other_files_are_read(
    folder: IngestFolder, monkeypatch: pytest.MonkeyPatch, run: Callable[[IngestFolder], Progress], cores: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    quicken(monkeypatch)
    for name in ("a", "loop", "z"):
        folder.write(f"docs/{name}.x", "loop" if name == "loop" else "say")

    done = run(folder)

    assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/loop.x", "parser_timeout")]
    assert {path.partition("#")[0] for path in folder.documents()} >= {"docs/a.x", "docs/z.x"}
    assert done.files_done == done.files_total


def test_served_store_continues_past_an_endless_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quicken(monkeypatch)
    monkeypatch.setattr(watch, "_LOOK_MS", 20)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.x").write_text("say")
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(docs), template=Root("", parser="endless"))
    (docs / "loop.x").write_text("loop")
    (docs / "z.x").write_text("zebra")
    said: Queue[str] = Queue()

    follower = Follower(StoreSettings(str(tmp_path)), Following(watch=True, on_boot=True), said.put)
    follower.start()
    try:
        assert said.get(timeout=60) == "1 added, docs/loop.x skipped (parser_timeout)"
    finally:
        follower.close()

    with Recall.open(str(tmp_path)) as recall:
        assert recall.search("zebra", mode="lexical")["results"][0]["doc"]["path"].startswith("docs/z.x")


@pytest.mark.slow
def test_watch_continues_past_an_endless_parser_after_30_seconds(tmp_path: Path, site: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    recall = [sys.executable, "-m", "recall_core"]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.x").write_text("say")
    for words in (["init", "--embedding", "hash"], ["add", "docs", "--parser", "endless"]):
        subprocess.run([*recall, *words], cwd=tmp_path, env=environment, check=True)
    (tmp_path / "docs" / "loop.x").write_text("loop")
    (tmp_path / "docs" / "z.x").write_text("say")

    with subprocess.Popen(
        [*recall, "sync", "--watch", "--json"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        first = json.loads(following.stdout.readline())
        following.terminate()

    assert first["ingest"]["added"] == 1
    assert [(skip["path"], skip["code"]) for skip in first["ingest"]["skipped"]] == [
        ("docs/loop.x", "parser_timeout")
    ]


def test_parser_that_never_stops_producing_documents_is_abandoned() -> None:
    raw = b"yield"
    for worker, code in (
        (Worker(reply_bytes=10 << 20), "parser_crashed"),
        (Worker(seconds=0.2, reply_bytes=100 << 30), "parser_timeout"),
    ):
        with worker, pytest.raises(IngestError) as caught:
            worker.parse("endless", raw, path="a.x", digest="")

        assert caught.value.code == code
