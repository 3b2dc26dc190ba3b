"""What each pane shows, in a few plain sentences: the beginning of F1."""

from __future__ import annotations

from collections.abc import Mapping

from recall_tui.state.session import Pane, View

PANES: Mapping[Pane, str] = {
    "query": (
        "Type plain words, or a query in RQL that begins with SELECT. The results follow as you type. Words rank "
        "the chunks that fit best; / filters them by an expression. In RQL, fields, tags and values are offered "
        "while you type, and an error is marked where it is. Esc leaves the field, so that letters are commands."
    ),
    "results": (
        "The chunks that answer the query, the best first. A row has its rank, its score, split by the signals "
        "that made it, the grade, the tokens, and where it stands. Up and Down select one, which the panes beside "
        "and below then explain. Where settings were moved, an arrow says how far a row has come from its rank "
        "under the saved settings. - and + ask for fewer or more rows, G puts them below their documents."
    ),
    "weights": (
        "The settings of the ranking, one a row, under their names in recall.toml. Up and Down choose one, Left "
        "and Right change it, and the results follow at once. The lines below show where each of the first rows "
        "would rank at every weight of lexical and semantic. With grades there is a curve of how good the ranking "
        "is. Nothing is saved until S."
    ),
    "context": (
        "What an agent is given: the best chunks, packed until the budget of tokens is used up. Each line is a "
        "block of text, in order; below them is what was left out, with the reason. p pins a chunk, so that it is "
        "in for certain; x excludes one. y copies the text, exactly as recall context prints it."
    ),
    "judge": (
        "Queries with graded results, and how well the present settings rank them; the difference is to the saved "
        "settings. While grading is on (g), the letters a, s, d and f grade the selected result 3, 2, 1 and 0. "
        "Right goes to the relevant documents that the chosen query misses. I and E read and write files of "
        "judgements."
    ),
    "ingest": (
        "Reading files into the store: what is under way, how far it has come, and which files were skipped and "
        "why. Enter on a skipped file says more, and opens it. H holds the run, ^g cancels it; what was read "
        "stays, and F5 goes on. Below are the folders that were added: R reads what has changed in them, F "
        "follows them."
    ),
    "store": (
        "The state of the store in three views, which Left and Right go through: its figures, its checks with "
        "what mends a problem, and the embedders that can make its vectors. Enter does what the chosen line "
        "offers, after a question. Del takes documents out of the store; their files stay."
    ),
}

VIEWS: Mapping[View, str] = {
    "ledger": (
        "Where the score of the selected result comes from. Each signal has its raw figure, the same between 0 "
        "and 1, its weight, and the points they make; below it are the words that brought them. The parts sum to "
        "the score, and the last lines say at which weights the result changes places with its neighbours."
    ),
    "passage": (
        "The document around the selected chunk. A rule stands where each chunk begins, and what two chunks share "
        "is shaded. Words of the query are marked. e opens the file at this place in your editor."
    ),
    "whynot": (
        "Why a document is not among the results, or not in the context. m asks which one; w takes the selected "
        "row. The stages a chunk goes through are listed: those that it passed, and the first that stopped it. "
        "Below are fixes, each of which would bring it in: Up and Down choose one, Enter tries it, u undoes it."
    ),
    "funnel": (
        "How many chunks are left after each step, from the whole store to the context: what each filter drops, "
        "what each signal proposes, and what the limit and the budget leave. Times stand beside the steps."
    ),
    "compare": (
        "Two results side by side, with every part of their scores and the difference; the largest comes first, "
        "and the parts sum to the difference of the scores. M marks a result to compare others with; without a "
        "mark it is the row above."
    ),
}


def about(pane: Pane, view: View) -> str:
    """What the pane in front shows; of the explain pane, what its tab does."""
    return VIEWS[view] if pane == "explain" else PANES[pane]
