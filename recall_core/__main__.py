"""The entry point of `recall` and `python -m recall_core`."""

from __future__ import annotations

import sys

from recall_core.adapters import starting


def main() -> int:
    """Run the process's command line and return its exit code."""
    starting.end_quietly()
    from recall_core.adapters import cli, completion, process  # noqa: PLC0415 - Ctrl-C may come meanwhile

    completion.answer_shell()
    return process.run(lambda streams: cli.main(sys.argv[1:], streams=streams))


if __name__ == "__main__":
    sys.exit(main())
