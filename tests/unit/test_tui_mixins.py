"""The workbench is put together from mixins: none may take a name from another, or from Textual."""

from __future__ import annotations

from collections import defaultdict

from textual.app import App

from recall_tui.app import Workbench
from recall_tui.handlers.holder import Holder

MIXINS = [
    each for each in Workbench.__mro__ if each.__module__.startswith("recall_tui.handlers") and each is not Holder
]
MADE = {"_decorated_handlers", "_merged_bindings", "_css_type_name", "_css_type_names", "_reactives", "_computes"}
"""What Textual gives every class."""


def own(mixin: type) -> set[str]:
    """The names that a class defines itself."""
    inherited = {name for name in vars(mixin) if name.startswith(("__", "_inherit_"))}
    return {*vars(mixin), *vars(mixin).get("__annotations__", {})} - inherited - MADE


def test_no_name_is_defined_by_two_mixins() -> None:
    places = defaultdict(list)
    for mixin in MIXINS:
        for name in own(mixin):
            places[name].append(mixin.__name__)

    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_mixin_takes_a_name_of_textual() -> None:
    taken = {name: mixin.__name__ for mixin in MIXINS for name in own(mixin) if hasattr(App, name)}

    assert taken == {}
