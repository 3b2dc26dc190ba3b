"""What a store that keeps signatures of its vectors must keep to; part of the suite for stores."""

from __future__ import annotations

from recall_core.rql.ast import Expr
from recall_core.rql.filters import parse_filter
from recall_core.store.port import Store
from recall_core.store.signatures import signature
from recall_core.store.values import Signing
from recall_core.testing.corpus import FILTERS, file_of, put, vector_of
from recall_core.types import Vector


class SignatureConformance:
    """Holds for every store with the capability `signatures`."""

    def filled(self) -> Store:
        """A new store of a few files."""
        raise NotImplementedError

    def test_signatures_propose_the_rows_that_they_are_nearest_for(self) -> None:
        store = self.filled()
        if "signatures" not in store.capabilities:
            return
        signing, asked = Signing(64, 3), vector_of("one blue fish")
        assert store.shortlist(asked, signing, where=None, k=2) is None
        assert (store.sign(signing), store.signing(), store.sign(signing)) == (True, signing, False)
        put(store, file_of("late.txt", ["three fish"]))
        for text in FILTERS:
            where = parse_filter(text)
            near = by_signature(store, asked, signing, where)
            found = [store.shortlist(asked, signing, where=where, k=k) for k in (0, 2, 99)]
            assert found == [[], near[:2], near], text
        assert (store.is_signed(signing), store.is_signed(Signing(64, 4))) == (True, False)
        assert (store.wrong_signatures(), store.sign(None), store.signing()) == (0, True, None)


def by_signature(store: Store, vector: Vector, signing: Signing, where: Expr | None) -> list[int]:
    """Every row of a filter that has a vector, those whose signatures differ in the fewest bits first."""
    rowids = [key.rowid for key in store.candidates(where)]
    held = store.vectors(rowids)
    own = int.from_bytes(signature(vector, signing), "big")
    far = {each: (own ^ int.from_bytes(signature(held[each], signing), "big")).bit_count() for each in held}
    return sorted((rowid for rowid in rowids if rowid in far), key=far.__getitem__)
