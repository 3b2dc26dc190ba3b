"""Telling a query from plain words, where either may be typed."""

from __future__ import annotations

import re

_SELECT = re.compile(r"(?:\s|--[^\n]*+)*+select(?=[\s*]|$)", re.IGNORECASE)


def is_query(text: str) -> bool:
    """True when the text, after space and comments, begins with SELECT: it is then read as RQL, right or wrong."""
    return _SELECT.match(text) is not None
