from __future__ import annotations

import struct

from recall_core.store.values import find_flaws


def test_unstorable_vector_has_a_reason() -> None:
    for vector, reason in [
        (struct.pack("<2f", 0.6, 0.8), None),
        (b"", None),
        (struct.pack("<3f", 1.0, 0.0, 0.0), "3 components instead of 2"),
        (struct.pack("<2f", float("nan"), 1.0), "a component is NaN or infinite"),
        (struct.pack("<2f", float("inf"), 1.0), "a component is NaN or infinite"),
        (struct.pack("<2f", 0.5, 0.5), "its length is 0.7071, not 1"),
        (struct.pack("<2f", 0.0, 0.0), "its length is 0, not 1"),
    ]:
        good = struct.pack("<2f", 1.0, 0.0)
        assert find_flaws([good, vector, good], dimension=2) == ({} if reason is None else {1: reason}), vector
