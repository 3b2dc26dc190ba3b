"""`recall ls` and `Recall.list`: the documents of a store by path, without reading files."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli, reading
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.errors import UsageError

ODD = "50%_[x]*{a,b}.md"
NAMES = ("notes/a.md", "notes/b.txt", "notes-old/c.md", "Notes/d.md", "caf\u00e9.md", ODD)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name in NAMES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"# Of {name[0]}\n\nSome words.\n")
    (folder / "d.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", ".", "--source", "test")[0] == 0
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a store and its files."""
    folder = Path(shutil.copytree(template, tmp_path / "home", copy_function=shutil.copy2))
    monkeypatch.chdir(folder)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    return folder


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open() as opened:
        yield opened


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*argv: str, stdout: io.StringIO | None = None) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), stdout or io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def lines(*argv: str) -> list[str]:
    code, out, _ = run("ls", *argv)
    assert code == 0
    return out.splitlines()


def paths(recall: Recall, prefix: str = "", **page: Any) -> list[str]:
    return [view["path"] for view in recall.list(prefix, **page)["documents"]]


def test_pipe_gets_one_path_per_line_in_code_point_order(home: Path) -> None:
    assert lines() == sorted([*NAMES, "d.jsonl#1", "d.jsonl#2"])


def test_folder_name_lists_its_content_and_other_text_a_prefix(recall: Recall) -> None:
    for name in ("notes", "notes/"):
        assert paths(recall, name) == ["notes/a.md", "notes/b.txt"]
    assert paths(recall, "note") == ["notes-old/c.md", "notes/a.md", "notes/b.txt"]
    assert paths(recall, "notes/a") == ["notes/a.md"]
    assert paths(recall, "d.jsonl") == ["d.jsonl#1", "d.jsonl#2"]


def test_folder_stays_a_folder_without_glob_matches(recall: Recall) -> None:
    assert paths(recall, "notes", glob="**/c.md") == []
    assert paths(recall, "note", glob="**/c.md") == ["notes-old/c.md"]


def test_glob_matches_like_a_filter(recall: Recall) -> None:
    for glob in ("*", "*.md", "**/*.md", "[Nn]otes/?.{md,txt}", "[!n]*/**", r"50%_\[x\]\*\{a,b\}.md", ODD, ""):
        rql = f"SELECT doc.path FROM doc FILTER doc.path GLOB '{glob}' ORDER BY doc.path LIMIT 99"
        assert paths(recall, glob=glob) == [row["doc"]["path"] for row in recall.query(rql)["results"]], glob


def test_prefix_contains_no_wildcards(recall: Recall) -> None:
    for prefix in ["50%", "50%_", "50%_[", "50%_[x]*", "50%_[x]*{a,b"]:
        assert paths(recall, prefix) == [ODD], prefix
    for wild in ("%", "_", "*", "?", "[n]", "notes/_", "notes/%", "notes/?", "{notes,x}"):
        assert paths(recall, wild) == [], wild


def test_sql_is_an_ordinary_name(recall: Recall) -> None:
    for text in [
        "' OR 1=1 --",
        '" OR "" = "',
        "'; DROP TABLE doc; --",
        "x' UNION SELECT * FROM meta --",
        "?1",
        ":p",
        "\0",
    ]:
        before = recall.list()["documents"]

        assert paths(recall, text) == paths(recall, glob=text) == paths(recall, text, glob=text) == [], text
        assert recall.list()["documents"] == before, text


def test_both_unicode_forms_name_the_same(recall: Recall) -> None:
    for spelt in ("caf\u00e9", "cafe\u0301"):
        assert paths(recall, spelt) == paths(recall, glob=f"{spelt}.*") == ["caf\u00e9.md"]
    assert paths(recall, "cafe") == []


def test_document_is_listed_with_its_figures(recall: Recall) -> None:
    answer = recall.list("notes/a")
    (view,) = answer["documents"]
    found = recall.search("words", filter="doc.path = 'notes/a.md'")["results"]

    assert {key: view[key] for key in ("path", "id", "title", "mtime", "source")} == {  # type: ignore[literal-required]
        key: found[0]["doc"][key]  # type: ignore[literal-required]
        for key in ("path", "id", "title", "mtime", "source")
    }
    assert (view["chunks"], view["tokens"]) == (len(found), sum(row["chunk"]["tokens"] for row in found))
    assert answer["stats"]["digest"] == recall.store.info().digest
    assert answer["warnings"] == []


def test_document_without_source_has_no_source_key(home: Path) -> None:
    with Recall.open(str(home / "other"), create=True) as recall:
        recall.index(str(home / ODD))
        (view,) = recall.list()["documents"]

    assert "source" not in view


def test_pages_reach_the_end_and_report_the_total(recall: Recall) -> None:
    seen, offset, pages = [], 0, 0
    while True:
        answer = recall.list("n", limit=2, offset=offset)
        seen += [view["path"] for view in answer["documents"]]
        pages += 1
        assert answer["total"] == 3
        if "next_offset" not in answer:
            break
        offset = answer["next_offset"]

    assert (seen, pages) == (paths(recall, "n"), 2)


def test_empty_page_has_no_next_page(recall: Recall) -> None:
    for page in ({"limit": 0}, {"offset": 99}, {"limit": 5, "offset": 3}):
        answer = recall.list("n", **page)  # type: ignore[arg-type]
        assert (answer["documents"], answer["total"], "next_offset" in answer) == ([], 3, False)


