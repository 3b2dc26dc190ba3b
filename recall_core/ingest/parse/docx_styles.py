"""The paragraph styles of a Word document: which of them are headings, and of which level, and which make lists."""

from __future__ import annotations

from collections.abc import Mapping

_HIGHEST = 6
_LONGEST_CHAIN = 20  # styles based on one another


class _Style:
    __slots__ = ("base", "is_list", "level", "name")

    def __init__(self) -> None:
        self.name = self.base = ""
        self.level: int | None = None
        self.is_list: bool | None = None


class Styles:
    """Is told of the elements of styles.xml, and then answers by the ids of styles.

    The ids are in the language of the program that wrote them; the names of Word's own styles are English.
    """

    READ = frozenset(("basedOn", "name", "numId", "outlineLvl", "style"))
    """The elements that it has to be told of."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._style = _Style()

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """An element begins."""
        value = seen.get("val", "")
        match name:
            case "style":
                self._style = _Style()
                self._styles.setdefault(seen.get("styleId", ""), self._style)
            case "name":
                self._style.name = value.lower()
            case "basedOn":
                self._style.base = value
            case "outlineLvl":
                self._style.level = outline_level(value)
            case "numId":
                self._style.is_list = value != "0"

    def end(self, name: str) -> None:
        """It ends."""

    def text(self, text: str) -> None:
        """White space."""

    def _chain(self, style: str) -> list[_Style]:
        """The style and those it is based on."""
        found: list[_Style] = []
        while style in self._styles and len(found) < _LONGEST_CHAIN:
            found.append(self._styles[style])
            style = found[-1].base
        return found

    def level(self, style: str) -> int:
        """The level of a heading of that style, from 1; 0 where it is none."""
        for each in self._chain(style):
            if each.level is not None:
                return each.level
            if each.name.startswith("heading "):
                number = each.name[8:]
                return min(_HIGHEST, int(number)) if len(number) == 1 and number in "123456789" else 0
        return 0

    def is_list(self, style: str) -> bool:
        """Whether paragraphs of that style are items of a list."""
        return next((each.is_list for each in self._chain(style) if each.is_list is not None), False)

    def is_title(self, style: str) -> bool:
        """Whether it is Word's style for the title of a document."""
        return any(each.name == "title" for each in self._chain(style)[:1])


def outline_level(value: str) -> int:
    """The level of a heading by Word's number from 0 to 8; 0 for text."""
    return min(_HIGHEST, int(value) + 1) if len(value) == 1 and value in "012345678" else 0
