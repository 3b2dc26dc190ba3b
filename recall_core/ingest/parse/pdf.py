"""The PDF parser: text page by page, with the outline as headings.

PDFium turns a page's glyphs into lines. The parser removes artefacts of the printed page: hyphens at line ends,
ligatures, headers and footers. It uses PDFium's C interface so that every object is closed promptly.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from importlib import import_module
from typing import Any, NamedTuple

from recall_core.errors import IngestError
from recall_core.ingest.parse.magic import instead
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from recall_core.shell import install_extra

_LONGEST_NAME = 120
_LONGEST_LINE = 300  # longest line that may be a title
_MOST_PAGES = 5_000
_MOST_CHARS = 64 << 20
_MOST_BOOKMARKS = 20_000
_DEEPEST = 500  # levels of the outline
_LONGEST_TITLE = 300
_LONGEST_STRING = 8_192  # bytes of a title or an author, as UTF-16
_NAMED_PAGES = 10  # pages listed in a note


class Pdf:
    """Reads a PDF that needs no password. Each page is a place of the one document."""

    version = 1
    reads = "bytes"
    is_verbatim = False
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument]:
        """Return the file's one document.

        Raises IngestError `bad_pdf`, `pdf_encrypted`, `no_text` if no page has a letter or digit, and
        `parser_unavailable` if the package pypdfium2 is missing.
        """
        api = _pdfium(path)
        with _open(api, raw, path) as document:
            count = api.FPDF_GetPageCount(document)
            if not 0 < count <= _MOST_PAGES:
                reason = f"has {count} pages, more than {_MOST_PAGES}" if count > 0 else "is a PDF without pages"
                raise _bad(path, reason)
            read = _read_pages(api, document, count, path)
            outline = list(_outline(api, document))
            info = {key: _string(api.FPDF_GetMetaText, document, key.encode()) for key in _INFO_KEYS}
        pages = without_running([page.lines for page in read], outline)
        text, offsets = laid_out(pages)
        if not _WORDS.search(text):
            where = "its page" if count == 1 else f"any of its {count} pages"
            message = f"{path} has no text on {where}; it may be a scan."
            details = {"path": path, "kind": "PDF"}
            raise IngestError("no_text", message, hint="ocrmypdf in.pdf out.pdf", details=details)
        marks = marks_of(outline, pages, offsets)
        about = {"author": _title(info["Author"]), "created": _parse_date(info["CreationDate"])}
        meta = {"pages": count, **{key: value for key, value in about.items() if value}}
        title = _title(info["Title"]) or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), meta, marks, notes=tuple(_notes(read))),)


class _PdfPage(NamedTuple):
    """A page as read."""

    lines: list[str]
    is_readable: bool = True
    is_picture: bool = False


_INFO_KEYS = ("Title", "Author", "CreationDate")
_WORDS = re.compile(r"[^\W_]")

_NO_FONTS: list[object] = []


def _pdfium(path: str) -> Any:
    """Return PDFium's functions, limited to its own fonts so that every machine reads the same text."""
    try:
        api = import_module("pypdfium2.raw")
    except ImportError as error:
        raise IngestError(
            "parser_unavailable",
            f"{path} is a PDF, which needs the package pypdfium2.",
            hint=install_extra("pdf"),
            details={"path": path, "kind": "PDF"},
        ) from error
    if not _NO_FONTS:
        _NO_FONTS.append(api.FPDF_SYSFONTINFO(version=1))  # PDFium keeps a pointer to it
        api.FPDF_SetSystemFontInfo(_NO_FONTS[0])
    return api


@contextmanager
def _open(api: Any, raw: bytes, path: str) -> Iterator[Any]:
    """Open a PDFium document and close it afterwards."""
    document = api.FPDF_LoadMemDocument64(raw, len(raw), None)
    if not document:
        raise _open_error(api, raw, path)
    try:
        yield document
    finally:
        api.FPDF_CloseDocument(document)


def _open_error(api: Any, raw: bytes, path: str) -> IngestError:
    match api.FPDF_GetLastError():
        case api.FPDF_ERR_PASSWORD:
            reason = "is encrypted: it needs a password"
        case api.FPDF_ERR_SECURITY:
            reason = "uses an unsupported encryption"
        case _:
            if b"%PDF-" in raw[:1024]:
                return _bad(path, "is a damaged PDF")
            kind = instead(raw, path=path)
            return _bad(path, f"is {kind}, not a PDF" if kind else "is not a PDF")
    details = {"path": path, "kind": "PDF"}
    return IngestError("pdf_encrypted", f"{path} {reason}.", hint="save a copy without its password", details=details)


def _bad(path: str, reason: str) -> IngestError:
    return IngestError("bad_pdf", f"{path} {reason}.", details={"path": path, "kind": "PDF"})


