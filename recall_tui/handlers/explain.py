"""The tabs of the explain pane, what is missed, and the fixes that bring it in."""

from __future__ import annotations

import asyncio
import os

from textual.app import SuspendNotSupported

from recall_core.errors import RecallError, UsageError, why_unread
from recall_tui import files
from recall_tui.handlers.holder import Holder
from recall_tui.messages import FixChosen, Picking, ViewChosen
from recall_tui.opening import open_store
from recall_tui.panes.explain import ExplainPane
from recall_tui.state import explaining, fixes
from recall_tui.state.packing import chosen_entry
from recall_tui.state.session import View, chosen, pointed


class ExplainActions(Holder):
    """The group Explain of the table."""

    def on_view_chosen(self, message: ViewChosen) -> None:
        """A tab was clicked."""
        self._turn_to_view(message.view)

    def on_fix_chosen(self, message: FixChosen) -> None:
        """A fix was clicked: chosen, and tried when it was chosen already."""
        if message.place == self.session.cursors.get(fixes.CURSOR, 0):
            self.action_try_fix()
        else:
            self._point_fix(message.place)

    def on_picking(self, message: Picking) -> None:
        """Paths are wanted for what is typed."""
        self.become(self.session._replace(picking=message.typed))

    def action_step_view(self, tabs: int) -> None:
        """Go from tab to tab."""
        self.become(explaining.stepped_view(self.session, tabs))

    def action_scroll_explain(self, rows: int) -> None:
        """Go on among the fixes, or, where there are none, among the lines."""
        if fixes.chosen_remedy(self.session) is not None:
            self._point_fix(self.session.cursors.get(fixes.CURSOR, 0) + rows)
            self._explained.go_to_fix()  # it may have been scrolled away from, and have no neighbour to go to
        else:
            self._explained.scroll_relative(y=rows, animate=False, immediate=True)

    def action_page_explain(self, pages: int) -> None:
        """Scroll by what is visible."""
        self._explained.scroll_pages(pages)

    def action_explain_top(self) -> None:
        """Scroll to the top."""
        self._explained.scroll_home(animate=False, immediate=True)

    def action_explain_end(self) -> None:
        """Scroll to the end."""
        self._explained.scroll_end(animate=False, immediate=True)

    def action_select_beside(self, rows: int) -> None:
        """Explain another result, and let the focus be."""
        self.become(chosen(self.session, self.session.selected + rows))

    def action_open_funnel(self) -> None:
        """Show the funnel."""
        self._turn_to_view("funnel")

    def action_compare(self) -> None:
        """Show the selected hit beside the marked one."""
        self._turn_to_view("versus")

    def action_mark_hit(self) -> None:
        """Mark the selected hit."""
        self.become(explaining.marked_hit(self.session))
        marked = self.session.marked
        self.notify(f"Marked: {marked.doc.path}" if marked else "No hit is marked.", markup=False)

    def action_why_not(self) -> None:
        """Look for the chosen row."""
        entry = chosen_entry(self.session) if self.session.pane == "context" else None
        target = entry.chunk_ids[0] if entry and entry.chunk_ids else explaining.chunk_of(self.session)
        self._look_for(explaining.short(target))

    async def action_miss(self) -> None:
        """Ask what is missed."""
        from recall_tui.screens.target import TargetScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        await self.push_screen(TargetScreen(), self._target_named)

    def action_try_fix(self) -> None:
        """Try the chosen fix, or, where only the command line can, copy its command."""
        remedy = fixes.chosen_remedy(self.session)
        if remedy is None:
            return
        if not fixes.is_doable(remedy):
            self.copy(remedy.command, remedy.command)
            return
        self.take(fixes.applied(self.session, remedy, self.clock()))
        self.notify(f"Trying: {remedy.change}; u takes it back", markup=False)

    def action_take_back(self) -> None:
        """Take the last fix back."""
        self.take(fixes.taken_back(self.session, self.clock()))

    def action_take_all_back(self) -> None:
        """Take all fixes back."""
        self.take(fixes.taken_back(self.session, self.clock(), whole=True))

    async def action_page_document(self) -> None:
        """Lend the terminal to the pager."""
        hit = self.session.hit
        if hit is None or hit.chunk is None:
            return
        try:
            command = files.pager(os.environ)
            text = await asyncio.to_thread(document_text, self.store, hit.doc.id)
            with self.suspend():
                files.page(text, command, name=hit.doc.path, line=hit.chunk.line_start)
        except SuspendNotSupported:
            self.warn("This terminal cannot be lent to a pager.")
        except RecallError as error:
            self.warn(f"{error.message} ({error.hint})" if error.hint else error.message)
        except OSError as error:
            self.warn(f"{hit.doc.path} cannot be paged: {why_unread(error)}.")

    @property
    def _explained(self) -> ExplainPane:
        return self.bench.query_one(ExplainPane)

    def _turn_to_view(self, view: View) -> None:
        self.become(explaining.turned_to(self.session, view))
        self.bench.give_focus("explain")

    def _point_fix(self, place: int) -> None:
        absence = fixes.absence_of(self.session)
        if absence is not None and absence.remedies:
            self.become(pointed(self.session, fixes.CURSOR, place, len(absence.remedies)))

    def _target_named(self, target: str | None) -> None:
        self.become(self.session._replace(picking=None))
        if target:
            self._look_for(target)

    def _look_for(self, target: str) -> None:
        self.become(explaining.sought_after(self.session, target))
        self.bench.give_focus("explain")


def document_text(store: str | None, doc_id: str) -> str:
    """A document as it was read. Raises RecallError, also where it has left the store since."""
    with open_store(store) as recall, recall.store.reading():
        found = recall.get(doc_id)["found"]
        if found["kind"] != "doc":
            raise UsageError("unknown_target", f"{doc_id} is no document.", hint="recall search …")
        return found["text"]
