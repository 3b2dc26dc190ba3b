"""Recall's own parsers in separate packages: their imports, their replacement, and a missing one."""

from __future__ import annotations

import ast
import site
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core import __version__
from recall_core.api.recall import Recall, result_of
from recall_core.errors import IngestError
from recall_core.ingest import kinds
from recall_core.ingest.parse import GROUP, PLUG_INS, is_earlier, parser
from recall_core.installing import DISTRIBUTION
from recall_core.types import Root
from recall_man import Man
from tests.plug_ins import scan_only, write_plug_in

ROOT = Path(__file__).parents[2]
PAGE = ".TH WIDGET 1\n.SH NAME\nwidget \\- turn the widgets\n"
ENTRY_POINT = "[recall.parser]\nman = stranger:Stranger\n"


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_plug_ins_import_only_ports_and_marks() -> None:
    paths = [*ROOT.glob("plugins/*/recall_*/**/*.py")]
    names = {(path.name, name) for path in paths for name in imports_of(path)}

    assert len(paths) >= 6
    assert {name for _, name in names if name.startswith("recall_core")} == {"recall_core.ports", "recall_core.marks"}
    assert [each for each in names if each[1].startswith(("recall_tui", "tests"))] == []


def test_recall_imports_no_plug_in() -> None:
    paths = [path for name in ("recall_core", "recall_tui") for path in (ROOT / name).rglob("*.py")]

    assert [path for path in paths for name in imports_of(path) if name.startswith("recall_man")] == []


def test_plug_in_packages_have_the_version_of_recall() -> None:
    projects = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("plugins/*/pyproject.toml")]

    assert {each["name"] for each in projects} == {each.distribution for each in PLUG_INS.values()}
    assert {each["version"] for each in projects} == {__version__}
    assert {name for each in projects for name in each["dependencies"]} == {DISTRIBUTION}
    assert {name for each in projects for name in each["entry-points"][GROUP]} == {*PLUG_INS}


def test_settings_may_name_an_own_plug_in() -> None:
    assert kinds.choose("a.txt", b"", parser="auto", overrides=(("*.txt", "man"),)) == "man"


def test_other_packages_cannot_replace_an_own_plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, here = tmp_path / "other", tmp_path / "here"
    write_plug_in(other, "stranger", ENTRY_POINT, source="Stranger = object\n")
    write_plug_in(here, "recall_man", ENTRY_POINT)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(other)
        assert isinstance(parser("man"), Man)

    for folder, environment in (
        (other, other),
        (here, other),
    ):  # another name, with nothing installed
        with monkeypatch.context() as patch:
            patch.setattr(site, "getsitepackages", lambda environment=environment: [str(environment)])
            scan_only(folder, patch)
            with pytest.raises(IngestError) as caught:
                parser("man")
            assert caught.value.code == "parser_missing", folder


def test_plug_in_versions_are_compared_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Man, "version", 2)
    assert [is_earlier(each) for each in ("man", "man@2", "man@3")] == [True, False, False]

    scan_only(tmp_path, monkeypatch)
    assert [is_earlier(each) for each in ("man", "man@2", "man@3")] == [False, False, False]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    (place / "widget.1").write_text(PAGE)
    (place / "gadget.1").write_text(PAGE.replace("widget", "gadget"))
    (place / "a.txt").write_text("plain words\n")
    return place


def test_documents_stay_without_their_plug_in(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Man, "version", 2)
    with Recall.open(str(home), create=True) as recall:
        recall.index(str(home))
        before = recall.store.info().documents
        with monkeypatch.context() as patch:
            scan_only(tmp_path, patch)
            (home / "gadget.1").write_text(PAGE.replace("turn", "grease"))
            (home / "new.1").write_text(PAGE)
            (home / "a.txt").write_text("other words\n")
            answer = result_of(recall.sync())
            checks = {each["code"]: each for each in recall.doctor()["checks"]}

        assert (answer["ingest"]["unchanged"], answer["ingest"]["updated"], answer["ingest"]["removed"]) == (1, 1, 0)
        skipped = answer["ingest"]["skipped"]
        assert [(skip["path"], skip["code"]) for skip in skipped] == [
            ("gadget.1", "parser_missing"),
            ("new.1", "parser_missing"),
        ]
        assert all("recall-man" in skip["reason"] for skip in skipped)
        assert [(group["kind"], group["files"]) for group in answer["ingest"]["skipped_by"]] == [("manual page", 2)]
        (warning,) = answer["warnings"]
        assert warning.startswith(
            "W_PARSER: recall-man is not installed; manual pages skipped: 2, files kept as it read them: 2; "
        )
        assert warning.endswith(str(ROOT / "plugins" / "recall-man"))
        assert recall.store.info().documents == before
        assert "turn the gadgets" in recall.get("gadget.1")["found"]["text"]

        missing = checks["parser_missing"]
        assert (missing["severity"], missing["evidence"]) == (
            "warning",
            "recall-man is not installed; files it parsed, kept unchanged: 2",
        )
        assert missing["fix"] in warning
        assert (checks["files"]["severity"], checks["files"]["fix"]) == ("warning", "recall sync")
        assert {each["severity"] for each in checks.values()} == {"ok", "warning"}

        assert result_of(recall.sync())["ingest"]["skipped"] == []
        assert "grease" in recall.get("gadget.1")["found"]["text"]
        assert {each["code"]: each for each in recall.doctor()["checks"]}["parser_missing"]["severity"] == "ok"


def test_named_page_without_the_plug_in_is_an_error(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan_only(tmp_path, monkeypatch)
    with Recall.open(str(home), create=True) as recall:
        for parser_name in ("auto", "man"):
            with pytest.raises(IngestError) as caught:
                recall.index(str(home / "widget.1"), template=Root("", parser=parser_name))
            assert caught.value.code == "parser_missing", parser_name
            assert str(caught.value.hint).endswith("plugins/recall-man"), parser_name


def test_plug_in_tests_run_when_their_inputs_change(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@a", *words], cwd=tmp_path, check=True)

    def is_run() -> bool:
        command = ["make", "--no-print-directory", "-n", "test"]
        planned = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        (line,) = (line for line in planned.splitlines() if '"not slow" tests' in line)
        return line.endswith(" plugins")

    toml = "plugins/recall-man/pyproject.toml"
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "recall_core/ports.py", toml):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text() if name == "Makefile" else "")
    assert is_run(), "without git"
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    assert is_run(), "without a branch to compare with"
    git("update-ref", "refs/remotes/origin/HEAD", "HEAD")
    assert is_run(), "the first commit, or that of a shallow checkout"

    (tmp_path / "constraints.txt").write_text("numpy\n")
    git("commit", "-qam", "two")
    assert not is_run(), "another file changed"
    git("update-ref", "refs/remotes/origin/HEAD", "HEAD")
    assert not is_run(), "another file changed in the last commit of the branch"

    for name in ("recall_core/ports.py", toml, "plugins/new.py"):
        before = (tmp_path / name).read_text() if (tmp_path / name).exists() else None
        (tmp_path / name).write_text("# changed\n")
        assert is_run(), name
        if before is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_text(before)
    (tmp_path / "recall_core" / "ports.py").write_text("# changed\n")
    git("commit", "-qam", "three")
    assert is_run(), "ports changed in a commit"
