"""Macros of mdoc(7) within a line, which call one another: `.Op Fl o Ar file .` is [-o file]."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from recall_core.ingest.parse.man.layout import ManLayout
from recall_core.ingest.parse.man.roff import Roff
from recall_core.ingest.parse.man.standards import att, berkeley, library, standard, system

CLOSING = (".", ",", ":", ";", ")", "]", "?", "!")
"""Words that stand close behind what they follow, whatever macro it is."""
_OPENING, _MIDDLE = ("(", "["), ("|",)

_AROUND = {
    "Aq": "<>", "Bq": "[]", "Brq": "{}", "Dq": "“”", "Op": "[]", "Pq": "()", "Ql": "‘’", "Qq": '""', "Sq": "‘’",
}  # fmt: skip
_OPENS = {"Ao": "<", "Bo": "[", "Bro": "{", "Do": "“", "Oo": "[", "Po": "(", "Qo": '"', "So": "‘", "Xo": "", "Eo": ""}
_CLOSES = {
    "Ac": ">",
    "Bc": "]",
    "Brc": "}",
    "Dc": "”",
    "Oc": "]",
    "Pc": ")",
    "Qc": '"',
    "Sc": "’",
    "Xc": "",
    "Ec": "",
}
_WORDS = (
    "Ad", "Ar", "Cd", "Cm", "Dv", "Em", "En", "Er", "Ev", "Fa", "Fl", "Ft", "Ic", "Li", "Ms", "Nm", "No", "Pa", "Sx",
    "Sy", "Tn", "Va", "Vt", "Mt", "Fr", "Ot", "Fd",
)  # fmt: skip
_DEFAULTS = {"Fl": "-", "Ar": "file ...", "Pa": "~", "Mt": "~"}
_LINES = ("Cd", "Fd", "Ft", "Vt", "In", "Fn", "Fo", "Nm")
"""What begins a line of its own in a synopsis."""

_TOKEN = re.compile(r'[ ]*(?:"((?:[^"]|"")*+)"?|((?:[^ \\]|\\[\s\S]?)++))')


class RoffToken(NamedTuple):
    """A word of a line. is_quoted: it is no macro and no delimiter, whatever it looks like."""

    text: str
    is_quoted: bool = False


def tokens_of(rest: str) -> list[RoffToken]:
    """The words of a line of macros."""
    if '"' not in rest and "\\ " not in rest:
        return [RoffToken(word) for word in rest.split(" ") if word]
    found = _TOKEN.findall(rest.rstrip(" ") if rest[-2:] != "\\ " else rest)
    return [
        RoffToken(bare) if bare else RoffToken(quoted.replace('""', '"'), is_quoted=True) for quoted, bare in found
    ]


_GLUE = RoffToken("Ns")


class Inline:
    """Tells a layout what lines of macros say; what an enclosure leaves open lasts over lines."""

    def __init__(self, roff: Roff, layout: ManLayout) -> None:
        self.name = ""
        """What .Nm stands for."""
        self.is_synopsis = False
        self.is_split = False
        """Whether each author begins a line."""
        self.depth = 0
        """How many enclosures are open."""
        self._roff = roff
        self._layout = layout
        self._number = 0
        self._mode = "No"
        self._said = 0
        self._gathered: list[str] = []
        self._function: list[str] | None = None
        self._behind: list[str] = []
        self._breaks = False
        self._gathering: dict[str, Callable[[list[str]], None]] = {
            "Xr": self._reference, "Fn": self._call, "Fo": self._function_start, "Fc": self._function_end,
            "In": self._include, "Lk": self._link, "St": self._standard, "Lb": self._library, "At": self._att,
            "Bx": self._berkeley, "An": self._author,
            **dict.fromkeys(("Bsx", "Dx", "Fx", "Nx", "Ox", "Ux"), self._system),
        }  # fmt: skip
        self.macros = frozenset((*_AROUND, *_OPENS, *_CLOSES, *_WORDS, *self._gathering, "Ns", "Ap", "Pf", "Ta"))

    def run(self, tokens: list[RoffToken], number: int) -> None:
        """What a line says, its first macro included."""
        self._number = number
        last = len(tokens)
        while last > 1 and tokens[last - 1].text in CLOSING and not tokens[last - 1].is_quoted:
            last -= 1
        self._behind = []
        self._mode, self._said = "No", 0
        for i in range(last):
            self._read(tokens[i], is_first=i == 0)
        self._finish(goes_on=False)
        self._close()
        if last and tokens[last - 1] == _GLUE:
            self._layout.glue()
        for token in tokens[last:]:
            self._layout.add(token.text, number, glued=True)
        if self._breaks:
            self._layout.line_break()
            self._breaks = False

    def _close(self) -> None:
        """The end of the enclosures that end with their line, or cell."""
        while self._behind:
            self._layout.add(self._behind.pop(), self._number, glued=True)

    def _read(self, token: RoffToken, *, is_first: bool) -> None:
        text = token.text
        if token.is_quoted:
            self._word(text)
        elif text in self.macros:
            self._finish(goes_on=True)
            self._start(text, is_first=is_first)
        elif text in CLOSING or text in _OPENING or text in _MIDDLE:
            self._delimiter(text)
        else:
            self._word(text)

    def _say(self, text: str, *, glued: bool = False) -> None:
        if text:
            self._layout.add(text, self._number, glued=glued)

    def _start(self, macro: str, *, is_first: bool) -> None:
        layout = self._layout
        self._mode, self._said = "No", 0
        if is_first and self.is_synopsis and macro in _LINES and not self.depth and layout.filled:
            layout.line_break()
        if around := _AROUND.get(macro):
            self._say(around[0])
            layout.glue()
            self._behind.append(around[1])
        elif macro in _OPENS:
            self.depth += 1
            if _OPENS[macro]:
                self._say(_OPENS[macro])
                layout.glue()
            self._mode = macro if macro == "Eo" else "No"
        elif macro in _CLOSES:
            self.depth = max(0, self.depth - 1)
            self._say(_CLOSES[macro], glued=True)
            self._mode = macro if macro == "Ec" else "No"
        elif macro == "Ns":
            if not is_first:
                layout.glue()
        elif macro == "Ap":
            self._say("'", glued=True)
            layout.glue()
        elif macro == "Ta":
            self._close()
            layout.add("|", self._number)
        elif macro in self._gathering:
            self._mode, self._gathered = macro, []
        else:
            self._mode = macro

    def _word(self, text: str) -> None:
        text = self._roff.plain(text)
        mode = self._mode
        if mode in self._gathering:
            self._gathered.append(text)
        elif mode == "Fl":
            self._say(f"-{text}")
        elif mode == "Nm":
            self.name = self.name or text
            self._say(text)
        elif mode in ("Pf", "Eo", "Ec"):
            self._say(text, glued=mode == "Ec")
            if mode != "Ec":
                self._layout.glue()
            self._mode = "No"
        elif mode == "Fa" and self._function is not None:
            self._function.append(text)
        else:
            self._say(text)
        self._said += 1

    def _delimiter(self, text: str) -> None:
        if self._mode in self._gathering:
            if self._gathered or text not in _OPENING:
                self._finish(goes_on=False)
                self._mode, self._said = "No", 1
        elif not self._said and text in CLOSING:
            self._finish(goes_on=False)
            self._said = 1
        if self._mode == "Pf":
            self._word(text)
            return
        self._say(text, glued=text in CLOSING)
        if text in _OPENING:
            self._layout.glue()

    def _finish(self, *, goes_on: bool) -> None:
        """The end of a macro: what it says without a word."""
        mode = self._mode
        if mode in self._gathering:
            self._mode = "No"
            self._gathering[mode](self._gathered if mode not in _SYSTEMS else [mode, *self._gathered])
        elif not self._said:
            self._say(self.name if mode == "Nm" else _DEFAULTS.get(mode, ""))
            if mode == "Fl" and goes_on:
                self._layout.glue()
        if self.is_synopsis and mode in ("Ft", "Cd", "Fd", "In", "Vt") and not goes_on and not self._behind:
            self._breaks = self._layout.filled

    def _reference(self, words: list[str]) -> None:
        name, section, *more = [*words, "", ""]
        self._say(f"{name}({section})" if section else name)
        self._all(more)

    def _all(self, words: list[str]) -> None:
        for word in words:
            self._say(word)

    def _call(self, words: list[str]) -> None:
        if words:
            self._say(f"{words[0]}({', '.join(words[1:])}){self._semicolon()}")

    def _semicolon(self) -> str:
        return ";" if self.is_synopsis else ""

    def _function_start(self, words: list[str]) -> None:
        self._function = []
        self._say(f"{' '.join(words)}(")
        self._layout.glue()

    def _function_end(self, words: list[str]) -> None:
        arguments, self._function = self._function or [], None
        self._say(f"{', '.join(arguments)}){self._semicolon()}", glued=True)
        self._all(words)

    def _include(self, words: list[str]) -> None:
        self._say(f"#include <{' '.join(words)}>" if self.is_synopsis else f"<{' '.join(words)}>")

    def _link(self, words: list[str]) -> None:
        self._say(f"{' '.join(words[1:])}: {words[0]}" if len(words) > 1 else "".join(words))

    def _standard(self, words: list[str]) -> None:
        self._all([*map(standard, words[:1]), *words[1:]])

    def _library(self, words: list[str]) -> None:
        self._all([*map(library, words[:1]), *words[1:]])

    def _att(self, words: list[str]) -> None:
        self._all([att("".join(words[:1])), *words[1:]])

    def _berkeley(self, words: list[str]) -> None:
        self._all([berkeley(*words[:2]) if words else "BSD", *words[2:]])

    def _system(self, words: list[str]) -> None:
        self._all([system(*words[:2]), *words[2:]] if words[0] != "Ux" else ["UNIX", *words[1:]])

    def _author(self, words: list[str]) -> None:
        if words[:1] in (["-split"], ["-nosplit"]):
            self.is_split = words[0] == "-split"
            return
        if self.is_split and self._layout.filled:
            self._layout.line_break()
        self._all(words)


_SYSTEMS = ("Bsx", "Dx", "Fx", "Nx", "Ox", "Ux")
