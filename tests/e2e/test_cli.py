"""The command line as a process: streams, pipes, signals, imports and the headless workbench."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recall_core
from tests import warm

ROOT = Path(recall_core.__file__).parent.parent
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
HEAVY = ("numpy", "rich", "textual", "apsw", "msgspec", "dataclasses", "argcomplete", "tomllib")


def environment(**env: str) -> dict[str, str]:
    """Return this process's environment without Recall's own variables, with the package on the path."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("RECALL_", "NO_COLOR"))}
    return {**clean, "PYTHONPATH": str(ROOT), **env}


def run(*argv: str, cwd: Path, module: str = "recall_core", **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that starts at once."""
    kind: warm.Kind = "ingest" if argv[:1] in (("add",), ("sync",), ("doctor",), ("import",)) else "commands"
    return warm.run(argv, cwd=cwd, env=environment(**env), module=module, kind=kind)


def run_anew(*argv: str, cwd: Path, module: str = "recall_core", **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-m", module, *argv],
        cwd=cwd, env=environment(**env), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("# Retry\n\nRetry with backoff, then give up.\n")
    (folder / "docs" / "b.md").write_text("# Deploy\n\nRoll out slowly, retry later.\n")
    assert run("init", "--embedding", "hash", cwd=folder).returncode == 0
    assert run("add", "docs", cwd=folder).returncode == 0
    return folder


def imported_modules(code: str, cwd: Path) -> set[str]:
    probe = (
        "import sys\n"
        f"{code}\n"
        "from recall_core.__main__ import main\n"
        "main()\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=cwd, env=environment(), capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    modules = imported_modules("sys.argv = ['recall', '--help']", tmp_path)

    assert "argparse" in modules
    assert [name for name in HEAVY if name in modules] == []


def test_piped_search_imports_no_unneeded_library(home: Path) -> None:
    modules = imported_modules("sys.argv = ['recall', 'search', 'retry', '--json']", home)

    assert "apsw" in modules
    unwanted = ("numpy", "rich", "textual", "msgspec", "dataclasses", "argcomplete", "sqlite_vec")
    assert [name for name in unwanted if name in modules] == []


def test_bare_recall_prints_help_on_stdout_and_exits_0(tmp_path: Path) -> None:
    done = run_anew(cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "recall init" in done.stdout


def test_error_is_a_sentence_and_a_hint_on_stderr(tmp_path: Path) -> None:
    done = run_anew("search", "x", "--fitler", "y", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: recall search has no flag --fitler.\nhint: did you mean --filter?\n"


def test_missing_store_hint_is_recall_init(tmp_path: Path) -> None:
    done = run("stats", cwd=tmp_path)

    assert done.returncode == 1
    assert "hint: recall init" in done.stderr


def test_wrong_filter_shows_a_caret_under_the_word(home: Path) -> None:
    done = run("search", "retry", "--filter", "doc.tgas = 'x'", cwd=home)

    lines = done.stderr.splitlines()
    assert done.returncode == 2
    source = next(line for line in lines if "doc.tgas" in line and "error" not in line)
    carets = lines[lines.index(source) + 1]
    assert carets.count("^") >= 4
    assert source[carets.index("^") :].startswith(("doc.tgas", "tgas"))


def test_piped_search_prints_plain_locations_and_passages(home: Path) -> None:
    done = run_anew("search", "retry", cwd=home)

    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    places = [line.split("  ")[1].split(":")[0] for line in lines if line[0] != " "]
    assert sorted(places) == ["docs/a.md", "docs/b.md"]
    assert "       Roll out slowly, retry later." in lines
    assert "2 of 2 hits" in done.stderr


def test_terminal_search_shows_bold_terms_and_obeys_no_color(home: Path) -> None:
    coloured, plain = (on_a_terminal("search", "retry", cwd=home, **env) for env in ({}, {"NO_COLOR": "1"}))

    assert "docs/a.md" in coloured
    assert "# \x1b[1mRetry\x1b[0m" in coloured
    assert "# \x1b[1mRetry\x1b[0m" in plain
    assert "\x1b[36m" in coloured
    assert "\x1b[36m" not in plain


def on_a_terminal(*argv: str, cwd: Path, **env: str) -> str:
    parent, child = pty.openpty()
    process = warm.Process(
        argv, cwd=cwd, env=environment(TERM="xterm-256color", COLUMNS="100", **env),
        stdin=child, stdout=child, stderr=warm.DEVNULL,
    )  # fmt: skip
    os.close(child)
    seen = b""
    try:
        while block := os.read(parent, 65536):
            seen += block
    except OSError:  # Linux ends a pseudo-terminal whose other side is closed with EIO
        pass
    os.close(parent)
    assert process.wait() == 0
    return seen.decode()


def test_context_stdout_is_exactly_its_text(home: Path) -> None:
    plain = run("context", "retry", "--budget-tokens", "40", cwd=home)
    packed = json.loads(run("context", "retry", "--budget-tokens", "40", "--json", cwd=home).stdout)

    assert plain.stdout == packed["context"]["text"] + "\n"
    assert f"{packed['context']['used_tokens']} of 40 tokens" in plain.stderr


def test_get_prints_a_file_byte_for_byte(home: Path) -> None:
    done = run("get", "docs/a.md", cwd=home)

    assert done.stdout == (home / "docs" / "a.md").read_text()


def test_document_list_is_machine_readable(home: Path) -> None:
    shell = f"{sys.executable} -m recall_core ls --glob '**/*.md' | xargs cat"
    read = subprocess.run(
        shell, shell=True, cwd=home, env=environment(), capture_output=True, text=True, check=True
    )  # fmt: skip

    assert run("ls", cwd=home).stdout == "docs/a.md\ndocs/b.md\n"
    assert read.stdout == "".join((home / "docs" / name).read_text() for name in ("a.md", "b.md"))


def test_terminal_list_is_a_table_with_titles(home: Path) -> None:
    drawn = on_a_terminal("ls", "docs", "-l", cwd=home, NO_COLOR="1")

    head, first, second = [line.split() for line in drawn.splitlines() if any(map(str.isalnum, line))]
    assert [name.strip("\x1b[01m") for name in head if name.strip("\x1b[01m")] == [
        "path", "title", "chunks", "tokens", "changed", "(UTC)",
    ]  # fmt: skip
    assert [row[:3] for row in (first, second)] == [["docs/a.md", "Retry", "1"], ["docs/b.md", "Deploy", "1"]]


def test_export_survives_import_unchanged(home: Path, tmp_path: Path) -> None:
    assert run("export", "--out", str(tmp_path / "a.jsonl"), cwd=home).returncode == 0
    assert run("init", "--embedding", "hash", cwd=tmp_path).returncode == 0

    assert run("import", "a.jsonl", cwd=tmp_path).returncode == 0

    assert run("export", cwd=tmp_path).stdout == (tmp_path / "a.jsonl").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "recall.db", "recall.toml"]


def test_closed_pipe_is_silent(home: Path) -> None:
    line = f'"{sys.executable}" -m recall_core export | true'
    done = subprocess.run(
        ["sh", "-c", line], cwd=home, env=environment(), capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_store_flag_overrides_recall_store(home: Path, tmp_path: Path) -> None:
    by_environment = run("stats", "--json", cwd=tmp_path, RECALL_STORE=str(home / "recall.db"))
    by_flag = run("stats", "--store", str(home / "recall.db"), cwd=tmp_path, RECALL_STORE="nowhere.db")

    assert json.loads(by_environment.stdout)["store"]["documents"] == 2
    assert by_flag.returncode == 0


def test_stats_warn_that_hash_matches_spelling_only(home: Path) -> None:
    assert "match spelling, not meaning" in run("stats", cwd=home).stdout


def test_output_is_utf8_for_any_stream_encoding(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recall_core", "search", "é", "--json"],
        cwd=home, env=environment(PYTHONIOENCODING="latin-1"),
        capture_output=True, check=False,
    )  # fmt: skip

    assert json.loads(done.stdout.decode("utf-8"))["query"]["text"] == "é"


@pytest.mark.parametrize("kind", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interrupted_add_is_reported_and_can_be_repeated(kind: signal.Signals, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for i in range(1500 if IS_NIGHTLY else 400):
        (many / f"{i:04}.md").write_text(f"# Note {i}\n\n" + f"word{i} and more words. " * 120)
    assert run("init", "--embedding", "hash", cwd=tmp_path).returncode == 0
    command = [sys.executable, "-m", "recall_core", "add", "many", "--json"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(tmp_path / "recall.db-wal")
    process.send_signal(kind)
    out, err = process.communicate(timeout=120)

    assert process.returncode == 130, (out, err)
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert "Traceback" not in err
    assert run("doctor", cwd=tmp_path).returncode == 0
    assert run("sync", cwd=tmp_path).returncode in {0, 1}


def wait_for(path: Path) -> None:
    """Wait until the file exists, which shows that the work has begun."""
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("kind", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_watch_follows_a_folder_until_a_signal(tmp_path: Path, kind: signal.Signals) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Retry\n\nRetry with backoff.\n")
    assert run("init", "--embedding", "hash", cwd=tmp_path).returncode == 0
    assert run("add", "docs", cwd=tmp_path).returncode == 0
    watch = warm.Process(["sync", "--watch", "--json"], cwd=tmp_path, env=environment())
    assert json.loads(watch.stdout.readline())["ingest"]["unchanged"] == 1

    (tmp_path / "docs" / "b.md").write_text("# Quokka\n\nA quokka deploys slowly.\n")
    added = json.loads(watch.stdout.readline())
    found = run("search", "quokka", "--json", cwd=tmp_path)
    watch.send_signal(kind)
    out, err = watch.communicate(timeout=120)

    assert added["ingest"]["added"] == 1
    assert json.loads(found.stdout)["results"][0]["doc"]["path"] == "docs/b.md"
    assert watch.returncode == 130
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert err == ""
    assert run("doctor", cwd=tmp_path).returncode == 0


def test_headless_workbench_runs_commands_in_order_without_textual(home: Path) -> None:
    done = run("--cmd", "search retry --k 1 --json", "--cmd", "stats --json", cwd=home, module="recall_tui")

    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert len(first["results"]) == 1
    assert second["store"]["documents"] == 2
    code = "module = 'recall_tui'; sys.argv = ['recall-tui', '--cmd', 'search retry --json']"
    assert "textual" not in imported_modules(code, home)


def test_headless_workbench_prints_the_same_bytes_as_recall(home: Path) -> None:
    headless = run("--store", str(home), "--cmd", "search retry", cwd=home.parent, module="recall_tui")

    assert headless.stdout == run("search", "retry", cwd=home).stdout


def test_headless_workbench_reads_script_and_stops_at_first_failure(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "lines.txt"
    script.write_text("# nightly\n\nstats --json  # first\nget nowhere.md\nstats --json\n")

    done = run("--cmd", f"@{script}", cwd=home, module="recall_tui")

    assert done.returncode == 8
    assert len(done.stdout.splitlines()) == 1


def test_workbench_without_terminal_exits_2_with_a_hint(home: Path) -> None:
    done = run(cwd=home, module="recall_tui")

    assert done.returncode == 2
    assert "ssh -t" in done.stderr
    assert "--cmd" in done.stderr


def test_workbench_refuses_unknown_flag(home: Path) -> None:
    done = run("--comand", "stats", cwd=home, module="recall_tui")

    assert (done.returncode, done.stderr.splitlines()[1]) == (2, "hint: did you mean --cmd?")


def test_timed_out_query_exits_1(home: Path) -> None:
    for words in (("search", "retry"), ("get", "docs/a.md"), ("stats",)):
        done = run(*words, "--timeout", "0.000001", cwd=home)

        assert (done.returncode, done.stdout) == (1, ""), words
        assert done.stderr == "error: There is no answer after 1e-06 s.\nhint: --timeout 60\n", words
        assert run(*words, "--timeout", "600", cwd=home).returncode == 0, words


def test_receipt_replays_in_another_process_until_a_document_changes(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Retry with backoff.\n")
    assert run("init", "--embedding", "hash", cwd=tmp_path).returncode == 0
    assert run("add", "notes", cwd=tmp_path).returncode == 0
    assert (
        run("context", "retry", "--receipt", "r.json", cwd=tmp_path).stdout
        == "[1] notes/a.md:1-1\nRetry with backoff.\n\n"
    )
    same = run("replay", "r.json", cwd=tmp_path)

    (notes / "a.md").write_text("Retry twice.\n")
    stale = run("replay", "r.json", cwd=tmp_path)
    assert run("sync", cwd=tmp_path).returncode == 0
    changed = run("replay", "r.json", cwd=tmp_path)

    assert (same.returncode, same.stdout.split()[0], same.stderr) == (0, "identical", "")
    assert (stale.returncode, stale.stdout.split()[0]) == (0, "identical")
    assert "W_STALE: notes/a.md was changed after it was read" in stale.stderr
    assert (changed.returncode, changed.stdout.split()[0]) == (7, "changed")
    assert "document  edited  notes/a.md\n" in changed.stdout
