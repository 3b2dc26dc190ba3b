"""Documents whose paths hold what is being typed."""

from __future__ import annotations

from recall_tui.state.explaining import Paths
from recall_tui.state.studies import Study
from recall_tui.work.studying import Lab

MOST = 200  # more than a person reads; another word finds the rest


def study(lab: Lab, study: Study) -> Paths:
    """The paths with every word of the target in them."""
    from recall_core.store.sqlite.sought import paths_with  # noqa: PLC0415 - the engine loads behind the first frame

    found = paths_with(lab.recall.store, study.target.split(), MOST + 1)
    return Paths(tuple(found[:MOST]), are_all=len(found) <= MOST)
