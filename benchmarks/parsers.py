"""Compare each parser with the bare library on the same bytes. `python -m benchmarks.parsers [--kind KIND …]
[FILES]`.

The ratio is the bare library's processor time divided by the parser's: 1 is as fast as the library alone. The bare
library does what a short script does to get the text, and no more.

json: one `json.loads` of the file.
jsonl: `json.loads` of each line.
notebook: one `json.loads`.
docx: unzip document.xml, parse it with ElementTree and join the texts of each paragraph; no styles, notes or
properties.
epub: find the spine, unzip its chapters in order, feed each to the standard library's `HTMLParser` and join the
texts.
epub, as XML: the same with ElementTree and `itertext`, which read only well-formed XHTML.
typescript: tree-sitter's `parse` of the bytes of the file, without a query.

Inputs are made from the invented corpus, the same on every machine, with markup as programs write it. FILES replace
them; the suffix of a file selects its kind.
"""

from __future__ import annotations

import argparse
import io
import json
import posixpath
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple
from xml.etree import ElementTree

from benchmarks.corpus import paragraphs
from benchmarks.timing import compare, cpu
from recall_core.ingest.parse import parser

ROUNDS = 5
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CONTAINED = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_PACKAGED = "{http://www.idpf.org/2007/opf}"


class File(NamedTuple):
    """A file to read. name: selects its parser."""

    name: str
    raw: bytes


class Kind(NamedTuple):
    """A kind of file. makes: yields samples. bare: reads one with the library alone. peer: the name of that
    library."""

    parser: str
    makes: Callable[[], Iterator[File]]
    bare: Callable[[bytes], object]
    peer: str
    suffixes: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Print one line for each kind."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.parsers", description=__doc__)
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_argument("--kind", action="append", choices=tuple(KINDS), help="only these")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    options.add_argument(
        "files", nargs="*", type=Path, metavar="FILES", help="files to read instead of the made inputs"
    )
    asked = options.parse_args(argv)
    given = [File(path.name, path.read_bytes()) for path in asked.files]
    for name in asked.kind or KINDS:
        kind = KINDS[name]
        files = [each for each in given if each.name.endswith(kind.suffixes)] if given else [*kind.makes()]
        if files:
            print(measured(name, kind, files, rounds=asked.rounds), flush=True)
    return 0


def measured(name: str, kind: Kind, files: Sequence[File], *, rounds: int) -> str:
    """Return a line with the median, least and most of the ratio. Both run in turns within each round."""
    chosen = parser(kind.parser)

    def ours() -> None:
        for file in files:
            list(chosen.parse(file.raw, path=file.name, digest=""))

    def bare() -> None:
        for file in files:
            kind.bare(file.raw)

    size = sum(map(_size, files))
    found = compare(name, cpu(bare), kind.parser, cpu(ours), chunks=len(files), rounds=rounds)
    ratio = found.ratio
    speed = size / found.peer_ms.median / 1000
    figures = f"{ratio.median:5.2f} ({ratio.least:.2f}-{ratio.most:.2f})"
    sizes = f"{size / 1e6:6.2f} MB of {len(files)} files, {speed:6.1f} MB/s"
    return f"{name:14} {figures:20} {sizes}, compared with {kind.peer}"


def _size(file: File) -> int:
    """Return the size of the content in bytes, unpacked."""
    if not zipfile.is_zipfile(io.BytesIO(file.raw)):
        return len(file.raw)
    return sum(entry.file_size for entry in zipfile.ZipFile(io.BytesIO(file.raw)).infolist())


def _records() -> Iterator[dict[str, object]]:
    """Yield records like those of BEIR's scifact: 1.5 KB each, some texts with a colon."""
    made = paragraphs(7_000)
    for number, text in enumerate(made):
        title = " ".join(text.split()[:9])
        longer = f"{text} RESULTS: {next(made)}" if number % 3 == 0 else text
        yield {"_id": str(number), "title": title, "text": longer, "metadata": {}}


def _json() -> Iterator[File]:
    yield File("corpus.json", json.dumps([*_records()]).encode())


def _jsonl() -> Iterator[File]:
    yield File("corpus.jsonl", "".join(json.dumps(each) + "\n" for each in _records()).encode())


