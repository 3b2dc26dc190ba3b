"""Every action, a group a pane and one for what is around them: its name, keys and words."""

from __future__ import annotations

from recall_tui.actions.action import LISTING, Action, handled_by, has_context, has_pool, has_rows, has_signals
from recall_tui.state.explaining import chunk_of
from recall_tui.state.fixes import chosen_remedy, standing
from recall_tui.state.judging import pointed_line
from recall_tui.state.packing import chosen_entry, has_chunk, has_what_ifs
from recall_tui.state.runs import may_hold
from recall_tui.state.session import Pane, Session, is_ingesting, is_lingering
from recall_tui.state.shell import command
from recall_tui.state.store_pane import chosen_check, chosen_embedder, chosen_line, rows_of
from recall_tui.state.tuning import curve_of

SCREEN = handled_by(
    "shell",
    Action("command_line", ("colon",), "command", "Run any recall command in a line", handler="line"),
    Action("jump", ("ctrl+o",), "jump", "Put a letter on every pane and row, and go to one"),
    Action("widen(5)", ("ctrl+left",), "", "Give the right column more room"),
    Action("widen(-5)", ("ctrl+right",), "", "Give the left column more room"),
    Action("heighten(5)", ("ctrl+up",), "", "Give what is below the results more room"),
    Action("heighten(-5)", ("ctrl+down",), "", "Give the results more room"),
    Action("reset_layout", ("f7",), "", "Put the borders between the panes back"),
    Action("choose_theme", ("f9",), "", "Choose a theme"),
    Action("export_picture", ("f8",), "", "Save the screen as a picture or as text"),
)

HELP = handled_by(
    "shell",
    Action("command_palette", ("ctrl+p",), "palette", "Find an action by its name"),
    Action("help", ("f1", "question_mark"), "help", "Show the keys", handler="shell:show_help"),
    Action("leave", ("ctrl+q", "q"), "quit", "Quit"),
)

PANES = handled_by(
    "panes",
    Action("focus_pane('query')", ("1", "i"), "query", "Edit the query"),
    Action("focus_pane('results')", ("2",), "", "Go to the results"),
    Action("focus_pane('explain')", ("3",), "", "Go to the score ledger and the passage"),
    Action("focus_pane('weights')", ("4",), "", "Go to the weights of the signals"),
    Action("focus_pane('context')", ("5",), "", "Go to the packed context"),
    Action("focus_pane('judge')", ("6",), "", "Go to the judged queries"),
    Action("focus_pane('ingest')", ("7",), "", "Go to the ingest report and its skipped files"),
    Action("focus_pane('store')", ("8",), "", "Go to the state of the store"),
    Action("next_pane", ("tab",), "next", "Go to the next pane"),
    Action("previous_pane", ("shift+tab",), "", "Go to the previous pane"),
    Action("zoom", ("z",), "zoom", "Give the pane the whole screen, and back"),
    Action("step_out", ("escape",), "out", "One step out: leave the field, the zoom, the dialog"),
)


def has_command(session: Session) -> bool:
    """While the pane in front shows what a command can give."""
    return command(session, None) != ""


QUERY = handled_by(
    "query",
    Action(
        "filter",
        ("slash",),
        "filter",
        "Filter the words by an expression, as --filter does",
        handler="line:ask_filter",
    ),
    Action("copy_command", ("Y",), "command", "Copy the shell command that reproduces the pane", has_command),
    Action("run", ("f5",), "run", "Run the query again"),
    Action("open_history", ("ctrl+r", "h"), "history", "Find an earlier query and take it up again"),
    Action("edit_outside", ("f4",), "editor", "Edit the query in $VISUAL or $EDITOR"),
    Action("save_query", ("f2",), "", "Save the query to an .rql file"),
    Action("load_query", ("f3",), "", "Load a query from an .rql file"),
)

RESULTS = handled_by(
    "panes",
    Action("select(1)", ("j", "down"), "", "Select the next result", has_rows, panes=("results",)),
    Action("select(-1)", ("k", "up"), "", "Select the previous result", has_rows, panes=("results",)),
    Action("page(1)", ("pagedown", "space"), "", "Select one page further", has_rows, panes=LISTING),
    Action("page(-1)", ("pageup",), "", "Select one page back", has_rows, panes=LISTING),
    Action("select_first", ("home",), "", "Select the first result", has_rows, panes=LISTING),
    Action("select_last", ("end",), "", "Select the last result", has_rows, panes=LISTING),
)

_FROM: tuple[Pane, ...] = ("results", "explain", "context")


def has_selected_chunk(session: Session) -> bool:
    """While a row with a text is selected."""
    return bool(chunk_of(session))


