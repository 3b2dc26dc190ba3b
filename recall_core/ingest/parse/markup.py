"""Markup read line by line: its lines and blocks, the names of its headings, and the document of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from recall_core.ingest.parse.front_matter import NONE, FrontMatter, Value, sorted_out
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def document(
    raw: bytes,
    text: str,
    marks: tuple[Mark, ...],
    *,
    path: str,
    digest: str,
    front: FrontMatter = NONE,
    said: Mapping[str, Value] | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[ParsedDocument, ...]:
    """Return the one document of a file. said: by key, what the markup itself says of it, where the front matter does
    not.

    The title is that of the front matter, else that of `said`, else the first heading with a name, else the file's
    name.
    """
    title, tags, meta = sorted_out(said or {})
    title = front.title or title or next((mark.name for mark in marks if mark.name), "") or path.rpartition("/")[2]
    return (
        ParsedDocument(
            None,
            text,
            title,
            digest,
            len(raw),
            {**meta, **front.meta},
            marks,
            tags=tuple(dict.fromkeys((*front.tags, *tags))),
            notes=(*front.notes, *notes),
        ),
    )


BLOCK_LEVEL = 7
"""Below every heading."""
DEEPEST_HEADING = 6


class MarkupBlock(NamedTuple):
    """A half-open stretch of a text that stays whole where it fits; blocks may hold blocks."""

    start: int
    end: int


def marks_of(headings: Iterable[Mark], blocks: Iterable[MarkupBlock]) -> tuple[Mark, ...]:
    """Return the marks of headings and blocks, in text order; a block in a block is one level deeper."""
    marks = [*headings]
    open_ends: list[int] = []
    for block in sorted(blocks, key=lambda each: (each.start, -each.end)):
        while open_ends and open_ends[-1] <= block.start:
            open_ends.pop()
        level = BLOCK_LEVEL + len(open_ends)
        marks += (Mark(block.start, "block", "", level), Mark(block.end, "end", "", level))
        open_ends.append(block.end)
    return tuple(sorted(marks, key=_order))


def _order(mark: Mark) -> tuple[int, int]:
    """Return of one offset first what ends there, the innermost first, then what begins, the outermost first."""
    return mark.offset, -mark.level if mark.kind == "end" else mark.level


class MarkupLine(NamedTuple):
    """A line of a text without its line end. start, end: its offsets, the line end included."""

    start: int
    end: int
    text: str


def lines_of(text: str, start: int = 0) -> Iterator[MarkupLine]:
    """Yield the lines of a text from an offset on. Blanks at its end are no part of a line's text."""
    text = with_line_feeds(text)
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield MarkupLine(start, end, text[start:end].rstrip())
        start = end


