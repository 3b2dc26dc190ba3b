"""What each tool takes: checked as it comes in, and told to clients as JSON Schema, both from one type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from recall_core.errors import UsageError
from recall_core.text import is_storable

Arguments = TypeVar("Arguments", bound=msgspec.Struct)

MOST_LINES = 120
"""Lines that `memory_get` gives at once."""

Fields = Annotated[
    Literal["compact", "all"], Meta(description="all: the whole answer as JSON, as `recall --json` prints it")
]


class QuestionArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A question: words, or a query in RQL. With `rql`, `query` may be empty or absent."""

    query: Annotated[str, Meta(description='Words; "quoted" phrases match exactly. "" with rql')]
    rql: Annotated[str, Meta(description="A query in RQL instead of words")] | UnsetType = UNSET
    k: Annotated[int, Meta(ge=1, le=1_000_000, description="Most rows")] | UnsetType = UNSET
    mode: Literal["hybrid", "lexical", "semantic", "bm25", "vector"] | UnsetType = UNSET
    filter: (
        Annotated[
            str,
            Meta(description="RQL condition, such as doc.path GLOB 'docs/*' AND doc.tag = 'api'"),
        ]
        | UnsetType
    ) = UNSET
    set: (
        Annotated[list[str], Meta(description="Ranking settings of this question, each key=value: min_score=0.2")]
        | UnsetType
    ) = UNSET
    fields: Fields | UnsetType = UNSET


class SearchArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `search` takes."""


class ContextArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `context` takes."""

    budget_tokens: Annotated[int, Meta(ge=1, le=1_000_000, description="Tokens of the whole text")] | UnsetType = (
        UNSET
    )


class ExplainArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `explain` takes."""

    target: Annotated[str, Meta(description="A chunk's id")]
    versus: Annotated[str, Meta(description="Another chunk's id, to compare")] | UnsetType = UNSET


class WhyNotArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """What `whynot` takes."""

    target: Annotated[str, Meta(description='A path, path:line, a chunk\'s id or a "quoted text" that is missed')]
    budget_tokens: (
        Annotated[int, Meta(ge=1, le=1_000_000, description="Why it is not in a context of so many")] | UnsetType
    ) = UNSET


class GetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `get` takes."""

    targets: (
        Annotated[
            list[str],
            Meta(max_length=100, description="Paths, path:10-20, path#page=3, path#heading, ids"),
        ]
        | UnsetType
    ) = UNSET
    glob: Annotated[str, Meta(description="Or every document whose path matches, such as docs/*.md")] | UnsetType = (
        UNSET
    )
    lines: Annotated[str, Meta(description="10-20, of each")] | UnsetType = UNSET
    max_bytes: Annotated[int, Meta(ge=1, le=10_000_000, description="Most of all texts together")] | UnsetType = UNSET
    fields: Fields | UnsetType = UNSET


class ListArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `list` takes."""

    prefix: Annotated[str, Meta(description="Beginning of the path, such as docs/")] | UnsetType = UNSET
    glob: str | UnsetType = UNSET
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] | UnsetType = UNSET
    fields: Fields | UnsetType = UNSET


class StatusArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `status` takes."""

    fields: Fields | UnsetType = UNSET


class MemorySearchArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `memory_search` takes."""

    query: str
    max_results: Annotated[int, Meta(ge=1, le=1_000, description="Most results (6)")] = 6
    min_score: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    corpus: Annotated[str, Meta(description="One source of documents; memory or all for every one")] = "all"
    text: Annotated[bool, Meta(description="Give the whole chunk beside the snippet")] = False


class MemoryGetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `memory_get` takes."""

    path: str
    from_: Annotated[int, Meta(ge=1, le=1_000_000_000, description="First line (1)")] = msgspec.field(
        default=1, name="from"
    )
    lines: Annotated[int, Meta(ge=1, le=1_000_000, description=f"How many, at most {MOST_LINES}")] = MOST_LINES


def read(kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a client as the type. Raises UsageError `bad_arguments`.

    A value of another type is converted if it can be read in one way only: `"5"` and `5.0` for 5, a text or a JSON
    text for a list. null is an absent argument, and so is an empty value of one that is not required: clients with
    strict schemas send every argument.
    """
    wanted = schema(kind)
    values = {key: _converted(key, value, wanted["properties"].get(key)) for key, value in given.items()}
    if values.get("rql"):
        values.setdefault("query", "")
    values = {
        key: value
        for key, value in values.items()
        if value is not None and (key in wanted["required"] or value not in ("", [], {}))
    }
    if not is_storable(json.dumps(values, ensure_ascii=False)):
        raise UsageError("bad_arguments", "A text in it is not valid Unicode.", hint="without lone surrogates")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        absent = [name for name in wanted["required"] if name not in values]
        example = {name: _EXAMPLES[name] for name in wanted["required"]}
        hint = json.dumps(example) if absent else f"it takes {', '.join(wanted['properties'])}"
        raise UsageError("bad_arguments", _plainly(str(error)), hint=hint) from error


_EXAMPLES = {"query": "words", "target": "notes/a.md", "path": "notes/a.md"}
"""Values of required arguments, for hints."""


def _converted(name: str, value: Any, wanted: Mapping[str, Any] | None) -> Any:
    """Return the value as its schema wants it if there is one way to read it so, else as it is."""
    kind = wanted["type"] if wanted is not None else None
    if wanted is None or value is None:
        return value
    if kind == "array":
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            parsed = _parsed(value)
            value = parsed if isinstance(parsed, list | dict) else value
        if value == "" or (isinstance(value, dict) and name != "set"):
            return value
        items = value if isinstance(value, list) else [value]
        if name == "set":
            items = [setting for item in items for setting in _settings(item)]
        return [_converted("", item, wanted["items"]) for item in items]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind == "string":
        value = json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        plain = value.strip().lower() if isinstance(value, str) else value
        return plain if plain in wanted.get("enum", ()) else value
    if isinstance(value, str):
        value = _parsed(value.lower())
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return bool(value) if kind == "boolean" and value in (0, 1) else value


def _settings(item: Any) -> list[Any]:
    """Return the settings of a map as `key=value`, and any other item as it is."""
    if not isinstance(item, dict) or not all(isinstance(each, str | int | float) for each in item.values()):
        return [item]
    return [f"{key}={str(each).lower() if isinstance(each, bool) else each}" for key, each in item.items()]


def _parsed(text: str) -> Any:
    """Return what the text is as JSON, or the text. "" is null."""
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return text


def _plainly(message: str) -> str:
    """`Expected int >= 1 - at $.k` as a sentence about `k`."""
    for pattern, words in _PLAINLY:
        message = pattern.sub(words, message)
    return f"{message}."


_PLAINLY = (
    (re.compile(r"Object contains unknown field `(.*)`"), r"There is no argument \1"),
    (re.compile(r"Object missing required field `(.*)`"), r"The argument \1 is missing"),
    (re.compile(r"(.*) - at `\$\.(.*)`"), r"\2: \1"),
    (re.compile(r"`"), ""),
)


@cache
def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a type as strict clients take it: without references, every property with a type.

    Lengths of texts and defaults are left out, since several providers refuse a strict schema that has them.
    """
    _, parts = msgspec.json.schema_components([kind])
    whole: dict[str, Any] = json.loads(json.dumps(parts[kind.__name__]))
    properties = {
        name: {"type": "string"} | {key: value for key, value in part.items() if key not in ("maxLength", "default")}
        for name, part in whole["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": whole["required"], "additionalProperties": False}
