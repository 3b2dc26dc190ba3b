"""The command table: every command with its operands, flags and examples, in the order of the help."""

from recall_core.adapters.flags import Command
from recall_core.adapters.menu import asking, comparing, embedding, judging, keeping, ledger, tuning, whynot

COMMANDS: tuple[Command, ...] = (
    *keeping.FILLING,
    *asking.COMMANDS,
    *ledger.COMMANDS,
    *whynot.COMMANDS,
    *comparing.COMMANDS,
    *judging.COMMANDS,
    *tuning.COMMANDS,
    *embedding.COMMANDS,
    *keeping.CARE,
)
BY_NAME = {command.name: command for command in COMMANDS}
