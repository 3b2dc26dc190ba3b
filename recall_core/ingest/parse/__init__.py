"""Parsers by name: the built-in table first, then the entry points of the group `recall.parser`."""

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

from recall_core._lazy import attach, metadata
from recall_core.errors import IngestError, UsageError
from recall_core.installing import locate_plug_in
from recall_core.named import NamedTuple
from recall_core.ports import Parser
from recall_core.shell import INSTALL, Hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.ingest.parse import jsonfile, magic, pool
else:
    __getattr__ = attach(__name__)

BUILT_IN = {
    "text": "recall_core.ingest.parse.text:Text",
    "jsonl": "recall_core.ingest.parse.jsonl:Jsonl",
    "pdf": "recall_core.ingest.parse.pdf:Pdf",
    "code": "recall_core.ingest.parse.code.parsers:Code",
    "outline": "recall_core.ingest.parse.code.parsers:SourceOutline",
    "markdown": "recall_core.ingest.parse.markdown:Markdown",
    "rst": "recall_core.ingest.parse.lightmarkup.rst:Rst",
    "asciidoc": "recall_core.ingest.parse.lightmarkup.asciidoc:Asciidoc",
    "org": "recall_core.ingest.parse.lightmarkup.org:Org",
    "html": "recall_core.ingest.parse.html_page:HtmlPage",
    "xml": "recall_core.ingest.parse.xml_text:XmlText",
    "json": "recall_core.ingest.parse.jsonfile:JsonFile",
    "transcript": "recall_core.ingest.parse.transcript:Transcript",
    "notebook": "recall_core.ingest.parse.notebook:Notebook",
    "table": "recall_core.ingest.parse.table:DelimitedTable",
    "subtitles": "recall_core.ingest.parse.subtitles:Subtitles",
    "epub": "recall_core.ingest.parse.epub:Epub",
    "eml": "recall_core.ingest.parse.eml:Eml",
    "docx": "recall_core.ingest.parse.docx:Docx",
}


class PlugIn(NamedTuple):
    """A parser of Recall's own that is a package of its own. kind: what it reads, one of them."""

    distribution: str
    kind: str

    def install(self) -> str:
        """Return the hint that installs it."""
        place = locate_plug_in(self.distribution)
        if place is None:
            return f"install {self.distribution} from the folder plugins/{self.distribution} of Recall's source"
        return Hint(INSTALL, place)


PLUG_INS = {"man": PlugIn("recall-man", "manual page")}
"""By name. They are trusted as the built-in ones are, and run as every plug-in."""

AUTO = "auto"
"""What stands in the place of a parser where each file has the one that its name or content asks for."""

GROUP = "recall.parser"


def parser(name: str) -> Parser:
    """The parser of that name.

    Raises UsageError `unknown_parser` for a name that is neither built in nor installed, `parser_unavailable` when
    an installed one cannot be imported; IngestError `parser_missing` for one of `PLUG_INS` that is not installed.
    """
    target = BUILT_IN.get(name)
    if target is None:
        return _installed(name)
    module, _, attribute = target.partition(":")
    made: Parser = getattr(import_module(module), attribute)()
    return made


def is_own(name: str) -> bool:
    """Return True for a parser of Recall's own, built in or a plug-in, whether it is installed or not."""
    return name in BUILT_IN or name in PLUG_INS


def missing_plug_ins(files: Mapping[str, int]) -> dict[str, int]:
    """Return how many of the files were read by which of `PLUG_INS` that is not installed, by name.

    files: how many were read by what.
    """
    missing: Counter[str] = Counter()
    for read_by, count in files.items():
        missing[name_of(read_by)] += count
    return {name: missing[name] for name in PLUG_INS if missing[name] and name not in _entry_points(tuple(sys.path))}


def check_name(name: str) -> None:
    """Raises what `parser` raises for a name that no file can be read by; AUTO is one of those that can."""
    if name != AUTO:
        parser(name)


def identity(name: str) -> str:
    """The parser of that name as files remember it that it has read: its name, and its version from 2 on."""
    version = _version(name)
    return f"{name}@{version}" if version > 1 else name


def name_of(read_by: str) -> str:
    """The parser's name in what a file was read by."""
    return read_by.partition(";")[0].partition("@")[0]


def is_earlier(read_by: str) -> bool:
    """Whether an identity is that of an earlier version of its parser."""
    name, _, version = read_by.partition(";")[0].partition("@")
    return is_own(name) and (int(version) if version.isdecimal() else 1) < _version(name)


def is_markdown(read_by: str, path: str) -> bool | None:
    """Whether the parser of that identity has texts without marks, of such a file, cut as Markdown; None where it
    alone can tell."""
    match name_of(read_by):
        case "text":
            from recall_core.ingest.parse import text  # noqa: PLC0415 - it imports this package

            return text.is_markdown(path)
        case name if is_own(name):
            return False
        case _:
            return None


def _version(name: str) -> int:
    """Of its class; 1 for one that is not installed any more."""
    try:
        return int(getattr(parser(name), "version", 1))
    except (IngestError, UsageError):
        return 1


def _installed(name: str) -> Parser:
    points = _entry_points(tuple(sys.path))
    if name not in points and name in PLUG_INS:
        plug_in = PLUG_INS[name]
        message = f"A {plug_in.kind} is read by {plug_in.distribution}, which is not installed."
        raise IngestError("parser_missing", message, hint=plug_in.install(), details={"kind": plug_in.kind})
    if name not in points:
        names = sorted({AUTO, *BUILT_IN, *PLUG_INS, *points})
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(names)}"
        raise UsageError("unknown_parser", f"There is no parser named {name!r}.", hint=hint)
    try:
        made: Parser = points[name].load()()
    except (ImportError, AttributeError) as error:
        raise UsageError("parser_unavailable", f"The parser {name} cannot be loaded: {error}") from error
    return made


@cache
def _entry_points(_path: tuple[str, ...]) -> dict[str, metadata.EntryPoint]:
    """Return the parsers of the plug-ins on sys.path, by name. Scanned once, since that takes 60 ms."""
    points = metadata.entry_points(group=GROUP)
    return {point.name: point for point in points if point.name not in PLUG_INS or _is_first_party(point)}


def _is_first_party(point: metadata.EntryPoint) -> bool:
    """Return True for an entry point of the distribution in `PLUG_INS`, installed where this Recall is.

    Detection alone loads such a plug-in, so metadata that merely lies in the current folder does not count.
    """
    distribution = point.dist
    if distribution is None:
        return False
    name = re.sub(r"[-_.]+", "-", distribution.name).lower()
    folder = Path(str(distribution.locate_file(""))).resolve()
    here = (*site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parents[3]))
    return name == PLUG_INS[point.name].distribution and folder in {Path(each).resolve() for each in here}
