"""Collects the words of the workbench, for docs/words.md: every string below recall_tui that a person may see.

A string is taken unless one of these says that it is for the program:

- its place: a docstring, an annotation, a key of a mapping, what is compared or matched, an argument of `FOR_CODE`,
  a style sheet (`SHEETS`), a call of `CALLS`, the id and the keys of an action (`NAMED`)
- its shape: no two letters side by side, or one word that looks like code (`SHAPES`)
- its use: one word in small letters that the workbench uses as a name elsewhere, as a key, a function or a field.
  In an f-string, as the label of an action and as the value of a mapping it is taken all the same
- `ALLOWED` and `BEGINNINGS`: the few that are left
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKBENCH = ROOT / "recall_tui"

FOR_CODE = frozenset(
    {"classes", "encoding", "errors", "group", "handler", "id", "panes", "severity", "style", "when"}
)
SHEETS = frozenset({"COMPONENT_CLASSES", "CSS", "CSS_PATH", "DEFAULT_CSS"})
CALLS = frozenset(
    {"NewType", "TypeVar", "compile", "encode", "get_component_rich_style", "getattr", "open", "query_one"}
)
SHAPES = re.compile(
    r"""[-#./]\S*                    # a colour, a class or an id of CSS, a suffix
    |   \w*[a-z]_\w*(\(.*\))?        # a name with an underscore, a call
    |   \w+\(.*\)
    |   (ctrl|shift|alt)\+\w*        # a key, as Textual calls it
    |   \[\w+\]                      # a heading in TOML
    |   [\w.]+[:.][\w.*:-]+          # a file, a module, a function of a module
    |   \w+-?\*?(\{\w*\})?\.\w+      # the name of a file that is made
    |   \*\*?[./]\S+                 # a glob
    |   [a-z]+-[a-z0-9-]+            # a class of CSS, a command
    """,
    re.VERBOSE,
)
NAME = re.compile(r"[a-z][a-z0-9_+-]*")
NAMED = frozenset({"Action", "Binding"})
"""Calls whose first two arguments are ids and keys, and whose third is a label."""
MODULES = frozenset({"actions/keys.py", "terminal.py", "themes.py"})
"""Names of keys and of colours, and nothing else."""
ALLOWED = frozenset(
    """
    CSS EDITOR HOME LANG LC_ALL LC_CTYPE NO_COLOR PAGER PATH RECALL_STORE TERM TEXTUAL_DRIVER VISUAL
    Cache-Control Content-Security-Policy Origin Referrer-Policy X-Content-Type-Options height nosniff
    Comment ExplainPane Grade Keyword Result Step Token. Value
    question approx auto chunker get hybrid llamacpp ollama rm rql trace trec tune whitespace
    :memory: ansi_default asdfghjklqwertyuiopzxcvbnm backspace bf colon dim ellipsis escape information narrow normal
    outside rb recall- reverse shell slider small stdlib take_up topics utf8 ynY
    code codium cursor emacs emacsclient gvim helix hx jed joe kak mg micro nano nvim pico subl vi vim windsurf zed
    """.split()
)
BEGINNINGS = (
    "--store=",
    "LineView {",
    "PointedList {",
    r"\brank ",
    r"\s*\[*",
    "__pycache__ ",
    "default-src ",
    "line (",
)
"""How longer strings begin that are code."""


class Strings(ast.NodeVisitor):
    """The strings of a module, each with whether its place says that it is shown."""

    def __init__(self) -> None:
        self.found: list[tuple[str, bool]] = []
        self._is_label = False

    def visit_Expr(self, node: ast.Expr) -> None:
        """A string that stands alone is a docstring."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """What is compared is a name."""
        for each in (node.left, *node.comparators):
            if not isinstance(each, ast.Constant | ast.Tuple | ast.Set | ast.List):
                self.visit(each)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """What is between the brackets is a name."""
        self.visit(node.value)

    def visit_MatchValue(self, node: ast.MatchValue) -> None:
        """A pattern is a name."""

    def visit_Dict(self, node: ast.Dict) -> None:
        """The keys are names."""
        for value in node.values:
            self._visit_label(value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Without the annotation."""
        if node.value is not None and _hole(node.target) not in SHEETS:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Without style sheets."""
        if not SHEETS.intersection(map(_hole, node.targets)):
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Without annotations and decorators."""
        for each in (*node.args.defaults, *node.args.kw_defaults, *node.body):
            if each is not None:
                self.visit(each)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """As any other function."""
        self.visit_FunctionDef(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Some arguments are for the program."""
        if node.arg not in FOR_CODE:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """So is every argument of some calls."""
        self.visit(node.func)
        called = _hole(node.func)
        if called in CALLS:
            return
        arguments = node.args
        if called in NAMED:
            for label in arguments[2:3]:
                self._visit_label(label)
            arguments = arguments[3:]
        for argument in arguments:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A string."""
        if isinstance(node.value, str):
            self.found.append((node.value, self._is_label))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """An f-string, then the strings in its holes."""
        self.found.append((_text(node), True))
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and not _alternatives(part.value):
                self.visit(part.value)

    def _visit_label(self, node: ast.expr) -> None:
        self._is_label = isinstance(node, ast.Constant)
        self.visit(node)
        self._is_label = False


def _text(node: ast.JoinedStr) -> str:
    """An f-string with `{name}` for each hole, and `{one/other}` where there are two texts for it."""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"{{{_alternatives(part.value) or _hole(part.value)}}}"
        for part in node.values
        if isinstance(part, ast.Constant | ast.FormattedValue)
    )


def _alternatives(node: ast.expr) -> str:
    """`is/are` of `"is" if count == 1 else "are"`, and `s` of `"s" * (count > 1)`."""
    match node:
        case ast.IfExp(body=ast.Constant(value=one), orelse=ast.Constant(value=other)):
            return f"{one}/{other}"
        case ast.BinOp(left=ast.Constant(value=str(text))):
            return text
    return ""


def _hole(node: ast.AST) -> str:
    """What a value is called: its last name."""
    name = ""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            pass
        case ast.Call(func=ast.Name(), args=[inner, *_]) if _hole(inner):
            name = _hole(inner)
        case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.IfExp(body=inner) | ast.BinOp(left=inner):
            name = _hole(inner)
    return name


@cache
def _names() -> frozenset[str]:
    """What the workbench uses as a name."""
    return frozenset(name for _, tree in _modules() for node in ast.walk(tree) for name in _named(node))


@cache
def _modules() -> list[tuple[str, ast.Module]]:
    """The modules of the workbench that have words."""
    paths = {path.relative_to(WORKBENCH).as_posix(): path for path in sorted(WORKBENCH.rglob("*.py"), key=_place)}
    return [
        (name, ast.parse(path.read_text(encoding="utf-8"))) for name, path in paths.items() if name not in MODULES
    ]


def _place(path: Path) -> tuple[bool, Path, str]:
    """Folder after folder, and before them what lies in none."""
    return path.parent != WORKBENCH, path.parent, path.name


def _named(node: ast.AST) -> Iterator[str]:
    """The names that one node of a module uses: what it defines, compares, matches and looks up."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Compare(left=left, comparators=others):
            for each in (left, *others):
                if isinstance(each, ast.Constant | ast.Tuple | ast.Set | ast.List):
                    yield from _constants(each)
        case ast.Subscript(slice=each) | ast.MatchValue(value=each):
            yield from _constants(each)
        case ast.Dict(keys=keys):
            for key in keys:
                if key is not None:
                    yield from _constants(key)


def _constants(node: ast.AST) -> Iterator[str]:
    return (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def is_shown(text: str, is_label: bool) -> bool:
    """Whether a person may see a string."""
    whole = text.strip()
    fixed = re.sub(r"\{[\w.]*\}", "", whole).strip()
    if fixed in ALLOWED or whole.startswith(BEGINNINGS) or SHAPES.fullmatch(whole):
        return False
    if not re.search(r"[^\W\d_]{2}", fixed):
        return False
    return is_label or not NAME.fullmatch(whole) or whole not in _names()


def words() -> dict[str, list[str]]:
    """Every string that a person may see, each once, by the module that has it first."""
    found: dict[str, list[str]] = {}
    known: set[str] = set()
    for module, tree in _modules():
        strings = Strings()
        strings.visit(tree)
        for text, is_label in strings.found:
            shown = " ".join(text.split())
            if shown not in known and is_shown(text, is_label):
                known.add(shown)
                found.setdefault(module, []).append(shown)
    return found


def markdown() -> str:
    """docs/words.md."""
    return (
        "# Words of the workbench\n\n"
        "Every text that the workbench shows, once, below the module that has it first. `{name}` stands for what is\n"
        "filled in, and single words stand together. `make generated` makes this page from the code.\n"
    ) + "".join(_room(name, list(modules)) for name, modules in groupby(words().items(), _room_of))


def _room_of(item: tuple[str, list[str]]) -> str:
    folder, slash, _ = item[0].rpartition("/")
    return folder if slash else "recall_tui"


def _room(name: str, modules: list[tuple[str, list[str]]]) -> str:
    lines = []
    for module, texts in modules:
        lines.append(f"{module.rpartition('/')[2]}:")
        for is_one_word, together in groupby(texts, lambda text: " " not in text):
            lines += [f"  {text}" for text in ([" · ".join(together)] if is_one_word else together)]
    return "\n".join(["", f"## {name}", "", "```text", *lines, "```", ""])
