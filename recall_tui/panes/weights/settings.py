"""The settings as a form: a row each with its name in recall.toml, and its choices or its value and a bar.

The weight is none of these rows: the slider above them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.style import Style
from rich.text import Text

from recall_core.config import NAMES, SETTINGS, Config
from recall_tui.state import weighing
from recall_tui.state.session import WORDS_K, Session
from recall_tui.state.weighing import K_STEPS, STEPS, current, share
from recall_tui.widgets.draw import Glyphs, fit, fold

LEAST_CELLS = 18  # of a column, whatever is in it: mark, name and value
MOST_GAP = 4  # cells between two columns
NAME_CELLS = 16
VALUE_CELLS = 10
BAR_CELLS = 10
DIM, CHOSEN = Style(dim=True), Style(bold=True)
ALWAYS = ("fusion", "normalize", "rrf_k")
"""Settings that are shown even at their defaults: what the score of every row is made by."""


class SettingLine(NamedTuple):
    """One setting as it is shown. choices: all that it can be; () for a number. filled: of its bar, 0 to 1."""

    key: str
    name: str
    value: str
    filled: float
    is_moved: bool
    is_chosen: bool
    choices: tuple[str, ...] = ()


def form_lines(session: Session, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """A row each: the mark of the chosen one, name, and the choices or the value and a bar; a star where it is moved.

    Where there are fewer rows than settings, the moved ones and those around the chosen one. size: cells and rows.
    """
    width, lines = size[0], []
    for each in _in_view(_rows(session), size[1] - len(_decided_lines(session, width))):
        text = f"{_mark(each, glyphs)}{each.name:<{NAME_CELLS}}{_draw_value(each, width, glyphs)}"
        lines.append(Text(fit(text, width, glyphs).rstrip(), CHOSEN if each.is_chosen else ""))
    return [*lines, *_decided_lines(session, width)]


def form_height(session: Session, width: int) -> int:
    """The lines of the whole form."""
    return len(_rows(session)) + len(_decided_lines(session, width))


def moved_settings(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """The chosen one and those that are not at their defaults, side by side: for a pane that is short of lines."""
    config, plain = current(session), Config()
    shown = [
        each
        for each in _rows(session)
        if each.is_chosen or each.is_moved or each.key in ALWAYS or _value(config, each) != _value(plain, each)
    ]
    return [*_in_columns(shown, width, glyphs), *_decided_lines(session, width)]


def row_at(session: Session, line: str, cell: int, glyphs: Glyphs) -> tuple[int, bool] | None:
    """The row of the setting on this cell of a line, and whether the cell is one of its value or bar."""
    for row, each in enumerate(_setting_lines(session)):
        if each.key == weighing.WEIGHT:
            continue
        shown = _draw_value(each, len(line), glyphs).rstrip()
        for spelled, names in (
            (f"{_mark(each, glyphs)}{each.name:<{NAME_CELLS}}{shown}", len(glyphs.pointer) + NAME_CELLS),
            (_spell(each, glyphs), len(glyphs.pointer) + len(each.name) + 1),
        ):
            at = line.find(spelled)
            if 0 <= at <= cell < at + len(spelled):
                return row, cell >= at + names
    return None


def _draw_value(each: SettingLine, width: int, glyphs: Glyphs) -> str:
    """Return every choice with a mark on the present one; of a number, or without room, the value and a bar."""
    value = f"{each.value}{'*' if each.is_moved else ''}"
    choices = "  ".join(
        f"{glyphs.knob} {value}" if choice == each.value else f"{glyphs.hollow} {choice}" for choice in each.choices
    )
    if choices and len(choices) <= width - len(glyphs.pointer) - NAME_CELLS:
        return choices
    if choices:
        return f"{value:<{VALUE_CELLS}}" + "".join(
            glyphs.knob if choice == each.value else glyphs.hollow for choice in each.choices
        )
    filled = round(each.filled * BAR_CELLS)
    return f"{value:<{VALUE_CELLS}}{glyphs.series[0] * filled}{glyphs.line * (BAR_CELLS - filled)}"


def _mark(each: SettingLine, glyphs: Glyphs) -> str:
    return glyphs.pointer if each.is_chosen else " " * len(glyphs.pointer)


def _spell(each: SettingLine, glyphs: Glyphs) -> str:
    return f"{_mark(each, glyphs)}{each.name} {each.value}{'*' if each.is_moved else ''}"


def _in_columns(shown: Sequence[SettingLine], width: int, glyphs: Glyphs) -> list[Text]:
    """Settings side by side, as many as have room with a blank between them."""
    texts = [_spell(each, glyphs) for each in shown]
    columns = min(len(texts), max(1, (width + 1) // (max(LEAST_CELLS, *map(len, texts)) + 1)))
    widest = [max(map(len, texts[at::columns])) for at in range(columns)]
    gap = min(MOST_GAP, (width - sum(widest)) // (columns - 1)) if columns > 1 else 0
    padded = [f"{text:<{widest[at % columns] + gap}}" for at, text in enumerate(texts)]
    rows = ["".join(padded[at : at + columns]) for at in range(0, len(padded), columns)]
    return [Text(fit(row.rstrip(), width, glyphs).rstrip()) for row in rows]


def _decided_lines(session: Session, width: int) -> list[Text]:
    """What the query itself sets, which no key moves."""
    names = ", ".join(NAMES.get(key, key) for key in session.weights.fixed)
    return [Text(line) for line in fold(f"OPTION decides {names}" if names else "", width)]


def _rows(session: Session) -> list[SettingLine]:
    """The settings below the slider."""
    return [each for each in _setting_lines(session) if each.key != weighing.WEIGHT]


def _in_view(shown: Sequence[SettingLine], rows: int) -> Sequence[SettingLine]:
    """So many of them: the chosen one, those that are moved, and what is nearest to the chosen one."""
    chosen = next((at for at, each in enumerate(shown) if each.is_chosen), 0)
    first = sorted(range(len(shown)), key=lambda at: (at != chosen, not shown[at].is_moved, abs(at - chosen)))
    return [shown[at] for at in sorted(first[: max(1, rows)])]


def _setting_lines(session: Session) -> list[SettingLine]:
    config, pointed = current(session), weighing.chosen_setting(session)
    return [_line(session, config, key, is_chosen=key == pointed) for key in weighing.setting_rows(session)]


def _line(session: Session, config: Config, key: str, *, is_chosen: bool) -> SettingLine:
    tweaks = session.weights.tweaks
    if key == weighing.WEIGHT:
        is_moved = "bm25_weight" in tweaks or "vector_weight" in tweaks
        return SettingLine(key, "semantic_weight", f"{share(config):.2f}", share(config), is_moved, is_chosen)
    answer = session.results.answer
    if key == weighing.TOP_K:
        k = session.weights.k
        if k is None:
            k = WORDS_K if answer is None else answer.plan.limit
        return SettingLine(key, "top k", str(k), _part(K_STEPS, k), session.weights.k is not None, is_chosen)
    value = getattr(config, key)
    is_idle = key == "pool" and answer is not None and answer.pool is not None and answer.pool.exact
    name = f"({key})" if is_idle else key  # every row is a candidate, however large the pool
    choices = ("off", "on") if isinstance(value, bool) else SETTINGS[key].choices
    filled = 0.0 if choices else _part(STEPS[key], value) if key in STEPS else value
    shown = f"{value:.2f}" if isinstance(value, float) else str(value)
    if isinstance(value, bool):
        shown = choices[value]
    return SettingLine(key, name, shown, filled, key in tweaks, is_chosen, choices)


def _part(stops: Sequence[int], value: float) -> float:
    return sum(stop <= value for stop in stops) / len(stops)


def _value(config: Config, setting: SettingLine) -> object:
    """The setting's own; the number of rows is the question's, and the weight is above."""
    return None if setting.key in (weighing.TOP_K, weighing.WEIGHT) else getattr(config, setting.key)
