"""What stands around the blocks of a context: the title, the gauge, and the secondary figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import Packed
from recall_tui.actions.table import TABLE, Table
from recall_tui.panes.context.listing import Look
from recall_tui.state.packing import Worth, covered, is_packed
from recall_tui.state.session import Session, is_stale
from recall_tui.widgets.draw import Glyphs, counted, figure, fit, gauge

MUTED = Style(dim=True)
LEAST_GAUGE = 16
"""Cells of the gauge next to which its fills are named."""
KEYS = "{type_budget} budget  {pin_chunk} pin  {drop_chunk} exclude  {details} details"


def title(session: Session) -> str:
    """The pane's title with the tokens of what is packed."""
    return f"5 Context  {tokens_line(session)}" if session.context.packed else "5 Context"


def tokens_line(session: Session) -> str:
    """Used and allowed tokens of what is packed."""
    packed = session.context.packed
    used, budget = (packed.used_tokens, packed.budget_tokens) if packed else (0, session.context.budget_tokens)
    return f"{figure(used)} of {counted(budget, 'token')}"


def budget_line(session: Session) -> str:
    """Used and allowed tokens, and whether another packing is on its way: for which budget."""
    return ", ".join([tokens_line(session), *_under_way(session)])


def under_line(session: Session, width: int, glyphs: Glyphs, table: Table = TABLE) -> str:
    """What is pinned, excluded, waiting or being packed; where nothing is, the keys, if there is room for them."""
    marked = (*session.context.pins, *session.context.drops)
    waiting = [each.chunk_id for each in session.context.waiting if each.chunk_id in marked]
    pinned = sum(each not in waiting for each in session.context.pins)
    excluded = sum(each not in waiting for each in session.context.drops)
    counts = [(pinned, "pinned"), (excluded, "excluded"), (len(waiting), "waiting")]
    words = ["stale"] if is_stale(session) else []
    words += [f"{figure(count)} {word}" for count, word in counts if count]
    words += _under_way(session)
    if words:
        return glyphs.dot.join(words)
    keys = table.spelled(KEYS)
    return keys if cell_len(keys) <= width else ""


def gauge_of(session: Session, width: int, glyphs: Glyphs) -> str:
    """The gauge, in `width` cells."""
    packed = session.context.packed
    used = packed.used_tokens if packed else 0
    budget = packed.budget_tokens if packed else session.context.budget_tokens
    return gauge(session.context.block_tokens, used, budget, width, glyphs)


def gauge_line(look: Look, width: int, glyphs: Glyphs) -> Text:
    """The gauge, and what its fills stand for; the rest of it is free."""
    packed = look.packed
    if packed is None:
        return Text(fit("Run a search to pack a context.", width, glyphs), Style(dim=True))
    legend = f" {''.join(glyphs.series[:3])} {counted(len(packed.blocks), 'block')} {glyphs.header} headers"
    if width < LEAST_GAUGE + cell_len(legend):
        legend = f" {counted(len(packed.blocks), 'block')}"
    cells = width - cell_len(legend)
    return Text(gauge(look.block_tokens, packed.used_tokens, packed.budget_tokens, cells, glyphs) + legend, MUTED)


def sums(look: Look, width: int, glyphs: Glyphs) -> list[Text]:
    """The secondary figures. A mark at the end says that what follows from the quality is being worked out."""
    packed = look.packed
    if packed is None:
        return []
    mark = "" if look.is_settled or look.trouble else f" {glyphs.cut}"
    facts = [*_counts(packed), *_quality(look.worth), *_sizes(packed, look.block_tokens)]
    first, *others = flowed(facts, width, glyphs, reserved=2)
    lines = [fit(first, width - cell_len(mark), glyphs) + mark, *(fit(line, width, glyphs) for line in others)]
    return [Text(line, Style(dim=True)) for line in lines]


def flowed(facts: Sequence[str], width: int, glyphs: Glyphs, *, reserved: int = 0) -> list[str]:
    """Facts in lines of at most `width` cells, broken between facts only; never none. reserved: of the first line."""
    lines = [""]
    for fact in facts:
        longer = f"{lines[-1]}{glyphs.dot}{fact}" if lines[-1] else fact
        if lines[-1] and cell_len(longer) > width - (reserved if len(lines) == 1 else 0):
            lines.append(fact)
        else:
            lines[-1] = longer
    return lines


def _under_way(session: Session) -> list[str]:
    packed = session.context.packed
    if packed is None or is_packed(session):
        return []
    is_other = packed.budget_tokens != session.context.budget_tokens
    return [f"packing for {figure(session.context.budget_tokens)}" if is_other else "packing"]


def _counts(packed: Packed) -> Iterator[str]:
    left_out = sum(omission.chunks for omission in packed.omitted)
    yield f"{counted(packed.candidates - left_out, 'chunk')} packed"
    yield f"{figure(left_out)} left out"


def _quality(worth: Worth | None) -> Iterator[str]:
    if worth is None:
        return
    view = worth.view
    if view["efficiency"] is not None:
        yield f"quality {view['efficiency']:.0%}"
    if (counts := covered(worth)) is not None:
        yield f"query terms {counts[0]} of {counts[1]}"
    if worth.model_tokens is not None:
        yield f"about {figure(worth.model_tokens)} model tokens"
    yield f"filled by {'value' if view['pack'] == 'optimal' else view['pack']}"


def _sizes(packed: Packed, block_tokens: Sequence[int]) -> Iterator[str]:
    yield f"headers {figure(packed.used_tokens - sum(block_tokens))}"
    yield f"free {figure(packed.budget_tokens - packed.used_tokens)}"
    if packed.reserved_for:
        yield f"{figure(packed.reserved_tokens)} for sparse-document recall"
    yield f"counter {packed.counter}"
