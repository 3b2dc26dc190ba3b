"""Small changes to the source of a module, each of which a test should notice. Reads text only, runs nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple


class Change(NamedTuple):
    """One span of a source and its replacement."""

    line: int
    statement: int
    """First line of the statement around the span. The tests of that line are used if no test reaches the line
    itself."""
    start: int
    end: int
    """Offset in bytes, as the parser counts."""
    text: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with this change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def shown(self, source: bytes) -> str:
        """Return the line with the change marked, in the format of git's word diff."""
        before = source[source.rfind(b"\n", 0, self.start) + 1 : self.start]
        after = source[self.end : (source + b"\n").index(b"\n", self.end)]
        marked = b"%s[-%s-]{+%s+}%s" % (before, source[self.start : self.end], self.text.encode(), after)
        return re.sub(r"\s+", " ", marked.decode()).strip()


_SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "not in": "in",
    "is": "is not", "is not": "is", "+": "-", "-": "+", "*": "//", "//": "*", "/": "*", "%": "*", "|": "&", "&": "|",
    "and": "or", "or": "and", "min": "max", "max": "min", "any": "all", "all": "any",
    "startswith": "endswith", "endswith": "startswith", "True": "False", "False": "True",
}  # fmt: skip
_OPERATOR = re.compile(rb"not\s+in\b|is\s+not\b|\b(?:in|is|and|or)\b|[<>=!]=|//|\*\*|[-+*/%|&<>]")
_SQL = re.compile(rb"\b(SELECT|INSERT|UPDATE|DELETE|WHERE|ORDER BY|VALUES)\b")
_IN_SQL = {
    r"\bASC\b": "DESC", r"\bDESC\b": "ASC", r"(?<![<>|-])<(?![<>=])": "<=", "<=": "<", r"(?<![<>|-])>(?![>=])": ">=",
    ">=": ">", r"(?<!BETWEEN \?) AND ": " OR ", r"(?<!INSERT) OR ": " AND ", r"\bOR IGNORE\b": "OR REPLACE",
    r"\bOR REPLACE\b": "OR IGNORE", r"\b(?i:MIN)\(": "max(", r"\b(?i:MAX)\(": "min(", r"\bNOT (?=IN|EXISTS)": "",
    r"(?<== )0\b": "1", r"(?<== )1\b": "0", r"\+ 1\b": "- 1", r"\bDISTINCT ": "", r"\bLEFT JOIN\b": "JOIN",
    r"\bUNION ALL\b": "UNION", r"(?:(?<=WHERE )|(?<=AND )|(?<=ON ))(?P<name>[\w.]+) = ": r"\g<name> <> ",
}  # fmt: skip
_TALK = ("hint", "message")
"""Arguments and functions with text for people. Other tests cover such text."""


def sampled(source: bytes, count: int, rng: Random) -> list[Change]:
    """Return at most `count` changes of a module, on as many lines as possible. Every changed source still parses."""
    candidates = list(_Finder(source).found())
    rng.shuffle(candidates)
    seen: Counter[int] = Counter()
    turns = []
    for change in candidates:
        turns.append((seen[change.line], change))
        seen[change.line] += 1
    known: set[str | None] = {None, _meaning(source)}
    chosen: list[Change] = []
    for _, change in sorted(turns, key=lambda turn: turn[0]):
        if len(chosen) == count:
            break
        meaning = _meaning(change.applied(source))
        if meaning not in known:
            known.add(meaning)
            chosen.append(change)
    return sorted(chosen)


def statements(source: bytes) -> int:
    """Return the number of statements in a module."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(source)))


def used_from(source: bytes, line: int) -> set[int]:
    """Return the lines of functions that use the constant set on this line, or an empty set if other code uses it
    too.

    A line outside of functions runs once, for the test that imports its module first.
    """
    tree = ast.parse(source)
    names = {
        name.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno == line
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names} - {line}
    return lines if all(is_called(source, each) for each in lines) else set()


def is_called(source: bytes, line: int) -> bool:
    """Return True if the line is in a function that the module does not call at import."""
    tree = ast.parse(source)
    of_import = {
        node.func.id
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return any(
        node.body[0].lineno <= line <= (node.end_lineno or line) and node.name not in of_import
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def _meaning(source: bytes) -> str | None:
    """Return the syntax tree as text, or None if the source does not parse."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return None


