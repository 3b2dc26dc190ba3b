"""Pane 3: why the selected result has its score, how it compares with another, and why a document is missing."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.events import Click
from textual.strip import Strip

from recall_core.errors import RecallError
from recall_core.text import behind
from recall_tui.panes.ledger import lead_of, ledger_lines
from recall_tui.panes.passage import Drawn, chunk_lines, cuts_of, no_chunk, passage_lines
from recall_tui.panes.whynot import FIX, PINNED, applied_lines, funnel_lines, top_for_fix, whynot_lines
from recall_tui.state.explaining import (
    FIX_CURSOR,
    Comparison,
    DocumentPassage,
    Funnel,
    Ledger,
    Missing,
    compare_analysis,
    fixes_in_force,
    funnel_analysis,
    ledger_analysis,
    other_hit,
    passage_analysis,
    whynot_analysis,
)
from recall_tui.state.records import Analysis, cite_row
from recall_tui.state.session import VIEWS, Session, View, is_stale, result_of
from recall_tui.widgets import Do
from recall_tui.widgets.draw import (
    BOLD,
    COLOURS,
    DIM,
    VISIBLE,
    Glyphs,
    bar,
    blank,
    figure,
    fit,
    fit_place,
    fold,
    harmless,
    keep_sign,
    number,
    one_line,
    pluralize,
    round_to_total,
    spelt,
    with_sign,
)
from recall_tui.widgets.lines import LineView, strip_of, value_at

if TYPE_CHECKING:
    from recall_core.contract.ledger import DifferenceView, ExplanationView, LedgerView, SubtotalView, VersusView

BAR_CELLS = 12
WIDE_COMPARISON = 66  # width from which a bar follows the figures
LEAST = 9  # width of a figure with the blanks before it
ABSENCES = {
    "not_in_pool": "no signal found it",
    "filtered": "the filter excludes it",
    "below_min_score": "its score is below min_score",
    "below_min_cosine": "it has no query word, and its cosine is below min_cosine",
    "copy": "an earlier result has the same text",
    "document": "another chunk represents its document",
    "no_score": "the query computes no score",
}


class _Shape(NamedTuple):
    """Names of the two rows, and the widths of the columns."""

    this: str
    other: str
    names: int
    cells: int
    has_bar: bool
    glyphs: Glyphs


def compare_lines(view: ExplanationView, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the two rows, the leader, the subtotals of the signals with their checked sum, and the leaves."""
    first, second = view["chunk"], view["other"]
    lines = [_heads(first, second, width, glyphs)]
    for each in (first, second):
        if "absent" in each:
            lines += [Text(line) for line in fold(f"{_rank(each)}: {ABSENCES[each['absent']]}.", width)]
    if "versus" not in view:
        return lines
    versus = view["versus"]
    ours, theirs = ([each[side] for each in versus["subtotals"]] for side in ("points", "other_points"))
    sides = (  # rounded so that the points of each row add up to its score
        round_to_total(ours, first.get("score", fsum(ours))),
        round_to_total(theirs, second.get("score", fsum(theirs))),
    )
    lines += [Text(line, BOLD) for line in fold(_verdict(versus, first, second, sides), width)]
    names = _rank(first), _rank(second)
    has_bar = width >= WIDE_COMPARISON
    cells = max(LEAST, *(cell_len(name) + 2 for name in names))
    mark = 1 + max(cell_len(glyphs.yes), cell_len(glyphs.no))
    after = 3 * cells + (2 + BAR_CELLS if has_bar else mark)
    shape = _Shape(*names, max(1, width - after), cells, has_bar, glyphs)
    most = max((abs(each["delta"]) for each in versus["subtotals"]), default=0.0)
    lines.append(Text(_row("signal", (*names, "differ"), shape), DIM))
    for subtotal, points, others in zip(versus["subtotals"], *sides, strict=True):
        line = Text(_row(subtotal["signal"], _figures(subtotal, points, others), shape), BOLD)
        lines.append(_with_bar(line, subtotal["delta"], most, subtotal["signal"], shape))
    lines += _sum(versus, first, second, shape)
    lines.append(Text(fit("largest differences", width, glyphs).rstrip(), DIM))
    most = max((abs(each["delta"]) for each in versus["differences"]), default=0.0)
    leaves = zip(versus["differences"], _leaf_sides(versus, sides), strict=True)
    return [*lines, *(_difference(each, *points, most, shape) for each, points in leaves)]


