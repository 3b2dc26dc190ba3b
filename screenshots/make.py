"""Make the pictures of the README: the real workbench on the demo corpus, as SVG, and as PNG if Chromium is
installed.

Run it in the project folder: .venv/bin/python screenshots/make.py [NAME...]
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "screenshots"
DEMO = ROOT / ".demo"
QUESTION = "how do I run a command with a timeout"
QUERY = (
    "SELECT * FROM chunk USING lexical('timeout'), semantic('run a command')\n"
    "FILTER doc.tag = 'library' AND doc.path GLOB 'library/a*' LIMIT 20"
)
JUDGED = (
    ("how do I read a file line by line", "sdaf"),
    ("parse command line arguments", "asaf"),
    ("how do I run a command with a timeout", "asdf"),
)
SEEN = 2_000  # chunks added before the picture is taken
MISTAKE = "SELECT * FROM chunk USING lexical('timeout') FILTER doc.tgas = 'library'"

sys.path.insert(0, str(ROOT))

from textual.pilot import Pilot  # noqa: E402

from recall_tui.app import Workbench  # noqa: E402
from recall_tui.state.records import Analysis  # noqa: E402
from recall_tui.state.session import Session, result_of  # noqa: E402


async def wait_until(pilot: Pilot[None], holds: Callable[[Session], object]) -> None:
    """Wait until the session is in the expected state."""
    app = pilot.app
    assert isinstance(app, Workbench)
    for _ in range(600):
        await pilot.pause(0.05)
        if holds(app.session):
            return
    raise SystemExit("the workbench did not reach the expected state in 30 s")


async def ask(pilot: Pilot[None], text: str) -> None:
    """Ask a question and wait for its context."""
    app = pilot.app
    assert isinstance(app, Workbench)
    app.bench.editor.text = text
    await wait_until(
        pilot,
        lambda now: (
            now.results.answer and now.results.answer.plan.text == text and now.context.packed and not now.query.busy
        ),
    )


async def workbench(pilot: Pilot[None]) -> None:
    """Show the second result of a question, explained."""
    await ask(pilot, QUESTION)
    await pilot.press("escape", "j")
    await wait_until(
        pilot,
        lambda now: result_of(now, Analysis("ledger", now.results.hit.chunk.id), of=object) and now.weights.chart,
    )


async def tab(pilot: Pilot[None], presses: int) -> None:
    """Open the tab of the explain pane that is `presses` to the right of the ledger."""
    await workbench(pilot)
    await pilot.press("3", *["right"] * presses)
    await pilot.pause(1.5)


async def passage(pilot: Pilot[None]) -> None:
    """Show the second result in its file."""
    await tab(pilot, 1)


async def whynot(pilot: Pilot[None]) -> None:
    """Show why a file is not in the context."""
    await workbench(pilot)
    await pilot.press("m")
    await pilot.pause(0.5)
    await pilot.press(*"library", "slash", *"sched", "full_stop", *"py")
    await pilot.pause(0.5)
    await pilot.press("enter")
    await pilot.pause(3)


async def funnel(pilot: Pilot[None]) -> None:
    """Show the funnel of a query with a filter."""
    await ask(pilot, QUERY)
    await pilot.press("escape", "3", "right", "right", "right")
    await pilot.pause(2)


async def compare(pilot: Pilot[None]) -> None:
    """Compare the first two results, leaf by leaf."""
    await ask(pilot, QUESTION)
    await pilot.press("escape", "2", "M", "j", "c")
    await pilot.pause(2)


async def weights(pilot: Pilot[None]) -> None:
    """Move a weight and show the grades of every weight."""
    await judged(pilot)
    await pilot.press("2", "home", "4", "right", "right", "right", "right")
    await pilot.pause(3)


async def context(pilot: Pilot[None]) -> None:
    """Show the context at half the budget, with a pin."""
    await workbench(pilot)
    await pilot.press("5", "b", *"1000", "enter", "j", "j", "p")
    await wait_until(
        pilot, lambda now: now.context.packed and now.context.packed.budget_tokens == 1_000 and now.context.pins
    )
    await pilot.pause(1.5)


async def judged(pilot: Pilot[None]) -> None:
    """Show three questions with grades."""
    for question, grades in JUDGED:
        await ask(pilot, question)
        await pilot.press("escape", "home", "g", *grades, "g", "1")
        await wait_until(pilot, lambda now: not now.store.task)
    await ask(pilot, QUESTION)
    await pilot.press("escape", "6")
    await pilot.pause(3)


async def store(pilot: Pilot[None]) -> None:
    """Show the store."""
    await workbench(pilot)
    await pilot.press("8")
    await pilot.pause(3)


async def ingest(pilot: Pilot[None]) -> None:
    """Show the ingest of a folder with some hundred files."""
    shutil.copytree(Path(sysconfig.get_path("stdlib"), "test"), "tests", ignore=shutil.ignore_patterns("__pycache__"))
    await workbench(pilot)
    await pilot.press("A")
    await pilot.pause(0.3)
    await pilot.press(*"tests", "enter", "7")
    await wait_until(
        pilot, lambda now: now.store.run and now.store.run.progress and now.store.run.progress.embedded > SEEN
    )


async def mistake(pilot: Pilot[None]) -> None:
    """Show a misspelt field above the results of the previous question."""
    await ask(pilot, QUESTION)
    app = pilot.app
    assert isinstance(app, Workbench)
    app.bench.editor.text = MISTAKE
    app.bench.editor.move_cursor((0, len(MISTAKE)))
    await wait_until(pilot, lambda now: now.query.trouble)


async def light(pilot: Pilot[None]) -> None:
    """Show the light theme."""
    pilot.app.theme = "light"
    await workbench(pilot)


async def keys(pilot: Pilot[None]) -> None:
    """Show the help screen."""
    await workbench(pilot)
    await pilot.press("f1")


PICTURES = {
    "workbench": (workbench, (120, 40)),
    "workbench-80x24": (workbench, (80, 24)),
    "workbench-200x60": (workbench, (200, 60)),
    "mistake": (mistake, (120, 40)),
    "passage": (passage, (120, 40)),
    "whynot": (whynot, (120, 40)),
    "funnel": (funnel, (120, 40)),
    "compare": (compare, (120, 40)),
    "weights": (weights, (120, 40)),
    "context": (context, (120, 40)),
    "judge": (judged, (120, 40)),
    "ingest": (ingest, (120, 40)),
    "store": (store, (120, 40)),
    "light": (light, (120, 40)),
    "keys": (keys, (100, 40)),
}


async def take(name: str) -> Path:
    """Bring the application into one state and save the picture."""
    steps, size = PICTURES[name]
    app = Workbench(None)
    async with app.run_test(size=size) as pilot:
        app.bench.editor.cursor_blink = False
        await wait_until(pilot, lambda now: now.store.info)
        await steps(pilot)
        await pilot.pause()
        return Path(app.save_screenshot(f"{name}.svg", path=str(HERE)))


def draw(svg: Path) -> None:
    """Draw a PNG next to the SVG. Only a browser draws the font and the cells correctly."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print(f"Chromium not found on PATH: no PNG for {svg.name}", file=sys.stderr)
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
    """Build the demo store if it does not exist, then take every picture on a copy of it."""
    if not (DEMO / "recall.db").exists():
        subprocess.run([sys.executable, "-m", "recall_tui.demo"], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    for name in sys.argv[1:] or PICTURES:
        copy = Path(tempfile.gettempdir()) / "demo"  # the picture of the store shows this path
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(DEMO, copy, symlinks=True)
        os.chdir(copy)
        os.environ |= {"XDG_STATE_HOME": str(copy / "state"), "XDG_CONFIG_HOME": str(copy / "config")}
        draw(asyncio.run(take(name)))
        os.chdir(ROOT)
        shutil.rmtree(copy)
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
