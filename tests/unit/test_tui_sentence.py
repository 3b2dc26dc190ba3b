"""The sentence above a ledger, for each reason of a place."""

from __future__ import annotations

from typing import Any, cast

from recall_core.contract.ledger import LedgerView
from recall_core.types import Chunk, Document, Hit, Injection, Part, Signal
from recall_tui.panes.ledger import sentence
from recall_tui.state.explaining import RowsAround

DOCUMENT = Document("d" * 64, "a.txt", "h", "2023-11-14T22:13:20.000000Z", 1, "t", None, (), {})


def part(signal: Signal, points: float, rank: int | None = 1, weight: float = 0.5) -> Part:
    return Part(signal, None if rank is None else points, points, weight, rank, points)


def hit(rank: int, *parts: Part, **more: Any) -> Hit:
    chunk = Chunk("c" * 64, DOCUMENT.id, 0, 4, 1, 1, 1, None, "text")
    score = sum(each.points for each in parts) if parts else None
    return Hit(rank, score, DOCUMENT, chunk, parts)._replace(**more)


def term(text: str, df: int, points: float) -> dict[str, Any]:
    return {"kind": "term", "text": text, "df": df, "points": points}


def view(*leaves: dict[str, Any], **neighbours: tuple[int, float, str]) -> LedgerView:
    """neighbours: rank, margin and decision by side."""
    sides = [
        {"side": side, "rank": rank, "margin": margin, "decided_by": by}
        for side, (rank, margin, by) in neighbours.items()
    ]
    parts = [{"signal": "lexical", "leaves": list(leaves)}]
    return cast("LedgerView", {"neighbours": sides, "of": 2_596, "explain": {"parts": parts}})


def around(**more: Any) -> RowsAround:
    return RowsAround(1_420, **{"first": {}, "df": {}, **more})


def said(row: Hit, ledger: LedgerView | None = None, rows: RowsAround | None = None) -> str:
    return "".join(f"*{each.text}*" if each.is_word else each.text for each in sentence(row, ledger, rows))


BOTH = part("lexical", 0.5), part("semantic", 0.25, 3)
FIRST = {1: ("aeroelastic", "wing"), 2: ("wing",), 3: ("wing",)}


def test_a_decisive_word_of_one_row_is_the_reason() -> None:
    ledger = view(term("aeroelastic", 18, 0.4), term("wing", 300, 0.1), below=(2, 0.2, "score"))

    text = said(hit(1, *BOTH), ledger, around(first=FIRST, held=FIRST[1]))

    assert text == "First: only this row of the first 3 contains *aeroelastic*, found in 18 of 1,420 chunks."


def test_a_word_of_one_chunk_is_counted_in_the_store() -> None:
    ledger = view(term("aeroelastic", 1, 0.4), below=(815, 0.2, "score"))

    text = said(hit(814, *BOTH), ledger, around(first=FIRST))

    assert text == "Row 814 of 2,596: only this chunk of 1,420 contains *aeroelastic*."


def test_a_word_without_effect_is_not_the_reason() -> None:
    for margin, first in [(0.4, FIRST), (0.2, {**FIRST, 2: ("aeroelastic",)}), (0.2, {1: FIRST[1]})]:
        ledger = view(term("aeroelastic", 18, 0.4), below=(2, margin, "score"))

        text = said(hit(1, *BOTH), ledger, around(first=first, held=first[1]))

        assert text == "First: best match of words, 3rd in meaning, most by *aeroelastic* (18 of 1,420).", first


def test_the_row_above_is_named_with_its_rarest_extra_word() -> None:
    own = part("lexical", 0.2, 3), part("semantic", 0.5)
    above = hit(1, part("lexical", 0.6), part("semantic", 0.2, 2))
    rows = around(
        df={"hard limit": 4, "budget": 88, "token": 240},
        held=("token",),
        above=above,
        held_above=("budget", "hard limit", "token"),
    )

    text = said(hit(2, *own), view(above=(1, 0.1, "score")), rows)

    assert text == "Second: nearest in meaning, 3rd by words; #1 also contains *hard limit* (4 of 1,420)."


