"""Hostile or broken files of every supported kind: name, bytes and expected result."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

from tests import pdfs

_MB = 1 << 20


class HostileFile(NamedTuple):
    """A hostile file. codes: allowed skip codes; empty if the file must be added."""

    name: str
    content: bytes
    codes: tuple[str, ...] = ()


def _zip(**entries: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), content)
    return out.getvalue()


def hostile_files() -> Iterator[HostileFile]:
    """Yield every hostile file."""
    yield from _texts()
    yield from _archives()
    yield from _markup()
    yield from _data()
    yield from _code()
    yield from _documents()


def _texts() -> Iterator[HostileFile]:
    yield HostileFile("nul.txt", b"a\0b", ("binary_file",))
    yield HostileFile("late-nul.txt", b"a" * 10_000 + b"\0b\n")
    yield HostileFile("latin.txt", b"caf\xe9\n", ("not_utf8",))
    yield HostileFile("half-utf16.txt", b"\xff\xfea\0b", ("encoding_mismatch",))
    yield HostileFile("lone-surrogate16.txt", b"\xff\xfe\x00\xd8a\0", ("encoding_mismatch",))
    yield HostileFile("utf16.txt", "words\n".encode("utf-16"))
    yield HostileFile("only-bom.txt", b"\xef\xbb\xbf")
    yield HostileFile("line.txt", b"word " * (2 * _MB))
    yield HostileFile("escape.txt", b"\x1b]0;owned\x07\x1b[2J red\n")
    yield HostileFile("\x1b[31mname.txt", b"a name that paints\n")
    yield HostileFile("returns.txt", b"a\r" * 50_000)


def _archives() -> Iterator[HostileFile]:
    zeros = b"\0" * (300 * _MB)
    yield HostileFile("bomb.txt.gz", gzip.compress(zeros, 1), ("unpacked_too_large",))
    yield HostileFile("bomb.txt.bz2", bz2.compress(zeros, 1), ("unpacked_too_large",))
    yield HostileFile("bomb.txt.xz", lzma.compress(zeros, preset=0), ("unpacked_too_large",))
    yield HostileFile("cut.txt.gz", gzip.compress(bytes(range(256)) * 99)[:-20], ("bad_archive",))
    yield HostileFile("no.txt.gz", b"\x1f\x8b\x08nothing", ("bad_archive",))
    yield HostileFile("wrong.txt.gz", b"not packed at all\n")
    yield HostileFile("many.tar.gz", gzip.compress(b"x"), ("not_read",))
    yield HostileFile("many.tgz", gzip.compress(b"x"), ("not_read",))
    yield HostileFile("twice.txt.gz", gzip.compress(gzip.compress(b"words\n")), ("not_utf8", "binary_file"))
    yield HostileFile("packed.pdf.gz", gzip.compress(b"%PDF-1.4 broken"), ("bad_pdf",))


def _markup() -> Iterator[HostileFile]:
    yield HostileFile("deep.html", b"<div>" * 100_000, ("too_deep",))
    yield HostileFile("deep-inline.html", b"<b>" * 100_000 + b"bold")
    yield HostileFile("open.html", b"<p>a <a href='" + b"x" * _MB)
    yield HostileFile("comment.html", b"<html><!-- " + b"<!--" * 200_000)
    yield HostileFile("entities.html", b"<html>" + b"&amp;&#x1F600;&#xD800;&nope;" * 20_000)
    yield HostileFile("script.html", b"<html><script>var secret = 1</script><p>seen")
    yield HostileFile("attributes.html", b"<html><p " + b"a=b " * 200_000 + b">text")
    yield HostileFile("quotes.md", b">" * 100_000 + b"\n# title\n")
    yield HostileFile("brackets.md", b"[" * 100_000 + b"\n")
    yield HostileFile("stars.md", b"*" * 100_000 + b"\n")
    yield HostileFile("lists.md", b"".join(b" " * depth + b"- a\n" for depth in range(600)))
    yield HostileFile("fences.md", b"```\n" * 40_001)
    yield HostileFile("front.md", b"---\na: [b, {c: &x *x}\n!!python/object: y\n")
    yield HostileFile("bomb.xml", b'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha">'
        + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 9) for n in range(1, 9))
        + b"]><rss><channel><title>&a8;</title></channel></rss>")  # fmt: skip
    yield HostileFile("outside.xml", b'<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss><b>&f;</b></rss>')
    yield HostileFile("deep.rss", b"<rss>" + b"<a>" * 100_000, ("too_deep", "bad_xml"))
    yield HostileFile("open.rss", b"<rss><a>", ("bad_xml",))
    yield HostileFile("deep.org", b"*" * 100_000 + b" title\n")
    yield HostileFile("macro.1", b".TH A 1\n.de x\n.x\n.x\n..\n.SH NAME\n.x\na \\- b\n")
    yield HostileFile("escapes.1", b".TH A 1\n.SH NAME\na \\- b " + b"\\*[x]" * 100_000 + b"\n")
    yield HostileFile("alias.1", b".so man1/other.1\n")


def _data() -> Iterator[HostileFile]:
    yield HostileFile("deep.json", b"[" * 100_000)
    yield HostileFile("number.json", b'{"a": ' + b"9" * 100_000 + b"}")
    yield HostileFile("surrogate.jsonl", b'{"text": "\\ud800"}\n', ("bad_record",))
    yield HostileFile("twice.jsonl", b'{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', ("duplicate_record",))
    yield HostileFile("roles.jsonl", b'{"content": "no role"}\n{"role": "user"}\n')
    yield HostileFile("mixed.jsonl", b'{"id": 1, "text": "a"}\n{broken\n')
    yield HostileFile("cells.ipynb", b'{"nbformat": 4, "cells": {"a": 1}}', ("bad_notebook",))
    yield HostileFile("deep.ipynb", b'{"nbformat": 4, "cells": ' + b"[" * 100_000, ("too_deep", "bad_notebook"))
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "QUJD" * 500_000}}
    cell = {"cell_type": "code", "source": "plot()", "metadata": {}, "outputs": [picture]}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    yield HostileFile("picture.ipynb", json.dumps(notebook).encode())
    yield HostileFile("quote.csv", b'a,b\n1,"' + b"x" * 200_000, ("bad_row",))
    yield HostileFile("field.csv", b'a,b\n1,"' + b"x" * (30 * _MB) + b'"\n')
    yield HostileFile("wide.csv", b"," * 500_000 + b"\n")
    yield HostileFile("times.srt", b"1\n00:00:00,000 --> 99:99:99,999\n" * 2000)


def _code() -> Iterator[HostileFile]:
    yield HostileFile("line.py", b"x = [" + b"1, " * (3 * _MB) + b"]\n")
    yield HostileFile("brackets.py", b"(" * _MB)
    yield HostileFile("braces.c", b"{" * _MB)
    yield HostileFile("prose.go", b"this is no Go at all, it is prose. " * 2000)
    yield HostileFile("nul.py", b"x = 1" + b" " * 9000 + b"\0\n")
    yield HostileFile("comments.rs", b"// nothing but this\n" * 20_000)
    yield HostileFile("shebang", b"#!" + b"/usr/bin/env " * 5000 + b"python\n")


def _documents() -> Iterator[HostileFile]:
    bomb = _zip(word__document_DOT_xml=b"<a>" + b" " * (200 * _MB))
    yield HostileFile("bomb.docx", bomb, ("unpacked_too_large", "bad_docx"))
    yield HostileFile("no.docx", b"PK\3\4broken", ("bad_docx",))
    yield HostileFile("text.docx", b"words in plain text\n", ("bad_docx",))
    yield HostileFile("locked.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, ("bad_docx",))
    yield HostileFile("empty.epub", _zip(mimetype=b"application/epub+zip"), ("bad_epub",))
    yield HostileFile("loop.epub", _zip(**{"META-INF__container_DOT_xml": b"<container/>"}), ("bad_epub",))
    yield HostileFile("no.eml", b"\n\n", ("bad_eml",))
    yield HostileFile("parts.eml", b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\n" * 30_000,
        ("bad_eml",))  # fmt: skip
    yield HostileFile("sheet.xlsx", b"PK\3\4\0\0", ("not_read",))
    yield HostileFile("empty.pdf", b"", ("bad_pdf",))
    yield HostileFile("text.pdf", b"no PDF\n", ("bad_pdf",))
    yield HostileFile("garbage.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 200, ("bad_pdf",))
    yield HostileFile("objects.pdf", b"%PDF-1.4\n" + b"1 0 obj\n<<>>\nendobj\n" * 300_000, ("bad_pdf",))
    yield HostileFile("scan.pdf", pdfs.pdf([""]), ("no_text",))