def _read_pages(api: Any, document: Any, count: int, path: str) -> list[_PdfPage]:
    pages: list[_PdfPage] = []
    chars = 0
    for i in range(count):
        pages.append(_read_page(api, document, i))
        chars += sum(map(len, pages[-1].lines))
        if chars > _MOST_CHARS:
            raise _bad(path, f"has more than {_MOST_CHARS >> 20} million characters of text")
    if not any(page.is_readable for page in pages):
        raise _bad(path, "is a damaged PDF: none of its pages can be read")
    return pages


def _read_page(api: Any, document: Any, i: int) -> _PdfPage:
    page = api.FPDF_LoadPage(document, i)
    if not page:
        return _PdfPage([], is_readable=False)
    try:
        lines = lines_of(_page_text(api, page))
        return _PdfPage(lines, is_picture=not lines and _has_picture(api, page))
    finally:
        api.FPDF_ClosePage(page)


def _page_text(api: Any, page: Any) -> str:
    """Return the text of a page in file order, without text outside the page's edges."""
    text_page = api.FPDFText_LoadPage(page)
    if not text_page:
        return ""
    try:
        box = api.FS_RECTF()
        api.FPDF_GetPageBoundingBox(page, box)
        bounds = (text_page, box.left, box.top, box.right, box.bottom)
        size = api.FPDFText_GetBoundedText(*bounds, None, 0)
        if size <= 0:
            return ""
        buffer = (ctypes.c_ushort * size)()
        api.FPDFText_GetBoundedText(*bounds, buffer, size)
        return bytes(buffer).decode("utf-16-le", errors="ignore")
    finally:
        api.FPDFText_ClosePage(text_page)


def _has_picture(api: Any, page: Any) -> bool:
    count = min(api.FPDFPage_CountObjects(page), 100)
    kinds = (api.FPDFPageObj_GetType(api.FPDFPage_GetObject(page, i)) for i in range(count))
    return api.FPDF_PAGEOBJ_IMAGE in kinds


def _string(function: Any, *words: Any) -> str:
    """Return a PDFium string on one line; "" if it is too long for a name."""
    size = function(*words, None, 0)
    if not 2 < size <= _LONGEST_STRING:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*words, buffer, size)
    return on_one_line(buffer.raw[: size - 2].decode("utf-16-le", errors="ignore"))


def _outline(api: Any, document: Any) -> Iterator[Bookmark]:
    """Yield the outline entries that point to a page, in file order, each object once."""
    ahead = [(api.FPDFBookmark_GetFirstChild(document, None), 1)]
    seen: set[int] = set()
    while ahead and len(seen) < _MOST_BOOKMARKS:
        entry, level = ahead.pop()
        if not entry or ctypes.addressof(entry.contents) in seen:
            continue
        seen.add(ctypes.addressof(entry.contents))
        ahead.append((api.FPDFBookmark_GetNextSibling(document, entry), level))
        if level < _DEEPEST:
            ahead.append((api.FPDFBookmark_GetFirstChild(document, entry), level + 1))
        name = _string(api.FPDFBookmark_GetTitle, entry)
        target = api.FPDFBookmark_GetDest(document, entry)
        page = api.FPDFDest_GetDestPageIndex(document, target) if target else -1
        if name and page >= 0:
            yield Bookmark(name, level, page)


_NO_TITLE = re.compile(
    r"untitled\b.*|\(?(?:anonymous|unspecified|unknown|none)\)?|Microsoft (?:Word|Excel|PowerPoint)\b.*"
    r"|.*\.(?:docx?|dvi|html?|indd|od[pst]|pdf|pptx?|ps|qxd|rtf|tex|xlsx?)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:D:)?([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})([0-9]{2})?(?:(Z)|([+-])([0-9]{2})'?([0-9]{2})?)?)?"
)


def _title(text: str) -> str:
    """Return a title or an author; "" if it is only a program's default."""
    is_title = _WORDS.search(text) and not _NO_TITLE.fullmatch(text)
    return shorten(text, _LONGEST_TITLE) if is_title else ""


def _parse_date(text: str) -> str:
    """Return a PDF date in ISO 8601; "" if it is not a date."""
    found = _DATE.match(text)
    if not found:
        return ""
    *parts, utc, sign, hours, minutes = found.groups()
    year, month, day, hour, minute, second = (int(part or 0) for part in parts)
    away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    try:
        zone = timezone(away) if utc or sign else None
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return ""
    return moment.isoformat() if found[4] else moment.date().isoformat()


