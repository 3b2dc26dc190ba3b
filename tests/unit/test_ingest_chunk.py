"""Promises of the chunker, by example."""

from recall_core.config import Config, chunker_identity
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse.text import outline_marks
from recall_core.text import Counter, counter
from recall_core.types import Span


def spans(
    text: str, *, tokens: int = 20, overlap: int = 0, chars: int = 6000, markdown: bool = True
) -> tuple[Span, ...]:
    config = Config(chunk_tokens=tokens, overlap_tokens=overlap, max_chunk_chars=chars)
    return chunk(text, counter=counter("whitespace"), config=config, marks=outline_marks(text, markdown=markdown))


def pieces(text: str, **options: int | bool) -> list[str]:
    return [text[span.offset : span.end] for span in spans(text, **options)]  # type: ignore[arg-type]


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def test_whitespace_has_no_chunk() -> None:
    for text in ["", " ", "\n\n\t\r\n", "\u3000"]:
        assert spans(text) == (), text


def test_short_text_is_one_chunk() -> None:
    assert pieces("# A\n\ntext\n\n# B\n\ntext\n") == ["# A\n\ntext\n\n# B\n\ntext\n"]


def test_heading_is_the_best_place_to_cut() -> None:
    before, after = f"{words(8)}. One.\n\n{words(2)}\n\n", f"# Next\n{words(12)}\n"

    assert pieces(before + after) == [before, after]


def test_empty_line_is_better_than_a_sentence_end() -> None:
    before, after = f"{words(14)}\n\n", f"Two. {words(10)}"

    assert pieces(before + after) == [before, after]


def test_sentence_end_is_better_than_whitespace() -> None:
    before, after = f"{words(14)} end. ", f"Then {words(10)}"

    assert pieces(before + after) == [before, after]


def test_cut_that_exceeds_the_token_limit_moves_back() -> None:
    open_ended = Counter("open-ended", lambda text: len(text.split()) + 30 * text.endswith(" "))
    text, config = words(50), Config(chunk_tokens=20, overlap_tokens=0)

    found = chunk(text, counter=open_ended, config=config, marks=outline_marks(text, markdown=True))

    counts = [open_ended.count(text[span.offset : span.end]) for span in found]
    assert max(counts) <= 20
    assert min(counts[:-1]) > 10


def test_abbreviation_does_not_end_a_sentence() -> None:
    text = f"{words(12)} end. Then e.g. {words(15)}"

    assert pieces(text)[0].endswith("end. ")


def test_chinese_full_stop_ends_a_sentence_without_a_space() -> None:
    text = "很" * 30 + "。" + "好" * 30

    assert pieces(text, chars=40) == ["很" * 30 + "。", "好" * 30]


def test_text_without_sentences_is_cut_at_a_word() -> None:
    assert [len(piece.split()) for piece in pieces(words(50))] == [20, 20, 10]


def test_text_may_be_cut_after_a_one_letter_word() -> None:
    assert pieces("a " + "b" * 60, chars=40) == ["a ", "b" * 40, "b" * 20]


def test_text_without_spaces_is_cut_between_code_points() -> None:
    assert [len(piece) for piece in pieces("x" * 100, chars=40, overlap=0)] == [40, 40, 20]


def test_letter_and_its_accent_stay_together() -> None:
    text = "a" * 39 + "e\u0301" + "b" * 30

    assert pieces(text, chars=40)[0] == "a" * 39


def test_carriage_return_and_line_feed_stay_together() -> None:
    text = "a" * 39 + "\r\n" + "b" * 60

    assert not [piece for piece in pieces(text, chars=40) if piece.startswith("\n")]


def test_fitting_fenced_block_stays_whole() -> None:
    fence = f"```\n{words(6)}\n\n{words(6)}\n```\n"
    text = f"{words(12)}\n\n{fence}\n{words(12)}\n"

    assert any(fence in piece for piece in pieces(text))


def test_fenced_block_of_exactly_the_limit_stays_whole() -> None:
    for count in range(20, 32):
        approximate = counter("approx")
        fence = f"```\n{words(count, 'abc')}\n\n{words(5, 'abc')}\n```\n"
        config = Config(chunk_tokens=approximate.count(fence), overlap_tokens=0)
        text = f"{fence}\n{words(200)}"

        found = chunk(text, counter=approximate, config=config, marks=outline_marks(text, markdown=True))

        assert found[0].end >= len(fence), count


def test_overlap_does_not_push_a_fenced_block_over_the_limit() -> None:
    fence = f"```\n{words(8)}\n\n{words(8)}\n```\n"

    assert pieces(f"{words(16)}\n\n{fence}\n{words(12)}\n", overlap=6)[1].startswith(fence)


def test_fitting_definition_stays_whole() -> None:
    one, two = f"def one():\n    {words(13)}\n\n    {words(4)}\n\n\n", f"def two():\n    {words(10)}\n"

    assert pieces("import this\n\n" + one + two, markdown=False)[1:] == [one, two]


def test_overlong_block_is_cut_like_any_text() -> None:
    text = f"```\n{words(15)}\n\n{words(15)}\n```\n"

    assert len(pieces(text)) == 2


def test_adjacent_chunks_share_their_overlap() -> None:
    first, second = spans(words(50), overlap=5)[:2]

    assert first.end - second.offset == len("word " * 5)


def test_overlap_gives_way_to_a_character_of_many_tokens() -> None:
    utf8_bytes = Counter("bytes", lambda text: len(text.encode()))
    config = Config(chunk_tokens=4, overlap_tokens=3)

    found = chunk("abc🚀", counter=utf8_bytes, config=config, marks=())

    assert [(span.offset, span.end, span.tokens) for span in found] == [(0, 3, 3), (3, 4, 4)]


def test_overlap_begins_at_a_sentence() -> None:
    text = f"{words(13)}. A short sentence here. Then {words(20)}"

    second = spans(text, overlap=6)[1]

    assert text[second.offset :].startswith("A short sentence here.")


def test_overlap_of_exactly_the_limit_is_used() -> None:
    assert pieces("aa b. Cc d\n\nee ff gg", tokens=4, overlap=2)[:2] == ["aa b. Cc d\n\n", "Cc d\n\nee ff "]


def test_no_overlap_crosses_a_heading() -> None:
    text = f"{words(12)}\n\n# Next\n\n{words(14)}\n"

    first, second = spans(text, overlap=5)

    assert first.end == second.offset == text.index("#")


def test_chunk_heading_is_the_nearest_above_its_first_word() -> None:
    text = f"# Top\n\n{words(15)}\n\n## Deep\n\n{words(30)}\n"

    assert [span.heading for span in spans(text)] == ["Top", "Deep", "Deep"]


def test_text_without_headings_has_no_heading() -> None:
    assert spans("# not markdown\n", markdown=False)[0].heading is None


def test_identity_names_every_limit() -> None:
    assert chunker_identity(Config()) == "boundary-1:400:80:6000"


def test_word_across_a_sentence_end_counts_on_both_sides() -> None:
    text = "a b c 好。好 d e f"
    assert [(text[span.offset : span.end], span.tokens) for span in spans(text, tokens=4)] == [
        ("a b c 好。", 4),
        ("好 d e f", 4),
    ]
