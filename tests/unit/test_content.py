"""Content without a file: `recall add - --name PATH`."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.types import Root

NAME = "notes/today.md"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    (template / "a.md").write_text("a file\n")
    with contextlib.chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", ".")[0] == 0
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def run(*argv: str, content: bytes = b"", may_wait: bool = True) -> tuple[int, str, str]:
    stdin = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    streams = Streams(stdin, io.StringIO(), io.StringIO(), may_wait=may_wait)
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def pipe(content: bytes, *flags: str) -> str:
    code, out, err = run("add", "-", "--name", NAME, *flags, content=content)
    assert (code, err) == (0, "")
    return out.partition(";")[0]


def refusal(*argv: str, content: bytes = b"words\n", may_wait: bool = True) -> tuple[int, str]:
    code, out, _ = run(*argv, "--json", content=content, may_wait=may_wait)
    error = json.loads(out)["error"]
    assert "hint" in error or error["code"] == "binary_file"
    return code, error["code"]


def document(path: str = NAME) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("get", path, "--json")[1])["found"]
    return found


def test_piped_content_is_a_document_byte_for_byte(home: Path) -> None:
    content = "\ufeff# Today\r\n\r\nZoë’s notes\n".encode()

    assert pipe(content, "--tag", "note", "--source", "pipe", "--meta", "n=1").startswith("files: 1 added")

    found = document()
    assert found["text"] == "# Today\r\n\r\nZoë’s notes\n"
    doc = found["doc"]
    assert (doc["path"], doc["title"], doc["tags"], doc["source"], doc["meta"]) == (
        NAME, "Today", ["note"], "pipe", {"n": 1},
    )  # fmt: skip


def test_sync_leaves_piped_document_without_looking_for_a_file(home: Path) -> None:
    pipe(b"today words\n")

    code, out, err = run("search", "today", "--strict-fresh")

    assert (code, "missing" in out, "W_STALE" in err) == (0, False, False)
    assert run("sync")[1].startswith("files: 0 added, 0 updated, 1 unchanged, 0 removed;")
    assert document()["text"] == "today words\n"
    assert run("doctor")[0] == 0


def test_same_name_replaces_content_and_keeps_equal_content(home: Path) -> None:
    pipe(b"one\n", "--tag", "x")
    assert pipe(b"two\n", "--tag", "x").startswith("files: 0 added, 1 updated")
    before = json.loads(run("stats", "--json")[1])["store"]["generation"]

    assert pipe(b"two\n", "--tag", "x").startswith("files: 0 added, 0 updated, 1 unchanged")
    assert json.loads(run("stats", "--json")[1])["store"]["generation"] == before

    assert pipe(b"two\n", "--source", "s").startswith("files: 0 added, 1 updated")
    doc = document()["doc"]
    assert (doc["tags"], doc["source"], document()["text"]) == ([], "s", "two\n")
    assert json.loads(run("stats", "--json")[1])["store"]["documents"] == 2


def test_piped_records_equal_records_from_a_file(home: Path) -> None:
    first = b'{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n'
    pipe(first, "--parser", "jsonl")

    assert document(f"{NAME}#2")["text"] == "two"
    assert pipe(first, "--parser", "jsonl").startswith("files: 0 added, 0 updated, 1 unchanged")
    pipe(b'{"id": "1", "text": "one"}\n', "--parser", "jsonl")
    assert run("get", f"{NAME}#2")[0] == 8


def test_name_is_stored_in_one_unicode_form(home: Path) -> None:
    run("add", "-", "--name", "cafe\u0301.md", content=b"one\n")
    run("add", "-", "--name", "caf\u00e9.md", content=b"two\n")

    assert document("caf\u00e9.md")["text"] == "two\n"
    assert json.loads(run("stats", "--json")[1])["store"]["documents"] == 2


def test_removed_document_can_be_piped_again(home: Path) -> None:
    pipe(b"one\n")
    run("rm", NAME)

    assert pipe(b"one\n").startswith("files: 1 added")
    assert json.loads(run("roots", "--json")[1])["roots"][0]["left_out"] == []


def test_pipe_refuses_unreadable_content_like_a_file(home: Path) -> None:
    toml = home / "recall.toml"
    toml.write_text(toml.read_text().replace("max_file_bytes = 67108864", "max_file_bytes = 100"))
    assert "max_file_bytes = 100\n" in toml.read_text()
    for content, code in (
        (b"caf\xe9\n", "not_utf8"),
        (b"a\0b", "binary_file"),
        (b"%PDF-1.7\n\xe2", "bad_pdf"),
        (b"x" * 200, "file_too_large"),
    ):
        assert refusal("add", "-", "--name", NAME, content=content) == (1, code)
        assert run("get", NAME)[0] == 8, code


def test_bad_name_or_command_line_is_refused(home: Path) -> None:
    for argv, code in [
        (("add", "-"), "missing_argument"),
        (("add", "a.md", "--name", NAME), "unexpected_argument"),
        (("add", "-", "a.md", "--name", NAME), "unexpected_argument"),
        (("add", "-", "--name", NAME, "--glob", "*"), "conflicting_flags"),
        (("add", "-", "--name", NAME, "--hidden"), "conflicting_flags"),
        (("add", "-", "--name", NAME, "--no-gitignore"), "conflicting_flags"),
        (("add", "-", "--name", NAME, "--mtime-only"), "conflicting_flags"),
        (("add", "-", "--name", NAME, "--parser", "dcx"), "unknown_parser"),
        (("add", "-", "--name", ""), "bad_value"),
        (("add", "-", "--name", "../x.md"), "bad_value"),
        (("add", "-", "--name", "/x.md"), "bad_value"),
        (("add", "-", "--name", "x/./y.md"), "bad_value"),
        (("add", "-", "--name", "notes/"), "bad_value"),
        (("add", "-", "--name", "a\0b"), "bad_value"),
        (("add", "-", "--name", "a.md"), "name_taken"),
    ]:
        assert refusal(*argv) == (2, code), argv


def test_name_of_an_existing_file_or_record_is_taken(home: Path) -> None:
    (home / "r.jsonl").write_text('{"id": "1", "text": "words"}\n')
    run("add", "r.jsonl", "--parser", "jsonl")
    (home / "a.md").unlink()
    (home / "unread.md").write_text("words\n")
    (home / "folder").mkdir()

    assert refusal("add", "-", "--name", "a.md") == (2, "name_taken")
    assert refusal("add", "-", "--name", "unread.md") == (2, "name_taken")
    assert refusal("add", "-", "--name", "folder") == (2, "name_taken")
    assert refusal("add", "-", "--name", "r.jsonl#1") == (2, "name_taken")
    assert document("r.jsonl#1")["text"] == "words"


def test_synced_file_replaces_piped_document_of_its_name(home: Path) -> None:
    pipe(b"from a pipe\n")
    (home / "notes").mkdir()
    (home / NAME).write_text("from the disk\n")

    assert run("sync")[1].startswith("files: 0 added, 1 updated")
    assert document()["text"] == "from the disk\n"


def test_uninterruptible_stdin_is_not_read(home: Path) -> None:
    assert refusal("add", "-", "--name", NAME, may_wait=False) == (2, "bad_value")


def test_piped_document_survives_export_and_import(home: Path) -> None:
    pipe(b"one\n", "--tag", "x")
    run("export", "--out", "all.jsonl")
    (home / "other").mkdir()
    run("init", "other", "--embedding", "hash")

    run("import", "all.jsonl", "--store", "other")

    code, out, _ = run("get", NAME, "--store", "other", "--json")
    found = json.loads(out)["found"]
    assert (code, found["text"], found["doc"]["tags"], "state" in found["doc"]) == (0, "one\n", ["x"], False)


def test_program_adds_content_under_a_name(home: Path) -> None:
    with Recall.open(str(home)) as recall:
        *_, done = recall.add([NAME], Root("", tags=("x",)), content=b"words\n")

        assert (done.added, done.documents) == (1, 1)
        assert recall.search("words")["results"][0]["doc"]["path"] == NAME
