"""Make the casts of the README: the workbench in a real terminal, frame by frame, as one SVG that plays by itself.

Run it in the project folder: .venv/bin/python screenshots/cast.py [NAME...]. It needs tmux.
Each line of the screen is stored once, even if many frames show it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / ".demo"
HERE = ROOT / "screenshots"
QUESTION = "how do I run a command with a timeout"

sys.path.insert(0, str(ROOT))

from rich.cells import cell_len  # noqa: E402
from rich.color import Color  # noqa: E402
from rich.style import Style  # noqa: E402
from rich.terminal_theme import MONOKAI  # noqa: E402
from rich.text import Text  # noqa: E402

from tests.e2e.test_tutorial import tmux_key  # noqa: E402
from tests.terminal import Terminal  # noqa: E402
from tests.walk import TUTORIAL, Step, steps  # noqa: E402

COLUMNS, ROWS = 120, 40
CELL, LINE, SIZE = 8.4, 16, 14
INK, PAPER = "#e0e0e0", "#121212"
TYPING_SECONDS, MOVING_SECONDS, STEP_SECONDS, LAST_SECONDS = 0.12, 0.35, 1.8, 4.0


class Frame(NamedTuple):
    """A screen and how long it is shown."""

    screen: str
    seconds: float


ENDS = {"Right": "0.00", "Left": "1.00"}
"""The lexical weight at each end of its slider."""
Play = Callable[[Terminal, list[Frame]], None]
"""Plays keys in the workbench and adds the frames."""


def record(home: Path, play: Play) -> list[Frame]:
    """Return the frames of a play in tmux, from the first screen on. The last frame is shown longer."""
    terminal = Terminal(home / "socket")
    frames: list[Frame] = []
    workbench = shlex.join([sys.executable, "-m", "recall_tui"])
    try:
        terminal.start(workbench, cwd=home, size=(COLUMNS, ROWS), COLORTERM="truecolor")
        terminal.wait_for(lambda screen: "chunks" in screen)
        frames.append(Frame(terminal.coloured(), STEP_SECONDS))
        play(terminal, frames)
    finally:
        terminal.stop()
    return [*frames[:-1], frames[-1]._replace(seconds=LAST_SECONDS)]


def tutorial(terminal: Terminal, frames: list[Frame]) -> None:
    """Walk through docs/tutorial.md."""
    for step in steps(TUTORIAL.read_text(encoding="utf-8")):
        _take(terminal, step, frames)


def weight(terminal: Terminal, frames: list[Frame]) -> None:
    """Ask a question, move its lexical weight to both ends, and compare the saved ranking with the new one."""
    _type(terminal, QUESTION, frames)
    _see(terminal, "▶  1 ", "tokens ─", frames=frames)
    terminal.press("Escape", "4")
    _see(terminal, "▶lexical", "now 0", frames=frames)
    for key, count in (("Right", 6), ("Left", 18), ("Right", 12)):
        for _ in range(count):
            _move(terminal, key, frames)
    terminal.press("V")
    _see(terminal, "changed · ", frames=frames)


def _move(terminal: Terminal, key: str, frames: list[Frame]) -> None:
    """Add a frame of the ranking after each step of the weight. Stop at the end of the slider."""
    before = _weight(terminal.screen())
    terminal.press(key)
    if before == ENDS[key]:
        return
    terminal.wait_for(lambda screen: _weight(screen) != before)
    time.sleep(0.2)  # the ranking follows after its weight
    frames.append(Frame(terminal.coloured(), MOVING_SECONDS))


def _weight(screen: str) -> str:
    """Return the lexical weight that the form shows, or "" if no form is visible."""
    found = re.search(r"lexical (\d\.\d\d) ", screen)
    return found[1] if found else ""


def _take(terminal: Terminal, step: Step, frames: list[Frame]) -> None:
    for each in step.done:
        if step.verb == "press":
            terminal.press(tmux_key(each))
        else:
            _type(terminal, each, frames)
    _see(terminal, *step.seen, frames=frames)


def _type(terminal: Terminal, text: str, frames: list[Frame]) -> None:
    """Type the text and add a frame after every third letter."""
    for start in range(0, len(text), 3):
        terminal.type(text[start : start + 3])
        time.sleep(0.05)
        frames.append(Frame(terminal.coloured(), TYPING_SECONDS))


def _see(terminal: Terminal, *texts: str, frames: list[Frame]) -> None:
    """Wait until the screen contains these texts, then add a frame."""
    terminal.wait_for(lambda screen: all(text in screen for text in texts))
    time.sleep(0.3)  # context and lines appear after the answer
    frames.append(Frame(terminal.coloured(), STEP_SECONDS))


def svg(frames: list[Frame]) -> str:
    """Return the frames as one animated SVG. Each frame is shown for its share of the time."""
    lines: dict[str, int] = {}
    total = sum(frame.seconds for frame in frames)
    shown, rules, start = [], [], 0.0
    for number, frame in enumerate(frames):
        used = []
        for row, line in enumerate(frame.screen.split("\n")[:ROWS]):
            if line.strip():
                place = lines.setdefault(line, len(lines))
                used.append(f'<use href="#l{place}" y="{row * LINE}"/>')
        shown.append(f'<g class="f" id="f{number}">{"".join(used)}</g>')
        low, high = (100 * at / total for at in (start, start + frame.seconds))
        rules.append(f"@keyframes k{number}{{{_window(low, high)}}}#f{number}{{animation-name:k{number}}}")
        start += frame.seconds
    style = (
        f".f{{visibility:hidden;animation-duration:{total:.2f}s;animation-iteration-count:infinite;"
        "animation-timing-function:step-end}"
        f"text{{font:{SIZE}px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}}"
    )
    width, height = COLUMNS * CELL, ROWS * LINE
    defined = "".join(f'<g id="l{place}">{_line(line)}</g>' for line, place in lines.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">'
        f"<style>{style}{''.join(rules)}</style><defs>{defined}</defs>"
        f'<rect width="100%" height="100%" fill="{PAPER}"/>{"".join(shown)}</svg>\n'
    )


def _window(low: float, high: float) -> str:
    """Return the keyframes that show a frame for its share of the time. The first frame is also shown before."""
    before = "" if low == 0 else "0%{visibility:hidden}"
    after = "" if high >= 100 else f"{high:.3f}%{{visibility:hidden}}"
    return f"{before}{low:.3f}%{{visibility:visible}}{after}"


def _line(line: str) -> str:
    """Return a line of the terminal: boxes for backgrounds, then the letters."""
    text = Text.from_ansi(line)
    boxes, spans, at = [], [], 0
    for segment in text.render(_console()):
        cells = cell_len(segment.text)
        style = segment.style or Style()
        ink, paper = _colour(style.color, INK), _colour(style.bgcolor, PAPER)
        if style.reverse:
            ink, paper = paper, ink
        x, width = at * CELL, cells * CELL
        if paper != PAPER:
            boxes.append(f'<rect x="{x:.1f}" width="{width:.1f}" height="{LINE}" fill="{paper}"/>')
        if segment.text.strip():
            more = " font-weight='bold'" if style.bold else ""
            more += " opacity='.6'" if style.dim else ""
            more += " text-decoration='underline'" if style.underline else ""
            spans.append(
                f'<text x="{x:.1f}" y="{LINE - 4}" textLength="{width:.1f}" fill="{ink}"{more}>'
                f"{escape(segment.text)}</text>"
            )
        at += cells
    return "".join(boxes + spans)


def _colour(colour: Color | None, default: str) -> str:
    return default if colour is None or colour.is_default else colour.get_truecolor(MONOKAI).hex


def _console():
    from rich.console import Console  # noqa: PLC0415

    return Console(width=COLUMNS, color_system="truecolor")


CASTS: dict[str, Play] = {"weight": weight, "tutorial": tutorial}


def main() -> int:
    """Record each cast on a copy of the demo store, and write it."""
    if not (DEMO / "recall.db").exists():
        subprocess.run([sys.executable, "-m", "recall_tui.demo"], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    os.environ.pop("NO_COLOR", None)
    for name in sys.argv[1:] or CASTS:
        with tempfile.TemporaryDirectory(prefix="recall-cast-") as folder:
            copy = Path(folder) / "demo"
            shutil.copytree(DEMO, copy, symlinks=True, ignore=shutil.ignore_patterns("state"))
            frames = record(copy, CASTS[name])
        out = HERE / f"{name}.svg"
        out.write_text(svg(frames), encoding="utf-8")
        seconds = sum(frame.seconds for frame in frames)
        print(f"{out.name}: {len(frames)} frames, {seconds:.0f} s, {out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
