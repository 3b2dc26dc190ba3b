"""How the code is laid out, in figures: rooms, imports, names and sizes.

A module is a file; a visitor of a module is another module that imports it or a name out of it, also where it is used
only. A room is a folder, or a file at the top of a package. An arrow goes from room to room, along imports that are
made at run time.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

PACKAGES = ("recall_core", "recall_tui")
SMALL = 110  # lines: a module that one other imports and that is no longer could be part of it
STORE = "recall_core.store.sqlite"
MAY_MEET_STORE = ("recall_core.store.", "recall_core.api.stores")
ABOVE = ("recall_core.adapters.", "recall_core.__main__")
"""What may spell flags: the command line itself."""
FLAG = re.compile(r"(?<![\w-])--[a-z]")
CONTRACT = ("recall_core.contract", "recall_core.views")


class Module(NamedTuple):
    """A file of the project, read."""

    name: str
    path: Path
    tree: ast.Module
    lines: int
    imports: frozenset[str]
    """Every module that it names, under TYPE_CHECKING too."""
    runs: frozenset[str]
    """Those that are imported when it, or a function of it, runs."""


class Figure(NamedTuple):
    """One number, and what it counts."""

    name: str
    value: int | float
    found: tuple[str, ...] = ()


def read(root: Path) -> dict[str, Module]:
    """Every module of the packages below a folder, by name."""
    paths = {_name(path, root): path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))}
    modules = {}
    for name, path in paths.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        everything = frozenset(_imported(ast.walk(tree), paths)) - {name}
        at_run_time = frozenset(_imported(_running(tree), paths)) - {name}
        modules[name] = Module(name, path, tree, len(text.splitlines()), everything, at_run_time)
    return modules


def figures(modules: dict[str, Module]) -> list[Figure]:
    """All of them, in the order of the report."""
    arrows = _arrows(modules)
    sizes = [length for module in modules.values() for length in _lengths(module)]
    long = tuple(
        f"{module.name} {length}" for module in modules.values() for length in _lengths(module) if length > 60
    )
    top = tuple(name for name in modules if re.fullmatch(r"recall_core\.(?!__)\w+", name) and _is_file(modules[name]))
    lines = sorted(module.lines for module in modules.values())
    return [
        Figure("modules", len(modules)),
        Figure("rooms", len({_room(module) for module in modules.values()})),
        Figure("arrows between rooms", len(arrows), tuple(sorted(f"{one} -> {other}" for one, other in arrows))),
        _counted("circles of modules", (" ".join(sorted(each)) for each in _circles(modules))),
        _counted("loose files at the top of recall_core", top),
        _counted(f"modules with one visitor and at most {SMALL} lines", _splinters(modules)),
        _counted("class names defined more than once", _shared_names(modules)),
        _counted("modules outside the store that import store.sqlite", _meeting(modules)),
        _counted("string constants below the adapters with a --flag", _flags(modules)),
        _counted("Any and casts in contract and views", _untyped(modules)),
        _counted("functions over 60 lines", long),
        Figure("function length, 90th percentile", quantiles(sizes, n=10)[8]),
        Figure("module length, median", lines[len(lines) // 2]),
        Figure("module length, greatest", lines[-1]),
    ]


def _counted(name: str, found: Iterator[str] | tuple[str, ...]) -> Figure:
    listed = tuple(found)
    return Figure(name, len(listed), listed)


def _name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _is_file(module: Module) -> bool:
    return module.path.name != "__init__.py"


def _room(module: Module) -> str:
    """The folder that a module is in; a file at the top of a package is a room of its own."""
    folder = module.name.rpartition(".")[0] if _is_file(module) else module.name
    return module.name if folder in PACKAGES and _is_file(module) else folder


def _imported(nodes: Iterator[ast.AST], names: dict[str, Path]) -> Iterator[str]:
    """The modules that imports among these nodes name: of `from a import b`, a.b where that is one, else a."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                if inner in names:
                    yield inner
                elif node.module in names:
                    yield node.module


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below this one but those under `if TYPE_CHECKING`."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _running(child)


def _arrows(modules: dict[str, Module]) -> set[tuple[str, str]]:
    pairs = ((_room(module), _room(modules[other])) for module in modules.values() for other in module.runs)
    return {(one, other) for one, other in pairs if one != other}


def _circles(modules: dict[str, Module]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm (1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(modules[name].runs):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            place = stack.index(name)
            component = stack[place:]
            del stack[place:]
            if len(component) > 1:
                found.append(component)

    for name in modules:
        if name not in index:
            visit(name)
    return found


def _splinters(modules: dict[str, Module]) -> Iterator[str]:
    visitors: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for other in module.imports:
            visitors[other].add(module.name)
    for module in modules.values():
        if len(visitors[module.name]) == 1 and module.lines <= SMALL and _is_file(module):
            yield f"{module.name} ({module.lines}) <- {next(iter(visitors[module.name]))}"


def _shared_names(modules: dict[str, Module]) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.name)
    for name, homes in sorted(places.items()):
        if len(homes) > 1:
            yield f"{name}: {', '.join(homes)}"


def _meeting(modules: dict[str, Module]) -> Iterator[str]:
    for module in modules.values():
        outside = not f"{module.name}.".startswith(MAY_MEET_STORE) and module.name != "recall_core.store"
        if outside and any(f"{each}.".startswith(f"{STORE}.") for each in module.imports):
            yield module.name


def _flags(modules: dict[str, Module]) -> Iterator[str]:
    for module in modules.values():
        if not module.name.startswith("recall_core") or f"{module.name}.".startswith(ABOVE):
            continue
        explained = set(map(id, _docstrings(module.tree)))
        strings = (
            node for node in ast.walk(module.tree) if isinstance(node, ast.Constant) and id(node) not in explained
        )
        for node in strings:
            if isinstance(node.value, str) and FLAG.search(node.value):
                yield f"{module.name}:{node.lineno} {node.value!r}"


def _docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    """Strings that stand as statements: of modules, classes and functions, and below fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _untyped(modules: dict[str, Module]) -> Iterator[str]:
    for module in modules.values():
        if not f"{module.name}.".startswith(tuple(f"{each}." for each in CONTRACT)):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and (node.id in {"Any", "cast"}):
                yield f"{module.name}:{node.lineno} {node.id}"


def _lengths(module: Module) -> Iterator[int]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def main() -> int:
    """Print the figures; with --list, what each of them counts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parent.parent, help="another checkout")
    parser.add_argument("--list", action="store_true", help="name what each figure counts")
    options = parser.parse_args()
    sys.setrecursionlimit(10_000)
    for figure in figures(read(options.tree)):
        print(f"{figure.value:>6g}  {figure.name}")
        for each in figure.found if options.list else ():
            print(f"          {each}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
