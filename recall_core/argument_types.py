"""Check the arguments of library calls against their annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from operator import index
from os import PathLike
from types import CodeType, FunctionType
from typing import Any, TypeVar

from recall_core.errors import UsageError

Kind = TypeVar("Kind")

_WANTED = {
    "str": "text",
    "int": "a whole number",
    "bool": "True or False",
    "None": "None",
    "Path": "a path",
    "Sequence[str]": "a list of texts",
    "tuple[str, ...]": "a list of texts",
    "Settings": "settings by name",
    "GivenSettings": "settings by name, or a list of texts",
}
"""The checked types and their names in messages."""


def checks_types(kind: type[Kind]) -> type[Kind]:
    """Decorate a class: all its public methods, also static ones, check their arguments with `expect_type`."""
    for name, member in list(vars(kind).items()):
        is_bound = isinstance(member, (staticmethod, classmethod))
        function = member.__func__ if is_bound else member
        if not name.startswith("_") and isinstance(function, FunctionType):
            checked = _checking(function, function.__code__)
            setattr(kind, name, type(member)(checked) if is_bound else checked)
    return kind


def _checking(function: Callable[..., Any], code: CodeType) -> Callable[..., Any]:
    annotations = function.__annotations__
    names = code.co_varnames[: code.co_argcount]
    rest = code.co_varnames[len(names) + code.co_kwonlyargcount :][:1]

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        named = zip((*names, *rest * len(args)), args, strict=False)
        given = [expect_type(name, value, annotations.get(name, "")) for name, value in named]
        options = {name: expect_type(name, value, annotations.get(name, "")) for name, value in kwargs.items()}
        return function(*given, **options)

    return checked


def expect_type(name: str, value: Any, annotation: str) -> Any:
    """Return the value as one of the annotated types. Subclasses of `str` and `int` become plain `str` and `int`.

    annotation: type names joined by `|`. If `_WANTED` lacks one of them, nothing is checked.
    Raises UsageError `bad_value`.
    """
    kinds = annotation.split(" | ")
    if any(kind not in _WANTED for kind in kinds):
        return value
    for kind in kinds:
        try:
            return _convert(value, kind)
        except TypeError:
            continue
    wanted = " or ".join(_WANTED[kind] for kind in kinds if kind != "None")
    message = f"{name} must be {wanted}, not {type(value).__name__}."
    raise UsageError("bad_value", message, hint=f"give {name} as {wanted}")


def _convert(value: Any, kind: str) -> Any:
    """Return the value as this type. Raises TypeError if it has another type."""
    match kind:
        case "str" if isinstance(value, str):
            return str.__str__(value)
        case "int" if not isinstance(value, bool):
            return index(value)
        case "bool" if isinstance(value, int) and value in (0, 1):
            return bool(value)
        case "Path" | "Settings" | "GivenSettings" if isinstance(value, PathLike if kind == "Path" else Mapping):
            return value
        case "Sequence[str]" | "tuple[str, ...]" | "GivenSettings" if isinstance(value, Sequence):
            if not isinstance(value, (str, bytes)):
                return tuple(_convert(each, "str") for each in value)
        case "None" if value is None:
            return None
    raise TypeError
