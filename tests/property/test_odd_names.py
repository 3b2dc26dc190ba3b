"""Promise of every public verb: a non-UTF-8 text or impossible file name gives an answer or a coded error."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_core import Recall, RecallError
from recall_core.errors import UnknownTarget
from recall_core.types import Root
from tests.examples import examples

Verb = Callable[[Recall, str], object]

READING: dict[str, Verb] = {
    "search": lambda recall, text: recall.search(text),
    "search by words": lambda recall, text: recall.search(text, mode="lexical"),
    "search with a filter": lambda recall, text: recall.search("quokka", filter=text),
    "search at a snapshot": lambda recall, text: recall.search("quokka", snapshot=text),
    "search with settings": lambda recall, text: recall.search("quokka", settings=(f"stop_words={text}",)),
    "query": lambda recall, text: recall.query(text),
    "query a path": lambda recall, text: recall.query(f"FILTER doc.path = '{text}'"),
    "context": lambda recall, text: recall.context(text, budget_tokens=100),
    "context with a pin": lambda recall, text: recall.context("quokka", budget_tokens=100, pins=(text,)),
    "context without a chunk": lambda recall, text: recall.context("quokka", budget_tokens=100, drops=(text,)),
    "context by a counter": lambda recall, text: recall.context("quokka", budget_tokens=100, counter=text),
    "explain": lambda recall, text: recall.explain("quokka", text),
    "explain beside": lambda recall, text: recall.explain("quokka", chunk_of(recall), versus=text),
    "explain words": lambda recall, text: recall.explain(text, chunk_of(recall)),
    "why_not": lambda recall, text: recall.why_not("quokka", text),
    "why_not of a text": lambda recall, text: recall.why_not("quokka", f'"{text}"'),
    "why_not of words": lambda recall, text: recall.why_not(text, "a.md"),
    "trace": lambda recall, text: recall.trace(text),
    "get": lambda recall, text: recall.get(text),
    "get lines": lambda recall, text: recall.get(f"{text}:1-2"),
    "get a place": lambda recall, text: recall.get(f"a.md#page={text}"),
    "list": lambda recall, text: recall.list(text),
    "list by glob": lambda recall, text: recall.list(glob=f"{text}*"),
    "replay": lambda recall, text: recall.replay(text),
    "replay a file": lambda recall, text: recall.replay(Path(text)),
    "under": lambda recall, text: recall.under([text]),
    "report": lambda recall, text: recall.report(text),
    "sweep": lambda recall, text: recall.sweep(text),
    "check_rql": lambda recall, text: recall.check_rql(text),
    "format_rql": lambda recall, text: recall.format_rql(text),
    "explain_rql": lambda recall, text: recall.explain_rql(f"SEARCH '{text}'"),
    "complete_rql": lambda recall, text: recall.complete_rql(text, len(text)),
    "verify": lambda recall, text: recall.verify(text),
    "check_fixtures": lambda recall, text: recall.check_fixtures(Path(text)),
    "calibrate_sparse": lambda recall, text: recall.calibrate_sparse(queries=Path(text)),
    "open": lambda recall, text: Recall.open(text),
}
WRITING: dict[str, Verb] = {
    "index": lambda recall, text: recall.index(text),
    "index with a tag": lambda recall, text: recall.index("a.md", template=Root("", tags=(text,))),
    "index with a source": lambda recall, text: recall.index("a.md", template=Root("", source=text)),
    "index with metadata": lambda recall, text: recall.index("a.md", template=Root("", meta=((text, text),))),
    "index by a parser": lambda recall, text: recall.index("a.md", template=Root("", parser=text)),
    "index in an encoding": lambda recall, text: recall.index("a.md", template=Root("", encoding=text)),
    "index by a glob": lambda recall, text: recall.index("docs", template=Root("", globs=(text,))),
    "index without": lambda recall, text: recall.index("docs", template=Root("", ignores=(text,))),
    "add content": lambda recall, text: list(recall.add((text,), content=b"words")),
    "add content with a tag": lambda recall, text: list(
        recall.add(("x/y.md",), Root("", tags=(text,)), content=b"words")
    ),
    "remove": lambda recall, text: recall.remove([text], dry_run=True),
    "remove by a glob": lambda recall, text: recall.remove([f"{text}*"], dry_run=True),
    "edit a root": lambda recall, text: recall.roots(edit=1, changes={"tags": (text,)}),
    "edit metadata": lambda recall, text: recall.roots(edit=1, changes={"meta": (("a", text),)}),
    "reembed": lambda recall, text: list(recall.reembed(text)),
    "import": lambda recall, text: recall.import_(Path(text)),
    "judge_import": lambda recall, text: recall.judge_import(queries=Path(text), qrels=None),
}
ODD = st.text(st.sampled_from("\ud800\udfff\udcff\0ab/*:'\"é\n"), min_size=1, max_size=6).filter(
    lambda text: text.strip("/")  # the folder of all files is not an odd name, and takes long to read
)


def chunk_of(recall: Recall) -> str:
    return str(recall.search("quokka")["results"][0]["chunk"]["id"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("home")
    (base / "docs").mkdir()
    (base / "a.md").write_text("# A\n\na quokka smiles\n")
    (base / "docs/b.md").write_text("a wombat digs\n")
    Recall.init(str(base), embedding="hash")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        yield base


@pytest.fixture(scope="module")
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(start=home) as opened:
        opened.index("a.md", "docs")
        yield opened


@given(text=ODD)
@example(text="\ud800")
@example(text="a\udcffb")
@example(text="a\0b")
@examples(8)
def test_odd_name_is_answered_or_refused_with_a_code(recall: Recall, text: str) -> None:
    for verb, act in (READING | WRITING).items():
        try:
            with suppress(RecallError):
                act(recall, text)
        except Exception as error:
            raise AssertionError(verb) from error


def test_impossible_name_is_an_unknown_target(recall: Recall) -> None:
    verbs = ("get", "get lines", "explain", "why_not", "why_not of a text", "remove")
    for verb, text in product(verbs, ("nowhere.md", "\ud800", os.fsdecode(b"a\xffb"))):
        with pytest.raises(UnknownTarget) as caught:
            (READING | WRITING)[verb](recall, text)
        assert caught.value.code == "unknown_target", (verb, text)


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
@pytest.mark.parametrize("verb", ["init", "backup", "recover"])
def test_impossible_file_name_is_refused_with_a_code(recall: Recall, verb: str, text: str) -> None:
    making: dict[str, Callable[[], object]] = {
        "init": lambda: Recall.init(text),
        "backup": lambda: recall.backup(text),
        "recover": lambda: Recall.recover("nowhere", text),
    }
    with pytest.raises(RecallError):
        making[verb]()


def test_folder_name_outside_utf8_is_refused_for_a_store(home: Path) -> None:
    with pytest.raises(RecallError) as caught:
        Recall.init(os.fsdecode(b"a\xffb"))

    assert caught.value.code == "folder_unusable"
    assert not (home / os.fsdecode(b"a\xffb")).exists()