def _rank(view: LedgerView) -> str:
    return f"{view['id'][:6]}, not listed" if view["rank"] is None else f"#{figure(view['rank'])}"


def _heads(first: LedgerView, second: LedgerView, width: int, glyphs: Glyphs) -> Text:
    """Return both rows in one line."""
    against = " against "
    room = width - len(against)
    rest = room // 2
    return Text.assemble(
        (_place(first, room - rest, glyphs), BOLD), (against, DIM), (_place(second, rest, glyphs), BOLD)
    )


def _place(view: LedgerView, room: int, glyphs: Glyphs) -> str:
    rank, unit = f"{_rank(view)} ", view.get("passage", view)
    place = fit_place(
        harmless(view["path"]),
        behind(view["path"], unit["line_start"], place=unit.get("place")),
        max(1, room - cell_len(rank)),
        glyphs,
    )
    return fit(rank + place.rstrip(), min(room, cell_len(rank + place.rstrip())), glyphs)


def _leaf_sides(versus: VersusView, sides: tuple[list[float], list[float]]) -> list[tuple[float, float]]:
    """Return the points of each leaf in both rows, rounded so that they add up to the points of the signal."""
    points_found = [(round(each["points"], 3), round(each["other_points"], 3)) for each in versus["differences"]]
    for place, subtotal in enumerate(versus["subtotals"]):
        at = [at for at, each in enumerate(versus["differences"]) if each["signal"] == subtotal["signal"]]
        leaves = [versus["differences"][each] for each in at]
        ours = round_to_total([leaf["points"] for leaf in leaves], sides[0][place])
        theirs = round_to_total([leaf["other_points"] for leaf in leaves], sides[1][place])
        for each, *points in zip(at, ours, theirs, strict=True):
            points_found[each] = points[0], points[1]
    return points_found


def _difference_of(delta: float, points: float, others: float) -> float:
    """Return the difference of two figures as shown."""
    return keep_sign(delta, round(points - others, 3))


def _verdict(
    versus: VersusView, first: LedgerView, second: LedgerView, sides: tuple[list[float], list[float]]
) -> str:
    """Return which row leads and by how much, the part of each signal, and the weight at which the rows swap."""
    is_first = versus["winner"] == first["id"]
    sign = 1 if is_first else -1
    deltas = [_difference_of(each["delta"], *two) for each, *two in zip(versus["subtotals"], *sides, strict=True)]
    by = ", ".join(
        f"{each['signal']} {with_sign(sign * delta)}" for each, delta in zip(versus["subtotals"], deltas, strict=True)
    )
    lead = keep_sign(versus["margin"], round(abs(sum(sides[0]) - sum(sides[1])), 3))
    text = f"{_rank(first if is_first else second)} leads{lead_of(versus, lead)}: {by}"
    if "flips_at" not in versus:
        return f"{text}."
    weight = versus["flips_at"]
    if weight is None:
        return f"{text}. The other never overtakes it at any weight."
    return f"{text}. They change places at lexical {1 - weight:.3f}."


def _row(name: str, figures: tuple[str, str, str], shape: _Shape) -> str:
    """Return a name and three figures with blanks between them."""
    return f"{fit(name, shape.names, shape.glyphs)}{''.join(f'{each:>{shape.cells}}' for each in figures)}"


def _figures(view: SubtotalView | DifferenceView, points: float, others: float) -> tuple[str, str, str]:
    """Return the points of both rows as shown, and their difference."""
    return (
        number(keep_sign(view["points"], points)),
        number(keep_sign(view["other_points"], others)),
        with_sign(_difference_of(view["delta"], points, others)),
    )


def _difference(view: DifferenceView, points: float, others: float, most: float, shape: _Shape) -> Text:
    about = "" if view["kind"] == "rounding" else spelt(view)
    named = about if about.startswith(view["kind"]) else f"{view['kind']} {about}"
    figures = _figures(view, points, others)
    line = Text(_row(f"{view['signal'][:3]} {named}", figures, shape))
    return _with_bar(line, view["delta"], most, view["signal"], shape)


def _with_bar(line: Text, delta: float, most: float, signal: str, shape: _Shape) -> Text:
    if shape.has_bar and most > 0 and abs(delta) >= VISIBLE:
        drawn = bar(abs(delta) / most, BAR_CELLS, shape.glyphs, series=0 if delta >= 0 else 2)
        line.append("  ").append(drawn, Style(color=COLOURS.get(signal), bold=False))
    return line


