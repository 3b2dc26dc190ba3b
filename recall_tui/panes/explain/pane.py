"""The explain pane: five tabs over the selected hit, and over what is not among the hits."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.events import Click
from textual.strip import Strip

from recall_core.errors import RecallError
from recall_tui.messages import Do
from recall_tui.panes.explain.compare import compare_lines
from recall_tui.panes.explain.figures import one_line
from recall_tui.panes.explain.ledger import ledger_lines
from recall_tui.panes.explain.passage import Drawn, chunk_lines, cuts_of, no_chunk, passage_lines
from recall_tui.panes.explain.whynot import FIX, PINNED, applied_lines, funnel_lines, top_for_fix, whynot_lines
from recall_tui.state.analyses import Analysis
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
from recall_tui.state.records import cite_row
from recall_tui.state.session import VIEWS, Session, View, is_stale, result_of
from recall_tui.widgets.draw import Glyphs, blank, figure, fit_place, fold, pluralize
from recall_tui.widgets.lines import LineView, strip_of, value_at

NAMES: dict[View, str] = {
    "ledger": "Ledger",
    "passage": "Passage",
    "whynot": "Why not",
    "funnel": "Funnel",
    "compare": "Compare",
}
WIDE = 120  # cells from which the passage is next to the ledger
LEAST_LEAVES = 3
BESIDE_LEAVES = 14  # lines of the ledger that are no leaves of a text: signals, words, the total, the ranks
TITLE_AT = 3  # cells from the pane's left edge to its title
WAITS = "This waits until the query can be answered."
SEEK = "m asks which document is missing; w on the Ledger explains why the context lacks the selected result."
ABOVE = 2  # lines of the document that stay in sight above its chunk


class ExplainPane(LineView, inherit_bindings=False):
    """The tabs in the title, the one in front below; the table of actions has its keys."""

    BINDINGS: ClassVar[list[BindingType]] = []
    COMPONENT_CLASSES: ClassVar[set[str]] = {"explain--shared"}

    def __init__(self) -> None:
        super().__init__(id="explain")
        self._session = Session()
        self._shown: tuple[object, ...] = ()
        self._title: list[tuple[str, View | None]] = []
        self._read: DocumentPassage | None = None

    def show_session(self, session: Session) -> None:
        """Show the tab in front, of this session; what has not been found out yet is said to come."""
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
        """A click in the title goes to its tab, one on a fix chooses it, and another one on it tries it."""
        if event.y == 0:
            view = value_at(pieces(self._session, self._room, self.glyphs), event.x - TITLE_AT)
            if view is not None:
                self.post_message(Do("show_view", view))
        elif (fix := event.style.meta.get(FIX)) is not None:
            self.post_message(Do("choose_fix", fix))

    def on_resize(self, event: object) -> None:
        """Another width has another title, and folds the lines elsewhere."""
        self._rebuild()
        self._entitle(self._session)
        self.go_to_fix()

    @property
    def _room(self) -> int:
        """Cells that the title may have."""
        return max(0, self.outer_size.width - 2 * TITLE_AT)

    def _entitle(self, session: Session) -> None:
        shown = pieces(session, self._room, self.glyphs)
        if shown == self._title:
            return  # setting a title draws the whole pane again
        self._title = shown
        self.border_title = Content.assemble(*((text, "reverse" * (view == session.view)) for text, view in shown))

    def go_to_fix(self) -> None:
        """Scroll as little as it takes to see the chosen fix, where one is."""
        height = self.scrollable_content_region.height
        if self._session.view == "whynot" and height > 0:
            top = top_for_fix(
                self._lines, self._session.cursors.get(FIX_CURSOR, 0), int(self.scroll_offset.y), height
            )
            self.scroll_to(y=top, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One visible line; the verdict and the target of Why not stay on top."""
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
        """The ledger above its passage, or, where there is room, next to it."""
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
        beside = _beside_of(session)
        if isinstance(beside, DocumentPassage):
            drawn = self._passage(session, beside, width - half - 3)
            right = [drawn.lines[0], *drawn.lines[max(1, drawn.row - ABOVE) :]]
        else:
            right = chunk_lines(hit, width - half - 3, glyphs)
        left = ledger_lines(hit, result, bound_of(session), half, glyphs, most=most)
        return side_by_side(left, right, half, glyphs, rows=self.scrollable_content_region.height)

    def _passage(self, session: Session, result: DocumentPassage, width: int) -> Drawn:
        shade = self.get_component_rich_style("explain--shared", partial=True)
        return passage_lines(result, cuts_of(session.context.packed, result.chunk_id), shade, width, self.glyphs)


def pieces(session: Session, room: int, glyphs: Glyphs) -> list[tuple[str, View | None]]:
    """Return the title in pieces, each with the tab that it stands for; the tab in front has the pointer.

    Where there is no room for all, the pane's name goes first.
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
    """Return the document, and its line, that the tab in front is about."""
    path, lines = "", ""
    if session.view == "whynot" and isinstance(result := _result(session), Missing):
        path = result.view["target"]["text"]
    elif session.view != "funnel" and (hit := session.results.hit) is not None:
        path, lines = hit.doc.path, cite_row(hit, None)[0]
    return fit_place(blank(path), lines, room, glyphs).strip() if path else ""


def side_by_side(left: list[Text], right: list[Text], width: int, glyphs: Glyphs, *, rows: int) -> list[Text]:
    """Put lines next to lines. width: cells of the left ones. rows: least height of the rule between them."""
    joined = []
    for row in range(max(len(left), len(right), rows)):
        line = Text().append_text(left[row]) if row < len(left) else Text()
        line.pad_right(max(0, width - line.cell_len))
        line.append(f" {glyphs.upright} ", Style(dim=True))
        joined.append(line.append_text(right[row]) if row < len(right) else line)
    return joined


def bound_of(session: Session) -> float | None:
    """The most that the words of the question could score, where raw values are divided by it."""
    answer = session.results.answer
    if answer is None or answer.pool is None or not answer.pool.lexical:
        return None
    config = answer.plan.config
    return answer.pool.bound if (config.fusion, config.normalize) == ("weighted", "bound") else None


def hint_of(session: Session) -> str:
    """What to do where a tab has nothing to show, or that it is on its way."""
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
    """What is being done, or why it is not: nothing is looked into that does not answer what is written."""
    return WAITS if is_stale(session) else text


def _drawn_from(session: Session) -> tuple[object, ...]:
    """All that the tab in front is drawn from."""
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
    """What the tab in front is about: while it stays, so does the place that was scrolled to."""
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
    """Whether what is missed is packed, since a person pinned it."""
    chosen, packed = whynot.view["target"].get("chosen"), session.context.packed
    if chosen is None or packed is None or chosen["chunk_id"] not in session.context.pins:
        return False
    return any(chosen["chunk_id"] in block.chunk_ids for block in packed.blocks)


def note_uncounted(session: Session) -> str:
    """What the account of a context is without, where a person has pinned or excluded chunks."""
    pins, drops = len(session.context.pins), len(session.context.drops)
    counts = [f"{pluralize(pins, 'chunk')} pinned"] if pins else []
    counts += [f"{pluralize(drops, 'chunk')} excluded"] if drops else []
    return f"{', '.join(counts)}: not counted here." if counts else ""
