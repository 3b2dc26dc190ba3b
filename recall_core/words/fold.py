"""Fold characters for the full-text index: case, marks, compatibility forms, ignorable signs.

The table is pinned (`fold.json`), so every Python gives the same bytes. ASCII stays as it is: FTS5 lowers its case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

_PLANES = {
    0x10: 0x8000,
    0x13: 0x9000,
    0x11: 0xB000,
    0x16: 0xC000,
    0x1B: 0xD000,
    0x1D: 0xD000,
    0x1E: 0xE000,
    0x1F: 0xF000,
}


_RUNS = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
_MARKS = re.compile("[\U000f0300-\U000fffff]{2,}")
_FEW = 64
"""Different characters up to which replacing one after the other is faster than `translate`."""


def private(code: int) -> str:
    """Return the private-use character that stands for a mark or a sign, which FTS5 reads as a letter.

    A character of a plane without marks is returned as it is.
    """
    if code < 0x10000:
        return chr(0xF0000 + code)
    plane = _PLANES.get(code >> 12)
    return chr(code) if plane is None else chr(0xF0000 + plane + (code & 0xFFF))


def fold(text: str) -> str:
    """Return the folded text. Folding twice changes nothing more."""
    if text.isascii():
        return text
    if composes(text):
        text = _composed().sub(lambda found: _compose(found[0]), text)
    forms = {letter: form for letter in set(text) if letter > "\x7f" and (form := _form(letter)) != letter}
    if len(forms) > _FEW:
        text = text.translate({ord(letter): form for letter, form in forms.items()})
    else:
        for letter, form in forms.items():
            text = text.replace(letter, form)
    return _MARKS.sub(lambda found: "".join(map(found[0].__getitem__, _order(found[0]))), text)


def composes(text: str) -> bool:
    """Return False if no characters of the text compose as one."""
    return _second().search(text) is not None


def fold_with_places(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the folded text, and for each of its characters where its source starts and ends in the text.

    A removed character belongs to the one before it.
    """
    if text.isascii():
        return text, range(len(text)), range(1, len(text) + 1)
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end, piece in _pieces(text):
        if piece.isascii():
            letters += piece
            starts += range(start, end)
            ends += range(start + 1, end + 1)
            continue
        form = "".join(map(_form, piece))
        letters += form
        starts += [start] * len(form)
        ends += [end] * len(form)
        if not form and ends and ends[-1] == start:
            ends[-1] = end
    folded = "".join(letters)
    for found in _MARKS.finditer(folded):
        order = [found.start() + at for at in _order(found[0])]
        letters[found.start() : found.end()] = [letters[at] for at in order]
        starts[found.start() : found.end()] = [starts[at] for at in order]
        ends[found.start() : found.end()] = [ends[at] for at in order]
    return "".join(letters), starts, ends


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield runs of ASCII, sequences that compose as one character, and other characters, with their places."""
    at = 0
    for found in (*(_composed().finditer(text) if composes(text) else ()), None):
        stop = len(text) if found is None else found.start()
        for run in _RUNS.finditer(text, at, stop):
            if run[0].isascii():
                yield run.start(), run.end(), run[0]
            else:
                yield from ((place, place + 1, text[place]) for place in range(*run.span()))
        if found is not None:
            yield found.start(), found.end(), _compose(found[0])
            at = found.end()


@cache
def _composed() -> re.Pattern[str]:
    """Match decomposed Hangul, voiced kana, and Cyrillic letters whose mark counts; ignored characters may be
    between."""
    skip = f"[{''.join(sorted(_ignored()))}]*+"
    breve, dots = skip.replace("\u0306", ""), skip.replace("\u0308", "")
    return re.compile(
        f"[\u1100-\u1112]{skip}[\u1161-\u1175](?:{skip}[\u11a8-\u11c2])?|[\uac00-\ud7a3]{skip}[\u11a8-\u11c2]"
        f"|[\u3046-\u30fd\uff73-\uff8e]{skip}[\u3099\u309a\uff9e\uff9f]"
        f"|[\u0418\u0438]{breve}\u0306|[\u0406\u0456]{dots}\u0308"
    )


@cache
def _second() -> re.Pattern[str]:
    """Match the last character of whatever `_composed` matches."""
    return re.compile("[\u0306\u0308\u1161-\u1175\u11a8-\u11c2\u3099\u309a\uff9e\uff9f]")


@cache
def _ignored() -> frozenset[str]:
    """Return the characters that the fold removes."""
    return frozenset(_data()["forms"][""])


def _compose(found: str) -> str:
    """Return the one character that this sequence is, or the sequence if there is none."""
    first, last = ord(found[0]), ord(found[-1])
    if first < 0x1000:
        return "й" if last == 0x306 else "ї"
    parts = [each for each in found if each not in _ignored()]
    if 0x1100 <= first <= 0x1112:
        tail = last - 0x11A7 if len(parts) == 3 else 0
        return chr(0xAC00 + ((first - 0x1100) * 21 + ord(parts[1]) - 0x1161) * 28 + tail)
    if 0xAC00 <= first <= 0xD7A3:
        return chr(first + last - 0x11A7) if (first - 0xAC00) % 28 == 0 else found
    return _voiced().get((_form(found[0]), last in (0x309A, 0xFF9F)), found)


@cache
def _voiced() -> dict[tuple[str, bool], str]:
    """Return the kana with a voiced or a half-voiced mark, by the kana without."""
    plain, voiced = "かきくけこさしすせそたちつてとはひふへほうゝ", "がぎぐげござじずぜぞだぢづでどばびぶべぼゔゞ"
    half, halves = "はひふへほ", "ぱぴぷぺぽ"
    pairs = {(a, False): b for a, b in zip(plain, voiced, strict=True)} | {
        (a, True): b for a, b in zip(half, halves, strict=True)
    }
    katakana = {(chr(ord(a) + 0x60), mark): chr(ord(b) + 0x60) for (a, mark), b in pairs.items()}
    return pairs | katakana | {("ワ", False): "ヷ", ("ヲ", False): "ヺ"}


@cache
def _data() -> dict[str, dict[str, str]]:
    return json.loads(Path(__file__).with_name("fold.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def without_ignored(text: str) -> str:
    """Return the text without soft hyphens, joiners and the like. Marks of Latin letters stay."""
    return (
        text
        if text.isascii()
        else "".join(each for each in text if each not in _ignored() or "\u0300" <= each <= "\u036f")
    )


def kept_characters() -> str:
    """Return the marks and signs that a folded text contains as private-use characters."""
    return _data()["marks"] + _data()["signs"]  # type: ignore[operator,no-any-return]


@lru_cache(65_536)
def _form(letter: str) -> str:
    """Return what the fold makes of one character."""
    marks, signs = _kinds()
    if letter in marks:
        return private(ord(letter))
    return f" {private(ord(letter))} " if letter in signs else _forms().get(letter, letter)


@cache
def _kinds() -> tuple[frozenset[str], frozenset[str]]:
    """Return the marks and the signs that stay, as private-use characters."""
    return frozenset(_data()["marks"]), frozenset(_data()["signs"])


@cache
def _forms() -> dict[str, str]:
    """Return the form of each other character that has one."""
    forms: dict[str, str] = {}
    for form, letters in _data()["forms"].items():
        forms |= dict.fromkeys(letters, form)
    return forms


@cache
def _classes() -> dict[str, int]:
    """Return the canonical class of each mark that has an order, in its private form."""
    return {private(ord(letter)): int(order) for order, letters in _data()["classes"].items() for letter in letters}


def _order(marks: str) -> list[int]:
    """Return the canonical order of marks that follow each other: by class, up to a mark without one."""
    classes, order, start = _classes(), list(range(len(marks))), 0
    for at, mark in enumerate([*marks, ""]):
        if mark not in classes:
            order[start:at] = sorted(order[start:at], key=lambda each: classes[marks[each]])
            start = at + 1
    return order
