"""What each tool takes: checked as it comes in, and told to clients as JSON Schema, both from one type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from recall_core.errors import UsageError
from recall_core.text import is_storable

Arguments = TypeVar("Arguments", bound=msgspec.Struct)

MOST_LINES = 120
"""Lines that `memory_get` gives at once."""

LONGEST = 20_000
"""Characters of a question: a longer one keeps a connection from everybody else for seconds."""

Fields = Annotated[
    Literal["compact", "all"], Meta(description="all: the whole answer as JSON, as `recall --json` prints it")
]
Value = str | int | float | bool


class QuestionArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A question: words, or a query in RQL."""

    query: (
        Annotated[str, Meta(max_length=LONGEST, description='Words; "quoted" phrases are looked for as they stand')]
        | UnsetType
    ) = UNSET
    rql: Annotated[str, Meta(max_length=LONGEST, description="A query in RQL instead of words")] | UnsetType = UNSET
    k: Annotated[int, Meta(ge=1, le=1_000_000, description="Most rows")] | UnsetType = UNSET
    mode: Literal["hybrid", "lexical", "semantic"] | UnsetType = UNSET
    filter: (
        Annotated[
            str,
            Meta(max_length=LONGEST, description="RQL condition, such as doc.path GLOB 'docs/*' AND doc.tag = 'api'"),
        ]
        | UnsetType
    ) = UNSET
    set: Annotated[dict[str, Value], Meta(description="Ranking settings of this question")] | UnsetType = UNSET
    fields: Fields | UnsetType = UNSET


class SearchArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel"):
    """What `search` takes."""


class ContextArguments(QuestionArguments, forbid_unknown_fields=True, rename="camel"):
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
            Meta(min_length=1, max_length=100, description="Paths, path:10-20, path#page=3, path#heading, ids"),
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

    query: Annotated[str, Meta(max_length=LONGEST)]
    max_results: Annotated[int, Meta(ge=1, le=1_000)] = 6
    min_score: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    corpus: Annotated[str, Meta(description="One source of documents; memory or all for every one")] = "all"
    text: Annotated[bool, Meta(description="Give the whole chunk beside the snippet")] = False


class MemoryGetArguments(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What `memory_get` takes."""

    path: str
    from_: Annotated[int, Meta(ge=1, le=1_000_000_000, description="First line")] = msgspec.field(
        default=1, name="from"
    )
    lines: Annotated[int, Meta(ge=1, le=1_000_000, description=f"How many, at most {MOST_LINES}")] = MOST_LINES


def read(kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """What a client gave, as the type. What is null counts as not given. Raises UsageError `bad_arguments`."""
    if not is_storable(json.dumps(dict(given), ensure_ascii=False)):
        raise UsageError("bad_arguments", "A text in it is not valid Unicode.", hint="without lone surrogates")
    try:
        return msgspec.convert({key: value for key, value in given.items() if value is not None}, kind)
    except msgspec.ValidationError as error:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
        raise UsageError("bad_arguments", _plainly(str(error)), hint=f"it takes {known}") from error


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


def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """JSON Schema of a type, without references."""
    _, parts = msgspec.json.schema_components([kind])
    found = parts[kind.__name__]
    found.pop("description", None)
    found.pop("title", None)
    return dict(json.loads(json.dumps(found)))