def _notebook() -> Iterator[File]:
    cells: list[dict[str, object]] = []
    for number, text in enumerate(paragraphs(3_000)):
        if number % 3 == 0:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": _lines(f"## Part {number}\n\n{text}")})
            continue
        code = "\n".join(f"{word} = data[{i}].sum(axis=0)" for i, word in enumerate(text.split()[:20]))
        stream = {"name": "stdout", "output_type": "stream", "text": _lines(text)}
        value = {"text/plain": _lines(text[:200]), "text/html": _lines(f"<table><tr><td>{text[:400]}</td></table>")}
        shown = {"data": value, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        cells.append(
            {
                "cell_type": "code",
                "execution_count": number,
                "metadata": {"collapsed": False},
                "outputs": [stream, shown],
                "source": _lines(code),
            }
        )
    about = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    yield File("lab.ipynb", json.dumps(notebook, indent=1).encode())


def _lines(text: str) -> list[str]:
    """Split a text into lines as notebooks store it, here one for each sentence."""
    return text.replace(". ", ".\n").splitlines(keepends=True)


_RUN = '<w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial" w:cs="Arial"/><w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr>'


def _run(text: str, number: int) -> str:
    bold = "<w:rPr><w:b/></w:rPr>" if number % 7 == 0 else _RUN if number % 2 else ""
    return f'<w:r w:rsidRPr="00A77B3E">{bold}<w:t xml:space="preserve">{text} </w:t></w:r>'


def _paragraph(text: str, number: int, style: str = "") -> str:
    words = text.split()
    runs = [_run(" ".join(words[i : i + 40]), number + i // 40) for i in range(0, len(words), 40)]
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    kept = f'<w:pPr>{named}<w:spacing w:before="120" w:after="120"/><w:jc w:val="both"/></w:pPr>'
    return f'<w:p w:rsidR="00A77B3E" w:rsidRDefault="00A77B3E">{kept}{"".join(runs)}</w:p>'


def _docx() -> Iterator[File]:
    body: list[str] = []
    for number, text in enumerate(paragraphs(2_400)):
        if number % 12 == 0:
            body.append(_paragraph(" ".join(text.split()[:6]), number, "Heading1"))
        body.append(_paragraph(text[:500], number, "ListParagraph" if number % 9 == 0 else ""))
    cells = [
        f'<w:tc><w:tcPr><w:tcW w:w="100"/></w:tcPr>{_paragraph(text[:40], 1)}</w:tc>' for text in paragraphs(800)
    ]
    rows = ("".join(cells[i : i + 4]) for i in range(0, 800, 4))
    body.append(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>")
    space = f'xmlns:w="{_WORD[1:-1]}"'
    styles = "".join(
        f'<w:style w:styleId="{name}"><w:name w:val="{shown}"/><w:rPr><w:sz w:val="24"/></w:rPr></w:style>'
        for name, shown in [("Heading1", "heading 1"), *((f"S{i}", f"style {i}") for i in range(150))]
    )
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = '<Relationships><Relationship Type="{0}/{1}" Target="{2}"/></Relationships>'
    yield File(
        "report.docx",
        _zipped(
            {
                "_rels/.rels": relation.format(related, "officeDocument", "word/document.xml"),
                "word/_rels/document.xml.rels": relation.format(related, "styles", "styles.xml"),
                "word/styles.xml": f"<w:styles {space}>{styles}</w:styles>",
                "word/document.xml": f"<w:document {space}><w:body>{''.join(body)}</w:body></w:document>",
            }
        ),
    )


def _zipped(entries: dict[str, str]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, text in entries.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _text_of_docx(raw: bytes) -> str:
    root = ElementTree.fromstring(zipfile.ZipFile(io.BytesIO(raw)).read("word/document.xml"))
    found = ("".join(text.text or "" for text in each.iter(f"{_WORD}t")) for each in root.iter(f"{_WORD}p"))
    return "\n".join(found)


def _epub() -> Iterator[File]:
    made = paragraphs(2_000)
    chapters = {f"c{number}.xhtml": _chapter(number, [*islice(made, 50)]) for number in range(40)}
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = f'<package xmlns="{_PACKAGED[1:-1]}"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    rootfile = '<rootfile full-path="book.opf"/>'
    container = f'<container xmlns="{_CONTAINED[1:-1]}"><rootfiles>{rootfile}</rootfiles></container>'
    yield File("book.epub", _zipped({"META-INF/container.xml": container, "book.opf": package, **chapters}))


def _chapter(number: int, texts: Sequence[str]) -> str:
    random = Random(number)
    body = [f'<h1 class="title" id="c{number}">Chapter {number}</h1>']
    for i, text in enumerate(texts):
        words = text.split()
        for word in random.sample(range(len(words)), 3):
            words[word] = f'<em class="it">{words[word]}</em>'
        words[5] = f'<a href="#n{i}" id="r{i}">{words[5]}</a>'
        body.append(f'<p class="indent" id="p{i}">{" ".join(words)}</p>')
        if i % 10 == 9:
            items = (f"<li><p>{each}</p></li>\n" for each in text.split(". "))
            body.append(f"<h2>Part {i}</h2>\n<ul>\n{''.join(items)}</ul>")
    head = '<head><title>A book</title><link rel="stylesheet" href="s.css" type="text/css"/></head>'
    space = 'xmlns="http://www.w3.org/1999/xhtml"'
    joined = "\n".join(body)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<html {space}>{head}\n<body>\n{joined}\n</body>\n</html>\n'


def _chapters(raw: bytes) -> Iterator[bytes]:
    archive = zipfile.ZipFile(io.BytesIO(raw))
    container = ElementTree.fromstring(archive.read("META-INF/container.xml"))
    path = next(container.iter(f"{_CONTAINED}rootfile")).attrib["full-path"]
    package = ElementTree.fromstring(archive.read(path))
    pages = {each.attrib["id"]: each.attrib["href"] for each in package.iter(f"{_PACKAGED}item")}
    for each in package.iter(f"{_PACKAGED}itemref"):
        yield archive.read(posixpath.join(posixpath.dirname(path), pages[each.attrib["idref"]]))


class _Pieces(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def _text_of_epub(raw: bytes) -> str:
    texts = []
    for page in _chapters(raw):
        read = _Pieces()
        read.feed(page.decode())
        read.close()
        texts.append("".join(read.found))
    return "\n".join(texts)


def _text_of_xhtml(raw: bytes) -> str:
    return "\n".join("".join(ElementTree.fromstring(page).itertext()) for page in _chapters(raw))


_FUNCTION = """/** {0}. */
export async function {1}<T extends {2}>(first: T, second?: Record<string, {3}>): Promise<T | undefined> {{
  const {4} = second ?? {{ {5}: 1, {6}: [1, 2, 3] }};
  for (const each of Object.keys({4})) {{
    if (each === "{7}" && first) return await load(first, {{ kind: each, deep: true }});
  }}
  return undefined;
}}
"""
_CLASS = """export class {1}Store extends {2} implements {3} {{
  private readonly {4} = new Map<string, {5}>();
  constructor(protected readonly {6}: {7}, public {1}: number = 0) {{ super(); }}
  get size(): number {{ return this.{4}.size; }}
  @memo() find({5}: string): {5} | null {{
    return this.{4}.get({5}) ?? (this.{1} > 0 ? this.parent?.find({5}) : null) ?? null;
  }}
}}
export interface {1}Options {{ readonly {5}?: {7}; {6}: (value: unknown) => void; }}
export type {1}Like = Partial<{1}Options> | readonly {3}[];
"""


def _typescript() -> Iterator[File]:
    made = paragraphs(1_600)
    for number in range(16):
        units = []
        for i, text in enumerate(islice(made, 100)):
            words = [word.strip(".").lower() for word in text.split() if len(word) > 5]
            names = (text[:60], *(f"{word}{i}" for word in words[:7]))
            units.append((_CLASS if i % 4 == 0 else _FUNCTION).format(*names))
        yield File(f"m{number}.ts", ('import { load, memo } from "./base";\n\n' + "\n".join(units)).encode())


def _syntax_tree(raw: bytes) -> object:
    from tree_sitter import Language, Parser  # noqa: PLC0415 - the other kinds need no grammar
    from tree_sitter_typescript import language_typescript  # noqa: PLC0415 - as above

    return Parser(Language(language_typescript())).parse(raw)


KINDS = {
    "json": Kind("json", _json, json.loads, "json.loads", (".json",)),
    "jsonl": Kind(
        "json", _jsonl, lambda raw: [json.loads(line) for line in raw.splitlines()], "json.loads a line", (".jsonl",)
    ),
    "notebook": Kind("notebook", _notebook, json.loads, "json.loads", (".ipynb",)),
    "docx": Kind("docx", _docx, _text_of_docx, "zipfile and ElementTree", (".docx",)),
    "epub": Kind("epub", _epub, _text_of_epub, "zipfile and html.parser", (".epub",)),
    "epub, as XML": Kind("epub", _epub, _text_of_xhtml, "zipfile and ElementTree", (".epub",)),
    "typescript": Kind("code", _typescript, _syntax_tree, "tree-sitter", (".ts", ".mts", ".cts")),
}

if __name__ == "__main__":
    sys.exit(main())
