"""Chunk boundaries: the golden file records them span by span, for one version of the chunker."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from recall_core.config import CHUNKER_VERSION, Config, chunker_identity
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse.text import outline_marks
from recall_core.text import counter

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "chunks.json").read_text(encoding="utf-8"))
CASES = {case["cut"]: case for case in GOLDEN["cases"]}

DIGESTS = {1: "3a077ed7fba8171e69896da3cfd2034a1e410ad24805e6078a76817173bb19c7"}
"""Version of the chunker to the digest of its golden cases."""


def text_of(case: dict[str, Any]) -> str:
    """Return the text of a case, stored literally or as pieces with repeat counts."""
    text = case["text"]
    return text if isinstance(text, str) else "".join(piece * times for piece, times in text)


def test_texts_are_cut_as_in_the_golden_file() -> None:
    for cut, case in CASES.items():
        settings = {**GOLDEN["usually"], **case["but"]}
        ruler, markdown = counter(settings.pop("counter")), settings.pop("markdown")
        text = text_of(case)

        spans = chunk(text, counter=ruler, config=Config(**settings), marks=outline_marks(text, markdown=markdown))

        shown = isinstance(case["text"], str)
        assert [[*span[:4], *([text[span.offset : span.end]] if shown else [])] for span in spans] == case["spans"], (
            cut
        )


def test_changed_golden_needs_a_new_chunker_version() -> None:
    digest = sha256(json.dumps(GOLDEN["cases"], sort_keys=True).encode()).hexdigest()

    assert DIGESTS[CHUNKER_VERSION] == digest, (
        "tests/golden/chunks.json differs from the record of this chunker version. If a span moved, raise "
        "CHUNKER_VERSION in recall_core/config, so that stores replace their chunks, and add a line to "
        f"CHANGELOG.md. If cases were only added, keep the version. Then record {digest} here."
    )


def test_golden_file_names_its_chunker_version() -> None:
    assert GOLDEN["chunker"] == f"boundary-{CHUNKER_VERSION}" == chunker_identity(Config()).partition(":")[0]


def test_golden_cases_cover_every_kind_of_boundary_and_limit() -> None:
    but = [case["but"] for case in CASES.values()]
    texts = [text_of(case) for case in CASES.values()]
    assert {each.get("counter") for each in but} == {None, "approx"}
    assert {each.get("markdown", True) for each in but} == {True, False}
    assert sum(each.get("overlap_tokens", 0) > 0 for each in but) >= 6
    for mark in ("\r\n", "\n\n", "# ", "===", "```", "~~~", "。", "\u0301", "\u200d", "\u3000", "\t", "def ", "---"):
        assert any(mark in text for text in texts), mark
    assert all(len(case["spans"]) > 1 for case in CASES.values())
