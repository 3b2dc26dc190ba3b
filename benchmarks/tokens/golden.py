"""The golden of the estimate: texts of every class, and the count of each vocabulary.

No text was used to learn the weights. Excerpts of prose and code come from Python (its library and reference, PSF
licence) and from this project. The others were written or made up for this purpose.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from benchmarks.tokens.vocabularies import Count
from recall_core.model_tokens import model_tokens
from recall_core.text import counter

FOLDER = Path(__file__).parents[2] / "tests" / "golden" / "tokens"
COUNTS, MODERN = FOLDER / "counts.json", FOLDER / "modern.json"


def write(counts: Mapping[str, Count], path: Path = COUNTS) -> None:
    """Count every text of the folder and write the counts."""
    texts = {path.stem: read(path) for path in sorted(FOLDER.glob("*.txt"))}
    table = {name: {key: count(text) for key, count in counts.items()} for name, text in texts.items()}
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> str:
    """Return a text of the golden, up to its last line end."""
    return path.read_bytes().decode()


def report() -> str:
    """Return a row for each class: average estimate over the highest count, and over the count of each vocabulary."""
    counted = json.loads(COUNTS.read_text(encoding="utf-8"))
    names = list(next(iter(counted.values())))
    lines = [f"| | texts | `approx` / greatest | least | `approx-2` / greatest | {' | '.join(names)} |"]
    lines.append("|---" * (len(names) + 5) + "|")
    classes: dict[str, list[str]] = {}
    for name in counted:
        classes.setdefault(name.rpartition("-")[0], []).append(name)
    for each, members in classes.items():
        texts = {name: read(FOLDER / f"{name}.txt") for name in members}
        ours = {name: model_tokens(text) for name, text in texts.items()}
        greatest = {name: max(counted[name].values()) for name in members}
        over = [ours[name] / greatest[name] for name in members]
        before = mean(counter("approx").count(texts[name]) / greatest[name] for name in members)
        single = " | ".join(f"{mean(ours[name] / counted[name][key] for name in members):.2f}" for key in names)
        row = f"{each} | {len(members)} | {before:.2f} | {min(over):.2f} | {mean(over):.2f}"
        lines.append(f"| {row} | {single} |")
    return "\n".join(lines)
