"""Compare the answers of two runs of the conformance suite, one in a file and one in memory.

    python -m benchmarks.conformance

A change of the suite needs a new version: `SPEC_VERSION` in recall_core/steps.py and a folder of that name.
"""

from __future__ import annotations

import json
import sys
from argparse import SUPPRESS, ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from recall_core.conformance.__main__ import DATA, answers


def spell(letter: str) -> str:
    """Return a letter as JSON, escaped if it cannot be seen."""
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help=SUPPRESS)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = dict(answers(str(Path(folder) / "recall.db")))
    if found != dict(answers(":memory:")):
        print("a store in memory gives other answers than a file", file=sys.stderr)
        return 1
    if options.record:
        lines = (json.dumps({"id": key, "answer": answer}, ensure_ascii=False) for key, answer in found.items())
        with (DATA / "expected.jsonl").open("x", encoding="utf-8", newline="\n") as out:  # answers never change
            out.writelines(f"{''.join(map(spell, line))}\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
