"""The entry point of `recall` and `python -m recall_core`."""

from __future__ import annotations

import os
import sys

import recall_core
from recall_core import adapters
from recall_core._version import __version__
from recall_core.adapters import starting


def program() -> None:
    """Run the command line and exit."""
    starting.leave(main())


def main() -> int:
    """Run the process's command line and return its exit code."""
    starting.begin()
    if sys.argv[1:] == ["--version"] and starting.write_ascii(f"recall {__version__}\n"):
        return 0

    if "_ARGCOMPLETE" in os.environ:
        adapters.parser.answer_shell()
    if (code := adapters.client.ask(sys.argv[1:], os.environ)) is not None:
        return code
    cli = adapters.cli  # imported before `run_process` changes the signal handlers
    code = adapters.cli.run_process(lambda streams: cli.main(sys.argv[1:], streams=streams))
    if sys.argv[1:2] and sys.argv[1] in adapters.client.COMMANDS and recall_core.personal.wants_daemon(os.environ):
        adapters.daemon.start_unless_running()
    return code


if __name__ == "__main__":
    program()
