"""Example counts of properties and case lists, in CI and at night."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

USUAL = 20
"""Examples of a property in CI. The nightly run has 2,000, and new ones each time."""
REFERENCE = 50
"""What the counts given to `examples` are relative to."""


def examples(count: int) -> settings:
    """Return settings for a property of unusual cost: `count` examples where others have 50."""
    return settings(max_examples=max(1, count * settings().max_examples // REFERENCE), deadline=None)


def mostly_nightly(cases: Iterable[str], *quick: str) -> list[Any]:
    """Return the cases for parametrize: quick cases always run, the others are marked slow."""
    held = list(cases)
    assert {*quick} <= {*held}
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in held]
