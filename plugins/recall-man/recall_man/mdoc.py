"""The macros of mdoc(7): sections, lists, displays, references and inline macros.

Inline macros call each other: `.Op Fl o Ar file .` becomes [-o file].
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from recall_man.escapes import words
from recall_man.layout import HEADING, ManLayout
from recall_man.macros import SILENT, rows_of
from recall_man.roff import Roff

_SILENT = frozenset(("Bk", "Ek", "Bf", "Ef", "Os", "Hf", "Db", "Tg", "Es", "Re"))
_BULLETS = {"bullet": "•", "dash": "-", "hyphen": "-"}
_TYPES = ("bullet", "dash", "hyphen", "enum", "item", "tag", "hang", "ohang", "inset", "diag", "column")
_REFERENCE = "ATBIJRNVUPQCDO"

_CLOSING = (".", ",", ":", ";", ")", "]", "?", "!")
"""Delimiters that attach to the word before them, after any macro."""
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
"""Macros that begin a new line in a synopsis."""

_TOKEN = re.compile(r'[ ]*(?:"((?:[^"]|"")*+)"?|((?:[^ \\]|\\[\s\S]?)++))')

_STANDARDS = {
    "ansiC": "ANSI X3.159-1989 (“ANSI C89”)",
    "ansiC-89": "ANSI X3.159-1989 (“ANSI C89”)",
    "ieee1275-94": "IEEE Std 1275-1994 (“Open Firmware”)",
    "ieee754": "IEEE Std 754-1985",
    "iso8601": "ISO 8601",
    "iso8802-3": "ISO 8802-3: 1989",
    "iso9945-1-90": "ISO/IEC 9945-1:1990 (“POSIX.1”)",
    "iso9945-1-96": "ISO/IEC 9945-1:1996 (“POSIX.1”)",
    "iso9945-2-93": "ISO/IEC 9945-2:1993 (“POSIX.2”)",
    "isoC": "ISO/IEC 9899:1990 (“ISO C90”)",
    "isoC-2011": "ISO/IEC 9899:2011 (“ISO C11”)",
    "isoC-90": "ISO/IEC 9899:1990 (“ISO C90”)",
    "isoC-99": "ISO/IEC 9899:1999 (“ISO C99”)",
    "isoC-amd1": "ISO/IEC 9899/AMD1:1995 (“ISO C90, Amendment 1”)",
    "isoC-tcor1": "ISO/IEC 9899/TCOR1:1994 (“ISO C90, Technical Corrigendum 1”)",
    "isoC-tcor2": "ISO/IEC 9899/TCOR2:1995 (“ISO C90, Technical Corrigendum 2”)",
    "p1003.1": "IEEE Std 1003.1 (“POSIX.1”)",
    "p1003.1-2001": "IEEE Std 1003.1-2001 (“POSIX.1”)",
    "p1003.1-2004": "IEEE Std 1003.1-2004 (“POSIX.1”)",
    "p1003.1-2008": "IEEE Std 1003.1-2008 (“POSIX.1”)",
    "p1003.1-88": "IEEE Std 1003.1-1988 (“POSIX.1”)",
    "p1003.1-90": "IEEE Std 1003.1-1990 (“POSIX.1”)",
    "p1003.1-96": "ISO/IEC 9945-1:1996 (“POSIX.1”)",
    "p1003.1b": "IEEE Std 1003.1b (“POSIX.1b”)",
    "p1003.1b-93": "IEEE Std 1003.1b-1993 (“POSIX.1b”)",
    "p1003.1c-95": "IEEE Std 1003.1c-1995 (“POSIX.1c”)",
    "p1003.1g-2000": "IEEE Std 1003.1g-2000 (“POSIX.1g”)",
    "p1003.1i-95": "IEEE Std 1003.1i-1995 (“POSIX.1i”)",
    "p1003.2": "IEEE Std 1003.2 (“POSIX.2”)",
    "p1003.2-92": "IEEE Std 1003.2-1992 (“POSIX.2”)",
    "p1003.2a-92": "IEEE Std 1003.2a-1992 (“POSIX.2”)",
    "susv1": "Version 1 of the Single UNIX Specification (“SUSv1”)",
    "susv2": "Version 2 of the Single UNIX Specification (“SUSv2”)",
    "susv3": "Version 3 of the Single UNIX Specification (“SUSv3”)",
    "susv4": "Version 4 of the Single UNIX Specification (“SUSv4”)",
    "svid4": "System V Interface Definition, Fourth Edition (“SVID4”)",
    "xbd5": "X/Open Base Definitions Issue 5 (“XBD5”)",
    "xcu5": "X/Open Commands and Utilities Issue 5 (“XCU5”)",
    "xcurses4.2": "X/Open Curses Issue 4, Version 2 (“XCURSES4.2”)",
    "xns5": "X/Open Networking Services Issue 5 (“XNS5”)",
    "xns5.2": "X/Open Networking Services Issue 5.2 (“XNS5.2”)",
    "xpg3": "X/Open Portability Guide Issue 3 (“XPG3”)",
    "xpg4": "X/Open Portability Guide Issue 4 (“XPG4”)",
    "xpg4.2": "X/Open Portability Guide Issue 4, Version 2 (“XPG4.2”)",
    "xsh4.2": "X/Open System Interfaces and Headers Issue 4, Version 2 (“XSH4.2”)",
    "xsh5": "X/Open System Interfaces and Headers Issue 5 (“XSH5”)",
}

_LIBRARIES = {
    "libarchive": "Streaming Archive Library", "libc": "Standard C Library", "libcrypt": "Crypt Library",
    "libcurses": "Curses Library", "libedit": "Command Line Editor Library", "libelf": "ELF Access Library",
    "libevent": "Event Notification Library", "libintl": "Internationalized Message Handling Library",
    "libkvm": "Kernel Data Access Library", "libm": "Math Library", "libmagic": "Magic Number Recognition Library",
    "libmd": "Message Digest (MD4, MD5, etc.) Support Library", "libpam": "Pluggable Authentication Module Library",
    "libpcap": "Packet capture Library", "libpthread": "POSIX Threads Library", "librt": "POSIX Real-time Library",
    "libutil": "System Utilities Library", "libz": "Compression Library",
}  # fmt: skip

_SYSTEMS = {
    "Bsx": "BSD/OS", "Dx": "DragonFly", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "Ux": "UNIX",
}  # fmt: skip


class Mdoc:
    """Passes the content of mdoc(7) macros and lines to a layout."""

    def __init__(self, roff: Roff, layout: ManLayout) -> None:
        self.layout = layout
        self.title: list[str] = []
        """Name and section, from .Dt."""
        self.date = ""
        self._roff = roff
        self._inline = _Inline(roff, layout)
        self._lists: list[_List] = []
        self._counts: list[int] = []
        self._displays: list[bool] = []
        self._head_depth = -1
        self._reference: dict[str, list[str]] | None = None
        self._number = 0
        self._handlers: dict[str, Callable[[str], None]] = {
            "Dd": self._date, "Dt": self._title, "Sh": self._section, "Ss": self._subsection, "Pp": self._paragraph,
            "Lp": self._paragraph, "Bl": self._list, "It": self._item, "El": self._list_end, "Bd": self._display,
            "Ed": self._display_end, "D1": self._one_line, "Dl": self._one_line, "Nd": self._description,
            "Rs": self._reference_start, "Re": self._reference_end, "Sm": self._spacing, "Ex": self._exit_status,
            "Rv": self._return_value, "Ud": self._under_development, "Bt": self._beta, "br": self._break,
            "sp": self._space, "nf": self._nf, "fi": self._fi, "PP": self._paragraph, "in": self._break,
        }  # fmt: skip

    def text(self, line: str, number: int) -> None:
        """Add a line of text."""
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
        """Run a macro or a request. The arguments of an unknown one are text."""
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
        """Add a table, one line per row."""

        def render_cell(inner: list[str]) -> str:
            cell = Mdoc(self._roff, ManLayout())
            cell._inline.name = self._inline.name
            self._roff.within(inner, cell)
            return " ".join(cell.layout.done().split())

        self.layout.block(rows_of(lines, render_cell, self._roff), number)

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

    def _heading_text(self, rest: str) -> str:
        """Return the content of a heading line."""
        tokens = tokens_of(rest)
        if not any(token.text in self._inline.macros for token in tokens):
            return self._plain(rest)
        layout = ManLayout()
        inline = _Inline(self._roff, layout)
        inline.name = self._inline.name
        inline.run(tokens, self._number)
        return layout.done()

    def _date(self, rest: str) -> None:
        self.date = self.date or self._plain(rest).removeprefix("$Mdocdate").strip(":$ ")

    def _title(self, rest: str) -> None:
        if not self.title:
            self.title = self._plain(rest).split(" ")

    def _section(self, rest: str) -> None:
        self._heading(rest, HEADING)

    def _subsection(self, rest: str) -> None:
        self._heading(rest, HEADING + 1)

    def _heading(self, rest: str, level: int) -> None:
        layout, name = self.layout, self._heading_text(rest)
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
            self._inline.run([RoffToken("No"), *_as_text(tokens_of(rest))], self._number)
        else:
            self._reference.setdefault(kind, []).append(text)

    def _reference_end(self, rest: str) -> None:
        parts, self._reference = self._reference or {}, None
        authors = parts.pop("A", [])
        pieces = [_series(authors)] if authors else []
        for kind in _REFERENCE:
            pieces += [
                f"“{each}”" if kind == "T" and ("J" in parts or "B" in parts) else each
                for each in parts.get(kind, [])
            ]
        if pieces:
            self.layout.add(f"{', '.join(pieces)}.", self._number)

    def _spacing(self, rest: str) -> None:
        word = rest.strip()
        is_on = word == "on" or (word != "off" and not self.layout.is_spaced)
        self.layout.spaced(is_on=is_on)

    def _exit_status(self, rest: str) -> None:
        names = [self._roff.plain(word) for word in words(rest)[1:]] or [self._inline.name]
        verb = "utility exits" if len(names) == 1 else "utilities exit"
        self._sentence(f"The {_series(names)} {verb} 0 on success, and >0 if an error occurs.")

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


class _List(NamedTuple):
    kind: str
    was_compact: bool


def _as_text(tokens: list[RoffToken]) -> list[RoffToken]:
    """Return the words with macro names unread; delimiters at the end stay delimiters."""
    return [token if token.text in _CLOSING else RoffToken(token.text, is_quoted=True) for token in tokens]


def _cells(token: RoffToken) -> list[RoffToken]:
    """Split a word at tabs, which separate cells."""
    cells = [cell.strip(" ") for cell in token.text.split("\t")]
    parts = [each for cell in cells for each in (RoffToken("Ta"), RoffToken(cell, token.is_quoted))]
    return [each for each in parts[1:] if each.text]


def _series(names: list[str]) -> str:
    """Return `a`, `a and b` or `a, b, and c`."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


