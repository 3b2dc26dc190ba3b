"""What full text has in a chunk's title: that of its document and, below it, the names of what the chunk defines.

The names are those of all definitions of which the chunk has a part. They weigh as titles do, so that the place where
something is defined ranks before those where it is used; and of a name that is several words in one, the words are
there as well. Files of tests give none: what they define is named after what it tests, which would rank behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recall_core.marks import Mark, Outline, defines
from recall_core.text import spaced

_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_OF_TESTS = re.compile(r"tests?[_-].*|.*[._-](?:tests?|spec)\.\w+|.*(?:Tests?|Spec)\.\w+")
"""Names of files that hold tests: test_a.py, a_test.go, a.spec.ts, ATest.java."""


def titles_of(title: str, marks: Sequence[Mark], spans: Sequence[tuple[int, int]]) -> list[str]:
    """The titles of a document's chunks, which have these spans in order; "" each where the document has none."""
    own = spaced(title)
    if not own or not spans or _OF_TESTS.fullmatch(own) or not any(map(defines, marks)):
        return [own for _ in spans]
    outline = Outline(marks, spans[-1][1])
    return ["\n".join((own, *map(_searchable, outline.names_within(*span)))) for span in spans]


def without_names(title: str) -> str:
    """The title of the document, as it stands in that of a chunk; of a title of several lines the first."""
    return title.partition("\n")[0]


def _searchable(name: str) -> str:
    """`class NetRCAuth Net RC Auth`: a name, and behind it the words that are written as one."""
    name = spaced(name)
    return " ".join((name, *(apart for word in name.split() if (apart := _JOINT.sub(" ", word)) != word)))
