"""Promises of reading one file."""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path
from typing import cast

import pytest

from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest.reader import asked_of, read_raw, settings_by
from recall_core.types import Root


class Growing(FileIO):
    """A file that grows during reading."""

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        with open(str(self.name), "ab") as other:
            other.write(b"+")
        return content


class Busy:
    """A path whose file changes during the first `busy` readings."""

    def __init__(self, place: Path, *, busy: int, changing: type[FileIO] = Growing) -> None:
        self.place = place
        self.busy = busy
        self.changing = changing

    def open(self, mode: str) -> FileIO:
        self.busy -= 1
        return (self.changing if self.busy >= 0 else FileIO)(str(self.place), mode.removesuffix("b"))


@pytest.mark.parametrize(("busy", "content"), [(0, b"text"), (1, b"text+"), (2, b"text+")])
def test_file_changed_during_reading_is_read_again(tmp_path: Path, busy: int, content: bytes) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"text")

    raw = read_raw(cast("Path", Busy(place, busy=busy)), path="a.txt", config=Config())

    assert raw.content == content
    assert raw.size == len(content)


class Rewritten(FileIO):
    """A file rewritten during reading with other bytes of equal length."""

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        place = Path(str(self.name))
        status = place.stat()
        place.write_bytes(b"next")
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        return content


def test_file_rewritten_to_equal_size_is_read_again(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"text")

    raw = read_raw(cast("Path", Busy(place, busy=1, changing=Rewritten)), path="a.txt", config=Config())

    assert (raw.content, raw.mtime_ns) == (b"next", place.stat().st_mtime_ns)


def test_continually_changing_file_keeps_its_earlier_status(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"text")

    raw = read_raw(cast("Path", Busy(place, busy=2)), path="a.txt", config=Config())

    assert raw.size < place.stat().st_size


def test_file_that_grew_past_the_limit_is_not_read(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"text")

    with pytest.raises(IngestError) as caught:
        read_raw(place, path="a.txt", config=Config(max_file_bytes=3))

    assert caught.value.code == "file_too_large"


def test_settings_name_parser_chunker_counter_and_embedded_text() -> None:
    assert settings_by(asked_of("text", Root("docs")), Config()) == "text boundary-1:400:80:6000 whitespace titled"


def test_settings_name_the_requested_encoding() -> None:
    assert settings_by(asked_of("text", Root("docs", encoding="cp1252")), Config()).startswith("text;cp1252 ")
