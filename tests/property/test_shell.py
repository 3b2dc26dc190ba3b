"""Printed commands can be typed again: a shell reads the words they were made of."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core import shell
from recall_core.adapters.parser import parse

# A process argument contains no NUL and no text that no encoding can spell.
words = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))
RQL = "SEARCH chunks WHERE doc.path LIKE 'a%' AND doc.tag = 'x y'"


@given(st.lists(words))
@example([RQL, "it's $HOME", 'he said "don\'t"', "it's `ls`", "that's all!", "it's \\", ""])
def test_printed_line_splits_into_its_words(line: list[str]) -> None:
    assert shlex.split(shell.join(line)) == line


@given(words, words, st.lists(words, max_size=2))
@example("-x", "--", ["--k", "-"])
@example("-- a", "-- a = b", ["--k=3 a"])
@example("…", "=", ["a b"])
def test_hint_parses_to_its_meaning(word: str, where: str, settings: list[str]) -> None:
    hint = shell.Hint("search", word, filter=where, set=tuple(settings), mode="lexical", store=where)
    query = shell.Hint("query", word, set=tuple(settings))

    request = parse(shlex.split(hint)[1:])

    told = request.flags
    assert parse(shlex.split(query)[1:]).words == (word,)
    assert (request.words, told.filter, list(told.set or ()), told.bm25) == ((word,), where, settings, True)
    assert request.store == where


def test_sh_reads_the_same_words() -> None:
    line = [RQL, "it's $HOME", 'he said "don\'t"', "it's `ls`", "that's all!", "it's \\", "", "two\nlines, 'quoted'"]

    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {shell.join(line)}"], capture_output=True, check=True)

    assert done.stdout.decode().split("\0")[:-1] == line


def test_query_keeps_its_own_quotes() -> None:
    assert shell.join(["recall", "query", RQL]) == f'recall query "{RQL}"'


def test_characters_special_in_double_quotes_get_single_quotes() -> None:
    assert shell.quote("it's $HOME") == shlex.quote("it's $HOME")


@given(st.lists(words))
@example(["search", "a | b", ">", "don't", "&&"])
def test_quoted_text_is_not_an_operator(line: list[str]) -> None:
    assert shell.operator(shell.join(line)) == ""


@pytest.mark.parametrize(
    ("line", "operator"),
    [
        ("search timeout | head", "|"),
        ("search 'a | b' > found.txt", ">"),
        ("search a;b && stats", "&"),
        ("search R&D a>b", ""),
        (r"search \| \; ", ""),
        ('search "it\'s | fine"', ""),
    ],
)
def test_pipe_or_redirection_is_noticed(line: str, operator: str) -> None:
    assert shell.operator(line) == operator
