"""The settings of the weights pane as rows: which there are, which is chosen, and what Left and Right make of it.

Pure, and without a screen.
"""

from __future__ import annotations

from recall_tui.state.session import Session, pointed
from recall_tui.state.weighing import counted, current, nudged, raised, stepped, turned, why_not

WEIGHT = "weight"
"""The row of the semantic share, which is two settings that add up to 1."""
TOP_K = "k"
"""The row of the number of rows, which belongs to the question."""
COARSE = 5  # hundredths, where a step is not a fine one
CURSOR = "setting"


def rows(session: Session) -> tuple[str, ...]:
    """The rows by key. One signal alone is neither weighed nor fused; ranks have no scale, scores no constant."""
    fused = () if why_not(session.results.answer) else (WEIGHT, "fusion")
    scaled = "rrf_k" if current(session).fusion == "rrf" else "normalize"
    return (*fused, scaled, "min_score", "sparse_recall", "match", "lexical_model", TOP_K, "pool")


def chosen(session: Session) -> str:
    """The row that Left and Right change."""
    known = rows(session)
    return known[min(session.cursors.get(CURSOR, 0), len(known) - 1)]


def chosen_after(session: Session, steps: int) -> Session:
    """The session with the row chosen that is so many further down."""
    return at_row(session, rows(session).index(chosen(session)) + steps)


def at_row(session: Session, row: int) -> Session:
    """The session with this row chosen, or the nearest."""
    return pointed(session, CURSOR, row, len(rows(session)))


def changed(session: Session, hundredths: int) -> Session:
    """The session with the chosen row moved: by so many hundredths, to the next stop, or to the next choice."""
    key, step = chosen(session), 1 if hundredths > 0 else -1
    if key == WEIGHT:
        return nudged(session, hundredths)
    if key == "min_score":
        return raised(session, hundredths)
    if key == TOP_K:
        return counted(session, step)
    if key in ("pool", "rrf_k"):
        return stepped(session, key, step)
    return turned(session, key, step)
