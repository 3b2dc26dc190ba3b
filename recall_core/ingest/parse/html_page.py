"""The HTML parser: a page becomes its visible text, each stretch of which knows its bytes of the file."""

from __future__ import annotations

from recall_core.ingest.parse.flow import NEAR, TextFlow
from recall_core.ingest.parse.html_text import HtmlReader
from recall_core.ingest.parse.text import decode
from recall_core.marks import ANCHOR, Mark
from recall_core.ports import ParsedDocument

MOST_ANCHORS = 10_000
"""Of one page. One with more, such as a listing with an id a line, is cited by its bytes."""


class HtmlPage:
    """Reads HTML and XHTML. The title is that of the page, else its first h1, else the file's name."""

    version = 2
    reads = "text"
    is_verbatim = False
    is_foreign = False

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file.  Raises IngestError `too_deep`, and what a text does that is none."""
        source = decode(raw, path=path)
        flow = TextFlow()
        reader = HtmlReader(flow, path=path, is_xml=is_xhtml(source, path), has_places=True)
        reader.read(source)
        head, text = reader.head, flow.text()
        title = head.title or head.first_heading or path.rpartition("/")[2]
        marks = _with_fit_anchors(flow.marked(ByteOffsets(source).at))
        notes = () if text else ("it has no visible text",)
        return (
            ParsedDocument(
                None, text, title, digest, len(raw), head.meta(), marks, tags=tuple(head.tags), notes=notes
            ),
        )


def _with_fit_anchors(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Return the marks with one anchor of each name, or without any if they are too many.

    A heading repeats the anchor of the element around it, which begins shortly before it.
    """
    anchors: dict[str, Mark] = {}
    for mark in marks:
        if mark.kind == ANCHOR:
            anchors.setdefault(mark.name, mark)
    is_few = len(anchors) <= MOST_ANCHORS
    return tuple(mark for mark in marks if mark.kind != ANCHOR or (is_few and _repeats(mark, anchors[mark.name])))


def _repeats(anchor: Mark, first: Mark) -> bool:
    return anchor.level == first.level and anchor.offset - first.offset <= NEAR


def is_xhtml(source: str, path: str) -> bool:
    """Whether the page is XML, where `<title/>` is a whole element."""
    return source.lstrip().startswith("<?xml") or path.lower().endswith((".xhtml", ".xht"))


class ByteOffsets:
    """Turns positions in a text, asked for in increasing order, into byte offsets of its UTF-8."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._is_ascii = source.isascii()
        self._position = self._bytes = 0

    def at(self, position: int) -> int:
        """The byte offset of that code point."""
        if self._is_ascii:
            return position
        self._bytes += len(self._source[self._position : position].encode())
        self._position = position
        return self._bytes
