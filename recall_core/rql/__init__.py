"""RQL, the query language: text to tree and back, and what a filter means."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.rql import ast, complete, fields, highlight, lexer, match, options, parser, print, views
else:
    __getattr__ = attach(__name__)
