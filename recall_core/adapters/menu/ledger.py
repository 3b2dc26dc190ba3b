"""The command that takes a score apart: explain."""

from recall_core.adapters.flags import EXPLAIN, QUESTION, RQL, WORDS, Command, Flag, K, Operand

COMMANDS: tuple[Command, ...] = (
    Command(
        "explain",
        "Show why a chunk scores what it scores for a question, whatever its rank, down to words.",
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            Flag("--chunk", "the chunk: its id (six digits are enough)", "ID"),
            Flag("--vs", "another chunk to compare it with, word by word", "ID"),
            RQL,
            K,
            *(flag for flag in QUESTION if flag is not EXPLAIN),
        ),
        (
            'recall explain "zero-downtime deploy" --chunk 3f2a9c',
            "recall explain retries --chunk 3f2a9c --vs 81b04d",
            "recall explain --rql @nightly.rql --chunk 3f2a9c --json",
        ),
    ),
)
