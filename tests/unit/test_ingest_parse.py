"""Promises of the parsers."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from recall_core.errors import IngestError, UsageError
from recall_core.ingest.parse import identity, is_earlier, parser
from recall_core.ports import ParsedDocument
from tests.plug_ins import write_plug_in


def parse(raw: bytes, *, name: str = "text", path: str = "docs/a.txt") -> list[ParsedDocument]:
    return list(parser(name).parse(raw, path=path, digest=sha256(raw).hexdigest()))


def records(*lines: object) -> list[ParsedDocument]:
    raw = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()
    return parse(raw, name="jsonl", path="a.jsonl")


def test_markdown_file_is_titled_by_its_first_heading() -> None:
    (document,) = parse(b"intro\n\n# The *Title*\n", path="docs/a.MD")

    assert (document.title, document.record) == ("The *Title*", None)
    assert [mark.name for mark in document.marks] == ["The *Title*"]


@pytest.mark.parametrize("path", ["docs/a.txt", "docs/a.py", "docs/a.md"])
def test_text_without_a_heading_is_titled_by_its_file_name(path: str) -> None:
    assert parse(b"words", path=path)[0].title == path.removeprefix("docs/")


def test_hash_sign_in_source_code_is_not_a_title() -> None:
    assert parse(b"# comment\n", path="a.py")[0].title == "a.py"


def test_every_jsonl_line_is_a_document() -> None:
    line = '{"_id": "x", "title": "T", "text": "words", "year": 1999, "deep": {"a": [1]}}'

    (document,) = records(line)

    assert document == ParsedDocument(
        "x",
        "words",
        "T",
        sha256(line.encode()).hexdigest(),
        len(line),
        {"year": 1999, "deep": {"a": [1]}},
        place="line 1",
    )


def test_record_is_named_by_its_id_or_line() -> None:
    found = records({"_id": "a", "id": 5, "text": ""}, "", {"id": 7, "content": "c"}, {"text": "t"})

    assert [(document.record, document.text) for document in found] == [("a", ""), ("7", "c"), ("4", "t")]
    assert found[0].meta == {"id": 5}


def test_blank_record_uses_its_title_as_text() -> None:
    for key in ["text", "content"]:
        for blank in ["", " ", "\n\t \r\n", "\u3000\u00a0"]:
            (document,) = records({"_id": "x", key: blank, "title": " The 題 Title\n"})

            assert (document.text, document.title, document.is_title) == (
                " The 題 Title\n",
                " The 題 Title\n",
                True,
            ), (key, blank)


@pytest.mark.parametrize("record", [{"text": " \n"}, {"text": "", "title": None}, {"text": "", "title": " \t"}])
def test_record_without_text_and_title_keeps_its_text(record: dict[str, str | None]) -> None:
    (document,) = records(record)

    assert (document.text, document.title, document.is_title) == (record["text"], record.get("title") or "", False)


@pytest.mark.parametrize("text", ["words", "T", " T "])
def test_record_with_text_keeps_it(text: str) -> None:
    (document,) = records({"text": text, "title": "T"})

    assert (document.text, document.title, document.is_title) == (text, "T", False)


def test_parser_of_one_version_is_identified_by_its_name() -> None:
    assert [identity(name) for name in ("text", "jsonl", "shout")] == ["text", "jsonl@2", "shout"]


def test_identity_names_earlier_versions_of_a_parser() -> None:
    for read_by, earlier in [
        ("jsonl", True),
        ("jsonl@1", True),
        ("jsonl@2", False),
        ("jsonl@3", False),
        ("text", False),
        ("", False),
    ]:
        assert is_earlier(read_by) == earlier, (read_by, earlier)


def test_line_ends_do_not_belong_to_a_record() -> None:
    unix = parse(b'{"text": "a"}\n', name="jsonl")
    windows = parse(b'\xef\xbb\xbf{"text": "a"}\r\n\r\n', name="jsonl")

    assert unix == windows


def test_bad_record_is_named_by_its_line() -> None:
    for line in [
        "{",
        "[1]",
        '{"title": "no text"}',
        '{"title": "no text", "text": null}',
        '{"text": 1}',
        '{"text": "t", "id": 1.5}',
        '{"text": "t", "id": true}',
        '{"text": "t", "id": ""}',
        '{"text": "t", "title": 3}',
        '{"text": "t", "score": NaN}',
        '{"text": "\\ud800"}',
        "[" * 100_000,
    ]:
        with pytest.raises(IngestError, match=r"a\.jsonl:2: ") as caught:
            records({"text": "fine"}, line)

        assert caught.value.code == "bad_record", line


def test_bad_record_is_named_by_line_and_column() -> None:
    comma = (
        " in column 13: trailing comma after the last value"
        if sys.version_info >= (3, 13)
        else " in column 14: expected a key in double quotes"
    )
    for line, reason in [
        ('{"text": "b",}', comma),
        ('{text: "b"}', " in column 2: expected a key in double quotes"),
        ('{"text" "b"}', " in column 9: missing colon"),
        ('{"text": "b" "c"}', " in column 14: missing comma or closing bracket"),
        ('{"text": "ä", "n": [1 2]}', " in column 23: missing comma or closing bracket"),
        ('{"text": "b"', " in column 13: missing comma or closing bracket"),
        ("words", " in column 1: expected a value"),
        ('{"text": "b"} {"text": "c"}', " in column 15: extra text after the value"),
        ('{"text": "b}', " in column 10: unclosed string"),
        ('{"text": "b\tc"}', " in column 12: unescaped control character in a string"),
        (r'{"text": "b\x"}', " in column 12: invalid escape"),
        (r'{"text": "b\u12"}', " in column 13: invalid escape"),
        (r'{"text": "é", "n": ["\ud83d\ude00", "\ud800"]}', " in column 38: a lone surrogate is not a character"),
        ('{"text": "ä", "n": NaN}', " in column 20: NaN is not a JSON value"),
        ('{"text": "NaN", "n": -Infinity}', " in column 22: -Infinity is not a JSON value"),
        ("[" * 100_000, ": nested too deep"),
        (f'{{"text": "b", "n": {"9" * 5_000}}}', ": a number has too many digits"),
    ]:
        with pytest.raises(IngestError) as caught:
            parse(f'{{"text": "fine"}}\n{line}\n'.encode(), name="jsonl", path="a.jsonl")

        assert (caught.value.code, caught.value.message) == ("bad_record", f"a.jsonl:2: not valid JSON{reason}."), (
            line,
            reason,
        )


def test_error_in_an_array_gives_the_line_of_the_file() -> None:
    raw = '[{"text": "fine"}, {"text": "b",\n\n  "n": "\\ud800"}]'

    with pytest.raises(IngestError) as caught:
        parse(raw.encode(), name="json", path="a.json")

    assert (
        caught.value.message == "a.json:1: not valid JSON in line 3, column 9: a lone surrogate is not a character."
    )


def test_duplicate_id_error_names_both_lines() -> None:
    with pytest.raises(IngestError, match=r"a\.jsonl:3: .* line 1\.") as caught:
        records({"id": 1, "text": "a"}, {"id": 2, "text": "b"}, {"id": "1", "text": "c"})

    assert caught.value.code == "duplicate_record"


def test_ids_equal_after_normalization_are_duplicates() -> None:
    with pytest.raises(IngestError, match=r"a\.jsonl:2: .* line 1\.") as caught:
        records({"id": "\u00e9", "text": "a"}, {"id": "e\u0301", "text": "b"})

    assert caught.value.code == "duplicate_record"


def test_duplicate_key_is_named_with_its_line() -> None:
    for line, key in [
        (b'{"text": "a", "year": 1, "text": "b"}', "text"),
        (b'{"text" : "a", "year" : 1, "year": 2}', "year"),
        (b'{"text": "a", "where": {"lat": 1, "lon": 2, "lat": 3}}', "lat"),
        (b'{"text": "a", "where": [{"x\\u001b": 1, "x\\u001b": 1}]}', r"x\\x1b"),
    ]:
        with pytest.raises(IngestError, match=rf"^a\.jsonl:2: the key '{key}' appears twice\.$") as caught:
            parse(b'{"text" : "fine"}\n' + line, name="jsonl", path="a.jsonl")

        assert caught.value.code == "bad_record", (line, key)


def test_binary_file_is_not_jsonl() -> None:
    with pytest.raises(IngestError) as caught:
        parse(b"\0", name="jsonl")

    assert caught.value.code == "binary_file"


def test_unknown_parser_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="jsnl") as caught:
        parser("jsnl")

    assert (caught.value.code, caught.value.hint) == ("unknown_parser", "did you mean jsonl?")


PLUG_IN = """
from recall_core.ports import ParsedDocument

class Shout:
    def parse(self, raw, *, path, digest):
        return [ParsedDocument(None, raw.decode().upper(), path, digest, len(raw), {})]
"""


def test_installed_parser_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "shout = recall_shout:Shout\nbroken = recall_shout:Missing\ntext = recall_shout:Shout\n"
    write_plug_in(tmp_path, "recall_shout", f"[recall.parser]\n{names}", source=PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)

    assert parse(b"quiet", name="shout")[0].text == "QUIET"
    assert parse(b"quiet", name="text")[0].text == "quiet"
    with pytest.raises(UsageError) as caught:
        parser("broken")
    assert caught.value.code == "parser_unavailable"
