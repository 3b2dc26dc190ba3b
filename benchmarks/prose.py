"""Real text from what the machine has: manual pages, the documentation of packages, and Python's own docstrings.

Pieces of 101 to 200 words, each once however often the machine has it; under `corpus.SETTINGS` nearly every one is a
chunk. Where the machine has fewer than are asked for, the rest is spliced from them; where it has almost none, the
invented corpus stands in. Either is told, since a figure can only be compared with one from the same kind of text.
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
"""Two pieces are never short enough to share a chunk of 200 words."""

_FEWEST = 500
"""Of fewer pieces nothing is spliced."""
_MOST_OF_ONE = 400
"""Pieces that one file may give: a long changelog is no corpus."""
_MOST_OF_FAMILY = 400
"""Manual pages whose names begin with the same word: some programs have thousands that say nearly the same."""
_LONG_LINE = 12
_MOST_BYTES = 4_000_000
_SEED = 1
_FIRST_DAY, _HOUR = 1_704_067_200, 3_600
"""Files change from 2024-01-01 on, one an hour."""

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
    """pieces: as many as were asked for. original: how many of them the machine has; the rest is spliced."""

    pieces: Sequence[str]
    original: int
    is_invented: bool = False

    @property
    def kind(self) -> str:
        """What it is, for the figures that were taken with it."""
        if self.is_invented:
            return "invented text, for this machine has almost none of its own"
        spliced = len(self.pieces) - self.original
        return (
            "real text" if not spliced else f"real text, {spliced} of {len(self.pieces)} pieces spliced from the rest"
        )


def prose(count: int, *, roots: Sequence[Path] | None = None) -> Prose:
    """So many pieces, the same on every call while the machine's text is the same.

    roots: the folders to read, by default those of the manual, the documentation and Python.
    """
    original = list(islice(_pieces(places() if roots is None else roots), count))
    if len(original) == count:
        return Prose(original, count)
    if len(original) < min(_FEWEST, count):
        return Prose(list(corpus.paragraphs(count)), 0, is_invented=True)
    return Prose([*original, *_spliced(original, count - len(original))], len(original))


def places() -> tuple[Path, ...]:
    """The folders where a machine keeps text, those that it has."""
    paths = sysconfig.get_paths()
    named = ("/usr/share/doc", "/usr/share/man", "/usr/share/info", paths["stdlib"], paths["purelib"])
    return tuple(dict.fromkeys(Path(name) for name in named if Path(name).is_dir()))


def write(folder: Path, pieces: Sequence[str]) -> int:
    """Files of twenty pieces in a thousand folders, `3/1/4/`, by turns; returns the bytes of all.

    Of the files a folder of the first level holds a tenth, one of the second a hundredth, one of the third a
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
    """The folder of a file."""
    return f"{number % 10}/{number // 10 % 10}/{number // 100 % 10}"


def _pieces(roots: Iterable[Path]) -> Iterator[str]:
    """Every piece that the roots have, once, from files in an order that mixes them."""
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
    """What holds text below a folder. Of the manual only its pages in English."""
    is_manual = root.name == "man"
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if (_MANUAL.fullmatch(name) if is_manual else name not in _LEFT_OUT)]
        for name in names:
            suffix = Path(name.removesuffix(".gz")).suffix
            if (is_manual or suffix in _READ) and not _LICENCES.search(f"{folder}/{name}"):
                yield Path(folder, name)


def _of_every_family(files: Iterable[Path]) -> Iterator[Path]:
    """The files without those manual pages that are one too many of their family."""
    pages: Counter[str] = Counter()
    for file in files:
        if _MANUAL.fullmatch(file.parent.name):
            family = re.split(r"[^A-Za-z]", file.name, maxsplit=1)[0]
            pages[family] += 1
            if pages[family] > _MOST_OF_FAMILY:
                continue
        yield file


def _text(file: Path) -> str:
    """A file's text: a manual page without its macros, of Python only the docstrings. "" where it has none."""
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
    """Paragraphs that follow each other, put together until they are long enough, or cut at the end of a line."""
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
    """The lines that hold something, those that are too long in parts."""
    for line in _BLANK.sub("\n", text).split("\n"):
        words = line.split()
        if len(words) < LEAST_WORDS:
            if words:
                yield line.rstrip()
        else:
            for first in range(0, len(words), LEAST_WORDS):
                yield " ".join(words[first : first + LEAST_WORDS])


def _is_prose(piece: str) -> bool:
    """Whether most of it is words, so that it is no table of numbers and no drawing."""
    return sum(map(len, _WORD.findall(piece))) > 0.6 * len("".join(piece.split()))


def _spliced(original: Sequence[str], count: int) -> Iterator[str]:
    """So many pieces, each the first lines of one and the last of another."""
    random = Random(_SEED)
    for _ in range(count):
        head, tail = (random.choice(original).split() for _ in range(2))
        most = random.randint(LEAST_WORDS, min(MOST_WORDS, len(head) + len(tail)))
        kept = random.randint(max(1, most - len(tail)), min(len(head), most - 1))
        yield " ".join((*head[:kept], *tail[len(tail) - (most - kept) :]))
