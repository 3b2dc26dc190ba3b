"""Typed questions: data in memory answers like SQL, and rows are those that the words mean."""

from functools import lru_cache

from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.retrieve import answer as answering
from recall_core.retrieve.plan import plan_words
from recall_core.store.sqlite.store import SqliteStore
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.examples import examples

WORDS = "relate relations relational happy happiness sizing size naïve weiß 色色 run running".split()
SIGNS = ["relat*", "relational*", "happi*", "siz*", "size*", "nai*", "weis*", "色色*", "run*", "zz*"]
SIGNS += ["title:run", "title:happiness", "title:weiss", "-run", "-happiness", "-naive", "-unknown"]
QUESTIONS = st.lists(st.sampled_from([*WORDS, *SIGNS, '"relate happy"', "run-size"]), min_size=1, max_size=7)
SETTINGS = st.fixed_dictionaries(
    {
        "match": st.sampled_from(["any", "all"]),
        "title_weight": st.sampled_from([0.0, 1.0, 1.7]),
        "lexical_model": st.sampled_from(["fts5", "bm25f"]),
    }
)


@lru_cache
def store(is_old: bool) -> SqliteStore:
    made = memory_store()
    if is_old:
        with made.writer():
            made.execute("DELETE FROM meta WHERE key = 'words'")
    texts = [" ".join(WORDS[(n * k + k * k) % 12] for k in range(1, 3 + n % 7)) for n in range(50)]
    put(made, *(new_file(f"{n}.txt", [text], title=WORDS[n % 9]) for n, text in enumerate(texts)))
    return made


@examples(60)
@given(words=QUESTIONS.map(" ".join), settings=SETTINGS, is_old=st.booleans(), k=st.sampled_from([None, 3]))
def test_memory_answers_like_sql(words: str, settings: dict[str, object], is_old: bool, k: int | None) -> None:
    made = store(is_old)
    config = Config(embedding_dim=64, **settings)  # type: ignore[arg-type]
    plan = plan_words(words, config=config, mode="hybrid", filter_text=None, k=5, exact=True, is_typed=True)
    found = []
    for megabytes in (0, 64):
        made.memory_mb = megabytes
        with made.reading():
            assert not megabytes or made.fill_memory()
            answer = answering.answer(plan, made, EMBEDDER)
            assert answer.pool is not None
            query = answer.pool.query
            bounded = made.lexical(query, where=plan.where, k=k, title_weight=config.title_weight) if query else {}
            lexical = [None if each is None else round(each, 9) for each in answer.pool.lexical]
            instances = made.instances(query, answer.pool.terms, made.fetch([key.rowid for key in answer.pool.keys]))
            rounded = {rowid: round(raw, 9) for rowid, raw in bounded.items()}
            found.append((list(answer.pool.keys), lexical, answer.pool.terms, answer.warnings, instances, rounded))
    assert found[0] == found[1]


@examples(60)
@given(word=st.sampled_from(SIGNS), is_old=st.booleans())
def test_rows_are_those_that_the_sign_means(word: str, is_old: bool) -> None:
    made = store(is_old)
    analyzer = made.analyzer
    rows = made.fetch([key.rowid for key in made.candidates(None)])
    tokens = {row.rowid: (analyzer.tokens(row.doc.title), analyzer.tokens(row.chunk.text)) for row in rows}
    bare = word.strip("*-").removeprefix("title:")
    own = analyzer.stem(analyzer.tokens(bare))
    if word.endswith("*") and len(own) == 1:
        (beginning,) = analyzer.tokens(bare)
        every = {token for pair in tokens.values() for each in pair for token in each}
        terms = set(analyzer.stem(sorted(token for token in every if token.startswith(beginning))))
        expected = {rowid for rowid, pair in tokens.items() if terms & set(analyzer.stem([*pair[0], *pair[1]]))}
    elif word.startswith("title:"):
        expected = {rowid for rowid, (title, _) in tokens.items() if own[0] in analyzer.stem(title)}
    else:
        has = {
            row.rowid for row in rows if any(analyzer.spans(each, [bare]) for each in (row.doc.title, row.chunk.text))
        }
        expected = set(tokens) - has if word.startswith("-") else has
    words = f"size -unheard {word}" if word.startswith("-") else word
    plan = plan_words(words, config=Config(), mode="lexical", filter_text=None, k=None, exact=True, is_typed=True)
    with made.reading():
        found = answering.answer(plan, made, None).pool
        passing = {key.rowid for key in made.candidates(plan.where)}
    assert found is not None
    matching = {key.rowid for key in found.keys}
    assert (passing if word.startswith("-") else matching) == expected, word
