"""Pins and exclusions, the chosen line, the slider's scale, and the drawing of the context, without a screen."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recall_core.types import Block, Chunk, Document, Hit, Omission, Packed
from recall_tui.actions.table import TABLE, Table
from recall_tui.panes.context import DIM, Look, budget_line, flow, gauge_line, listing, sums, title, under_line
from recall_tui.state import packing
from recall_tui.state.events import Repacked
from recall_tui.state.packing import Worth
from recall_tui.state.records import ContextState, Packing, QueryState, Waiting
from recall_tui.state.session import Session, move_cursor
from recall_tui.state.transitions import after
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs

BOTH = [UNICODE, ASCII]
WIDTHS = [37, 46, 78, 118]


CHUNK = Chunk("c1", "d" * 64, 0, 9, 1, 1, 2, None, "Some text")


def document(path: str) -> Document:
    return Document("d" * 64, path, "h" * 64, "2024-01-01T00:00:00.000000Z", 9, "", None, (), {})


def block(
    number: int,
    *chunk_ids: str,
    text: str = "Some text.\nMore of it.\n",
    truncated: bool = False,
    heading: str = "",
) -> Block:
    place = document(f"docs/{chunk_ids[0]}.md")
    return Block(number, place, 0, len(text), 1, 2, text, chunk_ids, (number,), "end" if truncated else None, heading)


def context(*blocks: Block, omitted: tuple[Omission, ...] = (), budget_tokens: int = 100) -> Packed:
    candidates = sum(len(each.chunk_ids) for each in blocks) + sum(left.chunks for left in omitted)
    text = "\n\n".join(each.text for each in blocks)
    return Packed(text, budget_tokens, 40, "whitespace", candidates, blocks, omitted)


def shown(packed: Packed, *, waiting: tuple[Waiting, ...] = (), generation: int = 1) -> Session:
    """Return a session that shows this context."""
    session = Session(
        query=QueryState(generation=generation), context=ContextState(budget_tokens=packed.budget_tokens)
    )
    event = Repacked(generation, packed, (10,) * len(packed.blocks), Packing(packed.budget_tokens), waiting)
    return after(session, event)


def left(rank: int, chunk_id: str, *, chunks: int = 1, path: str = "notes/x.txt") -> Omission:
    return Omission("budget", rank, chunks, chunk_id, path)


def at(session: Session, row: int) -> Session:
    return move_cursor(session, packing.LIST, row, len(packing.entries(session)))


def test_entries_are_blocks_then_omissions_then_waiting_chunks() -> None:
    session = shown(context(block(1, "a", "b"), omitted=(left(2, "c"),)), waiting=(Waiting("w", "docs/w.md"),))

    kinds = [(entry.kind, entry.chunk_ids) for entry in packing.entries(session)]

    assert kinds == [("block", ("a", "b")), ("omission", ("c",)), ("waiting", ("w",))]


def test_pinning_twice_changes_nothing() -> None:
    session = at(shown(context(block(1, "a"), omitted=(left(2, "c"),))), 1)

    once = packing.toggle_pin(session)

    assert once.context.pins == ("c",)
    assert packing.toggle_pin(once) == session


def test_excluding_twice_changes_nothing() -> None:
    session = at(shown(context(block(1, "a", "b"))), 0)

    once = packing.toggle_drop(session)

    assert once.context.drops == ("a", "b")
    assert packing.toggle_drop(once) == session


def test_a_chunk_is_never_pinned_and_excluded() -> None:
    session = packing.toggle_pin(shown(context(block(1, "a"), block(2, "b"))))

    out = packing.toggle_drop(session)
    back = packing.toggle_pin(out)

    assert (out.context.pins, out.context.drops) == ((), ("a",))
    assert (back.context.pins, back.context.drops) == (("a",), ())


def test_unpinning_releases_a_block_that_grew_around_it() -> None:
    session = packing.toggle_pin(shown(context(block(1, "a"))))
    grown = after(session, Repacked(1, context(block(1, "b", "a")), (10,), Packing(100, ("a",))))

    assert packing.toggle_pin(grown).context.pins == ()


def test_a_line_without_a_chunk_cannot_be_pinned() -> None:
    session = at(shown(context(block(1, "a"), omitted=(left(2, "", chunks=9, path=""),))), 1)

    assert not packing.has_chunk(session)
    assert (packing.toggle_pin(session), packing.toggle_drop(session)) == (session, session)


def test_an_excluded_chunk_comes_back_when_included() -> None:
    session = packing.toggle_drop(shown(context(block(1, "a"), block(2, "b"))))
    out = after(
        session, Repacked(1, context(block(1, "b"), omitted=(left(1, "a"),)), (10,), Packing(100, (), ("a",)))
    )

    assert packing.toggle_drop(out).context.drops == ()


def test_resetting_drops_every_pin_and_exclusion() -> None:
    session = (base := shown(context(block(1, "a"))))._replace(
        context=base.context._replace(pins=("w", "a"), drops=("c",))
    )

    assert packing.has_what_ifs(session)
    assert not packing.has_what_ifs(packing.clear_what_ifs(session))


def test_the_chosen_line_follows_its_chunk() -> None:
    session = at(shown(context(block(1, "a"), block(2, "b"), omitted=(left(3, "c"),))), 2)

    moved = after(session, Repacked(1, context(block(1, "c"), block(2, "a")), (10, 10), Packing(100, ("c",))))

    chosen = packing.chosen_entry(moved)
    assert chosen is not None
    assert chosen.chunk_ids == ("c",)


def test_the_first_line_stays_chosen_until_changed() -> None:
    session = shown(context(block(1, "a"), block(2, "b")))

    moved = after(session, Repacked(1, context(block(1, "b"), block(2, "a")), (10, 10), Packing(100)))

    assert packing.cursor(moved) == 0


def test_a_lost_chosen_line_leaves_the_last_one_chosen() -> None:
    session = at(shown(context(block(1, "a"), block(2, "b"), block(3, "c"))), 2)

    fewer = after(session, Repacked(1, context(block(1, "a")), (10,), Packing(100)))

    assert packing.cursor(fewer) == 0


def test_opening_a_block_twice_folds_it() -> None:
    session = at(shown(context(block(1, "a"), block(2, "b"))), 1)

    opened = packing.toggle_block(session)

    assert opened.context.unfolded == "b"
    assert packing.toggle_block(opened).context.unfolded == ""


def test_opening_a_line_selects_the_row_of_its_chunk() -> None:
    session = shown(context(block(1, "a")))
    other = Hit(1, 0.5, document("o"), None, ())
    mine = Hit(2, 0.4, document("m"), CHUNK, ())
    session = session._replace(results=session.results._replace(hits={0: other, 1: mine}))

    assert packing.row_of(session, packing.Entry("block", 0, (CHUNK.id,), 1)) == 1
    assert packing.toggle_block(session).results.selected == 0


def test_a_waiting_chunk_has_no_row() -> None:
    session = shown(context(block(1, "a")), waiting=(Waiting("w", "docs/w.md"),))

    assert packing.row_of(session, packing.entries(session)[1]) is None


@given(st.integers(1, 9_000_000), st.sampled_from([1, 5]))
def test_steps_up_and_down_cancel_out(tokens: int, percent: int) -> None:
    up = packing.scale_tokens(tokens, percent)

    assert up > tokens
    assert abs(packing.scale_tokens(up, -percent) - tokens) <= 1


def test_a_budget_never_falls_below_one_token() -> None:
    assert packing.scale_tokens(1, -5) == 1


@given(st.floats(0, 1))
def test_the_slider_gives_budgets_of_two_digits(share: float) -> None:
    tokens = packing.budget_at(share)

    assert packing.LEAST_TOKENS <= tokens <= packing.MOST_TOKENS
    assert abs(packing.share_of(tokens) - share) < 0.01
    assert str(tokens)[2:].strip("0") == ""


def test_a_budget_beyond_the_slider_is_at_its_end() -> None:
    assert (packing.share_of(1), packing.share_of(5_000_000)) == (0.0, 1.0)


def test_the_digest_matches_the_output_of_the_command() -> None:
    packed = context(block(1, "a"))

    assert packing.print_context(packed) == packed.text + "\n"
    assert packing.digest(packed) == hashlib.sha256(f"{packed.text}\n".encode()).hexdigest()


def test_a_path_that_is_not_utf_8_is_copied_escaped() -> None:
    packed = context(block(1, "a"))._replace(text="[1] caf\udce9.txt:1-1\nText")

    assert packing.print_context(packed) == "[1] caf\\udce9.txt:1-1\nText\n"


def test_the_worth_is_wanted_for_the_newest_ranking_only() -> None:
    session = shown(context(block(1, "a")))
    newer = session._replace(query=session.query._replace(generation=2))

    assert list(packing.wants(session)) == [packing.worth_analysis(session)]
    assert list(packing.wants(newer)) == []


def test_each_packing_has_its_own_worth() -> None:
    session = shown(context(block(1, "a")))
    packings = [Packing(100), Packing(99), Packing(100, ("a",)), Packing(100, (), ("a",))]

    analyses = {
        packing.worth_analysis(session._replace(context=session.context._replace(packing=each))) for each in packings
    }

    assert len(analyses) == 4


def test_no_worth_is_wanted_while_the_context_is_hidden() -> None:
    session = shown(context(block(1, "a")))._replace(is_narrow=True, tab="explain")

    assert list(packing.wants(session)) == []


def test_the_flags_match_the_context_on_the_screen() -> None:
    used = Packing(300, ("a", "b"), ("c",))

    assert packing.flags(used, 999) == ["--budget-tokens", "300", "--pin", "a", "--pin", "b", "--drop", "c"]
    assert packing.flags(None, 999) == ["--budget-tokens", "999"]


def test_the_title_has_tokens_and_the_border_counts_pins() -> None:
    session = (base := shown(context(block(1, "a")), waiting=(Waiting("w", "docs/w.md"),)))._replace(
        context=base.context._replace(pins=("a", "w"), drops=("c",), packing=Packing(100, ("a",), ("c",)))
    )

    assert title(session) == "5 Context  40 of 100 tokens"
    assert title(Session()) == "5 Context"
    assert under_line(session, 40, UNICODE) == "1 pinned · 1 excluded · 1 waiting"
    assert under_line(shown(context(block(1, "a"))), 40, UNICODE) == "b budget  p pin  x exclude  D details"
    assert under_line(shown(context(block(1, "a"))), 30, UNICODE) == ""


def test_the_border_names_the_keys_in_force() -> None:
    actions = [each._replace(keys=("f6",)) if each.id == "pin_chunk" else each for each in TABLE.actions]
    table = Table({"Context": tuple(actions)})

    assert under_line(shown(context(block(1, "a"))), 40, UNICODE, table) == "b budget  F6 pin  x exclude  D details"


def test_the_border_names_the_budget_being_packed() -> None:
    session = shown(context(block(1, "a")))
    moved = session._replace(context=session.context._replace(budget_tokens=105))

    assert (title(moved), under_line(moved, 40, UNICODE)) == ("5 Context  40 of 100 tokens", "packing for 105")
    assert budget_line(moved) == "40 of 100 tokens, packing for 105"
    assert budget_line(session) == "40 of 100 tokens"


def test_the_border_says_that_packing_is_running() -> None:
    session = packing.toggle_pin(shown(context(block(1, "a"), omitted=(left(2, "b"), left(3, "c")))))
    packed = session._replace(context=session.context._replace(packing=Packing(100, pins=("a",))))
    waits = Waiting("z", "gone.md")

    def under(**changed: object) -> str:
        context = packed.context._replace(**changed)  # type: ignore[arg-type]
        return under_line(packed._replace(context=context), 40, UNICODE)

    assert under_line(session, 40, UNICODE) == "1 pinned · packing"
    assert under() == "1 pinned"
    assert under(drops=("c",)) == "1 pinned · 1 excluded · packing"
    assert under(pins=("a", "z"), waiting=(waits,)) == "1 pinned · 1 waiting"
    assert under(pins=()) == "packing"


def test_facts_are_never_broken() -> None:
    facts = ["12 in", "3 out", "94% of bound", "words 2/3"]

    assert flow(facts, 24, UNICODE) == ["12 in · 3 out", "94% of bound · words 2/3"]
    assert flow(facts, 28, UNICODE) == ["12 in · 3 out · 94% of bound", "words 2/3"]
    assert flow(facts, 28, UNICODE, reserved=1) == ["12 in · 3 out", "94% of bound · words 2/3"]


VIEW = {
    "pack": "rank",
    "candidates": 4,
    "value": 1.5,
    "bound": 2.0,
    "efficiency": 0.75,
    "coverage": {
        "share": 0.5,
        "terms": [{"text": "token", "idf": 1.0, "packed": True}, {"text": "zebra", "idf": 1.0, "packed": False}],
    },
    "documents": 2,
    "redundancy": 0.25,
    "duplicates": [{"ranks": [1, 2], "wasted_tokens": 7}],
    "truncated_tokens": 13,
    "tokens": {"chunks": 30, "headers": 8, "separators": 2},
}
PACKED = context(
    block(1, "aa", heading="Aims"),
    block(2, "bb", truncated=True),
    omitted=(
        left(3, "cc", path="some/rather/long/folder/that/cannot/be/shown/whole.md"),
        Omission("dropped", 4, 1, "dd", "out.md"),
        Omission("empty", 5, 1, "ee", "empty.md"),
        left(6, "", chunks=1_234, path=""),
    ),
)


WAITING = (Waiting("ff" * 32, ""), Waiting("e" * 64, "a/folder/that/is/long/enough/to/be/cut/waits.md"))


def look(
    *, is_whole: bool = False, has_details: bool = True, worth: Worth | None = None, is_settled: bool = True
) -> Look:
    session = shown(PACKED, waiting=WAITING)
    return Look(
        packed=PACKED,
        block_tokens=(10, 10),
        entries=packing.entries(session),
        cursor=1,
        pins=("aa", "cc"),
        waiting=WAITING,
        unfolded="",
        is_whole=is_whole,
        has_details=has_details,
        worth=worth,
        is_settled=is_settled,
        trouble="",
        places={"cc": ":9 › Bounds"},
    )


WORTH = Worth(VIEW, 77)  # type: ignore[arg-type]


def text_of(shows: Look, glyphs: Glyphs, width: int = 78) -> str:
    return "\n".join(line.plain for line in listing(shows, width, glyphs).lines)


def test_recalled_chunks_and_their_budget_are_marked() -> None:
    recalled = PACKED._replace(reserved_for=(PACKED.blocks[1].chunk_ids[0],), reserved_tokens=15)

    drawn = text_of(look()._replace(packed=recalled), UNICODE).splitlines()

    assert ["recalled" in line for line in drawn if ".md:1" in line] == [False, True]
    below = sums(look()._replace(packed=recalled), 78, UNICODE)
    assert "15 for sparse-document recall" in "\n".join(line.plain for line in below)
    assert "recalled" not in text_of(look(), UNICODE)


def test_every_line_fits_its_width() -> None:
    for glyphs in BOTH:
        for width in WIDTHS:
            for is_low in [False, True]:
                for is_whole in [False, True]:
                    shows = look(is_whole=is_whole, worth=WORTH)

                    drawn = listing(shows, width, glyphs, is_low=is_low).lines
                    lines = [*drawn, *sums(shows, width, glyphs), gauge_line(shows, width, glyphs)]

                    assert max(cell_len(line.plain) for line in lines) <= width, (glyphs, width, is_low, is_whole)


def test_the_muted_gauge_names_its_fills_if_they_fit() -> None:
    wide, narrow = (gauge_line(look(), width, UNICODE) for width in (60, 30))

    assert wide.style == narrow.style == DIM
    assert wide.plain.endswith("█▓▒ 2 blocks ┊ headers")
    assert narrow.plain.endswith("▏ 2 blocks")


def test_ascii_stays_ascii() -> None:
    for is_whole in [False, True]:
        shows = look(is_whole=is_whole, worth=WORTH)._replace(places={"cc": ":9 > Bounds"})

        assert text_of(shows, ASCII).isascii(), is_whole
        assert all(line.plain.isascii() for line in [*sums(shows, 78, ASCII), gauge_line(shows, 78, ASCII)]), is_whole


def test_rows_never_considered_are_not_over_the_budget() -> None:
    tail = shown(context(block(1, "a"), omitted=(Omission("budget", 201, 3_700, "", ""), left(2, "b", path=""))))
    listed = packing.entries(tail)
    shows = look()._replace(packed=tail.context.packed, entries=listed, block_tokens=(10,), waiting=(), cursor=0)

    lines = text_of(shows, UNICODE).splitlines()

    assert next(line.split() for line in lines if "#201" in line)[2:] == "and 3,699 more not considered".split()
    assert "over budget" in next(line for line in lines if "#2 " in line)


def test_each_state_is_said_in_words() -> None:
    for glyphs in BOTH:
        lines = text_of(look(worth=WORTH), glyphs).splitlines()

        said = {
            name: next(line for line in lines if name in line)
            for name in ("aa.md", "bb.md", "out.md", "ffff", "waits.md")
        }
        assert "pinned" in said["aa.md"], glyphs
        assert "cut" in said["bb.md"], glyphs
        assert "excluded" in said["out.md"], glyphs
        assert "excluded, not in the store" in said["ffff"], glyphs
        assert "excluded, not in this answer" in said["waits.md"], glyphs
        assert any("pinned, over budget" in line for line in lines), glyphs
        assert any("no text" in line for line in lines), glyphs


def test_only_the_chosen_line_has_a_pointer() -> None:
    lines = text_of(look(), UNICODE).splitlines()

    assert [line for line in lines if line.startswith("▶")] == [line for line in lines if "bb.md" in line]


def test_entries_start_at_their_reported_lines() -> None:
    drawn = listing(look(worth=WORTH), 80, UNICODE)

    names = ["aa.md", "bb.md", "whole.md", "out.md", "empty.md", "1,233 more", "ffff", "waits.md"]
    assert [name in drawn.lines[start].plain for name, start in zip(names, drawn.starts, strict=True)] == [True] * 8


def test_a_block_shows_place_heading_tokens_and_first_line() -> None:
    lines = [line.rstrip() for line in text_of(look(), UNICODE, width=48).splitlines()]

    assert lines[:3] == [
        " 1 aa.md:1 › Aims                  pinned    10",
        "   Some text.",
        "▶2 bb.md:1                            cut    10",
    ]
    assert lines[4:6] == ["── left out ──", " × …/whole.md:9 › Bounds    pinned, over budget"]
    assert any(line.startswith(" × out.md") and line.endswith("excluded") for line in lines)


def test_in_a_low_pane_a_block_is_one_line() -> None:
    lines = [line.plain.rstrip() for line in listing(look(), 78, UNICODE, is_low=True).lines]

    assert lines[0].split() == ["1", "aa.md:1", "›", "Aims", "Some", "text.", "pinned", "10"]
    assert lines[2] == "── left out ──"


def test_the_heading_is_not_repeated() -> None:
    packed = context(
        block(1, "aa", text="## Aims\n\nTo fit.\n", heading="Aims"), block(2, "bb", text="# A comment\ncode()\n")
    )
    shows = look()._replace(packed=packed, entries=packing.entries(shown(packed)), waiting=())

    lines = [line.strip() for line in text_of(shows, UNICODE).splitlines()]

    assert (lines[1], lines[3]) == ("To fit.", "# A comment")


def test_the_details_need_their_key_or_the_zoom() -> None:
    hidden = text_of(look(has_details=False, worth=WORTH), UNICODE)

    assert ("sha256" in hidden, "quality" in hidden) == (False, False)
    assert "1 of 2 query terms in the context; missing: zebra" in hidden
    assert "sha256" in text_of(look(has_details=False, is_whole=True, worth=WORTH), UNICODE)
    assert packing.toggle_details(Session()).context.details
    assert packing.toggle_details(packing.toggle_details(Session())) == Session()


def test_names_are_neutralised() -> None:
    for glyphs in BOTH:
        hostile = "evil\x1b[2J\nname.md"
        named = block(1, "aa")._replace(doc=document(hostile))
        packed = context(named, omitted=(left(2, "cc", path=hostile),))
        waiting = (Waiting("w", hostile),)
        entries = packing.entries(shown(packed, waiting=waiting))
        shows = look()._replace(packed=packed, entries=entries, waiting=waiting, has_details=False)

        lines = text_of(shows, glyphs).splitlines()

        assert sum("evil [2J name.md" in line for line in lines) == 3, glyphs
        assert all(line.isprintable() for line in lines), glyphs


def test_a_block_shows_its_first_line_or_all() -> None:
    assert "More of it." not in text_of(look(), UNICODE)
    assert text_of(look(is_whole=True), UNICODE).count("More of it.") == 2


def test_a_cut_shows_how_much_is_missing() -> None:
    assert "cut here: 13 tokens of this chunk are left out" in text_of(look(is_whole=True, worth=WORTH), UNICODE)
    assert "cut here to fit the budget" in text_of(look(is_whole=True, worth=WORTH, is_settled=False), UNICODE)


def test_the_account_names_words_repeats_and_twins() -> None:
    shown_text = text_of(look(worth=WORTH), UNICODE)

    assert "1.500 of at most 2.000 (75%)" in shown_text
    assert "30 in chunks + 8 in headers + 2 in separators" in shown_text
    assert "not in the context: zebra" in shown_text
    assert "covered    token" in shown_text
    assert "#1 #2, 7 tokens packed twice" in shown_text
    assert "about 77 model tokens" in shown_text
    assert packing.digest(PACKED) in text_of(look(), UNICODE, width=80)


def test_the_old_worth_is_marked_until_the_next_one() -> None:
    known, old = (sums(look(worth=WORTH, is_settled=each), 46, UNICODE) for each in (True, False))

    for lines in (known, old):
        assert "quality 75% · query terms 1 of 2" in "\n".join(line.plain for line in lines)
    assert (known[0].plain.endswith("…"), old[0].plain.endswith("…")) == (False, True)


def test_the_account_has_thousands_separators() -> None:
    view = {
        **VIEW,
        "coverage": {"share": 0.5, "terms": [{"text": "2024", "idf": 1.0, "packed": False}]},
        "documents": 1234,
        "duplicates": [{"ranks": [1, 5199], "wasted_tokens": 1234}],
        "truncated_tokens": 4321,
        "tokens": {"chunks": 64515, "headers": 4000, "separators": 1000},
        "alternative": {
            "value": 1234.5,
            "used_tokens": 65000,
            "adds": [{"rank": 5200, "path": "notes/2024"}],
            "drops": [],
        },
    }
    packed = context(block(1, "aa"), omitted=(left(5199, "cc", path="2023.md"),))
    shows = look(worth=Worth(view, 187_479))._replace(  # type: ignore[arg-type]
        packed=packed, entries=packing.entries(shown(packed)), cursor=0
    )

    drawn = text_of(shows, UNICODE, width=118)

    assert "documents 1,234" in drawn
    assert "64,515 in chunks + 4,000 in headers + 1,000 in separators" in drawn
    assert "4,321 tokens cut from the last chunk" in drawn
    assert "#1 #5,199, 1,234 tokens packed twice" in drawn
    assert "would reach 1234.500 with 65,000 tokens; adds #5,200 notes/2024" in drawn
    assert "not in the context: 2024" in drawn
    assert "about 187,479 model tokens" in drawn
    assert "× 2023.md" in drawn
