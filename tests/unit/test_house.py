"""The ratchet of `make check`: when it fails, and that it reports the place."""

import subprocess
from pathlib import Path

import pytest

from benchmarks import house

ADDED = {
    "circle": (
        "one.py",
        "from recall_core import two\n",
        "recall_core/one.py:2: imports in a circle: recall_core.two",
    ),
    "own": (
        "two.py",
        "def late():\n    from recall_core.one import A\n    return A + 1\n",
        "recall_core/two.py:4: own imports in functions: recall_core.one in late()",
    ),
    "other": (
        "two.py",
        "def late():\n    import json\n    return json + 1\n",
        "recall_core/two.py:4: other imports in functions: json in late()",
    ),
    "word": ("two.py", 'M = f"The index is made\\n anew."\n', "recall_core/two.py:3: banned words: anew"),
    "forwarder": ("two.py", "def same(text):\n    return str(text)\n", "recall_core/two.py:3: forwarders: same()"),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a checkout with two modules whose figures are recorded and committed."""
    for folder in ("recall_core", "recall_tui", "benchmarks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "recall_core/one.py").write_text("A = 1\n")
    (tmp_path / "recall_core/two.py").write_text("from recall_core import one\nB = one\n")
    assert house.record(tmp_path) == []
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm start"):
        subprocess.run(["git", "-C", str(tmp_path), *command.split()], check=True)
    return tmp_path


def test_no_banned_word_may_reach_a_user(tree: Path) -> None:
    (tree / "docs").mkdir()
    (tree / "docs/page.md").write_text("Built anew.\n")
    (tree / "recall_core/two.py").write_text('"""Built anew."""\nB = (\n    "whoever asks"\n)\n')

    assert [line for line in house.check(tree) if house.SEEN in line] == [
        "docs/page.md:1: banned words that users see: anew",
        "recall_core/two.py:3: banned words that users see: whoever",
    ]


def test_no_test_name_has_more_than_ten_words(tree: Path) -> None:
    (tree / "tests").mkdir()
    long = "test_one_two_three_four_five_six_seven_eight_nine_ten_eleven"
    (tree / "tests/test_two.py").write_text(f"def {long[:-7]}(): ...\ndef {long}(): ...\n")

    assert [line for line in house.check(tree) if house.LONG in line] == [
        f"tests/test_two.py:2: {house.LONG}: one two three four five six seven eight nine ten eleven"
    ]


@pytest.mark.parametrize("what", ADDED)
def test_check_reports_where_a_package_got_worse(tree: Path, what: str) -> None:
    assert house.check(tree) == []
    name, added, expected = ADDED[what]
    path = tree / "recall_core" / name
    path.write_text(path.read_text() + added)

    assert expected in house.check(tree)
    assert any("Not recorded" in line for line in house.record(tree))


def test_only_a_removable_function_counts_as_a_forwarder(tree: Path) -> None:
    path = tree / "recall_core/two.py"
    path.write_text(path.read_text() + "def __len__(self):\n    return len(self.rows)\n")
    path.write_text(path.read_text() + "def digest(text):\n    return sha256(text.encode()).hexdigest()\n")

    assert not any(house.FORWARDER in line for line in house.check(tree))


def test_improvement_must_be_recorded(tree: Path) -> None:
    path = tree / "recall_core/two.py"
    before = path.read_text()
    path.write_text(before + "def late():\n    import json\n    return json + 1\n")
    (tree / house.RECORD).unlink()
    house.record(tree)
    path.write_text(before)

    assert house.check(tree) == ["recall_core has fewer other imports in functions than recorded. Run: make house"]
    assert house.record(tree) == []
    assert house.check(tree) == []


def test_new_package_starts_with_its_own_row(tree: Path) -> None:
    (tree / "recall_core/words").mkdir()
    (tree / "recall_core/words/fold.py").write_text("C = 1\n")

    assert house.check(tree) == ["recall_core.words is a new package. Run: make house"]
    assert house.record(tree) == []
    assert house.recorded(tree)["recall_core.words"][house.FUNCTIONS] == 0


def test_circle_through_a_lazy_package_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "recall_core/words"
    folder.mkdir(parents=True)
    lazy = f"if TYPE_CHECKING:\n    from recall_core.words import fold, stem\nelse:\n    {house.LAZY}__name__)\n"
    (folder / "__init__.py").write_text(lazy)
    (folder / "fold.py").write_text("from recall_core.words import stem\n")
    (folder / "stem.py").write_text("from recall_core import words\nA = 1\n")
    assert house.circles(house.read(tmp_path).modules) == []
    (folder / "stem.py").write_text("from recall_core import words\nA = words.fold.B\n")
    assert house.circles(house.read(tmp_path).modules) == [["recall_core.words.fold", "recall_core.words.stem"]]
