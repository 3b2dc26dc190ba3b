"""The searched words of a query, and the report of dropped words."""

from __future__ import annotations

from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import SETTINGS, Config
from recall_core.maintain.checks import self_retrieval
from recall_core.types import Root
from recall_core.words.question import literal, telling
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.sixty_questions import QUESTIONS, answering

STORE = memory_store()
WHICH = SETTINGS["stop_words"].choices
CONFIG = Config(embedding_dim=64, stop_words="questions")


def read(text: str, stop_words: str) -> tuple[list[str], list[str]]:
    query = literal(text, analyzer=STORE.analyzer, match="any", stop_words=stop_words)
    return [phrase.text for phrase in query.phrases], list(query.dropped)


@cache
def recall() -> Recall:
    return Recall(Engine(answering(), config=CONFIG, base=Path("/nowhere"), embedder=EMBEDDER))


def test_there_are_sixty_queries() -> None:
    assert len(dict(QUESTIONS)) == 60


def test_intended_row_comes_first() -> None:
    for words, path in QUESTIONS:
        for model in ["fts5", "bm25f"]:
            ask = Ask(mode="lexical", k=1, settings=(f"lexical_model={model}",))
            assert [result["doc"]["path"] for result in recall().search(words, ask)["results"]] == [path], (
                words,
                path,
                model,
            )


def test_each_list_extends_the_previous_list() -> None:
    for text, none, english, closely, dropped in [
        ("find the e.g. fish", "find the e g fish", "find e g fish", "find fish", ["e.g."]),
        ("I'd fish", "i d fish", "d fish", "fish", ["'d"]),
        ("I\u2019ll fish", "i ll fish", "ll fish", "fish", ["\u2019ll"]),
        ("U.S. fish", "u s fish", "u fish", "U.S. fish", []),
        ("a d in ponds", "a d in ponds", "d ponds", "ponds", ["d"]),
        ("vitamin C, T cells", "vitamin c t cells", "vitamin c cells", "vitamin c t cells", []),
        ("C++ x86 foo_b -v c# 3.d", *["c x86 foo b v c 3 d"] * 3, []),
        ("what is c", "what is c", "c", "c", []),
        ("e.g.", "e g", "e g", "e g", []),
        ("用c语", "用 c 语", "用 c 语", "用 c 语", []),
        ("3 p.m. and 3 P.M.", "3 p m and 3 p m", "3 p m 3 p m", "3 3 P.M.", ["p.m."]),
        ('"e.g. I\'d" d fish', '"e.g. I\'d" d fish', '"e.g. I\'d" d fish', '"e.g. I\'d" fish', ["d"]),
        ("a.b.c and ab.cd.ef", "a b c and ab cd ef", "b c ab cd ef", "a.b.c ab cd ef", []),
        ("in /etc. or etc.", "in etc or etc", "etc etc", "etc", ["etc."]),
        ("e.g.x and x.e.g. fish", "e g x and x e g fish", "e g x x e g fish", "e.g.x x.e.g. fish", []),
    ]:
        kept = [" ".join(read(text, which)[0]) for which in WHICH]
        assert kept == [none, english, closely, closely], (text, none, english, closely, dropped)
        assert [read(text, which)[1] for which in WHICH] == [[], [], dropped, dropped], (
            text,
            none,
            english,
            closely,
            dropped,
        )


def test_question_words_are_dropped_from_longer_queries() -> None:
    for text, kept, dropped in [
        ("Find articles using red fish", ["red", "fish"], ["Find", "articles", "using"]),
        ("find articles using fish", ["find", "articles", "using", "fish"], []),
        ("please find the articles using fish", ["please", "find", "articles", "using", "fish"], []),
        ('please find articles using "red fish"', ['"red fish"'], ["please", "find", "articles", "using"]),
        ("find_file and re-use red fish", ["find", "file", "re", "use", "red", "fish"], []),
        ("how do we use red fish.", ["red", "fish"], ["use"]),
        ("which red fish do we use.", ["red", "fish"], ["use"]),
    ]:
        assert read(text, "questions") == (kept, dropped), (text, kept, dropped)
        assert read(text, "leftovers")[1] == [], (text, kept, dropped)


