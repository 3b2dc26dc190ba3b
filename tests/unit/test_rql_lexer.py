import pytest

from recall_core.errors import RqlError
from recall_core.rql.lexer import MAX_BYTES, tokenize


def values(text: str) -> list[object]:
    return [token.value for token in tokenize(text)[:-1]]


def code(text: str) -> str:
    with pytest.raises(RqlError) as caught:
        tokenize(text)
    return caught.value.code


def test_every_token_knows_its_position() -> None:
    text = "doc.tag  =\n'é🙂'"

    tokens = tokenize(text)

    assert [text[token.start : token.end] for token in tokens] == ["doc", ".", "tag", "=", "'é🙂'", ""]
    assert [token.kind for token in tokens] == ["name", "symbol", "name", "symbol", "string", "end"]


def test_comment_runs_to_the_end_of_its_line() -> None:
    assert values("a -- b 'c\n--\n-- d\ne--f") == ["a", "e"]


def test_string_is_read_without_its_quotes_and_escapes() -> None:
    for source, value in [
        ("'a'", "a"),
        ('"a"', "a"),
        ("''", ""),
        ("'it''s'", "it's"),
        (r"'it\'s'", "it's"),
        ('"it\'s"', "it's"),
        ('"say ""x"""', 'say "x"'),
        (r'"say \"x\""', 'say "x"'),
        (r"'a\\b'", r"a\b"),
        (r"'100\%'", r"100\%"),
        (r"'\\%'", r"\%"),
        (r"'C:\dir'", r"C:\dir"),
        ("'a\nb'", "a\nb"),
        ("'-- a'", "-- a"),
    ]:
        assert values(source) == [value], source


def test_unclosed_string_is_refused() -> None:
    for source in ["'", "'a", "\"a'", "'a''", r"'a\'", "x = 'a\n"]:
        assert code(source) == "unterminated_string", source


def test_number_keeps_its_type() -> None:
    for source, value in [
        ("0", 0),
        ("-5", -5),
        ("007", 7),
        ("1.5", 1.5),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("2E-2", 0.02),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
    ]:
        [found] = values(source)

        assert found == value, source
        assert type(found) is type(value), source


def test_unstorable_number_is_refused() -> None:
    for source in ["1.", "1.2.3", "10k", "1_000", "9223372036854775808", "1e999", "-1e999", "9" * 5000]:
        assert code(source) == "bad_number", source


def test_meaningless_character_is_refused() -> None:
    for source in ["&", "- 5", "+5", "#", "a\x00b", "'\x00'", "'\ud800'", "“a”", "[1]", "{"]:
        assert code(source) == "bad_character", source


def test_two_character_operators_are_one_token() -> None:
    assert values("<><=>=!=<=-1") == ["<>", "<=", ">=", "!=", "<=", -1]


def test_name_may_use_any_letter() -> None:
    assert values("größe _x1 日本") == ["größe", "_x1", "日本"]


def test_size_limit_counts_bytes_exactly() -> None:
    fits = "'" + "é" * (MAX_BYTES // 2 - 1) + "'"

    assert len(tokenize(fits)) == 2
    assert code(fits + " ") == "rql_too_large"
