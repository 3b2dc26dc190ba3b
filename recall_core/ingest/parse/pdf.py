"""The PDF parser: the text of a PDF page by page, with its outline as headings.

What a PDF holds is glyphs and where they stand. PDFium makes lines of them; here the lines lose what belongs to the
paper alone: hyphens at line ends, ligatures, headers and footers.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from importlib import import_module
from typing import Any, NamedTuple

from recall_core.errors import IngestError
from recall_core.ingest.parse.magic import kind_of
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from recall_core.shell import install_extra

_MOST_PAGES = 5_000
_MOST_CHARS = 64 << 20
_MOST_BOOKMARKS = 20_000
_DEEPEST = 500  # of an outline
_LONGEST_NAME = 120
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
        pages = _without_running([page.lines for page in read])
        text, offsets = _laid_out(pages)
        if not _WORDS.search(text):
            raise IngestError(
                "no_text",
                f"{path} has no text on its {count} pages: they may be scanned.",
                hint="ocrmypdf in.pdf out.pdf",
                details={"path": path, "kind": "PDF"},
            )
        marks = _marks(outline, pages, offsets)
        meta = {"pages": count, **_meta(told)}
        title = _title(told["Title"], outline) or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), meta, marks, notes=tuple(_notes(read))),)


class _Page(NamedTuple):
    """A page as it was read."""

    lines: list[str]
    is_readable: bool = True
    is_picture: bool = False


class _Bookmark(NamedTuple):
    """An entry of the outline. level: from 1.  page: from 0."""

    name: str
    level: int
    page: int


_TOLD = ("Title", "Author", "CreationDate")
_WORDS = re.compile(r"[^\W_]")


# PDFium: its own C interface, so that everything is closed here and now.

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
            kind = kind_of(raw, path=path)
            if b"%PDF-" in raw[:1024]:
                return _bad(path, "is a damaged PDF")
            return _bad(path, f"is {kind.name}, not a PDF" if kind else "is not a PDF")
    details = {"path": path, "kind": "PDF"}
    return IngestError("pdf_encrypted", f"{path} {reason}.", hint="qpdf --decrypt in.pdf out.pdf", details=details)


def _bad(path: str, reason: str) -> IngestError:
    return IngestError("bad_pdf", f"{path} {reason}.", details={"path": path, "kind": "PDF"})


def _read_pages(api: Any, document: Any, count: int, path: str) -> list[_Page]:
    pages: list[_Page] = []
    chars = 0
    for i in range(count):
        pages.append(_read_page(api, document, i))
        chars += sum(map(len, pages[-1].lines))
        if chars > _MOST_CHARS:
            raise _bad(path, f"has a text of more than {_MOST_CHARS >> 20} million characters")
    if not any(page.is_readable for page in pages):
        raise _bad(path, "is a damaged PDF: none of its pages can be read")
    return pages


def _read_page(api: Any, document: Any, i: int) -> _Page:
    page = api.FPDF_LoadPage(document, i)
    if not page:
        return _Page([], is_readable=False)
    try:
        lines = _lines(_page_text(api, page))
        return _Page(lines, is_picture=not lines and _has_picture(api, page))
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
    text = buffer.raw[: size - 2].decode("utf-16-le", errors="ignore")
    return " ".join(_ODD.sub(_plain, text.replace("\r", " ")).split())


def _outline(api: Any, document: Any) -> Iterator[_Bookmark]:
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
            yield _Bookmark(name, level, page)


# The lines of a page.

_OLD_TEX = {"\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl", "\rc": "©"}
_OLD_LIGATURE = re.compile(
    r"\rc\b|[\r\x0b\x0c\x0e](?=[a-z])|(?<=[a-z])[\x0b\x0c]|(?<=[a-z])\x0f(?=[a-z])"
)  # where fonts of TeX have them, in files that do not say so
_AT_LINE_END = re.compile("[\x02\ufffe]|(?<=[^\\W\\d_])[-\u2010\xad]\n")  # the first two are PDFium's, for both
_ODD = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\xad\ufb00-\ufb06\ufeff\ufffe\uffff]")
_PLAIN = dict(zip("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06\x88", "ff fi fl ffi ffl st st •".split(), strict=True))


def _plain(found: re.Match[str]) -> str:
    return _PLAIN.get(found[0], "")


def _lines(text: str) -> list[str]:
    """The lines of a page, without hyphens at their ends, ligatures, and what is no character."""
    text = text.replace("\r\n", "\n")
    text = _OLD_LIGATURE.sub(lambda found: _OLD_TEX[found[0]], text)
    text = _ODD.sub(_plain, _AT_LINE_END.sub(_joined, text))
    return [line.rstrip() for line in text.strip().split("\n")] if text.strip() else []


def _joined(found: re.Match[str]) -> str:
    """What becomes of a hyphen at the end of a line: nothing within a word, else itself."""
    text, first, last = found.string, found.start(), found.end()
    if text[last : last + 1].islower() and text[first - 1 : first].isalpha():
        return ""
    return found[0] if len(found[0]) > 1 else "-"


# Headers and footers.

_LEAST_PAGES = 5
_SHARE = 0.6
_EDGE = 2  # lines at the top, and as many at the bottom
_LONGEST_RUNNING = 200
_NUMBER = re.compile(r"[0-9]+")


def _without_running(pages: list[list[str]]) -> list[list[str]]:
    """The pages without the lines at their edges that most pages have, or most left or most right ones."""
    running = _running(pages)
    return [_stripped(lines, i, running) for i, lines in enumerate(pages)] if running else pages


def _running(pages: list[list[str]]) -> set[tuple[str, int]]:
    """The lines that repeat, with the sides (0, 1) on which they do."""
    both: Counter[str] = Counter()
    one: Counter[tuple[str, int]] = Counter()
    within: Counter[str] = Counter()
    for i, lines in enumerate(pages):
        at_edges = {_pattern(line, i) for line in (*lines[:_EDGE], *lines[_EDGE:][-_EDGE:])} - {""}
        both.update(at_edges)
        one.update((each, i % 2) for each in at_edges)
        inside = lines[_EDGE:-_EDGE]
        within.update({_pattern(line, i) for line in (*inside[:_EDGE], *inside[-_EDGE:])})
    sides = [sum(1 for lines in pages[side::2] if lines) for side in (0, 1)]
    return {
        (each, side)
        for each, side in one
        if (_is_most(both[each], sum(sides)) or _is_most(one[each, side], sides[side]))
        and within[each] * 2 < both[each]  # else it is a row of a table
    }


def _is_most(count: int, pages: int) -> bool:
    return pages >= _LEAST_PAGES and count >= _SHARE * pages


def _pattern(line: str, i: int) -> str:
    """What a line has in common with that of other pages; "" where it may be anything.

    A line of one number is a page's number where it keeps its distance from the page; several are a table's.
    """
    if not 0 < len(line) <= _LONGEST_RUNNING:
        return ""
    masked, count = _NUMBER.subn("#", line)
    if any(map(str.isalpha, masked)):
        return masked
    return f"{masked} {int(_NUMBER.findall(line)[0]) - i}" if count == 1 else ""


def _stripped(lines: list[str], i: int, running: set[tuple[str, int]]) -> list[str]:
    first, last = 0, len(lines)
    while first < min(_EDGE, last) and (_pattern(lines[first], i), i % 2) in running:
        first += 1
    while last > max(first, len(lines) - _EDGE) and (_pattern(lines[last - 1], i), i % 2) in running:
        last -= 1
    return lines[first:last]


def _laid_out(pages: Sequence[Sequence[str]]) -> tuple[str, list[int]]:
    """The text, pages with an empty line between them, and where each page begins."""
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


# Headings.

_NUMBERING = re.compile(r"(?:[0-9]+|[A-Z]|[IVXLC]+)(?:\.[0-9]+)*[.:]?\s+")
_NO_LETTER = re.compile(r"[\W_]+")


def _marks(outline: Iterable[_Bookmark], pages: Sequence[Sequence[str]], offsets: Sequence[int]) -> tuple[Mark, ...]:
    """Pages, and the outline: each entry at the line that it names, or where its page begins."""
    marks = [Mark(offset, "page") for offset in offsets]
    lines: dict[int, dict[str, list[int]]] = {}
    page, reached = -1, 0
    for entry in outline:
        if entry.page >= len(pages):
            continue
        if entry.page not in lines:
            lines[entry.page] = _lines_by_key(pages[entry.page], offsets[entry.page])
        if entry.page != page:
            page, reached = entry.page, offsets[entry.page]
        found = lines[page].get(_key(entry.name), ())
        reached = next((offset for offset in found if offset >= reached), reached)
        marks.append(Mark(reached, "heading", _short(entry.name, _LONGEST_NAME), min(entry.level, 6)))
    return tuple(sorted(marks, key=lambda mark: mark.offset))


def _lines_by_key(lines: Sequence[str], offset: int) -> dict[str, list[int]]:
    """Where the lines of a page begin, by what is compared; a title may take two."""
    found: dict[str, list[int]] = {}
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if len(line) <= _LONGEST_TITLE:
            found.setdefault(_key(line), []).append(offset)
            found.setdefault(_key(f"{line} {after[:_LONGEST_TITLE]}"), []).append(offset)
        offset += len(line) + 1
    return found


def _key(name: str) -> str:
    numbering = _NUMBERING.match(name)
    return _NO_LETTER.sub("", name[numbering.end() :] if numbering else name).casefold()


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


# What the file says of itself.

_NO_TITLE = re.compile(
    r"untitled\b.*|Microsoft (?:Word|Excel|PowerPoint)\b.*|.*\.(?:docx?|dvi|html?|indd|od[pst]|pdf|pptx?|ps|qxd|rtf|tex|xlsx?)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:D:)?([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})([0-9]{2})?(?:(Z)|([+-])([0-9]{2})'?([0-9]{2})?)?)?"
)


def _title(told: str, outline: Sequence[_Bookmark]) -> str:
    """The title that the file has, or else the one entry that holds all others; "" where there is neither."""
    if told and _WORDS.search(told) and not _NO_TITLE.fullmatch(told):
        return _short(told, _LONGEST_TITLE)
    outermost = [entry.name for entry in outline if entry.level == 1]
    return outermost[0] if len(outermost) == 1 else ""


def _meta(told: dict[str, str]) -> dict[str, str]:
    found = {"author": _short(told["Author"], _LONGEST_TITLE), "created": _created(told["CreationDate"])}
    return {key: value for key, value in found.items() if value}


def _created(told: str) -> str:
    """A date of PDF as ISO 8601 has it; "" where it is none."""
    found = _DATE.match(told)
    if not found:
        return ""
    year, month, day, hour, minute, second, utc, sign, hours, minutes = found.groups()
    try:
        moment = datetime(*(int(part or 0) for part in (year, month, day, hour, minute, second)))
        away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
        if utc or sign:
            moment = moment.replace(tzinfo=timezone(away))
    except ValueError:
        return ""
    return moment.isoformat() if hour else moment.date().isoformat()


def _notes(pages: Sequence[_Page]) -> Iterator[str]:
    pictures = [i + 1 for i, page in enumerate(pages) if page.is_picture]
    unread = [i + 1 for i, page in enumerate(pages) if not page.is_readable]
    if pictures:
        yield f"{_pages(pictures)} without text, as scanned ones have"
    if unread:
        yield f"{_pages(unread)} that cannot be read"


def _pages(numbers: Sequence[int]) -> str:
    told = ", ".join(map(str, numbers[:_TOLD_PAGES]))
    more = ", …" if len(numbers) > _TOLD_PAGES else ""
    return f"{len(numbers)} {'page' if len(numbers) == 1 else 'pages'} ({told}{more})"
