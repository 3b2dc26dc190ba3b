"""Packing for value: nothing worth more fits, the budget holds, and the bound is above every packing."""

from __future__ import annotations

import os
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.pack.account import account, coverage, near_duplicates, shingles
from recall_core.pack.greedy import pack
from recall_core.pack.layout import draft, layout, render
from recall_core.pack.optimal import pack_optimal, value_of
from recall_core.text import Counter, counter
from recall_core.types import Block, Chunk, Document, Hit, Packed

WORDS = counter("whitespace")
APPROX = counter("approx")
WAVY = Counter("wavy", lambda text: len(text) - 2 * text.count("ab") + (len(text) & 1))
MOMENT = "2026-01-01T00:00:00.000000Z"

IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


@st.composite
def ranked(draw: st.DrawFn) -> list[Hit]:
    """Return hits in rank order with spans anywhere in two documents."""
    texts = {path: draw(st.text("ab \n", min_size=3, max_size=50)) for path in ("a", "b")}
    scores = sorted(draw(st.lists(st.integers(0, 100), max_size=7)), reverse=True)
    hits, seen = [], set()
    for score in scores:
        path = draw(st.sampled_from("ab"))
        start = draw(st.integers(0, len(texts[path]) - 1))
        end = draw(st.integers(start + 1, len(texts[path])))
        if (path, start) in seen:
            continue
        seen.add((path, start))
        chunk = Chunk(f"{path}@{start}", path, start, end, 1, 1, 1, None, texts[path][start:end])
        document = Document(path, path, "h", MOMENT, 1, "t", None, (), {})
        hits.append(Hit(len(hits) + 1, score / 100, document, chunk, ()))
    return hits


def alone(hits: tuple[Hit, ...], config: Config, counting: Counter) -> int:
    """Return the tokens of these hits, each in a separate block."""
    sheet = layout(config, counting)
    drafts = []
    for number, hit in enumerate(hits, 1):
        chunk = hit.chunk
        assert chunk is not None
        block = Block(number, hit.doc, chunk.offset, chunk.end, 1, 1, chunk.text, (chunk.id,), (hit.rank,))
        drafts.append(draft(sheet, block))
    return counting.count(render(sheet, drafts))


def of_words(rank: int, words: int) -> Hit:
    return of_text(rank, " ".join(["word"] * words))


def of_text(rank: int, text: str) -> Hit:
    chunk = Chunk(f"{rank}", f"{rank}", 0, len(text), 1, 1, 1, None, text)
    return Hit(rank, 1 / rank, Document(f"{rank}", f"{rank}", "h", MOMENT, 1, "t", None, (), {}), chunk, ())


def test_choice_next_to_a_large_pin_fits_the_budget() -> None:
    hits = [of_words(1, 5), of_words(2, 4), of_words(3, 6)]

    context = pack_optimal(
        hits, total=3, budget_tokens=10, counter=WORDS, config=Config(header=""), pinned=frozenset({"3"})
    )

    assert [block.ranks for block in context.blocks] == [(2,), (3,)]


