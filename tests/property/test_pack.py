"""The laws of packing for any documents, ranks and budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.pack.greedy import pack
from recall_core.text import ESTIMATES, Counter, counter
from recall_core.types import Chunk, Document, Hit, HitPassage, Packed

BYTES = Counter("bytes", lambda text: len(text.encode()))
WAVY = Counter("wavy", lambda text: len(text) - 2 * text.count("ab") + (len(text) & 1))
COUNTERS = {each.name: each for each in (*map(counter, ESTIMATES), BYTES, WAVY)}
ALPHABET = "ab  \n\ncd9.é日\u0301👩\u200d🇩"


class Case:
    """Texts by path, and hits that cut them into overlapping, touching and distant chunks, in any order."""

    def __init__(self, texts: dict[str, str], hits: list[Hit]) -> None:
        self.texts = texts
        self.hits = hits

    def __repr__(self) -> str:
        spans = [(hit.doc.path, hit.chunk.offset, hit.chunk.end) for hit in self.hits if hit.chunk]
        return f"Case({self.texts!r}, {spans!r})"


def _hit(rank: int, path: str, text: str, span: tuple[int, int], bounds: Sequence[int]) -> Hit:
    """Return a hit; four sorted offsets cut passage and match out of its chunk. Equal offsets mean none."""
    start, end = span
    line = text.count("\n", 0, start) + 1
    last = line + text.count("\n", start, max(end - 1, start))
    chunk = Chunk(f"{path}@{start}-{end}", path, start, end, line, last, 1, None, text[start:end])
    moment = "2026-01-01T00:00:00.000000Z"
    offset, first, after, stop = (start + min(each, end - start) for each in bounds)
    passage = HitPassage(offset, stop, (first, after), "Part", None) if offset < stop else None
    return Hit(rank, 0.5, Document(path, path, "h", moment, 1, "t", None, (), {}), chunk, (), passage=passage)


bounds = st.lists(st.integers(0, 60), min_size=4, max_size=4).map(sorted)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    texts = {
        path: draw(st.text(ALPHABET, min_size=2, max_size=60)) for path in ("a", "b c")[: draw(st.integers(1, 2))]
    }
    spans = st.sampled_from(sorted(texts)).flatmap(
        lambda path: st.tuples(
            st.just(path), st.integers(0, len(texts[path]) - 1), st.integers(1, len(texts[path])), bounds
        )
    )
    chosen = draw(st.lists(spans, max_size=9))
    hits = [
        _hit(rank, path, texts[path], (min(start, end - 1), max(start + 1, end)), each)
        for rank, (path, start, end, each) in enumerate(chosen, 1)
    ]
    return Case(texts, hits)


configs = st.builds(
    Config()._replace,  # with Config itself, hypothesis would invent every other setting too
    separator=st.sampled_from(["\n\n", "\n---\n", "", "x", " | "]),
    header=st.sampled_from(["[{n}] {path}:{lines}", "", "{heading}{n}", "# {title}"]),
    footer=st.sampled_from(["", "", "</x>", "two words"]),
    line_numbers=st.booleans(),
    min_fragment=st.integers(1, 6),
    diversity=st.integers(0, 3),
)


def _pack(case: Case, name: str, budget_tokens: int, config: Config) -> Packed:
    return pack(
        iter(case.hits),
        total=len(case.hits),
        budget_tokens=budget_tokens,
        counter=COUNTERS[name],
        config=config,
    )


def _shown_points(context: Packed) -> set[tuple[str, int]]:
    return {(block.doc.id, place) for block in context.blocks for place in range(block.offset, block.end)}


names = st.sampled_from(sorted(COUNTERS))
budgets = st.integers(1, 120)


@given(cases(), names, budgets, configs)
def test_context_fits_its_budget_and_reports_used_tokens(
    case: Case, name: str, budget_tokens: int, config: Config
) -> None:
    context = _pack(case, name, budget_tokens, config)

    assert COUNTERS[name].count(context.text) == context.used_tokens
    assert context.used_tokens <= budget_tokens or not context.blocks


@given(cases(), names, budgets, configs)
def test_every_block_is_a_slice_with_offsets_and_lines(
    case: Case, name: str, budget_tokens: int, config: Config
) -> None:
    context = _pack(case, name, budget_tokens, config)

    for number, block in enumerate(context.blocks, 1):
        text = case.texts[block.doc.path]
        assert block.number == number
        assert block.text == text[block.offset : block.end] != ""
        assert block.line_start == text.count("\n", 0, block.offset) + 1
        assert block.line_end == text.count("\n", 0, block.end - 1) + 1
        assert config.line_numbers or block.text in context.text
    assert [block.truncated for block in context.blocks[:-1]].count(True) == 0


@given(cases(), names, budgets, configs)
def test_packed_and_omitted_add_up_to_candidates(case: Case, name: str, budget_tokens: int, config: Config) -> None:
    context = _pack(case, name, budget_tokens, config)

    ranks = [rank for block in context.blocks for rank in block.ranks]
    accounted = ranks + [rank for left in context.omitted for rank in range(left.rank, left.rank + left.chunks)]
    assert sorted(accounted) == [hit.rank for hit in case.hits]
    assert context.candidates == len(case.hits)


@given(cases(), names, configs)
def test_raising_the_budget_never_loses_a_packed_code_point(case: Case, name: str, config: Config) -> None:
    before: set[tuple[str, int]] = set()
    for budget_tokens in range(1, 60):
        shown = _shown_points(_pack(case, name, budget_tokens, config))
        assert before <= shown
        before = shown


@given(cases(), budgets, configs)
def test_sum_of_parts_decides_like_the_whole_text(case: Case, budget_tokens: int, config: Config) -> None:
    for name in ESTIMATES:
        plain = Counter("plain", COUNTERS[name].count)
        options = {"total": len(case.hits), "budget_tokens": budget_tokens, "config": config}

        context = pack(case.hits, counter=plain, **options)  # type: ignore[arg-type]

        assert context._replace(counter=name) == _pack(case, name, budget_tokens, config)


@given(cases(), st.integers(1, 40))
def test_cut_block_is_the_longest_beginning_that_fits(case: Case, budget_tokens: int) -> None:
    config = Config(min_fragment=1)
    for name in (*ESTIMATES, "bytes"):
        context = _pack(case, name, budget_tokens, config)
        if not (context.blocks and context.blocks[-1].truncated):
            continue
        block = context.blocks[-1]
        whole = next(hit.chunk.text for hit in case.hits if hit.chunk and hit.rank == block.ranks[0])
        for longer in range(len(block.text) + 1, len(whole)):
            if _cuts_cleanly(whole, longer):
                last = block.line_start + whole.count("\n", 0, longer - 1)
                lines = f"{block.line_start}-{block.line_end}", f"{block.line_start}-{last}"
                text = context.text[: -len(block.text)].replace(*lines) + whole[:longer]
                assert COUNTERS[name].count(text) > budget_tokens


def _cuts_cleanly(text: str, index: int) -> bool:
    """Return True if the cut separates no grapheme cluster in the alphabet of these tests."""
    return text[index - 1] not in "\u200d🇩" and text[index] not in "\u0301\u200d🇩"


@pytest.mark.slow
@given(cases(), names, configs, st.data())
def test_pins_and_drops_keep_the_laws(case: Case, name: str, config: Config, data: st.DataObject) -> None:
    ids = sorted({hit.chunk.id for hit in case.hits if hit.chunk})
    some = st.frozensets(st.sampled_from(ids)) if ids else st.just(frozenset[str]())
    pinned, dropped = data.draw(some), data.draw(some)
    before: set[tuple[str, int]] = set()
    for budget_tokens in range(1, 60):
        context = pack(
            iter(case.hits),
            total=len(case.hits),
            budget_tokens=budget_tokens,
            counter=COUNTERS[name],
            config=config,
            pinned=pinned,
            dropped=dropped,
        )
        packed = sum(len(block.ranks) for block in context.blocks)
        assert packed + sum(left.chunks for left in context.omitted) == len(case.hits)
        assert before <= _shown_points(context)
        before = _shown_points(context)


@given(cases(), names, configs)
def test_cut_first_hit_keeps_passage_around_the_match(case: Case, name: str, config: Config) -> None:
    first = [hit for hit in case.hits[:1] if hit.passage]
    for hit in first:
        assert hit.passage is not None
        for budget_tokens in range(1, 60):
            blocks = _pack(case, name, budget_tokens, config).blocks
            if blocks and blocks[0].truncated:
                assert len(blocks) == 1
                block, passage = blocks[0], hit.passage
                assert max(block.offset, passage.offset) < min(block.end, passage.end)
                is_inside = passage.offset <= block.offset and block.end <= passage.end
                assert is_inside or (block.offset <= passage.offset and passage.end <= block.end)
