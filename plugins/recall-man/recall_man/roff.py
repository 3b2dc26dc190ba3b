"""The input side of roff: resolves conditionals, strings, registers and page-defined macros to plain lines.

Expansion is bounded to eight times the size of the page. Beyond that, nothing is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from recall_man.escapes import NAME, plain, tokens, words

DEEPEST = 50  # nested macros or strings
_GROWTH, _SPARE = 8, 1 << 20
_LINE, _PIECE = 32, 8  # cost of an expanded macro line and of an expanded string, in addition to its length
_LONGEST = 10_000  # code points of a string

_CONTROL = re.compile(r"[.'][ \t]*([^ \t\\]*)[ \t]*")
_TO_READ = re.compile(r"\\[*n\"#$]")
_READ = re.compile(r"\\(?:[\"#][\s\S]*+|[*$]" + NAME + r"|n[-+]?" + NAME + r"|[\s\S])")
_OPEN = re.compile(r"^(?:\\\{[ \t]*+)++")

_STRUCTURE = frozenset(("TH", "SH", "SS", "Dd", "Dt", "Sh", "Ss"))
"""Macros that a page cannot redefine."""

_BRACES = re.compile(r"\\[\\{}]")

_STRINGS = {
    "R": "®", "S": "", "Tm": "™", "lq": "“", "rq": "”", "HF": "", ".T": "utf8", "Lq": "“", "Rq": "”", "q": "\\(dq",
    "<=": "≤", ">=": "≥", "Le": "≤", "Ge": "≥", "Lt": "<", "Gt": ">", "Ne": "≠", "Pm": "±", "If": "∞", "Pi": "π",
    "Am": "&", "Ba": "|", "Na": "NaN", "lp": "(", "rp": ")", "lb": "{", "rb": "}", "ua": "↑",
    "aa": "´", "ga": "`", "Aq": "'",
}  # fmt: skip
_NUMBERS = {".g": 1, ".x": 1, ".y": 22, ".V": 40, ".H": 24, ".l": 1872, ".u": 1, ".j": 1, ".s": 10, ".v": 40}

_MOST = 2**31 - 1
_NUMBER = re.compile(r"(\d{1,10}(?:\.\d*)?|\.\d{1,10})[\d.]*([icpPmMnuvszf]?)")
_OPERATOR = re.compile(r"<=|>=|==|<\?|>\?|[-+*/%<>=&:]")
_UNITS = {"i": 240, "c": 94, "p": 3, "P": 40, "m": 24, "n": 24, "v": 40}
_PARENTHESES = 50  # open parentheses in one expression
_DEFINED = re.compile(r"([drcmFS])[ \t]*(\S+)")


class Sink(Protocol):
    """Receiver of a page's lines. number: line number in the file."""

    def text(self, line: str, number: int) -> None:
        """Handle a line of text. Glyphs and fonts are still escapes."""

    def macro(self, name: str, rest: str, number: int) -> None:
        """Handle a formatting macro or request."""

    def table(self, lines: list[str], number: int) -> None:
        """Handle the lines between .TS and .TE."""


