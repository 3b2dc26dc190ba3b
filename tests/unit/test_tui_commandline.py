"""The command line behind `:`: its meaning and its completion."""

from __future__ import annotations

import pytest

from recall_core.adapters.commands import BY_NAME
from recall_core.errors import UsageError
from recall_tui.screens.line import VERBS, Offered, Taken, Verb, complete, lines_of, question, verb, without_prompt
from recall_tui.themes import NAMES


def test_no_verb_of_the_workbench_is_a_recall_command() -> None:
    assert not VERBS.keys() & {command.name for command in BY_NAME.values()}


def test_a_line_is_for_the_workbench_or_for_recall() -> None:
    for line, meant in [
        ("q", Verb("q", ())),
        ("theme light", Verb("theme", ("light",))),
        ("search q", None),
        ("", None),
    ]:
        assert verb(line) == meant, line


def test_a_line_may_be_pasted_from_a_shell() -> None:
    for pasted, line in [
        (" $ recall --store demo search tea ", "--store demo search tea"),
        ("recall stats", "stats"),
        ("recall", ""),
        ("search recall tea", "search recall tea"),
        ("recalls", "recalls"),
    ]:
        assert without_prompt(pasted) == line, pasted


def test_a_pasted_text_is_one_command_or_several() -> None:
    for text, lines in [
        ("stats", ("stats",)),
        ("recall query 'SELECT *\nFROM chunk'\n", ("query 'SELECT *\nFROM chunk'",)),
        ("$ recall stats\n\n$ recall search 'a\n\nb' --k 2\n", ("stats", "search 'a\n\nb' --k 2")),
        ("search 'never closed\nstats", ("search 'never closed\nstats",)),
        ("", ()),
    ]:
        assert lines_of(text) == lines, text


def test_the_question_of_a_line() -> None:
    for line, taken in [
        ("search token budget --k 3", Taken("token budget", "")),
        ("context --filter \"doc.tag = 'x'\" tea", Taken("tea", "doc.tag = 'x'")),
        ("query 'SELECT * FROM chunk'", Taken("SELECT * FROM chunk", "")),
        ("context --rql 'SELECT * FROM chunk'", Taken("SELECT * FROM chunk", "")),
        ("context --rql @file.rql", None),
        ("stats", None),
        ("--help", None),
    ]:
        assert question(line) == taken, line


def test_a_line_that_is_not_a_command_has_no_question() -> None:
    for line in ["search 'open", "serch x", "search --frobnicate"]:
        with pytest.raises(UsageError):
            question(line)


def test_a_line_is_completed_while_only_one_continuation_exists() -> None:
    for line, offered in [
        ("sea", Offered("search ", ())),
        ("re", Offered("re", ("replay", "report", "reembed", "rechunk", "reindex", "recover"))),
        ("th", Offered("theme ", ())),
        ("theme high-contrast-", Offered("theme high-contrast-light ", ())),
        ("theme high", Offered("theme high-contrast", ("high-contrast", "high-contrast-light"))),
        ("search tea --ex", Offered("search tea --ex", ("--exact", "--explain"))),
        ("search tea --expl", Offered("search tea --explain ", ())),
        ("judge imp", Offered("judge import ", ())),
        ("rql for", Offered("rql format ", ())),
        ("search tea", Offered("search tea", ())),
        ("nonsense --x", Offered("nonsense --x", ())),
    ]:
        assert complete(line, NAMES) == offered, line
