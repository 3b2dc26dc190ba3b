"""The two names of each weight, lexical_weight and semantic_weight or the older ones: in a file, --set and OPTION."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from recall_core.adapters.cli import main
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.config import Config, assign, assignments, by_name, load, override, render, settings_of
from recall_core.errors import ConfigError, RqlError
from recall_core.explain.whynot.question import Question, with_settings
from recall_core.maintain.embedders import write_settings
from recall_core.retrieve.plan import plan_rql
from recall_core.rql.parser import parse_query
from recall_core.types import Root
from recall_tui.home.history import PastQuestion, describe_changes
from recall_tui.state.commands import as_query, with_options

EVEN = Config(bm25_weight=0.5, vector_weight=0.5)


def test_file_may_use_either_name_of_a_weight(tmp_path: Path) -> None:
    for text in [
        "lexical_weight = 0.5\nsemantic_weight = 0.5\n",
        "bm25_weight = 0.5\nvector_weight = 0.5\n",
        "lexical_weight = 0.5\nvector_weight = 0.5\n",
    ]:
        (tmp_path / "recall.toml").write_text(text)

        assert load(tmp_path / "recall.toml") == EVEN, text


def test_ask_may_use_either_name_of_a_weight() -> None:
    for settings in [("lexical_weight=.5", "semantic_weight=.5"), {"lexical_weight": 0.5, "vector_weight": 0.5}]:
        assert override(Config(), settings) == EVEN, settings
        assert set(settings_of(settings, where="--set")) == {"bm25_weight", "vector_weight"}, settings


def test_ask_overrides_the_file_under_any_name(tmp_path: Path) -> None:
    (tmp_path / "recall.toml").write_text("bm25_weight = 0.7\nvector_weight = 0.3\n")

    config = override(load(tmp_path / "recall.toml"), ("lexical_weight=0.2",))

    assert (config.bm25_weight, config.vector_weight) == (0.2, 0.3)


def test_two_names_of_one_weight_are_refused(tmp_path: Path) -> None:
    toml = tmp_path / "recall.toml"
    toml.write_text("lexical_weight = 0.5\nbm25_weight = 0.5\n")
    said = "lexical_weight and bm25_weight are names of the same setting."

    for act in (
        lambda: load(toml),
        lambda: override(Config(), ("bm25_weight=.5", "lexical_weight=.5")),
        lambda: override(Config(), {"bm25_weight": 0.5, "lexical_weight": 0.5}),
        lambda: settings_of({"bm25_weight": 0.5, "lexical_weight": 0.5}, where="--set"),
    ):
        with pytest.raises(ConfigError) as caught:
            act()
        assert (caught.value.code, caught.value.hint) == ("bad_value", "leave out bm25_weight")
        assert caught.value.message.endswith(said)


def test_two_names_in_one_option_clause_are_refused() -> None:
    text = "SELECT * FROM chunk USING lexical('a') OPTION semantic_weight 0.5, vector_weight 0.4"

    with pytest.raises(RqlError) as caught:
        plan_rql(text, config=Config(), exact=False)

    assert (caught.value.code, caught.value.hint) == ("bad_value", "leave out vector_weight")
    assert caught.value.details["span"][0] == text.index("vector_weight")


def test_query_may_use_either_name_of_a_weight() -> None:
    for names in [("lexical_weight", "semantic_weight"), ("bm25_weight", "vector_weight")]:
        text = f"SELECT * FROM chunk USING lexical('a') OPTION {names[0]} 0.5, {names[1]} 0.5"

        config = plan_rql(text, config=Config(), exact=False).config

        assert (config.bm25_weight, config.vector_weight) == (0.5, 0.5), names


def test_wrong_value_is_reported_under_the_given_name() -> None:
    with pytest.raises(ConfigError) as caught:
        assign(Config(), ("semantic_weight=lots",), where="--set")

    assert caught.value.message == "--set: semantic_weight takes a number, not 'lots'."
    assert caught.value.hint == "semantic_weight = 0.1"


def test_near_miss_suggests_the_new_name() -> None:
    with pytest.raises(ConfigError) as caught:
        assign(Config(), ("semantic_wieght=1",), where="--set")

    assert caught.value.hint == "did you mean semantic_weight?"


def test_init_writes_new_names_and_old_files_keep_theirs(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    new, old = tmp_path / "recall.toml", tmp_path / "old.toml"
    old.write_text("vector_weight = 0.1  # mine\n")

    for toml in (new, old):
        write_settings(toml, {"bm25_weight": 0.4, "vector_weight": 0.6})

    assert "\nlexical_weight = 0.4\n" in new.read_text()
    assert "bm25_weight" not in new.read_text()
    assert old.read_text() == "vector_weight = 0.6  # mine\nlexical_weight = 0.4\n"
    assert load(old) == Config(bm25_weight=0.4, vector_weight=0.6)
    assert "lexical_weight = 0.9" in render(Config())


def test_weight_in_a_query_keeps_its_name_there() -> None:
    old = "SELECT * FROM chunk USING lexical('a') OPTION vector_weight 0.1"

    text = with_options(old, parse_query(old).query, {"vector_weight": 0.6, "bm25_weight": 0.4})

    assert text == "SELECT * FROM chunk USING lexical('a') OPTION vector_weight 0.6, lexical_weight 0.4"
    assert "OPTION semantic_weight 0.3" in as_query(
        "a", Config(sparse_recall=False), limit=1, options={"vector_weight": 0.3}
    )


def test_fix_changes_the_option_of_the_query() -> None:
    question = Question("", rql="SELECT * FROM chunk USING lexical('a') OPTION semantic_weight 0.1")

    fixed = with_settings(question, {"vector_weight": 0.6})

    assert fixed.rql is not None
    assert fixed.rql.endswith("OPTION semantic_weight 0.6")
    assert fixed.changes == {}


def test_settings_are_reported_under_their_public_names() -> None:
    assert assignments(by_name({"vector_weight": 0.4, "pool": 20})) == ("semantic_weight=0.4", "pool=20")
    assert (
        describe_changes(PastQuestion("a", settings=("bm25_weight=0.6", "fusion=rrf")))
        == "lexical_weight=0.6, fusion=rrf"
    )


def test_tune_and_diff_print_public_names(tmp_path: Path) -> None:
    out = io.StringIO()
    (tmp_path / "a.md").write_text("tea and a deploy\n")
    (tmp_path / "b.md").write_text("a deploy, undone\n")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        for _ in recall.add([str(tmp_path)], Root("")):
            pass
    store = str(tmp_path / "recall.db")
    for words in (
        ["diff", "--store", store, "deploy", "--b", "vector_weight=0.9,bm25_weight=0.1"],
        ["tune", "--store", store, "deploy", "--pin", "b.md", "--k", "1"],
    ):
        main(words, streams=Streams(io.StringIO(), out, io.StringIO()))
    said = out.getvalue()

    assert "lexical_weight=0.1 semantic_weight=0.9" in said
    assert "--set lexical_weight=" in said
    assert "bm25_weight" not in said
    assert "vector_weight" not in said
