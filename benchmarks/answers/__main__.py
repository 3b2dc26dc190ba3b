"""Check that answers stay the same: `python -m benchmarks.answers record --out FILE`, then `compare OLD NEW`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.answers import comparison, recording
from benchmarks.answers.world import TINY, Size

HERE = Path(__file__).parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Record or compare. Return the exit code."""
    options = _parser().parse_args(argv)
    return _record(options) if options.action == "record" else _compare(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    record = actions.add_parser("record", help="ask a checkout and write its answers to a file")
    record.add_argument("--out", type=Path, required=True, metavar="FILE")
    record.add_argument("--tree", type=Path, default=HERE, metavar="DIR", help="the checkout (default: this one)")
    record.add_argument(
        "--python", default=sys.executable, help="its interpreter with its libraries (default: this one)"
    )
    record.add_argument("--count", type=int, default=500, help="random questions (500)")
    record.add_argument("--seed", type=int, default=1, help="seed of questions and corpus (default: 1)")
    record.add_argument("--in-process", action="store_true", help="ask every question in one process")
    record.add_argument("--tiny", action="store_true", help="use small stores")
    record.add_argument("--work", type=Path, metavar="DIR", help="keep the stores in DIR, which must not exist")
    compare = actions.add_parser("compare", help="exit 1 if two recordings differ, and print the differences")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    return parser


def _record(options: argparse.Namespace) -> int:
    started = perf_counter()
    made = recording.record(
        options.tree.resolve(),
        options.python,
        count=options.count,
        seed=options.seed,
        size=TINY if options.tiny else Size(),
        in_process=options.in_process,
        work=options.work,
    )
    recording.write(made, options.out)
    print("\n".join(recording.coverage(made.answers)))
    print(f"{len(made.answers)} answers of {options.tree} in {perf_counter() - started:.0f} s: {options.out}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    old, new = recording.read(options.old), recording.read(options.new)
    if reason := comparison.incomparable(old, new):
        print(f"not comparable: {reason}")
        return 1
    found = list(comparison.differences(old, new))
    for pair in found:
        print("\n".join((*comparison.shown(*pair), "")))
    if old.head != new.head:
        print(f"{old.head} -> {new.head}")
    print(f"{len(old.answers)} answers, {len(old.answers) - len(found)} equal, {len(found)} different")
    return 1 if found or old.head != new.head else 0


if __name__ == "__main__":
    sys.exit(main())
