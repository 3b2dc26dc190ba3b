"""A context for readers and models: its formats, its line numbers, and the position of each block's text."""

from __future__ import annotations

import json
import re
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.types import Root
from tests.unit.test_backup import run

NOTES = {
    'a "b" & <c>.md': "# Retry\n\nRetry three times.\nThen stop.\n",
    "plain.txt": "retry once, and never again",
}


@pytest.fixture
def recall(tmp_path: Path) -> Recall:
    (tmp_path / "docs").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "docs" / name).write_text(text)
    Recall.init(str(tmp_path))
    recall = Recall.open(str(tmp_path))
    for _ in recall.add([str(tmp_path / "docs")], Root("")):
        pass
    return recall


def pack_context(recall: Recall, *settings: str, **options: Any) -> Any:
    return recall.context("retry", Ask(settings=settings), Pack(**options))["context"]


def test_xml_has_one_document_per_block_with_escaped_names(recall: Recall) -> None:
    with recall:
        view = pack_context(recall, format="xml")

    documents = ET.fromstring(f"<all>{view['text']}</all>")
    assert [each.attrib["index"] for each in documents] == ["1", "2"]
    assert {each.attrib["path"] for each in documents} == {f"docs/{name}" for name in NOTES}
    assert [each.text for each in documents] == [f"\n{block['text']}\n" for block in view["blocks"]]


def test_lines_are_numbered_as_in_the_file(recall: Recall) -> None:
    with recall:
        view = pack_context(recall, "line_numbers=true")

    assert {block["text"].endswith("\n") for block in view["blocks"]} == {True, False}
    for block in view["blocks"]:
        numbered = view["text"][slice(*block["text_range"])]
        lines = numbered.removesuffix("\n").split("\n")
        assert [line.partition("\t")[0] for line in lines] == [
            str(number) for number in range(block["line_start"], block["line_end"] + 1)
        ]
        assert re.sub(r"(?m)^[0-9]+\t", "", numbered) == block["text"]


MAPPED = {
    "page.html": ("<html>\n<head>\n</head>\n<h1>Wombat</h1>\n\n\n<p>It digs\nburrows.</p></html>\n", "#Wombat"),
    "lab.ipynb": ('{"cells": [{"cell_type": "markdown", "source": ["# Wombat\\n", "It digs."]}]}', "#cell=1"),
    "notes.jsonl": ('\n{"id": "w", "text": "The wombat\\ndigs."}\n', "#w:1-2"),
    "talk.srt": ("1\n00:00:01,000 --> 00:00:02,000\nThe wombat\ndigs.\n", "#cue=1"),
    "chat.json": ('[{"role": "user", "content": "Which wombat\\ndigs?"}]', "#turn=1"),
    "wombat.1": (".TH WOMBAT 1\n.SH NAME\nwombat \\- dig\n.SH HOW\nA wombat\ndigs\nburrows.\n", ":2-5"),
}


def test_converted_text_has_a_place_in_its_file(tmp_path: Path) -> None:
    for number, (name, (text, place)) in enumerate(MAPPED.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text)
        Recall.init(str(folder))
        path, _, lines = f"{name}{place}".rpartition(":" if ":" in place else "#")
        with Recall.open(str(folder)) as recall:
            recall.index(str(folder / name))
            found = recall.get(f"{name}{place}")["found"]["text"]
            for form in ("plain", "markdown", "xml"):
                view = recall.context("wombat", Ask(settings=("line_numbers=true",)), Pack(format=form))["context"]

                (block,) = view["blocks"]
                shown = f'path="{path}" lines="{lines}"' if form == "xml" else f"{name}{place}"
                assert view["text"][slice(*block["text_range"])] == block["text"], (name, form)
                assert shown in view["text"].partition("\n")[0], (name, form)
                assert view["chunks"][0]["passage"]["text"] in found, (name, form)


def test_each_block_gives_the_position_of_its_text(recall: Recall) -> None:
    with recall:
        for form, budget in product(("plain", "markdown", "xml"), (9, 14, 200)):
            view = pack_context(recall, "min_fragment=1", format=form, budget_tokens=budget, counter="whitespace")

            assert view["blocks"], (form, budget)
            for block in view["blocks"]:
                assert view["text"][slice(*block["text_range"])] == block["text"], (form, budget)
            ranges = [block["text_range"] for block in view["blocks"]]
            assert all(one[1] < other[0] for one, other in pairwise(ranges)), (form, budget)


def test_lean_context_contains_every_text_once(recall: Recall) -> None:
    with recall:
        full, lean = pack_context(recall), pack_context(recall, lean=True)

    for part in (*full["chunks"], *full["blocks"]):
        del part["text"]
    assert lean == full


def test_receipt_of_a_lean_numbered_xml_context_is_replayed(recall: Recall, tmp_path: Path) -> None:
    target = tmp_path / "receipt.json"
    with recall:
        recall.close()
    asked = ("context", "retry", "--format", "xml", "--numbers", "--lean", "--json", "--receipt", str(target))

    assert run("--store", str(tmp_path), *asked)[0] == 0

    code, out, _ = run("--store", str(tmp_path), "replay", str(target), "--json")
    assert (code, json.loads(out)["replay"]["identical"]) == (0, True)


def test_json_format_is_the_json_answer_and_allows_lean(recall: Recall, tmp_path: Path) -> None:
    with recall:
        recall.close()

    code, out, _ = run("--store", str(tmp_path), "context", "retry", "--format", "json", "--lean")
    assert (code, "text" in json.loads(out)["context"]["blocks"][0]) == (0, False)
    code, _, err = run("--store", str(tmp_path), "context", "retry", "--lean")
    assert code == 2
    assert "--json" in err
