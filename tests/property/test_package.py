"""A package is verbatim, cited, within its budget, and the same bytes every time."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.errors import ConfigError, UsageError
from recall_core.steps import NO_METADATA, Candidate, ChunkPolicy, PackagePolicy, Piece, Segment, chunk, package
from recall_core.text import counter

WORDS = ("deploy", "undo", "team.", "Backups", "run.", "\n", "\r\n", "色鱼", "é", "[1] a:1-2\n", "<b>")
TEXTS = {
    name: " ".join(Random(name).choices(WORDS, k=60))
    if name != "copy"
    else " ".join(Random("a").choices(WORDS, k=60))
    for name in ("a", "b#1", "copy", "d e")
}
PIECES = chunk(
    [Segment(name, text, tags=("t",), metadata={"n": name}) for name, text in TEXTS.items()],
    ChunkPolicy(chunk_tokens=9, overlap_tokens=2),
)


def candidate(piece: Piece, score: float) -> Candidate:
    text = TEXTS[piece.doc_id]
    line = 1 + text.count("\n", 0, piece.offset)
    place = piece.doc_id, piece.chunk_index, piece.content, score, piece.offset
    return Candidate(*place, piece.tags, piece.metadata, line)


ranked = st.lists(st.sampled_from(PIECES), max_size=12).map(
    lambda pieces: [candidate(piece, 1 / rank) for rank, piece in enumerate(pieces, 1)]
)
policies = st.builds(
    PackagePolicy,
    budget_tokens=st.integers(1, 80),
    counter=st.sampled_from(("whitespace", "approx")),
    format=st.sampled_from(("plain", "markdown", "xml")),
    diversity=st.integers(0, 2),
)


@given(ranked, policies)
def test_package_is_verbatim_cited_and_within_budget(candidates: list[Candidate], policy: PackagePolicy) -> None:
    made = package("undo a deploy", candidates, policy)
    by_key = {(each.doc_id, each.chunk_index): each for each in reversed(candidates)}

    assert counter(policy.counter).count(made.text) == made.used_tokens <= policy.budget_tokens
    for each in made.evidence:
        text = TEXTS[each.doc_id]
        assert text[each.offset : each.end] == each.text
        assert each.text in made.text
        first = 1 + text.count("\n", 0, each.offset)
        last = 1 + text.count("\n", 0, max(each.end - 1, each.offset))
        assert each.citation == f"{each.doc_id}:{first}-{last}"
        own = [by_key[each.doc_id, number] for number in each.chunk_indexes]
        assert each.score == max(one.score for one in own)
        assert each.metadata == {"n": each.doc_id}
    packed = sum(len(each.chunk_indexes) for each in made.evidence)
    assert packed + sum(each.chunks for each in made.omitted) == len(by_key)
    assert package("undo a deploy", [*candidates, *candidates], policy) == made
    assert json.loads(made.to_json())["evidence"] == [
        {**each._asdict(), "chunk_indexes": [*each.chunk_indexes], "tags": [*each.tags]} for each in made.evidence
    ]


def test_copies_of_a_text_are_packed_once() -> None:
    given = [Candidate(name, 0, "To undo a deploy, ask.", 1.0, 0, (), {}) for name in ("b", "a", "c")]
    made = package("undo", [*given, Candidate("d", 3, "Another text.", 0.5, 7, (), {})])
    assert [each.doc_id for each in made.evidence] == ["b", "d"]
    assert [(each.reason, each.rank, each.chunks, each.path) for each in made.omitted] == [("copy", 1, 2, "a")]


def test_cut_candidate_keeps_its_sentence_for_the_query() -> None:
    text = "Backups run every night at two. To undo a deploy, run it with undo. The team reads mail at noon. "
    made = package("undo a deploy", [Candidate("a", 0, text, 1.0, 0, (), {})], PackagePolicy(budget_tokens=10))
    assert (made.evidence[0].text.strip(), made.evidence[0].is_cut) == ("To undo a deploy, run it with undo.", True)


def test_package_without_candidates_is_empty_json() -> None:
    made = package("nothing", [])
    assert (made.text, made.evidence, made.omitted, made.warnings) == ("", (), (), ())
    assert json.loads(made.to_json()) == {
        "budget_tokens": 2000,
        "counter": "whitespace",
        "evidence": [],
        "omitted": [],
        "query": "nothing",
        "spec_version": "0.3.0",
        "text": "",
        "used_tokens": 0,
        "warnings": [],
    }


def test_frozen_metadata_goes_to_json() -> None:
    made = package("x", [Candidate("a", 0, "x y", 0.5, 7, ("t",), NO_METADATA, 3, "page 2")])
    assert made.evidence[0].citation == "a#page=2"
    assert json.loads(made.to_json())["evidence"][0]["metadata"] == {}


def test_impossible_policies_are_refused() -> None:
    for policy in (PackagePolicy(budget_tokens=0), PackagePolicy(format="html"), PackagePolicy(diversity=-1)):
        with pytest.raises((UsageError, ConfigError)) as refused:
            package("x", [], policy)
        assert refused.value.code == "bad_value", policy
