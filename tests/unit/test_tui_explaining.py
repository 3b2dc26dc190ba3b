"""The analyses and drawings of the explain pane, and how fixes change the session, without screen or store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.config import Config
from recall_core.errors import UsageError
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.types import Block, Chunk, Document, Hit, Packed, Pool, StoreInfo
from recall_tui import files
from recall_tui.panes.explain import NAMES, hint_of, pieces
from recall_tui.panes.passage import chunk_lines, cuts_of, passage_lines
from recall_tui.state import explaining, packing, weighing
from recall_tui.state.explaining import DocumentPassage, FixOffer, LineMark, PassageLine, Stretch
from recall_tui.state.records import Analysis, QueryState, ResultsState, StoreState, WeightsState
from recall_tui.state.session import VIEWS, Session
from recall_tui.state.transitions import wanted_analyses
from recall_tui.widgets.draw import ASCII, UNICODE, number, wrap
from recall_tui.widgets.lines import value_at

CUT = "the context is cut here"
DOCUMENT = Document("d" * 64, "a.txt", "h", "2023-11-14T22:13:20.000000Z", 1, "t", None, (), {})
INFO = StoreInfo("s.db", 1, "hash-1:16", 16, "w", "c", "t", 1, "e" * 64, 1, 2, 2, 0, 0, "")
POOL = Pool((), (), (), 1.0, (), exact=True, index_kind="exact")


def hit_of(mark: str, rank: int = 1) -> Hit:
    return Hit(rank, 0.5, DOCUMENT, Chunk(mark * 64, DOCUMENT.id, 0, 4, 1, 1, 1, None, "text"), ())


def answered(text: str = "token budget") -> Session:
    if text.startswith("SELECT"):
        plan = plan_rql(text, config=Config(), exact=False)
    else:
        plan = plan_words(text, config=Config(), mode="hybrid", filter_text=None, k=None, exact=False)
    answer = Answer(plan, POOL, None, 2, "e" * 64, 1, "", 1.0, {}, (), "whitespace", {})
    return Session(
        query=QueryState(text=text),
        results=ResultsState(answer=answer, hit=hit_of("a")),
        store=StoreState(info=INFO),
        weights=WeightsState(saved=Config(), plain=Config()),
    )


def kinds(session: Session) -> set[str]:
    return {analysis.kind for analysis in explaining.wants(session)}


def test_only_the_visible_tab_requests_its_analysis() -> None:
    for view in VIEWS:
        session = (base := answered())._replace(
            view=view, results=base.results._replace(sought="a.txt", marked=hit_of("b", 2))
        )

        assert view in kinds(session), view
        assert kinds(session) <= {view, "passage"}, view
        assert kinds(session._replace(is_narrow=True, tab="context")) == set(), view


def test_no_analysis_runs_on_an_outdated_order() -> None:
    session = answered()

    assert {analysis.kind for analysis, _ in wanted_analyses(session)} >= {"ledger", "passage"}
    assert "ledger" not in {
        analysis.kind for analysis, _ in wanted_analyses(session._replace(query=session.query._replace(generation=1)))
    }


def test_a_hit_is_never_compared_with_itself() -> None:
    session = answered()

    assert explaining.compare_analysis(session) is None
    assert explaining.compare_analysis(session._replace(results=session.results._replace(marked=hit_of("a")))) is None
    assert explaining.compare_analysis(
        session._replace(results=session.results._replace(marked=hit_of("b")))
    ) == Analysis("compare", "a" * 64, "b" * 64)


def test_without_a_mark_a_hit_is_compared_with_its_neighbour() -> None:
    for selected, other in [(0, "b"), (1, "a"), (2, "b")]:
        hits = {row: hit_of(mark, row + 1) for row, mark in enumerate("abc")}
        session = (base := answered())._replace(
            results=base.results._replace(hits=hits, selected=selected, hit=hits[selected])
        )

        analysis = explaining.compare_analysis(session)

        assert analysis == Analysis("compare", "abc"[selected] * 64, other * 64), selected


def test_marking_twice_removes_the_mark() -> None:
    once = explaining.toggle_mark(answered())

    assert once.results.marked == hit_of("a")
    assert explaining.toggle_mark(once).results.marked is None


def test_budget_and_pins_change_the_analysis_of_a_target() -> None:
    session = (base := answered())._replace(results=base.results._replace(sought="a.txt"))

    analyses = {
        explaining.whynot_analysis(each)
        for each in (
            session,
            session._replace(context=session.context._replace(budget_tokens=9)),
            session._replace(context=session.context._replace(pins=("x",))),
        )
    }

    assert len(analyses) == 3


def test_fixes_are_undone_singly_or_together() -> None:
    session = answered("SELECT * FROM chunk USING lexical('a'), semantic('a') LIMIT 2")
    other = "SELECT * FROM chunk USING lexical('a'), semantic('a') LIMIT 4"
    tries = [
        FixOffer("weight", "", "", settings={"vector_weight": 0.5, "bm25_weight": 0.5}),
        FixOffer("budget", "", "", budget_tokens=77),
        FixOffer("pin", "", "", pin="p" * 64),
        FixOffer("k", "", "", text=other),
    ]

    states = [session]
    for remedy in tries:
        states.append(explaining.apply_fix(states[-1], remedy, 1.0))

    last = states[-1]
    assert (last.query.text, last.context.budget_tokens, last.context.pins, last.query.busy) == (
        other,
        77,
        ("p" * 64,),
        True,
    )
    assert last.weights.tweaks == {"vector_weight": 0.5, "bm25_weight": 0.5}
    for before in reversed(states[1:-1]):
        last = explaining.take_fix_back(last, 2.0)
        assert scratch(last) == scratch(before)
    assert scratch(explaining.take_fix_back(states[-1], 2.0, whole=True)) == scratch(session)


def scratch(session: Session) -> tuple[object, ...]:
    return (
        session.query.text,
        dict(session.weights.tweaks),
        session.weights.k,
        session.context.budget_tokens,
        session.context.pins,
        len(session.weights.applied),
    )


def test_pinning_ends_the_exclusion_of_a_chunk() -> None:
    session = (base := answered())._replace(context=base.context._replace(drops=("p" * 64, "q" * 64)))

    fresh = explaining.apply_fix(session, FixOffer("pin", "", "", pin="p" * 64), 1.0)

    assert (fresh.context.pins, fresh.context.drops) == (("p" * 64,), ("q" * 64,))


def test_a_fix_ends_when_undone_elsewhere_and_returns_when_redone() -> None:
    weight = FixOffer("weight", "", "", settings={"vector_weight": 0.5, "bm25_weight": 0.5})
    tried = explaining.apply_fix(
        explaining.apply_fix(answered(), FixOffer("pin", "", "", pin="p" * 64), 1.0), weight, 1.0
    )

    undone = weighing.undo(tried)

    assert len(explaining.fixes_in_force(tried)) == 2
    assert [fix.after.pins for fix in explaining.fixes_in_force(undone)] == [("p" * 64,)]
    assert explaining.fixes_in_force(packing.clear_what_ifs(undone)) == ()
    assert len(explaining.fixes_in_force(weighing.redo(undone))) == 2


def test_a_fix_extended_by_another_still_counts() -> None:
    budgets = [FixOffer("budget", "", "", budget_tokens=tokens) for tokens in (77, 99)]
    tried = explaining.apply_fix(explaining.apply_fix(answered(), budgets[0], 1.0), budgets[1], 1.0)

    assert len(explaining.fixes_in_force(tried)) == 2
    assert len(explaining.fixes_in_force(tried._replace(context=tried.context._replace(budget_tokens=77)))) == 1
    assert explaining.fixes_in_force(tried._replace(context=tried.context._replace(budget_tokens=2_000))) == ()


def test_undoing_a_fix_keeps_later_changes() -> None:
    pin = FixOffer("pin", "", "", pin="p" * 64)
    tried = (base := explaining.apply_fix(answered(), pin, 1.0))._replace(
        query=base.query._replace(text="other words"),
        context=base.context._replace(budget_tokens=300, pins=("p" * 64, "q")),
    )

    back = explaining.take_fix_back(tried, 2.0)

    assert (back.query.text, back.context.budget_tokens, back.context.pins, back.weights.applied) == (
        "other words",
        300,
        ("q",),
        (),
    )


def test_a_fix_without_effect_here_needs_the_command_line() -> None:
    assert not explaining.is_doable(FixOffer("exact", "score every row", "recall search x --exact"))
    assert explaining.is_doable(FixOffer("pin", "", "", pin="p"))


def test_the_title_names_every_tab_and_maps_cells_to_tabs() -> None:
    for room in [40, 52, 56, 64, 120]:
        for glyphs in [UNICODE, ASCII]:
            session = answered()._replace(view="funnel")

            shown = pieces(session, room, glyphs)  # type: ignore[arg-type]

            title = "".join(text for text, _ in shown)
            assert all(name in title for name in NAMES.values()), (room, glyphs)
            assert f"{glyphs.pointer}Funnel" in title, (room, glyphs)  # type: ignore[attr-defined]
            for view, name in NAMES.items():
                assert value_at(shown, cell_len(title[: title.index(name)])) == view, (room, glyphs)
            assert value_at(shown, 0) is None, (room, glyphs)


def test_tiny_figures_show_their_sign_in_three_decimals() -> None:
    for value, said in [
        (0, "0.000"),
        (-0.0, "0.000"),
        (0.5, "0.500"),
        (-0.0005, "-0.001"),
        (3e-7, "<.001"),
        (-8e-5, ">-.001"),
    ]:
        assert number(value) == said, value


def test_wrapped_lines_fit_and_keep_their_styles() -> None:
    for text, width, lines in [
        ("short", 9, ["short"]),
        ("two words", 5, ["two", "words"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("    indented words", 12, ["    indented", "words"]),
        ("打开文件", 4, ["打开", "文件"]),
    ]:
        styled = Text(text)
        styled.stylize(Style(bold=True), len(text) - 2, len(text))

        made = wrap(styled, width)

        assert [line.plain for _, line in made] == lines, text
        assert all(text[at:].startswith(line.plain) for at, line in made), text
        assert sum(span.end - span.start for _, line in made for span in line.spans) == 2, text


def passage() -> DocumentPassage:
    """Return two chunks that share the second of three lines."""
    lines = (
        PassageLine(1, 0, "one", ()),
        PassageLine(2, 4, "two", (LineMark(0, 3, "term"),)),
        PassageLine(3, 8, "three", ()),
    )
    return DocumentPassage(
        "a.txt", "b" * 64, lines, (Stretch("a" * 64, 0, 7, 1, 2, 2), Stretch("b" * 64, 4, 13, 2, 3, 2)), True, True
    )


def test_a_chunk_is_shown_in_its_document_with_overlaps() -> None:
    drawn = passage_lines(passage(), {}, Style(), 40, UNICODE)

    rows = [line.plain.rstrip() for line in drawn.lines]
    assert [row[:5] for row in rows if row[:1].isdigit()] == ["1 │ o", "2 ▓ t", "3 █ t"]
    assert drawn.lines[drawn.row].plain.startswith("  ▶ chunk bbbbbbbbbbbb 2-3 · 2 tokens ─")


def of_pages() -> DocumentPassage:
    first, second = passage().chunks
    chunks = first._replace(place="page 3"), second._replace(place="page 3-4")
    return passage()._replace(path="a.pdf", chunks=chunks)


def test_a_chunk_of_a_page_is_named_by_its_page() -> None:
    drawn = passage_lines(of_pages(), {}, Style(), 50, UNICODE)

    assert drawn.lines[0].plain.startswith("a.pdf#page=3-4 ")
    assert drawn.lines[drawn.row].plain.startswith(" ▶ chunk bbbbbbbbbbbb #page=3-4 · 2 tokens ─")


def test_lines_that_are_not_in_the_file_have_no_numbers() -> None:
    for cut in [None, 6]:
        drawn = passage_lines(of_pages(), {} if cut is None else {cut: CUT}, Style(), 40, UNICODE)

        texts = [line.plain for line in drawn.lines if line.plain[1:2] in "│▓█"]
        assert texts == (
            [" │ one", " ▓ two", " █ three"] if cut is None else [" │ one", " ▓ tw", " ▓ o", " █ three"]
        ), cut


def on_lines(text: str, *chunks: tuple[int, int], own: int) -> DocumentPassage:
    """Return a document with these chunks, named a, b and so on. own: index of the requested one."""
    offset, lines, stretches = 0, [], []
    for at, line in enumerate(text.split("\n"), start=7):
        lines.append(PassageLine(at, offset, line, ()))
        offset += len(line) + 1
    for place, (start, end) in enumerate(chunks):
        stretches.append(Stretch("abcdefgh"[place] * 64, start, end, 7, 7, 2))
    return DocumentPassage("a.txt", stretches[own].id, tuple(lines), tuple(stretches), True, True)


def marked_rows(passage: DocumentPassage, width: int = 40, cut: int | None = None) -> list[str]:
    """Return the rows below the legend. A rule is shown by its chunk, with ! where the pane scrolls to it."""
    drawn = passage_lines(passage, {} if cut is None else {cut: CUT}, Style(), width, UNICODE)
    rows = [line.plain.rstrip() for line in drawn.lines]
    first = next(place for place, row in enumerate(rows) if row.startswith("  "))
    names = {"▶": slice(10, 11), "─": slice(10, 11), "×": slice(19, 22)}
    shown = [row[names.get(row[2], slice(None))] for row in rows[first:]]
    shown[drawn.row - first] += "!"
    return shown


def test_the_rule_of_a_chunk_is_where_it_starts() -> None:
    text = "one two three four five six"
    parted = on_lines(text, (0, 8), (8, 19), (19, 27), own=1)

    assert marked_rows(parted) == ["a", "7 │ one two", "b!", "  █ three four", "c", "  │ five six"]


def test_every_row_of_a_line_has_its_own_mark() -> None:
    words = "aaaaaaaa bbbbbbbb cccccccc dddddddd eeeeeeee"
    lines = on_lines(f"{words}\nffffffff", (0, 18), (0, 36), (36, 53), own=1)
    shared = on_lines(words, (0, 18), (9, 27), (18, 36), (36, 44), own=3)

    assert marked_rows(lines, 12) == [
        *("a", "b!", "7 ▓ aaaaaaaa", "  ▓ bbbbbbbb", "  █ cccccccc", "  █ dddddddd"),
        *("c", "  │ eeeeeeee", "8 │ ffffffff"),
    ]
    assert marked_rows(shared, 12) == [
        *("a", "7 │ aaaaaaaa", "b", "  ▒ bbbbbbbb", "c", "  ▒ cccccccc", "  │ dddddddd"),
        *("d!", "  █ eeeeeeee"),
    ]


def test_a_chunk_ending_within_a_line_shows_at_its_rows() -> None:
    ends = on_lines("aaaaaaaa bbbbbbbb cccccccc\ndddddddd", (0, 27), (0, 35), own=0)
    ends = ends._replace(chunks=(ends.chunks[0]._replace(end=18), ends.chunks[1]))

    assert marked_rows(ends, 12) == ["a!", "b", "7 ▓ aaaaaaaa", "  ▓ bbbbbbbb", "  │ cccccccc", "8 │ dddddddd"]


def test_a_row_with_tabs_is_placed_by_its_text() -> None:
    for width in range(12, 20):
        tabs = on_lines("\taa\tbb\tcc\tdd\tee", (0, 10), (10, 16), own=0)

        rows = marked_rows(tabs, width)

        before, after = rows[1 : rows.index("b")], rows[rows.index("b") + 1 :]
        assert {row[2] for row in before} == {"█"}, width
        assert {row[2] for row in after} == {"│"}, width
        assert " ".join(row[4:] for row in before).split() == ["aa", "bb", "cc"], width
        assert " ".join(row[4:] for row in after).split() == ["dd", "ee"], width


def test_tabs_do_not_move_the_end_of_a_chunk() -> None:
    ends = on_lines("\t\taa bb cc\tdd", (0, 8), own=0)

    assert marked_rows(ends, 14) == ["a!", "7 █         aa", "  █ bb cc", "    dd"]


def test_a_folded_tab_belongs_to_its_chunk() -> None:
    folds = on_lines("aaaa bbbbbbbbbb\t", (0, 16), own=0)

    assert [row[2] for row in marked_rows(folds, 13)[1:]] == ["█"] * len(marked_rows(folds, 13)[1:])


def test_a_chunk_starting_at_a_break_has_its_rule_before() -> None:
    assert marked_rows(on_lines("one\ntwo", (0, 3), (3, 7), own=1)) == ["a", "b!", "7 │ one", "8 █ two"]
    assert marked_rows(on_lines("one two\nsix", (0, 4), (4, 7), (7, 11), own=2)) == [
        *("a", "7 │ one", "b", "c!", "  │ two", "8 █ six"),
    ]


def test_leading_blanks_have_no_row_of_their_own() -> None:
    indented = on_lines("one\n    two", (0, 8), (8, 11), own=1)

    assert marked_rows(indented) == ["a", "7 │ one", "b!", "8 ▓     two"]


def test_a_cut_of_the_context_is_inside_its_piece() -> None:
    for cut, rows in [
        (7, ["7 │ one two", "cut", "b!", "  █  three four", "c"]),
        (8, ["7 │ one two", "b!", "cut", "  █  three four", "c"]),
        (11, ["7 │ one two", "b!", "  █  thr", "cut", "  █ ee four", "c"]),
        (18, ["7 │ one two", "b!", "  █  three four", "cut", "c"]),
        (27, ["b!", "  █  three four", "c", "  │  five six", "cut"]),
        (28, ["b!", "  █  three four", "c", "  │  five six", "cut"]),
    ]:
        parted = on_lines("one two three four five six\nlast", (0, 7), (7, 18), (18, 28), own=1)

        made = marked_rows(parted, cut=cut)

        assert made[made.index(rows[0]) :][: len(rows)] == rows, cut
        assert made.count("cut") == 1, cut


def test_an_endless_line_keeps_rules_and_text() -> None:
    text = " ".join(f"word{number}" for number in range(6_000))
    starts = [text.index(f"word{number}") for number in range(0, 6_000, 300)]
    passage = DocumentPassage(
        *("talk.txt", f"{starts[11]:064}", (PassageLine(1, 0, text, ()),)),
        tuple(Stretch(f"{start:064}", start, min(len(text), start + 2_500), 1, 1, 300) for start in starts),
        *(True, True),
    )

    drawn = passage_lines(passage, {}, Style(), 60, UNICODE)

    rules = [row for row, line in enumerate(drawn.lines) if " chunk 0" in line.plain]
    assert drawn.row == rules[11]
    begun = [drawn.lines[row + 1].plain[4:].split()[0] for row in rules]
    assert begun == [f"word{number}" for number in range(0, 6_000, 300)]
    shown = " ".join(line.plain[4:] for row, line in enumerate(drawn.lines) if row > rules[0] and row not in rules)
    assert shown.split() == text.split()


def test_no_mark_of_the_legend_separates_its_entries() -> None:
    for glyphs, parted in ((UNICODE, " · │ one other"), (ASCII, ", | one other")):
        legend = passage_lines(passage(), {}, Style(), 100, glyphs).lines[1].plain
        assert parted in legend
        assert [legend.count(mark) for mark in (*glyphs.series[:3], glyphs.upright)] == [1, 1, 1, 1]


def test_a_cut_of_the_context_is_a_rule() -> None:
    for cut, after in [(6, "2 ▓ tw"), (7, "2 ▓ two"), (8, "2 ▓ two"), (13, "3 █ three")]:
        rows = [line.plain.rstrip() for line in passage_lines(passage(), {cut: CUT}, Style(), 40, UNICODE).lines]

        at = next(row for row, line in enumerate(rows) if "the context is cut here" in line)

        assert rows[at - 1] == after, cut
        assert sum("cut here" in row for row in rows) == 1, cut


def test_a_cut_chunk_shows_where_the_context_begins_and_ends() -> None:
    begins, ends = "the context begins here", "the context is cut here"
    block = Block(1, DOCUMENT, 4, 9, 1, 2, "text", ("a" * 64,), (1,), "both")
    packed = Packed("text", 9, 9, "whitespace", 2, (block,), ())

    assert cuts_of(packed, "a" * 64) == {4: begins, 9: ends}
    assert cuts_of(packed, "b" * 64) == {}
    for cut, shown in [("start", {4: begins}), ("end", {9: ends}), (None, {})]:
        assert cuts_of(packed._replace(blocks=(block._replace(cut=cut),)), "a" * 64) == shown, cut


def test_a_passage_fits_the_pane_with_either_glyphs() -> None:
    for glyphs in (UNICODE, ASCII):
        for width in (20, 45, 80):
            lines = passage_lines(passage(), {6: CUT}, Style(), width, glyphs).lines
            assert max(line.cell_len for line in lines) <= width
            assert glyphs is UNICODE or all(line.plain.isascii() for line in lines)


def test_the_pager_is_the_user_s_or_less_or_more(tmp_path: object) -> None:
    folder = str(tmp_path)
    for name in ("more", "mine"):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
            os.fchmod(file.fileno(), 0o755)

    assert files.pager({"PAGER": "mine -R", "PATH": folder}) == ["mine", "-R"]
    assert files.pager({"PATH": folder}) == ["more"]


def test_a_missing_pager_is_a_coded_error() -> None:
    for environ in [{"PAGER": "none-such", "PATH": ""}, {"PAGER": "'open", "PATH": ""}, {"PATH": ""}]:
        with pytest.raises(UsageError) as caught:
            files.pager(environ)

        assert (caught.value.code, caught.value.hint) == ("no_pager", "export PAGER=less"), environ


def test_the_pager_receives_no_control_characters(tmp_path: Path) -> None:
    script = tmp_path / "pager"
    script.write_text('#!/bin/sh\nprintf %s "$1" > "$0.name"\ncat "$1" > "$0.text"\n')
    script.chmod(0o755)

    text = "two\r\n\ttabs\n\x1b[2J\x9b \u202eback\n"
    files.page(text, [str(script)], name="docs/a\x1b[2J\n\u202e" + "\x07" * 80 + ".md", line=1)

    assert (tmp_path / "pager.text").read_text() == "two\n\ttabs\n\\x1b[2J\\x9b \\u202eback\n"
    name = Path((tmp_path / "pager.name").read_text()).name
    assert (name.isprintable(), name.endswith("\\x07.md")) == (True, True)


def test_a_failing_pager_is_reported() -> None:
    with pytest.raises(UsageError) as caught:
        files.page("text", ["false"], name="docs/a.txt", line=1)

    assert caught.value.code == "pager_failed"


def test_a_tab_waiting_for_a_valid_query_says_so() -> None:
    for view, comes in [("whynot", "Tracing a.txt …"), ("funnel", "Counting rows."), ("compare", "Comparing.")]:
        session = (base := answered())._replace(
            view=view, results=base.results._replace(sought="a.txt", marked=hit_of("b", 2))
        )
        faulty = session._replace(query=session.query._replace(trouble=UsageError("expected", "That is no query.")))

        assert view in {analysis.kind for analysis, _ in wanted_analyses(session)}, view
        assert view not in {analysis.kind for analysis, _ in wanted_analyses(faulty)}, view
        assert hint_of(session) == comes, view
        assert hint_of(faulty) == "Waiting until the query can be answered.", view


def test_a_document_is_read_even_with_a_faulty_query() -> None:
    faulty = (base := answered())._replace(
        view="passage", query=base.query._replace(trouble=UsageError("expected", "That is no query."))
    )

    assert "passage" in {analysis.kind for analysis, _ in wanted_analyses(faulty)}
    assert hint_of(faulty) == "Reading the document."


def test_the_rank_in_the_title_has_thousands_separators() -> None:
    session = (base := answered())._replace(results=base.results._replace(hit=hit_of("a", 50_851)))

    assert pieces(session, 80, UNICODE)[0][0] == "3 Explain #50,851  "


def test_a_chunk_names_its_lines_and_tokens() -> None:
    hit = hit_of("a")
    assert hit.chunk is not None
    hit = hit._replace(
        doc=DOCUMENT._replace(path="a/folder/of/folders/with/a/long/name/a.txt"),
        chunk=hit.chunk._replace(line_start=1012, line_end=1044, tokens=1234),
    )

    where, labels, *_ = (line.plain for line in chunk_lines(hit, 30, UNICODE))

    assert where == "…/a/long/name/a.txt:1012-1044"
    assert labels.startswith("1,234 tokens")


def test_a_chunk_of_one_token_uses_the_singular() -> None:
    hit = hit_of("a")
    assert hit.chunk is not None

    hit = hit._replace(chunk=hit.chunk._replace(tokens=1))

    _, labels, *_ = (line.plain for line in chunk_lines(hit, 60, UNICODE))

    assert labels.startswith("1 token ")
