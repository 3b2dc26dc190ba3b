"""What can be done to the store."""

from __future__ import annotations

from recall_tui.actions.action import Action
from recall_tui.state.keeping import chosen_check, chosen_embedder, rows_of
from recall_tui.state.runs import may_hold
from recall_tui.state.session import Session, is_ingesting, is_lingering


def has_lines(session: Session) -> bool:
    """While the pane in front has lines to choose from."""
    return rows_of(session) > 0


def can_cancel(session: Session) -> bool:
    """While a run is under way, or a reembed, or a question for long."""
    return is_ingesting(session) or session.chore_progress is not None or is_lingering(session)


def _can_hold(session: Session) -> bool:
    return may_hold(session.run)


def _has_store(session: Session) -> bool:
    return not session.is_storeless


def _can_repeat(session: Session) -> bool:
    return _has_store(session) and session.run is not None and session.run.ended != ""


def _has_fix(session: Session) -> bool:
    check = chosen_check(session)
    return _has_store(session) and check is not None and bool(check.get("fix"))


def _can_run(session: Session) -> bool:
    return _has_fix(session) or (_has_store(session) and chosen_embedder(session) is not None)


_EVERYWHERE = (
    Action("add_folder", ("A",), "add", "Add a folder or a file to the store", _has_store),
    Action("cancel", ("ctrl+g",), "cancel", "Cancel a long question, else the ingest run or the reembed", can_cancel),
)
_LISTS = (
    Action("point_line(1)", ("j", "down"), "", "Choose the next line", has_lines),
    Action("point_line(-1)", ("k", "up"), "", "Choose the previous line", has_lines),
    Action("point_first", ("g", "home"), "", "Choose the first line", has_lines),
    Action("point_last", ("G", "end"), "", "Choose the last line", has_lines),
    Action("sync", ("s",), "sync", "Bring every added folder up to date", _has_store),
    Action("watch", ("w",), "watch", "Let the store follow its folders, or no longer", _has_store),
)
_INGEST = (
    Action("open_skip", ("enter",), "open", "Say why the chosen file was skipped, and open it", has_lines),
    Action("hold", ("p",), "pause", "Pause the run, or let it go on", _can_hold),
    Action(
        "repeat_run", ("r",), "again", "Run the same again; a cancelled run goes on where it stopped", _can_repeat
    ),
)
_STORE = (
    Action("turn_store(-1)", ("left",), "", "Show the view before: figures, checks, embedders"),
    Action("turn_store(1)", ("right",), "view", "Show the next view: figures, checks, embedders"),
    Action("open_line", ("enter",), "run", "Run the fix of the chosen check; take the chosen embedder", _can_run),
    Action("check", ("d",), "doctor", "Check the store, also once more", _has_store),
    Action("fix", ("f",), "fix", "Run the fix of the chosen check", _has_fix),
    Action("compact", ("c",), "compact", "Drop removed documents for good and give the disk space back", _has_store),
    Action("reembed", ("e",), "embedders", "Choose an embedder that makes every vector anew", _has_store),
    Action("remove", ("x",), "remove", "Take documents out of the store; their files stay", _has_store),
)
ACTIONS = (
    *_EVERYWHERE,
    *(action._replace(panes=("ingest", "store")) for action in _LISTS),
    *(action._replace(panes=("ingest",)) for action in _INGEST),
    *(action._replace(panes=("store",)) for action in _STORE),
)
