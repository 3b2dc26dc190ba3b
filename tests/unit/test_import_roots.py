"""An import grants nothing: what was written elsewhere does not decide what is read here."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from recall_core.errors import UnknownTarget

SECRET = "the launch code is xylophone"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store, beside a folder that is nobody's business."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.txt").write_text(SECRET)
    base = tmp_path / "home"
    (base / "docs").mkdir(parents=True)
    (base / "docs" / "a.txt").write_text("a quokka smiles\n")
    Recall.init(str(base))
    return base


def exported(base: Path, **changes: object) -> Path:
    """An export of a store with one root, whose fields are changed."""
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


@pytest.mark.parametrize("folder", ["{private}", "../private", "docs/../../private", "inside"])
def test_a_root_that_leads_out_of_the_stores_folder_is_not_read_until_it_is_accepted(
    home: Path, fresh: Path, folder: str
) -> None:
    (fresh / "inside").symlink_to(home.parent / "private")
    (fresh / "docs").mkdir()
    folder = folder.format(private=home.parent / "private")
    file = exported(home, folder=folder)

    with Recall.open(str(fresh)) as recall:
        answer = recall.import_(file)
        list(recall.sync())
        assert answer["transfer"]["inactive_roots"] == [folder]
        assert answer["warnings"][0].startswith(f"W_ROOTS: {folder}")
        assert recall.search("xylophone")["stats"]["total_hits"] == 0 or not held(recall)
        assert not held(recall)
        assert [root["active"] for root in recall.roots()["roots"]] == [False]

        recall.roots(accept=[1])
        list(recall.sync())
        assert held(recall)


def held(recall: Recall) -> bool:
    return any(
        SECRET in row.chunk.text for row in recall.store.fetch([key.rowid for key in recall.store.candidates(None)])
    )


def test_a_root_inside_the_folder_is_synced_at_once_and_one_that_follows_links_is_not(
    home: Path, fresh: Path
) -> None:
    (fresh / "docs").mkdir()
    (fresh / "docs" / "b.txt").write_text("a wombat digs\n")
    with Recall.open(str(fresh)) as recall:
        recall.import_(exported(home))
        list(recall.sync())
        assert recall.get("docs/b.txt")["ok"]

        recall.import_(exported(home, follow=True), on_conflict="skip")
        assert [root["active"] for root in recall.roots()["roots"]] == [True, False]


def test_a_root_that_no_disk_can_have_is_not_read_either(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        assert recall.import_(exported(home, folder="a\0b"))["transfer"]["inactive_roots"] == ["a\0b"]


def test_with_roots_takes_them_as_they_are(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        recall.import_(exported(home, folder="../private"), with_roots=True)
        list(recall.sync())
        assert held(recall)


def test_a_root_that_is_added_by_hand_is_accepted_by_that(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        recall.import_(exported(home, folder=str(home.parent / "private")))
        recall.index(str(home.parent / "private"))
        assert [root["active"] for root in recall.roots()["roots"]] == [True]


def test_a_file_that_is_said_to_lie_elsewhere_is_refused(home: Path, fresh: Path) -> None:
    with Recall.open(str(fresh)) as recall:
        for os_path in ("/etc/passwd", "/etc/a.txt", "../private/a.txt", "../private/key.txt", "docs/b.txt"):
            file = exported(home, of="file", os_path=os_path)
            with pytest.raises(RecallError, match="is said to lie at") as caught:
                recall.import_(file)
            assert caught.value.code == "import_invalid", os_path
            assert recall.stats()["store"]["documents"] == 0, os_path


def test_only_a_number_of_a_root_can_be_accepted(home: Path) -> None:
    with Recall.open(str(home)) as recall:
        for number in (0, 1, 99, -1):
            with pytest.raises(UnknownTarget):
                recall.roots(accept=[number])


def test_what_is_left_out_comes_along_with_an_export(home: Path, fresh: Path) -> None:
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


def test_a_root_that_asks_for_an_unknown_encoding_is_told_and_the_others_are_synced(home: Path, fresh: Path) -> None:
    for name in ("docs", "others"):
        (fresh / name).mkdir()
        (fresh / name / "b.txt").write_text("a wombat digs\n")
    with Recall.open(str(fresh)) as recall:
        recall.index(str(fresh / "others"))
        recall.import_(exported(home, encoding="klingon"), on_conflict="skip")
        (fresh / "others" / "c.txt").write_text("a numbat eats\n")

        *_, done = recall.sync()

        assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/b.txt", "unknown_encoding")]
        assert recall.get("others/c.txt")["ok"]
        assert recall.doctor()["ok"]
        asked = recall.why_not("wombat", target="docs/b.txt")
        assert "unknown_encoding" in str(asked)
