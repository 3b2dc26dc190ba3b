"""Normalizing a text equals NFC of the whole, and every offset leads back to the source."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.decode import normalize
from tests.examples import examples

ALPHABET = "a\r\n \ufeffé\u0301\u0316\u0345\u0344\u0f71\u0f72\u0f73\u0f40\u0958\u212b각\u1100\u1161\u11a8\u09c7\u09be"
TEXTS: st.SearchStrategy[str] = st.text(st.sampled_from(ALPHABET), max_size=12) | st.text(max_size=12)


def plain(text: str) -> str:
    """Return the normalized form of a text that does not begin with a byte order mark."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


@examples(300)
@given(TEXTS)
@example("a\u0f73\u0301")
@example("\ufeff\r\ne\u0301\r\r\n")
def test_text_is_nfc_with_one_kind_of_line_end(source: str) -> None:
    found = normalize(source)
    assert found.text == plain(source.lstrip("\ufeff"))
    assert normalize(found.text) == (found.text, found.text, "", ())


@examples(300)
@given(TEXTS)
def test_every_offset_leads_to_its_source(source: str) -> None:
    found = normalize(source)
    edges = [0, *(edge for edit in found.edits for edge in (edit.offset, edit.offset + edit.size)), len(found.text)]
    for start, end in pairwise(edges):
        piece = source[found.source_offset(start) : found.source_offset(end)]
        assert plain(piece) == found.text[start:end], (start, end)
    offsets = [found.source_offset(offset) for offset in range(len(found.text) + 1)]
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(source)


def test_bytes_are_decoded_as_files_are() -> None:
    for raw, encoding, expected in [
        (b"\xef\xbb\xbfa\r\n", "", ("a\n", "utf-8")),
        ("\ufeffe\u0301".encode("utf-16-le"), "", ("é", "utf-16-le")),
        (b"\xe9\r", "latin-1", ("é\n", "iso8859-1")),
    ]:
        found = normalize(raw, encoding=encoding)
        assert (found.text, found.encoding) == expected, raw
    for raw, code in [(b"caf\xe9 au lait", "not_utf8"), (b"a\0b", "binary_file")]:
        with pytest.raises(IngestError) as refused:
            normalize(raw)
        assert refused.value.code == code
