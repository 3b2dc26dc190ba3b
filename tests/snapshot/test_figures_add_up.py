"""The figures in every picture add up: sums of a ledger, the context, and equal figures in two panes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.svg_screen import Box, boxes, screen_of

ROOT = Path(__file__).parents[2]
PICTURES = sorted([*(ROOT / "snapshots").rglob("*.svg"), *(ROOT / "screenshots").glob("*.svg")])
"""Pictures of the tests and of the docs. A recording has no lines to check."""
TINY = {"<.001": 0, ">-.001": 0}
"""Figures that are too small for three decimals."""
POINTS = r"(-?\d+\.\d{3}|<\.001|>-\.001)"


class Screen(NamedTuple):
    """A picture as text."""

    lines: tuple[str, ...]
    boxes: tuple[Box, ...]

    def pane(self, title: str) -> Box | None:
        """Return the pane whose title starts with this text, if nothing covers it."""
        return next((box for box in self.boxes if box.title.startswith(title)), None)


def seen(picture: Path) -> Screen:
    lines = screen_of(picture)
    return Screen(tuple(lines), tuple(boxes(lines)))


@cache
def screens() -> dict[str, Screen]:
    """Return every picture by name, read once, and only in the process that runs these tests."""
    return {str(picture.relative_to(ROOT)): seen(picture) for picture in PICTURES}


def whole(text: str) -> int:
    """Return a count, written with or without commas."""
    return int(text.replace(",", ""))


def thousandths(text: str) -> int:
    """Return a figure of three decimals."""
    return TINY[text] if text in TINY else round(float(text) * 1_000)


def checked(about: Callable[[Screen], int], least: int) -> None:
    """Check every picture, and require a least number of pictures with something to check."""
    looks, wrong = 0, []
    for name, screen in screens().items():
        try:
            looks += about(screen)
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
    assert wrong == []
    assert looks >= least, f"{looks} to check"


# The ledger.


class Signal(NamedTuple):
    """A signal of a ledger: its points and share, and the points below it if all are visible."""

    points: int
    share: int | None
    leaves: list[int]


def ledger(box: Box) -> tuple[list[Signal], int | None]:
    """Return the signals of a ledger, and its total, or None if that is not visible."""
    head = next((place for place, line in enumerate(box.lines) if line.startswith("signal ")), None)
    if head is None:
        return [], None
    end = box.lines[head].index("points") + len("points")
    signals: list[Signal] = []
    for line in box.lines[head + 1 :]:
        points = re.search(rf"{POINTS}$", line[:end])
        if points is None:
            break
        figure = thousandths(points.group(1))
        if line.startswith("total"):
            return signals, figure
        if line.startswith("  "):
            signals[-1].leaves.append(figure)
            signals[-1].leaves.extend(_named(line[: points.start()]))
        else:
            share = re.match(r"[^│]*?(\d+)%", line[end:])
            signals.append(Signal(figure, int(share.group(1)) if share else None, []))
    return signals, None


def _named(line: str) -> list[int]:
    """Return the points of the words on a line, each after its word."""
    if "idf" in line or "cosine" in line:
        return []
    return [thousandths(points) for points in re.findall(rf" {POINTS}(?= ·|\s*$)", line)]


def ledgers(screen: Screen) -> Iterator[Box]:
    return (box for box in screen.boxes if re.match(r"3\b.*▶Ledger", box.title))


def test_signals_sum_to_the_total_and_leaves_to_their_signal() -> None:
    def about(screen: Screen) -> int:
        looks = 0
        for box in ledgers(screen):
            signals, total = ledger(box)
            if total is None:
                signals = signals[:-1]  # the part below the last line may continue
            else:
                points = [signal.points for signal in signals]
                assert sum(points) == total, f"{points} are not {total}"
                looks += 1
            for signal in signals:
                assert not signal.leaves or sum(signal.leaves) == signal.points, signal
        return looks

    checked(about, 30)


def test_shares_of_every_ledger_sum_to_100_percent() -> None:
    def about(screen: Screen) -> int:
        looks = 0
        for box in ledgers(screen):
            signals, total = ledger(box)
            shares = [signal.share for signal in signals if signal.share is not None]
            if total and len(shares) == len(signals):
                assert sum(shares) == 100, shares
                looks += 1
        return looks

    checked(about, 30)


def test_the_total_of_every_ledger_is_its_score() -> None:
    def about(screen: Screen) -> int:
        looks = 0
        for box in ledgers(screen):
            rank = re.search(r"#([\d,]+)", box.title)
            scores = {row.rank: row.score for row in rows(screen)}
            total = ledger(box)[1]
            if rank and total is not None and whole(rank.group(1)) in scores:
                assert scores[whole(rank.group(1))] == total, f"{total} in the ledger"
                looks += 1
        return looks

    checked(about, 20)


def test_compared_rows_differ_by_their_signals() -> None:
    def about(screen: Screen) -> int:
        looks = 0
        for box in screen.boxes:
            if not re.match(r"3\b.*▶Compare", box.title):
                continue
            found = [re.match(rf"(.+?)\s+{POINTS}\s+{POINTS}\s+([+-]?\d+\.\d{{3}}|=)", line) for line in box.lines]
            table = {row.group(1): [thousandths(row.group(place).replace("=", "0")) for place in (2, 3, 4)]
                     for row in found if row}  # fmt: skip
            for name, (first, second, delta) in table.items():
                assert first - second == delta, f"{name}: {first} - {second} is not {delta}"
            if "total" in table:
                names = list(table)
                signals = [table[name] for name in names[: names.index("total")]]
                assert [sum(column) for column in zip(*signals, strict=True)] == table["total"], table
                looks += 1
        return looks

    checked(about, 3)


# The results.


class Row(NamedTuple):
    rank: int
    score: int


def rows(screen: Screen) -> list[Row]:
    """Return the visible rows, if they have a score."""
    box = screen.pane("2 Results")
    found = [re.match(r"[▶ ]\s*([\d,]+) +(\d+\.\d{3}) ", line) for line in box.lines] if box else []
    return [Row(whole(row.group(1)), thousandths(row.group(2))) for row in found if row]


def sizes(screen: Screen) -> tuple[int, int] | None:
    """Return how many rows the results list, and how many there are."""
    box = screen.pane("2 Results")
    said = re.match(r"([\d,]+)(?: of ([\d,]+)| results?)", box.foot) if box else None
    return (whole(said.group(1)), whole(said.group(2) or said.group(1))) if said else None


def chunks(screen: Screen) -> int | None:
    """Return the number of chunks in the header."""
    said = re.search(r"([\d,]+) chunks?\b", screen.lines[0]) if screen.lines else None
    return whole(said.group(1)) if said else None


def test_ranks_are_consecutive_and_scores_descend() -> None:
    def about(screen: Screen) -> int:
        listed = rows(screen)
        for one, other in pairwise(listed):
            assert other.rank == one.rank + 1, listed
            assert other.score <= one.score, listed
        return len(listed) > 1

    checked(about, 60)


def test_the_number_of_results_matches_the_store() -> None:
    def about(screen: Screen) -> int:
        said, box = sizes(screen), screen.pane("2 Results")
        if said is None or box is None:
            return 0
        listed, total = said
        worded = re.search(r"([\d,]+) with a word", box.foot)
        assert listed <= total <= (chunks(screen) or total), said
        assert whole(worded.group(1)) <= total if worded else True
        assert all(row.rank <= total for row in rows(screen))
        for line in box.lines:
            if rule := re.match(r"── (?:top )?([\d,]+) of ([\d,]+)", line):
                assert (whole(rule.group(1)), whole(rule.group(2))) == said, line
        return 1

    checked(about, 60)


def test_the_sentence_and_the_ledger_agree_on_counts() -> None:
    def about(screen: Screen) -> int:
        looks = 0
        for box in ledgers(screen):
            said = " ".join(line.split("│")[0].strip() for line in box.lines[:3])
            if row := re.search(r"\bRow ([\d,]+) of ([\d,]+)", said):
                total = sizes(screen)
                assert total is None or whole(row.group(2)) == total[1], said
            for word, held, of in re.findall(r"by (\w+) \(([\d,]+) of ([\d,]+)\)", said):
                assert whole(of) == chunks(screen), said
                text = next((line for line in box.lines if re.match(rf"  {word}  ?.* in [\d,]+ chunk", line)), None)
                assert text is None or re.search(rf"\bin {held} chunks?\b", text), f"{said} {text}"
                looks += 1
        return looks

    checked(about, 20)


# The context.


def test_blocks_headers_and_free_space_sum_to_the_budget() -> None:
    def about(screen: Screen) -> int:
        box = screen.pane("5 Context")
        said = re.match(r"5 Context +([\d,]+) of ([\d,]+) tokens", box.title) if box else None
        if box is None or said is None:
            return 0
        used, budget = whole(said.group(1)), whole(said.group(2))
        assert used <= budget, box.title
        blocks = [re.match(r"[▶ ] ?(\d+) .*?([\d,]+) *$", line) for line in box.lines]
        tokens = [whole(block.group(2)) for block in blocks if block]
        numbers = [int(block.group(1)) for block in blocks if block]
        first = numbers[0] if numbers else 1
        assert numbers == list(range(first, first + len(numbers))), box.lines
        text = "\n".join(box.lines)
        count = re.search(r"\b(\d+) blocks?\b", box.lines[0])
        assert count is None or len(tokens) <= int(count.group(1)), text
        is_whole = len(tokens) == int(count.group(1)) if count else first == 1 and "── left out ──" in text
        headers = re.search(r"headers ([\d,]+)", text)
        if free := re.search(r"free ([\d,]+)", text):
            assert used + whole(free.group(1)) == budget, text
        if headers and is_whole:
            assert sum(tokens) + whole(headers.group(1)) == used, text
        elif is_whole:
            assert sum(tokens) <= used, text
        if account := re.search(r"([\d,]+) in chunks \+ ([\d,]+) in headers \+ ([\d,]+) in separators", text):
            assert sum(map(whole, account.groups())) == used, text
            assert not is_whole or sum(tokens) == whole(account.group(1)), text
        if counts := re.search(r"([\d,]+) chunks? packed · ([\d,]+) left out", text):
            total = sizes(screen)
            assert total is None or whole(counts.group(1)) + whole(counts.group(2)) == total[1], text
        return 1

    checked(about, 40)


def test_the_status_line_has_the_tokens_of_the_context() -> None:
    def about(screen: Screen) -> int:
        box = screen.pane("5 Context")
        said = re.search(r"([\d,]+ of [\d,]+ tokens)", box.title) if box else None
        status = next((line for line in screen.lines if re.search(r"▏.* tokens · ", line) and "│" not in line), "")
        if said and "tokens" in status:
            assert said.group(1) in status, status
            return 1
        return 0

    checked(about, 3)


# The other panes.


def test_the_mean_of_the_queries_is_their_average() -> None:
    def about(screen: Screen) -> int:
        box = screen.pane("6 Judge")
        if box is None:
            return 0
        text = "\n".join(box.lines)
        judged = re.search(r"([\d,]+) of ([\d,]+) quer(?:y|ies) judged", text)
        assert judged is None or whole(judged.group(1)) <= whole(judged.group(2)), text
        mean = re.search(r"^nDCG@10 \(\w+\) (\d\.\d{3})", text, re.MULTILINE)
        listed = [
            thousandths(each) for each in re.findall(r"^[▶ ][● ] \w+ .*? (\d\.\d{3}) +\d+%", text, re.MULTILINE)
        ]
        if judged and mean and len(listed) == whole(judged.group(1)):
            assert abs(sum(listed) / len(listed) - thousandths(mean.group(1))) <= 1, text
            return 1
        return 0

    checked(about, 5)


def test_the_sizes_sum_to_the_file_and_100_percent() -> None:
    def about(screen: Screen) -> int:
        box = screen.pane("8 Store")
        text = "\n".join(box.lines) if box else ""
        file = re.search(r"^file +([\d.]+) (\w+)", text, re.MULTILINE)
        parts = re.findall(r"^  \w+ +([\d.]+) (\w+) .*?(\d+)%", text, re.MULTILINE)
        if held := re.search(r"\bchunks +([\d,]+)", text):
            assert whole(held.group(1)) == chunks(screen), text
        if file is None or len(parts) < 4 or {unit for _, unit, _ in parts} != {file.group(2)}:
            return 0
        assert abs(sum(float(size) for size, _, _ in parts) - float(file.group(1))) < 0.15, text
        assert sum(int(percent) for _, _, percent in parts) == 100, text
        return 1

    checked(about, 2)


def test_rows_removed_by_a_step_are_missing_below() -> None:
    def about(screen: Screen) -> int:
        box = next((box for box in screen.boxes if re.match(r"3\b.*▶Funnel", box.title)), None)
        if box is None:
            return 0
        steps = [re.match(r"([a-z][a-z ]+?) {2,}([\d,]+)\b", line) for line in box.lines]
        counts = {step.group(1): whole(step.group(2)) for step in steps if step}
        kept = [count for name, count in counts.items() if name != "step"]
        assert kept == sorted(kept, reverse=True), counts
        total = sizes(screen)
        assert total is None or counts.get("are listed") in (None, *total), counts
        removed = [re.match(r" +([\d,]+) +([\d,]+) +([\d,]+)  \S", line) for line in box.lines]
        in_order = [whole(line.group(2)) for line in removed if line]
        if in_order and "pass the filter" in counts:
            assert counts["not removed"] - sum(in_order) == counts["pass the filter"], counts
        return 1

    checked(about, 5)