def _notes(pages: Sequence[_PdfPage]) -> Iterator[str]:
    pictures = [i + 1 for i, page in enumerate(pages) if page.is_picture]
    unread = [i + 1 for i, page in enumerate(pages) if not page.is_readable]
    if pictures:
        yield f"no text on {_pages(pictures)}, only images"
    if unread:
        yield f"{_pages(unread)} cannot be read"


def _pages(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED_PAGES]))
    more = ", …" if len(numbers) > _NAMED_PAGES else ""
    return f"{len(numbers)} {'page' if len(numbers) == 1 else 'pages'} ({named}{more})"


class Bookmark(NamedTuple):
    """An outline entry. level: from 1. page: from 0."""

    name: str
    level: int
    page: int


_SPECIAL = re.compile("\rc\\b|[-\u2010\xad]\n|[\0-\x08\x0b-\x1f\x7f-\x9f\xad\ufb00-\ufb06\ufeff\ufffe\uffff]")
_PLAIN = dict(zip("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06\x88", "ff fi fl ffi ffl st st •".split(), strict=True))
_PLAIN["\rc"] = "©"  # TeX draws it as a circle around a c
_OLD_TEX = {"\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl"}
"""Code points of ligatures in TeX fonts without a mapping: ligatures only within a word."""
_HYPHENS = ("\x02", "\ufffe")
"""PDFium's mark for a hyphen before a line end."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a page without line-end hyphens, ligatures and control characters."""
    text = _SPECIAL.sub(_plain, text.replace("\r\n", "\n")).strip()
    return [line.rstrip() for line in text.split("\n")] if text else []


def on_one_line(text: str) -> str:
    """Return a name on one line, cleaned like `lines_of`."""
    return " ".join(_SPECIAL.sub(_plain, text.replace("\r", " ")).split())


def _plain(found: re.Match[str]) -> str:
    """Return the replacement for a special character, or for a hyphen at a line end."""
    text, what = found.string, found[0]
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if what in _HYPHENS or what.endswith("\n"):
        if before.isalpha() and after.islower():
            return ""
        return "-" if what in _HYPHENS else what.replace("\xad", "")
    if what in _OLD_TEX and (after.islower() or before.islower()):
        return _OLD_TEX[what] if after.islower() or what in "\x0b\x0c" else ""
    return _PLAIN.get(what, "")


_LEAST_PAGES = 5
_SHARE = 0.6
_EDGE = 2  # lines at the top and at the bottom
_LONGEST_RUNNING = 200
_NUMBER = re.compile(r"[0-9]+")
_AT_ENDS = re.compile(r"^[^\w]*([0-9]+)\b|\b([0-9]+)[^\w]*$")

_Running = frozenset[tuple[str, int]]
"""Pattern of repeated lines, each with the side of the sheet (0, 1) where it repeats."""


def without_running(pages: list[list[str]], outline: Iterable[Bookmark] = ()) -> list[list[str]]:
    """Return the pages without running headers and footers: edge lines shared by most pages of a side or of both.

    A page with no other lines keeps them, because then they are the text. A line that the outline names is also kept.
    """
    running = _running(pages)
    if not running:
        return pages
    titles: dict[int, set[str]] = {}
    for entry in outline:
        titles.setdefault(entry.page, set()).add(_key(entry.name))
    return [_strip_running(lines, i, running, titles.get(i, set())) or lines for i, lines in enumerate(pages)]


def _running(pages: list[list[str]]) -> _Running:
    both: Counter[str] = Counter()
    one: Counter[tuple[str, int]] = Counter()
    inner_counts: Counter[str] = Counter()
    for i, lines in enumerate(pages):
        inside = lines[_EDGE:-_EDGE]
        outer = _patterns(lines[:_EDGE], i, "^") | _patterns(lines[_EDGE:][-_EDGE:], i, "$")
        both.update(outer)
        one.update((each, i % 2) for each in outer)
        inner_counts.update(_patterns(inside[:_EDGE], i, "^") | _patterns(inside[-_EDGE:], i, "$"))
    sides = [sum(1 for lines in pages[side::2] if lines) for side in (0, 1)]
    return frozenset(
        (each, side)
        for each, side in one
        if (_is_most(both[each], sum(sides)) or _is_most(one[each, side], sides[side]))
        and inner_counts[each] * 2 < both[each]  # otherwise it is a table row
    )


def _is_most(count: int, pages: int) -> bool:
    return pages >= _LEAST_PAGES and count >= _SHARE * pages


def _patterns(lines: Sequence[str], i: int, edge: str) -> set[str]:
    """Return the patterns that an edge line may share with other pages."""
    fitting = [line for line in lines if len(line) <= _LONGEST_RUNNING]
    return {each for line in fitting for each in (_mask_numbers(line, edge), *_distances(line, i, edge)) if each}


