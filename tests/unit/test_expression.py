"""Words of lexical_fts are spelled as in the index; plain expressions are not touched."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.retrieve import answer as answering
from recall_core.retrieve.plan import plan_rql
from recall_core.words.analyzer import Analyzer
from recall_core.words.typed import spell_expression as spell
from tests.builders import memory_store, new_file, put
from tests.examples import examples

WORDS = ["alpha", "beta", "gam*", '"alpha beta"', '"al" *', "NEAR(alpha beta)", "NEAR( alpha gamma , 3 )", "^beta"]
WORDS += [
    "alpha + beta",
    "title:alpha",
    "title : (alpha beta)",
    "{title body} : beta",
    "- title : gamma",
    "body:^alpha",
]
EXPRESSIONS = [
    f"{one} {how} {other}" for one in WORDS for how, other in zip(("AND", "OR", "NOT"), WORDS[3:], strict=False)
]
EXPRESSIONS += [*WORDS, "(alpha OR beta) AND gamma", "alpha beta NOT gamma", "NEAR OR alpha", "Android ORacle NOTe"]


def test_plain_expressions_stay_as_they_are() -> None:
    assert len(EXPRESSIONS) >= 60
    for text in EXPRESSIONS:
        assert spell(text, Analyzer()) == text


def test_plain_expressions_answer_as_fts5_does() -> None:
    store = memory_store()
    texts = [
        " ".join(("alpha beta gamma alphabet game x".split()[(n * k + k) % 6]) for k in range(6)) for n in range(24)
    ]
    put(store, *(new_file(f"{n}.txt", [text], title=text[:9]) for n, text in enumerate(texts)))
    with store.reading():
        for text in EXPRESSIONS:
            plan = plan_rql(
                f"SELECT * FROM chunk USING lexical_fts('{text}')", config=Config(title_weight=1.0), exact=True
            )
            found = answering.answer(plan, store, None).pool
            rows = store.execute(
                "SELECT rowid, -bm25(chunk_fts, 1.0, 1.0) FROM chunk_fts WHERE chunk_fts MATCH ?", (text,)
            )
            assert found is not None
            assert dict(zip([key.rowid for key in found.keys], found.lexical, strict=True)) == dict(rows), text


@examples(60)
@given(st.text('aé "()*+^:{},-.N', max_size=20))
def test_spelling_twice_changes_nothing_more(text: str) -> None:
    once = spell(text, Analyzer())
    assert spell(once, Analyzer()) == once


def test_words_are_found_as_the_index_spells_them() -> None:
    store = memory_store()
    texts = {
        "1": "Weiß und groß.",
        "2": "Release v2.8.3 fixes node.js on svc-cloud-dev.",
        "3": "今日は全文検索を書いた。",
        "4": "C++ and Łódź, naïve café.",
    }
    put(store, *(new_file(f"{name}.txt", [text]) for name, text in texts.items()))
    with Recall(Engine(store, config=Config(embedding_dim=64, sparse_recall=False), base=Path())) as library:
        for text, expected in [
            ("weiß", "1"),
            ("WEISS NOT lodz", "1"),
            ("gro*", "1"),
            ("groß*", "1"),
            ("v2.8.3*", "2"),
            ("v2.8*", "2"),
            ("node.js AND svc-cloud-dev", "2"),
            ("body : Łód*", "4"),
            ("title : Łódź", ""),
            ("全文検索", "3"),
            ("NEAR(全文 書い, 9)", "3"),
            ("検*", "3"),
            ('"c++"', "4"),
            ("^weiß", "1"),
            ("lodz + naïve + café", "4"),
        ]:
            quoted = text.replace("'", "''")
            answer = library.query(f"SELECT doc.path FROM chunk USING lexical_fts('{quoted}')")
            assert not [each for each in answer["warnings"] if "SANITIZED" in each], text
            assert "".join(row["doc"]["path"][0] for row in answer["results"]) == expected, text
