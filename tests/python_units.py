"""The definitions that contain a line of Python, by Python's own parser."""

from __future__ import annotations

import ast
import warnings


def definitions_by_line(text: str, lines: list[str]) -> list[set[str]]:
    """Return the names around each line, as Python's own parser knows them; index 0 is not a line.

    Decorators and comments directly above a definition belong to it.
    """
    within: list[set[str]] = [set() for _ in range(len(lines) + 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            while first > 1 and lines[first - 2].lstrip().startswith("#"):
                first -= 1
            for number in range(first, (node.end_lineno or 0) + 1):
                within[number].add(f"{'class' if isinstance(node, ast.ClassDef) else 'def'} {node.name}")
        elif type(node).__name__ == "TypeAlias":  # from Python 3.12 on
            within[node.lineno].add(f"type {node.name.id}")  # type: ignore[attr-defined]
    return within
