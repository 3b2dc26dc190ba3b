"""A context for readers and models: its formats, its line numbers, and where each block's text stands in it."""

from __future__ import annotations

import json
from itertools import pairwise
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


def packed(recall: Recall, *settings: str, **options: Any) -> Any:
    return recall.context("retry", Ask(settings=settings), Pack(**options))["context"]


def test_xml_has_a_document_a_block_with_its_names_escaped(recall: Recall) -> None:
    with recall:
        view = packed(recall, format="xml")

    documents = ET.fromstring(f"<all>{view['text']}</all>")
    assert [each.attrib["index"] for each in documents] == ["1", "2"]
    assert {each.attrib["path"] for each in documents} == {f"docs/{name}" for name in NOTES}
    assert [each.text for each in documents] == [f"\n{block['text']}\n" for block in view["blocks"]]


def test_lines_are_numbered_as_in_the_file(recall: Recall) -> None:
    with recall:
        view = packed(recall, "line_numbers=true")

    for block in view["blocks"]:
        numbered = view["text"][slice(*block["text_range"])]
        lines = numbered.removesuffix("\n").split("\n")
        assert [line.partition("\t")[0] for line in lines] == [
            str(number) for number in range(block["line_start"], block["line_end"] + 1)
        ]
        bare = "\n".join(line.partition("\t")[2] for line in lines)
        assert bare == block["text"].removesuffix("\n")


@pytest.mark.parametrize("format_", ["plain", "markdown", "xml"])
@pytest.mark.parametrize("budget_tokens", [9, 14, 200])
def test_each_block_says_where_its_text_stands(recall: Recall, format_: str, budget_tokens: int) -> None:
    with recall:
        view = packed(recall, "min_fragment=1", format=format_, budget_tokens=budget_tokens, counter="whitespace")

    assert view["blocks"]
    for block in view["blocks"]:
        assert view["text"][slice(*block["text_range"])] == block["text"]
    assert all(one["text_range"][1] < other["text_range"][0] for one, other in pairwise(view["blocks"]))


def test_a_lean_context_says_every_text_once(recall: Recall) -> None:
    with recall:
        full, lean = packed(recall), packed(recall, lean=True)

    for part in (*full["chunks"], *full["blocks"]):
        del part["text"]
    assert lean == full


def test_a_receipt_of_a_lean_numbered_xml_context_is_replayed(recall: Recall, tmp_path: Path) -> None:
    target = tmp_path / "receipt.json"
    with recall:
        recall.close()
    asked = ("context", "retry", "--format", "xml", "--numbers", "--lean", "--json", "--receipt", str(target))

    assert run("--store", str(tmp_path), *asked)[0] == 0

    code, out, _ = run("--store", str(tmp_path), "replay", str(target), "--json")
    assert (code, json.loads(out)["replay"]["identical"]) == (0, True)


def test_the_format_json_is_the_answer_in_json_and_lean_is_for_it_alone(recall: Recall, tmp_path: Path) -> None:
    with recall:
        recall.close()

    code, out, _ = run("--store", str(tmp_path), "context", "retry", "--format", "json", "--lean")
    assert (code, "text" in json.loads(out)["context"]["blocks"][0]) == (0, False)
    code, _, err = run("--store", str(tmp_path), "context", "retry", "--lean")
    assert code == 2
    assert "--json" in err
