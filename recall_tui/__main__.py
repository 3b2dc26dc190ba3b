"""The entry point of `recall-tui` and `python -m recall_tui`."""

from __future__ import annotations

import os
import sys

from recall_core import adapters
from recall_core.adapters import starting
from recall_tui import program


def main() -> int:
    """Run the process's command line and return its exit code."""
    starting.begin()

    if "_ARGCOMPLETE" in os.environ:
        adapters.parser.answer_shell(program.command_parser(operands=True))
    return adapters.process.run(
        lambda streams: adapters.cli.guard_run(lambda: program.run(sys.argv[1:], streams=streams), streams=streams)
    )


if __name__ == "__main__":
    sys.exit(main())
