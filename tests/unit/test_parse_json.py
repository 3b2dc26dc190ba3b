"""Promises of the JSON parser."""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.errors import IngestError
from recall_core.ingest.parse import parser
from recall_core.ingest.parse.json_records import decode_json, elements, is_deeper, mend_surrogates
from recall_core.marks import Mark, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import is_storable
from tests.odd_json import odd
from tests.unit.test_parse_elsewhere import NightlyElsewhere

CHAT = [{"role": "user", "content": "Where is the ship?"}, {"role": "assistant", "content": "In the harbour."}]
BEIR = '{"_id": "x1", "title": "T", "text": "words", "metadata": {}}\n{"_id": "x2", "title": "", "text": "題"}\n'
SETTINGS = (
    '{\n  "name": "recall",\n  "scripts": {\n    "name": "x"\n  },\n  "caf\\u00e9 \\ud800": [1, NaNs]\n}\n'.replace(
        "NaNs", "2"
    )
)


def read(raw: bytes | str, path: str = "in/a.json", *, name: str = "json") -> list[ParsedDocument]:
    raw = raw.encode() if isinstance(raw, str) else raw
    return list(parser(name).parse(raw, path=path, digest=sha256(raw).hexdigest()))


def lines(*values: Any) -> str:
    return "".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values)


def refusal(raw: str, path: str = "in/a.jsonl") -> IngestError:
    with pytest.raises(IngestError) as caught:
        read(raw, path)
    return caught.value


class TestJsonFiles(NightlyElsewhere):
    name = "json"
    samples: ClassVar = {
        "corpus.jsonl": BEIR.encode(),
        "corpus.json": json.dumps([{"id": 1, "text": "a"}, {"id": 2, "content": "b"}], indent=1).encode(),
        "chat.json": json.dumps(CHAT).encode(),
        "chats.jsonl": lines({"id": "c1", "messages": CHAT}, {"id": "c2", "messages": CHAT[:1]}).encode(),
        "package.json": SETTINGS.encode(),
        "log.ndjson": lines({"level": "info", "n": 1}, {"level": "warn", "n": 2}).encode(),
        "broken.json": b'{"a": 1,}',
    }


class TestJsonlFiles(NightlyElsewhere):
    name = "jsonl"
    samples: ClassVar = {"corpus.jsonl": BEIR.encode()}


def test_json_lines_with_text_are_the_records_of_jsonl() -> None:
    raw = BEIR + lines({"text": "no id", "deep": {"a": [{"b": 1}]}}, "", {"id": 7, "content": "c", "when": "now"})

    assert read(raw, "in/a.jsonl") == read(raw, "in/a.jsonl", name="jsonl")
    assert [document.record for document in read(raw)] == ["x1", "x2", "3", "7"][:4]


def test_array_of_objects_with_text_is_records_with_lines() -> None:
    raw = '[{"id": "a", "text": "one"},\n\n {"text": "two",\n  "year": 1999}, {"text": "[3]"}\n]'

    found = read(raw)

    assert [(each.record, each.text, each.place) for each in found] == [
        ("a", "one", "line 1"),
        ("2", "two", "line 3"),
        ("3", "[3]", "line 4"),
    ]
    assert found[1].meta == {"year": 1999}


def test_array_record_has_the_hash_of_its_slice() -> None:
    (one, other) = read('[ {"text" : "\\u00e9"} , {"text":"\\ud83d\\ude00"}]')

    assert (one.hash, one.size) == (sha256(b'{"text" : "\\u00e9"}').hexdigest(), 19)
    assert other.hash == sha256(b'{"text":"\\ud83d\\ude00"}').hexdigest()


def test_bad_record_is_an_error_with_its_line() -> None:
    for bad, reason in [
        ('{"text": "a", "text": "b"}', "the key 'text' appears twice"),
        ('{"text": "\\ud800"}', "a lone surrogate"),
        ('{"text": 3}', "no string"),
        ("3", "not a JSON object"),
    ]:
        good = '{"text": "a"}'
        for raw in (f"{good}\n{good}\n{bad}\n", f"[{good},\n{good},\n{bad}]"):
            error = refusal(raw)

            assert error.code == "bad_record", (bad, reason)
            assert error.message.startswith("in/a.jsonl:3: "), (bad, reason)
            assert reason in error.message, (bad, reason)


def test_duplicate_key_is_found_with_any_colon_spacing() -> None:
    for raw in ('{"text":"a","b" :1,"b":2}', '{"text":"a","b"\t: {"c":1, "c" :2}}', '{"text":"\\":","b":1,"b":2}'):
        assert "appears twice" in refusal(raw).message


