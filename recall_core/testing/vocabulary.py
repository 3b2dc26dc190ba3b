"""What a store must say of the words of its full-text index; part of the suite for stores."""

from __future__ import annotations

from recall_core.store.port import Store
from recall_core.testing.corpus import file_of, lexical_of, put, query_of, rows_of
from recall_core.text import spaced


class VocabularyConformance:
    """A part of `StoreConformance`."""

    def filled(self) -> Store:
        """A new store of a few files."""
        raise NotImplementedError

    def test_words_are_folded_and_stemmed_as_the_index_has_them(self) -> None:
        store = self.filled()
        assert store.tokens("Naïve SWIMMING") == ("naive", "swimming")
        assert store.stems("swimming") == store.stems("swims")
        assert store.spans(["She swims naïvely."], ["swimming"]) == [[(4, 9)]]
        assert lexical_of(store, "swimming").keys() == lexical_of(store, "swims").keys()

    def test_terms_of_a_length_come_with_the_chunks_that_hold_them(self) -> None:
        store = self.filled()
        for term, df in store.terms_of_length(1, 99, 9999):
            if store.stems(term) == (term,):
                assert store.term_stats(query_of(store, term))[0].df == df, term
        texts = " ".join(row.chunk.text for row in rows_of(store))
        assert {*store.stems(spaced(texts))} <= {term for term, _ in store.terms_of_length(1, 99, 9999)}
        for shortest, longest in ((1, 99), (4, 4), (3, 5), (5, 4)):
            found = store.terms_of_length(shortest, longest, 9999)
            assert found == sorted(found, key=lambda each: (-each[1], each[0]))
            assert all(shortest <= len(term) <= longest and df > 0 for term, df in found)
            assert store.terms_of_length(shortest, longest, 2) == found[:2]
        before = dict(store.terms_of_length(4, 4, 9999))
        put(store, file_of("late.txt", ["blue blue orcaorca"]), file_of("later.txt", ["orca"]))
        after = dict(store.terms_of_length(4, 4, 9999))
        assert (after["blue"], after["orca"]) == (before["blue"] + 1, before.get("orca", 0) + 1)
