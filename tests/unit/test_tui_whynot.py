"""The Why not tab: counts with thousands separators, and unchanged names."""

from __future__ import annotations

from typing import Any

from recall_core.explain.whynot.fix import Change, by_effort
from recall_core.explain.whynot.question import Question
from recall_tui.analyses.explain import effort
from recall_tui.panes.whynot import top_for_fix, whynot_lines
from recall_tui.state.explaining import FixOffer, Missing
from recall_tui.widgets.draw import ASCII, UNICODE

SOUGHT = {"chunk_id": "c" * 64, "path": "notes/2024.md", "line_start": 1200, "line_end": 1240, "rank": 4321}
OTHER = {**SOUGHT, "chunk_id": "d" * 64, "rank": 5432}


def stage(name: str, detail: str, status: str = "pass", **evidence: Any) -> dict[str, Any]:
    return {"stage": name, "status": status, "detail": detail, "evidence": evidence or {"rank": 1}}


def drawn(*stages: dict[str, Any], remedies: tuple[FixOffer, ...] = (), **more: Any) -> str:
    target = {"text": "notes/2024.md", "kind": "document", "chunks": 2, "chosen": SOUGHT, "others": [OTHER]}
    view = {"target": target, "present": False, "verdict": "rank", "stages": list(stages), **more}
    whynot = Missing(view, in_list=False, remedies=remedies)  # type: ignore[arg-type]
    return "\n".join(line.plain for line in whynot_lines(whynot, 0, "", 118, UNICODE, is_whole=True))


def test_the_counts_of_a_stage_have_thousands_separators() -> None:
    for name, detail, expected in [
        (
            "fusion",
            "rank 4321 of 39010 with 0.123456, 0.001234 behind row 1000",
            "rank 4,321 of 39,010 with 0.123456",
        ),
        ("semantic", "cosine 0.5678, rank 4321 of 39010", "cosine 0.5678, rank 4,321 of 39,010"),
        ("lexical", "it holds 1 of 2 terms, rank 4321 of 39010; without weight: 2024", "rank 4,321 of 39,010; "),
        (
            "pool",
            "it is 4321 by lexical, and each signal proposes 2000",
            "4,321 by lexical, and each signal proposes 2,000",
        ),
        ("budget", "it has 1200 tokens, and 0 of 20000 are left", "1,200 tokens, and 0 of 20,000"),
        ("page", "row 4321 comes after the last one that is shown, 1000", "row 4,321 comes after"),
        ("truncated", "1234 of its 5678 characters are packed", "1,234 of its 5,678 characters"),
    ]:
        assert expected in drawn(stage(name, detail)), name


def test_names_words_and_values_are_shown_unchanged() -> None:
    for name, detail in [
        ("identify", "notes/2024 plan.md:1200-1240"),
        ("ingested", "notes of 2024.md was read"),
        ("filter", "doc.year is 2024"),
        ("lexical", "every word is needed, and it is without 2024"),
        ("lexical", "it holds 1 of 2 terms; in half of all chunks or more, and so with the least weight: 2024"),
    ]:
        assert detail in drawn(stage(name, detail)), detail


def test_ranks_in_stages_have_thousands_separators() -> None:
    terms = [{"text": "2024", "df": 3900, "idf": 0.5, "floored": False, "title": 0, "body": 1234}]
    shown = drawn(stage("lexical", "it holds none of the words", "fail", terms=terms))

    assert "notes/2024.md:1200-1240  rank 4,321  cccccccccccc" in shown
    assert "rank 5,432  dddddddddddd" in shown
    assert "2024 df 3,900 idf 0.500, title 0 body 1,234" in shown


def test_the_last_row_and_the_proof_have_thousands_separators() -> None:
    proof = {"kind": "never", "k": 1000, "best_rank": 1234, "at": 0.5, "always_ahead": 2345, "ahead": []}
    shown = drawn(stage("fusion", "", "fail", score=0.1, last=1000, last_score=0.2, gap=0.1), proof=proof)

    assert "row 1,000 has 0.200" in shown
    assert "in the top 1,000: its best rank is 1,234 at 0.5" in shown
    assert "2,345 chunks are ahead" in shown


def test_a_missing_proof_is_explained() -> None:
    shown = drawn(stage("fusion", "", "fail"), no_proof="the list shows copies once")

    assert "No proof: the list shows copies once." in shown


def test_a_fix_formats_its_counts_but_not_its_command() -> None:
    budget = FixOffer(
        "budget", "allow 12000 tokens instead of 2000", "recall context --budget-tokens 12000", "11999 tokens"
    )
    word = FixOffer("term", "add the word 2024", "recall search 'budget 2024'")
    both = FixOffer(
        "pool+k", "let each signal propose 2000 instead of 200; ask for 1200 rows instead of 10", "recall x"
    )

    shown = drawn(stage("fusion", "", "fail"), remedies=(budget, word, both))

    assert "allow 12,000 tokens instead of 2,000; 11,999 tokens is not enough" in shown
    assert "$ recall context --budget-tokens 12000" in shown
    assert "add the word 2024;" in shown
    assert "let each signal propose 2,000 instead of 200; ask for 1,200 rows instead of 10" in shown


