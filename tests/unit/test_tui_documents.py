"""The tree of documents: its lines, opening and closing folders, and the filter of a line."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as some
from rich.cells import cell_len

from recall_core.api.recall import Recall
from recall_core.rql.filters import parse_filter
from recall_core.rql.match import match_document
from recall_core.store.values import FolderEntry, FolderListing
from recall_core.types import Document
from recall_tui.panes.store import document_rows
from recall_tui.state import store_pane
from recall_tui.state.records import Analysis
from recall_tui.state.session import Session, focus_pane, stamp_of
from recall_tui.state.store_pane import TAGS, TagCounts, TreeLine
from recall_tui.widgets.draw import ASCII, UNICODE
from tests.workbench_corpus import build_store

LISTINGS = {
    "": FolderListing(
        (
            FolderEntry("docs/", "folder", 3, 30),
            FolderEntry("d.jsonl", "records", 5, 6),
            FolderEntry("a.md", "file", 1, 2),
        ),
        1_207,
    ),
    "docs/": FolderListing((FolderEntry("old/", "folder", 1, 3), FolderEntry("b.md", "file", 2, 27)), 2),
    "docs/old/": FolderListing((FolderEntry("c.md", "file", 1, 3),), 1),
}


def shown(tags: TagCounts | None = None) -> Session:
    """Return a session with the documents open and these listings read."""
    session = store_pane.show_view(focus_pane(Session(), "store"), "documents")
    read: dict[store_pane.Analysis, object] = {Analysis("documents", path): each for path, each in LISTINGS.items()}
    read[TAGS] = tags or TagCounts((("x", 2), ("y", 1)), has_more=False)
    return session._replace(
        analyses={analysis: (stamp_of(session, analysis), each) for analysis, each in read.items()}
    )


def names(session: Session) -> list[str]:
    return [line.name for line in store_pane.tree(session)]


def at(session: Session, name: str) -> Session:
    """Return the session with the line of this name chosen."""
    row = [line.name for line in store_pane.choosable_lines(session)].index(name)
    return store_pane.pick_line(session, row)


def test_closed_folders_hide_their_content_and_the_rest_is_counted() -> None:
    assert names(shown()) == ["docs/", "d.jsonl", "a.md", "1,204 more", "tags", "x", "y"]
    assert [line.name for line in store_pane.choosable_lines(shown())] == ["docs/", "d.jsonl", "a.md", "x", "y"]


def test_an_open_folder_shows_its_content_indented() -> None:
    session = store_pane.open_chosen(at(store_pane.open_chosen(at(shown(), "docs/")), "old/"))

    assert [(line.name, line.depth) for line in store_pane.tree(session)][:4] == [
        ("docs/", 0),
        ("old/", 1),
        ("c.md", 2),
        ("b.md", 1),
    ]


def test_only_open_folders_are_read() -> None:
    closed, opened = shown(), store_pane.open_chosen(at(shown(), "docs/"))

    assert list(store_pane.tree_analyses(closed)) == [Analysis("documents", ""), TAGS]
    assert list(store_pane.tree_analyses(opened)) == [Analysis("documents", ""), TAGS, Analysis("documents", "docs/")]
    assert Analysis("documents", "") in list(store_pane.wants(closed))
    assert Analysis("documents", "") not in list(store_pane.wants(store_pane.show_view(closed, "stats")))


def test_left_goes_to_the_folder_then_closes_it() -> None:
    session = store_pane.open_chosen(at(store_pane.open_chosen(at(shown(), "docs/")), "old/"))

    above = store_pane.close_chosen(at(session, "b.md"))
    closed = store_pane.close_chosen(above)

    line = store_pane.chosen_line(above)
    assert line is not None
    assert (line.name, line.is_open) == ("docs/", True)
    assert closed.store.open_folders == ()
    assert names(closed) == names(shown())


def test_a_row_other_than_a_folder_neither_opens_nor_closes() -> None:
    for name in ["a.md", "d.jsonl", "x"]:
        session = at(shown(), name)

        assert (store_pane.open_chosen(session), store_pane.close_chosen(session)) == (session, session), name


def test_only_so_many_folders_stay_open() -> None:
    session = shown()
    for number in range(store_pane.MOST_OPEN + 1):
        session = store_pane.open_folder(session, f"{number}/")

    assert len(session.store.open_folders) == store_pane.MOST_OPEN
    assert "0/" not in session.store.open_folders


def test_a_tree_that_is_not_read_yet_has_no_lines() -> None:
    session = store_pane.show_view(focus_pane(Session(), "store"), "documents")

    assert store_pane.tree(session) == ()
    assert store_pane.chosen_line(session) is None
    assert (store_pane.open_chosen(session), store_pane.close_chosen(session)) == (session, session)


NAMES = some.text(some.sampled_from("ab*?[]{},!\\'\"%_#. é"), min_size=1, max_size=8)


@given(folder=NAMES, name=NAMES, other=NAMES)
def test_the_filter_of_a_line_passes_exactly_that_line(folder: str, name: str, other: str) -> None:
    def passes(line: TreeLine, path: str) -> bool:
        where = parse_filter(store_pane.filter_of(line))
        return match_document(where, Document("d" * 64, path, "h" * 64, "2024-01-01", 9, "", None, (name,), {}), ())

    inside, outside = f"{folder}/{name}", f"{folder}{other}"
    assert passes(TreeLine("folder", f"{folder}/", f"{folder}/"), inside)
    assert passes(TreeLine("folder", f"{folder}/", f"{folder}/"), f"{folder}/deep/{name}")
    assert not passes(TreeLine("folder", f"{folder}/", f"{folder}/"), outside)
    assert passes(TreeLine("file", inside, name), inside)
    assert not passes(TreeLine("file", inside, name), outside)
    assert passes(TreeLine("records", inside, name), f"{inside}#a/{other}")
    assert not passes(TreeLine("records", inside, name), inside)
    assert passes(TreeLine("tag", name, name), outside)
    assert passes(TreeLine("tag", other, other), outside) is (other == name)


def test_every_document_is_in_one_folder(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        store = recall.store

        def below(folder: str) -> list[str]:
            entries = store.folder(folder, 999).entries
            return [
                path
                for each in entries
                for path in (below(folder + each.name) if each.kind == "folder" else [folder + each.name])
            ]

        assert sorted(below("")) == [path for path, _ in store.document_files()]


def test_every_line_fits_and_names_are_neutralised() -> None:
    for glyphs in [UNICODE, ASCII]:
        for width in [37, 70, 118]:
            hostile = "evil\x1b[2J\nname"
            session = shown(TagCounts(((hostile, 1),), has_more=True))
            listing = FolderListing((FolderEntry(f"{hostile}/", "folder", 12_345, 678_901),), 2)
            analyses = {
                **session.analyses,
                Analysis("documents", ""): (stamp_of(session, Analysis("documents", "")), listing),
            }

            lines = [line.plain for line in document_rows(session._replace(analyses=analyses), width, glyphs)[0]]

            assert all(line.isprintable() and cell_len(line) <= width for line in lines), (glyphs, width)
            assert sum("evil" in line for line in lines) == 2, (glyphs, width)
            if glyphs is ASCII:
                assert all(line.isascii() for line in lines), (glyphs, width)


def test_the_active_filter_is_marked_in_words() -> None:
    session = at(shown(), "docs/")
    filtered = session._replace(query=session.query._replace(filter="doc.path GLOB 'docs/**'"))

    marked = [line.plain for line in document_rows(filtered, 70, UNICODE)[0] if " filter " in line.plain]

    assert [line.split()[1] for line in marked] == ["docs/"]
