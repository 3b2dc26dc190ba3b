"""The unit that marks name at a line contains this line, in every kind of file."""

from __future__ import annotations

import ast
import re
import sysconfig
from pathlib import Path

import pytest

from recall_core.ingest.parse import parser
from recall_core.marks import SEPARATOR, Outline
from tests.python_units import definitions_by_line

LIBRARY = Path(sysconfig.get_path("stdlib"))
SOME = (
    "abc argparse calendar dataclasses functools logging/__init__ pdb random threading turtle unittest/mock tarfile"
).split()
ODD = '''\
@wrap(
    (1, 2),
)
def one():
    """
def not_a_function():
class NotAClass:
    """
    return {
"a": 1}
    # the end of one

# a remark

"\\"\\"\\""
x = \\
1


class Two:
    @first
    @second("""
class NotThis: ...
""",
    )
    def close(self):
        def inner():
            pass
        return inner

        # more

    # else nothing
    # not directly above

    n = f"""{1
}"""
    async def wait(self): pass
    m = 2
if __name__ == "__main__":
    one()

    def guarded(): pass
    #endif of it
'''


def false_names(source: bytes, name: str, path: str = "a.py") -> list[tuple[int, str, str]]:
    """Return the lines of a Python file that marks name as part of a definition that does not contain them."""
    (document,) = parser(name).parse(source, path=path, digest="")
    assert bool(document.notes) == ("\0" in document.text), document.notes
    text, outline = document.text, Outline(document.marks, len(document.text))
    lines = text.split("\n")
    within = definitions_by_line(text, lines)
    wrong, offset = [], 0
    for number, line in enumerate(lines, start=1):
        heading = outline.heading_at(offset + len(line) - len(line.lstrip())) if line.strip() else None
        names = {re.sub("^async def", "def", part) for part in heading.split(SEPARATOR)} if heading else set()
        if not names <= within[number]:
            wrong.append((number, line, str(heading)))
        offset += len(line) + 1
    return wrong


@pytest.mark.parametrize("name", ["code", "outline"])
def test_python_line_is_named_by_its_enclosing_definition(name: str) -> None:
    assert false_names(ODD.encode(), name) == []
    for module in SOME:
        assert false_names((LIBRARY / f"{module}.py").read_bytes(), name) == [], module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["code", "outline"])
def test_every_library_line_is_named_by_its_enclosing_definition(name: str) -> None:
    paths = [path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts]
    for path in paths:
        source = path.read_bytes()
        try:
            compile(source, path.name, "exec", ast.PyCF_ONLY_AST)
            source.decode()
        except (SyntaxError, ValueError):
            continue  # a test of the interpreter itself
        assert false_names(source, name, path.name) == [], path
