"""The contract of answers for tests, built and checked once; jsonschema's own function does so every time."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema

from recall_core.adapters.care import SCHEMA


@cache
def validator(*, is_closed: bool = False) -> jsonschema.Draft202012Validator:
    """Return a validator that raises ValidationError outside the contract. is_closed: also for an extra key."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    if is_closed:
        for definition in schema["$defs"].values():
            definition["additionalProperties"] = False
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def schema() -> dict[str, Any]:
    """Return the schema itself."""
    return validator().schema
