"""Write recall_core/words/fold.json, the pinned table of how characters are folded, from this Python's Unicode.

    python -m benchmarks.fold_table

A changed table needs another version: stores with an older one must be indexed again.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from pathlib import Path

from recall_core.words.fold import private

TABLE = Path(__file__).parents[1] / "recall_core" / "words" / "fold.json"
LONGEST = 4
"""A character whose folded form is longer stays as it is."""
IGNORED = (
    "\u00ad\u034f\u061c\u0640\u070f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e\u200f"
    "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e"
    "\u206f\u3164\ufeff\uffa0"
)
"""Soft hyphen, tatweel, joiners, zero-width and direction marks, fillers; variation selectors are added."""
APART = "™℠®©℗🄯"
"""Signs that end a word and are not one."""
LETTERS = {
    "ı": "i", "ȷ": "j", "ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n", "ĸ": "k", "ə": "e",
    "ſ": "s", "ς": "σ", "ё": "е", "ґ": "г", "ے": "ي", "ی": "ي", "ى": "ي", "ة": "ه", "ک": "ك", "ٱ": "ا", "ך": "כ",
    "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ",
}  # fmt: skip
"""Letters that have no decomposition."""
KEPT = {"й": "й", "ї": "ї"}
VOICED = "\u3099\u309a"
SUPERSCRIPT = re.compile(r"SUPERSCRIPT (ZERO|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE)")
"""Letters with a mark that stay letters of their own."""
WITH = re.compile(r"LATIN SMALL LETTER ([A-Z]{1,2}) WITH ")
MARKS = (
    (0x300, 0x36F), (0x483, 0x489), (0x591, 0x5C7), (0x610, 0x61A), (0x64B, 0x65F), (0x670, 0x670),
    (0x6D6, 0x6DC), (0x6DF, 0x6E4),
    (0x6E7, 0x6E8), (0x6EA, 0x6ED), (0x898, 0x89F), (0x8CA, 0x8FF), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF), (0xFB1E, 0xFB1E),
    (0xFE20, 0xFE2F),
)  # fmt: skip
"""Marks that are removed: of Latin, Greek, Cyrillic, Hebrew and Arabic, and those of any letter."""


def fold(letter: str) -> str:
    """Return the fold of a character, each part folded again until none changes."""
    form = _fold_once(letter)
    if form in (letter, "") or form.isascii() or form.strip() == private(ord(letter)):
        return form
    again = "".join(each if each.isascii() or each == letter else fold(each) for each in form)
    return letter if len(again.strip()) > LONGEST else again


def _fold_once(letter: str) -> str:
    """Return what a character is folded to: "" if it is ignored, " " if it separates.

    Marks that stay in their word and signs that are words become private-use characters, which FTS5 reads as letters.
    """
    code = ord(letter)
    if letter in IGNORED or 0xFE00 <= code <= 0xFE0F or 0xE0000 <= code <= 0xE0FFF or is_removed(code):
        return ""
    if letter in APART:
        return " "
    category = unicodedata.category(letter)
    if category in ("Mn", "Mc", "Me"):
        return letter if letter in VOICED else private(code)
    if category == "Nd":
        return str(unicodedata.digit(letter))
    whole = _decompose(letter)
    form = "".join(map(_fold_part, whole))
    if "\u2044" in whole:
        form = f" {form.replace(chr(0x2044), ' ')} "
    elif SUPERSCRIPT.match(unicodedata.name(letter, "")):
        form = f" {form} "
    if category in ("Sc", "Sm", "So") and form == letter:
        return f" {private(code)} " if is_word(code) and private(code) != letter else letter
    return letter if len(form.strip()) > LONGEST else form


def _decompose(text: str) -> str:
    """Return the compatibility decomposition in lower case. Letters of KEPT, kana and Hangul stay composed."""
    for _ in range(5):
        lower = unicodedata.normalize("NFC", text).casefold()
        if lower in KEPT:
            return lower
        again = unicodedata.normalize("NFKD", lower)
        if again == text:
            break
        text = again
    composed = unicodedata.normalize("NFC", text)
    return (
        composed if any(0x3040 <= ord(each) <= 0x30FF or 0xAC00 <= ord(each) <= 0xD7A3 for each in composed) else text
    )


def _fold_part(letter: str) -> str:
    """Return the fold of one character of a decomposition."""
    if letter in KEPT or letter.isascii():
        return letter
    if is_removed(ord(letter)) or letter in IGNORED:
        return ""
    if letter in LETTERS:
        return LETTERS[letter]
    if unicodedata.category(letter) in ("Mn", "Mc") and letter not in VOICED:
        return private(ord(letter))
    stroked = WITH.match(unicodedata.name(letter, ""))
    return stroked[1].lower() if stroked else letter


def is_word(code: int) -> bool:
    """Return True for a sign that is a word: emoji, currency, arrows, mathematics. Box drawing is not."""
    return not 0x2500 <= code <= 0x25FF


def is_removed(code: int) -> bool:
    """Return True for a mark that the fold removes."""
    return any(first <= code <= last for first, last in MARKS)


def table() -> dict[str, object]:
    """Return the table: characters by form, marks that stay in their word, signs that are words, order of marks."""
    forms: defaultdict[str, list[str]] = defaultdict(list)
    classes: defaultdict[int, list[str]] = defaultdict(list)
    marks, signs = [], []
    for code in range(0x80, 0x110000):
        letter = chr(code)
        if unicodedata.category(letter) in ("Cn", "Co", "Cs") and not 0xE0000 <= code <= 0xE0FFF:
            continue
        if 0xAC00 <= code <= 0xD7A3 or (form := fold(letter)) == letter:
            continue
        if form == private(code):
            marks.append(letter)
            if unicodedata.combining(letter):
                classes[unicodedata.combining(letter)].append(letter)
        elif form == f" {private(code)} ":
            signs.append(letter)
        else:
            forms[form].append(letter)
    return {
        "version": 1,
        "unicode": unicodedata.unidata_version,
        "marks": "".join(marks),
        "signs": "".join(signs),
        "classes": {str(order): "".join(letters) for order, letters in sorted(classes.items())},
        "forms": {form: "".join(letters) for form, letters in sorted(forms.items())},
    }


if __name__ == "__main__":
    TABLE.write_text(json.dumps(table(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
