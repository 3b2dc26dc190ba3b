"""Typed questions: what is syntax, and what it does to an answer."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config
from recall_core.retrieve.plan import plan_words
from recall_core.words.typed import MOST_TERMS, take_apart, terms_of_words, without_excluded
from recall_tui.state.session import filter_of
from tests.builders import memory_store, new_file, put
from tests.examples import examples

PLAIN = st.text(st.characters(exclude_characters="*-:", exclude_categories=("Cs",)), max_size=40)


@examples(100)
@given(PLAIN)
def test_text_without_signs_has_no_syntax(text: str) -> None:
    assert take_apart(text) is None


def test_syntax_is_taken_out_of_the_words() -> None:
    for text, left, meaning, *kinds in [
        ("हिन्दी* a", " a", "हिन्दी a", ("हिन्दी",), (), ()),
        ("deploy -draft", "deploy ", "deploy", (), (), ("draft",)),
        ("back* off", " off", "back off", ("back",), (), ()),
        ("title:node.js help", " help", "node.js help", (), ("node.js",), ()),
        ('"a -bcd" to* -été', '"a -bcd"  ', '"a -bcd" to', ("to",), (), ("été",)),
        ("a b c d e f g h i j k l*", "a b c d e f g h i j k l*", ""),
        ("a b c d e f g h i j k lo*", "a b c d e f g h i j k ", "a b c d e f g h i j k lo", ("lo",), (), ()),
    ]:
        expected = (left, meaning, *kinds) if kinds else None
        assert take_apart(text) == expected, text


def test_signs_elsewhere_are_words() -> None:
    for text in [
        "-draft deploy",
        "  -draft",
        "tar -xf file",
        "git --amend -draft",
        "deploy -Draft -DRAFT -a1b -well-known",
        "state-of-the-art a-bcd",
        "deploy\n-draft",
        "SELECT * FROM x",
        "c* **bold** a*b 2 * 3",
        "title: word subtitle:word",
        '"deploy -draft back* title:x',
        "one two three four five six seven eight nine ten eleven twelve -thirteen",
    ]:
        assert take_apart(text) is None, text


def test_exclusion_is_taken_back() -> None:
    assert without_excluded('deploy -draft "x -draft" -old', ["draft"]) == 'deploy "x -draft" -old'


TEXTS = {
    "1.md": ("Deploy guide", "Deploy with care. A rollback undoes it. Relational tables, weiß."),
    "2.md": ("Rollback draft", "How a deploy is undone: relate it to the happy team. Backup first."),
    "3.md": ("Backoff", "Retries back off; backpressure. Deploying again. The size is 3."),
    "4.md": ("Notes", "Sizing the relation of happiness on a drafting board to deploy."),
}


def recall(texts: dict[str, tuple[str, str]] = TEXTS) -> Recall:
    store = memory_store()
    put(store, *(new_file(path, [text], title=title) for path, (title, text) in texts.items()))
    config = Config(embedding_dim=64, sparse_recall=False)
    return Recall(Engine(store, config=config, base=Path()))


def found(library: Recall, words: str, **fields: object) -> str:
    """Return the names of the documents found, sorted."""
    answer = library.search(words, Ask(mode="lexical", **fields))  # type: ignore[arg-type]
    return "".join(sorted(result["doc"]["path"][0] for result in answer["results"]))


def test_syntax_chooses_rows() -> None:
    with recall() as library:
        for words, expected in [
            ("deploy", "1234"),
            ("deploy -rollback", "34"),
            ("deploy -drafts", "13"),
            ("deploy -rollback -size", ""),
            ("back*", "23"),
            ("relational*", "124"),
            ("relationship*", ""),
            ("happi*", "24"),
            ("happines*", "24"),
            ("happy*", "24"),
            ("sizing*", "34"),
            ("title:rollback", "2"),
            ("title:rollback happiness", "24"),
            ("weis*", "1"),
            ("xyz*", ""),
        ]:
            assert found(library, words) == expected, words
        assert found(library, "back* title:notes", settings={"match": "all"}) == ""
        assert found(library, "back* title:backoff", settings={"match": "all"}) == "3"


def test_beginning_matches_words_not_stems() -> None:
    with recall({"1.md": ("", "They are happy."), "2.md": ("", "Sizing.")}) as library:
        assert [found(library, words) for words in ("happi*", "happy*", "size*", "sizing*")] == ["", "1", "", "2"]


def test_answer_names_what_is_excluded() -> None:
    with recall() as library:
        answer = library.search("deploy -rollback", Ask(filter="doc.path != '4.md' OR doc.tag = 'x'"))
        assert [result["doc"]["path"] for result in answer["results"]] == ["3.md"]
        assert "NOT lexical('rollback')" in answer["query"]["filters"]
        assert "W_EXCLUDED: -rollback excluded 2 chunks of this store" in answer["warnings"]


def test_whynot_drops_the_exclusion() -> None:
    with recall() as library:
        for filter_text in (None, "doc.path != '4.md'"):
            view = library.why_not("deploy -rollback", target="1.md", ask=Ask(filter=filter_text))["whynot"]
            assert {each["stage"]: each["status"] for each in view["stages"]}["filter"] == "fail"
            assert view["fixes"][0]["command"].startswith("recall search deploy"), view["fixes"]
            assert "-rollback" not in view["fixes"][0]["command"]
            assert "search without -rollback" in str(view["fixes"][0])


def test_rql_and_evaluation_have_no_syntax() -> None:
    with recall() as library:
        rows = library.query("SELECT doc.path FROM chunk USING lexical('deploy -rollback')")["results"]
        assert len(rows) == 4
        assert library.engine.words_plan("deploy -rollback", Ask(), is_typed=False).where is None


def test_long_beginning_lists_are_cut() -> None:
    words = [f"be{one}{two}{three}o" for one in "bcdfgh" for two in "aeiou" for three in "bcdfghk"]
    texts = {f"{n}.md": ("", " ".join(words[n:])) for n in range(3)}
    with recall(texts) as library, library.store.reading():
        terms = terms_of_words("be", library.store.analyzer, library.store)
        assert (len(words), len(terms)) == (210, MOST_TERMS)
        assert terms[:3] == sorted(words[2:])[:3]
        warnings = library.search("be*")["warnings"]
        assert any(each.startswith("W_PREFIX: be* counts only the 200") for each in warnings), warnings


def test_title_word_is_marked_in_titles_only() -> None:
    with recall() as library, library.store.reading():
        plan = library.engine.words_plan("title:rollback deploy", Ask(mode="lexical"))
        pool = library.engine.answer(plan).pool
        assert pool is not None
        assert pool.query is not None
        rows = library.store.fetch([key.rowid for key in pool.keys])
        marked = [each for found in library.store.instances(pool.query, pool.terms, rows) for each in found]
        places = {(pool.terms[each.phrase].text, each.in_title) for each in marked}
        assert places == {("title:rollback", True), ("deploy", True), ("deploy", False)}


def test_workbench_repeats_no_exclusion_as_a_filter() -> None:
    for own, left in ((None, None), ("doc.tag = 'a'", "doc.tag = 'a'"), ("doc.tag = 'a' OR doc.tag = 'b'",) * 2):
        plan = plan_words(
            "retry -draft -old", config=Config(), mode="hybrid", filter_text=own, k=3, exact=True, is_typed=True
        )
        assert filter_of(plan) == left
