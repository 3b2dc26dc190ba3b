"""The entry point of `recall` and `python -m recall_core`."""

from __future__ import annotations

import os
import signal
import sys

from recall_core.adapters import cli, completion
from recall_core.adapters.streams import standard


def main() -> int:
    """Run the process's command line; SIGTERM stops as cleanly as Ctrl-C, a closed pipe silently."""
    completion.answer_shell()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = cli.main(sys.argv[1:], streams=standard())
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more at exit; it must find something that takes the bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())
