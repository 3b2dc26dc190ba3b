"""What the elements of HTML mean for its text: which stand on lines of their own, end others, or are unseen."""

from __future__ import annotations

from typing import NamedTuple

from recall_core.ingest.parse.flow import LINE, PARAGRAPH

GENERAL, TABLE, LIST = range(3)
"""Scopes: an end tag, and an element that ends another, look for it no further than their scope reaches."""


class Element(NamedTuple):
    """One that is more than a style of letters. gap: what parts it from the text around it, "" for nothing."""

    gap: str = ""
    role: str = ""
    scope: int = GENERAL
    closes: tuple[str, ...] = ()
    """Elements of its scope that end where it begins."""
    closes_p: bool = False
    opens: tuple[int, ...] = ()
    """Scopes that begin with it."""


HEADINGS = {f"h{level}": level for level in range(1, 7)}

VOID = frozenset(
    """area base basefont bgsound br col command embed frame hr img input keygen link meta param source track
    wbr""".split()
)
UNSEEN = frozenset(
    """annotation annotation-xml audio button canvas datalist dialog meter nav noscript progress script select style
    svg template textarea title video""".split()
)
"""Elements that are left out with all they hold."""

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
"""Any other; it only counts where it is hidden."""