def has_suspect(session: Session) -> bool:
    """While a row is selected, in the results or among what was packed and left out."""
    entry = chosen_entry(session) if session.pane == "context" else None
    return has_selected_chunk(session) or bool(entry and entry.chunk_ids)


def has_question(session: Session) -> bool:
    """While there is an answer that something may be missing from."""
    return session.results.answer is not None


def has_fix(session: Session) -> bool:
    """While a fix is chosen."""
    return chosen_remedy(session) is not None


def has_tried(session: Session) -> bool:
    """While a fix is being tried."""
    return bool(standing(session))


_EXPLAIN_INSIDE = handled_by(
    "explain",
    Action("step_view(-1)", ("left",), "", "Go to the tab on the left"),
    Action("step_view(1)", ("right",), "tabs", "Go to the tab on the right"),
    Action("scroll_explain(1)", ("j", "down"), "", "Scroll one line further; among fixes, choose the next"),
    Action("scroll_explain(-1)", ("k", "up"), "", "Scroll one line back; among fixes, choose the previous"),
    Action("page_explain(1)", ("pagedown", "space"), "", "Scroll one page further"),
    Action("page_explain(-1)", ("pageup",), "", "Scroll one page back"),
    Action("explain_top", ("home",), "", "Scroll to the first line"),
    Action("explain_end", ("end",), "", "Scroll to the last line"),
    Action("select_beside(1)", ("n",), "next hit", "Select the next result, and stay here", has_rows),
    Action("select_beside(-1)", ("p",), "", "Select the previous result, and stay here", has_rows),
)

EXPLAIN = handled_by(
    "explain",
    Action("try_fix", ("enter",), "try", "Try the chosen fix; Up and Down choose it", has_fix, ("explain",)),
    Action("take_back", ("u",), "undo", "Take the last fix back", has_tried, ("explain",)),
    Action("take_all_back", ("r",), "", "Take back all fixes that are tried", has_tried, ("explain",)),
    *(action._replace(panes=("explain",)) for action in _EXPLAIN_INSIDE),
    Action("why_not", ("w",), "why not", "Say why the chosen row is not in the context", has_suspect, _FROM),
    Action("miss", ("t",), "missed", "Say what is missed: a path, lines, an id or a text", has_question, _FROM),
    Action(
        "mark_hit",
        ("m",),
        "mark",
        "Mark the selected result to compare others with it",
        has_selected_chunk,
        _FROM[:2],
    ),
    Action("compare", ("c",), "compare", "Compare the selected result with the marked one", has_rows, _FROM[:2]),
    Action("open_funnel", ("v",), "", "Show the rows left after each step", has_question, ("results",)),
    Action("page_document", ("v",), "pager", "Read the whole document in $PAGER", has_selected_chunk, ("explain",)),
)


def _has_best(session: Session) -> bool:
    """While grades speak for a weight, and one can be moved."""
    curve = curve_of(session)
    return has_signals(session) and curve is not None and bool(curve.steps)


def _can_undo(session: Session) -> bool:
    """While the rows have scores, or a query came from the history and its rows have none."""
    return has_pool(session) or bool(session.weights.undo)


def _can_redo(session: Session) -> bool:
    return has_pool(session) or bool(session.weights.redo)


_ACTIONS = handled_by(
    "weights",
    Action("choose_setting(1)", ("j", "down"), "", "Choose the next setting", has_pool),
    Action("choose_setting(-1)", ("k", "up"), "", "Choose the previous setting", has_pool),
    Action(
        "change_setting(-5)", ("left",), "less", "Change the chosen setting: less, or the choice before", has_pool
    ),
    Action("change_setting(5)", ("right",), "more", "Change the chosen setting: more, or the next choice", has_pool),
    Action("change_setting(-1)", ("shift+left",), "", "Change the chosen setting finely: less", has_pool),
    Action("change_setting(1)", ("shift+right",), "", "Change the chosen setting finely: more", has_pool),
    Action("undo_weights", ("u",), "undo", "Take the last change back, a query from the history too", _can_undo),
    Action("redo_weights", ("U",), "redo", "Make the change that was taken back again", _can_redo),
    Action("reset_weights", ("r",), "reset", "Go back to the saved weights", has_pool),
    Action("turn_curve", ("t",), "curve", "Show the grades of all judged queries at every weight, or of this one"),
    Action(
        "take_best", ("B",), "best", "Go to the weights that the grades speak for, where they are better", _has_best
    ),
    Action(
        "pin_row('in')", ("p",), "must", "Wish the selected row into the first rows, or take that back", has_signals
    ),
    Action("pin_row('out')", ("x",), "must not", "Wish it out of the first rows, or take that back", has_signals),
    Action("take_granting", ("T",), "", "Go to the nearest weight that grants every wish", has_signals),
    Action("write_options", ("W",), "write", "Write what was moved into the query itself", has_rows),
    Action(
        "choose_profile",
        ("P",),
        "profiles",
        "Take settings that were kept under a name, or delete them",
        handler="profiles",
    ),
    Action("keep_profile", ("N",), "keep", "Keep what was moved under a name", handler="profiles"),
    Action("save_weights", ("S",), "save", "Write the weights into recall.toml, after a question", has_pool),
)

