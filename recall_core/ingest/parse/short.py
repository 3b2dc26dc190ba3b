"""Short names for headings and titles, of texts of any length."""

from __future__ import annotations

LONGEST = 120
"""Characters of a name, about as many as are shown."""


def short(text: str, most: int = LONGEST) -> str:
    """The beginning of a text on one line, white space collapsed; what is cut off ends in an ellipsis."""
    line = " ".join(text.lstrip()[: 8 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
