"""The commands that measure ranking: eval, judge."""

from recall_core.adapters.flags import SET, Command, Flag, Operand

COMMANDS: tuple[Command, ...] = (
    Command(
        "eval",
        "Measure how good the ranking is, on queries whose relevant documents are known.",
        flags=(
            Flag("--queries", "the queries: JSON lines of {_id, text} (BEIR), or TSV; else the store's", "FILE"),
            Flag("--qrels", "the judgements: BEIR TSV, TREC qrels or Quepid CSV; else the store's", "FILE"),
            Flag("--fixtures", "facts that a context must hold, to tell retrieval from ingestion failures", "FILE"),
            Flag("--modes", "signals to measure, with commas (hybrid): hybrid, bm25, vector", "LIST"),
            Flag("--metrics", "measures, with commas: ndcg@10, map, mrr, p@5, recall@100", "LIST"),
            Flag("--k", "hits of each query that are ranked and judged (100)", "N", least=1),
            Flag("--baseline", "compare with an earlier --json answer, or with a TREC run", "FILE"),
            Flag("--gate", 'exit 7 unless these hold: "ndcg@10>=.38,regressions=0"', "CONDITIONS"),
            Flag("--run", "write the ranking of each mode as a TREC run file; {mode} is filled in", "FILE"),
            Flag("--per-query", "show every query, not only the figures over all"),
            Flag("--calibrate-sparse", "propose a sparse_distance_ceiling from the judged documents"),
            SET,
        ),
        examples=(
            "recall eval --queries queries.jsonl --qrels qrels.tsv",
            "recall eval --queries q.jsonl --qrels q.tsv --modes hybrid,bm25 --baseline before.json --json",
            'recall eval --gate "ndcg@10>=.38,regressions=0"',
        ),
    ),
    Command(
        "judge",
        "Bring judgements into the store, or write them out.",
        Operand("ACTION", "import or export", choices=("import", "export")),
        (
            Flag("--queries", "import: the queries; export: write them here", "FILE"),
            Flag("--qrels", "import: the judgements; export: write them here", "FILE"),
            Flag(
                "--format", "export: how judgements are written (beir)", "FORMAT", choices=("beir", "trec", "quepid")
            ),
        ),
        (
            "recall judge import --queries queries.jsonl --qrels qrels.tsv",
            "recall judge export --queries queries.jsonl --qrels qrels.txt --format trec",
        ),
    ),
)
