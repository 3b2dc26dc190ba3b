"""Moving the weights."""

from __future__ import annotations

from recall_tui.actions.action import Action, has_pool, has_signals

_ACTIONS = (
    Action("nudge(-5)", ("left",), "words", "Move the weight .05 towards the words", has_signals),
    Action("nudge(5)", ("right",), "meaning", "Move the weight .05 towards the meaning", has_signals),
    Action("nudge(-1)", ("shift+left",), "", "Move the weight .01 towards the words", has_signals),
    Action("nudge(1)", ("shift+right",), "", "Move the weight .01 towards the meaning", has_signals),
    Action("turn('fusion')", ("f",), "fusion", "Take the other fusion of the signals", has_signals),
    Action("turn('normalize')", ("n",), "scale", "Take the next normalisation", has_pool),
    Action("turn('sparse_recall')", ("s",), "", "Turn sparse-document recall on or off", has_pool),
    Action("least(-5)", ("less_than_sign",), "", "Lower the least score of a result by .05", has_pool),
    Action("least(5)", ("greater_than_sign",), "", "Raise the least score of a result by .05", has_pool),
    Action("undo_weights", ("u",), "undo", "Take the last change of the weights back", has_pool),
    Action("reset_weights", ("r",), "reset", "Go back to the saved weights", has_pool),
    Action("save_weights", ("S",), "save", "Write the weights into recall.toml, after a question", has_pool),
)

ACTIONS = tuple(action._replace(panes=("weights",)) for action in _ACTIONS)
