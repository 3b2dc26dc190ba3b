"""The drawn tree of errors equals the tree of classes."""

from __future__ import annotations

import inspect
import re

from recall_core import errors
from recall_core.errors import RecallError

LINE = re.compile(r"^((?:[│ ]   )*(?:[├└]── )?)(\w+) +(\d+|exit)\b", re.MULTILINE)


def read_tree() -> dict[str, tuple[str, int]]:
    """Return name to parent name and exit status; the parent of the root is Exception."""
    found: dict[str, tuple[str, int]] = {}
    above = ["Exception"]
    for branch, name, status in LINE.findall(errors.__doc__ or ""):
        depth = len(branch) // 4
        above[depth + 1 :] = [name]
        found[name] = (above[depth], RecallError.exit_code if status == "exit" else int(status))
    return found


def test_drawn_tree_equals_the_tree_of_classes() -> None:
    classes = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, RecallError)]

    assert read_tree() == {
        kind.__name__: (kind.__base__.__name__, kind.exit_code) for kind in classes if kind.__base__
    }