def test_broken_line_among_records_is_an_error_with_its_line() -> None:
    assert refusal(BEIR + '{"text": "cut o').message.startswith("in/a.jsonl:3: not valid JSON")
    assert refusal(BEIR + '{"text": "a", "x": NaN}').message.startswith("in/a.jsonl:3: not valid JSON")


def test_duplicate_id_error_names_both_lines() -> None:
    for raw in (
        lines({"id": 1, "text": "a"}, {"id": "1", "text": "b"}),
        '[{"id":1,"text":"a"},\n{"id":1,"text":"b"}]',
    ):
        assert refusal(raw).code == "duplicate_record"
        assert ":2: the id '1' already appears in line 1" in refusal(raw).message
    chats = lines({"id": "c", "messages": CHAT}, {"id": "c", "messages": CHAT})
    assert refusal(chats).code == "duplicate_record"


def test_other_json_is_text_with_top_level_keys_as_headings() -> None:
    (document,) = read(SETTINGS, "in/package.json")

    assert (document.text, document.title, document.record, document.notes) == (SETTINGS, "package.json", None, ())
    assert [(mark.kind, mark.name, SETTINGS[mark.offset :][:4]) for mark in document.marks] == [
        ("heading", "name", '  "n'),
        ("heading", "scripts", '  "s'),
        ("heading", "caf\u00e9 \ufffd", '  "c'),
    ]


def test_title_key_of_other_json_is_its_title() -> None:
    assert read('{"title": "A \\n schema", "type": "object"}')[0].title == "A schema"
    assert read('{"title": {"a": 1}}')[0].title == "a.json"


def test_valid_json_without_records_is_text_without_a_note() -> None:
    for raw in ["", "  \n", "null", "[]", "{}", "[1, 2]", '["a"]', '{"text": "one object"}', '"a"']:
        (document,) = read(raw)

        assert (document.text, document.record, document.marks, document.notes) == (raw, None, (), ()), raw


def test_broken_json_is_read_as_text_with_a_note() -> None:
    for raw, reason in [
        ('{\n"a": 1,\n}', "line 3: "),
        ('{"a": 1', "it is truncated"),
        ("plain words\nof a wrong suffix", "line 1: "),
        ('[{"text": "a"}, {"text": "b"', "it is truncated"),
        ("// comment\n{}", "line 1: "),
    ]:
        (document,) = read(raw)

        assert (document.text, document.marks) == (raw, ()), (raw, reason)
        assert document.notes[0].startswith("not valid JSON ("), (raw, reason)
        assert reason in document.notes[0], (raw, reason)


def test_lines_without_a_text_are_rows() -> None:
    raw = lines({"level": "info"}, "", {"level": "é"}, {"n": 1})

    (document,) = read(raw, "log.ndjson")

    assert (document.text, document.notes) == (raw, ())
    assert document.marks == tuple(
        Mark(raw.index(at), "row", "", 2) for at in ('{"level": "i', '{"level": "\\', '{"n')
    )


def test_content_decides_the_kind_of_a_file() -> None:
    for path in ["a.json", "a.jsonl", "a.txt"]:
        assert len(read(BEIR, path)) == 2, path
        assert len(read("[" + BEIR.strip().replace("\n", ",") + "]", path)) == 2, path
        assert read(json.dumps(CHAT), path)[0].marks[0] == Mark(0, "turn"), path
        assert read(SETTINGS, path)[0].text == SETTINGS, path


def test_one_line_of_jsonl_is_a_record() -> None:
    assert read('{"text": "a"}', "a.jsonl")[0].record == "1"


def test_turns_without_roles_are_not_a_conversation() -> None:
    for turns in ([{"content": "a"}, {"content": "b"}], [{"role": "admin", "content": "a"}]):
        assert [document.record for document in read(json.dumps(turns))] == ["1", "2"][: len(turns)]
    raw = json.dumps({"messages": [{"content": "a"}, {"text": "b"}]})
    assert read(raw)[0].text == raw


def test_byte_order_mark_is_skipped() -> None:
    assert read(b"\xef\xbb\xbf" + BEIR.encode(), "a.jsonl") == read(BEIR, "a.jsonl")


def test_deep_nesting_is_read_in_some_way() -> None:
    for levels in [400, 5_000, 100_000]:
        for around in ["{}", '{{"a": {}}}', '[{{"text": "a", "b": {}}}]', '{{"messages": [{}]}}']:
            raw = around.format("[" * levels + "]" * levels)

            (document,) = read(raw)

            assert document.text in (raw, "a"), (levels, around)


