"""Real text of this machine: manual pages, documentation of packages, and Python's own docstrings.

The text is cut into pieces of 101 to 200 words, each of which appears once. With `corpus.SETTINGS` nearly every piece
is a chunk. If the machine has too few pieces, the rest is spliced from them. If it has almost none, the invented
corpus is used. The figures name the kind of text, because figures from different kinds cannot be compared.
"""

from __future__ import annotations

import gzip
import os
import re
import sysconfig
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import NamedTuple
from zlib import crc32

from benchmarks import corpus

PIECES_PER_FILE = corpus.PARAGRAPHS_PER_FILE
LEAST_WORDS, MOST_WORDS = 101, 200
"""Two pieces are always too long to share a chunk of 200 words."""

_FEWEST = 500
"""With fewer pieces than this, the invented corpus is used instead."""
_MOST_OF_ONE = 400
"""Most pieces of one file, so that a long changelog does not fill the corpus."""
_MOST_OF_FAMILY = 400
"""Most manual pages with the same first word: some programs have thousands of nearly equal pages."""
_LONG_LINE = 12
_MOST_BYTES = 4_000_000
_SEED = 1
_FIRST_DAY, _HOUR = 1_704_067_200, 3_600
"""Modification times of the files: from 2024-01-01 on, one an hour."""

_READ = frozenset((".txt", ".md", ".rst", ".info", ".py", ""))
_LICENCES = re.compile(r"licen[cs]e|copy(ing|right)|notice|authors|thanks|\.(dist|egg)-info", re.I)
_MANUAL = re.compile(r"man[1-9]")
_LEFT_OUT = frozenset(("__pycache__", "site-packages", "test", "tests"))
_DOCSTRING = re.compile(r'"""(.*?)"""', re.S)
_MACRO = re.compile(r"^[.'].*\n?", re.M)
_SHOWN_MACRO = re.compile(r"^\.(?:B|I|BR|IR|RB|RI|BI|IB|SM) +", re.M)
_FONT = re.compile(r"\\f(?:\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&,/|^:%]")
_ESCAPE = re.compile(r"\\\((..)|\\\[([^]]*)\]|\\(.)")
_ESCAPED = {
    "lq": "“",
    "rq": "”",
    "aq": "'",
    "oq": "‘",
    "cq": "’",
    "dq": '"',
    "em": "—",
    "en": "–",
    "bu": "•",
    "co": "©",
}
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_WORD = re.compile(r"[A-Za-z]{2,}")


class Prose(NamedTuple):
    """Pieces of text.

    pieces: as many as requested.
    original: how many of them the machine has; the rest is spliced.
    """

    pieces: Sequence[str]
    original: int
    is_invented: bool = False

    @property
    def kind(self) -> str:
        """The kind of text, printed with the figures."""
        if self.is_invented:
            return "invented text, for this machine has almost none of its own"
        spliced = len(self.pieces) - self.original
        return (
            "real text" if not spliced else f"real text, {spliced} of {len(self.pieces)} pieces spliced from the rest"
        )


def prose(count: int, *, roots: Sequence[Path] | None = None) -> Prose:
    """Return `count` pieces, the same on every call if the text of the machine is the same.

    roots: folders to read (default: manual pages, documentation and Python).
    """
    original = list(islice(_pieces(places() if roots is None else roots), count))
    if len(original) == count:
        return Prose(original, count)
    if len(original) < min(_FEWEST, count):
        return Prose(list(corpus.paragraphs(count)), 0, is_invented=True)
    return Prose([*original, *_spliced(original, count - len(original))], len(original))


def places() -> tuple[Path, ...]:
    """Return the folders with text that exist on this machine."""
    paths = sysconfig.get_paths()
    named = ("/usr/share/doc", "/usr/share/man", "/usr/share/info", paths["stdlib"], paths["purelib"])
    return tuple(dict.fromkeys(Path(name) for name in named if Path(name).is_dir()))


def write(folder: Path, pieces: Sequence[str]) -> int:
    """Write files of twenty pieces into a thousand folders such as `3/1/4/`, in turns. Return the bytes written.

    A folder of the first level contains a tenth of the files, one of the second a hundredth, one of the third a
    thousandth.
    """
    written = 0
    for number, first in enumerate(range(0, len(pieces), PIECES_PER_FILE)):
        place = folder / leaf(number) / f"{number:05}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        text = "\n\n".join(pieces[first : first + PIECES_PER_FILE]) + "\n"
        written += place.write_bytes(text.encode())
        os.utime(place, (_FIRST_DAY + number * _HOUR,) * 2)
    return written