def _sum(versus: VersusView, first: LedgerView, second: LedgerView, shape: _Shape) -> Iterator[Text]:
    """Yield the scores and their difference, with a check against the sums of signals and leaves."""
    if "score" not in first or "score" not in second:
        return
    delta = first["score"] - second["score"]
    sums = [fsum(each["delta"] for each in views) for views in (versus["subtotals"], versus["differences"])]
    mark = shape.glyphs.yes if all(abs(each - delta) < 1e-9 for each in sums) else shape.glyphs.no
    shown = _difference_of(delta, round(first["score"], 3), round(second["score"], 3))
    figures = number(first["score"]), number(second["score"]), with_sign(shown)
    yield Text(_row("total", figures, shape), BOLD).append(f" {mark}")


NAMES: dict[View, str] = {
    "ledger": "Ledger",
    "passage": "Passage",
    "whynot": "Why not",
    "funnel": "Funnel",
    "compare": "Compare",
}
WIDE = 120  # width from which the passage is next to the ledger
LEAST_LEAVES = 3
BESIDE_LEAVES = 14  # lines of the ledger that are not leaves of a text: signals, words, total, ranks
TITLE_AT = 3  # cells from the pane's left edge to its title
WAITS = "Waiting until the query can be answered."
SEEK = "m asks which document is missing; w on the Ledger explains why the context lacks the selected result."
ABOVE = 2  # lines of the document shown above its chunk


