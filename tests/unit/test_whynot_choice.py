"""The suggestions of whynot: the order of fixes, and the tried and reported words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recall_core.adapters.whynot import whynot_lines
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.contract.explaining import WhyNotView
from recall_core.types import Root

ORDER = ("filter match min_score", "k budget", "mode", "spelling", "name", "weight", "term")
"""The kinds of fixes in the required order."""
OTHERS = 30


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    folder = tmp_path_factory.mktemp("choice")
    for number in range(OTHERS):
        extra = f"Server number {number} is {'deployed ' * (number % 5)}and restarted by hand.\n"
        (folder / f"note{number}.md").write_text(f"# Servers\n\n{extra}")
    text = "The nightly archive of a server lies in a vault. The vault is copied, and is sealed.\n"
    (folder / "disaster.md").write_text(f"# Restoring backups\n\n{text}")
    (folder / "copy.md").write_text("# Vaults\n\nA vault is a room for money. Backups of keys are not there.\n")
    Recall.init(str(folder), embedding="hash")
    with Recall.open(start=folder) as opened:
        for _ in opened.add([str(folder)], Root("")):
            pass
        yield opened


def why(recall: Recall, words: str, ask: Ask, pack: Pack = Pack()) -> WhyNotView:
    return recall.why_not(words, "disaster.md", ask, pack)["whynot"]


WEIGHED = Ask(k=1, settings=("vector_weight=0.7", "bm25_weight=0.3"))
QUESTIONS: list[tuple[str, Ask, Pack, str]] = [
    ("vault", Ask(k=2, filter="doc.path GLOB 'note*'"), Pack(), "filter"),
    ("vault", Ask(k=2, settings=("min_score=0.9",)), Pack(), "min_score"),
    ("nightli sealded vaulet", Ask(k=2, mode="lexical", settings=("match=all",)), Pack(), "match mode spelling"),
    ("deployed nightli vaulet", WEIGHED, Pack(), "k spelling name weight term"),
    ("server restarted", Ask(), Pack(budget_tokens=60), "budget name"),
]
"""Words, how they are asked, and the kinds of working fixes."""


def place(kind: str) -> int:
    return next(at for at, kinds in enumerate(ORDER) if kind in kinds.split())


def test_fixes_are_sorted_by_user_preference(recall: Recall) -> None:
    shown = set()
    for words, ask, pack, expected in QUESTIONS:
        view = why(recall, words, ask, pack)
        fixes = view["fixes"]
        commands = [line.removeprefix("fix   ") for line in whynot_lines(view) if line.startswith("fix   ")]

        assert [fix["kind"] for fix in fixes] == expected.split(), words
        assert [place(fix["kind"]) for fix in fixes] == sorted(place(fix["kind"]) for fix in fixes), words
        assert [command.split(" --")[0] for command in commands] == [
            fix["command"].split(" --")[0] for fix in fixes
        ], words
        shown |= {fix["kind"] for fix in fixes}
    assert shown == set(" ".join(ORDER).split())


def test_one_rare_word_is_offered_instead_of_file_name_words(recall: Recall) -> None:
    fixes = why(recall, "deployed nightli vaulet", WEIGHED)["fixes"]
    added = {fix["kind"]: fix["change"] for fix in fixes if fix["kind"] in ("name", "term")}

    assert added == {"name": 'also search for "restoring"', "term": 'also search for "vault"'}
    assert [fix["kind"] for fix in fixes].count("term") == 1


def test_name_word_is_preferred_to_text_word(recall: Recall) -> None:
    view = why(recall, "server restarted", Ask(), Pack(budget_tokens=60))

    assert [fix["change"] for fix in view["fixes"]][-1] == 'also search for "restoring"'
    assert view["words"]["tried"] == 1


def test_contexts_and_match_all_try_and_report_three_words(recall: Recall) -> None:
    needs_all = Ask(k=2, mode="lexical", settings=("match=all",))
    for words, ask, pack, few_for, said, count in [
        ("server restored deployed", needs_all, Pack(), "match", "match=all", 3),
        (
            "number restarted hand",
            Ask(),
            Pack(20),
            "context",
            "a context",
            2,
        ),  # no word of its text, because a budget works
    ]:
        view = why(recall, words, ask, pack)
        tried = view["words"]
        notes = [line for line in whynot_lines(view) if line.startswith("note  ")]

        assert not view["present"], words
        assert tried == {"tried": count, "most": 3, "of": tried["of"], "few_for": few_for}, words
        assert tried["of"] > 3, words
        assert notes == [f"note  {count} of its {tried['of']} words were tried: {said} tries at most 3"], words


def test_list_of_any_words_tries_twenty_silently(recall: Recall) -> None:
    view = why(recall, "deployed nightli vaulet", WEIGHED)

    assert view["words"]["most"] == 20
    assert "few_for" not in view["words"]
    assert not any(line.startswith("note  ") for line in whynot_lines(view))
