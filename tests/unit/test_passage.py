"""The passage of a hit: the matches that the index counts, the shown window, and where it is reported."""

from __future__ import annotations

import json
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from recall_core.adapters import searching
from recall_core.adapters.flags import ask_of
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.contract.responses import SearchResponse
from recall_core.errors import UnknownTarget, UsageError
from recall_core.retrieve.passage import best_window
from recall_core.store.port import Instance
from recall_core.store.sqlite.schema import AS_NEWER, MIGRATIONS, migrate
from recall_core.types import LexicalQuery, RawQuery, Root, TermStat
from recall_core.words.question import literal
from tests.builders import memory_store, new_file, put

FILLER = "nothing to see here, or there"
LONGEST = 240
"""Code points of a passage as documented in docs/cli.md, to detect an accidental change in the code."""


def count_matches(text: str, query: LexicalQuery | str, *, title: str = "") -> list[tuple[str, str]]:
    """Return the matches that the index counts in this text, as written, and the phrase of each."""
    store = memory_store()
    put(store, new_file("a.txt", [text], title=title), new_file("b.txt", [FILLER]))
    asked = literal(query, analyzer=store.analyzer, match="any") if isinstance(query, str) else query
    terms = store.term_stats(asked)
    rows = store.fetch([key.rowid for key in store.candidates(None)])
    found, others = store.instances(asked, terms, rows)
    assert others == ()
    return [
        ((title if each.in_title else text)[each.start : each.end], terms[each.phrase].text + "^" * each.in_title)
        for each in found
    ]


def test_matches_are_what_the_index_counts() -> None:
    for text, query, found in [
        ("She SWIMS; he swam. Swimming!", "swim", [("SWIMS", "swim"), ("Swimming", "swim")]),
        ("Le café, un cafe\u0301.", "cafe", [("café", "cafe"), ("cafe\u0301", "cafe")]),
        ("a token\nbudget, a budget", '"token budget"', [("token\nbudget", '"token budget"')]),
        ("打开文件, ok 件", "件 ok", [("件", "件"), ("ok", "ok"), ("件", "件")]),
        ("naïve 打开文件 x", '"开文"', [("开文", '"开文"')]),
        ("𝒳 😀 fish 😀 鱼 fish", "fish", [("fish", "fish"), ("fish", "fish")]),
        ("fishing for fish", "fish fishing", [("fishing", "fish"), ("fish", "fish")]),
        ("swims, swimmer", RawQuery("swim*"), [("swims", "swim"), ("swimmer", "swim")]),
        ("red blue x x x x x blue", RawQuery("NEAR(red blue, 1)"), [("red", "red"), ("blue", "blue")]),
        ("red blue", RawQuery("red OR (blue AND green)"), [("red", "red")]),
        ("fish and fish", RawQuery("^fish"), [("fish", "fish")]),
        ("red fish", RawQuery("title : fish OR red"), [("red", "red")]),
        ("blue fish", RawQuery("body : fish NOT red"), [("fish", "fish")]),
    ]:
        assert count_matches(text, query) == found, (text, query, found)


def test_title_matches_are_separate_with_their_own_positions() -> None:
    found = count_matches("Of fish.", "fish 鱼", title="Ein 鱼, ein Fish")

    assert found == [("鱼", "鱼^"), ("Fish", "fish^"), ("fish", "fish")]


def test_pasted_text_is_searched_in_parts() -> None:
    words = [f"w{n}" for n in range(1500)]
    text = " ".join(words[::7])

    assert [slice_ for slice_, _ in count_matches(text, " ".join(words + words))] == words[::7]
    assert [slice_ for slice_, _ in count_matches(text, RawQuery(" OR ".join(words)))] == words[::7]


def test_row_that_lacks_a_required_word_has_no_matches() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["red fish", "red"]))
    asked = literal("red fish", analyzer=store.analyzer, match="all")
    rows = store.fetch([key.rowid for key in store.candidates(None)])

    found = store.instances(asked, store.term_stats(asked), rows)

    assert [len(each) for each in found] == [2, 0]


def window(text: str, *words: str, weights: tuple[float, ...] = ()) -> str | None:
    """Return the window of a text in which every occurrence of these words counts; the default weight is 1."""
    terms = [TermStat(word, 1, weight) for word, weight in zip(words, weights or (1.0,) * len(words), strict=True)]
    found = [
        Instance(phrase, at, at + len(word))
        for phrase, word in enumerate(words)
        for at in range(len(text))
        if text.startswith(word, at)
    ]
    best = best_window(text, found, terms)
    return None if best is None else text[slice(*best)]


