"""The commands that set answers side by side or on paper: diff, report."""

from recall_core.adapters.flags import EXPLAIN, QUESTION, RQL, WORDS, Command, Flag, K, Operand

_ASKING = tuple(flag for flag in QUESTION if flag.name in ("--bm25", "--vector", "--filter", "--no-sparse", "--set"))
_EXACT = tuple(flag for flag in QUESTION if flag.name == "--exact")

COMMANDS: tuple[Command, ...] = (
    Command(
        "diff",
        "Compare two rankings of the same question: two configurations, two stores, or both.",
        Operand("WORDS", WORDS + "; or give --rql or --queries", least=0, most=None),
        (
            Flag("--a", "the first side: a recall.toml, or settings with commas", "CONFIG", many=True),
            Flag("--b", "the second side", "CONFIG", many=True),
            Flag("--a-store", "the first side's store, where it is another", "PATH"),
            Flag("--b-store", "the second side's store", "PATH"),
            RQL,
            Flag("--queries", "ask these questions: JSON lines of {_id, text} (BEIR), or TSV", "FILE"),
            K,
            Flag("--gate", 'exit 7 unless these hold: "rbo>=.9,jaccard>=.8"', "CONDITIONS"),
            *_ASKING,
            *_EXACT,
        ),
        (
            "recall diff retries --b vector_weight=0.5",
            "recall diff --queries queries.jsonl --b other.toml --gate 'rbo>=.9,firsts_changed<=2'",
            'recall diff "zero-downtime deploy" --b-store ../other/recall.db --json',
        ),
    ),
    Command(
        "report",
        "Write a question's results, ledgers, rank lines and context on one page that needs nothing else.",
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            Flag("--html", "write an HTML page here; - for stdout", "FILE"),
            Flag("--md", "write Markdown here; - for stdout", "FILE"),
            RQL,
            K,
            Flag("--budget-tokens", "tokens the context may have", "N", least=1),
            Flag("--pack", "fill the context by rank order, or by most value", "POLICY", choices=("rank", "optimal")),
            *(flag for flag in QUESTION if flag is not EXPLAIN),
        ),
        (
            'recall report "zero-downtime deploy" --html report.html',
            "recall report retries --k 5 --md - | less",
        ),
        note="With - the page is stdout's only content; with --json the answer then goes to stderr.",
    ),
)
