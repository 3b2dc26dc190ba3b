"""Words as users search for them: topics, running text, phrases, typos, other scripts, code, nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from benchmarks.answers.corpus import ACCENTED, CJK, CODE_WORDS, FILLER, GLUE, TOPICS, File, text_of

Corpus = Sequence[File]


def words(random: Random, corpus: Corpus) -> str:
    """Return the words of one question."""
    write = random.choices([each for each, _ in _WORDS], weights=[share for _, share in _WORDS])[0]
    return write(random, corpus)


def topical(random: Random, corpus: Corpus) -> str:
    """Return one to four words of a topic."""
    return " ".join(random.sample(TOPICS[random.choice(tuple(TOPICS))].split(), random.randint(1, 4)))


def running(random: Random, corpus: Corpus, *, least: int = 3, most: int = 8) -> str:
    """Return consecutive words of a document."""
    text = text_of(random.choice([file for file in corpus if file.content])).split()
    first = random.randrange(max(1, len(text) - most))
    return " ".join(text[first : first + random.randint(least, most)])[:400]


def _phrase(random: Random, corpus: Corpus) -> str:
    phrase = running(random, corpus, least=2, most=4).replace('"', " ")
    return f'"{phrase}" {topical(random, corpus)}' if random.random() < 0.6 else f'"{phrase}"'


def _asked(random: Random, corpus: Corpus) -> str:
    first = random.choice(("how do we", "what happens when the", "why is", "where does a", "who may"))
    return f"{first} {topical(random, corpus)}{random.choice(('?', '', ' again?'))}"


def _typo(random: Random, corpus: Corpus) -> str:
    word = random.choice(random.choice(tuple(TOPICS.values())).split())
    place = random.randrange(len(word))
    return f"{word[:place]}{random.choice('aeioxyz')}{word[place + 1 :]} {topical(random, corpus)}"


def _rare(random: Random, corpus: Corpus) -> str:
    return random.choice(FILLER[600:])


def _mixed(random: Random, corpus: Corpus) -> str:
    return " ".join((random.choice(FILLER[:50]), topical(random, corpus), random.choice(GLUE)))


def _cjk(random: Random, corpus: Corpus) -> str:
    first = random.randrange(len(CJK) - 4)
    return CJK[first : first + random.randint(1, 4)] + random.choice(("", " deploy", "。"))


def _accented(random: Random, corpus: Corpus) -> str:
    word = random.choice(ACCENTED)
    return random.choice((word, word.upper(), f"{word} {random.choice(ACCENTED)}"))


def _code(random: Random, corpus: Corpus) -> str:
    return " ".join(random.sample(CODE_WORDS, random.randint(1, 3)))


def _pasted(random: Random, corpus: Corpus) -> str:
    return running(random, corpus, least=60, most=90)


def _glue(random: Random, corpus: Corpus) -> str:
    return " ".join(random.sample(GLUE, 3))


def _odd(random: Random, corpus: Corpus) -> str:
    return random.choice(
        ("", " ", "?!", "xylophonic", "a AND b", "NEAR(retry budget)", "retry*", "title: retry", "'", "∑ 🙂")
    )


_WORDS: tuple[tuple[Callable[[Random, Corpus], str], int], ...] = (
    (topical, 30),
    (running, 20),
    (_phrase, 10),
    (_asked, 8),
    (_typo, 5),
    (_rare, 4),
    (_mixed, 4),
    (_cjk, 4),
    (_accented, 4),
    (_code, 4),
    (_odd, 4),
    (_pasted, 2),
    (_glue, 1),
)
