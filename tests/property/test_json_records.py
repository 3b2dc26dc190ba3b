"""JSON records are read together, with the same result as one by one by Python's own parser, strictly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.metadata import unique
from recall_core.ingest.parse import parser
from recall_core.ports import ParsedDocument

PLAIN = ['{"text": "a"}', '{"text":"b: c","n":{"k":[{"k":1.0}]}}', '{"title": "\\u00e9", "text": "", "e": {}}']
ODD = [
    '{"text": "said \\"x\\": y", "a : b": " :"}',
    '{"text" :"!:", "n": [1e5, -0, 123456789012345678901234567890]}',
    '{"text": "\\ud83d\\ude00", "\\"q\\":": null}',
]
REFUSED = [
    '{"text": "a", "k": 1, "k": 2}',
    '{"text" :"a","text":"b"}',
    '{"text": "a", "n": {"k": 1, "\\u006b" :2}}',
    '{"text": "a", "n": [[{"k": 1, "k"\t:[]}]]}',
    '{"text": "\\ud800"}',
    '{"text": 3}',
    "[]",
    "3",
    "{}",
]
BROKEN = ['{"text": "a", "n": NaN}', '{"text": "a"', '{"text": "a",}', ":1"]
FEW = st.lists(st.sampled_from([*PLAIN, *PLAIN, *PLAIN, *ODD, *REFUSED, *BROKEN]), min_size=1, max_size=8)
MANY = st.tuples(st.integers(0, 150), st.sampled_from([*ODD, *REFUSED, *BROKEN]), st.integers(0, 150)).map(
    lambda drawn: [*PLAIN[:1] * drawn[0], drawn[1], *PLAIN[:2] * drawn[2]]
)


def refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def one_by_one(written: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the content of each record by line; None in place of the first refused record."""
    for line, each in enumerate(written, start=1):
        try:
            record = json.loads(each, object_pairs_hook=unique, parse_constant=refuse)
            json.dumps(record, ensure_ascii=False).encode()
            title, text = record.pop("title", ""), record.pop("text")
            own = text if text.strip() else title
        except (ValueError, KeyError, AttributeError, TypeError):
            yield (line, None)
            return
        yield (line, own, title, sha256(each.encode()).hexdigest(), len(each.encode()), repr(record))


def together(raw: str, path: str, name: str) -> Iterator[tuple[Any, ...]]:
    documents: Iterator[ParsedDocument] = iter(parser(name).parse(raw.encode(), path=path, digest=""))
    at = int if "\n" in raw else lambda _: 1
    number = 0
    try:
        for number, each in enumerate(documents, start=1):
            assert (each.record, each.place) == (str(number), f"line {at(number)}")
            yield (number, each.text, each.title, each.hash, each.size, repr(dict(each.meta)))
    except IngestError as error:
        number += 1
        told = (error.code, error.message.startswith(f"{path}:{at(number)}: "))
        yield (number, None if told == ("bad_record", True) else error)


def agree(written: Sequence[str]) -> None:
    expected = [*one_by_one(written)]
    assert [*together("\n".join(written), "a.jsonl", "jsonl")] == expected
    if not {*written} & {*BROKEN}:  # otherwise it is not an array
        more = [*PLAIN[:1] * (len(written) + 1), *written]  # most of them contain a text
        for between in (",\n", ", "):
            assert [*together(f"[{between.join(more)}]", "a.json", "json")] == [*one_by_one(more)]


@given(FEW | MANY)
def test_records_read_together_equal_records_read_singly(written: list[str]) -> None:
    agree(written)


@pytest.mark.slow
@settings(max_examples=2_000)
@given(FEW | MANY)
def test_many_records_read_together_equal_records_read_singly(written: list[str]) -> None:
    agree(written)
