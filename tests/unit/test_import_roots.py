"""An import grants nothing: data written elsewhere does not decide what is read here."""

from __future__ import annotations

import io
import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.engine import result_of
from recall_core.contract.responses import IngestResponse
from recall_core.errors import UnknownTarget

SECRET = "the launch code is xylophone"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a store next to a private folder."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.txt").write_text(SECRET)
    base = tmp_path / "home"
    (base / "docs").mkdir(parents=True)
    (base / "docs" / "a.txt").write_text("a quokka smiles\n")
    Recall.init(str(base))
    return base


def export_forged(base: Path, **changes: object) -> Path:
    """Export a store with one root whose fields are changed."""
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "docs"))
        file = base.parent / "export.jsonl"
        with file.open("w", encoding="utf-8", newline="\n") as out:
            recall.export(out)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[:-1]]
    for line in lines:
        if line["type"] == changes.get("of", "root"):
            line.update({key: value for key, value in changes.items() if key != "of"})
    body = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    end = json.dumps({"type": "end", "sha256": sha256(body.encode()).hexdigest()}, separators=(",", ":"))
    file.write_text(body + end + "\n", encoding="utf-8")
    return file


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    base = tmp_path / "fresh"
    base.mkdir()
    Recall.init(str(base))
    return base


def forged_roots(home: Path) -> list[dict[str, object]]:
    """Return root lines that would read the secret or reach it by another name, each with its changed fields."""
    private, base = str(home.parent / "private"), str(home.parent / "fresh")
    places = (
        *(".ssh", "./.ssh", ".ssh/", ".ssh/id_rsa", "docs/../.ssh", ".SSH", "./."),
        *("..", "../private", "../fresh/.ssh"),
        *("docs/link", "docs/link/id_rsa", private, f"{private}/key.txt", base, f"{base}/.ssh", "/", "~", "a\0b", ""),
    )
    forged: list[dict[str, object]] = [{"folder": place, "hidden": True, "gitignore": False} for place in places]
    forged += [
        {"folder": ".", "hidden": True, "gitignore": False},
        {"folder": ".", "hidden": True},
        {"folder": ".", "gitignore": False, "globs": ["**/.*/**", "**/.*"]},
        {"folder": ".", "globs": [".ssh/*"], "hidden": True},
        {"folder": ".", "follow": True, "hidden": True},
        {"folder": "docs", "hidden": True},
        {"folder": "docs", "gitignore": False},
        {"folder": "docs", "follow": True},
        {"folder": "docs", "globs": ["../.ssh/*"]},
        {"folder": "docs", "ignores": ["a.txt"]},
        {"folder": "docs", "parser": "text"},
        {"folder": "docs", "tags": ["granted"]},
        {"folder": "docs", "encoding": "latin-1"},
        {"folder": "DOCS", "hidden": True},
    ]
    return forged


def test_forged_import_reads_nothing_without_acceptance(home: Path, fresh: Path) -> None:
    """The canary is behind each forged root, and nothing opens it before the root is accepted."""
    (fresh / "docs").mkdir()
    (fresh / "docs" / "a.txt").write_text("a quokka smiles\n")
    (fresh / "docs" / ".hidden.txt").write_text(SECRET)
    (fresh / "docs" / ".gitignore").write_text("ignored.txt\n")
    (fresh / "docs" / "ignored.txt").write_text(SECRET)
    (fresh / ".ssh").mkdir()
    (fresh / ".ssh" / "id_rsa").write_text(SECRET)
    (fresh / "docs" / "link").symlink_to(fresh / ".ssh")
    canaries = ("id_rsa", "key.txt", ".hidden.txt", "ignored.txt")
    opened: list[str] = []
    is_watching = [True]
    sys.addaudithook(lambda event, arguments: watch(event, arguments, opened, is_watching))
    with Recall.open(str(fresh)) as recall:
        recall.index(str(fresh / "docs"))
        granted = recall.store.roots()
        for number, changes in enumerate(forged_roots(home)):
            recall.import_(export_forged(home, **changes), on_conflict="skip")
            list(recall.sync())
            recall.doctor()
            assert recall.store.roots() == granted, changes
            assert not has_secret(recall), changes
            assert [place for place in opened if place.endswith(canaries)] == [], changes
            assert len(recall.roots()["roots"]) == number + 2, changes
    is_watching.clear()


def test_imported_file_is_not_read_for_comparison(home: Path, fresh: Path) -> None:
    """A search, doctor or a sync below an added folder does not open it."""
    (fresh / "docs").mkdir()
    (fresh / "docs" / "b.txt").write_text("a wombat digs\n")
    (fresh / ".ssh").mkdir()
    opened: list[str] = []
    is_watching = [True]
    sys.addaudithook(lambda event, arguments: watch(event, arguments, opened, is_watching))
    for granted in ("docs", "."):
        for size in (len(SECRET), len(SECRET) + 1):
            (home / ".ssh").mkdir(exist_ok=True)
            (home / ".ssh" / "id_rsa").write_text("quokka ".ljust(size, "x"))
            with Recall.open(str(home)) as source, (home.parent / "forged.jsonl").open("w", newline="\n") as out:
                source.index(str(home / ".ssh" / "id_rsa"))
                source.export(out)
            (fresh / ".ssh" / "id_rsa").write_text(SECRET)
            opened.clear()
            with Recall.open(str(fresh)) as recall:
                recall.index(str(fresh / granted))
                recall.import_(home.parent / "forged.jsonl", on_conflict="replace")
                (hit,) = recall.search("quokka", mode="lexical")["results"]
                assert hit["doc"].get("state") == ("modified" if size != len(SECRET) else None)
                recall.doctor()
                list(recall.sync())
                assert [place for place in opened if place.endswith("id_rsa") and "fresh" in place] == []
    is_watching.clear()


