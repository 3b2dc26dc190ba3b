"""Skipped files are reported by reason, once."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.filling import talk_of_files
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.contract.store import IngestView
from recall_core.ingest import skips
from recall_core.types import Skip

PNG = b"\x89PNG\r\n\x1a\n\0"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store next to a folder with a text, five pictures and three files that are not UTF-8."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("words\n")
    for name in "edcba":
        (tmp_path / "docs" / f"{name}.png").write_bytes(PNG)
    for name in "xyz":
        (tmp_path / "docs" / f"{name}.txt").write_bytes(b"caf\xe9\n")
    assert run("init", "--embedding", "hash")[0] == 0
    return tmp_path


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def ask(*argv: str) -> dict[str, Any]:
    view: dict[str, Any] = json.loads(run(*argv, "--json")[1])["ingest"]
    return view


def test_skips_are_grouped_by_reason_with_three_names_each(home: Path) -> None:
    code, out, err = run("add", "docs")

    assert (code, out) == (0, "files: 1 added, 0 updated, 0 unchanged, 0 removed, 8 skipped; 1 document, 1 chunk\n")
    assert err == (
        "skipped 5 images (.png) · 3 not UTF-8 (--verbose lists each)\n"
        "  image (.png): docs/a.png, docs/b.png, docs/c.png and 2 more\n"
        "  not UTF-8: docs/x.txt, docs/y.txt, docs/z.txt\n"
    )


def test_reported_skip_is_only_counted_the_next_time(home: Path) -> None:
    for again in [("sync",), ("add", "docs")]:
        run("add", "docs")

        code, out, err = run(*again)

        assert (code, err) == (0, ""), again
        assert "8 skipped" in out, again


def test_only_new_skips_are_named(home: Path) -> None:
    run("add", "docs")
    (home / "docs" / "0.png").write_bytes(PNG)

    assert run("sync")[2] == "skipped docs/0.png: is a PNG image, not text. (binary_file)\n"
    for name in "1234":
        (home / "docs" / f"{name}.png").write_bytes(PNG)
    assert run("sync")[2] == (
        "skipped 4 images (.png) (--verbose lists each)\n"
        "  image (.png): docs/1.png, docs/2.png, docs/3.png and 1 more\n"
    )
    assert run("sync")[2] == ""


def test_file_skipped_for_another_reason_is_named_again(home: Path) -> None:
    run("add", "docs")
    (home / "docs" / "x.txt").write_bytes(b"\0")

    assert run("sync")[2] == "skipped docs/x.txt: is a binary file: it has a NUL byte. (binary_file)\n"


def test_file_read_in_between_is_named_again(home: Path) -> None:
    run("add", "docs")
    (home / "docs" / "x.txt").write_bytes(b"cafe\n")
    run("sync")
    (home / "docs" / "x.txt").write_bytes(b"caf\xe9\n")

    assert run("sync")[2].startswith("skipped docs/x.txt: is not UTF-8")


def test_adding_another_folder_repeats_no_reported_skip(home: Path) -> None:
    run("add", "docs")
    (home / "more").mkdir()
    (home / "more" / "a.png").write_bytes(PNG)

    assert run("add", "more")[2].startswith("skipped more/a.png: ")
    assert run("sync")[2] == ""


def test_verbose_and_json_report_every_skip_every_time(home: Path) -> None:
    for command in [("add", "docs"), ("sync",)]:
        run("add", "docs")

        told, view = run(*command, "--verbose")[2].splitlines(), ask(*command)

        assert told == [f"skipped {each['path']}: {each['reason']} ({each['code']})" for each in view["skipped"]], (
            command
        )
        assert len(told) == 8, command
        assert view["skipped"][0] == {
            "path": "docs/a.png",
            "code": "binary_file",
            "reason": "is a PNG image, not text.",
            "kind": "image (.png)",
        }, command
        assert view["skipped_by"][0] == {
            "code": "binary_file",
            "kind": "image (.png)",
            "files": 5,
            "new": 0,
            "first": ["docs/a.png", "docs/b.png", "docs/c.png"],
        }, command


def test_reporting_skips_changes_no_answer(home: Path) -> None:
    with Recall.open(str(home)) as recall:
        recall.index("docs")
        before = recall.store.info()
        (home / "docs" / "0.png").write_bytes(PNG)

        *_, done = recall.sync()

        assert len(done.skipped) == 9
        assert recall.store.info() == before
        assert recall.store.told_skips() == {skips.key(skip) for skip in done.skipped}


def test_sync_without_new_skips_writes_nothing(home: Path) -> None:
    run("add", "docs")
    run("sync")
    before = (home / "recall.db").read_bytes()

    run("sync")

    assert (home / "recall.db").read_bytes() == before


def test_groups_are_sorted_by_size_then_kind() -> None:
    found = skips.by_reason(
        [
            Skip("l/b", "symlink_outside", ""),
            Skip("l/a", "broken_link", ""),
            Skip("z.pdf", "not_utf8", "", "PDF"),
            Skip("a.pdf", "binary_file", "", "PDF"),
            Skip("n/c", "of_a_plugin", ""),
            Skip("n/b", "of_a_plugin", ""),
        ]
    )

    assert [(each.files, each.kind, each.code) for each in found] == [
        (2, "of a plugin", "of_a_plugin"),
        (1, "PDF", "binary_file"),
        (1, "PDF", "not_utf8"),
        (1, "broken link", "broken_link"),
        (1, "link outside the folder", "symlink_outside"),
    ]


def test_unreadable_pdf_is_grouped_by_its_reason() -> None:
    kinds = {code: skips.kind_of(Skip("a.pdf", code, "", "PDF")) for code in ("bad_pdf", "pdf_encrypted", "no_text")}

    assert kinds == {"bad_pdf": "damaged PDF", "pdf_encrypted": "PDF with a password", "no_text": "PDF without text"}


def test_group_is_counted_in_words() -> None:
    for kind, files, told in [
        ("image (.png)", 2059, "2,059 images (.png)"),
        ("link outside the folder", 55, "55 links outside the folder"),
        ("broken link", 4, "4 broken links"),
        ("image (.png)", 12, "12 images (.png)"),
        ("PDF", 7, "7 PDFs"),
        ("damaged PDF", 12, "12 damaged PDFs"),
        ("damaged document (.docx)", 12, "12 damaged documents (.docx)"),
        ("PDF with a password", 12, "12 PDFs with a password"),
    ]:
        group = {"code": "x", "kind": kind, "files": files, "new": files, "first": ["a", "b", "c"]}
        view: IngestView = {"skipped": [], "skipped_by": [group]}  # type: ignore[typeddict-item]

        assert next(talk_of_files(view, verbose=False)) == f"skipped {told} (--verbose lists each)", told
