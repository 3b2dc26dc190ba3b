"""The indexed form: pairs, signs, and terms whose places are those of the words as written."""

from __future__ import annotations

import random

from recall_core.words.analyzer import Analyzer
from recall_core.words.form import form_of, readable
from tests.unit.test_words_fold import random_text

SIGNS = (
    ("The C++ guide", "The C ++ guide"), ("i++;", "i ++ ;"), ("C# and F#", "C # and F #"), ("ab#c", ""), ("a#b", ""),
    ("see #include", "see # include"), ("$HOME/x", "$ HOME/x"), ("cost $5", ""), ("@alice hi", "@ alice hi"),
    ("x@y.org", ""),
    ("    @property\n    def f", ""), ("\n@cache\ndef g", ""), ("the @cache thing", "the @ cache thing"),
    (".NET is", ". NET is"), ("The .NET guide", "The . NET guide"), ("from .console import x", ""),
    ("    .then(f)", ""), ("a.b", ""), ('"".join', ""), ("see `.env`", "see ` . env`"),
)  # fmt: skip

PAIRS = (
    ("漢字を読む", "漢字 字を を読 読む む"), ("学", "学"), ("데이터베이스를", "데이 이터 터베 베이 이스 스를 를"),
    ("ข้าว", "ข้าว ว"), ("fish 鱼 fish", "fish 鱼 fish"),
)  # fmt: skip


def test_signs_that_make_another_word_are_words() -> None:
    for text, form in SIGNS:
        assert readable(form_of(text)).split() == (form or text).split(), text


def test_runs_become_overlapping_pairs() -> None:
    for text, form in PAIRS:
        assert readable(form_of(text)).split() == form.split(), text


def test_last_character_of_a_question_is_left_out() -> None:
    analyzer = Analyzer()
    assert analyzer.tokens("漢字 漢字") == ("漢字", "漢字")
    assert analyzer.tokens("漢字 漢字", ends="inner") == ("漢字", "字", "漢字")


def test_terms_are_those_of_the_form_in_order() -> None:
    analyzer, rng = Analyzer(), random.Random(47)
    for _ in range(300):
        text = random_text(rng)
        terms = analyzer.terms(text)

        assert [term.term for term in terms] == list(analyzer.stem([analyzer.form(text)])), ascii(text)
        assert all(0 <= term.start < term.end <= len(text) for term in terms), ascii(text)
        assert sorted(term.start for term in terms) == [term.start for term in terms], ascii(text)


def test_a_span_folds_to_its_term() -> None:
    analyzer, rng = Analyzer(), random.Random(48)
    for _ in range(300):
        text = random_text(rng)
        for start, end, term in analyzer.terms(text):
            assert term in analyzer.stem([form_of(text[start:end])]), ascii(text)


def test_text_without_another_word_is_its_own_form() -> None:
    for text in ("plain", "“quoted” café … naïve", "Ärger über Öl"):
        assert Analyzer().form(text) is text


def test_letter_is_one_whatever_unicode_python_has() -> None:
    for letter in "é", "я", "\U0001e4d0":  # the last is a letter from Unicode 15 on
        assert form_of(f"{letter}#tag").endswith("#tag"), letter
