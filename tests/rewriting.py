"""Asserts that tell both sides, made once for all workers of a run.

Every worker collects every test, in the same order and at the same time, so that in a new clone each would rewrite
the asserts of all files. Here each rewrites its share of the files first; the others then read what it has kept.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

TESTS = Path(__file__).parent


def rewrite_share(config: pytest.Config) -> None:
    """Rewrite what falls to this worker of a run of all tests, and is not kept from before."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    state = config.stash.get(rewrite.assertstate_key, None)
    is_whole = [Path(each).resolve() for each in config.args] == [TESTS]
    if count == 1 or not is_whole or sys.dont_write_bytecode or state is None or state.hook is None:
        return
    first = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    for file in sorted(TESTS.rglob("test_*.py"))[first::count]:
        kept = rewrite.get_cache_dir(file) / (file.name.removesuffix(".py") + rewrite.PYC_TAIL)
        if rewrite._read_pyc(file, kept) is None and rewrite.try_makedirs(kept.parent):
            source, code = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(state, code, source, kept)