def test_integers_of_any_length_are_read() -> None:
    huge = "1" * 10_000

    assert read(f'{{"a": {huge}}}')[0].notes == ()
    assert read(f'[{{"role": "user", "content": "hi", "n": {huge}}}]')[0].text == "user:\nhi\n\n"
    assert refusal(f'{{"text": "a", "n": {huge}}}').code == "bad_record"


def test_escaped_nul_is_a_character() -> None:
    assert read('{"text": "a\\u0000b"}', "a.jsonl")[0].text == "a\x00b"


def test_many_keys_and_long_values_take_linear_time() -> None:
    for raw in (
        '[{"text": "' + "x" * 3_000_000 + '"}]',
        "{" + '"a": 1, ' * 300_000 + '"a": 1}',
        "{\n" + " " * 3_000_000 + "1",
    ):
        assert len(read(raw)) == 1


def test_lone_surrogates_are_replaced_in_place() -> None:
    for raw, expected in [
        (rb'"\ud800"', rb'"\ufffd"'),
        (rb'"\\ud800"', rb'"\\ud800"'),
        (rb'"\ud83d\ude00\uDE00\\\ud83d"', rb'"\ud83d\ude00\ufffd\\\ufffd"'),
        (rb'"\ud83d\u0041"', rb'"\ufffd\u0041"'),
    ]:
        assert mend_surrogates(raw) == expected, (raw, expected)
        assert is_storable(decode_json(raw)), (raw, expected)


def test_levels_are_counted() -> None:
    for value, deeper in [
        ("[" * 500 + "]" * 500, False),
        ("[" * 501 + "]" * 501, True),
        ("[" + "[]," * 600 + "1]", False),
    ]:
        assert is_deeper(json.loads(value)) == deeper, (value, deeper)


KEYS = ["text", "content", "id", "_id", "title", "role", "messages", "mapping", "parent", "message", "type", "a:b"]
WORDS = ['"', 'a":', "\\"]


@given(st.lists(st.integers(0, 2**32), max_size=5), st.sampled_from([None, 1]), st.sampled_from(["", " "]))
def test_slices_of_an_array_are_its_elements(seeds: list[int], indent: int | None, before: str) -> None:
    values = [odd(seed, keys=KEYS, words=WORDS) for seed in seeds]
    raw = before + json.dumps(values, indent=indent)

    found = [(line, bytes(written)) for line, written in elements(raw.encode())]

    assert [json.loads(written) for _, written in found] == values
    assert all(raw.split("\n")[line - 1].lstrip()[:1] == written.decode()[:1] for line, written in found if indent)


@given(
    st.integers(0, 2**32),
    st.sampled_from(['{"a": 1, %s}', '{"text": "x", "a" :1, %s}', "[%s]", '{"a:": "\\"b\\":", %s}']),
)
def test_record_is_read_as_python_reads_it(seed: int, around: str) -> None:
    value = json.dumps(odd(seed, keys=KEYS, words=WORDS))
    raw = '{"text": "t", "more": ' + around.replace("%s", f'"z": {value}' if "{" in around else value) + "}"

    try:
        (document,) = read(raw, "a.jsonl", name="jsonl")
    except IngestError:
        assert "\\ud800" in raw
    else:
        assert document.meta == {"more": json.loads(raw)["more"]}


@given(st.integers(0, 2**32), st.sampled_from(["a.json", "a.jsonl"]), st.booleans())
def test_any_json_is_read_or_refused_with_a_code(seed: int, path: str, by_line: bool) -> None:
    value = odd(seed, keys=KEYS, words=WORDS, depth=6)
    values = value if isinstance(value, list) else [value]
    try:
        documents: Iterable[ParsedDocument] = read(
            lines(*map(json.dumps, values)) if by_line else json.dumps(value), path
        )
    except IngestError as error:
        assert error.code in ("bad_record", "duplicate_record")  # noqa: PT017 - the other outcome is asserted below
        documents = ()
    for document in documents:
        assert why_unfit(document.marks, len(document.text)) is None
        assert is_storable(document.text)
        assert is_storable(document.title)


@given(st.text(alphabet='{}[]",:a1\\ \nué', max_size=40))
def test_any_text_is_read(text: str) -> None:
    for path in ("a.json", "a.jsonl"):
        try:
            documents = read(text, path)
        except IngestError as error:
            assert error.code in ("bad_record", "duplicate_record")  # noqa: PT017 - the other outcome is asserted below
        else:
            assert documents
