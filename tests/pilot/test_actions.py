"""The action table is the only source of keys, help and docs."""

from collections import Counter
from pathlib import Path

from textual.binding import Binding

from recall_core.errors import StoreError
from recall_tui.actions.action import acts_in, always, is_printable, key_name
from recall_tui.actions.table import ACTIONS, LAST, NEXT, TABLE, WANTED, Table, footer, markdown
from recall_tui.screens.bench import bindings
from recall_tui.screens.help import HELP_COLUMN, about, help_lines
from recall_tui.state.events import StoreOpened, Unusable
from recall_tui.state.session import PANES, VIEWS, Pane, Session, View
from recall_tui.state.transitions import after
from recall_tui.widgets.draw import fold
from tests.builders import memory_store

GOING = {"j", "k", "space", *"12345678", "i"}
"""Keys for a line, a page or a pane. The active pane decides their meaning."""
KEYS = Path(__file__).parents[2] / "docs" / "keys.md"


def test_no_key_means_two_things_in_a_pane() -> None:
    counts = Counter(
        (pane, key) for pane in PANES for action in ACTIONS if acts_in(action, pane) for key in action.keys
    )

    assert [key for key, count in counts.items() if count > 1] == []


def test_the_table_binds_its_keys_and_no_others() -> None:
    bound = {binding.key for binding in bindings(TABLE) if isinstance(binding, Binding)}

    assert bound == {key for action in ACTIONS for key in action.keys}


def test_store_actions_stay_possible_until_the_store_fails_to_open() -> None:
    needs = {"add_folder", "sync", "watch", "check", "compact", "reembed", "remove"}

    lost = after(Session(), Unusable(StoreError("no_store", "There is no store.")))

    assert {action.id for action in ACTIONS if action.when.holds(Session()) and not action.when.holds(lost)} == needs


def test_opening_a_store_makes_its_actions_possible() -> None:
    lost = after(Session(), Unusable(StoreError("no_store", "There is no store.")))
    opened = memory_store()
    found = after(lost, StoreOpened(opened.info()))
    opened.close()

    assert [action.when.holds(found) for action in ACTIONS] == [action.when.holds(Session()) for action in ACTIONS]


def test_help_shows_every_action() -> None:
    text = "\n".join(line.plain for line in help_lines())

    assert all(action.help in text and all(key_name(key) in text for key in action.keys) for action in ACTIONS)


def test_help_finds_words_in_a_line_or_its_heading() -> None:
    found = [line.plain for line in help_lines(pane="results", words="weights")]

    assert "Weights" in found
    assert any("Change the selected setting: more, or the next choice (weights)" in line for line in found)
    assert not any("Select the next result" in line for line in found)


def test_help_finds_labels_of_the_footer() -> None:
    for label in sorted({action.label for action in ACTIONS if action.label}):
        own = {action.help for action in ACTIONS if action.label == label}

        found = {line.plain[HELP_COLUMN:].partition(" (")[0] for line in help_lines(pane="results", words=label)}

        assert {text.partition(" (")[0] for text in own} <= found, label


def test_the_footer_offers_no_letters_in_a_field() -> None:
    names = [offer.key for offer in footer(Session(), editing=True)]

    assert names
    assert not any(is_printable(key) for key in names)


def test_the_footer_lists_common_keys_then_help_and_quit() -> None:
    for pane in PANES:
        session = Session(pane=pane)
        possible = [action for action in WANTED[pane] if TABLE.find(action).when.holds(session)]

        names = [offer.action for offer in footer(session, editing=False)]

        assert len(WANTED[pane]) >= 5, pane
        assert names[: len(possible) + len(NEXT)] == [*possible, *NEXT], pane
        assert names[-len(LAST) :] == list(LAST), pane


def test_keys_listed_first_have_a_label_and_a_key() -> None:
    for pane in PANES:
        for name in (*WANTED[pane], *NEXT, *LAST):
            action = TABLE.find(name)
            assert action.label, (pane, name)
            assert action.keys, (pane, name)
            assert acts_in(action, pane), (pane, name)


def test_help_starts_with_the_keys_and_purpose_of_the_pane() -> None:
    in_front: list[tuple[Pane, View]] = [
        *((pane, "ledger") for pane in PANES),
        *(("explain", view) for view in VIEWS),
    ]
    for pane, view in in_front:
        heading, *lines = (line.plain for line in help_lines(pane=pane, view=view))
        said = TABLE.spell(about(pane, view))
        own = [action for action in ACTIONS if pane in action.panes]

        assert heading == f"In the {pane} pane"
        assert all(line.startswith("  ") for line in lines[: len(own)]), pane
        assert lines[len(own) + 1] == said, (pane, view)
        assert "{" not in said
        assert 3 <= len(fold(said, 74)) <= 6, (pane, view)


def test_every_condition_has_a_reason() -> None:
    assert all(action.when.needs for action in ACTIONS if action.when != always)


def test_texts_name_the_keys_in_force() -> None:
    free, bound = TABLE.find("compact"), TABLE.find("zoom")._replace(keys=("f6",))
    table = Table({"Store": (free, bound)})

    assert TABLE.spell("{zoom} zooms, {grade(3)} grades") == "z zooms, a grades"
    assert table.spell("{zoom} zooms, {compact} compacts") == f"F6 zooms, “{free.help}” compacts"


def test_docs_keys_matches_the_table() -> None:
    assert markdown() in KEYS.read_text(encoding="utf-8"), "docs/keys.md is old; run make generated"


def test_a_letter_has_one_verb_in_every_pane() -> None:
    verbs: dict[str, set[str]] = {}
    for action in ACTIONS:
        for key in set(action.keys) - GOING:
            if is_printable(key):
                verbs.setdefault(key, set()).add(action.label)

    assert {key: labels for key, labels in verbs.items() if len(labels) > 1 or "" in labels} == {}


def test_deleting_has_a_key_of_its_own() -> None:
    deleting = [action for action in ACTIONS if "delete" in action.keys]

    assert {action.id for action in deleting} == {"clear_grade", "remove"}
    assert all(action.keys == ("delete",) for action in deleting)
    assert TABLE.find("compact").keys == ()
