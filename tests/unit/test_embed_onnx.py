"""ONNX embedders: settings of a folder are obeyed or refused, long texts are means of windows, files are checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.embed import model_files
from recall_core.embed.model_files import components, folder_of, read_folder, unit
from recall_core.embed.onnx import (
    MINILM,
    MINILM_MODEL,
    MINILM_TOKENIZER,
    ONNX,
    MinilmKind,
    OnnxEmbedder,
)
from recall_core.errors import ConfigError, EmbedError, RecallError
from recall_core.ports import Embedder
from recall_core.shell import install_extra
from recall_core.testing import DeterministicEmbedderConformance
from recall_core.types import Vector

QUESTION = "how do I restart the server without downtime?"
GOLDEN = (0.055, -0.054, -0.015, -0.058, -0.011, 0.006)
"""The beginning of QUESTION's vector; another CPU may round int8 products slightly differently."""


def folder(path: Path, **settings: Any) -> Path:
    """Make a folder in the layout of sentence-transformers around minilm's files. settings: file name to JSON."""
    path.mkdir()
    for file, name in ((MINILM_MODEL, "model.onnx"), (MINILM_TOKENIZER, "tokenizer.json")):
        package = folder_of(file.package)
        assert package is not None
        (path / name).symlink_to(package / file.path)
    for name, content in settings.items():
        target = path / f"{name.replace('__', '/')}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(content), encoding="utf-8")
    return path


def onnx(path: Path) -> OnnxEmbedder:
    return ONNX.new(Config(embedding=f"onnx:{path}"))


def cosine(left: Vector, right: Vector) -> float:
    return sum(x * y for x, y in zip(components(left), components(right), strict=True))


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    return MINILM.new(Config())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Config, OnnxEmbedder]:
    """Return settings that name a folder, and its embedder."""
    path = folder(tmp_path_factory.mktemp("onnx") / "model")
    return Config(embedding=f"onnx:{path}"), onnx(path)


class Loaded(DeterministicEmbedderConformance):
    """Conformance tests whose first embedder is shared, because loading a model is slow; later ones are new."""

    everybodys: OnnxEmbedder | None

    def embedder(self) -> Embedder:
        given, self.everybodys = self.everybodys, None
        return given or super().embedder()


class TestMinilmConforms(Loaded):
    kind = MINILM

    @pytest.fixture(autouse=True)
    def _loaded(self, minilm: OnnxEmbedder) -> None:
        self.everybodys = minilm


@pytest.mark.slow
class TestOnnxFolderConforms(Loaded):
    kind = ONNX

    @pytest.fixture(autouse=True)
    def _loaded(self, model: tuple[Config, OnnxEmbedder]) -> None:
        self.config, self.everybodys = model


def test_minilm_begins_like_its_golden_vector(minilm: OnnxEmbedder) -> None:
    (vector,) = minilm.embed([QUESTION])

    assert components(vector)[:6] == pytest.approx(GOLDEN, abs=0.01)


def test_minilm_recognises_sentences_with_equal_meaning(minilm: OnnxEmbedder) -> None:
    asked, near, far = minilm.embed([QUESTION, "zero-downtime deployment", "a recipe for apple cake"])

    assert cosine(asked, near) > 0.4 > cosine(asked, far)


def test_folder_with_the_same_files_gives_the_same_vectors(
    model: tuple[Config, OnnxEmbedder], minilm: OnnxEmbedder
) -> None:
    config, embedder = model

    assert embedder.embed([QUESTION]) == minilm.embed([QUESTION])
    assert embedder.dimension == 384
    assert embedder.identity.startswith("onnx-")
    assert embedder.identity.endswith(":384")
    assert ONNX.recognises(embedder.identity, config)
    assert not ONNX.recognises(f"another-{embedder.identity}", config)
    assert ONNX.missing(config) is None
    assert ONNX.dimension(config) in (None, 384)
    assert 0 <= ONNX.vector_weight <= 1


def test_cls_pooling_changes_vector_and_identity(
    tmp_path: Path, model: tuple[Config, OnnxEmbedder], minilm: OnnxEmbedder
) -> None:
    mean = model[1]
    cls = onnx(folder(tmp_path / "cls", **{"1_Pooling__config": {"pooling_mode_cls_token": True}}))

    assert mean.embed([QUESTION]) == minilm.embed([QUESTION]) != cls.embed([QUESTION])
    assert mean.identity != cls.identity


def test_prompts_precede_queries_and_documents(tmp_path: Path, minilm: OnnxEmbedder) -> None:
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    path = folder(tmp_path / "model", config_sentence_transformers=prompts)
    (path / "onnx").mkdir()  # the model may be in a subfolder
    (path / "model.onnx").rename(path / "onnx" / "model.onnx")
    embedder = onnx(path)

    assert embedder.embed([QUESTION], is_query=True) == minilm.embed([f"query: {QUESTION}"])
    assert embedder.embed([QUESTION]) == minilm.embed([f"passage: {QUESTION}"])
    assert embedder.embed([""], is_query=True) == [b""]


