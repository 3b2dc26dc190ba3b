"""Make the pictures of the README: the real workbench on the demo corpus, as SVG, and as PNG where Chromium is found.

Run from the project's folder: .venv/bin/python screenshots/make.py
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "screenshots"
DEMO = ROOT / ".demo"
QUESTION = "how do I run a command with a timeout"
MISTAKE = "SELECT * FROM chunk USING lexical('timeout') FILTER doc.tgas = 'library'"

sys.path.insert(0, str(ROOT))

from textual.pilot import Pilot  # noqa: E402

from recall_tui.app import Workbench  # noqa: E402
from recall_tui.state.session import Session  # noqa: E402


async def settled(pilot: Pilot[None], holds: Callable[[Session], object]) -> None:
    """Wait until the session is as it should be."""
    app = pilot.app
    assert isinstance(app, Workbench)
    for _ in range(600):
        await pilot.pause(0.05)
        if holds(app.session):
            return
    raise SystemExit("the workbench did not get there in 30 s")


async def ask(pilot: Pilot[None], text: str) -> None:
    """Put a question and wait for its context."""
    app = pilot.app
    assert isinstance(app, Workbench)
    app.bench.editor.text = text
    await settled(pilot, lambda now: now.answer and now.answer.plan.text == text and now.packed and not now.busy)


async def workbench(pilot: Pilot[None]) -> None:
    """The second result of a question, explained."""
    await ask(pilot, QUESTION)
    await pilot.press("escape", "j")


async def budget(pilot: Pilot[None]) -> None:
    """The context at half the budget."""
    await workbench(pilot)
    await pilot.press("5", "left_curly_bracket")
    await settled(pilot, lambda now: now.packed and now.packed.budget_tokens == 1_000)


async def mistake(pilot: Pilot[None]) -> None:
    """A misspelt field over the results of the question before it."""
    await ask(pilot, QUESTION)
    app = pilot.app
    assert isinstance(app, Workbench)
    app.bench.editor.text = MISTAKE
    app.bench.editor.move_cursor((0, len(MISTAKE)))
    await settled(pilot, lambda now: now.trouble)


async def keys(pilot: Pilot[None]) -> None:
    """The help screen."""
    await workbench(pilot)
    await pilot.press("f1")


PICTURES = {
    "workbench": (workbench, (120, 40)),
    "workbench-80x24": (workbench, (80, 24)),
    "workbench-200x60": (workbench, (200, 60)),
    "budget": (budget, (120, 40)),
    "mistake": (mistake, (120, 40)),
    "keys": (keys, (100, 40)),
}


async def take(name: str) -> Path:
    """Drive the application to one state and save what it shows."""
    steps, size = PICTURES[name]
    app = Workbench(None)
    async with app.run_test(size=size) as pilot:
        app.bench.editor.cursor_blink = False
        await settled(pilot, lambda now: now.info)
        await steps(pilot)
        await pilot.pause()
        return Path(app.save_screenshot(f"{name}.svg", path=str(HERE)))


def draw(svg: Path) -> None:
    """A PNG beside an SVG: only a browser draws the font and the cells faithfully."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print(f"no Chromium on PATH: {svg.name} has no PNG", file=sys.stderr)
        return
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text(encoding="utf-8"))
    assert box is not None
    width, height = (int(float(side)) + 1 for side in box.groups())
    subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--window-size={width},{height}", f"--screenshot={svg.with_suffix('.png')}", svg.as_uri(),
        ],
        check=True, capture_output=True,
    )  # fmt: skip


def main() -> int:
    """Build the demo store if there is none, then take every picture."""
    if not (DEMO / "recall.db").exists():
        subprocess.run([sys.executable, "-m", "recall_tui.demo"], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    os.chdir(DEMO)
    os.environ["XDG_STATE_HOME"] = str(DEMO / "state")  # the pictures' queries stay out of the history
    for name in PICTURES:
        draw(asyncio.run(take(name)))
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
