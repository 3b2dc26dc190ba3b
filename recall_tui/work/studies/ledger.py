"""The score of one chunk, taken apart."""

from __future__ import annotations

from recall_tui.state.explaining import Ledger
from recall_tui.state.studies import Study
from recall_tui.work.questions import answer_of, ground
from recall_tui.work.studying import Lab


def study(lab: Lab, study: Study) -> Ledger:
    """The explanation of the chunk with this id in the answer on the screen."""
    from recall_core import found  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.explain.explanation import explanation  # noqa: PLC0415

    recall, answer = lab.recall, answer_of(lab.session)
    with recall.store.reading():
        embedder = None if answer.plan.semantic is None else recall.embedder
        row = found.chunk(recall.store, study.target, base=recall.base)
        view = explanation(answer, row, store=recall.store, embedder=embedder, ground=ground(lab))
        return Ledger(view)
