"""Promises of the subtitle parser."""

from hashlib import sha256
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from recall_core.ingest.parse import parser
from recall_core.marks import Places, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import is_storable
from tests.unit.test_parse_elsewhere import NightlyElsewhere

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Where</i> is
the ship?

2
00:00:03,000 --> 00:00:04,000
{\\an8}<font color="#fff">In the harbour</font>, 題.
"""
VTT = """WEBVTT - Harbour talk
Kind: captions
Language: en-GB

NOTE written by hand

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.000 align:start position:0%
<v.loud Mary Ann>Hello &amp; <c.yellow>welcome</c> <00:00:01.500><b>aboard</b></v>

01:00:03.000 --> 01:00:04.000
5 < 6 &lt;b&gt;
"""


def parse(text: str, path: str = "in/a.srt") -> ParsedDocument:
    raw = text.encode()
    (document,) = parser("subtitles").parse(raw, path=path, digest=sha256(raw).hexdigest())
    return document


def rolling(*cues: str) -> str:
    return "WEBVTT\n\n" + "".join(f"00:0{i}.000 --> 00:0{i + 1}.000\n{cue}\n\n" for i, cue in enumerate(cues))


class TestSubtitleFiles(NightlyElsewhere):
    name = "subtitles"
    samples: ClassVar = {"a.srt": SRT.encode(), "b.vtt": VTT.encode(), "c.srt": SRT.replace("\n", "\r\n").encode()}


def test_cue_is_a_line_without_time_and_tags() -> None:
    for end in ["\n", "\r\n", "\r"]:
        document = parse(SRT.replace("\n", end))

        assert document.text == "Where is the ship?\nIn the harbour, 題.\n", end
        assert (document.title, document.meta, document.notes) == ("a.srt", {"cues": 2}, ()), end


def test_webvtt_has_speakers_a_title_and_a_language() -> None:
    document = parse(VTT, "a.vtt")

    assert document.text == "Mary Ann: Hello & welcome aboard\n5 < 6 <b>\n"
    assert (document.title, document.meta) == ("Harbour talk", {"language": "en-GB", "cues": 2})
    assert document.notes == ()


def test_cues_are_numbered_in_order_including_empty_cues() -> None:
    text = "7\n00:01 --> 00:02\none\n\n9\n00:02 --> 00:03\n\n3\n00:03 --> 00:04\nthree\n"

    document = parse(text)

    assert (document.text, document.meta) == ("one\nthree\n", {"cues": 3})
    assert [Places(document.marks).at(at, at + 1) for at in (0, 4)] == ["cue 1", "cue 3"]


def test_rolling_lines_appear_once() -> None:
    cues = (
        " \nfirst line",
        "first line",
        "first line\nsecond line",
        "second line\nthird",
        "third",
        " ",
        "third\nlast",
    )

    document = parse(rolling(*cues), "a.vtt")

    assert document.text == "first line\nsecond line\nthird\nlast\n"
    assert document.meta == {"cues": 7}


def test_line_repeated_later_appears_again() -> None:
    assert parse(rolling("no", "yes", "no", "no\nno\nyes"), "a.vtt").text == "no\nyes\nno\nno yes\n"


def test_cues_without_an_empty_line_between_them_are_cues() -> None:
    document = parse("1\n00:01 --> 00:02\none\n2\n00:02 --> 00:03\ntwo\n00:03 --> 00:04\nthree")

    assert (document.text, document.meta) == ("one\ntwo\nthree\n", {"cues": 3})


def test_other_lines_are_reported_and_skipped() -> None:
    document = parse(SRT + "\nsome words\nof nobody\n\nmore words\n" + "\n3\n00:05 --> 00:06\nend\n")

    assert document.text.endswith("題.\nend\n")
    assert document.notes == ("line 10: a block without a time was skipped, like 1 more",)


def test_file_of_another_kind_has_no_cues() -> None:
    document = parse('{"a": 1}')

    assert (document.text, document.meta) == ("", {"cues": 0})
    assert document.notes == ("line 1: a block without a time was skipped",)


def test_empty_file_is_an_empty_text() -> None:
    assert parse("").text == parse("WEBVTT").text == ""


pieces = st.sampled_from(
    [
        "1\n",
        "00:01 --> 00:02\n",
        "00:00:01,5-->",
        "\n",
        "\r",
        "<v A>",
        "<",
        ">",
        "a",
        "{\\an1}",
        "&#xD800;",
        "&amp",
        "WEBVTT",
    ]
)


@given(st.lists(pieces, max_size=30))
def test_any_text_is_read_with_one_line_per_cue(parts: list[str]) -> None:
    document = parse("".join(parts))

    assert is_storable(document.text)
    assert why_unfit(document.marks, len(document.text)) is None
    assert document.text.count("\n") <= document.meta["cues"] == len(document.marks)
