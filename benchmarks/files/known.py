"""Questions with known answers: each definition in the packages of code, asked in three ways.

python -m benchmarks.files.known --code DIR [--embeddings hash|local]

Each Python class and function outside tests is asked for by its name, by the words of its name, and by the first line
of its docstring. The answer is its lines according to Python's own parser, so the questions favour neither cut.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.files import corpora
from benchmarks.files.compare import Cut, CutScores, JudgedQuestion, JudgedSpan, LineRange, asked, difference

SHORTEST, LONGEST = 6, 80
"""Fewest and most lines of a definition. Of a longer class, only the first lines count."""
FEWEST_WORDS = 4
"""Fewest words in the first line of a docstring."""

_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


class Known(NamedTuple):
    """A way of asking, and its questions."""

    way: str
    questions: tuple[JudgedQuestion, ...]


def questions_of(folder: Path) -> list[Known]:
    """Return for each way the questions whose text belongs to only one definition."""
    found: dict[str, list[tuple[str, JudgedSpan]]] = {"name": [], "words of the name": [], "docstring": []}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if "test" not in name.lower():
            for way, text, lines in _definitions(path.read_text(encoding="utf-8")):
                found[way].append((text, JudgedSpan(name, lines, 1)))
    return [Known(way, _alone(way, pairs)) for way, pairs in found.items()]


def _alone(way: str, pairs: Sequence[tuple[str, JudgedSpan]]) -> tuple[JudgedQuestion, ...]:
    times = Counter(text for text, _ in pairs)
    once = [each for each in pairs if times[each[0]] == 1]
    return tuple(JudgedQuestion(f"{way} {i}", text, (span,)) for i, (text, span) in enumerate(once))


def _definitions(source: str) -> Iterator[tuple[str, str, LineRange]]:
    """Yield (way, text, lines) of the definitions in a module."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("__"):
            continue
        last = node.end_lineno or node.lineno
        lines = LineRange(node.lineno, min(last, node.lineno + LONGEST - 1))
        if lines.number < SHORTEST or (lines.last < last and not isinstance(node, ast.ClassDef)):
            continue
        yield "name", node.name, lines
        words = " ".join(filter(None, _JOINT.split(node.name)))
        if " " in words:
            yield "words of the name", words.lower(), lines
        summary = (ast.get_docstring(node) or "").partition("\n")[0].strip()
        if len(summary.split()) >= FEWEST_WORDS:
            yield "docstring", summary, lines


def measured(folder: Path, known: Known, cuts: Sequence[Cut], *, embeddings: str) -> list[CutScores]:
    """Return the scores of each cut for the questions of one way."""
    with tempfile.TemporaryDirectory() as work:
        return [
            asked(folder, cut, known.questions, embeddings=embeddings, work=Path(work, f"store {i}"))
            for i, cut in enumerate(cuts)
        ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.files.known", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--code", type=Path, required=True, metavar="DIR", help="folder with the packages of code")
    parser.add_argument("--embeddings", default="hash", help="embedder of both stores (default: hash)")
    options = parser.parse_args(argv)
    print(f"  {'asked by':<20}{'questions':>10}{'text':>9}{'auto':>9}   nDCG@10")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "code")
        try:
            corpora.unpack(corpora.CODE, options.code, folder)
        except corpora.PackageError as error:
            print(error, file=sys.stderr)
            return 1
        for known in questions_of(folder):
            text, auto = measured(folder, known, (Cut("text"), Cut("auto")), embeddings=options.embeddings)
            p = difference(auto.scores, text.scores)
            figures = f"{p.difference:+.4f} [{p.low:+.4f}, {p.high:+.4f}] {p.wins} better, {p.losses} worse"
            print(f"  {known.way:<20}{len(known.questions):>10}{text.mean:>9.4f}{auto.mean:>9.4f}   {figures}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