WEIGHTS = tuple(action._replace(panes=("weights",)) for action in _ACTIONS)


def has_entries(session: Session) -> bool:
    """While there are blocks, or chunks left out."""
    return chosen_entry(session) is not None


_CONTEXT_EVERYWHERE = handled_by(
    "budget",
    Action("budget(-100)", ("left_square_bracket", "minus"), "less", "Budget 100 tokens down"),
    Action("budget(100)", ("right_square_bracket", "plus"), "more", "Budget 100 tokens up"),
    Action("budget_half", ("left_curly_bracket",), "", "Halve the budget"),
    Action("budget_double", ("right_curly_bracket",), "", "Double the budget"),
    Action("type_budget", ("b",), "budget", "Type a budget"),
    Action("copy_context", ("y",), "copy", "Copy the context, exactly as recall context prints it", has_context),
)

_CONTEXT_INSIDE = handled_by(
    "budget",
    Action("scale_budget(-5)", ("left",), "-5%", "Budget 5 % down"),
    Action("scale_budget(5)", ("right",), "+5%", "Budget 5 % up"),
    Action("scale_budget(-1)", ("shift+left",), "", "Budget 1 % down"),
    Action("scale_budget(1)", ("shift+right",), "", "Budget 1 % up"),
    Action("point_block(1)", ("j", "down"), "", "Choose the next block, or chunk left out", has_entries),
    Action("point_block(-1)", ("k", "up"), "", "Choose the previous block, or chunk left out", has_entries),
    Action("point_first_block", ("home",), "", "Choose the first block", has_entries),
    Action("point_last_block", ("end",), "", "Choose the last line", has_entries),
    Action("scroll_context(1)", ("pagedown", "space"), "", "Scroll the context one page further", has_entries),
    Action("scroll_context(-1)", ("pageup",), "", "Scroll the context one page back", has_entries),
    Action("open_block", ("enter",), "open", "Show the block whole, and select its row in the results", has_entries),
    Action("pin_chunk", ("o",), "pin", "Force the chosen chunk into the context, or no longer", has_chunk),
    Action("drop_chunk", ("x",), "out", "Force the chosen chunk out of the context, or no longer", has_chunk),
    Action("details", ("D",), "details", "Show the digest, the quality and the slider of the budget, or hide them"),
    Action("reset_what_ifs", ("0",), "reset", "Drop every pin, and all that is forced out", has_what_ifs),
    Action("turn('pack')", ("p",), "packing", "Fill by rank order, or by most value", has_pool, handler="weights"),
)

CONTEXT = (*_CONTEXT_EVERYWHERE, *(action._replace(panes=("context",)) for action in _CONTEXT_INSIDE))

GRADING: tuple[Pane, ...] = ("results", "judge")

"""The panes in front of which the home row gives grades."""


def has_grades(session: Session) -> bool:
    """While there is a grade to take back."""
    return bool(session.judge.regrades)


def may_grade(session: Session) -> bool:
    """While grading is on and there is a row: a letter typed by mistake writes nothing."""
    return session.judge.is_grading and has_rows(session)


def has_queries(session: Session) -> bool:
    """While the pane lists judged queries."""
    return pointed_line(session) is not None


_GRADES = handled_by(
    "judge",
    Action("grade(3)", ("a",), "3", "Grade the selected result 3, and select the next", may_grade),
    Action("grade(2)", ("s",), "2", "Grade the selected result 2, and select the next", may_grade),
    Action("grade(1)", ("d",), "1", "Grade the selected result 1, and select the next", may_grade),
    Action("grade(0)", ("f",), "0", "Grade the selected result 0, and select the next", may_grade),
    Action("clear_grade", ("delete",), "clear", "Take the grade of the selected result away", has_rows),
    Action("undo_grade", ("u",), "undo", "Take the last grade back", has_grades),
)