def test_window_is_the_shortest_run_with_most_weight() -> None:
    text = "Red here. Or red and blue. And on\n  green follows.\n\nBlue again, and red."

    assert window(text, "red", "blue") == "Or red and blue."
    assert window(text, "red", "green") == "green follows.\n\nBlue again, and red."
    assert window(text, "red", "on", "green") == "Or red and blue. And on\n  green follows."
    assert window(text, "Red", "green", weights=(3, 1)) == "Red here. Or red and blue. And on\n  green follows."
    assert window(text, "purple") is None


def test_word_counts_once_and_first_of_equals_wins() -> None:
    assert window("one fish\nfish fish fish\nfish one", "fish", "one") == "one fish"
    assert window("a fish\nfish\nfish", "fish") == "fish"


def test_long_line_is_cut_at_blanks_around_its_matches() -> None:
    text = "word " * 200 + "needle and thread " + "word " * 200
    cut = window(text, "needle", "thread")

    assert cut is not None
    assert len(cut) <= LONGEST
    assert cut.startswith("word ")
    assert cut.endswith(" word")
    assert 80 < cut.index("needle") < 160


def test_long_line_filled_with_matches_is_cut_at_them() -> None:
    text = "Xlong words " + "needle " + "y" * 225 + " thread Zmore words " + "word " * 99

    assert window(text, "needle", "thread") == text[12:251]


def test_line_without_blanks_is_cut_between_graphemes() -> None:
    flag = "\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}"
    cut = window(flag * 200 + "needle" + flag * 200, "needle")

    assert cut is not None
    assert len(cut) <= LONGEST
    assert cut.replace("needle", "").replace(flag, "") == ""


def test_match_across_lines_is_shown_even_if_too_long() -> None:
    text = "a " * 100 + "token\nbudget" + " b" * 100
    found = [Instance(0, 200, 212)]
    start, end = best_window(text, found, [TermStat("token budget", 1, 1.0)]) or (0, 0)

    assert end - start <= LONGEST
    assert "token\nbudget" in text[start:end]


def test_overlong_match_is_cut() -> None:
    text = f"short\n{'x' * 1000}\nshort"

    assert best_window(text, [Instance(0, 6, 1006)], [TermStat("x", 1, 1.0)]) == (6, 6 + LONGEST)


GUIDE = """# Zero-downtime deploys

Ship in small steps.
\tSign every commit with a key. Then
roll the release back at once if the canary alarms.

## Rollback

Restore the older image.
"""


@pytest.fixture
def recall(tmp_path: Path) -> Recall:
    (tmp_path / "guide.md").write_text(GUIDE, encoding="utf-8")
    (tmp_path / "other.md").write_text("# Canary\n\nBirds sing, and miners listen.\n", encoding="utf-8")
    Recall.init(str(tmp_path), settings=("chunk_tokens=60", "overlap_tokens=10"))
    recall = Recall.open(str(tmp_path))
    for _ in recall.add([str(tmp_path)], Root("")):
        pass
    return recall


def passage_of(recall: Recall, words: str, path: str, **asked: Any) -> Any:
    results = recall.search(words, Ask(**asked))["results"]
    return next(each["passage"] for each in results if each["doc"]["path"] == path)


def test_passage_is_a_verbatim_slice_with_true_lines(recall: Recall) -> None:
    with recall:
        passage = passage_of(recall, "canary commit", "guide.md")

    assert GUIDE[passage["offset"] : passage["end"]] == passage["text"]
    assert (passage["line_start"], passage["line_end"]) == (4, 5)
    assert (
        passage["text"] == "Sign every commit with a key. Then\nroll the release back at once if the canary alarms."
    )
    matches = [(GUIDE[start:end], term) for start, end, term in passage["matches"]]
    assert matches == [("commit", "commit"), ("canary", "canary")]


def test_title_matches_have_title_positions(recall: Recall) -> None:
    with recall:
        passage = passage_of(recall, "canary", "other.md")

    assert passage["title_matches"] == [[0, 6, "canary"]]


