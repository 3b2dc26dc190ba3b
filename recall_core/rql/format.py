"""Query text in its canonical spelling, with the comments it had."""

from __future__ import annotations

from recall_core.rql.parser import parse_query
from recall_core.rql.pieces import pieces
from recall_core.rql.print import print_query


def format_query(text: str) -> str:
    """The query on one line, below its comments, which keep their order; no line break at the end.

    Formatting twice changes nothing more. Raises RqlError, also for what a query may hold in vain (an unknown
    SELECT field, ORDER BY score without USING): its canonical spelling would leave that out.
    """
    query = parse_query(text, strict=True).query
    comments = [piece.text.rstrip() for piece in pieces(text) if piece.kind == "comment"]
    return "\n".join([*comments, print_query(query)])
