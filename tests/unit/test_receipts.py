"""Receipts: an identical answer is reported as such, a changed one with its changes; no content is trusted."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api import answers as made
from recall_core.api.recall import Recall
from recall_core.errors import RecallError, UsageError
from recall_core.maintain.receipts import read_receipt, seal_of
from recall_core.types import Root

FISH = {"a": "red fish, blue fish", "b": "one fish. fish fish", "c": "nothing of the kind"}
RANKED = "SELECT * FROM chunk USING lexical('fish'), semantic('fish') LIMIT 2 OFFSET 1"

ANSWERS: dict[str, Callable[[Recall], Any]] = {
    "search": lambda recall: recall.search("fish", receipt=True),
    "search in vain": lambda recall: recall.search("zzz", mode="lexical", receipt=True),
    "search with everything": lambda recall: recall.search(
        "fish",
        k=1,
        mode="lexical",
        filter="doc.path LIKE '%.txt'",
        settings=("fusion=rrf", "title_weight=2"),
        exact=True,
        explain=True,
        receipt=True,
    ),
    "query": lambda recall: recall.query(RANKED, receipt=True),
    "query of few fields": lambda recall: recall.query(
        "SELECT doc.path FROM chunk USING lexical('fish')", receipt=True
    ),
    "query of documents": lambda recall: recall.query("SELECT * FROM doc ORDER BY doc.path DESC", receipt=True),
    "query with options": lambda recall: recall.query(
        "SELECT * FROM chunk USING lexical('fish') OPTION min_score 0.1", settings={"max_limit": 1}, receipt=True
    ),
    "context": lambda recall: recall.context("fish", budget_tokens=9, receipt=True),
    "context by value": lambda recall: recall.context("fish", settings={"pack": "optimal"}, receipt=True),
    "context with everything": lambda recall: recall.context(
        "fish",
        budget_tokens=30,
        diversity=1,
        counter="approx",
        format="markdown",
        pins=(recall.search("nothing")["results"][0]["chunk"]["id"][:8],),
        receipt=True,
    ),
    "context of a query": lambda recall: recall.context(rql="SELECT * FROM chunk", budget_tokens=30, receipt=True),
    "context of documents": lambda recall: recall.context(
        rql="SELECT * FROM doc USING semantic('fish')", budget_tokens=30, receipt=True
    ),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("filled")
    for name, text in FISH.items():
        (template / f"{name}.txt").write_text(text)
    with Recall.open(str(template / "recall.db"), create=True) as recall:
        recall.index(*(str(template / f"{name}.txt") for name in FISH))
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(str(home / "recall.db")) as opened:
        yield opened


def text_of(response: Any) -> str:
    text: str = response["receipt"]["text"]
    return text


def replay(recall: Recall, receipt: str) -> tuple[bool, list[tuple[str, ...]]]:
    """Return whether the answer is identical, and the changes without their values and row changes."""
    view = recall.replay(receipt)["replay"]
    names = ("kind", "what", "key", "path")
    told = [tuple(str(change[name]) for name in names if name in change) for change in view["changes"]]  # type: ignore[literal-required]
    return view["identical"], [each for each in told if each[0] not in ("row", "total")]


def test_repeated_answer_is_identical(recall: Recall) -> None:
    for name, asked in ANSWERS.items():
        receipt = text_of(asked(recall))

        assert recall.replay(receipt)["replay"]["changes"] == [], name
        assert replay(recall, receipt) == (True, []), name
        assert text_of(asked(recall)) == receipt, name


def test_receipt_changes_no_byte_of_its_answer(recall: Recall) -> None:
    for name in ["search", "query", "context"]:
        answer = ANSWERS[name](recall)
        plain = {
            "search": lambda: recall.search("fish"),
            "query": lambda: recall.query(RANKED),
            "context": lambda: recall.context("fish", budget_tokens=9),
        }[name]()

        del answer["receipt"]
        assert list(answer) == list(plain), name
        assert {**answer, "stats": 0} == {**plain, "stats": 0}, name


def test_edited_document_is_named(home: Path, recall: Recall) -> None:
    receipts = [text_of(recall.search("fish", receipt=True)), text_of(recall.context("fish", receipt=True))]
    (home / "a.txt").write_text("red fish, green fish")
    recall.index(str(home / "a.txt"))

    for receipt in receipts:
        identical, changes = replay(recall, receipt)
        assert not identical
        assert ("document", "edited", "a.txt") in changes
    assert ("context", "sha256") in changes


def test_deleted_document_is_named(recall: Recall) -> None:
    receipt = text_of(recall.search("fish", receipt=True))
    recall.remove(["b.txt"])

    assert replay(recall, receipt) == (False, [("store",), ("document", "deleted", "b.txt")])
    rows = [change for change in recall.replay(receipt)["replay"]["changes"] if change["kind"] == "row"]
    assert {change["what"] for change in rows} >= {"gone"}  # type: ignore[typeddict-item]


def test_relabelled_document_is_named_with_its_changes(home: Path, recall: Recall) -> None:
    receipt = text_of(recall.search("fish", receipt=True))
    for _ in recall.add([str(home / "a.txt")], Root("", tags=("draft",), source="here")):
        pass

    view = recall.replay(receipt)["replay"]
    assert not view["identical"]
    told = [change for change in view["changes"] if change["kind"] == "document"]
    assert told == [{"kind": "document", "what": "relabelled", "path": "a.txt", "fields": ["source", "tags"]}]


def test_changed_setting_is_named_with_its_values(home: Path, recall: Recall) -> None:
    receipt = text_of(recall.search("fish", receipt=True))
    other = recall.under(["title_weight=1.5"])

    view = other.replay(receipt)["replay"]
    assert not view["identical"]
    assert view["changes"][0] == {"kind": "setting", "key": "title_weight", "before": 3.0, "after": 1.5}


def test_irrelevant_settings_do_not_change_the_result(recall: Recall) -> None:
    receipt = text_of(recall.search("fish", receipt=True))

    assert replay(recall.under(["budget_tokens=7", "max_limit=3"]), receipt) == (True, [])


def test_another_embedder_is_named(recall: Recall) -> None:
    receipt = text_of(recall.search("fish", receipt=True))
    for _ in recall.reembed("hash", {"embedding_dim": 64}):
        pass

    identical, changes = replay(recall, receipt)
    assert not identical
    assert ("embedder",) in changes


def test_unrelated_new_document_is_reported_but_answer_is_identical(home: Path, recall: Recall) -> None:
    receipt = text_of(recall.query("SELECT * FROM chunk FILTER doc.path = 'a.txt'", receipt=True))
    (home / "d.txt").write_text("more fish")
    recall.index(str(home / "d.txt"))

    assert replay(recall, receipt) == (True, [("store",)])


def test_another_version_is_reported_but_the_answer_is_identical(
    recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = text_of(recall.search("fish", receipt=True))
    monkeypatch.setattr(made, "__version__", "99")

    assert replay(recall, receipt) == (True, [("version",)])


def test_answer_is_identical_after_compact_and_from_an_import(home: Path, recall: Recall, tmp_path: Path) -> None:
    recall.remove(["b.txt"])
    written = [text_of(ask(recall)) for ask in ANSWERS.values()]
    recall.compact()
    with (home / "all.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        recall.export(out)

    with Recall.open(str(tmp_path / "other" / "recall.db"), create=True) as other:
        other.import_(home / "all.jsonl")
        for store in (recall, other):
            assert [replay(store, receipt) for receipt in written] == [(True, [])] * len(written)


def test_missing_pinned_chunk_is_a_change_not_an_error(recall: Recall) -> None:
    receipt = text_of(ANSWERS["context with everything"](recall))
    recall.remove(["c.txt"])

    assert ("document", "deleted", "c.txt") in replay(recall, receipt)[1]


def test_receipt_contains_no_text(recall: Recall) -> None:
    for ask in ANSWERS.values():
        assert "kind" not in text_of(ask(recall))


def reseal(receipt: str, change: Callable[[Any], Any]) -> str:
    """Return the receipt as forged with a valid seal."""
    body = json.loads(receipt)
    change(body)
    body["sha256"] = seal_of(body)
    return json.dumps(body, sort_keys=True, indent=1) + "\n"


def refusal(recall: Recall, receipt: str) -> RecallError:
    with pytest.raises(RecallError) as caught:
        recall.replay(receipt)
    assert caught.value.exit_code == 2
    return caught.value


def test_receipt_cannot_choose_who_reads_the_texts(recall: Recall) -> None:
    words = text_of(recall.search("fish", receipt=True))
    rql = text_of(recall.query(RANKED, receipt=True))

    for reranker in ["openai", "ollama", "onnx:/etc", "sentence-transformers", "a-plug-in"]:
        setting, text = {"rerank": reranker}, f"{RANKED} OPTION rerank '{reranker}'"
        asked = reseal(words, lambda body, setting=setting: body["question"]["settings"].update(setting))
        assert refusal(recall, asked).code == "untrusted_receipt", reranker
        option = reseal(rql, lambda body, text=text: body["question"].update(text=text))
        assert refusal(recall, option).code in ("untrusted_receipt", "bad_option", "unknown_reranker"), reranker


def test_configured_reranker_is_used_again(home: Path) -> None:
    (home / "recall.toml").write_text('rerank = "hash"\n')
    with Recall.open(str(home)) as recall:
        receipt = text_of(recall.search("fish", receipt=True))

        assert json.loads(receipt)["settings"]["rerank"] == "hash"
        assert replay(recall, receipt) == (True, [])


def test_receipt_cannot_choose_a_file_to_count_with(recall: Recall) -> None:
    receipt = text_of(recall.context("fish", budget_tokens=9, receipt=True))
    forged = reseal(receipt, lambda body: body["question"]["packing"].update(counter="hf:/etc/passwd"))

    error = refusal(recall, forged)
    assert (error.code, error.message) == (
        "untrusted_receipt",
        "The receipt asks for the counter 'hf:/etc/passwd', which only you can choose.",
    )


FORGED: dict[str, Callable[[Any], Any]] = {
    "a key that no receipt has": lambda body: body.update(more=1),
    "a key of a row that none has": lambda body: body["rows"][0].update(os_path="/etc/passwd"),
    "a key that is missing": lambda body: body.pop("plan"),
    "a value of another type": lambda body: body.update(total="3"),
    "a mode that is none": lambda body: body["question"].update(mode="all"),
    "half a character": lambda body: body["rows"][0].update(path="\ud800"),
    "another format": lambda body: body.update(recall_receipt=0),
    "a newer format": lambda body: body.update(recall_receipt=2),
    "a format that is no number": lambda body: body.update(recall_receipt="1"),
}


def test_receipt_of_another_shape_is_refused(recall: Recall) -> None:
    receipt = text_of(recall.search("fish", receipt=True))

    for name, forge in FORGED.items():
        error = refusal(recall, reseal(receipt, forge))

        assert error.code == "bad_receipt", name
        assert ("newer Recall (format 2, this one reads 1)" in error.message) == (name == "a newer format"), name


def test_bytes_that_are_not_a_receipt_are_refused() -> None:
    for raw in [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"recall_receipt": 1}',
        b'{"a":' + b"9" * 9000,
    ]:
        with pytest.raises(UsageError) as caught:
            read_receipt(raw)

        assert caught.value.code == "bad_receipt", raw


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def test_receipt_file_is_complete_and_owner_only(here: Path) -> None:
    code, out, _ = run("search", "fish", "--receipt", "r.json", "--json")

    assert code == 0
    receipt = here / "r.json"
    assert stat.S_IMODE(receipt.stat().st_mode) == 0o600
    assert receipt.stat().st_nlink == 1
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []
    assert json.loads(out)["receipt"] == {"sha256": json.loads(receipt.read_text())["sha256"], "path": "r.json"}
    assert run("replay", "r.json")[0] == 0


def test_existing_receipt_file_is_not_overwritten_and_stops_the_answer(here: Path) -> None:
    (here / "notes.md").write_text("mine")
    (here / "link").symlink_to("nowhere")

    for name in ("notes.md", "link", "."):
        code, out, err = run("context", "fish", "--receipt", name)
        assert (code, out) == (1, "")
        assert err == f"error: {name} already exists.\nhint: --receipt FILE\n"
    assert (here / "notes.md").read_text() == "mine"
    assert not (here / "nowhere").exists()


def test_unwritable_receipt_is_an_error(here: Path) -> None:
    assert run("search", "fish", "--receipt", "-")[0] == 2
    code, out, err = run("query", RANKED, "--receipt", "none/r.json")

    assert (code, out) == (1, "")
    assert err.startswith("error: none/r.json cannot be written: no such file or directory.")


def test_error_leaves_no_receipt(here: Path) -> None:
    assert run("search", "fish", "--filter", "doc.x = 1", "--receipt", "r.json")[0] == 2
    assert run("search", "fish", "--timeout", "0.000001", "--receipt", "r.json")[0] == 1

    assert sorted(path.name for path in here.iterdir()) == ["a.txt", "b.txt", "c.txt", "recall.db", "recall.toml"]


def test_replay_exits_7_and_lists_the_changes(here: Path) -> None:
    run("search", "fish", "--receipt", "r.json", "--set", "title_weight=2")
    seal = json.loads((here / "r.json").read_text())["sha256"]
    run("rm", "b.txt")

    code, out, err = run("replay", "r.json")

    assert (code, err) == (7, "")
    first, store, document, *rows = out.splitlines()
    assert first == f"changed  3 rows  sha256 {seal}"
    assert store.startswith("store     ")
    assert document == "document  deleted  b.txt"
    assert rows[0].startswith("row       gone  b.txt  ")
    assert rows[0].endswith("  1 -> -")
    assert rows[-1] == "total     3 -> 2"


def test_name_in_a_receipt_steers_no_terminal(here: Path) -> None:
    run("search", "fish", "--receipt", "r.json")
    forged = reseal((here / "r.json").read_text(), lambda body: body["rows"][0].update(path="x\n\x1b[2J\u202ey"))
    (here / "f.json").write_text(forged)

    code, out, _ = run("replay", "f.json")

    assert code == 7
    assert "document  deleted  x\\n\\x1b[2J\\u202ey\n" in out


def test_unreadable_receipt_is_refused(here: Path) -> None:
    code, _, err = run("replay", "none.json")

    assert code == 2
    assert err.splitlines()[0] == "error: none.json cannot be read: no such file or directory."
    assert run("replay", ".")[0] == 2
    os.mkfifo(here / "pipe")
    assert run("replay", "pipe")[0] == 2  # the command does not wait for an endless pipe
    assert run("replay", "a.txt")[2].splitlines()[0] == "error: a.txt is not a receipt."
