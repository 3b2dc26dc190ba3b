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

LEAST_CELLS = 18  # of a column, whatever is in it: keys, name and value
MOST_GAP = 4  # cells between two columns
KEYS_CELLS = 3
NAME_CELLS = 7
DIM = Style(dim=True)
ALWAYS = ("fusion", "normalize", "rrf_k")
"""Settings that are shown even at their defaults: what the score of every row is made by."""


class SettingLine(NamedTuple):
    """One setting as it is shown. key: in the configuration, "k" for the number of rows."""

    keys: str
    name: str
    key: str
    value: str


def settings_lines(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """As few lines as hold them, in columns; a star stands behind each value that is moved."""
    shown = _shown(session, current(session))
    if why_not(session.results.answer):
        del shown[0]  # one signal is not fused
    rows_least = ceil(len(shown) / _columns(shown, session, width))
    lines = _in_columns(shown, session, ceil(len(shown) / rows_least), width, glyphs)
    return [*lines, *_decided(session, width)]


def moved_settings(session: Session, width: int, glyphs: Glyphs, *, with_keys: bool = True) -> list[Text]:
    """Those that are not at their defaults, and of the others the keys: for a pane that is short of lines."""
    config, plain = current(session), Config()
    shown = _shown(session, config)
    told = [
        each
        for each in shown
        if each.key in ALWAYS or _is_moved(each, session) or _value(config, each) != _value(plain, each)
    ]
    lines = _in_columns(told, session, _columns(told, session, width), width, glyphs)
    others = " ".join(each.keys for each in shown if each not in told)
    if others and with_keys:
        note = f"default: {others}" + ("" if session.zoomed else f"{glyphs.dot}z shows them")
        gap = min(MOST_GAP, width - lines[0].cell_len - len(note))
        if len(lines) > 1 or gap < 1:
            lines.append(Text(fit(note, width, glyphs).rstrip(), DIM))
        else:
            lines[0].append(" " * gap).append(note, DIM)
    return [*lines, *_decided(session, width)]


def key_at(session: Session, line: str, cell: int) -> str | None:
    """The key that a click on this cell of a line stands for: of two, the name and the value have the second."""
    for setting in _shown(session, current(session)):
        spelled = _spelled(setting, session)
        at = line.find(spelled)
        if 0 <= at <= cell < at + len(spelled):
            return setting.keys[min(cell - at, len(setting.keys) - 1)]
    return None


def _columns(shown: Sequence[SettingLine], session: Session, width: int) -> int:
    """How many have room beside each other, with a blank between them."""
    cells = max(LEAST_CELLS, *(len(_spelled(each, session)) for each in shown))
    return min(len(shown), max(1, (width + 1) // (cells + 1)))


def _in_columns(
    shown: Sequence[SettingLine], session: Session, columns: int, width: int, glyphs: Glyphs
) -> list[Text]:
    texts = [_spelled(each, session) for each in shown]
    widest = [max(map(len, texts[at::columns])) for at in range(columns)]
    gap = min(MOST_GAP, (width - sum(widest)) // (columns - 1)) if columns > 1 else 0
    padded = [f"{text:<{widest[at % columns] + gap}}" for at, text in enumerate(texts)]
    rows = ["".join(padded[at : at + columns]) for at in range(0, len(padded), columns)]
    return [Text(fit(row.rstrip(), width, glyphs).rstrip()) for row in rows]


def _decided(session: Session, width: int) -> list[Text]:
    """What the query itself sets, which no key moves."""
    told = f"OPTION decides {', '.join(session.weights.fixed)}" if session.weights.fixed else ""
    return [Text(line) for line in folded(told, width)]


def _shown(session: Session, config: Config) -> list[SettingLine]:
    scaled = SettingLine("n", "scale", "normalize", config.normalize)
    if config.fusion == "rrf":
        scaled = SettingLine(";'", "rrf k", "rrf_k", str(config.rrf_k))
    return [
        SettingLine("f", "fusion", "fusion", config.fusion),
        scaled,
        SettingLine(",.", "k", "k", _count(session)),
        SettingLine("()", _pool_name(session), "pool", str(config.pool)),
        SettingLine("<>", "least", "min_score", f"{config.min_score:.2f}"),
        SettingLine("s", "sparse", "sparse_recall", "on" if config.sparse_recall else "off"),
        SettingLine("m", "match", "match", config.match),
        SettingLine("l", "words", "lexical_model", config.lexical_model),
    ]


def _spelled(setting: SettingLine, session: Session) -> str:
    mark = "*" if _is_moved(setting, session) else ""
    return f"{setting.keys:<{KEYS_CELLS}}{setting.name:<{NAME_CELLS}}{setting.value}{mark}"


def _is_moved(setting: SettingLine, session: Session) -> bool:
    return session.weights.k is not None if setting.key == "k" else setting.key in session.weights.tweaks


def _value(config: Config, setting: SettingLine) -> object:
    """The setting's own; the number of rows is the question's, not the configuration's."""
    return None if setting.key == "k" else getattr(config, setting.key)


def _count(session: Session) -> str:
    answer = session.results.answer
    if session.weights.k is not None:
        return str(session.weights.k)
    return "all" if answer is None or answer.plan.rql is None else str(answer.plan.limit)


def _pool_name(session: Session) -> str:
    """In brackets while every row is a candidate, whatever the pool is."""
    answer = session.results.answer
    return "(pool)" if answer is not None and answer.pool is not None and answer.pool.exact else "pool"