def with_line_feeds(text: str) -> str:
    """Return the text with LF in the place of CR, and blank and LF of CR LF: every offset stays."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


LONGEST = 120
"""Code points of a name; a longer one is cut."""
_MOST = 500
"""Code points of a title that are looked at."""

_MOST_LINKS = 20
"""Brackets of a Markdown title that are looked at; with more of them it stays as it is."""

Definitions: TypeAlias = Callable[[], Mapping[str, Any]]
"""Gives the link definitions of a Markdown text, by their normalised label."""


def short_name(text: str) -> str:
    """Return the text on one line, white space collapsed, cut where it is longer than a name should be."""
    name = " ".join(text[:_MOST].split())
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"


_SPECIAL = re.compile(r"[*\[\\<&~_]")
_SIMPLE = re.compile(
    r"(?<!`)`([^`]++)`(?!`)"  # code
    r"|!?\[((?:[^\[\]`*_\\<&~!]|`[^`\[\]]++`)*+)\]\([^()\s\\<>`]*+\)"  # a link or an image
)
_MARKED = re.compile(r"[*\[`\\]|<[A-Za-z/!?]|&[#A-Za-z]|~~|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*[#.][^{}]*\}\Z")


def markdown_name(title: str, definitions: Definitions) -> str:
    """Return a Markdown title without emphasis, code ticks, links and HTML, and without attributes at its end."""
    title = title[:_MOST]
    if title.endswith("}"):
        found = _ATTRIBUTES.search(title, title.rfind("{"))
        title = title[: found.start()] if found else title
    if not _SPECIAL.search(title) and "``" not in title and not title.count("`") % 2:
        return short_name(title.replace("`", ""))
    pieces = _SIMPLE.split(title)  # in threes: text, code, words of a link
    if not _MARKED.search(" ".join(pieces[::3])):
        pieces[2::3] = [words.replace("`", "") if words else "" for words in pieces[2::3]]
        return short_name("".join(filter(None, pieces)))
    if title.count("[") > _MOST_LINKS:
        return short_name(title)
    environment = {"references": definitions()} if "[" in title else {}
    library = _inline()
    return short_name("".join(_texts(library.inline.parse(title, library, environment, []))))


_EMPHASIS = r"(?<![\w%(m)s])%(m)s(?=\S)([^%(m)s\n]{0,200}[^\s%(m)s])%(m)s(?![\w%(m)s])"
"""Words between two marks, the marks not in a word."""


def _emphasis(marks: str) -> list[re.Pattern[str]]:
    return [re.compile(_EMPHASIS % {"m": re.escape(mark)}) for mark in marks]


def _apply_patterns(title: str, patterns: Iterable[re.Pattern[str]]) -> str:
    """Return the title with every match put down to the last group that it has."""
    title = title[:_MOST]
    for pattern in patterns:
        title = pattern.sub(lambda found: found[found.lastindex or 0], title)
    return short_name(title)


_RST = [
    re.compile(r"``([^`\n]+)``"),
    re.compile(r"(?::[\w:+.-]{1,40}:)?`([^`<\n]*[^`<\s])[ ]*(?:<[^`>]*>)?`_{0,2}"),
    re.compile(r"\*\*([^*\n]+)\*\*"),
    re.compile(r"(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])"),
    re.compile(r"(?<![\w|])\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}(?![\w|])"),
    re.compile(r"(?<![\w.-])([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)__?(?=[\s'\")\]}>/:.,;!?-]|\Z)"),
    re.compile(r"\\(.)"),
]


def rst_name(title: str) -> str:
    """Return a reStructuredText title without emphasis, roles, targets of links and backslashes."""
    return _apply_patterns(title, _RST) if _RST_MARKED.search(title) else short_name(title)


_RST_MARKED = re.compile(r"[`*|\\]|_(?!\w)")

_ASCIIDOC = [
    re.compile(r"\[\[[^\[\]]*\]\]()"),
    re.compile(r"<<[^<>,]*+,[ ]*+([^<>]*+)>>"),
    re.compile(r"<<([^<>,]*)>>"),
    re.compile(r"(?<!\w)(?:link|xref|mailto|kbd|btn|footnote):[^\s\[\]]{0,200}\[([^\]]*)\]"),
    re.compile(r"(?<!\w)https?://[^\s\[\]]{1,200}\[([^\]]+)\]"),
    re.compile(r"(?<!\w)(?:image|icon):[^\s\[\]]{0,200}\[[^\]]*\]()"),
    *_emphasis("`*_#"),
    re.compile(r"([`*_#])\1(?=\S)([^`*_#\n]+)\1\1"),
]


def asciidoc_name(title: str) -> str:
    """Return an AsciiDoc title without emphasis, anchors, and macros other than their text."""
    return _apply_patterns(title, _ASCIIDOC) if _ASCIIDOC_MARKED.search(title) else short_name(title)


_ASCIIDOC_MARKED = re.compile(r"[\[<`*_#]")

_ORG = [
    re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]"),
    re.compile(r"\[\[([^\[\]]*)\]\]"),
    re.compile(r"<<<?([^<>]*)>>>?"),
    *_emphasis("=~*/_+"),
]


def org_name(title: str) -> str:
    """Return an Org title without emphasis and the targets of links."""
    return _apply_patterns(title, _ORG) if _ORG_MARKED.search(title) else short_name(title)


_ORG_MARKED = re.compile(r"[\[<=~*/_+]")


@cache
def _inline() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - most texts have no such title

    rules = ["autolink", "backticks", "emphasis", "entity", "escape", "html_inline", "image", "link", "strikethrough"]
    return MarkdownIt("zero", {"html": True}).enable([*rules])


def _texts(tokens: Iterable[Token]) -> Iterable[str]:
    """Yield what is to be read of inline tokens, the words for an image among them."""
    waiting = [*tokens][::-1]
    while waiting:
        token = waiting.pop()
        if token.type in ("text", "text_special", "code_inline"):
            yield token.content
        elif token.type == "image":
            waiting += (token.children or [])[::-1]
