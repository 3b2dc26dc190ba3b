"""Write the figures of a run into README.md and benchmarks/README.md.

`python -m benchmarks.speed.readme FILE ...` stores them in benchmarks/speed.json and writes both pages. A later file
adds only figures that the earlier files lack.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.speed.budgets import LARGE, MIDDLE, SMALL, Verdict, missed, verdicts
from benchmarks.speed.cold import BARE, NAIVE
from benchmarks.speed.filling import INSERT
from benchmarks.speed.peers import BM25S, BOTH, FTS5, LANCE, LANCE_VECTOR, NUMPY, TANTIVY, VEC0
from benchmarks.speed.report import growth
from benchmarks.speed.rows import as_json
from benchmarks.speed.signed import EXACT, LSH

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "speed.json"
README = ROOT / "README.md"
PAGE = ROOT / "benchmarks" / "README.md"
EMBEDDINGS = ("hash", "local")
_BRIEF = re.compile(r"(?<=\n)\| figure \|.*\n\|.*\n(?:\| .*\n){3}")
_BLOCK = re.compile(r"(?<=\n)Measured with `make bench`.*?(?=\n\nThe workbench, in one run of)", re.S)
_TABLE = re.compile(r"(?<=\n)\| budget \|.*?(?=\n\n)", re.S)
_SORT = "NumPy sort"
_BESIDE = {LANCE_VECTOR: "LanceDB's default index", BOTH: "FTS5 and NumPy", BARE: "`python -c pass`"}


class Shown(NamedTuple):
    """A row of the table: its label, and the row of the figures that it shows."""

    label: str
    name: str
    chunks: int
    peers: Sequence[str]


SHOWN = (
    Shown("search by 5 words", "lexical, 5 words", LARGE, (FTS5, TANTIVY, BM25S)),
    Shown("search by vectors", "vector, 5 words", LARGE, (NUMPY, VEC0, LANCE_VECTOR)),
    Shown("by signatures, on request", f"vector, 5 words{LSH}", LARGE, (EXACT, NUMPY)),
    Shown("hybrid search", "hybrid, 5 words", LARGE, (BOTH, LANCE)),
    Shown("by signatures, on request", f"hybrid, 5 words{LSH}", LARGE, (EXACT, BOTH)),
    Shown("the same over 20,000 chunks", "hybrid, 5 words", MIDDLE, (BOTH, LANCE)),
    Shown("hybrid search for a pasted paragraph", "hybrid, a paragraph", LARGE, (BOTH,)),
    Shown("hybrid search, a filter of 10 %", "hybrid, filter of 10 %", LARGE, (BOTH,)),
    Shown("a filter of 1 %", "hybrid, filter of 1 %", LARGE, (BOTH,)),
    Shown("a filter of .1 %", "hybrid, filter of .1 %", LARGE, (BOTH,)),
    Shown("hybrid search with `--explain`, down to words", "explain", LARGE, ("search",)),
    Shown("a context of 4,000 tokens", "context, 4,000 tokens", LARGE, ("search",)),
    Shown("why a file is missing, with fixes", "why not, with fixes", LARGE, ("search",)),
    Shown("5,000 hits under other weights", "slider, 5000 hits", MIDDLE, (_SORT,)),
    Shown("`recall --version`, a process", "cold --version", LARGE, (BARE,)),
    Shown("`recall get`", "cold get", LARGE, (BARE,)),
    Shown("`recall stats`", "cold stats", LARGE, (BARE,)),
    Shown("`recall search` over 1,400 chunks", "cold search", SMALL, (BARE,)),
    Shown("over 20,000", "cold search", MIDDLE, (BARE, NAIVE)),
    Shown("over 100,000", "cold search", LARGE, (BARE, NAIVE)),
    Shown("`recall add`, 100,000 chunks", "add", LARGE, (INSERT,)),
    Shown("without vectors", "add, no vectors", LARGE, (INSERT,)),
)


BRIEF = (
    Shown("hybrid search over 100,000 chunks", "hybrid, 5 words", LARGE, (LANCE,)),
    Shown("`recall search` as a new process, 20,000 chunks", "cold search", MIDDLE, (BARE,)),
    Shown("`recall add` of 100,000 chunks", "add", LARGE, (INSERT,)),
)
"""The rows of README.md, for the built-in embedder."""


def brief(text: str, figures: Mapping[str, Any]) -> str:
    """Return README.md with its rows on speed."""
    lines = ["| figure | Recall | compared with | |", "|---|---|---|---|"]
    for shown in BRIEF:
        (row,) = (line for line in _lines(shown, figures["rows"], EMBEDDINGS[:1]))
        label, peer, time, ratio = (cell.strip() for cell in row.strip("| ").split("|"))
        lines.append(f"| {label} | {time} | {peer} | {ratio} |")
    return _BRIEF.sub(lambda _: "\n".join([*lines, ""]), text)


def page(text: str, figures: Mapping[str, Any]) -> str:
    """Return benchmarks/README.md with its tables of speed and of budgets."""
    table = "\n".join(budget_table([Verdict(**each) for each in figures["budgets"]]))
    return _TABLE.sub(lambda _: table, _BLOCK.sub(lambda _: "\n".join(block(figures)), text))


def block(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table, the text above it, and the count of budgets that were met."""
    machine = figures["machine"]
    yield f"Measured with `make bench` on {machine['cores']} shared cores, 100,000 chunks of about 150 words"
    yield f"({_text(figures['stores'])}), Python {machine['python']}; processor time, every question"
    yield "new and asked once. The peers are in the same run, so the ratios can be compared between machines."
    yield ""
    names = [name for name in EMBEDDINGS if any(row["embedding"] == name for row in figures["rows"])]
    yield f"| | compared with | {' | | '.join(f'`{name}`' for name in names)} | |"
    yield f"|---|---|{'---|---|' * len(names)}"
    for shown in SHOWN:
        yield from _lines(shown, figures["rows"], names)
    yield from _sizes(figures, names)
    yield ""
    yield _judged([Verdict(**each) for each in figures["budgets"]])
    if machine["absent"]:
        yield f"Not installed, so not measured: {', '.join(machine['absent'])}."


