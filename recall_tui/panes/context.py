"""Pane 5: the packed context under its budget, block by block, and what was left out."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from recall_core.types import Block, Omission, Packed
from recall_tui.session import Session, is_stale
from recall_tui.widgets.draw import Glyphs, figure, fit, folded, gauge
from recall_tui.widgets.lines import LineView

REASONS = {
    "budget": "over budget",
    "diversity": "document cap",
    "duplicate": "already in",
    "below_min_score": "below min score",
    "dropped": "forced out",
}


class ContextPane(LineView):
    """What an agent would be given."""

    def __init__(self) -> None:
        super().__init__(id="context")
        self._shown: tuple[Packed | None, int] | None = None

    def show_session(self, session: Session) -> None:
        """Show this session's context at its budget."""
        packed, block_tokens = session.packed, session.block_tokens
        self.set_class(is_stale(session), "-stale")
        if (packed, session.budget_tokens) != self._shown:
            self._shown = (packed, session.budget_tokens)
            self.border_title = "5 Context"
            self.border_subtitle = budget_line(session)
            self.show(lambda width: _lines(packed, block_tokens, width, self.glyphs), keep_place=True)


def budget_line(session: Session) -> str:
    """Used and allowed tokens of what is packed, and the budget that is being packed for where it is another."""
    packed, budget = session.packed, figure(session.budget_tokens)
    if packed is None:
        return f"0/{budget} tok"
    shown = f"{figure(packed.used_tokens)}/{figure(packed.budget_tokens)} tok"
    return shown if packed.budget_tokens == session.budget_tokens else f"{shown}, packing for {budget}"


def gauge_of(session: Session, width: int, glyphs: Glyphs) -> str:
    """The gauge and its percentage, in `width` cells."""
    packed = session.packed
    used = packed.used_tokens if packed else 0
    budget = packed.budget_tokens if packed else session.budget_tokens
    return f"{gauge(session.block_tokens, used, budget, width - 5, glyphs)}{used / budget:>5.0%}"


def _lines(packed: Packed | None, block_tokens: tuple[int, ...], width: int, glyphs: Glyphs) -> list[Text]:
    if packed is None:
        return [Text(fit("Ask something to pack a context.", width, glyphs), Style(dim=True))]
    drawn = gauge(block_tokens, packed.used_tokens, packed.budget_tokens, width - 5, glyphs)
    lines = [Text(f"{drawn}{packed.used_tokens / packed.budget_tokens:>5.0%}")]
    lines += [Text(line, Style(dim=True)) for line in folded(_summary(packed, block_tokens, glyphs), width)]
    lines += [Text(fit(warning, width, glyphs), Style(bold=True)) for warning in packed.warnings]
    for place, (block, tokens) in enumerate(zip(packed.blocks, block_tokens, strict=True)):
        lines += _block(block, tokens, glyphs.series[place % 3], width, glyphs)
    if packed.omitted:
        lines += [Text(), Text(fit("left out", width, glyphs), Style(dim=True))]
        lines += [_omission(omission, width, glyphs) for omission in packed.omitted]
    return lines


def _summary(packed: Packed, block_tokens: tuple[int, ...], glyphs: Glyphs) -> str:
    left_out = sum(omission.chunks for omission in packed.omitted)
    headers = packed.used_tokens - sum(block_tokens)
    free = packed.budget_tokens - packed.used_tokens
    counts = [f"{figure(packed.candidates - left_out)} in", f"{figure(left_out)} out", f"{len(packed.blocks)} blocks"]
    sizes = [f"headers {figure(headers)} tok", f"free {figure(free)} tok", f"counter {packed.counter}"]
    return glyphs.dot.join([*counts, *sizes])


def _block(block: Block, tokens: int, fill: str, width: int, glyphs: Glyphs) -> list[Text]:
    size = f" {tokens:>5} tok"
    where = f"{fill} {block.number} {block.doc.path}:{block.line_start}-{block.line_end}"
    lines = [Text(), Text(fit(where, width - len(size), glyphs) + size, Style(bold=True))]
    lines += [Text(f"  {line}") for line in folded(block.text, width - 2)]
    if block.truncated:
        lines.append(Text(fit(f"  {glyphs.cut} cut here to fit the budget", width, glyphs), Style(dim=True)))
    return lines


def _omission(omission: Omission, width: int, glyphs: Glyphs) -> Text:
    reason = f" {REASONS[omission.reason]}"
    more = f" and {figure(omission.chunks - 1)} more" if omission.chunks > 1 else ""
    where = f"{glyphs.out} {omission.rank} {omission.path}{more}"
    return Text(fit(where, width - len(reason), glyphs) + reason, Style(dim=True))
