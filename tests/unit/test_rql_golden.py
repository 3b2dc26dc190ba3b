"""The two golden files: queries that print unchanged, and queries with their refusals."""

from pathlib import Path

import pytest

from recall_core.errors import RqlError
from recall_core.rql.parser import parse_filter, parse_query
from recall_core.rql.print import print_query

GOLDEN = Path(__file__).parents[1] / "golden"
IDENTITY = GOLDEN.joinpath("identity.rql").read_text(encoding="utf-8").splitlines()
ERRORS = [
    block
    for block in GOLDEN.joinpath("errors.rql").read_text(encoding="utf-8").strip().split("\n\n")
    if not block.startswith("#")
]


def refusal(first_line: str) -> str:
    """Return the expected block of the golden file for this first line."""
    kind, _, source = first_line.partition(": ")
    parse = parse_filter if kind == "filter" else parse_query
    with pytest.raises(RqlError) as caught:
        parse(source.replace("\\n", "\n"))
    error = caught.value
    lines = [first_line, f"{error.code} {error.line}:{error.column}-{error.end - error.start}"]
    lines += [f"expected: {error.expected}"] if error.expected else []
    lines += [f"hint: {error.hint}"] if error.hint else []
    return "\n".join(lines)


def test_canonical_query_prints_unchanged() -> None:
    for line in IDENTITY:
        parsed = parse_query(line)

        assert print_query(parsed.query) == line, line
        assert parsed.warnings == (), line


def test_wrong_query_is_refused_at_its_position() -> None:
    for block in ERRORS:
        assert refusal(block.partition("\n")[0]) == block, block


def test_every_refusal_names_the_expected_input() -> None:
    assert all("\nexpected: " in block for block in ERRORS)


def test_golden_files_are_large_enough() -> None:
    assert len(set(IDENTITY)) >= 150
    assert len(set(ERRORS)) >= 130
