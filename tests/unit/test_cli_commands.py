"""Commands in process: the effect of each flag, refusals, and several command lines over one store."""

from __future__ import annotations

import io
import json
import os
from contextlib import chdir
from pathlib import Path
from shutil import copytree

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.errors import UsageError

RQL = "SELECT doc.path, score FROM chunk USING lexical('retry')"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir()
    (template / "docs" / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n")
    (template / "docs" / "b.txt").write_text("A retry budget.\n")
    with chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of two files with an empty store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(copytree(template, tmp_path, dirs_exist_ok=True))


def fresh_streams(stdin: str = "") -> Streams:
    return Streams(io.StringIO(stdin), io.StringIO(), io.StringIO())


def run(*argv: str, stdin: str = "") -> tuple[int, str, str]:
    streams = fresh_streams(stdin)
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def refusal(*argv: str) -> str:
    code, out, _ = run(*argv, "--json")
    assert code == 2
    refused: str = json.loads(out)["error"]["code"]
    return refused


def test_labels_given_to_add_can_be_filtered(home: Path) -> None:
    run("add", "docs", "--glob", "*.md", "--tag", "x", "--source", "wiki", "--meta", "year=2024")

    wanted = "doc.tag = 'x' AND doc.source = 'wiki' AND doc.meta.year >= 2024"
    _, out, _ = run("search", "retry", "--filter", wanted)

    assert [line.split("  ")[1] for line in out.splitlines() if line[0] != " "] == ["docs/a.md:1"]


def test_bad_metadata_is_refused(home: Path) -> None:
    unstorable = ("NaN", "Infinity", "-Infinity", "1e999", "1" * 400, "1" * 5_000, '"\\ud800"')
    for pairs in (
        ("year=2024", "a=b", "year=2025"),
        ("year",),
        ("=2024",),
        *((f"k={typed}",) for typed in unstorable),
    ):
        assert refusal("add", "docs", *(f"--meta={pair}" for pair in pairs)) == "bad_value", pairs


def test_bad_query_is_refused(home: Path) -> None:
    for argv, code in (
        (("query",), "missing_argument"),
        (("query", "--rql", "@nowhere.rql"), "rql_unreadable"),
        (("query", "--rql", RQL, "more"), "unexpected_argument"),
        (("context",), "missing_argument"),
        (("context", "words", "--rql", RQL), "unexpected_argument"),
        (("context", "--rql", RQL, "--bm25"), "conflicting_flags"),
        (("context", "--rql", RQL, "--vector"), "conflicting_flags"),
        (("context", "--rql", RQL, "--filter", "doc.path = 'a'"), "conflicting_flags"),
        (("context", "--rql", RQL, "--no-sparse"), "conflicting_flags"),
    ):
        assert refusal(*argv) == code, argv


def test_repeated_import_reports_that_nothing_is_left(home: Path) -> None:
    run("add", "docs")
    run("export", "--out", "all.jsonl")
    run("init", "other", "--embedding", "hash")

    digest = run("--store", "other", "import", "all.jsonl")[1].partition("\n")[0].rpartition("  ")[2]
    code, out, _ = run("--store", "other", "import", "all.jsonl")

    waits = "  1  docs  2 documents  not synced until accepted"
    assert (code, out) == (0, f"nothing to import: 2 documents already here  {digest}\n{waits}\n")


def test_ignored_file_stays_out(home: Path) -> None:
    _, out, _ = run("add", "docs", "--ignore", "*.txt")

    assert out.startswith("files: 1 added, 0 updated, 0 unchanged, 0 removed")


def test_rm_dry_run_lists_documents(home: Path) -> None:
    run("add", "docs")

    assert run("rm", "docs/*.md", "docs/b.txt", "--dry-run") == (
        0, "would remove 2 documents\ndocs/a.md\ndocs/b.txt\n", ""
    )  # fmt: skip
    assert run("rm", "docs/*.md") == (0, "removed 1 document\n", "")
    assert run("rm", "docs/*.md")[0] == 8


def test_query_comes_from_line_file_or_stdin(home: Path) -> None:
    run("add", "docs")
    (home / "q.rql").write_text(RQL)

    answers = {run("query", RQL)[1], run("query", "--rql", "@q.rql")[1], run("query", "-", stdin=RQL)[1]}

    assert len(answers) == 1
    assert all(line.split("  ")[1] in {"docs/a.md", "docs/b.txt"} for line in answers.pop().splitlines())


def test_unreadable_file_is_reported_in_plain_words(home: Path) -> None:
    for line in [
        ["query", "--rql", "@{}"],
        ["eval", "--fixtures", "{}"],
        ["judge", "import", "--queries", "{}", "--qrels", "{}"],
        ["import", "{}"],
    ]:
        (home / "latin").write_bytes(b"caf\xe9")

        errors = [run(*(word.format(name) for word in line))[2] for name in ("latin", "nowhere")]

        assert "it is not UTF-8 text (byte 3)" in errors[0], line
        assert "no such file or directory" in errors[1], line
        assert not any(word in text for text in errors for word in ("Errno", "codec")), line


def test_out_dash_means_stdout(home: Path) -> None:
    run("add", "docs")

    assert run("export", "--out", "-") == run("export")
    assert not (home / "-").exists()


def test_no_sparse_disables_sparse_recall(home: Path) -> None:
    run("add", "docs")

    plans = [
        json.loads(run("search", "retry", "--json", *flag)[1])["query"]["plan"] for flag in ((), ("--no-sparse",))
    ]

    assert [plan["sparse"] for plan in plans] == [True, False]


def test_only_verbose_explains_missing_sparse_recall(home: Path) -> None:
    run("add", "docs")

    plain, explained, told, short, off = (
        run("search", "retry", "--k", "1", *flags)[2]
        for flags in ((), ("--explain",), ("--verbose",), ("-v",), ("-v", "--no-sparse"))
    )

    assert "sparse     nothing recalled: too_far (0 of 2 short documents are within 0.2)\n" in told
    assert "nothing recalled: too_far" in short
    assert "nothing recalled" not in plain + explained + off


def test_plain_answer_ends_with_one_line(home: Path) -> None:
    run("add", "docs")

    asked = (("search", "how to retry"), ("context", "how to retry"), ("query", RQL))
    assert [len(run(*line)[2].splitlines()) for line in asked] == [1, 1, 1]


def test_both_mode_flags_mean_hybrid(home: Path) -> None:
    run("add", "docs")

    modes = {}
    for flags in ((), ("--bm25",), ("--vector",), ("--bm25", "--vector")):
        modes[flags] = json.loads(run("search", "retry", "--json", *flags)[1])["query"]["plan"]["mode"]

    assert list(modes.values()) == ["hybrid", "lexical", "semantic", "hybrid"]


METADATA = (
    ("2024", 2024),
    ("-1.5e3", -1500.0),
    ("true", True),
    ("null", None),
    ('"2024"', "2024"),
    ("2024-01-31", "2024-01-31"),
    ("007", "007"),
    ("True", "True"),
    ("nan", "nan"),
    (" 5", " 5"),
    ("[1]", "[1]"),
    ("a=b", "a=b"),
    ("", ""),
)
"""Typed values and their meaning."""


def test_metadata_value_is_json_or_text(home: Path) -> None:
    keys = [f"k{number}" for number in range(len(METADATA))]
    flags = [f"--meta={key}={typed}" for key, (typed, _) in zip(keys, METADATA, strict=True)]
    assert run("add", "docs", *flags)[0] == 0

    (document, _) = json.loads(run("query", "SELECT * FROM doc", "--json")[1])["results"]
    for key, (typed, value) in zip(keys, METADATA, strict=True):
        meant = document["doc"]["meta"][key]
        assert (meant, type(meant)) == (value, type(value)), typed
    lines = run("export")[1]
    (home / "out.jsonl").write_text(lines)
    assert run("init", "copy", "--embedding", "hash")[0] == 0
    assert run("import", "out.jsonl", "--store", "copy/recall.db")[0] == 0
    assert run("export", "--store", "copy/recall.db")[1] == lines


def test_new_metadata_replaces_old_metadata(home: Path) -> None:
    run("add", "docs", "--meta", 'year="2024"')
    assert run("query", "SELECT * FROM doc FILTER doc.meta.year >= 2024")[1] == ""

    run("add", "docs", "--meta", "year=2024")
    (home / "docs" / "a.md").write_text("changed since\n")
    run("sync")

    assert len(run("query", "SELECT * FROM doc FILTER doc.meta.year >= 2024")[1].splitlines()) == 2


def test_init_refuses_a_store_flag_and_writes_settings(home: Path) -> None:
    assert refusal("--store", "x.db", "init") == "conflicting_flags"
    assert run("init", "other", "--set", "chunk_tokens=99")[0] == 0
    assert "chunk_tokens = 99" in (home / "other" / "recall.toml").read_text()


def test_strict_add_exits_1_for_skipped_file_and_keeps_others(home: Path) -> None:
    (home / "docs" / "c.bin").write_bytes(b"\0\0")

    assert run("add", "docs", "--strict")[0] == 1
    assert "docs/b.txt" in run("search", "budget", "--bm25")[1]


def test_skipped_file_is_counted_and_listed(home: Path) -> None:
    run("add", "docs")
    for number, command in enumerate((("add", "docs"), ("sync",))):
        path = f"docs/{number}.bin"
        (home / path).write_bytes(b"\0\0")
        reason = "is a binary file: it has a NUL byte."

        assert run(*command) == (
            0,
            "files: 0 added, 0 updated, 2 unchanged, 0 removed, 1 skipped; 2 documents, 0 chunks\n",
            f"skipped {path}: {reason} (binary_file)\n",
        )
        code, out, _ = run(*command, "--json")
        skip = {"path": path, "code": "binary_file", "reason": reason}
        assert (code, json.loads(out)["ingest"]["skipped"]) == (0, [skip]), command
        (home / path).unlink()


def test_strict_add_fails_only_for_skipped_files_and_lists_them(home: Path) -> None:
    assert run("add", "docs", "--strict")[0] == 0
    (home / "docs" / "c.bin").write_bytes(b"\0\0")
    (home / "docs" / "d.bin").write_bytes(b"\0\0")

    code, out, _ = run("add", "docs", "--strict", "--json")

    error = json.loads(out)["error"]
    assert (code, error["code"]) == (1, "files_skipped")
    assert [each["path"] for each in error["details"]] == ["docs/c.bin", "docs/d.bin"]


def test_sync_names_newly_ignored_files_and_strict_add_succeeds(home: Path) -> None:
    run("add", "docs", "--strict")
    (home / "docs" / ".gitignore").write_text("b.txt\n")
    (home / "docs" / "b.txt").write_text("Another retry budget.\n")

    assert run("add", "docs", "--strict") == (
        0, "files: 0 added, 0 updated, 1 unchanged, 0 removed; 1 document, 0 chunks\n", "",
    )  # fmt: skip
    code, out, err = run("sync")

    assert (code, out) == (
        0, "files: 0 added, 0 updated, 1 unchanged, 0 removed, 1 skipped; 1 document, 0 chunks\n",
    )  # fmt: skip
    assert err.startswith("skipped docs/b.txt: ")
    assert err.endswith("(recall rm docs/b.txt) (excluded)\n")


def test_failed_export_leaves_no_partial_file(home: Path) -> None:
    code, _, err = run("export", "--out", "missing/folder.jsonl")

    assert code == 1
    assert err.startswith("error: missing/folder.jsonl cannot be written")
    assert sorted(path.name for path in home.iterdir() if "jsonl" in path.name) == []


def test_command_lines_share_one_store_and_keep_their_order(home: Path) -> None:
    streams = fresh_streams()

    code = cli.run_commands(["add docs", "", "stats --json", "search 'retry' --k 1"], store=None, streams=streams)

    lines = streams.stdout.getvalue().splitlines()  # type: ignore[attr-defined]
    assert code == 0
    assert lines[0].startswith("files: 2 added")
    assert json.loads(lines[1])["store"]["documents"] == 2
    assert [line for line in lines[2:] if line[0] != " "] == [lines[2]]


def test_later_lines_use_a_store_made_on_the_way(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = home / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    streams = fresh_streams()

    cli.run_commands(["stats --json", "init --json", "stats --json"], store=None, streams=streams)

    paths = [json.loads(line)["store"]["path"] for line in streams.stdout.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert paths == [str(home / "recall.db"), str(inner / "recall.db"), str(inner / "recall.db")]


def test_invalid_command_line_is_refused_before_any_runs(home: Path) -> None:
    for line in ["search 'open", "search open | head", "stats > stats.txt"]:
        streams = fresh_streams()

        with pytest.raises(UsageError) as caught:
            cli.run_commands(["stats", line], store=None, streams=streams)

        assert caught.value.code == "bad_value", line
        assert streams.stdout.getvalue() == "", line  # type: ignore[attr-defined]


def test_missing_command_file_is_refused(home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        cli.run_commands(["@nowhere.txt"], store=None, streams=fresh_streams())

    assert caught.value.code == "commands_unreadable"


def test_command_pipe_is_refused(home: Path) -> None:
    os.mkfifo(home / "pipe")

    with pytest.raises(UsageError, match="not a regular file"):
        cli.run_commands(["@pipe"], store=None, streams=fresh_streams())


def test_command_line_may_begin_with_the_program_name() -> None:
    streams = fresh_streams()

    assert cli.run_commands(["recall --version", "--version"], store=None, streams=streams) == 0

    first, second = streams.stdout.getvalue().splitlines()  # type: ignore[attr-defined]
    assert first == second


def test_export_below_a_regular_file_names_the_file(home: Path) -> None:
    code, _, err = run("export", "--out", str(home / "recall.toml" / "out.jsonl"))

    assert code == 1
    assert "out.jsonl cannot be written: Not a directory." in err
    assert "hint: recall export --out FILE" in err
