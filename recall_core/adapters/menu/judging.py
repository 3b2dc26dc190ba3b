"""The commands that measure ranking and improve it: eval, judge, tune."""

from recall_core.adapters.flags import CHECKS, RQL, SET, TIMEOUT, WORDS, Command, Flag, Operand, in_lines, on_store

COMMANDS: tuple[Command, ...] = (
    Command(
        "eval",
        "Measure how good the ranking is, on queries whose relevant documents are known.",
        on_store("judging:evaluate"),
        in_lines("judging:lines"),
        flags=(
            Flag("--queries", "the queries: JSON lines of {_id, text} (BEIR), or TSV; else the store's", "FILE"),
            Flag("--qrels", "the judgements: BEIR TSV, TREC qrels or Quepid CSV; else the store's", "FILE"),
            Flag("--fixtures", "facts that a context must hold, to tell retrieval from ingestion failures", "FILE"),
            Flag("--modes", "signals to measure, with commas (hybrid): hybrid, bm25, vector", "LIST"),
            Flag("--metrics", "measures, with commas: ndcg@10, map, mrr, p@5, recall@100", "LIST"),
            Flag(
                "--unit",
                "what is measured; by default what the judgements are of",
                "UNIT",
                choices=("chunk", "doc"),
            ),
            Flag("--k", "hits of each query that are ranked and judged (100)", "N", least=1, short="-n"),
            Flag("--baseline", "compare with an earlier --json answer, or with a TREC run", "FILE"),
            Flag("--gate", 'exit 7 unless these hold: "ndcg@10>=.38,regressions=0"', "CONDITIONS"),
            Flag("--run", "write the ranking of each mode as a TREC run file; {mode} is filled in", "FILE"),
            Flag("--per-query", "show every query, not only the figures over all"),
            Flag("--calibrate-sparse", "propose a sparse_distance_ceiling from the judged documents"),
            SET,
            TIMEOUT,
        ),
        examples=(
            "recall eval --queries queries.jsonl --qrels qrels.tsv",
            "recall eval --queries q.jsonl --qrels q.tsv --modes hybrid,bm25 --baseline before.json --json",
            'recall eval --baseline before.json --gate "ndcg@10>=.38,regressions=0"',
        ),
    ),
    Command(
        "judge",
        "Import judgements into the store, or export them.",
        on_store("judging:judge"),
        in_lines("board:judged"),
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

TUNING: tuple[Command, ...] = (
    Command(
        "tune",
        "Find the weights that rank judged queries best, or those that keep chosen chunks in an answer.",
        on_store("tuning:tune"),
        in_lines("tuning:lines"),
        Operand("WORDS", WORDS + "; without one, judged queries decide", least=0, most=None),
        (
            Flag("--sweep", "show every weight at which the rows change; of judged queries, the whole curve"),
            Flag("--collapse", "count a text that several chunks hold once, as search does"),
            Flag("--pin", "find the weights that put this chunk or document on top", "TARGET", many=True),
            Flag("--pin-not", "find the weights that keep this chunk or document from there", "TARGET", many=True),
            Flag("--k", "how many rows count as the top (10)", "N", least=1, short="-n"),
            Flag("--queries", "the judged queries: JSON lines (BEIR), or TSV; else the store's", "FILE"),
            Flag("--qrels", "the judgements: BEIR TSV, TREC qrels or Quepid CSV; else the store's", "FILE"),
            Flag(
                "--metric", "what to improve: ndcg, map, mrr, p or recall, with a cutoff; ndcg@10 by default", "NAME"
            ),
            Flag(
                "--unit",
                "what is measured; by default what the judgements are of",
                "UNIT",
                choices=("chunk", "doc"),
            ),
            Flag("--grid", "also try these values of a ranking setting, with commas", "KEY=VALUES", many=True),
            Flag("--apply", "write what is recommended into recall.toml"),
            RQL,
            Flag("--filter", "keep only what matches this filter expression", "EXPR"),
            SET,
            *CHECKS[:2],
            TIMEOUT,
        ),
        (
            "recall tune --queries queries.jsonl --qrels qrels.tsv --sweep",
            "recall tune --grid normalize=bound,max --grid fusion=weighted,rrf --grid rrf_k=10,60 --apply",
            'recall tune "undo a deploy" --sweep',
            'recall tune "undo a deploy" --pin notes/deploy.md --pin-not notes/office.md --k 3',
        ),
        note="exit 7 when nothing is recommended, or no weight keeps every pin.",
    ),
)
