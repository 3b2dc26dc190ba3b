"""The settings with the keys that move them, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from rich.style import Style
from rich.text import Text

from recall_core.config import Config
from recall_tui.state.session import Session
from recall_tui.state.weighing import current, why_not
from recall_tui.widgets.draw import Glyphs, fit, folded

CELLS = 19  # of a column: keys, name, mark and value
KEYS_CELLS = 3
DIM = Style(dim=True)
NAME_CELLS = 6
ALWAYS = ("fusion", "normalize", "rrf_k")
"""Settings that are shown even at their defaults: what the score of every row is made by."""


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
    lines = _in_columns(shown, session, columns, width // columns, glyphs)
    return [*lines, *_decided(session, width)]


def moved_settings(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """Those that are not at their defaults, and of the others the keys: for a pane that is short of lines."""
    config, plain = current(session), Config()
    shown = _shown(session, config)
    told = [
        each
        for each in shown
        if each.key in ALWAYS or _is_moved(each, session) or _value(config, each) != _value(plain, each)
    ]
    lines = _in_columns(told, session, max(1, width // CELLS), CELLS, glyphs)
    others = " ".join(each.keys for each in shown if each not in told)
    if others:
        note = f"at default {others}{glyphs.dot}z shows"
        if len(lines) > 1 or len(told) * CELLS + len(note) > width:
            lines.append(Text(fit(note, width, glyphs).rstrip(), DIM))
        else:
            lines[0].pad_right(len(told) * CELLS - lines[0].cell_len)
            lines[0].append(note, DIM)
    return [*lines, *_decided(session, width)]


def _in_columns(shown: Sequence[Setting], session: Session, columns: int, cells: int, glyphs: Glyphs) -> list[Text]:
    rows = [shown[at : at + columns] for at in range(0, len(shown), columns)]
    return [Text("".join(fit(_spelled(each, session), cells, glyphs) for each in row).rstrip()) for row in rows]


def _decided(session: Session, width: int) -> list[Text]:
    """What the query itself sets, which no key moves."""
    told = f"OPTION decides {', '.join(session.fixed)}" if session.fixed else ""
    return [Text(line) for line in folded(told, width)]


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
    mark = "*" if _is_moved(setting, session) else " "
    return f"{setting.keys:<{KEYS_CELLS}}{setting.name:<{NAME_CELLS}}{mark}{setting.value}"


def _is_moved(setting: Setting, session: Session) -> bool:
    return session.k is not None if setting.key == "k" else setting.key in session.tweaks


def _value(config: Config, setting: Setting) -> object:
    """The setting's own; the number of rows is the question's, not the configuration's."""
    return None if setting.key == "k" else getattr(config, setting.key)


def _count(session: Session) -> str:
    answer = session.answer
    if session.k is not None:
        return str(session.k)
    return "all" if answer is None or answer.plan.rql is None else str(answer.plan.limit)


def _pool_name(session: Session) -> str:
    """In brackets while every row is a candidate, whatever the pool is."""
    answer = session.answer
    return "(pool)" if answer is not None and answer.pool is not None and answer.pool.exact else "pool"
