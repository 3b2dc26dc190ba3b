"""What the store holds, where it came from, and the embedders that could serve it."""

from __future__ import annotations

from recall_tui.state.keeping import Shelf
from recall_tui.state.studies import Study
from recall_tui.work.studying import Lab


def study(lab: Lab, _study: Study) -> Shelf:
    """The figures of `recall stats`, the roots, and the list of `recall embedders`."""
    from recall_core.store.sqlite.census import sources  # noqa: PLC0415 - the engine loads behind the first frame

    recall = lab.recall
    with recall.store.reading():
        view, found = recall.stats()["store"], sources(recall.store)
    lab.checkpoint()
    listed = recall.embedders(recall.config, in_use=view["embedder"])["embedders"]
    return Shelf(view, found, tuple(listed))
