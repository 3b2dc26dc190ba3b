"""One state of a collection in memory, shared by all connections of this process: keys, postings and vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from recall_core._lazy import np
from recall_core.rank.bm25 import weigh
from recall_core.store.postgres.compile import CHUNKS, LIVE, holds
from recall_core.store.postgres.opened import State
from recall_core.store.postgres.schema import Execute, index_entry
from recall_core.store.sqlite.memory.matrix import Matrix
from recall_core.store.sqlite.memory.rows import LiveRows
from recall_core.store.sqlite.memory.snapshot import MEGABYTE, Snapshot
from recall_core.store.sqlite.memory.words import Posting, Postings, TermFrequencies, WordSearch
from recall_core.types import LiteralQuery, Phrase, TermStat

if TYPE_CHECKING:
    from recall_core.store.sqlite.memory.words import Integers

_ROWS = f"""
SELECT array_agg(c.number), array_agg(d.number), array_agg(c.start), array_agg(c.tokens),
  array_agg(c.title_length), array_agg(c.body_length) FROM {CHUNKS} WHERE {LIVE}
"""
_PATHS = "SELECT number, path FROM document WHERE is_live ORDER BY path"
_COPIES = """
SELECT number, dense_rank() OVER (ORDER BY hash) FROM chunk WHERE is_live AND hash IN (
  SELECT hash FROM chunk WHERE is_live GROUP BY hash HAVING count(*) > 1)
"""
_POSTINGS = "SELECT term, numbers, in_title, in_body FROM posting WHERE term = ANY(%s::text[])"
_PHRASE = "SELECT c.number, c.title_words, c.body_words FROM chunk c WHERE c.is_live AND "
_DFS = "SELECT term, df FROM term WHERE term = ANY(%s::text[])"
_POSTINGS_SHARE = 4
"""Postings take at most this fraction of the memory."""

_TERMS_BEGINNING = """
SELECT term, df FROM term WHERE term >= %s AND starts_with(term, %s) AND length(term) BETWEEN %s AND %s
"""
_MANY_TERMS = 64
"""Once so many terms were looked up one by one, all are read."""


class HeldState(Snapshot):
    """The rows of one state. Words that were searched for stay; `add_vectors` adds the vectors."""

    def __init__(self, execute: Execute, state: State, megabytes: int) -> None:
        rows = LiveRows()
        rows.put(np.array([column or [] for column in execute(_ROWS)[0]], dtype=np.int64), dict(execute(_PATHS)))
        rows.put_copies(dict(execute(_COPIES)))
        room = max(0, megabytes * MEGABYTE - rows.nbytes)
        super().__init__(state, rows, None, room)
        self._room = room - room // _POSTINGS_SHARE
        self._dfs: dict[str, int] = {}
        self._postings: ArrayPostings = ArrayPostings(rows, max(room // _POSTINGS_SHARE, MEGABYTE))

    def words(self, execute: Execute, query: LiteralQuery) -> WordSearch:
        """Return the query over these rows."""
        self._postings.read([each.terms[0] for each in query.phrases if len(each.key) == 1], execute)
        postings = {each.key: self._postings.of(each, execute) for each in query.phrases}
        terms = [term for phrase in query.long_phrases for term in phrase.terms]
        return WordSearch(self.rows, query, postings, self.frequencies(execute, terms))

    def weigh(self, execute: Execute, query: LiteralQuery) -> tuple[TermStat, ...]:
        """Return the weights of the query's phrases, without the postings of single words."""
        dfs = self.frequencies(execute, [term for phrase in query.phrases for term in phrase.terms])
        rows = len(self.rows)
        return tuple(
            weigh(each, dfs.get(each.terms[0], 0), dfs, rows)
            if len(each.key) == 1
            else weigh(each, len(self._postings.of(each, execute).places), dfs, rows)
            for each in query.phrases
        )

    def frequencies(self, execute: Execute, terms: Iterable[str]) -> dict[str, int]:
        """Return for each of these terms the number of rows that contain it, if there are any."""
        wanted = {index_entry(term): term for term in sorted(set(terms))}
        if self.vocabulary is None and (new := [entry for entry in wanted if entry not in self._dfs]):
            self._dfs.update(dict.fromkeys(new, 0) | dict(execute(_DFS, (new,))))
            if len(self._dfs) > _MANY_TERMS:
                every = execute("SELECT term, df FROM term ORDER BY term")
                if sum(len(term) for term, _ in every) <= self._vocabulary_room:
                    vocabulary = TermFrequencies()
                    vocabulary.put([(term, df) for term, df in every])
                    self.vocabulary = vocabulary  # only now, because other threads read it
        if self.vocabulary is not None:
            found = self.vocabulary.frequencies(list(wanted))
        else:
            found = {entry: df for entry in wanted if (df := self._dfs[entry])}
        return {wanted[entry]: df for entry, df in found.items()}

    def beginning(self, execute: Execute, letters: Sequence[str], shortest: int, longest: int) -> dict[str, int]:
        """Return term to number of rows, for terms of these lengths that start with one of these letters."""
        if self.vocabulary is not None:
            return self.vocabulary.beginning(letters, shortest, longest)
        found: dict[str, int] = {}
        for letter in letters:
            found.update(execute(_TERMS_BEGINNING, (letter, letter, shortest, longest)))
        return found

    def add_vectors(self, execute: Execute, dimension: int) -> bool:
        """Read every vector, unless they are here. Return False if there is no room for them."""
        with self._lock:
            if self.matrix is not None:
                return True
            if len(self.rows) * (1 + 4 * dimension) > self._room:
                return False
            matrix = Matrix(len(self.rows), dimension, is_wide=True)
            if found := execute("SELECT number, embedding FROM embedding ORDER BY number"):
                matrix.put(self.rows.places([number for number, _ in found]), [vector for _, vector in found])
            self.matrix = matrix
            return True


