"""The settings with the keys that move them, in columns."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from rich.text import Text

from recall_core.config import Config
from recall_tui.state.session import Session
from recall_tui.state.weighing import current, why_not
from recall_tui.widgets.draw import Glyphs, fit, folded

CELLS = 19  # of a column: keys, name, mark and value
KEYS_CELLS = 3
NAME_CELLS = 6


class Setting(NamedTuple):
    """One setting as it is shown. key: in the configuration, "k" for the number of rows."""

    keys: str
    name: str
    key: str
    value: str


def settings_lines(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """As few lines as hold them, in equal columns; a star stands before each value that is moved."""
    shown = _shown(session, current(session))
    if why_not(session.answer):
        del shown[0]  # one signal is not fused
    rows_least = ceil(len(shown) / max(1, width // CELLS))
    columns = ceil(len(shown) / rows_least)
    cells = width // columns
    rows = [shown[at : at + columns] for at in range(0, len(shown), columns)]
    lines = ["".join(fit(_spelled(each, session), cells, glyphs) for each in row).rstrip() for row in rows]
    if session.fixed:
        lines += folded(f"OPTION decides {', '.join(session.fixed)}", width)
    return [Text(line) for line in lines]


def _shown(session: Session, config: Config) -> list[Setting]:
    scaled = Setting("n", "scale", "normalize", config.normalize)
    if config.fusion == "rrf":
        scaled = Setting(";'", "rrf k", "rrf_k", str(config.rrf_k))
    return [
        Setting("f", "fusion", "fusion", config.fusion),
        scaled,
        Setting(",.", "k", "k", _count(session)),
        Setting("()", _pool_name(session), "pool", str(config.pool)),
        Setting("<>", "least", "min_score", f"{config.min_score:.2f}"),
        Setting("s", "sparse", "sparse_recall", "on" if config.sparse_recall else "off"),
        Setting("m", "match", "match", config.match),
        Setting("l", "words", "lexical_model", config.lexical_model),
    ]


def _spelled(setting: Setting, session: Session) -> str:
    is_moved = session.k is not None if setting.key == "k" else setting.key in session.tweaks
    mark = "*" if is_moved else " "
    return f"{setting.keys:<{KEYS_CELLS}}{setting.name:<{NAME_CELLS}}{mark}{setting.value}"


def _count(session: Session) -> str:
    answer = session.answer
    if session.k is not None:
        return str(session.k)
    return "all" if answer is None or answer.plan.rql is None else str(answer.plan.limit)


def _pool_name(session: Session) -> str:
    """In brackets while every row is a candidate, whatever the pool is."""
    answer = session.answer
    return "(pool)" if answer is not None and answer.pool is not None and answer.pool.exact else "pool"
