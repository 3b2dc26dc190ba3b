"""Shell completion: the script a shell loads for both programs, and the answers it asks for."""

from __future__ import annotations

import argparse

from recall_core.adapters.flags import GLOBALS, VERSION
from recall_core.adapters.menu import COMMANDS
from recall_core.adapters.parser import add_flags, command_parser


def script(shell: str) -> str:
    """The text that teaches this shell to complete `recall` and `recall-tui`."""
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - only when a script is asked for

    text = shellcode(["recall", "recall-tui"], shell=shell)
    return text if text.endswith("\n") else text + "\n"


def answer_shell(parser: argparse.ArgumentParser | None = None) -> None:
    """Answer the completion request of a shell and exit. parser: of another program than `recall`."""
    import argcomplete  # noqa: PLC0415 - only when a shell asks

    argcomplete.autocomplete(parser or full_parser(), always_complete_options=False)


def full_parser() -> argparse.ArgumentParser:
    """Every command and flag in one parser, as completion wants it."""
    parser = argparse.ArgumentParser(prog="recall", add_help=False)
    add_flags(parser, (*GLOBALS, VERSION))
    commands = parser.add_subparsers(metavar="COMMAND")
    for command in COMMANDS:
        parent = command_parser(command, operands=True)
        commands.add_parser(command.name, help=command.purpose, parents=[parent], add_help=False)
    return parser
