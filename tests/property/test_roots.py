"""An edited root gives the store of a fresh root."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.recall import Recall
from recall_core.api.write import RootFields
from recall_core.types import Root
from tests.examples import examples

FILES = {
    "a.md": "words of a\n",
    "b.txt": '{"id": "1", "text": "words of b"}\n',
    "sub/c.md": "words of c\n",
    "sub/.d.md": "words of d\n",
    "sub/deep/e.txt": "",
    "x/f.md": "words of f\n",
}
PATTERNS = st.lists(st.sampled_from(["*.md", "**/*.md", "*", "**", "sub/*", "*.txt"]), max_size=2).map(tuple)
RULES = {
    "globs": PATTERNS,
    "ignores": PATTERNS,
    "tags": st.sampled_from([(), ("one",), ("one", "two")]),
    "source": st.sampled_from([None, "wiki"]),
    "meta": st.sampled_from([(), (("year", 2024),), (("text", "other"),)]),
    "hidden": st.booleans(),
    "gitignore": st.booleans(),
    "parser": st.sampled_from(["auto", "text", "markdown"]),
    "encoding": st.sampled_from(["", "latin-1"]),
}
ROOTS = st.lists(st.builds(Root, st.sampled_from([".", "sub", "x"]), **RULES), min_size=1, max_size=3, unique=True)


def sync_documents(recall: Recall) -> list[tuple[object, ...]]:
    """Sync the folders and return every document with its labels and its text."""
    list(recall.sync())
    _, rows = recall.store.scan(None, table="doc", order=(), limit=None, offset=0)
    found = recall.store.documents([rowid for rowid, _ in rows]).values()
    told = [
        (each.path, each.id, each.tags, each.source, dict(each.meta), recall.store.text_of(each.id)) for each in found
    ]
    return sorted(told, key=lambda each: str(each[0]))


def store_of(folder: Path, name: str, roots: list[Root]) -> Recall:
    Recall.init(str(folder), name=name, settings={"store_path": name, "embedding_dim": 64})
    recall = Recall.open(str(folder / name))
    with recall.store.writer() as writer:
        for root in roots:
            writer.put_root(root)
    return recall


@examples(10)
@given(ROOTS, st.integers(0, 2), st.fixed_dictionaries({}, optional=RULES), st.booleans())
def test_edited_root_syncs_like_a_fresh_root(
    roots: list[Root], which: int, changes: RootFields, is_ignored: bool
) -> None:
    number = which % len(roots)
    edited = roots[number]._replace(**changes)
    if edited in (other for place, other in enumerate(roots) if place != number):
        return
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        if is_ignored:
            (folder / ".gitignore").write_text("deep/\n*.txt\n")
        with store_of(folder, "one.db", roots) as recall:
            sync_documents(recall)
            answer = recall.roots(edit=number + 1, changes=changes)
            after = sync_documents(recall)
            digest, again = recall.store.info().digest, list(recall.sync())[-1]
        fresh = [*roots[:number], edited, *roots[number + 1 :]]
        (folder / "recall.toml").unlink()
        with store_of(folder, "two.db", fresh) as recall:
            assert (after, digest) == (sync_documents(recall), recall.store.info().digest)
        assert bool(answer["edited"]["changes"]) == (edited != roots[number])
        assert (again.added, again.updated, again.removed) == (0, 0, 0)
