"""Parsers by name: the built-in table first, then the entry points of the group `recall.parser`."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from recall_core.errors import UsageError
from recall_core.ports import Parser

BUILT_IN = {
    "auto": "recall_core.ingest.parse.text:Text",
    "text": "recall_core.ingest.parse.text:Text",
    "jsonl": "recall_core.ingest.parse.jsonl:Jsonl",
    "html": "recall_core.ingest.parse.html_page:HtmlPage",
    "xml": "recall_core.ingest.parse.xml_text:XmlText",
    "epub": "recall_core.ingest.parse.epub:Epub",
    "eml": "recall_core.ingest.parse.eml:Eml",
    "docx": "recall_core.ingest.parse.docx:Docx",
}
"""`auto` reads every file as text: a file of records is one only where the caller says so."""

VERSIONS = {"jsonl": 2}
"""Of built-in parsers whose text has changed for some files: raised whenever one reads any file differently."""

GROUP = "recall.parser"


def parser(name: str) -> Parser:
    """The parser of that name.

    Raises UsageError `unknown_parser` for a name that is neither built in nor installed, `parser_unavailable` when
    an installed one cannot be imported.
    """
    target = BUILT_IN.get(name)
    return _built_in(target) if target else _installed(name)


def identity(name: str) -> str:
    """The parser of that name as files remember it that it has read: its name, and its version from 2 on."""
    name = "text" if name == "auto" else name
    return f"{name}@{VERSIONS[name]}" if name in VERSIONS else name


def is_earlier(read_by: str) -> bool:
    """Whether an identity is that of an earlier version of its parser."""
    name, _, version = read_by.partition("@")
    return (int(version) if version.isdecimal() else 1) < VERSIONS.get(name, 1)


def is_markdown(read_by: str, path: str) -> bool | None:
    """Whether the parser of that identity has this file's texts cut as Markdown; None where it alone can tell."""
    match read_by.partition("@")[0]:
        case "text":
            from recall_core.ingest.parse import text  # noqa: PLC0415 - a parser is imported where it is used

            return text.is_markdown(path)
        case "jsonl":
            return False
        case _:
            return None


def _built_in(target: str) -> Parser:
    module, _, attribute = target.partition(":")
    made: Parser = getattr(import_module(module), attribute)()
    return made


def _installed(name: str) -> Parser:
    from importlib.metadata import entry_points  # noqa: PLC0415 - 60 ms that built-in parsers do not pay

    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        names = sorted({*BUILT_IN, *points})
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(names)}"
        raise UsageError("unknown_parser", f"There is no parser named {name!r}.", hint=hint)
    try:
        made: Parser = points[name].load()()
    except (ImportError, AttributeError) as error:
        raise UsageError("parser_unavailable", f"The parser {name} cannot be loaded: {error}") from error
    return made
