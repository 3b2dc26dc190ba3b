"""Packing by example: headers, merging, the misfit, and the record of every omitted hit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest

from recall_core.config import Config
from recall_core.pack.account import count_spent
from recall_core.pack.graphemes import floor_boundary
from recall_core.pack.greedy import pack
from recall_core.text import Counter, counter
from recall_core.types import Chunk, Document, Hit, Omission, Packed

WORDS = counter("whitespace")


def document(name: str) -> Document:
    return Document(f"id-{name}", name, "h", "2026-01-01T00:00:00.000000Z", 1, name.title(), None, (), {})


def hit(rank: int, name: str, text: str, *, offset: int = 0, line: int = 1, heading: str | None = None) -> Hit:
    lines = line, line + text.count("\n", 0, max(len(text) - 1, 0))
    end = offset + len(text)
    chunk = Chunk(f"{name}@{offset}", f"id-{name}", offset, end, *lines, len(text.split()), heading, text)
    return Hit(rank, None, document(name), chunk, ())


def cut(rank: int, name: str, text: str, start: int, end: int) -> Hit:
    return hit(rank, name, text[start:end], offset=start, line=text.count("\n", 0, start) + 1)


def pack_hits(hits: list[Hit], budget_tokens: int, config: Config | None = None, **options: object) -> Packed:
    chosen = Config(min_fragment=1) if config is None else config
    return pack(
        hits,
        total=len(hits),
        budget_tokens=budget_tokens,
        counter=WORDS,
        config=chosen,
        **options,  # type: ignore[arg-type]
    )


def test_blocks_follow_rank_order_under_their_headers() -> None:
    context = pack_hits([hit(1, "b.md", "one two"), hit(2, "a.md", "three\nfour", line=7)], 100)

    assert context.text == "[1] b.md:1-1\none two\n\n[2] a.md:7-8\nthree\nfour"
    assert context.used_tokens == 8
    assert context.omitted == ()


def test_headers_and_separators_count() -> None:
    hits = [hit(1, "a", "one"), hit(2, "b", "two")]
    config = Config(separator="\n---\n", min_fragment=1)

    assert len(pack_hits(hits, 7, config).blocks) == 2
    assert len(pack_hits(hits, 6, config).blocks) == 1


def test_header_template_can_use_every_field() -> None:
    config = Config(header="{n}|{path}|{lines}|{title}|{heading}")

    context = pack_hits([hit(1, "a.md", "x", line=3, heading="Intro")], 10, config)

    assert context.text == "1|a.md|3-3|A.Md|Intro\nx"


def test_empty_header_omits_the_line() -> None:
    assert pack_hits([hit(1, "a", "x"), hit(2, "b", "y")], 10, Config(header="")).text == "x\n\ny"


def test_adjacent_chunks_merge_at_the_place_of_the_first() -> None:
    text = "alpha beta\ngamma delta\nepsilon"
    hits = [
        cut(1, "d", text, 6, 17),
        hit(2, "other", "zeta"),
        cut(3, "d", text, 0, 11),
        cut(4, "d", text, 17, len(text)),
    ]

    context = pack_hits(hits, 100)

    assert [block.doc.path for block in context.blocks] == ["d", "other"]
    merged = context.blocks[0]
    assert merged.text == text
    assert (merged.offset, merged.end, merged.line_start, merged.line_end) == (0, len(text), 1, 3)
    assert merged.ranks == (1, 3, 4)
    assert merged.chunk_ids == ("d@6", "d@0", "d@17")


@pytest.mark.parametrize("name", ["whitespace", "approx"])
def test_chunk_that_extends_a_block_counts_with_it(name: str) -> None:
    text = "alpha beta " * 20
    hits = [cut(rank, "d", text, 55 * (rank - 1), 55 * rank) for rank in (1, 2, 3, 4)]
    roughly, config = counter(name), Config(header="", min_fragment=10_000)

    context = pack(hits, total=4, budget_tokens=roughly.count(text) - 1, counter=roughly, config=config)

    assert context.blocks[0].ranks == (1, 2, 3)
    assert context.used_tokens == roughly.count(text[:165])


@pytest.mark.parametrize(("parts", "tokens"), [(("al", "pha ", "beta"), 2), (("alpha ", "be", "ta"), 2)])
def test_word_shared_by_two_chunks_counts_once(parts: tuple[str, ...], tokens: int) -> None:
    text = "".join(parts)
    starts = [text.index(part) for part in parts]
    hits = [
        cut(rank, "d", text, start, start + len(part))
        for rank, (start, part) in enumerate(zip(starts, parts, strict=True), 1)
    ]
    config = Config(header="", min_fragment=10_000)

    assert pack_hits(hits, tokens, config).text == text
    assert pack_hits(hits, tokens - 1, config).used_tokens < tokens


def test_word_cut_by_an_overlap_counts_once() -> None:
    text, config = "alpha beta gamma", Config(header="", min_fragment=10_000)
    hits = [cut(1, "d", text, 0, 8), cut(2, "d", text, 6, 16)]

    assert pack_hits(hits, 3, config).text == text
    assert pack_hits(hits, 2, config).text == "alpha be"


def test_merged_block_has_the_heading_of_its_best_hit() -> None:
    early, late = hit(2, "d", "alpha ", heading="First"), hit(1, "d", "beta", offset=6, heading="A second heading")
    config = Config(header="{heading}")

    context = pack_hits([late, early], 100, config)

    assert context.text == "A second heading\nalpha beta"
    assert count_spent(context, counter=WORDS, config=config) == (2, 3, 0)


def test_merged_block_joins_line_places_and_keeps_other_places() -> None:
    for early, late, place in [
        ("line 2", "line 3-4", "line 2-4"),
        ("line 2-5", "line 4-9", "line 2-9"),
        ("line 7", "line 7", "line 7"),
        ("page 2", "page 3", "page 3"),
    ]:
        hits = [hit(1, "d", "beta", offset=6), hit(2, "d", "alpha ")]
        placed = [
            each._replace(chunk=each.chunk and each.chunk._replace(place=own))
            for each, own in zip(hits, (late, early), strict=True)
        ]

        (block,) = pack_hits(placed, 100).blocks

        assert block.place == place, (early, late)


def test_bridging_chunk_joins_two_blocks_and_renumbers() -> None:
    text = "alpha beta gamma"
    hits = [cut(1, "d", text, 0, 6), cut(2, "d", text, 11, 16), hit(3, "x", "y"), cut(4, "d", text, 6, 11)]

    context = pack_hits(hits, 100)

    assert [(block.number, block.text) for block in context.blocks] == [(1, text), (2, "y")]
    assert "[2] x:1-1\ny" in context.text
    assert context.blocks[0].ranks == (1, 2, 4)


@pytest.mark.parametrize("backwards", [False, True])
def test_growing_block_without_white_space_is_not_recounted(backwards: bool) -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return WORDS.count(text)

    text = "a" * 200_000 + " end"
    cuts = [*range(0, len(text), 1_000), len(text)]
    spans = [(max(0, start - 100), end) for start, end in pairwise(cuts)]
    spans = spans[::-1] if backwards else spans
    hits = [cut(rank, "a.min.js", text, *ends) for rank, ends in enumerate(spans, 1)]

    context = pack(hits, total=201, budget_tokens=9, counter=Counter("whitespace", count), config=Config())

    assert context.text.endswith(text)
    assert context.used_tokens == 4
    assert counted < 5 * len(text)


def test_chunks_of_two_documents_with_one_path_do_not_merge() -> None:
    second = hit(2, "a", "two", offset=3)
    second = second._replace(doc=second.doc._replace(id="another version"))

    assert len(pack_hits([hit(1, "a", "one"), second], 100).blocks) == 2


def test_chunk_already_shown_is_a_duplicate() -> None:
    text = "alpha beta gamma"
    hits = [cut(1, "d", text, 0, 16), cut(2, "d", text, 6, 10), cut(3, "d", text, 0, 16)]

    context = pack_hits(hits, 100)

    assert [(left.reason, left.rank) for left in context.omitted] == [("duplicate", 2), ("duplicate", 3)]
    assert context.blocks[0].chunk_ids == ("d@0",)


def test_first_misfit_is_cut_and_the_rest_is_one_entry() -> None:
    hits = [
        hit(1, "a", "one two"),
        hit(2, "b", "three four\nfive six", line=4),
        hit(3, "c", "7"),
        hit(4, "d", "8"),
    ]

    context = pack_hits(hits, 8)

    cut_block = context.blocks[-1]
    assert cut_block.truncated
    assert cut_block.text == "three four\n"
    assert (cut_block.end, cut_block.line_start, cut_block.line_end) == (11, 4, 4)
    assert context.omitted == (Omission("budget", 3, 2, "c@0", "c"),)
    assert context.used_tokens == 8


def test_too_short_beginning_is_omitted_with_its_tail() -> None:
    hits = [hit(1, "a", "one"), hit(2, "b", "two three four"), hit(3, "c", "x")]

    context = pack_hits(hits, 7, Config(min_fragment=3))

    assert [block.doc.path for block in context.blocks] == ["a"]
    assert context.omitted == (Omission("budget", 2, 2, "b@0", "b"),)


def test_first_chunk_is_cut_however_short_the_beginning() -> None:
    context = pack_hits([hit(1, "a", "one two three")], 3, Config(min_fragment=16))

    assert context.blocks[0].text == "one "
    assert context.used_tokens == 3


def test_misfit_is_never_merged() -> None:
    text = "alpha beta gamma delta epsilon zeta"
    context = pack_hits([cut(1, "d", text, 0, 10), cut(2, "d", text, 6, 35)], 7)

    assert [block.text for block in context.blocks] == ["alpha beta", "beta "]


@pytest.mark.parametrize("budget_tokens", [1, 2])
def test_budget_below_one_header_gives_an_empty_context(budget_tokens: int) -> None:
    context = pack_hits([hit(1, "a", "one two"), hit(2, "b", "x")], budget_tokens)

    assert (context.text, context.used_tokens, context.blocks) == ("", 0, ())
    assert context.warnings == (
        f"W_BUDGET: a budget of {budget_tokens} is below the first header and a token of text (3)",
    )
    assert context.omitted == (Omission("budget", 1, 2, "a@0", "a"),)


def test_no_candidates_give_an_empty_context_without_a_warning() -> None:
    assert pack_hits([], 5) == Packed("", 5, 0, "whitespace", 0, (), ())


def test_diversity_limits_chunks_per_path_and_packing_continues() -> None:
    hits = [hit(1, "a", "one"), hit(2, "a", "two", offset=50), hit(3, "b", "three")]

    context = pack_hits(hits, 100, Config(diversity=1))

    assert [block.doc.path for block in context.blocks] == ["a", "b"]
    assert context.omitted == (Omission("diversity", 2, 1, "a@50", "a"),)


def test_pinned_hits_come_first_and_dropped_hits_are_named() -> None:
    hits = [hit(rank, name, name * 2) for rank, name in enumerate("abcde", 1)]

    context = pack_hits(hits, 100, pinned=frozenset({"e@0", "c@0", "a@0"}), dropped=frozenset({"b@0", "a@0"}))

    assert [block.doc.path for block in context.blocks] == ["c", "e", "d"]
    assert [(left.reason, left.chunk_id) for left in context.omitted] == [
        ("dropped", "a@0"),
        ("dropped", "b@0"),
    ]


def test_pin_outside_the_candidates_is_reported() -> None:
    context = pack_hits([hit(1, "a", "x")], 100, pinned=frozenset({"nowhere"}))

    assert context.warnings == ("W_PIN: nowhere is not a candidate",)
    assert len(context.blocks) == 1


def test_candidates_are_read_up_to_one_after_the_misfit() -> None:
    read: list[int] = []

    def stream() -> Iterator[Hit]:
        for rank in range(1, 1_001):
            read.append(rank)
            yield hit(rank, f"d{rank}", "one two three four")

    context = pack(stream(), total=1_000, budget_tokens=15, counter=WORDS, config=Config(min_fragment=1))

    assert read == [1, 2, 3, 4]
    assert context.omitted == (Omission("budget", 4, 997, "d4@0", "d4"),)


def test_cut_never_splits_a_visible_character() -> None:
    family = "👩\u200d👩\u200d👧"
    letters = Counter("letters", lambda text: len(text.encode()))

    context = pack(
        [hit(1, "a", f"ab{family}cd")],
        total=1,
        budget_tokens=len("[1] a:1-1\nab") + 10,
        counter=letters,
        config=Config(),
    )

    assert context.blocks[0].text == "ab"


def test_non_monotonic_counter_still_keeps_the_budget() -> None:
    odd = Counter("odd", lambda text: len(text) - 4 * text.count("the"))
    text = "on the other side of the weather the mother gathers"
    shown = 0
    for budget_tokens in range(1, len(text) + 20):
        hits: Iterable[Hit] = [hit(1, "a", text)]
        context = pack(hits, total=1, budget_tokens=budget_tokens, counter=odd, config=Config())
        assert odd.count(context.text) == context.used_tokens <= budget_tokens
        grown = sum(len(block.text) for block in context.blocks)
        assert grown >= shown
        shown = grown


def test_same_hits_give_the_same_bytes() -> None:
    hits = [hit(1, "a", "one two"), hit(2, "b", "three four five")]

    assert pack_hits(hits, 8) == pack_hits(list(hits), 8)


def test_grapheme_has_no_boundary_inside() -> None:
    for cluster in [
        "\r\n",
        "e\u0301\u0323",
        "e\u036f",
        "א\u05bf",
        "❤\ufe0f",
        "👍🏽",
        "👩\u200d💻",
        "👩🏽\u200d❤\ufe0f\u200d👩",
        "🇩🇪",
        "1\ufe0f\u20e3",
        "각",
        "\u1100\u1161\u11a8",
        "가\u11a8",
        "가\u1161",
        "\u115f\u1160",
        "\ua97c\u11a7",
        "\u1100\ud7c6",
        "\u1161\u11ff",
        "\ud7b0\ud7fb",
        "कि",
        "🏴\U000e0067\U000e007f",
    ]:
        text = f"x{cluster}y"

        assert [floor_boundary(text, index) for index in range(1, len(cluster) + 1)] == [1] * len(cluster), cluster
        assert floor_boundary(text, len(cluster) + 1) == len(cluster) + 1, cluster


def test_flags_pair_from_the_left() -> None:
    text = "🇩🇪🇫🇷🇮"

    assert [floor_boundary(text, index) for index in range(6)] == [0, 0, 2, 2, 4, 5]


def test_independent_characters_can_be_split() -> None:
    for text in ["a\u200db", "\n\u0301", "日本", "\u200d👩", "aa", "각\u1161"]:
        last = len(text) - 1

        assert floor_boundary(text, last) == last, text


def test_boundary_outside_the_text_is_its_nearest_end() -> None:
    assert (floor_boundary("abc", -2), floor_boundary("abc", 9), floor_boundary("", 3)) == (0, 3, 0)
