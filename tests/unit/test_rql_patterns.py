import time

import pytest

from recall_core.errors import UsageError
from recall_core.rql.patterns import (
    check_glob,
    glob_match,
    glob_prefix,
    ilike_match,
    like_match,
    like_prefix,
)


def test_like_matches() -> None:
    for pattern, value in [
        ("", ""),
        ("%", ""),
        ("%", "a\nb"),
        ("a%", "a"),
        ("%b%", "abc"),
        ("a_c", "abc"),
        ("a_c", "a\nc"),
        ("_", "🙂"),
        ("_", "é"),
        ("__%", "ab"),
        ("%a%b%a", "xaxbxa"),
        (r"100\%", "100%"),
        (r"a\_b", "a_b"),
        (r"a\\b", r"a\b"),
        ("a\\", "a\\"),
        ("[a]*", "[a]*"),
        ("%aab", "aaab"),
    ]:
        assert like_match(pattern, value), (pattern, value)


def test_like_takes_other_characters_literally() -> None:
    for pattern, value in [
        ("", "a"),
        ("a", "A"),
        ("a", "ab"),
        ("_", ""),
        ("_", "ab"),
        ("_", "e\u0301"),
        (r"100\%", "1000"),
        (r"a\_b", "axb"),
        ("%a%b%a", "xaxb"),
        ("a%a", "a"),
        ("É%", "été"),
    ]:
        assert not like_match(pattern, value), (pattern, value)


def test_ilike_folds_case_beyond_ascii() -> None:
    assert ilike_match("É%", "été")
    assert ilike_match("%STRASSE", "Hauptstraße")
    assert ilike_match("ΣΑΣ", "σας")
    assert not ilike_match("a%", "éa")


def test_glob_matches() -> None:
    for pattern, path in [
        ("*.md", "a.md"),
        ("*", ".hidden"),
        ("a*b*c", "axxbxbc"),
        ("a?c", "a🙂c"),
        ("**", "a"),
        ("**", "a/b"),
        ("**/*.md", "a.md"),
        ("**/*.md", "d/e/a.md"),
        ("**/api/**", "api/x"),
        ("**/api/**", "v1/api/x/y"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("a/**/**/b", "a/b"),
        ("a/**/x/**/b", "a/x/x/b"),
        ("**/a/b", "a/a/b"),
        ("docs/**", "docs/a"),
        ("docs/**", "docs/a/b"),
        ("docs/**", "docs/"),
        ("a**b", "axxb"),
        ("[abc]", "b"),
        ("[a-c]x", "bx"),
        ("[!a-c]", "d"),
        ("[^a-c]", "d"),
        ("[]a]", "]"),
        ("[!]]", "a"),
        ("[a-]", "-"),
        ("[-a]", "-"),
        (r"[\]]", "]"),
        (r"[\!a]", "!"),
        ("[.]", "."),
        ("x[", "x["),
        ("x[a/b]", "x[a/b]"),
        ("{a,b}.md", "b.md"),
        ("{a,b/**}/c", "b/x/c"),
        ("{a,{b,c}}d", "cd"),
        ("x{,y}", "x"),
        ("x{,y}", "xy"),
        ("{a}", "a"),
        ("{a", "{a"),
        ("a}", "a}"),
        ("a,b", "a,b"),
        (r"{a\,b,c}", "a,b"),
        ("{[,],x}", ","),
        (r"\*", "*"),
        (r"\{a,b\}", "{a,b}"),
        ("a\\", "a\\"),
        ("a.b", "a.b"),
        ("a//b", "a//b"),
        ("/abs/*", "/abs/x"),
        ("日本/*", "日本/語"),
    ]:
        assert glob_match(pattern, path), (pattern, path)


def test_glob_takes_other_characters_literally() -> None:
    for pattern, path in [
        ("*.md", "d/a.md"),
        ("a?c", "a/c"),
        ("*", "a/b"),
        ("**/api/**", "api"),
        ("**/api/**", "xapi/y"),
        ("a/**/b", "ab"),
        ("a/**/b", "a/xb"),
        ("docs/**", "docs"),
        ("docs/**", "docs2/a"),
        ("a**b", "a/b"),
        ("a*b*c", "axxb/c"),
        ("[a-c]", "d"),
        ("[!a]", "/"),
        ("[.-0]", "/"),
        ("[z-a]", "m"),
        ("[a-c]", "B"),
        ("{a,b}", "c"),
        (r"\*", "a"),
        ("a.b", "axb"),
        ("a", "a\n"),
        ("*.MD", "a.md"),
    ]:
        assert not glob_match(pattern, path), (pattern, path)


def test_negated_empty_range_matches_any_character_of_a_segment() -> None:
    assert glob_match("[!z-a]", "m")
    assert not glob_match("[!z-a]", "/")


def test_hostile_pattern_stays_cheap() -> None:
    for match, pattern, value in [
        (like_match, "%a" * 300 + "b", "a" * 20_000),
        (like_match, "%_" * 2_000, "a" * 6_000),
        (like_match, "%ab" * 300 + "c", "ab" * 10_000),
        (ilike_match, "%A" * 300 + "b", "a" * 20_000),
        (glob_match, "*a" * 300 + "b", "a" * 20_000),
        (glob_match, "**/a/" * 200 + "b", "a/" * 10_000),
        (glob_match, "**/*a*a*a/" * 80 + "b", "aaaa/" * 4_000),
        (glob_match, "{" * 1_000, "a"),
        (glob_match, "[" * 1_000, "a"),
        (glob_match, "{a,b}" * 8 + "x" * 900, "a" * 900),
    ]:
        started = time.perf_counter()

        match(pattern, value)

        assert time.perf_counter() - started < 5, pattern  # a backtracking matcher would practically never finish


def test_excessively_large_glob_is_refused() -> None:
    for pattern in ["{a,b}" * 9, "{a,b,c}" * 300, "x" * 1025]:
        with pytest.raises(UsageError) as caught:
            check_glob(pattern)

        assert caught.value.code == "bad_pattern", pattern


def test_every_match_begins_with_the_prefix() -> None:
    assert like_prefix(r"docs/a%") == "docs/a"
    assert like_prefix("plain") == "plain"
    assert like_prefix(r"a\%b") == "a"
    assert glob_prefix("docs/**") == "docs/"
    assert glob_prefix("{a,b}") == ""
    assert glob_prefix("a[bc]") == "a"
