"""The estimate of model tokens, compared with the counts of five vocabularies in texts of every kind."""

from __future__ import annotations

import itertools
import json
import os
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import pytest

from recall_core import Ask, Pack, Recall
from recall_core.deadline import within
from recall_core.errors import TimedOut
from recall_core.model_tokens import model_tokens
from recall_core.model_tokens.modern import modern_tokens
from recall_core.text import counter

FOLDER = Path(__file__).parents[1] / "golden" / "tokens"
COUNTS: dict[str, dict[str, int]] = json.loads((FOLDER / "counts.json").read_text(encoding="utf-8"))
MODERN: dict[str, dict[str, int]] = json.loads((FOLDER / "modern.json").read_text(encoding="utf-8"))
HELD_OUT = ("gemma2", "gemma3", "llama3", "o200k", "qwen3.6")
"""Vocabularies that `approx:modern` was not fitted to."""
LEAST, MOST = 0.95, 1.15
"""Shares of the greatest count: the lower limit of any text, and the upper limit of a class on average."""


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_bytes().decode()


def test_every_text_has_its_counts_by_five_vocabularies() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == COUNTS.keys()
    assert {tuple(counts) for counts in COUNTS.values()} == {("Llama-2", "Claude-2", "cl100k", "DeepSeek", "Tekken")}
    assert all(max(counts.values()) >= 400 for counts in COUNTS.values())


def test_no_estimate_is_far_below_model_counts() -> None:
    for name, counts in COUNTS.items():
        assert model_tokens(text_of(name)) >= LEAST * max(counts.values()), name


def test_no_kind_of_text_averages_far_above_model_counts() -> None:
    over: dict[str, list[float]] = defaultdict(list)
    for name, counts in COUNTS.items():
        over[name.rpartition("-")[0]].append(model_tokens(text_of(name)) / max(counts.values()))

    kinds = {"prose", "code", "tables", "json", "chinese", "japanese", "korean", "base64", "hex"}
    assert over.keys() == kinds
    assert {kind: mean(each) for kind, each in over.items() if mean(each) > MOST} == {}


def test_no_large_vocabulary_exceeds_approx_modern() -> None:
    assert MODERN.keys() == COUNTS.keys()
    for name, counts in MODERN.items():
        for vocabulary in HELD_OUT:
            assert modern_tokens(text_of(name)) >= 0.99 * counts[vocabulary], (name, vocabulary)
        assert modern_tokens(text_of(name)) >= 0.98 * max(counts.values()), name


def test_approx_modern_is_near_the_greatest_count_of_each_kind() -> None:
    shares: dict[str, list[float]] = defaultdict(list)
    for name, counts in MODERN.items():
        shares[name.rpartition("-")[0]].append(max(counts.values()) / modern_tokens(text_of(name)))

    assert {kind: median(each) for kind, each in shares.items() if not 0.8 <= median(each) <= 1.0} == {}
    assert all(median(shares[kind]) >= 0.94 for kind in ("prose", "code", "chinese", "japanese", "json", "hex"))


def test_approx_modern_counts_shared_pieces_of_large_vocabularies() -> None:
    for text, tokens in {
        "information": 1,
        " informati": 1,  # as the beginning of a longer text
        "The quick brown fox": 4,
        "    return x\n": 4,
        "12.5": 4,
        "a\n\n\n\n\nb": 3,
        "数据库": 1,
        "\udfff": 3,
        "\U00030000": 4,
        "": 0,
    }.items():
        assert modern_tokens(text) == tokens, text


@pytest.mark.parametrize("name", ["whitespace", "approx", "approx-2", "approx:modern"])
def test_counting_a_long_text_obeys_the_deadline(name: str) -> None:
    seconds = itertools.count()

    with within(2.5, clock=lambda: float(next(seconds))), pytest.raises(TimedOut):
        counter(name).count("words_of 1234 漢字 é\n" * 50_000)


def test_counting_checks_the_deadline_every_few_milliseconds() -> None:
    for count, least in ((model_tokens, 10), (modern_tokens, 5)):
        looks = itertools.count()

        with within(1e9, clock=lambda looks=looks: float(next(looks))):  # type: ignore[misc]
            count("words of a context " * 5_000)

        assert next(looks) >= least


def test_long_text_counts_as_the_sum_of_its_parts() -> None:
    sizes = (20_001, 70_000) if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else (20_001,)
    for line in ["words_of 1234 漢字 é.\n ", "word \x85one\u2003two,", "été12漢", "été_", "...\n", "12é "]:
        for many in sizes:
            text = line * 2 * many

            assert counter("whitespace").count(text) == len(text.split()), line
            assert counter("approx").count(text) == many * counter("approx").count(line * 2), line


def test_run_of_any_length_counts_as_one() -> None:
    for before in ["", " ", "漢", "."]:
        for run, tokens in (("a" * 200_000, 1 + 199_998 // 5), ("7" * 200_000, 66_667)):
            assert counter("approx").count(before + run) == counter("approx").count(before) + tokens, before
            assert counter("whitespace").count(f"{before}{run} {run}") == 2, before


def test_approx_counts_are_unchanged() -> None:
    assert [counter("approx").count(text_of(name)) for name in ("prose-1", "code-1", "korean-1")] == [947, 868, 220]


@pytest.mark.parametrize(
    ("stored", "said", "wanted"),
    [
        ("whitespace", (), "approx-2"),
        ("approx", (), "approx-2"),
        ("approx-2", (), "approx-2"),
        ("approx:modern", (), "approx:modern"),
        ("whitespace", ("pack_counter=whitespace",), "whitespace"),
        ("whitespace", ("pack_counter=approx:modern",), "approx:modern"),
    ],
)
def test_budget_defaults_to_model_tokens(tmp_path: Path, stored: str, said: tuple[str, ...], wanted: str) -> None:
    (tmp_path / "a.txt").write_text("A retry has a budget of its own. " * 40)
    Recall.init(str(tmp_path), settings=(f"counter={stored}",))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path / "a.txt"))
        view = recall.context("retry", Ask(settings=said), Pack(budget_tokens=50))["context"]

    assert view["counter"] == wanted
    assert counter(wanted).count(view["text"]) == view["used_tokens"] <= 50


def test_stored_vocabulary_counts_budgets_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A retry has a budget of its own. " * 40)
    vocabulary = tmp_path / "tokenizer.json"
    words = {"[UNK]": 0, "A": 1, "retry": 2}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}
    vocabulary.write_text(json.dumps({"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": model}))
    Recall.init(str(tmp_path), settings=(f"counter=hf:{vocabulary}",))
    with Recall.open(start=tmp_path) as recall:
        recall.index(str(tmp_path / "a.txt"))

        assert recall.context("retry")["context"]["counter"] == f"hf:{vocabulary}"
