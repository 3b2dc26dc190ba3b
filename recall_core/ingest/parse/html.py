"""HTML: extract a page's visible text, with the place in the file of each stretch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, NamedTuple

from recall_core.errors import IngestError
from recall_core.ingest.parse.flow import LINE, NEAR, PARAGRAPH, Opened, TextFlow, short_name
from recall_core.ingest.parse.text import decode
from recall_core.marks import ANCHOR, Mark
from recall_core.ports import ParsedDocument

MOST_ANCHORS = 10_000
"""Limit of anchors for one page. A page with more, such as a listing with an id per line, is cited by bytes."""


class HtmlPage:
    """Reads HTML and XHTML. The title is the page's title, else its first h1, else the file name."""

    version = 3
    reads = "text"
    is_verbatim = False
    is_foreign = False

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `too_deep`, `binary_file` and `not_utf8`."""
        source = decode(raw, path=path)
        flow = TextFlow()
        reader = HtmlReader(flow, path=path, is_xml=is_xhtml(source, path), has_places=True)
        reader.read(source)
        head, text = reader.head, flow.text()
        title = head.title or head.first_heading or path.rpartition("/")[2]
        marks = _with_fit_anchors(flow.marks_with_places(ByteOffsets(source).at))
        notes = () if text else ("no visible text",)
        meta, tags = head.meta(), tuple(head.tags)
        return (ParsedDocument(None, text, title, digest, len(raw), meta, marks, tags=tags, notes=notes),)


def _with_fit_anchors(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Return the marks with one anchor per name; without anchors if there are too many.

    A heading repeats the anchor of an element around it that begins shortly before.
    """
    anchors: dict[str, Mark] = {}
    for mark in marks:
        if mark.kind == ANCHOR:
            anchors.setdefault(mark.name, mark)
    is_few = len(anchors) <= MOST_ANCHORS

    def is_fit(anchor: Mark) -> bool:
        first = anchors[anchor.name]
        return is_few and anchor.level == first.level and anchor.offset - first.offset <= NEAR

    return tuple(mark for mark in marks if mark.kind != ANCHOR or is_fit(mark))


def is_xhtml(source: str, path: str) -> bool:
    """Return True if the page is XML, where `<title/>` is a complete element."""
    return source.lstrip().startswith("<?xml") or path.lower().endswith((".xhtml", ".xht"))


class ByteOffsets:
    """Converts positions in a text, given in increasing order, to byte offsets in its UTF-8."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._is_ascii = source.isascii()
        self._position = self._bytes = 0

    def at(self, position: int) -> int:
        """Return the byte offset of this code point."""
        if self._is_ascii:
            return position
        self._bytes += len(self._source[self._position : position].encode())
        self._position = position
        return self._bytes


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
"""Text and the markup that ends it: (text, "/" of an end tag, name, attributes as written, ">" if closed).

The name is missing at the end of the source, and where `after_declaration` must decide what begins. As in browsers,
an unclosed tag or quoted value swallows the rest. It matches at any position.
"""
STYLED = re.compile(rf"((?:{_TEXT}|{_STYLE})*+)(?:{_MARKUP})?+")
"""Like `TOKEN`, but the text may include plainly written inline style tags. A tag between a carriage return and a
line feed is excluded: the two would become one line end."""
_STYLE_TAG = re.compile(_STYLE)
SIGN = re.compile(_SIGN)
"""The rest of a link that contains only a permalink sign."""

_COMMENT_END = re.compile("--!?>")
_RAW = ("script", "style", "iframe", "noembed", "noframes", "textarea", "title")
RAW_END = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE) for name in _RAW}
"""Elements whose content is text only, and the pattern that ends it."""
_ATTRIBUTE = re.compile(
    rf"([^{_SPACE}/>=][^{_SPACE}/>=]*+)(?:[{_SPACE}]*+=[{_SPACE}]*+(\"[^\"]*+\"|'[^']*+'|[^{_SPACE}>]*+))?"
)
_LONG_NUMBER = re.compile("&#([0-9]{8,}+)")  # Python refuses to parse numbers beyond a certain length


def text_of(styled: str) -> str:
    """Return the unescaped text of a `STYLED` match."""
    # NUL replaces each tag, so that the text around it is not read as one reference
    return unescape_text(_STYLE_TAG.sub("\0", styled) if "<" in styled else styled)


def after_declaration(source: str, at: int, *, is_xml: bool) -> tuple[int, tuple[int, int] | None]:
    """Return the end of a comment, declaration or broken tag (<!, <?, </), and the bounds of its CDATA, if any."""
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
    """Return the attributes of a tag by lower-case name. If a name repeats, the first counts."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(rest):
        bare = value[1:-1] if value[:1] in ("'", '"') and value else value
        found.setdefault(name.lower(), unescape_text(bare))
    return found


