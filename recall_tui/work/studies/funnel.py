"""The rows that are left after each step from the store to the context."""

from __future__ import annotations

from recall_tui.state.explaining import Funnel
from recall_tui.state.studies import Study
from recall_tui.work.questions import asker_of, context_question
from recall_tui.work.studying import Lab


def study(lab: Lab, _study: Study) -> Funnel:
    """The funnel of the question on the screen, with the milliseconds that each step takes."""
    from recall_core.explain.funnel import trace  # noqa: PLC0415 - the engine loads behind the first frame

    with lab.recall.store.reading():
        question = context_question(lab.session)
        return Funnel(trace(asker_of(lab, question), question).view)