def leaf(number: int) -> str:
    """Return the folder of a file."""
    return f"{number % 10}/{number // 10 % 10}/{number // 100 % 10}"


def _pieces(roots: Iterable[Path]) -> Iterator[str]:
    """Yield every different piece below the roots, from files in shuffled order."""
    files = sorted(chain.from_iterable(_files(root) for root in roots))
    Random(_SEED).shuffle(files)
    files = list(_of_every_family(files))
    seen: set[bytes] = set()
    for file in files:
        for piece in islice(_cut(_text(file)), _MOST_OF_ONE):
            key = blake2b(" ".join(piece.split()).encode(), digest_size=12).digest()
            if key not in seen:
                seen.add(key)
                yield piece


def _files(root: Path) -> Iterator[Path]:
    """Yield the files with text below a folder. Of the manual, yield only the English pages."""
    is_manual = root.name == "man"
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if (_MANUAL.fullmatch(name) if is_manual else name not in _LEFT_OUT)]
        for name in names:
            suffix = Path(name.removesuffix(".gz")).suffix
            if (is_manual or suffix in _READ) and not _LICENCES.search(f"{folder}/{name}"):
                yield Path(folder, name)


def _of_every_family(files: Iterable[Path]) -> Iterator[Path]:
    """Yield the files, except manual pages beyond the limit of their family."""
    pages: Counter[str] = Counter()
    for file in files:
        if _MANUAL.fullmatch(file.parent.name):
            family = re.split(r"[^A-Za-z]", file.name, maxsplit=1)[0]
            pages[family] += 1
            if pages[family] > _MOST_OF_FAMILY:
                continue
        yield file


def _text(file: Path) -> str:
    """Return the text of a file, or "" if it has none.

    Macros of manual pages are removed. Of Python, only the docstrings are kept.
    """
    try:
        raw = file.read_bytes() if file.is_file() else b""
        raw = gzip.decompress(raw) if file.suffix == ".gz" else raw
        text = _CONTROL.sub(" ", raw[:_MOST_BYTES].decode())
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return ""
    name = file.name.removesuffix(".gz")
    if name.endswith(".py"):
        return "\n\n".join(_DOCSTRING.findall(text))
    return _without_macros(text) if _MANUAL.fullmatch(file.parent.name) else text


def _without_macros(text: str) -> str:
    text = re.sub(r"^\.(?:PP|P|LP|SH|SS|TP|IP)\b.*$", "", text, flags=re.M)
    text = _MACRO.sub("", _SHOWN_MACRO.sub("", text))
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1] or found[2] or "", found[3] or " "), _FONT.sub("", text))


def _cut(text: str) -> Iterator[str]:
    """Yield pieces: consecutive paragraphs joined until they are long enough, or cut at the end of a line."""
    lines: list[str] = []
    words = enough = 0
    for line in _lines(text):
        length = len(line.split())
        if words + length > MOST_WORDS:
            lines, words = [], 0
        if not lines:
            enough = LEAST_WORDS + crc32(line.encode()) % (MOST_WORDS - LEAST_WORDS)
        lines.append(line)
        words += length
        if words >= enough or LEAST_WORDS <= words > MOST_WORDS - _LONG_LINE:
            piece = "\n".join(lines)
            if _is_prose(piece):
                yield piece
            lines, words = [], 0


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that are not blank. Split lines that are too long."""
    for line in _BLANK.sub("\n", text).split("\n"):
        words = line.split()
        if len(words) < LEAST_WORDS:
            if words:
                yield line.rstrip()
        else:
            for first in range(0, len(words), LEAST_WORDS):
                yield " ".join(words[first : first + LEAST_WORDS])


def _is_prose(piece: str) -> bool:
    """Return True if most characters are in words, so that tables of numbers and drawings are left out."""
    return sum(map(len, _WORD.findall(piece))) > 0.6 * len("".join(piece.split()))


def _spliced(original: Sequence[str], count: int) -> Iterator[str]:
    """Yield `count` pieces, each the beginning of one piece and the end of another."""
    random = Random(_SEED)
    for _ in range(count):
        head, tail = (random.choice(original).split() for _ in range(2))
        most = random.randint(LEAST_WORDS, min(MOST_WORDS, len(head) + len(tail)))
        kept = random.randint(max(1, most - len(tail)), min(len(head), most - 1))
        yield " ".join((*head[:kept], *tail[len(tail) - (most - kept) :]))
