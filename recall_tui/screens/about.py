"""What each pane shows, in a few plain sentences with the ids of actions for their keys: the beginning of F1."""

from __future__ import annotations

from collections.abc import Mapping

from recall_tui.state.session import Pane, View

PANES: Mapping[Pane, str] = {
    "query": (
        "Type plain words, or a query in RQL that begins with SELECT. The results follow as you type. Plain words "
        "list the chunks that match best; {filter} filters them by an expression. In RQL, fields, tags and values "
        "are completed while you type, and an error is marked where it is. {step_out} leaves the field, so that "
        "letters are commands."
    ),
    "results": (
        "The chunks that answer the query, the best first. A result has its rank, its score with a line split by "
        "the signals that made it, its grade, its tokens, its place and the passage that answers. Up and Down "
        "select one, which the panes beside and below then explain. Where settings are changed, an arrow says how "
        "far a result has moved from its rank under the saved settings. {count(-1)} and {count(1)} show fewer and "
        "more, {group} lists them below their documents."
    ),
    "weights": (
        "The settings of the ranking, one a row, under their names in recall.toml. Up and Down select one, Left "
        "and Right change it, and the results follow at once. The lines below show where each of the first "
        "results would rank at every weight of lexical and semantic. With grades, a curve shows the measure at "
        "every weight. Nothing is saved until {save_weights}."
    ),
    "context": (
        "What an agent is given: the best chunks, packed until the budget of tokens is used up. Each line is a "
        "block of text, in order; below them is what was left out, with the reason. {pin_chunk} pins a chunk, so "
        "that it is always packed; {drop_chunk} excludes one. {copy_context} copies the text, exactly as recall "
        "context prints it."
    ),
    "judge": (
        "Queries with graded results, and how well the present settings rank them; the difference is to the saved "
        "settings. While grading is on ({switch_grading}), {grade(3)}, {grade(2)}, {grade(1)} and {grade(0)} "
        "grade the selected result 3, 2, 1 and 0. Right goes to the relevant documents that the selected query "
        "misses. {import_judgements} and {export_judgements} import and export files of judgements."
    ),
    "ingest": (
        "Reading files into the store: what is running, how far it has come, and which files were skipped and "
        "why. {open_skip} on a skipped file says more, and opens it. {hold} pauses the run, {cancel} cancels it; "
        "what was read stays, and {repeat_run} resumes. Below are the folders that were added: {sync} reads what "
        "has changed in them, {watch} follows them."
    ),
    "store": (
        "The store in four views, which {next_store_view} goes through: stats; checks, with what fixes a problem; "
        "the embedders that can make its vectors; and its documents, as a tree. {open_line} does what the "
        "selected line offers, and asks before it changes the store. {remove} removes documents from the store; "
        "their files stay."
    ),
}

VIEWS: Mapping[View, str] = {
    "ledger": (
        "Where the score of the selected result comes from. Each signal has its raw score, the same normalized to "
        "between 0 and 1, its weight, and the points they make; below it are the words that brought them. The "
        "parts sum to the score, and the last lines say at which weights the result changes places with its "
        "neighbours."
    ),
    "passage": (
        "The document around the selected chunk. A rule stands where each chunk begins, and what two chunks share "
        "is shaded. Query terms are marked. {open_file} opens the file at this place in your editor."
    ),
    "whynot": (
        "Why a document is not among the results, or not in the context. {miss} asks which one; {why_this} takes "
        "the selected result. Fixes come first, each confirmed to bring it in: Up and Down select one, {try_fix} "
        "applies it, {take_back} undoes it. Below are the stages a chunk goes through: the first that stopped it, "
        "and those that it passed."
    ),
    "funnel": (
        "How many rows are left after each step, from the whole store to the context: what each filter removes, "
        "what each signal proposes, and what the limit and the budget leave. Times stand beside the steps."
    ),
    "compare": (
        "Two results side by side, with every part of their scores and the difference; the largest comes first, "
        "and the parts sum to the difference of the scores. {mark_hit} marks a result to compare others with; "
        "without a mark it is the one above."
    ),
}


def about(pane: Pane, view: View) -> str:
    """What the pane in front shows; of the explain pane, what its tab does."""
    return VIEWS[view] if pane == "explain" else PANES[pane]
