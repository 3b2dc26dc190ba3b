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

    def test_terms_are_found_by_first_letter_and_length(self) -> None:
        store = self.filled()
        held = {*store.stems(spaced(" ".join(row.chunk.text for row in rows_of(store))))}
        letters = "".join({term[0] for term in held})
        every = store.terms_beginning(letters, 1, 99, also=(), most=9999)
        assert held <= every.keys()
        for term, df in every.items():
            if store.stems(term) == (term,):
                assert store.term_stats(query_of(store, term))[0].df == df, term
        some = letters[:2]
        for shortest, longest in ((1, 99), (4, 4), (3, 5), (5, 4)):
            found = {term: df for term, df in every.items() if term[0] in some and shortest <= len(term) <= longest}
            assert store.terms_beginning(some, shortest, longest, also=(), most=9999) == found
            first = dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:2])
            assert store.terms_beginning(some, shortest, longest, also=(), most=2) == first
        named = dict([*every.items()][-2:])
        assert store.terms_beginning("", 1, 99, also=[*named, "absent"], most=9999) == named
        before = store.terms_beginning("bo", 4, 4, also=(), most=9999)
        put(store, file_of("late.txt", ["blue blue orcaorca"]), file_of("later.txt", ["orca"]))
        after = store.terms_beginning("bo", 4, 4, also=(), most=9999)
        assert (after["blue"], after["orca"]) == (before["blue"] + 1, before.get("orca", 0) + 1)
