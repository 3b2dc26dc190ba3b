"""Compare the speed of Recall with its peers in one run: `python -m benchmarks.speed`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.speed import report
from benchmarks.speed.budgets import LARGE, MIDDLE, SMALL
from benchmarks.timing import on_one_thread

SIZES = (SMALL, MIDDLE, LARGE)
EMBEDDINGS = ("hash", "local")
PARTS = (*report.PARTS, *report.OTHERS)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print the table, and write the figures to the file of --out."""
    options = _parser().parse_args(argv)
    sizes, rounds = ((SMALL,), 1) if options.quick else (options.sizes, options.rounds)
    with ExitStack() as stack:
        stores = options.stores or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        run = report.Run(sizes, options.embeddings, options.only, stores, rounds)
        figures = report.measured(run, partial(print, file=sys.stderr, flush=True), partial(_keep, options.out))
    print("\n".join(report.table(figures)))


def _keep(out: Path | None, figures: dict[str, Any]) -> None:
    if out is not None:
        out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="CHUNKS")
    parser.add_argument("--embeddings", nargs="+", default=EMBEDDINGS, metavar="NAME")
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help=f"run one round of {SMALL} chunks only")
    parser.add_argument("--stores", type=Path, metavar="DIR", help="keep the stores in DIR for the next run")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures to FILE as JSON")
    return parser


if __name__ == "__main__":
    on_one_thread("benchmarks.speed")
    main()
