"""Going through the explain pane and its tabs, looking for what is missed, and trying what brings it in."""

from __future__ import annotations

from recall_tui.actions.action import Action, has_rows
from recall_tui.state.explaining import chunk_of
from recall_tui.state.packing import chosen_entry
from recall_tui.state.remedies import chosen_remedy, standing
from recall_tui.state.session import Pane, Session

_FROM: tuple[Pane, ...] = ("results", "explain", "context")


def has_chunk(session: Session) -> bool:
    """While a row with a text is selected."""
    return bool(chunk_of(session))


def has_suspect(session: Session) -> bool:
    """While a row is selected, in the results or among what was packed and left out."""
    entry = chosen_entry(session) if session.pane == "context" else None
    return has_chunk(session) or bool(entry and entry.chunk_ids)


def has_question(session: Session) -> bool:
    """While there is an answer that something may be missing from."""
    return session.answer is not None


def has_fix(session: Session) -> bool:
    """While a fix is chosen."""
    return chosen_remedy(session) is not None


def has_tried(session: Session) -> bool:
    """While a fix is being tried."""
    return bool(standing(session))


_INSIDE = (
    Action("step_view(-1)", ("left",), "", "Go to the tab on the left"),
    Action("step_view(1)", ("right",), "tabs", "Go to the tab on the right"),
    Action("scroll_explain(1)", ("j", "down"), "", "Scroll one line further; among fixes, choose the next"),
    Action("scroll_explain(-1)", ("k", "up"), "", "Scroll one line back; among fixes, choose the previous"),
    Action("page_explain(1)", ("pagedown", "space"), "", "Scroll one page further"),
    Action("page_explain(-1)", ("pageup",), "", "Scroll one page back"),
    Action("explain_top", ("g", "home"), "", "Scroll to the first line"),
    Action("explain_end", ("G", "end"), "", "Scroll to the last line"),
    Action("select_beside(1)", ("n",), "next hit", "Select the next result, and stay here", has_rows),
    Action("select_beside(-1)", ("p",), "", "Select the previous result, and stay here", has_rows),
)
ACTIONS = (
    Action("try_fix", ("enter",), "try", "Try the chosen fix; Up and Down choose it", has_fix, ("explain",)),
    Action("take_back", ("u",), "undo", "Take the last fix back", has_tried, ("explain",)),
    Action("take_all_back", ("r",), "", "Take back all fixes that are tried", has_tried, ("explain",)),
    *(action._replace(panes=("explain",)) for action in _INSIDE),
    Action("why_not", ("w",), "why not", "Say why the chosen row is not in the context", has_suspect, _FROM),
    Action("miss", ("t",), "missed", "Say what is missed: a path, lines, an id or a text", has_question, _FROM),
    Action("mark_hit", ("m",), "mark", "Mark the selected result to compare others with it", has_chunk, _FROM[:2]),
    Action("compare", ("c",), "compare", "Compare the selected result with the marked one", has_rows, _FROM[:2]),
    Action("open_funnel", ("v",), "", "Show the rows left after each step", has_question, ("results",)),
    Action("page_document", ("v",), "pager", "Read the whole document in $PAGER", has_chunk, ("explain",)),
)
