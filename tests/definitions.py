"""Checks of the definitions that the code parser finds in samples."""

from collections.abc import Sequence

import pytest

from recall_core.ingest.parse import parser
from recall_core.ingest.parse.code.languages import language_of, missing


def check_samples(samples: Sequence[tuple[str, str, str]]) -> None:
    """Compare each sample's definitions, as line, level, kind and name; then skip if a grammar was missing.

    samples: path, source and the expected lines.
    """
    absent = set()
    for number, (path, source, expected) in enumerate(samples):
        language = language_of(path, source.partition("\n")[0])
        assert language, number
        if missing(language):
            absent.add(language)
        else:
            assert definitions(path, source) == expected.strip().splitlines(), (number, path)
    if absent:
        pytest.skip(f"missing grammars: {', '.join(sorted(map(str, absent)))}")


def definitions(path: str, source: str) -> list[str]:
    """Return the definitions of a source, one line each."""
    (document,) = parser("code").parse(source.encode(), path=path, digest="")
    assert not document.notes
    lines = [document.text.count("\n", 0, mark.offset) + 1 for mark in document.marks]
    return [
        f"{line} {mark.level} {mark.kind} {mark.name}".rstrip()
        for line, mark in zip(lines, document.marks, strict=True)
    ]
