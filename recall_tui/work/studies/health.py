"""One check of the store."""

from __future__ import annotations

from recall_tui.state.keeping import Health
from recall_tui.state.studies import Study
from recall_tui.work.studying import Lab


def study(lab: Lab, study: Study) -> Health:
    """The check whose code the study names, as `recall doctor` makes it."""
    from recall_core.maintain.doctor import check_one  # noqa: PLC0415 - the engine loads behind the first frame

    recall = lab.recall
    check = check_one(recall.store, study.target, lambda: recall.embedder, base=recall.base, config=recall.config)
    return Health(check)
