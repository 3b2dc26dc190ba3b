"""Conditions that figures have to meet: `ndcg@10>=.38, hybrid:mrr>.5, regressions=0`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import NamedTuple

from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint, Verbatim, flag

_CONDITION = re.compile(
    r"(?:(?P<mode>[a-z0-9_]+)\s*:\s*)?(?P<figure>[a-z_]+(?:@[0-9]+)?)\s*(?P<sign>>=|<=|==|=|>|<)\s*"
    r"(?P<number>[+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}))"
)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "==": operator.eq,
}
_HINT = Hint(AGAIN, gate=Verbatim('"ndcg@10>=.38"'))


class Condition(NamedTuple):
    """A figure, of one mode where it is named, that has to stand so to a number. text: as it was written."""

    text: str
    mode: str | None
    figure: str
    sign: str
    number: float

    def holds(self, value: float | None) -> bool:
        """Whether this value meets it; a figure that has no value meets nothing."""
        return value is not None and _HOLDS[self.sign](value, self.number)


def parse_gate(text: str) -> tuple[Condition, ...]:
    """The conditions in a list with commas, in capitals or not. Raises UsageError `bad_gate`."""
    return tuple(_condition(part.strip()) for part in text.split(","))


def _condition(text: str) -> Condition:
    found = _CONDITION.fullmatch(text.lower())
    if found is None:
        raise bad_gate(f"{text!r} is not a figure, one of >= <= > < = and a number")
    return Condition(text, found["mode"], found["figure"], found["sign"], float(found["number"]))


def bad_gate(reason: str, *, hint: str = _HINT) -> UsageError:
    """The error for a condition that cannot be asked."""
    return UsageError("bad_gate", f"{flag('gate')}: {reason}.", hint=hint)
