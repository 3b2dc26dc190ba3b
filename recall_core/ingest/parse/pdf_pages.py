"""The pages of a PDF made into one text with its marks; what belongs to the paper alone is left out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recall_core.marks import Mark

_LONGEST_NAME = 120
_LONGEST_LINE = 300  # that may be a title


class Bookmark(NamedTuple):
    """An entry of the outline. level: from 1.  page: from 0."""

    name: str
    level: int
    page: int


_SPECIAL = re.compile("\rc\\b|[-\u2010\xad]\n|[\0-\x08\x0b-\x1f\x7f-\x9f\xad\ufb00-\ufb06\ufeff\ufffe\uffff]")
_PLAIN = dict(zip("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06\x88", "ff fi fl ffi ffl st st •".split(), strict=True))
_PLAIN["\rc"] = "©"  # TeX sets it as a circle around a c
_OLD_TEX = {"\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl"}
"""Where fonts of TeX have ligatures, in files that do not say so: they are such within a word."""
_HYPHENS = ("\x02", "\ufffe")
"""PDFium's, for a hyphen with the line end behind it."""


def lines_of(text: str) -> list[str]:
    """The lines of a page, without hyphens at their ends, ligatures, and what is no character."""
    text = _SPECIAL.sub(_plain, text.replace("\r\n", "\n")).strip()
    return [line.rstrip() for line in text.split("\n")] if text else []


def on_one_line(text: str) -> str:
    """A name, cleaned likewise."""
    return " ".join(_SPECIAL.sub(_plain, text.replace("\r", " ")).split())


def _plain(found: re.Match[str]) -> str:
    """What stands for a character, or for a hyphen at the end of a line."""
    text, what = found.string, found[0]
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if what in _HYPHENS or what.endswith("\n"):
        kept = "-" if what in _HYPHENS else what.replace("\xad", "")
        return "" if before.isalpha() and after.islower() else kept
    if what in _OLD_TEX and (after.islower() or before.islower()):
        return _OLD_TEX[what] if after.islower() or what in "\x0b\x0c" else ""
    return _PLAIN.get(what, "")


_LEAST_PAGES = 5
_SHARE = 0.6
_EDGE = 2  # lines at the top, and as many at the bottom
_LONGEST_RUNNING = 200
_NUMBER = re.compile(r"[0-9]+")
_AT_ENDS = re.compile(r"^[^\w]*([0-9]+)\b|\b([0-9]+)[^\w]*$")

_Running = frozenset[tuple[str, int]]
"""What lines that repeat have in common, each with the side (0, 1) of the sheet on which they do."""


def without_running(pages: list[list[str]], outline: Iterable[Bookmark] = ()) -> list[list[str]]:
    """The pages without the lines at their edges that most pages have, or most left or most right ones.

    A page that has no others keeps them: where all pages are alike, they are the text. So does a line that the
    outline names.
    """
    running = _running(pages)
    if not running:
        return pages
    titles: dict[int, set[str]] = {}
    for entry in outline:
        titles.setdefault(entry.page, set()).add(_key(entry.name))
    return [_stripped(lines, i, running, titles.get(i, set())) or lines for i, lines in enumerate(pages)]


def _running(pages: list[list[str]]) -> _Running:
    both: Counter[str] = Counter()
    one: Counter[tuple[str, int]] = Counter()
    beside: Counter[str] = Counter()
    for i, lines in enumerate(pages):
        inside = lines[_EDGE:-_EDGE]
        outer = _patterns(lines[:_EDGE], i, "^") | _patterns(lines[_EDGE:][-_EDGE:], i, "$")
        both.update(outer)
        one.update((each, i % 2) for each in outer)
        beside.update(_patterns(inside[:_EDGE], i, "^") | _patterns(inside[-_EDGE:], i, "$"))
    sides = [sum(1 for lines in pages[side::2] if lines) for side in (0, 1)]
    return frozenset(
        (each, side)
        for each, side in one
        if (_is_most(both[each], sum(sides)) or _is_most(one[each, side], sides[side]))
        and beside[each] * 2 < both[each]  # else it is a row of a table
    )


def _is_most(count: int, pages: int) -> bool:
    return pages >= _LEAST_PAGES and count >= _SHARE * pages


def _patterns(lines: Sequence[str], i: int, edge: str) -> set[str]:
    """What lines at an edge of a page may have in common with those of other pages."""
    fitting = [line for line in lines if len(line) <= _LONGEST_RUNNING]
    return {each for line in fitting for each in (_masked(line, edge), *_distances(line, i, edge)) if each}


def _masked(line: str, edge: str) -> str:
    """A line without its numbers; "" where it has nothing else."""
    return edge + _NUMBER.sub("#", line) if any(map(str.isalpha, line)) else ""


def _distances(line: str, i: int, edge: str) -> list[str]:
    """How far the numbers at its ends are from the page's own: a page's number keeps its distance."""
    return [f"{edge}{int(first or last) - i}" for first, last in _AT_ENDS.findall(line)]


def _stripped(lines: list[str], i: int, running: _Running, titles: set[str]) -> list[str]:
    top = _repeating(lines[:_EDGE], i, "^", running, titles)
    bottom = _repeating(lines[top:][-_EDGE:][::-1], i, "$", running, titles)
    return lines[top : len(lines) - bottom]


def _repeating(lines: Sequence[str], i: int, edge: str, running: _Running, titles: set[str]) -> int:
    """How many of the lines repeat, from the first on; the page has its number but once."""
    is_numbered = False
    for count, line in enumerate(lines):
        if len(line) > _LONGEST_RUNNING or (titles and _key(line) in titles):
            return count
        has_number = any((each, i % 2) in running for each in _distances(line, i, edge))
        if (_masked(line, edge), i % 2) not in running and (is_numbered or not has_number):
            return count
        is_numbered |= has_number
    return len(lines)


def laid_out(pages: Sequence[Sequence[str]]) -> tuple[str, list[int]]:
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


_NUMBERING = re.compile(
    r"(?:(?i:appendix|chapter|part|section)\s+)?(?:(?:[0-9]+|[A-Z]|[IVXLC]+)(?:\.[0-9]+)*[.:]?\s+)+"
)
_NO_LETTER = re.compile(r"[\W_]+")


def marks_of(outline: Iterable[Bookmark], pages: Sequence[Sequence[str]], offsets: Sequence[int]) -> tuple[Mark, ...]:
    """Pages, and the outline: each entry at the line that it names, or where its page begins, or the last one there.

    offsets: where the pages begin.
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
        marks.append(Mark(reached, "heading", shortened(entry.name, _LONGEST_NAME), min(entry.level, 6)))
    return tuple(sorted(marks, key=lambda mark: mark.offset))


_LOOKED_AT = 500  # lines of a page
_LEAST_KEY = 4
_LONG_KEY = 20


class _PageLines:
    """Where the lines of one page begin, by what is compared of them."""

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
        """The first line from there on that is the title, alone or with the next one; else one that begins with it,
        or that it begins with."""
        whole = self._whole.get(key, ())
        i = bisect_left(whole, least)
        if i < len(whole):
            return whole[i]
        if len(key) < _LEAST_KEY:
            return None
        begun = (
            offset
            for offset, line in self._first
            if offset >= least and (line.startswith(key) or (len(line) > _LONG_KEY and key.startswith(line)))
        )
        return next(begun, None)


def _key(name: str) -> str:
    numbering = _NUMBERING.match(name)
    return _NO_LETTER.sub("", name[numbering.end() :] if numbering else name).casefold()


def shortened(name: str, most: int) -> str:
    """The name, or the beginning of a longer one."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
