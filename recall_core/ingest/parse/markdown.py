"""The Markdown parser: CommonMark headings as sections, with code and tables kept whole.

A pattern jumps to each line that could begin something. Such a line can be decided at once if no list or quote can
be open around it: its indent is at most one space, or the line above ended everything. Otherwise markdown-it reads
the stretch around it: from the last line before it at which nothing was open, to the next such line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from recall_core.ingest.parse.front_matter import NONE, front_matter
from recall_core.ingest.parse.markup import BLOCK_LEVEL, MOST, document, short_name, with_line_feeds
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LIMIT = 2 * 1024 * 1024
"""Total code points of one text for markdown-it. After that, patterns decide."""
LONGEST = 256 * 1024
"""Code points for markdown-it in one stretch."""


class Markdown:
    """Reads Markdown. The title is that of the front matter, else the first heading, else the file name."""

    version = 1
    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        front = front_matter(text) or NONE
        outline = MarkdownOutline(text, front.end)
        return document(raw, text, tuple(outline.marks), path=path, digest=digest, front=front, notes=outline.notes)


_LINE = re.compile(
    r"""\n(?=[ \t>*+\-.)0-9\#=<`~:|])(?:
      (?P<atx>\ {0,3}\#{1,6})(?P<title>[ \t][^\n]*+)?(?=\n|\Z)
    | (?P<underline>\ {0,3}(?:=++|-++)[ \t]*+(?=\n|\Z))
    | (?P<html>\ {0,3}<[A-Za-z/!?][^\n]*+)
    | (?P<fence>[ \t>*+\-.)0-9]*+(?:`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)[^\n]*+)
    | (?P<table>[ \t>]*+(?:-[-:|]|[:|][-:|\ \t])[-:|\ \t]*+(?=\n|\Z))
    )""",
    re.VERBOSE,
)
"""Lines that could begin or end a marked element."""
_FENCE = re.compile(r"( *+)(`++|~++)")
_CLOSING = re.compile(r"\n {0,3}(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_CLOSING_ANYWHERE = re.compile(r"\n[ \t]*+(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_EMPTY = re.compile(r"\n[ \t]*+(?=\n|\Z)")
_NEXT_FRESH = re.compile(r"\n(?:[ \t]*+\n ?[^ \t\n]| ?[-+*][ \t]++[^ \t\n])")
_FRESH = re.compile(r"\n ?(?:[-+*][ \t]++[^ \t\n]|(?P<other>[^ \t\n]))")
_DELIMITERS = re.compile(r" {0,3}\|(?:[ \t]*+:?-++:?[ \t]*+\|)++[ \t]*+")
_HEADER = re.compile(r" ?\|[^\\]*\|[ \t]*")
_ROWS = re.compile(r"(?:\n ?\|[^\n]*+)*+(?=\n[ \t]*+(?:\n|\Z)|\Z)")
_PLAIN_TITLE = re.compile(r" ?(?![0-9]{1,9}[.)](?:[ \t]|\Z))[^#>|\-*+`~=<\[_ \t][^|]*+")
_DEFINITION = re.compile(r"\n {0,3}\[([^\]\n]{1,200}+)\]:")


class MarkdownOutline:
    """Headings and blocks of a Markdown text. start: end of its front matter.

    Blocks are fences and tables, including those in lists and quotes. Headings in lists and quotes do not count.
    """

    def __init__(self, text: str, start: int) -> None:
        self.marks: list[Mark] = []
        self.notes: tuple[str, ...] = ()
        self._size = len(text)
        # `_lines` has one extra line end in front, so the line end before a line is at that line's text offset.
        self._lines = "\n" + with_line_feeds(text)
        self._fresh = start  # no list, quote or paragraph is open at the beginning of this line
        self._parsed_chars = 0
        self._definitions: Mapping[str, Any] | None = None
        if start:
            self._add_block(0, start)
        self._read()

    def _read(self) -> None:
        readers: dict[str | None, Callable[[re.Match[str]], int]] = {
            "atx": self._atx,
            "title": self._atx,
            "underline": self._underline,
            "html": self._html,
            "fence": self._fence,
            "table": self._table,
        }
        lines, position = self._lines, self._fresh
        while found := _LINE.search(lines, position):
            position = readers[found.lastgroup](found)

    def _atx(self, found: re.Match[str]) -> int:
        line, end = found.span()
        hashes = found["atx"].lstrip(" ")
        if not self._is_outermost(line, len(found["atx"]) - len(hashes)):
            return self._parse_stretch(found)
        self._add_heading(line, len(hashes), _without_closing(found["title"] or ""))
        return self._begin_at(end)

    def _underline(self, found: re.Match[str]) -> int:
        line, end = found.span()
        if line == self._fresh or not (above := self._line_above(line)).strip(" \t"):
            return end
        start = line - 1 - len(above)
        if _PLAIN_TITLE.fullmatch(above) and self._is_first(start):
            self._add_heading(start, 1 if "=" in found["underline"] else 2, above)
            return self._begin_at(end)
        return self._parse_stretch(found)

    def _fence(self, found: re.Match[str]) -> int:
        line, end = found.span()
        mark = _FENCE.match(found["fence"])
        if mark and self._is_outermost(line, len(mark[1])):
            return self._begin_at(self._add_block(line, self._find_closing(_CLOSING, mark[2], end)))
        return self._parse_stretch(found)

    def _html(self, found: re.Match[str]) -> int:
        line, end = found.span()
        content = found["html"].lstrip(" ")
        if not self._is_outermost(line, end - line - 1 - len(content)):
            return self._parse_stretch(found)
        from markdown_it.rules_block.html_block import HTML_SEQUENCES  # noqa: PLC0415 - slow import, rarely needed

        # start and end of HTML blocks, and whether they interrupt a paragraph
        kind = next((kind for kind in HTML_SEQUENCES if kind[0].match(content)), None)
        if kind is None:
            return end
        _, closing, interrupts = kind
        if not (interrupts or self._is_first(line)):
            return self._parse_stretch(found)
        if closing.search(""):
            empty = _EMPTY.search(self._lines, end)
            return self._begin_at(empty.start() if empty else self._size)
        if closing.search(content):
            return self._begin_at(end)
        closed = closing.search(self._lines, end)
        return self._begin_at(self._end_of_line(closed.end()) if closed else self._size)

    def _table(self, found: re.Match[str]) -> int:
        line, end = found.span()
        header = "" if line == self._fresh else self._line_above(line)
        if "|" not in header:
            return end
        start = line - 1 - len(header)
        is_plain = _HEADER.fullmatch(header) and _DELIMITERS.fullmatch(found["table"])
        if is_plain and self._is_first(start):
            if header.count("|") != found["table"].count("|"):
                return end
            if rows := _ROWS.match(self._lines, end):
                return self._begin_at(self._add_block(start, rows.end()))
        return self._parse_stretch(found)

    def _parse_stretch(self, found: re.Match[str]) -> int:
        """Have markdown-it read the stretch around a line. Return its end."""
        line, end = found.span()
        if self.notes:
            return self._read_alone(found)
        start = self._fresh_line_before(line)
        following = _NEXT_FRESH.search(self._lines, end)
        stop = self._lines.rindex("\n", 0, following.end()) if following else len(self._lines)
        self._parsed_chars += stop - start
        if self._parsed_chars > LIMIT or stop - start > LONGEST:
            number = self._lines.count("\n", 0, line + 1)
            note = f"from line {number} on, headings and code in lists and quotes are found by patterns only"
            self.notes = (note,)
            return self._read_alone(found)
        return self._begin_at(self._add_tokens(start, stop))

    def _add_tokens(self, start: int, stop: int) -> int:
        """Add the blocks that markdown-it finds in a stretch. Return its end, or the start of a block left open."""
        stretch = self._lines[start + 1 : stop + 1]
        tokens: list[Token] = []
        library = _library(_BLOCK_RULES)
        library.block.parse(stretch, library, {}, tokens)
        starts = [start]
        while (after := stretch.find("\n", starts[-1] - start)) >= 0:
            starts.append(start + 1 + after)
        starts.append(stop)
        last = (
            tokens.pop() if tokens and tokens[-1].type in ("fence", "html_block") and not tokens[-1].level else None
        )
        for i, token in enumerate(tokens):
            if token.map is None:
                continue
            begin, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
            if token.type in ("fence", "table_open"):
                self._add_block(begin, end)
            elif token.type == "heading_open" and not token.level:
                self._add_heading(begin, int(token.tag[1:]), tokens[i + 1].content)
        return starts[last.map[0]] if last and last.map else stop

    def _read_alone(self, found: re.Match[str]) -> int:
        """Read a line without its context. Return the end of its block."""
        line, end = found.span()
        if found["atx"]:
            self._add_heading(line, found["atx"].count("#"), _without_closing(found["title"] or ""))
        elif found["fence"] and (mark := _FENCE.match(found["fence"])):
            end = self._add_block(line, self._find_closing(_CLOSING_ANYWHERE, mark[2], end))
        return self._begin_at(end)

    def _begin_at(self, line: int) -> int:
        self._fresh = line
        return line

    def _add_heading(self, line: int, level: int, title: str) -> None:
        self.marks.append(Mark(line, "heading", markdown_name(title, self._labels), level))

    def _add_block(self, start: int, end: int) -> int:
        self.marks += (Mark(start, "block", "", BLOCK_LEVEL), Mark(min(end, self._size), "end", "", BLOCK_LEVEL))
        return end

    def _end_of_line(self, position: int) -> int:
        end = self._lines.find("\n", position)
        return len(self._lines) if end < 0 else end

    def _line_above(self, line: int) -> str:
        return self._lines[self._lines.rfind("\n", 0, line) + 1 : line]

    def _is_outermost(self, line: int, indent: int) -> bool:
        """Return True if a line with this indent cannot be in a list or quote."""
        return indent <= 1 or (line == self._fresh and indent <= 3)

    def _is_first(self, line: int) -> bool:
        """Return True if no paragraph is open above the line."""
        return line == self._fresh or not self._line_above(line).strip(" \t")

    def _find_closing(self, pattern: re.Pattern[str], mark: str, position: int) -> int:
        """Return the end of the fence that began with this mark."""
        for found in pattern.finditer(self._lines, position):
            if found[1][0] == mark[0] and len(found[1]) >= len(mark):
                return self._end_of_line(found.end())
        return self._size

    def _fresh_line_before(self, line: int) -> int:
        """Return the last line up to this one at which no list or quote was open."""
        while line > self._fresh:
            found = _FRESH.match(self._lines, line)
            if found and (not found["other"] or not self._line_above(line).strip(" \t")):
                return line
            line = self._lines.rfind("\n", 0, line)
        return self._fresh

    def _labels(self) -> Mapping[str, Any]:
        """Return every link label of the text; the targets do not matter."""
        if self._definitions is None:
            from markdown_it.common.utils import normalizeReference  # noqa: PLC0415 - slow import, rarely needed

            labels = (normalizeReference(found[1]) for found in _DEFINITION.finditer(self._lines))
            self._definitions = {label: {"href": "", "title": ""} for label in labels}
        return self._definitions


def _without_closing(title: str) -> str:
    """Return the title of a heading without its closing # signs."""
    title = title.rstrip(" \t")
    if not title.endswith("#"):
        return title
    bare = title.rstrip("#")
    return bare if bare[-1] in " \t" else title


_BLOCK_RULES = (
    *("table", "code", "fence", "blockquote", "hr"),
    *("list", "reference", "html_block", "heading", "lheading"),
)
_INLINE_RULES = (
    *("autolink", "backticks", "emphasis", "entity", "escape"),
    *("html_inline", "image", "link", "strikethrough"),
)


@cache
def _library(rules: tuple[str, ...]) -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - slow import, rarely needed

    return MarkdownIt("zero", {"html": True}).enable([*rules])


_MOST_LINKS = 20
"""Largest number of brackets in a title; with more, its markup stays."""

_SPECIAL = re.compile(r"[*\[\\<&~_]")
_SIMPLE = re.compile(
    r"(?<!`)`([^`]++)`(?!`)"  # code
    r"|!?\[((?:[^\[\]`*_\\<&~!]|`[^`\[\]]++`)*+)\]\([^()\s\\<>`]*+\)"  # a link or an image
)
_HAS_MARKUP = re.compile(r"[*\[`\\]|<[A-Za-z/!?]|&[#A-Za-z]|~~|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*[#.][^{}]*\}\Z")


def markdown_name(title: str, definitions: Callable[[], Mapping[str, Any]]) -> str:
    """Return a Markdown title without emphasis, code ticks, links, HTML and trailing attributes.

    definitions: returns the text's link definitions by normalised label.
    """
    title = title[:MOST]
    if title.endswith("}"):
        found = _ATTRIBUTES.search(title, title.rfind("{"))
        title = title[: found.start()] if found else title
    if not _SPECIAL.search(title) and "``" not in title and not title.count("`") % 2:
        return short_name(title.replace("`", ""))
    pieces = _SIMPLE.split(title)  # in threes: text, code, link text
    if not _HAS_MARKUP.search(" ".join(pieces[::3])):
        pieces[2::3] = [words.replace("`", "") if words else "" for words in pieces[2::3]]
        return short_name("".join(filter(None, pieces)))
    if title.count("[") > _MOST_LINKS:
        return short_name(title)
    environment = {"references": definitions()} if "[" in title else {}
    library = _library(_INLINE_RULES)
    return short_name("".join(_texts(library.inline.parse(title, library, environment, []))))


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the text of inline tokens, including the alt text of images."""
    waiting = [*tokens][::-1]
    while waiting:
        token = waiting.pop()
        if token.type in ("text", "text_special", "code_inline"):
            yield token.content
        elif token.type == "image":
            waiting += (token.children or [])[::-1]
