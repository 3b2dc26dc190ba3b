"""Quickly made named tuples equal those of `typing`."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from typing import Any, get_type_hints

import pytest

from recall_core.named import NamedTuple


class Quick(NamedTuple):
    """A place."""

    x: int
    label: str = "none"
    parts: tuple[int, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.x

    @classmethod
    def at(cls, x: int) -> Quick:
        return cls(x)


class Typed(typing.NamedTuple):
    """A place."""

    x: int
    label: str = "none"
    parts: tuple[int, ...] = ()


class Empty(NamedTuple):
    """Nothing."""


def test_values_behave_like_typing_named_tuples() -> None:
    for given, named in (((1,), {}), ((1, "a"), {}), ((), {"x": 1, "parts": (2,)}), ((1, "a", (3,)), {})):
        quick, known = Quick(*given, **named), Typed(*given, **named)  # type: ignore[arg-type]
        assert quick == known
        assert hash(quick) == hash(known)
        assert repr(quick) == repr(known).replace("Typed", "Quick")
        assert quick._asdict() == known._asdict()
        assert quick._replace(label="b") == known._replace(label="b")
        assert (quick.x, quick.label, quick.parts, quick.twice) == (*known, 2)
    assert type(Quick(1)._replace(x=2)) is type(Quick.at(2)) is type(Quick._make((1, "a", ()))) is Quick
    assert (Empty(), Empty()._asdict(), repr(Empty())) == ((), {}, "Empty()")


def test_class_attributes_match_typing_named_tuples() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(Quick, name) == getattr(Typed, name)
    assert issubclass(Quick, tuple)
    assert get_type_hints(Quick) == get_type_hints(Typed)
    assert not hasattr(Quick(1), "__dict__")
    assert list(inspect.signature(Quick).parameters) == list(inspect.signature(Typed).parameters)


@pytest.mark.parametrize("wrong", [Quick, lambda: Quick(1, "a", (), 4), lambda: Quick(1, y=2)])
def test_value_with_other_fields_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"Quick\.__new__|argument"):
        wrong()


def test_replace_and_make_refuse_wrong_fields() -> None:
    with pytest.raises(ValueError, match="unexpected field names"):
        Quick(1)._replace(y=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Expected 3 arguments, got 1"):
        Quick._make((1,))
    with pytest.raises(AttributeError):
        Quick(1).x = 2  # type: ignore[misc]


def test_values_can_be_pickled_copied_and_matched() -> None:
    value = Quick(1, "a")
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == copy.copy(value) == value
    assert type(pickle.loads(pickle.dumps(value))) is Quick
    match value:
        case Quick(x, label):
            assert (x, label) == (1, "a")


def test_one_field_class_inherits_its_constructor() -> None:
    class Kind(NamedTuple):
        x: int

    class Child(Kind):
        pass

    assert type(Child(1)) is Child
    assert type(Kind(1)) is Kind
    assert (Child(2), Kind(x=2)) == ((2,), (2,))
