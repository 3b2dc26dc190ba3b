"""The line behind `:`: what it means, and how it goes on."""

from __future__ import annotations

import pytest

from recall_core.adapters.menu import COMMANDS
from recall_core.errors import UsageError
from recall_tui.commandline import VERBS, Offered, Taken, Verb, completed, lines_of, question, verb, without_prompt
from recall_tui.themes import NAMES


def test_no_word_of_the_workbench_is_a_command_of_recall() -> None:
    assert not VERBS.keys() & {command.name for command in COMMANDS}


@pytest.mark.parametrize(
    ("line", "meant"),
    [("q", Verb("q", ())), ("theme light", Verb("theme", ("light",))), ("search q", None), ("", None)],
)
def test_a_line_is_for_the_workbench_or_for_recall(line: str, meant: Verb | None) -> None:
    assert verb(line) == meant


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        (" $ recall --store demo search tea ", "--store demo search tea"),
        ("recall stats", "stats"),
        ("recall", ""),
        ("search recall tea", "search recall tea"),
        ("recalls", "recalls"),
    ],
)
def test_a_line_may_be_pasted_as_a_shell_takes_it(pasted: str, line: str) -> None:
    assert without_prompt(pasted) == line


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("stats", ("stats",)),
        ("recall query 'SELECT *\nFROM chunk'\n", ("query 'SELECT *\nFROM chunk'",)),
        ("$ recall stats\n\n$ recall search 'a\n\nb' --k 2\n", ("stats", "search 'a\n\nb' --k 2")),
        ("search 'never closed\nstats", ("search 'never closed\nstats",)),
        ("", ()),
    ],
    ids=["one", "in-quotes", "two", "open", "none"],
)
def test_a_pasted_text_is_one_command_or_several(text: str, lines: tuple[str, ...]) -> None:
    assert lines_of(text) == lines


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("search token budget --k 3", Taken("token budget", "")),
        ("context --filter \"doc.tag = 'x'\" tea", Taken("tea", "doc.tag = 'x'")),
        ("query 'SELECT * FROM chunk'", Taken("SELECT * FROM chunk", "")),
        ("context --rql 'SELECT * FROM chunk'", Taken("SELECT * FROM chunk", "")),
        ("context --rql @file.rql", None),
        ("stats", None),
        ("--help", None),
    ],
)
def test_the_question_of_a_line(line: str, taken: Taken | None) -> None:
    assert question(line) == taken


@pytest.mark.parametrize("line", ["search 'open", "serch x", "search --frobnicate"])
def test_a_line_that_is_no_command_has_no_question(line: str) -> None:
    with pytest.raises(UsageError):
        question(line)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("sea", Offered("search ", ())),
        ("re", Offered("re", ("replay", "report", "reembed", "rechunk", "recover"))),
        ("th", Offered("theme ", ())),
        ("theme high-contrast-", Offered("theme high-contrast-light ", ())),
        ("theme high", Offered("theme high-contrast", ("high-contrast", "high-contrast-light"))),
        ("search tea --ex", Offered("search tea --ex", ("--exact", "--explain"))),
        ("search tea --expl", Offered("search tea --explain ", ())),
        ("judge imp", Offered("judge import ", ())),
        ("rql for", Offered("rql format ", ())),
        ("search tea", Offered("search tea", ())),
        ("nonsense --x", Offered("nonsense --x", ())),
    ],
)
def test_a_line_goes_on_as_far_as_there_is_one_way(line: str, offered: Offered) -> None:
    assert completed(line, NAMES) == offered
