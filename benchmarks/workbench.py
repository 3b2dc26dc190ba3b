"""Compare the speed of the workbench with bare Textual: `python -m benchmarks.workbench`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

from benchmarks import corpus, watched
from benchmarks.filters import CHUNKS_PER_FILE, prepared
from benchmarks.speed.slider import slider
from benchmarks.terminal import Cost, Terminal
from benchmarks.timing import Spread, on_one_thread, spread
from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.actions.table import ACTIONS

CHUNKS = 5_200  # enough for five thousand candidates
LONG, SHORT = 100_000, 100
FILES = 10_000
KEYS = 60
PAGES = 6
GAP = 0.03  # seconds between keys
BURST, PAUSE = 0.006, 0.142  # seconds between the keys of a word, and between words
DOWN, PAGE_DOWN, PAGE_UP, HOME, END = "\x1b[B", "\x1b[6~", "\x1b[5~", "\x1b[H", "\x1b[F"
ROW = r"▶ +(\d+) +\d\.\d{3}"  # the selected row with its score, which appears once the row is read
ANSWERED = r"\d results? · |\d+ of \d[\d,]* · "
"""Text at the border of the results once they are complete."""
ADD = next(action.keys[0] for action in ACTIONS if action.id == "add_folder")
PASTED = "\x1b[200~{}\x1b[201~"
IDLE_SECONDS = 60
ONE_STATIC = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("hello world")
Hello().run()
"""
CONSOLE_SCRIPT = "import sys; from recall_tui.__main__ import main; sys.exit(main())"
"""The console script `recall-tui`, without the module search of `python -m`."""
LIST = "from benchmarks.watched import Listed; Listed().run()"


class Figure(NamedTuple):
    """One of our quantities and the peer's. ratio: within each round. most: the highest allowed ratio."""

    name: str
    peer: str
    unit: str
    ours: Spread
    beside: Spread
    ratio: Spread
    most: float | None


class Count(NamedTuple):
    """A quantity without a peer. most: the highest allowed value."""

    name: str
    value: float
    unit: str
    most: float | None = None


class Stores(NamedTuple):
    """Folders with a store each: paragraphs with vectors, and many and few short chunks without."""

    full: Path
    long: Path
    short: Path


