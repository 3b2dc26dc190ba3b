"""The commands that look for what is missing: whynot, trace."""

from recall_core.adapters.flags import EXPLAIN, QUESTION, RQL, WORDS, Command, Flag, K, Operand

_ASKING = tuple(flag for flag in QUESTION if flag is not EXPLAIN and flag.name != "--strict-fresh")
_PACKING = (
    Flag("--budget-tokens", "look into the context of so many tokens instead of the list", "N", least=1),
    Flag("--diversity", "most chunks of one document in that context, 0 for no cap", "N", least=0),
    Flag("--counter", "count its tokens with this counter: whitespace, approx or hf:FILE", "NAME"),
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "whynot",
        "Say why a document, a line, a chunk or a text is not in an answer, and what would bring it in.",
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            Flag("--target", 'what is missed: a path, path:LINE, an id, or "its text"', "TARGET"),
            Flag("--no-fixes", "do not look for changes that would bring it in"),
            RQL,
            K,
            *_PACKING,
            *_ASKING,
        ),
        (
            'recall whynot "how we handle retries" --target docs/retries.md',
            "recall whynot retries --target docs/retries.md:120 --k 5 --bm25",
            "recall whynot retries --target 'three times' --budget-tokens 800 --json",
        ),
        note="Exit 0 when the target is in the answer, 7 when it is not, 8 when nothing has that name.",
    ),
    Command(
        "trace",
        "Show how many rows are left after each step from the store to an answer, and what each step took.",
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (RQL, K, *_PACKING, *_ASKING),
        (
            "recall trace retries --filter \"doc.tag = 'docs' AND doc.mtime >= '2024-01-01'\"",
            'recall trace "how we handle retries" --budget-tokens 1200 --json',
        ),
    ),
)
