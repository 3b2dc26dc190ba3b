"""The JSON Schema of what commands answer, made from the types of `responses`."""

from __future__ import annotations

from typing import Any, get_args

from recall_core._lazy import msgspec
from recall_core.contract.responses import AnyResponse, Response


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what commands answer: a Response, and one of those that it is made of."""

    references, components = msgspec.json.schema_components(
        (Response, *get_args(AnyResponse)), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "recall/response/1",
        "title": "Recall response",
        **references[0],
        "anyOf": list(references[1:]),
        "$defs": _on_one_line(components),
    }


def _on_one_line(node: object) -> object:
    """The schema with each description on one line: Python 3.13 indents docstrings otherwise than 3.12."""
    if isinstance(node, list):
        return [_on_one_line(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: " ".join(value.split()) if key == "description" and isinstance(value, str) else _on_one_line(value)
        for key, value in node.items()
    }
