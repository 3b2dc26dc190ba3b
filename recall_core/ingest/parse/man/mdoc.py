"""The macros of mdoc(7): sections, lists, displays and references; what stands within a line is in `inline`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from recall_core.ingest.parse.man.escapes import words
from recall_core.ingest.parse.man.inline import CLOSING, Inline, RoffToken, tokens_of
from recall_core.ingest.parse.man.layout import HEADING, ManLayout
from recall_core.ingest.parse.man.macros import SILENT
from recall_core.ingest.parse.man.roff import Roff
from recall_core.ingest.parse.man.tables import rows_of

_SILENT = frozenset(("Bk", "Ek", "Bf", "Ef", "Os", "Hf", "Db", "Tg", "Es", "Re"))
_BULLETS = {"bullet": "•", "dash": "-", "hyphen": "-"}
_TYPES = ("bullet", "dash", "hyphen", "enum", "item", "tag", "hang", "ohang", "inset", "diag", "column")
_REFERENCE = "ATBIJRNVUPQCDO"


class _List(NamedTuple):
    kind: str
    was_compact: bool


class Mdoc:
    """Tells a layout what the macros and lines of mdoc(7) say."""

    def __init__(self, roff: Roff, layout: ManLayout) -> None:
        self.layout = layout
        self.title: list[str] = []
        """Name and section, of .Dt."""
        self.date = ""
        self._roff = roff
        self._inline = Inline(roff, layout)
        self._lists: list[_List] = []
        self._counts: list[int] = []
        self._displays: list[bool] = []
        self._head_depth = -1
        self._reference: dict[str, list[str]] | None = None
        self._number = 0
        self._handlers: dict[str, Callable[[str], None]] = {
            "Dd": self._dated, "Dt": self._titled, "Sh": self._section, "Ss": self._subsection, "Pp": self._paragraph,
            "Lp": self._paragraph, "Bl": self._list, "It": self._item, "El": self._list_end, "Bd": self._display,
            "Ed": self._display_end, "D1": self._one_line, "Dl": self._one_line, "Nd": self._description,
            "Rs": self._reference_start, "Re": self._reference_end, "Sm": self._spacing, "Ex": self._exit_status,
            "Rv": self._return_value, "Ud": self._under_development, "Bt": self._beta, "br": self._break,
            "sp": self._space, "nf": self._nf, "fi": self._fi, "PP": self._paragraph, "in": self._break,
        }  # fmt: skip

    def text(self, line: str, number: int) -> None:
        """A line of text."""
        layout = self.layout
        goes_on = line.endswith("\\c")
        if not line or line.isspace():
            if not layout.in_tag:
                layout.blank(number)
            return
        line = self._roff.plain(line)
        if self._lists and self._lists[-1].kind == "column" and "\t" in line:
            line = line.replace("\t", " | ")
        if line[:1] == " " and layout.filled and not layout.in_tag and line.strip():
            layout.indented(line, number)
        else:
            layout.add(line, number)
        self._line_end(goes_on=goes_on)

    def macro(self, name: str, rest: str, number: int) -> None:
        """A macro or a request; the arguments of one that nobody knows are text."""
        self._number = number
        handler = self._handlers.get(name)
        if handler:
            handler(rest)
        elif name in self._inline.macros:
            self._run(f"{name} {rest}")
        elif name[:1] == "%":
            self._of_reference(name[1:], rest)
        elif name not in SILENT and name not in _SILENT and rest:
            self._run(rest)

    def table(self, lines: list[str], number: int) -> None:
        """A table: a row a line."""

        def told(inner: list[str]) -> str:
            cell = Mdoc(self._roff, ManLayout())
            cell._inline.name = self._inline.name
            self._roff.within(inner, cell)
            return " ".join(cell.layout.done().split())

        self.layout.block(rows_of(lines, told, self._roff), number)

    def _run(self, rest: str) -> None:
        goes_on = rest.endswith("\\c")
        tokens = tokens_of(rest)
        if self._lists and self._lists[-1].kind == "column" and "\t" in rest:
            tokens = [each for token in tokens for each in _cells(token)]
        if tokens:
            self._inline.run(tokens, self._number)
        self._line_end(goes_on=goes_on)

    def _line_end(self, *, goes_on: bool = False) -> None:
        layout = self.layout
        if layout.in_tag:
            if self._inline.depth <= self._head_depth:
                layout.tag_end()
        elif not layout.filled and not goes_on:
            layout.line_break()
        if goes_on:
            layout.glue()

    def _plain(self, rest: str) -> str:
        return " ".join(self._roff.plain(" ".join(words(rest))).split())

    def _apart(self, rest: str) -> str:
        """What a line says in a heading."""
        tokens = tokens_of(rest)
        if not any(token.text in self._inline.macros for token in tokens):
            return self._plain(rest)
        layout = ManLayout()
        inline = Inline(self._roff, layout)
        inline.name = self._inline.name
        inline.run(tokens, self._number)
        return layout.done()

    def _dated(self, rest: str) -> None:
        self.date = self.date or self._plain(rest).removeprefix("$Mdocdate").strip(":$ ")

    def _titled(self, rest: str) -> None:
        if not self.title:
            self.title = self._plain(rest).split(" ")

    def _section(self, rest: str) -> None:
        self._heading(rest, HEADING)

    def _subsection(self, rest: str) -> None:
        self._heading(rest, HEADING + 1)

    def _heading(self, rest: str, level: int) -> None:
        layout, name = self.layout, self._apart(rest)
        layout.end()
        layout.filled, layout.compact = True, False
        layout.spaced(is_on=True)
        self._lists.clear()
        self._counts.clear()
        self._displays.clear()
        self._inline.depth = 0
        if level == HEADING:
            self._inline.is_synopsis = name == "SYNOPSIS"
            self._inline.is_split = name == "AUTHORS"
        if name:
            layout.heading(name, level, self._number)

    def _paragraph(self, rest: str) -> None:
        if not self.layout.in_tag:
            self.layout.end() if self.layout.filled else self.layout.blank(self._number)

    def _break(self, rest: str) -> None:
        if not self.layout.in_tag:
            self.layout.line_break()

    def _space(self, rest: str) -> None:
        if not self.layout.in_tag:
            self.layout.blank(self._number)

    def _nf(self, rest: str) -> None:
        self.layout.end()
        self.layout.filled = False

    def _fi(self, rest: str) -> None:
        self.layout.end()
        self.layout.filled = True

    def _list(self, rest: str) -> None:
        layout = self.layout
        options = [word.removeprefix("-") for word in words(rest) if word.startswith("-")]
        kind = next((option for option in options if option in _TYPES), "item")
        if self._lists:
            layout.enter(is_named=False)
        else:
            layout.end()
        self._lists.append(_List(kind, layout.compact))
        self._counts.append(0)
        layout.compact = "compact" in options or kind == "column"

    def _list_end(self, rest: str) -> None:
        if not self._lists:
            return
        layout, ended = self.layout, self._lists.pop()
        self._counts.pop()
        if self._lists:
            layout.leave()
        else:
            layout.end_item()
        layout.compact = ended.was_compact

    def _item(self, rest: str) -> None:
        layout = self.layout
        if not self._lists:
            self._run(rest)
            return
        kind = self._lists[-1].kind
        self._counts[-1] += 1
        has_head = kind in ("tag", "hang", "ohang", "inset", "diag")
        layout.tag(self._number, separator=" " if kind in ("inset", "diag") else "\n", more=has_head)
        self._head_depth = self._inline.depth
        if has_head:
            if kind == "diag":
                layout.add(self._plain(rest), self._number)
            self._run("" if kind == "diag" else rest)
            return
        bullet = _BULLETS.get(kind) or (f"{self._counts[-1]}." if kind == "enum" else "")
        if bullet:
            layout.add(bullet, self._number)
        layout.tag_end()
        if rest:
            self._run(rest)

    def _display(self, rest: str) -> None:
        layout = self.layout
        layout.end()
        self._displays.append(layout.filled)
        layout.filled = not any(word in ("-literal", "-unfilled") for word in words(rest))

    def _display_end(self, rest: str) -> None:
        self.layout.end()
        self.layout.filled = self._displays.pop() if self._displays else True

    def _one_line(self, rest: str) -> None:
        self.layout.end()
        self._run(rest)
        self.layout.end()

    def _description(self, rest: str) -> None:
        self.layout.add(f"- {self._plain(rest)}", self._number)

    def _reference_start(self, rest: str) -> None:
        self._reference = {}

    def _of_reference(self, kind: str, rest: str) -> None:
        text = self._plain(rest)
        if self._reference is None:
            self._inline.run([RoffToken("No"), *_unread(tokens_of(rest))], self._number)
        else:
            self._reference.setdefault(kind, []).append(text)

    def _reference_end(self, rest: str) -> None:
        parts, self._reference = self._reference or {}, None
        authors = parts.pop("A", [])
        told = [_series(authors)] if authors else []
        for kind in _REFERENCE:
            told += [
                f"“{each}”" if kind == "T" and ("J" in parts or "B" in parts) else each
                for each in parts.get(kind, [])
            ]
        if told:
            self.layout.add(f"{', '.join(told)}.", self._number)

    def _spacing(self, rest: str) -> None:
        word = rest.strip()
        is_on = word == "on" or (word != "off" and not self.layout.is_spaced)
        self.layout.spaced(is_on=is_on)

    def _exit_status(self, rest: str) -> None:
        names = [self._roff.plain(word) for word in words(rest)[1:]] or [self._inline.name]
        told = "utility exits" if len(names) == 1 else "utilities exit"
        self._sentence(f"The {_series(names)} {told} 0 on success, and >0 if an error occurs.")

    def _return_value(self, rest: str) -> None:
        names = [f"{self._roff.plain(word)}()" for word in words(rest)[1:]]
        if not names:
            first = "Upon successful completion, the value 0 is returned;"
        elif len(names) == 1:
            first = f"The {names[0]} function returns the value 0 if successful;"
        else:
            first = f"The {_series(names)} functions return the value 0 if successful;"
        self._sentence(
            f"{first} otherwise the value -1 is returned and the global variable errno is set to indicate the error."
        )

    def _under_development(self, rest: str) -> None:
        self._sentence("currently under development.")

    def _beta(self, rest: str) -> None:
        self._sentence("is currently in beta test.")

    def _sentence(self, text: str) -> None:
        self.layout.add(text, self._number)


def _unread(tokens: list[RoffToken]) -> list[RoffToken]:
    """Words none of which is a macro; delimiters at the end stay what they are."""
    return [token if token.text in CLOSING else RoffToken(token.text, is_quoted=True) for token in tokens]


def _cells(token: RoffToken) -> list[RoffToken]:
    """A word with tabs in it, which stand between cells."""
    cells = [cell.strip(" ") for cell in token.text.split("\t")]
    parts = [each for cell in cells for each in (RoffToken("Ta"), RoffToken(cell, token.is_quoted))]
    return [each for each in parts[1:] if each.text]


def _series(names: list[str]) -> str:
    """`a`, `a and b`, `a, b, and c`."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