def test_without_an_extra_word_the_leading_signal_is_named() -> None:
    for above, expected in [
        ((part("lexical", 0.6), part("semantic", 0.2, 2)), "#1 matches the words better."),
        ((part("lexical", 0.1, 4), part("semantic", 0.9, 1)), "#1 is nearer in meaning."),
        ((part("lexical", 0.2), part("semantic", 0.2), part("rerank", 0.9)), "the reranker puts #1 higher."),
    ]:
        row = hit(2, part("lexical", 0.3, 2), part("semantic", 0.3, 2))

        assert said(row, view(above=(1, 0.1, "score")), around(above=hit(1, *above))) == (
            f"Second: 2nd by words and in meaning; {expected}"
        ), above


def test_ranks_of_weighted_signals_are_shown() -> None:
    for parts, expected in [
        ([part("lexical", 0.5)], "best match of words, the only signal."),
        ([part("semantic", 0.5, 12)], "12th in meaning, the only signal."),
        ([part("lexical", 0.0, None), part("semantic", 0.5)], "nearest in meaning, no query term."),
        ([part("lexical", 0.5), part("semantic", 0.0, None)], "best match of words, no vector."),
        ([part("lexical", 0.5), part("semantic", 0.5)], "best match of words and nearest in meaning."),
        ([part("lexical", 0.5, 2), part("semantic", 0.9, 1, weight=0)], "2nd by words."),
        ([part("lexical", 0.0, None), part("semantic", 0.0, 9)], "no signal ranks it."),
    ]:
        assert said(hit(1, *parts)) == f"First: {expected}", parts


def test_a_tie_names_its_rule() -> None:
    for above, below, expected in [
        ((2, 0.0, "path"), (4, 0.5, "score"), "its score equals that of #2, and equal scores go by path."),
        (
            (2, 0.0, "offset"),
            (4, 0.0, "path"),
            "its score equals those of #2 and #4, and equal scores in a document go by place.",
        ),
        (
            (2, 0.0, "fused"),
            (4, 0.1, "score"),
            "its score equals that of #2, and equal scores keep their order from before the reranker.",
        ),
        ((2, -0.3, "order_by"), (4, 0.2, "order_by"), "ORDER BY sets the place, not the score."),
    ]:
        assert said(hit(3, *BOTH), view(above=above, below=below), around()) == f"Third: {expected}", above


def test_a_first_row_by_a_tie_says_so() -> None:
    text = said(hit(1, *BOTH), view(below=(2, 0.0, "path")), around())

    assert text == "First: its score equals that of #2, and equal scores go by path."


def test_a_tie_below_does_not_explain_a_leading_row() -> None:
    text = said(hit(3, *BOTH), view(above=(2, 0.1, "score"), below=(4, 0.0, "path")), around())

    assert text == "Third: best match of words, 3rd in meaning."


def test_a_row_added_by_recall_is_explained() -> None:
    given = Injection(0.125, None)
    row = hit(4, *BOTH, injection=given)

    assert said(row) == "Fourth: sparse-document recall added it, as it is short and near, at distance 0.125."
    below = said(hit(5, *BOTH), view(above=(4, -0.2, "recall")), around(above=row))
    assert below.endswith("; #4 was added by sparse-document recall.")


def test_rows_without_scores_and_documents_are_explained() -> None:
    assert said(hit(2)) == "Second: the query names no signal, so rows have an order but no score."
    assert said(hit(1, *BOTH), view(), around(of_documents=True)) == (
        "First of the documents, by its best chunk: best match of words, 3rd in meaning."
    )


def test_a_word_is_neutralised_like_a_name() -> None:
    ledger = view(term("a\x1b[2J\nb", 1, 0.4), below=(2, 0.2, "score"))

    assert said(hit(1, *BOTH), ledger, around()) == "First: only this chunk of 1,420 contains *a[2J b*."
