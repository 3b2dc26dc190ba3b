"""What a store must say of texts that several chunks hold."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core.store.port import Store
from recall_core.testing.corpus import file_of, put

SHARED = "otter river"


class CopiesConformance:
    """A part of `StoreConformance`."""

    def empty(self) -> Store:
        """A new store without a document."""
        raise NotImplementedError

    def test_chunks_with_the_very_same_text_are_told_alike_as_they_come_and_go(self) -> None:
        store = self.empty()
        assert not store.has_copies()
        put(store, file_of("a.txt", [SHARED]), file_of("b.txt", [SHARED + " "]))
        _agrees(store, [])
        put(store, file_of("c.txt", [SHARED]), file_of("d.txt", [SHARED]), file_of("e.txt", [SHARED + " "]))
        _agrees(store, [["a.txt", "c.txt", "d.txt"], ["b.txt", "e.txt"]])
        put(store, file_of("a.txt", [SHARED.upper()]))
        _agrees(store, [["b.txt", "e.txt"], ["c.txt", "d.txt"]])
        with store.writer() as writer:
            writer.tombstone(["e.txt", "d.txt"])
        _agrees(store, [])


def _agrees(store: Store, groups: Sequence[Sequence[str]]) -> None:
    keys = list(store.candidates(None))
    paths = {key.rowid: key.path for key in keys}
    numbers = store.same_texts([key.rowid for key in keys])
    found: dict[int, list[str]] = {}
    for place, number in numbers.items():
        found.setdefault(number, []).append(keys[place].path)
    assert sorted(map(sorted, found.values())) == groups
    twins = store.twins([key.rowid for key in keys])
    assert sorted({tuple(sorted(paths[each] for each in alike)) for alike in twins.values()}) == [*map(tuple, groups)]
    assert {paths[own] for own in twins} == {path for group in groups for path in group}
    assert all(list(alike) == sorted(alike) for alike in twins.values())
    assert store.has_copies() == bool(groups)
