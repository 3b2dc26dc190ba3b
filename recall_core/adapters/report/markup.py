"""HTML that is escaped by construction: what is not made here is text."""

from __future__ import annotations

from html import escape

_VOID = ("meta", "br", "hr", "circle", "line", "rect", "path")
_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that make a text look like another."""
_PICTURES = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *map(ord, _TURNS), 0xFFFE, 0xFFFF), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}
"""Characters that a browser would obey or drop, as ones that it shows."""


class Html(str):
    """Markup that needs no more escaping."""

    __slots__ = ()


def visible(text: str) -> str:
    """The text with control characters, half surrogate pairs and changes of direction made visible."""
    return text.replace("\r\n", "\n").translate(_PICTURES)


def html(text: str) -> Html:
    """Any text as markup: Html as it is, everything else escaped."""
    return text if isinstance(text, Html) else Html(escape(visible(text), quote=True))


def tag(name: str, /, *children: str, **attributes: str | float) -> Html:
    """An element. An attribute's trailing underscore is dropped, others become hyphens; floats are kept short."""
    told = "".join(f' {_name(key)}="{_value(value)}"' for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{told}/>")
    return Html(f"<{name}{told}>{join(*children)}</{name}>")


def join(*children: str) -> Html:
    """Several pieces as one."""
    return Html("".join(map(html, children)))


def _name(key: str) -> str:
    return "viewBox" if key == "viewBox" else key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(visible(value), quote=True) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
