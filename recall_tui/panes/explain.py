"""Pane 3: why the selected hit has its score: the ledger, then the passage itself."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from recall_core.types import SIGNALS, Hit, Part, Pool
from recall_tui.session import Session, is_stale
from recall_tui.widgets.draw import COLOURS, Glyphs, bar, fit, folded
from recall_tui.widgets.lines import LineView

SHARE_CELLS = 12
FIGURES = f"{'signal':<9}{'raw':>9}{'value':>8}{'weight':>8}{'points':>8}"
WIDE = 120  # cells from which the passage stands beside the ledger


class ExplainPane(LineView):
    """The ledger of one hit."""

    def __init__(self) -> None:
        super().__init__(id="explain")
        self._shown: tuple[Hit | None, Pool | None] | None = None

    def show_session(self, session: Session) -> None:
        """Show the hit that is selected in this session."""
        hit, pool = session.hit, session.answer.pool if session.answer else None
        self.set_class(is_stale(session), "-stale")
        if (hit, pool) != self._shown:
            self._shown = (hit, pool)
            self.border_title = f"3 Explain #{hit.rank}" if hit else "3 Explain"
            self.show(lambda width: _lines(hit, pool, width, self.glyphs))


def _lines(hit: Hit | None, pool: Pool | None, width: int, glyphs: Glyphs) -> list[Text]:
    if hit is None:
        return [Text(fit("Select a result to see where its score comes from.", width, glyphs), Style(dim=True))]
    if width < WIDE:
        return [*ledger(hit, pool, width, glyphs), Text(), *_passage(hit, width, glyphs)]
    half = width // 2 - 2
    return _beside(ledger(hit, pool, half, glyphs), _passage(hit, width - half - 3, glyphs), half, glyphs)


def ledger(hit: Hit, pool: Pool | None, width: int, glyphs: Glyphs) -> list[Text]:
    """One line a signal with its terms below, and a total that is checked against the score."""
    if hit.score is None:
        return [Text(fit("The query names no signal, so rows have an order and no score.", width, glyphs))]
    lines = [Text(fit(FIGURES + "  share", width, glyphs), Style(dim=True))]
    for part in sorted(hit.parts, key=lambda part: SIGNALS.index(part.signal)):
        lines.append(_signal(part, hit.score, width, glyphs))
        if part.signal == "lexical" and pool is not None:
            lines += _terms(pool, width, glyphs)
    points = sum(part.points for part in hit.parts)
    mark = glyphs.yes if points == hit.score else f"{glyphs.no} score {hit.score:.6f}"
    total = Text(f"{'total':<34}{points:>8.3f}  {mark}", Style(bold=True))
    ranks = [f"{part.signal} {part.rank or 'none'}" for part in hit.parts]
    ranks_line = f"{'rank':<9}{hit.rank:>9}  {glyphs.dot.join(ranks)}"
    return [*lines, total, Text(fit(ranks_line, width, glyphs).rstrip())]


def _signal(part: Part, score: float, width: int, glyphs: Glyphs) -> Text:
    raw = "none" if part.raw is None else f"{part.raw:.3f}" if abs(part.raw) >= 0.001 else f"{part.raw:.2g}"
    line = Text(f"{part.signal:<9}{raw:>9}{part.value:>8.3f}{part.weight:>8.2f}{part.points:>8.3f}  ")
    share = part.points / score if score > 0 else 0.0
    cells = min(SHARE_CELLS, width - line.cell_len - 5)
    if cells > 0:
        series = SIGNALS.index(part.signal)
        line.append(bar(share, cells, glyphs, series=series), Style(color=COLOURS[part.signal]))
        line.append(f"{share:>5.0%}")
    return line


def _terms(pool: Pool, width: int, glyphs: Glyphs) -> list[Text]:
    terms = [f"{term.text} df {term.df} idf {term.idf:.3g}" for term in pool.terms]
    text = glyphs.dot.join([*terms, f"bound {pool.bound:.4g}"])
    return [Text(f"  {line}", Style(dim=True)) for line in folded(text, width - 2)]


def _passage(hit: Hit, width: int, glyphs: Glyphs) -> list[Text]:
    if hit.chunk is None:
        return [Text(fit(f"{hit.doc.path} has no text.", width, glyphs))]
    chunk = hit.chunk
    where = f"{hit.doc.path}:{chunk.line_start}-{chunk.line_end}"
    labels = glyphs.dot.join([f"{chunk.tokens} tokens", f"chunk {chunk.id[:12]}", *hit.doc.tags])
    heads = [where, f"{glyphs.crumb.strip()} {chunk.heading}"] if chunk.heading else [where]
    lines = [Text(fit(head, width, glyphs).rstrip(), Style(bold=True)) for head in heads]
    lines.append(Text(fit(labels, width, glyphs).rstrip(), Style(dim=True)))
    return [*lines, *(Text(line) for line in folded(chunk.text, width))]


def _beside(left: list[Text], right: list[Text], width: int, glyphs: Glyphs) -> list[Text]:
    bar_mark = "|" if glyphs.line == "-" else "│"
    joined = []
    for row in range(max(len(left), len(right))):
        line = Text().append_text(left[row]) if row < len(left) else Text()
        line.pad_right(max(0, width - line.cell_len))
        line.append(f" {bar_mark} ", Style(dim=True))
        joined.append(line.append_text(right[row]) if row < len(right) else line)
    return joined
