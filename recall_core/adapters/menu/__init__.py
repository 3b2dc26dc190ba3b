"""The command table: every command with its operands, flags and examples, in the order of the help."""

from recall_core.adapters.flags import Command
from recall_core.adapters.menu import asking, judging, keeping

COMMANDS: tuple[Command, ...] = (
    *keeping.FILLING,
    *asking.COMMANDS,
    *asking.LEDGER,
    *asking.MISSING,
    *asking.COMPARING,
    *judging.COMMANDS,
    *judging.TUNING,
    *keeping.SERVING,
    *keeping.COMMANDS,
    *keeping.CARE,
)
BY_NAME = {command.name: command for command in COMMANDS}
