"""The history file: what is kept, in which order, and that nothing in it can do harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall_tui.history import LONGEST, MOST, append, load, place


def test_the_newest_query_comes_first_and_each_comes_once(tmp_path: Path) -> None:
    file = tmp_path / "recall" / "history.jsonl"
    for text in ("token budget", "SELECT *\nFROM chunk", "café 打开", "token budget"):
        append(file, text)

    assert load(file) == ["token budget", "café 打开", "SELECT *\nFROM chunk"]


def test_a_query_is_one_line_that_only_its_owner_reads(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"

    append(file, "SELECT *\nFROM chunk\r\n\ud800")

    assert json.loads(file.read_bytes()) == {"text": "SELECT *\nFROM chunk\r\n\ud800"}
    assert file.read_bytes().count(b"\n") == 1
    assert file.stat().st_mode & 0o777 == 0o600


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    lines = [json.dumps({"text": f"query {number}"}) for number in range(2 * MOST)]
    file.write_text("\n".join(lines), encoding="utf-8")

    append(file, "the last")

    texts = load(file)
    assert (len(texts), texts[0], texts[1]) == (MOST, "the last", f"query {2 * MOST - 1}")
    assert file.read_bytes().count(b"\n") == MOST + 1
    assert [path.name for path in tmp_path.iterdir()] == ["history.jsonl"]


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff\xfe\x00", id="binary"),
        pytest.param(b"{", id="torn"),
        pytest.param(b'{"text": 5}', id="number"),
        pytest.param(b'["text"]', id="list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"text": "  "}', id="blank"),
        pytest.param(b"[" * 200_000, id="deep"),
        pytest.param(b'{"text": "\xff"}', id="encoding"),
    ],
)
def test_lines_that_are_no_queries_are_passed_over(tmp_path: Path, junk: bytes) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(b'{"text": "before"}\n' + junk + b'\n{"text": "after"}\n')

    assert load(file) == ["after", "before"]


def test_what_is_no_file_is_an_empty_history(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == []
    assert load(tmp_path) == []


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST + 1)])
def test_nothing_and_too_much_are_not_remembered(tmp_path: Path, text: str) -> None:
    file = tmp_path / "history.jsonl"

    append(file, text)

    assert not file.exists()


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "darwin", "/s/recall/history.jsonl"),
        ({"HOME": "/h"}, "linux", "/h/.local/state/recall/history.jsonl"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Application Support/recall/history.jsonl"),
        ({"XDG_STATE_HOME": "here", "HOME": "/h"}, "linux", "/h/.local/state/recall/history.jsonl"),
    ],
)
def test_the_file_stands_where_the_platform_keeps_state(
    environ: dict[str, str], platform: str, expected: str
) -> None:
    assert place(environ, platform) == Path(expected)


def test_without_a_home_there_is_no_history() -> None:
    assert place({}, "linux") is None
