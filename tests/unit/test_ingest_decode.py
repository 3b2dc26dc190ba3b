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


def test_byte_order_mark_is_stripped() -> None:
    assert decode(b"\xef\xbb\xbfwords", path="a.txt") == "words"


def test_line_ends_are_unchanged() -> None:
    assert decode(b"one\r\ntwo\rthree\n", path="a.txt") == "one\r\ntwo\rthree\n"


def test_nul_in_the_first_8_kib_means_binary() -> None:
    with pytest.raises(IngestError) as caught:
        decode(b"a" * 8191 + b"\0", path="a.bin")

    assert caught.value.code == "binary_file"


def test_nul_later_on_is_text() -> None:
    assert decode(b"a" * 8192 + b"\0", path="a.txt")[-1] == "\0"


@pytest.mark.parametrize(("raw", "offset"), [(b"caf\xe9", 3), (b"\xef\xbb\xbfcaf\xe9", 6), (b"\xffa", 0)])
def test_non_utf8_file_reports_its_byte_offset_and_a_fix(raw: bytes, offset: int) -> None:
    with pytest.raises(IngestError) as caught:
        decode(raw, path="latin.txt")

    assert caught.value.code == "not_utf8"
    assert f"offset {offset}" in caught.value.message
    assert "UTF-8" in str(caught.value.hint)


def zip_archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "words")
    return out.getvalue()


def tar_archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return out.getvalue()


def test_binary_file_is_named_by_its_kind() -> None:
    for name, raw, said, kind in [
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF", "PDF"),
        ("a.gz", gzip.compress(b"words", mtime=0), "compressed with gzip", "compressed (.gz)"),
        ("a.bz2", bz2.compress(b"words"), "compressed with bzip2", "compressed (.bz2)"),
        ("a.xz", lzma.compress(b"words"), "compressed with xz", "compressed (.xz)"),
        ("a.zip", zip_archive(), "a ZIP archive", "archive (.zip)"),
        ("A.DOCX", zip_archive(), "a Word document", "Office (.docx)"),
        ("a.tar", tar_archive(), "a tar archive", "archive (.tar)"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image", "image (.png)"),
        ("a.webp", b"RIFF\0\1\0\0WEBPVP8 ", "a WebP image", "image (.webp)"),
        ("libc.so", b"\x7fELF\x02\x01\x01\0", "compiled code", "compiled (ELF)"),
        ("a.pyc", b"\xa7\r\r\n\0\0\0\0", "compiled code", "compiled (.pyc)"),
        ("Rome", b"TZif2\0\0\0\0", "time zone data", "time zone"),
        ("a.heic", b"\0\0\0\x18ftypheic\0", "a HEIF image", "image (.heic)"),
        ("a.avif", b"\0\0\0\x1cftypavif\0", "an AVIF image", "image (.avif)"),
        ("a.m4a", b"\0\0\0\x1cftypM4A \0", "an audio file", "audio"),
        ("a.mp4", b"\0\0\0\x1cftypisom\0", "a video or audio file", "video"),
        ("a.bmp", b"BM\x46\x12\0\0\0\0\0\0", "a BMP image", "image (.bmp)"),
        ("a.psd", b"8BPS\0\1\0\0", "a Photoshop image", "image (.psd)"),
        ("a.pbm", b"P4\n16 16\n\xfb\xe1", "a Netpbm image", "image (.pbm)"),
        ("a.aiff", b"FORM\0\0\1\0AIFF", "an audio file", "audio"),
        ("a.mp3", b"\xff\xfb\x90\x64\0\x0f", "an audio file", "audio"),
        ("a.mat", b"MATLAB 5.0 MAT-file, Platform\0", "MATLAB data", "array (.mat)"),
        ("a.h5", b"\x89HDF\r\n\x1a\n\0", "an HDF5 file", "array (.h5)"),
        ("a.parquet", b"PAR1\x15\0\x15", "a Parquet table", "table (.parquet)"),
        ("a.pkl", b"\x80\x04\x95\x10\0", "a Python pickle", "pickle"),
        ("a.dylib", b"\xcf\xfa\xed\xfe\x07\0", "compiled code", "compiled (Mach-O)"),
        ("key.gpg", b"\x99\x02\x0d\x04g\xe9>\0", "an OpenPGP key", "key (OpenPGP)"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "an old Office document", "Office (.doc, .xls)"),
        ("a.msi", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "a Windows compound file", "compound (OLE)"),
    ]:
        with pytest.raises(IngestError) as caught:
            decode(raw, path=name)

        assert caught.value.message == f"{name} is {said}, not text.", (name, raw, said, kind)
        assert caught.value.details["kind"] == kind, (name, raw, said, kind)  # type: ignore[index]


def test_other_unicode_encodings_are_named() -> None:
    for encoding in ["utf-16", "utf-32"]:
        for text in ["words", "文字"]:
            with pytest.raises(IngestError) as caught:
                decode(text.encode(encoding), path="a.txt")

            assert caught.value.message == f"a.txt is text in {encoding.upper()}, not UTF-8.", (encoding, text)
            assert caught.value.hint == "re-save it as UTF-8, or --encoding NAME", (encoding, text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_two_byte_text_is_recognised_without_a_bom(encoding: str) -> None:
    with pytest.raises(IngestError) as caught:
        decode("name;price\r\ncafé;3\r\n".encode(encoding), path="a.csv")

    assert caught.value.message == "a.csv is text in UTF-16 without a byte order mark, not UTF-8."


def test_database_is_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.execute("CREATE TABLE a(b)")
    db.close()

    with pytest.raises(IngestError, match="is an SQLite database, not text"):
        decode((tmp_path / "a.db").read_bytes(), path="a.db")


def test_old_text_that_begins_like_a_binary_kind_is_text() -> None:
    for begin in ["MZ", "BZh", "OTTO", "ID3", "RIFF", "GIF8", "%PDF"]:
        with pytest.raises(IngestError, match="is not UTF-8: byte 0xe9"):
            decode(f"{begin} is the name of the café\n".encode("latin-1"), path="a.txt")


def test_first_letters_alone_do_not_make_a_text_binary() -> None:
    for begin in ["BM", "P4", "8BPS", "PAR1", "FORM", "CDF", "MATLAB 5"]:
        with pytest.raises(IngestError, match="is not UTF-8: byte 0xe9"):
            decode(f"{begin} is the name of the café\n".encode("latin-1"), path="a.txt")


def test_many_control_characters_make_a_file_binary() -> None:
    raw = bytes(range(1, 256)) * 4

    with pytest.raises(IngestError) as caught:
        decode(raw, path="a.bin")

    assert (caught.value.code, caught.value.hint) == ("binary_file", None)
    assert caught.value.message == "a.bin is a binary file: it has many control characters."


def test_text_in_an_old_encoding_is_not_binary() -> None:
    for encoding in ["cp1252", "koi8_r", "shift_jis", "gb18030", "cp437"]:
        text = {"koi8_r": "Привет, мир\n", "shift_jis": "こんにちは\n", "gb18030": "你好\n"}.get(
            encoding, "Grüße, café\n"
        )

        with pytest.raises(IngestError) as caught:
            decode(f"\x1b[1m{text}\x0c{text}".encode(encoding) * 3, path="a.txt")

        assert caught.value.code == "not_utf8", encoding


@pytest.mark.parametrize("raw", [b"%PDF-1.4 plain", b"GIF89a and more", b"BZh91AY&SY"])
def test_valid_text_is_read_whatever_its_beginning(raw: bytes) -> None:
    assert decode(raw, path="a.txt") == raw.decode()
