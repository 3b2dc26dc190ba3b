"""Numbers and conditions of roff: \n(.g, .if !'a'b', .nr x \ny+1."""

from __future__ import annotations

import re
from collections.abc import Callable

_MOST = 2**31 - 1
_NUMBER = re.compile(r"(\d{1,10}(?:\.\d*)?|\.\d{1,10})[\d.]*([icpPmMnuvszf]?)")
_OPERATOR = re.compile(r"<=|>=|==|<\?|>\?|[-+*/%<>=&:]")
_UNITS = {"i": 240, "c": 94, "p": 3, "P": 40, "m": 24, "n": 24, "v": 40}
_DEEPEST = 50


def number(text: str, at: int = 0) -> tuple[int, int] | None:
    """The value of an expression, from left to right as roff has it, and where it ends; None where there is none."""
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
        elif is_open and sign == "(" and len(stack) < _DEEPEST:
            stack.append((total, operator, negative))
            total, operator, negative = 0, "+", False
            at += 1
        elif is_open:
            found = _NUMBER.match(text, at)
            if not found:
                break
            value = int(float(found[1]) * _UNITS.get(found[2], 1))
            total, negative = _with(total, operator, -value if negative else value), False
            is_open, at = False, found.end()
        elif sign == ")" and stack:
            outer, operator, negative = stack.pop()
            total = _with(outer, operator, -total if negative else total)
            negative = False
            at += 1
        elif operation := _OPERATOR.match(text, at):
            operator, is_open, at = operation[0], True, operation.end()
        else:
            break
    return None if is_open and at == start else (total, at)


def _with(left: int, operator: str, right: int) -> int:
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


_DEFINED = re.compile(r"([drcmFS])[ \t]*(\S+)")


def holds(text: str, at: int, is_defined: Callable[[str, str], bool]) -> tuple[bool, int]:
    """Whether the condition that begins there holds, and where it ends. is_defined: of `d name` and its like."""
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
    value = number(text, at)
    if value is None:
        return not expected, at
    return (value[0] > 0) == expected, value[1]
