"""An invented corpus, the same on every machine: Zipf's word frequencies, one paragraph a chunk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, product
from pathlib import Path
from random import Random
from typing import NamedTuple

from recall_core.text import STOP_WORDS

SETTINGS = ("chunk_tokens=200", "overlap_tokens=0")
"""With these settings each paragraph is a chunk: two paragraphs are always too long to share one."""

PARAGRAPHS_PER_FILE = 20
_PARAGRAPH_WORDS = (110, 190)
_SENTENCE_WORDS = (6, 22)
_SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo zu bra cle dri flo gru".split()
_WORDS = (
    *sorted(STOP_WORDS),
    *map("".join, product(_SYLLABLES, repeat=3)),
    *map("".join, product(_SYLLABLES, repeat=4)),
)
_VOCABULARY = 40_000
_SHIFT = 2.7  # Mandelbrot's flattening of the first ranks


class Questions(NamedTuple):
    """Queries by how much of the corpus they match."""

    rare: tuple[str, ...]
    """One word that few chunks contain."""
    middling: tuple[str, ...]
    """Three words that a few percent of the chunks contain."""
    wide: tuple[str, ...]
    """Eight consecutive words of running text."""


def paragraphs(count: int, *, seed: int = 1) -> Iterator[str]:
    """Yield `count` paragraphs of 110 to 190 words in sentences."""
    random = Random(seed)
    weights = list(accumulate(1 / (rank + _SHIFT) for rank in range(1, _VOCABULARY + 1)))
    for _ in range(count):
        length = random.randint(*_PARAGRAPH_WORDS)
        words = random.choices(_WORDS[:_VOCABULARY], cum_weights=weights, k=length)
        yield " ".join(_sentences(words, random))


def files(count: int, *, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of files with `count` paragraphs in total."""
    texts = list(paragraphs(count, seed=seed))
    for number, first in enumerate(range(0, count, PARAGRAPHS_PER_FILE)):
        yield f"{number:05}.txt", "\n\n".join(texts[first : first + PARAGRAPHS_PER_FILE]) + "\n"


def write(folder: Path, count: int, *, seed: int = 1) -> int:
    """Write these files and return their size in bytes."""
    folder.mkdir(parents=True)
    written = 0
    for name, text in files(count, seed=seed):
        written += (folder / name).write_text(text, encoding="utf-8")
    return written


def questions(count: int, *, seed: int = 2) -> Questions:
    """Return `count` queries of each kind. None is cut from the corpus itself."""
    random = Random(seed)
    running = [paragraph.replace(".", "").lower().split() for paragraph in paragraphs(count, seed=seed)]
    return Questions(
        rare=tuple(random.choice(_WORDS[8_000:12_000]) for _ in range(count)),
        middling=tuple(" ".join(random.sample(_WORDS[250:1_500], 3)) for _ in range(count)),
        wide=tuple(" ".join(words[:8]) for words in running),
    )


def _sentences(words: list[str], random: Random) -> Iterator[str]:
    while words:
        length = random.randint(*_SENTENCE_WORDS)
        yield " ".join(words[:length]).capitalize() + "."
        words = words[length:]