class RoffToken(NamedTuple):
    """A word of a line. is_quoted: it is never a macro or a delimiter."""

    text: str
    is_quoted: bool = False


def tokens_of(rest: str) -> list[RoffToken]:
    """Return the words of a macro line."""
    if '"' not in rest and "\\ " not in rest:
        return [RoffToken(word) for word in rest.split(" ") if word]
    found = _TOKEN.findall(rest.rstrip(" ") if rest[-2:] != "\\ " else rest)
    return [
        RoffToken(bare) if bare else RoffToken(quoted.replace('""', '"'), is_quoted=True) for quoted, bare in found
    ]


_GLUE = RoffToken("Ns")


class _Inline:
    """Passes the content of inline macros to a layout. Open enclosures continue on the next line."""

    def __init__(self, roff: Roff, layout: ManLayout) -> None:
        self.name = ""
        """Default name for .Nm."""
        self.is_synopsis = False
        self.is_split = False
        """True if each author begins a line."""
        self.depth = 0
        """Number of open enclosures."""
        self._roff = roff
        self._layout = layout
        self._number = 0
        self._mode = "No"
        self._word_count = 0
        self._gathered: list[str] = []
        self._function: list[str] | None = None
        self._behind: list[str] = []
        self._breaks = False
        self._gathering: dict[str, Callable[[list[str]], None]] = {
            "Xr": self._reference, "Fn": self._call, "Fo": self._function_start, "Fc": self._function_end,
            "In": self._include, "Lk": self._link, "St": self._standard, "Lb": self._library, "At": self._att,
            "Bx": self._berkeley, "An": self._author,
            **dict.fromkeys(_SYSTEMS, self._system),
        }  # fmt: skip
        self.macros = frozenset((*_AROUND, *_OPENS, *_CLOSES, *_WORDS, *self._gathering, "Ns", "Ap", "Pf", "Ta"))

    def run(self, tokens: list[RoffToken], number: int) -> None:
        """Add the content of a line, including its first macro."""
        self._number = number
        last = len(tokens)
        while last > 1 and tokens[last - 1].text in _CLOSING and not tokens[last - 1].is_quoted:
            last -= 1
        self._behind = []
        self._mode, self._word_count = "No", 0
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
        """Close the enclosures that end with their line or cell."""
        while self._behind:
            self._layout.add(self._behind.pop(), self._number, glued=True)

    def _read(self, token: RoffToken, *, is_first: bool) -> None:
        text = token.text
        if token.is_quoted:
            self._word(text)
        elif text in self.macros:
            self._finish(goes_on=True)
            self._start(text, is_first=is_first)
        elif text in _CLOSING or text in _OPENING or text in _MIDDLE:
            self._delimiter(text)
        else:
            self._word(text)

    def _say(self, text: str, *, glued: bool = False) -> None:
        if text:
            self._layout.add(text, self._number, glued=glued)

    def _start(self, macro: str, *, is_first: bool) -> None:
        layout = self._layout
        self._mode, self._word_count = "No", 0
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
        self._word_count += 1

    def _delimiter(self, text: str) -> None:
        if self._mode in self._gathering:
            if self._gathered or text not in _OPENING:
                self._finish(goes_on=False)
                self._mode, self._word_count = "No", 1
        elif not self._word_count and text in _CLOSING:
            self._finish(goes_on=False)
            self._word_count = 1
        if self._mode == "Pf":
            self._word(text)
            return
        self._say(text, glued=text in _CLOSING)
        if text in _OPENING:
            self._layout.glue()

    def _finish(self, *, goes_on: bool) -> None:
        """End a macro, and add its default text if it had no words."""
        mode = self._mode
        if mode in self._gathering:
            self._mode = "No"
            self._gathering[mode](self._gathered if mode not in _SYSTEMS else [mode, *self._gathered])
        elif not self._word_count:
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
        self._all([*map(_standard, words[:1]), *words[1:]])

    def _library(self, words: list[str]) -> None:
        self._all([*map(_library, words[:1]), *words[1:]])

    def _att(self, words: list[str]) -> None:
        self._all([_att("".join(words[:1])), *words[1:]])

    def _berkeley(self, words: list[str]) -> None:
        self._all([_berkeley(*words[:2]) if words else "BSD", *words[2:]])

    def _system(self, words: list[str]) -> None:
        self._all([_system(*words[:2]), *words[2:]] if words[0] != "Ux" else ["UNIX", *words[1:]])

    def _author(self, words: list[str]) -> None:
        if words[:1] in (["-split"], ["-nosplit"]):
            self.is_split = words[0] == "-split"
            return
        if self.is_split and self._layout.filled:
            self._layout.line_break()
        self._all(words)


def _standard(name: str) -> str:
    """Return the full name of a standard such as `-p1003.1`."""
    return _STANDARDS.get(name.removeprefix("-"), name)


def _library(name: str) -> str:
    """Return the full name of a library such as `libc`."""
    full = _LIBRARIES.get(name)
    return f"{full} ({name}, -l{name.removeprefix('lib')})" if full else f"library “{name}”"


def _att(version: str) -> str:
    """Return the name of an AT&T UNIX release."""
    if version[:1] == "V" and version[1:2] == ".":
        return f"AT&T System V Release {version[2:]} UNIX"
    if version in ("III", "V"):
        return f"AT&T System {version} UNIX"
    if version == "32v":
        return "Version 7 AT&T UNIX/32V"
    if version[:1] == "v" and version[1:].isdecimal():
        return f"Version {version[1:]} AT&T UNIX"
    return f"AT&T UNIX {version}".rstrip()


def _berkeley(version: str, variant: str = "") -> str:
    """Return the name of a BSD release."""
    return f"{version}BSD{'-' + variant.capitalize() if variant else ''}"


def _system(macro: str, version: str = "") -> str:
    """Return the name of a system from its macro."""
    return f"{_SYSTEMS[macro]} {version}".rstrip()