def test_embedder_chooses_the_unit_without_a_match(recall: Recall) -> None:
    with recall:
        passage = passage_of(recall, "comitted keyes", "guide.md")

    assert (passage["text"], passage["matches"]) == ("Sign every commit with a key.", [])


def test_first_non_heading_unit_is_shown_without_any_match(recall: Recall) -> None:
    with recall:
        passage = passage_of(recall, "qqqq xxxx", "guide.md", mode="semantic")

    assert passage["text"] == "Ship in small steps."


def test_no_signal_or_no_text_means_no_passage(recall: Recall) -> None:
    with recall:
        structured = recall.query("SELECT * FROM chunk")
        chosen = recall.query("SELECT doc.path, score FROM chunk USING lexical('canary')")
        with_text = recall.query("SELECT doc.path, chunk.text FROM chunk USING lexical('canary')")
        documents = recall.query("SELECT * FROM doc USING lexical('canary')")

    assert not any("passage" in each for each in [*structured["results"], *chosen["results"]])
    assert all("passage" in each for each in [*with_text["results"], *documents["results"]])


def test_context_explain_and_whynot_show_the_same_passage(recall: Recall) -> None:
    with recall:
        (first, *_) = recall.search("canary commit")["results"]
        packed = recall.context("canary commit", Ask(), Pack())["context"]["chunks"]
        explained = recall.explain("canary commit", first["chunk"]["id"])["explanation"]["chunk"]
        missed = recall.why_not("canary commit", first["chunk"]["id"])["whynot"]["target"]["chosen"]

    assert first["passage"] == packed[0]["passage"] == explained["passage"] == missed["passage"]


def test_list_without_passages_has_the_same_rows(recall: Recall) -> None:
    with recall:
        whole, short = (recall.search("canary commit", Ask(passages=wants)) for wants in (True, False))

    assert all("passage" in hit for hit in whole["results"])
    for hit in whole["results"]:
        del hit["passage"]
    assert short["results"] == whole["results"]
    lines = list(searching.hit_lines(cast(SearchResponse, short)))
    assert len(lines) == len(short["results"])
    with pytest.raises(UsageError) as caught:
        ask_of(Namespace(C=2, no_passages=True, set=None))
    assert caught.value.code == "conflicting_flags"


def test_lines_around_a_passage_are_complete_stored_lines(recall: Recall) -> None:
    lines = GUIDE.split("\n")
    with recall:
        one, many = (passage_of(recall, "canary commit", "guide.md", lines_around=n) for n in (1, 99))

    assert one["before"] + one["text"] + one["after"] == "\n".join(lines[2:6])
    assert many["before"] + many["text"] + many["after"] == GUIDE.removesuffix("\n")


def test_passage_is_the_same_cold_warm_and_in_json(recall: Recall) -> None:
    with recall:
        answers = [json.dumps(recall.search("canary commit")["results"]) for _ in range(3)]

    assert len(set(answers)) == 1


RECORDS = [
    {"_id": "a", "title": "On fish", "text": "Fish swim.\nThey do."},
    {"_id": "b", "title": "On birds", "text": "Birds fly."},
]


def write_records(folder: Path, *records: dict[str, str], above: str = "") -> None:
    (folder / "notes.jsonl").write_text(above + "".join(json.dumps(each) + "\n" for each in records))


@pytest.fixture
def records(tmp_path: Path) -> Recall:
    write_records(tmp_path, *RECORDS)
    Recall.init(str(tmp_path))
    recall = Recall.open(str(tmp_path))
    for _ in recall.add([str(tmp_path / "notes.jsonl")], Root("", parser="jsonl")):
        pass
    return recall


def places(recall: Recall) -> dict[str, str | None]:
    found = recall.query("SELECT * FROM chunk")["results"]
    return {each["doc"]["path"]: each["chunk"].get("place") for each in found}


def test_record_is_cited_by_its_line_in_the_file(records: Recall) -> None:
    with records:
        assert places(records) == {"notes.jsonl#a": "line 1", "notes.jsonl#b": "line 2"}
        lines = list(searching.hit_lines(cast(SearchResponse, records.search("birds fly", Ask(k=1)))))

    assert [line.split("  ")[1:] for line in lines[:1]] == [["On birds", "notes.jsonl:2\n"]]
    assert lines[1] == "       Birds fly.\n"


