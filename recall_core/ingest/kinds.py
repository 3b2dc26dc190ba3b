"""Which parser reads a file: as its root says, else as the settings say for its name, else by name and content."""

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
"""What is known by name and not read."""

_NAME = re.compile(r"[\w.-]+")
_HEAD = 4096  # bytes of a file that decide its kind
_HTML = re.compile(rb"(?:\s+|<!--.*?-->)*+<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)

_PROSE = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?:\s+|<\?.*?\?>|<!--.*?-->)*+<(?:!DOCTYPE\s+)?
    (?:rss|feed|rdf:RDF|article|book|chapter|part|preface|refentry|section|set)[\s>]""",
    re.DOTALL | re.VERBOSE,
)
"""The outermost element of feeds and of DocBook, or its declaration. XML of another kind is read as it is written:
its names and attributes are what is looked for."""
_MAN_NAME = re.compile(r"[^/]\.(?:[1-9][A-Za-z]{0,9}|[ln]|man|mdoc)$")
_ROFF_COMMENT = re.compile(r"[.']?[ \t]*\\\"|'''|[.'][ \t]*$")
_ROFF_REQUEST = re.compile(
    r"[.'][ \t]*"
    r"(?:TH|Dd|Dt|SH|Sh|so|de1?|ds1?|nr|if|ie|ig|am|als|tr|mso|nh|ad|na|hy|ss|ll|po|do|nf|char|lf|rn|rm|cs|ft|fp)\b"
)
_MAN_SURE = re.compile(r"[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)\b|[.'][ \t]*so[ \t]+[\w./+-]+\.\w+[ \t]*$")
_MAN_PREAMBLE = 20  # lines of requests that are roff without a title among them

_PACKAGES = {"pdf": ("PDF", "pypdfium2"), "zst": ("file compressed by zstd", "zstandard")}
"""By suffix: what a file is called, and the package that reads it."""
_EXTRAS = {"PDF": "pdf", "file compressed by zstd": "files", "source file": "code"}


def choose(path: str, raw: bytes, *, parser: str, overrides: Sequence[tuple[str, str]]) -> str:
    """Return the name of the parser for a file of these bytes.

    parser: as the root asks.  overrides: (glob, name), in order; a glob without a slash matches the name of the file.
    Raises IngestError `not_read` for a kind of file that is known and has no parser.
    """
    if parser != AUTO:
        return parser
    name = path.rpartition("/")[2]
    for glob, own in overrides:
        if matches_any((glob,), path if "/" in glob else name):
            if is_own(own):
                return own  # settings that were found may not load others' code
            message = f"[parsers] in recall.toml names {own!r}, which is none of Recall's own."
            raise UsageError("unknown_parser", message, hint=f"one of: {', '.join((*BUILT_IN, *PLUG_INS))}")
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    head = raw[:_HEAD]
    is_rtf = head.startswith(b"{\\rtf")
    if is_rtf or (suffix in _NOT_READ and b"\0" in head + raw[:8192]):
        suffix = "rtf" if is_rtf else suffix
        kind = _NOT_READ[suffix]
        message = f"{path} is a file of {kind}, which is not read."
        raise IngestError("not_read", message, details={"path": path, "kind": f"{kind} (.{suffix})"})
    return _by_content(head, suffix) or _BY_SUFFIX.get(suffix) or _by_text(path, head, suffix)


def _by_content(head: bytes, suffix: str) -> str | None:
    """By bytes that leave no doubt, whatever the file is called."""
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
    """Return True for a manual page in roff. head: the beginning of the file, a few KiB are enough.

    Both its name and its lines must say so: `ls.1`, which begins with a request or a comment of roff, and has a
    title, a section or a reference to another page.
    """
    if not _MAN_NAME.search(path):
        return False
    lines = [line.rstrip() for line in head.split("\n")]
    first = next((line for line in lines if line), "")
    if not (_ROFF_COMMENT.match(first) or _ROFF_REQUEST.match(first)):
        return False
    return any(map(_MAN_SURE.match, lines)) or (len(lines) > _MAN_PREAMBLE and any(map(_ROFF_REQUEST.match, lines)))


class WantedPackage(NamedTuple):
    """Files that a package which is not installed would read, or would read better. install: what brings it."""

    files: int
    kind: str
    install: str


def missing_packages(paths: Iterable[str]) -> list[WantedPackage]:
    """Return the packages that would read these files and are not installed, by kind of file."""
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
    """Yield what a file is called, and the packages that would read it, where one is not installed."""
    suffix = path.rpartition(".")[2].lower()
    if suffix in _PACKAGES:
        kind, package = _PACKAGES[suffix]
        if find_spec(package) is None:
            yield kind, (package,)
    elif (language := language_of(path)) is not None and missing(language) is not None:
        yield "source file", ("tree-sitter", GRAMMARS[language].package)
