"""Promises of decoding."""

import pytest

from recall_core.errors import IngestError
from recall_core.ingest.parse.text import decode


def test_a_byte_order_mark_is_stripped() -> None:
    assert decode(b"\xef\xbb\xbfwords", path="a.txt") == "words"


def test_line_ends_stay_as_they_are() -> None:
    assert decode(b"one\r\ntwo\rthree\n", path="a.txt") == "one\r\ntwo\rthree\n"


def test_a_nul_in_the_first_8_kib_means_binary() -> None:
    with pytest.raises(IngestError) as caught:
        decode(b"a" * 8191 + b"\0", path="a.bin")

    assert caught.value.code == "binary_file"


def test_a_nul_later_on_is_text() -> None:
    assert decode(b"a" * 8192 + b"\0", path="a.txt")[-1] == "\0"


@pytest.mark.parametrize(("raw", "offset"), [(b"caf\xe9", 3), (b"\xef\xbb\xbfcaf\xe9", 6), (b"\xff\xfea", 0)])
def test_a_file_that_is_not_utf8_names_the_byte_offset_and_the_way_out(raw: bytes, offset: int) -> None:
    with pytest.raises(IngestError) as caught:
        decode(raw, path="latin.txt")

    assert caught.value.code == "not_utf8"
    assert f"offset {offset}" in caught.value.message
    assert "UTF-8" in str(caught.value.hint)
