"""How many examples a promise is held against: of a property, where the number of the profile does not fit it, and of
a list of cases that cost a workbench each."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

USUAL = 50
"""Those of every commit. A nightly run looks at forty times as many, and at new ones."""


def examples(count: int) -> settings:
    """So many instead of the usual ones, and as many times more in a profile that has more than those."""
    return settings(max_examples=max(1, count * settings().max_examples // USUAL), deadline=None)


def mostly_nightly(cases: Iterable[str], *quick: str) -> list[Any]:
    """The cases for parametrize: these few in every run, those that differ in a detail in the nightly one."""
    held = list(cases)
    assert {*quick} <= {*held}
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in held]
