"""One judged query under the settings as they are: the question on the screen, before all the others."""

from __future__ import annotations

from recall_core.errors import UsageError
from recall_tui.state.judging import Line
from recall_tui.state.studies import Study
from recall_tui.work.studies.board import line_of, moved, rank, shelf_of
from recall_tui.work.studying import Lab


def study(lab: Lab, study: Study) -> Line:
    """The query with this id. Raises UsageError `no_judgements`, `eval_unavailable`."""
    from recall_core.evaluate.judgements import names_of  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.evaluate.questions import questions  # noqa: PLC0415

    store, settings = lab.recall.store, (moved(lab, study.other.partition("\n\n")[0]), lab.recall.config)
    with store.reading():
        asked = questions(store, names_of(store), queries=None, qrels=None)
        if study.target not in asked.texts:
            raise UsageError("no_judgements", f"Query {study.target} has no document that is judged relevant.")
        shelf = shelf_of(lab, settings[0])
        rank(lab, shelf, asked.texts[study.target], settings)
    return line_of(asked, shelf, study.target, settings)
