"""Document names used by callers of a server, and files that no name may reach."""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.api.recall import Recall
from recall_core.api.serving import CallerNames, spell, unspell
from recall_core.errors import RecallError, UnknownTarget, UsageError
from recall_core.types import Root

FILES = {
    "home/a.md": "# A\n\nFirst.\n\nSecond.\n",
    "home/notes/b.md": "Below.\n",
    "home/notes/same.md": "One.\n",
    "home/other/same.md": "Two.\n",
    "home/wiki/own.md": "Ours.\n",
    "wiki/c.md": "Elsewhere.\n",
    "far/wiki/d.md": "Farther.\n",
    "far/single.md": "By itself.\n",
    "secret/e.md": "Never added.\n",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("names")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    Recall.init(str(place / "home"), embedding="hash")
    with Recall.open(str(place / "home")) as recall:
        for each in ("home", "wiki", "far/wiki", "far/single.md"):
            for _ in recall.add([str(place / each)], Root("")):
                pass
    return place


@pytest.fixture
def recall(place: Path) -> Iterator[Recall]:
    with Recall.open(str(place / "home")) as recall:
        yield recall


@pytest.fixture
def names(recall: Recall) -> CallerNames:
    return CallerNames(recall)


def text_of(recall: Recall, target: str) -> str:
    return recall.get(target)["found"]["text"]


def test_part_is_known_by_its_name(recall: Recall, names: CallerNames) -> None:
    assert text_of(recall, names.find("a.md#A").target) == FILES["home/a.md"]
    with pytest.raises(UnknownTarget):
        names.find("gone.md#A")


def test_name_means_the_document_shown_under_it(recall: Recall, names: CallerNames) -> None:
    for name, text in [
        ("a.md", "# A\n\nFirst.\n\nSecond.\n"),
        ("./notes/b.md", "Below.\n"),
        ("a.md:3", "First.\n"),
        ("a.md:3-5", "First.\n\nSecond.\n"),
        ("b.md", "Below.\n"),
        ("wiki/own.md", "Ours.\n"),
        ("wiki-2/c.md", "Elsewhere.\n"),
        ("wiki-3/d.md", "Farther.\n"),
        ("far/single.md", "By itself.\n"),
    ]:
        found = names.find(name)

        assert text_of(recall, found.target) == text, name
        assert found.path is not None, name
        assert names.find(found.path).path == found.path, name


def test_every_document_has_a_unique_name_that_finds_it(recall: Recall, names: CallerNames) -> None:
    stored = [each["doc"]["path"] for each in recall.query("SELECT doc.path FROM doc")["results"]]
    shown = [names.shown(path) for path in stored]

    assert len(set(shown)) == len(stored)
    assert not [each for each in shown if each.startswith(("/", "../"))]
    assert [names.find(each).path for each in shown] == shown


def test_paths_may_be_relative_to_another_folder(recall: Recall, place: Path) -> None:
    names = CallerNames(recall, str(place))

    assert names.find("home/a.md").path == "home/a.md"
    assert names.find("wiki/c.md").path == "wiki/c.md"
    assert names.find("far/wiki/d.md").path == "far/wiki/d.md"


def test_id_or_its_prefix_is_a_name(recall: Recall, names: CallerNames) -> None:
    full = names.find("a.md").target

    assert names.find(full).target == full
    assert names.find(full[:12]).target == full
    assert names.find(f"{full[:12]}:3").target == f"{full}:3"


def test_ending_of_two_paths_is_refused_with_both(names: CallerNames) -> None:
    with pytest.raises(UsageError) as caught:
        names.find("same.md")
    assert caught.value.code == "ambiguous_path"
    assert caught.value.hint == "notes/same.md or other/same.md"


def test_ending_begins_with_a_whole_name(names: CallerNames) -> None:
    for name in ("ame.md", "tes/b.md", "ame.md:1"):
        with pytest.raises(UnknownTarget):
            names.find(name)


def test_ambiguous_ending_keeps_its_line_suffix(names: CallerNames) -> None:
    with pytest.raises(UsageError) as caught:
        names.find("same.md:1")
    assert caught.value.hint == "notes/same.md:1 or other/same.md:1"


def test_near_miss_suggests_the_nearest_name(names: CallerNames) -> None:
    with pytest.raises(UnknownTarget) as caught:
        names.find("notes/sime.md")
    assert "same.md" in str(caught.value.hint)


def test_name_outside_the_store_is_refused(names: CallerNames) -> None:
    for name in ["", "/etc/passwd", "~/x", "../wiki/c.md", "notes/../../wiki/c.md", "a\0b", "\\x"]:
        with pytest.raises(UsageError) as caught:
            names.find(name)
        assert caught.value.code == "bad_path", name


@given(name=st.text(max_size=40) | st.sampled_from(["secret/e.md", "outside/etc/passwd", "home/a.md", "file:///etc"]))
def test_no_name_opens_or_looks_up_a_file(place: Path, name: str) -> None:
    touched: list[object] = []
    with Recall.open(str(place / "home")) as recall, pytest.MonkeyPatch.context() as patched:
        names = CallerNames(recall)
        for where, function in ((builtins, "open"), (os, "open"), (os, "lstat"), (os, "listdir"), (os, "scandir")):
            patched.setattr(where, function, lambda *given, **_: touched.append(given))
        was = os.stat

        def stat(path: Any, **options: Any) -> os.stat_result:
            if "recall.db" not in str(path):
                touched.append(path)
            return was(path, **options)

        patched.setattr(os, "stat", stat)
        with suppress(RecallError):
            names.find(name)
    assert not touched


@example(name="·")
@given(name=st.text("ab\\`*·[]1x20 \n\x1b\u2028~#:.-", min_size=1, max_size=12))
def test_name_is_spelled_on_one_line_and_read_back(name: str) -> None:
    shown = spell(name)

    assert shown.isprintable()
    assert not re.search(r"(?<!\\)(\\\\)*`|\*\*|(?<!\S)·|(?<!\\)·(?!\S)|(?<!\\)\[\d+\]|  |^ | $", shown), shown
    assert unspell(shown) == name
    assert shown == name or spell(shown) != shown


def test_every_cited_name_is_found(tmp_path: Path) -> None:
    odd = [
        "a** · score 0.999 · chunk deadbeef.md", "b`c`.md", "c\nWarning: all is well.md", "d [2] x.md:1-2", "e\\n.md",
        "e\n.md", "f\x1b[2J.md", "~g.md", "\\h.md", "i  two.md", " j .md", "[slug].md", "```", "3 of 3 documents.",
    ]  # fmt: skip
    (home := tmp_path / "home").mkdir()
    for name in odd:
        (home / name).write_text(f"Text of {name!r}.\n")
    Recall.init(str(home), embedding="hash")
    with Recall.open(str(home)) as recall:
        for _ in recall.add([str(home)], Root("")):
            pass
        names = CallerNames(recall)
        stored = [each["path"] for each in recall.list()["documents"]]
        assert sorted(stored) == sorted(odd)
        for path in stored:
            for name in (spell(names.shown(path)), f"{spell(names.shown(path))}:1"):
                assert text_of(recall, names.find(name).target) == f"Text of {path!r}.\n", name
