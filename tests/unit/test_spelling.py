"""A misspelt query word: near words of the store are tried, and one that finds the target is reported."""

from __future__ import annotations

import io
import shlex
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Recall
from recall_core.contract.explaining import FixView
from recall_core.explain.whynot import word_fixes
from recall_core.explain.whynot.fix import Start
from recall_core.explain.whynot.question import KeptAsker, Question
from recall_core.explain.whynot.question import ask_question as answered_by
from recall_core.explain.whynot.target import Sought
from recall_core.explain.whynot.word_fixes import distances, edits_allowed, near_terms
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.store.sqlite.memory.words import TermFrequencies
from recall_core.types import Root

COMMON = 8
TEXTS = {f"r{number}.md": f"A failed call number {number} is retried after a timeout.\n" for number in range(COMMON)}
TEXTS |= {
    "wings.md": "Tests of aeroelastic wings, in a tunnel.\n",
    "paint.md": "Blue paint dries within an hour of deployment.\n",
    "model.md": "A model for the aeroelastic case, once more.\n",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        (template / name).write_text(text)
    Recall.init(str(template), embedding="hash")
    with Recall.open(start=template) as opened:
        for _ in opened.add([str(template)], Root("")):
            pass
    return template


@pytest.fixture
def recall(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recall]:
    monkeypatch.chdir(shutil.copytree(template, tmp_path, dirs_exist_ok=True))
    with Recall.open(start=tmp_path) as opened:
        yield opened


def spelling_fixes(
    recall: Recall, words: str | None, target: str, ask: Ask | None = None, **options: Any
) -> list[FixView]:
    ask = Ask(k=2, mode="lexical") if ask is None else ask
    fixes = recall.why_not(words, target, ask, **options)["whynot"].get("fixes", [])
    return [fix for fix in fixes if fix["kind"].split("+")[-1] == "spelling"]


def run_command(command: str) -> str:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert cli.main([*shlex.split(command)[1:], "--json"], streams=streams) == 0
    return streams.stdout.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_misspelt_word_is_corrected_to_a_word_in_the_store(recall: Recall) -> None:
    for words, target, command in [
        ("failed aerolastic", "wings.md", "recall search 'failed aeroelastic' --bm25 --k 2"),
        ("failed aeroelastci call", "model.md", "recall search 'failed aeroelastic call' --bm25 --k 2"),
        (
            "The Deplyment, failed call",
            "paint.md",
            "recall search 'The deployment, failed call' --bm25 --k 2",
        ),
        ("failed tunel call", "wings.md", "recall search 'failed tunnel call' --bm25 --k 2"),
    ]:
        (fix,) = spelling_fixes(recall, words, target)

        assert fix["command"] == command, words
        assert f'"path":"{target}"' in run_command(fix["command"]), words


def target(recall: Recall) -> Sought:
    doc_id = recall.store.document_at("paint.md") or ""
    (row,) = recall.store.chunks_of(doc_id)
    return Sought(row, recall.store.rowid("doc", doc_id), None)


def test_spelling_searches_the_vocabulary_of_the_whole_store(recall: Recall) -> None:
    for typed, *expected in (("retreid", "retried", 1, COMMON), ("aerolastic", "aeroelastic", 1, 2)):
        ((word, edits),) = word_fixes.spellings(recall.store, typed, target(recall))
        assert [word.text, edits, word.df] == expected


def test_query_is_corrected_in_every_text_it_searches(recall: Recall) -> None:
    rql = "SELECT * FROM chunk USING lexical('failed aerolastic') LIMIT 2"

    (fix,) = spelling_fixes(recall, None, "wings.md", Ask(), rql=rql)

    assert "lexical('failed aeroelastic')" in fix["command"]
    assert '"path":"wings.md"' in run_command(fix["command"])


def test_needless_or_useless_spelling_is_not_suggested(recall: Recall) -> None:
    for words, target in [
        ("failed call", "wings.md"),
        ("failed xylophone", "wings.md"),
        ("failed retreid", "wings.md"),
        ("failed ho", "paint.md"),
    ]:
        assert spelling_fixes(recall, words, target) == [], words


def test_two_misspelt_words_are_corrected_together_if_necessary(recall: Recall) -> None:
    (fix,) = spelling_fixes(
        recall, "aerolastic tunell", "wings.md", Ask(k=2, mode="lexical", settings=("match=all",))
    )

    assert "'aeroelastic tunnel'" in fix["command"]
    assert fix["change"].count("instead of") == 2
    assert '"path":"wings.md"' in run_command(fix["command"])


class CountingAsker(KeptAsker):
    asked = 0

    def answer(self, plan: Plan) -> Answer:
        self.asked += 1
        return super().answer(plan)


def test_number_of_tried_spellings_is_limited(recall: Recall) -> None:
    asker = CountingAsker(recall.engine)
    question = Question("aerolastic timeuot retreid deplyment", mode="lexical", k=1, filter="doc.path = 'none'")
    start = Start(question, answered_by(asker, question))
    asker.asked = 0

    assert list(word_fixes.spelling_changes(asker, start, target(recall))) == []
    assert 3 < asker.asked <= word_fixes.MISSPELT_TRIED * word_fixes.SPELLINGS_TRIED + 1


WORDS = st.text("abc", max_size=6)


@cache
def by_rule(one: str, other: str) -> int:
    """Return the optimal string alignment distance by its definition."""
    if not one or not other:
        return len(one) + len(other)
    least = min(
        by_rule(one[:-1], other) + 1,
        by_rule(one, other[:-1]) + 1,
        by_rule(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    )
    if len(one) > 1 and len(other) > 1 and one[-2:] == other[-1] + other[-2]:
        least = min(least, by_rule(one[:-2], other[:-2]) + 1)
    return least


@given(word=WORDS, others=st.lists(WORDS, max_size=5), most=st.integers(0, 3))
def test_distance_matches_its_definition(word: str, others: list[str], most: int) -> None:
    assert distances(word, others, most) == [min(by_rule(word, other), most + 1) for other in others]


class Terms:
    """A store of only these terms, as `Store.terms_beginning` returns them."""

    def __init__(self, terms: dict[str, int]) -> None:
        self.terms = TermFrequencies()
        self.terms.put(sorted(terms.items(), key=lambda pair: pair[0].encode()))

    def terms_beginning(
        self, letters: str, shortest: int, longest: int, *, also: Sequence[str], most: int
    ) -> dict[str, int]:
        return self.terms.frequencies(also) | self.terms.beginning(letters, shortest, longest)


ALPHABETS = ("abcdexyz", "абвгдэюя", "αβγδεχψω")


@st.composite
def words_and_terms(draw: st.DrawFn) -> tuple[str, dict[str, int]]:
    """Return a word of at least three letters, and terms mostly a few edits away from it."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    word = draw(st.text(alphabet, min_size=3, max_size=8))
    places, letters = st.integers(0, 1) | st.integers(0, len(word)), st.sampled_from(["", *alphabet])
    cuts = st.lists(st.tuples(places, st.integers(0, 2), letters), min_size=1, max_size=2)
    terms = {}
    for edits in draw(st.lists(cuts, min_size=5, max_size=12)):
        term = word
        for place, gone, put in edits:
            term = term[:place] + put + term[place + gone :]
        if term:
            terms[term] = draw(st.integers(1, 9))
    return word, terms


@given(template=words_and_terms())
def test_near_words_equal_a_scan_of_all_terms(template: tuple[str, dict[str, int]]) -> None:
    word, terms = template
    most = edits_allowed(word)
    scanned = sorted(
        (edits, -df, term) for term, df in terms.items() if (edits := min(by_rule(word, term), most + 1)) <= most
    )

    looked_up = near_terms(Terms(terms), word, most)  # type: ignore[arg-type]

    found = {term for term, _ in looked_up}
    assert looked_up == [(term, edits) for edits, _, term in scanned if term in found]
    for edits, _, term in scanned:
        if term not in found:  # known misses: another first letter and one more edit
            assert edits == 2, (word, term)
            assert term[0] not in word[: most + 1], (word, term)


def test_wrong_or_missing_first_letter_is_found() -> None:
    terms = {"timeout": 1, "retry": 1, "жизнь": 1, "deployment": 1}
    for typed, term in [
        ("rimeout", "timeout"),
        ("imeout", "timeout"),
        ("itmeout", "timeout"),
        ("xtimeout", "timeout"),
        ("etry", "retry"),
        ("физнь", "жизнь"),
        ("edplyment", "deployment"),
    ]:
        assert [near for near, _ in near_terms(Terms(terms), typed, edits_allowed(typed))] == [term], typed  # type: ignore[arg-type]
