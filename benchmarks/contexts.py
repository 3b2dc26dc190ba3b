"""Measure how much of the relevant texts a context shows. `python -m benchmarks.contexts record DATA --out FILE`,
then
`compare OLD NEW`.

The texts of a judged collection are joined into files of 30, so that a chunk contains several. Answer recall is the
share of a relevant text that the context shows, averaged over the relevant texts of a query, then over the queries.
`compare` prints both means and the p of a paired sign-flip test (Smucker, Allan and Carterette 2007).
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from recall_core.api.recall import Ask, Pack, Recall

JOINED = 30
BUDGETS = (300, 500, 1_000, 2_000)
QUERIES = 150
FLIPS = 10_000

Span = tuple[str, int, int]


def joined(corpus: Path, folder: Path) -> dict[str, Span]:
    """Write the collection as text files. Return the place of each text by its id."""
    texts = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    places: dict[str, Span] = {}
    for first in range(0, len(texts), JOINED):
        name, whole = f"{first // JOINED:04}.txt", ""
        for each in texts[first : first + JOINED]:
            if not each["text"].strip():
                continue
            own = f"{each['title']}\n{each['text']}\n\n"
            places[each["_id"]] = (name, len(whole), len(whole) + len(own.rstrip()))
            whole += own
        (folder / name).write_text(whole, encoding="utf-8")
    return places


def record(data: Path, embedding: str) -> dict[str, dict[str, float]]:
    """Return answer recall by budget and query."""
    judged = defaultdict[str, list[str]](list)
    for line in (data / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, text, grade = line.split("\t")
        if int(grade) > 0:
            judged[query].append(text)
    queries = [json.loads(line) for line in (data / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = [each for each in queries if each["_id"] in judged][:QUERIES]
    found: dict[str, dict[str, float]] = {str(budget): {} for budget in BUDGETS}
    with tempfile.TemporaryDirectory() as name:
        texts = Path(name, "texts")
        texts.mkdir()
        places = joined(data / "corpus.jsonl", texts)
        Recall.init(name, settings=(f"embedding={embedding}",))
        with Recall.open(name) as recall:
            for _ in recall.add([str(texts)]):
                pass
            for query in queries:
                relevant = [places[each] for each in judged[query["_id"]] if each in places]
                for budget in BUDGETS:
                    view = recall.context(query["text"], Ask(), Pack(budget_tokens=budget))["context"]
                    shown = [(Path(each["path"]).name, each["offset"], each["end"]) for each in view["blocks"]]
                    found[str(budget)][query["_id"]] = fmean(_share(each, shown) for each in relevant)
    return found


def _share(text: Span, shown: list[Span]) -> float:
    name, start, end = text
    places = {at for path, first, last in shown if path == name for at in range(max(first, start), min(last, end))}
    return len(places) / (end - start)


def compare(old: dict[str, dict[str, float]], new: dict[str, dict[str, float]]) -> list[str]:
    """Return a line for each budget: both means, the difference and its p."""
    lines = [f"{'budget':>8}{'before':>9}{'after':>9}{'change':>9}{'p':>8}"]
    for budget, before in old.items():
        changes = [new[budget][query] - before[query] for query in before]
        change = fmean(changes)
        flip = random.Random(budget)
        beyond = sum(
            abs(fmean(each if flip.random() < 0.5 else -each for each in changes)) >= abs(change) - 1e-12
            for _ in range(FLIPS)
        )
        after = fmean(new[budget].values())
        lines.append(
            f"{budget:>8}{fmean(before.values()):>9.4f}{after:>9.4f}{change:>+9.4f}{(beyond + 1) / (FLIPS + 1):>8.4f}"
        )
    return lines


def main() -> None:
    """Record one checkout, or compare two recordings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    recording = commands.add_parser("record")
    recording.add_argument("data", type=Path)
    recording.add_argument("--out", type=Path, required=True)
    recording.add_argument("--embedding", default="hash")
    comparing = commands.add_parser("compare")
    comparing.add_argument("recordings", type=Path, nargs=2)
    options = parser.parse_args()
    if options.command == "record":
        options.out.write_text(json.dumps(record(options.data, options.embedding)), encoding="utf-8")
    else:
        print("\n".join(compare(*(json.loads(each.read_text(encoding="utf-8")) for each in options.recordings))))


if __name__ == "__main__":
    main()