def test_invalid_request_is_refused_with_a_code(recall: Recall) -> None:
    for asked, code in [
        ({"limit": -1}, "bad_value"),
        ({"offset": -1}, "bad_value"),
        ({"offset": 2**63}, "bad_value"),
        ({"prefix": "\udc80"}, "bad_value"),
        ({"glob": "\udc80"}, "bad_value"),
        ({"glob": "{a,b}" * 9}, "bad_pattern"),
        ({"glob": "a" * 1025}, "bad_pattern"),
    ]:
        with pytest.raises(UsageError) as refused:
            recall.list(**asked)

        assert refused.value.code == code, (asked, code)


def test_removed_document_is_not_listed_but_vanished_file_is(home: Path) -> None:
    shutil.rmtree(home / "notes")
    assert lines("notes") == ["notes/a.md", "notes/b.txt"]

    run("rm", "Notes/d.md")
    assert "Notes/d.md" not in lines()

    run("sync")
    assert lines("notes") == ["notes-old/c.md"]


def test_name_is_not_relative_to_the_current_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "notes")

    assert lines("notes") == ["notes/a.md", "notes/b.txt"]
    assert lines("a.md") == []


def test_long_lines_have_figures_before_the_path(home: Path) -> None:
    (line,) = lines("notes/a", "--long")
    assert line == lines("notes/a", "-l")[0]
    (view,) = json.loads(run("ls", "notes/a", "--json")[1])["documents"]

    chunks, tokens, day, hour, path, *rest = line.split()
    assert (int(chunks), int(tokens), path) == (view["chunks"], view["tokens"], "notes/a.md")
    assert view["mtime"].startswith(f"{day}T{hour[:-1]}")
    assert rest == ["Of", "n", "test"]


def test_figures_go_to_stderr_with_the_next_page(home: Path) -> None:
    _, out, err = run("ls", "n", "-n", "2")

    assert out == "notes-old/c.md\nnotes/a.md\n"
    assert err.startswith("2 of 3 documents in ")
    assert err.endswith(" ms, next page: --offset 2\n")
    assert run("ls", "n", "-n", "2", "--offset", "2")[1] == "notes/b.txt\n"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("zzz",), "no document path starts with zzz\n"),
        (("--glob", "*.zzz"), "no document path matches *.zzz\n"),
        (("zzz", "--glob", "*"), "no document path starts with zzz and matches *\n"),
        (("z\x1b[31m",), "no document path starts with z\\x1b[31m\n"),
    ],
)
def test_empty_list_is_reported_on_stderr_without_failure(argv: tuple[str, ...], told: str, home: Path) -> None:
    assert run("ls", *argv) == (0, "", told)


def test_empty_store_shows_how_to_add_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    run("init", "--embedding", "hash")

    assert run("ls") == (0, "", "the store is empty; next: recall add DIR\n")


def test_empty_json_list_prints_only_json(home: Path) -> None:
    code, out, err = run("ls", "zzz", "--json")

    assert (code, err) == (0, "")
    assert (json.loads(out)["documents"], json.loads(out)["total"]) == ([], 0)


def test_terminal_table_has_titles_and_optional_figures(home: Path) -> None:
    short, full = (run("ls", *flags, stdout=Terminal())[1] for flags in ((), ("-l",)))

    assert [name for name in ("path", "title", "chunks", "tokens", "changed", "source") if name in short] == [
        "path", "title",
    ]  # fmt: skip
    assert all(name in full for name in ("path", "title", "chunks", "tokens", "changed", "source"))
    assert all(path in text for path in NAMES for text in (short, full))


def test_document_with_figures_fits_80_columns(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    title = "A title that goes on and on, as those of minutes and of scientific articles often do"
    (home / "notes" / "long.md").write_text(f"# {title}\n\nwords\n")
    run("add", "notes", "--source", "wiki")
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", run("ls", "notes/", "-l", stdout=Terminal())[1]).splitlines()

    assert all(len(line) <= 80 for line in drawn)
    (line,) = (line for line in drawn if "long.md" in line)
    assert line.split()[:2] == ["notes/long.md", "A"]
    assert line.split()[-1] == "wiki"
    assert "…" in line
    assert len([line for line in drawn if "wiki" in line]) == len(lines("notes/"))
    (home / "notes" / "a-longer-name-1.md").write_text("# Note\n\nwords\n")
    run("add", "notes")
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", run("ls", "notes/", "-l", stdout=Terminal())[1]).splitlines()
    assert any("notes/a-longer-name-1.md" in line for line in drawn)
    assert ["path", "chunks", "tokens", "changed", "(UTC)", "source"] in [line.split() for line in drawn]


def test_long_list_is_not_drawn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_DRAWN", 3)

    assert run("ls", stdout=Terminal())[1] == run("ls")[1]
    assert run("ls", "-l", stdout=Terminal())[1] == run("ls", "-l")[1]


def test_no_name_steers_a_terminal_or_breaks_its_line(home: Path) -> None:
    (home / "e\nvil\x1b[31m.md").write_text("# Red \x9b31m\n\nwords\n")
    run("add", ".")

    for stdout in (io.StringIO(), Terminal()):
        for flags in ((), ("-l",)):
            out = run("ls", "e", *flags, stdout=stdout)[1]
            assert "\x9b" not in out
            assert "\x1b[31m" not in out
    assert lines("e") == [r"e\nvil\x1b[31m.md"]


def test_second_prefix_is_refused(home: Path) -> None:
    assert run("ls", "notes", "src")[0] == 2
