"""Parse argv into a Request with argparse, print help, and complete command lines in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from recall_core import api
from recall_core._lazy import difflib
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import GLOBALS, LARGEST, VERSION, Command, Flag, Request
from recall_core.errors import RecallError, UsageError
from recall_core.shell import quote

if TYPE_CHECKING:
    from recall_core.agents.profiles import Agents

FORMAT = partial(argparse.RawDescriptionHelpFormatter, max_help_position=30)
_UNSHOWN = partial(FORMAT, width=80)
"""Used by parsers that print no help. argparse formats each flag that is added, and finding the terminal's width
imports modules for 5 ms."""

_JOINED = {"--filter": "({}) AND ({})", "--modes": "{},{}", "--metrics": "{},{}", "--gate": "{},{}"}
"""How to join two values of a flag into one, for the hint."""


class CommandParser(argparse.ArgumentParser):
    """An argparse parser that raises UsageError instead of printing and exiting."""

    def __init__(self, **options: object) -> None:
        super().__init__(add_help=False, allow_abbrev=False, exit_on_error=False, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Raise the message that argparse would print."""
        raise UsageError("missing_argument", f"{self.prog}: {message}", hint=f"{self.prog} --help")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Keep the value `--` of `--flag=--`. argparse drops it."""
        if arg_strings == ["--"] and action.option_strings and action.nargs is None:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)


class _GivenOnce(argparse.Action):
    """Stores the value of a flag and refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        if before is not None:
            name = self.option_strings[-1]
            hint = f"leave out {name} {quote(str(before))}, or {name} {quote(str(values))}"
            if name in _JOINED and before and values:
                hint = f"{name} {quote(_JOINED[name].format(before, values))}"
            raise UsageError("conflicting_flags", f"{name} is given twice.", hint=hint)
        setattr(namespace, self.dest, values)


def parse(argv: Sequence[str]) -> Request:
    """Return the request in argv (without the program's name). Builds the parser of that command only.

    Global flags may come before or after the command. Words after a bare `--` are never flags.
    Raises UsageError `unknown_flag`, `unknown_command`, `missing_argument`, `unexpected_argument`, `bad_value`, and
    `conflicting_flags` if a flag is given twice.
    """
    for word in argv:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UsageError("bad_value", f"The argument {word!r} is not valid UTF-8.", hint="recall --help")
    cut = list(argv).index("--") if "--" in argv else len(argv)
    head, tail = list(argv[:cut]), list(argv[cut + 1 :])
    before, name, rest = _leading(head)
    if name is None:
        return _without_command(before, tail)
    if VERSION.name in before:
        return _without_command(before, tail)
    command = BY_NAME.get(name) or _unknown_command(name)
    flags, extras = parse_known(command_parser(command), [*before, *rest])
    prog = f"recall {command.name}"
    refuse_flags(extras, (*command.flags, *GLOBALS), prog=prog)
    words = (*extras, *tail)
    if not flags.help:
        _check_words(command, words)
    return Request(command, words, flags, flags.store, flags.json, help=flags.help, agent=flags.agent)


def command_parser(command: Command[Any], *, operands: bool = False) -> CommandParser:
    """Return the parser of one command.

    operands: declare the positional words too, for help and completion. `parse` counts them itself, so that flags and
    words may be mixed.
    """
    operand = command.operand
    shown = ""
    if operand is not None:
        name = operand.name if operand.most in (1, operand.least) else f"{operand.name}..."
        shown = f" {name}" if operand.least else f" [{name}]"
    note = [command.note, ""] if command.note else []
    parser = CommandParser(
        prog=f"recall {command.name}",
        usage=f"recall {command.name}{shown} [flags]",
        description=command.purpose,
        epilog="\n".join([*note, "examples:", *(f"  {example}" for example in command.examples)]),
        formatter_class=FORMAT if operands else _UNSHOWN,
    )
    if operands and operand is not None:
        action = parser.add_argument(
            "words",
            nargs="*",
            metavar=operand.name,
            help=operand.doc,
            choices=operand.choices or (*operand.actions, *operand.offers) or None,
        )
        if command.name == "agents":
            action.choices = None  # argcomplete ignores words before one that is not a choice
            action.completer = partial(_words_of_agents, operand.actions)  # type: ignore[attr-defined]
    add_flags(parser, command.flags)
    add_flags(parser.add_argument_group("global options"), GLOBALS)
    return parser