def report(home: Path, *, rounds: int, harlequin: str | None) -> dict[str, Any]:
    """Return every figure, ready for JSON. home: an empty folder."""
    stores = Stores(home / "full", home / "long", home / "short")
    _fill(stores)
    found: list[Figure | Count] = [*starting(stores, home, rounds=rounds, harlequin=harlequin)]
    found += [*idling(stores, home, harlequin=harlequin), *stepping(stores, rounds=rounds)]
    found += [*scrolling(stores, rounds=rounds), *pressing(stores, rounds=max(1, rounds // 2))]
    found += [ingesting(stores, home, rounds=max(1, rounds // 3)), *typing(stores)]
    return {
        "python": sys.version.split()[0],
        "textual": version("textual"),
        "cores": os.cpu_count(),
        "rounds": rounds,
        "harlequin": harlequin is not None,
        "figures": [as_json(each) for each in found if isinstance(each, Figure)],
        "counts": [each._asdict() for each in found if isinstance(each, Count)],
    }


def starting(stores: Stores, home: Path, *, rounds: int, harlequin: str | None) -> Iterator[Figure | Count]:
    """Yield the start, from the process to the first frame with the title of the query pane."""
    ours = _first_frame([sys.executable, "-c", CONSOLE_SCRIPT, str(stores.full)], home, "1 Query")
    bare = _first_frame([sys.executable, "-c", ONE_STATIC], home, "hello world")
    pairs = _in_turns(ours, bare, rounds)
    yield _figure("first frame", "one Static", "ms", [(a.seconds * 1e3, b.seconds * 1e3) for a, b in pairs], most=1.6)
    yield _figure("first frame, CPU", "one Static", "ms", [(a.cpu_ms, b.cpu_ms) for a, b in pairs])
    peaks = [(a.peak_mb, b.peak_mb) for a, b in pairs if a.peak_mb is not None and b.peak_mb is not None]
    if peaks:
        yield _figure("first frame, memory", "one Static", "MB", peaks)
        yield Count("first frame, most memory", round(max(mine for mine, _ in peaks), 1), "MB", most=60)
    if harlequin is not None:
        arguments = [harlequin, "-m", "harlequin", "-a", "sqlite", str(home / "empty.db")]
        pairs = _in_turns(ours, _first_frame(arguments, home, "Query Editor"), max(1, rounds // 2))
        yield _figure("first frame, CPU", "harlequin", "ms", [(a.cpu_ms, b.cpu_ms) for a, b in pairs], most=0.5)
        peaks = [(a.peak_mb, b.peak_mb) for a, b in pairs if a.peak_mb is not None and b.peak_mb is not None]
        if peaks:
            yield _figure("first frame, memory", "harlequin", "MB", peaks, most=0.5)


def idling(stores: Stores, home: Path, *, harlequin: str | None) -> Iterator[Figure | Count]:
    """Yield the processor time per second over an idle minute. Ours has an answer on the screen."""
    with _asked(stores.full, _hybrid(1000)) as terminal:
        ours = _idle(terminal)
    yield Count("idle, CPU a second", round(ours, 2), "ms", most=3.0)
    if harlequin is not None:
        with Terminal([harlequin, "-m", "harlequin", "-a", "sqlite", str(home / "empty.db")], cwd=home) as terminal:
            terminal.until("Query Editor")
            yield _figure("idle, CPU a second", "harlequin", "ms", [(ours, _idle(terminal))], most=1.0)


def stepping(stores: Stores, *, rounds: int) -> Iterator[Figure | Count]:
    """Yield a step of the slider: the ranking alone, then until it is drawn, in a list of every candidate."""
    asked = corpus.questions(10)
    with Recall.open(start=stores.full) as recall:
        chunks = recall.store.info().chunks
        for row in slider(recall, asked.wide[0], chunks=chunks, rounds=10 * rounds):
            yield Figure(row.name, row.peer, "ms", row.ours_ms, row.peer_ms, row.ratio, most=3.0)
    runs = [
        (asyncio.run(watched.slid(stores.full, asked.wide[0])), asyncio.run(watched.moved()))
        for _ in range(max(1, rounds // 3))
    ]
    pairs = [(_p95(ours.latencies_ms), _p95(list_.latencies_ms)) for ours, list_ in runs]
    yield _figure(f"slider, drawn, {chunks} hits, p95", "list cursor, drawn", "ms", pairs)
    dropped = max(watched.STEPS - ours.drawn for ours, _ in runs)
    yield Count(f"slider, states of {watched.STEPS} not drawn", dropped, "", most=0)


def scrolling(stores: Stores, *, rounds: int) -> Iterator[Figure]:
    """Yield the time to scroll down, to the end, up and back, until each row under the cursor is drawn."""
    with _asked(stores.long, _one_word(LONG)) as ours, _asked(stores.short, _one_word(SHORT)) as few:
        pairs = [(_paged(ours), _paged(few)) for _ in range(rounds + 1)][1:]
    yield _figure(f"scrolling {LONG} rows", f"{SHORT} rows", "ms", pairs, most=1.2)


def pressing(stores: Stores, *, rounds: int) -> Iterator[Figure]:
    """Yield the cursor key in a long list of hits, then in a list of a thousand rows that the query asks for."""
    for name, question in ((f"{CHUNKS} hits", _hybrid(CHUNKS)), ("LIMIT 1000", _hybrid(1000))):
        pairs = []
        with _asked(stores.full, question) as ours, Terminal([sys.executable, "-c", LIST], cwd=Path.cwd()) as idle:
            idle.until("row 0005")
            idle.press(DOWN)
            idle.until("row 0000")
            for turn in range(rounds + 1):
                rows = [f"row {turn * KEYS + step:04}" for step in range(1, KEYS + 1)]
                pairs.append((_p95(_pressed(ours, [ROW] * KEYS)), _p95(_pressed(idle, rows))))
        yield _figure(f"key to paint, {name}, p95", "idle list", "ms", pairs[1:], most=3.0)


def ingesting(stores: Stores, home: Path, *, rounds: int) -> Figure:
    """Compare the cursor key while many files are added with the key just before."""
    many = home / "many"
    many.mkdir()
    for number, text in enumerate(corpus.paragraphs(FILES, seed=3)):
        (many / f"{number:05}.txt").write_text(text[:400], encoding="utf-8")
    pairs = []
    for turn in range(rounds):
        store = shutil.copytree(stores.full, home / f"copy{turn}")
        with _asked(store, _hybrid(CHUNKS)) as terminal:
            idle = _p95(_pressed(terminal, [ROW] * KEYS))
            terminal.press(ADD)
            terminal.until("Add a folder")
            terminal.press(PASTED.format(many))
            terminal.rest(0.3)
            terminal.press("\r")
            terminal.until("10,000 files")
            terminal.press("2")
            terminal.rest(0.3)
            busy = _p95(_pressed(terminal, [ROW] * KEYS))
            terminal.press("")
            terminal.until("10,000 files", seconds=5)  # files are still being added
        pairs.append((busy, idle))
        shutil.rmtree(store)
    return _figure(f"key to paint, {FILES} files ingested, p95", "no ingest", "ms", pairs, most=3.0)


def typing(stores: Stores) -> Iterator[Count]:
    """Yield the searches that thirty keys within a second start, evenly spaced and in words of five letters."""
    words = "bace dira fomi guno leka pura"
    words = f"{words}s"
    even = [1 / 30] * len(words)
    bursts = [PAUSE if place % 5 == 4 else BURST for place in range(len(words))]
    for name, gaps in (("evenly", even), ("in bursts", bursts)):
        searches = asyncio.run(watched.searched(stores.full, words, gaps))
        yield Count(f"searches for 30 keys in a second, {name}", searches, "", most=7)
    searches = asyncio.run(watched.searched(stores.full, words[:16], [0.08] * 16))
    yield Count("searches for 16 letters at 80 ms", searches, "", most=2)


def over(figures: dict[str, Any]) -> list[str]:
    """Return the names of figures over their budget."""
    beyond = [row["name"] for row in figures["figures"] if row["most"] and row["ratio"]["median"] > row["most"]]
    beyond += [row["name"] for row in figures["counts"] if row["most"] is not None and row["value"] > row["most"]]
    return beyond


def table(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the figures as lines of text."""
    for row in figures["figures"]:
        ours, peer, ratio, unit = row["ours"]["median"], row["beside"]["median"], row["ratio"], row["unit"]
        aim = f", budget {row['most']:g}" if row["most"] else ""
        shown = f"{ratio['median']:>6.2f}  ({ratio['least']:.2f} to {ratio['most']:.2f}) x {row['peer']}{aim}"
        yield f"{row['name']:<42}{ours:>9.2f} {unit}  {peer:>9.2f} {unit}  {shown}"
    for row in figures["counts"]:
        aim = f", budget {row['most']:g}" if row["most"] is not None else ""
        yield f"{row['name']:<42}{row['value']:>9g} {row['unit']}{aim}"
    if not figures["harlequin"]:
        yield "harlequin was not measured. Pass --harlequin PYTHON, an interpreter that has it"
    for name in over(figures):
        yield f"over its budget: {name}"


def main() -> None:
    """Measure, and print the table or the JSON."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.workbench", description=__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--harlequin", metavar="PYTHON", help="interpreter of an environment with harlequin")
    arguments.add_argument("--json", action="store_true", help="print JSON")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = report(Path(folder), rounds=options.rounds, harlequin=options.harlequin)
    print(json.dumps(figures, indent=1) if options.json else "\n".join(table(figures)))


def _fill(stores: Stores) -> None:
    corpus.write(stores.full / "docs", CHUNKS)
    Recall.init(str(stores.full), settings=corpus.SETTINGS)
    with Recall.open(start=stores.full) as recall:
        for _ in recall.add([str(stores.full / "docs")], Root("")):
            pass
    for folder, chunks in ((stores.long, LONG), (stores.short, SHORT)):
        folder.mkdir()
        Recall.init(str(folder))
        with Recall.open(start=folder) as recall, recall.store.writer() as writer:
            for number in range(chunks // CHUNKS_PER_FILE):
                writer.put(prepared(number))


def _first_frame(arguments: Sequence[str], cwd: Path, title: str) -> Callable[[], Cost]:
    def run() -> Cost:
        with Terminal(arguments, cwd=cwd) as terminal:
            terminal.until(title)
            return terminal.end()

    return run


def _in_turns(ours: Callable[[], Cost], peer: Callable[[], Cost], rounds: int) -> list[tuple[Cost, Cost]]:
    """Measure both in turns. The first round does not count, because it compiles modules."""
    return [(ours(), peer()) for _ in range(rounds + 1)][1:]


def _asked(store: Path, question: str) -> Terminal:
    """Open the workbench on a store, ask a question and select the first row."""
    terminal = Terminal([sys.executable, "-m", "recall_tui", str(store)], cwd=store)
    terminal.until(r"chunks")
    terminal.press(PASTED.format(question))
    terminal.until(ANSWERED)
    terminal.rest(0.5)
    terminal.press("\x1b")
    terminal.rest(0.5)  # an escape key waits for a possible sequence
    terminal.press("2")
    terminal.rest(0.5)
    terminal.press(DOWN)
    terminal.until(ROW)
    return terminal


def _idle(terminal: Terminal) -> float:
    """Return the milliseconds of processor time a second."""
    terminal.rest(5)
    before = terminal.cpu_ms()
    terminal.rest(IDLE_SECONDS)
    return (terminal.cpu_ms() - before) / IDLE_SECONDS


def _words() -> str:
    return corpus.questions(1).wide[0]


def _hybrid(limit: int) -> str:
    """Return a query that lists `limit` rows. Words alone list fifty."""
    return f"SELECT * FROM chunk USING lexical('{_words()}'), semantic('{_words()}') LIMIT {limit}"


def _one_word(limit: int) -> str:
    return f"SELECT * FROM chunk USING lexical('document') LIMIT {limit}"


def _paged(terminal: Terminal) -> float:
    """Return the milliseconds of the whole way."""
    keys = [*[PAGE_DOWN] * PAGES, END, *[PAGE_UP] * PAGES, HOME]
    return sum(_pressed(terminal, [ROW] * len(keys), keys))


def _pressed(terminal: Terminal, patterns: Sequence[str], keys: Sequence[str] = ()) -> list[float]:
    """Return the milliseconds from each key until its effect is on the screen. keys: the cursor key by default."""
    taken = []
    for key, pattern in zip(keys or [DOWN] * len(patterns), patterns, strict=True):
        started = terminal.press(key)
        taken.append((terminal.until(pattern)[0] - started) * 1000)
        terminal.rest(GAP)
    return taken


def _p95(taken: Sequence[float]) -> float:
    return quantiles(taken, n=20, method="inclusive")[-1]


def _figure(
    name: str, peer: str, unit: str, pairs: Sequence[tuple[float, float]], most: float | None = None
) -> Figure:
    return Figure(
        name,
        peer,
        unit,
        ours=spread([one for one, _ in pairs]),
        beside=spread([other for _, other in pairs]),
        ratio=spread([one / other for one, other in pairs]),
        most=most,
    )


def as_json(figure: Figure) -> dict[str, Any]:
    """Return a figure by its field names, including spreads."""
    spreads = {key: value._asdict() for key, value in figure._asdict().items() if isinstance(value, Spread)}
    return {**figure._asdict(), **spreads}


if __name__ == "__main__":
    on_one_thread("benchmarks.workbench")
    main()
