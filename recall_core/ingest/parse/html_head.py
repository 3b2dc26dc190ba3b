"""What a page says of itself: its title, and what its meta tags tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LONGEST = 1000  # code points of a value
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
"""Names of meta tags, and the key under which each is kept; the first that is there counts."""


class HtmlHead:
    """Gathers it while a page is read; of two values for one thing the first counts."""

    def __init__(self) -> None:
        self.title = ""
        self.first_heading = ""
        self.tags: dict[str, None] = {}
        self._values: dict[str, str] = {}

    def meta(self) -> dict[str, Any]:
        """What there is of author, date, description, lang and url, in that order."""
        return {
            key: self._values[key] for key in ("author", "date", "description", "lang", "url") if key in self._values
        }

    def see_title(self, text: str) -> None:
        """A title element."""
        self.title = self.title or line(text, _LONGEST_TITLE)

    def see_first_heading(self, text: str) -> None:
        """An h1."""
        self.first_heading = self.first_heading or text

    def see_root(self, seen: Mapping[str, str]) -> None:
        """The attributes of html."""
        self._keep("lang", seen.get("lang") or seen.get("xml:lang", ""))

    def see_link(self, seen: Mapping[str, str]) -> None:
        """The attributes of a link."""
        if "canonical" in seen.get("rel", "").lower().split():
            self._values.pop("url", None)
            self._keep("url", seen.get("href", ""))

    def see_meta(self, seen: Mapping[str, str]) -> None:
        """The attributes of a meta tag."""
        name = (seen.get("name") or seen.get("property") or seen.get("itemprop", "")).strip().lower()
        content = seen.get("content", "")
        if name == "keywords":
            self._tag(*content.split(","))
        elif name == "article:tag":
            self._tag(content)
        elif name in _META:
            self._keep(_META[name], content)

    def _keep(self, key: str, text: str) -> None:
        value = line(text, _LONGEST)
        if value:
            self._values.setdefault(key, value)

    def _tag(self, *names: str) -> None:
        for name in names[:_MOST_TAGS]:
            tag = line(name, 100)
            if tag and len(self.tags) < _MOST_TAGS:
                self.tags.setdefault(tag)


def line(text: str, longest: int) -> str:
    """The text on one line, cut at a length."""
    return " ".join(text.split())[:longest]
