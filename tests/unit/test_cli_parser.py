"""The command line: valid forms, and the errors for invalid ones."""

from __future__ import annotations

import re
import shlex

import pytest

from recall_core import adapters
from recall_core.adapters.commands import BY_NAME, FAMILIES, asks_for_json
from recall_core.adapters.flags import GLOBALS
from recall_core.adapters.parser import command_parser, parse, top_help
from recall_core.errors import UsageError


def refusal(*argv: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse(argv)
    return caught.value


def shown_help(name: str) -> str:
    """Return the help of that command, with its lines joined."""
    return " ".join(command_parser(BY_NAME[name], operands=True).format_help().split())


def test_table_lists_every_command_of_its_module() -> None:
    rows = {module: getattr(adapters, module).COMMANDS for module in FAMILIES.values()}

    assert {command.name: module for module, commands in rows.items() for command in commands} == FAMILIES
    assert [command.name for command in BY_NAME.values()] == list(FAMILIES)


def test_global_flags_may_precede_or_follow_the_command() -> None:
    before = parse(["--store", "a.db", "--json", "search", "x"])
    after = parse(["search", "x", "--json", "--store=a.db"])

    assert (
        (before.store, before.json, before.words) == (after.store, after.json, after.words) == ("a.db", True, ("x",))
    )


def test_words_and_flags_mix_freely() -> None:
    request = parse(["search", "zero", "--k", "5", "downtime", "--bm25", "deploy"])

    assert request.words == ("zero", "downtime", "deploy")
    assert request.flags.k == 5
    assert request.flags.bm25


def test_words_after_a_double_dash_are_never_flags() -> None:
    request = parse(["search", "--k", "1", "--", "--json", "-x"])

    assert request.words == ("--json", "-x")
    assert not request.json
    assert not asks_for_json(["search", "--", "--json"])


def test_repeated_flag_keeps_every_value_in_order() -> None:
    request = parse(["add", "docs", "--tag", "b", "--tag", "a"])

    assert request.flags.tag == ["b", "a"]


def test_lone_dash_and_a_negative_number_are_words() -> None:
    assert parse(["query", "-"]).words == ("-",)
    assert parse(["search", "below", "-5"]).words == ("below", "-5")


def test_quoted_phrase_with_a_leading_dash_is_a_word() -> None:
    assert parse(["search", "-x means extract"]).words == ("-x means extract",)


def test_unknown_flag_suggests_the_nearest_flag() -> None:
    error = refusal("search", "x", "--fitler", "doc.tag = 'a'")

    assert (error.code, error.hint, error.exit_code) == ("unknown_flag", "did you mean --filter?", 2)


def test_flag_of_another_command_is_refused() -> None:
    assert refusal("stats", "--k", "3").code == "unknown_flag"
    assert refusal("query", "SELECT", "--filter", "x").code == "unknown_flag"


def test_abbreviated_flag_is_refused() -> None:
    assert refusal("context", "x", "--budget", "3").hint == "did you mean --budget-tokens?"


def test_unknown_flag_without_a_near_match_suggests_help() -> None:
    error = refusal("search", "x", "--zzzzzz")

    assert error.hint is not None
    assert "recall search --help" in error.hint


def test_unknown_flag_before_the_command_is_refused() -> None:
    assert refusal("--jsn", "stats").hint == "did you mean --json?"
    assert refusal("--jsn").hint == "did you mean --json?"


def test_unknown_command_suggests_the_nearest_command() -> None:
    error = refusal("serch", "x")

    assert (error.code, error.hint) == ("unknown_command", "did you mean recall search?")


def test_command_without_its_operand_shows_an_example() -> None:
    for argv in [("search",), ("add",), ("rm",), ("get",), ("import",), ("completion",)]:
        error = refusal(*argv)

        assert error.code == "missing_argument", argv
        assert error.hint is not None, argv
        assert error.hint.startswith(f"recall {argv[0]}") or argv[0] in error.hint, argv


def test_extra_operand_is_refused() -> None:
    assert refusal("get", "a", "b").code == "unexpected_argument"
    assert refusal("stats", "now").code == "unexpected_argument"


def test_count_must_be_a_whole_number() -> None:
    for value in ["-1", "1.5", "x", "", "1_000", "٣", "99999999999"]:
        error = refusal("search", "x", f"--k={value}")

        assert error.code == "bad_value", value
        assert repr(value) in error.message, value


def test_k_may_be_zero_but_a_budget_may_not() -> None:
    assert parse(["search", "x", "--k", "0"]).flags.k == 0
    assert refusal("context", "x", "--budget-tokens", "0").code == "bad_value"


def test_flag_without_value_is_a_missing_argument() -> None:
    assert refusal("search", "x", "--k").code == "missing_argument"
    assert refusal("--store").code == "missing_argument"


def test_wrong_choice_suggests_the_nearest_choice() -> None:
    assert refusal("import", "x", "--on-conflict", "skp").hint == "did you mean skip?"
    assert refusal("completion", "basj").hint == "did you mean bash?"


def test_argument_that_is_not_utf8_is_refused() -> None:
    assert refusal("search", "\udcff").code == "bad_value"


def test_json_without_command_is_an_error_and_bare_is_help() -> None:
    assert refusal("--json").code == "missing_argument"
    assert parse([]).help


def test_help_wins_over_missing_operands() -> None:
    assert parse(["search", "--help"]).help
    assert parse(["--help", "search"]).help
    assert parse(["get", "-h"]).help


def test_help_shows_purpose_flags_and_examples() -> None:
    for command in BY_NAME.values():
        text = command_parser(command, operands=True).format_help()

        assert command.purpose.split(".")[0][:40] in text, command.name
        assert all(flag.name in text for flag in (*command.flags, *GLOBALS)), command.name
        assert all(example in text for example in command.examples), command.name
        assert command.examples, command.name


def test_help_marks_repeatable_flags() -> None:
    for command in BY_NAME.values():
        text = shown_help(command.name)

        assert all((f"{flag.doc}; repeatable" in text) == flag.many for flag in command.flags), command.name


def test_help_shows_flag_meanings_and_defaults() -> None:
    for name, meaning in [
        ("search", "number of hits (default 10)"),
        ("tune", "size of the top (default 10)"),
        ("eval", "hits to rank per query (default 100)"),
        ("context", "pack at most the best N chunks (default: all)"),
        ("context", "report the value, gaps and token use of the context"),
        ("import", "what to do if a document already exists (default error): error or skip or replace"),
        ("judge", "export format of the judgements (default beir): beir or trec or quepid"),
    ]:
        assert meaning in shown_help(name), (name, meaning)


def test_top_help_lists_every_command() -> None:
    text = top_help("1.2.3")

    assert "1.2.3" in text
    assert all(f"\n  {command.name} " in text for command in BY_NAME.values())


def test_every_help_example_parses() -> None:
    for command in BY_NAME.values():
        for example in command.examples:
            line = re.split(r" [>|] |\)\"$", example.split("recall ", 1)[1])[0]

            assert parse(shlex.split(line)).command == command, example


def test_repeated_single_value_flag_is_refused() -> None:
    for argv, hint in [
        (
            ("search", "apple", "--filter", "doc.tag = 'a'", "--filter", "doc.tag = 'b' OR doc.tag = 'c'"),
            "--filter \"(doc.tag = 'a') AND (doc.tag = 'b' OR doc.tag = 'c')\"",
        ),
        (("--store", "a.db", "search", "x", "--store=b.db"), "leave out --store a.db, or --store b.db"),
        (("whynot", "x", "--target", "a.md", "--target", "b c.md"), "leave out --target a.md, or --target 'b c.md'"),
        (("add", "x", "--source", "a", "--source", "b"), "leave out --source a, or --source b"),
        (("add", "x", "--parser", "text", "--parser", "jsonl"), "leave out --parser text, or --parser jsonl"),
        (("search", "x", "--k", "0", "--k", "5"), "leave out --k 0, or --k 5"),
        (("eval", "--modes", "bm25", "--modes", "vector"), "--modes bm25,vector"),
        (("eval", "--metrics", "mrr", "--metrics", "p@5"), "--metrics mrr,p@5"),
        (("eval", "--gate", "mrr>=.3", "--gate", "p@5>=.1"), "--gate 'mrr>=.3,p@5>=.1'"),
        (("search", "x", "--filter", "", "--filter", "A"), "leave out --filter '', or --filter A"),
    ]:
        error = refusal(*argv)

        flag = hint.removeprefix("leave out ").split()[0]
        assert (error.code, error.message, error.hint) == ("conflicting_flags", f"{flag} is given twice.", hint), argv


def test_every_single_value_flag_is_refused_twice() -> None:
    for command in BY_NAME.values():
        for flag in (*command.flags, *GLOBALS):
            if flag.metavar:
                value = flag.choices[0] if flag.choices else "1"
                words = ["x"] * command.operand.least if command.operand is not None else []
                line = [command.name, *words, flag.name, value, f"{flag.name}={value}"]
                if command.operand is not None and (command.operand.choices or command.operand.actions):
                    line[1 : 1 + len(words)] = [(command.operand.choices or command.operand.actions)[0]]
                if flag.many:
                    assert getattr(parse(line).flags, flag.key) == [value, value]
                else:
                    assert refusal(*line).message == f"{flag.name} is given twice."


def test_switch_may_be_repeated() -> None:
    assert parse(["search", "x", "--bm25", "--bm25", "--json", "--json"]).json


def test_switch_accepts_no_value() -> None:
    for argv, flag in [
        (("stats", "--json=3"), "--json"),
        (("search", "x", "--json=1"), "--json"),
        (("--json=1", "search", "x"), "--json"),
        (("--json=",), "--json"),
        (("search", "x", "--bm25=yes"), "--bm25"),
        (("search", "x", "--help=1"), "--help"),
    ]:
        error = refusal(*argv)

        assert (error.code, error.message, error.hint) == ("bad_value", f"{flag} takes no value.", flag), argv


def test_text_after_an_equals_sign_is_the_value() -> None:
    for value in ["--", "-", "-x", "--json", ""]:
        request = parse(["search", "x", f"--filter={value}", f"--set={value}"])

        assert (request.flags.filter, request.flags.set, request.json) == (value, [value], False), value


def test_two_dashes_are_not_a_number() -> None:
    assert refusal("search", "x", "--k=--").code == "bad_value"