class ExplainPane(LineView, inherit_bindings=False):
    """The tabs in the title and the open tab below. Its keys are in the table of actions."""

    BINDINGS: ClassVar[list[BindingType]] = []
    COMPONENT_CLASSES: ClassVar[set[str]] = {"explain--shared"}

    def __init__(self) -> None:
        super().__init__(id="explain")
        self._session = Session()
        self._shown: tuple[object, ...] = ()
        self._title: list[tuple[str, View | None]] = []
        self._read: DocumentPassage | None = None

    def show_session(self, session: Session) -> None:
        """Show the open tab for this session, with a hint if its result is still to come."""
        self.set_class(is_stale(session), "-stale")
        result, before = _result(session), self._session
        self._session = session
        self._entitle(session)
        if self.border_subtitle != (about := subject_line(session, self._room, self.glyphs)):
            self.border_subtitle = Content(about)
        shown = _drawn_from(session)
        if shown == self._shown:
            return
        self._shown = shown
        keeps = _subject(session) == _subject(before)
        is_new = isinstance(result, DocumentPassage) and result is not self._read
        self._read = result if isinstance(result, DocumentPassage) else None
        self.show(lambda width: self._build_lines(session, width), keep_place=keeps)
        width = self.scrollable_content_region.width
        if is_new and isinstance(result, DocumentPassage) and width > 0:
            row = self._passage(session, result, width).row
            self.scroll_to(y=max(0, row - ABOVE), animate=False, immediate=True)
        self.go_to_fix()
        if self.scroll_offset.y > 0:
            self.refresh()  # pinned lines are drawn where others would be

    def on_click(self, event: Click) -> None:
        """Open the tab that was clicked in the title. Choose the fix that was clicked, or try it if it is chosen."""
        if event.y == 0:
            view = value_at(pieces(self._session, self._room, self.glyphs), event.x - TITLE_AT)
            if view is not None:
                self.post_message(Do("show_view", view))
        elif (fix := event.style.meta.get(FIX)) is not None:
            self.post_message(Do("choose_fix", fix))

    def on_resize(self, event: object) -> None:
        """Fit the title and fold the lines to the new width."""
        self._rebuild()
        self._entitle(self._session)
        self.go_to_fix()

    @property
    def _room(self) -> int:
        """Cells available for the title."""
        return max(0, self.outer_size.width - 2 * TITLE_AT)

    def _entitle(self, session: Session) -> None:
        shown = pieces(session, self._room, self.glyphs)
        if shown == self._title:
            return  # setting a title draws the whole pane again
        self._title = shown
        self.border_title = Content.assemble(*((text, "reverse" * (view == session.view)) for text, view in shown))

    def go_to_fix(self) -> None:
        """Scroll just far enough to show the chosen fix, if there is one."""
        height = self.scrollable_content_region.height
        if self._session.view == "whynot" and height > 0:
            top = top_for_fix(
                self._lines, self._session.cursors.get(FIX_CURSOR, 0), int(self.scroll_offset.y), height
            )
            self.scroll_to(y=top, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """Return one visible line. The verdict and the target of Why not stay at the top."""
        is_account = self._session.view == "whynot" and isinstance(_result(self._session), Missing)
        if is_account and y < min(PINNED, len(self._lines)):
            return strip_of(self._lines[y], self.size.width, self.own_style, self.app.console)
        return super().render_line(y)

    def _build_lines(self, session: Session, width: int) -> list[Text]:
        glyphs = self.glyphs
        match session.view, _result(session):
            case _, RecallError() as error:
                text = f"{error.message} ({error.hint})" if error.hint else error.message
                lines = [Text(line, Style(bold=True)) for line in fold(text, width)]
            case "passage", DocumentPassage() as passage:
                lines = self._passage(session, passage, width).lines
            case "whynot", Missing() as whynot:
                lines = whynot_lines(
                    whynot,
                    session.cursors.get(FIX_CURSOR, 0),
                    note_uncounted(session),
                    width,
                    glyphs,
                    applied=_applied_fixes(session),
                    is_pinned=is_pinned(session, whynot),
                    is_whole=session.zoomed,
                )
            case "funnel", Funnel(view):
                lines = funnel_lines(view, note_uncounted(session), width, glyphs)
            case "compare", Comparison(view):
                lines = compare_lines(view, width, glyphs)
            case "ledger", ledger if session.results.hit is not None:
                lines = self._ledger(session, ledger if isinstance(ledger, Ledger) else None, width)
            case _:
                lines = [Text(line, Style(dim=True)) for line in fold(hint_of(session), width)]
                if session.view == "whynot":
                    lines += applied_lines(_applied_fixes(session), width, glyphs)
        return lines

    def _ledger(self, session: Session, result: Ledger | None, width: int) -> list[Text]:
        """Return the ledger above its passage, or next to it if there is room."""
        hit, glyphs = session.results.hit, self.glyphs
        assert hit is not None  # noqa: S101 - the caller looked
        most = None if session.zoomed else max(LEAST_LEAVES, self.size.height - BESIDE_LEAVES)
        if width < WIDE:
            return [
                *ledger_lines(hit, result, bound_of(session), width, glyphs, most=most),
                Text(),
                *chunk_lines(hit, width, glyphs),
            ]
        half = width // 2 - 2
        document = _beside_of(session)
        if isinstance(document, DocumentPassage):
            drawn = self._passage(session, document, width - half - 3)
            right = [drawn.lines[0], *drawn.lines[max(1, drawn.row - ABOVE) :]]
        else:
            right = chunk_lines(hit, width - half - 3, glyphs)
        left = ledger_lines(hit, result, bound_of(session), half, glyphs, most=most)
        return side_by_side(left, right, half, glyphs, rows=self.scrollable_content_region.height)

    def _passage(self, session: Session, result: DocumentPassage, width: int) -> Drawn:
        shade = self.get_component_rich_style("explain--shared", partial=True)
        return passage_lines(result, cuts_of(session.context.packed, result.chunk_id), shade, width, self.glyphs)


def pieces(session: Session, room: int, glyphs: Glyphs) -> list[tuple[str, View | None]]:
    """Return the title in pieces, each with the tab it opens. A pointer marks the open tab.

    If there is not enough room, the pane's name is dropped first.
    """
    rank = f" #{figure(session.results.hit.rank)}" if session.results.hit else ""
    heads = [f"3 Explain{rank}  ", f"3{rank}  ", "3 "]
    if is_stale(session):
        heads = [f"3 Explain{rank} (stale) ", "3 Explain (stale) ", "3 (stale) ", "3 stale "]
    for head in heads:
        made: list[tuple[str, View | None]] = [(head, None)]
        for place, view in enumerate(VIEWS):
            made.append((glyphs.dot if place else "", None))
            made.append((f"{glyphs.pointer if view == session.view else ''}{NAMES[view]}", view))
        if sum(cell_len(text) for text, _ in made) <= room:
            break
    return [piece for piece in made if piece[0]]


def subject_line(session: Session, room: int, glyphs: Glyphs) -> str:
    """Return the document and the line that the open tab is about."""
    path, lines = "", ""
    if session.view == "whynot" and isinstance(result := _result(session), Missing):
        path = result.view["target"]["text"]
    elif session.view != "funnel" and (hit := session.results.hit) is not None:
        path, lines = hit.doc.path, cite_row(hit, None)[0]
    return fit_place(blank(path), lines, room, glyphs).strip() if path else ""


def side_by_side(left: list[Text], right: list[Text], width: int, glyphs: Glyphs, *, rows: int) -> list[Text]:
    """Join lines side by side. width: cells of the left ones. rows: least height of the rule between them."""
    joined = []
    for row in range(max(len(left), len(right), rows)):
        line = Text().append_text(left[row]) if row < len(left) else Text()
        line.pad_right(max(0, width - line.cell_len))
        line.append(f" {glyphs.upright} ", Style(dim=True))
        joined.append(line.append_text(right[row]) if row < len(right) else line)
    return joined


def bound_of(session: Session) -> float | None:
    """Return the maximum BM25 of the question, if raw values are divided by it."""
    answer = session.results.answer
    if answer is None or answer.pool is None or not answer.pool.lexical or answer.pool.lexical_model == "ts_rank":
        return None
    config = answer.plan.config
    return answer.pool.bound if (config.fusion, config.normalize) == ("weighted", "bound") else None


def hint_of(session: Session) -> str:
    """Return what to do where a tab is empty, or that its result is on its way."""
    if session.results.answer is None:
        return "Run a search to see where its scores come from."
    match session.view:
        case "whynot":
            hint = (
                _to_come(f"Tracing {one_line(session.results.sought)} …", session) if session.results.sought else SEEK
            )
        case "funnel":
            hint = _to_come("Counting rows.", session)
        case "compare" if session.results.answer.pool is None:
            hint = "The query names no signal, so there are no scores to compare."
        case "compare" if compare_analysis(session) is None:
            hint = "There is no other result to compare with. M marks one to compare others with it."
        case "compare":
            hint = _to_come("Comparing.", session)
        case _ if session.results.answer.total == 0:
            hint = "Nothing was found. m explains why a document is missing."
        case _ if session.results.hit is None:
            hint = "Select a result to see where its score comes from."
        case _:
            hint = "Reading the document." if session.results.hit.chunk else no_chunk(session.results.hit)
    return hint


def _to_come(text: str, session: Session) -> str:
    """Return the text, or a note that the tab waits: a stale answer is not analysed."""
    return WAITS if is_stale(session) else text


def _drawn_from(session: Session) -> tuple[object, ...]:
    """Return everything that the open tab is drawn from."""
    scratch = (
        session.zoomed,
        session.context.pins,
        session.context.drops,
        session.context.budget_tokens,
        tuple(_applied_fixes(session)),
    )
    chosen = (session.results.hit, session.results.sought, other_hit(session), session.cursors.get(FIX_CURSOR, 0))
    known = (session.results.answer, is_stale(session), session.context.packed, _result(session), _beside_of(session))
    return (session.view, *known, *chosen, *scratch)


def _subject(session: Session) -> tuple[object, ...]:
    """Return the subject of the open tab. The scroll position is kept while the subject stays the same."""
    return (session.view, session.results.hit, session.results.sought, other_hit(session))


def _result(session: Session) -> object:
    match session.view:
        case "ledger":
            return _result_of(session, ledger_analysis(session), Ledger)
        case "passage":
            return _result_of(session, passage_analysis(session), DocumentPassage)
        case "whynot":
            return _result_of(session, whynot_analysis(session), Missing)
        case "funnel":
            return _result_of(session, funnel_analysis(session), Funnel)
        case "compare":
            return _result_of(session, compare_analysis(session), Comparison)


def _result_of(session: Session, analysis: Analysis | None, of: type[object]) -> object:
    return result_of(session, analysis, of=of) if analysis is not None else None


def _beside_of(session: Session) -> object:
    return _result_of(session, passage_analysis(session), DocumentPassage) if session.view == "ledger" else None


def _applied_fixes(session: Session) -> list[str]:
    return [fix.change for fix in fixes_in_force(session)]


def is_pinned(session: Session, whynot: Missing) -> bool:
    """Return True if the missing chunk is packed because the user pinned it."""
    chosen, packed = whynot.view["target"].get("chosen"), session.context.packed
    if chosen is None or packed is None or chosen["chunk_id"] not in session.context.pins:
        return False
    return any(chosen["chunk_id"] in block.chunk_ids for block in packed.blocks)


def note_uncounted(session: Session) -> str:
    """Return a note on chunks that the user pinned or excluded, which the account ignores."""
    pins, drops = len(session.context.pins), len(session.context.drops)
    counts = [f"{pluralize(pins, 'chunk')} pinned"] if pins else []
    counts += [f"{pluralize(drops, 'chunk')} excluded"] if drops else []
    return f"{', '.join(counts)}: not counted here." if counts else ""
