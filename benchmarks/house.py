"""Count what makes the code hard to read, per package, and compare it with the recorded figures.

    python -m benchmarks.house            print every figure
    python -m benchmarks.house --list     also print each place that was counted
    python -m benchmarks.house --check    exit 1 if a package is worse than recorded (part of `make check`)
    python -m benchmarks.house --record   record the figures; refuses if the project as a whole gets worse

A package is a folder directly below recall_core or recall_tui. Loose files form the packages "recall_core" and
"recall_tui". Documents, test names and benchmarks are counted for banned words only.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams

ROOT = Path(__file__).resolve().parents[1]
RECORD = Path("benchmarks", "house.tsv")
WORDS = Path("docs", "house-words.txt")
SOURCES = ("recall_core", "recall_tui")
ALL = "all"

SMALL_MODULE = 110
"""Lines. A module this small with a single importer may belong into that importer."""
SHORT_HELPER = 7
"""Lines. A private function this short that is used once may be inlined."""
_WORDS_OF_A_CLAIM = 10
SLACK = 0.05
"""Ratios are recorded with one decimal."""

VERBS = frozenset("read put run cut set let shut embed reembed feed seed need shed".split())
PARTICIPLES = frozenset(
    "begun bound brought built chosen done drawn fallen forgotten found given gone grown heard held hidden kept "
    "known laid led left lent lost made meant met paid risen said seen sent shown sold sought spent spoken stood "
    "struck swept taken taught thought thrown told torn understood woken won worn written".split()
)

CIRCLE = "imports in a circle"
OWN = "own imports in functions"
OTHER = "other imports in functions"
FORWARDER = "forwarders"
WORD = "banned words"
SEEN = "banned words that users see"
LONG = "test names of more than ten words"
ONE_IMPORTER = "small modules with one importer"
HELPER = "short helpers used once"
PARTICIPLE = "participles as function names"
ANSWER = "answers called found"

COUNTS = (CIRCLE, OWN, OTHER, FORWARDER, WORD)
"""Measures recorded as a count, which must equal the recorded one."""
FUNCTIONS = "functions per 1,000 lines"
IMPORTER_SHARE = "% small modules with one importer"
RATIOS = (FUNCTIONS, IMPORTER_SHARE)
"""Measures recorded as a ratio, which may not exceed the recorded one."""
LISTED = (HELPER, PARTICIPLE, ANSWER)
"""Measures that are printed only."""
NONE_ALLOWED = (SEEN, LONG)
"""Measures that must be 0 everywhere."""

LAZY = "__getattr__ = attach("
"""A package with this imports its modules when they are used. It names them for type checkers only."""

HOOKS = ("__", "on_", "action_", "watch_", "visit_")
"""Prefixes of methods that Python or a library calls by name. None of them can be left out."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """One place that a measure counts."""

    measure: str
    package: str
    path: str
    line: int
    text: str
    """The code that was counted. Findings with equal measure, path and text are the same finding on another line."""

    def shown(self) -> str:
        return f"{self.path}:{self.line}: {self.measure}: {self.text}"


class Module(NamedTuple):
    """One source file."""

    name: str
    path: str
    package: str
    nodes: list[tuple[ast.AST, str]]
    """Every node, with the name of the function around it, or ""."""
    lines: int
    imports: dict[str, int]
    """Each module of ours that the module imports, or reads as an attribute of its package, with the first line that
    does.
    Imports in functions and under TYPE_CHECKING count too."""

    def functions(self) -> int:
        return sum(isinstance(node, Function) for node, _ in self.nodes)


class House(NamedTuple):
    """Everything counted in one checkout."""

    modules: list[Module]
    findings: list[Finding]

    def row(self, package: str | None) -> dict[str, float]:
        """Return every measure of a package, or of the whole project for None."""
        modules = [each for each in self.modules if package in (None, each.package)]
        found = Counter(each.measure for each in self.findings if package in (None, each.package))
        lines = sum(each.lines for each in modules)
        counts: dict[str, float] = {"modules": len(modules), "lines": lines}
        counts |= {measure: found[measure] for measure in (*COUNTS, ONE_IMPORTER, *LISTED, *NONE_ALLOWED)}
        counts[FUNCTIONS] = round(1000 * sum(each.functions() for each in modules) / max(1, lines), 1)
        counts[IMPORTER_SHARE] = round(100 * found[ONE_IMPORTER] / max(1, len(modules)), 1)
        return counts

    def packages(self) -> list[str]:
        return sorted({each.package for each in self.modules} | {each.package for each in self.findings})


def read(root: Path) -> House:
    """Parse a checkout and count."""
    paths = {_name(path, root): path for top in SOURCES for path in sorted((root / top).rglob("*.py"))}
    modules = [_module(name, path, root, paths) for name, path in paths.items()]
    findings = [
        *_in_circles(modules),
        *_with_one_importer(modules),
        *(finding for module in modules for finding in _in_module(module)),
        *_words(root),
    ]
    return House(modules, sorted(findings))


def _module(name: str, path: Path, root: Path, names: Iterable[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    nodes = list(_walk(ast.parse(text), ""))
    is_lazy = LAZY in text
    imports: dict[str, int] = {}
    for node, _ in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for other in _imported(node, names):
                if other != name and not (is_lazy and other.startswith(f"{name}.")):
                    imports[other] = min(node.lineno, imports.get(other, node.lineno))
    for other, line in _read_lazily([node for node, _ in nodes], names):
        if other != name:
            imports[other] = min(line, imports.get(other, line))
    where = path.relative_to(root)
    return Module(name, where.as_posix(), _package(where), nodes, len(text.splitlines()), imports)


def _walk(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    yield node, function
    inner = node.name if isinstance(node, Function) else function
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, inner)


def _name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _package(path: Path) -> str:
    return ".".join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0]


def _imported(node: ast.Import | ast.ImportFrom, names: Iterable[str]) -> Iterator[str]:
    """Yield the modules of ours that an import names: for `from a import b`, a.b if that is a module, else a."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names if each.name in names)
    elif node.module:
        for each in node.names:
            inner = f"{node.module}.{each.name}"
            if inner in names or node.module in names:
                yield inner if inner in names else node.module


