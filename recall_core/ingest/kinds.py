"""Which parser reads a file: as its root says, else as the settings say for its name, else by name and content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from recall_core.errors import IngestError, UsageError
from recall_core.ingest.discover import matches_any
from recall_core.ingest.parse import AUTO, BUILT_IN
from recall_core.ingest.parse.code.languages import language_of, missing
from recall_core.ingest.parse.man import is_man

_BY_SUFFIX = {
    "adoc": "asciidoc",
    "asciidoc": "asciidoc",
    "atom": "xml",
    "csv": "table",
    "dbk": "xml",
    "docx": "docx",
    "eml": "eml",
    "epub": "epub",
    "htm": "html",
    "html": "html",
    "ipynb": "notebook",
    "json": "json",
    "jsonl": "json",
    "markdown": "markdown",
    "md": "markdown",
    "ndjson": "json",
    "org": "org",
    "pdf": "pdf",
    "rss": "xml",
    "rst": "rst",
    "srt": "subtitles",
    "tsv": "table",
    "vtt": "subtitles",
    "xhtml": "html",
}

_NOT_READ = {
    "doc": "Word before 2007",
    "odp": "OpenDocument",
    "ods": "OpenDocument",
    "odt": "OpenDocument",
    "pptx": "PowerPoint",
    "rtf": "RTF",
    "xls": "Excel before 2007",
    "xlsx": "Excel",
}
"""What is known by name and not read."""

_HEAD = 4096  # bytes of a file by which its kind is told
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)

_PROSE = re.compile(rb"<(?:rss|feed|rdf:RDF|article|book|chapter|part|preface|refentry|section|set)[\s>]")
"""The first element of feeds and of DocBook. XML of another kind is read as it is written: its names and attributes
are what is looked for."""
_PACKAGES = {"pdf": ("PDF", "pypdfium2"), "zst": ("file compressed by zstd", "zstandard")}
"""By suffix: what a file is called, and the package that reads it."""
_EXTRAS = {"PDF": "pdf", "file compressed by zstd": "files", "source file": "code"}


def choose(path: str, raw: bytes, *, parser: str, overrides: Sequence[tuple[str, str]]) -> str:
    """The name of the parser for a file of these bytes. parser: as the root asks. overrides: (glob, name), in order.

    A glob without a slash is of the file's name alone. Raises IngestError `not_read` for a kind of file that is known
    and has no parser.
    """
    if parser != AUTO:
        return parser
    name = path.rpartition("/")[2]
    for glob, own in overrides:
        if matches_any((glob,), path if "/" in glob else name):
            return _built_in(own)
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    head = raw[:_HEAD]
    if suffix in _NOT_READ and b"\0" in head + raw[:8192]:
        kind = _NOT_READ[suffix]
        message = f"{path} is a file of {kind}, which is not read."
        raise IngestError("not_read", message, details={"path": path, "kind": f"{kind} (.{suffix})"})
    return _by_content(head, suffix) or _BY_SUFFIX.get(suffix) or _by_text(path, head)


def _built_in(name: str) -> str:
    """A parser that settings may name, which were perhaps found: none that loads other code."""
    if name in BUILT_IN:
        return name
    message = f"[parsers] in recall.toml names {name!r}, which is none of Recall's own."
    raise UsageError("unknown_parser", message, hint=f"one of: {', '.join(BUILT_IN)}")


def _by_content(head: bytes, suffix: str) -> str | None:
    """By bytes that leave no doubt, whatever the file is called."""
    if b"%PDF-" in head[:1024] and head.lstrip()[:5] == b"%PDF-":
        return "pdf"
    if suffix == "xml" and _PROSE.search(head):
        return "xml"
    if _HTML.match(head) and suffix not in ("md", "markdown", "xhtml"):
        return "html"
    return None


def _by_text(path: str, head: bytes) -> str:
    first_line = head.partition(b"\n")[0].decode("utf-8", "replace")
    text = head.decode("utf-8", "replace")
    if is_man(path, text):
        return "man"
    if language_of(path, first_line) is not None:
        return "code"
    return "text"


class Wanted(NamedTuple):
    """Files that a package which is not installed would read, or would read better. extra: that brings it."""

    files: int
    kind: str
    extra: str


def wanted(paths: Iterable[str]) -> list[Wanted]:
    """What these files want that is not installed, as far as their names tell; by kind."""
    found = Counter(kind for path in paths if (kind := _kind_wanted(path)) is not None)
    return [Wanted(files, kind, _EXTRAS[kind]) for kind, files in sorted(found.items())]


def _kind_wanted(path: str) -> str | None:
    suffix = path.rpartition(".")[2].lower()
    if suffix in _PACKAGES:
        kind, package = _PACKAGES[suffix]
        return kind if find_spec(package) is None else None
    language = language_of(path)
    return "source file" if language is not None and missing(language) is not None else None
