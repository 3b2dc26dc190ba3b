"""The contract of answers, for tests: built and checked once, where jsonschema's own function does so every time."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema

from recall_core.adapters.care import SCHEMA


@cache
def validator(*, is_closed: bool = False) -> jsonschema.Draft202012Validator:
    """What raises ValidationError for an answer that does not fit; closed, for a key beyond the contract too."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    if is_closed:
        for definition in schema["$defs"].values():
            definition["additionalProperties"] = False
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def schema() -> dict[str, Any]:
    """The schema itself, to be read."""
    return validator().schema
