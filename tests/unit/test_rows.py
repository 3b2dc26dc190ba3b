"""Rows for other programs: paths, JSON lines and CSV of search and query, and conflicting flags."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("made")
    (template / "long.md").write_text("# Retry\n\n" + 'retry with "backoff", then give up.\n\n' * 200)
    (template / "b.txt").write_text("A retry budget.\n")
    with contextlib.chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        run("add", "long.md", "b.txt", "--meta", "team.lead=Ann")
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def run(*argv: str, stdout: io.StringIO | None = None) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), stdout or io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def search_rows(*argv: str) -> list[dict]:  # type: ignore[type-arg]
    results: list[dict] = json.loads(run(*argv, "--json")[1])["results"]  # type: ignore[type-arg]
    return results


def test_paths_appear_once_in_order_of_their_best_row(home: Path) -> None:
    paths = [result["doc"]["path"] for result in search_rows("search", "retry", "-n", "20")]

    assert len(paths) > 2
    for flag in ("-l", "--paths"):
        assert run("search", "retry", "-n", "20", flag)[1].splitlines() == list(dict.fromkeys(paths))


def test_n_is_k(home: Path) -> None:
    for flag in (["-n", "2"], ["-n2"], ["--k", "2"], ["--k=2"]):
        assert len(search_rows("search", "retry", *flag)) == 2


def test_each_json_line_is_a_row_of_the_answer(home: Path) -> None:
    for argv in (["search", "retry"], ["search", "retry", "--explain"], ["query", "SELECT doc.path FROM doc"]):
        lines = run(*argv, "--jsonl")[1].splitlines()

        assert [json.loads(line) for line in lines] == search_rows(*argv)


def test_csv_reads_back_as_rows_with_complete_texts(home: Path) -> None:
    results = search_rows("search", "retry", "-n", "5")

    rows = list(csv.DictReader(io.StringIO(run("search", "retry", "-n", "5", "--csv")[1], newline="")))

    assert [row["chunk.text"] for row in rows] == [result["chunk"]["text"] for result in results]
    assert [float(row["score"]) for row in rows] == [result["score"] for result in results]
    assert [row["chunk.line_start"] for row in rows] == [str(result["chunk"]["line_start"]) for result in results]


def test_csv_gives_places_for_converted_texts(home: Path) -> None:
    (home / "page.html").write_text("<p>A retry on a page.</p>")
    run("add", "page.html")

    rows = list(csv.DictReader(io.StringIO(run("search", "retry", "-n", "20", "--csv")[1])))

    assert {row["doc.path"]: row["chunk.place"] for row in rows} == {
        "long.md": "",
        "b.txt": "",
        "page.html": search_rows("search", "page")[0]["chunk"]["place"],
    }


def test_query_columns_follow_select_even_without_rows(home: Path) -> None:
    select = 'SELECT doc.meta."team.lead", doc.path FROM doc'

    assert run("query", select, "--csv")[1].splitlines() == [
        "doc.meta.team.lead,doc.path",
        "Ann,b.txt",
        "Ann,long.md",
    ]
    assert run("query", f"{select} FILTER doc.path = 'x'", "--csv")[1] == "doc.meta.team.lead,doc.path\n"
    assert run("query", "SELECT * FROM doc LIMIT 0", "--csv")[1].startswith("doc.path,doc.title,")


def test_figures_stay_on_stderr(home: Path) -> None:
    for flag in ("--paths", "--jsonl", "--csv"):
        assert run("search", "retry", flag)[2].count("\n") == 1


def test_terminal_rows_equal_piped_rows_and_steer_nothing(home: Path) -> None:
    (home / "c.txt").write_text("retry \x9b31m red")
    run("add", "c.txt")

    for flag in ("--paths", "--jsonl", "--csv"):
        out = run("search", "retry", flag, stdout=Terminal())[1]

        assert "\x9b" not in out
        if flag == "--jsonl":
            assert [json.loads(line) for line in out.splitlines()] == search_rows("search", "retry")


def test_paths_belong_to_documents_with_a_word(home: Path) -> None:
    (home / "bees.txt").write_text("Bees dance.\n")
    run("add", "bees.txt")

    for flags, expected in [
        ((), {"b.txt", "long.md"}),
        (("--bm25",), {"b.txt", "long.md"}),
        (("-n", "1"), {"long.md"}),
        (("-n", "2"), {"b.txt", "long.md"}),
        (("--by-meaning", "-n", "100"), {"b.txt", "long.md", "bees.txt"}),
        (("--vector", "-n", "100"), {"b.txt", "long.md", "bees.txt"}),
    ]:
        code, out, _ = run("search", "retry", "-l", *flags)
        assert (code, set(out.splitlines())) == (0, expected), flags
    query = "SELECT doc.path FROM chunk USING lexical('bees'), semantic('retry')"
    assert run("query", query, "-l")[1] == "bees.txt\n"


def test_missing_words_list_nothing_and_exit_7(home: Path) -> None:
    for flag in ("-l", "-q"):
        for argv, code in [
            (("search", "retry"), 0),
            (("search", "zzyzx"), 7),
            (("search", "zzyzx", "--bm25"), 7),
            (("search", "zzyzx", "--by-meaning"), 0),
            (("search", "zzyzx", "--vector"), 0),
            (("search", "retry", "-n", "0"), 7),
            (("query", "SELECT doc.path FROM doc FILTER doc.path = 'gone'"), 7),
            (("query", "SELECT doc.path FROM doc"), 0),
        ]:
            status, out, _ = run(*argv, flag)
            assert status == code, (argv, flag)
            assert bool(out) == (flag == "-l" and code == 0), (argv, flag)
    assert run("search", "zzyzx")[0] == 0


def test_quiet_prints_nothing(home: Path) -> None:
    for argv in (("search", "retry", "-q"), ("search", "zzyzx", "--quiet"), ("search", "retry", "-l", "-q")):
        assert run(*argv)[1:] == ("", ""), argv


def test_by_meaning_needs_a_list_flag(home: Path) -> None:
    code, _, err = run("search", "retry", "--by-meaning")

    assert code == 2
    assert "-l or -q" in err


def test_missing_word_matches_are_reported_before_the_hits(home: Path) -> None:
    both = io.StringIO()
    for argv in (["search", "zzyzx"], ["context", "zzyzx"], ["search", "zzyzx", "--jsonl"]):
        both = io.StringIO()
        assert cli.main(argv, streams=Streams(io.StringIO(), both, both)) == 0
        first, *others = both.getvalue().splitlines()
        assert first.startswith("warning: W_NO_MATCH"), argv
        assert not any("W_NO_MATCH" in line for line in others), argv
    assert "  by meaning 0.0" in run("search", "zzyzx")[1]
    assert "by meaning" not in run("search", "zzyzx", "--vector")[1]
    assert "by meaning" in run("search", "zzyzx", stdout=Terminal())[1]


def test_two_row_formats_are_refused(home: Path) -> None:
    for flags in [
        ("--csv", "--json"),
        ("--jsonl", "--json"),
        ("--csv", "--jsonl"),
        ("-l", "--csv"),
        ("--csv", "--explain"),
        ("-l", "--explain"),
        ("-q", "--json"),
    ]:
        code, out, err = run("search", "retry", *flags)

        assert code == 2, flags
        assert "cannot be combined" in out + err, flags


def test_paths_of_a_query_without_doc_path_are_refused(home: Path) -> None:
    code, _, err = run("query", "SELECT chunk.id FROM chunk", "-l")

    assert code == 2
    assert "SELECT doc.path" in err


def test_titles_can_be_selected_filtered_and_sorted(home: Path) -> None:
    rows = run("query", "SELECT doc.title FROM doc FILTER doc.title ILIKE '%T%' ORDER BY doc.title DESC", "--csv")[1]

    assert rows.splitlines() == ["doc.title", "b.txt", "Retry"]
    assert run("query", "SELECT doc.title FROM doc")[1].splitlines() == ["doc.title=b.txt", "doc.title=Retry"]
