"""Two chunks of one answer, leaf by leaf."""

from __future__ import annotations

from recall_tui.state.explaining import Versus
from recall_tui.state.studies import Study
from recall_tui.work.questions import answer_of, ground
from recall_tui.work.studying import Lab


def study(lab: Lab, study: Study) -> Versus:
    """The explanation of the selected chunk beside the marked one."""
    from recall_core import found  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.explain.explanation import explanation  # noqa: PLC0415

    recall, answer = lab.recall, answer_of(lab.session)
    with recall.store.reading():
        embedder = None if answer.plan.semantic is None else recall.embedder
        rows = [found.chunk(recall.store, each, base=recall.base) for each in (study.target, study.other)]
        view = explanation(answer, *rows, store=recall.store, embedder=embedder, ground=ground(lab))
        return Versus(view)
