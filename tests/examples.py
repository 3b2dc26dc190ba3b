"""How many examples a property is held against, where the number of the profile does not fit it."""

from hypothesis import settings

USUAL = 50
"""Those of every commit. A nightly run looks at forty times as many, and at new ones."""


def examples(count: int) -> settings:
    """So many instead of the usual ones, and as many times more in a profile that has more than those."""
    return settings(max_examples=max(1, count * settings().max_examples // USUAL), deadline=None)
