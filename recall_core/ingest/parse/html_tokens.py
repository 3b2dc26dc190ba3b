"""Tags and text of HTML as browsers tell them apart, in one pass whose time is proportional to the length.

The standard library's parser reads the same file differently from one bug-fix release of Python to the next, and
older ones take quadratic time for some files; a text that is stored and cited by offset can afford neither.
"""

from __future__ import annotations

import re
from html import unescape

_SPACE = r"\t\n\f\r "
_MARKUP = (
    rf"<(?:(/?)([a-zA-Z][^{_SPACE}/>]*+)"
    rf"((?:[^>=]++|=[{_SPACE}]*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^{_SPACE}>]*+))*+)(>?)"
    r"|[!?/])"
)
_TEXT = "[^<]++|<(?![a-zA-Z!?/])"
_STYLES = "a|abbr|b|big|cite|code|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var"
_NO_PERMALINK = r"(?!class=\"[^\"]*headerlink)"
_HARMLESS = rf"(?:[{_SPACE}]++(?:href|(?![aAhHsS]){_NO_PERMALINK}[A-Za-z][\w:.-]*+)=\"[^\"]*+\")*+"  # hides nothing
_SIGN = rf"[{_SPACE}]*+(?:[¶§]|&(?:para|sect|\#182|\#167);|\#)[{_SPACE}]*+</[aA][{_SPACE}]*+>"
_STYLE = rf"<(?<!\r<)(?:/(?:{_STYLES})|(?:{_STYLES}){_HARMLESS})[{_SPACE}]*+/?+>(?!{_SIGN})"

TOKEN = re.compile(rf"((?:{_TEXT})*+)(?:{_MARKUP})?+")
"""Text and what ends it, as (text, "/" of an end, name, attributes as they stand there, ">" where it is closed).

There is no name at the end of the source, and where `after_declaration` has to say what begins there. What is never
closed, a tag or a quoted value, swallows the rest, as in browsers. It matches anywhere.
"""
STYLED = re.compile(rf"((?:{_TEXT}|{_STYLE})*+)(?:{_MARKUP})?+")
"""The same, with tags in the text that only style letters, where they are plainly written. One that stands behind a
carriage return is none of them: with a line feed behind it, the two would become one end of a line."""
_STYLE_TAG = re.compile(_STYLE)
SIGN = re.compile(_SIGN)
"""The rest of a link that holds nothing but the sign of a permalink."""

_COMMENT_END = re.compile("--!?>")
_RAW = ("script", "style", "iframe", "noembed", "noframes", "textarea", "title")
RAW_END = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE) for name in _RAW}
"""Elements that hold text alone, whatever it looks like, and where it ends."""
_ATTRIBUTE = re.compile(
    rf"([^{_SPACE}/>=][^{_SPACE}/>=]*+)(?:[{_SPACE}]*+=[{_SPACE}]*+(\"[^\"]*+\"|'[^']*+'|[^{_SPACE}>]*+))?"
)
_LONG_NUMBER = re.compile("&#([0-9]{8,}+)")  # which Python refuses to read from some length on


def text_of(styled: str) -> str:
    """The text of `STYLED`, unescaped. What stands around a tag is not read as one, because it is a NUL meanwhile."""
    return unescaped(_STYLE_TAG.sub("\0", styled) if "<" in styled else styled)


def after_declaration(source: str, at: int, *, is_xml: bool) -> tuple[int, tuple[int, int] | None]:
    """Where what begins with <!, <? or </ and is no tag ends, and the bounds of the CDATA that it is, if it is."""
    size = len(source)
    if source.startswith("<!--", at):
        end = _COMMENT_END.search(source, at + 2)
        return end.end() if end else size, None
    if is_xml and source.startswith("<![CDATA[", at):
        until = source.find("]]>", at)
        until = size if until < 0 else until
        return min(size, until + 3), (at + 9, until)
    close = source.find(">", at)
    if is_xml and source.startswith("<!DOCTYPE", at) and "[" in source[at:close]:
        bracket = source.find("]", at)
        close = source.find(">", bracket) if bracket >= 0 else -1
    return close + 1 or size, None


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
