"""Parsers by name: the built-in table first, then the entry points of group `recall.parser`."""

from __future__ import annotations

import re
import site
import sys
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import recall_core
from recall_core.errors import IngestError, UsageError
from recall_core.installing import locate_plug_in
from recall_core.named import NamedTuple
from recall_core.ports import Parser
from recall_core.shell import INSTALL, Hint

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILT_IN = {
    "text": "recall_core.ingest.parse.text:Text",
    "jsonl": "recall_core.ingest.parse.json_records:Jsonl",
    "pdf": "recall_core.ingest.parse.pdf:Pdf",
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


class PlugIn(NamedTuple):
    """A first-party parser in a separate package. kind: kind of file it reads, in the singular."""

    distribution: str
    kind: str

    def install(self) -> str:
        """Return the hint that installs the plug-in."""
        place = locate_plug_in(self.distribution)
        if place is None:
            return f"install {self.distribution} from the folder plugins/{self.distribution} of Recall's source"
        return Hint(INSTALL, place)


PLUG_INS = {"man": PlugIn("recall-man", "manual page")}
"""By name. They are trusted like built-in parsers, and run like any plug-in."""

AUTO = "auto"
"""In place of a parser name: each file's name or content selects its parser."""

GROUP = "recall.parser"


def parser(name: str) -> Parser:
    """Return the parser of that name.

    Raises UsageError `unknown_parser` for an unknown name, `parser_unavailable` if an installed parser cannot be
    imported; IngestError `parser_missing` for one of `PLUG_INS` that is not installed.
    """
    target = BUILT_IN.get(name)
    if target is None:
        return _load_installed(name)
    module, _, attribute = target.partition(":")
    made: Parser = getattr(import_module(module), attribute)()
    return made


def is_own(name: str) -> bool:
    """Return True for a first-party parser, built in or a plug-in, installed or not."""
    return name in BUILT_IN or name in PLUG_INS


def missing_plug_ins(files: Mapping[str, int]) -> dict[str, int]:
    """Return the number of files read by each of `PLUG_INS` that is not installed, by name.

    files: number of files by parser identity.
    """
    missing: Counter[str] = Counter()
    for read_by, count in files.items():
        missing[name_of(read_by)] += count
    return {name: missing[name] for name in PLUG_INS if missing[name] and name not in _entry_points(tuple(sys.path))}


def check_name(name: str) -> None:
    """Raise the errors of `parser` unless the name is AUTO."""
    if name != AUTO:
        parser(name)


def identity(name: str) -> str:
    """Return the parser's identity as stored with its files: the name, and `@version` from version 2 on."""
    version = _version(name)
    return f"{name}@{version}" if version > 1 else name


def name_of(read_by: str) -> str:
    """Return the parser's name from an identity."""
    return read_by.partition(";")[0].partition("@")[0]


def is_earlier(read_by: str) -> bool:
    """Return True if the identity is an earlier version of its parser."""
    name, _, version = read_by.partition(";")[0].partition("@")
    return is_own(name) and (int(version) if version.isdecimal() else 1) < _version(name)


def is_markdown(read_by: str, path: str) -> bool | None:
    """Return True if this parser cuts texts of this path without marks as Markdown, None if unknown."""
    match name_of(read_by):
        case "text":
            return is_markdown_name(path)
        case name if is_own(name):
            return False
        case _:
            return None


def is_markdown_name(path: str) -> bool:
    """Return True if the parser `text` reads a file of this name as Markdown."""
    return path.lower().endswith((".md", ".markdown"))


def _version(name: str) -> int:
    """Return the parser's version; 1 if the parser is no longer installed."""
    try:
        return int(getattr(parser(name), "version", 1))
    except (IngestError, UsageError):
        return 1


def _load_installed(name: str) -> Parser:
    points = _entry_points(tuple(sys.path))
    if name not in points and name in PLUG_INS:
        plug_in = PLUG_INS[name]
        message = f"{plug_in.distribution}, which reads a {plug_in.kind}, is not installed."
        raise IngestError("parser_missing", message, hint=plug_in.install(), details={"kind": plug_in.kind})
    if name not in points:
        names = sorted({AUTO, *BUILT_IN, *PLUG_INS, *points})
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(names)}"
        raise UsageError("unknown_parser", f"Unknown parser {name!r}.", hint=hint)
    with recall_core.plug_ins.loading("parser", points[name], UsageError, "parser_unavailable"):
        made: Parser = points[name].load()()
    return made


@cache
def _entry_points(_path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the plug-in parsers on sys.path, by name. Cached, because scanning takes 60 ms."""
    points = recall_core.plug_ins.find(GROUP)
    return {name: point for name, point in points.items() if name not in PLUG_INS or _is_first_party(point)}


def _is_first_party(point: EntryPoint) -> bool:
    """Return True if the entry point belongs to the distribution in `PLUG_INS`, installed next to this Recall.

    Detection alone loads such a plug-in, so metadata in the current folder does not count.
    """
    distribution = point.dist
    if distribution is None:
        return False
    name = re.sub(r"[-_.]+", "-", distribution.name).lower()
    folder = Path(str(distribution.locate_file(""))).resolve()
    here = (*site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parents[3]))
    return name == PLUG_INS[point.name].distribution and folder in {Path(each).resolve() for each in here}
