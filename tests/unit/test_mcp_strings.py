"""What a server tells its clients speaks of documents by the names that clients know, and of what clients can do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.adapters.mcp import http, told
from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.api.recall import Recall
from recall_core.api.serving.names import CallerNames
from recall_core.deadline import check, within
from recall_core.errors import ConfigError, TimedOut, UnknownTarget, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store of notes in it and a wiki beside it, of which a page has changed since."""
    (tmp_path / "home" / "notes").mkdir(parents=True)
    (tmp_path / "wiki").mkdir()
    (tmp_path / "home" / "notes" / "a.md").write_text("A deploy is undone.\n", encoding="utf-8")
    (tmp_path / "wiki" / "b.md").write_text("The village opens.\n", encoding="utf-8")
    Recall.init(str(tmp_path / "home"), embedding="hash")
    with Recall.open(str(tmp_path / "home")) as recall:
        recall.index(str(tmp_path / "home" / "notes"), str(tmp_path / "wiki"))
    (tmp_path / "wiki" / "b.md").write_text("The village opens late.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def recall(folder: Path) -> Iterator[Recall]:
    with Recall.open(str(folder / "home")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search", {"query": "village"}),
        ("context", {"query": "village"}),
        ("get", {"targets": ["wiki/b.md"]}),
        ("memory_search", {"query": "village"}),
    ],
)
def test_a_warning_names_a_document_as_the_answer_does(
    recall: Recall, folder: Path, tool: str, given: dict[str, object]
) -> None:
    text = BY_NAME[tool].answer(recall, given, Limits()).text

    assert "W_STALE: wiki/b.md " in text
    assert str(folder) not in text


@pytest.mark.parametrize("target", ["notes/a.md", "notes/a.md:1", "a.md"])
def test_explain_says_that_a_document_is_no_chunk_in_the_words_of_who_asked(recall: Recall, target: str) -> None:
    with pytest.raises(UnknownTarget, match=rf"^{target} is a document, or a part of one, not a chunk\.$") as caught:
        BY_NAME["explain"].answer(recall, {"query": "deploy", "target": target}, Limits())

    assert caught.value.hint == "give a chunk's id, as search shows it"


def test_the_hint_of_a_call_that_took_too_long_names_no_argument_that_no_tool_has() -> None:
    with pytest.raises(TimedOut) as caught, within(1, clock=iter([0.0, 2.0, 2.0, 2.0]).__next__):
        check()

    hint = told.failure(caught.value)["hint"]
    assert "{" not in hint
    assert "--call-timeout" in hint


def test_the_hint_of_settings_that_wait_is_what_a_person_types() -> None:
    error = ConfigError("untrusted_config", "It would send texts.", hint="recall trust, or recall search --bm25 …")

    assert told.disabled(error)["action"] == "ask the user to run: recall trust, in the folder of this recall.toml"


def test_instructions_name_folders_from_the_base(recall: Recall, folder: Path) -> None:
    text = told.instructions(recall, CallerNames(recall, str(folder / "home" / "notes")))

    assert "By folder: a.md (1).\nElsewhere: wiki/ (1).\n" in text


def test_a_port_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"^--port goes from 0 to 65535, not 65536\.$"):
        http.door(65_536, has_token=False)