def unescape_text(text: str) -> str:
    """Return the text with character references resolved, without NUL and soft hyphens."""
    if "&" in text:
        if "&#" in text:
            text = _LONG_NUMBER.sub(lambda number: f"&#{number[1].lstrip('0')[:8] or '0'}", text)
        text = unescape(text)
    if "\xad" in text or "\0" in text:
        text = text.replace("\xad", "").replace("\0", "")
    return text


GENERAL, TABLE, LIST = range(3)
"""Scopes that limit the search for an open element: by an end tag, or by an element that closes another."""


class Element(NamedTuple):
    """An element other than inline style. gap: separator from the text around it, "" for none."""

    gap: str = ""
    role: str = ""
    scope: int = GENERAL
    closes: tuple[str, ...] = ()
    """Elements in its scope that this element ends when it begins."""
    closes_p: bool = False
    opens: tuple[int, ...] = ()
    """Scopes that begin with this element."""


HEADINGS = {f"h{level}": level for level in range(1, 7)}

VOID = frozenset(
    """area base basefont bgsound br col command embed frame hr img input keygen link meta param source track
    wbr""".split()
)
UNSEEN = frozenset(
    """annotation annotation-xml audio button canvas datalist dialog meter nav noscript progress rp rt rtc script
    select style svg template textarea title video""".split()
)
"""Elements that are dropped with their content."""

ANNOTATIONS = ("rt", "rp", "rtc")
"""Reading aids for the text of a `<ruby>`, such as furigana. Their end tags may be missing."""
_ENDED_IN_RUBY = {"rb": ANNOTATIONS, "rtc": ANNOTATIONS, "rt": ("rt", "rp"), "rp": ("rt", "rp")}
"""Elements of a `<ruby>`, and the innermost elements that they end by beginning."""

_PARAGRAPHS = "address article aside blockquote center details dir fieldset figure footer form header main section"
_LINES = "div figcaption hgroup legend search summary"
_CELLS = ("td", "th", "caption")
_GROUPS = ("tbody", "thead", "tfoot")

ELEMENTS: dict[str, Element] = {
    **{name: Element(PARAGRAPH, closes_p=True) for name in _PARAGRAPHS.split()},
    **{name: Element(LINE, closes_p=True) for name in _LINES.split()},
    **{name: Element(role="heading", closes_p=True) for name in HEADINGS},
    **{name: Element(role="pre", closes_p=True) for name in ("pre", "listing", "xmp")},
    **{name: Element(role="list", closes_p=True, opens=(LIST,)) for name in ("ul", "ol", "menu")},
    **{name: Element(LINE, scope=LIST, closes=("dt", "dd"), closes_p=True) for name in ("dt", "dd")},
    **{name: Element(role="cell", scope=TABLE, closes=_CELLS) for name in ("td", "th")},
    **{name: Element(scope=TABLE, closes=(*_CELLS, "tr", *_GROUPS)) for name in _GROUPS},
    "p": Element(PARAGRAPH, closes_p=True),
    "dl": Element(PARAGRAPH, closes_p=True, opens=(LIST,)),
    "li": Element(role="item", scope=LIST, closes=("li",), closes_p=True),
    "table": Element(role="table", scope=TABLE, closes_p=True, opens=(GENERAL, TABLE, LIST)),
    "caption": Element(LINE, scope=TABLE, closes=("caption",)),
    "tr": Element(role="row", scope=TABLE, closes=(*_CELLS, "tr")),
    "option": Element(closes=("option",)),
    "optgroup": Element(closes=("option", "optgroup")),
    **{name: Element() for name in UNSEEN},
}
INLINE = Element()
"""Any other element; it matters only if it is hidden."""


_LONGEST = 1000  # code points per value
_LONGEST_TITLE = 300
_MOST_TAGS = 50

_META = {
    "description": "description",
    "og:description": "description",
    "dc.description": "description",
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "article:published_time": "date",
    "datepublished": "date",
    "date": "date",
    "dc.date": "date",
    "dc.date.issued": "date",
    "dcterms.issued": "date",
    "dcterms.created": "date",
    "og:url": "url",
    "language": "lang",
    "dc.language": "lang",
}
"""Names of meta tags and their key; the first one present counts."""


