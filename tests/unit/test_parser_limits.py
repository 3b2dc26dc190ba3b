"""No file can hold up a run: which parsers run in a worker, and what becomes of a file that never ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest.parse.pool import WorkerPool
from recall_core.ingest.parse.worker import Worker
from recall_core.ingest.reader import SHORT_LINE_BYTES, SMALL_BYTES, FileReader, FileText
from recall_core.types import Progress, Root
from tests.ingest_folder import IngestFolder
from tests.plug_ins import write_plug_in

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
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A parser of a stranger that does not say that it is foreign."""
    place = tmp_path_factory.mktemp("site")
    write_plug_in(place, "endless", "[recall.parser]\nendless = endless:Endless\n", source=ENDLESS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    return IngestFolder(tmp_path)


def read(reader: FileReader, path: str, raw: bytes, parser: str = "auto") -> FileText:
    return reader.read(raw, path=path, root=Root("", parser=parser), digest=sha256(raw).hexdigest())


def test_only_small_files_of_short_lines_are_read_in_this_process() -> None:
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
    ):
        with FileReader(Config()) as reader:
            read(reader, path, raw, parser)

            assert (reader._worker._process is None) == is_here, (path, len(raw))


def test_a_worker_makes_of_a_large_file_what_its_parser_makes() -> None:
    records = b"".join(b'{"_id": "%d", "text": "%s"}\n' % (n, b"word " * 100) for n in range(5_000))
    with FileReader(Config()) as reader:
        found = read(reader, "a.jsonl", records)

    assert [each.record for each in found.documents] == [str(n) for n in range(5_000)]
    assert {each.text for each in found.documents} == {"word " * 100}


def test_a_long_line_of_blanks_in_json_is_read(folder: IngestFolder) -> None:
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


@pytest.mark.parametrize("run", [add, sync])
@pytest.mark.parametrize("cores", [1, 2])
def test_an_endless_parser_is_named_and_the_rest_goes_on(
    folder: IngestFolder, monkeypatch: pytest.MonkeyPatch, run: Callable[[IngestFolder], Progress], cores: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    for made in (Worker, WorkerPool):
        monkeypatch.setitem(made.__init__.__kwdefaults__, "seconds", 0.5)
    for name in ("a", "loop", "z"):
        folder.write(f"docs/{name}.x", "loop" if name == "loop" else "say")

    done = run(folder)

    assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/loop.x", "parser_timeout")]
    assert {path.partition("#")[0] for path in folder.documents()} >= {"docs/a.x", "docs/z.x"}
    assert done.files_done == done.files_total


def test_a_parser_that_never_stops_making_documents_is_given_up() -> None:
    raw = b"yield"
    for worker, code in (
        (Worker(reply_bytes=10 << 20), "parser_crashed"),
        (Worker(seconds=0.2, reply_bytes=100 << 30), "parser_timeout"),
    ):
        with worker, pytest.raises(IngestError) as caught:
            worker.parse("endless", raw, path="a.x", digest="")

        assert caught.value.code == code
