"""Ways to a store, each run by the thread that will use it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recall_core.service import Recall


def open_store(store: str | None) -> Recall:
    """The store of a --store value, or of the current folder."""
    from recall_core.service import Recall  # noqa: PLC0415 - the engine loads behind the first frame

    return Recall.open(store)


def create_store(store: str | None) -> Recall:
    """A new store where none was found, opened. A name that ends like a file names the database, else its folder."""
    from recall_core.service import Recall  # noqa: PLC0415 - the engine loads behind the first frame

    place = Path(store or ".")
    if place.suffix:
        Recall.init(str(place.parent), settings=(f"store_path={place.name}",))
    else:
        Recall.init(str(place))
    return Recall.open(store)
