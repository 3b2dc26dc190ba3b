"""Promises of a folder with files of every kind: parser, encoding and citation of each."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from encodings.aliases import aliases
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import Config, load, render
from recall_core.errors import ConfigError, IngestError, UsageError
from recall_core.ingest import kinds
from recall_core.ingest.decode import check_encoding, decode_file, unpack
from recall_core.ingest.parse.code import languages
from recall_core.ingest.reader import FileReader
from recall_core.text import document_id
from recall_core.types import Root

MANUAL = """.TH WIDGET 1 2024-01-01
.SH NAME
widget \\- turn the widgets
.SH OPTIONS
.TP
.B \\-\\-fast
Turn them fast.
"""
MODULE = '''"""A module."""


class Session:
    """One session."""

    def close(self) -> None:
        """End it for good."""


def main() -> None:
    Session().close()
'''


def chosen(path: str, raw: bytes = b"words\n", *, parser: str = "auto", **overrides: str) -> str:
    return kinds.choose(path, raw, parser=parser, overrides=tuple(overrides.items()))


def test_file_is_read_by_name_then_by_content() -> None:
    for path, raw, name in [
        ("a.md", b"# A\n", "markdown"),
        ("A.MARKDOWN", b"# A\n", "markdown"),
        ("a.rst", b"A\n=\n", "rst"),
        ("a.html", b"<p>a", "html"),
        ("page", b"<!-- c -->\n<!DOCTYPE html><p>a", "html"),
        ("a.txt", b"%PDF-1.7\n", "pdf"),
        ("a.pdf", b"no pdf", "pdf"),
        ("a.py", b"import a\n", "code"),
        ("run", b"#!/usr/bin/env python3\nimport a\n", "code"),
        ("a.ipynb", b"{}", "notebook"),
        ("a.csv", b"a,b\n", "table"),
        ("feed.xml", b'<?xml version="1.0"?><rss version="2.0">', "xml"),
        ("pom.xml", b'<?xml version="1.0"?><project>', "text"),
        ("pom.xml", b"<project><!-- <book> --><set name='a'>", "text"),
        ("page.xml", b"<!DOCTYPE library><library><book>", "text"),
        ("feed.xml", b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<rss>", "xml"),
        ("guide.xml", b"<?xml version='1.0'?><!DOCTYPE book [<!ENTITY a 'b'>]><book>", "xml"),
        ("a.rss", b"<rss>", "xml"),
        ("a.json", b"{}", "json"),
        ("a.jsonl", b"{}", "json"),
        ("a.jsonl.reset.2026-03-29T04-00-00Z", b"{}", "json"),
        ("a.jsonl.reset", b"{}", "text"),
        ("a.docx", b"PK\3\4", "docx"),
        ("a.epub", b"PK\3\4", "epub"),
        ("a.eml", b"From: a\n", "eml"),
        ("a.srt", b"1\n", "subtitles"),
        ("man/widget.1", MANUAL.encode(), "man"),
        ("notes.1", b"one note\n", "text"),
        ("libfoo.so.1", b"words\n", "text"),
        ("a.txt", b"words\n", "text"),
        ("a.txt", b"#!/bin/sh\nwords\n", "text"),
        ("CMakeLists.txt", b"project(a)\n", "code"),
        ("README", b"words\n", "text"),
        (".hidden", b"words\n", "text"),
    ]:
        assert chosen(path, raw) == name, (path, raw, name)


def test_manual_page_is_recognised_by_name_and_first_lines() -> None:
    for path in ["ls.1", "perlre.1p", "foo.3pm", "Tk.n", "man3/ssl.3ssl", "a.b.8", "x.man"]:
        assert kinds.is_man(path, MANUAL), path
    for path in ["ls.txt", "ls.10", "page.md", ".1", "1", "a.html"]:
        assert not kinds.is_man(path, MANUAL), path
    for path in ["libfoo.so.1", "notes.1", "changelog.1", "a.3", "README.n", "data.4"]:
        for head in [
            "Version 1.1\n\n.SH is a macro\n",
            "",
            "\x7fELF\x01",
            "...and so on\n",
            "- a\n- b\n",
            ".gitignore\n.TH\n",
            "1 2 3\n",
        ]:
            assert not kinds.is_man(path, head), (path, head)


def test_leading_comments_are_skipped_once() -> None:
    assert chosen("page", b"<!---->" * 500 + b"words\n") == "text"


def test_parser_of_the_root_takes_precedence() -> None:
    assert chosen("a.md", parser="text", **{"*.md": "rst"}) == "text"


def test_settings_precede_name_and_content() -> None:
    overrides = {"*.log": "markdown", "docs/*.md": "text"}
    assert [chosen(path, **overrides) for path in ("x/a.log", "docs/a.md", "a.md")] == [
        "markdown",
        "text",
        "markdown",
    ]


def test_settings_accept_only_built_in_parsers() -> None:
    with pytest.raises(UsageError) as caught:
        chosen("a.log", **{"*.log": "shout"})

    assert caught.value.code == "unknown_parser"


def test_unsupported_office_files_are_named() -> None:
    with pytest.raises(IngestError, match=r"a\.xlsx is a file in Excel format, which is not supported\.") as caught:
        chosen("a.xlsx", b"PK\3\4\0\0")

    assert caught.value.code == "not_read"
    assert chosen("budget.doc", b"words in plain text\n") == "text"


@pytest.mark.parametrize("path", ["letter.rtf", "letter.doc", "letter"])
def test_rtf_is_never_read_as_text(path: str) -> None:
    with pytest.raises(IngestError, match=f"{path} is a file in RTF format, which is not supported") as caught:
        chosen(path, b"{\\rtf1\\ansi A letter.\\par}")

    assert (caught.value.code, caught.value.details["kind"]) == ("not_read", "RTF (.rtf)")  # type: ignore[index]
    assert chosen(path, b"{\\rtf1\\ansi A letter.\\par}", parser="text") == "text"


def test_parser_table_survives_writing_and_reading(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    config = Config(parsers=(("*.log", "text"), ("docs/**", "markdown")), guess_encoding=True)
    toml.write_text(render(config))

    assert load(toml) == config


@pytest.mark.parametrize("text", ['parsers = "text"', "[parsers]\n'*.log' = 3"])
def test_invalid_parser_table_is_refused(tmp_path: Path, text: str) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load(toml)

    assert caught.value.code == "bad_value"


# The encoding of a text.


def text_of(raw: bytes, *, parser: str = "text", encoding: str = "", guess: bool = False) -> tuple[str, str]:
    found = decode_file(raw, path="a.txt", parser=parser, encoding=encoding, guess=guess)
    return found.content.decode(), found.encoding


def test_byte_order_mark_sets_the_encoding() -> None:
    for raw, expected in [
        ("Grüße".encode(), ("Grüße", "utf-8")),
        ("Grüße".encode("utf-8-sig"), ("Grüße", "utf-8")),
        ("Grüße".encode("utf-16"), ("Grüße", "utf-16-le")),
        (b"\xfe\xff" + "Grüße".encode("utf-16-be"), ("Grüße", "utf-16-be")),
        ("Grüße".encode("utf-32"), ("Grüße", "utf-32-le")),
    ]:
        assert text_of(raw) == expected, (raw, expected)


def test_file_may_declare_its_encoding() -> None:
    for parser, raw, encoding in [
        ("html", b'<meta charset="iso-8859-1"><p>gr\xfc\xdfe \x80', "cp1252"),
        ("html", b'<meta http-equiv=x content="text/html; charset=koi8-r"><p>\xc1', "koi8-r"),
        ("xml", b'<?xml version="1.0" encoding="latin-1"?><a>\xfc</a>', "iso8859-1"),
        ("code", b"#!/bin/python\n# -*- coding: latin-1 -*-\nx = '\xfc'\n", "iso8859-1"),
        ("man", b'.\\" -*- mode: troff; coding: latin-1 -*-\n.TH \xfc 1\n', "iso8859-1"),
        ("text", b'<?xml version="1.0" encoding="iso-8859-1"?>\n<a>\xfc</a>', "iso8859-1"),
        ("text", b"\\documentclass{article}\n\\usepackage[latin1]{inputenc}\n\xfc\n", "iso8859-1"),
        ("text", b'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-2\\n"\n\xb9\n', "iso8859-2"),
        ("text", b"# -*- mode: text; coding: koi8-r -*-\n\xc1\n", "koi8-r"),
        ("text", b"\xe9t\xe9\n" * 4000 + b"vim: set fileencoding=latin1 :\n", "iso8859-1"),
        ("text", b'" Vim\nscriptencoding cp1250\n\x9a\n', "cp1250"),
        ("code", b'@charset "iso-8859-15";\na { content: "\xa4" }\n', "iso8859-15"),
        ("markdown", b"<!-- -*- coding: cp1252 -*- -->\n\x80\n", "cp1252"),
    ]:
        text, found = text_of(raw, parser=parser)

        assert found == encoding, (parser, raw, encoding)
        assert text.encode(encoding) == raw, (parser, raw, encoding)


def test_wrong_declaration_in_a_utf8_file_is_reported() -> None:
    found = decode_file('<meta charset="ascii"><p>ü 漢'.encode(), path="a.html", parser="html")
    other = decode_file('<meta charset="klingon"><p>ü'.encode(), path="a.html", parser="html")

    assert found.encoding in ("cp1252", "utf-8")
    assert (other.encoding, other.notes) == ("utf-8", ("declares the unknown encoding klingon: read as UTF-8",))


def test_encoding_mentioned_in_utf8_text_is_ignored() -> None:
    text = "-*- coding: latin-1 -*- Grüße"

    assert text_of(text.encode()) == (text, "utf-8")


def test_declared_encoding_is_a_fallback_after_the_requested_one() -> None:
    raw = b"% -*- coding: ascii -*-\ngr\xfc\xdfe"

    assert text_of(raw, encoding="latin-1") == ("% -*- coding: ascii -*-\ngrüße", "iso8859-1")
    for declared in (b"ascii", b"utf-8", b"klingon"):
        with pytest.raises(IngestError) as caught:
            text_of(raw.replace(b"ascii", declared))
        assert caught.value.code == "not_utf8"


@pytest.mark.parametrize("name", ["undefined", "idna", "punycode"])
def test_non_text_codec_is_not_a_file_encoding(name: str) -> None:
    found = decode_file(f"# coding: {name}\nx = 1\n".encode(), path="a.py", parser="code")

    assert (found.encoding, found.notes) == ("utf-8", (f"declares the unknown encoding {name}: read as UTF-8",))
    with pytest.raises(IngestError, match="is not UTF-8"):
        text_of(f"-*- coding: {name} -*-\n".encode() + b"\xe9\n")
    with pytest.raises(UsageError, match="Unknown encoding"):
        check_encoding(name)


def test_requested_encoding_is_used_or_refused() -> None:
    assert text_of(b"gr\xfc\xdfe", encoding="latin-1") == ("grüße", "iso8859-1")
    with pytest.raises(IngestError) as caught:
        text_of(b"\x81\x9f\xff", encoding="shift_jis")
    assert caught.value.code == "encoding_mismatch"
    with pytest.raises(UsageError) as unknown:
        check_encoding("klingon")
    assert unknown.value.code == "unknown_encoding"
    for name in ("base64", "undefined", "idna", "punycode"):  # codecs that are not text encodings
        with pytest.raises(UsageError):
            check_encoding(name)


def test_any_declared_codec_is_read_or_refused() -> None:
    for name in sorted({*aliases.values(), "undefined", "idna", "punycode"}):
        for raw in (b"", b"\xfc.\xff\\x", b"xn--a \\ud800", b"+2AA-"):
            with suppress(IngestError):
                text_of(f'<meta charset="{name}">'.encode() + raw, parser="html")


def test_text_with_nul_bytes_is_read_with_a_given_encoding() -> None:
    for encoding in ["utf-16-le", "utf-16-be", "utf-32-le"]:
        for text in ["name;price\n", "名前;価格\n"]:
            assert text_of(text.encode(encoding), encoding=encoding) == (text, encoding), (encoding, text)


def test_text_without_nul_is_not_decoded_as_utf16() -> None:
    assert text_of(b"name;v\r\nx;1\r\n", encoding="utf-16-le") == ("name;v\r\nx;1\r\n", "utf-8")
    assert text_of("価格".encode("utf-16-le"), encoding="utf-16-le") == ("価格", "utf-16-le")


@pytest.mark.parametrize("raw", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"a\0\0\0\0\0\0\0"], ids=["picture", "bytes"])
def test_binary_file_stays_binary_with_any_encoding(raw: bytes) -> None:
    with pytest.raises(IngestError) as caught:
        text_of(raw, encoding="utf-16-le")

    assert caught.value.code == "binary_file"


def test_encoding_is_guessed_only_on_request() -> None:
    raw = "Der Zug fährt über die Brücke nach München, und alle grüßen die schöne Fähre.\n".encode("cp1252") * 20
    with pytest.raises(IngestError) as caught:
        text_of(raw)
    assert caught.value.code == "not_utf8"

    found = decode_file(raw, path="a.txt", parser="text", guess=True)

    assert "fährt über die Brücke" in found.content.decode()
    assert found.notes == (f"guessed encoding: {found.encoding}",)


def test_guess_without_its_package_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)

    with pytest.raises(IngestError) as caught:
        text_of(b"caf\xe9", guess=True)

    assert caught.value.code == "parser_unavailable"
    assert "charset-normalizer" in (caught.value.hint or "")


# Compressed files.


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_file_is_read(suffix: str, pack: Callable[[bytes], bytes]) -> None:
    whole = unpack(pack(b"one ") + pack(b"two"), path=f"a.md.{suffix}", most=100)

    assert (whole.content, whole.path) == (b"one two", "a.md")


def test_compressed_file_is_decompressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unpackings: list[int] = []
    whole = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", lambda wbits: unpackings.append(wbits) or whole(wbits))
    root, one, other = Root("."), gzip.compress(b"# One"), gzip.compress(b"# Other")

    with FileReader(Config()) as reader:
        reader.parser_of(one, path="a.md.gz", root=root)
        texts = [reader.read(raw, path="a.md.gz", root=root, digest="").documents[0].text for raw in (one, other)]

    assert texts == ["# One", "# Other"]
    assert len(unpackings) == 2


def test_zstd_file_is_read() -> None:
    zstandard = pytest.importorskip("zstandard")
    raw = zstandard.compress(b"one ") + zstandard.compress(b"two" * 50_000)

    whole = unpack(raw, path="a.txt.zst", most=1 << 20)

    assert whole.content == b"one " + b"two" * 50_000
    with pytest.raises(IngestError, match="is truncated"):
        unpack(raw[:-5], path="a.txt.zst", most=1 << 20)


ZLIB = zlib.decompressobj


class CountingZlib:
    """A zlib decompressor that counts the input bytes and the unused bytes."""

    def __init__(self, counts: list[int], wbits: int) -> None:
        self._one = ZLIB(wbits=wbits)
        self._counts = counts

    def __getattr__(self, name: str) -> object:
        found = getattr(self._one, name)
        if name == "unused_data":
            self._counts.append(len(found))
        return found

    def decompress(self, raw: bytes, most: int) -> bytes:
        self._counts.append(len(raw))
        return self._one.decompress(raw, most)


def test_decompression_copies_bytes_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    monkeypatch.setattr(zlib, "decompressobj", lambda wbits: CountingZlib(counts, wbits))

    def copied(members: int) -> int:
        counts.clear()
        raw = gzip.compress(b"word ") * members
        assert unpack(raw, path="a.txt.gz", most=1 << 20).content == b"word " * members
        return sum(counts)

    assert copied(2000) <= 2.1 * copied(1000)


def test_trailing_zeros_of_a_compressed_file_are_padding() -> None:
    for pack in [gzip.compress, bz2.compress, lzma.compress]:
        for padding in [1, 1023, 5000]:
            suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]

            whole = unpack(pack(b"one ") + pack(b"two") + b"\0" * padding, path=f"a.txt.{suffix}", most=100)

            assert whole.content == b"one two", (pack, padding)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_decompression_bomb_is_refused(pack: Callable[[bytes], bytes]) -> None:
    suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    bomb = pack(b"\0" * ((16 if pack is gzip.compress else 4) << 20))

    with pytest.raises(IngestError) as caught:
        unpack(bomb, path=f"a.{suffix}", most=1 << 30)

    assert caught.value.code == "unpacked_too_large"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_archive_is_named(pack: Callable[[bytes], bytes]) -> None:
    suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    raw = pack(bytes(range(256)) * 40)

    for harmed in (raw[: len(raw) // 2], raw[:30] + b"\x5a\x00\xa5" + raw[33:]):
        with pytest.raises(IngestError) as caught:
            unpack(harmed, path=f"a.{suffix}", most=1 << 20)
        assert caught.value.code == "bad_archive"


def test_multi_file_archive_is_named_and_not_read() -> None:
    for path in ("a.tar.gz", "a.tgz"):
        with pytest.raises(IngestError) as caught:
            unpack(gzip.compress(b"x"), path=path, most=100)
        assert caught.value.code == "not_read"


# All of this in a store.


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Recall.init(str(tmp_path), embedding="hash", settings={"chunk_tokens": 10, "overlap_tokens": 0})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(start=home) as opened:
        yield opened


def write(home: Path, name: str, content: bytes | str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_plain_text_keeps_its_old_id(recall: Recall, home: Path) -> None:
    write(home, "a.md", "# A\n\nwords\n")
    write(home, "b.py", MODULE)
    recall.index(".")

    for path in ("a.md", "b.py"):
        (document,) = recall.store.documents(
            [recall.store.rowid("doc", recall.store.document_at(path) or "")]
        ).values()
        assert document.id == document_id(path, document.hash)


def test_id_of_converted_text_includes_how_it_was_read(recall: Recall, home: Path) -> None:
    write(home, "a.txt", "Grüße\n".encode("utf-16"))
    write(home, "b.1.gz", gzip.compress(MANUAL.encode()))
    write(home, "c.txt", "plain\n")
    recall.index(".")
    found = {document.path: document for file in recall.store.live_files() for document in file.documents}

    assert {path: document.read_by for path, document in found.items() if path != "recall.toml"} == {
        "a.txt": "text@1;utf-16-le",
        "b.1.gz": "man@1;gzip+utf-8",
        "c.txt": "",
    }
    for path, document in found.items():
        assert recall.store.document_at(path) == document.id


def test_method_is_found_below_its_class(recall: Recall, home: Path) -> None:
    write(home, "session.py", MODULE)
    recall.index("session.py")

    headings = [row.chunk.heading for row in recall.store.chunks_of(recall.store.document_at("session.py") or "")]

    assert any(heading and "class Session" in heading for heading in headings)


def test_manual_is_cited_by_source_lines_and_read_back(recall: Recall, home: Path) -> None:
    write(home, "widget.1", MANUAL)
    recall.index("widget.1")

    (hit, *_) = recall.search("turn them fast")["results"]
    place = hit["chunk"]["place"]
    found = recall.get(f"widget.1:{place.partition(' ')[2]}")["found"]

    assert place.startswith("line ")
    assert found["kind"] == "place"
    assert "Turn them fast." in found["text"]


def test_missing_place_is_refused_with_the_existing_places(recall: Recall, home: Path) -> None:
    write(home, "widget.1", MANUAL)
    write(home, "a.txt", "words\n")
    recall.index(".")

    with pytest.raises(UsageError, match="it has line") as caught:
        recall.get("widget.1#page=3")
    assert caught.value.code == "bad_place"
    with pytest.raises(UsageError, match="it has only lines") as plain:
        recall.get("a.txt#page=3")
    assert plain.value.code == "bad_place"


def test_files_are_reread_with_the_options_of_their_root(recall: Recall, home: Path) -> None:
    write(home, "a.py", MODULE)
    recall.index(".", template=Root("", parser="text"))
    assert recall.store.marks_of(recall.store.document_at("a.py") or "") != ()
    before = recall.store.known("a.py")

    *_, done = recall.sync()

    assert (done.updated, recall.store.known("a.py")) == (0, before)
    assert before is not None
    assert before.settings.startswith("text ")


def test_another_parser_creates_another_version(recall: Recall, home: Path) -> None:
    write(home, "widget.1", MANUAL)
    recall.index(".")
    by_manual = recall.store.document_at("widget.1")

    recall.index(".", template=Root("", parser="text"))

    assert recall.store.document_at("widget.1") != by_manual
    assert recall.store.text_of(recall.store.document_at("widget.1") or "") == MANUAL


def test_reading_note_is_a_warning(recall: Recall, home: Path) -> None:
    write(home, "page.html", '<meta charset="klingon"><p>ü')

    told = recall.index(".")["warnings"]

    assert "W_READ: page.html: declares the unknown encoding klingon: read as UTF-8" in told


def test_unreadable_files_are_skipped_in_walks_and_fail_by_name(recall: Recall, home: Path) -> None:
    write(home, "good.txt", "words\n")
    write(home, "bad.txt.gz", b"\x1f\x8b\x08broken")
    write(home, "many.tar.gz", gzip.compress(b"x"))
    write(home, "sheet.xlsx", b"PK\3\4\0\0")

    skipped = {skip["path"]: skip["code"] for skip in recall.index(".")["ingest"]["skipped"]}

    assert skipped == {"bad.txt.gz": "bad_archive", "many.tar.gz": "not_read", "sheet.xlsx": "not_read"}
    generation = recall.store.generation()
    for path, code in skipped.items():
        with pytest.raises(IngestError) as caught:
            recall.index("good.txt", path)
        assert caught.value.code == code
    assert recall.store.generation() == generation


def test_rechunk_needs_no_file(recall: Recall, home: Path) -> None:
    manual = write(home, "widget.1", MANUAL)
    module = write(home, "session.py", MODULE)
    recall.index(".")
    manual.unlink()
    module.unlink()

    for _ in recall.rechunk({"chunk_tokens": 9}):
        pass

    rows = recall.store.chunks_of(recall.store.document_at("widget.1") or "")
    assert [row.chunk.place for row in rows] == sorted(
        {row.chunk.place for row in rows}, key=lambda each: int((each or "").split()[1].split("-")[0])
    )
    assert recall.store.check("slices").severity == "ok"
    headings = [row.chunk.heading for row in recall.store.chunks_of(recall.store.document_at("session.py") or "")]
    assert any(heading and heading.endswith("def close") for heading in headings)


def test_doctor_rereads_files_and_names_changed_texts(recall: Recall, home: Path) -> None:
    write(home, "widget.1", MANUAL)
    write(home, "session.py", MODULE)
    recall.index(".")
    checks = {check["code"]: check for check in recall.doctor()["checks"]}
    found = checks["readings"]
    assert (found["severity"], found["evidence"]) == ("ok", "2 files still give the stored text")
    (file,) = [each for each in recall.store.live_files() if each.path == "widget.1"]
    (document,) = file.documents
    with recall.store.writer() as writer:
        writer.put(file._replace(settings="man changed", documents=(document._replace(marks=document.marks[:-1]),)))

    found = {check["code"]: check for check in recall.doctor()["checks"]}["readings"]

    assert (found["severity"], found["fix"]) == ("warning", "recall sync --reparse")
    assert found["evidence"] == "1 of 2 files now give a different text: widget.1"
    for _ in recall.sync(reparse=True):
        pass
    assert {check["code"]: check for check in recall.doctor()["checks"]}["readings"]["severity"] == "ok"


def test_missing_packages_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kinds, languages):
        monkeypatch.setattr(module, "find_spec", lambda _name: None)

    found = kinds.missing_packages(["a.pdf", "b.PDF", "c.go", "d.py", "e.md", "f.dart"])

    assert [(each.files, each.kind) for each in found] == [(2, "PDF"), (2, "source file")]
    assert "pypdfium2" in found[0].install
    assert all(name in found[1].install for name in ("tree-sitter>", "tree-sitter-go>", "tree-sitter-python>"))
    assert "tree-sitter-rust" not in found[1].install


def test_complete_installation_misses_nothing() -> None:
    pytest.importorskip("pypdfium2")
    pytest.importorskip("tree_sitter_python")

    assert kinds.missing_packages(["a.pdf", "d.py", "README"]) == []


def test_folder_read_as_text_stays_one_root_when_readded(recall: Recall, home: Path) -> None:
    write(home, "docs/widget.1", MANUAL)
    recall.index("docs", template=Root("", parser="text"))

    again = recall.index("docs")["ingest"]

    assert (again["unchanged"], "roots" in again) == (1, False)
    assert [root["parser"] for root in recall.roots()["roots"]] == ["text"]
