"""Folding: spellings that find each other, and what the fold promises of any text."""

import random

import pytest

from recall_core.words.fold import fold, fold_with_places

EQUAL = (
    ("Łódź", "lodz"), ("Wałęsa", "walesa"), ("grønne", "gronne"), ("weiß", "weiss"), ("ẞ", "ss"),
    ("Straße", "strasse"), ("ışık", "isik"), ("İstanbul", "istanbul"), ("Dương", "duong"),
    ("Đà", "da"), ("Ægir", "aegir"), ("cœur", "coeur"), ("Þór", "thor"), ("naïve", "naive"),
    ("n\u0303", "ñ"), ("ﬁle", "file"), ("ｆｕｌｌ１２", "full12"), ("ﾃﾞｰﾀ", "データ"), ("カ\u3099", "ガ"),
    ("Gesamt\u00adkonzept", "gesamtkonzept"), ("zero\u200bwidth", "zerowidth"),
    ("می\u200cخواهم", "ميخواهم"), ("CO₂", "co2"), ("Ⅻ", "xii"), ("㎏", "kg"), ("ё", "е"),
    ("Ўзбек", "узбек"), ("и\u0306", "й"), ("і\u0308", "ї"), ("Ἀθῆναι", "αθηναι"), ("ς", "σ"),
    ("שָׁלוֹם", "שלומ"), ("مُحَمَّد", "محمد"), ("أحمد", "احمد"), ("مؤتمر", "موتمر"),
    ("مدرسة", "مدرسه"), ("عـــربي", "عربي"), ("ﻣﺮﺣﺒﺎ", "مرحبا"), ("١٢٣", "123"),
    ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"), ("क\u093c", "क़"), ("㍿", "株式会社"), ("⽇", "日"),
)  # fmt: skip

APART = (("й", "и"), ("ї", "і"), ("किताब", "कतब"), ("ข้าว", "ขาว"), ("ガ", "カ"), ("ぱ", "は"))

SPLIT = (("foo™", "foo"), ("10²", "10 2"), ("note¹", "note 1"), ("1½", "1 1 2"), ("½", "1 2"))


@pytest.mark.parametrize(("text", "other"), EQUAL)
def test_spellings_fold_alike(text: str, other: str) -> None:
    assert fold(text).lower() == fold(other).lower()


def test_letters_that_differ_stay_apart() -> None:
    assert [pair for pair in APART if fold(pair[0]) == fold(pair[1])] == []


def test_superscripts_fractions_and_trademarks_end_a_word() -> None:
    assert [(text, fold(text).split()) for text, words in SPLIT if fold(text).split() != words.split()] == []


def test_a_long_form_stays_as_written() -> None:
    assert fold("ﷺ") == "ﷺ"


RANGES = (
    range(0x20, 0x3000), range(0x20, 0xD800), range(0xE000, 0x20000), range(0x300, 0x370), range(0x900, 0xE80),
    range(0x3040, 0x309B), range(0x1100, 0x1200), range(0xAC00, 0xD7A4), range(0xE000, 0x110000),
)  # fmt: skip


def random_text(rng: random.Random) -> str:
    """Return 20 characters from all over Unicode, with many marks."""
    return "".join(chr(rng.choice(rng.choice(RANGES))) for _ in range(20))


def test_folding_twice_changes_nothing_more() -> None:
    rng = random.Random(47)
    for _ in range(2_000):
        text = random_text(rng)
        folded, starts, ends = fold_with_places(text)

        assert folded == fold(text), ascii(text)
        assert fold(folded) == folded, ascii(text)
        assert len(starts) == len(ends) == len(folded)
        assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))


def test_a_megabyte_of_marks_on_one_letter_is_folded() -> None:
    assert fold("a" + "\u0301" * 1_000_000 + "b") == "ab"
    assert len(fold("क" + "\u093c\u094d" * 200_000)) == 400_001
