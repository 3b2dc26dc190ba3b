"""The entry point of `recall-tui` and `python -m recall_tui`."""

from __future__ import annotations

import os
import sys

from recall_core.adapters import starting


def main() -> int:
    """Run the command line of the process and return its exit code."""
    starting.begin()
    from recall_core.adapters import cli  # noqa: PLC0415 - Ctrl-C may come meanwhile
    from recall_tui import program  # noqa: PLC0415 - as above

    if "_ARGCOMPLETE" in os.environ:
        from recall_core.adapters import parser  # noqa: PLC0415 - only when a shell asks

        parser.answer_shell(program.command_parser(operands=True))
    return cli.run_process(
        lambda streams: cli.guard_run(lambda: program.run(sys.argv[1:], streams=streams), streams=streams)
    )


if __name__ == "__main__":
    sys.exit(main())