def add_flags(parser: argparse._ActionsContainer, flags: Iterable[Flag]) -> None:
    """Add these flags to the parser."""
    for flag in flags:
        names = flag.names
        if not flag.metavar:
            parser.add_argument(*names, action="store_true", help=flag.doc)
        else:
            choices = f": {' or '.join(flag.choices)}" if flag.choices else ""
            action = parser.add_argument(
                *names,
                action="append" if flag.many else _GivenOnce,
                default=None,
                type=partial(_value, flag),
                choices=flag.choices or None,
                metavar=flag.metavar,
                help=f"{flag.doc}{choices}{'; repeatable' if flag.many else ''}",
            )
            if flag.name in _IN_AGENTS_FILE:
                action.completer = partial(_from_agents_file, flag.name)  # type: ignore[attr-defined]


_IN_AGENTS_FILE: dict[str, Callable[[Agents], Iterable[str | None]]] = {
    "--agent": lambda agents: (agent.id for agent in agents.agents),
    "--channel": lambda agents: (binding.channel for binding in agents.bindings),
    "--account": lambda agents: (binding.account for binding in agents.bindings),
}
"""The values of flags that completion reads from agents.toml."""


def _from_agents_file(flag: str, **_: object) -> list[str]:
    """Return the values of a flag that a shell may offer."""
    with suppress(RecallError, OSError):
        return [each for each in dict.fromkeys(_IN_AGENTS_FILE[flag](api.agents.load())) if each is not None]
    return []


def _words_of_agents(actions: Sequence[str], *, parsed_args: argparse.Namespace, **_: object) -> Sequence[str]:
    """Return the actions of `recall agents`, or the ids that `show` and `rm` take."""
    if not parsed_args.words:
        return actions
    return _from_agents_file("--agent") if parsed_args.words in (["show"], ["rm"]) else ()