_QUERIES = handled_by(
    "judge",
    Action("point_query(1)", ("j", "down"), "", "Choose the next query, or document it misses", has_queries),
    Action("point_query(-1)", ("k", "up"), "", "Choose the previous query, or document it misses", has_queries),
    Action("page_query(1)", ("pagedown", "space"), "", "Go one page further in the list", has_queries),
    Action("page_query(-1)", ("pageup",), "", "Go one page back in the list", has_queries),
    Action("point_first_query", ("home",), "", "Choose the first line of the list", has_queries),
    Action("point_last_query", ("end",), "", "Choose the last line of the list", has_queries),
    Action("enter_missed", ("right",), "missed", "Go to the relevant documents that the query misses", has_queries),
    Action("leave_missed", ("left",), "", "Go back to the queries", has_queries),
    Action(
        "take_query", ("enter",), "ask", "Ask the chosen query; of a missed document, why it is missed", has_queries
    ),
    Action("next_measure", ("t",), "measure", "Show the next measure", has_queries),
    Action("import_judgements", ("I",), "import", "Read judgements from files: TREC, BEIR or Quepid"),
    Action("export_judgements", ("E",), "export", "Write the judgements to files"),
)

_GRADING_SWITCH = Action(
    "switch_grading",
    ("g",),
    "grade",
    "Begin grading, or end it: only meanwhile a, s, d and f grade, in the results and here",
    handler="judge",
)

JUDGE = (
    _GRADING_SWITCH,
    *(action._replace(panes=GRADING) for action in _GRADES),
    *(action._replace(panes=("judge",)) for action in _QUERIES),
)


def has_lines(session: Session) -> bool:
    """While the pane in front has lines to choose from."""
    return rows_of(session) > 0


def can_cancel(session: Session) -> bool:
    """While a run is under way, or a reembed, or a question for long."""
    return is_ingesting(session) or session.store.task_progress is not None or is_lingering(session)


def _can_hold(session: Session) -> bool:
    return may_hold(session.store.run)


def _has_store(session: Session) -> bool:
    return not session.store.is_storeless


def _can_repeat(session: Session) -> bool:
    return _has_store(session) and session.store.run is not None and session.store.run.ended != ""


def _has_fix(session: Session) -> bool:
    check = chosen_check(session)
    return _has_store(session) and check is not None and bool(check.get("fix"))


def _can_run(session: Session) -> bool:
    has_choice = chosen_embedder(session) is not None or chosen_line(session) is not None
    return _has_fix(session) or (_has_store(session) and has_choice)


_STORE_EVERYWHERE = handled_by(
    "store",
    Action("add_folder", ("A",), "add", "Add a folder or a file to the store", _has_store, handler="ingest"),
    Action("cancel", ("ctrl+g",), "cancel", "Cancel a long question, else the ingest run or the reembed", can_cancel),
)

_LISTS = handled_by(
    "store",
    Action("point_line(1)", ("j", "down"), "", "Choose the next line", has_lines),
    Action("point_line(-1)", ("k", "up"), "", "Choose the previous line", has_lines),
    Action("point_first", ("home",), "", "Choose the first line", has_lines),
    Action("point_last", ("end",), "", "Choose the last line", has_lines),
    Action("sync", ("s",), "sync", "Bring every added folder up to date", _has_store, handler="ingest"),
    Action("watch", ("w",), "watch", "Let the store follow its folders, or no longer", _has_store, handler="ingest"),
)

_INGEST = handled_by(
    "ingest",
    Action("open_skip", ("enter",), "open", "Say why the chosen file was skipped, and open it", has_lines),
    Action("hold", ("p",), "pause", "Pause the run, or let it go on", _can_hold),
    Action(
        "repeat_run", ("r",), "again", "Run the same again; a cancelled run goes on where it stopped", _can_repeat
    ),
)

_STORE = handled_by(
    "store",
    Action("next_store_view", ("t",), "view", "Show the next view: stats, checks, embedder, documents"),
    Action("turn_store(-1)", ("left",), "", "Show the view before; among the documents, close the folder"),
    Action("turn_store(1)", ("right",), "", "Show the next view; among the documents, open the folder"),
    Action(
        "open_line",
        ("enter",),
        "run",
        "Run the fix of the chosen check; take the chosen embedder; filter by the chosen folder, file or tag",
        _can_run,
    ),
    Action("check", ("d",), "doctor", "Check the store, also once more", _has_store),
    Action("fix", ("f",), "fix", "Run the fix of the chosen check", _has_fix),
    Action("compact", ("c",), "compact", "Drop removed documents for good and give the disk space back", _has_store),
    Action("reembed", ("e",), "embedders", "Choose an embedder that makes every vector anew", _has_store),
    Action("remove", ("x",), "remove", "Take documents out of the store; their files stay", _has_store),
)

STORE = (
    *_STORE_EVERYWHERE,
    *(action._replace(panes=("ingest", "store")) for action in _LISTS),
    *(action._replace(panes=("ingest",)) for action in _INGEST),
    *(action._replace(panes=("store",)) for action in _STORE),
)
