"""Text: decode the bytes of a file or a part of one, and find sections by patterns."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from recall_core.errors import IngestError
from recall_core.ingest.parse import is_markdown_name
from recall_core.ingest.parse.magic import kind_of
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from recall_core.shell import flag

_PROBE_BYTES = 8192  # a NUL here marks a file as binary, as in git

_CONTROLS = bytes((*range(8), 11, *range(14, 27), *range(28, 32), 127))  # rare in text
_ENOUGH = 64  # fewest bytes that allow a decision

_BOM = b"\xef\xbb\xbf"
_RESAVE = f"re-save it as UTF-8, or {flag('encoding')} NAME"


def decode(raw: bytes, *, path: str) -> str:
    """Decode UTF-8 bytes without their byte order mark. Line ends are unchanged.

    Raises IngestError `binary_file` for a NUL in the first 8 KiB, `not_utf8` with the offset of the first bad byte.
    Both name the kind of file if its first bytes identify it.
    """
    if b"\0" in raw[:_PROBE_BYTES]:
        raise why_binary(raw, path)
    try:
        return raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if raw.startswith(_BOM) else 0)
        known = _error_by_kind("not_utf8", raw, path, offset=offset)
        if known is None and _is_full_of_controls(raw[:_PROBE_BYTES]):
            message = f"{path} is a binary file: it has many control characters."
            raise IngestError("binary_file", message) from error
        raise known or IngestError(
            "not_utf8",
            f"{path} is not UTF-8: byte 0x{raw[offset]:02x} at offset {offset}.",
            hint=_RESAVE,
            details={"path": path, "offset": offset},
        ) from error


def why_binary(raw: bytes, path: str) -> IngestError:
    """Return the error for a file with a NUL byte, with its kind if its first bytes identify it."""
    message = f"{path} is a binary file: it has a NUL byte."
    return _error_by_kind("binary_file", raw, path) or IngestError("binary_file", message)


def _is_full_of_controls(head: bytes) -> bool:
    """Return True if there are more control characters than any text has. Compressed data has 1 in 10 bytes."""
    return len(head) >= _ENOUGH and len(head) - len(head.translate(None, _CONTROLS)) > len(head) / 16


def _error_by_kind(code: str, raw: bytes, path: str, **details: int) -> IngestError | None:
    """Return the error that names the kind of file; None if its first bytes do not identify it."""
    kind = kind_of(raw, path=path)
    if kind is None:
        return None
    is_text = kind.label.startswith("UTF-")
    message = f"{path} is {kind.name}, {'not UTF-8' if is_text else 'not text'}."
    hint = _RESAVE if is_text else None
    return IngestError(code, message, hint=hint, details={"path": path, **details, "kind": kind.label})


class Text:
    """Reads UTF-8 text. The title is a Markdown file's first heading, else the file's name."""

    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        markdown = is_markdown_name(path)
        title = (first_heading(text) if markdown else "") or path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), {}, outline_marks(text, markdown=markdown)),)


_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WIDER = {"ascii": "utf-8", "iso8859-1": "cp1252"}
"""Declared character sets that browsers and mail programs read as a wider one."""
_NO_TEXT = frozenset(("idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"))
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._-]{1,40})")


def decode_part(raw: bytes, charset: str | None) -> tuple[str, bool]:
    """Decode part of a file. Return the text, and True if every byte was valid; invalid bytes are replaced.

    charset: the declared character set; UTF-8 if unknown or None. A byte order mark overrides it.
    """
    bom, name = next((pair for pair in _BOMS if raw.startswith(pair[0])), (b"", _find_codec(charset)))
    raw = raw[len(bom) :]
    try:
        text, is_whole = raw.decode(name), True
    except UnicodeDecodeError:
        text, is_whole = raw.decode(name, "replace"), False
    except (LookupError, ValueError):  # a codec that does not produce text, or fails in its own way
        text, is_whole = raw.decode("utf-8", "replace"), False
    return text.encode("utf-8", "replace").decode().replace("\0", ""), is_whole


def declared_in_xml(raw: bytes) -> str | None:
    """Return the encoding from an XML declaration."""
    found = _DECLARED.match(raw[:400].lstrip())
    return found[1].decode("ascii") if found else None


def _find_codec(charset: str | None) -> str:
    try:
        name = codecs.lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if name in _NO_TEXT else _WIDER.get(name, name)


LONGEST_NAME = 120
"""Characters of a name, about as many as are displayed."""


def short(text: str, most: int = LONGEST_NAME) -> str:
    """Return the beginning of a text on one line, with an ellipsis if it is cut."""
    line = " ".join(text.lstrip()[: 8 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


_BLOCK_LEVEL = 7  # below every heading


def outline_marks(text: str, *, markdown: bool) -> tuple[Mark, ...]:
    """Return the marks of a text: Markdown marks, or else source code marks."""
    return markdown_marks(text) if markdown else source_marks(text)


def markdown_marks(text: str) -> tuple[Mark, ...]:
    """Return ATX and one-line setext headings, all of one level, and fenced code, up to the end if never closed."""
    marks: list[Mark] = []
    for kind, start, value in _marks(text):
        if kind == "block":
            marks += (Mark(start, "block", "", _BLOCK_LEVEL), Mark(int(value), "end", "", _BLOCK_LEVEL))
        else:
            marks.append(Mark(start, "heading", value))
    return tuple(marks)


def first_heading(text: str) -> str:
    """Return the first non-empty Markdown heading, or ""."""
    return next((value for kind, _, value in _marks(text) if kind == "heading" and value), "")


def source_marks(text: str) -> tuple[Mark, ...]:
    """Return a mark for each line that looks like a definition at column 0, after an empty line or at the top.

    A definition includes the comments and decorators directly above it, and ends where the next one begins.
    """
    opening = _DEFINITION.match(text)
    starts = [opening.start("definition")] if opening else []
    starts += [found.start("definition") for found in _LATER_DEFINITION.finditer(text)]
    return tuple(Mark(start, "definition") for start in starts)


_MARK = re.compile(
    r"^(?:[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"| {0,3}#{1,6}(?P<atx>[ \t][^\n]*|\r?$)"
    r"| {0,3}(?:=+|-{2,})(?P<under>[ \t\r]*)$)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:(?!---|\.\.\.)[^\n]*\n)*?(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)

_WORDS = "def|class|func|function|fn|struct|enum|trait|impl|interface|module|namespace"
_MODIFIERS = "export|default|public|private|protected|static|abstract|final|async|unsafe|inline|pub(?:\\([a-z]+\\))?"
_DEFINITION = re.compile(
    rf"(?P<definition>(?:(?:[@#*]|//|/\*| \*)[^\n]*\n)*(?:(?:{_MODIFIERS})[ \t]+)*(?:{_WORDS})[ \t]+[\w*(<$])"
)
_LATER_DEFINITION = re.compile(rf"\n[ \t\r]*\n{_DEFINITION.pattern}")


def _marks(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield ("heading", offset, title) and ("block", offset, end) in text order. Blocks contain no headings."""
    front = _FRONT_MATTER.match(text)
    fence, start = "", -1
    for mark in _MARK.finditer(text, front.end() if front else 0):
        found = mark["fence"]
        if fence:
            if found and found[0] == fence[0] and len(found) >= len(fence) and not mark["info"].strip():
                yield "block", start, str(min(len(text), mark.end() + 1))
                fence = ""
        elif found:
            if found[0] == "~" or "`" not in mark["info"]:
                fence, start = found, mark.start()
        elif mark["atx"] is not None:
            title = mark["atx"].strip()
            bare = title.rstrip("#")
            yield "heading", mark.start(), bare.rstrip() if not bare or bare[-1] in " \t" else title
        else:
            yield from _setext(text, mark.start())
    if fence:
        yield "block", start, str(len(text))


def _setext(text: str, underline: int) -> Iterator[tuple[str, int, str]]:
    """Yield the heading with this underline if it is a single line of text after an empty line."""
    start = text.rfind("\n", 0, max(0, underline - 1)) + 1
    title = text[start:underline].strip()
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].strip()
    if title and not above and title[0] not in "#>|-*+`~=":
        yield "heading", start, title