def parse_known(parser: CommandParser, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the parsed flags and the remaining words in order. Raises UsageError."""
    try:
        return parser.parse_known_args(list(argv))
    except argparse.ArgumentError as error:
        flag = error.argument_name or ""
        if error.message.startswith("ignored explicit argument"):
            flag = flag.rpartition("/")[2]
            raise UsageError("bad_value", f"{flag} takes no value.", hint=flag) from error
        code = "missing_argument" if "expected" in error.message else "bad_value"
        text = f"{flag} needs a value." if code == "missing_argument" else f"{flag}: {error.message}."
        raise UsageError(code, text, hint=f"{parser.prog} --help") from error


def refuse_flags(extras: Sequence[str], flags: Iterable[Flag], *, prog: str) -> None:
    """Raise UsageError `unknown_flag` if a remaining word looks like a flag. The hint names the nearest flag."""
    for extra in extras:
        is_number = extra[1:].replace(".", "", 1).isdigit()  # argparse takes a negative number as a word too
        if len(extra) > 1 and extra[0] == "-" and " " not in extra and not is_number:
            typed = extra.partition("=")[0]
            near = nearest(typed.lstrip("-"), [flag.name.lstrip("-") for flag in flags])
            hint = (
                f"did you mean --{near}?" if near else f"{prog} --help, or put -- before words that start with a dash"
            )
            raise UsageError("unknown_flag", f"{prog} has no flag {typed}.", hint=hint)


def nearest(typed: str, known: Sequence[str]) -> str | None:
    """Return the known name closest to the typed one, or None."""
    return next(iter(difflib.get_close_matches(typed, known, n=1)), None)


def top_help(version: str) -> str:
    """Return the help of `recall` itself."""
    width = max(map(len, BY_NAME)) + 2
    rows = [f"  {command.name:<{width}}{command.purpose}" for command in BY_NAME.values()]
    flags = [f"  {f'{flag.name} {flag.metavar}'.rstrip():<14}{flag.doc}" for flag in (*GLOBALS, VERSION)]
    lines = [
        f"recall {version}: a local-first hybrid search database for documents, in one file",
        "",
        "usage: recall [--store PATH | --agent ID] [--json] COMMAND ...",
        "",
        "start here:",
        "  recall init",
        "  recall add docs --glob '**/*.md'",
        '  recall search "zero-downtime deploy"',
        "",
        "commands:",
        *rows,
        "",
        "global flags:",
        *flags,
        "",
        "glossary:",
        "  chunk    part of a document, the unit that is searched, ranked and packed",
        "  signal   a source of scores: lexical (BM25, matching words) or semantic (cosine, similar meaning)",
        "  pool     the candidates that a signal hands to the ranking",
        "  ledger   how the parts of a score add up",
        "  root     a file or folder that was added",
        "",
        "Run recall COMMAND --help for flags and examples. Run recall-tui to open the workbench.",
    ]
    return "\n".join(lines) + "\n"


def _leading(head: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Return the flags before the command, the command, and the words after it."""
    i = 0
    while i < len(head) and head[i].startswith("-"):
        i += 2 if head[i] in ("--store", "--agent") else 1
    if i >= len(head):
        return list(head), None, []
    return list(head[:i]), head[i], list(head[i + 1 :])


def _without_command(before: list[str], tail: list[str]) -> Request:
    parser = CommandParser(prog="recall")
    add_flags(parser, (*GLOBALS, VERSION))
    flags, extras = parse_known(parser, before)
    refuse_flags(extras, (*GLOBALS, VERSION), prog="recall")
    if tail:
        _unknown_command(tail[0])
    if flags.json and not (flags.help or flags.version):
        raise UsageError("missing_argument", "No command was given.", hint="recall --help")
    return Request(None, (), flags, flags.store, flags.json, help=not flags.version, version=flags.version)


def _unknown_command(name: str) -> NoReturn:
    near = nearest(name, list(BY_NAME))
    hint = f"did you mean recall {near}?" if near else "recall --help"
    raise UsageError("unknown_command", f"There is no command {name!r}.", hint=hint)


def _check_words(command: Command[Any], words: Sequence[str]) -> None:
    operand = command.operand
    most = 0 if operand is None else operand.most
    if operand is not None and len(words) < operand.least:
        raise UsageError(
            "missing_argument",
            f"recall {command.name} needs {operand.name}: {operand.doc}.",
            hint=command.examples[0],
        )
    if most is not None and len(words) > most:
        hint = f"recall {command.name} --help" if command.name != "get" else f'recall get "{" ".join(words)}"'
        raise UsageError("unexpected_argument", f"recall {command.name} does not take {words[most]!r}.", hint=hint)
    if operand is not None and operand.choices:
        for word in words:
            _choose(command.name, word, operand.choices)
    if operand is not None and operand.actions and words:
        _choose(f"recall {command.name}", words[0], operand.actions)


def _value(flag: Flag, text: str) -> object:
    if flag.least is not None:
        if not (text.isascii() and text.isdigit() and flag.least <= int(text) <= LARGEST):
            raise UsageError(
                "bad_value",
                f"{flag.name} takes a whole number from {flag.least} to {LARGEST}, not {text!r}.",
                hint=f"{flag.name} 10",
            )
        return int(text)
    if flag.is_seconds:
        seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else 0.0
        if not 0 < seconds < float("inf"):
            message = f"{flag.name} takes a number of seconds above 0, not {text!r}."
            raise UsageError("bad_value", message, hint=f"{flag.name} 60")
        return seconds
    if flag.choices:
        _choose(flag.name, text, flag.choices)
    return text


def _choose(name: str, text: str, choices: Sequence[str]) -> None:
    if text not in choices:
        near = nearest(text, choices)
        hint = f"did you mean {near}?" if near else f"one of: {', '.join(choices)}"
        raise UsageError("bad_value", f"{name} cannot be {text!r}.", hint=hint)


def script(shell: str) -> str:
    """Return the completion script of this shell for `recall` and `recall-tui`."""
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - only when a script is asked for

    text = shellcode(["recall", "recall-tui"], shell=shell)
    return text if text.endswith("\n") else text + "\n"


def answer_shell(parser: argparse.ArgumentParser | None = None) -> None:
    """Answer a shell's completion request and exit. parser: that of another program (default: `recall`)."""
    import argcomplete  # noqa: PLC0415 - only when a shell asks

    argcomplete.autocomplete(parser or full_parser(), always_complete_options=False)


def full_parser() -> argparse.ArgumentParser:
    """Return one parser with every command and flag, for completion."""
    parser = argparse.ArgumentParser(prog="recall", add_help=False)
    add_flags(parser, (*GLOBALS, VERSION))
    commands = parser.add_subparsers(metavar="COMMAND")
    for command in BY_NAME.values():
        parent = command_parser(command, operands=True)
        commands.add_parser(command.name, help=command.purpose, parents=[parent], add_help=False)
    return parser