class _Finder:
    """Walks one module and yields every known change."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._statement = 1

    def found(self) -> Iterator[Change]:
        yield from self._visit(ast.parse(self._source))

    def _visit(self, node: ast.AST) -> Iterator[Change]:
        if _is_talk(node):
            return
        outer = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node.lineno
            yield from self._of_statement(node)
        elif isinstance(node, ast.expr):
            yield from self._of_expression(node)
        for child in _parts(node):
            yield from self._visit(child)
        self._statement = outer

    def _of_statement(self, node: ast.stmt) -> Iterator[Change]:
        match node:
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self._instead(value, "None")
            case ast.If(test=test):
                yield self._instead(test, f"not ({self._text(test)})")
            case ast.AugAssign(target=target, value=value):
                yield from self._between(target, value)
                yield self._instead(node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield self._instead(node, "pass")
            case ast.Expr() | ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
                yield self._instead(node, "pass")

    def _of_expression(self, node: ast.expr) -> Iterator[Change]:
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from self._operators([left, *others])
            case ast.BoolOp(values=values):
                yield from self._operators(values)
            case ast.BinOp(left=left, right=right) if not (_is_string(left) or _is_string(right)):
                yield from self._between(left, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self._instead(node, self._text(operand))
            case ast.IfExp(test=test):
                yield self._instead(test, f"not ({self._text(test)})")
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from (self._instead(test, "True") for part in node.generators for test in part.ifs)
            case ast.Call():
                yield from self._of_call(node)
            case ast.Slice(lower=lower, upper=upper):
                yield from self._of_bounds([bound for bound in (lower, upper) if bound is not None])
            case ast.Constant() | ast.JoinedStr():
                yield from self._of_constant(node)

    def _of_bounds(self, bounds: list[ast.expr]) -> Iterator[Change]:
        for bound in bounds:
            yield self._instead(bound, "")
            if not isinstance(bound, ast.Constant | ast.UnaryOp):
                yield self._instead(bound, f"({self._text(bound)}) + 1")

    def _of_call(self, node: ast.Call) -> Iterator[Change]:
        match node.func:
            case ast.Name(id="sorted"):
                yield self._instead(node, self._text(node) + "[::-1]")
            case ast.Name(id="min" | "max" | "any" | "all" as name):
                yield self._instead(node.func, _SWAPS[name])
            case ast.Attribute(attr="startswith" | "endswith" as name, value=value):
                yield self._instead(node.func, f"{self._text(value)}.{_SWAPS[name]}")

    def _of_constant(self, node: ast.Constant | ast.JoinedStr) -> Iterator[Change]:
        value = node.value if isinstance(node, ast.Constant) else ""
        if isinstance(value, bool):
            yield self._instead(node, _SWAPS[str(value)])
        elif isinstance(value, int | float):
            yield self._instead(node, str(value + 1))
            if value > 0:
                yield self._instead(node, str(value - 1))
        elif isinstance(value, str):
            yield from self._in_sql(node)

    def _in_sql(self, node: ast.expr) -> Iterator[Change]:
        start, end = self._span(node)
        # Placeholders keep the place and the length of names filled into a statement. They cannot be changed.
        text = re.sub(rb"\{[^{}]*\}", lambda filled: b"\0" * len(filled[0]), self._source[start:end])
        if not _SQL.search(text):
            return
        for pattern, instead in _IN_SQL.items():
            for match in re.finditer(pattern.encode(), text):
                line = node.lineno + text.count(b"\n", 0, match.start())
                now = match.expand(instead.encode()).decode()
                yield Change(line, self._statement, start + match.start(), start + match.end(), now)

    def _operators(self, operands: list[ast.expr]) -> Iterator[Change]:
        for one, two in pairwise(operands):
            yield from self._between(one, two)

    def _between(self, one: ast.expr, two: ast.expr) -> Iterator[Change]:
        """Yield changes of the operator between two operands."""
        start, end = self._span(one)[1], self._span(two)[0]
        found = _OPERATOR.search(self._source, start, end)
        now = _SWAPS.get(" ".join(found[0].decode().split())) if found else None
        if found and now:
            line = self._source.count(b"\n", 0, found.start()) + 1
            yield Change(line, self._statement, found.start(), found.end(), now)

    def _instead(self, node: ast.stmt | ast.expr, text: str) -> Change:
        return Change(node.lineno, self._statement, *self._span(node), text)

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._source[start:end].decode()

    def _span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes to look into. Skip annotations, decorators, error messages and f-strings."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST))


def _is_talk(node: ast.AST) -> bool:
    """Return True if a node is for readers, type checkers or users and does not change the behaviour."""
    match node:
        case (
            ast.Import()
            | ast.ImportFrom()
            | ast.Assert()
            | ast.Pass()
            | ast.Expr(value=ast.Constant())
            | ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")])
            | ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"))
            | ast.If(test=ast.Compare(left=ast.Name(id="__name__")))
            | ast.ClassDef(bases=[ast.Name(id="Protocol"), *_])
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="log" | "logger" | "logging"))))
            | ast.keyword(arg="strict")
        ):
            return True
        case ast.keyword(arg=str(name)) | ast.FunctionDef(name=name):
            return any(word in name for word in _TALK)
    return False


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
