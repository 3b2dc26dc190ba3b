"""Tags and text of HTML as browsers tell them apart, in one pass whose time is proportional to the length.

The standard library's parser reads the same file differently from one bug-fix release of Python to the next, and
older ones take quadratic time for some files; a text that is stored and cited by offset can afford neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

TEXT, START, END, TITLE = range(4)

_SPACE = r"\t\n\f\r "
_MARKUP = re.compile(
    rf"<(?:(/?)([a-zA-Z][^{_SPACE}/>]*+)"
    rf"((?:[^>=]++|=[{_SPACE}]*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^{_SPACE}>]*+))*+)(>?)"
    r"|[!?/])"
)
_COMMENT_END = re.compile("--!?>")
_RAW = ("script", "style", "iframe", "noembed", "noframes", "textarea", "title")
_RAW_END = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE) for name in _RAW}
_ATTRIBUTE = re.compile(
    rf"([^{_SPACE}/>=][^{_SPACE}/>=]*+)(?:[{_SPACE}]*+=[{_SPACE}]*+(\"[^\"]*+\"|'[^']*+'|[^{_SPACE}>]*+))?"
)
_LONG_NUMBER = re.compile("&#([0-9]{8,}+)")  # which Python refuses to read from some length on


Token = tuple[int, str, int, int, str]
"""A piece of source[at:until], as (kind, name, at, until, rest). kind: TEXT, START, END or TITLE.

rest: of a start, its attributes as they stand there; of text and of the title, its source.
"""


def tokens(source: str, *, is_xml: bool) -> Iterator[Token]:
    """Text and tags in order, without comments and what scripts, styles and frames hold.

    is_xml: an element that ends with `/>` has no content, and CDATA is text. What is never closed, a comment or a
    quoted value, swallows the rest, as in browsers.
    """
    position, size = 0, len(source)
    search = _MARKUP.search
    while position < size:
        found = search(source, position)
        at = found.start() if found else size
        if at > position:
            yield TEXT, "", position, at, source[position:at]
        if not found:
            return
        is_end, name, rest, close = found.groups()
        if name is None:
            inner, position = _declared(source, at, is_xml=is_xml)
            if inner:
                yield inner
            continue
        if not close:
            return
        name, position = name.lower(), found.end()
        if is_end:
            yield END, name, at, position, ""
        elif name not in _RAW_END or (is_xml and rest.endswith("/")):
            yield START, name, at, position, rest
        else:
            end = _RAW_END[name].search(source, position)
            until = end.start() if end else size
            if name == "title":
                yield TITLE, name, position, until, source[position:until]
            position = source.find(">", until) + 1 or size


def _declared(source: str, at: int, *, is_xml: bool) -> tuple[Token | None, int]:
    """What begins with <!, <? or </ and is no tag: the text of it, if any, and where it ends."""
    size = len(source)
    if source.startswith("<!--", at):
        end = _COMMENT_END.search(source, at + 2)
        return None, end.end() if end else size
    if is_xml and source.startswith("<![CDATA[", at):
        end_at = source.find("]]>", at)
        end_at = size if end_at < 0 else end_at
        inner = source[at + 9 : end_at].replace("&", "&amp;")
        return (TEXT, "", at + 9, end_at, inner), min(size, end_at + 3)
    close = source.find(">", at)
    if is_xml and source.startswith("<!DOCTYPE", at) and "[" in source[at:close]:
        bracket = source.find("]", at)
        close = source.find(">", bracket) if bracket >= 0 else -1
    return None, close + 1 or size


def attributes(rest: str) -> dict[str, str]:
    """The attributes of a tag by their names in lower case; of two of one name the first."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(rest):
        bare = value[1:-1] if value[:1] in ("'", '"') and value else value
        found.setdefault(name.lower(), unescaped(bare))
    return found


def unescaped(text: str) -> str:
    """The text with its character references resolved, without NUL and soft hyphens."""
    if "&" in text:
        text = unescape(_LONG_NUMBER.sub(_shortened, text) if "&#" in text else text)
    if "\xad" in text or "\0" in text:
        text = text.replace("\xad", "").replace("\0", "")
    return text


def _shortened(number: re.Match[str]) -> str:
    return f"&#{number[1].lstrip('0')[:8] or '0'}"
