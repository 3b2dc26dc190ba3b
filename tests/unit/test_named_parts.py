"""`get` and `whynot` read back the part of a citation after `#`: ids of pages, sections, definitions, turns."""

from __future__ import annotations

import io
import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.retrieve.targets import part_signs
from recall_core.text import behind

PAGE = """<section id="module-datetime"><h1>datetime<a class="headerlink" href="#module-datetime">¶</a></h1>
<p>Dates.</p>
<section id="technical-detail"><h2>Technical detail</h2><p>Objects are immutable.</p>
<dl><dt id="datetime.timedelta">class timedelta</dt><dd><p>A duration.</p></dd>
<dt id="datetime.date">class date</dt><dd><p>A day.</p></dd></dl></section>
<h2>See also</h2><p>The calendar.</p></section>"""
GUIDE = """# Guide

## Use of C#

Sharp.

### Example

First example.

## Other

### Example

Second example.
"""
MODULE = """\
class A:
    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        self.value = value


class B:
    def size(self):
        return 2

    def close(self):
        return 3
"""
REPEATED = """<h1>Guide</h1><h2>Alpha</h2><h3>Usage</h3><p>The first quokka.</p><h2>Beta</h2><h3>Usage</h3>
<p>The second numbat.</p><h2>Gamma</h2><h3>Notes</h3><p>The third bilby.</p><h3>Notes</h3><p>The fourth quoll.</p>"""
CHAT = [{"role": "user", "content": "How long?"}, {"role": "assistant", "content": "Two hours."}]
FILES = {
    "datetime.html": PAGE,
    "repeated.html": REPEATED,
    "guide.md": GUIDE,
    "guide.md#Guide": "A file of that name.\n",
    "lib/mod.py": MODULE,
    "one/twin.md": "# Same\n",
    "two/twin.md": "# Same\n",
    "s1.jsonl": "\n".join(map(json.dumps, CHAT)),
    "plain.txt": "Words without names.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("parts")
    for name, text in FILES.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    with chdir(home):
        run("init", "--embedding", "hash")
        assert run("add", ".")["ok"]
    return home


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECALL_STORE", raising=False)
    monkeypatch.chdir(home)


def run(*argv: str) -> Any:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    cli.main(["--json", *argv], streams=streams)
    return json.loads(streams.stdout.getvalue().splitlines()[-1])  # type: ignore[attr-defined]


def test_anchor_names_a_part() -> None:
    for target, place, begin, end in [
        ("datetime.html#technical-detail", "id technical-detail", "Technical detail", "A day."),
        ("datetime.html#datetime.timedelta", "id datetime.timedelta", "class timedelta", "A duration."),
        ("datetime.html#See also", "heading datetime › See also", "See also", "The calendar."),
        ("datetime.html#datetime › See also", "heading datetime › See also", "See also", "The calendar."),
        ("guide.md#Other", "heading Guide › Other", "## Other", "Second example."),
        ("guide.md#Use of C#", "heading Guide › Use of C#", "## Use of C#", "First example."),
        ("guide.md#Guide › Other › Example", "heading Guide › Other › Example", "### Example", "Second example."),
        ("guide.md#Other › Example", "heading Guide › Other › Example", "### Example", "Second example."),
        ("lib/mod.py#class B › def size", "heading class B › def size", "    def size", "return 2"),
        ("mod.py#def close", "heading class B › def close", "    def close", "return 3"),
        ("s1.jsonl#turn=2", "turn 2", "assistant:", "Two hours."),
        ("s1.jsonl#assistant", "heading assistant", "assistant:", "Two hours."),
    ]:
        answer = run("get", target)
        assert answer["ok"], (target, answer)
        assert answer["warnings"] == [], target
        view = answer["found"]
        assert (view["kind"], view["place"]) == ("place", place), target
        assert view["text"].startswith(begin), target
        assert view["text"].rstrip().endswith(end), target


def test_named_place_is_cited_by_name_and_read_back() -> None:
    for target in ("datetime.html#technical-detail", "datetime.html#See also", "guide.md#Use of C#"):
        view = run("get", target)["found"]
        cited = view["doc"]["path"] + behind(view["doc"]["path"], 1, place=view["place"])
        assert run("get", cited)["found"] == view, target


def test_citation_of_a_page_without_ids_finds_the_passage() -> None:
    for word, place in [
        ("quokka", "heading Guide › Alpha › Usage"),
        ("numbat", "heading Guide › Beta › Usage"),
        ("bilby", "bytes "),  # two sections have the same path
        ("immutable", "id technical-detail"),
        ("calendar", "id module-datetime"),
    ]:
        (hit, *_) = run("search", word, "--bm25")["results"]
        passage, path = hit["passage"], hit["doc"]["path"]
        assert passage["place"].startswith(place), word
        answer = run("get", path + behind(path, passage["line_start"], place=passage["place"]))
        assert passage["text"] in answer["found"]["text"], word
        assert answer["warnings"] == [], word


def test_only_the_first_signs_cost_a_store_lookup() -> None:
    assert part_signs("a#b#c") == [1, 3]
    assert part_signs("#a#") == []
    assert part_signs("a" + "#" * 60_000) == list(range(1, 17))


def test_file_with_the_sign_in_its_name_wins() -> None:
    assert run("get", "guide.md#Guide")["found"]["text"] == "A file of that name.\n"


def test_first_of_equally_named_parts_is_shown_and_others_named() -> None:
    for target, first, others in [
        ("guide.md#Example", "First", ["Second"]),
        ("mod.py#class A › def size", "@property", ["@size.setter"]),
        ("mod.py#def size", "@property", ["@size.setter", "return 2"]),
    ]:
        answer = run("get", target)
        (warning,) = answer["warnings"]
        assert first in answer["found"]["text"], target
        assert warning.startswith("W_AMBIGUOUS_PATH: "), target
        commands = warning.partition(": recall get ")[2].split(" or recall get ")
        texts = [run("get", command.strip("'"))["found"]["text"] for command in commands]
        assert len(texts) == len(others), target
        assert all(other in text for other, text in zip(others, texts, strict=True)), target


def test_unknown_part_suggests_the_nearest_names() -> None:
    for command in (["get"], ["whynot", "words", "--target"]):
        for target, hint in [
            ("datetime.html#technical-details", "'datetime.html#technical-detail'"),
            ("guide.md#use of c#", "'guide.md#Use of C#'"),
            ("lib/mod.py#close", "'lib/mod.py#def close'"),
            ("lib/mod.py#class A › def clos", "'lib/mod.py#def close'"),
            ("guide.md#zzzz", "'guide.md#Guide' or 'guide.md#Use of C#' or 'guide.md#Example'"),
            ("plain.txt#zzzz", "recall get plain.txt"),
        ]:
            error = run(*command, target)["error"]
            assert error["code"] == "bad_place", (command, target)
            assert error["hint"].startswith(hint), (command, target, error["hint"])


def test_ending_of_several_paths_is_refused() -> None:
    error = run("get", "twin.md#Same")["error"]
    assert (error["code"], error["hint"]) == ("ambiguous_path", "'one/twin.md#Same' or 'two/twin.md#Same'")


def test_whynot_accepts_names_of_parts() -> None:
    for target, words in [
        ("datetime.html#technical-detail", "immutable"),
        ("datetime.html#datetime.date", "day"),
        ("mod.py#class B › def close", "close"),
    ]:
        answer = run("whynot", words, "--target", target)
        assert answer["ok"], (target, answer)
        assert answer["whynot"]["target"]["kind"] == "lines", target
