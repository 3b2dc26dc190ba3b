"""The gauge and the figures of a context, in as few lines as they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import Packed
from recall_tui.panes.context.listing import Look
from recall_tui.state.packing import Worth, digest, is_packed
from recall_tui.state.session import Session, is_stale
from recall_tui.widgets.draw import Glyphs, figure, fit, gauge

DIGITS = 12  # of the digest, where people compare it


def title(session: Session) -> str:
    """The pane's title with the what-ifs in it, counted."""
    marked = (*session.context.pins, *session.context.drops)
    waiting = [each.chunk_id for each in session.context.waiting if each.chunk_id in marked]
    pinned = sum(each not in waiting for each in session.context.pins)
    out = sum(each not in waiting for each in session.context.drops)
    counts = [(pinned, "pinned"), (out, "forced out"), (len(waiting), "waiting")]
    words = [f"{figure(count)} {word}" for count, word in counts if count]
    words += ["stale"] if is_stale(session) else []
    return f"5 Context ({', '.join(words)})" if words else "5 Context"


def budget_line(session: Session) -> str:
    """Used and allowed tokens of what is packed, and whether another packing is on its way: for which budget."""
    packed, budget = session.context.packed, figure(session.context.budget_tokens)
    if packed is None:
        return f"0/{budget} tok"
    shown = f"{figure(packed.used_tokens)}/{figure(packed.budget_tokens)} tok"
    if packed.budget_tokens != session.context.budget_tokens:
        return f"{shown}, packing for {budget}"
    return shown if is_packed(session) else f"{shown}, packing"


def under_line(session: Session, width: int, glyphs: Glyphs) -> str:
    """The budget line and the beginning of the digest, where there is room for both."""
    packed = session.context.packed
    if packed is None or not is_packed(session):
        return budget_line(session)
    line = f"{budget_line(session)}{glyphs.dot}sha256 {digest(packed)[:DIGITS]}"
    return line if cell_len(line) <= width else budget_line(session)


def gauge_of(session: Session, width: int, glyphs: Glyphs) -> str:
    """The gauge and its percentage, in `width` cells."""
    packed = session.context.packed
    used = packed.used_tokens if packed else 0
    budget = packed.budget_tokens if packed else session.context.budget_tokens
    return f"{gauge(session.context.block_tokens, used, budget, width - 5, glyphs)}{used / budget:>5.0%}"


def sums(look: Look, width: int, glyphs: Glyphs) -> list[Text]:
    """The gauge above the figures. A mark at the end says that what follows from the worth is being worked out."""
    packed = look.packed
    if packed is None:
        return [Text(fit("Ask something to pack a context.", width, glyphs), Style(dim=True))]
    drawn = gauge(look.block_tokens, packed.used_tokens, packed.budget_tokens, width - 5, glyphs)
    lines = [Text(f"{drawn}{packed.used_tokens / packed.budget_tokens:>5.0%}")]
    mark = "" if look.is_settled or look.trouble else f" {glyphs.cut}"
    facts = [*_counts(packed), *_worth(look.worth), *_sizes(packed, look.block_tokens)]
    first, *others = flowed(facts, width, glyphs, reserved=2)
    lines.append(Text(fit(first, width - cell_len(mark), glyphs) + mark, Style(dim=True)))
    return [*lines, *(Text(fit(line, width, glyphs), Style(dim=True)) for line in others)]


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


def _counts(packed: Packed) -> Iterator[str]:
    left_out = sum(omission.chunks for omission in packed.omitted)
    yield f"{figure(packed.candidates - left_out)} in"
    yield f"{figure(left_out)} out"


def _worth(worth: Worth | None) -> Iterator[str]:
    if worth is None:
        return
    view = worth.view
    if view["efficiency"] is not None:
        yield f"{view['efficiency']:.0%} of bound"
    if "coverage" in view:
        terms = view["coverage"]["terms"]
        yield f"words {sum(term['packed'] for term in terms)}/{len(terms)}"
    if worth.model_tokens is not None:
        yield f"~{figure(worth.model_tokens)} model"
    yield f"pack {view['pack']}"


def _sizes(packed: Packed, block_tokens: Sequence[int]) -> Iterator[str]:
    yield f"headers {figure(packed.used_tokens - sum(block_tokens))}"
    yield f"free {figure(packed.budget_tokens - packed.used_tokens)}"
    if packed.reserved_for:
        yield f"{figure(packed.reserved_tokens)} for recalled"
    yield f"counter {packed.counter}"
