"""Moving the weights, and the settings around them."""

from __future__ import annotations

from recall_tui.actions.action import Action, has_pool, has_rows, has_signals
from recall_tui.state.session import Session
from recall_tui.state.tuning import curve_of
from recall_tui.state.weighing import current


def _is_rrf(session: Session) -> bool:
    """While ranks are fused, and not scores."""
    return has_pool(session) and current(session).fusion == "rrf"


def _is_scaled(session: Session) -> bool:
    """While scores are fused: ranks have no scale."""
    return has_pool(session) and not _is_rrf(session)


def _has_best(session: Session) -> bool:
    """While grades speak for a weight, and one can be moved."""
    curve = curve_of(session)
    return has_signals(session) and curve is not None and bool(curve.steps)


def _can_undo(session: Session) -> bool:
    """While the rows have scores, or a query came from the history and its rows have none."""
    return has_pool(session) or bool(session.undo)


def _can_redo(session: Session) -> bool:
    return has_pool(session) or bool(session.redo)


_ACTIONS = (
    Action("nudge(-5)", ("left",), "words", "Move the weight .05 towards the words", has_signals),
    Action("nudge(5)", ("right",), "meaning", "Move the weight .05 towards the meaning", has_signals),
    Action("nudge(-1)", ("shift+left",), "", "Move the weight .01 towards the words", has_signals),
    Action("nudge(1)", ("shift+right",), "", "Move the weight .01 towards the meaning", has_signals),
    Action("turn('fusion')", ("f",), "fusion", "Take the other fusion of the signals", has_signals),
    Action("turn('normalize')", ("n",), "scale", "Take the next normalisation", _is_scaled),
    Action("turn('sparse_recall')", ("s",), "", "Turn sparse-document recall on or off", has_pool),
    Action("turn('match')", ("m",), "", "Want any or all words of the query, and search again", has_pool),
    Action("turn('lexical_model')", ("l",), "", "Let the other model score the words, and search again", has_pool),
    Action("least(-5)", ("less_than_sign",), "", "Lower the least score of a result by .05", has_pool),
    Action("least(5)", ("greater_than_sign",), "", "Raise the least score of a result by .05", has_pool),
    Action("count(-1)", ("comma",), "", "Ask for fewer rows", has_pool),
    Action("count(1)", ("full_stop",), "", "Ask for more rows", has_pool),
    Action(
        "step('pool', -1)", ("left_parenthesis",), "", "Shrink the pool of candidates, and search again", has_pool
    ),
    Action("step('pool', 1)", ("right_parenthesis",), "", "Widen the pool of candidates, and search again", has_pool),
    Action("step('rrf_k', -1)", ("semicolon",), "", "Lower the constant of reciprocal rank fusion", _is_rrf),
    Action("step('rrf_k', 1)", ("apostrophe",), "", "Raise the constant of reciprocal rank fusion", _is_rrf),
    Action("undo_weights", ("u",), "undo", "Take the last change back, a query from the history too", _can_undo),
    Action("redo_weights", ("U",), "redo", "Make the change that was taken back again", _can_redo),
    Action("reset_weights", ("r",), "reset", "Go back to the saved weights", has_pool),
    Action("turn_curve", ("c",), "curve", "Show the grades of all judged queries at every weight, or of this one"),
    Action(
        "take_best", ("v",), "best", "Go to the weights that the grades speak for, where they are better", _has_best
    ),
    Action(
        "pin_row('in')", ("p",), "must", "Wish the selected row into the first rows, or take that back", has_signals
    ),
    Action("pin_row('out')", ("x",), "must not", "Wish it out of the first rows, or take that back", has_signals),
    Action("take_granting", ("w",), "", "Go to the nearest weight that grants every wish", has_signals),
    Action("write_options", ("o",), "write", "Write what was moved into the query itself", has_rows),
    Action("choose_profile", ("P",), "profiles", "Take settings that were kept under a name, or delete them"),
    Action("keep_profile", ("N",), "keep", "Keep what was moved under a name"),
    Action("save_weights", ("S",), "save", "Write the weights into recall.toml, after a question", has_pool),
)

ACTIONS = tuple(action._replace(panes=("weights",)) for action in _ACTIONS)