def _text(stores: Sequence[Mapping[str, Any]]) -> str:
    largest = max(stores, key=lambda store: int(store["chunks"]))
    return str(largest["kind"])


def _lines(shown: Shown, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    for peer in shown.peers:
        found = {
            row["embedding"]: row
            for row in rows
            if (row["name"], row["chunks"], row["peer"]) == (shown.name, shown.chunks, peer)
        }
        if found:
            label = shown.label if peer == shown.peers[0] else ""
            cells = " | ".join(_cell(found.get(name)) for name in names)
            recalls = [row["recall"] for row in found.values() if row["recall"] is not None]
            finds = f", which finds {100 * recalls[0]:.0f} % of the best ten" if recalls else ""
            is_ours = shown.name.endswith(LSH)
            label += finds if is_ours and label else ""
            yield f"| {label} | {_BESIDE.get(peer, peer)}{'' if is_ours else finds} | {cells} |"


def _cell(row: Mapping[str, Any] | None) -> str:
    return " | " if row is None else f"{_ms(row['ours_ms']['median'])} | {_ratio(row['ratio']['median'])}"


def _sizes(figures: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Yield the size of the file and the memory of a warm process."""
    files = {row["embedding"]: row for row in figures["files"] if row["chunks"] == LARGE}
    cells = (
        _size(files[name]["file_bytes"] / 1e6, files[name]["ratio"]) if name in files else " | " for name in names
    )
    if files:
        yield f"| the file | 1.1 × the vectors + 1.85 × the text | {' | '.join(cells)} |"
    kept = {
        row["embedding"]: row for row in figures["memory"] if row["chunks"] == LARGE and row["allowed_mb"] is None
    }
    if kept:
        cells = (
            _size(kept[name]["resident_mb"], kept[name]["resident_mb"] / kept[name]["vectors_mb"])
            if name in kept
            else " | "
            for name in names
        )
        yield f"| memory of a process that answers on | the vectors | {' | '.join(cells)} |"


def _size(megabytes: float, ratio: float) -> str:
    return f"{megabytes:.0f} MB | {_ratio(ratio)}"


def _ms(value: float) -> str:
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 9.5 else f"{value:.1f} ms"


def _ratio(value: float) -> str:
    return f"{value:.0f} ×" if value >= 9.95 else f"{value:.1f} ×" if value >= 0.95 else f"{value:.2f} ×"


def _judged(found: Sequence[Verdict]) -> str:
    """Return the sentence with the number of budgets that were met."""
    rows = _without_growth(found)
    met = f"Of {len(rows)} budgets {len(rows) - len(missed(rows))} are met"
    return f"{met}; [budgets](#budgets) lists each, and why the others were missed."


def budget_table(found: Sequence[Verdict]) -> Iterator[str]:
    """Yield each budget and the measured ratio. Missed budgets come first."""
    rows = _without_growth(found)
    over = missed(rows)
    yield "| budget | | chunks | measured | at most | |"
    yield "|---|---|---|---|---|---|"
    for each in (*over, *(one for one in rows if one not in over)):
        peer = _BESIDE.get(each.peer, each.peer)
        outcome = "missed" if each in over else each.said
        measured = f"{each.ratio:.3g} × {peer}"
        yield f"| {each.name} | `{each.embedding}` | {each.chunks:,} | {measured} | {each.most:.3g} | {outcome} |"


def _without_growth(found: Sequence[Verdict]) -> list[Verdict]:
    """Return the budgets without growth, which needs a run of other sizes."""
    return [each for each in found if not each.peer.startswith("growth")]


def together(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge the figures of several runs. If two runs measured the same, the first wins."""
    first, *others = parts
    for more in others:
        for kind, names in _NAMED_BY.items():
            known = {tuple(row[name] for name in names) for row in first[kind]}
            first[kind] += [row for row in more[kind] if tuple(row[name] for name in names) not in known]
    first["growth"] = [as_json(each) for each in growth(first["rows"])]
    first["budgets"] = [as_json(each) for each in verdicts(first)]
    return first


_NAMED_BY = {
    "stores": ("embedding", "chunks"),
    "rows": ("name", "embedding", "chunks", "peer"),
    "files": ("embedding", "chunks"),
    "memory": ("embedding", "chunks", "allowed_mb"),
}


def main(kept: Sequence[Path]) -> None:
    """Store these figures in benchmarks/speed.json, and write the tables."""
    figures = together([json.loads(each.read_text(encoding="utf-8")) for each in kept])
    KEPT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    README.write_text(brief(README.read_text(encoding="utf-8"), figures), encoding="utf-8")


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
