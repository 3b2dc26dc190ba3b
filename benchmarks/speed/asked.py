"""Questions like those of users, drawn from the text of a store by a seed. No question is drawn twice."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from recall_core.api.recall import Ask
from recall_core.text import STOP_WORDS

WORDS = re.compile(r"[a-z]{4,}")
KINDS = ("1 words", "3 words", "5 words", "8 words", "phrase", "all words", "paragraph")
_LINE_WORDS = re.compile(r"[A-Za-z]{4,}(?: [A-Za-z]{4,})+")
_SAMPLED = 20_000
_MOST_SHARE = 0.05
"""A word in a larger share of the chunks says too little about the topic to be drawn."""
_LEAST_CHUNKS = 2
_PASTED_LETTERS = 1_200
_TRIES = 1_000


class Question(NamedTuple):
    """A question.

    text: as typed.
    words: the words of it to search for.
    phrase, all: how the words must match.
    """

    text: str
    words: tuple[str, ...]
    phrase: bool = False
    all: bool = False

    @property
    def ask(self) -> Ask:
        """The flags of its search."""
        return Ask(k=10, settings=("match=all",) if self.all else ())


class Asker:
    """Draws questions from pieces of text. Every `draw` returns new questions."""

    def __init__(self, pieces: Sequence[str], *, seed: int = 7) -> None:
        self._random = Random(f"{seed} {len(pieces)}")
        self._pieces = pieces
        sample = self._random.sample(pieces, min(_SAMPLED, len(pieces)))
        seen = Counter(word for piece in sample for word in set(WORDS.findall(piece.lower())))
        most = max(_LEAST_CHUNKS + 1, _MOST_SHARE * len(sample))
        self._telling = frozenset(
            word for word, chunks in seen.items() if _LEAST_CHUNKS <= chunks <= most and word not in STOP_WORDS
        )
        self._asked: set[str] = set()

    def draw(self, kind: str, count: int) -> list[Question]:
        """Return `count` new questions of a kind: `N words`, `phrase`, `all words`, or `paragraph`."""
        drawn: list[Question] = []
        for _ in range(_TRIES * count):
            question = self._one(kind, self._random.choice(self._pieces))
            if question is not None and question.text not in self._asked:
                self._asked.add(question.text)
                drawn.append(question)
                if len(drawn) == count:
                    return drawn
        raise LookupError(f"the text has too few words for {count} more questions of {kind}")

    def number(self, most: int) -> int:
        """Return a random number below `most`."""
        return self._random.randrange(most)

    def _one(self, kind: str, piece: str) -> Question | None:
        if kind == "paragraph":
            text = " ".join(piece.split())[:_PASTED_LETTERS].replace('"', " ")
            return Question(text, tuple(dict.fromkeys(re.findall(r"\w+", text.lower()))))
        if kind == "phrase":
            return self._phrase(piece)
        words = [word for word in dict.fromkeys(WORDS.findall(piece.lower())) if word in self._telling]
        number = 3 if kind == "all words" else int(kind.split(maxsplit=1)[0])
        if len(words) < number:
            return None
        chosen = tuple(words[n] for n in sorted(self._random.sample(range(len(words)), number)))
        return Question(" ".join(chosen), chosen, all=kind == "all words")

    def _phrase(self, piece: str) -> Question | None:
        runs = [run.split() for run in _LINE_WORDS.findall(piece)]
        pairs = [pair for run in runs for pair in itertools.pairwise(run) if self._tells(pair)]
        if not pairs:
            return None
        pair = self._random.choice(pairs)
        return Question(f'"{" ".join(pair)}"', pair, phrase=True)

    def _tells(self, pair: tuple[str, str]) -> bool:
        return all(word.lower() not in STOP_WORDS for word in pair) and any(w.lower() in self._telling for w in pair)