def test_no_more_is_dropped_than_joining_costs() -> None:
    hits = [of_text(1, "a" * 9), of_text(2, "b" * 9), of_text(3, "c" * 8)]
    joining = Counter("joining", lambda text: len(text) + len(text.split()) // 2)

    context = pack_optimal(hits, total=3, budget_tokens=20, counter=joining, config=Config(header=""))

    assert ([block.ranks for block in context.blocks], context.used_tokens) == ([(1,), (3,)], 20)


def test_capped_and_unfitting_chunks_have_different_reasons() -> None:
    one, twin, other = of_text(1, "a"), of_text(2, "b"), of_words(3, 9)
    hits = [one, twin._replace(doc=one.doc), other]

    context = pack_optimal(hits, total=3, budget_tokens=5, counter=WORDS, config=Config(header="", diversity=1))

    assert [(left.reason, left.rank) for left in context.omitted] == [("diversity", 2), ("budget", 3)]


def test_header_is_as_wide_as_its_number() -> None:
    hits, characters = [of_words(rank, 1) for rank in range(1, 10)], Counter("characters", len)
    whole = "\n\n".join(f"{n}\nword" for n in range(1, 10))

    context = pack_optimal(hits, total=9, budget_tokens=len(whole), counter=characters, config=Config(header="{n}"))

    assert context.text == whole


@pytest.mark.parametrize("mode", ["rank", "optimal"])
def test_bound_of_a_small_budget_is_below_total_worth(mode: str) -> None:
    hits, config = [of_words(rank, 10) for rank in (1, 2, 3)], Config(header="", pack=mode, min_fragment=1)

    context = pack(hits, total=3, budget_tokens=10, counter=WORDS, config=config)

    assert 1.0 <= account(context, hits, counter=WORDS, config=config).bound < 1.5


@pytest.mark.parametrize(("mode", "most"), [("optimal", 1.0), ("rank", 1 + 0.5 * 3 / 8)])
def test_bound_charges_headers_per_chunk_only_without_merging(mode: str, most: float) -> None:
    hits = [of_words(rank, 10) for rank in (1, 2)]
    config = Config(header="{n}", separator="\n---\n", pack=mode, min_fragment=1)

    context = pack(hits, total=2, budget_tokens=11, counter=WORDS, config=config)

    assert account(context, hits, counter=WORDS, config=config).bound == pytest.approx(most, abs=1e-8)


def test_bound_charges_merged_chunk_for_unshared_text_only() -> None:
    text = "one two three four five"
    first, second = of_text(1, text[:18]), of_text(2, text[14:])
    assert first.chunk is not None
    assert second.chunk is not None
    second = second._replace(score=0.0, doc=first.doc, chunk=second.chunk._replace(offset=14, end=len(text)))
    nothing = Packed("", 1, 0, WORDS.name, 2, (), ())

    assert account(nothing, [first, second], counter=WORDS, config=Config()).bound == 1.0


def test_choice_that_never_fits_gives_an_empty_context() -> None:
    cubes = Counter("cubes", lambda text: len(text.split()) ** 3)

    context = pack_optimal(
        [of_words(1, 2)], total=1, budget_tokens=16, counter=cubes, config=Config(header="two words")
    )

    assert (context.text, context.used_tokens, [left.rank for left in context.omitted]) == ("", 0, [1])
    assert context.warnings == ("W_BUDGET: no whole chunk fits into 16 tokens; pack = rank cuts one",)


def test_coverage_needs_a_known_word() -> None:
    assert coverage(Packed("", 1, 0, WORDS.name, 0, (), ()), {}, {}) is None


def test_shingle_is_three_words_or_the_whole_shorter_text() -> None:
    assert shingles("One two THREE four") == {("one", "two", "three"), ("two", "three", "four")}
    assert [shingles(text) for text in ("a b c", "a b", "")] == [{("a", "b", "c")}, {("a", "b")}, frozenset()]


def test_texts_are_near_from_four_of_five_shingles() -> None:
    assert near_duplicates(["a b c d e f", "a b c d e f g", "a b c d e f h i"]) == ((0, 1),)


def worth_of(packed: Packed, hits: list[Hit]) -> int:
    ranks = {rank for block in packed.blocks for rank in block.ranks}
    return sum(value_of(hit) for hit in hits if hit.rank in ranks)


def count_candidates(packed: Packed) -> int:
    return sum(len(block.ranks) for block in packed.blocks) + sum(left.chunks for left in packed.omitted)


@given(ranked(), st.integers(1, 60), st.integers(0, 2))
def test_no_set_of_fitting_chunks_is_worth_more(hits: list[Hit], budget: int, diversity: int) -> None:
    config = Config(pack="optimal", diversity=diversity)

    packed = pack_optimal(hits, total=len(hits), budget_tokens=budget, counter=WORDS, config=config)

    best = 0
    for size in range(len(hits) + 1):
        for chosen in combinations(hits, size):
            paths = [hit.doc.path for hit in chosen]
            within = not diversity or all(paths.count(path) <= diversity for path in paths)
            if within and alone(chosen, config, WORDS) <= budget:
                best = max(best, sum(map(value_of, chosen)))
    assert worth_of(packed, hits) == best
    assert packed.used_tokens == WORDS.count(packed.text) <= budget
    assert count_candidates(packed) == packed.candidates == len(hits)


@given(ranked(), st.integers(1, 80), st.sampled_from([WORDS, APPROX, WAVY]), st.data())
def test_budget_holds_and_pins_come_first_for_any_counter(
    hits: list[Hit], budget: int, counting: Counter, data: st.DataObject
) -> None:
    pins = frozenset(data.draw(st.lists(st.sampled_from([f"{p}@{n}" for p in "ab" for n in range(20)]), max_size=2)))
    config = Config(pack="optimal", diversity=data.draw(st.integers(0, 2)))

    packed = pack_optimal(
        hits, total=len(hits) + 3, budget_tokens=budget, counter=counting, config=config, pinned=pins
    )

    assert packed.used_tokens == counting.count(packed.text) <= budget
    assert count_candidates(packed) == packed.candidates or not hits
    first = next((hit for hit in hits if hit.chunk and hit.chunk.id in pins), None)
    if first is not None and counting is WORDS and alone((first,), config, WORDS) < budget:
        assert first.rank in {rank for block in packed.blocks for rank in block.ranks}


@given(ranked(), st.integers(1, 80), st.sampled_from(["rank", "optimal"]), st.sampled_from([WORDS, APPROX]))
def test_bound_is_never_below_the_packed_worth(hits: list[Hit], budget: int, mode: str, counting: Counter) -> None:
    config = Config(pack=mode, min_fragment=1)
    packing = pack if mode == "rank" else pack_optimal
    packed = packing(hits, total=len(hits), budget_tokens=budget, counter=counting, config=config)

    figures = account(packed, hits, counter=counting, config=config)

    assert figures.value <= figures.bound + 1e-9
    assert figures.efficiency is None or 0 <= figures.efficiency <= 1 + 1e-9
    assert 0 <= figures.redundancy < 1


def many(count: int, *, documents: int) -> list[Hit]:
    """Return hits in rank order, of one to seven words, spread over `documents` documents."""
    hits = []
    for rank in range(1, count + 1):
        path, text = f"{rank % documents}.md", "word " * (1 + rank * 5 % 7)
        chunk = Chunk(f"c{rank}", path, rank * 1000, rank * 1000 + len(text), 1, 1, 1, None, text)
        document = Document(path, path, "h", MOMENT, 1, "t", None, (), {})
        hits.append(Hit(rank, 1 - rank / 1000, document, chunk, ()))
    return hits


def ranks_of(packed: Packed) -> list[int]:
    return [rank for block in packed.blocks for rank in block.ranks]


@pytest.mark.parametrize("diversity", [0, 2])
def test_optimal_packing_grows_with_budget_and_beats_rank_order(diversity: int) -> None:
    hits, before = many(270, documents=120), 0
    config = Config(pack="optimal", diversity=diversity)

    for budget in [*range(800, 1985, 15 if IS_NIGHTLY else 60), 1985]:
        packed = pack_optimal(hits, total=280, budget_tokens=budget, counter=WORDS, config=config)
        greedy = pack(hits, total=280, budget_tokens=budget, counter=WORDS, config=config)
        whole = {rank for block in greedy.blocks if not block.truncated for rank in block.ranks}

        assert worth_of(packed, hits) >= max(before, sum(value_of(hit) for hit in hits if hit.rank in whole))
        assert packed.used_tokens == WORDS.count(packed.text) <= budget
        assert count_candidates(packed) == packed.candidates == 280
        before = worth_of(packed, hits)

    shares = [hit.rank for hit in hits if not diversity or sum(h.doc == hit.doc for h in hits[: hit.rank]) <= 2]
    assert ranks_of(packed) == shares


def test_only_as_many_candidates_as_fit_are_considered() -> None:
    hits, read = many(400, documents=400), []
    stream = (read.append(hit.rank) or hit for hit in hits)  # type: ignore[func-returns-value]
    dropped, pinned = frozenset({"c203"}), frozenset({"c210"})
    room = alone(tuple(hit for hit in hits[:206] if hit.rank != 203), Config(), WORDS) + alone(
        (hits[209],), Config(), WORDS
    )

    packed = pack_optimal(
        stream, total=400, budget_tokens=room, counter=WORDS, config=Config(), pinned=pinned, dropped=dropped
    )

    assert ranks_of(packed) == [*(rank for rank in range(1, 207) if rank != 203), 210]
    left = [(each.reason, each.rank, each.chunks, each.chunk_id) for each in packed.omitted]
    assert left == [("dropped", 203, 1, "c203"), ("budget", 207, 1, "c207"), ("budget", 208, 192, "")]
    assert max(read) == 210


@given(st.lists(st.text("abc ", max_size=12), max_size=8))
def test_groups_are_near_their_leader_and_leaders_apart(texts: list[str]) -> None:
    def alike(left: str, right: str) -> bool:
        a, b = shingles(left), shingles(right)
        return bool(a & b) and len(a & b) / len(a | b) >= 0.8

    groups = near_duplicates(texts)

    followers = {position for group in groups for position in group[1:]}
    leaders = [position for position in range(len(texts)) if position not in followers]
    for group in groups:
        assert list(group) == sorted(group)
        assert all(alike(texts[group[0]], texts[member]) for member in group[1:])
    assert not any(alike(texts[a], texts[b]) for a in leaders for b in leaders if a < b)
