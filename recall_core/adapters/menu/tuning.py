"""The command that looks for better weights: tune."""

from recall_core.adapters.flags import CHECKS, RQL, SET, WORDS, Command, Flag, Operand

COMMANDS: tuple[Command, ...] = (
    Command(
        "tune",
        "Find the weights that judged queries speak for, or those that keep chosen chunks in an answer.",
        Operand("WORDS", WORDS + "; without one, judged queries are asked", least=0, most=None),
        (
            Flag("--sweep", "show every weight at which the rows change; of judged queries, the whole curve"),
            Flag("--pin", "find the weights that put this chunk or document on top", "TARGET", many=True),
            Flag("--pin-not", "find the weights that keep this chunk or document from there", "TARGET", many=True),
            Flag("--k", "how many rows of a question are its top (10)", "N", least=1),
            Flag("--queries", "the judged queries: JSON lines (BEIR), or TSV; else the store's", "FILE"),
            Flag("--qrels", "the judgements: BEIR TSV, TREC qrels or Quepid CSV; else the store's", "FILE"),
            Flag("--metric", "what to raise: ndcg, map, mrr, p or recall, with a cutoff; ndcg@10 by default", "NAME"),
            Flag("--grid", "also try these values of a ranking setting, with commas", "KEY=VALUES", many=True),
            Flag("--apply", "write what is recommended into recall.toml"),
            RQL,
            Flag("--filter", "keep only what this filter expression lets through", "EXPR"),
            SET,
            *CHECKS[:2],
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