def test_vector_uses_the_complete_text() -> None:
    words = "please find e.g. the fish that I'd like to know"
    whole, kept = (
        recall().search(words, Ask(mode="semantic", settings=(f"stop_words={which}",)))
        for which in ("none", "questions")
    )
    assert whole["results"] == kept["results"]
    assert "dropped" not in kept["query"]


def test_dropped_words_are_echoed_and_can_be_restored() -> None:
    words = "please find e.g. the bees"
    echo = recall().search(words)["query"]
    assert echo["dropped"] == ["find", "e.g."]
    assert echo["plan"]["stop_words"] == "english-127, leftovers-1, questions-1"
    assert recall().context(words, Ask(), Pack(budget_tokens=50))["query"]["dropped"] == ["find", "e.g."]
    assert recall().query("SELECT * FROM chunk USING lexical('bees, e.g.')")["query"]["dropped"] == ["e.g."]
    whole = recall().search(words, Ask(settings=("stop_words=none",)))["query"]
    assert "dropped" not in whole
    assert whole["plan"]["stop_words"] == "none"
    assert len(whole["plan"]["signals"][0]["terms"]) == 6
    plain = recall().search(words, Ask(settings=("stop_words=english",)))["query"]
    assert not {"dropped", "stop_words"} & (plain.keys() | plain["plan"].keys())


def run(command: str, *flags: str) -> tuple[str, str]:
    """Return the output of a command for a query with a dropped word."""
    out, err = StringIO(), StringIO()
    cli.main([command, "bees", "e.g.", *flags], streams=Streams(StringIO(), out, err))
    return out.getvalue(), err.getvalue()


def test_query_commands_have_an_all_words_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bees.txt").write_text("bees dance, e.g. here")
    (tmp_path / "other.txt").write_text("other things")
    Recall.init(str(tmp_path), settings=("stop_words=leftovers",))
    with Recall.open(start=tmp_path) as opened:
        for _ in opened.add([str(tmp_path)], Root("")):
            pass
        chunk = opened.search("bees")["results"][0]["chunk"]["id"]
    monkeypatch.chdir(tmp_path)
    commands: dict[str, list[str]] = {
        "search": [],
        "context": [],
        "explain": ["--chunk", chunk],
        "whynot": ["--target", "other.txt"],
        "trace": [],
        "report": ["--md", "-"],
        "diff": ["--b", "match=all"],
    }

    for command, more in commands.items():
        (said, talk), (all_said, all_talk) = (
            run(command, *more, "--json"),
            run(command, *more, "--json", "--all-words"),
        )
        assert (said != all_said, '"dropped":["e.g."]' in said + talk, '"dropped"' in all_said + all_talk) == (
            True,
            command != "diff",
            False,
        ), command
        if command not in ("report", "diff"):  # a page of its own, and two questions at once
            assert "W_DROPPED: not searched for: e.g.;" in run(command, *more)[1], command


def test_dropped_word_is_among_the_fixes() -> None:
    view = recall().why_not("slender wings, e.g. flow", "letters.txt", Ask(mode="lexical", k=20))["whynot"]
    assert [fix["settings"] for fix in view["fixes"] if fix["kind"] == "stop_words"] == [["stop_words=none"]]


def test_dropped_words_do_not_distinguish_a_text() -> None:
    words = ["the", "d", "fish", "find", "鱼", "x86"]
    assert [telling(words, which) for which in WHICH] == [
        words,
        ["d", "fish", "find", "鱼", "x86"],
        ["fish", "find", "鱼", "x86"],
        ["fish", "鱼", "x86"],
    ]


def test_doctor_searches_by_words_that_queries_keep() -> None:
    for which in WHICH:
        store = memory_store()
        put(store, *(new_file(f"{n}.txt", [text]) for n, text in enumerate(["d e f", "find articles", "red fish d"])))
        assert self_retrieval(store, None, stop_words=which).severity == "ok", which
