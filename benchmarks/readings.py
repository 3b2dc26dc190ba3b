"""Compare what every parser reads from real files, between two checkouts.

python -m benchmarks.readings record --out FILE [FOLDER ...]
python -m benchmarks.readings compare OLD NEW

The files are those of this machine: the standard library, installed packages, /usr/share/doc and /usr/share/man, at
most `--each` of every suffix. Files are made for suffixes that no program installs. Both recordings need the same
machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from benchmarks.parsers import KINDS

HERE = Path(__file__).resolve().parents[1]
PLACES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib")),
    "/usr/share/doc",
    "/usr/share/man",
    "/usr/share/perl5",
)
MOST_BYTES = 500_000
VARYING = ("id", "mtime_ns", "root", "os_path")
"""Keys that do not come from the parser."""


def record(tree: Path, python: str, folders: list[Path], each: int) -> list[dict[str, object]]:
    """Add the files to a new store with a checkout's command line. Return a row for each file it read or skipped."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = {copy.name: source for source, copy in _copied(folder, folders, each)}
        recall = [python, "-P", "-m", "recall_core"]
        environment = {**os.environ, "PYTHONPATH": str(tree), "HOME": name}

        def run(*words: str) -> str:
            done = subprocess.run(
                [*recall, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise SystemExit(f"recall {' '.join(words)}: {done.stderr}")
            return done.stdout

        run("init", ".", "--embedding", "hash")
        run("add", "files", "--no-gitignore", "--hidden")
        lines = [json.loads(line) for line in run("export", "--no-embeddings").splitlines()]
    rows: dict[str, dict[str, object]] = {key: {"file": str(names[key]), "parser": None} for key in names}
    readings = defaultdict[str, list[str]](list)
    file = ""
    for line in lines:
        if line["type"] == "file":
            rows[Path(line["path"]).name]["parser"] = line["settings"]
        elif line["type"] in ("document", "chunk"):
            file = Path(line["path"].partition("#")[0]).name if line["type"] == "document" else file
            kept = {key: value for key, value in line.items() if key not in VARYING}
            readings[file].append(json.dumps(kept, sort_keys=True, ensure_ascii=False))
    for key, row in rows.items():
        row |= {"lines": len(readings[key]), "sha256": sha256("\n".join(readings[key]).encode()).hexdigest()}
    return [rows[key] for key in sorted(rows)]


def _copied(folder: Path, folders: list[Path], each: int) -> Iterator[tuple[Path | str, Path]]:
    """Copy the files into one folder, under names that keep the suffix. Yield the source and the copy."""
    (folder / "files").mkdir()
    by_suffix = defaultdict[str, list[Path]](list)
    for top in folders:
        for path in sorted(top.rglob("*")):
            suffixes = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
            if path.is_file() and not path.is_symlink() and 0 < path.stat().st_size <= MOST_BYTES:
                by_suffix[suffixes.lower()].append(path)
    for suffix, paths in sorted(by_suffix.items()):
        step = max(1, len(paths) // each)
        for number, path in enumerate(paths[::step][:each]):
            copy = folder / "files" / f"{suffix.strip('.').replace('.', '-') or 'none'}-{number:03}-{path.name}"
            shutil.copyfile(path, copy)
            yield path, copy
    for kind, made in KINDS.items():
        for number, file in enumerate(made.makes()):
            copy = folder / "files" / f"made-{kind.replace(' ', '-')}-{number:03}-{file.name}"
            copy.write_bytes(file.raw)
            yield f"made {kind} {number}", copy


def compare(old: list[dict[str, object]], new: list[dict[str, object]]) -> list[str]:
    """Return a line for each file that the two recordings read differently."""
    before = {str(row["file"]): row for row in old}
    after = {str(row["file"]): row for row in new}
    return [
        f"{file}: {before.get(file)} -> {after.get(file)}"
        for file in sorted(before.keys() | after.keys())
        if before.get(file) != after.get(file)
    ]


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readings")
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="read real files with every parser and write down the result")
    recording.add_argument("--out", type=Path, required=True, metavar="FILE")
    recording.add_argument("--tree", type=Path, default=HERE, metavar="DIR", help="another checkout")
    recording.add_argument("--python", default=sys.executable, help="its interpreter")
    recording.add_argument("--each", type=int, default=10, metavar="N", help="files of each suffix (10)")
    recording.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    comparing = actions.add_parser("compare", help="exit 1 if two recordings differ")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args()
    if options.action == "record":
        folders = options.folders or [Path(place) for place in PLACES if place and Path(place).is_dir()]
        rows = record(options.tree.resolve(), options.python, folders, options.each)
        options.out.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        counts = Counter(str(row["parser"]).split()[0] for row in rows)
        print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
        return 0
    old, new = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (options.old, options.new)
    )
    lines = compare(old, new)
    print("\n".join([*lines, f"{len(old)} files, {len(lines)} differ"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
