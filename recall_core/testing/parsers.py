"""Conformance tests for parsers. The author of a parser subclasses them:

    class TestMine(ParserConformance):
        name = "mine"
        samples = {"a.mine": b"..."}

pytest collects the subclass. It needs no other pytest feature.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256

from recall_core.errors import IngestError
from recall_core.ingest.metadata import why_unfit as why_no_metadata
from recall_core.ingest.parse import parser
from recall_core.marks import dump, load, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import is_storable

_ELSEWHERE = """
import json, sys
from recall_core.testing.parsers import describe
samples = json.load(sys.stdin)
json.dump({path: describe(sys.argv[1], path, bytes.fromhex(raw)) for path, raw in samples.items()}, sys.stdout)
"""
_HARMED = 60  # broken variants to read of each sample


def describe(name: str, path: str, raw: bytes) -> str:
    """Return the parser's full output for a file as one hash, or the code of its error."""
    try:
        documents = _parse(name, path, raw)
    except IngestError as error:
        return error.code
    return sha256(repr([tuple(document) for document in documents]).encode()).hexdigest()


def _parse(name: str, path: str, raw: bytes) -> list[ParsedDocument]:
    return list(parser(name).parse(raw, path=path, digest=sha256(raw).hexdigest()))


def _parsed_or_refused(name: str, path: str, raw: bytes) -> list[ParsedDocument]:
    """Return the documents of a broken file; none if the parser raises an error with a code and a message."""
    try:
        return _parse(name, path, raw)
    except IngestError as error:
        if not (error.code and error.message):
            raise
        return []


class ParserConformance:
    """Requirements of every parser. name: as for `--parser`. samples: small files by name that the parser can read.

    Samples of a text parser are UTF-8.
    """

    name: str
    samples: Mapping[str, bytes]

    def documents(self) -> list[tuple[str, bytes, ParsedDocument]]:
        """Return every document of the samples, with its file."""
        found = [(path, raw, _parse(self.name, path, raw)) for path, raw in self.samples.items()]
        return [(path, raw, each) for path, raw, documents in found for each in documents]

    def test_samples_exist(self) -> None:
        assert any(document.text.strip() for _, _, document in self.documents())

    def test_documents_do_not_depend_on_process_or_locale(self) -> None:
        environment = {
            "LC_ALL": "C",
            "TZ": "Pacific/Apia",
            "PYTHONHASHSEED": "7",
            "PYTHONPATH": ":".join(sys.path),
        }
        command = [sys.executable, "-c", _ELSEWHERE, self.name]
        samples = json.dumps({path: raw.hex() for path, raw in self.samples.items()}).encode()
        other = subprocess.run(command, input=samples, env=environment, capture_output=True, check=True)
        assert json.loads(other.stdout) == {
            path: describe(self.name, path, raw) for path, raw in self.samples.items()
        }

    def test_one_parser_reads_many_files(self) -> None:
        one = parser(self.name)
        for path, raw in [*self.samples.items(), *self.samples.items()]:
            found = list(one.parse(raw, path=path, digest=sha256(raw).hexdigest()))
            assert found == _parse(self.name, path, raw), path

    def test_marks_are_ordered_and_inside_the_text(self) -> None:
        for path, _, document in self.documents():
            assert why_unfit(document.marks, len(document.text)) is None, path
            assert load(dump(document.marks)) == document.marks, path

    def test_documents_can_be_stored(self) -> None:
        for path, _, document in self.documents():
            names = (document.text, document.title, *(mark.name for mark in document.marks), *document.tags)
            assert all(map(is_storable, names)), path
            assert why_no_metadata(document.meta) is None, path

    def test_file_is_one_document_or_uniquely_named_records(self) -> None:
        for path, raw in self.samples.items():
            records = [document.record for document in _parse(self.name, path, raw)]
            assert len({*records}) == len(records), path
            assert None not in records or len(records) == 1, path

    def test_single_document_has_the_hash_of_its_file(self) -> None:
        for path, raw, document in self.documents():
            if document.record is None:
                assert (document.hash, document.size) == (sha256(raw).hexdigest(), len(raw)), path

    def test_verbatim_text_is_the_whole_file(self) -> None:
        if getattr(parser(self.name), "is_verbatim", False):
            for path, raw, document in self.documents():
                assert document.text == raw.decode(), path

    def test_broken_file_is_read_or_refused_with_a_code(self) -> None:
        reads_text = getattr(parser(self.name), "reads", "bytes") == "text"
        chance = random.Random(self.name)  # noqa: S311 - the same files every time
        for path, raw in self.samples.items():
            for _ in range(_HARMED):
                harmed = _harm(raw, chance)
                if reads_text:
                    harmed = harmed.decode(errors="replace").encode()
                for document in _parsed_or_refused(self.name, path, harmed):
                    assert why_unfit(document.marks, len(document.text)) is None, path
                    assert is_storable(document.text), path


def _harm(raw: bytes, chance: random.Random) -> bytes:
    """Return the bytes with a piece cut off, removed, doubled or replaced."""
    first, last = sorted((chance.randrange(len(raw) + 1), chance.randrange(len(raw) + 1)))
    match chance.randrange(4):
        case 0:
            return raw[:last]
        case 1:
            return raw[:first] + raw[last:]
        case 2:
            return raw[:last] + raw[first:]
        case _:
            return raw[:first] + chance.randbytes(min(last - first, 12)) + raw[first + min(last - first, 12) :]