def test_maximum_length_comes_from_the_folder(tmp_path: Path) -> None:
    positions = {"config": {"max_position_embeddings": 512}}
    for number, (settings, length) in enumerate(
        (
            ({}, 256),
            (positions, 512),
            ({"tokenizer_config": {"model_max_length": 128}, **positions}, 128),
            ({"tokenizer_config": {"model_max_length": 1e30}, **positions}, 512),
            ({"sentence_bert_config": {"max_seq_length": 64}, **positions}, 64),
        )
    ):
        assert read_folder(folder(tmp_path / str(number), **settings)).max_input == length, settings


def test_unsupported_step_is_refused(tmp_path: Path) -> None:
    for number, (settings, reason) in enumerate(
        (
            ({"1_Pooling__config": {"pooling_mode_max_tokens": True}}, "pooling max_tokens is not supported"),
            ({"1_Pooling__config": {"pooling_mode": "lasttoken"}}, "pooling lasttoken is not supported"),
            ({"modules": [{"type": "sentence_transformers.models.Dense"}]}, "needs the step Dense"),
        )
    ):
        with pytest.raises(EmbedError, match=reason) as caught:
            onnx(folder(tmp_path / str(number), **settings))

        assert caught.value.code == "embedder_unavailable", settings


@pytest.mark.parametrize("lacking", ["model.onnx", "tokenizer.json"])
def test_missing_file_of_a_folder_is_named(tmp_path: Path, lacking: str) -> None:
    path = folder(tmp_path / "model")
    (path / lacking).unlink()

    assert ONNX.missing(Config(embedding=f"onnx:{path}")) == f"{path} has no {lacking}"


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_invalid_model_file_is_a_plain_error(tmp_path: Path, damaged: str) -> None:
    path = folder(tmp_path / "model")
    (path / damaged).unlink()
    (path / damaged).write_bytes(b"{}")

    with pytest.raises(EmbedError) as caught:
        onnx(path)

    assert caught.value.code == "embedder_unavailable"


def test_onnx_without_a_folder_shows_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="needs the folder of a model") as caught:
        ONNX.new(Config(embedding="onnx"))

    assert caught.value.hint == 'embedding = "onnx:models/e5"'


def test_long_text_is_the_mean_of_its_windows(tmp_path: Path, minilm: OnnxEmbedder) -> None:
    settings = {
        "sentence_bert_config": {"max_seq_length": 6},
        "1_Pooling__config": {"pooling_mode_mean_tokens": True},
    }
    embedder = onnx(folder(tmp_path / "model", **settings))
    text = "alpha beta gamma delta sugar milk bread"  # one token a word: two windows of 4 and 3

    (vector,) = embedder.embed([text])

    halves = minilm.embed(["alpha beta gamma delta", "sugar milk bread"])
    assert embedder.windows([text, "alpha"]) == [2, 1]
    assert vector == model_files.mean(halves)


def test_minilm_reads_254_text_tokens_and_two_special_tokens(minilm: OnnxEmbedder) -> None:
    assert minilm.windows(["sugar " * 254, "sugar " * 255]) == [1, 2]


@given(st.lists(st.integers(), max_size=300), st.integers(1, 40))
def test_windows_contain_every_token_once_in_minimal_number(ids: list[int], width: int) -> None:
    found = model_files.cut(ids, width)

    sizes = [len(window) for window in found]
    assert [i for window in found for i in window] == ids
    assert len(found) == model_files.windows(len(ids), width) == max(1, -(-len(ids) // width))
    assert max(sizes) <= width
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.tuples(*[st.floats(-1, 1, width=32)] * 3).filter(any), min_size=1, max_size=6))
def test_mean_has_length_one_and_ignores_order(rows: list[tuple[float, ...]]) -> None:
    vectors = [unit(row) for row in rows]
    found = model_files.mean(vectors)

    assert found == b"" or sum(x * x for x in components(found)) == pytest.approx(1, abs=1e-6)
    assert model_files.mean(vectors[:1]) == vectors[0]
    assert model_files.mean(vectors[::-1]) == found


@pytest.mark.parametrize("which", ["model", "tokenizer"])
def test_one_changed_bit_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    files = {"model": MINILM_MODEL, "tokenizer": MINILM_TOKENIZER}
    for file in files.values():
        source = folder_of(file.package)
        assert source is not None
        target = tmp_path / "copied_minilm" / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file.path, target)
    damaged = tmp_path / "copied_minilm" / files[which].path
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    kind = MinilmKind(**{name: file._replace(package="copied_minilm") for name, file in files.items()})

    with pytest.raises(RecallError) as caught:
        kind.new(Config())

    assert caught.value.code == "embedder_damaged"


def test_missing_package_is_named_with_its_remedy() -> None:
    kind = MinilmKind(model=MINILM_MODEL._replace(package="no_such_package"))

    reason = f"the package no_such_package is not installed: {install_extra('minilm')}"
    assert kind.missing(Config()) == reason
