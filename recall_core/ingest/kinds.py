"""Parser choice for a file: the root's parser, else the settings' parser for its name, else by name and content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from recall_core.errors import IngestError, UsageError
from recall_core.ingest.discover import matches_any
from recall_core.ingest.parse import AUTO, BUILT_IN, PLUG_INS, is_own
from recall_core.ingest.parse.code.languages import GRAMMARS, language_of, missing
from recall_core.installing import requirements
from recall_core.shell import INSTALL, Hint

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
"""Formats recognized by name but not supported."""

_ROTATED = re.compile(r"(?<=\.jsonl)\.(?:reset|deleted|archived)\..+$", re.IGNORECASE)
"""What an agent appends to the name of a session that ended."""
_NAME = re.compile(r"[\w.-]+")
_HEAD = 4096  # leading bytes that decide the kind of file
_HTML = re.compile(rb"(?:\s+|<!--.*?-->)*+<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)

_PROSE = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?:\s+|<\?.*?\?>|<!--.*?-->)*+<(?:!DOCTYPE\s+)?
    (?:rss|feed|rdf:RDF|article|book|chapter|part|preface|refentry|section|set)[\s>]""",
    re.DOTALL | re.VERBOSE,
)
"""The root element of feeds and DocBook, or its doctype. Other XML is read as plain text, because its names and
attributes are what people search for."""
_MAN_NAME = re.compile(r"[^/]\.(?:[1-9][A-Za-z]{0,9}|[ln]|man|mdoc)$")
_ROFF_COMMENT = re.compile(r"[.']?[ \t]*\\\"|'''|[.'][ \t]*$")
_ROFF_REQUEST = re.compile(
    r"[.'][ \t]*"
    r"(?:TH|Dd|Dt|SH|Sh|so|de1?|ds1?|nr|if|ie|ig|am|als|tr|mso|nh|ad|na|hy|ss|ll|po|do|nf|char|lf|rn|rm|cs|ft|fp)\b"
)
_MAN_SURE = re.compile(r"[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)\b|[.'][ \t]*so[ \t]+[\w./+-]+\.\w+[ \t]*$")
_MAN_PREAMBLE = 20  # request lines that make a file roff even without a title among them

_PACKAGES = {"pdf": ("PDF", "pypdfium2"), "zst": ("zstd-compressed file", "zstandard")}
"""By suffix: kind of file, and the package that reads it."""
_EXTRAS = {"PDF": "pdf", "zstd-compressed file": "files", "source file": "code"}


def choose(path: str, raw: bytes, *, parser: str, overrides: Sequence[tuple[str, str]]) -> str:
    """Return the name of the parser for a file with these bytes.

    parser: the root's parser.
    overrides: (glob, name) in order; a glob without a slash matches the file name.
    Raises IngestError `not_read` for a known format that has no parser.
    """
    if parser != AUTO:
        return parser
    name = path.rpartition("/")[2]
    for glob, own in overrides:
        if matches_any((glob,), path if "/" in glob else name):
            if is_own(own):
                return own  # settings found on disk may not load third-party code
            message = f"[parsers] in recall.toml names {own!r}, which is not a built-in parser."
            raise UsageError("unknown_parser", message, hint=f"one of: {', '.join((*BUILT_IN, *PLUG_INS))}")
    name = _ROTATED.sub("", name)
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    head = raw[:_HEAD]
    is_rtf = head.startswith(b"{\\rtf")
    if is_rtf or (suffix in _NOT_READ and b"\0" in head + raw[:8192]):
        suffix = "rtf" if is_rtf else suffix
        kind = _NOT_READ[suffix]
        message = f"{path} is a file in {kind} format, which is not supported."
        raise IngestError("not_read", message, details={"path": path, "kind": f"{kind} (.{suffix})"})
    return _by_content(head, suffix) or _BY_SUFFIX.get(suffix) or _by_text(path, head, suffix)


def _by_content(head: bytes, suffix: str) -> str | None:
    """Return the parser for bytes that leave no doubt, regardless of the name."""
    if b"%PDF-" in head[:1024] and head.lstrip()[:5] == b"%PDF-":
        return "pdf"
    if suffix == "xml" and _PROSE.match(head):
        return "xml"
    if _HTML.match(head) and suffix not in ("md", "markdown", "xhtml"):
        return "html"
    return None


def _by_text(path: str, head: bytes, suffix: str) -> str:
    first_line = "" if suffix == "txt" else head.partition(b"\n")[0].decode("utf-8", "replace")
    text = head.decode("utf-8", "replace")
    if is_man(path, text):
        return "man"
    if language_of(path, first_line) is not None:
        return "code"
    return "text"


def is_man(path: str, head: str) -> bool:
    """Return True for a manual page in roff. head: the first few KiB of the file.

    Both name and content must match: a name such as `ls.1`, a roff request or comment first, and a title, a section
    or a reference to another page.
    """
    if not _MAN_NAME.search(path):
        return False
    lines = [line.rstrip() for line in head.split("\n")]
    first = next((line for line in lines if line), "")
    if not (_ROFF_COMMENT.match(first) or _ROFF_REQUEST.match(first)):
        return False
    return any(map(_MAN_SURE.match, lines)) or (len(lines) > _MAN_PREAMBLE and any(map(_ROFF_REQUEST.match, lines)))


class WantedPackage(NamedTuple):
    """Files that a missing package would read, or read better. install: command that installs it."""

    files: int
    kind: str
    install: str


def missing_packages(paths: Iterable[str]) -> list[WantedPackage]:
    """Return the missing packages that would read these files, by kind of file."""
    files: Counter[str] = Counter()
    packages: dict[str, set[str]] = {}
    for path in paths:
        for kind, package in _missing(path):
            files[kind] += 1
            packages.setdefault(kind, set()).update(package)
    wanted = []
    for kind in sorted(files):
        own = [each for each in requirements(_EXTRAS[kind]) if _NAME.match(each)[0] in packages[kind]]  # type: ignore[index]
        wanted.append(WantedPackage(files[kind], kind, Hint(INSTALL, *(own or sorted(packages[kind])))))
    return wanted


def _missing(path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the kind of file and its packages if one of them is not installed."""
    suffix = path.rpartition(".")[2].lower()
    if suffix in _PACKAGES:
        kind, package = _PACKAGES[suffix]
        if find_spec(package) is None:
            yield kind, (package,)
    elif (language := language_of(path)) is not None and missing(language) is not None:
        yield "source file", ("tree-sitter", GRAMMARS[language].package)
