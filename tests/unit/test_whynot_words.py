"""The command of a fix: settings by their names in recall.toml, and the words of the query as typed."""

from __future__ import annotations

from recall_core.adapters.whynot import command_of
from recall_core.contract.explaining import FixView


def fix(command: str) -> FixView:
    return FixView(kind="weight", change="", command=command)  # type: ignore[typeddict-item]


def test_settings_have_their_recall_toml_names() -> None:
    command = "recall search 'a bm25_weight=1' --set bm25_weight=0.1 --set vector_weight=0.9 --set pool=50"

    assert command_of(fix(command)) == (
        "recall search 'a bm25_weight=1' --set lexical_weight=0.1 --set semantic_weight=0.9 --set pool=50"
    )