def _read_lazily(nodes: list[ast.AST], names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield each module that is read as an attribute of a package, such as `explain.ledger`, and the line."""
    packages: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            packages |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            packages |= {each.name: each.name for each in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if (module := ".".join((packages.get(first, ""), *rest))) in names:
                yield module, node.lineno


def _in_circles(modules: list[Module]) -> Iterator[Finding]:
    """Yield each import between two modules of the same circle, so that any import added to one is seen."""
    circle_of = {name: circle for circle in circles(modules) for name in circle}
    for module in modules:
        for other, line in module.imports.items():
            if other in circle_of.get(module.name, ()):
                yield Finding(CIRCLE, module.package, module.path, line, other)


def circles(modules: list[Module]) -> list[list[str]]:
    """Return the strongly connected components with more than one module (Tarjan 1972), each sorted."""
    imports = {module.name: sorted(module.imports) for module in modules}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in imports[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            component = stack[stack.index(name) :]
            del stack[-len(component) :]
            if len(component) > 1:
                components.append(sorted(component))

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10 * len(modules) + 1_000))
    try:
        for name in imports:
            if name not in index:
                visit(name)
    finally:
        sys.setrecursionlimit(limit)
    return sorted(components)


def _with_one_importer(modules: list[Module]) -> Iterator[Finding]:
    importers = defaultdict[str, list[str]](list)
    for module in modules:
        for other in module.imports:
            importers[other].append(module.name)
    for module in modules:
        is_init = module.path.endswith("__init__.py")
        if len(importers[module.name]) == 1 and module.lines <= SMALL_MODULE and not is_init:
            yield Finding(
                ONE_IMPORTER, module.package, module.path, 1, f"only {importers[module.name][0]} imports it"
            )


def _in_module(module: Module) -> Iterator[Finding]:
    """Yield the findings that need only one module."""

    def finding(measure: str, node: Function | ast.stmt, text: str) -> Finding:
        return Finding(measure, module.package, module.path, node.lineno, text)

    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node, _ in module.nodes
        if isinstance(node, ast.Name | ast.Attribute)
    )
    for node, function in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and function:
            source = (node.module or ".") if isinstance(node, ast.ImportFrom) else node.names[0].name
            is_own = source.partition(".")[0] in SOURCES
            yield finding(OWN if is_own else OTHER, node, f"{source} in {function}()")
        if not isinstance(node, Function):
            continue
        name = node.name
        if not name.startswith(HOOKS) and _forwards(node):
            yield finding(FORWARDER, node, f"{name}()")
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        is_private = name.startswith("_") and not name.startswith("__")
        if is_private and uses[name] == 1 and length <= SHORT_HELPER:
            yield finding(HELPER, node, f"{name}()")
        if _is_participle(name.strip("_")):
            yield finding(PARTICIPLE, node, f"{name}()")
        for argument in (*node.args.args, *node.args.kwonlyargs):
            if argument.arg == "found" and argument.annotation and "Answer" in ast.unparse(argument.annotation):
                yield finding(ANSWER, node, f"{name}()")


def _forwards(function: Function) -> bool:
    """Return True if the body is one call of something named, with names, attributes or constants as arguments."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    value = body[0].value
    if isinstance(value, ast.Await | ast.YieldFrom):
        value = value.value
    if not isinstance(value, ast.Call):
        return False
    return all(_is_plain(each) for each in (value.func, *value.args, *(keyword.value for keyword in value.keywords)))


def _is_plain(node: ast.expr) -> bool:
    if isinstance(node, ast.Starred | ast.Attribute):
        return _is_plain(node.value)
    return isinstance(node, ast.Name | ast.Constant)


def _is_participle(name: str) -> bool:
    return name not in VERBS and ((name.endswith("ed") and "_" not in name) or name in PARTICIPLES)


def _words(root: Path) -> Iterator[Finding]:
    """Yield each banned word in the sources and documents, and in the names of tests."""
    for top in (*SOURCES, "benchmarks", "docs"):
        paths = [path for path in (root / top).rglob("*") if path.suffix in {".py", ".md", ".tcss"}]
        for path in sorted(paths):
            where = path.relative_to(root)
            text = path.read_text(encoding="utf-8")
            yield from _words_in(text, where, _package(where) if top in SOURCES else top)
            if top in SOURCES and path.suffix == ".py":
                yield from _words_in(_strings(text), where, _package(where), SEEN)
            if top == "docs":
                yield from _words_in(_prose(text), where, top, SEEN)
    for path in sorted(root.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        yield from _words_in(text, path.relative_to(root), "docs")
        yield from _words_in(_prose(text), path.relative_to(root), "docs", SEEN)
    for path in sorted((root / "tests").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        names = [line.replace("_", " ") if re.match(r"\s*(async )?def test_", line) else "" for line in lines]
        yield from _words_in("\n".join(names), path.relative_to(root), "tests")
        for number, name in enumerate(names, 1):
            claim = name.partition("test ")[2].partition("(")[0]
            if len(claim.split()) > _WORDS_OF_A_CLAIM:
                yield Finding(LONG, "tests", path.relative_to(root).as_posix(), number, claim)


def _prose(page: str) -> str:
    """Return a page with empty lines for its fenced blocks, which quote the texts of others."""
    return re.sub(r"^ *(`{3,}).*?^ *\1$", lambda block: "\n" * block[0].count("\n"), page, flags=re.M | re.S)


def _strings(source: str) -> str:
    """Return the strings of a module without its docstrings, each on the line where it begins."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    lines = [""] * (source.count("\n") + 2)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            lines[node.lineno] += " ".join(node.value.split()) + " | "
    return "\n".join(lines[1:])


def _words_in(text: str, path: Path, package: str, measure: str = WORD) -> Iterator[Finding]:
    for match in _banned().finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Finding(measure, package, path.as_posix(), line, " ".join(match[0].split()).lower())


@cache
def _banned() -> re.Pattern[str]:
    lines = (ROOT / WORDS).read_text(encoding="utf-8").splitlines()
    patterns = [line.partition("\t")[0] for line in lines if line and not line.startswith("#")]
    return re.compile("|".join(patterns).replace(" ", r"\s+"), re.IGNORECASE)


def recorded(root: Path) -> dict[str, dict[str, float]]:
    """Return the recorded measures of each package, and of the whole project under ALL."""
    header, *lines = (root / RECORD).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {name: dict(zip(header.split("\t")[1:], map(float, figures), strict=True)) for name, *figures in rows}


def worse(old: dict[str, float], new: dict[str, float]) -> list[str]:
    """Return the measures that are worse than recorded."""
    slack = dict.fromkeys(RATIOS, SLACK)
    return [each for each in (*COUNTS, *RATIOS) if new[each] > old[each] + slack.get(each, 0)]


def check(root: Path) -> list[str]:
    """Return a line for each place that makes a package worse, and for each package that must be recorded."""
    house, rows = read(root), recorded(root)
    new: list[Finding] | None = None
    lines = [each.shown() for each in house.findings if each.measure in NONE_ALLOWED]
    for package in house.packages():
        now = house.row(package)
        if package not in rows:
            lines.append(f"{package} is a new package. Run: make house")
            continue
        for measure in worse(rows[package], now):
            new = _new_findings(root, house) if new is None else new
            kind = ONE_IMPORTER if measure == IMPORTER_SHARE else measure
            where = [each.shown() for each in new if (each.package, each.measure) == (package, kind)]
            lines += where or [f"{package}: {measure}: {rows[package][measure]:g} recorded, {now[measure]:g} now"]
        better = [each for each in COUNTS if now[each] < rows[package][each]]
        if better:
            lines.append(f"{package} has fewer {', '.join(better)} than recorded. Run: make house")
    return lines


def _new_findings(root: Path, house: House) -> list[Finding]:
    """Return the findings that are new since the figures were recorded. Without Git, return all findings."""
    git = ["git", "-C", str(root)]
    try:
        last = ["log", "-1", "--format=%H", "--", RECORD.as_posix()]
        commit = subprocess.run([*git, *last], capture_output=True, text=True, check=True).stdout.strip()
        archive = subprocess.run([*git, "archive", commit], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return house.findings
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        old = Counter((each.measure, each.path, each.text) for each in read(Path(folder)).findings)
    new = []
    for finding in house.findings:
        key = (finding.measure, finding.path, finding.text)
        old[key] -= 1
        if old[key] < 0:
            new.append(finding)
    return new


def record(root: Path) -> list[str]:
    """Write the figures. If the project as a whole is worse than recorded, write nothing and return the reasons."""
    house = read(root)
    rows = {ALL: house.row(None)} | {package: house.row(package) for package in house.packages()}
    if (root / RECORD).exists():
        old = recorded(root)[ALL]
        if bad := worse(old, rows[ALL]):
            return [f"{each}: {old[each]:g} recorded, {rows[ALL][each]:g} now. Not recorded" for each in bad]
    measures = (*COUNTS, *RATIOS)
    table = [
        ("package", *measures),
        *((name, *(f"{row[each]:g}" for each in measures)) for name, row in rows.items()),
    ]
    (root / RECORD).write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")
    return []


def frames() -> int:
    """Return the frames of ours from `cli.main` to the deepest SQL statement of a `recall search`, both included."""
    deepest = 0

    def profile(frame: FrameType, event: str, function: object) -> None:
        nonlocal deepest
        owner = type(getattr(function, "__self__", None)).__module__
        if event == "c_call" and owner == "apsw":
            depth, each = 0, frame
            while each is not None:
                depth += each.f_code.co_filename.startswith(str(ROOT / "recall_core"))
                each = each.f_back
            deepest = max(deepest, depth)

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "note.md").write_text("# Budget\n\nA context has a budget of tokens.\n", encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            streams = Streams(sys.stdin, sys.stdout, sys.stderr)
            assert cli.main(["init", folder, "--embedding", "hash"], streams=streams) == 0
            assert cli.main(["--store", folder, "add", f"{folder}/note.md"], streams=streams) == 0
            sys.setprofile(profile)
            try:
                cli.main(["--store", folder, "search", "token budget"], streams=streams)
            finally:
                sys.setprofile(None)
    return deepest


def report(house: House) -> Iterator[str]:
    """Yield the table: a line for each package, then the project, then measures without a package."""
    columns = {
        "modules": "modules", "lines": "lines", FUNCTIONS: "functions per 1,000", CIRCLE: "circular imports",
        OWN: "own late imports", OTHER: "other late imports", ONE_IMPORTER: "one importer", FORWARDER: "forwarders",
        HELPER: "helpers used once", PARTICIPLE: "participles", ANSWER: "found: Answer", WORD: "banned words",
        SEEN: "words seen",
    }  # fmt: skip
    heads = [head.split() for head in columns.values()]
    for line in range(max(map(len, heads))):
        yield f"{'':26}" + "".join(f"{head[line] if line < len(head) else '':>11}" for head in heads)
    for package in (*house.packages(), None):
        row = house.row(package)
        yield f"{package or ALL:26}" + "".join(f"{row[each]:>11g}" for each in columns)
    found = circles(house.modules)
    yield f"{len(found)} import circles, {sum(map(len, found))} modules in them"
    yield f"{frames()} frames of ours from cli.main to the deepest SQL statement of `recall search`"
    words = Counter(each.text for each in house.findings if each.measure == WORD)
    yield "banned words: " + ", ".join(f"{word} {count}" for word, count in words.most_common(20))


def main() -> int:
    """Print, check or record the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.house", description="Count what makes the code hard to read."
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="print each place that was counted")
    action.add_argument("--check", action="store_true", help="exit 1 if a package is worse than recorded")
    action.add_argument("--record", action="store_true", help=f"write the figures to {RECORD}")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    options = parser.parse_args()
    if options.check or options.record:
        lines = check(options.root) if options.check else record(options.root)
        fine = "no package is worse than recorded" if options.check else f"recorded in {RECORD}"
        print("\n".join(lines) or f"house: {fine}")
        return int(bool(lines))
    house = read(options.root)
    lines = [each.shown() for each in house.findings] if options.list else report(house)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
