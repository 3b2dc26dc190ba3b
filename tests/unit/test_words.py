"""The words of the workbench: all of them in docs/words.md, and none that has been replaced by a plainer one."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from docs.words import Strings, is_shown, markdown, words

PAGE = Path(__file__).parents[2] / "docs" / "words.md"

REPLACED = [
    (r"nothing to weigh", "Run a search to tune its weights."),
    (r"\bflips?\b", "overtakes at a weight, never overtakes at any weight"),
    (r"\bfragile\b", "unstable: first 8 rows keep their order"),
    (r"\bsteady\b", "stable"),
    (r"bound of its terms|\bat most \{", "maximum possible BM25 here: 14.688"),
    (r"leaves add up", "parts sum to score"),
    (r"\bwish|\bgrants?\b|^must$", "target, all targets met, require"),
    (r"\bx-?out\b|\bforced?\b", "exclude, excluded"),
    (r"(?<!-)\bdrop", "exclude from the context, remove from the store"),
    (r"page: row|is between 1 and", "rank 814 of 2,596, inside the limit"),
    (r"no row was taken", "not applied: not similar enough"),
    (r"at every stage", "Tracing …"),
    (r"what is missed", "Which document is missing?"),
    (r"being tried|that (is|are) tried", "Fix applied. u undoes it"),
    (r"as it stands", "literally"),
    (r"as saved", "saved settings"),
    (r"^kept:", "Profile saved"),
    (r"\bworth\b|\bwords \d", "quality, query terms 3 of 3"),
    (r"~(?!/)", "about 4,664 model tokens"),
    (r"\bsound\b", "no problems"),
    (r"\banew\b", "re-embed, sync"),
    (r"\basked again\b", "store changed, results refreshed"),
    (r"taken with|^trying|put .* back$", "Loaded, Applied, Reset pane sizes"),
    (r"\bfigures\b", "Stats"),
    (r"\bthe rest\b", "other"),
    (r"\bprovider\b", "cloud"),
    (r"words/meaning|(bm25|vector)_weight", "lexical, semantic"),
    (r"the 0 ids", "all ids match their content"),
    (r"\bquestions?\b", "query"),
    (r"\bhits?\b", "result"),
    (r"\breembed", "re-embed"),
]
"""What stood there once, as a pattern, and what says it now."""


def test_the_page_of_words_is_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "docs/words.md is old; make generated"


@cache
def shown() -> tuple[tuple[str, str], ...]:
    """Every text that a person may see, with its module; names that are filled in are left out."""
    return tuple((module, re.sub(r"\{\w*\}", "{}", text)) for module, texts in words().items() for text in texts)


def test_no_word_is_there_that_has_been_replaced() -> None:
    for once, now in REPLACED:
        pattern = re.compile(once, re.IGNORECASE)

        found = [f"{module}: {text}" for module, text in shown() if pattern.search(text)]

        assert found == [], (f"now it is: {now}", once, now)


def test_a_string_is_taken_where_a_person_may_see_it() -> None:
    for code, shown in [
        ('notify(f"Copied: {what}")', ["Copied: {what}"]),
        (
            "title = f\"{counted(sums.left, 'chunk')} {'is' if one else 'are'} left out\"",
            ["{left} {is/are} left out"],
        ),
        ('Action("pin_row", ("p",), "pin", "Require the row", when)', ["pin", "Require the row"]),
        ('LABELS = {"budget": "over budget"}', ["over budget"]),
        (
            'def f() -> "Not this":\n    """Nor this."""\n    return "A pane" if x == "Nor that" else "4 Weights"',
            ["A pane", "4 Weights"],
        ),
        ('self.query_one("#editor").add_class("-zoomed")', []),
        ('DEFAULT_CSS = "Pane { height: 1 }"', []),
        ('mark("results")', []),
    ]:
        strings = Strings()
        strings.visit(ast.parse(code))

        assert [text for text, is_label in strings.found if is_shown(text, is_label)] == shown, code