class ArrayPostings(Postings):
    """Postings as the collection stores them, with chunks that were removed since."""

    def __init__(self, rows: LiveRows, room: int) -> None:
        super().__init__(rows, room)
        self._read: dict[str, tuple[list[int], ...]] = {}
        """Number, occurrences in title and in body of chunks with a stem, until they are a posting."""

    def read(self, stems: Iterable[str], execute: Execute) -> None:
        """Read these words in one statement, unless they are here."""
        new = sorted({stem for stem in stems if (stem,) not in self._kept})
        if new:
            self._read = _read_postings(execute, new)

    def _word(self, stem: str, execute: Execute) -> Posting:
        columns = self._read.pop(stem, None) or _read_postings(execute, [stem])[stem]
        return self._posting(*(np.array(column, dtype=np.int64) for column in columns))

    def _posting(self, rowids: Integers, title: Integers, body: Integers) -> Posting:
        is_live = self._rows.find(rowids) >= 0
        return super()._posting(rowids[is_live], title[is_live], body[is_live])

    def _several(self, phrase: Phrase, execute: Execute) -> Posting:
        counts: dict[int, tuple[int, int]] = {}
        each = {one.terms: one for one in phrase.any_of or (phrase,)}
        words = _read_postings(execute, [terms[0] for terms in each if len(terms) == 1])
        runs: list[Iterable[tuple[int, ...]]] = [zip(*columns, strict=True) for columns in words.values()]
        runs += [_count_phrase(execute, one) for terms, one in each.items() if len(terms) > 1]
        for run in runs:
            for number, title, body in run:
                before = counts.get(number, (0, 0))
                counts[number] = before[0] + title, before[1] + body
        if phrase.in_title:
            counts = {number: (title, 0) for number, (title, _) in counts.items() if title}
        return self._of_counts(counts)


def _read_postings(execute: Execute, stems: Sequence[str]) -> dict[str, tuple[list[int], ...]]:
    """Return stem to number, occurrences in title and in body of each chunk, in the same order."""
    read: dict[str, tuple[list[int], ...]] = {stem: ([], [], []) for stem in stems}
    entries = {index_entry(stem): stem for stem in stems}
    for entry, found, in_title, in_body in execute(_POSTINGS, (list(entries),)):
        numbers, title, body = read[entries[entry]]
        numbers += found
        title += in_title or [0] * len(found)
        body += in_body or [1] * len(found)
    return read


def _count_phrase(execute: Execute, phrase: Phrase) -> list[tuple[int, ...]]:
    """Return number, occurrences in title and in body of each chunk; occurrences may overlap."""
    condition = holds(phrase._replace(any_of=()))
    spelled = re.compile(f"(?= {re.escape(' '.join(phrase.terms))} )")
    return [
        (number, len(spelled.findall(title)), len(spelled.findall(body)))
        for number, title, body in execute(_PHRASE + condition.sql, condition.params)
    ]


_shared: WeakValueDictionary[str, HeldState] = WeakValueDictionary()
"""Path of a collection to its last state in memory, as long as a store of this process has it."""
_loading = Lock()


def hold(execute: Execute, path: str, state: State, megabytes: int) -> HeldState:
    """Return this state in memory, loading it if it is not there."""
    with _loading:
        held = _shared.get(path)
        if held is None or held.state != state:
            held = _shared[path] = HeldState(execute, state, megabytes)
        return held