class HtmlHead:
    """Collects the page's metadata while it is read. If a value repeats, the first counts."""

    def __init__(self) -> None:
        self.title = ""
        self.first_heading = ""
        self.tags: dict[str, None] = {}
        self._values: dict[str, str] = {}

    def meta(self) -> dict[str, Any]:
        """Return author, date, description, lang and url, in that order, as far as present."""
        return {
            key: self._values[key] for key in ("author", "date", "description", "lang", "url") if key in self._values
        }

    def see_title(self, text: str) -> None:
        """Record the text of a title element."""
        self.title = self.title or cut_line(text, _LONGEST_TITLE)

    def see_first_heading(self, text: str) -> None:
        """Record the text of an h1."""
        self.first_heading = self.first_heading or text

    def see_root(self, seen: Mapping[str, str]) -> None:
        """Record the attributes of the html element."""
        self._keep("lang", seen.get("lang") or seen.get("xml:lang", ""))

    def see_link(self, seen: Mapping[str, str]) -> None:
        """Record the attributes of a link."""
        if "canonical" in seen.get("rel", "").lower().split():
            self._values.pop("url", None)
            self._keep("url", seen.get("href", ""))

    def see_meta(self, seen: Mapping[str, str]) -> None:
        """Record the attributes of a meta tag."""
        name = (seen.get("name") or seen.get("property") or seen.get("itemprop", "")).strip().lower()
        content = seen.get("content", "")
        if name == "keywords":
            self._tag(*content.split(","))
        elif name == "article:tag":
            self._tag(content)
        elif name in _META:
            self._keep(_META[name], content)

    def _keep(self, key: str, text: str) -> None:
        value = cut_line(text, _LONGEST)
        if value:
            self._values.setdefault(key, value)

    def _tag(self, *names: str) -> None:
        for name in names[:_MOST_TAGS]:
            tag = cut_line(name, 100)
            if tag and len(self.tags) < _MOST_TAGS:
                self.tags.setdefault(tag)


def cut_line(text: str, longest: int) -> str:
    """Return the text on one line, cut to a length."""
    return " ".join(text.split())[:longest]


DEEPEST = 500  # open elements
_LONG_RUN = 2000  # code points of text above which it is split into several places
_LONGEST_ID = 120  # code points
_HAS_ID = re.compile(r"\b(?:id|name)[ \t\n\f\r]*=", re.IGNORECASE)


_Open = tuple[str, Element, bool, bool, Opened | None]
"""An open element: name, meaning, whether its parent is hidden, whether it is hidden itself, where it began."""