def _mask_numbers(line: str, edge: str) -> str:
    """Return the line with its numbers masked; "" if it contains nothing else."""
    return edge + _NUMBER.sub("#", line) if any(map(str.isalpha, line)) else ""


def _distances(line: str, i: int, edge: str) -> list[str]:
    """Return the distance of the line's outer numbers from the page index: constant for a page number."""
    return [f"{edge}{int(first or last) - i}" for first, last in _AT_ENDS.findall(line)]


def _strip_running(lines: list[str], i: int, running: _Running, titles: set[str]) -> list[str]:
    top = _repeating(lines[:_EDGE], i, "^", running, titles)
    bottom = _repeating(lines[top:][-_EDGE:][::-1], i, "$", running, titles)
    return lines[top : len(lines) - bottom]


def _repeating(lines: Sequence[str], i: int, edge: str, running: _Running, titles: set[str]) -> int:
    """Return how many leading lines repeat. Only one of them contains the page number."""
    is_numbered = False
    for count, line in enumerate(lines):
        if len(line) > _LONGEST_RUNNING or (titles and _key(line) in titles):
            return count
        has_number = any((each, i % 2) in running for each in _distances(line, i, edge))
        if (_mask_numbers(line, edge), i % 2) not in running and (is_numbered or not has_number):
            return count
        is_numbered |= has_number
    return len(lines)


def laid_out(pages: Sequence[Sequence[str]]) -> tuple[str, list[int]]:
    """Return the text, with an empty line between pages, and the offset of each page."""
    parts: list[str] = []
    offsets: list[int] = []
    size = 0
    for lines in pages:
        offsets.append(size)
        part = "\n".join(lines)
        if part:
            parts.append(part)
            size += len(part) + 2
    text = "\n\n".join(parts)
    return text, [min(offset, len(text)) for offset in offsets]


_NUMBERING = re.compile(
    r"(?:(?i:appendix|chapter|part|section)\s+)?(?:(?:[0-9]+|[A-Z]|[IVXLC]+)(?:\.[0-9]+)*[.:]?\s+)+"
)
_NO_LETTER = re.compile(r"[\W_]+")


def marks_of(outline: Iterable[Bookmark], pages: Sequence[Sequence[str]], offsets: Sequence[int]) -> tuple[Mark, ...]:
    """Return marks for pages and outline entries.

    An entry is placed at the line it names, else at the start of its page, never before the entry above it.

    offsets: start of each page.
    """
    marks = [Mark(offset, "page") for offset in offsets]
    known: dict[int, _PageLines] = {}
    page, reached, least = -1, 0, 0
    for entry in outline:
        if entry.page >= len(pages):
            continue
        if entry.page not in known:
            known[entry.page] = _PageLines(pages[entry.page], offsets[entry.page])
        if entry.page != page:
            page = entry.page
            reached = least = offsets[page]
        place = known[page].place(_key(entry.name), least)
        if place is not None:
            reached, least = place, place + 1
        marks.append(Mark(reached, "heading", shorten(entry.name, _LONGEST_NAME), min(entry.level, 6)))
    return tuple(sorted(marks, key=lambda mark: mark.offset))


_LOOKED_AT = 500  # lines searched per page
_LEAST_KEY = 4
_LONG_KEY = 20


class _PageLines:
    """Offsets of the lines of one page, by comparison key."""

    def __init__(self, lines: Sequence[str], offset: int) -> None:
        keys = [_key(line) if len(line) <= _LONGEST_LINE else "" for line in lines]
        self._whole: dict[str, list[int]] = {}
        self._first: list[tuple[int, str]] = []
        for line, key, after in zip(lines, keys, [*keys, ""][1:], strict=True):
            if key:
                self._whole.setdefault(key, []).append(offset)
                self._whole.setdefault(key + after, []).append(offset)
                self._first.append((offset, key))
            offset += len(line) + 1
        del self._first[_LOOKED_AT:]

    def place(self, key: str, least: int) -> int | None:
        """Return the first line at or after `least` that is the title, alone or joined with the next line.

        Otherwise a line that starts with the title, or that the title starts with.
        """
        exact = self._whole.get(key, ())
        i = bisect_left(exact, least)
        if i < len(exact):
            return exact[i]
        if len(key) < _LEAST_KEY:
            return None
        partial = (
            offset
            for offset, line in self._first
            if offset >= least and (line.startswith(key) or (len(line) > _LONG_KEY and key.startswith(line)))
        )
        return next(partial, None)


def _key(name: str) -> str:
    numbering = _NUMBERING.match(name)
    return _NO_LETTER.sub("", name[numbering.end() :] if numbering else name).casefold()


def shorten(name: str, most: int) -> str:
    """Return the name, cut to `most` characters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
