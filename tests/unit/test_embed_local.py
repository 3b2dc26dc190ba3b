"""The `local` embedder: unchanged bytes, checked files, and no unnecessary import."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recall_core.config import Config
from recall_core.embed.local import LOCAL, TOKENIZER, WEIGHTS, LocalEmbedder, LocalKind, embed_numpy, embed_plain
from recall_core.embed.model_files import components, folder_of
from recall_core.errors import EmbedError
from recall_core.shell import install_extra
from recall_core.testing import DeterministicEmbedderConformance

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "local_vectors.json").read_text(encoding="utf-8")
)


class TestLocalConforms(DeterministicEmbedderConformance):
    kind = LOCAL


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LOCAL.new(Config())


def cosine(embedder: LocalEmbedder, left: str, right: str) -> float:
    a, b = map(components, embedder.embed([left, right]))
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_vectors_have_the_golden_bytes(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed([entry["text"] for entry in GOLDEN])

    assert [sha256(vector).hexdigest() for vector in vectors] == [entry["sha256"] for entry in GOLDEN]


def test_single_text_begins_like_its_golden_vector(embedder: LocalEmbedder) -> None:
    for entry in GOLDEN:
        (vector,) = embedder.embed([entry["text"]])

        assert [round(component, 6) for component in components(vector)[:4]] == entry["first"], entry["name"]


def test_vector_is_the_mean_of_its_token_rows(embedder: LocalEmbedder) -> None:
    folder = folder_of("wordllama")
    assert folder is not None
    raw = (folder / WEIGHTS.path).read_bytes()
    rows = np.frombuffer(raw, "<f2", offset=8 + struct.unpack("<Q", raw[:8])[0]).reshape(32_000, 256)
    ids = embedder._model[2].ids(["restart the server"])[0]

    mean = rows[ids].astype(np.float64).mean(axis=0)

    (vector,) = embedder.embed(["restart the server"])
    assert len(ids) == 3
    np.testing.assert_allclose(np.frombuffer(vector, "<f4"), mean / np.linalg.norm(mean), atol=1e-7)


def test_plain_python_and_numpy_give_the_same_bytes(embedder: LocalEmbedder) -> None:
    weights, first, tokens = embedder._model
    ids = tokens.ids([entry["text"] for entry in GOLDEN])

    assert [embed_plain(each, weights, first) for each in ids] == embed_numpy(ids, weights, first)


def test_text_keeps_its_bytes_in_a_numpy_batch(embedder: LocalEmbedder) -> None:
    texts = [f"note {n} about restarting server {n * n} at night " * 9 for n in range(300)]

    vectors = embedder.embed(texts)

    assert vectors[7] == embedder.embed([texts[7]])[0]
    assert vectors[299] == embedder.embed([texts[299]])[0]


def test_related_words_are_near(embedder: LocalEmbedder) -> None:
    near = cosine(embedder, "the car would not start", "automobile engine failure")
    far = cosine(embedder, "the car would not start", "a recipe for apple cake")

    assert near > far


def test_query_needs_neither_numpy_nor_the_package() -> None:
    script = (
        "import sys; from recall_core.config import Config; from recall_core.embed.local import LOCAL; "
        "assert LOCAL.new(Config(), dimension=256).embed(['how do I restart the server?'], is_query=True)[0]; "
        "print(*{'numpy', 'wordllama', 'safetensors'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def copy_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, change: str) -> LocalKind:
    """Return the kind over a copy of its files as a package of another name, with one changed byte."""
    source = folder_of("wordllama")
    assert source is not None
    for file in (WEIGHTS, TOKENIZER):
        target = tmp_path / "copied_model" / file.path
        target.parent.mkdir(parents=True)
        content = bytearray((source / file.path).read_bytes())
        if file.path.startswith(change):
            content[len(content) // 2] ^= 1
        target.write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    return LocalKind(
        weights=WEIGHTS._replace(package="copied_model"), tokenizer=TOKENIZER._replace(package="copied_model")
    )


def test_complete_copy_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: LocalEmbedder) -> None:
    kind = copy_kind(tmp_path, monkeypatch, change="nothing")

    assert kind.new(Config()).embed(["a copy"]) == embedder.embed(["a copy"])


@pytest.mark.parametrize("change", ["weights", "tokenizers"])
def test_one_changed_bit_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    kind = copy_kind(tmp_path, monkeypatch, change=change)

    with pytest.raises(EmbedError, match="its sha256 begins with") as caught:
        kind.new(Config())

    assert caught.value.code == "embedder_damaged"
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("--force-reinstall wordllama==0.4.0.post1 'tokenizers>=0.20'")


def test_empty_file_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = copy_kind(tmp_path, monkeypatch, change="nothing")
    (tmp_path / "copied_model" / WEIGHTS.path).write_bytes(b"")

    with pytest.raises(EmbedError) as caught:
        kind.new(Config(), dimension=256).embed(["late"])

    assert caught.value.code == "embedder_damaged"


def test_missing_package_is_named_with_its_remedy() -> None:
    for weights, reason in [
        (WEIGHTS._replace(package="no_such_package"), "the package no_such_package is not installed"),
        (
            WEIGHTS._replace(path="weights/other.safetensors"),
            "the package wordllama has no weights/other.safetensors",
        ),
    ]:
        kind = LocalKind(weights=weights)

        assert kind.missing(Config()) == f"{reason}: {install_extra('local')}", reason
        with pytest.raises(EmbedError, match=reason) as caught:
            kind.new(Config())
        assert caught.value.code == "embedder_unavailable", reason


def test_shares_add_up_to_the_cosine_word_by_word(embedder: LocalEmbedder) -> None:
    text = "Retry the payment, then retry.\nA payment of `retry_ms`; 重试"
    (shares, nothing) = embedder.shares("payment retries", [text, " "])

    assert sum(share.value for share in shares) == pytest.approx(cosine(embedder, "payment retries", text), abs=1e-7)
    assert {"Retry", "payment", "then", "retry", "ms"} <= {share.text for share in shares}
    assert len({share.text for share in shares}) == len(shares)
    assert nothing == []


def test_spans_contribute_the_sum_of_their_words(embedder: LocalEmbedder) -> None:
    lines = ["Ducks swim on the lake.", "Then retry the payment", "and a 😀 payment again."]
    text = "\n".join(lines)
    starts = [0, 24, 47]
    spans = [(start, start + len(line)) for start, line in zip(starts, lines, strict=True)]

    ((*given,), (nothing,)) = embedder.shares_of("payment retries", [text, "x"], [spans, [(0, 0)]])
    (whole,) = embedder.shares("payment retries", [text])

    assert max(given) == given[1]
    assert min(given) == given[0]
    assert nothing == 0
    (all_of_it,) = embedder.shares_of("payment retries", [text], [[(0, len(text))]])
    factor = all_of_it[0] / sum(share.value for share in whole)
    words = {share.text: share.value for share in whole}
    assert given[0] / factor == pytest.approx(sum(words[word] for word in ("Ducks", "swim", "on", "lake")), abs=0.2)


def test_span_shares_are_equal_with_and_without_numpy(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Retry the payment, then retry. " * 9 + "A payment of `retry_ms`; 重试"
    spans = [(start, start + 7) for start in range(0, len(text), 7)]

    with_numpy = embedder.shares_of("payment retries of a bank", [text], [spans])
    monkeypatch.delitem(sys.modules, "numpy")

    assert embedder.shares_of("payment retries of a bank", [text], [spans]) == with_numpy
    assert embedder.shares_of(" ", [text], [spans]) == [[0.0] * len(spans)]