def test_citation_of_a_record_is_a_valid_target(records: Recall) -> None:
    with records:
        found = records.get("notes.jsonl:2")["found"]
        target = records.why_not("birds fly", "notes.jsonl:2")["whynot"]["target"]
        for ask in (records.get, partial(records.why_not, "birds fly")):
            with pytest.raises(UnknownTarget, match=r"^notes\.jsonl has no record with text on line 3\.$"):
                ask("notes.jsonl:3")

    assert (found["doc"]["path"], found["text"]) == ("notes.jsonl#b", "Birds fly.")
    assert (target["kind"], target["chosen"]["path"]) == ("document", "notes.jsonl#b")


def test_moved_record_is_cited_by_its_new_line(records: Recall, tmp_path: Path) -> None:
    with records:
        write_records(tmp_path, *RECORDS, above="\n\n")
        for _ in records.sync():
            pass
        assert places(records) == {"notes.jsonl#a": "line 3", "notes.jsonl#b": "line 4"}
        assert records.store.info().tombstones == 0


def test_store_without_line_numbers_gains_them_by_reparse(records: Recall) -> None:
    with records:
        records.store.db.pragma("query_only", False)
        records.store.db.execute("UPDATE chunk SET place = NULL")
        records.store.db.pragma("query_only", True)
        for reparse, known in ((False, None), (True, "line 1")):
            before = records.stats()["store"]["digest"]
            for _ in records.sync(reparse=reparse):
                pass
            assert places(records)["notes.jsonl#a"] == known
            assert records.stats()["store"]["digest"] == before


def test_places_are_exported(records: Recall, tmp_path: Path) -> None:
    first, second, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl", tmp_path / "other"
    other.mkdir()
    Recall.init(str(other))
    with records, Recall.open(str(other)) as copy:
        for recall, out in ((records, first), (copy, second)):
            if recall is copy:
                recall.import_(first)
            with out.open("w", encoding="utf-8") as stream:
                recall.export(stream)
        assert places(copy) == places(records)

    assert first.read_bytes() == second.read_bytes()


def test_rebuilt_store_keeps_places(records: Recall, tmp_path: Path) -> None:
    with records:
        records.close()
    Recall.recover(str(tmp_path / "recall.db"), str(tmp_path / "new.db"))

    with Recall.open(str(tmp_path / "new.db")) as recall:
        assert set(places(recall).values()) == {"line 1", "line 2"}


@pytest.mark.parametrize("version", [4, 5])
def test_read_only_older_store_is_read_without_places(version: int) -> None:
    db = apsw.Connection(":memory:")
    migrate(db, version=0, steps=MIGRATIONS[:version])
    for view in AS_NEWER.values():
        db.execute(view)

    assert db.execute("SELECT c.rowid, c.place FROM chunk c WHERE c.rowid = 1").fetchall() == []


def test_matches_are_bracketed_on_request_without_common_indentation() -> None:
    text = "  def sign(commit):\n      return key.sign(commit)"
    second = 100 + text.rindex("sign")
    matches = [[106, 110, "sign"], [second, second + 4, "sign"], [second + 3, second + 5, "n("]]
    passage = {
        "text": text[2:], "offset": 102, "end": 100 + len(text), "line_start": 7, "line_end": 8,
        "matches": matches, "title_matches": [],
    }  # fmt: skip
    result = {
        "score": 0.5, "doc": {"path": "a\n.py", "title": ""}, "chunk": {"offset": 100, "text": text, "line_end": 9},
        "passage": passage,
    }  # fmt: skip
    response = cast(SearchResponse, {"results": [result]})

    assert list(searching.hit_lines(response)) == [
        "0.500  a .py:7\n",
        "       def sign(commit):\n",
        "           return key.sign(commit)\n",
    ]
    assert list(searching.hit_lines(searching.put_in_brackets(response)))[1:] == [
        "       def [sign](commit):\n",
        "           return key.[sign(]commit)\n",
    ]


def test_piped_passage_steers_no_terminal() -> None:
    passage = {
        "text": "red \x1b[31m\u2028 alert\r\nnow", "offset": 0, "end": 24, "line_start": 1, "line_end": 2,
        "matches": [], "title_matches": [],
    }  # fmt: skip
    result = {"doc": {"path": "a", "title": ""}, "chunk": {"line_end": 2}, "passage": passage}

    lines = list(searching.hit_lines(cast(SearchResponse, {"results": [result]})))

    assert lines == ["a:1\n", "       red \\x1b[31m\\u2028 alert\n", "       now\n"]
