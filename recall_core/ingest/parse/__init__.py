"""Parsers by name: the built-in table first, then the entry points of the group `recall.parser`."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from recall_core._lazy import metadata
from recall_core.errors import UsageError
from recall_core.ports import Parser

BUILT_IN = {
    "text": "recall_core.ingest.parse.text:Text",
    "jsonl": "recall_core.ingest.parse.json_records:Jsonl",
    "pdf": "recall_core.ingest.parse.pdf:Pdf",
    "man": "recall_core.ingest.parse.man.reader:Man",
    "code": "recall_core.ingest.parse.code.parsers:Code",
    "outline": "recall_core.ingest.parse.code.parsers:SourceOutline",
    "markdown": "recall_core.ingest.parse.markdown:Markdown",
    "rst": "recall_core.ingest.parse.rst:Rst",
    "asciidoc": "recall_core.ingest.parse.asciidoc:Asciidoc",
    "org": "recall_core.ingest.parse.org:Org",
    "html": "recall_core.ingest.parse.html:HtmlPage",
    "xml": "recall_core.ingest.parse.xml:XmlText",
    "json": "recall_core.ingest.parse.json_records:JsonFile",
    "transcript": "recall_core.ingest.parse.json_records:Transcript",
    "notebook": "recall_core.ingest.parse.notebook:Notebook",
    "table": "recall_core.ingest.parse.table:DelimitedTable",
    "subtitles": "recall_core.ingest.parse.subtitles:Subtitles",
    "epub": "recall_core.ingest.parse.epub:Epub",
    "eml": "recall_core.ingest.parse.mail:Eml",
    "docx": "recall_core.ingest.parse.docx:Docx",
}

AUTO = "auto"
"""In place of a parser: each file has the one that its name or content asks for."""

GROUP = "recall.parser"


def parser(name: str) -> Parser:
    """Return the parser of that name.

    Raises UsageError `unknown_parser` for a name that is neither built in nor installed, `parser_unavailable` when
    an installed one cannot be imported.
    """
    if name not in BUILT_IN:
        return _load_installed(name)
    module, _, attribute = BUILT_IN[name].partition(":")
    made: Parser = getattr(import_module(module), attribute)()
    return made


def check_name(name: str) -> None:
    """Raise what `parser` raises, unless the name is AUTO."""
    if name != AUTO:
        parser(name)


def identity(name: str) -> str:
    """Return what files that a parser has read keep of it: its name, and its version from 2 on."""
    version = _version(name)
    return f"{name}@{version}" if version > 1 else name


def name_of(read_by: str) -> str:
    """Return the parser's name in an identity."""
    return read_by.partition(";")[0].partition("@")[0]


def is_earlier(read_by: str) -> bool:
    """Return True if an identity is that of an earlier version of its parser."""
    name, _, version = read_by.partition(";")[0].partition("@")
    return name in BUILT_IN and (int(version) if version.isdecimal() else 1) < _version(name)


def is_markdown(read_by: str, path: str) -> bool | None:
    """Return True if texts without marks are cut as Markdown, as this parser reads such a file. None if unknown."""
    match name_of(read_by):
        case "text":
            return is_markdown_name(path)
        case name if name in BUILT_IN:
            return False
        case _:
            return None


def is_markdown_name(path: str) -> bool:
    """Return True if the parser `text` reads a file of this name as Markdown."""
    return path.lower().endswith((".md", ".markdown"))


def _version(name: str) -> int:
    """Return the version of a parser's class, 1 if the parser is not installed any more."""
    try:
        return int(getattr(parser(name), "version", 1))
    except UsageError:
        return 1


def _load_installed(name: str) -> Parser:
    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    if name not in points:
        names = sorted({AUTO, *BUILT_IN, *points})
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(names)}"
        raise UsageError("unknown_parser", f"There is no parser named {name!r}.", hint=hint)
    try:
        made: Parser = points[name].load()()
    except (ImportError, AttributeError) as error:
        raise UsageError("parser_unavailable", f"The parser {name} cannot be loaded: {error}") from error
    return made
