"""Tabs of queries: a text and a filter each. One tab is open."""

from __future__ import annotations

from recall_tui.state.records import QueryState, QueryTab
from recall_tui.state.session import MOST_TABS, Session, close_tab, go_to_tab, has_tabs, open_tab, tabs_of

ONE = Session(query=QueryState("tea", filter="f"))


def test_a_new_tab_comes_last_and_keeps_the_text() -> None:
    two = open_tab(ONE, "tea time")

    assert two.query.tabs == (QueryTab("tea time", "f"), QueryTab())
    assert (two.query.tab, two.query.filter) == (1, "")
    assert has_tabs(two)
    assert not has_tabs(ONE)


def test_tabs_have_their_own_filter_and_wrap_around() -> None:
    two = open_tab(ONE, "tea")

    back = go_to_tab(two, "coffee", 2)

    assert (back.query.tab, back.query.filter) == (0, "f")
    assert back.query.tabs == (QueryTab("tea", "f"), QueryTab("coffee", ""))


def test_closing_a_tab_opens_the_one_before() -> None:
    three = open_tab(open_tab(ONE, "tea"), "coffee")
    middle = go_to_tab(three, "milk", 1)

    left = close_tab(middle)

    assert left.query.tabs == (QueryTab("tea", "f"), QueryTab("milk"))
    assert (left.query.tab, left.query.filter) == (0, "f")
    assert close_tab(close_tab(left)).query.tabs == (QueryTab(),)


def test_tabs_are_limited_to_the_room_of_the_title() -> None:
    many = ONE
    for number in range(MOST_TABS + 3):
        many = open_tab(many, str(number))

    assert len(tabs_of(many, "")) == MOST_TABS