class Roff:
    """Reads the lines of one page. size: code points of the page, which bound its expansion."""

    def __init__(self, size: int) -> None:
        self.notes: list[str] = []
        self.sources: list[str] = []
        """Other pages included by .so."""
        self.number = 0
        self._strings = dict(_STRINGS)
        self._numbers = dict(_NUMBERS)
        self._macros: dict[str, list[str]] = {}
        self._aliases: dict[str, str] = {}
        self._translations: dict[int, str] = {}
        self.translates = False
        """Character translations set by .tr."""
        self._left = _GROWTH * size + _SPARE
        self._frames: list[_RoffFrame] = []
        self._chosen: list[bool] = []
        self._nested = 0
        self._sink: Sink
        self._requests: dict[str, Callable[[str], None]] = {
            "de": self._define, "de1": self._define, "am": self._append, "am1": self._append, "ig": self._ignore,
            "ds": self._string, "ds1": self._string, "as": self._string_more, "as1": self._string_more,
            "nr": self._register, "rr": self._nothing, "rm": self._remove, "rn": self._alias_of_new,
            "als": self._alias, "if": self._if, "while": self._if, "ie": self._if_else, "el": self._else,
            "so": self._source, "tr": self._translate, "nop": self._line, "do": self._do, "return": self._return,
            "shift": self._shift, "TS": self._table,
        }  # fmt: skip

    def plain(self, text: str) -> str:
        """Return a line as displayed, after .tr."""
        text = plain(text)
        return text.translate(self._translations) if self._translations else text

    def run(self, lines: list[str], sink: Sink) -> None:
        """Pass the content of the page's lines to the sink."""
        self._sink = sink
        self._frames = frames = [_RoffFrame(lines, None)]
        while frames:
            frame = frames[-1]
            if frame.at >= len(frame.lines):
                frames.pop()
                continue
            line = frame.lines[frame.at]
            frame.at += 1
            if frame.arguments is None:
                self.number = frame.at
            self._line(line)

    def within(self, lines: list[str], sink: Sink) -> None:
        """Pass the content of lines inside a table to another sink."""
        kept = self._frames, self._sink, self.number
        self._requests["TS"] = self._nothing
        self.run(lines, sink)
        self._requests["TS"] = self._table
        self._frames, self._sink, self.number = kept

    def expand(self, line: str) -> str:
        """Expand the strings, registers and arguments of a line, and drop its comment."""
        for _ in range(DEEPEST):
            if "\\" not in line or not _TO_READ.search(line):
                break
            line = _READ.sub(self._value, line)
            if "\\*" not in line:
                break
        return line

    def _line(self, line: str) -> None:
        if "\\" in line:
            if line.endswith("\\"):
                line = self._join_continued(line)
            if _TO_READ.search(line):
                is_commented = '\\"' in line or "\\#" in line
                line = self.expand(line)
                if is_commented and not line.strip():
                    return
        if line.startswith((".", "'")):
            self._control(line)
        else:
            self._sink.text(line, self.number)

    def _join_continued(self, line: str) -> str:
        """Return the line joined with its continuation lines."""
        if line.startswith(('.\\"', "'\\\"")):
            return line
        parts = []
        frame = self._frames[-1] if self._frames else _RoffFrame([], None)
        while line.endswith("\\") and (len(line) - len(line.rstrip("\\"))) % 2:
            if frame.at >= len(frame.lines):
                line = line[:-1]
                break
            parts.append(line[:-1])
            line = frame.lines[frame.at]
            frame.at += 1
        return "".join([*parts, line])

    def _value(self, found: re.Match[str]) -> str:
        """Return the value of an input escape; other escapes are unchanged."""
        escape = found[0]
        match escape[1]:
            case "*":
                value = _escape_quotes(self._strings.get(_name_of(escape[2:]).partition(" ")[0], ""))
            case "n":
                value = self._number(escape[2:])
            case "$":
                arguments = self._frames[-1].arguments if self._frames else None
                value = escape if arguments is None else _argument_of(_name_of(escape[2:]), arguments)
            case '"' | "#":
                return ""
            case _:
                return escape
        return value if self._spend(len(value) + _PIECE) else ""

    def _copied(self, found: re.Match[str]) -> str:
        return "\\" if found[0] == "\\\\" else self._value(found)

    def _copy(self, text: str) -> str:
        """Return a text in roff's copy mode, for reading it again later."""
        return _READ.sub(self._copied, text) if "\\" in text else text

    def _spend(self, size: int) -> bool:
        self._left -= size
        if self._left < 0:
            self.note("endless expansion of macros or strings: cut short")
        return self._left >= 0

    def note(self, text: str) -> None:
        """Add a note on the page, once."""
        if text not in self.notes:
            self.notes.append(text)

    def _number(self, name: str) -> str:
        step = name[:1] if name[:1] in ("+", "-") else ""
        name = _name_of(name.removeprefix(step)) if step else _name_of(name)
        if name == ".$":
            return str(len(self._frames[-1].arguments or ()))
        value = self._numbers.get(name, 0)
        if step:
            value = self._numbers[name] = value + (1 if step == "+" else -1)
        return str(value)

    def _control(self, line: str) -> None:
        found = _CONTROL.match(line)
        if not found:
            return
        name, rest = found[1], line[found.end() :]
        if not name:
            rest = rest[2:].lstrip(" \t") if rest.startswith("\\}") else ""
            if rest:
                self._deeper(rest)
            return
        name = self._aliases.get(name, name)
        body = self._macros.get(name) if name not in _STRUCTURE else None
        if body is not None:
            self._call(body, rest)
        elif request := self._requests.get(name):
            request(rest)
        else:
            if "\\\\*" in rest:
                rest = self.expand(rest.replace("\\\\*", "\\*"))
            self._sink.macro(name, rest, self.number)

    def _call(self, body: list[str], rest: str) -> None:
        if len(self._frames) > DEEPEST:
            self.note(f"macros nested deeper than {DEEPEST}: cut short")
        elif self._spend(sum(map(len, body)) + _LINE * (len(body) + 1)):
            self._frames.append(_RoffFrame(body, words(rest)))

    def _deeper(self, line: str) -> None:
        """Read a line nested in another line."""
        if self._nested < DEEPEST:
            self._nested += 1
            self._line(line)
            self._nested -= 1

    # Requests.

    def _nothing(self, rest: str) -> None:
        pass

    def _do(self, rest: str) -> None:
        self._deeper(f".{rest}")

    def _define(self, rest: str) -> None:
        name, _, end = rest.strip().partition(" ")
        self._macros[name] = self._body(end.strip())
        self._aliases.pop(name, None)

    def _append(self, rest: str) -> None:
        name, _, end = rest.strip().partition(" ")
        self._macros.setdefault(name, []).extend(self._body(end.strip()))

    def _ignore(self, rest: str) -> None:
        self._until(rest.strip() or ".")

    def _body(self, end: str) -> list[str]:
        return [self._copy(line) for line in self._until(end or ".")]

    def _until(self, end: str) -> list[str]:
        """Return the lines up to the macro that ends them, and skip that macro."""
        frame = self._frames[-1]
        first = frame.at
        for at in range(first, len(frame.lines)):
            if _is_call_of(end, frame.lines[at]):
                frame.at = at + 1
                return frame.lines[first:at]
        frame.at = len(frame.lines)
        return frame.lines[first:]

    def _string(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        self._keep(name, self._copy(value.lstrip(" ").removeprefix('"')))

    def _string_more(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        self._keep(name, self._strings.get(name, "") + self._copy(value.lstrip(" ").removeprefix('"')))

    def _keep(self, name: str, value: str) -> None:
        if len(value) > _LONGEST:
            self.note(f"string longer than {_LONGEST:,} characters: cut short")
        self._strings[name] = value[:_LONGEST]

    def _register(self, rest: str) -> None:
        name, _, value = rest.replace("\t", " ").partition(" ")
        value = value.strip()
        result = _evaluate(value)
        if name and result:
            before = self._numbers.get(name, 0) if value[:1] in ("+", "-") else 0
            self._numbers[name] = before + result[0]

    def _remove(self, rest: str) -> None:
        for name in rest.split():
            self._macros.pop(name, None)
            self._strings.pop(name, None)

    def _alias(self, rest: str) -> None:
        new, _, old = rest.strip().partition(" ")
        old = old.strip()
        if old in self._macros:
            self._macros[new] = self._macros[old]
        elif new != old:
            self._aliases[new] = self._aliases.get(old, old)
        if old in self._strings:
            self._strings[new] = self._strings[old]

    def _alias_of_new(self, rest: str) -> None:
        old, _, new = rest.strip().partition(" ")
        self._alias(f"{new.strip()} {old}")
        self._remove(old)

    def _is_defined(self, kind: str, name: str) -> bool:
        if kind == "r":
            return name in self._numbers
        return kind in "cFS" or name in self._macros or name in self._strings or name in self._requests

    def _if(self, rest: str) -> None:
        truth, at = _evaluate_condition(rest, 0, self._is_defined)
        self._branch(truth, rest[at:])

    def _if_else(self, rest: str) -> None:
        truth, at = _evaluate_condition(rest, 0, self._is_defined)
        self._chosen.append(not truth)
        self._branch(truth, rest[at:])

    def _else(self, rest: str) -> None:
        self._branch(self._chosen.pop() if self._chosen else False, rest)

    def _branch(self, truth: bool, rest: str) -> None:
        rest = rest.lstrip(" \t")
        if not truth:
            self._skip(rest)
            return
        rest = _OPEN.sub("", rest, count=1)
        if rest:
            self._deeper(rest)

    def _skip(self, rest: str) -> None:
        """Skip a branch: the rest of the line, and the lines in its braces."""
        depth = _open_braces(rest)
        frame = self._frames[-1]
        while depth > 0 and frame.at < len(frame.lines):
            depth += _open_braces(frame.lines[frame.at])
            frame.at += 1

    def _source(self, rest: str) -> None:
        self.sources.append(rest.strip())

    def _translate(self, rest: str) -> None:
        pairs = [plain(each) for each in tokens(rest)]
        for one, other in zip(pairs[::2], [*pairs[1::2], " "], strict=False):
            if len(one) == 1:
                self._translations[ord(one)] = other
                self.translates = True

    def _return(self, rest: str) -> None:
        if self._frames[-1].arguments is not None:
            self._frames[-1].at = len(self._frames[-1].lines)

    def _shift(self, rest: str) -> None:
        frame = self._frames[-1]
        if frame.arguments:
            frame.arguments = frame.arguments[int(rest) if rest.isdecimal() and len(rest) < 4 else 1 :]

    def _table(self, rest: str) -> None:
        number_of_first = self.number + 1
        lines = self._until("TE")
        self._sink.table(lines, number_of_first)


class _RoffFrame:
    """Lines being read: the page's own, or those of a macro with its arguments."""

    __slots__ = ("arguments", "at", "lines")

    def __init__(self, lines: list[str], arguments: list[str] | None) -> None:
        self.lines = lines
        self.arguments = arguments
        self.at = 0


def _evaluate_condition(text: str, at: int, is_defined: Callable[[str, str], bool]) -> tuple[bool, int]:
    """Evaluate the condition at this offset. Return its value and end. is_defined: for `d name` and similar."""
    expected = True
    while at < len(text) and text[at] in "! \t":
        expected ^= text[at] == "!"
        at += 1
    sign = text[at : at + 1]
    after = text[at + 1 : at + 2]
    if sign and sign in "notev" and not after.isalnum():
        return (sign in "no") == expected, at + 1
    if found := _DEFINED.match(text, at):
        return is_defined(found[1], found[2]) == expected, found.end()
    if sign and sign not in "0123456789.(+-\\{ \t" and not sign.isalnum():
        first = text.find(sign, at + 1)
        last = text.find(sign, first + 1) if first >= 0 else -1
        if last < 0:
            return not expected, len(text)
        return (text[at + 1 : first] == text[first + 1 : last]) == expected, last + 1
    value = _evaluate(text, at)
    if value is None:
        return not expected, at
    return (value[0] > 0) == expected, value[1]


def _evaluate(text: str, at: int = 0) -> tuple[int, int] | None:
    """Evaluate an expression left to right, as roff does. Return its value and end; None if there is none."""
    stack: list[tuple[int, str, bool]] = []
    total, operator, negative = 0, "+", False
    is_open, start = True, at
    while at < len(text):
        sign = text[at]
        if sign == " " and stack:
            at += 1
        elif is_open and sign in "+-":
            negative ^= sign == "-"
            at += 1
        elif is_open and sign == "(" and len(stack) < _PARENTHESES:
            stack.append((total, operator, negative))
            total, operator, negative = 0, "+", False
            at += 1
        elif is_open:
            found = _NUMBER.match(text, at)
            if not found:
                break
            value = int(float(found[1]) * _UNITS.get(found[2], 1))
            total, negative = _calculate(total, operator, -value if negative else value), False
            is_open, at = False, found.end()
        elif sign == ")" and stack:
            outer, operator, negative = stack.pop()
            total = _calculate(outer, operator, -total if negative else total)
            negative = False
            at += 1
        elif operation := _OPERATOR.match(text, at):
            operator, is_open, at = operation[0], True, operation.end()
        else:
            break
    return None if is_open and at == start else (total, at)


def _calculate(left: int, operator: str, right: int) -> int:
    match operator:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "/" | "%":
            value = 0 if not right else left // right if operator == "/" else left % right
        case "<" | "<=":
            value = int(left < right or (operator == "<=" and left == right))
        case ">" | ">=":
            value = int(left > right or (operator == ">=" and left == right))
        case "=" | "==":
            value = int(left == right)
        case "&":
            value = int(left > 0 and right > 0)
        case ":":
            value = int(left > 0 or right > 0)
        case _:
            value = min(left, right) if operator == "<?" else max(left, right)
    return max(-_MOST, min(_MOST, value))


def _name_of(text: str) -> str:
    """Return the name in x, (xx or [name]."""
    if text[:1] == "[":
        return text[1:].removesuffix("]")
    return text[1:] if text[:1] == "(" else text


def _argument_of(name: str, arguments: list[str]) -> str:
    """Return the argument with this number; all of them for `*`, quoted for `@`."""
    if name == "*":
        return _escape_quotes(" ".join(arguments))
    if name == "@":
        return " ".join(f'"{_escape_quotes(each)}"' for each in arguments)
    i = int(name) if name.isdecimal() and len(name) < 4 else 0
    return _escape_quotes(arguments[i - 1]) if 0 < i <= len(arguments) else ""


def _escape_quotes(value: str) -> str:
    """Escape the quotes in a value, so that they do not delimit arguments."""
    return value.replace('"', "\\(dq") if '"' in value else value


def _is_call_of(name: str, line: str) -> bool:
    """Return True if a line calls this macro. The name `.` ends a definition."""
    if not line.startswith((".", "'", "\\.")):
        return False
    called = line[1 + line.startswith("\\") :].lstrip(" \t")
    return called.startswith(name) and called[len(name) : len(name) + 1] in ("", " ", "\t", "\\")


def _open_braces(line: str) -> int:
    """Return the number of conditional braces that a line leaves open."""
    if "\\{" not in line and "\\}" not in line:
        return 0
    found = _BRACES.findall(line)
    return found.count("\\{") - found.count("\\}")