class HtmlReader:
    """Reads one page into a flow.

    path: file name for messages.
    is_xml: the page is XHTML.
    has_places: record places and anchors. Otherwise inline style tags are skipped early.
    """

    def __init__(self, flow: TextFlow, *, path: str, is_xml: bool = False, has_places: bool = False) -> None:
        self.head = HtmlHead()
        self._flow = flow
        self._path = path
        self._is_xml = is_xml
        self._has_places = has_places
        self._stack: list[_Open] = []
        self._scopes: tuple[list[dict[str, int]], ...] = ([{}], [{}], [{}])
        self._is_hidden = False
        self._heading_id = ""
        self._pres = 0
        self._drawings = 0

    def read(self, source: str) -> None:
        """Read the page. Raises IngestError `too_deep` if more than 500 elements are open at once.

        Inline style elements (b, a, span) do not count unless they are hidden, because they keep no state.
        """
        position, size = 0, len(source)
        while position < size:
            is_whole = self._has_places or self._is_hidden
            found = (TOKEN if is_whole else STYLED).match(source, position)
            if found is None:
                break
            text, is_end, name, rest, is_closed = found.groups()
            at = position + len(text)
            if text and not self._is_hidden:
                if is_whole:
                    self._text(position, at, text)
                else:
                    (self._flow.verbatim if self._pres else self._flow.words)(text_of(text), 0, 0)
            if name is None:
                position = self._read_declaration(source, at)
            elif not is_closed:
                break
            else:
                name, position = name.lower(), found.end()
                if is_end:
                    self._end(name)
                elif name not in RAW_END or (self._is_xml and rest.endswith("/")):
                    self._start(name, at, position, rest)
                    position = _after_permalink(source, position, name, rest)
                else:
                    position = self._raw(source, name, position)
        while self._stack:
            self._pop()

    def _read_declaration(self, source: str, at: int) -> int:
        """Read a comment, a declaration or CDATA. Return its end."""
        if at == len(source):
            return at
        position, inner = after_declaration(source, at, is_xml=self._is_xml)
        if inner and not self._is_hidden:
            self._text(*inner, source[slice(*inner)].replace("&", "&amp;"))
        return position

    def _raw(self, source: str, name: str, at: int) -> int:
        """Read an element without inner markup, from the end of its tag. Return its end."""
        end = RAW_END[name].search(source, at)
        until = end.start() if end else len(source)
        if name == "title" and not self._is_hidden:
            self.head.see_title(unescape_text(source[at:until]))
        return source.find(">", until) + 1 or len(source)

    def _text(self, at: int, until: int, rest: str) -> None:
        put, blank = (self._flow.verbatim, "\n") if self._pres else (self._flow.words, " ")
        start, size = 0, len(rest)
        while size - start > _LONG_RUN and size == until - at:
            cut = rest.rfind(blank, start + 1, start + _LONG_RUN)
            cut = cut if cut > 0 else rest.find(blank, start + _LONG_RUN)
            if cut < 0:
                break
            put(unescape_text(rest[start:cut]), at + start, at + cut)
            start = cut
        put(unescape_text(rest[start:] if start else rest), at + start, until)

    def _start(self, name: str, at: int, until: int, rest: str) -> None:
        while name in _ENDED_IN_RUBY and self._stack and self._stack[-1][0] in _ENDED_IN_RUBY[name]:
            self._pop()
        element = ELEMENTS.get(name)
        hides = name in UNSEEN or (rest != "" and _may_hide(rest) and _is_hidden(attributes(rest)))
        anchor = _anchor(name, rest) if self._has_places and not (self._is_hidden or hides) else ""
        if element is None and name in VOID:
            self._see_anchor(anchor)
            self._void(name, at, until, rest)
            return
        if element is None:
            if name == "html" and rest:
                self.head.see_root(attributes(rest))
            if not (self._is_hidden or hides) or name in ("html", "head", "body"):
                self._see_anchor(anchor)
                return
            element = INLINE
        if element.scope == TABLE and name != "table" and len(self._scopes[TABLE]) == 1:
            return
        if element.closes_p:
            self._end_all("p", *ANNOTATIONS)
        self._end_before(name, element)
        self._push(name, element, is_hidden=self._is_hidden or hides, rest=rest)
        if name in HEADINGS:
            self._heading_id = anchor
        elif anchor:
            self._flow.open_anchor(anchor, len(self._stack))
        if rest.endswith("/") and (self._is_xml or self._drawings):
            self._pop()

    def _see_anchor(self, anchor: str) -> None:
        """Record the id of an element that is not on the stack."""
        if anchor and self._stack and self._stack[-1][0] in HEADINGS:
            self._heading_id = self._heading_id or anchor
        elif anchor:
            self._flow.open_anchor(anchor, len(self._stack) + 1)
            self._flow.close_anchors(len(self._stack))

    def _end_all(self, *names: str) -> None:
        """End all open elements of these names."""
        for name in names:
            while self._scopes[GENERAL][-1].get(name):
                self._pop_to(name)

    def _end_before(self, name: str, element: Element) -> None:
        """End the elements that this element closes by beginning."""
        if name in HEADINGS and self._stack and self._stack[-1][0] in HEADINGS:
            self._pop()
        for other in element.closes:
            if self._scopes[element.scope][-1].get(other):
                self._pop_to(other)

    def _end(self, name: str) -> None:
        element = ELEMENTS.get(name, INLINE)
        if self._scopes[element.scope][-1].get(name):
            self._pop_to(name)
        elif name in HEADINGS and self._stack and self._stack[-1][0] in HEADINGS:
            self._pop()
        elif name == "ruby":
            self._end_all(*ANNOTATIONS)
        elif name == "br":
            self._void(name, 0, 0, "")
        elif name == "p" and not self._is_hidden:
            self._flow.separate()

    def _push(self, name: str, element: Element, *, is_hidden: bool, rest: str) -> None:
        if len(self._stack) >= DEEPEST:
            reason = f"its elements are nested deeper than {DEEPEST} levels"
            raise IngestError("too_deep", f"{self._path} cannot be read: {reason}.", details={"path": self._path})
        for scope in element.opens:
            self._scopes[scope].append({})
        counts = self._scopes[element.scope][-1]
        counts[name] = counts.get(name, 0) + 1
        opened = None
        if not is_hidden:
            if element.role:
                opened = self._open(name, element, rest)
            elif element.gap:
                self._flow.separate(element.gap)
        self._stack.append((name, element, self._is_hidden, is_hidden, opened))
        self._is_hidden = is_hidden
        self._drawings += name == "svg"

    def _pop_to(self, name: str) -> None:
        while self._pop() != name:
            pass

    def _pop(self) -> str:
        name, element, was_hidden, is_hidden, opened = self._stack.pop()
        counts = self._scopes[element.scope][-1]
        counts[name] -= 1
        for scope in element.opens:
            self._scopes[scope].pop()
        if not is_hidden:
            if element.role:
                self._close(name, element, opened)
            elif element.gap:
                self._flow.separate(element.gap)
        self._flow.close_anchors(len(self._stack))
        self._is_hidden = was_hidden
        self._drawings -= name == "svg"
        return name

    def _open(self, name: str, element: Element, rest: str) -> Opened | None:
        flow = self._flow
        match element.role:
            case "heading":
                return flow.open_heading()
            case "pre":
                self._pres += 1
                flow.open_pre()
            case "list":
                first = _number(attributes(rest).get("start", ""), 1) if name == "ol" else None
                flow.open_list(first)
            case "item":
                flow.open_item(_number(attributes(rest).get("value", ""), None) if "value" in rest else None)
            case "table":
                flow.open_table()
            case "row":
                flow.open_row()
            case "cell":
                flow.open_cell()
        return None

    def _close(self, name: str, element: Element, opened: Opened | None) -> None:
        flow = self._flow
        match element.role:
            case "heading" if opened:
                text = flow.close_heading(opened, HEADINGS[name], self._heading_id, len(self._stack) + 1)
                self._heading_id = ""
                if name == "h1":
                    self.head.see_first_heading(text)
            case "pre":
                self._pres -= 1
                if not self._pres:
                    flow.close_pre()
            case "list":
                flow.close_list()
            case "item":
                flow.separate(LINE)
            case "table":
                flow.close_table()
            case "row" | "cell":
                flow.close_cell()

    def _void(self, name: str, at: int, until: int, rest: str) -> None:
        if name == "meta":
            self.head.see_meta(attributes(rest))
        elif name == "link":
            self.head.see_link(attributes(rest))
        elif name == "hr":
            self._end_all(*ANNOTATIONS)
            if not self._is_hidden:
                self._end_all("p")
                self._flow.separate(PARAGRAPH)
        elif self._is_hidden:
            return
        elif name == "br":
            self._flow.line_break()
        elif name == "img" and "alt" in rest.lower():
            seen = attributes(rest)
            alt = short_name(seen.get("alt", ""))
            if alt and not _is_hidden(seen):
                self._flow.words(f"[{alt}]", at, until)