def test_a_long_path_loses_its_front_only() -> None:
    long = {"path": "a/folder/with/a/long/name/in/a/folder/of/other/folders/on/some/other/disk/notes/2024.md"}
    target = {"text": "2024", "kind": "document", "chunks": 2, "chosen": SOUGHT | long, "others": [OTHER | long]}
    view = {"target": target, "present": False, "verdict": "rank", "stages": []}
    whynot = Missing(view, in_list=False)  # type: ignore[arg-type]

    lines = [line.plain for line in whynot_lines(whynot, 0, "", 60, ASCII)]

    assert "   </disk/notes/2024.md:1200-1240  rank 4,321  cccccccccccc" in lines
    assert any(line.startswith("  </disk/notes/2024.md:1200-1240  rank 5,432  dddddddddddd") for line in lines)
    assert max(map(len, lines)) <= 60


def account(*stages: dict[str, Any], remedies: tuple[FixOffer, ...] = (), **more: Any) -> list[str]:
    view = {"target": {"text": "2024", "kind": "document", "chunks": 1, "chosen": SOUGHT}, "present": False}
    view |= {"verdict": "limit", "stages": list(stages), **more}
    whynot = Missing(view, in_list=False, remedies=remedies, k=50)  # type: ignore[arg-type]
    applied = ("drop the filter", "ask for 60 rows")
    return [line.plain.rstrip() for line in whynot_lines(whynot, 0, "", 118, UNICODE, applied=applied)]


def test_the_verdict_comes_first_then_fixes_then_stages() -> None:
    stages = [
        stage("indexed", "it is indexed"),
        stage("page", "row 61 comes after the last one that is shown, 50", "fail", last=50),
        stage("sparse", "off", "not_applicable"),
        stage("lexical", "it holds 1 of 2 terms"),
    ]
    fix = FixOffer("k", "ask for 61 rows", "recall x", "60 rows", "rank 61 of 61 with it", k=61)

    lines = account(*stages, remedies=(fix,))

    assert lines[0] == "✗ not in the top 50: row 61 comes after the last one that is shown, 50"
    assert lines[1].strip().startswith("notes/2024.md:1200-1240  rank 4,321")
    assert lines[2:6] == [
        "✓ applied: drop the filter",
        "✓ applied: ask for 60 rows; u undoes it",
        "1 fix: Enter applies it",
        "▶ ask for 61 rows; 60 rows is not enough · rank 61 of 61 with it",
    ]
    assert lines[7] == "✗  page      row 61 comes after the last one that is shown, 50"
    assert lines[8:] == ["passed: indexed, lexical", "not applied: sparse"]


def test_the_chosen_fix_is_visible_below_the_pinned_lines() -> None:
    for place, top, height, begins in [(0, 5, 9, 0), (1, 0, 9, 0), (2, 0, 7, 2), (1, 9, 7, 3)]:
        fixes = tuple(FixOffer("k", f"fix {at}", "recall x") for at in range(3))
        view = {
            "target": {"text": "x", "kind": "text", "chunks": 0},
            "present": False,
            "verdict": "limit",
            "stages": [],
        }
        whynot = Missing(view, in_list=False, remedies=fixes)  # type: ignore[arg-type]
        lines = whynot_lines(whynot, place, "", 60, UNICODE)

        assert top_for_fix(lines, place, top, height) == begins, (place, top, height, begins)


def test_an_applied_fix_stays_visible_above_a_long_one() -> None:
    for height, begins in [(7, 0), (6, 0), (5, 2)]:
        fix = FixOffer("k", "ask for 61 rows", "recall search " + "words " * 30, k=61)
        view = {
            "target": {"text": "x", "kind": "text", "chunks": 0},
            "present": False,
            "verdict": "limit",
            "stages": [],
        }
        whynot = Missing(view, in_list=False, remedies=(fix,))  # type: ignore[arg-type]
        lines = whynot_lines(whynot, 0, "", 60, UNICODE, applied=("drop the filter",))
        assert lines[4].plain.rstrip() == "▶ ask for 61 rows", height

        assert top_for_fix(lines, 0, 0, height) == begins, height


def test_fixes_keep_the_order_of_the_command() -> None:
    kinds = ["term", "filter", "budget", "weight", "spelling", "k+filter", "pin", "k", "match"]
    offers = [FixOffer(kind, kind, "recall x") for kind in kinds]

    text = [each.kind for each in sorted(offers, key=effort)]

    changes = [Change(kind, "", Question(""), {}, 1) for kind in kinds if kind != "pin"]
    assert [kind for kind in text if kind != "pin"] == [change.kind for change in by_effort(changes)]
    assert text == [*("filter", "match", "budget", "k+filter", "pin", "k", "spelling", "weight", "term")]
