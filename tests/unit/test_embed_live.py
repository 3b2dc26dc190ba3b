"""The real providers, asked for two short vectors; only if the environment contains a key for them."""

from __future__ import annotations

import os
import struct

import pytest

from recall_core.config import Config
from recall_core.embed.providers.openai import GEMINI, OPENAI
from recall_core.embed.providers.remote import RemoteKind

pytestmark = pytest.mark.live


@pytest.mark.parametrize("kind", [OPENAI, GEMINI], ids=lambda kind: kind.name)
def test_related_texts_are_nearer_than_others(kind: RemoteKind) -> None:
    if not any(os.environ.get(variable, "").strip() for variable in kind.variables):
        pytest.skip(f"needs {' or '.join(kind.variables)} in the environment")
    model = kind.new(Config(allow_network=True))

    vectors = model.embed(["a cat sleeps on the sofa", "quarterly revenue grew by a tenth"])
    (question,) = model.embed(["where is the kitten napping?"], is_query=True)

    near, far = (_dot(question, vector) for vector in vectors)
    assert near > far


def _dot(left: bytes, right: bytes) -> float:
    a, b = (struct.unpack(f"<{len(vector) // 4}f", vector) for vector in (left, right))
    return sum(x * y for x, y in zip(a, b, strict=True))
