"""The history file: its entries, their order, and protection against invalid content."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from rich.cells import cell_len

from recall_tui.home.history import LONGEST, MOST, KeptRow, PastQuestion, RankMove, append, load, moves, place
from recall_tui.screens.history import entry_line
from recall_tui.state.records import Moved
from recall_tui.state.weighing import moved_by
from recall_tui.widgets.draw import ASCII, UNICODE


def texts_of(file: Path) -> list[str]:
    return [past.text for past in load(file)]


def test_the_newest_query_comes_first_without_repeats(tmp_path: Path) -> None:
    file = tmp_path / "recall" / "history.jsonl"
    for text in ("token budget", "SELECT *\nFROM chunk", "café 打开", "token budget"):
        append(file, PastQuestion(text))

    assert texts_of(file) == ["token budget", "café 打开", "SELECT *\nFROM chunk"]


def test_a_query_is_one_private_line(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"

    append(file, PastQuestion("SELECT *\nFROM chunk\r\n\ud800"))

    assert json.loads(file.read_bytes()) == {"text": "SELECT *\nFROM chunk\r\n\ud800"}
    assert file.read_bytes().count(b"\n") == 1
    assert file.stat().st_mode & 0o777 == 0o600


def test_only_the_newest_queries_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    lines = [json.dumps({"text": f"query {number}"}) for number in range(2 * MOST)]
    file.write_text("\n".join(lines), encoding="utf-8")

    append(file, PastQuestion("the last"))

    texts = texts_of(file)
    assert (len(texts), texts[0], texts[1]) == (MOST, "the last", f"query {2 * MOST - 1}")
    assert file.read_bytes().count(b"\n") == MOST + 1
    assert [path.name for path in tmp_path.iterdir()] == ["history.jsonl"]


def test_history_lines_that_are_not_queries_are_skipped(tmp_path: Path) -> None:
    for junk in [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b'{"text": 5}',
        b'["text"]',
        b"null",
        b'{"text": "  "}',
        b"[" * 200_000,
        b'{"text": "\xff"}',
        b'{"text": "store weights \\ud800"}',
        b'{"text": "budget", "filter": "doc.tag = \'\\udfff\'"}',
        b'{"text": "budget", "settings": ["rerank=\\ud800"]}',
        b'{"text": "budget", "top": [["\\ud800", "a.txt"]]}',
    ]:
        file = tmp_path / "history.jsonl"
        file.write_bytes(b'{"text": "before"}\n' + junk + b'\n{"text": "after"}\n')

        assert texts_of(file) == ["after", "before"], junk


def test_a_new_query_always_starts_its_own_line(tmp_path: Path) -> None:
    for last, texts in [
        (b'{"text": "second"}', ["third", "second", "first"]),
        (b'{"text": "sec', ["third", "first"]),
        (b'{"text": "second"}\n', ["third", "second", "first"]),
    ]:
        file = tmp_path / "history.jsonl"
        file.write_bytes(b'{"text": "first"}\n' + last)

        append(file, PastQuestion("third"))

        assert texts_of(file) == texts, last
        assert b"\n\n" not in file.read_bytes(), last


def test_the_first_query_is_the_first_line(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(b"")

    append(file, PastQuestion("first"))

    assert file.read_bytes() == b'{"text": "first"}\n'


def test_a_missing_file_is_an_empty_history(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == []
    assert load(tmp_path) == []


def test_empty_and_huge_queries_are_not_kept(tmp_path: Path) -> None:
    for text in ["", " \n", "x" * (LONGEST + 1)]:
        file = tmp_path / "history.jsonl"

        append(file, PastQuestion(text))

        assert not file.exists(), text


def test_the_file_is_in_the_platform_s_state_folder() -> None:
    for environ, platform, expected in [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "darwin", "/s/recall/history.jsonl"),
        ({"HOME": "/h"}, "linux", "/h/.local/state/recall/history.jsonl"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Application Support/recall/history.jsonl"),
        ({"XDG_STATE_HOME": "here", "HOME": "/h"}, "linux", "/h/.local/state/recall/history.jsonl"),
    ]:
        assert place(environ, platform) == Path(expected), (environ, platform, expected)


def test_without_a_home_there_is_no_history() -> None:
    assert place({}, "linux") is None


ROWS = (KeptRow("a", "docs/a.md:1-2"), KeptRow("b", "b.txt"))
FIRST = PastQuestion("tea", "doc.tag = 'x'", ("vector_weight=0.7",), "9f3a", ROWS, 3)


def test_a_question_is_kept_with_settings_store_and_rows(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"

    append(file, PastQuestion("tea"))
    append(file, FIRST)

    assert load(file) == [FIRST, PastQuestion("tea")]
    assert file.read_bytes().splitlines()[0] == b'{"text": "tea"}'


def test_a_question_with_other_settings_is_another_entry(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    for settings in ((), ("k1=1",), (), ("k1=2",)):
        append(file, PastQuestion("tea", settings=settings))

    assert [past.settings for past in load(file)] == [("k1=2",), (), ("k1=1",)]


def test_invalid_parts_are_left_out(tmp_path: Path) -> None:
    for more in [
        {"top": 3},
        {"top": [["a"]]},
        {"top": [["a", 3]]},
        {"settings": [3]},
        {"settings": "x"},
        {"filter": 1, "digest": []},
        {"offset": "3"},
        {"offset": -3},
        {"offset": 3.0},
        {"offset": True},
    ]:
        file = tmp_path / "history.jsonl"
        file.write_text(json.dumps({"text": "tea", **more}), encoding="utf-8")

        assert load(file) == [PastQuestion("tea")], more


def test_an_entry_without_an_offset_starts_at_row_one(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"text": "tea", "top": [["a", "docs/a.md:1-2"], ["b", "b.txt"]]}\n', encoding="utf-8")

    assert load(file) == [PastQuestion("tea", top=ROWS, offset=0)]


def test_rows_shown_at_another_offset_have_not_moved() -> None:
    whole = PastQuestion("SELECT * FROM chunk LIMIT 3", top=(*ROWS, KeptRow("c", "c.txt")))
    page = PastQuestion("SELECT * FROM chunk LIMIT 3 OFFSET 1", top=(*whole.top[1:], KeptRow("d", "d.txt")), offset=1)

    assert [(move.row.id, move.before, move.after) for move in moves(whole, page)] == [
        ("b", 2, 2),
        ("c", 3, 3),
        ("d", None, 4),
        ("a", 1, None),
    ]


def test_two_answers_differ_by_their_moves() -> None:
    later = PastQuestion("tea", top=(KeptRow("b", "b.txt"), KeptRow("c", "c.txt")))

    assert moves(PastQuestion("tea", top=ROWS), later) == [
        RankMove(KeptRow("b", "b.txt"), 2, 1),
        RankMove(KeptRow("c", "c.txt"), None, 2),
        RankMove(KeptRow("a", "docs/a.md:1-2"), 1, None),
    ]


def test_the_settings_of_an_entry_are_read_back() -> None:
    for settings, moved, unknown in [
        ((), Moved(), ()),
        (("vector_weight=0.7", "bm25_weight=0.3"), Moved({"bm25_weight": 0.3, "vector_weight": 0.7}), ()),
        (("bm25_weight=0.0", "vector_weight=1.0"), Moved({"bm25_weight": 0.0, "vector_weight": 1.0}), ()),
        (("sparse_recall=false", "k=5"), Moved({"sparse_recall": False}, 5), ()),
        (("match=all", "k=0", "k1=2"), Moved({"match": "all"}), ("k=0", "k1=2")),
        (("budget_tokens=5", "chunk_tokens=9", "pool"), Moved(), ("budget_tokens=5", "chunk_tokens=9", "pool")),
    ]:
        assert moved_by(PastQuestion("tea", settings=settings)) == (moved, unknown), settings


def test_a_long_entry_is_cut_before_its_settings() -> None:
    for glyphs in [UNICODE, ASCII]:
        for text in ["budget\n" * 800, "打开文件 " * 400]:
            for width in [20, 61, 96]:
                past = PastQuestion(text, filter="path GLOB 'docs/*'")

                line = entry_line(past, glyphs, width, is_marked=True).plain

                assert cell_len(line) <= width, (glyphs, text, width)
                assert glyphs.cut in line, (glyphs, text, width)
                assert "filter" in line or width < 30, (glyphs, text, width)
                assert text[:3] in line, (glyphs, text, width)


def test_a_short_entry_is_not_cut() -> None:
    line = entry_line(PastQuestion("token\nbudget", filter="a = 1"), UNICODE, 40, is_marked=False)

    assert line.plain == "  token budget  · filter a = 1"


def test_a_pipe_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "history.jsonl")

    with pytest.raises(OSError, match="No such device"):
        append(tmp_path / "history.jsonl", PastQuestion("token budget"))
    assert load(tmp_path / "history.jsonl") == []
