"""The entry point of `recall` and `python -m recall_core`."""

from __future__ import annotations

import os
import sys

from recall_core import __version__
from recall_core.adapters import starting


def program() -> None:
    """What `recall` is: the command line, and the end of the process."""
    starting.leave(main())


def main() -> int:
    """Run the process's command line and return its exit code."""
    starting.begin()
    if sys.argv[1:] == ["--version"] and starting.is_told(f"recall {__version__}\n"):
        return 0
    from recall_core.adapters import cli, process  # noqa: PLC0415 - Ctrl-C may come meanwhile

    if "_ARGCOMPLETE" in os.environ:
        from recall_core.adapters import completion  # noqa: PLC0415 - only when a shell asks

        completion.answer_shell()
    return process.run(lambda streams: cli.main(sys.argv[1:], streams=streams))


if __name__ == "__main__":
    program()
