"""The text of HTML as it is seen: straight from tags to text, with a stack of what is open."""

from __future__ import annotations

import re

from recall_core.errors import IngestError
from recall_core.ingest.parse.flow import LINE, PARAGRAPH, Opened, TextFlow, short_name
from recall_core.ingest.parse.html_elements import (
    ELEMENTS,
    GENERAL,
    HEADINGS,
    INLINE,
    TABLE,
    UNSEEN,
    VOID,
    Element,
)
from recall_core.ingest.parse.html_head import HtmlHead
from recall_core.ingest.parse.html_tokens import (
    RAW_END,
    SIGN,
    STYLED,
    TOKEN,
    after_declaration,
    attributes,
    text_of,
    unescaped,
)

DEEPEST = 500  # open elements
_LONG_RUN = 2000  # code points of text from which on it has several places
_LONGEST_ID = 120  # code points
_HAS_ID = re.compile(r"\b(?:id|name)[ \t\n\f\r]*=", re.IGNORECASE)


_Open = tuple[str, Element, bool, bool, Opened | None]
"""An element that is open: name, meaning, whether what holds it is hidden, whether it is itself, where it began."""


class HtmlReader:
    """Reads one page into a flow. path: of the file, for messages. is_xml: it is XHTML.

    has_places: the flow gets places and anchors. Without them what styles letters is passed over at once.
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
        """Raises IngestError `too_deep` where more than 500 elements are open at once.

        Elements that only style letters (b, a, span) do not count unless they are hidden: nothing is kept for them.
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
                position = self._declared(source, at)
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

    def _declared(self, source: str, at: int) -> int:
        """A comment, a declaration or CDATA, if any; where it ends."""
        if at == len(source):
            return at
        position, inner = after_declaration(source, at, is_xml=self._is_xml)
        if inner and not self._is_hidden:
            self._text(*inner, source[slice(*inner)].replace("&", "&amp;"))
        return position

    def _raw(self, source: str, name: str, at: int) -> int:
        """An element that holds no markup, from the end of its tag; where it ends."""
        end = RAW_END[name].search(source, at)
        until = end.start() if end else len(source)
        if name == "title" and not self._is_hidden:
            self.head.see_title(unescaped(source[at:until]))
        return source.find(">", until) + 1 or len(source)

    def _text(self, at: int, until: int, rest: str) -> None:
        put, blank = (self._flow.verbatim, "\n") if self._pres else (self._flow.words, " ")
        start, size = 0, len(rest)
        while size - start > _LONG_RUN and size == until - at:
            cut = rest.rfind(blank, start + 1, start + _LONG_RUN)
            cut = cut if cut > 0 else rest.find(blank, start + _LONG_RUN)
            if cut < 0:
                break
            put(unescaped(rest[start:cut]), at + start, at + cut)
            start = cut
        put(unescaped(rest[start:] if start else rest), at + start, until)

    def _start(self, name: str, at: int, until: int, rest: str) -> None:
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
        if element.closes_p and self._scopes[GENERAL][-1].get("p"):
            self._pop_to("p")
        if element.closes or name in HEADINGS:
            self._end_what_ends_here(name, element)
        self._push(name, element, is_hidden=self._is_hidden or hides, rest=rest)
        if name in HEADINGS:
            self._heading_id = anchor
        elif anchor:
            self._flow.open_anchor(anchor, len(self._stack))
        if rest.endswith("/") and (self._is_xml or self._drawings):
            self._pop()

    def _see_anchor(self, anchor: str) -> None:
        """The id of an element that is not on the stack."""
        if anchor and self._stack and self._stack[-1][0] in HEADINGS:
            self._heading_id = self._heading_id or anchor
        elif anchor:
            self._flow.open_anchor(anchor, len(self._stack) + 1)
            self._flow.close_anchors(len(self._stack))

    def _end_what_ends_here(self, name: str, element: Element) -> None:
        if name in HEADINGS and self._stack and self._stack[-1][0] in HEADINGS:
            self._pop()
        scope = self._scopes[element.scope]
        for other in element.closes:
            if scope[-1].get(other):
                self._pop_to(other)

    def _end(self, name: str) -> None:
        element = ELEMENTS.get(name, INLINE)
        if self._scopes[element.scope][-1].get(name):
            self._pop_to(name)
        elif name in HEADINGS and self._stack and self._stack[-1][0] in HEADINGS:
            self._pop()
        elif name == "br":
            self._void(name, 0, 0, "")
        elif name == "p" and not self._is_hidden:
            self._flow.parted()

    def _push(self, name: str, element: Element, *, is_hidden: bool, rest: str) -> None:
        if len(self._stack) >= DEEPEST:
            reason = f"its elements are nested more than {DEEPEST} deep"
            raise IngestError("too_deep", f"{self._path} is not read: {reason}.", details={"path": self._path})
        for scope in element.opens:
            self._scopes[scope].append({})
        counts = self._scopes[element.scope][-1]
        counts[name] = counts.get(name, 0) + 1
        opened = None
        if not is_hidden:
            if element.role:
                opened = self._open(name, element, rest)
            elif element.gap:
                self._flow.parted(element.gap)
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
                self._flow.parted(element.gap)
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
                flow.parted(LINE)
            case "table":
                flow.close_table()
            case "row" | "cell":
                flow.close_cell()

    def _void(self, name: str, at: int, until: int, rest: str) -> None:
        if name == "meta":
            self.head.see_meta(attributes(rest))
        elif name == "link":
            self.head.see_link(attributes(rest))
        elif self._is_hidden:
            return
        elif name == "br":
            self._flow.line_break()
        elif name == "hr":
            if self._scopes[GENERAL][-1].get("p"):
                self._pop_to("p")
            self._flow.parted(PARAGRAPH)
        elif name == "img" and "alt" in rest.lower():
            seen = attributes(rest)
            alt = short_name(seen.get("alt", ""))
            if alt and not _is_hidden(seen):
                self._flow.words(f"[{alt}]", at, until)


def _anchor(name: str, rest: str) -> str:
    """Return the id of an element by which its page can be cited; "" if it has none."""
    if not rest or not _HAS_ID.search(rest) or name in ("html", "head", "body"):
        return ""
    seen = attributes(rest)
    anchor = seen.get("id") or (seen.get("name", "") if name == "a" else "")
    is_fit = len(anchor) <= _LONGEST_ID and anchor.isprintable() and " " not in anchor and "=" not in anchor
    return anchor if is_fit else ""


def _after_permalink(source: str, at: int, name: str, rest: str) -> int:
    """Return where a link ends that contains only the sign of a permalink. Others give `at`, the end of the tag."""
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
