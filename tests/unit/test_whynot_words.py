"""The text of a fix: settings by their names in recall.toml, and the words of the query as typed."""

from __future__ import annotations

from recall_core.adapters.whynot import change_of, command_of
from recall_core.contract.explaining import FixView


def fix(change: str, command: str) -> FixView:
    return FixView(kind="weight", change=change, command=command)  # type: ignore[typeddict-item]


def test_settings_have_their_recall_toml_names() -> None:
    command = "recall search 'a bm25_weight=1' --set bm25_weight=0.1 --set vector_weight=0.9 --set pool=50"

    assert command_of(fix("", command)) == (
        "recall search 'a bm25_weight=1' --set lexical_weight=0.1 --set semantic_weight=0.9 --set pool=50"
    )


def test_change_is_described_in_words_of_the_workbench() -> None:
    assert change_of(fix("weigh meaning 0.9 of 1 instead of 0.3", "")) == "semantic weight 0.9 of 1 instead of 0.3"
    assert change_of(fix("drop doc.tag = 'x'", "")) == "ask without doc.tag = 'x'"
    assert change_of(fix("add the word drop", "")) == "add the word drop"
