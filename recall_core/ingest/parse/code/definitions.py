"""Definitions in a syntax tree: what the query of a language captures, each with its name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from recall_core.ingest.parse.code.languages import GRAMMARS
from recall_core.ingest.parse.code.queries import QUERIES, REPEATED
from recall_core.ingest.parse.code.units import Above, Definition, named

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

_CALLED = frozenset(("function", "method"))  # what is written with brackets where it has no keyword
_HEADER = re.compile(rb"[^\n{;]{0,400}")
_LONGEST_NAME_BYTES = 500


class NoGrammar(Exception):
    """The grammar of a language is not installed, or is not one that can be used."""


def definitions_of(source: bytes, language: str) -> tuple[list[Definition], list[Above]]:
    """Definitions of a source in UTF-8, and what stands above them; each in order, what holds others first.

    Where the source is not well formed, it is what could be recognized.  Raises NoGrammar.
    """
    parser, query = _tools(language)
    from tree_sitter import QueryCursor  # noqa: PLC0415 - it is installed, or there were no tools

    matches = QueryCursor(query).matches(parser.parse(source).root_node)
    found: dict[tuple[int, int], tuple[int, Definition]] = {}
    above: list[Above] = []
    for pattern, captures in matches:
        for kind, nodes in captures.items():
            if kind in ("above", "bound"):
                above += [_above(source, node, is_bound=kind == "bound") for node in nodes]
            elif kind not in ("word", "name"):
                place = nodes[0].start_byte, nodes[0].end_byte
                if place not in found or pattern < found[place][0]:
                    found[place] = pattern, _definition(source, kind, nodes[0], captures)
    comments = {each.end: each.start for each in above if not each.is_bound}
    definitions = [_without_comments(source, definition, comments) for _, definition in found.values()]
    definitions.sort(key=lambda each: (each.start, -each.end))
    if language in REPEATED:
        definitions = list(_joined(definitions))
    return definitions, list(_apart(above))


@cache
def _tools(language: str) -> tuple[Parser, Query]:
    """The parser and the query of a language."""
    grammar = GRAMMARS.get(language)
    if grammar is None:
        raise NoGrammar(language)
    try:
        from tree_sitter import Language, Parser, Query  # noqa: PLC0415 - no other file needs it

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # some grammars hand over a number
            loaded = Language(getattr(import_module(grammar.module), grammar.function)())
        return Parser(loaded), Query(loaded, QUERIES[language])
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise NoGrammar(language) from error


def _definition(source: bytes, kind: str, node: Node, captures: dict[str, list[Node]]) -> Definition:
    start, end = node.start_byte, _end_of_code(source, node.start_byte, node.end_byte)
    names, words = captures.get("name"), captures.get("word", ())
    if not names:
        header = _HEADER.match(source, start, end)
        return Definition(start, end, kind, named(header[0].decode(errors="ignore") if header else ""))
    first, last = min(name.start_byte for name in names), max(name.end_byte for name in names)
    name = source[first : min(last, first + _LONGEST_NAME_BYTES)].decode(errors="ignore")
    keyword = " ".join(source[word.start_byte : word.end_byte].decode() for word in words)
    after = "()" if kind in _CALLED and not words else ""
    return Definition(start, end, kind, named(f"{keyword} {name}{after}"))


def _without_comments(source: bytes, definition: Definition, comments: dict[int, int]) -> Definition:
    """Return the definition without the comments at its end, which Python's grammar counts to it and Python does not.

    comments: where each begins, by its end.
    """
    end = definition.end
    while (start := comments.get(end, 0)) > definition.start:
        end = _end_of_code(source, definition.start, start)
    return definition._replace(end=end)


def _above(source: bytes, node: Node, *, is_bound: bool) -> Above:
    return Above(node.start_byte, _end_of_code(source, node.start_byte, node.end_byte), is_bound)


def _end_of_code(source: bytes, start: int, end: int) -> int:
    """Return where a stretch ends without the white space at its end, which some grammars count to a node."""
    while end > start and source[end - 1] in b" \t\r\n":
        end -= 1
    return end


def _apart(above: list[Above]) -> Iterable[Above]:
    """What stands inside of no other, in order."""
    reached = 0
    for each in sorted(above, key=lambda one: (one.start, -one.end)):
        if each.start >= reached:
            reached = each.end
            yield each


def _joined(definitions: list[Definition]) -> Iterable[Definition]:
    """Definitions, those of the same function that follow one another as one."""
    last: Definition | None = None
    for each in definitions:
        if last and (each.kind, each.name) == (last.kind, last.name) and each.start >= last.end:
            last = last._replace(end=each.end)
            continue
        if last:
            yield last
        last = each
    if last:
        yield last
