"""Promises of decoding."""

import bz2
import gzip
import io
import lzma
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

from recall_core.errors import IngestError
from recall_core.ingest.parse.text import decode


def test_a_byte_order_mark_is_stripped() -> None:
    assert decode(b"\xef\xbb\xbfwords", path="a.txt") == "words"


def test_line_ends_stay_as_they_are() -> None:
    assert decode(b"one\r\ntwo\rthree\n", path="a.txt") == "one\r\ntwo\rthree\n"


def test_a_nul_in_the_first_8_kib_means_binary() -> None:
    with pytest.raises(IngestError) as caught:
        decode(b"a" * 8191 + b"\0", path="a.bin")

    assert caught.value.code == "binary_file"


def test_a_nul_later_on_is_text() -> None:
    assert decode(b"a" * 8192 + b"\0", path="a.txt")[-1] == "\0"


@pytest.mark.parametrize(("raw", "offset"), [(b"caf\xe9", 3), (b"\xef\xbb\xbfcaf\xe9", 6), (b"\xffa", 0)])
def test_a_file_that_is_not_utf8_names_the_byte_offset_and_the_way_out(raw: bytes, offset: int) -> None:
    with pytest.raises(IngestError) as caught:
        decode(raw, path="latin.txt")

    assert caught.value.code == "not_utf8"
    assert f"offset {offset}" in caught.value.message
    assert "UTF-8" in str(caught.value.hint)


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "words")
    return out.getvalue()


def archived() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "raw", "said", "kind"),
    [
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF", "PDF"),
        ("a.gz", gzip.compress(b"words", mtime=0), "compressed by gzip", "compressed (.gz)"),
        ("a.bz2", bz2.compress(b"words"), "compressed by bzip2", "compressed (.bz2)"),
        ("a.xz", lzma.compress(b"words"), "compressed by xz", "compressed (.xz)"),
        ("a.zip", zipped(), "a ZIP archive", "archive (.zip)"),
        ("A.DOCX", zipped(), "a document of Word", "Office (.docx)"),
        ("a.tar", archived(), "a tar archive", "archive (.tar)"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image", "image (.png)"),
        ("a.webp", b"RIFF\0\1\0\0WEBPVP8 ", "a WebP image", "image (.webp)"),
        ("libc.so", b"\x7fELF\x02\x01\x01\0", "compiled code", "compiled (ELF)"),
        ("a.pyc", b"\xa7\r\r\n\0\0\0\0", "compiled code", "compiled (.pyc)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_is_no_text_is_called_what_it_is(name: str, raw: bytes, said: str, kind: str) -> None:
    with pytest.raises(IngestError) as caught:
        decode(raw, path=name)

    assert caught.value.message == f"{name} is {said}, not text."
    assert caught.value.details["kind"] == kind  # type: ignore[index]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["words", "文字"])
def test_text_in_another_form_of_unicode_is_called_so_with_the_way_out(encoding: str, text: str) -> None:
    with pytest.raises(IngestError) as caught:
        decode(text.encode(encoding), path="a.txt")

    assert caught.value.message == f"a.txt is text in {encoding.upper()}, not in UTF-8."
    assert caught.value.hint == "re-save it as UTF-8, or --encoding NAME"


def test_a_database_is_called_so(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.execute("CREATE TABLE a(b)")
    db.close()

    with pytest.raises(IngestError, match="is an SQLite database, not text"):
        decode((tmp_path / "a.db").read_bytes(), path="a.db")


@pytest.mark.parametrize("begin", ["MZ", "BZh", "OTTO", "ID3", "RIFF", "GIF8", "%PDF"])
def test_old_text_that_happens_to_begin_so_is_no_other_kind_of_file(begin: str) -> None:
    with pytest.raises(IngestError, match="is not UTF-8: byte 0xe9"):
        decode(f"{begin} is the name of the café\n".encode("latin-1"), path="a.txt")


@pytest.mark.parametrize("raw", [b"%PDF-1.4 plain", b"GIF89a and more", b"BZh91AY&SY"])
def test_what_is_text_is_read_however_it_begins(raw: bytes) -> None:
    assert decode(raw, path="a.txt") == raw.decode()