def watch(event: str, arguments: tuple[object, ...], opened: list[str], is_watching: list[bool]) -> None:
    """Record opened files. An audit hook cannot be removed; this one is idle after the test."""
    if is_watching and event == "open":
        opened.append(str(arguments[0]))


def test_pending_root_is_listed_until_accepted(home: Path, fresh: Path) -> None:
    private = str(home.parent / "private")
    with Recall.open(str(fresh)) as recall:
        answer = recall.import_(export_forged(home, folder=private))
        assert answer["transfer"]["inactive_roots"] == [private]
        assert [(root["number"], root["folder"]) for root in answer["transfer"]["waiting_roots"]] == [(1, private)]
        expected = f"W_ROOTS_WAIT: 1 root waits and is not synced until you accept it: 1 {private}; recall roots"
        assert answer["warnings"] == [expected]
        assert sync(recall)["warnings"] == answer["warnings"]
        assert not has_secret(recall)

        recall.roots(accept=[1])
        assert sync(recall)["warnings"] == []
        assert has_secret(recall)


def sync(recall: Recall) -> IngestResponse:
    return result_of(recall.sync())


def test_import_keeps_an_equal_existing_root_active(home: Path, fresh: Path) -> None:
    (fresh / "docs").mkdir()
    (fresh / "docs" / "b.txt").write_text("a wombat digs\n")
    with Recall.open(str(fresh)) as recall:
        recall.index(str(fresh / "docs"))
        answer = recall.import_(export_forged(home), on_conflict="skip")
        assert not {"waiting_roots", "accepted_roots", "inactive_roots"} & answer["transfer"].keys()
        assert [root["active"] for root in recall.roots()["roots"]] == [True]


def test_second_import_does_not_activate_a_pending_root(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        for _ in range(2):
            recall.import_(export_forged(home), on_conflict="skip")
            assert [root["active"] for root in recall.roots()["roots"]] == [False]


def has_secret(recall: Recall) -> bool:
    return any(
        SECRET in row.chunk.text for row in recall.store.fetch([key.rowid for key in recall.store.candidates(None)])
    )


def test_accept_roots_accepts_and_reports_imported_roots(home: Path, fresh: Path) -> None:
    file = export_forged(home, folder="../private")
    code, out, _ = run("import", str(file), "--store", str(fresh), "--accept-roots")
    assert (code, out.splitlines()[1:]) == (0, ["  1  ../private  1 document  accepted"])
    with Recall.open(str(fresh)) as recall:
        list(recall.sync())
        assert has_secret(recall)


def test_import_lists_the_pending_roots(home: Path, fresh: Path) -> None:
    file = export_forged(home, folder="../private", hidden=True)
    code, out, told = run("import", str(file), "--store", str(fresh))
    listed = ["  1  ../private  1 document  not synced until accepted", "     --hidden"]
    assert (code, out.splitlines()[1:]) == (0, listed)
    assert told.startswith("warning: W_ROOTS_WAIT: ")


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_adding_a_root_by_hand_accepts_it(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        recall.import_(export_forged(home, folder=str(home.parent / "private")))
        recall.index(str(home.parent / "private"))
        assert [root["active"] for root in recall.roots()["roots"]] == [True]


def test_file_with_a_forged_location_is_refused(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        elsewhere = ("/etc/passwd", "/etc/a.txt", "../private/a.txt", "../private/key.txt", "docs/b.txt")
        detours = ("docs/../.ssh/id_rsa", "./docs/a.txt", "docs//a.txt", "docs/./a.txt", "../home/docs/a.txt")
        for os_path in (*elsewhere, *detours):
            path = {"path": os_path} if os_path in detours else {}
            file = export_forged(home, of="file", os_path=os_path, **path)
            with pytest.raises(RecallError, match="does not match path") as caught:
                recall.import_(file)
            assert caught.value.code == "import_invalid", os_path
            assert recall.stats()["store"]["documents"] == 0, os_path


def test_only_a_root_number_can_be_accepted(home: Path) -> None:
    with Recall.open(str(home)) as recall:
        for number in (0, 1, 99, -1):
            with pytest.raises(UnknownTarget):
                recall.roots(accept=[number])


def test_removed_documents_are_exported(home: Path, fresh: Path) -> None:
    with Recall.open(str(home)) as recall:
        recall.index(str(home / "docs"))
        recall.remove([str(home / "docs" / "a.txt")])
        with (home.parent / "left.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            recall.export(out)
    with Recall.open(str(fresh)) as recall:
        recall.import_(home.parent / "left.jsonl")
        (root,) = recall.roots()["roots"]
        assert root["left_out"] == ["docs/a.txt"]
        with (fresh / "again.jsonl").open("w", encoding="utf-8", newline="\n") as out:
            recall.export(out)
    assert (fresh / "again.jsonl").read_bytes() == (home.parent / "left.jsonl").read_bytes()


def test_root_with_unknown_encoding_is_reported_and_others_are_synced(home: Path, fresh: Path) -> None:
    for name in ("docs", "others"):
        (fresh / name).mkdir()
        (fresh / name / "b.txt").write_text("a wombat digs\n")
    with Recall.open(str(fresh)) as recall:
        recall.index(str(fresh / "others"))
        recall.import_(export_forged(home, encoding="klingon"), on_conflict="skip", accept_roots=True)
        (fresh / "others" / "c.txt").write_text("a numbat eats\n")

        *_, done = recall.sync()

        assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/b.txt", "unknown_encoding")]
        assert recall.get("others/c.txt")["ok"]
        assert recall.doctor()["ok"]
        asked = recall.why_not("wombat", target="docs/b.txt")
        assert "unknown_encoding" in str(asked)
