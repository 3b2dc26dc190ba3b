"""The PDF parser: the text of a PDF page by page, with its outline as headings.

What a PDF holds is glyphs and where they stand. PDFium makes lines of them; here the lines lose what belongs to the
paper alone: hyphens at line ends, ligatures, headers and footers. PDFium is used by its own C interface, so that
everything is closed here and now.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from importlib import import_module
from typing import Any, NamedTuple

from recall_core.errors import IngestError
from recall_core.ingest.parse.magic import instead
from recall_core.ingest.parse.pdf_pages import (
    Bookmark,
    laid_out,
    lines_of,
    marks_of,
    on_one_line,
    shortened,
    without_running,
)
from recall_core.ports import ParsedDocument
from recall_core.shell import install_extra

_MOST_PAGES = 5_000
_MOST_CHARS = 64 << 20
_MOST_BOOKMARKS = 20_000
_DEEPEST = 500  # of an outline
_LONGEST_TITLE = 300
_LONGEST_STRING = 8_192  # bytes of a title or an author, as UTF-16
_TOLD_PAGES = 10  # of those that a note names


class Pdf:
    """Reads a PDF that needs no password. One document, whose places are its pages."""

    version = 1
    reads = "bytes"
    is_verbatim = False
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument]:
        """The one document of the file.

        Raises IngestError `bad_pdf`, `pdf_encrypted`, `no_text` where no page has a letter or a digit, and
        `parser_unavailable` where the package pypdfium2 is missing.
        """
        api = _pdfium(path)
        with _opened(api, raw, path) as document:
            count = api.FPDF_GetPageCount(document)
            if not 0 < count <= _MOST_PAGES:
                reason = f"has {count} pages, more than {_MOST_PAGES}" if count > 0 else "is a PDF without a page"
                raise _bad(path, reason)
            read = _read_pages(api, document, count, path)
            outline = list(_outline(api, document))
            told = {key: _string(api.FPDF_GetMetaText, document, key.encode()) for key in _TOLD}
        pages = without_running([page.lines for page in read], outline)
        text, offsets = laid_out(pages)
        if not _WORDS.search(text):
            raise _no_text(path, count)
        marks = marks_of(outline, pages, offsets)
        meta = {"pages": count, **_meta(told)}
        title = _title(told["Title"]) or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), meta, marks, notes=tuple(_notes(read))),)


class _PdfPage(NamedTuple):
    """A page as it was read."""

    lines: list[str]
    is_readable: bool = True
    is_picture: bool = False


_TOLD = ("Title", "Author", "CreationDate")
_WORDS = re.compile(r"[^\W_]")

_NO_FONTS: list[object] = []


def _pdfium(path: str) -> Any:
    """The functions of PDFium. It is told that there are no fonts but its own, so that every machine reads alike."""
    try:
        api = import_module("pypdfium2.raw")
    except ImportError as error:
        raise IngestError(
            "parser_unavailable",
            f"{path} is a PDF, and the package that reads one, pypdfium2, is not installed.",
            hint=install_extra("pdf"),
            details={"path": path, "kind": "PDF"},
        ) from error
    if not _NO_FONTS:
        _NO_FONTS.append(api.FPDF_SYSFONTINFO(version=1))  # PDFium keeps a pointer to it
        api.FPDF_SetSystemFontInfo(_NO_FONTS[0])
    return api


@contextmanager
def _opened(api: Any, raw: bytes, path: str) -> Iterator[Any]:
    document = api.FPDF_LoadMemDocument64(raw, len(raw), None)
    if not document:
        raise _unopened(api, raw, path)
    try:
        yield document
    finally:
        api.FPDF_CloseDocument(document)


def _unopened(api: Any, raw: bytes, path: str) -> IngestError:
    match api.FPDF_GetLastError():
        case api.FPDF_ERR_PASSWORD:
            reason = "is encrypted: it needs a password"
        case api.FPDF_ERR_SECURITY:
            reason = "is encrypted in a way that cannot be read"
        case _:
            if b"%PDF-" in raw[:1024]:
                return _bad(path, "is a damaged PDF")
            kind = instead(raw, path=path)
            return _bad(path, f"is {kind}, not a PDF" if kind else "is not a PDF")
    details = {"path": path, "kind": "PDF"}
    return IngestError("pdf_encrypted", f"{path} {reason}.", hint="save a copy without its password", details=details)


def _bad(path: str, reason: str) -> IngestError:
    return IngestError("bad_pdf", f"{path} {reason}.", details={"path": path, "kind": "PDF"})


def _no_text(path: str, count: int) -> IngestError:
    where = "its page" if count == 1 else f"any of its {count} pages"
    message = f"{path} has no text on {where}: it may be scanned."
    details = {"path": path, "kind": "PDF"}
    return IngestError("no_text", message, hint="ocrmypdf in.pdf out.pdf", details=details)


def _read_pages(api: Any, document: Any, count: int, path: str) -> list[_PdfPage]:
    pages: list[_PdfPage] = []
    chars = 0
    for i in range(count):
        pages.append(_read_page(api, document, i))
        chars += sum(map(len, pages[-1].lines))
        if chars > _MOST_CHARS:
            raise _bad(path, f"has a text of more than {_MOST_CHARS >> 20} million characters")
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
    """What stands on a page, in the order of the file; not what lies outside of its edges."""
    text_page = api.FPDFText_LoadPage(page)
    if not text_page:
        return ""
    try:
        box = api.FS_RECTF()
        api.FPDF_GetPageBoundingBox(page, box)
        within = (text_page, box.left, box.top, box.right, box.bottom)
        size = api.FPDFText_GetBoundedText(*within, None, 0)
        if size <= 0:
            return ""
        buffer = (ctypes.c_ushort * size)()
        api.FPDFText_GetBoundedText(*within, buffer, size)
        return bytes(buffer).decode("utf-16-le", errors="ignore")
    finally:
        api.FPDFText_ClosePage(text_page)


def _has_picture(api: Any, page: Any) -> bool:
    count = min(api.FPDFPage_CountObjects(page), 100)
    kinds = (api.FPDFPageObj_GetType(api.FPDFPage_GetObject(page, i)) for i in range(count))
    return api.FPDF_PAGEOBJ_IMAGE in kinds


def _string(function: Any, *words: Any) -> str:
    """A string that PDFium hands out, on one line; "" for one that is too long to be a name of anything."""
    size = function(*words, None, 0)
    if not 2 < size <= _LONGEST_STRING:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*words, buffer, size)
    return on_one_line(buffer.raw[: size - 2].decode("utf-16-le", errors="ignore"))


def _outline(api: Any, document: Any) -> Iterator[Bookmark]:
    """The entries that lead to a page, in the order of the file; each object once, whatever points to it."""
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


def _title(told: str) -> str:
    """A title or an author; "" for what only the program that made the file has put there."""
    is_title = _WORDS.search(told) and not _NO_TITLE.fullmatch(told)
    return shortened(told, _LONGEST_TITLE) if is_title else ""


def _meta(told: dict[str, str]) -> dict[str, str]:
    found = {"author": _title(told["Author"]), "created": _created(told["CreationDate"])}
    return {key: value for key, value in found.items() if value}


def _created(told: str) -> str:
    """A date of PDF as ISO 8601 has it; "" where it is none."""
    found = _DATE.match(told)
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
        yield f"no text on {_pages(pictures)}, only pictures"
    if unread:
        yield f"{_pages(unread)} cannot be read"


def _pages(numbers: Sequence[int]) -> str:
    told = ", ".join(map(str, numbers[:_TOLD_PAGES]))
    more = ", …" if len(numbers) > _TOLD_PAGES else ""
    return f"{len(numbers)} {'page' if len(numbers) == 1 else 'pages'} ({told}{more})"
