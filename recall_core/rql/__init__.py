"""RQL, the query language: parsing, printing, and the meaning of filters."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.rql import ast, complete, fields, highlight, lexer, match, options, parser, print, views
else:
    __getattr__ = attach(__name__)
