"""Compare nDCG@10 of judged questions over two stores of the same files that are cut differently.

python -m benchmarks.files.compare --code DIR --manuals DIR [--embeddings hash|local] [--json]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.files import corpora
from recall_core.api.recall import Recall
from recall_core.evaluate.figures import SEED, Paired, compare_columns
from recall_core.evaluate.measures import DIGITS, Measure, parse_measure, values
from recall_core.types import Root

TEN, ALL = parse_measure("ndcg@10"), parse_measure("ndcg")
DEPTH = 10
BUDGET = 2_000
"""Tokens. The hits within this budget are measured too, because ten longer chunks always cover more."""
BUDGET_DEPTH = 50
RESAMPLES = 10_000
COVERED = 1 / 3
"""A hit counts if it shares this part of the shorter range, in lines, with a judged span."""
WORST = 10

_LINES = re.compile(r"lines? (\d+)(?:-(\d+))?")


class LineRange(NamedTuple):
    """Line numbers from 1, both inclusive."""

    first: int
    last: int

    @property
    def number(self) -> int:
        return self.last - self.first + 1


class JudgedSpan(NamedTuple):
    """A range of lines of a file.

    path: relative to the folder of the collection.
    grade: 2 answers the question, 1 helps.
    """

    path: str
    lines: LineRange
    grade: int


class JudgedQuestion(NamedTuple):
    """A question with all its answers. distractors: tests of the same thing, of any grade."""

    id: str
    text: str
    grades: tuple[JudgedSpan, ...]
    distractors: tuple[JudgedSpan, ...] = ()


class Cut(NamedTuple):
    """How the files of a store are cut. settings: as for --set."""

    parser: str
    settings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return ", ".join((self.parser, *self.settings))


class HitPlace(NamedTuple):
    """The place of a hit. lines: None if the parser has places of another kind."""

    path: str
    lines: LineRange | None
    tokens: int


class CutScores(NamedTuple):
    """The results of one cut.

    tokens: of the ten hits of a question, on average.
    mean and scores: nDCG@10.
    budgeted: average nDCG of the first hits that fit into BUDGET tokens.
    """

    cut: str
    documents: int
    chunks: int
    tokens: float
    mean: float
    budgeted: float
    scores: Mapping[str, float]


class CutComparison(NamedTuple):
    """The second cut compared with the first, on one collection."""

    collection: str
    questions: int
    before: CutScores
    after: CutScores
    paired: Paired


def read_questions(name: str) -> tuple[JudgedQuestion, ...]:
    """Return the judged questions on `code` or `manuals`."""
    lines = (files("benchmarks.files") / "questions" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(map(_question, map(json.loads, lines)))


def _question(record: dict[str, Any]) -> JudgedQuestion:
    spans = [tuple(map(_span, record.get(key, ()))) for key in ("grades", "distractors")]
    return JudgedQuestion(record["id"], record["text"], *spans)


def _span(record: dict[str, Any]) -> JudgedSpan:
    return JudgedSpan(record["path"], LineRange(*record["lines"]), record.get("grade", 0))


def gained(hits: Sequence[HitPlace], question: JudgedQuestion) -> list[str]:
    """Return for each hit the number of the judgement that it earns, or a unique name if it earns none.

    A hit earns the highest grade among the spans that it covers and no earlier hit earned.
    """
    found: list[str] = []
    for rank, hit in enumerate(hits):
        earned = [
            (-judged.grade, number)
            for number, judged in enumerate(question.grades)
            if str(number) not in found and covers(hit, judged)
        ]
        found.append(str(min(earned)[1]) if earned else f"hit {rank}")
    return found


def covers(hit: HitPlace, judged: JudgedSpan) -> bool:
    """Return True if both share a third of the shorter one."""
    if hit.path != judged.path or hit.lines is None:
        return False
    shared = min(hit.lines.last, judged.lines.last) - max(hit.lines.first, judged.lines.first) + 1
    return shared >= COVERED * min(hit.lines.number, judged.lines.number)


def scores(
    questions: Sequence[JudgedQuestion], ranking: Mapping[str, Sequence[HitPlace]], measure: Measure = TEN
) -> dict[str, float]:
    """Return the value of a measure for the hits of each question, in order."""
    grades = {each.id: {str(i): judged.grade for i, judged in enumerate(each.grades)} for each in questions}
    run = {each.id: gained(ranking[each.id], each) for each in questions}
    return values([measure], grades, run)[measure]


def asked(folder: Path, cut: Cut, questions: Sequence[JudgedQuestion], *, embeddings: str, work: Path) -> CutScores:
    """Add the files of folder to a new store in work with this cut, ask every question and return the scores."""
    Recall.init(str(work), embedding=embeddings, settings=cut.settings)
    with Recall.open(str(work)) as recall:
        recall.index(str(folder), template=Root("", parser=cut.parser))
        ranking = {each.id: places(recall, each.text, folder, DEPTH) for each in questions}
        longer = {each.id: within(places(recall, each.text, folder, BUDGET_DEPTH), BUDGET) for each in questions}
        held = recall.store.info()
    found = scores(questions, ranking)
    tokens = _mean([sum(hit.tokens for hit in hits) for hits in ranking.values()])
    means = _mean(found.values()), _mean(scores(questions, longer, ALL).values())
    return CutScores(cut.name, held.documents, held.chunks, tokens, *means, found)


def _mean(values: Collection[float]) -> float:
    return round(sum(values) / len(values), DIGITS)


def within(hits: Sequence[HitPlace], budget: int) -> list[HitPlace]:
    """Return the first hits that fit into the budget of tokens."""
    reached = accumulate(hit.tokens for hit in hits)
    return [hit for hit, tokens in zip(hits, reached, strict=True) if tokens <= budget]


def places(recall: Recall, text: str, folder: Path, k: int) -> list[HitPlace]:
    """Return the places of the k best chunks, with paths relative to the folder."""
    hits = recall.search(text, k=k)["results"]
    return [_place(hit["doc"]["path"].removeprefix(f"{folder.resolve()}/"), hit["chunk"]) for hit in hits]


def _place(path: str, chunk: Mapping[str, Any]) -> HitPlace:
    place = chunk.get("place")
    if place is None:
        return HitPlace(path, LineRange(chunk["line_start"], chunk["line_end"]), chunk["tokens"])
    found = _LINES.fullmatch(place)
    lines = LineRange(int(found[1]), int(found[2] or found[1])) if found else None
    return HitPlace(path, lines, chunk["tokens"])


def difference(after: Mapping[str, float], before: Mapping[str, float]) -> Paired:
    """Return the paired difference after - before, with a 95 % interval from RESAMPLES bootstrap samples."""
    columns = [list(after.values())], [[before[question] for question in after]]
    differences = np.subtract(*columns)[0]
    drawn = np.random.default_rng(SEED).integers(0, len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975)).tolist()
    return compare_columns(*columns)[0]._replace(low=round(low, DIGITS) + 0.0, high=round(high, DIGITS) + 0.0)


def compared(
    name: str, packages: tuple[corpora.Package, ...], source: Path, cuts: Sequence[Cut], *, embeddings: str
) -> CutComparison:
    """Compare two cuts on one collection. source: the folder of its packages. Raises PackageError."""
    questions = read_questions(name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, name)
        corpora.unpack(packages, source, folder)
        before, after = (
            asked(folder, cut, questions, embeddings=embeddings, work=Path(temporary, f"store {i}"))
            for i, cut in enumerate(cuts)
        )
    return CutComparison(name, len(questions), before, after, difference(after.scores, before.scores))


def table(found: CutComparison) -> Iterator[str]:
    """Yield the figures of a collection, and the questions that lost most with the second cut."""
    yield f"{found.collection}, {found.questions} questions"
    yield f"  {'cut':<44}{'files':>6}{'chunks':>8}{'tokens':>8}{'nDCG@10':>9}{f'in {BUDGET} tokens':>16}"
    for each in (found.before, found.after):
        sizes = f"{each.documents:>6}{each.chunks:>8}{each.tokens:>8.0f}"
        yield f"  {each.cut:<44}{sizes}{each.mean:>9.4f}{each.budgeted:>16.4f}"
    p = found.paired
    figures = f"{p.difference:+.4f} [{p.low:+.4f}, {p.high:+.4f}] p={p.p:.3f}"
    yield f"  difference {figures}, {p.wins} better, {p.losses} worse, {p.ties} equal: {p.verdict}"
    for question, before, after in worst(found):
        yield f"    {after - before:+.3f}  {before:.3f} → {after:.3f}  {question.id}  {question.text}"


def worst(found: CutComparison) -> list[tuple[JudgedQuestion, float, float]]:
    """Return (question, before, after) of the ten that fell most. Ties: the lowest score first."""
    before, after = found.before.scores, found.after.scores
    rows = [(each, before[each.id], after[each.id]) for each in read_questions(found.collection)]
    return sorted(rows, key=lambda row: (row[2] - row[1], row[2], row[0].id))[:WORST]


def as_json(found: CutComparison) -> dict[str, Any]:
    """Return the comparison with all scores."""
    sides = {"before": found.before._asdict(), "after": found.after._asdict()}
    return {**found._asdict(), **sides, "paired": found.paired._asdict()}


COLLECTIONS = {"code": corpora.CODE, "manuals": corpora.MANUALS}


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    expected = "\n".join(
        f"  {name}: {package.file}\n    sha256 {package.sha256}\n    {package.get}"
        for name, packages in COLLECTIONS.items()
        for package in packages
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.files.compare",
        description=(__doc__ or "").partition("\n")[0],
        epilog=f"The folders must contain these files, downloaded by these commands:\n{expected}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--code", type=Path, metavar="DIR", help="folder with the packages of code")
    parser.add_argument("--manuals", type=Path, metavar="DIR", help="folder with the packages of manuals")
    parser.add_argument("--embeddings", default="hash", help="embedder of both stores (default: hash)")
    parser.add_argument("--parsers", default="text,auto", help="parser of each store (default: text,auto)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="setting of the second store"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of the tables")
    options = parser.parse_args(argv)
    options.sources = {name: folder for name in COLLECTIONS if (folder := getattr(options, name))}
    if not options.sources:
        parser.error("pass --code DIR, --manuals DIR or both; --help lists the files they need")
    first, _, second = options.parsers.partition(",")
    options.cuts = (Cut(first), Cut(second or first, tuple(options.set)))
    return options


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv)
    found = []
    for name, source in options.sources.items():
        try:
            one = compared(name, COLLECTIONS[name], source, options.cuts, embeddings=options.embeddings)
        except corpora.PackageError as error:
            print(error, file=sys.stderr)
            return 1
        found.append(one)
    print(
        json.dumps([as_json(one) for one in found])
        if options.json
        else "\n".join(line for one in found for line in table(one))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
