"""Pane 5: the packed context under its budget, block by block, what was left out, and what it is worth."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, Resize

from recall_core.errors import RecallError
from recall_tui.actions.table import table_of
from recall_tui.messages import Budgeted, Pointed
from recall_tui.panes.context.listing import Listing, Look, listing, places_of
from recall_tui.panes.context.sums import gauge_line, sums, title, under_line
from recall_tui.state import packing
from recall_tui.state.packing import Worth
from recall_tui.state.results import result_of
from recall_tui.state.session import Session, is_stale
from recall_tui.widgets.draw import figure
from recall_tui.widgets.lines import NONE, LineView, entitle
from recall_tui.widgets.slider import Track

WHEEL_PERCENT = 5
LEAST_ROWS = 10  # of the list, from which a block has two of them
CORNERS = 4  # cells of a border's lower edge that what stands in it leaves to both sides
TOKEN_CELLS = 7  # the budget in figures, so that the line stays as long while it moves


class BudgetSlider(Track):
    """The budget on a line that ends at 50 and at 100,000 tokens; every cell is the same step in percent."""

    def __init__(self) -> None:
        super().__init__(id="budget")
        self._tokens = 0

    def show(self, tokens: int) -> None:
        """Show this budget; one beyond an end stands at the end."""
        if tokens != self._tokens:
            self._tokens, self._share = tokens, packing.share_of(tokens)
            self.refresh()

    def labels(self, width: int) -> tuple[str, str]:
        """What it is, and the budget in figures."""
        return "budget", f"{figure(self._tokens):>{TOKEN_CELLS}} tok"

    def slide(self, share: float, *, joins: bool) -> None:
        """The budget is to be that of this place."""
        self.post_message(Budgeted(packing.budget_at(share)))

    def turn(self, steps: int) -> None:
        """The wheel moves the budget by 5 %."""
        self.post_message(Budgeted(packing.scaled_tokens(self._tokens, steps * WHEEL_PERCENT)))


class BudgetGauge(LineView, can_focus=False):
    """The budget with a segment a block."""

    def __init__(self) -> None:
        super().__init__(id="gauge")


class Sums(LineView, can_focus=False):
    """The secondary figures of the context."""

    def __init__(self) -> None:
        super().__init__(id="sums")


class PackedList(LineView, can_focus=False):
    """The blocks, what was left out, what waits, and the account."""

    def __init__(self) -> None:
        super().__init__(id="packed")
        self._starts: tuple[int, ...] = ()
        self._cursor = 0

    def show_listing(self, look: Look) -> None:
        """Show these lines, at the place where it stands."""
        self._cursor = look.cursor

        def build(width: int) -> list[Text]:
            is_low = self.size.height < LEAST_ROWS
            drawn: Listing = listing(look, width, self.glyphs, is_low=is_low)
            self._starts = drawn.starts
            self.chosen_line = drawn.starts[look.cursor] if look.cursor < len(drawn.starts) else NONE
            return drawn.lines

        self.show(build, keep_place=True)

    def follow(self, row: int) -> None:
        """Scroll as little as it takes to see an entry: its head first, where it is longer than the view."""
        if row >= len(self._starts) or not self.size.height:
            return
        start = self._starts[row]
        end = self._starts[row + 1] if row + 1 < len(self._starts) else start + 2
        top, height = int(self.scroll_offset.y), self.size.height
        if start < top or end - start > height:
            self._go(0 if row == 0 else start)
        elif end > top + height:
            self._go(end - height)

    def on_resize(self, event: Resize) -> None:
        """Another width folds the lines elsewhere; the chosen entry stays in sight."""
        event.prevent_default()
        self._rebuild()
        self.follow(self._cursor)

    def on_click(self, event: Click) -> None:
        """A click chooses the entry under it."""
        line = event.y + int(self.scroll_offset.y)
        rows = [row for row, start in enumerate(self._starts) if start <= line]
        if rows and line < len(self.lines):
            self.post_message(Pointed(rows[-1]))

    def _go(self, line: int) -> None:
        self.scroll_to(y=line, animate=False, immediate=True)


class ContextPane(Vertical, can_focus=True):
    """What an agent would be given."""

    def __init__(self) -> None:
        super().__init__(id="context")
        self._session = Session()
        self._shown: Look | None = None
        self._worth: tuple[int, Worth | None] = (0, None)

    def compose(self) -> ComposeResult:
        """The gauge and the slider above everything that they change."""
        yield BudgetGauge()
        yield BudgetSlider()
        yield Sums()
        yield PackedList()

    def show_session(self, session: Session) -> None:
        """Show this session's context at its budget."""
        self.set_class(is_stale(session), "-stale")
        self.set_class(session.context.details, "-details")
        slider, counts, blocks = self.query_one(BudgetSlider), self.query_one(Sums), self.query_one(PackedList)
        self._session = session
        room, table = self.size.width - CORNERS, table_of(self.app)
        entitle(self, title(session), under_line(session, room, counts.glyphs, table))
        slider.show(session.context.budget_tokens)
        look, before = self._look(session), self._shown
        if look == before:
            return
        self._shown = look
        self.query_one(BudgetGauge).show(lambda width: [gauge_line(look, width, counts.glyphs)])
        counts.show(lambda width: sums(look, width, counts.glyphs))
        blocks.show_listing(look)
        if before is not None and (look.cursor, look.unfolded, look.is_whole) != (
            before.cursor,
            before.unfolded,
            before.is_whole,
        ):
            blocks.follow(look.cursor)

    def on_resize(self, _event: Resize) -> None:
        """What stands in the border depends on its width."""
        self.show_session(self._session)

    def scroll_pages(self, pages: int) -> None:
        """Scroll the list by what is visible of it."""
        self.query_one(PackedList).scroll_pages(pages)

    def _look(self, session: Session) -> Look:
        """What is to be drawn. The worth of the context before stays until the next is known, and says so."""
        analysis = packing.worth_analysis(session)
        result = result_of(session, analysis, Worth) if analysis is not None else None
        if isinstance(result, Worth):
            self._worth = session.results.answered, result
        question, known = self._worth
        return Look(
            packed=session.context.packed,
            block_tokens=session.context.block_tokens,
            entries=packing.entries(session),
            cursor=packing.cursor(session),
            pins=session.context.pins,
            waiting=session.context.waiting,
            unfolded=session.context.unfolded,
            is_whole=session.zoomed and session.pane == "context",
            has_details=session.context.details,
            places=places_of(session, self.query_one(Sums).glyphs),
            worth=known if question == session.results.answered else None,
            is_settled=isinstance(result, Worth),
            trouble=result.message if isinstance(result, RecallError) else "",
        )
