"""The `hash` embedder: what counts as a word, what has no vector, and unchanged bytes."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from recall_core.embed import hash_batch
from recall_core.embed.features import MAX_CHARS, features, fold, words
from recall_core.embed.hash import HashEmbedder, embed_numpy, embed_plain
from recall_core.errors import ConfigError
from recall_core.types import Vector

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "hash_vectors.json").read_text(encoding="utf-8")
)


def components(vector: Vector) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(left: str, right: str) -> float:
    a, b = HashEmbedder().embed([left, right])
    return sum(x * y for x, y in zip(components(a), components(b), strict=True))


def test_vectors_have_the_golden_bytes() -> None:
    for embed in [embed_plain, embed_numpy]:
        vectors = embed([entry["text"] for entry in GOLDEN], 512)

        assert [sha256(vector).hexdigest() for vector in vectors] == [entry["sha256"] for entry in GOLDEN], (
            embed.__name__
        )


def test_texts_are_split_into_the_golden_words() -> None:
    for entry in GOLDEN:
        assert words(entry["text"]) == entry["words"], entry["name"]


def test_identity_names_the_scheme_and_the_dimension() -> None:
    embedder = HashEmbedder(256)

    assert (embedder.identity, embedder.dimension) == ("hash-1:256", 256)


def test_vectors_have_the_dimension_and_length_one() -> None:
    for dimension in [16, 512, 65_536]:
        (vector,) = HashEmbedder(dimension).embed(["the quick brown fox"])

        assert len(vector) == 4 * dimension, dimension
        assert math.hypot(*components(vector)) == pytest.approx(1, abs=1e-6), dimension


def test_dimension_must_be_a_power_of_two_in_range() -> None:
    for dimension in [-512, 0, 1, 8, 100, 513, 131_072]:
        with pytest.raises(ConfigError, match=f"cannot have {dimension} components") as caught:
            HashEmbedder(dimension)

        assert (caught.value.code, caught.value.hint) == ("bad_value", "embedding_dim = 512"), dimension


def test_text_without_a_feature_has_no_vector() -> None:
    for text in ["", " \n\t", "the of and", "THE", "?!… — “”", "、。", "\ue000\x00", "\ud800", "\u0301"]:
        for embed in [embed_plain, embed_numpy]:
            first, empty, last = embed(["apple", text, "zebra"], 512)

            assert empty == b"", (embed.__name__, text)
            assert first, (embed.__name__, text)
            assert last, (embed.__name__, text)


def test_no_texts_give_no_vectors() -> None:
    for embed in [embed_plain, embed_numpy]:
        assert embed([], 512) == [], embed.__name__


def test_case_accents_and_invisible_marks_do_not_count() -> None:
    for left, right in [
        ("Straight QUOTES", "“straight” quotes…"),
        ("café Ångström", "cafe\u0301 A\u030angstro\u0308m"),
        ("МОСКВА Ёлка Йод", "москва Е\u0308лка И\u0306од"),
        ("ΑΘΗΝΑ ΛΌΓΟΣ", "αθηνα λόγος"),
        ("Ｒｅｃａｌｌ１２", "recall12"),
        ("co\u00adoperate", "cooperate"),
        ("❤\ufe0f", "❤"),
    ]:
        assert HashEmbedder().embed([left]) == HashEmbedder().embed([right]), left


def test_folding_is_idempotent_and_never_lengthens() -> None:
    every_character = "".join(map(chr, range(sys.maxunicode + 1)))

    folded = fold(every_character)

    assert fold(folded) == folded
    assert len(folded) < len(every_character)
    assert all(len(fold(character)) <= 1 for character in every_character[:0x3000])


def test_typo_stays_near_its_word_and_other_words_do_not() -> None:
    assert cosine("retrieval", "retrievel") > 0.2
    assert abs(cosine("retrieval", "database")) < 0.1


def test_chinese_without_spaces_matches_its_substring() -> None:
    assert cosine("全文检索数据库", "检索") > 0.3
    assert abs(cosine("全文检索数据库", "天气")) < 0.2


def test_repetition_counts_sublinearly() -> None:
    once, often = cosine("apple pear", "apple"), cosine("apple " * 9 + "pear", "apple")

    assert once < often < 0.97


def test_code_points_past_the_limit_do_not_count() -> None:
    text = "ab " * (MAX_CHARS // 3 + 1)

    assert words(text[:MAX_CHARS] + " zebra") == words(text[:MAX_CHARS])
    assert "<zebra>" in words(text[: MAX_CHARS - 6] + " zebra")


def test_code_point_adds_at_most_32() -> None:
    for text in ["a b c d e f g h j k l", "中国人民解放", "x" * 64, "ab cd ef", "the"]:
        weight = sum(abs(w) for word in words(text) for _, w in features(word, 512))

        assert weight <= 32 * len(text), text
        assert (32 * 16 * MAX_CHARS) ** 2 < 2**53, text


def test_vector_is_the_sum_of_its_word_features() -> None:
    sums = [0.0] * 64
    for component, weight in features("<zebra>", 64) + features("<quagga>", 64):
        sums[component] += weight
    norm = math.hypot(*sums)

    (vector,) = HashEmbedder(64).embed(["Zebra, quagga!"])

    assert components(vector) == pytest.approx([x / norm for x in sums], abs=1e-7)


def test_words_with_equal_batch_sums_stay_distinct() -> None:
    alike = ("qagxnwomaaaaaapo", "zjbzqhbweexivpaa")  # chosen so that their sums over eight bytes are equal
    batch = hash_batch.BatchWords([*alike, "qagxnwomaaaaaapo once more"])
    assert batch.numbers[-4] == batch.numbers[-5] == batch.numbers[-3]
    assert not batch.are_told_apart()

    texts = [*alike, f"{alike[0]} {alike[1]} and words beside them"]
    assert embed_numpy(texts, 512) == embed_plain(texts, 512)


def test_words_of_every_length_match_in_a_batch() -> None:
    for length in [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 128, 129, 200]:
        for letter in ["a", "ж", "\U00010400"]:
            word = letter * length
            texts = [word, f"{word} {word}b", f"b{word}, {word}", letter * 65 + " " + word]

            assert embed_numpy(texts, 64) == embed_plain(texts, 64), (length, letter)


def test_query_is_embedded_without_loading_numpy() -> None:
    program = (
        "import sys; from recall_core.embed.hash import HashEmbedder; "
        "assert HashEmbedder().embed(['how does fusion weigh two signals?'])[0]; "
        "sys.exit('numpy' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_span_shares_add_up_to_word_features() -> None:
    embedder = HashEmbedder(512)
    text = "Payments, retried.\nDucks swim.\nA payment."
    spans = [(0, 18), (19, 30), (31, 41)]

    (given,) = embedder.shares_of("payment retries", [text], [spans])
    (shares,) = embedder.shares("payment retries", [text])

    assert given[2] > given[0] > given[1] == 0
    features = sum(share.value for share in shares if share.kind == "feature")
    (other,) = embedder.shares("payment", ["payment"])
    (alone,) = embedder.shares_of("payment", ["payment"], [[(0, 7)]])
    vectors = [math.sqrt(sum(x * x for x in hash_batch.sums([each], 512)[0].tolist())) for each in (text, "payment")]
    question = math.sqrt(sum(x * x for x in hash_batch.sums(["payment retries"], 512)[0].tolist()))
    assert sum(given) / vectors[0] / question == pytest.approx(features, abs=1e-6)
    assert alone[0] / vectors[1] ** 2 == pytest.approx(other[0].value, abs=1e-6)


def test_spans_without_a_query_gram_contribute_nothing() -> None:
    assert HashEmbedder(64).shares_of("zebra", ["ducks swim", ""], [[(0, 5), (6, 10)], []]) == [[0.0, 0.0], []]