def _anchor(name: str, rest: str) -> str:
    """Return the element's id if a page can be cited by it, else ""."""
    if not rest or not _HAS_ID.search(rest) or name in ("html", "head", "body"):
        return ""
    seen = attributes(rest)
    anchor = seen.get("id") or (seen.get("name", "") if name == "a" else "")
    is_fit = len(anchor) <= _LONGEST_ID and anchor.isprintable() and " " not in anchor and "=" not in anchor
    return anchor if is_fit else ""


def _after_permalink(source: str, at: int, name: str, rest: str) -> int:
    """Return the end of a link that contains only a permalink sign; for other tags `at`, the end of the tag."""
    sign = SIGN.match(source, at) if name == "a" else None
    return sign.end() if sign and attributes(rest).get("href", "").startswith("#") else at


def _may_hide(rest: str) -> bool:
    lower = rest.lower()
    return "hidden" in lower or "display" in lower or "headerlink" in lower


def _is_hidden(seen: dict[str, str]) -> bool:
    style = seen.get("style", "").lower()
    return (
        seen.get("hidden", "until-found").strip().lower() != "until-found"
        or seen.get("aria-hidden", "").strip().lower() == "true"
        or "headerlink" in seen.get("class", "").split()
        or ("display" in style and "display:none" in "".join(style.split()))
    )


def _number(text: str, otherwise: int | None) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else otherwise
