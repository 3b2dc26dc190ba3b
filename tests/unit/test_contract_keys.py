"""The JSON contract only grows: no key disappears or changes its type."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "tests" / "golden" / "response-schema-1.json.gz"
"""The schema as it was before answers had passages."""
NOW = ROOT / "recall_core" / "schema" / "response.schema.json"

Facts = dict[str, set[str]]
"""By the path of each key, its allowed types, and its allowed words if it is an enumeration."""


def facts(schema: Mapping[str, Any]) -> Facts:
    found: Facts = {}
    for path, fact in _walk(schema, schema, "", ()):
        found.setdefault(path, set()).add(fact)
    return found


def _walk(node: Any, whole: Any, path: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if (name := node.get("$ref", "").rpartition("/")[2]) and name not in above:
        yield from _walk(whole["$defs"][name], whole, path, (*above, name))
    kinds = node.get("type", [])
    yield from ((path, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    words = [*node.get("enum", ()), *(word for key, word in node.items() if key == "const")]
    yield from ((path, json.dumps(word)) for word in words)
    children = [(path, each) for kind in ("anyOf", "oneOf", "allOf") for each in node.get(kind, ())]
    children += [(f"{path}.{key}", each) for key, each in node.get("properties", {}).items()]
    children += [(f"{path}[{i}]", each) for i, each in enumerate(node.get("prefixItems", ()))]
    children += [
        (path + sign, node[key]) for key, sign in (("items", "[]"), ("additionalProperties", ".*")) if key in node
    ]
    for below, child in children:
        if isinstance(child, dict):
            yield from _walk(child, whole, below, above)


def test_no_key_is_removed_or_changes_its_type() -> None:
    first = facts(json.loads(gzip.decompress(FIRST.read_bytes())))
    now = facts(json.loads(NOW.read_text(encoding="utf-8")))

    assert len(first) > 1_000
    assert [path for path in first if path not in now] == []
    assert {path: now[path] for path in first if not first[path] <= now[path]} == {}
    wider = {path: now[path] - first[path] for path in first if now[path] != first[path]}
    assert all(each.startswith('"') for words in wider.values() for each in words), "changed types"
